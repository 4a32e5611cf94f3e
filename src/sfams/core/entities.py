"""Whom and what a text names: people, organisations, identifiers, titles, addresses; no model.

Precision comes before recall: what begins a sentence is no name unless something else says so. What is
sensitive is never an entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sfams.core import entity_words as words
from sfams.core.record import Entity
from sfams.core.scripts import HAN
from sfams.core.sensitivity import Finding
from sfams.core.text import fold

MOST: Final = 16
"""Entities of one text; the first ones count."""
_MOST_READ: Final = 4_000
_LONGEST: Final = 64


def find_entities(text: str, hidden: Sequence[Finding] = ()) -> tuple[Entity, ...]:
    """Name what a text names, in order, each once; the type is one of those below, or "" for a bare name.

    `hidden` are places where something sensitive stands (`find_sensitive`); no entity reaches into them.

    `person`, `org`, `identifier` (TN-88), `email`, `handle` (@mira), `title` (《红楼梦》, "The Hobbit"),
    `product` (PostgreSQL: capitals inside a word).
    """
    start = text[:_MOST_READ]
    spots = sorted(_spots(start), key=lambda spot: (spot[0], -spot[1]))
    found: dict[str, Entity] = {}
    at = 0
    for first, last, name, type_ in spots:
        secret = any(first < each.end and each.start < last for each in hidden)
        if first < at or secret or len(name) > _LONGEST:
            continue
        at = last
        known = found.get(key := fold(name))
        if known is None or (type_ and not known.type):
            found[key] = Entity(name, type_)
    return tuple(found.values())[:MOST]


Spot = tuple[int, int, str, str]

# ── Shapes ───────────────────────────────────────────────────────────────────────────────────────

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_HANDLE = re.compile(r"(?<![\w.@/])@[A-Za-z_][\w-]{1,38}", re.ASCII)
_IDENTIFIER = re.compile(
    r"(?<![\w-])(?!(?:UTF|SHA|ISO|UTC|GMT|RFC|MD|COVID)-)[A-Z][A-Z0-9]{1,9}-\d{1,7}(?![\w-])",
    re.ASCII,
)
_TITLE = re.compile(r"《([^《》\n]{1,40})》")
_QUOTED = re.compile(
    r"[\"“]((?:[A-Z][\w'’-]*)(?: (?:(?:of|the|and|in|a|an|for|to|on) ){0,2}[A-Z][\w'’-]*){1,6})[\"”]",
    re.ASCII,
)
_WORD: Final = r"[A-Z][a-zà-ÿ]+(?:['’-][A-Z]?[a-zà-ÿ]+)?"
_ORG = re.compile(rf"(?<![\w'])(?:[A-Z][\w&-]+ ){{1,4}}(?:{words.COMPANY})\b\.?")
_UNIVERSITY = re.compile(
    rf"\b((?:University|Institute|College|Bank|Museum|Ministry) of (?:the )?{_WORD}(?: {_WORD})?)"
)
_PRODUCT = re.compile(
    r"(?<![\w./@-])((?:[A-Z][a-z]+|[a-z])[A-Z][A-Za-z]{1,20}\d?)(?![\w/@-]|\.\w)", re.ASCII
)
_HONOURED = re.compile(rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\.? ({_WORD}(?: {_WORD})?)")
_KIN = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:\w+ )?(?:{words.KIN}),? ({_WORD}(?: {_WORD})?)"
)
_SAYING = re.compile(
    rf"(?<![\w'])({_WORD}(?: {_WORD})?) (?:also |always |never |really )?(?:{words.SAYING})\b"
)
_NAMED = re.compile(
    rf"(?<=[a-z0-9,;:] )({_WORD}(?: (?:van |de |von |del |la )?{_WORD}){{0,3}})(?![\w-])"
)

_CHARACTER: Final = f"[{HAN}]"
_NAME: Final = rf"(?:{words.COMPOUND}|[{words.SURNAMES}]){_CHARACTER}{{1,2}}?"
_AFTER_WORD = re.compile(
    rf"(?:{words.CHINESE_BEFORE})(?P<name>{_NAME})(?=[，。、；：！？,.;:!?\s）)]|$|是|在|{words.CHINESE_AFTER})"
)
_BEFORE_WORD = re.compile(
    rf"(?:^|(?<=[，。、；：！？,.;:!?\s（(]))(?P<name>{_NAME})(?=(?:{words.CHINESE_AFTER})(?!于))"
)
_TITLED = re.compile(
    rf"(?<!{_CHARACTER})(?P<name>(?:{words.COMPOUND}|[{words.SURNAMES}])(?:{words.CHINESE_TITLE}))|"
    rf"(?P<whole>{_NAME})(?={words.CHINESE_TITLE})"
)
_NICKNAME = re.compile(
    rf"(?P<name>[小老][{words.SURNAMES}])(?=[，。、；：！？,.;:!?\s]|$|{words.CHINESE_AFTER}|是|在)"
)
_CHINESE_ORG = re.compile(
    rf"(?P<name>(?:(?![我你您他她它们在到去从于与跟对给向被把让是的了和及或家这那某])[{HAN}A-Za-z]){{2,10}}(?:{words.CHINESE_COMPANY}))"
)


def _spots(text: str) -> Iterator[Spot]:
    """Find all that may be an entity, places that overlap included."""
    if "@" in text:
        yield from _whole(_EMAIL, text, "email")
        yield from _whole(_HANDLE, text, "handle")
    if "-" in text:
        yield from _whole(_IDENTIFIER, text, "identifier")
    yield from _latin(text)
    if not text.isascii():
        yield from _chinese(text)


def _whole(pattern: re.Pattern[str], text: str, type_: str) -> Iterator[Spot]:
    for match in pattern.finditer(text):
        yield (*match.span(), match[0], type_)


def _inside(pattern: re.Pattern[str], text: str, type_: str) -> Iterator[Spot]:
    for match in pattern.finditer(text):
        yield (*match.span(1), match[1], type_)


def _latin(text: str) -> Iterator[Spot]:
    if '"' in text or "“" in text:
        yield from _inside(_QUOTED, text, "title")
    for match in _ORG.finditer(text):
        first = match[0].split()[0]
        skipped = len(first) + 1 if first in words.NO_NAMES else 0
        if " " not in match[0][skipped:]:  # a bank, a university
            continue
        yield match.start() + skipped, match.end(), match[0][skipped:].rstrip("."), "org"
    yield from _inside(_UNIVERSITY, text, "org")
    yield from _inside(_PRODUCT, text, "product")
    for pattern in (_HONOURED, _KIN, _SAYING):
        for spot in _inside(pattern, text, "person"):
            yield from _named(spot)
    if _SMALL_NOUNS.search(text):
        for spot in _inside(_NAMED, text, ""):
            yield from _named(spot)


_SMALL_NOUNS = re.compile(
    rf"\b(?:[Tt]he|and|of|to|for|with|[Mm]y|[Oo]ur|[Ww]e|is|are|I)\b|{_CHARACTER}", re.ASCII
)
"""Of texts in which a capital inside a sentence is a name: English, Chinese; German nouns all have one."""


def _named(spot: Spot) -> Iterator[Spot]:
    """Take words off that are no part of a name; what is left, if anything, is one."""
    first, last, name, type_ = spot
    parts = name.split()
    while parts and parts[0] in words.NO_NAMES:
        first += len(parts.pop(0)) + 1
    while parts and parts[-1] in words.NO_NAMES:
        last -= len(parts.pop()) + 1
    if parts and words.NO_NAMES.isdisjoint(parts) and len(" ".join(parts)) > 1:
        yield first, last, " ".join(parts), type_


def _chinese(text: str) -> Iterator[Spot]:
    if "《" in text:
        yield from _inside(_TITLE, text, "title")
    if any(map(text.__contains__, _COMPANIES)):
        yield from _whole_name(_CHINESE_ORG, text, "org")
    if any(map(text.__contains__, _TITLES)):
        yield from _whole_name(_TITLED, text, "person")
    for pattern in (_AFTER_WORD, _BEFORE_WORD, _NICKNAME):
        yield from _whole_name(pattern, text, "person")


_COMPANIES: Final = tuple(words.CHINESE_COMPANY.split("|"))
_TITLES: Final = tuple(words.CHINESE_TITLE.split("|"))


def _whole_name(pattern: re.Pattern[str], text: str, type_: str) -> Iterator[Spot]:
    for match in pattern.finditer(text):
        group = next(name for name, value in match.groupdict().items() if value)
        name = match[group]
        if not any(name.startswith(each) for each in words.NO_CHINESE_NAMES):
            yield (*match.span(group), name, type_)
