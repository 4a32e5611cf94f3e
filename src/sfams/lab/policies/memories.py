"""Baselines from the literature on memory: importance alone, MemoryBank in both forms, ACT-R."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from sfams.core.columns import Columns, Floats
from sfams.core.moments import to_micros
from sfams.core.record import RecordId
from sfams.lab.policies.base import Arrival, Baseline

_SECOND = 1_000_000.0
_DAY = 86_400 * _SECOND
_DECAY = 0.5
_SHORTEST = 1.0  # seconds: the presentation that is happening now


def importance_only() -> Baseline:
    """Keep what the product's content prior values; recency, use and age do not count."""
    return Baseline("importance only", lambda columns, _: columns.importance.copy())


def memorybank() -> Baseline:
    """MemoryBank as published: `R = exp(-t / S)`, S = 1 + recalls, t days since the last one.

    Zhong et al., AAAI 2024 (arXiv 2305.10250), section 2.2. There memories vanish at random with
    probability 1 - R; under a budget the lowest R goes. Ranked by -t / S, which does not underflow.
    """

    def values(columns: Columns, now: datetime) -> Floats:
        return -_days(columns, now) / (1.0 + columns.access_count)

    return Baseline("MemoryBank", values)


def memorybank_released() -> Baseline:
    """MemoryBank as released: `math.exp(-t / 5*S)`, which is `exp(-(t / 5) * S)`.

    zhongwanjun/MemoryBank-SiliconFriend at cf61c41: for want of brackets a stronger memory fades
    faster. t counts whole days, as there.
    """

    def values(columns: Columns, now: datetime) -> Floats:
        return -np.floor(_days(columns, now)) / 5.0 * (1.0 + columns.access_count)

    return Baseline("MemoryBank, released", values)


def _days(columns: Columns, now: datetime) -> Floats:
    last = np.maximum(columns.last_accessed_at, columns.created_at)
    days: Floats = np.maximum(to_micros(now) - last, 0) / _DAY
    return days


class ActR(Baseline):
    """ACT-R base-level activation: `ln sum_j t_j ** -0.5` over all presentations, t in seconds.

    Anderson and Schooler, "Reflections of the Environment in Memory" (1991); Anderson et al., "An
    Integrated Theory of the Mind" (2004). Being told and every access are presentations.
    """

    def __init__(self) -> None:
        """Start without a presentation."""
        super().__init__("ACT-R", self._activation)
        self._rows: dict[RecordId, int] = {}
        self._of: list[int] = []
        self._at: list[int] = []

    def arrive(self, arrival: Arrival) -> None:
        """Note the first presentation."""
        self._rows[arrival.id] = len(self._rows)
        self._present(arrival.id, arrival.at)

    def accessed(self, ids: Sequence[RecordId], at: datetime) -> None:
        """Note one more."""
        for each in ids:
            self._present(each, at)

    def _present(self, record_id: RecordId, at: datetime) -> None:
        self._of.append(self._rows[record_id])
        self._at.append(to_micros(at))

    def _activation(self, columns: Columns, now: datetime) -> Floats:
        elapsed = (to_micros(now) - np.array(self._at, np.int64)) / _SECOND
        gains = np.maximum(elapsed, _SHORTEST) ** -_DECAY
        sums = np.bincount(np.array(self._of, np.int64), gains, len(self._rows))
        rows = np.array([self._rows[each] for each in columns.ids], np.int64)
        activation: Floats = np.log(sums[rows])
        return activation
