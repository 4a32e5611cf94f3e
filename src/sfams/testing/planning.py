"""Plans for tests, of any length, with every column filled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np

from sfams.core.plan import ACTIONS, REASONS, Cause, ForgettingPlan, PlanState, Steps
from sfams.core.record import PlanId, RecordId
from sfams.core.scope import Scope
from sfams.testing.builders import numbered_id
from sfams.testing.clock import START


def make_steps(ids: Sequence[RecordId]) -> Steps:
    """Build one step a record, with numbers that no rounding survives."""
    rows = np.arange(len(ids))
    importance = np.sin(rows) / 3
    recency = np.cos(rows) / 7
    return Steps(
        ids=tuple(ids),
        versions=rows % 5 + 1,
        actions=(rows % len(ACTIONS)).astype(np.int8),
        reasons=(rows % len(REASONS)).astype(np.int8),
        scores=importance + recency,
        tokens=rows * 3,
        groups=(rows % 4 - 1).astype(np.int32),
        parts={"importance": importance, "recency": recency},
    )


def make_plan(
    scope: Scope, ids: Sequence[RecordId], *, plan_id: PlanId, minutes: int = 0, cursor: int = 0
) -> ForgettingPlan:
    """Build a plan, made some minutes after the start and applied up to a cursor."""
    return ForgettingPlan(
        id=plan_id,
        scope=scope,
        created_at=START + timedelta(minutes=minutes),
        policy={"name": "classic", "share": 0.1, "lowest": None, "weights": [0.5, 1, True]},
        steps=make_steps(ids),
        examined=len(ids) * 10,
        hot=len(ids) * 9,
        blast_share=1 / 3,
        blast_limit=0.2,
        cause=Cause.INTERVAL,
        spared={numbered_id(77): "held", **dict.fromkeys(ids[-1:], "pinned")},
        unmet_budget={"records": 3},
        alarm="more than usual",
        state=PlanState.APPLYING if cursor else PlanState.DRAFT,
        cursor=cursor,
        skipped=dict.fromkeys(ids[:cursor:2], "used since the plan"),
    )
