"""BM25 with the statistics of one scope, equal on every store, on a fixed scale of 0..1.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
Lucene's non-negative idf: `ln(1 + (N - df + 0.5) / (df + 0.5))`. N and df count the scope's own
live records, hot and cold, and the average length is that of its hot ones, so no other scope's
records move a score. Records that have expired but that no plan has taken yet still count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfams.core.columns import Floats
from sfams.core.keywords import ColdPosting
from sfams.core.record import RecordId
from sfams.core.stopwords import FUNCTION_TERMS
from sfams.core.stopwords import WEIGHT as FUNCTION_WEIGHT
from sfams.core.view import RowNumbers, ScopeView

K1 = 1.2
"""How soon repeats of a term stop to count."""

B = 0.75
"""How much length counts."""

SCALE = 8.0
"""BM25 value that maps to 0.63; see `to_unit`."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of a scope: weight of each question term, and mean length in terms."""

    weights: Mapping[int, float]
    average_length: float


def statistics(
    view: ScopeView,
    terms: Mapping[int, int],
    cold: Sequence[ColdPosting] = (),
    *,
    cold_records: int = 0,
) -> Statistics:
    """Weigh the terms of a question: idf times how often the question has the term.

    Args:
        view: The scope's hot records.
        terms: Term id and count, from `question_terms`.
        cold: Every cold posting of these terms, whatever a filter says.
        cold_records: How many cold live records the scope has; those in `cold` count at least.
    """
    in_cold = Counter(posting.term for posting in cold)
    lengths = {posting.id: posting.length for posting in cold}
    documents = len(view) + max(cold_records, len(lengths))
    average = view.average_length or sum(lengths.values()) / max(1, len(lengths))
    weights = {}
    for term, count in terms.items():
        frequency = view.frequency(term) + in_cold[term]
        if frequency:
            idf = math.log1p((documents - frequency + 0.5) / (frequency + 0.5))
            weights[term] = idf * count * (FUNCTION_WEIGHT if term in FUNCTION_TERMS else 1.0)
    return Statistics(weights, max(average, 1.0))


def scores(view: ScopeView, known: Statistics) -> tuple[RowNumbers, Floats]:
    """Score every live row that holds a term of the question.

    Returns:
        Rows, ascending, and their scores in 0..1 (see `to_unit`); every score is above 0.
    """
    values = np.zeros(view.extent)
    for term, weight in known.weights.items():
        rows, counts = view.postings(term)
        length = view.lengths[rows] / known.average_length
        values[rows] += weight * counts * (K1 + 1.0) / (counts + K1 * (1.0 - B + B * length))
    rows = np.flatnonzero(values)
    return rows, to_unit(values[rows])


def cold_scores(postings: Sequence[ColdPosting], known: Statistics) -> dict[RecordId, float]:
    """Score cold records from their postings, on the same scale as `scores`."""
    found = {(each.id, each.term): each for each in postings}
    values: dict[RecordId, float] = {}
    for term, weight in known.weights.items():  # in the order of `scores`, to the last digit
        for (record_id, held), each in found.items():
            if held == term:
                length = each.length / known.average_length
                gain = weight * each.count * (K1 + 1.0)
                gain /= each.count + K1 * (1.0 - B + B * length)
                values[record_id] = values.get(record_id, 0.0) + gain
    return {record_id: float(to_unit(np.array(value))) for record_id, value in values.items()}


def to_unit(values: Floats) -> Floats:
    """Map BM25 values to 0..1 by `1 - exp(-value / SCALE)`, for every question and scope alike.

    A common word alone (value about 1) gets about 0.1, two rare words 0.7, a sentence
    found word for word above 0.9. A fixed scale lets one minimum score serve every question.
    """
    result: Floats = -np.expm1(-values / SCALE)
    return result
