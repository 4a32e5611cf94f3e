"""Linear: a weighted sum of importance, frequency, recency and age."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from sfams.core.columns import Columns, Floats, Ints
from sfams.core.models.parameters import CLOCKS, Clock, Parametric, check_choice, check_range
from sfams.core.models.signals import accesses, ageing, elapsed, last_touched, unit
from sfams.core.moments import to_micros
from sfams.core.retention import Scores, finished
from sfams.errors import InvalidPolicyError

Recency = Literal["linear", "half_life"]
"""Shape of the recency signal: a straight line to zero, or half as much every so many days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear(Parametric):
    """`alpha*I + beta*F + gamma*R - delta*A`, cut to 0..1; each signal lies in 0..1.

    - I, the importance that was given or estimated.
    - F, frequency: `min(n / n_sat, 1)`, or `ln(1+n) / ln(1+n_sat)` (at most 1) with
      `log_frequency`, where n counts a showing as 1 and a confirmed use as `use_weight`. It can
      never be worth more than beta.
    - R, recency of the last access or, if that is later or there was none, of creation, d days ago:
      `max(0, 1 - d / recency_days)` when "linear", `0.5 ** (d / recency_days)` when "half_life".
    - A, age: `min(1, d / age_horizon_days)` for kinds that age (`sfams.core.record.ages`), else 0.

    Moments after `now` count as `now`. Days are those of the calendar, or with `clock` "active" only
    those on which something was said in the scope, so that silent weeks age nothing. With `whole_days`
    a day that is not over does not count. By default importance weighs most, recency halves every 30
    days, showings alone are worth at most 0.15, and half a year of age costs a twentieth.

    Raises:
        InvalidPolicyError: A weight is negative or not finite, the positive weights sum to more
            than 1, or a window, saturation or horizon is not above zero.
    """

    name = "linear"

    alpha: float = 0.75
    beta: float = 0.15
    gamma: float = 0.1
    delta: float = 0.05
    recency: Recency = "half_life"
    recency_days: float = 30.0
    n_sat: float = 10.0
    use_weight: float = 3.0
    log_frequency: bool = False
    age_horizon_days: float = 180.0
    whole_days: bool = False
    clock: Clock = "wall"

    def __post_init__(self) -> None:
        """Check every parameter, so that no score can be anything but finite."""
        check_range(self, 0.0, 1.0, "alpha", "beta", "gamma", "delta")
        check_range(self, 1e-3, 1e6, "recency_days", "n_sat", "age_horizon_days")
        check_range(self, 0.0, 1e6, "use_weight")
        if self.alpha + self.beta + self.gamma > 1.0 + 1e-9:
            message = "alpha + beta + gamma: must be 1 or less, so that scores lie in 0..1"
            raise InvalidPolicyError(message, field="alpha")
        check_choice("recency", self.recency, ("linear", "half_life"))
        check_choice("clock", self.clock, CLOCKS)
        for name in ("log_frequency", "whole_days"):
            if not isinstance(getattr(self, name), bool):
                message = f"{name}: must be true or false"
                raise InvalidPolicyError(message, field=name)

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row; see the class for the formula."""
        last = self._days(columns, last_touched(columns), now)
        parts = {
            "importance": self.alpha * unit(columns.importance),
            "recency": self.gamma * self._recency(last),
            "frequency": self.beta * self._frequency(columns),
        }
        if self.delta:
            days = self._days(columns, columns.created_at, now)
            age = np.minimum(days / self.age_horizon_days, 1.0)
            parts["age"] = -self.delta * np.where(ageing(columns), age, 0.0)
        return finished(parts, columns.expires_at <= to_micros(now))

    def _days(self, columns: Columns, moments: Ints, now: datetime) -> Floats:
        days = elapsed(columns, moments, now, self.clock)
        return np.floor(days) if self.whole_days else days

    def _recency(self, days: Floats) -> Floats:
        spans = days / self.recency_days
        if self.recency == "linear":
            return np.maximum(0.0, 1.0 - spans)
        with np.errstate(under="ignore"):
            return np.exp2(-spans)

    def _frequency(self, columns: Columns) -> Floats:
        n = accesses(columns, self.use_weight)
        raised = np.log1p(n) / math.log1p(self.n_sat) if self.log_frequency else n / self.n_sat
        return np.minimum(raised, 1.0)


def classic() -> Linear:
    """0.5 importance + 0.3 recency (30-day line, whole days) + 0.2 frequency (full at 10 showings).

    The formula with which the structured memory of agents is commonly introduced, number for
    number: age takes nothing away and confirmed use adds nothing.
    """
    return Linear(
        alpha=0.5,
        beta=0.2,
        gamma=0.3,
        delta=0.0,
        recency="linear",
        recency_days=30.0,
        n_sat=10.0,
        use_weight=0.0,
        whole_days=True,
    )
