"""Days and times as people write them, in English and Chinese, read against the moment they were said.

A small reader of the common forms instead of a library: dateparser costs 7 MB and 0.2 s of import and
misses 明天下午三点 and 下周二. Precision comes before recall: "5/4" and "at three" say nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, TypeVar

from sfams.core import date_words as words
from sfams.core.clocks import Clock, clocks_of, read_each, tried
from sfams.core.seen import seen

_MOST_READ: Final = 4_000
_NEAR: Final = 14
"""Characters that may stand between a day and its time."""


@dataclass(frozen=True, slots=True)
class When:
    """A moment that a text names at `start`..`end`, aware UTC.

    `exact` tells whether a time of day was named; else `at` is the day's midnight where it was said.
    `until` is the end of a range of times.
    """

    start: int
    end: int
    at: datetime
    exact: bool
    until: datetime | None = None


def find_dates(text: str, said_at: datetime, zone: tzinfo = UTC) -> tuple[When, ...]:
    """Read the days and times that a text names, in order; what cannot be a moment is left out.

    Days without a year are in this one (around New Year's, in the nearer), weekdays are the coming ones
    ("next Friday" and 下周五 those of the week after this one), times without a day the next such times.

    Args:
        text: Any text; the first 4,000 characters are read.
        said_at: When it was said, aware.
        zone: Where; a zone named beside a time ("15:00 UTC+8", 北京时间) goes before it.
    """
    plain = seen(text[:_MOST_READ])
    if not words.WORTH.search(plain.text):
        return ()
    here = said_at.astimezone(zone)
    found = _read(plain.text, here)
    return tuple(
        When(*plain.span(each.start, each.end), each.at, each.exact, each.until) for each in found
    )


def end_of_day(when: When, zone: tzinfo) -> datetime:
    """Give the midnight that ends the day of a moment, where it was said."""
    day = when.at.astimezone(zone).date() + timedelta(days=1)
    return datetime.combine(day, time(), zone).astimezone(UTC)


def read_span(text: str) -> timedelta | None:
    """Read the first length of time: "45 minutes", "1.5 hours", 半小时, 10分钟."""
    match = words.SPAN.search(seen(text[:_MOST_READ]).text)
    if match is None:
        return None
    return words.number(match["count"]) * words.unit(match["unit"])


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Day:
    """A day that is named, and whether its word says evening (今晚, tonight)."""

    start: int
    end: int
    day: date
    evening: bool = False


def _read(text: str, here: datetime) -> list[When]:
    """Read everything, and pair days with the times that stand beside them."""
    lower = text.lower()
    found: list[When] = []
    if _DATE_SHAPE.search(text):
        found += read_each(words.ISO, _moment, text, here)
    if any(map(lower.__contains__, _AWAY_WORDS)):
        found += read_each(words.AWAY, _away, text, here)
    looks: list[_Day] = []
    for gate, pattern, make in _DAYS:
        if any(map(lower.__contains__, gate)):
            looks += read_each(pattern, make, text, here)
    clocks = clocks_of(text) if _CLOCK_SHAPE.search(lower) else []
    for day in _apart(looks):
        clock = next((each for each in clocks if _beside(text, day, each)), None)
        if clock is not None:
            clocks.remove(clock)
        found += tried(lambda pair, _: _when(*pair, here), (day, clock), here)
    for alone in clocks:
        found += tried(_coming, alone, here)
    return _apart(found)


Spot = TypeVar("Spot", When, _Day)


def _apart(found: list[Spot]) -> list[Spot]:
    """Keep the first and longest of what overlaps."""
    kept: list[Spot] = []
    for each in sorted(found, key=lambda spot: (spot.start, -spot.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _moment(match: re.Match[str], _: datetime) -> When:
    return When(*match.span(), datetime.fromisoformat(match[0]).astimezone(UTC), exact=True)


def _away(match: re.Match[str], here: datetime) -> When:
    """Read "in two hours", "3 days ago", 三天后; a length of time alone is no moment."""
    side = (match["side"] or "").strip().lower()
    if not side and not match["ahead"]:
        raise ValueError(match[0])
    span = words.number(match["count"]) * words.unit(match["unit"])
    at = here - span if side in {"ago", "前", "之前"} else here + span
    exact = span % timedelta(days=1) != timedelta()
    if not exact:
        at = datetime.combine(at.date(), time(), here.tzinfo)
    return When(*match.span(), at.astimezone(UTC), exact)


def _full_date(match: re.Match[str], _: datetime) -> _Day:
    return _Day(*match.span(), date(int(match["year"]), int(match["month"]), int(match["day"])))


def _chinese_date(match: re.Match[str], here: datetime) -> _Day:
    month, day = int(words.number(match["month"])), int(words.number(match["day"]))
    return _Day(*match.span(), _dated(match["year"], month, day, here))


def _english_date(match: re.Match[str], here: datetime) -> _Day:
    if "may" in (match["month"], match["month2"]):  # the verb
        raise ValueError(match[0])
    month = words.MONTHS.index((match["month"] or match["month2"])[:3].lower()) + 1
    return _Day(
        *match.span(), _dated(match["year"], month, int(match["first"] or match["last"]), here)
    )


def _dated(year: str | None, month: int, day: int, here: datetime) -> date:
    """Take the year that is named, else this one; around New Year's the one that brings the day nearer."""
    if year is not None:
        return date(int(year), month, day)
    ahead = (date(here.year, month, day) - here.date()).days
    return date(here.year + (ahead < -_NINE_MONTHS) - (ahead > _NINE_MONTHS), month, day)


_NINE_MONTHS: Final = 270


def _near_day(match: re.Match[str], here: datetime) -> _Day:
    word = match[0].lower()
    evening = word.endswith(("晚", "night"))
    return _Day(*match.span(), here.date() + timedelta(days=words.SOON[word]), evening)


def _weekday(match: re.Match[str], here: datetime) -> _Day:
    """Read a weekday: of this week, the last or the next where that is said, else the coming one."""
    if match["day"] is not None:
        number, which = (
            words.WEEKDAYS.index(match["day"][:3].lower()),
            (match["which"] or "").lower(),
        )
    else:
        number, which = "一二三四五六日天".index(match["day2"]) % 7, match["which2"] or ""
        number = 6 if match["day2"] == "天" else number
    today = here.date()
    weeks = _WEEKS.get(which)
    if weeks is None:
        return _Day(*match.span(), today + timedelta(days=(number - today.weekday()) % 7))
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=weeks)
    return _Day(*match.span(), monday + timedelta(days=number))


_WEEKS: Final = {
    "next": 1,
    "this": 0,
    "last": -1,
    "下下": 2,
    "下": 1,
    "本": 0,
    "这": 0,
    "上": -1,
}
# What a text must have, in lower case, for a pattern to be worth searching: most have none of it.
_AWAY_WORDS: Final = (" ago", "from now", "in ", "后", "前")
_DATE_SHAPE = re.compile(r"\d{4}-\d\d-\d")
_CLOCK_SHAPE = re.compile(
    r"\d(?:[:：]\d|点|时| ?[ap]\.?m)|[一二两三四五六七八九十](?:点|时)|noon|midnight"
)
_DAYS: Final[tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[..., _Day]], ...]] = (
    (("19", "20"), words.DATE, _full_date),
    (("月",), words.CHINESE_DATE, _chinese_date),
    (words.MONTHS, words.ENGLISH_DATE, _english_date),
    (
        ("today", "tonight", "tomorrow", "yesterday", "今", "明", "天", "日", "晚"),
        words.NEAR_DAY,
        _near_day,
    ),
    (("day", "周", "星期", "礼拜"), words.WEEKDAY, _weekday),
)


# ── Days with times ──────────────────────────────────────────────────────────────────────────────


def _beside(text: str, day: _Day, clock: Clock) -> bool:
    first, last = (day.end, clock.start) if day.end <= clock.start else (clock.end, day.start)
    return first <= last <= first + _NEAR and words.BETWEEN.fullmatch(text, first, last) is not None


def _when(day: _Day, clock: Clock | None, here: datetime) -> When:
    if clock is None:
        at = datetime.combine(day.day, time(), here.tzinfo)
        return When(day.start, day.end, at.astimezone(UTC), exact=False)
    start, end = min(day.start, clock.start), max(day.end, clock.end)
    return _placed(start, end, day.day, _evening(clock) if day.evening else clock, here)


def _evening(clock: Clock) -> Clock:
    """今晚8点 is 20:00."""
    if clock.at.hour >= 12:  # noqa: PLR2004
        return clock
    later = [
        None if each is None else each.replace(hour=(each.hour + 12) % 24)
        for each in (clock.at, clock.until)
    ]
    return replace(clock, at=later[0] or clock.at, until=later[1])


def _placed(start: int, end: int, day: date, clock: Clock, here: datetime) -> When:
    zone = clock.zone or here.tzinfo
    at = datetime.combine(day, clock.at, zone).astimezone(UTC)
    until = None
    if clock.until is not None:
        until = datetime.combine(day, clock.until, zone).astimezone(UTC)
        until += timedelta(days=until <= at)
    return When(start, end, at, exact=True, until=until)


def _coming(clock: Clock, here: datetime) -> When:
    """Place a time without a day: today if it lies ahead, else tomorrow."""
    day = here.astimezone(clock.zone or here.tzinfo).date()
    when = _placed(clock.start, clock.end, day, clock, here)
    if when.at < here.astimezone(UTC):
        when = _placed(clock.start, clock.end, day + timedelta(days=1), clock, here)
    return when
