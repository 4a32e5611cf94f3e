"""plan_forgetting(): score, apply the rules, and write the outcome down as a plan.

The plan of a scope depends on its records, the policy and `now`, and neither on the order in which
the store read the records nor on how often a plan was made before. All of it works on whole columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from operator import lt

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Bools, Columns
from sfams.core.moments import to_micros
from sfams.core.plan import (
    ACTIONS,
    NO_GROUP,
    REASONS,
    UNBOUND,
    Action,
    Cause,
    ForgettingPlan,
    PlanState,
    Steps,
)
from sfams.core.policy import Approval, RetentionPolicy
from sfams.core.policy_json import policy_to_json
from sfams.core.record import PlanId, RecordId
from sfams.core.retention import Scores
from sfams.core.rules import Rows, Situation, Verdicts, decide, summarizable
from sfams.core.scope import Scope
from sfams.errors import InvalidPolicyError

_FEW = 20
"""Removals that are no alarm, however few were usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a plan may depend on besides records, policy and moment.

    Attributes:
        cause: What had the plan made.
        candidates: The only records that may be taken; None for all.
        groups: Records that can be summarized together, by the number of their group.
        usual: How many records the scope's last plans took away, as a rule; None if unknown.
    """

    cause: Cause = Cause.DEMAND
    candidates: AbstractSet[RecordId] | None = None
    groups: Mapping[RecordId, int] = field(default_factory=dict)
    usual: float | None = None


def plan_forgetting(
    columns: Columns,
    policy: RetentionPolicy,
    *,
    scope: Scope,
    plan_id: PlanId,
    now: datetime,
    circumstances: Circumstances = Circumstances(),
) -> ForgettingPlan:
    """Decide what a policy takes from the live records of a scope at one moment. Changes nothing.

    - Held and pinned records are in no plan, not even when they have expired.
    - Expired records are taken with `expired_action`, and those older than `retention` allows are
      deleted, whatever else protects them.
    - A record under grace (`grace_until` later than `now`, or younger than `policy.grace`) is left
      alone by all other rules, and one at its floor is neither deleted nor summarized by them.
    - Taken are scores below `threshold`, and of the unexpired records the lowest `int(share * n)`
      or `lowest`, where n counts protected ones too but the next lowest goes in a protected one's
      place. Where that means deletion and `through_cold` holds, hot records are demoted.
    - Cold records that have waited go down the rungs `summarize` (in groups) and `delete`.
    - If what is left hot exceeds the budget, the lowest of it is demoted until it fits, or until
      only protected records are left: then `unmet_budget` says by how much.

    A record gets one step at most: the hardest action that applies, with the reason of the rule
    that asked for it (the threshold before the share, and both before the budget). Demoting a cold
    record is no step. To refuse a plan with an `alarm` is up to whoever applies it.

    Raises:
        InvalidPolicyError: The policy's model gave a score that is not finite.
    """
    columns = _by_id(columns)
    scores = _scored(columns, policy, now)
    situation = Situation(
        columns=columns,
        values=scores.values,
        policy=policy,
        now=to_micros(now),
        candidates=_mask(columns, circumstances.candidates),
        groups=_grouped(columns, circumstances.groups),
        # lexsort is stable and rows are in id order: ties go by age, then by id
        rank=np.lexsort(
            (columns.created_at, scores.values, ~(columns.expires_at <= to_micros(now)))
        ),
    )
    verdicts = decide(situation)
    steps = _steps(situation, scores, verdicts)
    removed = removed_by(steps)
    share = removed / max(len(columns), 1)
    return ForgettingPlan(
        id=plan_id,
        scope=scope,
        created_at=now,
        policy=policy_to_json(policy),
        steps=steps,
        examined=len(columns),
        hot=int(np.count_nonzero(~columns.cold)),
        blast_share=share,
        blast_limit=policy.max_share,
        cause=circumstances.cause,
        spared={columns.ids[row]: why for row, why in sorted(verdicts.spared.items())},
        unmet_budget=verdicts.unmet,
        alarm=alarm(policy, removed, share, circumstances.usual),
        state=PlanState.PENDING if _needs_approval(policy, steps) else PlanState.DRAFT,
    )


def to_summarize(columns: Columns, policy: RetentionPolicy, now: datetime) -> list[RecordId]:
    """Name the cold records that a plan would summarize if they find others to go with."""
    if policy.summarize is None:
        return []
    columns = _by_id(columns)
    values = _scored(columns, policy, now).values
    return [columns.ids[row] for row in summarizable(columns, values, policy, to_micros(now))]


def alarm(policy: RetentionPolicy, removed: int, share: float, usual: float | None) -> str:
    """Say which limit of a run a plan goes beyond; "" if none."""
    if share > policy.max_share:
        return f"removes {share:.1%} of the scope, the policy allows {policy.max_share:.1%}"
    if policy.max_count is not None and removed > policy.max_count:
        return f"removes {removed} memories, the policy allows {policy.max_count}"
    if policy.anomaly is None or usual is None or removed <= _FEW:
        return ""
    if removed > policy.anomaly * max(usual, 1.0):
        return f"removes {removed} memories where {usual:g} are usual"
    return ""


def _scored(columns: Columns, policy: RetentionPolicy, now: datetime) -> Scores:
    scores = policy.model.score(columns, now)
    if scores.values.shape != (len(columns),) or not np.isfinite(scores.values).all():
        message = f"model: {policy.model.name} gave a score that is not finite, or not one a record"
        raise InvalidPolicyError(message, field="model")
    return scores


def removed_by(steps: Steps, skipped: AbstractSet[RecordId] = frozenset()) -> int:
    """Count the steps that share limits bind: those that take more than heat away."""
    harder = steps.actions > ACTIONS.index(Action.DEMOTE)
    bound = harder & ~np.isin(steps.reasons, [REASONS.index(each) for each in UNBOUND])
    if not skipped:
        return int(np.count_nonzero(bound))
    return sum(steps.ids[row] not in skipped for row in np.flatnonzero(bound).tolist())


def _needs_approval(policy: RetentionPolicy, steps: Steps) -> bool:
    if policy.approval is Approval.REMOVALS:
        return bool((steps.actions > ACTIONS.index(Action.DEMOTE)).any())
    return policy.approval is Approval.ALWAYS and len(steps) > 0


def _mask(columns: Columns, candidates: AbstractSet[RecordId] | None) -> Bools:
    if candidates is None:
        return np.ones(len(columns), np.bool_)
    return np.fromiter((each in candidates for each in columns.ids), np.bool_, len(columns))


def _grouped(columns: Columns, groups: Mapping[RecordId, int]) -> NDArray[np.int32]:
    if not groups:
        return np.full(len(columns), NO_GROUP, np.int32)
    return np.fromiter((groups.get(each, NO_GROUP) for each in columns.ids), np.int32, len(columns))


def _steps(situation: Situation, scores: Scores, verdicts: Verdicts) -> Steps:
    columns, rank = situation.columns, situation.rank
    rows = _together(rank[(verdicts.actions > 0)[rank]], verdicts.groups)
    return Steps(
        ids=tuple(columns.ids[row] for row in rows.tolist()),
        versions=columns.versions[rows],
        actions=verdicts.actions[rows],
        reasons=verdicts.reasons[rows],
        scores=scores.values[rows],
        tokens=columns.tokens[rows],
        groups=verdicts.groups[rows],
        parts={name: part[rows] for name, part in scores.parts.items()},
    )


def _together(rows: Rows, groups: NDArray[np.int32]) -> Rows:
    """Let the members of a group follow the first of them."""
    of = groups[rows]
    if (of == NO_GROUP).all():
        return rows
    places = np.arange(len(rows))
    _, first, which = np.unique(of, return_index=True, return_inverse=True)
    places = np.where(of == NO_GROUP, places, first[which])
    return rows[np.argsort(places, kind="stable")]


def _by_id(columns: Columns) -> Columns:
    """Put rows in id order, which stores keep anyway."""
    if all(map(lt, columns.ids, islice(columns.ids, 1, None))):
        return columns
    order = sorted(range(len(columns)), key=columns.ids.__getitem__)
    return columns.take(np.array(order, np.intp))
