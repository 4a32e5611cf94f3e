"""ForgettingPlan: one immutable value that is made, read, reviewed, saved, applied and undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import overload

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Floats, Ints
from sfams.core.record import JsonValue, PlanId, RecordId
from sfams.core.scope import Scope


class Action(StrEnum):
    """The rungs of forgetting, softest first."""

    KEEP = "keep"
    DEMOTE = "demote"
    SUMMARIZE = "summarize"
    DELETE = "delete"


ACTIONS: tuple[Action, ...] = tuple(Action)
"""Actions by code; a higher code is harder."""


class Reason(StrEnum):
    """Which rule took the record. New ones go to the end: saved plans hold their place."""

    EXPIRED = "expired"
    BELOW_THRESHOLD = "below threshold"
    LOWEST_SHARE = "lowest share"
    OVER_BUDGET = "over budget"
    RETENTION = "retention limit"
    LONG_COLD = "long cold"
    MERGED = "merged"
    ASKED = "asked"


REASONS: tuple[Reason, ...] = tuple(Reason)

UNBOUND = frozenset({Reason.EXPIRED, Reason.RETENTION, Reason.ASKED})
"""Reasons that know no share limit: time ran out, or a person said so."""


class PlanState(StrEnum):
    """How far a plan has come. A pending one waits for a person to approve or reject it."""

    DRAFT = "draft"
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    APPLYING = "applying"
    APPLIED = "applied"
    UNDONE = "undone"


class Cause(StrEnum):
    """What had the plan made."""

    DEMAND = "on demand"
    BUDGET = "over budget"
    TURNS = "turns"
    INTERVAL = "interval"
    SESSION = "end of session"


NO_GROUP = -1
"""The group of a step that is not merged with others."""


@dataclass(frozen=True, slots=True)
class ForgettingStep:
    """What happens to one record, and the score that decided it. `parts` add up to `score`.

    Steps of one `group` are summarized together, in one record.
    """

    record_id: RecordId
    version: int
    action: Action
    reason: Reason
    score: float
    parts: Mapping[str, float]
    tokens: int
    group: int = NO_GROUP


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Sequence[ForgettingStep]):
    """Steps as columns: a plan over a million records stays small, a step is built when looked at."""

    ids: tuple[RecordId, ...] = ()
    versions: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    actions: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    reasons: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    scores: Floats = field(default_factory=lambda: np.empty(0, np.float64))
    tokens: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    groups: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    parts: Mapping[str, Floats] = field(default_factory=dict)

    def __len__(self) -> int:
        """Count the steps."""
        return len(self.ids)

    def __iter__(self) -> Iterator[ForgettingStep]:
        """Build the steps one after the other."""
        return (self._step(row) for row in range(len(self.ids)))

    @overload
    def __getitem__(self, index: int) -> ForgettingStep: ...
    @overload
    def __getitem__(self, index: slice) -> list[ForgettingStep]: ...
    def __getitem__(self, index: int | slice) -> ForgettingStep | list[ForgettingStep]:
        """Build one step, or a list of them."""
        if isinstance(index, slice):
            return [self._step(row) for row in range(*index.indices(len(self.ids)))]
        row = range(len(self.ids))[index]
        return self._step(row)

    def _step(self, row: int) -> ForgettingStep:
        return ForgettingStep(
            record_id=self.ids[row],
            version=int(self.versions[row]),
            action=ACTIONS[self.actions[row]],
            reason=REASONS[self.reasons[row]],
            score=float(self.scores[row]),
            parts={name: float(values[row]) for name, values in self.parts.items()},
            tokens=int(self.tokens[row]),
            group=int(self.groups[row]),
        )

    def __eq__(self, other: object) -> bool:
        """Compare content, array by array."""
        if not isinstance(other, Steps):
            return NotImplemented
        return (
            self.ids == other.ids
            and all(
                np.array_equal(getattr(self, name), getattr(other, name)) for name in STEP_ARRAYS
            )
            and self.parts.keys() == other.parts.keys()
            and all(
                np.array_equal(values, other.parts[name]) for name, values in self.parts.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]  # arrays inside: equality yes, hashing no


STEP_ARRAYS: tuple[str, ...] = ("versions", "actions", "reasons", "scores", "tokens", "groups")
"""Array fields of `Steps`, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingPlan:
    """What a policy would do to one scope at one moment. Lowest score first, expired before all."""

    id: PlanId
    scope: Scope
    created_at: datetime
    policy: Mapping[str, JsonValue]
    steps: Steps
    examined: int
    """How many live records were looked at."""
    hot: int
    """How many of them were hot."""
    blast_share: float
    """Share of the examined records that would be deleted or summarized, for another reason than
    that their time is over or that a person asked for it."""
    blast_limit: float
    cause: Cause = Cause.DEMAND
    spared: Mapping[RecordId, str] = field(default_factory=dict)
    """Records that a rule asked for and a protection kept, and which: a hundred at most."""
    unmet_budget: Mapping[str, int] = field(default_factory=dict)
    """By how much the hot tier will still be over budget, because what is left is protected."""
    alarm: str = ""
    """Why the plan may not be applied without an override: beyond its limits, or unlike any before."""
    state: PlanState = PlanState.DRAFT
    cursor: int = 0
    """How many steps have been applied (or skipped); a crash resumes here."""
    skipped: Mapping[RecordId, str] = field(default_factory=dict)
    applied_at: datetime | None = None
    undo_until: datetime | None = None

    def count(self, action: Action) -> int:
        """Count the steps with this action."""
        return int(np.count_nonzero(self.steps.actions == ACTIONS.index(action)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was done, by ids and counts, never by text."""

    plan_id: PlanId | None
    at: datetime
    demoted: int = 0
    summarized: int = 0
    deleted: int = 0
    restored: int = 0
    erased: int = 0
    skipped: Mapping[RecordId, str] = field(default_factory=dict)
    undo_until: datetime | None = None
