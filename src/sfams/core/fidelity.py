"""Fidelity: what a text commits itself to, and what of it a summary has lost.

Numbers with their units, dates and times, names and negations are what is asked for later and what
gist loses first. All of it is read from the surface of the text, in English and Chinese, and compared
in one normal form; nothing is translated, and what words mean is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sfams.core.datings import covers, dates_of
from sfams.core.namings import identifiers_of, known_names, names_of
from sfams.core.negations import denials_of, denied, negations_of
from sfams.core.numerals import numbers_of
from sfams.core.scripts import CJK
from sfams.core.spans import Commitment, CommitmentType, has_cjk, plain
from sfams.core.text import fold

__all__ = ["Commitment", "CommitmentType", "Loss", "commitments", "missing"]


@dataclass(frozen=True, slots=True)
class Loss:
    """What a summary has lost: the kind of thing, its normal form, and how a source put it."""

    type: CommitmentType
    value: str
    shown: str


def commitments(text: str, names: Iterable[str] = ()) -> tuple[Commitment, ...]:
    """Read what a text commits itself to, each thing once, in the order of their kinds.

    Each line is read by itself, so that texts joined by line ends commit to what they do alone.

    Args:
        text: Any text, English or Chinese; in other languages figures, codes and capitals are read.
        names: Names that are known (entities of the record), to be found wherever they are mentioned.
    """
    given = tuple(names)
    found: dict[tuple[CommitmentType, str], Commitment] = {}
    for line in plain(text).splitlines():
        for each in _of_line(line, given):
            found.setdefault((each.type, each.value), each)
    order = list(CommitmentType)
    return tuple(sorted(found.values(), key=lambda each: order.index(each.type)))


def _of_line(line: str, names: tuple[str, ...]) -> tuple[Commitment, ...]:
    codes, rest = identifiers_of(line)
    dates, rest = dates_of(rest)
    numbers, rest = numbers_of(rest)
    return (
        *numbers,
        *dates,
        *known_names(line, names),
        *codes,
        *names_of(rest),
        *negations_of(line),
    )


def missing(
    sources: Sequence[str], summary: str, slots: Iterable[str] = (), names: Iterable[str] = ()
) -> tuple[Loss, ...]:
    """Name what the sources say and the summary does not: numbers, dates, names and negations.

    - A number is there with the same value and unit; one without a unit with any.
    - A date is there if it, or a more precise one, is.
    - A name is there if its words are, in whatever case and order of sentences.
    - A negation is there if some negation denies at least half of its words.

    Args:
        sources: The texts that were summarized.
        summary: The text to be stored.
        slots: Key values kept beside the text.
        names: Known names, such as entities of the sources.

    Returns:
        The losses, each once, in the order of the sources; () for a faithful summary.
    """
    known = tuple(names)
    kept = Kept("\n".join((summary, *slots)))
    lost: dict[tuple[CommitmentType, str], Loss] = {}
    for source in sources:
        for each in commitments(source, known):
            if not kept.has(each):
                lost.setdefault((each.type, each.value), Loss(each.type, each.value, each.shown))
    return tuple(lost.values())


class Kept:
    """What a summary says, read once and asked for one commitment after the other."""

    def __init__(self, text: str) -> None:
        """Read the text."""
        shaped = plain(text)
        self._folded = fold(shaped)
        self._words = frozenset(_words(self._folded))
        found = commitments(text)
        self._numbers = {each.value for each in found if each.type is CommitmentType.NUMBER}
        self._bare = {value.partition(" ")[0] for value in self._numbers}
        self._dates = {each.value for each in found if each.type is CommitmentType.DATE}
        self._named = {each.value for each in found if each.type is CommitmentType.NAME}
        self._denials = [denial for line in shaped.splitlines() for denial in denials_of(line)]

    def has(self, wanted: Commitment) -> bool:
        """Tell whether a commitment is kept."""
        if wanted.type is CommitmentType.NUMBER:
            return wanted.value in self._numbers or wanted.value in self._bare
        if wanted.type is CommitmentType.DATE:
            return any(covers(date, wanted.value) for date in self._dates)
        if wanted.type is CommitmentType.NEGATION:
            return denied(wanted, self._denials)
        return self._names(wanted.value)

    def _names(self, name: str) -> bool:
        if name in self._named:
            return True
        if has_cjk(name):
            return name in self._folded
        parts = _words(name)
        return all(part in self._words for part in parts) if parts else name in self._folded


_WORD = re.compile(f"[{CJK}]+|[^\\W_{CJK}]+")


def _words(folded: str) -> list[str]:
    return _WORD.findall(folded)
