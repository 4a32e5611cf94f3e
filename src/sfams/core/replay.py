"""Replay: a scope's own past once more, under another policy. Values only; nothing is stored.

The policy runs at equal steps from the first record on and once more at the end; what it takes is
gone from then on, and what the log knows of later use tells whether it was missed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from statistics import median

import numpy as np

from sfams.core.columns import Columns
from sfams.core.cutting import Cutter, Rows
from sfams.core.lifecycle import RESTORE_GRACE
from sfams.core.moments import MISSING, from_micros, to_micros
from sfams.core.past import ASKED, NO_TWIN, Happening, Past, What
from sfams.core.plan import Action, ForgettingPlan, ForgettingStep, Reason
from sfams.core.planner import Circumstances, plan_forgetting, removed_by, to_summarize
from sfams.core.policy import RetentionPolicy
from sfams.core.policy_json import policy_to_json
from sfams.core.record import JsonValue, PlanId, RecordId
from sfams.core.scope import Scope

MOST_RUNS = 400
"""Runs of one replay; a longer past is looked at in longer steps."""
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_USUAL_FROM, _USUAL_OF = 3, 10
_KEPT, _SUMMARIZED, _LOST = 0, 1, 2

Grouping = Callable[[Sequence[RecordId]], Mapping[RecordId, int]]
"""Numbers the groups of records that could be summarized together."""


SteppedProgress = Callable[[int, int], object]
"""Called with how many runs are done, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How a replay goes: how often the policy runs, who groups records, who is told of progress."""

    every: timedelta
    group: Grouping
    progress: SteppedProgress | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How many records stood where at a moment, and how many tokens they are."""

    at: datetime
    hot: int
    cold: int
    summarized: int
    lost: int
    hot_tokens: int
    cold_tokens: int
    summarized_tokens: int
    lost_tokens: int

    @property
    def kept(self) -> int:
        """What could still be read word for word."""
        return self.hot + self.cold


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A record that the policy would have deleted, and how it was asked for after that, if it was.

    `wanted` counts how often, by how: shown, used, told again, restored. Each access of which the
    moment is known counts once, so that it is a lower bound.
    """

    id: RecordId
    at: datetime
    reason: Reason
    score: float
    kind: str
    tokens: int
    wanted: Mapping[What, int] = field(default_factory=dict)
    wanted_at: datetime | None = None
    """When for the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What a policy would have done to a scope, had it been in force from the start.

    `standings` has one entry for each run, the last one is now. `waiting` counts the runs whose plan would
    have been beyond the policy's limits and was not carried out. `cold_wanted` counts records that were
    asked for while they lay in the cold, and were found by their words only. `unknown` counts records of
    which the log tells and the store holds nothing any more.
    """

    scope: Scope
    policy: Mapping[str, JsonValue]
    every: timedelta
    standings: tuple[Standing, ...]
    losses: tuple[Loss, ...]
    waiting: int
    cold_wanted: int
    records: int
    unknown: int

    @property
    def regretted(self) -> tuple[Loss, ...]:
        """The losses that somebody asked for afterwards."""
        return tuple(loss for loss in self.losses if loss.wanted)


def usual_step(policy: RetentionPolicy) -> timedelta:
    """Tell how often a policy runs: its interval; a day if it watches a budget; a week by hand."""
    triggers = policy.triggers
    return triggers.interval or (_DAY if triggers.over_budget else _WEEK)


def moments_of(start: int, now: int, every: timedelta) -> tuple[list[int], timedelta]:
    """List the moments of the runs, the last one now, and tell the step that was taken."""
    step = max(every // timedelta(microseconds=1), -(-(now - start) // MOST_RUNS), 1)
    return [*range(start + step, now, step), now], timedelta(microseconds=step)


def replay(
    past: Past, policy: RetentionPolicy, scope: Scope, now: datetime, how: How
) -> Simulation:
    """Run a policy over a past, step by step.

    Plans that need approval count as approved; those beyond their limits are not carried out.
    """
    world = _World(past, policy, scope, how.group)
    start = past.happenings[0].at if past.happenings else to_micros(now)
    runs, step = moments_of(start, to_micros(now), how.every)
    done = 0
    for number, run in enumerate(runs, start=1):
        while done < len(past.happenings) and past.happenings[done].at <= run:
            world.happen(past.happenings[done])
            done += 1
        world.run(from_micros(run), last=number == len(runs))
        if how.progress is not None:
            how.progress(number, len(runs))
    return world.told(step)


class _World:
    """The scope as it would be: which records are there, where they stand, what was lost."""

    def __init__(self, past: Past, policy: RetentionPolicy, scope: Scope, group: Grouping) -> None:
        size = len(past.columns)
        self._past, self._policy, self._scope, self._group = past, policy, scope, group
        self._cutter = Cutter(past.columns, policy.model.needs)
        self._base = self._cutter.base
        self._alive, self._born = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
        self._fate = np.full(size, _KEPT, np.int8)
        self._cold, self._cold_since = np.zeros(size, np.bool_), np.full(size, MISSING)
        self._grace, self._last = np.full(size, MISSING), np.full(size, MISSING)
        self._pinned, self._held = past.pinned.copy(), past.held.copy()
        self._shown = np.zeros(size, np.int64)
        later = np.bincount([e.row for e in past.happenings if e.what is What.USED], minlength=size)
        self._used = np.maximum(past.columns.used_count - later, 0)
        self._losses: list[tuple[int, Loss]] = []
        self._open: dict[int, int] = {}
        self._cold_wanted: set[int] = set()
        self._sizes: list[int] = []
        self._waiting = 0
        self._standings: list[Standing] = []

    # ── What no policy decides ───────────────────────────────────────────────────────────────────

    def happen(self, each: Happening) -> None:
        """Let one thing happen."""
        row = each.row
        if each.what in ASKED:
            self._asked(each)
        if each.what is What.BORN:
            self._alive[row] = self._born[row] = True
        elif each.what in {What.ENDED, What.REOPENED, What.RESTORED}:
            self._alive[row] = each.what is not What.ENDED
        elif each.what in {What.PINNED, What.UNPINNED}:
            self._pinned[row] = each.what is What.PINNED
        elif each.what in {What.HELD, What.RELEASED}:
            self._held[row] = each.what is What.HELD
        elif each.what is What.SHOWN:
            self._shown[row] += 1
            self._last[row] = max(self._last[row], each.at)
        elif each.what is What.USED:
            self._used[row] += 1

    def _asked(self, each: Happening) -> None:
        """Note that a record was wanted, and put back what would have come back by it."""
        row = each.row
        if row in self._open:
            place = self._open[row]
            loss = self._losses[place][1]
            wanted = defaultdict(int, loss.wanted)
            wanted[each.what] += 1
            first = loss.wanted_at or from_micros(each.at)
            self._losses[place] = (row, replace(loss, wanted=dict(wanted), wanted_at=first))
        elif self._fate[row] == _KEPT and self._cold[row] and self._alive[row]:
            self._cold_wanted.add(row)
        back = each.what in {What.TOLD, What.RESTORED} and self._fate[row] != _KEPT
        if back:
            self._fate[row] = _KEPT
            self._open.pop(row, None)
        if back or (each.what in {What.USED, What.RESTORED} and self._cold[row]):
            self._cold[row], self._cold_since[row] = False, MISSING
            self._grace[row] = each.at + RESTORE_GRACE // timedelta(microseconds=1)

    # ── What the policy decides ──────────────────────────────────────────────────────────────────

    def run(self, now: datetime, *, last: bool) -> None:
        """Plan as of a moment and carry the plan out, unless it is beyond its limits."""
        rows = np.flatnonzero(self._alive & (self._fate == _KEPT))
        columns = self._cutter.cut(self._columns(rows), rows, to_micros(now), self._born, last=last)
        plan = self._planned(columns, now)
        if plan.alarm:
            self._waiting += 1
        elif len(plan.steps):
            self._sizes = [*self._sizes[1 - _USUAL_OF :], removed_by(plan.steps)]
            places = {record_id: int(row) for record_id, row in zip(columns.ids, rows, strict=True)}
            for step in plan.steps:
                self._carry_out(step, places[step.record_id], now)
        self._standings.append(self._standing(now))

    def _planned(self, columns: Columns, now: datetime) -> ForgettingPlan:
        groups = self._group(to_summarize(columns, self._policy, now))
        usual = float(median(self._sizes)) if len(self._sizes) >= _USUAL_FROM else None
        return plan_forgetting(
            columns,
            self._policy,
            scope=self._scope,
            plan_id=PlanId("simulated"),
            now=now,
            circumstances=Circumstances(groups=groups, usual=usual),
        )

    def _carry_out(self, step: ForgettingStep, row: int, now: datetime) -> None:
        if step.action is Action.DEMOTE:
            self._cold[row], self._cold_since[row] = True, to_micros(now)
        elif step.action is Action.SUMMARIZE:
            self._fate[row] = _SUMMARIZED
        else:
            self._fate[row] = _LOST
            self._open[row] = len(self._losses)
            kind = self._base.kind_names[self._base.kinds[row]]
            loss = Loss(
                id=step.record_id,
                at=now,
                reason=step.reason,
                score=step.score,
                kind=kind,
                tokens=step.tokens,
            )
            self._losses.append((row, loss))

    def _columns(self, rows: Rows) -> Columns:
        """Give the columns as they would be read now."""
        taken, past = self._base.take(rows), self._past
        twins = past.twins[rows]
        there = self._alive & (self._fate == _KEPT)
        with_twin = (twins != NO_TWIN) & there[twins]
        known = np.maximum(past.known[rows], 1)
        return replace(
            taken,
            similarity=np.where(with_twin, taken.similarity, 0.0),
            last_accessed_at=self._last[rows],
            access_count=taken.access_count * self._shown[rows] // known,
            used_count=self._used[rows],
            grace_until=self._grace[rows],
            pinned=self._pinned[rows],
            held=self._held[rows],
            cold=self._cold[rows],
            cold_since=self._cold_since[rows],
        )

    # ── What is told of it ───────────────────────────────────────────────────────────────────────

    def _standing(self, now: datetime) -> Standing:
        tokens, alive = self._base.tokens, self._alive
        kept = alive & (self._fate == _KEPT)
        parts = {
            "hot": kept & ~self._cold,
            "cold": kept & self._cold,
            "summarized": alive & (self._fate == _SUMMARIZED),
            "lost": alive & (self._fate == _LOST),
        }
        counts = {name: int(np.count_nonzero(part)) for name, part in parts.items()}
        sizes = {f"{name}_tokens": int(tokens[part].sum()) for name, part in parts.items()}
        return Standing(at=now, **counts, **sizes)

    def told(self, every: timedelta) -> Simulation:
        """Tell what is known so far."""
        return Simulation(
            scope=self._scope,
            policy=policy_to_json(self._policy),
            every=every,
            standings=tuple(self._standings),
            losses=tuple(loss for _, loss in self._losses),
            waiting=self._waiting,
            cold_wanted=len(self._cold_wanted),
            records=len(self._base),
            unknown=self._past.erased,
        )
