"""Asking, listing, explaining."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Unpack

from sfams.core.context import ContextBlock
from sfams.core.events import MemoryEvent
from sfams.core.query import Cursor, RecallResult
from sfams.core.record import MemoryRecord
from sfams.core.selecting import FilterFields
from sfams.ports import EntityCount, PastVersion, ScopeStats
from sfams.service.aio_verbs.base import AsyncVerbs
from sfams.service.recalling import RecallFields
from sfams.service.results import (
    Explanation,
    Listing,
)


class AsyncReadingVerbs(AsyncVerbs):
    """Asking, listing, explaining."""

    async def recall(
        self, query: str | None = None, **fields: Unpack[RecallFields]
    ) -> RecallResult:
        """Find what answers a question, best first; without one, the last accessed or most important."""
        return await self._threads.read(partial(self._memory.recall, query, **fields))

    async def context(
        self, query: str | None = None, *, tokens: int = 1000, **fields: Unpack[RecallFields]
    ) -> ContextBlock:
        """Recall and format for a prompt: under a token budget, fenced as data."""
        call = partial(self._memory.context, query, tokens=tokens, **fields)
        return await self._threads.read(call)

    async def get(self, record_id: str) -> MemoryRecord:
        """Read one record whole; counts no access."""
        return await self._threads.read(partial(self._memory.get, record_id))

    async def list(
        self,
        *,
        limit: int = 50,
        order: str = "created_at",
        descending: bool = True,
        after: Cursor | None = None,
        **fields: Unpack[FilterFields],
    ) -> Listing:
        """List records that match a filter, page by page; counts no access."""
        page = partial(self._memory.list, limit=limit, order=order, descending=descending)
        return await self._threads.read(partial(page, after=after, **fields))

    async def entities(self) -> Sequence[EntityCount]:
        """List the entities of live records, most named first."""
        return await self._threads.read(self._memory.entities)

    async def history(self, record_id: str) -> tuple[MemoryEvent, ...]:
        """Read what happened to a record, oldest first."""
        return await self._threads.read(partial(self._memory.history, record_id))

    async def versions(self, record_id: str) -> Sequence[PastVersion]:
        """Read what a record said before it was changed."""
        return await self._threads.read(partial(self._memory.versions, record_id))

    async def timeline(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """Read every value a statement has had by supersession, oldest first."""
        return await self._threads.read(partial(self._memory.timeline, record_id))

    async def explain(self, subject: str, *, query: str | None = None, k: int = 10) -> Explanation:
        """Tell what became of a memory, by id or by text, and why; with `query`, where it ranks."""
        return await self._threads.read(partial(self._memory.explain, subject, query=query, k=k))

    async def stats(self) -> ScopeStats:
        """Measure the scope."""
        return await self._threads.read(self._memory.stats)
