"""How a speaker and a conversation usually sound, so that what is unusual can be told from it.

That somebody names a date says much among friends who chat and little among people who plan. So the
content prior does not count that a trait occurs but how surprising it is: `-ln(rate)`, where the rate
is the speaker's own, drawn towards the conversation's while little is known of either (Shannon's
self-information). Nothing here is text: a `Style` holds counts of traits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from math import log
from typing import Final

from sfams.core.scripts import CJK
from sfams.core.text import stem
from sfams.core.traits import TRAITS

NAMES: Final = tuple(trait.name for trait in TRAITS)
_PLACE: Final[Mapping[str, int]] = {name: place for place, name in enumerate(NAMES)}

_OF_SPEAKER: Final = 5.0
"""How many texts of a speaker weigh as much as what is known of the conversation."""
_OF_ALL: Final = 2.0
"""How many texts of a conversation weigh as much as what is assumed of any."""
_ASSUMED: Final = 0.25
"""How often a trait is assumed to occur before anything was heard."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many texts were heard, and how many of them had each trait, in the order of `NAMES`."""

    texts: int = 0
    counts: tuple[int, ...] = (0,) * len(NAMES)

    def plus(self, other: Tally) -> Tally:
        """Add up."""
        counts = tuple(mine + its for mine, its in zip(self.counts, other.counts, strict=True))
        return Tally(self.texts + other.texts, counts)


@dataclass(frozen=True, slots=True)
class Style:
    """How often traits occur with everybody in a conversation, and with one speaker."""

    everybody: Tally = field(default_factory=Tally)
    speaker: Tally = field(default_factory=Tally)

    def surprise(self, trait: str) -> float:
        """Tell how surprising it is that this speaker's text has a trait, in nats; 0 or more."""
        place = _PLACE[trait]
        shared = self.everybody.counts[place] + _OF_ALL * _ASSUMED
        usual = shared / (self.everybody.texts + _OF_ALL)
        own = self.speaker.counts[place] + _OF_SPEAKER * usual
        return -log(own / (self.speaker.texts + _OF_SPEAKER))


@dataclass(frozen=True, slots=True)
class Sound:
    """What a text sounds like: its traits, its names, and how much it talks of the listener."""

    traits: frozenset[str]
    names: frozenset[str] = field(default=frozenset())
    sentences: int = 1
    listener: float = 0.0
    """Words for the listener ("you", 你), per five words."""

    def tally(self) -> Tally:
        """Count it once."""
        return Tally(1, tuple(int(name in self.traits) for name in NAMES))


def heard(text: str, words: Sequence[str]) -> Sound:
    """Listen to a text, whose lower-case words are given. `new name` is left to who knows the memory."""
    found = {name for word in words for name in _of_word(word)}
    found.update(_PAIRS[pair] for pair in pairwise(words) if pair in _PAIRS)
    size, listener = len(words), sum(word in _LISTENER for word in words)
    if not text.isascii():
        found.update(_CHINESE_NAMES[cue] for cue in _CHINESE_CUES.findall(text))
        size += len(_CHINESE_TEXT.findall(text)) // 2
        listener += text.count("你") + text.count("您")
    found.update(name for name, search in _PATTERNS if search(text))
    return Sound(
        traits=frozenset(found),
        names=frozenset(_NAME.findall(text)) if "name" in found else frozenset(),
        sentences=min(_MOST_SENTENCES, max(1, len(_STOP.findall(text)))),
        listener=5 * listener / max(1, size),
    )


_MOST_SENTENCES: Final = 6
_LISTENER: Final = frozenset({"you", "your", "yours", "you're", "you've"})
_NAME = re.compile(TRAITS[NAMES.index("name")].pattern)
_STOP = re.compile(r"[.!?。！？]+|\n+")
_CHINESE_TEXT = re.compile(f"[{CJK}]")
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    word: tuple(
        trait.name for trait in TRAITS if word in {stem(each) for each in trait.words.split()}
    )
    for word in {stem(each) for trait in TRAITS for each in trait.words.split()}
}
_PAIRS: Final[Mapping[tuple[str, ...], str]] = {
    tuple(pair.split()): trait.name
    for trait in TRAITS
    for pair in filter(None, trait.pairs.split("|"))
}
_CHINESE_NAMES: Final[Mapping[str, str]] = {
    cue: trait.name for trait in TRAITS for cue in trait.chinese.split("|") if cue
}
_CHINESE_CUES = re.compile("|".join(sorted(_CHINESE_NAMES, key=len, reverse=True)))
_PATTERNS: Final[tuple[tuple[str, Callable[[str], object]], ...]] = tuple(
    (trait.name, re.compile(trait.pattern).search) for trait in TRAITS if trait.pattern
)


@lru_cache(maxsize=8_192)
def _of_word(word: str) -> tuple[str, ...]:
    return _WORDS.get(stem(word), ())
