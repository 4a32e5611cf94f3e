"""The dict store's edits of single values: each makes a new one of an old one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from sfams.core.moments import to_micros
from sfams.core.plan import STEP_ARRAYS, ForgettingPlan, Steps
from sfams.core.record import EmbeddingState, MemoryRecord, RecordId, Tier, Usage
from sfams.core.traces import TurnUse, trace_of
from sfams.ports import EmbeddingModel, Transition, UsageDelta
from sfams.stores.dict_state import Row


def says_the_same(one: MemoryRecord, other: MemoryRecord) -> bool:
    """Tell whether what is embedded of two records, text and speaker, is equal."""
    return (one.content, one.source.who) == (other.content, other.source.who)


def learned(row: Row, turn: int) -> Row:
    """Begin a new row's trace at the scope's present turn."""
    record = row.record
    trace = trace_of(record.usage, to_micros(record.created_at), turn)
    return replace(row, trace=trace, learned=turn)


def succeeding(row: Row, old: Row) -> Row:
    """Hand on what a replaced row keeps: usage and trace, and what is staged while it says the same."""
    same = says_the_same(row.record, old.record)
    return replace(
        row,
        record=replace(row.record, usage=old.record.usage),
        staged=old.staged if same else {},
        trace=old.trace,
        learned=old.learned,
    )


def with_usage(usage: Usage, delta: UsageDelta) -> Usage:
    """Counters add up; each last moment is the latest of its own kind of access."""
    if delta.shown:
        usage = replace(
            usage,
            access_count=usage.access_count + delta.shown,
            last_accessed_at=max(usage.last_accessed_at or delta.at, delta.at),
        )
    if delta.used:
        usage = replace(
            usage,
            used_count=usage.used_count + delta.used,
            last_used_at=max(usage.last_used_at or delta.at, delta.at),
        )
    return usage


def with_access(row: Row, delta: UsageDelta, turn: int) -> Row:
    """Add accesses to a row's counters and trace."""
    use = TurnUse(turn, delta.shown, delta.used)
    moments = map(to_micros, (*delta.moments, delta.at))
    trace = row.trace.noted(use, moments, to_micros(row.record.created_at))
    record = replace(row.record, usage=with_usage(row.record.usage, delta))
    return replace(row, record=record, trace=trace)


def with_setting(settings: Mapping[str, str], name: str, value: str | None) -> dict[str, str]:
    """Set a scope's setting, or take it away."""
    others = {key: text for key, text in settings.items() if key != name}
    return others if value is None else {**others, name: value}


def without_links(row: Row, gone: set[RecordId]) -> Row:
    """Take away what leads to erased records: relations, successor, twin, sources."""
    record = row.record
    kept = replace(
        record,
        relations=tuple(each for each in record.relations if each.target not in gone),
        derived_from=tuple(each for each in record.derived_from if each not in gone),
        twin=None if record.twin is not None and record.twin.id in gone else record.twin,
        validity=replace(record.validity, superseded_by=None)
        if record.validity.superseded_by in gone
        else record.validity,
    )
    return row if kept == record else replace(row, record=kept)


def moved(record: MemoryRecord, change: Transition, now: datetime) -> MemoryRecord:
    """Give a record another standing."""
    names = ("status", "tier", "grace_until", "pinned", "held", "validity")
    fields: dict[str, Any] = {
        name: value for name in names if (value := getattr(change, name)) is not None
    }
    if change.held is not None:
        fields["hold"] = change.hold
    if change.tier is Tier.HOT:
        fields["cold_since"] = None
    elif change.tier is Tier.COLD and record.tier is Tier.HOT:
        fields["cold_since"] = now
    return replace(record, **fields, updated_at=now, version=record.version + 1)


def without_steps(plan: ForgettingPlan, gone: set[RecordId]) -> ForgettingPlan:
    """Take records out of a saved plan; its cursor still stands before the same next step."""
    kept = np.array([record_id not in gone for record_id in plan.steps.ids], np.bool_)
    skipped = {name: why for name, why in plan.skipped.items() if name not in gone}
    spared = {name: why for name, why in plan.spared.items() if name not in gone}
    if kept.all() and (len(skipped), len(spared)) == (len(plan.skipped), len(plan.spared)):
        return plan
    steps = plan.steps
    left = Steps(
        ids=tuple(record_id for record_id in steps.ids if record_id not in gone),
        parts={name: values[kept] for name, values in steps.parts.items()},
        **{name: getattr(steps, name)[kept] for name in STEP_ARRAYS},
    )
    cursor = int(np.count_nonzero(kept[: plan.cursor]))
    return replace(plan, steps=left, cursor=cursor, skipped=skipped, spared=spared)


def adopted(row: Row, model: EmbeddingModel, seq: int) -> Row:
    """Give a row its staged vector, or let it wait unless the one that it has is of the model."""
    if model in row.staged:
        vector = row.staged[model]
        state = EmbeddingState.FAILED if vector is None else EmbeddingState.READY
    elif row.is_of(model):
        vector, state = row.vector, row.record.embedding
    else:
        vector, state = None, EmbeddingState.PENDING
    record = replace(row.record, embedding=state)
    return replace(row, record=record, vector=vector, seq=seq, model=model.name, staged={})
