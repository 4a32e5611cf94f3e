"""Checking names damage by record, repairing mends what needs no embedder, and nothing is silent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

import sfams
from sfams.core.admission import content_hash
from sfams.core.columns import Need
from sfams.core.draft import Draft
from sfams.core.indexing import terms_of
from sfams.core.keywords import question_terms
from sfams.core.query import Filter, Order, Page
from sfams.core.record import EmbeddingState, Source, Status, Tier
from sfams.errors import StoreError
from sfams.ports import Problem, Transition, UsageDelta
from sfams.stores.sqlite import SqliteStore
from sfams.stores.sqlite.checking import CHILD_TABLES, Check
from sfams.testing.builders import DIMENSION, HOME, entry_of, make_entry, make_record, numbered_id
from sfams.testing.clock import START

ONE, TWO, THREE = map(numbered_id, (1, 2, 3))
MODEL = "hashing-8"


class Damaged(NamedTuple):
    """A store, and its file to be damaged behind its back."""

    store: SqliteStore
    file: apsw.Connection

    def problems(self) -> dict[str, Problem]:
        return {problem.check: problem for problem in self.store.check()}

    def mend(self) -> int:
        return self.store.repair(self.store.check())


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[Damaged]:
    store = SqliteStore(tmp_path / "memory.db")
    with store.write() as transaction:
        transaction.set_meta("embedding_model", MODEL)
        transaction.set_meta("embedding_dimension", str(DIMENSION))
        transaction.insert([make_entry(n, source=Source(who="Lena")) for n in range(1, 61)])
        transaction.transition(
            HOME, [Transition(numbered_id(n), tier=Tier.COLD) for n in range(50, 61)], START
        )
    file = apsw.Connection(store.location)
    assert list(store.check()) == []
    yield Damaged(store, file)
    file.close()
    store.close()


def test_missing_vectors(damaged: Damaged) -> None:
    damaged.file.execute(
        "DELETE FROM vector WHERE record IN (SELECT number FROM record ORDER BY id LIMIT 7)"
    )
    (problem,) = damaged.store.check()
    assert problem.check == Check.VECTORS
    assert problem.ids == tuple(numbered_id(n) for n in range(1, 8))
    assert problem.repair
    assert damaged.mend() == 1
    assert list(damaged.store.check()) == []
    with damaged.store.read() as reader:
        assert [record.id for record in reader.pending(HOME, 100)] == list(problem.ids)


def test_vectors_put_meanwhile_are_kept(damaged: Damaged) -> None:
    """A repair works on what is there now, not on what the check saw."""
    damaged.file.execute("DELETE FROM vector")
    found = damaged.store.check()
    entry = make_entry(1)
    with damaged.store.write() as transaction:
        transaction.put_vectors(HOME, {ONE: entry.vector}, EmbeddingState.READY)
    damaged.store.repair(found)
    with damaged.store.read() as reader:
        assert set(reader.vectors(HOME, [ONE, TWO])) == {ONE}
        assert reader.get(HOME, [ONE])[0].embedding is EmbeddingState.READY


def test_rows_without_a_record(damaged: Damaged) -> None:
    for number, table in enumerate(CHILD_TABLES, 1000):
        names = {
            column: kind
            for _, column, kind, *_ in damaged.file.execute(f"PRAGMA table_info({table})")
        }
        belongs = CHILD_TABLES[table]
        values = [
            number
            if name == belongs
            else 1
            if kind == "INTEGER"
            else b""
            if kind == "BLOB"
            else "x"
            for name, kind in names.items()
        ]
        damaged.file.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    found = damaged.store.check()
    assert [problem.check for problem in found] == [Check.ORPHANS] * len(CHILD_TABLES)
    assert {problem.message.partition(":")[0] for problem in found} == set(CHILD_TABLES)
    assert damaged.store.repair(found) == len(CHILD_TABLES)
    assert list(damaged.store.check()) == []


def test_records_removed_behind_the_stores_back(damaged: Damaged) -> None:
    damaged.file.execute("DELETE FROM record WHERE number IN (1, 60)")
    assert set(damaged.problems()) == {Check.ORPHANS}
    damaged.mend()
    assert list(damaged.store.check()) == []
    with damaged.store.read() as reader:
        assert len(reader.matching(HOME, Filter(), START)) == 58
        found = reader.cold_postings(HOME, list(question_terms("tram 60 59")))
        assert {posting.id for posting in found} == {numbered_id(n) for n in range(50, 60)}


@pytest.mark.parametrize("tier", Tier)
def test_a_changed_text(damaged: Damaged, tier: Tier) -> None:
    source = Source(who="Lena")
    honest = make_record(100, content="Original.", source=source, tier=tier)
    draft = Draft(content=honest.content, source=source)
    honest = make_record(
        100, content="Original.", source=source, tier=tier, content_hash=content_hash(draft, "fact")
    )
    with damaged.store.write() as transaction:
        transaction.insert([entry_of(honest)])
    assert list(damaged.store.check()) == []
    damaged.file.execute("UPDATE record SET content = 'Turquoise.' WHERE id = ?", (honest.id,))
    problem = damaged.problems()[Check.CONTENT]
    assert problem.ids == (honest.id,)
    assert "Turquoise" not in problem.message
    assert damaged.mend() == 1
    assert list(damaged.store.check()) == []
    with damaged.store.read() as reader:
        (record,) = reader.get(HOME, [honest.id])
        assert record.embedding is EmbeddingState.PENDING
        assert not reader.vectors(HOME, [honest.id])
        if tier is Tier.COLD:
            found = reader.cold_postings(HOME, list(question_terms("turquoise")))
            assert [posting.id for posting in found] == [honest.id]


def test_keywords_that_do_not_fit(damaged: Damaged) -> None:
    damaged.file.execute("UPDATE keyword SET data = x'', length = 0 WHERE record = 1")
    damaged.file.execute("DELETE FROM keyword WHERE record = 2")
    assert damaged.problems()[Check.KEYWORDS].ids == (ONE, TWO)
    with damaged.store.read() as reader:
        before = reader.change_seq(HOME)
    damaged.mend()
    assert list(damaged.store.check()) == []
    with damaged.store.read() as reader:
        changes = reader.changes(HOME, before)
    assert {row.id: len(row.terms.ids) for row in changes.rows} == {
        each: len(terms_of(make_record(n, source=Source(who="Lena"))).ids)
        for n, each in ((1, ONE), (2, TWO))
    }


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM cold_posting WHERE record = 55",
        "UPDATE cold_posting SET count = count + 1 WHERE record = 55",
        "INSERT INTO cold_posting SELECT scope, term, 1, count FROM cold_posting WHERE record = 55",
    ],
)
def test_cold_postings_that_do_not_fit(damaged: Damaged, damage: str) -> None:
    damaged.file.execute(damage)
    assert list(damaged.problems()) == [Check.POSTINGS]
    damaged.mend()
    assert list(damaged.store.check()) == []


def test_vectors_of_another_model(damaged: Damaged) -> None:
    with damaged.store.write() as transaction:
        transaction.set_meta("embedding_model", "another")
        transaction.replace([make_entry(1), make_entry(2)])
    problem = damaged.problems()[Check.MODELS]
    assert len(problem.ids) == 58
    damaged.mend()
    assert list(damaged.store.check()) == []
    with damaged.store.read() as reader:
        assert len(reader.pending(HOME, 100)) == 58
        assert len(reader.vectors(HOME, [ONE, TWO, THREE])) == 2


def test_vectors_of_another_length(damaged: Damaged) -> None:
    damaged.file.execute("UPDATE vector SET data = x'00000000' WHERE record = 3")
    assert damaged.problems()[Check.MODELS].ids == (THREE,)


@pytest.mark.parametrize("value", ["'2026-05-20T08:29:42+00:00 '", "1e30", "x'00'"])
@pytest.mark.parametrize("column", ["created_at", "updated_at", "expires_at"])
def test_an_unreadable_moment_is_named_by_every_read(
    damaged: Damaged, column: str, value: str
) -> None:
    """Neither an empty success nor a skipped record: the call fails and says which row it is."""
    damaged.file.execute(f"UPDATE record SET {column} = {value} WHERE id = ?", (TWO,))
    problem = damaged.problems()[Check.CELLS]
    assert problem.ids == (TWO,)
    assert "default" in problem.repair
    with damaged.store.read() as reader:
        everything = Filter(expired=True)
        reads: list[Callable[[], object]] = [
            lambda: reader.get(HOME, [ONE, TWO]),
            *(
                partial(reader.find, HOME, everything, Page(limit=100, order=order), START)
                for order in Order
            ),
        ]
        if column == "created_at" and value.startswith("'"):
            reads.append(lambda: reader.find(HOME, Filter(created_to=START), Page(), START))
        if column != "updated_at":
            reads += [lambda: reader.columns(HOME, START), lambda: reader.changes(HOME, 0)]
        for read in reads:
            with pytest.raises(StoreError, match=TWO):
                read()
        assert [record.id for record in reader.get(HOME, [ONE])] == [ONE]


@pytest.mark.parametrize(
    "damage",
    [
        "access_ring = x'00'",
        "access_ring = x'0000000000000000'",
        "model_state = x'00'",
    ],
)
def test_a_damaged_trace_is_named_and_mended(damaged: Damaged, damage: str) -> None:
    """What models read is data too: no plan from half of it, and no access is counted on top."""
    delta = UsageDelta(TWO, 1, 0, START)
    with damaged.store.write() as transaction:
        transaction.add_usage(HOME, [delta])
    damaged.file.execute(f"UPDATE usage SET {damage}")
    with damaged.store.read() as reader, pytest.raises(StoreError, match=TWO):
        reader.columns(HOME, START, frozenset(Need))
    with pytest.raises(StoreError, match=TWO), damaged.store.write() as transaction:
        transaction.add_usage(HOME, [delta])
    assert damaged.problems()[Check.CELLS].ids == (TWO,)
    damaged.store.repair(damaged.store.check())
    with damaged.store.write() as transaction:
        assert transaction.columns(HOME, START, frozenset(Need)).spaced().count.sum() == 1
        transaction.add_usage(HOME, [delta])


def test_a_damaged_page(damaged: Damaged) -> None:
    """Integrity comes first: nothing else is believed of a damaged file."""
    root = damaged.file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'tag_name'").get
    size = damaged.file.pragma("page_size")
    damaged.store.close()
    damaged.file.close()
    with Path(damaged.store.location).open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * 64)
    store = SqliteStore(damaged.store.location)
    found = store.check()
    assert found
    assert {problem.check for problem in found} == {Check.INTEGRITY}
    assert store.repair(found) == 0
    store.close()


def test_statuses_do_not_matter_to_the_check(damaged: Damaged) -> None:
    with damaged.store.write() as transaction:
        changes = [
            Transition(ONE, status=Status.DELETED),
            Transition(numbered_id(55), status=Status.DELETED),
        ]
        transaction.transition(HOME, changes, START)
    assert list(damaged.store.check()) == []


def test_unreadable_cells_are_mended_and_the_scope_is_readable_again(tmp_path: Path) -> None:
    path = tmp_path / "cells.db"
    with sfams.open(path, scope="zoe", embedder="hashing") as memory:
        fern = memory.remember("Zoe's desk plant is a fern.", importance=0.9)
        other = memory.remember("Zoe's monitor is 27 inches.", ttl="7d")
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA ignore_check_constraints = 1")
    connection.execute("UPDATE record SET created_at = 'soon ' WHERE id = ?", (fern.id,))
    connection.execute(
        "UPDATE record SET importance = 'high', expires_at = 'never' WHERE id = ?", (other.id,)
    )
    connection.close()
    with sfams.open(path, scope="zoe", embedder="hashing") as memory:
        with pytest.raises(StoreError, match=fern.id):
            memory.recall("fern")
        checkup = memory.doctor(repair=True)
        assert checkup.healthy, checkup
        mended = memory.get(fern.id)
        assert (mended.created_at, mended.importance) == (mended.recorded_at, 0.9)
        assert (memory.get(other.id).importance, memory.get(other.id).expires_at) == (0.5, None)
        assert memory.recall("fern")[0].record.id == fern.id
