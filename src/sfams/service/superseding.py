"""Superseding: one statement takes the place of another, which stays readable behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sfams.core.admission import find_loop
from sfams.core.events import EventType, MemoryEvent
from sfams.core.lifecycle import check_transition
from sfams.core.record import MemoryRecord, RecordId, Status
from sfams.core.scope import Scope
from sfams.errors import ConflictError, InvalidInputError
from sfams.ports import Reader, Transaction, Transition
from sfams.service.engine import Engine
from sfams.service.listing import check_id, fetch


def supersede_all(
    transaction: Transaction,
    scope: Scope,
    old: Sequence[RecordId],
    successor: RecordId,
    now: datetime,
) -> list[MemoryEvent]:
    """Mark records as replaced by `successor`; restoring them takes exactly this back."""
    if not old:
        return []
    changes = [
        Transition(
            record.id,
            status=Status.SUPERSEDED,
            validity=replace(record.validity, superseded_by=successor),
        )
        for record in fetch(transaction, scope, old)
    ]
    transaction.transition(scope, changes, now)
    return [
        MemoryEvent(
            type=EventType.SUPERSEDED, at=now, record_id=record_id, detail={"by": successor}
        )
        for record_id in old
    ]


def supersede(engine: Engine, scope: Scope, old: str, new: str) -> None:
    """Say that record `new` takes the place of record `old`.

    Raises:
        NotFoundError: One of them is not in this scope.
        ConflictError: `old` is not live, `new` is deleted, or a loop would arise; the message names it.
    """
    old_id, new_id = check_id(old), check_id(new)
    if old_id == new_id:
        message = "supersede: a memory cannot take its own place"
        raise InvalidInputError(message, field="new")
    now = engine.now()
    with engine.store.write() as transaction:
        before, after = fetch(transaction, scope, [old_id, new_id])
        loop = find_loop(_successors(transaction, after), old_id, new_id)
        if loop:
            message = f"supersede: would close the loop {' -> '.join(loop)}"
            raise ConflictError(message, ids=list(loop))
        check_transition(before, Status.SUPERSEDED)
        if after.status not in {Status.LIVE, Status.SUPERSEDED}:
            message = f"supersede: {new_id} is {after.status}; restore it first"
            raise ConflictError(message, ids=[new_id])
        events = supersede_all(transaction, scope, [old_id], new_id, now)
        transaction.append(scope, events)
    engine.tell(scope, events)


def _successors(reader: Reader, start: MemoryRecord) -> dict[RecordId, RecordId]:
    """Follow who replaced whom from one record on; ends on a damaged chain too."""
    successors: dict[RecordId, RecordId] = {}
    current: MemoryRecord | None = start
    while current is not None and current.id not in successors:
        following = current.validity.superseded_by
        if following is None:
            break
        successors[current.id] = following
        current = next(iter(reader.get(start.scope, [following])), None)
    return successors
