"""Baselines that know no text: chance, order, size, and the classical cache policies.

FIFO, LRU and LFU as in Silberschatz, Galvin and Gagne, "Operating System Concepts", chapter on page
replacement; ties go to the older record. "Keep first" stops to write when memory is full. Longest and
shortest are the two cheats that a budget in records or in tokens invites; random with priorities
drawn once per record is reservoir sampling (Vitter, "Random Sampling with a Reservoir", 1985).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import numpy as np

from sfams.core.columns import Columns, Floats
from sfams.core.record import RecordId
from sfams.lab.policies.base import Arrival, Baseline

Values = Callable[[Columns, datetime], Floats]


class Random(Baseline):
    """Keep what chance says: each record draws its priority once, when it arrives."""

    def __init__(self, seed: int) -> None:
        """Draw from this seed."""
        super().__init__("random", self._drawn)
        self._seed = seed
        self._chance = np.random.default_rng(seed)
        self._priorities: dict[RecordId, float] = {}

    def arrive(self, arrival: Arrival) -> None:
        """Draw."""
        self._priorities[arrival.id] = float(self._chance.random())

    def _drawn(self, columns: Columns, now: datetime) -> Floats:  # noqa: ARG002  # chance knows no time
        return np.array([self._priorities[each] for each in columns.ids], np.float64)


def _order(columns: Columns, _: datetime) -> Floats:
    return np.arange(len(columns), dtype=np.float64)


def _last_access(columns: Columns, _: datetime) -> Floats:
    last = np.maximum(columns.last_accessed_at, columns.created_at)
    return last.astype(np.float64)


SIMPLE: dict[str, Values] = {
    "FIFO": _order,
    "keep-first": lambda columns, now: -_order(columns, now),
    "LRU": _last_access,
    "LFU": lambda columns, _: columns.access_count.astype(np.float64),
    "longest": lambda columns, _: columns.tokens.astype(np.float64),
    "shortest": lambda columns, _: -columns.tokens.astype(np.float64),
}
"""Values by name of the policy; the lowest leave first."""


def simple(name: str) -> Baseline:
    """Make one of `SIMPLE`."""
    return Baseline(name, SIMPLE[name])
