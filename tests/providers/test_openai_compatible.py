"""An OpenAI-compatible endpoint: a real model over HTTP, and every way in which one can fail."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.embedding_servers import (
    FaultServer,
    cutting_server,
    free_port,
    real_server,
    vectors,
)

import sfams
from sfams.core.query import Calibration
from sfams.errors import ProviderError, ProviderUnavailableError
from sfams.providers.bundled import BundledEmbedder
from sfams.providers.model import MOST_CHARACTERS, ModelEmbedder, ModelOptions
from sfams.providers.openai_compatible import Endpoint, _Caller, openai_embedder

SOME = Calibration(0.1, 0.1)


@pytest.fixture(scope="module")
def real() -> Iterator[str]:
    with real_server() as url:
        yield url


def three(texts: list[str]) -> tuple[int, Any]:
    return 200, vectors([[float(len(text)), 1.0, 0.0] for text in texts])


def embedder(url: str, **options: Any) -> ModelEmbedder:
    endpoint = Endpoint(url=url, key="sk-secret", retries=options.pop("retries", 0), timeout=20)
    how = ModelOptions(**{"dimension": 3, "calibration": SOME, **options})
    return openai_embedder("some-model", endpoint, how)


# ── A real model ──────────────────────────────────────────────────────────────────────────────────


def test_a_real_server_gives_the_bundled_vectors(real: str) -> None:
    texts = ["The kiln fires at 1040 degrees.", "窑温一千零四十度"]
    remote = openai_embedder(
        "multilingual-e5-small",
        Endpoint(url=real),
        ModelOptions(passage_prefix="", query_prefix=""),
    )
    assert remote.dimension == 384
    found = remote.embed_passages(texts)
    remote.close()
    local = BundledEmbedder()
    expected = local.embed_passages(texts)
    local.close()
    assert found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.sum(found * expected, axis=1) == pytest.approx(1.0, abs=1e-3)


def test_a_memory_over_a_real_server(real: str, tmp_path: Path) -> None:
    remote = openai_embedder("multilingual-e5-small", Endpoint(url=real))
    with sfams.open(tmp_path / "m.db", embedder=remote) as memory:
        memory.remember_many(
            [
                "The dentist moved me to Monday at nine.",
                "Billing runs on PostgreSQL.",
                "奶奶种的西红柿得了奖。",
            ]
        )
        assert "dentist" in memory.recall("When is the dentist?", mode="vector")[0].record.content
        assert "奶奶" in memory.recall("What did grandma grow?", mode="vector")[0].record.content
        assert 0.5 < remote.calibration.mean < 0.9
        assert memory.doctor().healthy


def test_settings_name_model_endpoint_and_key(
    real: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("URL", real), ("KEY", "sk-secret"), ("DIMENSION", "384")):
        monkeypatch.setenv(f"SFAMS_EMBEDDER_{name}", value)
    settings = sfams.load_settings(db=tmp_path / "m.db", embedder="openai:multilingual-e5-small")
    assert "sk-secret" not in repr(settings)
    with sfams.build(settings) as memory:
        assert memory.remember("It came over HTTP.").embedded
    with sfams.open(tmp_path / "m.db", embedder="openai:multilingual-e5-small") as memory:
        assert memory.recall("HTTP", mode="vector")[0].record.content == "It came over HTTP."


# ── What is sent ──────────────────────────────────────────────────────────────────────────────────


def test_what_is_sent() -> None:
    server = FaultServer(three)
    with server.running() as url:
        made = embedder(url, batch=2, passage_prefix="p: ", query_prefix="q: ")
        made.embed_passages(["one", "a\0b", "y" * 2 * MOST_CHARACTERS])
        made.embed_query("two")
        made.close()
    sent = [request["input"] for request in server.requests]
    assert sent == [["p: one", "p: a b"], ["p: " + "y" * MOST_CHARACTERS], ["q: two"]]
    assert {request["model"] for request in server.requests} == {"some-model"}
    assert all("dimensions" not in request for request in server.requests)
    assert server.headers[0]["authorization"] == "Bearer sk-secret"


def test_prefixes_follow_the_family() -> None:
    server = FaultServer(three)
    with server.running() as url:
        for model in ("intfloat/multilingual-e5-base", "BAAI/bge-m3"):
            how = ModelOptions(dimension=3, calibration=SOME)
            made = openai_embedder(model, Endpoint(url=url), how)
            made.embed_passages(["text"])
            made.embed_query("text")
            made.close()
    assert [request["input"][0] for request in server.requests] == [
        "passage: text",
        "query: text",
        "text",
        "text",
    ]


def test_shorter_vectors_are_asked_for_and_are_another_model() -> None:
    server = FaultServer(lambda texts: (200, vectors([[1.0, 0.0]] * len(texts))))
    with server.running() as url:
        made = openai_embedder("text-embedding-3-small", Endpoint(url=url, shorten_to=2))
        made.embed_query("text")
        made.close()
    assert (made.dimension, made.model_id) == (2, "openai:text-embedding-3-small@2")
    assert server.requests[0]["dimensions"] == 2


def test_a_known_model_opens_without_asking() -> None:
    made = openai_embedder(
        "text-embedding-3-small", Endpoint(url=f"http://127.0.0.1:{free_port()}")
    )
    assert made.dimension == 1536


# ── What comes back ───────────────────────────────────────────────────────────────────────────────


def test_answers_are_put_in_order() -> None:
    def shuffled(texts: list[str]) -> tuple[int, Any]:
        body = vectors([[float(n), 1.0, 0.0] for n in range(len(texts))])
        body["data"].reverse()
        return 200, body

    with FaultServer(shuffled).running() as url:
        made = embedder(url)
        found = made.embed_passages(["a", "b", "c"])
        made.close()
    assert (found[:, 0] / found[:, 1]).tolist() == pytest.approx([0.0, 1.0, 2.0])


def test_rows_without_direction_are_zero() -> None:
    rows: list[list[Any]] = [[0.0, 0.0, 0.0], [None, 1.0, 0.0], [3.0, 4.0, 0.0]]
    with FaultServer(lambda _: (200, vectors(rows))).running() as url:
        made = embedder(url)
        found = made.embed_passages(["a", "b", "c"])
        made.close()
    assert found.tolist() == [[0.0] * 3, [0.0] * 3, pytest.approx([0.6, 0.8, 0.0])]


@pytest.mark.parametrize(
    "body",
    [
        vectors([[1.0, 0.0, 0.0]]),
        vectors([[1.0, 0.0], [1.0, 0.0]]),
        vectors([[1.0, 0.0, 0.0], [1.0]]),
        vectors([]),
        {"object": "list", "data": None},
        {"hello": "world"},
        [1, 2],
        b"<html>",
    ],
    ids=["too few", "another length", "ragged", "none", "null", "no list", "list", "no JSON"],
)
def test_an_answer_that_is_none_is_an_error(body: Any) -> None:
    with FaultServer(lambda _: (200, body)).running() as url:
        made = embedder(url)
        with pytest.raises(ProviderError) as caught:
            made.embed_passages(["first secret", "second secret"])
        made.close()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_text_that_is_refused_does_not_keep_the_others_waiting(
    status: int, tmp_path: Path
) -> None:
    server = FaultServer(
        lambda texts: (status, {}) if any("refused" in each for each in texts) else three(texts)
    )
    with server.running() as url, sfams.open(tmp_path / "m.db", embedder=embedder(url)) as memory:
        texts = ["It is taken.", "It is refused.", "It is taken too.", "And so is this one."]
        results = memory.remember_many(texts)
        assert [result.embedded for result in results] == [True, False, True, True]
        assert "keywords find them" in results[1].warnings[0]
        assert memory.stats().vectors == 3


def test_an_endpoint_that_refuses_everything_is_not_asked_for_each_text() -> None:
    server = FaultServer(lambda _: (400, {}))
    with server.running() as url:
        made = embedder(url)
        with pytest.raises(ProviderError, match="400"):
            made.embed_passages([f"text {n}" for n in range(64)])
        made.close()
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"],
    ids=["before the answer", "inside the answer"],
)
def test_a_cut_connection_is_retryable(head: bytes) -> None:
    with cutting_server(head) as url:
        made = embedder(url)
        with pytest.raises(ProviderUnavailableError, match="cannot be reached"):
            made.embed_query("text")
        made.close()


def test_the_key_goes_to_openai_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.example/v1")
    client = _Caller("some-model", Endpoint(key="sk-secret"))._connected()
    assert str(client.base_url) == "https://api.openai.com/v1/"
    client.close()


def test_a_key_is_trimmed_and_one_that_is_none_is_refused_without_repeating_it() -> None:
    server = FaultServer(three)
    with server.running() as url:
        how = ModelOptions(dimension=3, calibration=SOME)
        made = openai_embedder("m", Endpoint(url=url, key=" sk-secret\n"), how)
        made.embed_query("text")
        made.close()
    assert server.headers[0]["authorization"] == "Bearer sk-secret"
    for key in ("sk-秘密", "sk\nsecret"):
        with pytest.raises(sfams.InvalidInputError, match="embedder_key") as caught:
            openai_embedder("m", Endpoint(key=key))
        assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "retryable", "said"),
    [
        (400, False, "400"),
        (401, False, "SFAMS_EMBEDDER_KEY"),
        (403, False, "403"),
        (404, False, "url"),
        (429, True, "overloaded"),
        (500, True, "500"),
        (503, True, "503"),
    ],
)
def test_a_status_says_what_to_do(status: int, retryable: bool, said: str) -> None:
    body = {"error": {"message": "sk-secret and the secret text", "type": "x"}}
    with FaultServer(lambda _: (status, body)).running() as url:
        made = embedder(url)
        with pytest.raises(ProviderError, match=said) as caught:
            made.embed_query("text")
        made.close()
    assert isinstance(caught.value, ProviderUnavailableError) == retryable
    assert "secret" not in str(caught.value)


def test_an_overloaded_server_is_tried_again() -> None:
    answers = iter([(429, {}), (503, {}), three(["text"])])
    server = FaultServer(lambda _: next(answers))
    server.extra = {"Retry-After-Ms": "1"}
    with server.running() as url:
        made = embedder(url, retries=2)
        assert made.embed_query("text")[2] == 0.0
        made.close()
    assert len(server.requests) == 3


def test_nobody_there_is_retryable_and_says_where() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    made = embedder(url)
    with pytest.raises(ProviderUnavailableError, match="cannot be reached") as caught:
        made.embed_query("text")
    made.close()
    assert url in str(caught.value)
    nameless = openai_embedder("m", Endpoint(url=url, retries=0))
    with pytest.raises(ProviderUnavailableError, match="dimension is given"):
        _ = nameless.dimension
    assert nameless.calibration.mean == 0.2
    nameless.close()


# ── A memory whose endpoint comes and goes ────────────────────────────────────────────────────────


def test_texts_wait_while_the_endpoint_is_down_and_follow_by_themselves(tmp_path: Path) -> None:
    down = threading.Event()
    down.set()
    server = FaultServer(lambda texts: (503, {}) if down.is_set() else three(texts))
    with server.running() as url, sfams.open(tmp_path / "m.db", embedder=embedder(url)) as memory:
        first = memory.remember("It is stored all the same.")
        assert not first.embedded
        assert "503" in first.warnings[0]
        asked = memory.recall("stored")
        assert asked[0].record.id == first.id
        assert "503" in asked.warnings[0]
        calls = len(server.requests)
        memory.remember("It is stored all the same.")  # known: nobody is asked
        memory.flush()
        assert len(server.requests) == calls
        down.clear()
        assert memory.remember("The server is back.").embedded
        memory.flush()
        assert memory.stats().pending == 0
        assert memory.doctor().healthy


def test_a_memory_goes_on_while_an_endpoint_hangs(tmp_path: Path) -> None:
    let_go = threading.Event()

    def hanging(texts: list[str]) -> tuple[int, Any]:
        assert let_go.wait(60)
        return three(texts)

    settings = sfams.load_settings(
        db=tmp_path / "m.db", embedder="openai:some-model", embedder_dimension=3
    )
    with FaultServer(hanging).running() as url:
        settings = settings.model_copy(update={"embedder_url": url, "embedder_deadline": 0.3})
        with sfams.build(settings) as memory:
            stored = memory.remember("The gate code is 4417.")
            asked = memory.recall("gate code")
            let_go.set()
    assert not stored.embedded
    assert "no answer within 0.3 seconds" in stored.warnings[0]
    assert [hit.record.id for hit in asked] == [stored.id]
    assert "by keywords only" in asked.warnings[0]


def test_the_first_vector_is_compared_by_the_measured_calibration(tmp_path: Path) -> None:
    with real_server() as url:
        remote = openai_embedder("multilingual-e5-small", Endpoint(url=url))
        assert remote.calibration.mean == 0.2
        with sfams.open(tmp_path / "m.db", embedder=remote) as memory:
            memory.remember("Billing runs on PostgreSQL.", wait=False)
            assert remote.calibration.mean == 0.2
            memory.remember("The dentist moved me to Monday.")
            assert 0.5 < remote.calibration.mean < 0.9


def test_a_failing_background_job_is_logged_in_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with (
        FaultServer(lambda _: (503, {})).running() as url,
        sfams.open(tmp_path / "m.db", embedder=embedder(url)) as memory,
        caplog.at_level(logging.WARNING, "sfams"),
    ):
        memory.remember("It waits.", wait=False)
        memory.flush()
    (record,) = caplog.records
    assert "still wait for a vector" in record.message
    assert record.exc_info is None


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ProviderUnavailableError, match=r'pip install "sf-ams\[openai\]"'):
        openai_embedder("m")
    for provider in ("sentence-transformers", "fastembed"):
        with pytest.raises(ProviderUnavailableError, match=rf'pip install "sf-ams\[{provider}\]"'):
            sfams.open(":memory:", embedder=f"{provider}:some/model")


@pytest.mark.parametrize("name", ["openai", "openai:", "openai: ", "e5", "", "mini:lm"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(sfams.InvalidInputError, match="sentence-transformers:MODEL"):
        sfams.open(":memory:", embedder=name)
