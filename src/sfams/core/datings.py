"""Dates and times as people write them, English and Chinese, in one form each.

`2026-09-30`, "30 September 2026" and 2026年9月30日 are the date `2026-09-30`; what is not said is a
dash: "30 September" is `-09-30`, "in May" `-05`. A day of the week is `wed`, "next Friday" and
下周五 `next fri`, a time of day `15:30`; "tomorrow" and 明天 are `tomorrow`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sfams.core.numerals import chinese_value
from sfams.core.spans import Commitment, CommitmentType, has_cjk, take

__all__ = ["covers", "dates_of", "is_relative"]

_MONTH_NAMES: Final = """
january february march april may june july august september october november december
"""
_MONTHS: Final = _MONTH_NAMES.split()
_SHORT: Final = {month[:3]: n for n, month in enumerate(_MONTHS, 1)} | {"sept": 9}
_LONG: Final = {month: n for n, month in enumerate(_MONTHS, 1)}
_FULL_NAMES = "|".join(_MONTHS)
_ANY_NAME = rf"(?:{_FULL_NAMES}|(?:sept|{'|'.join(m[:3] for m in _MONTHS)})\b\.?)"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_ORDINAL = rf"(?P<day>{_DAY})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_ZH = "零〇一二两三四五六七八九十"

_ISO = re.compile(
    rf"(?<![\d.])(?P<year>(?:19|20)\d\d)([-/.])(?P<month>1[0-2]|0?[1-9])(?:\2(?P<day>{_DAY}))?(?![\d])(?!\.\d)"
)
_DOTTED = re.compile(rf"(?<![\d.])(?P<day>{_DAY})\.(?P<month>1[0-2]|0?[1-9])\.{_YEAR}(?![\d])")
_DAY_MONTH = re.compile(
    rf"(?<![\w.]){_ORDINAL}(?: of)?[ -](?P<month>{_ANY_NAME})(?:,?[ -]{_YEAR})?(?!\w)",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"(?<!\w)(?P<month>{_ANY_NAME}) (?:the )?{_ORDINAL}(?![\d:])(?!(?:,\d{{3}})|\.\d)"
    rf"(?: ?(?:am|pm)\b)?(?:,? {_YEAR})?(?!\w)",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(
    rf"(?<!\w)(?P<month>{_ANY_NAME})(?: of)?,? (?P<day>)?{_YEAR}(?!\w)", re.IGNORECASE
)
_MONTH = re.compile(
    r"(?<!\w)(?P<year>)?(?P<day>)?(?:(?i:in|by|since|until|till|last|next|this|early|late|mid|"
    r"from|before|after|during|of|for|to|end of)[ -])?"
    rf"(?P<month>{'|'.join(m.capitalize() for m in _MONTHS)})(?!\w)"
)
_ZH_DATE = re.compile(
    rf"(?P<year>(?:19|20)\d\d|[〇零一二三四五六七八九]{{4}})年(?!前|后|来|间)(?:(?P<month>1[0-2]|0?[1-9]|[{_ZH}]{{1,2}})月(?:份|(?P<day>{_DAY}|[{_ZH}]{{1,3}})[日号])?)?"
)
_ZH_DAY = re.compile(
    rf"(?P<year>)?(?P<month>(?<!\d)(?:1[0-2]|0?[1-9])|(?<![{_ZH}])[{_ZH}]{{1,2}})月(?:份|(?P<day>{_DAY}|[{_ZH}]{{1,3}})[日号]|(?!\d))"
)
_ZH_ONLY_DAY = re.compile(
    rf"(?P<year>)?(?P<month>)?(?<![\d{_ZH}第])(?P<day>{_DAY}|[{_ZH}]{{1,3}})[日号](?![码线楼召])"
)
_LONE_YEAR = re.compile(
    r"(?<![\w.,$€£¥-])(?P<year>(?:19|20)\d\d)(?P<month>)?(?P<day>)?"
    r"(?![\w%:-]|[.,]\d| ?(?:km|kg|euro|dollars|yuan|people))"
)

_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"(?<!\w)(?:(?P<which>last|next|this|coming)[ ])?"
    r"(?:(?P<day>mon|tues|wednes|thurs|fri|satur|sun)days?|(?P<short>(?-i:Mon|Tue|Tues|Wed|Thu|Thurs|Fri|Sat|Sun))\b\.?)(?!\w)",
    re.IGNORECASE,
)
_ZH_WEEKDAY = re.compile(
    r"(?P<which>下下|上上|下|上|这|本)?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天](?![点个]))"
)
_WHICH: Final = {
    "last": "last",
    "next": "next",
    "coming": "next",
    "下": "next",
    "上": "last",
    "下下": "second next",
    "上上": "second last",
}

_TIME = re.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])(?::(?P<minute>[0-5]\d)(?::[0-5]\d)?)?"
    r"(?: ?(?P<half>[ap]\.?m)\b\.?)?(?P<clock> ?o'clock)?(?![\d:])",
    re.IGNORECASE,
)
_NOON = re.compile(r"(?<!\w)(?P<word>noon|midnight)(?!\w)", re.IGNORECASE)
_ZH_TIME = re.compile(
    rf"(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|今晚|明早|今早|明晚|昨晚)?"
    rf"(?P<hour>2[0-4]|1\d|\d|[{_ZH}]{{1,3}})(?:点|时(?!候|间|常))"
    rf"(?P<rest>半|一刻|三刻|钟|整|(?:[0-5]?\d|[{_ZH}]{{1,3}})分)?"
)

_RELATIVE_WORDS: Final = """
today=today 今天 今日
tonight=tonight 今晚
tomorrow=tomorrow tmrw 明天 明日
yesterday=yesterday 昨天 昨日
day after tomorrow=the-day-after-tomorrow day-after-tomorrow 后天
day before yesterday=the-day-before-yesterday day-before-yesterday 前天
last night=last-night 昨晚 昨夜
tomorrow night=tomorrow-night 明晚
tomorrow morning=tomorrow-morning 明早
last week=last-week 上周 上星期 上个星期 上礼拜
this week=this-week 本周 这周 这个星期 这星期
next week=next-week 下周 下星期 下个星期 下礼拜
last weekend=last-weekend 上周末
this weekend=this-weekend 这周末 本周末
next weekend=next-weekend 下周末
last month=last-month 上个月 上月
this month=this-month 本月 这个月
next month=next-month 下个月 下月
last year=last-year 去年
this year=this-year 今年
next year=next-year 明年
year before last=the-year-before-last 前年
"""
_RELATIVE: Final = {
    name.replace("-", " "): row.partition("=")[0]
    for row in _RELATIVE_WORDS.split("\n")
    if row
    for name in row.partition("=")[2].split()
}
_LATIN = "|".join(sorted((n for n in _RELATIVE if n.isascii()), key=len, reverse=True))
_DENSE = "|".join(sorted((n for n in _RELATIVE if not n.isascii()), key=len, reverse=True))
_RELATED = re.compile(rf"(?<!\w)(?:{_LATIN})(?!\w)|{_DENSE}", re.IGNORECASE)


def dates_of(text: str) -> tuple[list[Commitment], str]:
    """Find the dates and times of a plain text; returns them and the text without them."""
    found: list[Commitment] = []
    dense = has_cjk(text)
    figures = any(map(str.isdecimal, text))
    for pattern, make, needs in _READERS:
        if (dense or needs is not _DENSE_TEXT) and (figures or needs is not _FIGURES):
            some, text = take(text, pattern, make)
            found += some
    return found, text


def covers(said: str, wanted: str) -> bool:
    """Tell whether a date says another one: it is the same, or the same and more precise."""
    if said == wanted:
        return True
    ours, theirs = _parts(said), _parts(wanted)
    if not ours or not theirs:
        return False
    return all(want in ("", have) for have, want in zip(ours, theirs, strict=True))


def is_relative(value: str) -> bool:
    """Tell whether a date says nothing without the day on which it was said."""
    return value in _ANCHORED or value in _WEEKDAYS or " " in value


_ANCHORED = frozenset(_RELATIVE.values())
_PARTED = re.compile(r"(\d{4})?(?:-(\d\d)?(?:-(\d\d))?)?")


def _parts(value: str) -> tuple[str, str, str] | None:
    found = _PARTED.fullmatch(value)
    return None if found is None else (found[1] or "", found[2] or "", found[3] or "")


def _from_date(found: re.Match[str]) -> Commitment | None:
    year, month, day = (_figure(found[part]) for part in ("year", "month", "day"))
    if month > _LAST_MONTH or day > _LAST_DAY:
        return None
    value = f"{year:04}" if year else ""
    if month or day:
        value += f"-{month:02}" if month else "-"
        value += f"-{day:02}" if day else ""
    return _date(value, found) if value else None


def _figure(said: str | None) -> int:
    if not said:
        return 0
    if said.isdecimal():
        return int(said)
    if said[0].isascii():
        name = said.lower().rstrip(".")
        return _LONG.get(name) or _SHORT[name]
    return int(chinese_value(said) or 99)


def _from_month(found: re.Match[str]) -> Commitment | None:
    """Take a lone month; "May I" and "March on" without a preposition are verbs."""
    if found["month"] in {"May", "March"} and found[0] == found["month"]:
        return None
    return _from_date(found)


def _from_weekday(found: re.Match[str]) -> Commitment:
    groups = found.groupdict()
    said = groups["day"] or groups["short"]
    day = said[:3].lower() if said.isascii() else _WEEKDAYS[min("一二三四五六日天".index(said), 6)]
    which = _WHICH.get((found["which"] or "").lower(), "")
    return _date(f"{which} {day}".strip(), found)


def _from_time(found: re.Match[str]) -> Commitment | None:
    if not (found["minute"] or found["half"] or found["clock"]):
        return None
    hour = int(found["hour"])
    half = (found["half"] or "").lower().replace(".", "")
    if half == "pm" and hour < _NOON_HOUR:
        hour += 12
    if half == "am" and hour == _NOON_HOUR:
        hour = 0
    return _date(f"{hour:02}:{found['minute'] or '00'}", found)


def _from_noon(found: re.Match[str]) -> Commitment:
    return _date("12:00" if found["word"].lower() == "noon" else "00:00", found)


_AFTERNOON: Final = frozenset({"下午", "傍晚", "晚上", "夜里", "今晚", "明晚", "昨晚"})
_NOON_HOUR: Final = 12
_LAST_MONTH: Final = 12
_LAST_DAY: Final = 31


def _from_chinese_time(found: re.Match[str]) -> Commitment | None:
    if not (found["part"] or found["rest"]):
        return None  # 三点建议: three points, not three o'clock
    hour = _figure(found["hour"])
    if found["part"] in _AFTERNOON and hour < _NOON_HOUR:
        hour += 12
    rest = found["rest"] or ""
    minute = {"半": 30, "一刻": 15, "三刻": 45}.get(
        rest, _figure(rest[:-1]) if rest.endswith("分") else 0
    )
    return _date(f"{hour:02}:{minute:02}", found)


def _from_relative(found: re.Match[str]) -> Commitment:
    return _date(_RELATIVE[found[0].lower()], found)


def _date(value: str, found: re.Match[str]) -> Commitment:
    return Commitment(CommitmentType.DATE, value, " ".join(found[0].split()))


_FIGURES: Final = "figures"
_DENSE_TEXT: Final = "dense"
_READERS: Final[tuple[tuple[re.Pattern[str], Callable[..., Commitment | None], str], ...]] = (
    (_ISO, _from_date, _FIGURES),
    (_DOTTED, _from_date, _FIGURES),
    (_DAY_MONTH, _from_date, _FIGURES),
    (_MONTH_DAY, _from_date, _FIGURES),
    (_MONTH_YEAR, _from_date, _FIGURES),
    (_ZH_DATE, _from_date, _DENSE_TEXT),
    (_ZH_DAY, _from_date, _DENSE_TEXT),
    (_ZH_ONLY_DAY, _from_date, _DENSE_TEXT),
    (_ZH_WEEKDAY, _from_weekday, _DENSE_TEXT),
    (_WEEKDAY, _from_weekday, ""),
    (_ZH_TIME, _from_chinese_time, _DENSE_TEXT),
    (_TIME, _from_time, _FIGURES),
    (_NOON, _from_noon, ""),
    (_MONTH, _from_month, ""),
    (_LONE_YEAR, _from_date, _FIGURES),
    (_RELATED, _from_relative, ""),
)
"""What is looked for, in turn, and what a text must have for it to be worth looking."""
