"""What accesses leave behind: spaced moments, stability, and use by turn, all bounded."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.moments import to_micros
from sfams.core.record import Usage
from sfams.core.traces import KEPT, SPACING, Ragged, Trace, TurnUse, TurnUses, trace_of

HOUR = SPACING
DAY = 24 * HOUR
COUNTS = st.integers(0, 20)


def seen(*moments: int) -> Trace:
    trace = Trace()
    for at in moments:
        trace = trace.accessed(at, 0)
    return trace


def test_stability_grows_as_fsrs_has_it() -> None:
    """After 3, 10 and 40 days: py-fsrs 6.3.2, all "good", its difficulty held at that of the first."""
    expected = [13.826903695, 47.425970753, 152.818446430]
    days = [3 * DAY, 13 * DAY, 53 * DAY]
    found = [seen(*days[:n]).stability for n in (1, 2, 3)]
    assert found == pytest.approx(expected, rel=1e-8)


def test_massed_repeats_teach_nothing() -> None:
    massed = seen(*(DAY + minute * HOUR // 60 for minute in range(60)))
    assert massed == seen(DAY)
    assert seen(DAY, 2 * DAY, 3 * DAY).stability > 2 * massed.stability
    assert seen(DAY, DAY + HOUR).count == 2


def test_what_is_told_late_changes_no_stability() -> None:
    late = seen(5 * DAY, DAY)
    assert (late.moments, late.count) == ((DAY, 5 * DAY), 2)
    assert late.stability == seen(5 * DAY).stability


def test_stability_has_an_end() -> None:
    assert seen(*(10**year * DAY for year in range(1, 12))).stability == 36_500.0


def test_the_trace_of_counters_is_their_last_access() -> None:
    created = datetime(2026, 1, 1, tzinfo=UTC)
    last = created + timedelta(days=9)
    trace = trace_of(Usage(12, last, 3, created), to_micros(created), 7)
    assert trace.moments == (to_micros(created), to_micros(last))
    assert trace.turns == (TurnUse(7, 12, 3),)
    assert trace_of(Usage(), to_micros(created), 7) == Trace()


@given(st.lists(st.tuples(st.integers(0, 40), COUNTS, COUNTS), max_size=40))
def test_no_use_is_lost_when_turns_are_folded(events: list[tuple[int, int, int]]) -> None:
    trace = Trace()
    for event in events:
        trace = trace.counted(*event)
    told = [event for event in events if event[1] or event[2]]
    assert len(trace.turns) <= KEPT
    assert [each.turn for each in trace.turns] == sorted({each.turn for each in trace.turns})
    for place in (1, 2):
        assert sum(use[place] for use in trace.turns) == sum(event[place] for event in told)
    assert max((use.turn for use in trace.turns), default=-1) == max(
        (event[0] for event in told), default=-1
    )


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6), st.data())
def test_lists_end_to_end_are_the_lists(lists: list[list[int]], data: st.DataObject) -> None:
    packed = Ragged.of(
        np.array([len(each) for each in lists], np.int64),
        np.array([value for each in lists for value in each], np.int64),
    )
    places = range(len(lists))
    rows = data.draw(st.lists(st.sampled_from(places)) if lists else st.just([]))
    taken = packed.take(np.array(rows, np.intp))
    assert plain(taken) == [lists[row] for row in rows]
    assert packed.rows.tolist() == [row for row in places for _ in lists[row]]
    for place in range(4):
        having, cells = packed.at(place)
        assert having.tolist() == [row for row in places if len(lists[row]) > place]
        assert packed.values[cells].tolist() == [lists[row][place] for row in having.tolist()]


def plain(packed: Ragged) -> list[list[int]]:
    starts = packed.starts.tolist()
    return [packed.values[a:b].tolist() for a, b in pairwise(starts)]


def test_counts_follow_their_rows() -> None:
    traces = [Trace().counted(3, 1, 0).counted(9, 2, 5), Trace(), Trace().counted(4, 7, 0)]
    uses = TurnUses.of(traces, [1, 2, 3]).take(np.array([2, 0], np.intp))
    assert uses.learned.tolist() == [3, 1]
    assert plain(uses.turns) == [[4], [3, 9]]
    assert (uses.shown.tolist(), uses.used.tolist()) == ([7, 1, 2], [0, 0, 5])
