"""Times of day as people write them: one, or a range of two, with or without a zone beside them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from typing import Final, TypeVar

from sfams.core import date_words as words

Given = TypeVar("Given")
Made = TypeVar("Made")


def tried(make: Callable[[Given, datetime], Made], given: Given, here: datetime) -> list[Made]:
    """Make one value, or none where a number is no day, hour or moment ("31 February")."""
    try:
        return [make(given, here)]
    except (ValueError, OverflowError):
        return []


def read_each(
    pattern: re.Pattern[str],
    make: Callable[[re.Match[str], datetime], Made],
    text: str,
    here: datetime,
) -> list[Made]:
    """Make a value of each match that is one."""
    return [made for match in pattern.finditer(text) for made in tried(make, match, here)]


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, or a range of them; `zone` is one that stands beside it."""

    start: int
    end: int
    at: time
    until: time | None = None
    zone: tzinfo | None = None


@dataclass(frozen=True, slots=True)
class _Hand:
    """One time as it is written: hours may still lack their half of the day."""

    start: int
    end: int
    hour: int
    minute: int
    half: str = ""


def _hand(match: re.Match[str], _: datetime) -> _Hand:
    if match["word"] is not None:
        return _Hand(*match.span(), 12 if match["word"].lower() == "noon" else 0, 0, "fixed")
    if _is_a_bit(match):
        raise ValueError(match[0])
    hour = int(words.number(match["hour"] or match["hour2"] or match["zhour"]))
    minute = match["minute"] or match["zminute"] or "0"
    half = (match["half"] or match["half2"] or _PARTS.get(match["part"] or "", "")).lower()
    return _Hand(*match.span(), hour, _minutes(minute.removesuffix("分")), half)


def _is_a_bit(match: re.Match[str]) -> bool:
    """Tell 一点 "a bit" and 两点 "two points" from hours: these say more, or stand beside a day."""
    hour, minute, part = match["zhour"], match["zminute"], match["part"]
    if hour is None or hour[0].isdigit() or minute or part or match[0].endswith("钟"):
        return False
    return _BEFORE_HOUR.search(match.string, 0, match.start()) is None


_BEFORE_HOUR = re.compile(r"(?:[天日号晚早到至]|(?:周|星期|礼拜)[一二三四五六])$")


def _minutes(text: str) -> int:
    return {"半": 30, "一刻": 15, "三刻": 45}.get(text) or int(words.number(text))


_PARTS: Final = {
    **dict.fromkeys(("凌晨", "清晨", "早上", "早晨", "上午", "早"), "a"),
    **dict.fromkeys(("下午", "傍晚", "晚上", "晚"), "p"),
    "中午": "noon",
}


def clocks_of(text: str) -> list[Clock]:
    """Read times and join two to a range where a word or dash says so."""
    hands: list[_Hand] = read_each(words.CLOCK, _hand, text, _ANY)
    clocks: list[Clock] = []
    while hands:
        first = hands.pop(0)
        second = None
        if hands and words.TO.fullmatch(text, first.end, hands[0].start):
            second = hands.pop(0)
        elif (
            bare := words.BARE.search(text, max(0, first.start - 12), first.start)
        ) and first.half:
            start = _Hand(*bare.span(), int(bare["hour"]), int(bare["minute"] or 0))
            first, second = start, first
        clocks += tried(lambda pair, _: _clock(*pair, text), (first, second), _ANY)
    return clocks


_ANY: Final = datetime(2000, 1, 1, tzinfo=UTC)


def _clock(first: _Hand, second: _Hand | None, text: str) -> Clock:
    end = (second or first).end
    zone = words.ZONE.match(text, end)
    before = text.endswith("北京时间", 0, first.start) if zone is None else False
    where = timezone(timedelta(hours=8)) if before else None if zone is None else _named_zone(zone)
    if second is None:
        return Clock(first.start, end, _time(first, first.half), None, where)
    late = _time(second, second.half or _inherited(first, second))
    early = _time(first, first.half or _opening(first, second))
    return Clock(first.start, end, early, late, where)


def _inherited(first: _Hand, second: _Hand) -> str:
    """下午3点到4点: the end is in the same half of the day, or in the next (11点到1点)."""
    if first.half == "a" and second.hour < first.hour:
        return "p"
    return first.half if first.half in {"a", "p"} else ""


def _opening(first: _Hand, second: _Hand) -> str:
    """3-4pm begins in the afternoon, 11-1pm in the morning."""
    if second.half == "p" and first.hour % 12 > second.hour % 12:
        return "a"
    return second.half if second.half in {"a", "p"} and first.hour <= 12 else ""  # noqa: PLR2004


def _time(hand: _Hand, half: str) -> time:
    hour = hand.hour
    if half == "p" and hour < 12:  # noqa: PLR2004
        hour += 12
    elif half == "a" and hour == 12:  # noqa: PLR2004
        hour = 0
    elif half == "noon" and hour < 6:  # noqa: PLR2004  # 中午1点
        hour += 12
    return time(0 if hour == 24 else hour, hand.minute)  # noqa: PLR2004


def _named_zone(match: re.Match[str]) -> tzinfo:
    hours = words.ZONES[match["name"].lower()]
    offset = match["offset"] or "+0"
    whole, _, minutes = offset[1:].partition(":")
    if len(whole) > 2:  # noqa: PLR2004  # +0530
        whole, minutes = whole[:-2], whole[-2:]
    span = timedelta(hours=int(whole), minutes=int(minutes or 0))
    return timezone(timedelta(hours=hours) + (-span if offset[0] == "-" else span))
