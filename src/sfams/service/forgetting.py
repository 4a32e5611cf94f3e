"""Forgetting: a saved plan is applied in chunks, each with its cursor, and gives a receipt."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.plan import (
    UNBOUND,
    Action,
    ForgettingPlan,
    ForgettingStep,
    PlanState,
    Reason,
    Receipt,
)
from sfams.core.policy_json import undo_window
from sfams.core.record import MemoryRecord, PlanId, Status, Tier
from sfams.core.scope import Scope
from sfams.errors import BlastRadiusError, ConflictError, PlanStaleError
from sfams.ports import Transaction, Transition
from sfams.service.engine import Engine
from sfams.service.planning import load

CHUNK = 500
"""Steps per transaction at most: other writers wait for one chunk, a crash resumes at the next."""
TARGET = 0.03
"""Seconds that a chunk should take."""
PAUSE = 0.005
"""Seconds between chunks, for a writer of another process to see that the lock is free."""

_ACTORS = {Reason.EXPIRED: Actor.TTL, Reason.ASKED: Actor.USER}


def apply(
    engine: Engine, scope: Scope, plan_id: PlanId, *, override_blast_radius: bool = False
) -> Receipt:
    """Carry a plan out, in chunks that each commit with the plan's cursor.

    A record that changed, became protected or was recalled since the plan is skipped and reported, and
    so is one that a review kept.
    An interrupted run goes on where it stopped when it is called again.

    Raises:
        NotFoundError: No such plan in this scope.
        ConflictError: It has been applied, undone or rejected, or waits for approval.
        BlastRadiusError: It removes more than the policy allows in one run, or than is usual.
    """
    engine.flush_usage()
    with engine.store.read() as reader:
        current = load(reader, scope, plan_id)
    _check_applicable(current, override=override_blast_radius)
    now = engine.now()
    pace, mine = _Pace(), False
    while True:
        with engine.store.write() as transaction, pace:
            current = load(transaction, scope, plan_id)
            if current.state is PlanState.APPLIED:
                if not mine:  # another process was first
                    _check_applicable(current, override=True)
                break
            mine = True
            events, current = _apply_chunk(transaction, current, now, pace.size)
        engine.tell(scope, events)
        if current.state is PlanState.APPLYING:
            time.sleep(PAUSE)
    return _receipt(current, now)


class _Pace:
    """Fits chunks to the time that other writers may be kept waiting."""

    def __init__(self) -> None:
        self.size = min(CHUNK, 50)
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = time.monotonic()

    def __exit__(self, *exception: object) -> None:
        taken = max(time.monotonic() - self._started, 1e-4)
        self.size = max(1, min(CHUNK, 2 * self.size, int(self.size * TARGET / taken)))


def _check_applicable(current: ForgettingPlan, *, override: bool) -> None:
    if current.state in {PlanState.UNDONE, PlanState.REJECTED}:
        message = f"plan {current.id} has been {current.state}; make a new one"
        raise PlanStaleError(message, plan_id=current.id)
    if current.state is PlanState.PENDING:
        message = f"plan {current.id} waits for approval; approve it, or reject it"
        raise ConflictError(message, plan_id=current.id)
    if current.state is PlanState.APPLIED:
        message = f"plan {current.id} has been applied already"
        raise ConflictError(message, plan_id=current.id)
    if current.alarm and not override:
        message = (
            f"plan {current.id} {current.alarm} in one run; narrow the policy, keep some of its steps "
            "or override the limit"
        )
        raise BlastRadiusError(message, plan_id=current.id)


def _apply_chunk(
    transaction: Transaction, current: ForgettingPlan, now: datetime, size: int
) -> tuple[list[MemoryEvent], ForgettingPlan]:
    steps = current.steps[current.cursor : current.cursor + size]
    records = {r.id: r for r in transaction.get(current.scope, [s.record_id for s in steps])}
    skipped = dict(current.skipped)
    transitions: list[Transition] = []
    events: list[MemoryEvent] = []
    for step in steps:
        reason = _reason_to_skip(step, records.get(step.record_id), current, now)
        if reason:
            skipped.setdefault(step.record_id, reason)
            continue
        transitions.append(_transition(step))
        events.append(_event(step, current.id, now))
    cursor = current.cursor + len(steps)
    done = cursor >= len(current.steps)
    after = replace(
        current,
        state=PlanState.APPLIED if done else PlanState.APPLYING,
        cursor=cursor,
        skipped=skipped,
        applied_at=now if done else current.applied_at,
        undo_until=now + undo_window(current.policy),
    )
    transaction.transition(current.scope, transitions, now)
    transaction.append(current.scope, events)
    transaction.advance_plan(after)
    return events, after


def _reason_to_skip(
    step: ForgettingStep, record: MemoryRecord | None, current: ForgettingPlan, now: datetime
) -> str:
    if record is None:
        return current.skipped.get(step.record_id, "gone")
    accessed = record.usage.last_accessed_at
    used = accessed is not None and accessed > current.created_at
    changed = record.version != step.version or record.status is not Status.LIVE
    reasons = {
        current.skipped.get(step.record_id, ""): step.record_id in current.skipped,
        "held": record.held_at(now),
        "pinned": record.pinned,
        "changed since the plan": changed,
        "cold already": step.action is Action.DEMOTE and record.tier is Tier.COLD,
        "used since the plan": step.reason not in UNBOUND and used,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _transition(step: ForgettingStep) -> Transition:
    if step.action is Action.DELETE:
        return Transition(step.record_id, status=Status.DELETED)
    if step.action is Action.DEMOTE:
        return Transition(step.record_id, tier=Tier.COLD)
    message = f"step {step.record_id}: {step.action} cannot be applied"
    raise ConflictError(message)


def _event(step: ForgettingStep, plan_id: PlanId, now: datetime) -> MemoryEvent:
    return MemoryEvent(
        type=EventType.DELETED if step.action is Action.DELETE else EventType.DEMOTED,
        at=now,
        record_id=step.record_id,
        actor=_ACTORS.get(step.reason, Actor.POLICY),
        plan_id=plan_id,
        detail={
            "reason": step.reason.value,
            "score": step.score,
            "parts": dict(step.parts),
        },
    )


_ACTORS = {Reason.EXPIRED: Actor.TTL, Reason.RETENTION: Actor.TTL, Reason.ASKED: Actor.USER}


def _receipt(current: ForgettingPlan, now: datetime) -> Receipt:
    done = [step for step in current.steps if step.record_id not in current.skipped]
    return Receipt(
        plan_id=current.id,
        at=current.applied_at or now,
        demoted=sum(step.action is Action.DEMOTE for step in done),
        deleted=sum(step.action is Action.DELETE for step in done),
        skipped=current.skipped,
        undo_until=current.undo_until,
    )
