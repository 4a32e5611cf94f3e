"""Density: value per token, as size-aware caches have it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sfams.core.columns import Columns, Floats
from sfams.core.models.parameters import CLOCKS, Clock, Parametric, check_choice, check_range
from sfams.core.models.signals import accesses, ageing, elapsed, last_touched, unit
from sfams.core.moments import to_micros
from sfams.core.retention import Scores, finished


@dataclass(frozen=True, slots=True, kw_only=True)
class Density(Parametric):
    """`(1-delta) * I * (1 + beta*F) / (1 + beta) * q + delta * L`, the form of GreedyDual-Size-Frequency.

    Cherkasova's `H = L + frequency * cost / size` (1998): cost is importance I, frequency
    `F = min(ln(1+n) / ln(1+n_sat), 1)`, where n counts a showing as 1 and a confirmed use as
    `use_weight`, and one over size is `q = pivot / (pivot + tokens)`, so that a text of `pivot`
    tokens counts half and a far longer one by its tokens.

    L lets what was touched lately stand above what was not. In a cache it rises with every eviction;
    here with the scope's own time, so that scores do not depend on how often somebody evicts:
    `L = 1 - min(1, d / horizon_days)`, d days after the last access or creation, by `clock`, and 1 for
    kinds that do not age. Accesses are worth at most `(1-delta) * beta / (1+beta) + delta`.

    Raises:
        InvalidPolicyError: A parameter is out of range.
    """

    name = "density"

    beta: float = 0.5
    delta: float = 0.1
    pivot: float = 10.0
    n_sat: float = 10.0
    use_weight: float = 3.0
    horizon_days: float = 90.0
    clock: Clock = "active"

    def __post_init__(self) -> None:
        """Check every parameter, so that no score can be anything but finite."""
        check_range(self, 0.0, 100.0, "beta")
        check_range(self, 0.0, 1.0, "delta")
        check_range(self, 1e-3, 1e6, "pivot", "n_sat", "horizon_days")
        check_range(self, 0.0, 1e6, "use_weight")
        check_choice("clock", self.clock, CLOCKS)

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row; see the class for the formula."""
        room = self.pivot / (self.pivot + np.maximum(columns.tokens, 0))
        worth = (1.0 - self.delta) * unit(columns.importance) * room / (1.0 + self.beta)
        parts = {
            "importance": worth,
            "frequency": worth * self.beta * self._frequency(columns),
            "lately": self.delta * self._lately(columns, now),
        }
        return finished(parts, columns.expires_at <= to_micros(now))

    def _frequency(self, columns: Columns) -> Floats:
        n = accesses(columns, self.use_weight)
        return np.minimum(np.log1p(n) / math.log1p(self.n_sat), 1.0)

    def _lately(self, columns: Columns, now: datetime) -> Floats:
        days = elapsed(columns, last_touched(columns), now, self.clock)
        return np.where(ageing(columns), 1.0 - np.minimum(days / self.horizon_days, 1.0), 1.0)
