"""Plans of one scope: a row each, and their steps as packed columns."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import apsw
import numpy as np

from sfams.core.moments import to_micros
from sfams.core.plan import Cause, ForgettingPlan, PlanState, Steps
from sfams.core.record import PlanId, RecordId
from sfams.core.scope import Scope
from sfams.stores.rows import micros, moment, moment_or_none, to_json
from sfams.stores.sqlite import steps as packing
from sfams.stores.sqlite.statements import QUERIES


class Plans:
    """Reads and writes the plans of one scope."""

    def __init__(
        self, connection: apsw.Connection, scope: Scope, number: int, cache: packing.StepsCache
    ) -> None:
        self._connection = connection
        self._scope = scope
        self._number = number
        self._cache = cache

    def save(self, plan: ForgettingPlan) -> None:
        """Write a plan whole, in place of what was saved under its id."""
        columns = packing.pack(plan.steps)
        ((saved,),) = self._run(
            "plan_put",
            self._number,
            plan.id,
            to_micros(plan.created_at),
            plan.examined,
            plan.hot,
            plan.blast_share,
            plan.blast_limit,
            *_progress(plan),
            to_json(dict(plan.policy)),
            to_json(_notes(plan)),
            packing.fingerprint(columns),
        )
        self._run("plan_columns_clear", saved)
        self._connection.executemany(
            QUERIES["plan_column_add"], ((saved, name, data) for name, data in columns)
        )

    def advance(self, plan: ForgettingPlan) -> bool:
        """Write how far a plan has come; False if it was never saved."""
        return bool(self._run("plan_advance", self._number, plan.id, *_progress(plan)))

    def load(self, plan_id: PlanId) -> ForgettingPlan | None:
        """Read a plan."""
        rows = self._run("plan", self._number, plan_id)
        if not rows:
            return None
        saved, name, created_at, examined, hot, share, limit, policy, notes, *progress = rows[0]
        state, cursor, applied_at, undo_until, skipped = progress
        return ForgettingPlan(
            id=plan_id,
            scope=self._scope,
            created_at=moment(created_at),
            policy=json.loads(policy),
            steps=self._steps(saved, name),
            examined=examined,
            hot=hot,
            blast_share=share,
            blast_limit=limit,
            **_from_notes(json.loads(notes)),
            state=PlanState(state),
            cursor=cursor,
            skipped=json.loads(skipped),
            applied_at=moment_or_none(applied_at),
            undo_until=moment_or_none(undo_until),
        )

    def drop(self, gone: frozenset[RecordId]) -> None:
        """Take records out of every plan; its cursor still stands before the same next step."""
        self._cache.clear()
        for plan_id, skipped, notes, ids in self._run("plan_members", self._number):
            named = (
                packing.unpack_ids(ids),
                json.loads(skipped),
                json.loads(notes).get("spared", {}),
            )
            if all(gone.isdisjoint(each) for each in named):
                continue
            plan = self.load(plan_id)
            if plan is not None:
                self.save(_without(plan, gone))
        self._cache.clear()

    def _steps(self, saved: int, name: bytes) -> Steps:
        steps = self._cache.get(name)
        if steps is None:
            steps = packing.unpack(self._run("plan_columns", saved))
            self._cache.put(name, steps)
        return steps

    def _run(self, query: str, *values: Any) -> list[Any]:  # noqa: ANN401  (cells)
        return self._connection.execute(QUERIES[query], values).fetchall()


def _without(plan: ForgettingPlan, gone: frozenset[RecordId]) -> ForgettingPlan:
    steps, kept = packing.without(plan.steps, gone)
    return replace(
        plan,
        steps=steps,
        cursor=int(np.count_nonzero(kept[: plan.cursor])),
        skipped={name: why for name, why in plan.skipped.items() if name not in gone},
        spared={name: why for name, why in plan.spared.items() if name not in gone},
    )


def _notes(plan: ForgettingPlan) -> dict[str, Any]:
    """Collect what a plan says besides its steps."""
    return {
        "cause": plan.cause.value,
        "alarm": plan.alarm,
        "spared": dict(plan.spared),
        "unmet": dict(plan.unmet_budget),
    }


def _from_notes(notes: dict[str, Any]) -> dict[str, Any]:
    """Read them; a plan of an older schema has none."""
    return {
        "cause": Cause(notes.get("cause", Cause.DEMAND)),
        "alarm": notes.get("alarm", ""),
        "spared": notes.get("spared", {}),
        "unmet_budget": notes.get("unmet", {}),
    }


def _progress(plan: ForgettingPlan) -> tuple[Any, ...]:
    return (
        plan.state.value,
        plan.cursor,
        micros(plan.applied_at),
        micros(plan.undo_until),
        to_json(dict(plan.skipped)),
    )
