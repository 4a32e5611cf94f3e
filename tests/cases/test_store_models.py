"""Cases C040 to C044 and C053: vectors of one model, made anew without losing any."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from tests.support.store_files import ids_of, rows_in

import sfams
from sfams.core.record import EmbeddingState
from sfams.core.view import Vector
from sfams.errors import ModelMismatchError, ProviderError
from sfams.service.memory import Memory
from sfams.testing.embedders import ScriptedEmbedder

SCOPE = "acme/me"
MODES = ("vector", "hybrid", "keyword")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SFAMS_")},
    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
}


class SlowEmbedder(ScriptedEmbedder):
    """Takes five milliseconds a text, as a model does."""

    def embed_passages(self, texts: Any, /) -> Vector:
        time.sleep(0.005 * len(texts))
        return super().embed_passages(texts)


class StumblingEmbedder(ScriptedEmbedder):
    """Fails at its n-th text."""

    def __init__(self, stumble_at: int, **fields: Any) -> None:
        super().__init__(**fields)
        self._stumble_at = stumble_at

    def embed_passages(self, texts: Any, /) -> Vector:
        rows = []
        for text in texts:
            if self.calls + 1 >= self._stumble_at:
                message = "stumbled"
                raise RuntimeError(message)
            rows.append(super().embed_passages([text])[0])
        return np.array(rows)


def mini(name: str, dimension: int, seed: int = 0) -> ScriptedEmbedder:
    return ScriptedEmbedder(model_id=name, dimension=dimension, seed=seed)


def opened(path: Path, embedder: ScriptedEmbedder | str) -> Memory:
    return sfams.open(path, scope=SCOPE, embedder=embedder)


def filled(path: Path, embedder: ScriptedEmbedder, texts: list[str]) -> list[str]:
    with opened(path, embedder) as memory:
        return [each.id for each in memory.remember_many(texts)]


def models_in(path: Path) -> dict[str, int]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows: list[Any] = connection.execute(
        "SELECT name, count(*) FROM vector JOIN embedding_model AS m ON m.number = model GROUP BY name"
    ).fetchall()
    connection.close()
    return dict(rows)


def test_C040_rebuilding_again_and_after_a_break_works(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    texts = [f"Shelf {n} holds jar {n}." for n in range(12)]
    ids = filled(path, mini("mini-a", 8), texts)
    for _ in range(2):
        report = sfams.reindex(path, embedder=mini("mini-a", 8), force=True)
        assert (report.embedded, report.keywords) == (12, 12)
    with pytest.raises(ProviderError, match="run it again"):
        sfams.reindex(
            path, embedder=StumblingEmbedder(7, model_id="mini-a", dimension=8), force=True
        )
    sfams.reindex(path, embedder=mini("mini-a", 8), force=True)
    with opened(path, mini("mini-a", 8)) as memory:
        memory.update(ids[3], content=texts[3])
        for record_id, text in zip(ids, texts, strict=True):
            for mode in MODES:
                assert ids_of(memory.recall(text, mode=mode))[0] == record_id
        assert memory.doctor().healthy
    assert rows_in(path) == (12, 12, 12)


def test_C041_a_write_under_another_model_is_no_plain_success(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    ids = filled(path, mini("mini-a", 8), [f"Tool {n} hangs on hook {n}." for n in range(1, 6)])
    with pytest.raises(ModelMismatchError) as refused:
        opened(path, mini("mini-b", 12))
    for named in ("mini-a", "(8 dimensions)", "mini-b", "(12)", "sfams reindex"):
        assert named in str(refused.value)
    with opened(path, "none") as memory:
        added = memory.remember("Tool 6 hangs on hook 6.")
        assert not added.embedded
        changed = memory.update(ids[1], content="Tool 2 hangs on hook 22.")
        assert changed.embedding is EmbeddingState.PENDING
        assert [memory.get(each).id for each in ids] == ids
        assert memory.stats().vectors == 4
        assert memory.stats().pending == 2
        assert [problem.check for problem in memory.doctor().problems] == ["pending"]
    assert models_in(path) == {"mini-a": 4}


def test_C042_search_after_a_model_change_says_why(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    ids = filled(path, mini("mini-a", 8), [f"Tool {n} hangs on hook {n}." for n in range(1, 6)])
    before = tuple(record.created_at for record in reading(path, mini("mini-a", 8), ids))
    with opened(path, mini("mini-a", 8)) as old:  # stays open while the file is reindexed
        report = sfams.reindex(path, embedder=mini("mini-b", 16))
        assert (report.before, report.model, report.embedded) == ("mini-a", "mini-b", 5)
        for mode in ("vector", "hybrid"):
            found = old.recall("which hook is tool 3 on", mode=mode)
            assert all(part in found.warnings[0] for part in ("mini-a", "mini-b", "8", "16"))
        assert ids[2] in ids_of(old.recall("which hook is tool 3 on"))
        assert ids[2] in ids_of(old.recall("which hook is tool 3 on", mode="keyword"))
        checkup = old.doctor()
        assert checkup.healthy
        assert "mini-b" in checkup.warnings[0]
        late = old.remember("Tool 9 hangs on hook 9.")
        assert not late.embedded
        assert late.warnings
    assert models_in(path) == {"mini-b": 5}
    with opened(path, mini("mini-b", 16)) as memory:
        assert memory.embed_pending() == 1
        found = memory.recall("Tool 3 hangs on hook 3.", mode="vector")
        assert (ids_of(found)[0], found.warnings) == (ids[2], ())
    assert tuple(r.created_at for r in reading(path, mini("mini-b", 16), ids)) == before


def reading(path: Path, embedder: ScriptedEmbedder, ids: list[str]) -> list[Any]:
    with opened(path, embedder) as memory:
        return [memory.get(each) for each in ids]


def test_C043_opening_with_another_model_drops_no_vector(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    texts = [f"Crate {n} stands in bay {n % 7}." for n in range(20)]
    filled(path, mini("mini-a", 8), texts)

    def look() -> list[list[tuple[str, float]]]:
        with opened(path, mini("mini-a", 8)) as memory:
            return [
                [(hit.record.id, hit.score) for hit in memory.recall(text, k=3, count=False)]
                for text in texts[:5]
            ]

    before = look()
    with pytest.raises(ModelMismatchError):
        opened(path, mini("mini-b", 12))
    with opened(path, "none") as memory:
        assert memory.doctor().healthy
        assert len(memory.recall(texts[0], count=False)) > 0
        assert memory.recall(texts[0], mode="vector", count=False).warnings
    assert look() == before
    assert rows_in(path)[1] == 20


def test_C044_vectors_of_two_models_are_never_mixed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    first, second = mini("m1", 8, seed=1), mini("m2", 8, seed=2)
    texts = [f"Locker {n} belongs to team {n}." for n in range(13)]
    filled(path, first, texts[:10])
    with pytest.raises(ModelMismatchError):
        opened(path, second)
    with opened(path, "none") as memory:
        memory.remember_many(texts[10:])
    assert models_in(path) == {"m1": 10}
    sfams.reindex(path, embedder=second)
    assert models_in(path) == {"m2": 13}
    with opened(path, second) as memory:
        assert memory.doctor().warnings == ()
        for text in texts:
            assert memory.recall(text, mode="vector")[0].record.content == text


def test_C044_two_processes_with_two_models_on_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with opened(path, mini("m1", 8, seed=1)) as one, opened(path, mini("m2", 8, seed=2)) as other:
        assert one.remember("The first vector decides the model.").embedded
        late = other.remember("It comes second.")
        assert not late.embedded
        assert "m1" in late.warnings[0]
        assert other.recall("first vector")[0].record.content.startswith("The first")
    assert models_in(path) == {"m1": 1}


@pytest.mark.parametrize("work", ["repair", "reindex"])
def test_C053_a_rebuild_beside_a_writer_loses_nothing(tmp_path: Path, work: str) -> None:
    path = tmp_path / "m.db"
    model = SlowEmbedder(model_id="mini-a", dimension=16)
    filled(path, model, [f"Crate {n} stands on pallet {n}." for n in range(1, 301)])
    with subprocess.Popen(
        [sys.executable, __file__, str(path)], env=ENVIRONMENT, cwd="/", stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"begun\n"
        if work == "repair":
            with opened(path, model) as memory:
                while writer.poll() is None:
                    memory.doctor(repair=True)
        else:
            report = sfams.reindex(path, embedder=model, force=True)
            assert report.embedded >= 300
        assert writer.wait(60) == 0
    with opened(path, model) as memory:
        assert memory.doctor().healthy
        records = memory.list(limit=1000)
        assert len({record.content for record in records}) == 360
        for record in records:
            assert memory.recall(record.content, mode="vector", k=1)[0].record.id == record.id
        assert not memory.recall("Crate 7 stands on pallet 7.", mode="vector", k=1, min_score=0.99)
    assert rows_in(path) == (360, 360, 360)


def test_the_command_reindexes_and_others_refuse(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    filled(path, mini("mini-a", 8), ["The gate code is 4417.", "门禁密码是4417。"])
    at = ["--db", str(path), "--scope", SCOPE, "--embedder", "hashing"]
    refused = command(*at, "recall", "gate", code=6)
    assert "sfams reindex" in refused
    done = json.loads(command(*at, "reindex", "--json"))
    assert (done["before"], done["embedded"], done["failed"]) == ("mini-a", 2, 0)
    assert "4417" in command(*at, "recall", "gate code")
    assert json.loads(command(*at, "reindex", "--json"))["embedded"] == 0
    assert json.loads(command(*at, "reindex", "--force", "--json"))["keywords"] == 2


def command(*arguments: str, code: int = 0) -> str:
    run = "import sys; from sfams.cli.app import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", run, *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout or done.stderr


def write_beside(path: str) -> None:
    """Add crates 301 to 360 and change crates 1 to 30 (the second process of C053)."""
    model = SlowEmbedder(model_id="mini-a", dimension=16)
    with sfams.open(path, scope=SCOPE, embedder=model) as memory:
        ids = {record.content: record.id for record in memory.list(limit=1000)}
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        for n in range(1, 61):
            memory.remember(f"Crate {300 + n} stands on pallet {300 + n}.")
            if n <= 30:
                old = ids[f"Crate {n} stands on pallet {n}."]
                memory.update(old, content=f"Crate {n} was moved to ramp {n}.")


if __name__ == "__main__":
    write_beside(sys.argv[1])
