"""RankingWeights: how much each signal counts in a recall, checked when it is built."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

from sfams.core.turns import REACH
from sfams.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingWeights:
    """How signals become a score.

    `dense` and `lexical` share what is left of 1 after the others, in their proportion; a signal
    that a question cannot have (no vector, nobody named) leaves its share to them.

    Attributes:
        dense: Closeness in meaning.
        lexical: Words in common.
        importance: Share of the record's importance.
        speaker: Share for a record whose `who` the question names.
        recency: Share for being recent: `0.5 ** (age / recency_half_life)`; off by default.
        recency_half_life: Age at which recency has halved.
        neighbours: How much the turns at distance 1, 2 lend of their relevance; () is off.
        cold_penalty: Share of its score that a cold record loses.
        noise: A record without a word in common must be this many deviations above the mean cosine
            of unrelated texts, in hybrid mode.
        wordless_noise: The same for a question without a letter or digit, in vector mode too.
    """

    dense: float = 0.55
    lexical: float = 0.45
    importance: float = 0.05
    speaker: float = 0.15
    recency: float = 0.0
    recency_half_life: timedelta = timedelta(days=30)
    neighbours: tuple[float, ...] = (0.35, 0.15)
    cold_penalty: float = 0.1
    noise: float = 0.0
    wordless_noise: float = 4.0

    def __post_init__(self) -> None:
        """Check ranges."""
        for name in ("dense", "lexical", "importance", "speaker", "recency", "cold_penalty"):
            _check(name, getattr(self, name), 0.0, 1.0)
        for weight in self.neighbours:
            _check("neighbours", weight, 0.0, 1.0)
        for name in ("noise", "wordless_noise"):
            _check(name, getattr(self, name), 0.0, 100.0)
        if self.dense + self.lexical <= 0.0:
            message = "dense and lexical: one of them must be above 0"
            raise InvalidInputError(message, field="dense")
        if self.importance + self.speaker + self.recency >= 1.0:
            message = "importance, speaker and recency: must leave room, their sum is 1 or more"
            raise InvalidInputError(message, field="importance")
        if len(self.neighbours) > REACH:
            message = f"neighbours: at most {REACH} distances, got {len(self.neighbours)}"
            raise InvalidInputError(message, field="neighbours")
        if self.recency_half_life <= timedelta(0):
            message = "recency_half_life: must be longer than zero"
            raise InvalidInputError(message, field="recency_half_life")


def _check(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        message = f"{name}: must lie in {low:g}..{high:g}, got {value}"
        raise InvalidInputError(message, field=name)
