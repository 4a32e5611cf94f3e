"""Moments as chat logs write them, read by an own small table: no guessing, no locale.

Read are ISO 8601, seconds, milliseconds or microseconds since 1970, and dates whose order is beyond
doubt, with or without a time: "2023/5/8 13:56", "1:56 pm on 8 May, 2023", "March-15-2024",
"2026年3月2日 下午1:56". 3/4/2026 is refused, since nobody can tell March from April.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM: Final = 1e11
_MICROSECONDS_FROM: Final = 1e14
_NOON: Final = 12
_LONGEST: Final = 100

_MONTHS: Final = "janfebmaraprmayjunjulaugsepoctnovdec"
_MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>\d{4})"
_DATES: Final = tuple(
    re.compile(rf"(?<![\w.-]){pattern}(?!\w)", re.IGNORECASE)
    for pattern in (
        rf"{_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
        rf"{_YEAR}\s?年\s?(?P<month>\d{{1,2}})\s?月\s?(?P<day>\d{{1,2}})\s?[日号]",
        rf"{_DAY}(?:\s+of)?[\s-]+{_MONTH},?[\s-]+{_YEAR}",
        rf"{_MONTH}[\s-]+{_DAY},?[\s-]+{_YEAR}",
    )
)
_TIME: Final = re.compile(
    r"(?<![\d:.])(?P<half>凌晨|早上|上午|中午|下午|晚上)?\s*"
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?:\s*(?P<ampm>[ap])\.?m\b\.?)?"
    r"(?:\s*(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})(?!\w))?(?![\d:])",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(
    r"\b(?:on|at|t|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)\b|(?:星期|周)[一二三四五六日天]|[,()|·]",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"-?\d{9,}(?:\.\d+)?")
_COMPACT: Final = re.compile(r"(?:19|20)\d{12}")
_ISO: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}(?:[T ]\d{2}.*)?", re.IGNORECASE)


def read_moment(value: object, zone: tzinfo, day: date | None = None) -> datetime | None:
    """Read a moment; None where there is none to read.

    The result is aware and keeps the offset that was written. A naive time and a bare date are
    taken in `zone`, a time without a date on `day`; without `day` it names no moment.

    Raises:
        ValueError: Unreadable, ambiguous or out of range; the message says what is expected.
    """
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _from_number(value)
    if not isinstance(value, str):
        # One error for all that cannot be read: the file is at fault, not the caller.
        raise ValueError(f"expected a date and time, got {type(value).__name__}")  # noqa: TRY004
    text = " ".join(unicodedata.normalize("NFKC", value).split())
    moment = _from_text(text, zone, day) if text else None
    if moment is not None:
        _check_range(moment)
    return moment


def find_day(text: str) -> tuple[date, str] | None:
    """Find a date in a heading; gives it with what is left of the heading."""
    for pattern in _DATES:
        if match := pattern.search(text):
            try:
                return _date(match), f"{text[: match.start()]} {text[match.end() :]}"
            except ValueError:
                return None
    return None


def _from_number(value: float) -> datetime:
    unit = 1.0
    if abs(value) > _MILLISECONDS_FROM:
        unit = 1e6 if abs(value) > _MICROSECONDS_FROM else 1e3
    try:
        return _EPOCH + timedelta(seconds=value / unit)
    except (OverflowError, ValueError) as error:  # ValueError for NaN
        raise ValueError("is not a number of seconds since 1970") from error


def _from_text(text: str, zone: tzinfo, day: date | None) -> datetime | None:
    if len(text) > _LONGEST:
        raise ValueError("is too long for a date and time")
    if _COMPACT.fullmatch(text):
        text = f"{text[:8]}T{text[8:]}"
    elif _NUMBER.fullmatch(text):
        return _from_number(float(text))
    if _ISO.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text)
            return moment if moment.tzinfo else moment.replace(tzinfo=zone)
        except ValueError:
            pass  # such as "2026-03-02 09:14 am"; the table decides
    return _from_table(text, zone, day)


def _from_table(text: str, zone: tzinfo, day: date | None) -> datetime | None:
    at, offset = time(), None
    clock = _TIME.search(text)
    if clock:
        at, offset = _time(clock), _offset(clock["zone"])
        text = f"{text[: clock.start()]} {text[clock.end() :]}"
    text = " ".join(_FILLER.sub(" ", text).split()).strip(" -–—")
    if not text and clock:
        return None if day is None else datetime.combine(day, at, offset or zone)
    for pattern in _DATES:
        if match := pattern.fullmatch(text):
            return datetime.combine(_date(match), at, offset or zone)
    raise ValueError("is not a date and time; write it as 2026-03-02T09:14:00Z")


def _date(match: re.Match[str]) -> date:
    name = match["month"].lower()
    month = int(name) if name.isdecimal() else _MONTHS.index(name[:3]) // 3 + 1
    return date(int(match["year"]), month, int(match["day"]))


def _time(match: re.Match[str]) -> time:
    hour = int(match["hour"])
    half = match["half"] or ""
    if match["ampm"]:
        if not 1 <= hour <= _NOON:
            raise ValueError("hour must be in 1..12 beside am or pm")
        hour = hour % _NOON + (_NOON if match["ampm"].lower() == "p" else 0)
    elif half in {"下午", "晚上"} and hour < _NOON:
        hour += _NOON
    micros = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    return time(hour, int(match["minute"]), int(match["second"] or 0), micros)


def _offset(text: str | None) -> tzinfo | None:
    if text is None:
        return None
    if text[0] not in "+-":
        return UTC
    sign = -1 if text[0] == "-" else 1
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(sign * timedelta(minutes=minutes))


def _check_range(moment: datetime) -> None:
    try:
        moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("lies outside the years 1 to 9999") from error
