"""Ghosts: what is left of a record that was forgotten, so that a mistake can be noticed. No text.

A store keeps a ghost's content hash and term ids as HMACs under its own key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from math import sqrt

from sfams.core.keywords import question_terms
from sfams.core.plan import Action, Reason
from sfams.core.record import MemoryRecord, PlanId, RecordId
from sfams.core.stopwords import FUNCTION_TERMS

MOST_OF_A_TERM = 200
"""A look by terms finds the newest so many ghosts of each: what is in more of them tells little."""
BY_HAND = "by hand"
"""Stands for a policy's name where a person deleted."""
_Z = 1.959964  # the normal distribution's quantile for 95 %, two-sided


class Mark(StrEnum):
    """What a person says of an act of forgetting."""

    RIGHT = "right"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ghost:
    """One act of forgetting. `regrets` counts the days on which the memory was missed.

    A record that was demoted and later deleted has two; what follows belongs to the newest.
    """

    record_id: RecordId
    at: datetime
    action: Action
    reason: str
    policy: str
    plan_id: PlanId | None = None
    score: float | None = None
    returned_at: datetime | None = None
    regrets: int = 0
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """A ghost with what it is known again by; demoted records are found by recall and need no terms."""

    ghost: Ghost
    content_hash: str
    terms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A forgotten memory that a question seems to ask for, and that can still be restored."""

    id: RecordId
    at: datetime
    action: Action
    reason: str
    policy: str
    plan_id: PlanId | None
    share: float
    """Share of the question's terms, by rarity, that it held."""


def trail(record: MemoryRecord, ghost: Ghost) -> Trail:
    """Lay the trail of a record that is being forgotten."""
    terms = () if ghost.action is Action.DEMOTE else content_terms(record.content)
    return Trail(ghost, record.content_hash, terms)


def content_terms(text: str) -> tuple[int, ...]:
    """Number the terms of a text but for function words, unless it has no others."""
    terms = question_terms(text)
    return tuple(term for term in terms if term not in FUNCTION_TERMS) or tuple(terms)


def deleted_by_hand(record: MemoryRecord, at: datetime) -> Trail:
    """Lay the trail of a record that a person deletes."""
    ghost = Ghost(
        record_id=record.id, at=at, action=Action.DELETE, reason=Reason.ASKED, policy=BY_HAND
    )
    return trail(record, ghost)


def sample(ghosts: Iterable[Ghost], n: int, seed: int) -> list[Ghost]:
    """Draw what plans forgot and nobody has brought back: the same for the same ghosts and seed."""
    newest = {ghost.record_id: ghost for ghost in ghosts}
    drawn = [g for g in newest.values() if g.plan_id is not None and g.returned_at is None]
    return sorted(drawn, key=lambda ghost: _lot(ghost.record_id, seed))[:n]


def _lot(record_id: RecordId, seed: int) -> bytes:
    return blake2b(f"{seed} {record_id}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRecord:
    """How a policy's forgetting has turned out. Rates are shares of all that it forgot.

    `false_rate` is the share of marked ones that were marked wrong, with `interval`, its 95 % Wilson
    interval; None while nothing is marked.
    """

    policy: str
    forgotten: Mapping[str, int]
    undone: int
    regretted: int
    right: int
    wrong: int

    @property
    def total(self) -> int:
        """How many records it forgot."""
        return sum(self.forgotten.values())

    @property
    def undo_rate(self) -> float:
        """Share that was brought back."""
        return self.undone / self.total if self.total else 0.0

    @property
    def regret_rate(self) -> float:
        """Share that was missed on a day at least."""
        return self.regretted / self.total if self.total else 0.0

    @property
    def false_rate(self) -> float | None:
        """Share of the marked that was marked wrong."""
        marked = self.right + self.wrong
        return self.wrong / marked if marked else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Bound the false-forgetting rate (95 %)."""
        marked = self.right + self.wrong
        return wilson(self.wrong, marked) if marked else None


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Bound a share with 95 % confidence (Wilson 1927); `total` is above 0."""
    share, square = hits / total, _Z * _Z / total
    middle = share + square / 2
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total))
    low, high = (middle - spread) / (1 + square), (middle + spread) / (1 + square)
    return max(0.0, low), min(1.0, high)


def tally(ghosts: Iterable[Ghost]) -> tuple[PolicyRecord, ...]:
    """Sum up by policy, in order of their names."""
    by_policy: dict[str, list[Ghost]] = {}
    for ghost in ghosts:
        by_policy.setdefault(ghost.policy, []).append(ghost)
    return tuple(_tallied(name, by_policy[name]) for name in sorted(by_policy))


def _tallied(policy: str, ghosts: Sequence[Ghost]) -> PolicyRecord:
    actions = sorted({ghost.action for ghost in ghosts})
    return PolicyRecord(
        policy=policy,
        forgotten={a.value: sum(ghost.action is a for ghost in ghosts) for a in actions},
        undone=sum(ghost.returned_at is not None for ghost in ghosts),
        regretted=sum(ghost.regrets > 0 for ghost in ghosts),
        right=sum(ghost.mark is Mark.RIGHT for ghost in ghosts),
        wrong=sum(ghost.mark is Mark.WRONG for ghost in ghosts),
    )
