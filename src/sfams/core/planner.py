"""plan_forgetting(): score, protect, thresholds and share, budget, blast radius.

Precedence: hold > pin > expiry > floor and grace > budget > thresholds. The plan of a scope depends
on its records, the policy and `now`, and neither on the order in which the store read the records
nor on how often a plan was made before. All of it works on whole columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from operator import lt

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Bools, Columns, Floats, Ints
from sfams.core.moments import to_micros
from sfams.core.plan import ACTIONS, REASONS, Action, ForgettingPlan, Reason, Steps
from sfams.core.policy import RetentionPolicy, policy_to_json
from sfams.core.record import PlanId
from sfams.core.retention import Scores
from sfams.core.scope import Scope
from sfams.errors import InvalidPolicyError

Rows = NDArray[np.intp]


def plan_forgetting(
    columns: Columns, policy: RetentionPolicy, *, scope: Scope, plan_id: PlanId, now: datetime
) -> ForgettingPlan:
    """Decide what a policy takes from the live records of a scope at one moment. Changes nothing.

    - Held and pinned records are in no plan, not even when they have expired.
    - Expired records are taken with `expired_action`, whatever else protects them.
    - A record under grace (`grace_until` later than `now`, or younger than `policy.grace`) is left
      alone by all other rules, and one of at least `floor` importance is not deleted by them.
    - Taken are scores below `threshold`, and of the unexpired records the lowest `int(share * n)`
      or `lowest`, where n counts protected ones too but the next lowest goes in a protected one's
      place.
    - If what is left hot exceeds the budget, the lowest of it is demoted until it fits, or until
      only protected records are left.

    A record gets one step at most: the hardest action that applies, with the reason of the rule
    that asked for it (the threshold before the share, and both before the budget). Demoting a cold
    record is no step. `blast_share` is the share that would be deleted for another reason than
    expiry; to refuse a plan above `blast_limit` is up to whoever applies it.

    Raises:
        InvalidPolicyError: The policy's model gave a score that is not finite.
    """
    columns = _by_id(columns)
    scores = policy.model.score(columns, now)
    if scores.values.shape != (len(columns),) or not np.isfinite(scores.values).all():
        message = f"model: {policy.model.name} gave a score that is not finite, or not one a record"
        raise InvalidPolicyError(message, field="model")
    verdicts = _decide(columns, policy, scores.values, to_micros(now))
    steps = _steps(columns, scores, verdicts)
    deleted = np.count_nonzero(
        (steps.actions == _code(Action.DELETE)) & (steps.reasons != _reason(Reason.EXPIRED))
    )
    return ForgettingPlan(
        id=plan_id,
        scope=scope,
        created_at=now,
        policy=policy_to_json(policy),
        steps=steps,
        examined=len(columns),
        hot=int(np.count_nonzero(~columns.cold)),
        blast_share=int(deleted) / max(len(columns), 1),
        blast_limit=policy.max_share,
    )


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """What the rules say, by row. `rank` lists all rows in the order of a plan."""

    actions: NDArray[np.int8]
    reasons: NDArray[np.int8]
    rank: Rows

    def take(self, rows: Rows | Bools, action: Action, reason: Reason) -> None:
        """Take rows, unless something at least as hard takes them already."""
        softer = np.zeros(len(self.actions), np.bool_)
        softer[rows] = True
        softer &= self.actions < _code(action)
        self.actions[softer] = _code(action)
        self.reasons[softer] = _reason(reason)


def _decide(columns: Columns, policy: RetentionPolicy, values: Floats, now: int) -> _Verdicts:
    free = ~(columns.held | columns.pinned)
    expired = columns.expires_at <= now
    verdicts = _Verdicts(
        actions=np.zeros(len(columns), np.int8),
        reasons=np.zeros(len(columns), np.int8),
        # lexsort is stable and rows are in id order: ties go by age, then by id
        rank=np.lexsort((columns.created_at, values, ~expired)),
    )
    verdicts.take(free & expired, policy.expired_action, Reason.EXPIRED)
    free &= ~expired & ~_under_grace(columns, policy, now)
    safe = np.zeros_like(free) if policy.floor is None else columns.importance >= policy.floor
    if policy.threshold is not None:
        low = free & (values < policy.threshold)
        open_ = low & ~safe if policy.threshold_action is Action.DELETE else low
        verdicts.take(open_, policy.threshold_action, Reason.BELOW_THRESHOLD)
    count = _quota(policy, int(np.count_nonzero(~expired)))
    if count:
        open_ = free & ~safe if policy.share_action is Action.DELETE else free
        lowest = verdicts.rank[open_[verdicts.rank]][:count]
        verdicts.take(lowest, policy.share_action, Reason.LOWEST_SHARE)
    _fit_budget(columns, policy, free, verdicts)
    verdicts.actions[columns.cold & (verdicts.actions == _code(Action.DEMOTE))] = 0
    return verdicts


def _fit_budget(
    columns: Columns, policy: RetentionPolicy, free: Bools, verdicts: _Verdicts
) -> None:
    budget = policy.budget
    kept = ~columns.cold & (verdicts.actions == 0)
    movable = verdicts.rank[(free & kept)[verdicts.rank]]
    count = 0
    if budget.records is not None:
        count = max(0, int(np.count_nonzero(kept)) - budget.records)
    if budget.tokens is not None:
        excess = int(columns.tokens[kept].sum()) - budget.tokens
        if excess > 0:
            freed = np.cumsum(columns.tokens[movable])
            count = max(count, int(np.searchsorted(freed, excess)) + 1)
    verdicts.take(movable[:count], Action.DEMOTE, Reason.OVER_BUDGET)


def _under_grace(columns: Columns, policy: RetentionPolicy, now: int) -> Bools:
    until = columns.grace_until > now
    young: Ints = now - np.minimum(columns.created_at, now)
    return until | (young < policy.grace.total_seconds() * 1e6)


def _quota(policy: RetentionPolicy, n: int) -> int:
    if policy.share is not None:
        return int(policy.share * n)
    return policy.lowest or 0


def _steps(columns: Columns, scores: Scores, verdicts: _Verdicts) -> Steps:
    rows = verdicts.rank[(verdicts.actions > 0)[verdicts.rank]]
    return Steps(
        ids=tuple(columns.ids[row] for row in rows.tolist()),
        versions=columns.versions[rows],
        actions=verdicts.actions[rows],
        reasons=verdicts.reasons[rows],
        scores=scores.values[rows],
        tokens=columns.tokens[rows],
        parts={name: part[rows] for name, part in scores.parts.items()},
    )


def _by_id(columns: Columns) -> Columns:
    """Put rows in id order, which stores keep anyway."""
    if all(map(lt, columns.ids, islice(columns.ids, 1, None))):
        return columns
    order = sorted(range(len(columns)), key=columns.ids.__getitem__)
    return columns.take(np.array(order, np.intp))


def _code(action: Action) -> int:
    return ACTIONS.index(action)


def _reason(reason: Reason) -> int:
    return REASONS.index(reason)
