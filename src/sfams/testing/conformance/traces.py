"""Promise: accesses leave a bounded trace beside their counters, and columns bring it when asked."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from sfams.core.columns import Columns, Need
from sfams.core.moments import to_micros
from sfams.core.record import Entity, Source, Status, Tier, Usage
from sfams.core.traces import KEPT, Trace
from sfams.errors import InvalidInputError
from sfams.ports import Transition, UsageDelta
from sfams.testing.builders import HOME, make_entry, make_record
from sfams.testing.conformance.base import (
    MINUTE,
    NEXT_DOOR,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    erase,
    fill,
    move,
    seq,
)
from sfams.testing.conformance.usage import use
from sfams.testing.snapshot import plain_traces

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from sfams.core.scope import Scope
    from sfams.ports import Store

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
EVERY_NEED = frozenset(Need)


def traced(store: Store) -> Columns:
    """Read columns with all that models may need."""
    with store.read() as reader:
        return reader.columns(HOME, NOW, EVERY_NEED)


def moments(store: Store, row: int = 0) -> list[int]:
    """Read the moments that a record's accesses left."""
    lists = traced(store).spaced().moments
    found: list[int] = lists.values[lists.starts[row] : lists.starts[row + 1]].tolist()
    return found


def shown(*at: datetime) -> UsageDelta:
    """Say that the first record was shown."""
    return UsageDelta(ONE, len(at), 0, max(at), at)


def log(store: Store, turns: int, session: str = "s-1", scope: Scope = HOME) -> None:
    """Log turns."""
    with store.write() as transaction:
        for _ in range(turns):
            transaction.log_turn(scope, session, NOW)


class TracePromises(Promises):
    """Spaced accesses, use by turn, and what else only some models need."""

    def test_repeats_within_an_hour_leave_one_moment(self, store: Store) -> None:
        """The first of them; what comes an hour later leaves its own, in one flush or several."""
        fill(store, make_entry(1))
        use(store, shown(NOW, NOW + 59 * MINUTE), shown(NOW + 30 * MINUTE))
        use(store, shown(NOW + HOUR), UsageDelta(ONE, 0, 1, NOW + 2 * HOUR))
        expected = [to_micros(NOW + hours * HOUR) for hours in range(3)]
        assert moments(store) == expected
        assert traced(store).spaced().count.tolist() == [3]

    def test_the_latest_moments_are_kept(self, store: Store) -> None:
        """Ten of them, however many there were, and their number and stability grow on."""
        fill(store, make_entry(1))
        days = [NOW + day * DAY for day in range(KEPT + 5)]
        for at in days[:2]:
            use(store, shown(at))
        use(store, shown(*days[2:]))
        assert moments(store) == [to_micros(at) for at in days[-KEPT:]]
        trace = Trace()
        for at in days:
            trace = trace.accessed(to_micros(at), to_micros(make_record(1).created_at))
        spaced = traced(store).spaced()
        assert (spaced.count.tolist(), spaced.stability.tolist()) == (
            [len(days)],
            [trace.stability],
        )

    def test_what_is_told_late_takes_its_place(self, store: Store) -> None:
        """A buffer may be flushed late: moments stand in order, and one before all ten is dropped."""
        fill(store, make_entry(1))
        use(store, shown(NOW + 2 * DAY))
        use(store, shown(NOW))
        assert moments(store) == [to_micros(NOW), to_micros(NOW + 2 * DAY)]
        use(store, shown(*(NOW + day * DAY for day in range(3, 11))))
        use(store, shown(NOW - DAY))
        assert moments(store)[0] == to_micros(NOW)
        assert traced(store).spaced().count.tolist() == [KEPT]

    def test_use_is_counted_by_turn(self, store: Store) -> None:
        """By the scope's turn at which it was told, whatever the session; earlier ones are folded."""
        fill(store, make_entry(1), make_entry(2))
        log(store, 2)
        use(store, UsageDelta(ONE, 2, 0, NOW), UsageDelta(ONE, 1, 1, NOW))
        log(store, 1, session="s-2")
        use(store, UsageDelta(ONE, 1, 0, NOW))
        uses = traced(store).by_turn()
        assert plain_traces(traced(store))["by turn"] == [[(2, 3, 1, 1), (3, 1, 0, 1)], []]
        assert uses.learned.tolist() == [0, 0]
        for _ in range(KEPT):
            log(store, 1)
            use(store, UsageDelta(ONE, 1, 0, NOW))
        uses = traced(store).by_turn()
        assert uses.turns.values.tolist() == list(range(4, 4 + KEPT))
        assert [each.tolist()[0] for each in (uses.shown, uses.used, uses.over)] == [5, 1, 3]

    def test_records_know_at_which_turn_they_came(self, store: Store) -> None:
        """Turns of this scope alone, and for ever: neither an edit nor an erasure turns them back."""
        log(store, 5, scope=NEXT_DOOR)
        fill(store, make_entry(1))
        log(store, 2)
        fill(store, make_entry(2, source=Source(session="s-1")))
        with store.write() as transaction:
            transaction.replace([make_entry(1, content="Edited.")])
        assert (traced(store).by_turn().learned.tolist(), traced(store).turns) == ([0, 2], 2)
        erase(store, TWO)
        fill(store, make_entry(3))
        assert (traced(store).by_turn().learned.tolist(), traced(store).turns) == ([0, 2], 2)

    def test_traces_outlive_changes_of_the_record(self, store: Store) -> None:
        """Edits, deletion and restoring, a restart; and they raise no number."""
        fill(store, make_entry(1))
        log(store, 1)
        number = seq(store)
        use(store, shown(NOW, NOW + DAY))
        assert seq(store) == number
        before = plain_traces(traced(store))
        with store.write() as transaction:
            transaction.replace([make_entry(1, content="Edited.")])
        move(store, Transition(ONE, status=Status.DELETED, tier=Tier.COLD))
        move(store, Transition(ONE, status=Status.LIVE, tier=Tier.HOT))
        assert plain_traces(traced(self.reopen(store))) == before

    def test_an_erased_record_leaves_no_trace(self, store: Store) -> None:
        """Its id may come again, and is new then."""
        fill(store, make_entry(1))
        use(store, shown(NOW, NOW + DAY))
        erase(store, ONE)
        fill(store, make_entry(1))
        found = plain_traces(traced(store))
        assert (found["count"], found["moments"], found["by turn"]) == ([0], [[]], [[]])

    def test_usage_that_came_along_leaves_a_trace(self, store: Store) -> None:
        """Of a record with counters, as an import brings it, the last access is known."""
        log(store, 3)
        fill(store, make_entry(1, usage=Usage(4, NOW, 1, NOW + DAY)), make_entry(2))
        assert moments(store) == [to_micros(NOW), to_micros(NOW + DAY)]
        use(store, shown(NOW + 2 * DAY))
        found = plain_traces(traced(store))
        assert (found["count"], found["by turn"]) == ([3, 0], [[(3, 5, 1, 1)], []])

    @pytest.mark.parametrize("need", Need)
    def test_columns_bring_what_was_asked_for(self, store: Store, need: Need) -> None:
        """Nothing else; and a model that did not ask is told so instead of scoring without it."""
        fill(store, make_entry(1, entities=(Entity("Lena", "person"),)))
        use(store, shown(NOW))
        with store.read() as reader:
            columns = reader.columns(HOME, NOW, frozenset({need}))
        read: dict[Need, Callable[[], object]] = {
            Need.ACCESSES: lambda: columns.spaced().count.tolist() == [1],
            Need.TURNS: lambda: columns.by_turn().turns.values.tolist() == [0],
            Need.ENTITIES: lambda: columns.named().sets == (frozenset({"person"}),),
        }
        assert read.pop(need)()
        for other, get in read.items():
            with pytest.raises(InvalidInputError, match=other.value):
                get()

    def test_columns_bring_the_types_of_entities(self, store: Store) -> None:
        """Each once, those without a type not; of a record's own entities only."""
        fill(
            store,
            make_entry(1, entities=(Entity("Lena", "person"), Entity("Ben", "person"))),
            make_entry(2, entities=(Entity("Oslo", "place"), Entity("May", "date"), Entity("x"))),
            make_entry(3),
        )
        assert plain_traces(traced(store))["types"] == [["person"], ["date", "place"], []]
        with store.write() as transaction:
            transaction.replace([make_entry(3, entities=(Entity("Oslo", "place"),))])
        assert plain_traces(traced(store))["types"] == [["person"], ["date", "place"], ["place"]]

    def test_columns_know_the_active_days(self, store: Store) -> None:
        """The scope's own, with or without records; silence between them does not count."""
        log(store, 1, scope=NEXT_DOOR)
        for number, days in enumerate((40, 10, 10, 1), 1):
            fill(store, make_entry(number, created_at=NOW - days * DAY))
        with store.read() as reader:
            columns = reader.columns(HOME, NOW)
            epoch = date(1970, 1, 1)
            found = [epoch + timedelta(days=day) for day in columns.active_days.tolist()]
            assert found == list(reader.active_days(HOME))
        assert columns.active_since(columns.created_at, NOW).tolist() == [2, 1, 1, 0]
        erase(store, ONE, TWO, THREE)
        assert len(traced(store).active_days) == len(columns.active_days)
