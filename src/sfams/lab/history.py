"""The history that `sfams demo` replays: what was said, and the questions asked about it later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import files
from itertools import groupby
from typing import Any

from sfams.core.moments import parse_moment
from sfams.core.record import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One thing said. `memory` holds what an agent made of it, such as kind, importance, claim."""

    key: str
    session: str
    number: int
    who: str
    role: str
    text: str
    at: datetime
    memory: Mapping[str, Any] = field(default_factory=dict)

    def fields(self, *, forgetting: bool = True) -> dict[str, object]:
        """Give what `remember_many` takes.

        Without `forgetting` it never ends and supersedes nothing: no time to live, and each claim,
        though told in the same words, in a slot of its own.
        """
        made = dict(self.memory)
        hours = made.pop("ttl_hours", None)
        if not forgetting:
            hours = None
            if "attribute" in made:
                made["attribute"] = f"{made['attribute']} ({self.key})"
        return {
            "kind": Kind.DIALOGUE.value,
            **made,
            "ttl": None if hours is None else timedelta(hours=hours),
            "content": self.text,
            "who": self.who,
            "role": self.role,
            "session": self.session,
            "turn": self.number,
            "key": self.key,
            "created_at": self.at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, the turns that answer it (any one is enough), and those that once did."""

    key: str
    text: str
    gold: tuple[str, ...]
    stale: tuple[str, ...]
    answer: str


def read_turns() -> tuple[Turn, ...]:
    """Read the history that is shipped, oldest first, turns numbered within their session."""
    lines = [json.loads(line) for line in _read("history.jsonl").splitlines() if line.strip()]
    return tuple(
        _turn(number, shape)
        for _, session in groupby(lines, key=lambda shape: str(shape["session"]))
        for number, shape in enumerate(session, start=1)
    )


def read_questions() -> tuple[Question, ...]:
    """Read the questions that are shipped."""
    return tuple(
        Question(
            key=shape["id"],
            text=shape["question"],
            gold=tuple(shape["gold"]),
            stale=tuple(shape["stale"]),
            answer=shape["answer"],
        )
        for shape in json.loads(_read("questions.json"))
    )


def by_session(turns: Sequence[Turn]) -> list[tuple[Turn, ...]]:
    """Cut a history into its sessions, in order."""
    return [tuple(session) for _, session in groupby(turns, key=lambda turn: turn.session)]


def _turn(number: int, shape: Mapping[str, Any]) -> Turn:
    return Turn(
        key=shape["id"],
        session=shape["session"],
        number=number,
        who=shape["speaker"],
        role=shape["role"],
        text=shape["content"],
        at=parse_moment(shape["timestamp"], field="timestamp"),
        memory=shape.get("memory", {}),
    )


def _read(name: str) -> str:
    return (files("sfams.demo") / name).read_text("utf-8")
