"""Signals that several models share, over columns, and how their parameters are checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Literal, TypeGuard, TypeVar

import numpy as np

from sfams.core.columns import Bools, Columns, Floats, Ints
from sfams.core.moments import to_micros
from sfams.core.record import JsonValue, ages
from sfams.errors import InvalidPolicyError

Model = TypeVar("Model")

Clock = Literal["wall", "active"]
"""By which days time passes: all of them, or only those on which something was said in the scope."""
CLOCKS = ("wall", "active")

DAY = 86_400_000_000  # microseconds
_HALF_SURE = 3.0
_EARLIEST = -62_135_596_800_000_000  # year 1: what lies before it is read as year 1


def days_since(moments: Ints, present: int) -> Floats:
    """Count the days from moments to the present; what lies in the future counts as now."""
    return (present - np.clip(moments, min(_EARLIEST, present), present)) / DAY


def elapsed(columns: Columns, moments: Ints, now: datetime, clock: Clock) -> Floats:
    """Count the days from moments to now, by the calendar or by the scope's active days alone."""
    if clock == "active":
        return columns.active_since(moments, now).astype(np.float64)
    return days_since(moments, to_micros(now))


def settled(columns: Columns, days: Floats, longest: float) -> Floats:
    """Let time stop after so many days for kinds that do not age; days are by row."""
    return np.where(ageing(columns), days, np.minimum(days, longest))


def confirmed(columns: Columns) -> Floats:
    """Give how surely a memory is of use, 0 to 1, from its confirmed uses: `u / (u + 3)`."""
    used = np.maximum(columns.used_count, 0).astype(np.float64)
    return used / (used + _HALF_SURE)


def last_touched(columns: Columns) -> Ints:
    """Give the last access or, if that is later or there was none, the creation."""
    return np.maximum(columns.last_accessed_at, columns.created_at)


def unit(values: Floats) -> Floats:
    """Cut to 0..1; what is no number is 0."""
    return np.clip(np.nan_to_num(values, nan=0.0), 0.0, 1.0)


def ageing(columns: Columns) -> Bools:
    """Tell which rows are of a kind that loses value by age alone."""
    names = [*(ages(kind) for kind in columns.kind_names), False]
    return np.array(names, np.bool_)[columns.kinds]


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is an int or float, a truth value not being one; NaN is."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check(name: str, value: object, *, low: float, high: float) -> None:
    """Refuse a parameter that is no number of a range."""
    if not is_number(value) or not low <= value <= high:
        message = f"{name}: must be a number in {low:g}..{high:g}, got {value!r}"
        raise InvalidPolicyError(message, field=name)


def check_range(model: object, low: float, high: float, *names: str) -> None:
    """Refuse parameters of a model that are no numbers of a range."""
    for name in names:
        check(name, getattr(model, name), low=low, high=high)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of a few words."""
    if value not in choices:
        message = f"{name}: {value!r} is not {' or '.join(choices)}"
        raise InvalidPolicyError(message, field=name)


def built(model: type[Model], name: str, parameters: Mapping[str, JsonValue]) -> Model:
    """Build a model that is a dataclass from parameters by name.

    Raises:
        InvalidPolicyError: It has no such parameter, or a value is out of range.
    """
    known = {each.name for each in fields(model)}  # type: ignore[arg-type]  # a dataclass, as said
    unknown = sorted(parameters.keys() - known)
    if unknown:
        message = f"model.{unknown[0][:40]}: unknown; {name} has {', '.join(sorted(known))}"
        raise InvalidPolicyError(message, field=f"model.{unknown[0][:40]}")
    checked: dict[str, Any] = dict(parameters)
    return model(**checked)
