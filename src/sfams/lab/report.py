"""What the demonstration found out, as values that become tables or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime

from sfams.core.moments import format_moment
from sfams.core.record import JsonValue
from sfams.lab.history import Question
from sfams.lab.story import Story


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTrail:
    """What a session left behind, after the plan at its end."""

    session: str
    at: datetime
    turns: int
    superseded: int
    demoted: int
    deleted: int
    hot: int
    cold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRow:
    """One step of a plan, with what it is about. `parts` add up to `score`."""

    turn: str
    who: str
    at: datetime
    text: str
    action: str
    reason: str
    score: float
    parts: Mapping[str, float]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    """The last plan: what goes and why."""

    at: datetime
    examined: int
    hot_before: int
    hot_after: int
    rows: tuple[PlanRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one system put into the context for one question. `turns` are in the context's order."""

    right: bool
    stale: tuple[str, ...]
    tokens: int
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A turn that answers, and where SF-AMS keeps it: hot, cold, superseded or deleted."""

    turn: str
    text: str
    standing: str
    shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, the evidence for it, and each system's answer by the system's name."""

    question: Question
    evidence: Evidence
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTotal:
    """One system over all questions.

    A question could reach `searched` records by words and meaning, and `searched_by_words` by words
    alone.
    """

    name: str
    right: int
    stale_shown: int
    mean_tokens: float
    searched: int
    searched_by_words: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """What undoing the last plan brought back."""

    restored: int
    skipped: int
    hot_before: int
    hot_after: int
    exact: bool
    """The memory measures what it did before the plan, in every count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The memory when the questions are asked, in records and in tokens of content."""

    turns: int
    history_tokens: int
    hot: int
    hot_tokens: int
    cold: int
    superseded: int
    deleted: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoReport:
    """All that the demonstration shows."""

    embedder: str
    budget: int
    tokens: int
    asked_at: datetime
    sizes: Sizes
    trail: tuple[SessionTrail, ...]
    plan: PlanReport
    asked: tuple[Asked, ...]
    systems: tuple[SystemTotal, ...]
    undo: Undo
    story: Story

    def to_json(self) -> dict[str, JsonValue]:
        """Write everything as JSON values, moments as ISO 8601."""
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}


def _plain(value: object) -> JsonValue:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, datetime):
        return format_moment(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{type(value).__name__} has no JSON form")
