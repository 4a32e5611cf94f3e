"""What thinks, tells the time or listens: clock, ids, embedder, summarizer, listener."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from sfams.core.events import MemoryEvent
from sfams.core.lifecycle import Transition as Transition  # noqa: PLC0414  # part of this port
from sfams.core.query import Calibration
from sfams.core.record import EntityCount as EntityCount  # noqa: PLC0414  # part of this port
from sfams.core.record import PastVersion as PastVersion  # noqa: PLC0414  # as above
from sfams.core.reindex import Adoption as Adoption  # noqa: PLC0414  # part of this port
from sfams.core.reindex import EmbeddingModel as EmbeddingModel  # noqa: PLC0414  # as above
from sfams.core.reindex import Staged as Staged  # noqa: PLC0414  # as above
from sfams.core.reindex import Staging as Staging  # noqa: PLC0414  # as above
from sfams.core.scope import Scope
from sfams.core.summarizing import SummaryRequest, SummaryText
from sfams.core.view import Vector

Clock = Callable[[], datetime]
"""Tells the present moment, aware UTC. The only source of `now`."""

IdSource = Callable[[], str]
"""Makes a new id, unique and rising with time (UUIDv7)."""


class Embedder(Protocol):
    """Turns text into unit vectors."""

    @property
    def model_id(self) -> str:
        """Name, version and engine build; stored with every vector."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    @property
    def calibration(self) -> Calibration:
        """Cosine of unrelated texts under this model."""
        ...

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories: float32, shape (n, dimension), unit rows (zero rows mean "no vector")."""
        ...

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question: float32, shape (dimension,)."""
        ...

    def close(self) -> None:
        """Give back threads and memory; further calls fail."""
        ...


class Summarizer(Protocol):
    """Makes one text of several memories."""

    @property
    def name(self) -> str:
        """Who writes, such as "rules" or a model's name; stored with every summary."""

    def summarize(self, request: SummaryRequest, /) -> SummaryText | None:
        """Summarize; None to give up. What comes back is checked and may be refused."""


class Listener(Protocol):
    """Hears of every event after its transaction has committed."""

    def __call__(self, scope: Scope, events: Sequence[MemoryEvent], /) -> None:
        """Take note; must not raise."""
        ...
