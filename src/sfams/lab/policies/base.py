"""The interface of every policy in the bench: it hears what is told and sees columns, no question.

A lab policy is a `RetentionModel`, so the product's own planner carries it out: after every insertion
the lowest scores leave the hot tier until it fits the budget. What a baseline does therefore differs
from the product in its scores alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sfams.core.columns import Columns, Floats, Needs
from sfams.core.record import JsonValue, RecordId
from sfams.core.retention import RetentionModel, Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A unit that has just been remembered as a new record."""

    id: RecordId
    at: datetime
    who: str
    role: str
    text: str
    tokens: int


class LabPolicy(RetentionModel, Protocol):
    """A retention model that may keep a state of its own. Rows come in order of arrival."""

    @property
    def window(self) -> float:
        """The share of the budget that is kept for the newest (`RetentionPolicy.window`)."""
        ...

    def arrive(self, arrival: Arrival) -> None:
        """Hear of a new record, before it is scored for the first time."""
        ...

    def accessed(self, ids: Sequence[RecordId], at: datetime) -> None:
        """Hear which records were found by what is being told now."""
        ...


class Baseline:
    """What most baselines share: a name, no state, and values that are the one part of a score."""

    def __init__(self, name: str, values: Callable[[Columns, datetime], Floats]) -> None:
        """Name a way to value rows."""
        self._name = name
        self._values = values

    @property
    def name(self) -> str:
        """The name in tables."""
        return self._name

    @property
    def window(self) -> float:
        """None: a baseline ranks everything by its value."""
        return 0.0

    @property
    def needs(self) -> Needs:
        """None: what a baseline keeps besides, it keeps itself."""
        return frozenset()

    def parameters(self) -> dict[str, JsonValue]:
        """Give nothing: a baseline is not built again from a saved plan."""
        return {}

    def arrive(self, arrival: Arrival) -> None:
        """Take no note."""

    def accessed(self, ids: Sequence[RecordId], at: datetime) -> None:
        """Take no note: counts and last moments stand in the columns."""

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Value every row."""
        values = self._values(columns, now)
        return Scores(values, {self._name: values})
