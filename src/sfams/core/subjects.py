"""Subjects: does a text name somebody? Whole names and exact identifiers, never a part of a longer one.

`alice@example.com` is in no text that holds `malice@example.com` or `alice@example.com.au`; a telephone
number is found whatever separates its digits; a Chinese name needs no blanks around it. A name that is
only a part of a longer known one (`Ann` in `Ann Lee`, 王芳 in 王芳芳) is that of somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from sfams.core.checks import label
from sfams.core.record import MemoryRecord
from sfams.core.scripts import DENSE
from sfams.core.text import fold
from sfams.errors import InvalidInputError

_DIGITS = re.compile(r"\d")
_PHONE = re.compile(r"\+?[\d\s\-./()]+")
_FEWEST_DIGITS = 7
_RUN = re.compile(rf"(?<![^\W{DENSE}])\+?(?:\(?\d\)?[\s\-./]{{0,3}})*\d(?![^\W{DENSE}])")
_FEWEST_NATIONAL = 8
_TWO_DIGITS = re.compile("2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]")
"""Country codes of two digits; 1 and 7 have one, all others three (ITU-T E.164)."""
_IDENTIFIER = re.compile(rf"[^\s{DENSE}]*[@_./:#\d-][^\s{DENSE}]*")
_WORD = rf"[^\W{DENSE}]"  # letters, digits and _ of scripts that separate words


class Sort(StrEnum):
    """How a spelling is looked for."""

    NAME = "name"
    IDENTIFIER = "identifier"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to name the subject: as it was given, folded, and how it is looked for."""

    given: str
    folded: str
    sort: Sort
    type: str = ""
    """Of an entity, where it was given as `type:name`."""


def fold_name(text: str) -> str:
    """Make the key under which two spellings of a name are one."""
    return " ".join(fold(text).split())


def spelling(text: str, *, exact: bool = False) -> Spelling:
    """Read one spelling; `exact` takes it as an identifier whatever it looks like.

    Raises:
        InvalidInputError: It is blank, too long, or a single Latin letter or digit.
    """
    given = label("subject", text)
    kind, colon, rest = given.partition(":")
    typed = bool(colon and rest.strip() and re.fullmatch(r"[a-z][a-z0-9_]*", kind)) and not exact
    if typed and not rest.startswith("//") and kind not in {"http", "https", "mailto", "tel"}:
        inner = spelling(rest)
        return Spelling(given, inner.folded, inner.sort, kind)
    folded = fold_name(given)
    if len(folded) < 2 and re.fullmatch(_WORD, folded or "a"):  # noqa: PLR2004
        message = "subject: one letter names nobody; give a name or an identifier"
        raise InvalidInputError(message, field="subject")
    if _PHONE.fullmatch(folded) and len(_DIGITS.findall(folded)) >= _FEWEST_DIGITS:
        return Spelling(given, folded, Sort.PHONE)
    if exact or _IDENTIFIER.fullmatch(folded):
        return Spelling(given, folded, Sort.IDENTIFIER)
    return Spelling(given, folded, Sort.NAME)


class Subject:
    """Somebody or something by all its spellings. `others` are known names that may contain one."""

    def __init__(self, spellings: Iterable[Spelling], others: Iterable[str] = ()) -> None:
        """Make the patterns once, for many texts."""
        self.spellings = tuple(spellings)
        keys = {each.folded for each in self.spellings}
        longer = {fold_name(name) for name in others} - keys
        self._finders = [_finder(each, longer) for each in self.spellings]

    def named_in(self, text: str) -> bool:
        """Tell whether a text names the subject."""
        folded = fold(text)
        return any(finder.found(folded) for finder in self._finders)

    def is_name(self, name: str, kind: str = "") -> bool:
        """Tell whether a name (of a speaker, an entity of a type) is the subject's."""
        key = fold_name(name)
        return any(
            _same(each, key) and (not each.type or each.type == fold(kind))
            for each in self.spellings
        )

    def hinted_in(self, text: str) -> bool:
        """Tell whether a text holds a spelling only at the head of something longer."""
        folded = fold_name(text)
        return any(map(_holding(folded), self.spellings)) and not self.named_in(text)

    def about(self, record: MemoryRecord, past: Iterable[str] = ()) -> bool:
        """Tell whether a record, or what it said before, is about the subject or by it."""
        return (
            self.is_name(record.source.who)
            or any(self.is_name(each.name, each.type) for each in record.entities)
            or any(map(self.named_in, words_of(record)))
            or any(map(self.named_in, past))
        )


def _holding(folded: str) -> Callable[[Spelling], bool]:
    """Make a test for whether a text holds a spelling at all; a name inside a word is none."""

    def test(each: Spelling) -> bool:
        if each.sort is Sort.NAME and re.match(_WORD, each.folded):
            return re.search(rf"(?<!{_WORD}){re.escape(each.folded)}", folded) is not None
        return each.folded in folded

    return test


def words_of(record: MemoryRecord) -> Iterator[str]:
    """Give every text that a record holds, besides speaker and entities."""
    yield record.content
    yield from record.tags
    yield from texts_in(record.metadata)
    if record.key is not None:
        yield record.key
    if record.claim is not None:
        yield from (record.claim.subject, record.claim.attribute, record.claim.value)


def texts_in(value: object) -> Iterator[str]:
    """Give the texts in a JSON value, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


def _same(each: Spelling, key: str) -> bool:
    return _same_number(each.folded, key) if each.sort is Sort.PHONE else each.folded == key


@dataclass(frozen=True, slots=True)
class _Finder:
    """Looks for one spelling in folded text."""

    spelling: Spelling
    pattern: re.Pattern[str] | None
    longer: re.Pattern[str] | None

    def found(self, text: str) -> bool:
        if self.pattern is None:
            return any(_same_number(self.spelling.folded, run) for run in _numbers(text))
        if self.longer is not None:
            text = self.longer.sub("\n", text)
        return self.pattern.search(text) is not None


def _finder(each: Spelling, others: Iterable[str]) -> _Finder:
    if each.sort is Sort.PHONE:
        return _Finder(each, None, None)
    pattern = re.compile(_bounded(each.folded, identifier=each.sort is Sort.IDENTIFIER))
    longer = sorted(
        (name for name in others if each.folded in name and not _owned(name, each.folded)),
        key=len,
        reverse=True,
    )
    joined = "|".join(_bounded(name, identifier=False) for name in longer)
    return _Finder(each, pattern, re.compile(joined) if joined else None)


def _owned(name: str, spelling: str) -> bool:
    """Tell whether a longer name is only something of the subject's: Ann's car, 王芳的车."""
    return name.startswith((f"{spelling}'", f"{spelling}的"))


def _bounded(folded: str, *, identifier: bool) -> str:
    """Write a pattern for a name between boundaries; beside a Chinese character there is one anyway."""
    core = r"\s+".join(map(re.escape, folded.split()))
    joiners = "+_.@%-" if identifier else "@_"
    before = after = ""
    if not re.match(f"[{DENSE}]", folded):
        before = rf"(?<!{_WORD})(?<![{joiners}])"
        if not identifier:
            before += rf"(?<!{_WORD}[.+])"
    if not re.match(f"[{DENSE}]", folded[-1]):
        # A full stop ends a sentence; with a letter behind it, it goes on with the identifier.
        after = rf"(?!{_WORD})(?![@_])" + (rf"(?![-.+%]+{_WORD})" if identifier else r"(?!\.\w+@)")
    return f"{before}{core}{after}"


def _numbers(text: str) -> Iterator[str]:
    """Give what may be telephone numbers: a run of digits and separators, and each word of it."""
    for found in _RUN.finditer(text):
        run = found[0]
        yield run
        words = run.split()
        if len(words) > 1:
            yield from words


def _same_number(one: str, other: str) -> bool:
    """Compare telephone numbers; a country's prefix may be there in one and not in the other."""
    if not _PHONE.fullmatch(other):
        return False
    (first, abroad), (second, also) = _dialled(one), _dialled(other)
    if abroad == also:
        return first == second
    whole, national = (first, second) if abroad else (second, first)
    national = national.removeprefix("0")
    return len(national) >= _FEWEST_NATIONAL and whole[_prefix(whole) :] == national


def _prefix(digits: str) -> int:
    """Count the digits of a number's country code."""
    if digits[:1] in {"1", "7"}:
        return 1
    return 2 if _TWO_DIGITS.match(digits) else 3


def _dialled(text: str) -> tuple[str, bool]:
    """Give the digits, and whether a country's prefix is among them."""
    digits = "".join(_DIGITS.findall(text))
    if text.lstrip(" (").startswith("+"):
        return digits, True
    if digits.startswith("00"):
        return digits[2:], True
    return digits, False
