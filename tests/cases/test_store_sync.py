"""Cases C039 to C051: rows, vectors and keywords agree, and a write that failed says so."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.support.store_files import ids_of, rows_in
from typer.testing import CliRunner

import sfams
from sfams.cli.app import app, main
from sfams.core.record import EmbeddingState
from sfams.errors import StoreUnavailableError
from sfams.service.memory import Memory
from sfams.stores.sqlite import SqliteStore
from sfams.stores.sqlite.checking import Check
from sfams.testing.embedders import ScriptedEmbedder

OpenMemory = Callable[..., Memory]
MODES = ("keyword", "vector", "hybrid")
SCOPE = "acme/me"
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SFAMS_")},
    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    "SFAMS_EMBEDDER": "hashing",
    "SFAMS_SCOPE": SCOPE,
}


def child(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of the programs at the end of this file as a process of its own."""
    return subprocess.run(
        [sys.executable, __file__, *arguments],
        env=ENVIRONMENT,
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def told_by(*arguments: str) -> Any:
    """Run such a program and read what it tells."""
    done = child(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ── C039, C046, C047 ──────────────────────────────────────────────────────────────────────────────


def test_C039_edits_elsewhere_do_not_make_a_record_unfindable(open_memory: OpenMemory) -> None:
    a, b = open_memory("studio-a"), open_memory("studio-b")
    kept = a.remember("The kiln in studio A fires at 1040 degrees.").id
    text = "The kiln in studio B fires at 980 degrees, revision {}."
    edited = b.remember(text.format(0)).id

    def look() -> tuple[list[str], int]:
        found = ids_of(a.recall("kiln temperature", mode="vector", k=1))
        return found, a.stats().vectors + b.stats().vectors

    before = look()
    for n in range(1, 51):
        b.update(edited, content=text.format(n))
    assert before == look() == ([kept], 2)
    assert a.doctor(repair=True).healthy
    for memory in (a, b):
        memory._engine.views.drop(memory.scope)
    assert look() == ([kept], 2)
    assert ids_of(b.recall("kiln temperature", mode="vector")) == [edited]
    if isinstance(a._engine.store, SqliteStore):
        assert rows_in(Path(a._engine.store.location)) == (2, 2, 2)


C046_VECTORS: dict[str, list[float]] = {
    "good one": [1, 0, 0, 0],
    "good two": [0.8, 0.6, 0, 0],
    "blank": [0, 0, 0, 0],
    "broken": [float("nan"), 0, 0, 0],
    "infinite": [float("inf"), 0, 0, 0],
}


def test_C046_vectors_without_direction_cannot_poison_ranking(open_memory: OpenMemory) -> None:
    memory = open_memory("s", ScriptedEmbedder(C046_VECTORS, dimension=4))
    results = {text: memory.remember(text) for text in C046_VECTORS}
    for text in ("blank", "broken", "infinite"):
        assert not results[text].embedded
        assert results[text].warnings
        assert memory.get(results[text].id).embedding is EmbeddingState.FAILED
    assert memory.stats().vectors == 2
    for mode in ("vector", "hybrid"):
        found = memory.recall("good one", mode=mode, k=5)
        check_scores(found)
        assert [hit.record.content for hit in found][:2] == ["good one", "good two"]
        assert mode == "hybrid" or len(found) == 2
        for text in ("blank", "broken", "infinite"):
            found = memory.recall(text, mode=mode, k=5)
            check_scores(found)
            assert ids_of(found) == ([] if mode == "vector" else [results[text].id])
    assert memory.doctor().healthy


def check_scores(found: Any) -> None:
    written = json.dumps([[hit.score, dict(hit.parts)] for hit in found], allow_nan=False)
    assert all(0.0 <= score <= 1.0 for score, _ in json.loads(written))


C047_OLD = "The quarterly report is due on 14 April."
C047_NEW = "Swimming lessons start on 3 June."
C047_OTHER = "Reports are kept in the blue folder."
C047_REPORT = "report deadline"
C047_SWIMMING = "when do swimming lessons start"
C047_VECTORS: dict[str, list[float]] = {
    C047_OLD: [1, 0, 0, 0],
    C047_REPORT: [0.9, 0, 0.1, 0],
    C047_NEW: [0, 1, 0, 0],
    C047_SWIMMING: [0, 0.9, 0.1, 0],
    C047_OTHER: [0.6, 0, 0.8, 0],
}


def test_C047_a_changed_text_changes_what_is_found(open_memory: OpenMemory) -> None:
    embedder = ScriptedEmbedder(C047_VECTORS, dimension=4)
    memory = open_memory("yara", embedder)
    stored, other = memory.remember(C047_OLD).id, memory.remember(C047_OTHER).id

    def best(query: str) -> str:
        return ids_of(memory.recall(query, mode="vector"))[0]

    assert best(C047_REPORT) == stored
    memory.update(stored, content=C047_NEW)
    assert (best(C047_SWIMMING), best(C047_REPORT)) == (stored, other)
    assert ids_of(memory.recall("quarterly", mode="keyword")) == []
    embedder.fail = True
    assert memory.update(stored, content=C047_OLD).embedding is EmbeddingState.PENDING
    embedder.fail = False
    memory = open_memory("yara", embedder)  # as after a restart
    assert memory.get(stored).embedding is EmbeddingState.PENDING
    assert stored in {i for problem in memory.doctor().problems for i in problem.ids}
    for query in (C047_SWIMMING, C047_REPORT):
        assert ids_of(memory.recall(query, mode="vector")) == [other]
    assert ids_of(memory.recall("quarterly", mode="keyword")) == [stored]
    assert memory.embed_pending() == 1
    assert memory.doctor().healthy
    assert best(C047_REPORT) == stored


# ── C049: nothing can be written ──────────────────────────────────────────────────────────────────

NOBODY = 65534
needs_users = pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users and file limits")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)
        Path(name).chmod(0o777)


@needs_users
def test_C049_a_read_only_file_and_folder(open_folder: Path) -> None:
    path = open_folder / "memory.db"
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        first = memory.remember("It was written before.").id
    path.chmod(0o444)
    open_folder.chmod(0o555)
    told = told_by("read-only", str(path))
    assert told["found"] == [first]
    assert "read-only" in told["refused"]
    assert [problem["check"] for problem in told["problems"]] == ["writing"]
    assert "cannot be written" in told["problems"][0]["message"]
    wrong = child("cli-as-nobody", str(path), "remember", "It cannot be written.", "--json")
    assert (wrong.returncode, wrong.stdout) == (6, "")
    assert json.loads(wrong.stderr)["error"]["type"] == "StoreUnavailableError"
    assert child("cli-as-nobody", str(path), "doctor").returncode == 1
    path.chmod(0o666)
    open_folder.chmod(0o777)
    after = child("cli-as-nobody", str(path), "remember", "It can be written.", "--json")
    assert after.returncode == 0, after.stderr
    assert rows_in(path) == (2, 2, 2)


def test_C049_a_lock_that_another_holds_for_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = partial(SqliteStore, busy_timeout=timedelta(milliseconds=80))
    monkeypatch.setattr("sfams.bootstrap.SqliteStore", impatient)
    path = tmp_path / "memory.db"
    runner = CliRunner(env={**ENVIRONMENT, "SFAMS_DB": str(path)})
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        first = memory.remember("It was written before.", importance=0.5).id
        memory.flush()  # nothing of ours waits for the lock in the background
        other = apsw.Connection(str(path))
        other.execute("BEGIN EXCLUSIVE")
        for write in (
            lambda: memory.remember("It cannot be written."),
            lambda: memory.remember_many(["a", "b"]),
            lambda: memory.update(first, importance=0.9),
            lambda: memory.delete(first),
            memory.plan_forgetting,
        ):
            with pytest.raises(StoreUnavailableError, match="another process holds the lock"):
                write()
        wrong = runner.invoke(app, ["remember", "It cannot be written.", "--json"])
        assert (wrong.exit_code, wrong.stdout) == (6, "")
        assert json.loads(wrong.stderr)["error"]["retryable"] is True
        assert ids_of(memory.recall("written before")) == [first]
        assert [problem.check for problem in memory.doctor().problems] == ["writing"]
        assert runner.invoke(app, ["doctor"]).exit_code == 1
        other.execute("ROLLBACK")
        other.close()
        assert memory.doctor().healthy
        second = memory.remember("It can be written.").id
        assert {record.id for record in memory.list(status=["all"])} == {first, second}
        assert memory.get(first).importance == 0.5
    assert runner.invoke(app, ["doctor"]).exit_code == 0


@needs_users
def test_C049_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    told = told_by("full-disk", str(path))
    assert len(told["stored"]) >= 2
    assert len(told["refused"]) == 3
    assert all("failed" in each or "full" in each for each in told["refused"])
    assert told["readable"]
    assert told["complete"]
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        found = memory.list(status=["all"], limit=1000)
        assert sorted(record.id for record in found) == sorted(told["stored"])
        assert memory.doctor().healthy
    assert rows_in(path) == (len(told["stored"]),) * 3


@needs_users
def test_C049_a_full_disk_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    assert child("cli", str(path), "remember", "It was written before.").returncode == 0
    long = "word " * 20_000
    wrong = child("cli-in-bounds", "50000", str(path), "remember", long, "--json")
    assert (wrong.returncode, wrong.stdout) == (6, "")
    assert json.loads(wrong.stderr)["error"]["retryable"] is True
    assert rows_in(path) == (1, 1, 1)
    assert child("cli", str(path), "remember", "It can be written.").returncode == 0
    assert rows_in(path) == (2, 2, 2)
    assert child("cli", str(path), "doctor").returncode == 0


# ── C050: drift ───────────────────────────────────────────────────────────────────────────────────

C050_CHANGED = "Sensor 31 is mounted in the cellar."


def test_C050_drift_is_found_counted_and_repaired(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    texts = [f"Sensor {n} is mounted in bay {n}." for n in range(1, 61)]
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        ids = [result.id for result in memory.remember_many(texts)]
    changed, lost, gone = ids[30], ids[:7], ids[40:42]
    damage(path, lost, gone, changed)
    before = dump(path)
    checked = child("cli", str(path), "doctor", "--json")  # without --repair: the dry run
    assert checked.returncode == 1
    found = {problem["check"]: problem for problem in json.loads(checked.stdout)["problems"]}
    assert found[Check.VECTORS]["ids"] == sorted(lost)
    assert found[Check.VECTORS]["message"].startswith("7 ")
    assert found[Check.CONTENT]["ids"] == [changed]
    assert "rows of 2 records that are not there (41, 42)" in found[Check.ORPHANS]["message"]
    assert all(problem["repair"] for problem in found.values())
    assert dump(path) == before
    assert told_by("cli", str(path), "doctor", "--repair", "--json")["healthy"] is True
    assert child("cli", str(path), "doctor").returncode == 0
    assert rows_in(path) == (58, 58, 58)
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        assert memory.doctor().healthy
        records = memory.list(limit=100)
        assert {record.id for record in records} == set(ids) - set(gone)
        assert memory.get(changed).content == C050_CHANGED
        for mode in MODES:
            assert lonely(memory, [record.id for record in records], mode) == []


def damage(path: Path, lost: Sequence[str], gone: Sequence[str], changed: str) -> None:
    """Do behind the product's back what a bad disk or a curious hand may do."""
    file = apsw.Connection(str(path))
    number = "(SELECT number FROM record WHERE id = ?)"
    file.executemany(f"DELETE FROM vector WHERE record = {number}", [(each,) for each in lost])
    file.executemany("DELETE FROM record WHERE id = ?", [(each,) for each in gone])
    file.execute("UPDATE record SET content = ? WHERE id = ?", (C050_CHANGED, changed))
    file.close()


def dump(path: Path) -> dict[str, list[Any]]:
    file = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    names = [row[0] for row in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    content = {name: file.execute(f"SELECT * FROM {name}").fetchall() for name in names}
    file.close()
    return content


def lonely(memory: Memory, ids: Iterable[str], mode: str = "vector") -> list[str]:
    """Name the records that are not first, or tied with the first, for their own text."""
    found: list[str] = []
    for each in ids:
        hits = memory.recall(memory.get(each).content, mode=mode, k=10, count=False)
        best = max((hit.score for hit in hits), default=0.0)
        if each not in [hit.record.id for hit in hits if hit.score >= best - 1e-6]:
            found.append(each)
    return found


# ── C051: churn ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_C051_after_churn_every_record_is_its_own_nearest(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    chance = random.Random(51)
    texts = [f"Invoice {n} for customer {n % 97}, amount {n * 7 % 1000}." for n in range(4000)]
    with hashed(path) as memory:
        ids = [result.id for result in memory.remember_many(texts)]
        assert lonely(memory, chance.sample(ids, 20)) == []
        gone = set(chance.sample(ids, 2000))
        assert memory.delete(gone).deleted == 2000
        rest = [each for each in ids if each not in gone]
        for n, each in enumerate(chance.sample(rest, 600)):
            memory.update(each, content=f"Invoice {n} was corrected, amount {n * 3}.5.")
        assert memory.stats().vectors == memory.stats().hot == 2000
        assert lonely(memory, rest) == []
        assert not gone & shown(memory, chance.sample(texts, 200))
        assert memory.doctor().healthy
    assert told_by("lonely", str(path)) == {"live": 2000, "lonely": []}


def hashed(path: Path | str) -> Memory:
    return sfams.open(path, scope=SCOPE, embedder=ScriptedEmbedder(dimension=64))


def shown(memory: Memory, texts: list[str]) -> set[str]:
    return {
        hit.record.id
        for text in texts
        for hit in memory.recall(text, mode="vector", k=10, count=False)
    }


# ── What runs in other processes ──────────────────────────────────────────────────────────────────


def drop_rights() -> None:
    """Become a user for whom permissions count: root may write everywhere.

    What Python loads when first needed may be out of this user's reach, so it is used before.
    """
    for arguments in (["remember", "Ready."], ["recall", "ready"], ["doctor"], ["ls", "--json"]):
        CliRunner().invoke(app, ["--db", ":memory:", *arguments])
    if os.geteuid() == 0:
        os.setuid(NOBODY)


def read_only(path: str) -> None:
    told: dict[str, object] = {}
    drop_rights()
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        told["found"] = ids_of(memory.recall("written before"))
        try:
            memory.remember("It cannot be written.")
        except StoreUnavailableError as error:
            told["refused"] = str(error)
        problems = memory.doctor().problems
    told["problems"] = [{"check": each.check, "message": each.message} for each in problems]
    sys.stdout.write(json.dumps(told))


def full_disk(path: str) -> None:
    """Write until no file may grow any more, then let files grow again."""
    stored: list[str] = []
    refused: list[str] = []
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        limit_files(600_000)
        for n in range(300):
            try:
                stored.append(memory.remember(f"Page {n}: " + f"word{n} " * 1000).id)
            except StoreUnavailableError as error:
                refused.append(str(error))
            if len(refused) == 3:
                break
        readable = ids_of(memory.recall("Page 0", mode="keyword", count=False))[:1] == stored[:1]
        limit_files()
        stored.append(memory.remember("It can be written.").id)
        complete = {record.id for record in memory.list(limit=1000)} == set(stored)
    told = {"stored": stored, "refused": refused, "readable": readable, "complete": complete}
    sys.stdout.write(json.dumps(told))


def limit_files(size: int | None = None) -> None:
    import resource

    most = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


def cli(path: str, *arguments: str) -> None:
    sys.argv = ["sfams", "--db", path, *arguments]
    main()


def cli_as_nobody(path: str, *arguments: str) -> None:
    drop_rights()
    cli(path, *arguments)


def cli_in_bounds(limit: str, path: str, *arguments: str) -> None:
    limit_files(int(limit))
    cli(path, *arguments)


def tell_lonely(path: str) -> None:
    with hashed(path) as memory:
        pages = [memory.list(limit=1000, descending=down) for down in (False, True)]
        ids = {record.id for page in pages for record in page}
        sys.stdout.write(json.dumps({"live": len(ids), "lonely": lonely(memory, sorted(ids))}))


PROGRAMS: dict[str, Callable[..., None]] = {
    "read-only": read_only,
    "full-disk": full_disk,
    "cli": cli,
    "cli-as-nobody": cli_as_nobody,
    "cli-in-bounds": cli_in_bounds,
    "lonely": tell_lonely,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
