"""Upper bounds: what could be kept by somebody who knows every question. No policy can know it.

Both are greedy, so the exact optimum may lie a little higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfams.core.columns import Floats

Sets = Sequence[Sequence[int]]
"""For each question the rows of its evidence."""


class Room(NamedTuple):
    """The size of each row, and how much fits."""

    sizes: Floats
    budget: int


def fractional(evidence: Sets, room: Room) -> set[int]:
    """Keep the rows with the most evidence per size, each worth 1/n to a question with n of them.

    The bound of evidence survival (fractional knapsack: Dantzig, 1957), rows that do not fit being
    passed over.
    """
    worth = np.zeros(len(room.sizes))
    for rows in evidence:
        worth[list(rows)] += 1.0 / len(rows)
    order = np.lexsort((np.arange(len(worth)), -worth / np.maximum(room.sizes, 1.0)))
    kept, left = set(), float(room.budget)
    for row in order.tolist():
        if room.sizes[row] <= left:
            kept.add(row)
            left -= room.sizes[row]
    return kept


def all_evidence(evidence: Sets, room: Room) -> set[int]:
    """Complete the question that costs least, again and again: the bound of all-evidence survival."""
    kept: set[int] = set()
    open_, left = [frozenset(rows) for rows in evidence], float(room.budget)
    while open_:
        costs = [float(room.sizes[sorted(rows - kept)].sum()) for rows in open_]
        cheapest = int(np.argmin(costs))
        if costs[cheapest] > left:
            break
        left -= costs[cheapest]
        kept |= open_.pop(cheapest)
    return kept
