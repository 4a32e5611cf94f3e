"""Labelled history as JSON lines: our own format, so that people can measure on their own history.

A `conversation` line opens a conversation, `unit` lines are what is told, in time order, `question`
lines come after all of its units. Fields that are not known are refused with their line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from sfams.core.moments import parse_moment
from sfams.lab.datasets.reading import read_bytes, refuse
from sfams.lab.datasets.values import (
    CATEGORIES,
    NOISES,
    Conversation,
    Dataset,
    GoldQuestion,
    Unit,
    UnitLabel,
)

Value = TypeVar("Value")

FIELDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "conversation": (("id",), ("language", "style", "licence", "about")),
    "unit": (
        ("id", "session", "at", "who", "text"),
        ("turn", "role", "worth", "noise", "superseded_by", "expires_at"),
    ),
    "question": (("id", "text", "category", "evidence"), ("at", "answer", "stale")),
}
"""By type of line: the fields that must be there, and those that may."""

_WORDS: Mapping[str, tuple[str, ...]] = {
    "style": ("peer", "assistant"),
    "role": ("user", "assistant"),
    "category": CATEGORIES,
    "noise": NOISES,
}


def read_jsonl(path: Path) -> Dataset:
    """Read one file, or every `*.jsonl` in a folder in order of their names.

    Raises:
        InvalidInputError: With the line: broken JSON, an unknown or missing field, a value out of
            range, a line in the wrong place, an unknown unit.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        refuse(path, "holds no *.jsonl")
    conversations = [each for file in files for each in _read_file(file)]
    names = [each.id for each in conversations]
    for name in names:
        if names.count(name) > 1:
            refuse(path, f"conversation {name!r} is there twice")
    return Dataset(name=path.stem, conversations=tuple(conversations))


@dataclass(slots=True)
class _Open:
    """A conversation while its lines are read."""

    head: Mapping[str, Any]
    line: int
    units: list[Unit] = field(default_factory=list)
    labels: dict[str, UnitLabel] = field(default_factory=dict)
    questions: list[GoldQuestion] = field(default_factory=list)

    def close(self, path: Path) -> Conversation:
        try:
            made = Conversation(
                id=_text(self.head, "id"),
                units=tuple(self.units),
                questions=tuple(self.questions),
                labels=self.labels,
                language=_text({"language": "en", **self.head}, "language"),
                style=self.head.get("style") or "peer",
            )
        except ValueError as error:
            refuse(path, str(error), line=self.line)
        for unit_id, label in self.labels.items():
            if label.superseded_by is not None and label.superseded_by not in made.places:
                refuse(path, f"unit {unit_id}: superseded_by names no unit", line=self.line)
        return made


def _read_file(path: Path) -> Iterator[Conversation]:
    current: _Open | None = None
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        shape = _parse(path, number, line)
        if shape["type"] == "conversation":
            if current is not None:
                yield current.close(path)
            current = _Open(shape, number)
        elif current is None:
            refuse(path, "before the first conversation line", line=number)
        else:
            _take(current, path, number, shape)
    if current is None:
        refuse(path, "holds no conversation")
    yield current.close(path)


def _take(current: _Open, path: Path, number: int, shape: Mapping[str, Any]) -> None:
    if shape["type"] == "question":
        current.questions.append(_made(path, number, _question, shape))
        return
    if current.questions:
        refuse(path, "a unit after a question", line=number)
    unit, label = _made(path, number, _unit, shape)
    current.units.append(unit)
    current.labels[unit.id] = label


def _lines(path: Path) -> list[str]:
    try:
        return read_bytes(path).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        refuse(path, f"not UTF-8: {error}")


def _parse(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        shape = json.loads(line)
    except ValueError as error:
        refuse(path, f"not readable as JSON: {error}", line=number)
    if not isinstance(shape, dict) or shape.get("type") not in FIELDS:
        refuse(path, f"type: must be one of {', '.join(FIELDS)}", line=number)
    problem = _problem(shape)
    if problem:
        refuse(path, problem, line=number)
    return shape


def _problem(shape: Mapping[str, Any]) -> str:
    """Say what is wrong with the names of a line, or with a word that must be one of a few."""
    kind = shape["type"]
    needed, optional = FIELDS[kind]
    unknown = [name for name in shape if name not in (*needed, *optional, "type")]
    if unknown:
        return f"{unknown[0][:40]}: unknown field of a {kind}"
    missing = [name for name in needed if name not in shape]
    if missing:
        return f"{missing[0]}: missing from a {kind}"
    for name, words in _WORDS.items():
        if shape.get(name) is not None and shape[name] not in words:
            return f"{name}: must be one of {', '.join(words)}"
    return ""


def _made(
    path: Path, number: int, make: Callable[[Mapping[str, Any]], Value], shape: Mapping[str, Any]
) -> Value:
    try:
        return make(shape)
    except (TypeError, ValueError) as error:
        refuse(path, str(error), line=number)


def _unit(shape: Mapping[str, Any]) -> tuple[Unit, UnitLabel]:
    unit = Unit(
        id=_text(shape, "id"),
        session=_text(shape, "session"),
        turn=_whole(shape, "turn", default=0),
        at=_moment(shape, "at"),
        who=_text(shape, "who", blank=True),
        role=shape.get("role") or "user",
        text=_text(shape, "text"),
    )
    worth = shape.get("worth")
    if worth not in {None, 0, 1, 2}:
        raise ValueError("worth: must be 0, 1 or 2")
    label = UnitLabel(
        worth=worth,
        noise=shape.get("noise"),
        superseded_by=shape.get("superseded_by"),
        expires_at=_moment(shape, "expires_at") if shape.get("expires_at") else None,
    )
    return unit, label


def _question(shape: Mapping[str, Any]) -> GoldQuestion:
    evidence = _ids(shape, "evidence")
    if (shape["category"] == "abstention") is bool(evidence):
        raise ValueError("evidence: must be there, but for an abstention, which has none")
    return GoldQuestion(
        id=_text(shape, "id"),
        text=_text(shape, "text"),
        category=shape["category"],
        evidence=evidence,
        stale=_ids(shape, "stale"),
        answer=_text(shape, "answer", blank=True),
        at=_moment(shape, "at") if shape.get("at") else None,
    )


def _text(shape: Mapping[str, Any], name: str, *, blank: bool = False) -> str:
    value = shape.get(name, "")
    if not isinstance(value, str) or not (blank or value.strip()):
        raise ValueError(f"{name}: must be text" if blank else f"{name}: must be text, not blank")
    return value


def _whole(shape: Mapping[str, Any], name: str, *, default: int) -> int:
    value = shape.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name}: must be a whole number, 0 or more")
    return value


def _moment(shape: Mapping[str, Any], name: str) -> datetime:
    return parse_moment(_text(shape, name), field=name)


def _ids(shape: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = shape.get(name) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{name}: must be a list of unit ids")
    return tuple(dict.fromkeys(value))
