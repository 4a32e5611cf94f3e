"""Deleting, erasing, and what protects from both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from sfams.core.ghosts import Ghost, PolicyRecord
from sfams.core.moments import MomentLike
from sfams.core.plan import Receipt
from sfams.core.record import RecordId
from sfams.core.selecting import FilterFields
from sfams.service import (
    auditing,
    erasing,
    protecting,
    purging,
    receipts,
)
from sfams.service.auditing import Audited
from sfams.service.reach import EraseFields
from sfams.service.results import (
    EraseReceipt,
    ErasureLog,
)
from sfams.service.verbs.base import Verbs, many


class RemovingVerbs(Verbs):
    """Deleting, erasing, and what protects from both."""

    def delete(
        self, ids: Iterable[str] | str | None = None, **fields: Unpack[FilterFields]
    ) -> Receipt:
        """Delete by ids or by a filter that narrows something; `restore([id, ...])` brings back."""
        wanted = None if ids is None else many(ids)
        return protecting.delete(self._engine, self.scope, wanted, fields)

    def erase(
        self,
        ids: Iterable[str] | str | None = None,
        *,
        everything: bool = False,
        dry_run: bool = False,
        **fields: Unpack[EraseFields],
    ) -> EraseReceipt:
        """Remove for ever, every trace: by ids, subject, identifier or filter, or `everything=True`.

        `dry_run` previews: what would go, by category. See `EraseFields`.
        """
        given = None if ids is None else many(ids)
        what = erasing.wanted(given, fields, everything=everything)
        return erasing.erase(self._engine, self.scope, what, dry_run=dry_run)

    def purge(self, *, dry_run: bool = False) -> Receipt:
        """Remove for good what was deleted and can no longer be brought back; it may be told again."""
        return purging.purge(self._engine, self.scope, dry_run=dry_run)

    def audit(self, n: int = 20, *, seed: int = 0) -> tuple[Audited, ...]:
        """Draw memories that plans forgot, to be marked right or wrong; see `mark`."""
        return auditing.audit(self._engine, self.scope, n, seed)

    def mark(self, record_id: str, value: str) -> Ghost:
        """Say whether forgetting a memory was "right" or "wrong"; `restore([id])` brings it back."""
        return auditing.mark(self._engine, self.scope, record_id, value)

    def forgetting_stats(self) -> tuple[PolicyRecord, ...]:
        """Measure each policy: what it forgot, how much was undone, missed, marked wrong."""
        return auditing.forgetting_stats(self._engine, self.scope)

    def erasures(self) -> ErasureLog:
        """Read the receipts of all erasures in this scope, and whether their chain is whole."""
        return receipts.erasures(self._engine, self.scope)

    def lift(self, what: str) -> tuple[RecordId, ...]:
        """Let an erased text be stored again: by the erased record's id, or by the text."""
        return receipts.lift(self._engine, self.scope, what)

    def pin(self, ids: Iterable[str] | str) -> Receipt:
        """Keep records out of every plan."""
        return protecting.protect(self._engine, self.scope, many(ids), pinned=True)

    def unpin(self, ids: Iterable[str] | str) -> Receipt:
        """Lift pins."""
        return protecting.protect(self._engine, self.scope, many(ids), pinned=False)

    def hold(
        self,
        ids: Iterable[str] | str,
        *,
        owner: str = "",
        reason: str = "",
        until: MomentLike | None = None,
    ) -> Receipt:
        """Forbid any removal, erasure included, until released or until a moment."""
        wish = protecting.make_hold(owner, reason, until)
        return protecting.protect(self._engine, self.scope, many(ids), held=True, hold=wish)

    def release(self, ids: Iterable[str] | str) -> Receipt:
        """Lift holds."""
        return protecting.protect(self._engine, self.scope, many(ids), held=False)
