"""Reindexing: broken off at any point it goes on, and the old vectors serve until it is through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

import sfams
from sfams.core.view import Vector
from sfams.errors import InvalidInputError, NotFoundError
from sfams.testing.embedders import ScriptedEmbedder

TEXTS = [f"Barrel {n} holds cider of year {1900 + n}." for n in range(160)]


class SlowEmbedder(ScriptedEmbedder):
    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        time.sleep(0.004 * len(texts))
        return super().embed_passages(texts)


def old() -> ScriptedEmbedder:
    return ScriptedEmbedder(model_id="old", dimension=8)


def new() -> ScriptedEmbedder:
    return ScriptedEmbedder(model_id="new", dimension=12)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    with sfams.open(file, scope="a/b", embedder=old()) as memory:
        memory.remember_many(TEXTS)
    return file


def staged(path: Path) -> int:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(10_000)
    count: int = connection.execute("SELECT count(*) FROM staged_vector").get
    connection.close()
    return count


def test_killed_half_way_it_goes_on_and_the_old_vectors_serve_meanwhile(path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, __file__, str(path)], env=environment) as child:
        while not staged(path):
            assert child.poll() is None
        child.send_signal(signal.SIGKILL)
    made = staged(path)
    assert 0 < made < len(TEXTS)
    with sfams.open(path, scope="a/b", embedder=old()) as memory:
        for text in TEXTS[:5]:
            assert memory.recall(text, mode="vector")[0].record.content == text
        assert memory.doctor().healthy
    report = sfams.reindex(path, embedder=new())
    assert report.embedded == len(TEXTS) - made
    with sfams.open(path, scope="a/b", embedder=new()) as memory:
        for text in TEXTS[:5]:
            assert memory.recall(text, mode="vector")[0].record.content == text
        assert memory.doctor().healthy
        with memory._engine.store.read() as reader:
            assert reader.history(memory.scope, [])[-1].type == "reindexed"
    assert staged(path) == 0


def test_every_scope_and_standing_gets_its_vector(path: Path) -> None:
    with sfams.open(path, scope="a/b", embedder=old()) as memory:
        gone = memory.recall(TEXTS[3])[0].record.id
        memory.delete([gone])
        memory.within("a/c").remember("Another scope, another cellar.")
        plan = memory.plan_forgetting(sfams.RetentionPolicy(budget=sfams.Budget(records=100)))
        memory.forget(plan)
    report = sfams.reindex(path, embedder=new())
    assert report.embedded == len(TEXTS) + 1
    with sfams.open(path, scope="a/b", embedder=new()) as memory:
        memory.restore([gone])
        assert memory.recall(TEXTS[3], mode="vector")[0].record.id == gone
        other = memory.within("a/c").recall("Another scope, another cellar.", mode="vector")
        assert other[0].score == pytest.approx(1.0)


def test_progress_rises_to_the_number_of_records(path: Path) -> None:
    seen: list[tuple[int, int]] = []
    sfams.reindex(path, embedder=new(), progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == ((0, len(TEXTS)), (len(TEXTS), len(TEXTS)))


def test_a_text_without_a_usable_vector_is_counted_and_found_by_words(path: Path) -> None:
    blank = ScriptedEmbedder({TEXTS[0]: [0.0] * 12}, model_id="new", dimension=12)
    report = sfams.reindex(path, embedder=blank)
    assert (report.embedded, report.failed) == (len(TEXTS) - 1, 1)
    with sfams.open(path, scope="a/b", embedder=new()) as memory:
        assert memory.recall("barrel cider 1900", mode="keyword")[0].record.content == TEXTS[0]


def test_keywords_of_another_tokenizer_are_made_anew(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE meta SET value = '0' WHERE name = 'tokenizer_version'")
    connection.execute("UPDATE keyword SET data = zeroblob(0), length = 0")
    connection.close()
    report = sfams.reindex(path, embedder=old())
    assert (report.keywords, report.embedded) == (len(TEXTS), 0)
    with sfams.open(path, scope="a/b", embedder=old()) as memory:
        assert memory.doctor().healthy
        assert memory.recall("cider 1950", mode="keyword")[0].record.content == TEXTS[50]
    assert not sfams.reindex(path, embedder=old()).changed


def test_an_empty_file_takes_any_model(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    with sfams.open(file, scope="a/b", embedder=old()) as memory:
        memory.erase(ids=[memory.remember("It goes for good.").id])
    with sfams.open(file, scope="a/b", embedder=new()) as memory:
        assert memory.remember("A new beginning.").embedded


def test_another_build_of_the_same_model_is_no_other_model(path: Path) -> None:
    built = ScriptedEmbedder(model_id="old+build2", dimension=8)
    with sfams.open(path, scope="a/b", embedder=built) as memory:
        assert memory.recall(TEXTS[1], mode="vector").warnings == ()
        assert memory.remember("One more barrel.").embedded
        checkup = memory.doctor()
        assert checkup.healthy
        assert "old+build2" in checkup.warnings[0]


def test_without_an_embedder_or_a_file_there_is_nothing_to_reindex(
    path: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match="needs one"):
        sfams.reindex(path, embedder="none")
    with pytest.raises(NotFoundError, match="there is no memory"):
        sfams.reindex(tmp_path / "absent.db", embedder=new())
    assert not (tmp_path / "absent.db").exists()


if __name__ == "__main__":
    sfams.reindex(sys.argv[1], embedder=SlowEmbedder(model_id="new", dimension=12))
