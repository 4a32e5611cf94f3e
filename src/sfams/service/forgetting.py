"""Forgetting: a saved plan is applied in chunks, each with its cursor, and gives a receipt."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.ghosts import Ghost, Trail, trail
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
from sfams.core.record import MemoryRecord, PlanId, RecordId, Status, Tier
from sfams.core.scope import Scope
from sfams.errors import BlastRadiusError, ConflictError, PlanStaleError
from sfams.ports import Transaction, Transition
from sfams.service.engine import Engine
from sfams.service.merging import FELL_APART, chunk_of, written
from sfams.service.planning import load
from sfams.service.summarizing import Prepared, summarize_group

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
        ready = written(engine, current, chunk_of(current, pace.size))
        with engine.store.write() as transaction, pace:
            current = load(transaction, scope, plan_id)
            if current.state is PlanState.APPLIED:
                if not mine:  # another process was first
                    _check_applicable(current, override=True)
                break
            mine = True
            steps = chunk_of(current, pace.size)
            events, current = _apply_chunk(_Chunk(engine, transaction, current, now), steps, ready)
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
    chunk: _Chunk, steps: Sequence[ForgettingStep], ready: Mapping[int, Prepared]
) -> tuple[list[MemoryEvent], ForgettingPlan]:
    return chunk.apply(steps, ready)


class _Chunk:
    """Some steps of a plan, carried out in one transaction together with its cursor."""

    def __init__(
        self, engine: Engine, transaction: Transaction, plan: ForgettingPlan, now: datetime
    ) -> None:
        self._engine = engine
        self._transaction = transaction
        self._plan = plan
        self._now = now
        self._skipped = dict(plan.skipped)
        self._transitions: list[Transition] = []
        self._events: list[MemoryEvent] = []
        self._trails: list[Trail] = []

    def apply(
        self, steps: Sequence[ForgettingStep], ready: Mapping[int, Prepared]
    ) -> tuple[list[MemoryEvent], ForgettingPlan]:
        """Do what can be done; what cannot is skipped, with the reason."""
        plan, transaction, now = self._plan, self._transaction, self._now
        records = {r.id: r for r in transaction.get(plan.scope, [s.record_id for s in steps])}
        fit: list[ForgettingStep] = []
        for step in steps:
            reason = _reason_to_skip(step, records.get(step.record_id), plan, now)
            if reason:
                self._skipped.setdefault(step.record_id, reason)
            else:
                fit.append(step)
        for step in fit:
            if step.action is not Action.SUMMARIZE:
                self._trails.append(_trail(step, records[step.record_id], plan, now))
                self._transitions.append(_transition(step))
                self._events.append(_event(step, plan.id, now))
        # Before groups are written: what makes room for their texts must not wait.
        transaction.transition(plan.scope, self._transitions, now)
        transaction.append(plan.scope, self._events)
        self._merge(steps, {step.record_id for step in fit}, ready)
        self._trails += (
            _trail(step, records[step.record_id], plan, now)
            for step in fit
            if step.action is Action.SUMMARIZE and step.record_id not in self._skipped
        )
        transaction.add_ghosts(plan.scope, self._trails)
        cursor = plan.cursor + len(steps)
        done = cursor >= len(plan.steps)
        after = replace(
            plan,
            state=PlanState.APPLIED if done else PlanState.APPLYING,
            cursor=cursor,
            skipped=self._skipped,
            applied_at=now if done else plan.applied_at,
            undo_until=now + undo_window(plan.policy),
        )
        transaction.advance_plan(after)
        return self._events, after

    def _merge(
        self,
        steps: Sequence[ForgettingStep],
        fit: AbstractSet[RecordId],
        ready: Mapping[int, Prepared],
    ) -> None:
        """Write each group whole, or leave it alone."""
        groups: dict[int, list[ForgettingStep]] = defaultdict(list)
        for step in steps:
            if step.action is Action.SUMMARIZE and step.record_id not in self._plan.skipped:
                groups[step.group].append(step)
        for number, members in groups.items():
            prepared = ready.get(number)
            reason = FELL_APART
            if prepared is not None and all(step.record_id in fit for step in members):
                changes = summarize_group(
                    self._engine, self._transaction, prepared, self._now, self._plan.id
                )
                reason = changes.reason
                if not reason:
                    changes.write(self._transaction, self._plan.scope, self._now)
                    self._events += changes.events
            if reason:
                for step in members:
                    self._skipped.setdefault(step.record_id, reason)


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


def _trail(
    step: ForgettingStep, record: MemoryRecord, plan: ForgettingPlan, now: datetime
) -> Trail:
    ghost = Ghost(
        record_id=step.record_id,
        at=now,
        action=step.action,
        reason=step.reason.value,
        policy=str(plan.policy["name"]),
        plan_id=plan.id,
        score=step.score,
    )
    return trail(record, ghost)


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
        summarized=sum(step.action is Action.SUMMARIZE for step in done),
        deleted=sum(step.action is Action.DELETE for step in done),
        skipped=current.skipped,
        undo_until=current.undo_until,
    )
