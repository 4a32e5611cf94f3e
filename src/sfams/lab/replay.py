"""Replaying a history: a clock that follows it, ids that repeat, and no text embedded twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from itertools import count
from uuid import UUID

import numpy as np

from sfams.core.query import Calibration
from sfams.core.vectors import Vector
from sfams.ports import Embedder


class ReplayClock:
    """Tells the moment that the replay has reached."""

    def __init__(self, start: datetime) -> None:
        """Start at the given moment."""
        self.moment = start

    def __call__(self) -> datetime:
        """Tell the moment."""
        return self.moment


class ReplayIds:
    """Makes ids in the form of UUIDv7 from a clock and a counter: the same in every run."""

    def __init__(self, clock: ReplayClock) -> None:
        """Follow a clock."""
        self._clock = clock
        self._numbers = count()

    def __call__(self) -> str:
        """Make the next id; later ids sort after earlier ones while the clock does not go back."""
        number = next(self._numbers)
        tail = blake2b(number.to_bytes(8, "big"), digest_size=4).digest()
        milliseconds = int(self._clock.moment.timestamp() * 1000)
        low = (0b10 << 62) | ((number & 0x3FFF_FFFF) << 32) | int.from_bytes(tail, "big")
        return str(UUID(int=(milliseconds << 80) | (0x7 << 76) | low))


class SharedEmbedder:
    """Lets several memories use one embedder: what one has embedded, the others get for nothing.

    `close` leaves the inner embedder open; whoever made it closes it.
    """

    def __init__(self, inner: Embedder) -> None:
        """Share `inner`."""
        self._inner = inner
        self._passages: dict[str, Vector] = {}
        self._queries: dict[str, Vector] = {}

    @property
    def model_id(self) -> str:
        """The inner embedder's."""
        return self._inner.model_id

    @property
    def dimension(self) -> int:
        """The inner embedder's."""
        return self._inner.dimension

    @property
    def calibration(self) -> Calibration:
        """The inner embedder's."""
        return self._inner.calibration

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories, those not embedded before by the inner embedder."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._passages))
        if missing:
            self._passages.update(zip(missing, self._inner.embed_passages(missing), strict=True))
        rows = np.empty((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            rows[row] = self._passages[text]
        return rows

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question, once."""
        if text not in self._queries:
            self._queries[text] = self._inner.embed_query(text)
        return self._queries[text]

    def close(self) -> None:
        """Do nothing: the inner embedder belongs to its maker."""
