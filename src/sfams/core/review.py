"""Review: a person or a judge looks at a plan. A review softens steps; it never hardens or adds one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sfams.core.plan import ACTIONS, NO_GROUP, Action, ForgettingPlan
from sfams.core.planner import removed_by
from sfams.core.record import RecordId

SOFTENED = "softened in review"
KEPT = "kept in review"


class Ruling(StrEnum):
    """What a review says of a step: as planned, no harder than demotion, or not at all."""

    UPHOLD = "uphold"
    SOFTEN = "soften"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One ruling, and in a few words why."""

    record_id: RecordId
    ruling: Ruling
    why: str = ""


def weaken(plan: ForgettingPlan, verdicts: Iterable[Verdict]) -> ForgettingPlan:
    """Soften the steps that are ruled upon. Verdicts on other records change nothing.

    A step that is to be kept stays in the plan as skipped, with the reason, so that a plan still shows
    what it would have done. Of several verdicts on a record the softest counts.
    """
    actions, groups = plan.steps.actions.copy(), plan.steps.groups.copy()
    places = {record_id: row for row, record_id in enumerate(plan.steps.ids)}
    skipped = dict(plan.skipped)
    demote = ACTIONS.index(Action.DEMOTE)
    for verdict in verdicts:
        row = places.get(verdict.record_id)
        if row is None or row < plan.cursor:
            continue
        if verdict.ruling is Ruling.KEEP:
            skipped[verdict.record_id] = f"{KEPT}: {verdict.why}" if verdict.why else KEPT
        elif verdict.ruling is Ruling.SOFTEN and actions[row] > demote:
            actions[row], groups[row] = demote, NO_GROUP
    steps = replace(plan.steps, actions=actions, groups=groups)
    removed = removed_by(steps, frozenset(skipped))
    share = removed / max(plan.examined, 1)
    # What made the plan alarming may be gone; what did not cannot have come.
    limit = plan.blast_limit
    calmed = bool(plan.alarm) and plan.blast_share > limit >= share
    return replace(
        plan,
        steps=steps,
        skipped=skipped,
        blast_share=min(plan.blast_share, share),
        alarm="" if calmed or not removed else plan.alarm,
    )


def unlikeliest(plan: ForgettingPlan, count: int) -> list[RecordId]:
    """Name the steps nearest to being kept, hardest actions first: what a review should look at."""
    steps = plan.steps
    order = np.lexsort((-steps.scores, -steps.actions))
    return [steps.ids[row] for row in order[: max(count, 0)].tolist()]
