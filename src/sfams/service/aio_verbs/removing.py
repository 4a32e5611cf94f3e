"""Deleting, erasing, and what protects from both."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Unpack

from sfams.core.ghosts import Ghost, PolicyRecord
from sfams.core.moments import MomentLike
from sfams.core.plan import Receipt
from sfams.core.record import RecordId
from sfams.core.selecting import FilterFields
from sfams.service.aio_verbs.base import AsyncVerbs
from sfams.service.auditing import Audited
from sfams.service.reach import EraseFields
from sfams.service.results import (
    EraseReceipt,
    ErasureLog,
)


class AsyncRemovingVerbs(AsyncVerbs):
    """Deleting, erasing, and what protects from both."""

    async def delete(
        self, ids: Iterable[str] | str | None = None, **fields: Unpack[FilterFields]
    ) -> Receipt:
        """Delete by ids or by a filter that narrows something; `restore([id, ...])` brings back."""
        return await self._threads.write(partial(self._memory.delete, ids, **fields))

    async def erase(
        self,
        ids: Iterable[str] | str | None = None,
        *,
        everything: bool = False,
        dry_run: bool = False,
        **fields: Unpack[EraseFields],
    ) -> EraseReceipt:
        """Remove for ever, every trace: by ids, subject, identifier or filter, or `everything=True`."""
        how = partial(self._memory.erase, ids, everything=everything, dry_run=dry_run)
        return await self._threads.write(partial(how, **fields))

    async def purge(self, *, dry_run: bool = False) -> Receipt:
        """Remove for good what was deleted and can no longer be brought back; it may be told again."""
        return await self._threads.write(partial(self._memory.purge, dry_run=dry_run))

    async def audit(self, n: int = 20, *, seed: int = 0) -> tuple[Audited, ...]:
        """See `Memory.audit`."""
        return await self._threads.read(partial(self._memory.audit, n, seed=seed))

    async def mark(self, record_id: str, value: str) -> Ghost:
        """See `Memory.mark`."""
        return await self._threads.write(partial(self._memory.mark, record_id, value))

    async def forgetting_stats(self) -> tuple[PolicyRecord, ...]:
        """See `Memory.forgetting_stats`."""
        return await self._threads.read(self._memory.forgetting_stats)

    async def erasures(self) -> ErasureLog:
        """Read the receipts of all erasures in this scope, and whether their chain is whole."""
        return await self._threads.read(self._memory.erasures)

    async def lift(self, what: str) -> tuple[RecordId, ...]:
        """Let an erased text be stored again: by the erased record's id, or by the text."""
        return await self._threads.write(partial(self._memory.lift, what))

    async def pin(self, ids: Iterable[str] | str) -> Receipt:
        """Keep records out of every plan."""
        return await self._threads.write(partial(self._memory.pin, ids))

    async def unpin(self, ids: Iterable[str] | str) -> Receipt:
        """Lift pins."""
        return await self._threads.write(partial(self._memory.unpin, ids))

    async def hold(
        self,
        ids: Iterable[str] | str,
        *,
        owner: str = "",
        reason: str = "",
        until: MomentLike | None = None,
    ) -> Receipt:
        """Forbid any removal, erasure included, until released or until a moment."""
        call = partial(self._memory.hold, ids, owner=owner, reason=reason, until=until)
        return await self._threads.write(call)

    async def release(self, ids: Iterable[str] | str) -> Receipt:
        """Lift holds."""
        return await self._threads.write(partial(self._memory.release, ids))
