"""Ranking: signals on fixed scales become one score in 0..1 whose parts add up.

What a score means, by mode:
    vector   the calibrated cosine: 0 unrelated, 1 the same text. Every record with a vector.
    keyword  BM25 on its fixed scale (`lexical.to_unit`). Every record with a word of the question.
    hybrid   relevance (dense and lexical, weighted) with what neighbouring turns lend, plus shares
             for importance, the named speaker and recency. Records that share a word, or that are
             closer in meaning than unrelated texts are, or that stand beside such a record.

Every live row is scored, there is no preselection, and nothing is normalised per question: a score
depends on the question, the record and the caller's own scope only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np

from sfams.core import lexical
from sfams.core.columns import Bools, Floats, Ints
from sfams.core.keywords import ColdPosting, question_terms, term_id
from sfams.core.moments import to_micros
from sfams.core.query import Calibration, Filter, Mode, Query
from sfams.core.record import RecordId, Status, Tier
from sfams.core.text import tokenise
from sfams.core.view import RowNumbers, ScopeView, Vector
from sfams.core.weights import RankingWeights

__all__ = [
    "Candidate",
    "ColdSide",
    "Question",
    "Ranking",
    "RankingWeights",
    "calibrated",
    "rank",
]

_DIGITS = 6  # a cosine differs in the seventh digit by the place of its row in the matrix
_MICROSECONDS = 1_000_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query made ready: its terms, its vector (None without one) and the moment it is asked.

    `among` names the records that match `selection`, from `Reader.matching`. It is needed where the
    view cannot tell: the selection restricts, and `ScopeView.answers` is false or there are cold
    records. None means that the view's own columns decide, and that cold records match only a
    selection that does not restrict.
    """

    terms: Mapping[int, int]
    vector: Vector | None
    now: datetime
    mode: Mode = Mode.HYBRID
    k: int = 10
    min_score: float = 0.0
    selection: Filter = field(default_factory=Filter)
    among: Collection[RecordId] | None = None
    wordless: bool = False

    @classmethod
    def of(
        cls,
        query: Query,
        vector: Vector | None,
        now: datetime,
        among: Collection[RecordId] | None = None,
    ) -> Question:
        """Prepare a query."""
        return cls(
            terms=question_terms(query.text),
            vector=vector,
            now=now,
            mode=query.mode,
            k=query.k,
            min_score=query.min_score,
            selection=query.selection,
            among=among,
            wordless=not any(char.isalnum() for char in query.text),
        )


@dataclass(frozen=True, slots=True)
class ColdSide:
    """The cold records: every posting of the question's terms, and how many records are cold."""

    postings: Sequence[ColdPosting] = ()
    records: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that answers, with the parts that add up to its score (0..1).

    `closeness` is the cosine in vector mode, else 0: it orders records that are all unrelated.
    """

    id: RecordId
    score: float
    parts: Mapping[str, float]
    created_at: int
    closeness: float = 0.0
    cold: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, best first; how many fell below the minimum score, and the best of those or 0."""

    candidates: tuple[Candidate, ...] = ()
    below: int = 0
    best_below: float = 0.0


def calibrated(cosines: Floats | Vector, calibration: Calibration) -> Floats:
    """Map cosines to 0..1: 0 up to the mean of unrelated texts, 1 for equal ones, else linear."""
    return _above_mean(_rounded(cosines), calibration)


def _rounded(cosines: Floats | Vector) -> Floats:
    wide: Floats = np.asarray(cosines, np.float64)
    return wide.round(_DIGITS)


def _above_mean(rounded: Floats, calibration: Calibration) -> Floats:
    return np.clip((rounded - calibration.mean) / _span(calibration), 0.0, 1.0)


def rank(
    view: ScopeView,
    question: Question,
    calibration: Calibration,
    weights: RankingWeights | None = None,
    cold: ColdSide | None = None,
) -> Ranking:
    """Find the k best records of a scope for a question.

    Args:
        view: The scope's hot records; its caller holds the view's lock.
        question: What is asked, and of which records.
        calibration: Of the model that made the vectors.
        weights: How much each signal counts.
        cold: What the store knows of cold records; nothing leaves them out.

    Returns:
        At most k candidates: by score, then newest first, then by id. In vector mode those that
        score 0, because they are farther than unrelated texts are, stand by their cosine.
    """
    weights = weights or RankingWeights()
    cold = cold or ColdSide()
    known = lexical.statistics(view, question.terms, cold.postings, cold_records=cold.records)
    signals = _signals(view, question, calibration, known)
    shares = _shares(signals, question, weights)
    parts, eligible = _hot_parts(view, signals, question, (weights, calibration), shares)
    totals = np.clip(sum(parts.values(), np.zeros(view.extent)), 0.0, 1.0)
    rows = np.flatnonzero(eligible)
    good = rows[totals[rows] >= question.min_score]
    closeness = signals.cosine if question.mode is Mode.VECTOR else np.zeros(view.extent)
    best = _top((totals, closeness, view.created_at), good, question.k)
    found = _hot_candidates(view, best, (totals, closeness), parts)
    cold_found = _cold_candidates(cold, known, question, (weights, shares))
    passed = [each for each in cold_found if each.score >= question.min_score]
    failing = [each.score for each in cold_found if each.score < question.min_score]
    failed = np.append(totals[rows][totals[rows] < question.min_score], failing)
    ordered = sorted([*found, *passed], key=_place)
    return Ranking(
        tuple(ordered[: max(question.k, 0)]), len(failed), float(failed.max(initial=0.0))
    )


# ── Signals ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Signals:
    """What is known of each row, in 0..1 (the cosine: -1..1).

    Which signals a question has at all (`embedded`, `speaker`) is told by visible rows alone.
    """

    visible: Bools
    embedded: Bools
    cosine: Floats
    dense: Floats
    lexical: Floats
    speaker: Floats


def _signals(
    view: ScopeView, question: Question, calibration: Calibration, known: lexical.Statistics
) -> _Signals:
    visible = view.mask(question.selection, to_micros(question.now))
    if question.among is not None:
        visible &= view.rows_of(question.among)
    cosine, dense, words, speaker = (np.zeros(view.extent) for _ in range(4))
    embedded = np.zeros(view.extent, np.bool_)
    if question.mode is not Mode.KEYWORD and question.vector is not None:
        rows, cosines = view.dense(question.vector)
        embedded[rows] = True
        cosine[rows] = rounded = _rounded(cosines)
        dense[rows] = _above_mean(rounded, calibration)
    if question.mode is not Mode.VECTOR:
        rows, found = lexical.scores(view, known)
        words[rows] = found
    if question.mode is Mode.HYBRID:
        speaker = _named(view.who_names, question.terms)[view.who]
    return _Signals(visible, embedded & visible, cosine, dense, words, speaker * visible)


def _named(names: Sequence[str], terms: Mapping[int, int]) -> Floats:
    """Tell for each name which share of its words the question contains."""
    shares = np.zeros(len(names))
    for place, name in enumerate(names):
        words = _name_terms(name)
        if words:
            shares[place] = len(words & terms.keys()) / len(words)
    return shares


@lru_cache(maxsize=16_384)
def _name_terms(name: str) -> frozenset[int]:
    return frozenset(map(term_id, tokenise(name)))


# ── Fusion ───────────────────────────────────────────────────────────────────────────────────────


def _shares(signals: _Signals, question: Question, weights: RankingWeights) -> dict[str, float]:
    """Share out 1 among the signals that this question can have."""
    if question.mode is not Mode.HYBRID:
        return {"dense": 1.0, "lexical": 1.0}  # the other one is zero throughout
    dense = weights.dense if signals.embedded.any() else 0.0
    words = weights.lexical if question.terms else 0.0
    shares = {"importance": weights.importance, "recency": weights.recency}
    shares["speaker"] = weights.speaker if signals.speaker.any() else 0.0
    rest = 1.0 - sum(shares.values())
    both = dense + words or 1.0
    return {**shares, "dense": rest * dense / both, "lexical": rest * words / both}


def _hot_parts(
    view: ScopeView,
    signals: _Signals,
    question: Question,
    tuning: tuple[RankingWeights, Calibration],
    shares: Mapping[str, float],
) -> tuple[dict[str, Floats], Bools]:
    """Weigh the signals of every row; returns the parts and which rows answer at all."""
    weights, calibration = tuning
    eligible = _eligible(signals, question, weights, calibration)
    parts = {name: shares[name] * getattr(signals, name) for name in ("dense", "lexical")}
    if question.mode is not Mode.HYBRID:
        return parts, eligible
    room = shares["dense"] + shares["lexical"]
    if weights.neighbours and room > 0.0:
        relevance = np.where(eligible, (parts["dense"] + parts["lexical"]) / room, 0.0)
        lent = np.minimum(view.turn_links.mixed(relevance, weights.neighbours), 1.0)
        eligible = eligible | ((lent > 0.0) & signals.visible)
        parts["neighbours"] = room * lent * (1.0 - relevance)
    parts["importance"] = shares["importance"] * np.clip(np.nan_to_num(view.importance), 0.0, 1.0)
    parts["speaker"] = shares["speaker"] * signals.speaker
    if shares["recency"]:
        parts["recency"] = shares["recency"] * _recency(view, question.now, weights)
    return parts, eligible


def _eligible(
    signals: _Signals, question: Question, weights: RankingWeights, calibration: Calibration
) -> Bools:
    """Mark the visible rows that answer by themselves."""
    if question.mode is Mode.VECTOR and not question.wordless:
        return signals.visible & signals.embedded
    deviations = weights.wordless_noise if question.wordless else weights.noise
    floor = deviations * calibration.deviation / _span(calibration)
    close = signals.embedded & (signals.dense > floor)
    return signals.visible & (close | (signals.lexical > 0.0))


def _span(calibration: Calibration) -> float:
    """Distance from unrelated to identical, never zero."""
    return max(1.0 - calibration.mean, 1e-6)


def _recency(view: ScopeView, now: datetime, weights: RankingWeights) -> Floats:
    age = np.maximum(to_micros(now) - view.created_at.astype(np.float64), 0.0) / _MICROSECONDS
    result: Floats = 0.5 ** (age / weights.recency_half_life.total_seconds())
    return result


# ── Candidates ───────────────────────────────────────────────────────────────────────────────────


def _top(keys: Sequence[Floats | Ints], rows: RowNumbers, k: int) -> RowNumbers:
    """Take the k best rows by the first key, ties by the next; and all that tie in every key."""
    chosen = [rows[:0]]
    for key in keys:
        if len(rows) <= k or k <= 0:
            break
        values = key[rows]
        last = np.partition(values, len(rows) - k)[len(rows) - k]
        better = rows[values > last]
        chosen.append(better)
        k -= len(better)
        rows = rows[values == last]
    return np.concatenate([*chosen, rows if k > 0 else rows[:0]])


def _place(each: Candidate) -> tuple[float, float, int, str]:
    return -each.score, -each.closeness, -each.created_at, each.id


def _hot_candidates(
    view: ScopeView,
    rows: RowNumbers,
    keys: tuple[Floats, Floats],
    parts: Mapping[str, Floats],
) -> list[Candidate]:
    totals, closeness = keys
    return [
        Candidate(
            record_id,
            float(totals[row]),
            {name: float(values[row]) for name, values in parts.items() if values[row]},
            int(view.created_at[row]),
            float(closeness[row]),
        )
        for row, record_id in zip(rows.tolist(), view.ids(rows.tolist()), strict=True)
    ]


def _cold_candidates(
    cold: ColdSide,
    known: lexical.Statistics,
    question: Question,
    tuning: tuple[RankingWeights, Mapping[str, float]],
) -> list[Candidate]:
    """Score the cold records that match the filter, by their words and importance alone."""
    if question.mode is Mode.VECTOR or not _asks_cold(question):
        return []
    weights, shares = tuning
    facts = {each.id: each for each in cold.postings}
    found = []
    for record_id, words in lexical.cold_scores(cold.postings, known).items():
        fact = facts[record_id]
        if not _cold_visible(fact, question):
            continue
        parts = {"lexical": shares["lexical"] * words}
        if part := shares.get("importance", 0.0) * min(max(fact.importance, 0.0), 1.0):
            parts["importance"] = part
        parts["cold"] = -weights.cold_penalty * sum(parts.values())
        score = min(max(sum(parts.values()), 0.0), 1.0)
        found.append(Candidate(record_id, score, parts, fact.created_at, cold=True))
    return found


def _asks_cold(question: Question) -> bool:
    chosen = question.selection
    return (
        (not chosen.tiers or Tier.COLD in chosen.tiers)
        and (not chosen.statuses or Status.LIVE in chosen.statuses)
        and (question.among is not None or not chosen.restricts)
    )


def _cold_visible(fact: ColdPosting, question: Question) -> bool:
    fresh = question.selection.expired or fact.expires_at > to_micros(question.now)
    return fresh and (question.among is None or fact.id in question.among)
