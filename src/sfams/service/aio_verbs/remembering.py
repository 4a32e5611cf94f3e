"""Taking texts in, and changing what is held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Unpack

from sfams.core.draft import Draft, DraftFields
from sfams.core.record import MemoryRecord
from sfams.core.sensitivity import SensitiveRule
from sfams.service.aio_verbs.base import AsyncVerbs
from sfams.service.results import (
    Progress,
    RememberResult,
)


class AsyncRememberingVerbs(AsyncVerbs):
    """Taking texts in, and changing what is held."""

    async def remember(
        self, content: str, *, wait: bool = True, **fields: Unpack[DraftFields]
    ) -> RememberResult:
        """Store one text with what is known about it."""
        return await self._threads.write(
            partial(self._memory.remember, content, wait=wait, **fields)
        )

    async def remember_many(
        self,
        items: Iterable[str | Draft | Mapping[str, object]],
        *,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> list[RememberResult]:
        """Store many texts, drafts or mappings, in order. `progress` is called on the worker thread."""
        call = partial(self._memory.remember_many, items, wait=wait, progress=progress)
        return await self._threads.write(call)

    async def embed_pending(self, *, progress: Progress | None = None) -> int:
        """Embed records that were stored without a vector; returns how many have one now."""
        return await self._threads.write(partial(self._memory.embed_pending, progress=progress))

    async def update(
        self, record_id: str, *, expected_version: int | None = None, **fields: object
    ) -> MemoryRecord:
        """Change `content` or any field of `remember` but dates of origin and key."""
        call = partial(self._memory.update, record_id, expected_version=expected_version, **fields)
        return await self._threads.write(call)

    async def supersede(self, old: str, new: str) -> None:
        """Say that record `new` takes the place of record `old`."""
        await self._threads.write(partial(self._memory.supersede, old, new))

    async def link(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Relate two records; False when they are so related already."""
        return await self._threads.write(partial(self._memory.link, source, target, relation_type))

    async def unlink(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Remove a relation; False when there was none."""
        call = partial(self._memory.unlink, source, target, relation_type)
        return await self._threads.write(call)

    async def reinforce(
        self, ids: Iterable[str] | str, *, session: str | None = None, outcome: str | None = None
    ) -> int:
        """Confirm that memories were used; each counts at most once per session."""
        call = partial(self._memory.reinforce, ids, session=session, outcome=outcome)
        return await self._threads.write(call)

    async def sensitive_rule(self) -> SensitiveRule:
        """Tell what this scope does with what is sensitive."""
        return await self._threads.read(self._memory.sensitive_rule)

    async def set_sensitive_rule(self, rule: str | None) -> None:
        """Set it for this scope and those below: "store", "redact" or "refuse"; None inherits again."""
        await self._threads.write(partial(self._memory.set_sensitive_rule, rule))
