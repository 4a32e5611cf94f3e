"""Who is accessed when nobody asks: the same rule for every policy.

No data set tells what was looked up while a conversation ran. So each unit, when it is told, is a
question to what is stored: the three nearest stored units above a fixed similarity count as accessed.
Similarity is the cosine of TF-IDF weights with document frequencies counted up to that moment, so
nothing is known of what is still to come.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Floats
from sfams.core.text import tokenise

NEAREST = 3
FLOOR = 0.12
"""At most so many accesses a unit, each of at least this cosine."""
_DIGITS = 5  # what lies closer together counts as equal on every machine


def similarities(texts: Sequence[str]) -> Floats:
    """Compare each text with all before it; shape (n, n), row i says how near each j < i is."""
    counted = [Counter(tokenise(text)) for text in texts]
    numbers = {term: at for at, term in enumerate(dict.fromkeys(t for c in counted for t in c))}
    seen = np.zeros((len(texts), len(numbers)), np.float32)
    frequency = np.zeros(len(numbers))
    near = np.zeros((len(texts), len(texts)))
    for row, counts in enumerate(counted):
        terms = np.array([numbers[term] for term in counts], np.intp)
        frequency[terms] += 1.0
        weights = np.log((2.0 + row) / (1.0 + frequency)) + 1.0
        own = np.array(list(counts.values()), np.float64) * weights[terms]
        if row and len(terms):
            squares = np.maximum((seen[:row] ** 2) @ (weights**2).astype(np.float32), 1e-12)
            dots = seen[:row][:, terms] @ (own * weights[terms]).astype(np.float32)
            near[row, :row] = dots / np.sqrt(squares) / math.sqrt(float(own @ own))
        seen[row, terms] = list(counts.values())
    return np.round(near, _DIGITS)


def nearest(row: Floats, stored: NDArray[np.bool_]) -> list[int]:
    """Name the stored units that a unit finds, nearest first, older first among equals."""
    candidates = np.flatnonzero(stored & (row >= FLOOR))
    order = np.argsort(-row[candidates], kind="stable")[:NEAREST]
    found: list[int] = candidates[order].tolist()
    return found
