"""Salience: how much a text stands out from what its speaker and its conversation usually say.

What people are asked for later is seldom what everybody says all the time. Salience is logistic: how
surprising each trait of the text is for this speaker (`style`), how many of its words are new to the
memory, how much it says at all, and whether it is one of the first things that were told. No model,
no network; English and Chinese. The coefficients are fitted (`fitted`), but for that of the beginning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import exp, log, log1p
from typing import Final

from sfams.core.fitted import CENTRE, COEFFICIENTS, IMPORTANCE
from sfams.core.keywords import term_id
from sfams.core.stopwords import FUNCTION_TERMS
from sfams.core.style import NAMES, Sound, Style, Tally, heard
from sfams.core.text import tokenise

NEUTRAL: Final = 0.5
"""The salience of what was never measured."""

BEGINNING: Final = 100
"""How many texts of a memory are its beginning, which tells who somebody is and what is going on."""
_BEGINNING_WEIGHT: Final = 0.3
_SETTLING: Final = 20.0

SIZES: Final = ("new words", "words", "listener", "sentences")
"""What else is measured of a text besides its traits."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a text is compared with: how people sound here, and which words the memory knows."""

    style: Style = field(default_factory=Style)
    known: AbstractSet[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Salience:
    """How much a text stands out (0..1, 0.5 on average), and what its hearing adds to the surroundings."""

    value: float
    measured: Mapping[str, float]
    tally: Tally = field(default_factory=Tally)


def salience(
    text: str, words: Sequence[str], terms: AbstractSet[int], around: Surroundings
) -> Salience:
    """Tell how much a text stands out.

    Args:
        text: The text as it was said.
        words: Its words in lower case.
        terms: Its term ids (`keywords.term_id`).
        around: What it is compared with.
    """
    sound = _with_new_name(heard(text, words), around.known)
    measured = measures(sound, terms, around)
    total = sum(COEFFICIENTS.get(name, 0.0) * value for name, value in measured.items())
    total += -CENTRE + beginning(around.style.everybody.texts)
    return Salience(1 / (1 + exp(-total)), measured, sound.tally())


def measures(sound: Sound, terms: AbstractSet[int], around: Surroundings) -> dict[str, float]:
    """Measure a text: the surprise of each trait in nats (0 where it is missing), and its `SIZES`."""
    content = terms - FUNCTION_TERMS
    found = {name: around.style.surprise(name) if name in sound.traits else 0.0 for name in NAMES}
    new = len(content - around.known)
    sizes = (log1p(new), log1p(len(content)), sound.listener, float(sound.sentences))
    return found | dict(zip(SIZES, sizes, strict=True))


def beginning(texts: int) -> float:
    """Give what being one of the first texts adds, in log-odds: 0.54 for the first, 0 after `BEGINNING`."""
    told = min(texts, BEGINNING)
    return _BEGINNING_WEIGHT * log((BEGINNING + _SETTLING) / (told + _SETTLING))


def salience_given(importance: float) -> float:
    """Give the salience of a text whose importance somebody has told.

    It takes the place of what the text would have said, so that together they count as much as the
    odds of that importance.
    """
    return 1 / (1 + exp(-(1 - IMPORTANCE) * log_odds(importance)))


def log_odds(share: float) -> float:
    """Give the log-odds of a share of 0..1, kept finite."""
    kept = min(max(share, 1e-4), 1 - 1e-4)
    return log(kept / (1 - kept))


@lru_cache(maxsize=8_192)
def _ids_of(name: str) -> frozenset[int]:
    return frozenset(map(term_id, tokenise(name)))


def _with_new_name(sound: Sound, known: AbstractSet[int]) -> Sound:
    if any(not _ids_of(name) <= known for name in sound.names):
        return replace(sound, traits=sound.traits | {"new name"})
    return sound
