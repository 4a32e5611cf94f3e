"""Forgetting: columns -> plan -> saved -> shown -> applied in chunks -> receipt."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.plan import Action, ForgettingPlan, ForgettingStep, PlanState, Reason, Receipt
from sfams.core.planner import plan_forgetting as make_plan
from sfams.core.policy import RetentionPolicy, preset, undo_window
from sfams.core.record import MemoryRecord, PlanId, Status, Tier
from sfams.core.scope import Scope
from sfams.errors import (
    BlastRadiusError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    PlanStaleError,
)
from sfams.ports import Reader, Transaction, Transition
from sfams.service.engine import Engine

CHUNK = 500
"""Steps per transaction at most: other writers wait for one chunk, a crash resumes at the next."""
TARGET = 0.03
"""Seconds that a chunk should take."""
PAUSE = 0.005
"""Seconds between chunks, for a writer of another process to see that the lock is free."""

_ACTORS = {Reason.EXPIRED: Actor.TTL, Reason.ASKED: Actor.USER}


def plan(engine: Engine, scope: Scope, policy: RetentionPolicy | str | None) -> ForgettingPlan:
    """Make and save a plan. Changes no record; the preview is the plan itself."""
    chosen: object = engine.policy if policy is None else policy
    rules = preset(chosen) if isinstance(chosen, str) else chosen
    if not isinstance(rules, RetentionPolicy):
        message = (
            f"policy: expected a RetentionPolicy or a preset's name, got {type(rules).__name__}"
        )
        raise InvalidInputError(message, field="policy")
    engine.flush_usage()
    now = engine.now()
    with engine.store.read() as reader:
        columns = reader.columns(scope, now)
    made = make_plan(columns, rules, scope=scope, plan_id=engine.plan_id(), now=now)
    event = MemoryEvent(
        type=EventType.PLANNED,
        at=now,
        actor=Actor.POLICY,
        plan_id=made.id,
        detail={"steps": len(made.steps), "examined": made.examined},
    )
    with engine.store.write() as transaction:
        transaction.save_plan(made)
        transaction.append(scope, [event])
    engine.tell(scope, [event])
    return made


def load(reader: Reader, scope: Scope, plan_id: PlanId) -> ForgettingPlan:
    """Read a saved plan, or say that there is none in this scope."""
    found = reader.plan(scope, plan_id)
    if found is None:
        message = f"no such plan in {scope}: {plan_id}"
        raise NotFoundError(message, plan_id=plan_id)
    return found


def apply(
    engine: Engine, scope: Scope, plan_id: PlanId, *, override_blast_radius: bool = False
) -> Receipt:
    """Carry a plan out, in chunks that each commit with the plan's cursor.

    A record that changed, became protected or was recalled since the plan is skipped and reported.
    An interrupted run goes on where it stopped when it is called again.

    Raises:
        NotFoundError: No such plan in this scope.
        ConflictError: It has been applied or undone already.
        BlastRadiusError: It deletes more than the policy allows in one run.
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
    if current.state is PlanState.UNDONE:
        message = f"plan {current.id} has been undone; make a new one"
        raise PlanStaleError(message, plan_id=current.id)
    if current.state is PlanState.APPLIED:
        message = f"plan {current.id} has been applied already"
        raise ConflictError(message, plan_id=current.id)
    if current.blast_share > current.blast_limit and not override:
        message = (
            f"plan {current.id} deletes {current.blast_share:.1%} of the scope, the policy allows "
            f"{current.blast_limit:.1%} in one run; narrow the policy or override the limit"
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
        reason = _reason_to_skip(step, records.get(step.record_id), current)
        if reason:
            skipped[step.record_id] = reason
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
    step: ForgettingStep, record: MemoryRecord | None, current: ForgettingPlan
) -> str:
    if record is None:
        return "gone"
    if record.held:
        return "held"
    if record.pinned:
        return "pinned"
    if record.version != step.version or record.status is not Status.LIVE:
        return "changed since the plan"
    accessed = record.usage.last_accessed_at
    regardless = step.reason in {Reason.EXPIRED, Reason.ASKED}
    if not regardless and accessed is not None and accessed > current.created_at:
        return "used since the plan"
    return ""


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


def newest_applied(reader: Reader, scope: Scope, plan_ids: Sequence[PlanId]) -> PlanId | None:
    """Find the newest plan that has been applied and not undone."""
    for plan_id in plan_ids:
        found = reader.plan(scope, plan_id)
        if found is not None and found.state is PlanState.APPLIED:
            return plan_id
    return None
