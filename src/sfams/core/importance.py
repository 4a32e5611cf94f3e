"""How much a text is worth remembering, judged by its surface alone: no model, no context.

The prior is logistic: the coefficients of the features that fire (see `cues`) are added to a bias
and squashed into 0..1. A sentence without any feature stands a little below one half.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Final

from sfams.core.cues import BIAS, FEATURES, Feature
from sfams.core.record import Kind
from sfams.core.scripts import CJK
from sfams.core.text import stem

__all__ = ["ContentPrior", "prior", "words_of"]

_MOST_READ: Final = 4_000
"""Characters that are judged; what matters is seldom said only after them."""
_SHORT: Final = 3
"""Words below which a text says little; two Chinese characters count as one word."""
_BRIEF: Final = 7
"""Words below which small talk leaves no room for anything else."""


@dataclass(frozen=True, slots=True)
class ContentPrior:
    """A text's importance (0..1), its kind, and the names of the features that decided both."""

    importance: float
    kind: Kind
    reasons: tuple[str, ...]


def prior(text: str) -> ContentPrior:
    """Judge a text by its words, so that it can be kept or let go before any model has read it.

    The kind is that of the first feature in the table that fired and has one, else a fact. Never
    raises; takes less than 0.1 ms for 200 characters and reads no more than the first 4,000.
    """
    start = text[:_MOST_READ]
    lower = _lowered(start)
    words = _WORD.findall(lower)
    names = set(_cued(words))
    chinese = 0
    if not lower.isascii():
        names.update(map(_CUES.__getitem__, _CHINESE.findall(lower)))
        chinese = sum(map(len, _RUN.findall(lower)))
    names |= {
        feature.name
        for feature, pattern in _PATTERNS
        if pattern.search(start if feature.as_written else lower)
    }
    names |= _by_length(len(words) + chinese / 2, names)
    fired = [feature for feature in FEATURES if feature.name in names]
    kinds = [feature.kind for feature in fired if feature.kind is not None]
    return ContentPrior(
        importance=_logistic(BIAS + sum(feature.coefficient for feature in fired)),
        kind=kinds[0] if kinds else Kind.FACT,
        reasons=tuple(feature.name for feature in fired),
    )


def words_of(text: str) -> list[str]:
    """List the words of a text in lower case, Chinese aside, as cues and traits look for them."""
    return _WORD.findall(_lowered(text[:_MOST_READ]))


def _lowered(text: str) -> str:
    """Do all that cues need of `fold`, which is far dearer."""
    return text.lower().replace("\u2019", "'")


def _logistic(sum_of_coefficients: float) -> float:
    return 1 / (1 + exp(-sum_of_coefficients))


_stem = lru_cache(maxsize=4_096)(stem)
_WORD = re.compile(f"[^\\W_{CJK}]+(?:'[^\\W_{CJK}]+)?")
_RUN = re.compile(f"[{CJK}]+")


def _read_cues() -> Iterator[tuple[str, str]]:
    for feature in FEATURES:
        for cue in filter(None, feature.cues.split("|")):
            yield cue if _RUN.match(cue) else " ".join(map(_stem, cue.split())), feature.name


_CUES: Final[Mapping[str, str]] = dict(_read_cues())
_CHINESE = re.compile("|".join(sorted(filter(_RUN.match, _CUES), key=len, reverse=True)))
_PHRASES: Final[Mapping[str, int]] = {
    first: max(len(cue.split()) for cue in _CUES if cue.split()[0] == first)
    for first in {cue.split()[0] for cue in _CUES}
}
"""The first word of each cue, and how many words the longest cue has that begins with it."""
_PATTERNS: Final[tuple[tuple[Feature, re.Pattern[str]], ...]] = tuple(
    (feature, re.compile(feature.pattern)) for feature in FEATURES if feature.pattern
)


def _cued(words: list[str]) -> Iterator[str]:
    """Name the features whose cues occur; at each place the longest counts ("make sure")."""
    stems = [_stem(word) for word in words]
    taken = 0
    for at, first in enumerate(stems):
        if at < taken or first not in _PHRASES:
            continue
        for length in range(_PHRASES[first], 0, -1):
            cue = " ".join(stems[at : at + length])
            if cue in _CUES:
                yield _CUES[cue]
                taken = at + length
                break


_POSITIVE: Final = frozenset(feature.name for feature in FEATURES if feature.coefficient > 0)
_SMALL_TALK: Final = frozenset({"courtesy", "chatter"})


def _by_length(words: float, names: set[str]) -> set[str]:
    if not words:
        return {"wordless"}
    found = {"short"} if words < _SHORT else set()
    if words < _BRIEF and names & _SMALL_TALK and not names & _POSITIVE:
        found.add("nothing else")
    return found
