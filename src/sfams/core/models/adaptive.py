"""Adaptive: what is likely to be needed, per token that it costs. The default."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from sfams.core import fitted
from sfams.core.columns import Columns, Floats
from sfams.core.models.parameters import CLOCKS, Clock, Parametric, check_choice, check_range
from sfams.core.models.signals import ageing, elapsed, unit
from sfams.core.moments import to_micros
from sfams.core.retention import Scores, finished

_EDGE = 1e-4
_MIDDLING = 20.0
"""Tokens of a memory of middling size: what needs as many scores one half if its odds are even."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive(Parametric):
    """The chance that a memory is needed, divided by its size: `p / tokens ** size`, put into 0..1.

    The chance `p` is logistic in the log-odds of salience and importance, with fitted weights
    (`sfams.core.fitted`), so that a given importance counts as an estimated one does. To its log-odds
    are added, each documented by its own part of the score:

    - use: `used_weight * ln(1 + confirmed)` and `shown_weight * ln(1 + shown)`, at most `used_cap` and
      `shown_cap`. What was shown but never confirmed counts little.
    - distinctness: `-twin_weight * similarity` where there is a twin that says nearly the same.
    - age: `-age_weight * min(1, days / age_horizon_days)` for kinds that age (`sfams.core.record.ages`).

    The form is that of a size-aware cache (GreedyDual-Size-Frequency, Cherkasova 1998, without its
    clock) with content in the place of frequency; the policy's `window` of the newest stands in
    front of it (W-TinyLFU, Einziger et al. 2017). Recency takes no part: silence forgets nothing.
    By default days of age are those on which something was said in the scope (`clock`).

    Raises:
        InvalidPolicyError: A parameter is not a number of its range.
    """

    name = "adaptive"

    size: float = 1.1
    used_weight: float = 1.0
    used_cap: float = 3.0
    shown_weight: float = 0.1
    shown_cap: float = 0.3
    twin_weight: float = 0.3
    age_weight: float = 0.25
    age_horizon_days: float = 365.0
    clock: Clock = "active"

    def __post_init__(self) -> None:
        """Check every parameter, so that no score can be anything but finite."""
        check_choice("clock", self.clock, CLOCKS)
        check_range(self, 0.0, 10.0, "size", "used_weight", "used_cap", "shown_weight", "shown_cap")
        check_range(self, 0.0, 10.0, "twin_weight", "age_weight")
        check_range(self, 1e-3, 1e6, "age_horizon_days")

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row; the parts say what each signal moved the score by, one after the other."""
        present = to_micros(now)
        signals = {
            "salience": _log_odds(columns.salience),
            "importance": fitted.IMPORTANCE * _log_odds(columns.importance),
            "use": self._use(columns),
            "distinctness": -self.twin_weight * unit(columns.similarity),
            "age": self._age(columns, now),
        }
        tokens = np.maximum(columns.tokens, 1).astype(np.float64)
        total = np.full(len(columns), fitted.BIAS)
        value = start = _valued(total, _MIDDLING, self.size)
        parts: dict[str, Floats] = {"base": start}
        for name, signal in signals.items():
            total = total + signal
            after = _valued(total, _MIDDLING, self.size)
            parts[name] = after - value
            value = after
        parts["size"] = _valued(total, tokens, self.size) - value
        return finished(parts, columns.expires_at <= present)

    def _use(self, columns: Columns) -> Floats:
        used = self.used_weight * np.log1p(np.maximum(columns.used_count, 0))
        shown = self.shown_weight * np.log1p(np.maximum(columns.access_count, 0))
        total: Floats = np.minimum(used, self.used_cap) + np.minimum(shown, self.shown_cap)
        return total

    def _age(self, columns: Columns, now: datetime) -> Floats:
        days = elapsed(columns, columns.created_at, now, self.clock)
        return np.where(
            ageing(columns), -self.age_weight * np.minimum(days / self.age_horizon_days, 1.0), 0.0
        )


def _log_odds(shares: Floats) -> Floats:
    kept = np.clip(unit(shares), _EDGE, 1 - _EDGE)
    return np.log(kept / (1 - kept))


def _valued(log_odds: Floats, tokens: Floats | float, size: float) -> Floats:
    """Put chance per size into 0..1, where the chance at `BIAS` and middling size gives one half."""
    chance = 1 / (1 + np.exp(-log_odds))
    usual = 1 / (1 + np.exp(-fitted.BIAS))
    density = chance / usual * (_MIDDLING / tokens) ** size
    value: Floats = density / (1 + density)
    return value
