"""The story behind the demonstration's numbers: what became of each memory, and how long it would last.

Values only, taken from the memory by its own verbs (`explain`, `plan_forgetting`); the page draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sfams.core.columns import columns_of
from sfams.core.events import EventType, MemoryEvent
from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.record import MemoryRecord, RecordId, Status, Tier
from sfams.core.retention import curve
from sfams.core.sensitivity import masked
from sfams.lab.history import Turn
from sfams.service.memory import Memory

HORIZON = timedelta(days=180)
"""How far ahead a score is drawn."""

_LEAVING = frozenset({EventType.DEMOTED, EventType.DELETED, EventType.SUPERSEDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One memory: what was said, and what became of it.

    `fate` is hot, cold, superseded or deleted, `since` when it left the hot ones, `reason` and `score`
    what the plan that moved it said; a hot one has today's score, unless no plan may touch it. `parts`
    add up to the score. `successor` is the turn that took its place.
    """

    turn: str
    who: str
    at: datetime
    text: str
    kind: str
    tokens: int
    fate: str
    since: datetime | None
    reason: str
    score: float | None
    parts: Mapping[str, float]
    successor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """How a memory's score would run from today on if nobody used it: days and values, point by point."""

    turn: str
    label: str
    days: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All lives in the order of telling, a few outlooks, and the least score that is still hot."""

    lives: tuple[Life, ...]
    outlooks: tuple[Outlook, ...]
    least_hot: float | None


def tell(memory: Memory, turns: Mapping[RecordId, Turn], now: datetime) -> Story:
    """Read the story of a memory. It saves a plan that is never carried out, and counts no access."""
    scores = _hot_scores(memory)
    records = {record_id: memory.get(record_id) for record_id in turns}
    lives = [_life(memory, records[each], turns, scores) for each in turns]
    lives.sort(key=lambda life: (life.at, life.turn))
    hot = sorted((score, each) for each, (score, _) in scores.items())
    return Story(
        lives=tuple(lives),
        outlooks=_outlooks(records, turns, [each for _, each in hot], now),
        least_hot=hot[0][0] if hot else None,
    )


def _hot_scores(memory: Memory) -> dict[RecordId, tuple[float, Mapping[str, float]]]:
    """Ask a policy that would let everything go what every hot memory is worth."""
    everything = RetentionPolicy(name="demo: scores", budget=Budget(records=0))
    steps = memory.plan_forgetting(everything).steps
    return {step.record_id: (step.score, dict(step.parts)) for step in steps}


def _life(
    memory: Memory,
    record: MemoryRecord,
    turns: Mapping[RecordId, Turn],
    scores: Mapping[RecordId, tuple[float, Mapping[str, float]]],
) -> Life:
    told = memory.explain(record.id)
    fate = _fate(record)
    score, parts = told.score, told.parts
    if fate == Tier.HOT.value:
        score, parts = scores.get(record.id, (None, {}))
    elif fate == Status.SUPERSEDED.value:
        score, parts = None, {}
    by = record.validity.superseded_by
    return Life(
        turn=turns[record.id].key,
        who=record.source.who,
        at=record.created_at,
        text=masked(record),
        kind=record.kind,
        tokens=record.tokens,
        fate=fate,
        since=_left(told.events) if fate != Tier.HOT.value else None,
        reason="" if fate == Tier.HOT.value else told.reason,
        score=score,
        parts=dict(parts),
        successor=turns[by].key if by is not None and by in turns else "",
    )


def _fate(record: MemoryRecord) -> str:
    return record.tier.value if record.status is Status.LIVE else record.status.value


def _left(events: Sequence[MemoryEvent]) -> datetime | None:
    moments = [event.at for event in events if event.type in _LEAVING]
    return max(moments, default=None)


def _outlooks(
    records: Mapping[RecordId, MemoryRecord],
    turns: Mapping[RecordId, Turn],
    hot: Sequence[RecordId],
    now: datetime,
) -> tuple[Outlook, ...]:
    """Draw the most valuable hot memory, the middle one, the one that goes next, and the most used."""
    if not hot:
        return ()
    used = max(hot, key=lambda each: (records[each].usage.access_count, each))
    chosen = {
        hot[-1]: "the most valuable",
        hot[len(hot) // 2]: "the middle one",
        used: "the most often shown",
        hot[0]: "the next to go",
    }
    model = RetentionPolicy(name="demo").model
    drawn = []
    for record_id, label in chosen.items():
        line = curve(model, columns_of([records[record_id]]), now, horizon=HORIZON)
        drawn.append(
            Outlook(
                turn=turns[record_id].key,
                label=label,
                days=tuple(line.days.tolist()),
                values=tuple(line.values.tolist()),
            )
        )
    return tuple(drawn)
