"""LongMemEval: one history of a user and an assistant a question (Wu et al., ICLR 2025, 2410.10813).

Turns are units, those marked `has_answer` are the evidence. Sessions are put in order of their dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfams.lab.datasets.reading import read_json, rising, shaped
from sfams.lab.datasets.values import Conversation, Dataset, GoldQuestion, Unit

CATEGORIES = {
    "single-session-user": "single",
    "single-session-assistant": "single",
    "single-session-preference": "preference",
    "multi-session": "multi",
    "temporal-reasoning": "temporal",
    "knowledge-update": "update",
}
_WEEKDAY = re.compile(r"\s*\([^)]*\)")


def read_longmemeval(path: Path) -> Dataset:
    """Read `longmemeval_oracle.json`, `_s.json` or `_m.json`.

    Raises:
        InvalidInputError: The file is not there or not in this form.
    """
    instances = read_json(path)
    conversations = shaped(path, lambda: tuple(map(_conversation, instances)))
    return Dataset(name="LongMemEval", conversations=conversations)


def _conversation(instance: Mapping[str, Any]) -> Conversation:
    told = list(_told(instance))
    abstains = instance["question_id"].endswith("_abs")
    question = GoldQuestion(
        id=instance["question_id"],
        text=instance["question"],
        category="abstention" if abstains else CATEGORIES[instance["question_type"]],
        evidence=() if abstains else tuple(unit.id for unit, answers in told if answers),
        answer=str(instance.get("answer", "")),
        at=_moment(instance["question_date"]),
    )
    return Conversation(
        id=instance["question_id"],
        units=tuple(unit for unit, _ in told),
        questions=(question,),
        style="assistant",
    )


def _told(instance: Mapping[str, Any]) -> Iterator[tuple[Unit, bool]]:
    """Give the units in order, each with whether it holds the answer."""
    columns = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    sessions = sorted(
        zip(*(instance[name] for name in columns), strict=True), key=lambda each: _moment(each[1])
    )
    turns = [
        (f"{place}-{name}", _moment(date) if number == 1 else None, number, turn)
        for place, (name, date, session) in enumerate(sessions, 1)
        for number, turn in enumerate(session, 1)
        if turn["content"].strip()
    ]
    dates = rising((at for _, at, _, _ in turns), _moment(sessions[0][1]))
    for (session, _, number, turn), at in zip(turns, dates, strict=True):
        unit = Unit(
            id=f"{session}:{number}",
            session=session,
            turn=number,
            at=at,
            who=turn["role"],
            role=turn["role"],
            text=turn["content"],
        )
        yield unit, bool(turn.get("has_answer"))


def _moment(written: str) -> datetime:
    """Read "2023/05/20 (Sat) 02:21"."""
    return datetime.strptime(_WEEKDAY.sub("", written), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
