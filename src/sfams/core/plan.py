"""ForgettingPlan: one immutable value that is made, read, saved, applied and undone."""

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
    """Which rule took the record."""

    EXPIRED = "expired"
    BELOW_THRESHOLD = "below threshold"
    LOWEST_SHARE = "lowest share"
    OVER_BUDGET = "over budget"
    ASKED = "asked"


REASONS: tuple[Reason, ...] = tuple(Reason)


class PlanState(StrEnum):
    """How far a plan has come."""

    DRAFT = "draft"
    APPLYING = "applying"
    APPLIED = "applied"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class ForgettingStep:
    """What happens to one record, and the score that decided it. `parts` add up to `score`."""

    record_id: RecordId
    version: int
    action: Action
    reason: Reason
    score: float
    parts: Mapping[str, float]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Sequence[ForgettingStep]):
    """Steps as columns: a plan over a million records stays small, a step is built when looked at."""

    ids: tuple[RecordId, ...] = ()
    versions: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    actions: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    reasons: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    scores: Floats = field(default_factory=lambda: np.empty(0, np.float64))
    tokens: Ints = field(default_factory=lambda: np.empty(0, np.int64))
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
        )

    def __eq__(self, other: object) -> bool:
        """Compare content, array by array."""
        if not isinstance(other, Steps):
            return NotImplemented
        return (
            self.ids == other.ids
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("versions", "actions", "reasons", "scores", "tokens")
            )
            and self.parts.keys() == other.parts.keys()
            and all(
                np.array_equal(values, other.parts[name]) for name, values in self.parts.items()
            )
        )

    __hash__ = None  # type: ignore[assignment]  # arrays inside: equality yes, hashing no


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
    """Share of the examined records that would be deleted for another reason than expiry."""
    blast_limit: float
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
    deleted: int = 0
    restored: int = 0
    erased: int = 0
    skipped: Mapping[RecordId, str] = field(default_factory=dict)
    undo_until: datetime | None = None
