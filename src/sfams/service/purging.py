"""Purging: what was deleted, and can no longer be brought back, leaves for good.

Unlike an erasure it leaves no tombstone, for nobody has asked for silence: the same text may be told
again. What the log says of it stays, without its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.plan import Receipt
from sfams.core.query import Filter
from sfams.core.record import MemoryRecord, PlanId, RecordId, Status
from sfams.core.scope import Scope
from sfams.ports import Reader, Transaction
from sfams.service.engine import Engine
from sfams.service.policies import in_force

_CHUNK = 200
REASON = "undo window over"


def purgeable(engine: Engine, scope: Scope) -> list[RecordId]:
    """Name what was deleted so long ago that neither a plan nor a person can bring it back.

    What a plan deleted waits for the window of that plan, all else for that of the policy in force. What is
    held or pinned stays.
    """
    rules = in_force(engine, scope).policy
    if not rules.purge:
        return []
    now = engine.now()
    with engine.store.read() as reader:
        gone = Filter(statuses=(Status.DELETED,), expired=True)
        records = reader.get(scope, sorted(reader.matching(scope, gone, now)))
        old = (r for r in records if now - r.updated_at >= rules.undo_window)
        return [*_free(reader, scope, old, now)]


def _free(
    reader: Reader, scope: Scope, records: Iterator[MemoryRecord], now: datetime
) -> Iterator[RecordId]:
    ends: dict[PlanId, datetime | None] = {}
    for record in records:
        if record.held_at(now) or record.pinned:
            continue
        plan_id = _plan_of(reader, scope, record.id)
        if plan_id is not None and plan_id not in ends:
            plan = reader.plan(scope, plan_id)
            ends[plan_id] = None if plan is None else plan.undo_until
        until = None if plan_id is None else ends[plan_id]
        if until is None or until <= now:
            yield record.id


def _plan_of(reader: Reader, scope: Scope, record_id: RecordId) -> PlanId | None:
    """Name the plan that deleted a record last."""
    events = reader.history(scope, [record_id])
    return next((e.plan_id for e in reversed(events) if e.type is EventType.DELETED), None)


def purge(engine: Engine, scope: Scope, *, dry_run: bool = False) -> Receipt:
    """Remove what can no longer be brought back; `erased` counts it."""
    wanted = purgeable(engine, scope)
    now = engine.now()
    if dry_run:
        return Receipt(plan_id=None, at=now, erased=len(wanted))
    done = 0
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        with engine.store.write() as transaction:
            events = _purge_chunk(transaction, scope, chunk, now)
        engine.usage.forget(scope, chunk)
        engine.tell(scope, events)
        done += len(events)
    return Receipt(plan_id=None, at=now, erased=done)


def _purge_chunk(
    transaction: Transaction, scope: Scope, ids: Sequence[RecordId], now: datetime
) -> list[MemoryEvent]:
    """Remove what is still deleted and free, as things stand under the write lock."""
    gone = [
        record.id
        for record in transaction.get(scope, ids)
        if record.status is Status.DELETED and not record.held_at(now) and not record.pinned
    ]
    plans = {each: _plan_of(transaction, scope, each) for each in gone}
    transaction.purge(scope, gone, now)
    events = [
        MemoryEvent(
            type=EventType.PURGED,
            at=now,
            record_id=each,
            actor=Actor.POLICY,
            plan_id=plans[each],
            detail={"reason": REASON},
        )
        for each in gone
    ]
    transaction.append(scope, events)
    return events
