"""Promise: the log keeps its order; sessions, turns and active days are counted."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pytest

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.testing.builders import HOME, make_entry
from sfams.testing.clock import START
from sfams.testing.conformance.base import (
    FIRST_PLAN,
    MINUTE,
    NOW,
    ONE,
    TICK,
    TWO,
    Promises,
    event,
    fill,
)
from sfams.testing.conformance.roundtrip import METADATA
from sfams.testing.snapshot import plain_event

if TYPE_CHECKING:
    from sfams.core.record import RecordId
    from sfams.ports import Store


def write_log(store: Store, *events: MemoryEvent) -> None:
    """Append to the log."""
    with store.write() as transaction:
        transaction.append(HOME, events)


def read_log(store: Store, *ids: RecordId, after: int = 0, limit: int = 1000) -> list[MemoryEvent]:
    """Read the log."""
    with store.read() as reader:
        return list(reader.history(HOME, ids, after=after, limit=limit))


def told(events: list[MemoryEvent]) -> list[object]:
    """Tell which numbered events these are."""
    return [each.detail["number"] for each in events]


class LogPromises(Promises):
    """History, sessions, days."""

    @pytest.mark.parametrize("kind", EventType)
    def test_every_kind_of_event_comes_back(self, store: Store, kind: EventType) -> None:
        """With all its fields, absent ones too."""
        full = MemoryEvent(
            type=kind,
            at=NOW + TICK,
            record_id=ONE,
            actor=Actor.JUDGE,
            plan_id=FIRST_PLAN,
            detail=METADATA,
        )
        bare = MemoryEvent(type=kind, at=NOW)
        write_log(store, full, bare)
        assert [plain_event(each) for each in read_log(store)] == [
            plain_event(full),
            plain_event(bare),
        ]

    @pytest.mark.parametrize("actor", Actor)
    def test_every_actor_comes_back(self, store: Store, actor: Actor) -> None:
        """Who caused it is part of the record."""
        write_log(store, MemoryEvent(type=EventType.DELETED, at=NOW, actor=actor))
        assert [each.actor for each in read_log(store)] == [actor]

    def test_the_log_keeps_the_order_of_writing(self, store: Store) -> None:
        """Not that of the moments: clocks jump. Numbers rise and never change."""
        write_log(store, event(5), event(3))
        write_log(store, event(4))
        first = read_log(store)
        assert told(first) == [5, 3, 4]
        numbers = [each.number for each in first]
        assert numbers == sorted(set(numbers))
        assert numbers[0] > 0
        write_log(store, event(1))
        assert read_log(store)[:3] == first

    def test_the_log_is_read_page_by_page(self, store: Store) -> None:
        """`after` is the number of the last event seen."""
        write_log(store, *(event(n) for n in range(25)))
        seen: list[MemoryEvent] = []
        while page := read_log(store, after=seen[-1].number if seen else 0, limit=10):
            seen += page
        assert told(seen) == list(range(25))

    def test_the_log_is_read_by_record(self, store: Store) -> None:
        """Pages are cut after records are chosen; no ids means all, and events of no record."""
        chosen = [event(n, TWO if n % 5 == 0 else ONE) for n in range(25)]
        write_log(store, *chosen, event(25, None))
        assert told(read_log(store, TWO)) == [0, 5, 10, 15, 20]
        assert told(read_log(store, TWO, limit=2)) == [0, 5]
        fifth = read_log(store, TWO)[1].number
        assert told(read_log(store, TWO, after=fifth, limit=2)) == [10, 15]
        assert told(read_log(store, ONE, TWO)) == list(range(25))
        assert told(read_log(store)) == list(range(26))

    def test_the_log_needs_no_record(self, store: Store) -> None:
        """An event may outlive what it tells of."""
        write_log(store, event(1, TWO))
        assert told(read_log(store, TWO)) == [1]

    def test_turns_are_numbered_by_session(self, store: Store) -> None:
        """From 1, on through the end of a session and over many of them."""
        with store.write() as transaction:
            assert [transaction.log_turn(HOME, "s-1", NOW) for _ in range(3)] == [1, 2, 3]
            assert transaction.log_turn(HOME, "S-1", NOW) == 1
        with store.write() as transaction:
            transaction.end_session(HOME, "s-1", NOW)
            transaction.end_session(HOME, "never begun", NOW)
            assert transaction.log_turn(HOME, "s-1", NOW + MINUTE) == 4  # noqa: PLR2004
        with store.read() as reader:
            names = ("s-1", "S-1", "never begun", "unknown")
            assert [reader.turns(HOME, name) for name in names] == [4, 1, 0, 0]

    def test_active_days_are_utc_days_of_what_was_said(self, store: Store) -> None:
        """Of turns and of records, by the moment of saying, each once, ascending."""
        midnight = datetime(2026, 7, 21, tzinfo=UTC)
        with store.write() as transaction:
            transaction.log_turn(HOME, "s-1", midnight)
            transaction.log_turn(HOME, "s-1", midnight - TICK)
            transaction.log_turn(HOME, "s-2", midnight + MINUTE)
        fill(
            store,
            make_entry(1, created_at=datetime(1969, 12, 31, 23, tzinfo=UTC), recorded_at=START),
        )
        with store.read() as reader:
            days = list(reader.active_days(HOME))
        assert days == [date(1969, 12, 31), date(2026, 7, 20), date(2026, 7, 21)]
