"""Promise: what was forgotten leaves a ghost that is found again by hash and terms, and holds no text."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from sfams.core.ghosts import Ghost, Mark, Trail
from sfams.core.plan import Action
from sfams.core.record import RecordId
from sfams.testing.builders import HOME, make_entry
from sfams.testing.conformance.base import (
    FIRST_PLAN,
    NEXT_DOOR,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    erase,
    fill,
    seq,
)

if TYPE_CHECKING:
    from sfams.ports import Store

DAY = timedelta(days=1)
BIG = 2**64 - 1


def ghost(record_id: RecordId = ONE, action: Action = Action.DELETE) -> Ghost:
    """Make a ghost."""
    return Ghost(
        record_id=record_id,
        at=NOW,
        action=action,
        reason="over budget",
        policy="adaptive",
        plan_id=FIRST_PLAN,
        score=0.25,
    )


def haunt(store: Store, *trails: Trail) -> None:
    """Write ghosts in a unit of work of their own."""
    with store.write() as transaction:
        transaction.add_ghosts(HOME, trails)


def listed(store: Store, *ids: RecordId) -> list[Ghost]:
    """Read ghosts."""
    with store.read() as reader:
        return list(reader.ghosts(HOME, ids))


class GhostPromises(Promises):
    """What is left."""

    def test_ghosts_come_back_as_they_were_written(self, store: Store) -> None:
        """In their order, by record or all; another scope has none."""
        number = seq(store)
        by_hand = replace(ghost(TWO), plan_id=None, score=None)
        haunt(store, Trail(ghost(), "h1", (1, BIG)), Trail(by_hand, "h2"))
        assert listed(store) == [ghost(), by_hand]
        assert listed(store, TWO, THREE) == [by_hand]
        assert seq(store) == number
        with store.read() as reader:
            assert list(reader.ghosts(NEXT_DOOR)) == []

    def test_they_are_found_by_terms_and_hash(self, store: Store) -> None:
        """Each asked term names who held it; nothing is found next door."""
        haunt(store, Trail(ghost(), "h1", (1, BIG)), Trail(ghost(TWO), "h2", (BIG, BIG, 3)))
        with store.read() as reader:
            assert dict(reader.ghosts_by_terms(HOME, [BIG, 1, 9])) == {BIG: {ONE, TWO}, 1: {ONE}}
            assert dict(reader.ghosts_by_terms(HOME, [])) == {}
            assert dict(reader.ghosts_by_terms(NEXT_DOOR, [BIG])) == {}
            assert dict(reader.ghosts_by_hash(HOME, ["h2", "h9"])) == {"h2": TWO}
            assert dict(reader.ghosts_by_hash(NEXT_DOOR, ["h2"])) == {}

    def test_who_is_back_is_not_found_any_more(self, store: Store) -> None:
        """Its ghost stays, with the moment of the first return."""
        haunt(store, Trail(ghost(), "h1", (1,)), Trail(ghost(TWO), "h2", (1,)))
        with store.write() as transaction:
            transaction.note_return(HOME, [ONE, THREE], NOW + DAY)
            transaction.note_return(HOME, [ONE], NOW + 2 * DAY)
            transaction.note_return(NEXT_DOOR, [TWO], NOW + DAY)
        assert [each.returned_at for each in listed(store)] == [NOW + DAY, None]
        with store.read() as reader:
            assert dict(reader.ghosts_by_terms(HOME, [1])) == {1: {TWO}}
            assert dict(reader.ghosts_by_hash(HOME, ["h1", "h2"])) == {"h2": TWO}

    def test_a_regret_counts_once_a_day_and_for_the_newest(self, store: Store) -> None:
        """Days are UTC days; an earlier act of forgetting is not blamed for a later one."""
        haunt(store, Trail(ghost(action=Action.DEMOTE), "h1"), Trail(ghost(), "h1"))
        with store.write() as transaction:
            for at in (NOW, NOW + timedelta(minutes=1), NOW + DAY, NOW):
                transaction.note_regret(HOME, [ONE, TWO], at)
            transaction.note_regret(NEXT_DOOR, [ONE], NOW + 5 * DAY)
        assert [each.regrets for each in listed(store)] == [0, 2]

    def test_the_newest_is_marked(self, store: Store) -> None:
        """A mark can be changed and lifted; without a ghost there is nothing to mark."""
        haunt(store, Trail(ghost(action=Action.DEMOTE), "h1"), Trail(ghost(), "h1"))
        with store.write() as transaction:
            assert transaction.mark_ghost(HOME, ONE, Mark.WRONG) is True
            assert transaction.mark_ghost(HOME, TWO, Mark.WRONG) is False
            assert transaction.mark_ghost(NEXT_DOOR, ONE, Mark.RIGHT) is False
        assert [each.mark for each in listed(store)] == [None, Mark.WRONG]
        with store.write() as transaction:
            assert transaction.mark_ghost(HOME, ONE, None) is True
        assert [each.mark for each in listed(store)] == [None, None]

    def test_erasing_takes_the_ghost_too(self, store: Store) -> None:
        """That of the erased record, also where only a ghost was left, and no other."""
        fill(store, make_entry(1))
        haunt(store, *(Trail(ghost(each), each, (1,)) for each in (ONE, TWO, THREE)))
        erase(store, ONE, TWO)
        assert listed(store) == [ghost(THREE)]
        with store.read() as reader:
            assert dict(reader.ghosts_by_terms(HOME, [1])) == {1: {THREE}}

    def test_purging_keeps_the_ghost_and_bars_nothing(self, store: Store) -> None:
        """The record goes as if erased; its text may be told again."""
        one = make_entry(1)
        fill(store, one, make_entry(2))
        haunt(store, Trail(ghost(), "h1", (1,)))
        with store.write() as transaction:
            assert transaction.purge(HOME, [ONE, THREE], NOW) == 1
        assert listed(store) == [ghost()]
        with store.read() as reader:
            assert [record.id for record in reader.get(HOME, [ONE, TWO])] == [TWO]
            assert dict(reader.tombstones(HOME, [one.record.content_hash])) == {}
            assert dict(reader.ghosts_by_terms(HOME, [1])) == {1: {ONE}}

    def test_ghosts_outlive_the_store_object(self, store: Store) -> None:
        """Found again by the same hashes and terms after reopening."""
        haunt(store, Trail(ghost(), "h1", (7,)))
        again = self.reopen(store)
        with again.read() as reader:
            assert dict(reader.ghosts_by_terms(HOME, [7])) == {7: {ONE}}
            assert dict(reader.ghosts_by_hash(HOME, ["h1"])) == {"h1": ONE}
