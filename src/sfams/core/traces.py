"""Traces: what is kept of a record's accesses besides the counters, bounded however often they come.

Two things that no counter tells: at which moments a record came back *after a while*, and in which
logged turns it was shown or used. Counted repeats within an hour leave one moment: what is massed in
one sitting is not learned again and again (Pavlik & Anderson 2005). Sources of the stability: FSRS-6
(https://github.com/open-spaced-repetition, `fsrs` on PyPI), its published default weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfams.core.moments import MISSING, to_micros
from sfams.core.record import RecordId, Usage

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

SPACING = 3_600_000_000
"""Microseconds that must lie between two accesses for both to leave a moment."""
KEPT = 10
"""Moments, and turns, that are kept of a record: the latest."""
MOST_COUNTED = 2**32 - 1
"""More accesses than this, in what is kept of a turn, are not told apart."""

CURVE = 0.1542
"""FSRS-6 `w20`, the exponent of its power curve."""
FACTOR = 0.9 ** (-1.0 / CURVE) - 1.0
"""So that what was learned S days ago is known with probability 0.9."""
FIRST_STABILITY = 2.3065
"""FSRS-6 `w2`: stability in days of what was learned once, with the grade "good"."""
_DIFFICULTY = 6.4133 - math.exp(2 * 0.8334) + 1.0  # w4, w5: of the same grade
_W8, _W9, _W10 = 1.8722, 0.1666, 0.796
LONGEST_STABILITY = 36_500.0
"""Days; the limit of FSRS itself."""
_DAY = 86_400_000_000  # microseconds


class TurnUse(NamedTuple):
    """How often a record was shown, and its use confirmed, while the scope's log stood at a turn.

    `over` counts the turns that it stands for: more than one where earlier ones were folded into it.
    """

    turn: int
    shown: int
    used: int
    over: int = 1


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of one record.

    `moments` are the latest spaced accesses (microseconds since 1970, ascending), `count` is how many
    there were in all, `stability` is FSRS-6's after the last of them, in days. `turns` are the latest
    logged turns with an access, ascending.
    """

    count: int = 0
    stability: float = FIRST_STABILITY
    moments: tuple[int, ...] = ()
    turns: tuple[TurnUse, ...] = ()

    def noted(self, use: TurnUse, moments: Iterable[int], created_at: int) -> Trace:
        """Note accesses: how many at which turn, and when."""
        trace = self.counted(use.turn, use.shown, use.used)
        if use.shown or use.used:
            for at in sorted(moments):
                trace = trace.accessed(at, created_at)
        return trace

    def accessed(self, at: int, created_at: int) -> Trace:
        """Note an access, unless another lies within an hour or all that are kept are later.

        Stability grows by FSRS-6's formula of a successful review, with the time since the access
        before (or creation): the more was forgotten by then, the more. What is told late does not
        change it.
        """
        if any(abs(at - moment) < SPACING for moment in self.moments):
            return self
        if len(self.moments) == KEPT and at < self.moments[0]:
            return self
        stability = self.stability
        if not self.moments or at > self.moments[-1]:
            stability = _grown(stability, at - max((created_at, *self.moments)))
        moments = tuple(sorted((*self.moments, at)))[-KEPT:]
        return replace(self, count=self.count + 1, stability=stability, moments=moments)

    def counted(self, turn: int, shown: int, used: int) -> Trace:
        """Add accesses at a turn of the scope; the earliest turns are folded into the first one kept."""
        if not shown and not used:
            return self
        counts = {each.turn: each for each in self.turns}
        before = counts.get(turn, TurnUse(turn, 0, 0))
        counts[turn] = _together(before, TurnUse(turn, shown, used, 0))
        first, *later = sorted(counts.values())
        while len(later) >= KEPT:
            first = _together(later.pop(0), first)
        return replace(self, turns=(first, *later))


@dataclass(frozen=True, slots=True)
class UsageDelta:
    """Accesses to add: counters add up, the last moment is the maximum of `at` and what was there.

    All count for the scope's present turn; `at` and earlier `moments` leave a trace (`Trace.noted`).
    """

    id: RecordId
    shown: int
    used: int
    at: datetime
    moments: tuple[datetime, ...] = ()


def trace_of(usage: Usage, created_at: int, turn: int) -> Trace:
    """Make the trace of a record of which only counters are known, as an import brings it.

    Its last access is the one spaced access, and all were made at `turn`.
    """
    trace = Trace().counted(turn, usage.access_count, usage.used_count)
    last = (usage.last_accessed_at, usage.last_used_at)
    for at in sorted(to_micros(moment) for moment in last if moment is not None):
        trace = trace.accessed(at, created_at)
    return trace


def _together(later: TurnUse, earlier: TurnUse) -> TurnUse:
    """Count accesses of two turns as made at the later one."""
    counts = (
        min(one + other, MOST_COUNTED) for one, other in zip(later[1:], earlier[1:], strict=True)
    )
    return TurnUse(later.turn, *counts)


def _grown(stability: float, gap: int) -> float:
    days = max(gap, 0) / _DAY
    known = (1.0 + FACTOR * days / stability) ** -CURVE
    growth = math.exp(_W8) * (11.0 - _DIFFICULTY) * stability**-_W9 * math.expm1(_W10 * (1 - known))
    return float(min(stability * (1.0 + growth), LONGEST_STABILITY))


# ── Many at once ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Ragged:
    """Lists of unequal length end to end: those of row i are `values[starts[i] : starts[i + 1]]`."""

    starts: Ints
    values: NDArray[np.int64]

    @classmethod
    def of(cls, lengths: Ints, values: NDArray[np.int64]) -> Ragged:
        """Cut values into lists of these lengths."""
        return cls(np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))), values)

    @property
    def lengths(self) -> Ints:
        """How long each list is."""
        lengths: Ints = np.diff(self.starts)
        return lengths

    @property
    def rows(self) -> Rows:
        """To which row each value belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def at(self, place: int) -> tuple[Rows, Ints]:
        """Tell which rows have a value at a place of their list, and where it stands."""
        rows = np.flatnonzero(self.lengths > place)
        return rows, self.starts[rows] + place

    def take(self, rows: Rows) -> Ragged:
        """Keep only the lists of these rows, in the given order."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        places = np.arange(int(ends[-1]) if len(ends) else 0)
        places += np.repeat(self.starts[rows] - ends + lengths, lengths)
        return Ragged.of(lengths, self.values[places])


@dataclass(frozen=True, slots=True)
class Accesses:
    """The spaced accesses of many records, one row each (see `Trace`)."""

    count: Ints
    stability: Floats
    moments: Ragged

    @classmethod
    def of(cls, traces: Sequence[Trace]) -> Accesses:
        """Pack traces."""
        lengths = np.array([len(trace.moments) for trace in traces], np.int64)
        moments = [moment for trace in traces for moment in trace.moments]
        return cls(
            np.array([trace.count for trace in traces], np.int64),
            np.array([trace.stability for trace in traces], np.float64),
            Ragged.of(lengths, np.array(moments, np.int64)),
        )

    def take(self, rows: Rows) -> Accesses:
        """Keep only these rows."""
        return Accesses(self.count[rows], self.stability[rows], self.moments.take(rows))


@dataclass(frozen=True, slots=True)
class TurnUses:
    """In which logged turns many records were shown and used, one row each.

    `learned` is the turn at which the log stood when the record came; `turns` are lists of turns, and
    `shown`, `used` and `over` belong to their values one by one.
    """

    learned: Ints
    turns: Ragged
    shown: Ints
    used: Ints
    over: Ints

    @classmethod
    def of(cls, traces: Iterable[Trace], learned: Sequence[int]) -> TurnUses:
        """Pack traces."""
        lists = [trace.turns for trace in traces]
        cells = np.array([use for each in lists for use in each], np.int64).reshape(-1, 4)
        lengths = np.array([len(each) for each in lists], np.int64)
        turns = Ragged.of(lengths, cells[:, 0])
        return cls(np.array(learned, np.int64), turns, *cells.T[1:])

    def take(self, rows: Rows) -> TurnUses:
        """Keep only these rows."""
        places = Ragged(self.turns.starts, np.arange(len(self.turns.values))).take(rows)
        turns = Ragged(places.starts, self.turns.values[places.values])
        counts = (each[places.values] for each in (self.shown, self.used, self.over))
        return TurnUses(self.learned[rows], turns, *counts)


@dataclass(frozen=True, slots=True)
class EntityTypes:
    """Which types of entities records name: row i those of `sets[codes[i]]`, each once."""

    codes: NDArray[np.int32]
    sets: tuple[frozenset[str], ...]

    @classmethod
    def of(cls, types: Sequence[frozenset[str]]) -> EntityTypes:
        """Pack sets of types."""
        sets = tuple(sorted(set(types), key=sorted))
        places = {each: place for place, each in enumerate(sets)}
        return cls(np.array([places[each] for each in types], np.int32), sets)

    def take(self, rows: Rows) -> EntityTypes:
        """Keep only these rows."""
        return EntityTypes(self.codes[rows], self.sets)


def counted(uses: TurnUses, shown: Ints, used: Ints) -> TurnUses:
    """Count accesses for the turn at which a record came, where its turns were never kept (`trace_of`)."""
    missing = (uses.turns.lengths == 0) & ((shown > 0) | (used > 0))
    if not missing.any():
        return uses
    turns, new = _filled(uses.turns, missing, uses.learned)
    counts = []
    for known, cells in ((uses.shown, shown), (uses.used, used), (uses.over, np.ones_like(shown))):
        filled = np.empty_like(turns.values)
        filled[new], filled[~new] = np.minimum(cells[missing], MOST_COUNTED), known
        counts.append(filled)
    return TurnUses(uses.learned, turns, *counts)


def seeded(accesses: Accesses, last: Ints, created: Ints) -> Accesses:
    """Let the last access stand for those of records whose trace was never kept (`trace_of`)."""
    missing = (accesses.moments.lengths == 0) & (last != MISSING)
    if not missing.any():
        return accesses
    rows = np.flatnonzero(missing)
    count, stability = accesses.count.copy(), accesses.stability.copy()
    count[rows] = 1
    stability[rows] = [
        Trace().accessed(int(last[row]), int(created[row])).stability for row in rows.tolist()
    ]
    moments, _ = _filled(accesses.moments, missing, last)
    return Accesses(count, stability, moments)


def _filled(
    lists: Ragged, missing: NDArray[np.bool_], values: Ints
) -> tuple[Ragged, NDArray[np.bool_]]:
    """Give empty lists one value each; tells which values of the result these are."""
    lengths = np.where(missing, 1, lists.lengths)
    new = np.repeat(missing, lengths)
    filled = np.empty(len(new), np.int64)
    filled[new], filled[~new] = values[missing], lists.values
    return Ragged.of(lengths, filled), new
