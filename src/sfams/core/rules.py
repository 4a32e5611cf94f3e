"""The rules of a policy, each over whole columns: which rows go, one rung down, and why.

Precedence: hold > pin > expiry and retention > floor and grace > budget > thresholds. A row gets one
verdict, the hardest that a rule asked for; the first rule to ask for it gives the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Bools, Columns, Floats, Ints
from sfams.core.plan import ACTIONS, NO_GROUP, REASONS, Action, Reason
from sfams.core.policy import SENSITIVE, Limit, RetentionPolicy, Rung

Rows = NDArray[np.intp]

_MOST_SPARED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the rules look at: records, their scores, the policy, the moment, and who may be taken.

    `candidates` narrows every rule but the budget's sums; `groups` names the records that can be
    summarized together, `NO_GROUP` for one that cannot. `rank` lists all rows lowest first, expired
    before all; ties go by age, then by id.
    """

    columns: Columns
    values: Floats
    policy: RetentionPolicy
    now: int
    candidates: Bools
    groups: NDArray[np.int32]
    rank: Rows

    @property
    def expired(self) -> Bools:
        """Rows whose time to live has run out."""
        return self.columns.expires_at <= self.now


class Verdicts:
    """What the rules have said so far, by row."""

    def __init__(self, size: int) -> None:
        """Start with everything kept."""
        self.actions = np.zeros(size, np.int8)
        self.reasons = np.zeros(size, np.int8)
        self.groups = np.full(size, NO_GROUP, np.int32)
        self.spared: dict[int, str] = {}
        self.unmet: dict[str, int] = {}

    def take(self, rows: Rows | Bools, action: Action | NDArray[np.int8], reason: Reason) -> None:
        """Take rows, unless something at least as hard takes them already."""
        code = np.full(len(self.actions), code_of(action), np.int8)
        wanted = np.zeros(len(self.actions), np.bool_)
        wanted[rows] = True
        wanted &= self.actions < code
        self.actions[wanted] = code[wanted]
        self.reasons[wanted] = REASONS.index(reason)

    def spare(self, rows: Bools, why: str) -> None:
        """Note rows that a rule asked for and that stay."""
        for row in np.flatnonzero(rows)[: _MOST_SPARED - len(self.spared)].tolist():
            self.spared.setdefault(row, why)


def code_of(action: Action | NDArray[np.int8]) -> int | NDArray[np.int8]:
    """Give an action's code; codes are left as they are."""
    return ACTIONS.index(action) if isinstance(action, Action) else action


def decide(situation: Situation) -> Verdicts:
    """Ask every rule."""
    columns, policy = situation.columns, situation.policy
    verdicts = Verdicts(len(columns))
    gone = _out_of_time(situation, verdicts)
    open_ = situation.candidates & ~gone & ~columns.held & ~columns.pinned
    graced = _under_grace(columns, policy, situation.now)
    free = open_ & ~graced
    safe = _above_floor(columns, policy)
    _thresholds(situation, verdicts, free, safe)
    _share(situation, verdicts, free, safe)
    _rungs(situation, verdicts, free & ~safe)
    _budgets(situation, verdicts, free)
    verdicts.actions[columns.cold & (verdicts.actions == ACTIONS.index(Action.DEMOTE))] = 0
    return verdicts


def summarizable(columns: Columns, values: Floats, policy: RetentionPolicy, now: int) -> Rows:
    """List the cold rows that have waited for being summarized, lowest first."""
    if policy.summarize is None:
        return np.empty(0, np.intp)
    free = ~(columns.held | columns.pinned | (columns.expires_at <= now))
    free &= ~_under_grace(columns, policy, now) & ~_above_floor(columns, policy)
    rows = np.flatnonzero(free & _waited(columns, values, policy.summarize, now))
    return rows[np.argsort(values[rows], kind="stable")]


# ── One rule each ────────────────────────────────────────────────────────────────────────────────


def _out_of_time(situation: Situation, verdicts: Verdicts) -> Bools:
    """Take what has expired and what its kind may not be kept for longer; only holds and pins stand."""
    columns, policy = situation.columns, situation.policy
    over = _overdue(columns, policy, situation.now)
    gone = (situation.expired | over) & situation.candidates
    for why, protected in (("held", columns.held), ("pinned", columns.pinned)):
        verdicts.spare(gone & protected, why)
    free = gone & ~columns.held & ~columns.pinned
    verdicts.take(free & over, Action.DELETE, Reason.RETENTION)
    verdicts.take(free & situation.expired, policy.expired_action, Reason.EXPIRED)
    return situation.expired | over


def _overdue(columns: Columns, policy: RetentionPolicy, now: int) -> Bools:
    over = np.zeros(len(columns), np.bool_)
    for kind, longest in policy.retention.items():
        whom = columns.sensitive if kind == SENSITIVE else of_kind(columns, kind)
        over |= whom & (columns.created_at + int(longest.total_seconds() * 1e6) <= now)
    return over


def of_kind(columns: Columns, kind: str) -> Bools:
    """Tell which rows are of a kind or refine it."""
    names = [name == kind or name.startswith(f"{kind}:") for name in columns.kind_names]
    return np.array([*names, False], np.bool_)[columns.kinds]


def _under_grace(columns: Columns, policy: RetentionPolicy, now: int) -> Bools:
    young: Ints = now - np.minimum(columns.created_at, now)
    return (columns.grace_until > now) | (young < policy.grace.total_seconds() * 1e6)


def _above_floor(columns: Columns, policy: RetentionPolicy) -> Bools:
    safe = np.zeros(len(columns), np.bool_)
    if policy.floor is not None:
        safe |= columns.importance >= policy.floor
    for kind, floor in policy.floors.items():
        safe |= of_kind(columns, kind) & (columns.importance >= floor)
    return safe


def _thresholds(situation: Situation, verdicts: Verdicts, free: Bools, safe: Bools) -> None:
    policy = situation.policy
    if policy.threshold is None:
        return
    low = situation.candidates & (situation.values < policy.threshold)
    actions = _down(situation, policy.threshold_action, safe)
    verdicts.take(low & free, actions, Reason.BELOW_THRESHOLD)
    _note_spared(situation, verdicts, low & ~situation.expired)


def _share(situation: Situation, verdicts: Verdicts, free: Bools, safe: Bools) -> None:
    """Take the lowest; in a protected one's place goes the next."""
    policy, rank = situation.policy, situation.rank
    counted = situation.candidates & ~situation.expired
    count = policy.lowest or 0
    if policy.share is not None:
        count = int(policy.share * np.count_nonzero(counted))
    if not count:
        return
    actions = _down(situation, policy.share_action, safe)
    # Where nothing but deletion is asked for, what a floor keeps from it is passed over.
    open_ = free & (actions > 0)
    verdicts.take(rank[open_[rank]][:count], actions, Reason.LOWEST_SHARE)
    lowest = np.zeros_like(free)
    lowest[rank[counted[rank]][:count]] = True
    _note_spared(situation, verdicts, lowest)


def _down(situation: Situation, action: Action, safe: Bools) -> NDArray[np.int8]:
    """Say what an action comes to, row by row: hot records are demoted before they are deleted."""
    keep, demote = ACTIONS.index(Action.KEEP), ACTIONS.index(Action.DEMOTE)
    codes = np.full(len(safe), ACTIONS.index(action), np.int8)
    if action is not Action.DELETE:
        return codes
    if situation.policy.through_cold:
        codes[~situation.columns.cold] = demote
        codes[safe & situation.columns.cold] = keep
    else:
        codes[safe] = keep
    return codes


def _rungs(situation: Situation, verdicts: Verdicts, free: Bools) -> None:
    """Take what has waited in the cold: first together with others, then for good."""
    columns, values, policy, now = (
        situation.columns,
        situation.values,
        situation.policy,
        situation.now,
    )
    if policy.summarize is not None:
        ready = free & _waited(columns, values, policy.summarize, now)
        ready &= situation.groups != NO_GROUP
        verdicts.take(ready, Action.SUMMARIZE, Reason.MERGED)
    if policy.delete is not None:
        verdicts.take(
            free & _waited(columns, values, policy.delete, now), Action.DELETE, Reason.LONG_COLD
        )
    merged = verdicts.actions == ACTIONS.index(Action.SUMMARIZE)
    verdicts.groups[merged] = situation.groups[merged]


def _waited(columns: Columns, values: Floats, rung: Rung, now: int) -> Bools:
    cold = columns.cold & (columns.cold_since + int(rung.after.total_seconds() * 1e6) <= now)
    return cold & (values < rung.below if rung.below < 1.0 else True)


def _note_spared(situation: Situation, verdicts: Verdicts, wanted: Bools) -> None:
    verdicts.spare(wanted & situation.columns.held, "held")
    verdicts.spare(wanted & situation.columns.pinned, "pinned")


# ── Budgets ──────────────────────────────────────────────────────────────────────────────────────


def _budgets(situation: Situation, verdicts: Verdicts, free: Bools) -> None:
    """Demote the lowest until what is hot fits, or until only protected records are left."""
    budget = situation.policy.budget
    everything = np.ones(len(free), np.bool_)
    for kind, limit in budget.kinds.items():
        _fit(situation, verdicts, free, (of_kind(situation.columns, kind), limit, f"{kind} "))
    _fit(situation, verdicts, free, (everything, budget, ""))


def _fit(
    situation: Situation, verdicts: Verdicts, free: Bools, part: tuple[Bools, Limit, str]
) -> None:
    whom, limit, label = part
    policy, columns = situation.policy, situation.columns
    sizes = limit.sizes()
    kept = whom & ~columns.cold & (verdicts.actions == 0)
    movable = _movable(situation, limit, free & kept)
    count, unmet = 0, {}
    for name, size in sizes.items():
        weights = _weights(columns, name)
        total = int(weights[kept].sum())
        if total <= size:
            continue
        excess = total - int(policy.budget.low * size)
        freed = np.cumsum(weights[movable])
        count = max(count, min(int(np.searchsorted(freed, excess)) + 1, len(movable)))
        left = total - size - (int(freed[-1]) if len(freed) else 0)
        if left > 0:
            unmet[f"{label}{name}"] = left
    verdicts.take(movable[:count], Action.DEMOTE, Reason.OVER_BUDGET)
    if unmet:
        verdicts.unmet |= unmet
        _note_spared(situation, verdicts, kept)
        verdicts.spare(kept & ~free, "under grace")


def _movable(situation: Situation, limit: Limit, rows: Bools) -> Rows:
    """Order what may go: the main area lowest first, then the window of the newest."""
    ordered = situation.rank[rows[situation.rank]]
    window = situation.policy.window
    sizes: Mapping[str, int] = limit.sizes()
    if not window or not sizes:
        return ordered
    columns = situation.columns
    hot = ~columns.cold & ~situation.expired
    newest = np.lexsort((np.arange(len(hot)), columns.created_at))[::-1]
    newest = newest[hot[newest]]
    inside = np.ones(len(newest), np.bool_)
    for name, size in sizes.items():
        inside &= np.cumsum(_weights(columns, name)[newest]) <= window * size
    recent = np.zeros(len(hot), np.bool_)
    recent[newest[inside]] = True
    return np.concatenate((ordered[~recent[ordered]], ordered[recent[ordered]]))


def _weights(columns: Columns, name: str) -> Ints:
    if name == "records":
        return np.ones(len(columns), np.int64)
    weights: Ints = getattr(columns, name)
    return weights
