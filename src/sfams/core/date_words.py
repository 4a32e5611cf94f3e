"""The words and forms in which days and times are written, English and Chinese: the tables of `dates`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

# ── Words ────────────────────────────────────────────────────────────────────────────────────────

_DIGITS: Final = {each: at for at, each in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_ENGLISH: Final = {
    name: at
    for at, name in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
} | {"a": 1, "an": 1}
MONTHS: Final = (
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
)
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SOON: Final = {
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "day after tomorrow": 2,
    "yesterday": -1,
    "今天": 0,
    "今日": 0,
    "今晚": 0,
    "今早": 0,
    "明天": 1,
    "明日": 1,
    "明晚": 1,
    "明早": 1,
    "后天": 2,
    "大后天": 3,
    "昨天": -1,
    "昨晚": -1,
    "前天": -2,
}
ZONES: Final = {
    "utc": 0,
    "gmt": 0,
    "z": 0,
    "pst": -8,
    "pdt": -7,
    "mst": -7,
    "mdt": -6,
    "est": -5,
    "edt": -4,
    "cet": 1,
    "cest": 2,
    "eet": 2,
    "eest": 3,
    "bst": 1,
    "jst": 9,
    "kst": 9,
    "北京时间": 8,
}


def number(text: str) -> float:
    """Read a count in digits, or in words up to 99."""
    if text == "半":
        return 0.5
    if text.lower() in _ENGLISH:
        return _ENGLISH[text.lower()]
    if text[0].isdigit():
        return float(text)
    if "十" not in text:
        return _DIGITS[text]
    tens, _, ones = text.partition("十")
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)


def unit(name: str) -> timedelta:
    """Read a unit of time."""
    for prefix, span in _UNITS:
        if name.lower().lstrip("个").startswith(prefix):
            return span
    raise ValueError(name)  # pragma: no cover  # the patterns let no other unit through


_UNITS: Final = (
    ("min", timedelta(minutes=1)),
    ("分", timedelta(minutes=1)),
    ("h", timedelta(hours=1)),
    ("小时", timedelta(hours=1)),
    ("钟头", timedelta(hours=1)),
    ("sec", timedelta(seconds=1)),
    ("秒", timedelta(seconds=1)),
    ("d", timedelta(days=1)),
    ("天", timedelta(days=1)),
    ("日", timedelta(days=1)),
    ("w", timedelta(weeks=1)),
    ("周", timedelta(weeks=1)),
    ("星期", timedelta(weeks=1)),
)

# ── Patterns ─────────────────────────────────────────────────────────────────────────────────────

FLAGS: Final = re.IGNORECASE | re.ASCII
"""ASCII: a Latin word also ends where a Chinese character begins."""
_COUNT: Final = (
    r"\d{1,3}(?:\.\d)?|(?:an?|one|two|three|four|five|six|seven|eight|nine|ten)(?= )|"
    r"[二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九半]"
)
_SMALL_UNIT: Final = r"min(?:ute)?s?\b|h(?:ou)?rs?\b|分钟|个?小时|个钟头"
SPAN = re.compile(
    f"(?P<count>{_COUNT})[ -]?(?P<unit>{_SMALL_UNIT}|sec(?:ond)?s?\\b|h\\b|秒)", FLAGS
)
_MONTH: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR: Final = r"(?:19|20)\d\d"

ISO = re.compile(
    r"(?<!\d)\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z\b|[+-]\d\d:\d\d)|"
    r" \d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z\b|\+\d\d:\d\d))"
)
AWAY = re.compile(
    f"(?P<ahead>\\bin )?(?<![\\w.])(?P<count>{_COUNT}) ?"
    f"(?P<unit>{_SMALL_UNIT}|days?\\b|weeks?\\b|天|个?星期|周)"
    r"(?P<side> ago\b| from now\b|之?后|以后|之?前)?",
    FLAGS,
)
DATE = re.compile(
    rf"(?<![\d./-])(?P<year>{_YEAR})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})(?![\d/-]|\.\d)"
)
CHINESE_DATE = re.compile(
    rf"(?:(?P<year>{_YEAR})年)?(?P<month>\d{{1,2}}|十[一二]?|[一二三四五六七八九])月"
    r"(?P<day>\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]"
)
ENGLISH_DATE = re.compile(
    rf"\b(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})|"
    rf"(?P<month2>{_MONTH})\.? (?P<last>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]))\b(?:,? (?P<year>{_YEAR})\b)?",
    FLAGS,
)
NEAR_DAY = re.compile(
    r"\b(?:day after tomorrow|tomorrow|today|tonight|yesterday)\b|"
    r"大后天|今天|今日|今晚|今早|明天|明日|明晚|明早|后天|昨天|昨晚|前天",
    FLAGS,
)
WEEKDAY = re.compile(
    r"\b(?:(?P<which>next|this|last) )?(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|"
    r"(?P<which2>下下|下|本|这|上)?个?(?:周|星期|礼拜)(?P<day2>[一二三四五六日天])(?![一二三四五六七八九十])",
    FLAGS,
)
CLOCK = re.compile(
    r"(?P<part>凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|(?<![今明昨])[晚早])?的?(?:"
    r"(?P<zhour>\d{1,2}|二十[一二三]?|十[一二三四五六七八九]?|[一二两三四五六七八九])(?:点钟?|时)"
    r"(?P<zminute>半|一刻|三刻|(?:[0-5]?\d|[二三四五]?十[一二三四五六七八九]?)分?)?(?!钟|间)|"
    r"(?<![\d:.])(?P<hour>\d{1,2})[:：](?P<minute>[0-5]\d)(?:[:：][0-5]\d)?"
    r"(?: ?(?P<half>[ap])\.?m\b)?(?![\d:])|"
    r"(?<![\d:.])(?P<hour2>\d{1,2}) ?(?P<half2>[ap])\.?m\b)|\b(?P<word>noon|midnight)\b",
    FLAGS,
)
BARE = re.compile(
    r"(?<![\d:.-])(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))? ?(?:-|–|to|until|till|and) ?$",
    FLAGS,
)
TO = re.compile(r"\s?(?:-|–|—|~|～|to|until|till|and|到|至)\s?(?:about )?", FLAGS)
ZONE = re.compile(
    r"\.? ?\(?(?P<name>UTC|GMT|PST|PDT|MST|MDT|EST|EDT|CEST|CET|EEST|EET|BST|JST|KST|北京时间)"
    r"(?P<offset>[+-]\d{1,2}(?::?[0-5]\d)?)?(?!\w)",
    FLAGS,
)
WORTH = re.compile(
    r"\d|day\b|tomorrow|tonight|noon|midnight| ago\b|hour|week|minute|[天号周点月]|星期|礼拜|"
    r"[今明昨][晚早]|小时|分钟",
    FLAGS,
)
BETWEEN = re.compile(
    r"[\s,，、的(（]*(?:at|on|from|between|around|by|T|从|于|在|北京时间)?[\s,，:：(（]*",
    FLAGS,
)
