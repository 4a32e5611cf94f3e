"""Signals that several models share, over columns."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from sfams.core.columns import Bools, Columns, Floats, Ints
from sfams.core.models.parameters import Clock
from sfams.core.moments import to_micros
from sfams.core.record import ages

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


def accesses(columns: Columns, use_weight: float) -> Floats:
    """Count accesses: a showing as 1, a confirmed use as `use_weight`."""
    shown = np.maximum(columns.access_count, 0).astype(np.float64)
    total: Floats = shown + use_weight * np.maximum(columns.used_count, 0)
    return total


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
