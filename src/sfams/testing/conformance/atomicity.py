"""Promise: a unit of work happens whole or not at all, and looks are consistent."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sfams.core.plan import PlanState
from sfams.core.record import EmbeddingState, PlanId, Relation, Status, Tier
from sfams.errors import ConflictError, NotFoundError
from sfams.ports import Transition, UsageDelta
from sfams.testing.builders import HOME, make_entry, make_record, make_vector, numbered_id
from sfams.testing.conformance.base import (
    FIRST_PLAN,
    FIVE,
    FOUR,
    NEXT_DOOR,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    event,
    fetch,
    fill,
    furnish,
    seen,
    seq,
)
from sfams.testing.planning import make_plan

if TYPE_CHECKING:
    from sfams.ports import Store, Transaction


class InterruptError(Exception):
    """Stands for whatever goes wrong in the middle."""


class AtomicityPromises(Promises):
    """All or nothing."""

    @pytest.mark.parametrize("error", [InterruptError, KeyboardInterrupt, GeneratorExit])
    def test_an_exception_rolls_everything_back(
        self, store: Store, error: type[BaseException]
    ) -> None:
        """Records, vectors, keywords, relations, usage, log, plans, turns, settings and numbers."""
        with store.write() as transaction:
            furnish(transaction)
            transaction.set_meta("model", "e5")
        before, number = seen(store), seq(store)
        with store.read() as reader:
            history = list(reader.history(HOME, ()))
        with pytest.raises(error), store.write() as transaction:  # noqa: PT012  (the point)
            change_everything(transaction)
            raise error
        assert seen(store) == before
        assert seq(store) == number
        with store.read() as reader:
            assert list(reader.history(HOME, ())) == history
            assert reader.meta("model") == "e5"
            assert reader.meta("new") is None
            assert reader.setting(HOME, "rule") is None
            assert list(reader.scopes()) == [HOME]
            assert dict(reader.tombstones(HOME, [make_record(3).content_hash])) == {}
        assert list(store.check()) == []

    def test_work_goes_on_after_a_rollback(self, store: Store) -> None:
        """A failed unit of work leaves no lock behind, and its ids and numbers are free."""
        with suppress(InterruptError), store.write() as transaction:
            transaction.insert([make_entry(1, key="k")])
            raise InterruptError
        fill(store, make_entry(1, key="k"))
        assert len(fetch(store, ONE)) == 1
        assert list(store.check()) == []

    def test_a_refused_batch_leaves_nothing(self, store: Store) -> None:
        """The good part of a bad batch is not kept."""
        fill(store, make_entry(1, content="Said already."))
        before = seen(store)
        with pytest.raises(ConflictError):
            fill(store, make_entry(2), make_entry(3, content="Said already."))
        with pytest.raises(NotFoundError), store.write() as transaction:
            transaction.replace([make_entry(1, content="Other."), make_entry(9)])
        assert seen(store) == before

    def test_a_unit_of_work_reads_its_own_writes(self, store: Store) -> None:
        """Admission rechecks what it has just written."""
        with store.write() as transaction:
            transaction.insert([make_entry(1)])
            assert [record.id for record in transaction.get(HOME, [ONE])] == [ONE]
            transaction.transition(HOME, [Transition(ONE, status=Status.DELETED)], NOW)
            assert list(transaction.columns(HOME, NOW).ids) == []
            assert transaction.change_seq(HOME) > 0
            assert transaction.log_turn(HOME, "s-1", NOW) == transaction.turns(HOME, "s-1")

    def test_open_work_is_seen_by_nobody_else(self, store: Store) -> None:
        """A look beside an open unit of work shows what was committed."""
        fill(store, make_entry(1))
        with store.write() as transaction:
            transaction.insert([make_entry(2)])
            transaction.erase(HOME, [ONE], NOW)
            assert [record.id for record in fetch(store, ONE, TWO)] == [ONE]
        assert [record.id for record in fetch(store, ONE, TWO)] == [TWO]

    def test_a_look_stays_as_it_was(self, store: Store) -> None:
        """What commits during a look does not mix into it."""
        fill(store, make_entry(1))
        with store.read() as reader:
            number = reader.change_seq(HOME)
            fill(store, make_entry(2))
            with store.write() as transaction:
                transaction.erase(HOME, [ONE], NOW)
            assert [record.id for record in reader.get(HOME, [ONE, TWO])] == [ONE]
            assert reader.change_seq(HOME) == number
        assert [record.id for record in fetch(store, ONE, TWO)] == [TWO]

    def test_an_exception_in_a_look_is_let_through(self, store: Store) -> None:
        """And the store stays usable."""
        with pytest.raises(InterruptError), store.read():
            raise InterruptError
        fill(store, make_entry(1))


def change_everything(transaction: Transaction) -> None:
    """Use every write there is, on what `furnish` has made."""
    transaction.insert([make_entry(6), make_entry(7, scope=NEXT_DOOR)])
    transaction.replace([make_entry(1, content="Changed.", version=2)])
    transaction.transition(HOME, [Transition(TWO, tier=Tier.HOT, held=True)], NOW)
    vectors = {THREE: make_vector("late"), FIVE: None}
    transaction.put_vectors(HOME, vectors, EmbeddingState.READY)
    transaction.relate(HOME, FIVE, Relation("supports", TWO))
    transaction.unrelate(HOME, FOUR, Relation("amends", ONE))
    transaction.add_usage(HOME, [UsageDelta(TWO, 5, 5, NOW)])
    transaction.append(HOME, [event(3), event(4, None)])
    transaction.advance_plan(
        replace(make_plan(HOME, [ONE], plan_id=FIRST_PLAN), state=PlanState.APPLYING, cursor=1)
    )
    transaction.save_plan(make_plan(HOME, [TWO], plan_id=PlanId(numbered_id(902))))
    transaction.log_turn(HOME, "s-1", NOW)
    transaction.end_session(HOME, "s-1", NOW)
    transaction.erase(HOME, [THREE], NOW)
    transaction.set_meta("model", "other")
    transaction.set_meta("new", "1")
    transaction.put_setting(HOME, "rule", "1")
