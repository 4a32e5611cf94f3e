"""Reviewing: a person looks at a plan before it is applied: approve, reject, keep or pin some of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sfams.core.events import EventType, MemoryEvent
from sfams.core.plan import ForgettingPlan, PlanState
from sfams.core.record import PlanId, RecordId
from sfams.core.review import Ruling, Verdict, weaken
from sfams.core.scope import Scope
from sfams.errors import ConflictError, NotFoundError
from sfams.ports import Transition
from sfams.service.engine import Engine
from sfams.service.listing import check_id
from sfams.service.planning import load

_OPEN = frozenset({PlanState.DRAFT, PlanState.PENDING, PlanState.APPROVED})
_PLANS_SEARCHED = 1_000


def pending(engine: Engine, scope: Scope) -> Sequence[ForgettingPlan]:
    """List the plans that wait for a person, oldest first."""
    with engine.store.read() as reader:
        plans = [reader.plan(scope, each) for each in reader.plans(scope, _PLANS_SEARCHED)]
    return [each for each in reversed(plans) if each is not None and waits(each)]


def waits(plan: ForgettingPlan) -> bool:
    """Tell whether a plan waits for a person: it needs approval, or was made on its own and alarms."""
    return plan.state is PlanState.PENDING


def approve(engine: Engine, scope: Scope, plan_id: PlanId) -> ForgettingPlan:
    """Let a plan through; it is applied by `forget`.

    Raises:
        NotFoundError: No such plan in this scope.
        ConflictError: It is applied, undone or rejected already.
    """
    return _changed(
        engine,
        scope,
        plan_id,
        "approve",
        lambda plan: replace(plan, state=PlanState.APPROVED),
    )


def reject(engine: Engine, scope: Scope, plan_id: PlanId) -> ForgettingPlan:
    """Refuse a plan for good.

    Raises:
        NotFoundError: No such plan in this scope.
        ConflictError: It is applied, undone or rejected already.
    """
    return _changed(
        engine,
        scope,
        plan_id,
        "reject",
        lambda plan: replace(plan, state=PlanState.REJECTED),
    )


def keep(
    engine: Engine, scope: Scope, plan_id: PlanId, ids: Iterable[str], *, pin: bool = False
) -> ForgettingPlan:
    """Take records out of a plan that is not applied yet; with `pin`, out of all to come as well.

    Raises:
        NotFoundError: No such plan in this scope, or it has no step on one of the records.
        ConflictError: It is applied, undone or rejected already.
    """
    wanted = [check_id(each) for each in ids]
    why = "pinned" if pin else ""

    def spare(plan: ForgettingPlan) -> ForgettingPlan:
        strange = set(wanted) - set(plan.steps.ids)
        if strange:
            message = f"plan {plan.id} has no step on {', '.join(sorted(strange))}"
            raise NotFoundError(message, ids=sorted(strange))
        return weaken(plan, [Verdict(each, Ruling.KEEP, why) for each in wanted])

    return _changed(
        engine, scope, plan_id, "pin" if pin else "keep", spare, pinned=wanted if pin else ()
    )


def _changed(
    engine: Engine,
    scope: Scope,
    plan_id: PlanId,
    verb: str,
    change: Callable[[ForgettingPlan], ForgettingPlan],
    pinned: Sequence[RecordId] = (),
) -> ForgettingPlan:
    now = engine.now()
    with engine.store.write() as transaction:
        before = load(transaction, scope, plan_id)
        if before.state not in _OPEN:
            message = f"plan {plan_id} is {before.state}; it cannot be reviewed any more"
            raise ConflictError(message, plan_id=plan_id)
        after = change(before)
        events = [
            MemoryEvent(
                type=EventType.REVIEWED,
                at=now,
                plan_id=plan_id,
                detail={"ruling": verb, "kept": len(after.skipped) - len(before.skipped)},
            )
        ]
        events += [MemoryEvent(type=EventType.PINNED, at=now, record_id=each) for each in pinned]
        transaction.save_plan(after)
        transaction.transition(scope, [Transition(each, pinned=True) for each in pinned], now)
        transaction.append(scope, events)
    engine.tell(scope, events)
    return after
