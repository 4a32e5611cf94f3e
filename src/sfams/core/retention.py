"""Retention models: how much a memory is worth keeping, over columns, with the parts that say why.

A model gives every live record a value in 0..1 from what the store counted, without its text, and
every expired one -1. Scores depend on the record and on `now` alone, never on how often they are
computed, in which order, or beside which other records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeGuard

import numpy as np

from sfams.core.columns import Bools, Columns, Floats, Ints
from sfams.core.moments import to_micros
from sfams.core.record import JsonValue, ages
from sfams.errors import InvalidInputError, InvalidPolicyError

EXPIRED_SCORE = -1.0
"""The value of every expired record, below that of every live one."""

Recency = Literal["linear", "half_life"]
"""Shape of the recency signal: a straight line to zero, or half as much every so many days."""

_DAY = 86_400_000_000  # microseconds
_EARLIEST = -62_135_596_800_000_000  # year 1: what lies before it is read as year 1
_LONGEST_CURVE = 1_000  # steps


@dataclass(frozen=True, slots=True)
class Scores:
    """Retention scores of the rows of `Columns`; the parts of a row add up to its value (1e-9).

    A live value lies in 0..1, an expired one is -1. Where a model's sum left 0..1 a part "clamp"
    says by how much it was cut, and where a record has expired a part "expired" leads down to -1.
    """

    values: Floats
    parts: dict[str, Floats]


class RetentionModel(Protocol):
    """Scores records by what is known about them; larger is kept longer.

    Values must be finite and may not fall when a record is used more.
    """

    @property
    def name(self) -> str:
        """Name under which a saved policy finds the model again."""
        ...

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row at the moment `now`."""
        ...

    def parameters(self) -> dict[str, JsonValue]:
        """Everything that `model_from` needs to build the same model again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """`alpha*I + beta*F + gamma*R - delta*A`, cut to 0..1; each signal lies in 0..1.

    - I, the importance that was given or estimated.
    - F, frequency: `min(n / n_sat, 1)`, or `ln(1+n) / ln(1+n_sat)` (at most 1) with
      `log_frequency`, where n counts a showing as 1 and a confirmed use as `use_weight`. It can
      never be worth more than beta.
    - R, recency of the last access or, if that is later or there was none, of creation, d days ago:
      `max(0, 1 - d / recency_days)` when "linear", `0.5 ** (d / recency_days)` when "half_life".
    - A, age: `min(1, d / age_horizon_days)` for kinds that age (`sfams.core.record.ages`), else 0.

    Moments after `now` count as `now`. With `whole_days` a day that is not over does not count. The
    defaults are the plain default of this release: importance weighs most, recency halves every 30
    days, showings alone are worth at most 0.15, and half a year of age costs a twentieth.

    Raises:
        InvalidPolicyError: A weight is negative or not finite, the positive weights sum to more
            than 1, or a window, saturation or horizon is not above zero.
    """

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

    def __post_init__(self) -> None:
        """Check every parameter, so that no score can be anything but finite."""
        for name in ("alpha", "beta", "gamma", "delta"):
            _check(name, getattr(self, name), low=0.0, high=1.0)
        for name in ("recency_days", "n_sat", "age_horizon_days"):
            _check(name, getattr(self, name), low=1e-3, high=1e6)
        _check("use_weight", self.use_weight, low=0.0, high=1e6)
        if self.alpha + self.beta + self.gamma > 1.0 + 1e-9:
            message = "alpha + beta + gamma: must be 1 or less, so that scores lie in 0..1"
            raise InvalidPolicyError(message, field="alpha")
        if self.recency not in {"linear", "half_life"}:
            message = f"recency: {self.recency!r} is not linear or half_life"
            raise InvalidPolicyError(message, field="recency")
        for name in ("log_frequency", "whole_days"):
            if not isinstance(getattr(self, name), bool):
                message = f"{name}: must be true or false"
                raise InvalidPolicyError(message, field=name)

    @property
    def name(self) -> str:
        """The name in saved policies."""
        return "linear"

    def parameters(self) -> dict[str, JsonValue]:
        """All weights and windows by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row; see the class for the formula."""
        present = to_micros(now)
        last = np.maximum(columns.last_accessed_at, columns.created_at)
        parts = {
            "importance": self.alpha * _unit(columns.importance),
            "recency": self.gamma * self._recency(self._days(last, present)),
            "frequency": self.beta * self._frequency(columns),
        }
        if self.delta:
            age = np.minimum(self._days(columns.created_at, present) / self.age_horizon_days, 1.0)
            parts["age"] = -self.delta * np.where(_ages(columns), age, 0.0)
        return finished(parts, columns.expires_at <= present)

    def _days(self, moments: Ints, present: int) -> Floats:
        days = (present - np.clip(moments, min(_EARLIEST, present), present)) / _DAY
        return np.floor(days) if self.whole_days else days

    def _recency(self, days: Floats) -> Floats:
        spans = days / self.recency_days
        if self.recency == "linear":
            return np.maximum(0.0, 1.0 - spans)
        with np.errstate(under="ignore"):
            return np.exp2(-spans)

    def _frequency(self, columns: Columns) -> Floats:
        shown = np.maximum(columns.access_count, 0).astype(np.float64)
        n = shown + self.use_weight * np.maximum(columns.used_count, 0)
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


def model_from(name: str, parameters: Mapping[str, JsonValue]) -> RetentionModel:
    """Build the model of a saved policy; parameters that are not given keep their defaults.

    Raises:
        InvalidPolicyError: Unknown model, unknown parameter or a value out of range.
    """
    build = MODELS.get(name)
    if build is None:
        message = f"model: {name[:40]!r} is unknown; there is {', '.join(sorted(MODELS))}"
        raise InvalidPolicyError(message, field="model")
    return build(parameters)


def finished(parts: dict[str, Floats], expired: Bools) -> Scores:
    """Close a sum of parts: cut live rows to 0..1, put expired ones at -1, and account for both."""
    total = sum(parts.values(), np.zeros(len(expired)))
    values = np.clip(total, 0.0, 1.0)
    if not np.array_equal(values, total):
        parts = {**parts, "clamp": values - total}
    if expired.any():
        parts = {**parts, "expired": np.where(expired, EXPIRED_SCORE - values, 0.0)}
        values = np.where(expired, EXPIRED_SCORE, values)
    return Scores(values, parts)


@dataclass(frozen=True, slots=True)
class Curve:
    """How one record's score will run if nobody uses it: days from now, and the value on each."""

    days: Floats
    values: Floats


def curve(
    model: RetentionModel, row: Columns, now: datetime, *, horizon: timedelta, steps: int = 60
) -> Curve:
    """Draw the future of one record, left alone from `now` on.

    Args:
        model: The model in force.
        row: Columns of exactly one record.
        now: The present moment.
        horizon: How far to look ahead.
        steps: Into how many equal steps to cut the horizon, 1 to 1000; the curve has one point
        more.

    Raises:
        InvalidInputError: Not one row, steps out of range, or a horizon that is not above zero or
            ends after the year 9999.
    """
    if len(row) != 1:
        message = f"row: expected one record, got {len(row)}"
        raise InvalidInputError(message, field="row")
    if not 1 <= steps <= _LONGEST_CURVE:
        message = f"steps: must lie in 1..{_LONGEST_CURVE}, got {steps}"
        raise InvalidInputError(message, field="steps")
    try:
        end = now + horizon
    except OverflowError as error:
        message = "horizon: ends after the year 9999"
        raise InvalidInputError(message, field="horizon") from error
    if end <= now:
        message = "horizon: must be longer than zero"
        raise InvalidInputError(message, field="horizon")
    moments = [now + horizon * (step / steps) for step in range(steps + 1)]
    values = [float(model.score(row, moment).values[0]) for moment in moments]
    days = [(moment - now) / timedelta(days=1) for moment in moments]
    return Curve(np.array(days), np.array(values))


def _linear_from(parameters: Mapping[str, JsonValue]) -> RetentionModel:
    known = {each.name for each in fields(Linear)}
    unknown = sorted(parameters.keys() - known)
    if unknown:
        message = f"model.{unknown[0][:40]}: unknown; linear has {', '.join(sorted(known))}"
        raise InvalidPolicyError(message, field=f"model.{unknown[0][:40]}")
    checked: dict[str, Any] = dict(parameters)
    return Linear(**checked)


MODELS: dict[str, Callable[[Mapping[str, JsonValue]], RetentionModel]] = {"linear": _linear_from}
"""Builders of the models that a saved policy may name."""


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is an int or float, a truth value not being one; NaN is."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check(name: str, value: object, *, low: float, high: float) -> None:
    if not is_number(value) or not low <= value <= high:
        message = f"{name}: must be a number in {low:g}..{high:g}, got {value!r}"
        raise InvalidPolicyError(message, field=name)


def _unit(values: Floats) -> Floats:
    return np.clip(np.nan_to_num(values, nan=0.0), 0.0, 1.0)


def _ages(columns: Columns) -> Bools:
    aging = np.array([ages(kind) for kind in columns.kind_names], np.bool_)
    return aging[columns.kinds]
