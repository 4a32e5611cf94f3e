"""Asking: after the freeze, all gold questions to what is left, by the product's own ranking."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np

from sfams.core.columns import Floats
from sfams.core.keywords import ColdPosting, question_terms
from sfams.core.query import Filter, Mode, Query
from sfams.core.ranking import ColdSide, Question, rank
from sfams.core.record import Tier
from sfams.core.vectors import Vector
from sfams.lab.datasets.values import GoldQuestion
from sfams.lab.streaming import SCOPE, Told
from sfams.ports import Transition

HOT = "hot"
WITH_COLD = "hot and cold"
KEYWORDS = "hot, keywords"
WAYS = (HOT, WITH_COLD, KEYWORDS)
"""Hybrid ranking of the hot tier alone, of both tiers (cold by words), and BM25 of the hot tier."""
MOST = 20
_NEXT_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Asked:
    """A gold question in rows of records, ready for ranking in every way.

    `postings` holds its words in every record, as if all were cold.
    """

    gold: frozenset[int]
    stale: frozenset[int]
    category: str
    ways: Mapping[str, Question]
    postings: tuple[ColdPosting, ...]


def prepared(text: str, vector: Vector, at: datetime) -> dict[str, Question]:
    """Prepare a question for each of `WAYS`."""
    hot = Filter(tiers=(Tier.HOT,))
    hybrid, words = (Query(text=text, k=MOST, mode=m) for m in (Mode.HYBRID, Mode.KEYWORD))
    return {
        HOT: Question.of(replace(hybrid, selection=hot), vector, at),
        WITH_COLD: Question.of(hybrid, vector, at),
        KEYWORDS: Question.of(replace(words, selection=hot), None, at),
    }


class Asker:
    """Moves the records of a conversation between the tiers, and asks."""

    def __init__(self, told: Told, questions: Sequence[GoldQuestion]) -> None:
        """Embed the questions; this is the first time that anything here sees them."""
        self._told = told
        self._engine = told.engine
        self._ids = told.columns.ids
        self._rows = {record_id: row for row, record_id in enumerate(self._ids)}
        self._hot = set(range(len(self._ids)))
        self._places = {unit.id: place for place, unit in enumerate(told.units)}
        self.freeze(())  # so that the store names the words of a question in every record
        self.questions = tuple(map(self._asked, questions))
        self.freeze(range(len(self._ids)))

    def rows(self, unit_ids: Sequence[str]) -> frozenset[int]:
        """Give the records that hold units."""
        return frozenset(int(self._told.row_of[self._places[each]]) for each in unit_ids)

    def moment(self, question: GoldQuestion) -> datetime:
        """Tell when a question is asked: a day after the last unit, if the data does not say."""
        return question.at or self._told.units[-1].at + _NEXT_DAY

    def _asked(self, question: GoldQuestion) -> Asked:
        gold = self.rows(question.evidence)
        vector = self._engine.embedder.embed_query(question.text)
        with self._engine.store.read() as reader:
            postings = reader.cold_postings(SCOPE, list(question_terms(question.text)))
        return Asked(
            gold=gold,
            stale=self.rows(question.stale) - gold,
            category=question.category,
            ways=prepared(question.text, vector, self.moment(question)),
            postings=tuple(postings),
        )

    def freeze(self, kept: Collection[int]) -> None:
        """Let these records be hot and all others cold."""
        wanted = set(kept)
        changes = [
            Transition(self._ids[row], tier=Tier.HOT if row in wanted else Tier.COLD)
            for row in sorted(wanted ^ self._hot)
        ]
        if changes:
            with self._engine.store.write() as transaction:
                transaction.transition(SCOPE, changes, self._told.units[-1].at)
        self._hot = wanted

    def bytes_per_record(self) -> float:
        """Measure the packed view of what is hot, vectors and postings included."""
        engine = self._engine
        with (
            engine.store.read() as reader,
            engine.views.open(SCOPE, reader, engine.embedder.dimension) as view,
        ):
            return view.nbytes / max(len(view), 1)

    def ask(self, ways: Sequence[str] = WAYS) -> Mapping[str, list[list[int]]]:
        """Rank what is hot, and where asked what is cold, for every question; rows, best first."""
        cold = {self._ids[row] for row in range(len(self._ids)) if row not in self._hot}
        found: dict[str, list[list[int]]] = {way: [] for way in ways}
        for asked in self.questions:
            side = ColdSide([each for each in asked.postings if each.id in cold])
            for way in ways:
                found[way].append(self.rank(asked.ways[way], side))
        return found

    def rank(self, question: Question, cold: ColdSide | None = None) -> list[int]:
        """Rank by the product's own code; rows, best first."""
        engine = self._engine
        with (
            engine.store.read() as reader,
            engine.views.open(SCOPE, reader, engine.embedder.dimension) as view,
        ):
            found = rank(view, question, engine.embedder.calibration, engine.weights, cold)
        return [self._rows[each.id] for each in found.candidates]


def sizes_in(told: Told, kind: str) -> Floats:
    """Give the size of each record in the kind of a budget: its tokens, or one."""
    tokens = told.columns.tokens.astype(np.float64)
    return tokens if kind == "tokens" else np.ones_like(tokens)
