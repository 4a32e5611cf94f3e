"""Export, import, repair."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from functools import partial
from itertools import islice
from typing import Unpack

from sfams.core.selecting import FilterFields
from sfams.service import health
from sfams.service.aio_verbs.base import AsyncVerbs
from sfams.service.reach import EraseFields
from sfams.service.results import (
    Progress,
)
from sfams.service.transfer import ImportReport

_LINES = 500


class AsyncMovingVerbs(AsyncVerbs):
    """Export, import, repair."""

    async def export(
        self, *, below: bool = False, **fields: Unpack[FilterFields]
    ) -> AsyncIterator[str]:
        """Write records as JSON lines, oldest first; without a filter, every status."""
        lines = await self._threads.read(partial(self._memory.export, below=below, **fields))
        while chunk := await self._threads.read(lambda: [*islice(lines, _LINES)]):
            for line in chunk:
                yield line

    async def export_subject(self, **fields: Unpack[EraseFields]) -> AsyncIterator[str]:
        """Write all that is held on a subject as JSON lines: records of every status, versions, log."""
        lines = await self._threads.read(partial(self._memory.export_subject, **fields))
        while chunk := await self._threads.read(lambda: [*islice(lines, _LINES)]):
            for line in chunk:
                yield line

    async def import_(
        self,
        lines: Iterable[str],
        *,
        keep_scopes: bool = False,
        erased: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take JSON lines in: our own export whole, or the classic shapes; again adds nothing."""
        how = partial(self._memory.import_, keep_scopes=keep_scopes, erased=erased)
        return await self._threads.write(partial(how, lines, progress=progress))

    async def doctor(self, *, repair: bool = False) -> health.Checkup:
        """Look for damage in the whole store; with `repair`, mend what can be mended."""
        return await self._threads.write(partial(self._memory.doctor, repair=repair))
