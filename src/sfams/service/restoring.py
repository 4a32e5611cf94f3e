"""Restoring: undo a plan inside its window, or bring single records back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sfams.core.events import EventType, MemoryEvent
from sfams.core.lifecycle import applied_steps, restorable, restore_transition, undo_transitions
from sfams.core.plan import Action, ForgettingPlan, PlanState, Receipt
from sfams.core.record import MemoryRecord, PlanId, RecordId, Status, Tier
from sfams.core.scope import Scope
from sfams.errors import ConflictError, NotFoundError
from sfams.ports import Reader, Transaction
from sfams.service.engine import Engine
from sfams.service.listing import check_id, fetch
from sfams.service.planning import load, newest_applied
from sfams.service.policies import under
from sfams.service.summarizing import summaries_of, undo_group

_PLANS_SEARCHED = 100


def restore_plan(engine: Engine, scope: Scope, plan_id: PlanId) -> Receipt:
    """Undo what a plan did. Records that changed since are left alone and reported.

    Raises:
        NotFoundError: No such plan in this scope.
        ConflictError: It was never applied, is undone already, or its window is over.
    """
    now = engine.now()
    with engine.store.write() as transaction:
        current = load(transaction, scope, plan_id)
        _check_undoable(current, now)
        events, merged = _undo_groups(transaction, current, now)
        done = [step.record_id for step in applied_steps(current)]
        records = transaction.get(scope, done)
        live = transaction.by_hash(scope, [record.content_hash for record in records])
        transitions, skipped = undo_transitions(current, records, now, live)
        events += (own := [_event(each.id, plan_id, now) for each in transitions])
        transaction.transition(scope, transitions, now)
        transaction.append(scope, own)
        transaction.note_return(scope, [each.id for each in transitions], now)
        transaction.advance_plan(replace(current, state=PlanState.UNDONE))
    engine.tell(scope, events)
    back = sum(event.type is EventType.RESTORED for event in events)
    return Receipt(plan_id=plan_id, at=now, restored=back, skipped={**skipped, **merged})


def _undo_groups(
    transaction: Transaction, plan: ForgettingPlan, now: datetime
) -> tuple[list[MemoryEvent], dict[RecordId, str]]:
    """Bring back what a plan has summarized; the summaries go, unless they were changed."""
    steps = [step for step in applied_steps(plan) if step.action is Action.SUMMARIZE]
    named = summaries_of(transaction, plan.scope, [step.record_id for step in steps])
    events: list[MemoryEvent] = []
    skipped: dict[RecordId, str] = {}
    for summary in transaction.get(plan.scope, sorted(set(named.values()))):
        changes = undo_group(transaction, plan.scope, summary, now, plan.id)
        changes.write(transaction, plan.scope, now)
        events += changes.events
        skipped |= changes.skipped
    return events, skipped


def _check_undoable(current: ForgettingPlan, now: datetime) -> None:
    if current.state not in {PlanState.APPLYING, PlanState.APPLIED}:
        message = f"plan {current.id} is {current.state}; there is nothing to undo"
        raise ConflictError(message, plan_id=current.id)
    if current.undo_until is not None and now >= current.undo_until:
        message = f"plan {current.id} could be undone until {current.undo_until:%Y-%m-%d %H:%M}Z"
        raise ConflictError(message, plan_id=current.id)


def restore_newest(engine: Engine, scope: Scope) -> Receipt:
    """Undo the newest plan that is applied."""
    with engine.store.read() as reader:
        plan_id = newest_applied(reader, scope, _PLANS_SEARCHED)
    if plan_id is None:
        message = f"no applied plan in {scope}"
        raise NotFoundError(message)
    return restore_plan(engine, scope, plan_id)


def restore_records(engine: Engine, scope: Scope, ids: Iterable[str]) -> Receipt:
    """Bring deleted, superseded or demoted records back; those live and hot already stay as they are.

    Raises:
        NotFoundError: An id is not in this scope, or has been erased.
        ConflictError: Deleted longer ago than the undo window, or its text is live in another record.
    """
    wanted = [check_id(value) for value in ids]
    engine = under(engine, scope)
    now = engine.now()
    with engine.store.write() as transaction:
        records = [record for record in fetch(transaction, scope, wanted) if not _present(record)]
        _refuse_unfit(engine, transaction, records, now)
        transitions = [restore_transition(record, now) for record in records]
        events = [_event(each.id, None, now) for each in transitions]
        transaction.transition(scope, transitions, now)
        transaction.append(scope, events)
        transaction.note_return(scope, [each.id for each in transitions], now)
    engine.tell(scope, events)
    return Receipt(plan_id=None, at=now, restored=len(transitions))


def _present(record: MemoryRecord) -> bool:
    return record.status is Status.LIVE and record.tier is Tier.HOT


def _refuse_unfit(
    engine: Engine, reader: Reader, records: Sequence[MemoryRecord], now: datetime
) -> None:
    window = engine.policy.undo_window
    waking = [record for record in records if record.status is not Status.LIVE]
    taken = (
        dict(reader.by_hash(records[0].scope, [r.content_hash for r in waking])) if waking else {}
    )
    for record in records:
        if not restorable(record, now, window):
            message = f"{record.id} was deleted more than {window.days} days ago"
            raise ConflictError(message, ids=[record.id])
    for record in waking:
        double = taken.setdefault(record.content_hash, record.id)
        if double != record.id:
            message = f"{record.id} cannot be restored: {double} says the same and is live"
            raise ConflictError(message, ids=[record.id])


def _event(record_id: RecordId, plan_id: PlanId | None, now: datetime) -> MemoryEvent:
    return MemoryEvent(type=EventType.RESTORED, at=now, record_id=record_id, plan_id=plan_id)
