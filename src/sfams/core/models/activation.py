"""Activation: how present a memory is after all its uses, as ACT-R has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sfams.core.columns import Columns, Floats, Need
from sfams.core.models.parameters import CLOCKS, Clock, Parametric, check_choice, check_range
from sfams.core.models.signals import ageing, confirmed, elapsed, settled, unit
from sfams.core.moments import to_micros
from sfams.core.retention import Scores, finished
from sfams.core.traces import Accesses

_SAME = 1e-9
_FURTHEST = 700.0  # beyond it exp leaves the numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation(Parametric):
    """`alpha*I + (1-alpha) * logistic((B - threshold) / noise)`, B being ACT-R's base-level activation.

    `B = ln(sum of (1 + t) ** -decay)` over creation and every access, t days ago (Anderson & Schooler
    1991; Anderson et al. 2004). The latest spaced accesses are known one by one; the earlier ones, of
    which the number is known, are taken as spread evenly between creation and them (Petrov 2006).
    Spacing: repeats within an hour count once (`sfams.core.traces`). Accesses weigh up to
    `1 + use_gain` times as much the more use of the memory was confirmed.

    For kinds that do not age time stops after `steady_days`. With `clock` "active" only days on which
    something was said in the scope count. Accesses are worth at most `1 - alpha`.

    Raises:
        InvalidPolicyError: A parameter is out of range.
    """

    name = "activation"
    needs = frozenset({Need.ACCESSES})

    alpha: float = 0.6
    decay: float = 0.5
    threshold: float = -1.0
    noise: float = 0.5
    use_gain: float = 1.0
    steady_days: float = 30.0
    clock: Clock = "active"

    def __post_init__(self) -> None:
        """Check every parameter, so that no score can be anything but finite."""
        check_range(self, 0.0, 1.0, "alpha")
        check_range(self, 0.01, 0.99, "decay")
        check_range(self, -100.0, 100.0, "threshold")
        check_range(self, 1e-2, 100.0, "noise")
        check_range(self, 0.0, 100.0, "use_gain")
        check_range(self, 0.0, 1e6, "steady_days")
        check_choice("clock", self.clock, CLOCKS)

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row; see the class for the formula."""
        born = settled(
            columns, elapsed(columns, columns.created_at, now, self.clock), self.steady_days
        )
        learned = self._weight(born)
        accesses = self._accesses(columns, born, now) * (1.0 + self.use_gain * confirmed(columns))
        alone = (1.0 - self.alpha) * self._present(learned)
        together = (1.0 - self.alpha) * self._present(learned + accesses)
        parts = {
            "importance": self.alpha * unit(columns.importance),
            "activation": alone,
            "accesses": together - alone,
        }
        return finished(parts, columns.expires_at <= to_micros(now))

    def _weight(self, days: Floats) -> Floats:
        weights: Floats = (1.0 + days) ** -self.decay
        return weights

    def _present(self, total: Floats) -> Floats:
        distance = (self.threshold - np.log(total)) / self.noise
        return 1.0 / (1.0 + np.exp(np.minimum(distance, _FURTHEST)))

    def _accesses(self, columns: Columns, born: Floats, now: datetime) -> Floats:
        """Sum what the accesses weigh: the latest one by one, the earlier ones on average."""
        spaced = columns.spaced()
        rows = spaced.moments.rows
        days = elapsed(columns, spaced.moments.values, now, self.clock)
        days = np.where(ageing(columns)[rows], days, np.minimum(days, self.steady_days))
        known = np.bincount(rows, self._weight(days), minlength=len(columns))
        return known + _earlier(spaced) * self._mean(_first(spaced, days, born), born)

    def _mean(self, latest: Floats, earliest: Floats) -> Floats:
        """Give the mean weight of accesses spread between two ages, the earliest not below the latest."""
        latest, earliest = 1.0 + latest, 1.0 + np.maximum(latest, earliest)
        span, power = earliest - latest, 1.0 - self.decay
        mean = (earliest**power - latest**power) / (power * np.maximum(span, _SAME))
        return np.where(span > _SAME, mean, latest**-self.decay)


def _earlier(spaced: Accesses) -> Floats:
    """Count the accesses of which no moment is kept."""
    counts: Floats = np.maximum(spaced.count - spaced.moments.lengths, 0).astype(np.float64)
    return counts


def _first(spaced: Accesses, days: Floats, born: Floats) -> Floats:
    """Give the age of the first access that is kept; creation's where there is none."""
    first = born.copy()
    rows, places = spaced.moments.at(0)
    first[rows] = days[places]
    return first
