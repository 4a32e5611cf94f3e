"""Retrievability: the chance that a memory would still be known, as spaced repetition has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sfams.core.columns import Columns, Floats, Ints, Need
from sfams.core.models.parameters import CLOCKS, Clock, Parametric, check_choice, check_range
from sfams.core.models.signals import confirmed, elapsed, last_touched, settled, unit
from sfams.core.moments import to_micros
from sfams.core.retention import Scores, finished
from sfams.core.traces import CURVE, FIRST_STABILITY, LONGEST_STABILITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrievability(Parametric):
    """`alpha*I + (1-alpha) * R`, R being FSRS-6's power curve of forgetting.

    `R = (1 + F*t/S) ** -decay` with `F = 0.9 ** (-1/decay) - 1`, so that R is 0.9 when t reaches S. t
    is the time since the last access (or creation), S the stability: `stability_days` for what was
    never accessed, growing with each spaced access by FSRS-6's formula and published weights, the more
    the more had been forgotten by then (`sfams.core.traces`). Confirmed use makes S up to
    `1 + use_gain` times as long. The weights were fitted to people who learn cards: a starting point.

    For kinds that do not age t stops at `steady_days`. With `clock` "active" only days on which
    something was said in the scope count for t. Accesses are worth at most `1 - alpha`.

    Raises:
        InvalidPolicyError: A parameter is out of range.
    """

    name = "retrievability"
    needs = frozenset({Need.ACCESSES})

    alpha: float = 0.6
    stability_days: float = FIRST_STABILITY
    decay: float = CURVE
    use_gain: float = 1.0
    steady_days: float = 30.0
    clock: Clock = "active"

    def __post_init__(self) -> None:
        """Check every parameter, so that no score can be anything but finite."""
        check_range(self, 0.0, 1.0, "alpha")
        check_range(self, 1e-3, 1e6, "stability_days")
        check_range(self, 0.01, 10.0, "decay")
        check_range(self, 0.0, 100.0, "use_gain")
        check_range(self, 0.0, 1e6, "steady_days")
        check_choice("clock", self.clock, CLOCKS)

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row; see the class for the formula."""
        first = np.full(len(columns), self.stability_days)
        alone = self._known(columns, columns.created_at, first, now)
        together = self._known(columns, _last(columns), self._stability(columns), now)
        parts = {
            "importance": self.alpha * unit(columns.importance),
            "retrievability": (1.0 - self.alpha) * alone,
            "accesses": (1.0 - self.alpha) * (together - alone),
        }
        return finished(parts, columns.expires_at <= to_micros(now))

    def _known(self, columns: Columns, last: Ints, stability: Floats, now: datetime) -> Floats:
        days = elapsed(columns, last, now, self.clock)
        factor = 0.9 ** (-1.0 / self.decay) - 1.0
        known: Floats = (
            1.0 + factor * settled(columns, days, self.steady_days) / stability
        ) ** -self.decay
        return known

    def _stability(self, columns: Columns) -> Floats:
        """Take the stability that was kept, in units of that of the first day."""
        grown = np.nan_to_num(columns.spaced().stability, nan=FIRST_STABILITY)
        times = np.clip(grown, FIRST_STABILITY, LONGEST_STABILITY) / FIRST_STABILITY
        return self.stability_days * times * (1.0 + self.use_gain * confirmed(columns))


def _last(columns: Columns) -> Ints:
    """Give the last access of any sort, shown or used."""
    moments = columns.spaced().moments
    last = last_touched(columns).copy()
    rows = np.flatnonzero(moments.lengths)
    last[rows] = np.maximum(last[rows], moments.values[moments.starts[rows + 1] - 1])
    return last
