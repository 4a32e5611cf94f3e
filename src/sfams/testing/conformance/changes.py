"""Promise: the change feed tells everything that a view must know, and nothing twice over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sfams.core.moments import NEVER, to_micros
from sfams.core.record import EmbeddingState, Source, Status, Tier, Validity
from sfams.ports import Transaction, Transition, UsageDelta
from sfams.testing.builders import HOME, make_entry, make_vector, numbered_id
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
    erase,
    event,
    fill,
    move,
    seq,
)
from sfams.testing.following import FollowedView
from sfams.testing.planning import make_plan
from sfams.testing.snapshot import plain_terms, plain_vector

if TYPE_CHECKING:
    from sfams.ports import Store

Step = Callable[[Transaction], object]
VECTORS = {ONE: make_vector("a"), TWO: None}


def shift(*changes: Transition) -> Step:
    """Make the step that changes standing."""
    return lambda t: t.transition(HOME, changes, NOW)


RAISING: dict[str, Step] = {
    "insert": lambda t: t.insert([make_entry(6)]),
    "replace": lambda t: t.replace([make_entry(1, content="New text.")]),
    "demote": shift(Transition(ONE, tier=Tier.COLD)),
    "pin": shift(Transition(ONE, pinned=True)),
    "delete": shift(Transition(ONE, status=Status.DELETED)),
    "supersede": shift(
        Transition(ONE, status=Status.SUPERSEDED, validity=Validity(superseded_by=TWO))
    ),
    "restore": shift(Transition(FOUR, status=Status.LIVE)),
    "promote": shift(Transition(FIVE, tier=Tier.HOT)),
    "vectors": lambda t: t.put_vectors(HOME, VECTORS, EmbeddingState.READY),
    "erase": lambda t: t.erase(HOME, [ONE], NOW),
}
SILENT: dict[str, Step] = {
    "usage": lambda t: t.add_usage(HOME, [UsageDelta(ONE, 1, 1, NOW)]),
    "log": lambda t: t.append(HOME, [event(1)]),
    "plan": lambda t: t.save_plan(make_plan(HOME, [ONE], plan_id=FIRST_PLAN)),
    "turn": lambda t: t.log_turn(HOME, "s-1", NOW),
    "session end": lambda t: t.end_session(HOME, "s-1", NOW),
    "setting": lambda t: t.set_meta("model", "e5"),
    "next door": lambda t: t.insert([make_entry(9, scope=NEXT_DOOR)]),
}


def start(store: Store) -> None:
    """Fill a scope with three hot records, a deleted one and a cold one."""
    fill(store, *(make_entry(n) for n in range(1, 6)))
    move(store, Transition(FOUR, status=Status.DELETED), Transition(FIVE, tier=Tier.COLD))


class ChangePromises(Promises):
    """`change_seq` and the feed."""

    @pytest.mark.parametrize("name", RAISING)
    def test_writing_records_raises_the_number(self, store: Store, name: str) -> None:
        """And the feed after the old number tells of it."""
        start(store)
        number = seq(store)
        with store.write() as transaction:
            RAISING[name](transaction)
            within = transaction.change_seq(HOME)
        assert seq(store) == within > number
        with store.read() as reader:
            changes = reader.changes(HOME, number)
            assert list(reader.changes(HOME, changes.seq).rows) == []
            assert list(reader.changes(HOME, changes.seq).gone) == []
        assert changes.seq == within
        assert changes.rows or changes.gone

    @pytest.mark.parametrize("name", SILENT)
    def test_other_writes_do_not(self, store: Store, name: str) -> None:
        """A flush of usage must not make every view reload."""
        start(store)
        number = seq(store)
        with store.write() as transaction:
            SILENT[name](transaction)
        assert seq(store) == number
        with store.read() as reader:
            assert list(reader.changes(HOME, number).rows) == []

    @pytest.mark.parametrize("name", RAISING)
    def test_following_equals_reloading(self, store: Store, name: str) -> None:
        """After every kind of write a followed view is the view that a full load gives."""
        start(store)
        followed = FollowedView(HOME)
        for act in (None, RAISING[name]):
            with store.write() as transaction:
                if act is not None:
                    act(transaction)
            with store.read() as reader:
                followed.follow(reader)
                loaded = FollowedView(HOME)
                loaded.follow(reader)
            assert followed.plain() == loaded.plain()

    def test_following_equals_reloading_through_a_long_history(self, store: Store) -> None:
        """However many writes lie between two looks."""
        start(store)
        every, tenth = FollowedView(HOME), FollowedView(HOME)
        for number in range(60):
            with store.write() as transaction:
                _turn(transaction, number)
            with store.read() as reader:
                every.follow(reader)
                if number % 10 == 9:  # noqa: PLR2004
                    tenth.follow(reader)
                    loaded = FollowedView(HOME)
                    loaded.follow(reader)
                    assert every.plain() == tenth.plain() == loaded.plain()

    def test_a_full_load_is_what_is_live_and_hot(self, store: Store) -> None:
        """Neither the cold nor the dead; the expired stay, for the reader knows the time."""
        start(store)
        fill(store, make_entry(6, expires_at=NOW), make_entry(7, status=Status.SUPERSEDED))
        with store.read() as reader:
            rows = reader.changes(HOME, 0).rows
        assert {row.id for row in rows} == {ONE, TWO, THREE, numbered_id(6)}
        assert all(row.hot for row in rows)

    def test_rows_that_left_are_marked(self, store: Store) -> None:
        """A view that holds them must let go."""
        start(store)
        number = seq(store)
        move(
            store,
            Transition(ONE, status=Status.DELETED),
            Transition(TWO, tier=Tier.COLD),
            Transition(FIVE, tier=Tier.HOT),
        )
        with store.read() as reader:
            rows = {row.id: row.hot for row in reader.changes(HOME, number).rows}
        assert rows == {ONE: False, TWO: False, FIVE: True}

    def test_erased_ids_are_told(self, store: Store) -> None:
        """To everyone whose last look was before, and to nobody later."""
        start(store)
        number = seq(store)
        fill(store, make_entry(6))
        erase(store, ONE, FIVE)
        with store.read() as reader:
            assert set(reader.changes(HOME, number).gone) == {ONE, FIVE}
            assert {row.id for row in reader.changes(HOME, number).rows} == {numbered_id(6)}
            assert list(reader.changes(HOME, reader.change_seq(HOME)).gone) == []

    def test_a_row_holds_what_ranking_needs(self, store: Store) -> None:
        """Every field, with the vector and keywords of the record as it is now."""
        entry = make_entry(
            1,
            kind="fact:deadline",
            importance=1.0,
            expires_at=NOW,
            source=Source(who="Lena", session="s-1", turn=0),
            tokens=7,
        )
        fill(store, entry, make_entry(2))
        with store.read() as reader:
            rows = {row.id: row for row in reader.changes(HOME, 0).rows}
        row, other = rows[ONE], rows[TWO]
        assert (row.kind, row.importance, row.session, row.who, row.turn, row.tokens) == (
            "fact:deadline",
            1.0,
            "s-1",
            "Lena",
            0,
            7,
        )
        assert (row.created_at, row.expires_at) == (
            to_micros(entry.record.created_at),
            to_micros(NOW),
        )
        assert plain_vector(row.vector) == plain_vector(entry.vector)
        assert plain_terms(row.terms) == plain_terms(entry.terms)
        assert (other.expires_at, other.session, other.who) == (NEVER, "", "")
        assert other.turn < 0

    def test_vectors_reach_the_feed(self, store: Store) -> None:
        """A vector that arrives late makes its record findable."""
        fill(store, make_entry(1, embedding=EmbeddingState.PENDING))
        number = seq(store)
        with store.write() as transaction:
            transaction.put_vectors(HOME, {ONE: make_vector("late")}, EmbeddingState.READY)
        with store.read() as reader:
            (row,) = reader.changes(HOME, number).rows
        assert plain_vector(row.vector) == plain_vector(make_vector("late"))

    def test_numbers_are_never_used_twice(self, store: Store) -> None:
        """They rise through everything, erasing the last record included."""
        numbers = [seq(store)]
        for number in range(1, 6):
            fill(store, make_entry(number))
            numbers.append(seq(store))
            erase(store, numbered_id(number))
            numbers.append(seq(store))
        assert numbers == sorted(set(numbers))


def _turn(transaction: Transaction, number: int) -> None:
    """Do one of six kinds of write."""
    target = numbered_id(100 + number * 7 % 13)
    present = bool(transaction.get(HOME, [target]))
    kind = number % 6
    if not present:
        transaction.insert([make_entry(100 + number * 7 % 13, content=f"Text {number}.")])
    elif kind == 0:
        transaction.transition(HOME, [Transition(target, tier=Tier.COLD)], NOW)
    elif kind == 1:
        transaction.transition(HOME, [Transition(target, status=Status.LIVE, tier=Tier.HOT)], NOW)
    elif kind == 2:  # noqa: PLR2004
        entry = make_entry(100 + number * 7 % 13, content=f"Text {number}.")
        transaction.replace([replace(entry, vector=None)])
    elif kind == 3:  # noqa: PLR2004
        vectors = {target: make_vector(f"v{number}")}
        transaction.put_vectors(HOME, vectors, EmbeddingState.READY)
    elif kind == 4:  # noqa: PLR2004
        transaction.transition(HOME, [Transition(target, status=Status.DELETED)], NOW)
    else:
        transaction.transition(HOME, [Transition(target, pinned=True)], NOW)
