"""Stretches of a text that say one thing, found in turn so that none is read twice.

What a date has claimed is no number any more, and what an identifier has claimed is neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sfams.core.scripts import CJK, INVISIBLE

__all__ = ["TAKEN", "Commitment", "CommitmentType", "clauses", "has_cjk", "plain", "take"]


TAKEN: Final = "\x1f"
"""Stands where something was taken out: white space, but no blank that anybody has typed."""


class CommitmentType(StrEnum):
    """What kind of thing a text commits itself to."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"


@dataclass(frozen=True, slots=True)
class Commitment:
    """One thing that a text says and that must not be lost: its kind, normal form and wording.

    `words` are what a negation denies, in the order of the text; empty for the others. Two spellings
    of one thing have the same `value`; `shown` is how it stood there.
    """

    type: CommitmentType
    value: str
    shown: str
    words: tuple[str, ...] = ()


_SHAPES: Final = str.maketrans("’‘‛ʼ‐‑‒–−：", "''''-----:")
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_CJK = re.compile(f"[{CJK}]")
_CLAUSE = re.compile(r"[^\n.!?;。！？；…]+(?:[.](?=\w)[^\n.!?;。！？；…]*)*")


def plain(text: str) -> str:
    """Give a text in the form that is read for commitments: compatibility forms, one kind of dash.

    Case stays as it is: a capital is what makes a name.
    """
    if text.isascii():
        return text
    shaped = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text.translate(_SHAPES)))
    return shaped.translate(_SHAPES)


def has_cjk(text: str) -> bool:
    """Tell whether a character of a script without blanks stands in the text."""
    return not text.isascii() and _CJK.search(text) is not None


def clauses(text: str) -> Iterator[str]:
    """Cut a text at line ends, final stops and semicolons; 4.5 and TN.88 stay whole."""
    return (found[0] for found in _CLAUSE.finditer(text))


def take(
    text: str, pattern: re.Pattern[str], make: Callable[[re.Match[str]], Commitment | None]
) -> tuple[list[Commitment], str]:
    """Make a commitment of each match, and blank out what became one; a match may be refused (None)."""
    found: list[Commitment] = []
    left: list[str] = []
    at = 0
    for match in pattern.finditer(text):
        made = make(match)
        if made is not None:
            found.append(made)
            left += [text[at : match.start()], TAKEN * (match.end() - match.start())]
            at = match.end()
    return found, "".join(left) + text[at:]
