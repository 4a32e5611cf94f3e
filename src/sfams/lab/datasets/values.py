"""Labelled conversations: what was told, apart from what is asked about it later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Literal

import numpy as np

from sfams.errors import InvalidInputError

Noise = Literal["small_talk", "expired", "superseded", "filler"]
NOISES: tuple[Noise, ...] = ("small_talk", "filler", "expired", "superseded")
CATEGORIES = ("single", "multi", "temporal", "update", "preference", "abstention")
"""Kinds of question in our own format; the other data sets keep their own names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One thing said, as a memory hears it: nothing in it tells what it will be worth."""

    id: str
    session: str
    turn: int
    at: datetime
    who: str
    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitLabel:
    """What people say of a unit afterwards. `worth`: 0 nobody will ask, 1 may matter, 2 is asked."""

    worth: int | None = None
    noise: Noise | None = None
    superseded_by: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldQuestion:
    """A question, the units that answer it, and those that answered it before something changed."""

    id: str
    text: str
    category: str
    evidence: tuple[str, ...]
    stale: tuple[str, ...] = ()
    answer: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One history in the order of telling, with labels of its units and the questions about it.

    A replay is given `units` alone. Questions without evidence (abstention) are not scored.

    Raises:
        InvalidInputError: No unit, an id twice, moments that go back, or a question about a unit
            that is not there.
    """

    id: str
    units: tuple[Unit, ...]
    questions: tuple[GoldQuestion, ...]
    labels: Mapping[str, UnitLabel] = field(default_factory=dict)
    language: str = "en"
    style: str = "peer"

    def __post_init__(self) -> None:
        """Check what every measure relies on."""
        places = self.places
        if not self.units or len(places) < len(self.units):
            self._refuse("has no unit" if not self.units else "has a unit id twice")
        if any(later.at < earlier.at for earlier, later in pairwise(self.units)):
            self._refuse("tells a unit before an earlier one")
        for question in self.questions:
            unknown = [each for each in (*question.evidence, *question.stale) if each not in places]
            if unknown:
                self._refuse(f"question {question.id} names unknown unit {unknown[0]}")

    def _refuse(self, problem: str) -> None:
        message = f"conversation {self.id}: {problem}"
        raise InvalidInputError(message, field="conversation")

    @property
    def places(self) -> dict[str, int]:
        """The place of each unit, from 0."""
        return {unit.id: place for place, unit in enumerate(self.units)}

    @property
    def scored(self) -> tuple[GoldQuestion, ...]:
        """The questions that have evidence."""
        return tuple(question for question in self.questions if question.evidence)

    def rows(self, ids: Sequence[str]) -> list[int]:
        """Give the places of units, each once, ascending."""
        places = self.places
        return sorted({places[each] for each in ids})


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Conversations of one source. `track` names a part that is measured apart."""

    name: str
    conversations: tuple[Conversation, ...]
    track: str = ""

    def __post_init__(self) -> None:
        """Refuse a data set that would measure nothing."""
        if not self.conversations:
            message = f"{self.name}: holds no conversation"
            raise InvalidInputError(message, field="dataset")

    def __iter__(self) -> Iterator[Conversation]:
        """Go through the conversations."""
        return iter(self.conversations)

    @property
    def title(self) -> str:
        """Name and track."""
        return f"{self.name}, {self.track}" if self.track else self.name


def shuffled(conversation: Conversation, seed: int) -> Conversation:
    """Deal the evidence to other units at random: the negative control.

    Each unit's questions move to one other unit, so that every policy must fall to the share of the
    records that it keeps.
    """
    ids = [unit.id for unit in conversation.units]
    dealt = np.random.default_rng(seed).permutation(len(ids))
    other = {each: ids[place] for each, place in zip(ids, dealt.tolist(), strict=True)}
    questions = tuple(
        replace(
            question,
            evidence=tuple(other[each] for each in question.evidence),
            stale=tuple(other[each] for each in question.stale),
        )
        for question in conversation.questions
    )
    return replace(conversation, questions=questions)
