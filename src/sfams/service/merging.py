"""Merging: the groups of a plan, found when it is made and written when it is applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sfams.core.plan import NO_GROUP, Action, ForgettingPlan, ForgettingStep
from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.core.summarizing import Group, GroupBy, group
from sfams.ports import Reader
from sfams.service.engine import Engine
from sfams.service.summarizing import Prepared, prepare, with_originals

_MOST_LOOKED_AT = 2_000
"""Records, lowest first, that one plan tries to group: their texts have to be read."""
_MOST_GROUPS = 10
"""Groups written and embedded for one chunk of a plan."""

FELL_APART = "its group fell apart"


def groups_of(reader: Reader, scope: Scope, ids: Sequence[RecordId]) -> dict[RecordId, int]:
    """Find out which records go together, and number the groups."""
    if not ids:
        return {}
    records = reader.get(scope, sorted(ids[:_MOST_LOOKED_AT]))
    ready, _ = with_originals(reader, scope, group(records).groups)
    return {member.id: number for number, each in enumerate(ready) for member in each.members}


def chunk_of(plan: ForgettingPlan, size: int) -> list[ForgettingStep]:
    """Take the next steps of a plan, about `size` of them: whole groups, and only so many."""
    groups = plan.steps.groups
    end = min(plan.cursor + size, len(plan.steps))
    while 0 < end < len(plan.steps) and groups[end] == groups[end - 1] != NO_GROUP:
        end += 1
    steps = plan.steps[plan.cursor : end]
    seen: set[int] = set()
    for place, step in enumerate(steps):
        seen |= {step.group} - {NO_GROUP}
        if len(seen) > _MOST_GROUPS:
            return steps[:place]
    return steps


def written(
    engine: Engine, plan: ForgettingPlan, steps: Sequence[ForgettingStep]
) -> dict[int, Prepared]:
    """Write and embed the summaries of the groups among these steps. No transaction may be open."""
    members = _members(plan, steps)
    if not members:
        return {}
    with engine.store.read() as reader:
        found = [
            Group(by=GroupBy.HAND, on="", members=tuple(each), sources=tuple(each))
            for ids in members.values()
            if (each := sorted(reader.get(plan.scope, ids), key=lambda r: (r.created_at, r.id)))
        ]
        ready, _ = with_originals(reader, plan.scope, found)
    number = {record_id: each for each, ids in members.items() for record_id in ids}
    return {number[each.group.members[0].id]: each for each in prepare(engine, plan.scope, ready)}


def _members(plan: ForgettingPlan, steps: Sequence[ForgettingStep]) -> Mapping[int, list[RecordId]]:
    members: dict[int, list[RecordId]] = defaultdict(list)
    for step in steps:
        if step.action is Action.SUMMARIZE and step.record_id not in plan.skipped:
            members[step.group].append(step.record_id)
    return members
