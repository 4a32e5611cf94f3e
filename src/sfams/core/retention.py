"""Retention models: how much a memory is worth keeping, over columns, with the parts that say why.

A model gives every live record a value in 0..1 from what the store counted, without its text, and
every expired one -1. Scores depend on the record and on `now` alone, never on how often they are
computed, in which order, or beside which other records.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import numpy as np

from sfams.core.columns import Bools, Columns, Floats, Needs
from sfams.core.record import JsonValue
from sfams.errors import InvalidInputError

EXPIRED_SCORE = -1.0
"""The value of every expired record, below that of every live one."""

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

    @property
    def needs(self) -> Needs:
        """What it reads besides the plain columns; most need nothing more."""
        ...

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row at the moment `now`."""
        ...

    def parameters(self) -> dict[str, JsonValue]:
        """Everything that `model_from` needs to build the same model again."""
        ...


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
