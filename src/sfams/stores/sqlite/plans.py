"""Plans: a header, and one compressed array per column of its steps."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from sfams.core.moments import to_micros
from sfams.core.plan import ForgettingPlan, PlanState, Steps
from sfams.core.record import PlanId, RecordId
from sfams.core.scope import Scope
from sfams.stores.rows import micros, moment, moment_or_none, to_json
from sfams.stores.sqlite.statements import QUERIES

_IDS = "ids"
_PART = "part:"
_ARRAYS: Mapping[str, str] = {
    "versions": "<i8",
    "actions": "<i1",
    "reasons": "<i1",
    "scores": "<f8",
    "tokens": "<i8",
}
_FAST = 1  # zlib level: ids shrink well even so


def save(connection: apsw.Connection, number: int, plan: ForgettingPlan) -> None:
    """Write a plan whole, in place of what was saved under its id."""
    values = (
        number,
        plan.id,
        to_micros(plan.created_at),
        plan.examined,
        plan.hot,
        plan.blast_share,
        plan.blast_limit,
        *_progress(plan),
        to_json(dict(plan.policy)),
    )
    saved = connection.execute(QUERIES["plan_put"], values).get
    connection.execute(QUERIES["plan_columns_clear"], (saved,))
    connection.executemany(
        QUERIES["plan_column_add"], ((saved, name, data) for name, data in _packed(plan.steps))
    )


def advance(connection: apsw.Connection, number: int, plan: ForgettingPlan) -> bool:
    """Write how far a plan has come; False if it was never saved."""
    values = (number, plan.id, *_progress(plan))
    return connection.execute(QUERIES["plan_advance"], values).get is not None


def load(
    connection: apsw.Connection, number: int, scope: Scope, plan_id: PlanId
) -> ForgettingPlan | None:
    """Read a plan."""
    row = connection.execute(QUERIES["plan"], (number, plan_id)).fetchone()
    if row is None:
        return None
    (
        saved,
        _,
        created_at,
        examined,
        hot,
        share,
        limit,
        state,
        cursor,
        applied_at,
        undo_until,
        skipped,
        policy,
    ) = row
    return ForgettingPlan(
        id=plan_id,
        scope=scope,
        created_at=moment(created_at),
        policy=json.loads(policy),
        steps=_unpacked(connection.execute(QUERIES["plan_columns"], (saved,)).fetchall()),
        examined=examined,
        hot=hot,
        blast_share=share,
        blast_limit=limit,
        state=PlanState(state),
        cursor=cursor,
        skipped=json.loads(skipped),
        applied_at=moment_or_none(applied_at),
        undo_until=moment_or_none(undo_until),
    )


def without(plan: ForgettingPlan, gone: frozenset[RecordId]) -> ForgettingPlan | None:
    """Take records out of a plan; its cursor still stands before the same next step.

    None if the plan names none of them.
    """
    kept = np.fromiter((each not in gone for each in plan.steps.ids), np.bool_, len(plan.steps))
    skipped = {name: why for name, why in plan.skipped.items() if name not in gone}
    if kept.all() and len(skipped) == len(plan.skipped):
        return None
    return replace(
        plan,
        steps=_kept(plan.steps, kept),
        cursor=int(np.count_nonzero(kept[: plan.cursor])),
        skipped=skipped,
    )


def _kept(steps: Steps, kept: NDArray[np.bool_]) -> Steps:
    return Steps(
        ids=tuple(steps.ids[row] for row in np.flatnonzero(kept)),
        **{name: getattr(steps, name)[kept] for name in _ARRAYS},
        parts={name: values[kept] for name, values in steps.parts.items()},
    )


def _progress(plan: ForgettingPlan) -> tuple[Any, ...]:
    return (
        plan.state.value,
        plan.cursor,
        micros(plan.applied_at),
        micros(plan.undo_until),
        to_json(dict(plan.skipped)),
    )


def _packed(steps: Steps) -> Iterator[tuple[str, bytes]]:
    yield _IDS, zlib.compress(to_json(steps.ids).encode(), _FAST)
    for name, kind in _ARRAYS.items():
        yield name, zlib.compress(getattr(steps, name).astype(kind).tobytes(), _FAST)
    for name, values in steps.parts.items():
        yield _PART + name, values.astype("<f8").tobytes()


def _unpacked(columns: Sequence[tuple[Any, ...]]) -> Steps:
    found = dict(columns)
    return Steps(
        ids=tuple(json.loads(zlib.decompress(found[_IDS]))),
        **{
            name: np.frombuffer(zlib.decompress(found[name]), kind)
            for name, kind in _ARRAYS.items()
        },
        parts={
            name.removeprefix(_PART): np.frombuffer(data, "<f8")
            for name, data in columns
            if name.startswith(_PART)
        },
    )
