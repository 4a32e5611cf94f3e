"""Moments and durations as they enter and leave: aware UTC inside, microseconds in columns.

Accepted for a moment: an aware `datetime`, an ISO 8601 string with an offset ("Z" included), or
seconds since 1970 as a number. A naive value has no instant and is refused; a bare date is refused
too, except where a filter takes it as midnight UTC.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta

from sfams.errors import InvalidInputError

NEVER = 2**63 - 1
"""Column value of a moment that never comes (no expiry)."""
MISSING = -(2**63)
"""Column value of a moment that never was (not accessed yet)."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DATE_ONLY = re.compile(r"\d{4}-\d{2}-\d{2}")

MomentLike = datetime | str | int | float
DurationLike = timedelta | str | int | float


def parse_moment(value: MomentLike, *, field: str, date_only: bool = False) -> datetime:
    """Turn a caller's moment into an aware UTC `datetime`.

    Args:
        value: Aware datetime, ISO 8601 with offset, or seconds since 1970.
        field: Name of the field, for the error message.
        date_only: Take "2026-07-20" as midnight UTC (filters) instead of refusing it (records).

    Raises:
        InvalidInputError: Naive, unreadable, not finite or outside years 1 to 9999.
    """
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, str):
        moment = _parse_text(value, field, date_only=date_only)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        return _parse_seconds(value, field)
    else:
        message = f"{field}: expected a moment, got {type(value).__name__}"
        raise InvalidInputError(message, field=field)
    if moment.tzinfo is None or moment.utcoffset() is None:
        message = f"{field}: {value!s} has no time zone; add an offset such as Z or +08:00"
        raise InvalidInputError(message, field=field)
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        message = f"{field}: {value!s} lies outside the years 1 to 9999"
        raise InvalidInputError(message, field=field) from error


def _parse_text(value: str, field: str, *, date_only: bool) -> datetime:
    if _DATE_ONLY.fullmatch(value):
        if not date_only:
            message = f"{field}: {value} is a date without a time; write {value}T00:00:00Z"
            raise InvalidInputError(message, field=field)
        value += "T00:00:00Z"
    try:
        return datetime.fromisoformat(value)
    except ValueError as error:
        message = f"{field}: {value[:40]!r} is not an ISO 8601 moment such as 2026-06-06T00:00:00Z"
        raise InvalidInputError(message, field=field) from error


def _parse_seconds(value: float, field: str) -> datetime:
    try:
        if not math.isfinite(value):
            raise OverflowError
        return _EPOCH + timedelta(seconds=value)
    except OverflowError as error:
        message = f"{field}: {value} is not a number of seconds since 1970 (milliseconds?)"
        raise InvalidInputError(message, field=field) from error


def parse_duration(value: DurationLike, *, field: str) -> timedelta:
    """Turn a caller's duration (timedelta, seconds, or text such as "90s", "24h", "7d") into one.

    Raises:
        InvalidInputError: Zero, negative, not finite or unreadable. Zero is refused on purpose: it
            must never be mistaken for "no expiry".
    """
    try:
        if isinstance(value, str):
            match = _DURATION.fullmatch(value.strip().lower())
            if match is None:
                raise ValueError(value)
            duration = timedelta(**{_UNITS[match[2]]: float(match[1])})
        elif isinstance(value, timedelta):
            duration = value
        elif isinstance(value, bool) or not math.isfinite(value):
            raise ValueError(value)
        else:
            duration = timedelta(seconds=value)
    except (ValueError, TypeError, OverflowError) as error:
        message = f"{field}: {str(value)[:40]!r} is not a duration; use seconds, 90s, 24h, 7d or 4w"
        raise InvalidInputError(message, field=field) from error
    if duration <= timedelta(0):
        message = f"{field}: must be longer than zero, got {value}"
        raise InvalidInputError(message, field=field)
    return duration


def to_micros(moment: datetime) -> int:
    """Count microseconds since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(value: int) -> datetime:
    """Undo `to_micros`."""
    return _EPOCH + timedelta(microseconds=value)


def format_moment(moment: datetime) -> str:
    """Write a moment the way every face shows it: ISO 8601 in UTC, ending in Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def utc_day(moment: datetime) -> date:
    """Name the UTC day of a moment (the unit of the activity clock)."""
    return moment.astimezone(UTC).date()
