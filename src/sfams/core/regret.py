"""Regret: does a question ask for what was forgotten?

Each content term of the question weighs `ln(1 + (n + 1) / (df + 1))`, n and df counted over the hot records
and the ghosts. A ghost matches that held at least `THRESHOLD` of the question's weight and two of its
terms (one of a question of one). It is missed only if no hit holds as much: then the question has been
answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from math import log

from sfams.core.record import RecordId

THRESHOLD = 0.6
LEAST_TERMS = 2
Weights = Mapping[int, float]


def weigh(
    terms: Iterable[int],
    postings: Mapping[int, Collection[RecordId]],
    frequency: Callable[[int], int],
    size: int,
) -> Weights:
    """Weigh a question's terms by rarity; the weights add up to 1.

    Args:
        terms: The question's content terms.
        postings: Ghosts by term.
        frequency: Tells in how many hot records a term stands.
        size: Number of hot records.
    """
    total = size + len({each for ids in postings.values() for each in ids})
    raw = {t: log(1 + (total + 1) / (frequency(t) + len(postings.get(t, ())) + 1)) for t in terms}
    whole = sum(raw.values())
    return {term: weight / whole for term, weight in raw.items()}


def share(weights: Weights, terms: Collection[int]) -> float:
    """Tell how much of a question's weight a text holds, 0..1."""
    return sum(weight for term, weight in weights.items() if term in terms)


def matching(
    weights: Weights, postings: Mapping[int, Collection[RecordId]]
) -> dict[RecordId, float]:
    """Find the ghosts that match a question, and how well; best first."""
    held: dict[RecordId, set[int]] = {}
    for term, ids in postings.items():
        for record_id in ids:
            held.setdefault(record_id, set()).add(term)
    shares = {each: share(weights, terms) for each, terms in held.items() if enough(weights, terms)}
    return dict(sorted(shares.items(), key=lambda pair: (-pair[1], pair[0])))


def enough(weights: Weights, terms: Collection[int]) -> bool:
    """Tell whether a text with these terms is asked for."""
    common = sum(term in terms for term in weights)
    return common >= min(LEAST_TERMS, len(weights)) and share(weights, terms) >= THRESHOLD
