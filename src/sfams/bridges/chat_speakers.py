"""Who speaks in a text transcript: which lines open a message, and whose names to believe.

"Mira: hello" and "Ingredients: flour" look alike, so a line alone decides nothing. All lines that
look like an opening are collected first; then the file as a whole tells which names are speakers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from sfams.bridges.chat_values import role_of

_LONGEST_NAME: Final = 40
_LONGEST_TITLE: Final = 200
_MOST_WORDS: Final = 4
_DENSE: Final = 0.7
_A_DIALOGUE: Final = 2
_SPARSE: Final = 0.3
_OFTEN: Final = 0.2

_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]\.?m\b\.?)?"
_DAY: Final = r"\d{4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}日?"
_ZONE: Final = r"(?:\s?(?:Z|UTC|[+-]\d{2}:?\d{2})\b)?"
_FULL: Final = rf"{_DAY}[T,\s]{{1,3}}{_CLOCK}{_ZONE}"
_BEFORE: Final = rf"(?:\[(?P<bracket>[^\[\]]{{4,60}})\]|(?P<bare>{_FULL}|{_DAY}|{_CLOCK})(?=\s))"
_DASH: Final = r"\s{0,3}(?:[-–—]\s{1,3})?"
_WHO: Final = r"(?P<who>[^:：\[\]<>]{1,60}?)"
_AFTER: Final = r"(?:\s{0,3}[(（\[](?P<after>[^()（）\[\]]{4,60})[)）\]])"
_OPENINGS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # A name and a full time alone on a line, as WeChat and QQ write them.
        rf"(?P<who>[^:：\[\]()<>]{{1,40}}?)\s{{1,3}}(?P<after>{_FULL})(?P<text>)",
        rf"\s{{0,3}}{_BEFORE}?{_DASH}{_WHO}{_AFTER}?\s{{0,3}}(?P<colon>[:：])(?P<text>.*)",
        rf"\s{{0,3}}{_BEFORE}?\s{{0,3}}<(?P<who>[^<>]{{1,40}})>\s{{1,3}}(?P<text>.*)",
    )
)
_STAMP: Final = re.compile(
    r"\d:\d{2}|\d{4}\s?[-/.年]\s?\d|\d[-/.]\d{1,2}[-/.]\d|[a-z]{3,9}[\s.,-]+\d{1,2}\D+\d{4}"
    r"|\d\s+[a-z]{3,9},?\s+\d{4}",
    re.IGNORECASE,
)
_BOLD: Final = re.compile(r"\s{0,3}(?:[-*+]\s+)?(\*\*|__)(?P<inner>[^*_]+)\1(?P<rest>.*)")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_NO_NAME: Final = re.compile(
    r"[!?;…。！？，；、\"“”|=@#{}<>\\/*`~^]|,\s|(?<=\w{4})\.|\.$|^[\W_]|^\d[\d.\s]*$|\b[apAP][mM]$"
)
_CJK: Final = re.compile("[\u3400-\u9fff]")
_LABEL: Final = re.compile(
    r"""notes?|nb|ps|todo|warning|caution|important|tip|hint|examples?|update|edit|summary|sources?
    |subject|re|fwd|date|time|to|from|b?cc|https?|ftp|mailto|file|error|results?|(?:out|in)put
    |reminder|location|title|tags|url|link|address|phone|email|total|step
    |注意?|备注|提示|警告|例如?|比如|总结|来源|日期|时间|主题|标题|说明|地址|电话|链接|步骤|结果""",
    re.VERBOSE | re.IGNORECASE,
)


class Style(Enum):
    """How a line marks its speaker; the stronger the mark, the less else is needed."""

    STAMPED = "stamped"
    HEADING = "heading"
    BOLD = "bold"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Opening:
    """A line that looks like the beginning of a message; `stamp` is the time as written."""

    who: str
    stamp: str
    text: str
    style: Style


def heading_title(line: str) -> str:
    """Give the title of a Markdown heading, "" for any other line."""
    match = _HEADING.match(line) if len(line) <= _LONGEST_TITLE else None
    return line[match.end() :].rstrip(" \t#") if match else ""


def opening_of(line: str) -> Opening | None:
    """Tell whom a line lets speak, if it looks like the beginning of a message."""
    if line[:4].isspace():
        return None  # indented as code
    if title := heading_title(line):
        return _heading_opening(title)
    style = Style.PLAIN
    if bold := _BOLD.fullmatch(line):
        inner, rest = bold["inner"].strip(), bold["rest"]
        if not rest.strip() and inner[-1:] not in {":", "："}:
            return _heading_opening(inner)
        line, style = inner + rest, Style.BOLD
    return _first_match(line, style)


def _heading_opening(title: str) -> Opening | None:
    # Read as if it were the beginning of a line: "Mira (09:14)" is a title, too.
    opening = _first_match(title.replace("**", "").rstrip(" :：") + ":", Style.HEADING)
    return opening if opening and not opening.text else None


def _first_match(line: str, style: Style) -> Opening | None:
    for pattern in _OPENINGS:
        match = pattern.fullmatch(line)
        if match and (opening := _checked(match.groupdict(), style)):
            return opening
    return None


def _checked(parts: dict[str, str | None], style: Style) -> Opening | None:
    who, text = (parts["who"] or "").strip(" -–—*_"), parts["text"] or ""
    before = parts.get("bracket") or parts.get("bare") or ""
    after = parts.get("after") or ""
    if parts.get("bracket") and not _STAMP.search(before):
        return None
    if after and not _STAMP.search(after):
        who, after = f"{who} ({after})", ""
    if not is_name(who) or not _may_follow(parts.get("colon"), who, text):
        return None
    stamp = before or after
    return Opening(who, stamp, text.strip(), Style.STAMPED if stamp else style)


def _may_follow(colon: str | None, who: str, text: str) -> bool:
    """Tell a colon behind a name from one in a time, an address or a word."""
    if colon != ":" or not text or text[0].isspace():
        return True
    clock = who[-1].isdigit() and text[0].isdigit()
    return _CJK.search(who) is not None and not text.startswith("//") and not clock


def is_name(who: str) -> bool:
    """Tell whether a text can be a speaker's name at all: short, and no sentence or label."""
    if not who or len(who) > _LONGEST_NAME or len(who.split()) > _MOST_WORDS:
        return False
    return not _LABEL.fullmatch(who.rstrip(".")) and not _NO_NAME.search(who)


def name_key(who: str) -> str:
    """Give the form in which two spellings of a speaker are one."""
    return " ".join(who.lower().split())


def speakers(openings: Sequence[Opening | None], body: Sequence[bool]) -> frozenset[str]:
    """Decide whose names to believe, as name keys; empty for a text that is no transcript.

    Args:
        openings: What each line looks like.
        body: Whether each line holds text, as against blanks, rules, dates and headings.
    """
    lines = [opening for opening, counts in zip(openings, body, strict=True) if opening or counts]
    first = lines[0] if lines else None
    found = [opening for opening in lines if opening is not None]
    stamped = [opening for opening in found if opening.style is Style.STAMPED]
    # A transcript begins with a speaker, and as its first line is written, so are the others.
    if first is not None and first.style is Style.STAMPED:
        found = stamped
    if roles := _roles(found):
        return roles
    if found is stamped or (first is None and len(stamped) >= len(lines) * _SPARSE):
        return frozenset(name_key(each.who) for each in stamped)  # a list has no times
    headings = Counter(name_key(each.who) for each in found if each.style is Style.HEADING)
    several = frozenset(who for who, count in headings.items() if count > 1)
    return several if len(several) > 1 else _plain_speakers(lines)


def _roles(openings: Sequence[Opening]) -> frozenset[str]:
    """Name user and assistant where both speak.

    Between a person and a model every other "Summary:" is a part of an answer, and so is a word
    for a role that comes up now and then.
    """
    counted = Counter(name_key(opening.who) for opening in openings if role_of(opening.who))
    most: Counter[str] = Counter()
    for who, count in counted.items():
        most[role_of(who)] = max(most[role_of(who)], count)
    if not most["user"] or not most["assistant"]:
        return frozenset()
    enough = (who for who, count in counted.items() if count >= most[role_of(who)] * _OFTEN)
    names = {who for who in enough if role_of(who) in {"user", "assistant"}}
    if role_of(first := openings[0].who) == "system":
        names.add(name_key(first))
    return frozenset(names)


def _unless_a_list(openings: Sequence[Opening]) -> frozenset[str]:
    """Name all, unless they are many who appear once each, as in "Name: …", "Age: …", "City: …"."""
    names = frozenset(name_key(opening.who) for opening in openings)
    return names if len(names) <= _A_DIALOGUE or len(names) < len(openings) else frozenset()


def _plain_speakers(lines: Sequence[Opening | None]) -> frozenset[str]:
    lines = [each for each in lines if each is None or each.style is not Style.HEADING]
    found = [opening for opening in lines if opening is not None]
    bold = [opening for opening in found if opening.style is Style.BOLD]
    if len(bold) > 1:
        found = bold
    counted = Counter(name_key(opening.who) for opening in found)
    # Where nearly every line opens a message, those who speak once are speakers, too.
    dense = len(found) >= len(lines) * _DENSE
    names = _unless_a_list(found) if dense else frozenset()
    names |= {name for name, count in counted.items() if count > 1}
    spoken = sum(counted[name] for name in names)
    begins = bool(lines and lines[0] and name_key(lines[0].who) in names)
    enough = spoken > 1 and (begins or spoken >= len(lines) * _SPARSE)
    return names if enough else frozenset()
