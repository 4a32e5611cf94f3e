"""Asking, listing, explaining."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from sfams.core.context import ContextBlock
from sfams.core.events import MemoryEvent
from sfams.core.query import Cursor, RecallResult
from sfams.core.record import MemoryRecord
from sfams.core.scope import Scope
from sfams.core.selecting import FilterFields
from sfams.ports import EntityCount, PastVersion, ScopeStats
from sfams.service import (
    explaining,
    listing,
    recalling,
)
from sfams.service.recalling import RecallFields
from sfams.service.results import (
    Explanation,
    Listing,
)
from sfams.service.verbs.base import Verbs


class ReadingVerbs(Verbs):
    """Asking, listing, explaining."""

    def scopes(self) -> Sequence[Scope]:
        """List this scope and those below it that hold anything."""
        with self._engine.store.read() as reader:
            return reader.scopes(self.scope)

    def recall(self, query: str | None = None, **fields: Unpack[RecallFields]) -> RecallResult:
        """Find what answers a question, best first; without one, the last accessed or most important.

        Every returned record counts one access (once per `turn` where one is given). Counting is
        buffered: reading writes nothing. See `RecallFields` for k, mode and filters.
        """
        return recalling.recall(self._engine, self.scope, query, fields)

    def context(
        self, query: str | None = None, *, tokens: int = 1000, **fields: Unpack[RecallFields]
    ) -> ContextBlock:
        """Recall and format for a prompt: under a token budget, fenced as data."""
        return recalling.context(self._engine, self.scope, query, tokens, fields)

    def get(self, record_id: str) -> MemoryRecord:
        """Read one record whole; counts no access."""
        return listing.get(self._engine, self.scope, record_id)

    def list(
        self,
        *,
        limit: int = 50,
        order: str = "created_at",
        descending: bool = True,
        after: Cursor | None = None,
        **fields: Unpack[FilterFields],
    ) -> Listing:
        """List records that match a filter, page by page; counts no access."""
        page = listing.make_page(limit, order, after, descending=descending)
        return listing.list_records(self._engine, self.scope, page, fields)

    def entities(self) -> Sequence[EntityCount]:
        """List the entities of live records, most named first."""
        return listing.entities(self._engine, self.scope)

    def history(self, record_id: str) -> tuple[MemoryEvent, ...]:
        """Read what happened to a record, oldest first."""
        return listing.history(self._engine, self.scope, record_id)

    def versions(self, record_id: str) -> Sequence[PastVersion]:
        """Read what a record said before it was changed."""
        return listing.versions(self._engine, self.scope, record_id)

    def timeline(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """Read every value a statement has had by supersession, oldest first."""
        return listing.chain(self._engine, self.scope, record_id)

    def explain(self, subject: str, *, query: str | None = None, k: int = 10) -> Explanation:
        """Tell what became of a memory, by id or by text, and why; with `query`, where it ranks."""
        return explaining.explain(self._engine, self.scope, subject, query, k)

    def stats(self) -> ScopeStats:
        """Measure the scope."""
        return listing.stats(self._engine, self.scope)
