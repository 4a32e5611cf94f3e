"""Promise: erasing reaches every trace and leaves a tombstone, nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sfams.core.record import Claim, EmbeddingState, Entity, RecordId, Relation, Status, Tier
from sfams.ports import UsageDelta
from sfams.testing.builders import HOME, entry_of, make_entry, make_record, numbered_id, text_hash
from sfams.testing.conformance.base import (
    FIRST_PLAN,
    FIVE,
    FOUR,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    erase,
    event,
    fetch,
    fetch_one,
    fill,
    furnish,
    matching,
    seen,
    seq,
)
from sfams.testing.planning import make_plan
from sfams.testing.snapshot import EVERYTHING

if TYPE_CHECKING:
    from sfams.ports import Store

SECRET = "The garage door code is 4471."  # noqa: S105  (nobody's door)
DEAD_OR_COLD = [
    (Status.LIVE, Tier.HOT),
    (Status.LIVE, Tier.COLD),
    (Status.SUPERSEDED, Tier.HOT),
    (Status.SUMMARIZED, Tier.COLD),
    (Status.DELETED, Tier.HOT),
]


def traces(store: Store, record_id: RecordId) -> list[str]:
    """Name the places in which anything of a secret record is still to be seen."""
    terms = [int(term) for term in make_entry(1, content=SECRET).terms.ids]
    with store.read() as reader:
        plans = [reader.plan(HOME, name) for name in reader.plans(HOME, 9)]
        columns = reader.columns(HOME, NOW)
        found: dict[str, object] = {
            "get": reader.get(HOME, [record_id]),
            "matching": record_id in reader.matching(HOME, EVERYTHING, NOW),
            "by_hash": reader.by_hash(HOME, [text_hash(SECRET)]),
            "by_key": reader.by_key(HOME, ["door"]),
            "by_claim": reader.by_claim(HOME, [Claim("door", "code")]),
            "pending": record_id in {record.id for record in reader.pending(HOME, 99)},
            "columns": record_id in columns.ids,
            "changes": record_id in {row.id for row in reader.changes(HOME, 0).rows},
            "changes since": record_id in {row.id for row in reader.changes(HOME, 1).rows},
            "vectors": reader.vectors(HOME, [record_id]),
            "cold_postings": [p for p in reader.cold_postings(HOME, terms) if p.id == record_id],
            "linked": reader.linked(HOME, [record_id]),
            "entities": [e for e in reader.entities(HOME) if e.name == "Garage"],
            "detail": [e for e in reader.history(HOME, [record_id]) if e.detail],
            "versions": reader.versions(HOME, record_id),
            "plans": [p for p in plans if p and record_id in (*p.steps.ids, *p.skipped)],
        }
    return [name for name, value in found.items() if value]


class ErasingPromises(Promises):
    """For ever."""

    @pytest.mark.parametrize(("status", "tier"), DEAD_OR_COLD)
    def test_no_trace_is_left(self, store: Store, status: Status, tier: Tier) -> None:
        """Whatever the record's standing was; what stood beside it is untouched."""
        secret = make_entry(
            7,
            content=SECRET,
            status=status,
            tier=tier,
            key="door",
            claim=Claim("door", "code", "4471"),
            entities=(Entity("Garage"),),
            tags=("secret",),
            metadata={"code": 4471},
            relations=(Relation("supports", ONE),),
        )
        seven = secret.record.id
        with store.write() as transaction:
            furnish(transaction)
        before = seen(store)
        with store.write() as transaction:
            transaction.insert([make_entry(7, content="The door code is 4470.")])
            transaction.replace([secret])
            transaction.relate(HOME, ONE, Relation("see", seven))
            transaction.add_usage(HOME, [UsageDelta(seven, 1, 1, NOW)])
            transaction.append(HOME, [event(7, seven)])
            transaction.save_plan(make_plan(HOME, [ONE, seven, TWO], plan_id=FIRST_PLAN))
        assert erase(store, seven) == 1
        assert traces(store, seven) == []
        after = seen(store)
        for same in ("records", "view", "linked", "vectors", "entities", "columns", "sizes"):
            assert after[same] == before[same]
        assert list(store.check()) == []

    def test_a_tombstone_keeps_the_text_out(self, store: Store) -> None:
        """It knows the erased text again and no other; deleting alone leaves none."""
        fill(store, make_entry(1, content=SECRET), make_entry(2, status=Status.DELETED))
        hashes = [text_hash(SECRET), make_record(2).content_hash, text_hash("never said")]
        with store.read() as reader:
            assert dict(reader.tombstones(HOME, hashes)) == {}
        erase(store, ONE)
        with store.read() as reader:
            assert set(reader.tombstones(HOME, hashes)) == {hashes[0]}
            assert dict(reader.tombstones(HOME, [])) == {}

    def test_links_vanish_at_both_ends(self, store: Store) -> None:
        """No link points to what is not there; what linked to it is otherwise as it was."""
        fill(
            store,
            make_entry(1, relations=(Relation("before", TWO), Relation("before", THREE))),
            make_entry(2, relations=(Relation("before", THREE),)),
            make_entry(3),
        )
        erase(store, TWO)
        assert fetch_one(store) == make_record(1, relations=(Relation("before", THREE),))
        with store.read() as reader:
            links = list(reader.linked(HOME, [ONE, TWO, THREE]))
        assert links == [(ONE, Relation("before", THREE))]

    def test_only_what_nobody_else_names_leaves_the_entities(self, store: Store) -> None:
        """Lena stays with one record, the cafe goes."""
        lena, cafe = Entity("Lena"), Entity("Harbour Cafe")
        fill(store, make_entry(1, entities=(lena,)), make_entry(2, entities=(lena, cafe)))
        erase(store, TWO)
        with store.read() as reader:
            assert [(each.name, each.records) for each in reader.entities(HOME)] == [("Lena", 1)]

    def test_the_log_keeps_the_lines_and_loses_the_detail(self, store: Store) -> None:
        """What happened to whom and when stays; the log of other records stays whole."""
        with store.write() as transaction:
            transaction.insert([make_entry(1), make_entry(2)])
            transaction.append(HOME, [event(1), event(2, TWO), event(3)])
        with store.read() as reader:
            before = list(reader.history(HOME, ()))
        erase(store, ONE)
        with store.read() as reader:
            after = list(reader.history(HOME, ()))
        assert [each.number for each in after] == [each.number for each in before]
        assert [each.record_id for each in after] == [ONE, TWO, ONE]
        assert [each.type for each in after] == [each.type for each in before]
        assert [dict(each.detail) for each in after] == [{}, {"number": 2}, {}]

    def test_usage_is_erased_too(self, store: Store) -> None:
        """A new record does not inherit the counts of an erased one."""
        fill(store, make_entry(1))
        with store.write() as transaction:
            transaction.add_usage(HOME, [UsageDelta(ONE, 5, 5, NOW)])
            transaction.erase(HOME, [ONE], NOW)
            transaction.add_usage(HOME, [UsageDelta(ONE, 5, 5, NOW)])
            transaction.insert([make_entry(2)])
        assert fetch_one(store, TWO).usage == make_record(2).usage
        assert fetch(store, ONE) == []

    def test_an_id_may_come_again(self, store: Store) -> None:
        """As a new record that inherits nothing: no vector, count, link, version or old text."""
        fill(store, make_entry(1, content=SECRET), make_entry(2, relations=(Relation("see", ONE),)))
        number = seq(store)
        with store.write() as transaction:
            transaction.replace([make_entry(1, content="The code is secret.")])
            transaction.add_usage(HOME, [UsageDelta(ONE, 5, 5, NOW)])
            transaction.erase(HOME, [ONE], NOW)
        new = make_record(1, content="Other.", embedding=EmbeddingState.PENDING)
        fill(store, entry_of(new))
        assert fetch_one(store) == new
        assert fetch_one(store, TWO).relations == ()
        with store.read() as reader:
            assert dict(reader.vectors(HOME, [ONE])) == {}
            assert list(reader.versions(HOME, ONE)) == []
            changes = reader.changes(HOME, number)
        assert (list(changes.gone), [row.id for row in changes.rows]) == ([], [ONE])
        assert list(store.check()) == []

    def test_the_count_tells_what_was_there(self, store: Store) -> None:
        """Erasing what is not there is told apart from success; naming an id twice counts once."""
        fill(store, *(make_entry(n) for n in range(1, 5)))
        assert erase(store, ONE, TWO, ONE, FIVE) == 2  # noqa: PLR2004
        assert erase(store, ONE, TWO) == 0
        assert erase(store) == 0
        assert matching(store, EVERYTHING) == {THREE, FOUR}

    def test_many_records_are_erased_at_once(self, store: Store) -> None:
        """More than a statement can hold."""
        ids = [numbered_id(n) for n in range(1_500)]
        fill(store, *(make_entry(n) for n in range(1_500)))
        assert erase(store, *ids) == 1_500  # noqa: PLR2004
        assert matching(store, EVERYTHING) == set()
        with store.read() as reader:
            hashes = {make_record(n).content_hash for n in range(1_500)}
            assert set(reader.tombstones(HOME, list(hashes))) == hashes

    def test_earlier_versions_are_kept_until_then(self, store: Store) -> None:
        """A change of content keeps the old one; other changes do not; erasing takes all."""
        fill(store, make_entry(1, content="First."), make_entry(2))
        changes = [
            make_record(1, content="Second.", version=2, updated_at=NOW),
            make_record(1, content="Second.", version=3, updated_at=NOW, tags=("a",)),
            make_record(1, content="Third.", version=4, updated_at=NOW),
        ]
        for record in changes:
            with store.write() as transaction:
                transaction.replace([entry_of(record)])
        with store.read() as reader:
            past = [(p.version, p.content, p.until) for p in reader.versions(HOME, ONE)]
            assert past == [(1, "First.", NOW), (3, "Second.", NOW)]
            assert list(reader.versions(HOME, TWO)) == []
        erase(store, ONE)
        with store.read() as reader:
            assert list(reader.versions(HOME, ONE)) == []

    def test_erasure_settles(self, store: Store) -> None:
        """With nobody reading, nothing is left in the files either."""
        fill(store, make_entry(1, content=SECRET))
        erase(store, ONE)
        assert store.settle() is True
        assert matching(store, EVERYTHING) == set()
