"""Promise: usage adds up beside the records and changes nothing else about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfams.core.record import Status, Usage
from sfams.ports import Transition, UsageDelta
from sfams.testing.builders import HOME, make_entry, make_record
from sfams.testing.conformance.base import (
    MINUTE,
    NOW,
    ONE,
    THREE,
    TICK,
    TWO,
    Promises,
    fetch,
    fetch_one,
    fill,
    move,
    seq,
)

if TYPE_CHECKING:
    from sfams.ports import Store


def use(store: Store, *deltas: UsageDelta) -> None:
    """Flush accesses."""
    with store.write() as transaction:
        transaction.add_usage(HOME, deltas)


class UsagePromises(Promises):
    """Shown and used."""

    def test_counters_add_up(self, store: Store) -> None:
        """Over flushes and within one."""
        fill(store, make_entry(1), make_entry(2))
        use(store, UsageDelta(ONE, 2, 0, NOW), UsageDelta(ONE, 1, 0, NOW + TICK))
        use(store, UsageDelta(ONE, 4, 0, NOW + MINUTE))
        assert fetch_one(store).usage == Usage(7, NOW + MINUTE)
        assert fetch_one(store, TWO).usage == Usage()

    def test_the_last_moment_is_the_latest(self, store: Store) -> None:
        """A buffer that is flushed late does not turn time back."""
        fill(store, make_entry(1))
        use(store, UsageDelta(ONE, 1, 1, NOW))
        use(store, UsageDelta(ONE, 1, 1, NOW - MINUTE))
        assert fetch_one(store).usage == Usage(2, NOW, 2, NOW)

    def test_shown_and_used_are_counted_apart(self, store: Store) -> None:
        """Being shown is no use, and a confirmed use is not another showing."""
        fill(store, make_entry(1), make_entry(2))
        use(store, UsageDelta(ONE, 1, 0, NOW), UsageDelta(TWO, 0, 1, NOW))
        assert fetch_one(store).usage == Usage(1, NOW, 0, None)
        assert fetch_one(store, TWO).usage == Usage(0, None, 1, NOW)

    def test_usage_changes_nothing_else(self, store: Store) -> None:
        """Neither version nor `updated_at`, or every recall would make plans stale."""
        fill(store, make_entry(1))
        number = seq(store)
        use(store, UsageDelta(ONE, 1, 1, NOW))
        found = fetch_one(store)
        assert (found.version, found.updated_at) == (1, make_record(1).updated_at)
        assert seq(store) == number
        with store.read() as reader:
            assert reader.columns(HOME, NOW).versions.tolist() == [1]

    def test_unknown_ids_are_ignored(self, store: Store) -> None:
        """A record may be erased between recall and flush."""
        fill(store, make_entry(1))
        use(store, UsageDelta(THREE, 1, 0, NOW), UsageDelta(ONE, 1, 0, NOW))
        assert [record.usage.access_count for record in fetch(store, ONE, THREE)] == [1]

    def test_usage_outlives_changes_of_the_record(self, store: Store) -> None:
        """An edit made from an older look must not take back what was counted meanwhile."""
        fill(store, make_entry(1))
        use(store, UsageDelta(ONE, 3, 1, NOW))
        with store.write() as transaction:
            transaction.replace([make_entry(1, content="Edited.")])
        move(store, Transition(ONE, status=Status.DELETED))
        move(store, Transition(ONE, status=Status.LIVE))
        assert fetch_one(store).usage == Usage(3, NOW, 1, NOW)

    def test_usage_reaches_the_columns(self, store: Store) -> None:
        """Policies see what was flushed."""
        fill(store, make_entry(1))
        use(store, UsageDelta(ONE, 3, 2, NOW))
        with store.read() as reader:
            columns = reader.columns(HOME, NOW)
        assert (columns.access_count.tolist(), columns.used_count.tolist()) == ([3], [2])
