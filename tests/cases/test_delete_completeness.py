"""Cases C015 to C025: what is deleted is gone from every read, and only what was meant is gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.support.store_files import ids_of, rows_in

import sfams
from sfams.core.record import EmbeddingState
from sfams.errors import InvalidInputError, NotFoundError
from sfams.service.memory import Memory
from sfams.testing.embedders import ScriptedEmbedder

OpenMemory = Callable[..., Memory]
Search = Callable[[str, str], list[str]]
MODES = ("keyword", "vector", "hybrid")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SFAMS_")},
    "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    "SFAMS_EMBEDDER": "hashing",
}


def command(
    path: Path, *arguments: str, scope: str = "acme/me"
) -> subprocess.CompletedProcess[str]:
    """Run `sfams` on a file, as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "sfams", "--db", str(path), "--scope", scope, *arguments],
        env=ENVIRONMENT,
        cwd=path.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# ── C015 ──────────────────────────────────────────────────────────────────────────────────────────

C015_FILTERS: list[dict[str, Any]] = [
    {},
    {"who": ""},
    {"who": None},
    {"tags": []},
    {"who": "   "},
]


def six_notes(memory: Memory) -> None:
    for n in range(6):
        memory.remember(f"Note {n} of owner {n % 3}.", who=f"owner {n % 3}")


@pytest.mark.parametrize("verb", ["delete", "erase"])
@pytest.mark.parametrize("fields", C015_FILTERS)
def test_C015_a_bulk_delete_without_a_real_filter_is_refused(
    memory: Memory, verb: str, fields: dict[str, Any]
) -> None:
    six_notes(memory)
    with pytest.raises(InvalidInputError, match=r"filter|who"):
        getattr(memory, verb)(**fields)
    assert memory.stats().hot == 6


def test_C015_deleting_all_takes_an_explicit_option(memory: Memory) -> None:
    six_notes(memory)
    assert memory.delete(who="owner 1").deleted == 2
    assert len(memory.erase(everything=True).ids) == 6
    assert len(memory.list(status=["all"])) == 0


def test_C015_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sfams.open(path, scope="acme/me", embedder="hashing") as memory:
        six_notes(memory)
    for filters in ((), ("--who", ""), ("--who", "   ")):
        done = command(path, "erase", "--yes", *filters)
        assert (done.returncode, done.stdout) == (2, ""), filters
        assert "filter" in done.stderr or "who" in done.stderr
        assert rows_in(path) == (6, 6, 6)
    assert command(path, "erase", "--everything", "--yes").returncode == 0
    assert rows_in(path) == (0, 0, 0)


# ── C016 ──────────────────────────────────────────────────────────────────────────────────────────


def searching(memory: Memory, query: str, mode: str) -> list[str]:
    """Read in two ways what a query brings: as hits, and as a block for a prompt."""
    found = [hit.record.content for hit in memory.recall(query, mode=mode)]
    return [*found, memory.context(query, tokens=400).text]


class Server:
    """A memory in another process that stays open: it stands for a running server."""

    def __init__(self, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(path)],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def search(self, query: str, mode: str) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([query, mode]) + "\n")
        self._process.stdin.flush()
        return [*map(str, json.loads(self._process.stdout.readline()))]

    def close(self) -> None:
        self._process.communicate(timeout=60)


def serve(path: str) -> None:
    """Answer searches from standard input until it ends."""
    with sfams.open(path, scope="kofi", embedder="hashing") as memory:
        for line in sys.stdin:
            sys.stdout.write(json.dumps(searching(memory, *json.loads(line))) + "\n")
            sys.stdout.flush()


@contextmanager
def two_readers(path: Path) -> Iterator[list[Search]]:
    """Open the memory in this process and in another one, as two servers would."""
    server = Server(path)
    try:
        with sfams.open(path, scope="kofi", embedder="hashing") as memory:
            yield [lambda query, mode: searching(memory, query, mode), server.search]
    finally:
        server.close()


C016_SECRET = "The garage door code is 4471."
C016_KEPT = "The garage light switch is on the left."


def check_shown(readers: list[Search]) -> None:
    for search in readers:
        assert any("4471" in text for text in search("4471", "keyword"))


def check_gone(readers: list[Search]) -> None:
    for search in readers:
        for query, mode in (("4471", "keyword"), ("code to open the garage", "vector")):
            assert not any("4471" in text for text in search(query, mode))
        assert C016_KEPT in search("garage light switch", "hybrid")


def test_C016_a_delete_by_command_reaches_running_readers(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sfams.open(path, scope="kofi", embedder="hashing") as memory:
        secret = memory.remember(C016_SECRET).id
        memory.remember(C016_KEPT)
    before = rows_in(path)
    with two_readers(path) as readers:
        check_shown(readers)
        done = command(path, "erase", secret, "--yes", scope="kofi")
        assert done.returncode == 0, done.stderr
        check_gone(readers)
    with two_readers(path) as readers:
        check_gone(readers)
    assert rows_in(path) == tuple(count - 1 for count in before)


def test_C016_a_reversible_delete_reaches_them_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sfams.open(path, scope="kofi", embedder="hashing") as writer:
        secret = writer.remember(C016_SECRET).id
        writer.remember(C016_KEPT)
        with two_readers(path) as readers:
            check_shown(readers)
            writer.delete(secret)
            check_gone(readers)
            writer.restore([secret])
            check_shown(readers)


# ── C018 and C019 ─────────────────────────────────────────────────────────────────────────────────


def edges(memory: Memory) -> set[tuple[str, str, str]]:
    """List the relations of the default view, each once: both ends are live."""
    ids = [record.id for record in memory.list(status=["all"], limit=1000)]
    with memory._engine.store.read() as reader:
        links = reader.linked(memory.scope, ids)
    assert len(links) == len(set(links))
    return {(source, relation.type, relation.target) for source, relation in links}


def test_C018_the_forgotten_is_not_readable_through_entities_or_relations(memory: Memory) -> None:
    first = memory.remember(
        "Lena met Viktor at the Harbour Cafe.", entities=["Lena", "Viktor", "Harbour Cafe"]
    ).id
    second = memory.remember("Viktor is looking for a new job.", entities=["Viktor"]).id
    memory.link(first, second, "about")
    memory.delete(second)
    outputs = [
        repr(memory.entities()),
        repr(memory.list(entities=["Viktor"]).records),
        repr(memory.timeline(first)),
        memory.context("Viktor", tokens=400).text,
        *(repr(memory.recall("Viktor new job", mode=mode)) for mode in MODES),
    ]
    assert [number for number, output in enumerate(outputs) if "new job" in output] == []
    assert {entity.name: entity.records for entity in memory.entities()}["Viktor"] == 1
    assert edges(memory) == set()
    archived = memory.list(entities=["Viktor"], status=["all"])
    assert {record.id for record in archived} == {first, second}
    assert ids_of(memory.recall("Viktor new job", status=["deleted"])) == [second]


C019_TEXTS = [
    "Petra rents a storage unit at Pier 7.",
    "Petra owns two kayaks.",
    "Petra paddles on Sundays.",
    "Petra sold one kayak in May.",
    "Petra's club is called Nordlys.",
]


def check_pier_is_gone(memory: Memory) -> None:
    for query in ("Pier 7", "storage unit"):
        for mode in MODES:
            found = [hit.record.content for hit in memory.recall(query, mode=mode)]
            assert not any("Pier 7" in text for text in found)
    assert not any("Pier 7" in record.content for record in memory.list())
    assert not any("Pier 7" in line for line in memory.export(status=["live"]))


def test_C019_rebuilding_does_not_bring_the_deleted_back(
    memory: Memory, open_memory: OpenMemory
) -> None:
    # With summaries to come: what the summarizer is given must not hold "Pier 7", nor may a summary.
    first, *_ = (memory.remember(text).id for text in C019_TEXTS)
    memory.recall("storage unit")
    memory.delete(first)
    assert memory.doctor(repair=True).healthy
    memory._engine.views.drop(memory.scope)
    for reader in (memory, open_memory()):
        assert reader.embed_pending() == 0
        check_pier_is_gone(reader)


def test_C019_with_every_index_lost_and_made_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sfams.open(path, scope="petra", embedder="hashing") as memory:
        first, *_ = (memory.remember(text).id for text in C019_TEXTS)
        memory.delete(first)
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM keyword; DELETE FROM vector").fetchall()
    connection.close()
    with sfams.open(path, scope="petra", embedder="hashing") as memory:
        assert not memory.doctor().healthy
        assert memory.doctor(repair=True).healthy
        check_pier_is_gone(memory)
        assert memory.recall("kayaks", mode="vector")
        assert memory.recall("Nordlys", mode="keyword")


# ── C020 and C021 ─────────────────────────────────────────────────────────────────────────────────

C020_OLD = "Ivo enjoys horror films."
C020_NEW = "Ivo prefers window seats."
C020_CONTROL = "Ivo sometimes watches thrillers."
C020_VECTORS: dict[str, list[float]] = {
    C020_OLD: [1, 0, 0, 0],
    "horror films": [1, 0.1, 0, 0],
    C020_CONTROL: [0.8, 0.6, 0, 0],
}


def test_C020_a_reused_key_does_not_inherit_the_old_vector(open_memory: OpenMemory) -> None:
    embedder = ScriptedEmbedder(C020_VECTORS, dimension=4)
    memory = open_memory("ivo", embedder)
    old = memory.remember(C020_OLD, key="pref-seat")
    control = memory.remember(C020_CONTROL)
    assert ids_of(memory.recall("horror films", mode="vector", k=1)) == [old.id]
    memory.delete(old.id)
    memory = open_memory("ivo", embedder)
    embedder.fail = True
    new = memory.remember(C020_NEW, key="pref-seat")
    embedder.fail = False
    assert new.id != old.id
    assert (new.outcome, new.embedded) == ("new", False)
    assert ids_of(memory.recall("horror films", mode="vector", k=1)) == [control.id]
    record = memory.get(new.id)
    assert (record.key, record.embedding) == ("pref-seat", EmbeddingState.PENDING)
    assert memory.get(old.id).key is None
    with memory._engine.store.read() as reader:
        assert new.id not in reader.vectors(memory.scope, [new.id])
    assert memory.stats().vectors == 1
    assert memory.embed_pending() == 1
    assert memory.stats().vectors == len(memory.list()) == 2


def test_C020_the_same_text_under_the_key_of_a_deleted_record(memory: Memory) -> None:
    old = memory.remember(C020_OLD, key="pref-seat")
    memory.delete(old.id)
    again = memory.remember(C020_OLD, key="pref-seat")
    assert (again.outcome, again.id) == ("duplicate", old.id)
    assert any("deleted" in warning for warning in again.warnings)
    assert len(memory.list()) == 0
    memory.restore([old.id])
    assert memory.remember("Another text.", key="pref-seat").id == old.id


def test_C020_a_record_that_lost_its_key_can_be_restored(memory: Memory) -> None:
    old = memory.remember(C020_OLD, key="pref-seat")
    memory.delete(old.id)
    new = memory.remember(C020_NEW, key="pref-seat")
    memory.restore([old.id])
    assert ids_of(memory.recall("horror films", k=1)) == [old.id]
    assert memory.remember("Any text.", key="pref-seat").id == new.id
    assert memory.doctor().healthy


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("verb", ["delete", "erase"])
def test_C021_deleted_records_do_not_use_up_result_slots(
    memory: Memory, mode: str, verb: str
) -> None:
    notes = [memory.remember(f"Meeting note {n:02}: budget review").id for n in range(1, 21)]
    lines = {memory.remember(f"Budget line {n:02} approved").id for n in range(1, 11)}
    memory.recall("budget review", mode=mode, k=5)
    getattr(memory, verb)(notes)
    found = ids_of(memory.recall("budget review", mode=mode, k=5))
    assert len(found) == 5
    assert set(found) <= lines


# ── C023 ──────────────────────────────────────────────────────────────────────────────────────────

UNKNOWN = "00000000-0000-4000-8000-00000000dead"


@pytest.mark.parametrize("verb", ["delete", "erase"])
def test_C023_deleting_what_is_not_there_is_told_apart(memory: Memory, verb: str) -> None:
    ids = [memory.remember(f"Record {n}.").id for n in range(3)]
    act = getattr(memory, verb)
    with pytest.raises(NotFoundError, match=UNKNOWN):
        act(UNKNOWN)
    for malformed in ("not-an-id", f"{ids[0][:8]}..."):
        with pytest.raises(InvalidInputError, match="is not an id"):
            act(malformed)
    with pytest.raises(NotFoundError):
        act([ids[0], UNKNOWN])
    assert memory.stats().hot == 3
    act(ids[0])
    with pytest.raises(NotFoundError, match=ids[0]):
        act(ids[0])
    assert memory.stats().hot == 2


def test_C023_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with sfams.open(path, scope="acme/me", embedder="hashing") as memory:
        ids = [memory.remember(f"Record {n}.").id for n in range(3)]
    wrong = {UNKNOWN: 4, "not-an-id": 2, f"{ids[0][:8]}...": 2}
    for each, code in wrong.items():
        done = command(path, "erase", each, "--yes")
        assert (done.returncode, done.stdout) == (code, "")
        assert each in done.stderr
    assert command(path, "erase", ids[0], "--yes").returncode == 0
    assert command(path, "erase", ids[0], "--yes").returncode == 4
    assert rows_in(path) == (2, 2, 2)


# ── C024 and C025 ─────────────────────────────────────────────────────────────────────────────────


def test_C024_erasing_removes_edges_and_entities_nobody_else_names(memory: Memory) -> None:
    first = memory.remember("Lena works at Norrsken Labs.", entities=["Lena", "Norrsken Labs"]).id
    second = memory.remember(
        "Lena had lunch at the Harbour Cafe.", entities=["Lena", "Harbour Cafe"]
    ).id
    third = memory.remember("The lunch was moved to 13:00.").id
    before = {each: memory.get(each) for each in (first, third)}
    memory.link(third, second, "amends")
    memory.link(first, second, "relates-to")
    memory.erase(second)
    assert edges(memory) == set()
    counted = {entity.name: entity.records for entity in memory.entities()}
    assert counted == {"Lena": 1, "Norrsken Labs": 1}
    for each in (first, third):
        assert memory.get(each) == before[each]
        assert [record.id for record in memory.timeline(each)] == [each]
    assert memory.doctor().healthy


def test_C025_archiving_and_restoring_gives_edges_back_once(memory: Memory) -> None:
    alpha = memory.remember("Project Alpha uses the Beta parser.").id
    beta = memory.remember("The Beta parser is written in Rust.").id
    gamma = memory.remember("Gamma replaced the old lexer.").id
    memory.link(alpha, beta, "depends-on")
    memory.link(beta, gamma, "relates-to")
    original = {(alpha, "depends-on", beta), (beta, "relates-to", gamma)}
    assert edges(memory) == original
    for _ in range(2):
        memory.delete(beta)
        assert edges(memory) == set()
        memory.restore([beta])
        assert edges(memory) == original


if __name__ == "__main__":
    serve(sys.argv[1])
