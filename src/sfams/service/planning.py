"""Planning: columns -> plan -> saved. Changes no record; the preview is the plan itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.plan import Cause, ForgettingPlan, PlanState
from sfams.core.planner import Circumstances, plan_forgetting, removed_by, to_summarize
from sfams.core.policy import RetentionPolicy
from sfams.core.presets import preset
from sfams.core.record import PlanId, RecordId
from sfams.core.scope import Scope
from sfams.core.selecting import make_filter
from sfams.errors import InvalidInputError, NotFoundError
from sfams.ports import Reader
from sfams.service.engine import Engine
from sfams.service.merging import groups_of

_PLANS_COMPARED = 10
"""Applied plans whose size tells what is usual."""
_ENOUGH = 3
"""Of them there must be so many before anything can be unusual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What is to be planned: under which policy, for which records (a filter; empty: all), and why."""

    policy: RetentionPolicy | str | None = None
    where: Mapping[str, object] = field(default_factory=dict)
    cause: Cause = Cause.DEMAND


def plan(engine: Engine, scope: Scope, request: PlanRequest) -> ForgettingPlan:
    """Make and save a plan."""
    made = draft(engine, scope, request)
    save(engine, made)
    return made


def draft(engine: Engine, scope: Scope, request: PlanRequest) -> ForgettingPlan:
    """Make a plan without saving it: what is not saved cannot be applied."""
    rules = policy_for(engine, scope, request.policy)
    engine.flush_usage()
    now = engine.now()
    with engine.store.read() as reader:
        columns = reader.columns(scope, now, rules.model.needs)
        circumstances = Circumstances(
            cause=request.cause,
            candidates=_candidates(reader, scope, request.where, now),
            groups=groups_of(reader, scope, to_summarize(columns, rules, now)),
            usual=None if rules.anomaly is None else _usual(reader, scope),
        )
    return plan_forgetting(
        columns,
        rules,
        scope=scope,
        plan_id=engine.plan_id(),
        now=now,
        circumstances=circumstances,
    )


def save(engine: Engine, made: ForgettingPlan) -> None:
    """Write a plan down, so that it can be read, reviewed and applied."""
    event = MemoryEvent(
        type=EventType.PLANNED,
        at=made.created_at,
        actor=Actor.POLICY,
        plan_id=made.id,
        detail={
            "steps": len(made.steps),
            "examined": made.examined,
            "cause": made.cause.value,
            "policy": made.policy.get("name"),
        },
    )
    with engine.store.write() as transaction:
        transaction.save_plan(made)
        transaction.append(made.scope, [event])
    engine.tell(made.scope, [event])


def load(reader: Reader, scope: Scope, plan_id: PlanId) -> ForgettingPlan:
    """Read a saved plan, or say that there is none in this scope."""
    found = reader.plan(scope, plan_id)
    if found is None:
        message = f"no such plan in {scope}: {plan_id}"
        raise NotFoundError(message, plan_id=plan_id)
    return found


def policy_for(
    engine: Engine,
    scope: Scope,  # noqa: ARG001
    given: RetentionPolicy | str | None,
) -> RetentionPolicy:
    """Find the policy in force: the one that is given, or the memory's own."""
    chosen: object = engine.policy if given is None else given
    rules = preset(chosen) if isinstance(chosen, str) else chosen
    if not isinstance(rules, RetentionPolicy):
        message = (
            f"policy: expected a RetentionPolicy or a preset's name, got {type(rules).__name__}"
        )
        raise InvalidInputError(message, field="policy")
    return rules


def newest_applied(reader: Reader, scope: Scope, limit: int) -> PlanId | None:
    """Find the newest plan that has been applied and not undone."""
    for plan_id in reader.plans(scope, limit):
        found = reader.plan(scope, plan_id)
        if found is not None and found.state is PlanState.APPLIED:
            return plan_id
    return None


def _candidates(
    reader: Reader, scope: Scope, where: Mapping[str, object], now: datetime
) -> frozenset[RecordId] | None:
    """Name the records that may be taken; None for all. What has expired may be, whatever a filter says."""
    if not where:
        return None
    selection = make_filter({"expired": True, **where})
    if not selection.restricts:
        message = "plan: the filter does not narrow anything; name kinds, tags, session, ..."
        raise InvalidInputError(message, field="filter")
    return reader.matching(scope, selection, now)


def _usual(reader: Reader, scope: Scope) -> float | None:
    """Tell how many records the scope's plans remove as a rule."""
    plans = (reader.plan(scope, plan_id) for plan_id in reader.plans(scope, _PLANS_COMPARED))
    sizes = [
        removed_by(each.steps) for each in plans if each is not None and each.applied_at is not None
    ]
    return float(median(sizes)) if len(sizes) >= _ENOUGH else None
