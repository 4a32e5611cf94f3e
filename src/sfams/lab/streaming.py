"""Streaming: a conversation told unit by unit under a budget that is enforced after every insertion.

`tell` takes a conversation in once, through the product's own way of remembering; `replay` then runs a
policy over what came of it, with the product's planner on columns that are kept up to date in place.
`replay_through_service` does the same by the verbs of `Memory`, for every unit anew: slow, and what
`replay` must equal. Neither is given a question.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Bools, Columns, Floats, Ints
from sfams.core.draft import DraftFields
from sfams.core.moments import MISSING, to_micros
from sfams.core.planner import plan_forgetting
from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.record import PlanId, RecordId
from sfams.core.scope import Scope
from sfams.lab.accesses import nearest, similarities
from sfams.lab.datasets.values import Unit
from sfams.lab.policies import Arrival, LabPolicy
from sfams.lab.replay import ReplayClock, ReplayIds
from sfams.ports import Embedder, Store
from sfams.service.engine import Engine
from sfams.service.memory import Memory
from sfams.stores.memory import DictStore

SCOPE = Scope("lab/replay")
_PLAN = PlanId("")  # a plan that nobody saves needs no name


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation that has been remembered whole, in rows of records in order of arrival.

    `row_of[p]` is the record that holds unit p (a duplicate shares one), `first[r]` the unit that
    made record r. `near` says how near each unit is to those before it, `alike` each record.
    """

    units: tuple[Unit, ...]
    engine: Engine
    columns: Columns
    row_of: NDArray[np.intp]
    first: NDArray[np.intp]
    near: Floats
    alike: Floats

    @property
    def tokens(self) -> int:
        """Size of the conversation in tokens."""
        return int(self.columns.tokens.sum())

    def budget(self, kind: str, share: float) -> Budget:
        """Give a share of the conversation, in "tokens" or "records", as a budget."""
        if kind == "tokens":
            return Budget(tokens=int(share * self.tokens))
        return Budget(records=int(share * len(self.columns)))


@dataclass(frozen=True, slots=True)
class Kept:
    """What a policy left.

    `lost[r]` is the place of the unit by whose insertion record r left the hot tier, or the number of
    units if it is still there.
    """

    lost: Ints
    units: int
    seconds: Floats = field(default_factory=lambda: np.empty(0))
    """How long each insertion took to score and plan; nothing to compare results by."""

    @property
    def rows(self) -> set[int]:
        """The records that are still hot."""
        return set(np.flatnonzero(self.lost >= self.units).tolist())


def wire(store: Store, embedder: Embedder, start: datetime) -> tuple[Engine, ReplayClock]:
    """Wire the service over a store with a clock that follows the conversation."""
    clock = ReplayClock(start)
    return (
        Engine(
            store=store,
            embedder=embedder,
            clock=clock,
            new_id=ReplayIds(clock),
            automatic=False,
        ),
        clock,
    )


def remember(memory: Memory, clock: ReplayClock, unit: Unit) -> tuple[RecordId, bool]:
    """Remember a unit at its own moment; tells its record and whether that is new."""
    clock.moment = unit.at
    fields: DraftFields = {
        "who": unit.who,
        "role": unit.role,
        "session": unit.session,
        "turn": unit.turn,
        "created_at": unit.at,
    }
    result = memory.remember(unit.text, **fields)
    return result.id, result.outcome != "duplicate"


def tell(units: Sequence[Unit], embedder: Embedder) -> Told:
    """Remember a whole conversation on the dict store, in time order, with nothing forgotten."""
    engine, clock = wire(DictStore(), embedder, units[0].at)
    memory = Memory(engine, SCOPE)
    ids = [remember(memory, clock, unit) for unit in units]
    with engine.store.read() as reader:
        columns = reader.columns(SCOPE, clock.moment)
        vectors = reader.vectors(SCOPE, columns.ids)
    rows = {record_id: row for row, record_id in enumerate(columns.ids)}
    matrix = np.stack([vectors.get(i, np.zeros(embedder.dimension, np.float32)) for i in rows])
    return Told(
        units=tuple(units),
        engine=engine,
        columns=columns,
        row_of=np.array([rows[record_id] for record_id, _ in ids], np.intp),
        first=np.array([place for place, (_, new) in enumerate(ids) if new], np.intp),
        near=similarities([unit.text for unit in units]),
        alike=np.asarray(matrix @ matrix.T, np.float64),
    )


# ── The fast way ─────────────────────────────────────────────────────────────────────────────────


class _Ledger:
    """Columns of all records, changed in place; only hot ones are shown to the planner."""

    def __init__(self, told: Told) -> None:
        self._twin = told.engine.admission.twin_cosine(told.engine.embedder.calibration)
        self._told = told
        size = len(told.columns)
        self._columns = replace(
            told.columns,
            access_count=np.zeros(size, np.int64),
            last_accessed_at=np.full(size, MISSING),
            similarity=np.zeros(size),
        )
        self._place = {record_id: row for row, record_id in enumerate(told.columns.ids)}
        self.hot: Bools = np.zeros(size, np.bool_)
        self.lost = np.full(size, len(told.units), np.int64)
        self._tokens = 0

    def access(self, rows: Sequence[int], at: datetime) -> None:
        self._columns.access_count[rows] += 1
        self._columns.last_accessed_at[rows] = to_micros(at)

    def add(self, row: int) -> None:
        others = np.flatnonzero(self.hot)
        nearest_other = self._told.alike[row, others].max(initial=0.0)
        self._columns.similarity[row] = nearest_other if nearest_other >= self._twin else 0.0
        self.hot[row] = True
        self._tokens += int(self._columns.tokens[row])

    def over(self, budget: Budget) -> bool:
        return _over(budget, int(self.hot.sum()), self._tokens)

    def shown(self) -> Columns:
        return self._columns.take(np.flatnonzero(self.hot))

    def drop(self, ids: Sequence[RecordId], place: int) -> None:
        for row in (self._place[each] for each in ids):
            self.hot[row] = False
            self.lost[row] = place
            self._tokens -= int(self._columns.tokens[row])


def replay(told: Told, policy: LabPolicy, budget: Budget) -> Kept:
    """Run a policy over a conversation, one insertion after the other."""
    rules = RetentionPolicy(name=policy.name, model=policy, budget=budget, window=policy.window)
    ledger = _Ledger(told)
    seconds = np.zeros(len(told.units))
    for place, unit in enumerate(told.units):
        row = int(told.row_of[place])
        found = nearest(told.near[place, told.first], ledger.hot)
        started = time.perf_counter()
        if found:
            ledger.access(found, unit.at)
            policy.accessed([told.columns.ids[each] for each in found], unit.at)
        if told.first[row] == place:
            policy.arrive(_arrival(told, row, unit))
            ledger.add(row)
        if ledger.over(budget):
            plan = plan_forgetting(ledger.shown(), rules, scope=SCOPE, plan_id=_PLAN, now=unit.at)
            ledger.drop(plan.steps.ids, place)
        seconds[place] = time.perf_counter() - started
    return Kept(ledger.lost, len(told.units), seconds)


def _over(budget: Budget, records: int, tokens: int) -> bool:
    return (budget.records is not None and records > budget.records) or (
        budget.tokens is not None and tokens > budget.tokens
    )


def _arrival(told: Told, row: int, unit: Unit) -> Arrival:
    return Arrival(
        id=told.columns.ids[row],
        at=unit.at,
        who=unit.who,
        role=unit.role,
        text=unit.text,
        tokens=int(told.columns.tokens[row]),
    )


# ── The real way ─────────────────────────────────────────────────────────────────────────────────


def replay_through_service(told: Told, policy: LabPolicy, budget: Budget, store: Store) -> Kept:
    """Do what `replay` does by remember, plan and forget on a store, for every unit anew.

    Accesses go through the service's usage buffer, and what is stored is what the store says.
    """
    engine, clock = wire(store, told.engine.embedder, told.units[0].at)
    memory = Memory(engine, SCOPE)
    rules = RetentionPolicy(name=policy.name, model=policy, budget=budget, window=policy.window)
    ids: list[RecordId] = []
    hot = np.zeros(len(told.columns), np.bool_)
    lost = np.full(len(told.columns), len(told.units), np.int64)
    for place, unit in enumerate(told.units):
        clock.moment = unit.at
        found = [ids[row] for row in nearest(told.near[place, told.first], hot)]
        engine.usage.note(SCOPE, found, unit.at, turn=unit.id)
        policy.accessed(found, unit.at)
        record_id, new = remember(memory, clock, unit)
        if new:
            hot[len(ids)] = True
            ids.append(record_id)
            policy.arrive(replace(_arrival(told, len(ids) - 1, unit), id=record_id))
        size = memory.stats()
        if _over(budget, size.hot, size.hot_tokens):
            memory.forget(memory.plan_forgetting(rules))
            now_hot = _hot(engine, clock.moment)
            lost[[row for row, each in enumerate(ids) if hot[row] and each not in now_hot]] = place
            hot[: len(ids)] = [each in now_hot for each in ids]
    return Kept(lost, len(told.units))


def _hot(engine: Engine, now: datetime) -> set[RecordId]:
    with engine.store.read() as reader:
        columns = reader.columns(SCOPE, now)
    return {
        record_id for record_id, cold in zip(columns.ids, columns.cold, strict=True) if not cold
    }
