"""Numbers as people write them, in figures and words, English and Chinese: one value, one unit.

"4,250 euro", "€4250" and 四千二百五十欧元 are the number `4250 eur`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from sfams.core.spans import TAKEN, Commitment, CommitmentType, has_cjk, take

__all__ = ["chinese_value", "numbers_of"]

_UNIT_NAMES: Final = """
eur=€ euro euros eur 欧元
usd=$ us$ usd dollar dollars 美元 美金
cny=¥ yuan rmb cny 元 块钱 块 人民币
gbp=£ gbp quid 英镑
inr=₹ inr rupee rupees
%=% percent per-cent
km=km kilometre kilometres kilometer kilometers 公里 千米
m=m metre metres meter meters 米
cm=cm 厘米
mm=mm 毫米
mile=mile miles 英里
kg=kg kilo kilos kilogram kilograms 公斤 千克
g=g gram grams 克
mg=mg 毫克
lb=lb lbs pound pounds 磅
l=litre litres liter liters 升
ml=ml 毫升
ms=ms 毫秒
s=sec secs second seconds 秒 秒钟
min=min mins minute minutes 分钟
h=h hr hrs hour hours 小时 钟头
day=day days 天
week=week weeks wk wks 周 星期 礼拜
month=month months 个月
year=year years yr yrs 年
age=岁
kb=kb
mb=mb
gb=gb
tb=tb
c=°c
f=°f
person=people persons person 人 位
time=times 次
"""
_UNITS: Final = {
    name: unit
    for row in _UNIT_NAMES.split("\n")
    if row
    for unit, _, names in [row.partition("=")]
    for name in names.split()
}


def _any_of(names: list[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_LATIN_UNITS = _any_of([name for name in _UNITS if name[-1].isascii() and name != "$"])
_DENSE_UNITS = _any_of([name for name in _UNITS if not name.isascii() and name[-1] not in "€£¥₹"])
_UNIT = rf"(?:[ -]?(?P<unit>(?:{_LATIN_UNITS})(?![A-Za-z])|[€£¥₹%]|{_DENSE_UNITS}))?"

_TIMES: Final = {
    "k": 10**3,
    "thousand": 10**3,
    "hundred": 100,
    "dozen": 12,
    "million": 10**6,
    "mn": 10**6,
    "M": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "千": 10**3,
    "百": 100,
    "万": 10**4,
    "百万": 10**6,
    "千万": 10**7,
    "亿": 10**8,
    "万亿": 10**12,
}
_FIGURES = re.compile(
    r"(?:(?P<sign>(?:US)?[$€£¥₹]|(?:USD|EUR|GBP|CNY|RMB)(?= ?\d)) ?)?"
    rf"(?P<minus>(?<![\w){TAKEN}-])-)?"
    r"(?<![\d.,])(?P<figures>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?)"
    r"(?:(?P<times> ?(?:万亿|千万|百万|[万亿千百])|[kKM](?![A-Za-z])|"
    r" ?(?:bn|mn|thousand|million|billion|hundred|dozen)(?![A-Za-z]))|(?:st|nd|rd|th)(?![A-Za-z]))?"
    + _UNIT,
    re.IGNORECASE,
)

_ONE_WORDS: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
"""
_TEN_WORDS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES: Final = {word: n for n, word in enumerate(_ONE_WORDS.split())}
_TENS: Final = {word: n * 10 for n, word in enumerate(_TEN_WORDS.split(), 2)}
_POWERS: Final = {
    "hundred": 100,
    "dozen": 12,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
}
_NUMBER_WORD = "|".join([*_ONES, *_TENS, *_POWERS])
_WORDS = re.compile(
    rf"(?<![\w-])(?P<words>(?:{_NUMBER_WORD})(?:(?:[ -]|-?and | and )(?:{_NUMBER_WORD}))*)(?![\w])"
    rf"(?!-(?:way|off|on))(?: (?P<pct>per cent|percent)(?!\w)|{_UNIT[3:-2]})?",
    re.IGNORECASE,
)

_DIGITS: Final = {**{char: n for n, char in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
_GROUPS: Final = {"万": 10**4, "亿": 10**8}
_NUMERALS = "零〇一二两三四五六七八九十百千万亿"
_MEASURES = (
    "个位名条只件张本台部家次遍天周年月岁元块角分毛斤两吨米人秒杯瓶份套层楼间座封场公里小时钟头"
    "倍度页章节步点款辆篇门号项组种"
)
_CHINESE = re.compile(
    rf"(?P<percent>百分之)?第?(?P<numerals>[{_NUMERALS}]+(?:点[零〇一二三四五六七八九]+(?!分))?)"
    rf"(?:(?P<unit>{_DENSE_UNITS})|(?P<measure>[{_MEASURES}])|(?P<end>))"
)
_STRONG: Final = frozenset("元块岁") | {
    "公里",
    "公斤",
    "小时",
    "块钱",
    "欧元",
    "美元",
    "英镑",
    "年",
}


def numbers_of(text: str) -> tuple[list[Commitment], str]:
    """Find the numbers of a plain text; returns them and the text without them."""
    chinese, rest = take(text, _CHINESE, _from_chinese) if has_cjk(text) else ([], text)
    figures, rest = take(rest, _FIGURES, _from_figures)
    words, rest = take(rest, _WORDS, _from_words)
    return [*chinese, *figures, *words], rest


def chinese_value(numerals: str) -> Decimal | None:
    """Read Chinese numerals: 四千二百五十 is 4250, 二〇二六 is 2026, 三点五 is 3.5, 千万 None."""
    whole, dot, part = numerals.partition("点")
    value = _chinese_integer(whole)
    if value is None or not dot:
        return None if value is None else Decimal(value)
    return Decimal(f"{value}.{''.join(str(_DIGITS[char]) for char in part)}")


def _chinese_integer(numerals: str) -> int | None:
    if not numerals or all(char in "百千万亿" for char in numerals):
        return None  # 千万 is "by all means", 万一 "in case"
    if all(char in _DIGITS for char in numerals):
        return int("".join(str(_DIGITS[char]) for char in numerals))
    total = group = digit = 0
    last = 1
    for char in numerals:
        if char in _DIGITS:
            digit = _DIGITS[char]
            last = 1 if digit == 0 else last
        elif char in _PLACES:
            last = _PLACES[char]
            group += (digit or 1) * last
            digit = 0
        else:
            last = _GROUPS[char]
            total = (total + group + digit) * last
            group = digit = 0
    if digit and last >= _PLACES["百"] and numerals[-1] in _DIGITS and numerals[-2] in "百千万亿":
        digit *= last // 10  # 三千五 is 3500
    return total + group + digit


def _from_chinese(found: re.Match[str]) -> Commitment | None:
    numerals = found["numerals"]
    unit = found["unit"] or ""
    if not found["percent"] and not _counts(numerals, unit, found["measure"] or ""):
        return None
    value = chinese_value(numerals)
    if value is None:
        return None
    return _number(value, "%" if found["percent"] else _UNITS.get(unit, ""), found[0])


def _counts(numerals: str, unit: str, measure: str) -> bool:
    """Tell a number from 一起, 十分 and 三明治: several numerals, or one with a measure word."""
    if numerals.startswith("万一") or (numerals == "十" and measure == "分"):
        return False
    if len(numerals) > 1:
        return numerals[0] not in "万亿" and numerals not in {"一一", "千万", "百万"}
    if numerals == "一":
        return unit in _STRONG
    return bool(unit or measure) and numerals not in "百千万亿零〇"


def _from_figures(found: re.Match[str]) -> Commitment:
    value = Decimal(found["figures"].replace(",", ""))
    times = (found["times"] or "").strip()
    factor = _TIMES.get(times) or _TIMES.get(times.lower(), 1)
    sign = found["sign"]
    unit = _UNITS.get((sign or found["unit"] or "").lower(), "")
    return _number(-value * factor if found["minus"] else value * factor, unit, found[0])


def _from_words(found: re.Match[str]) -> Commitment | None:
    words = [word for word in re.split(r"[ -]+", found["words"].lower()) if word != "and"]
    if words in (["one"], ["hundred"], ["zero"]):
        return None  # "no one", "one of them": an article, not a number
    unit = "%" if found["pct"] else _UNITS.get((found["unit"] or "").lower(), "")
    return _number(Decimal(_spoken(words)), unit, found[0])


def _spoken(words: list[str]) -> int:
    total = current = 0
    for word in words:
        if word in _POWERS:
            current = max(current, 1) * _POWERS[word]
            if _POWERS[word] >= 10**3:
                total, current = total + current, 0
        else:
            current += _ONES.get(word, 0) + _TENS.get(word, 0)
    return total + current


def _number(value: Decimal, unit: str, shown: str) -> Commitment:
    figures = f"{value.normalize():f}"
    return Commitment(CommitmentType.NUMBER, f"{figures} {unit}".strip(), " ".join(shown.split()))


def units() -> Iterator[str]:
    """Name the Latin spellings of units, which are no names however they are written."""
    return (name for name in _UNITS if name.isascii())
