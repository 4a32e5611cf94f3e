"""BEAM: a user and an assistant (Tavakoli et al., ICLR 2026, arXiv 2510.27246; CC BY-SA 4.0).

Messages are units. The main track is the user's messages alone: nearly all evidence is in them, while
the assistant's are far longer, so that a policy could win by role alone. The mixed track holds both.
Few messages carry a date; the others follow a second apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfams.lab.datasets.reading import known, read_json, refuse, rising, shaped
from sfams.lab.datasets.values import Conversation, Dataset, GoldQuestion, Unit, UnitLabel

USER, MIXED = "user messages", "user and assistant"
_GENERATOR_INDEX = re.compile(r"\s*->->.*\Z", re.DOTALL)
_START = datetime(2024, 1, 1, tzinfo=UTC)
_DATE = "%B-%d-%Y"


def read_beam(path: Path, *, mixed: bool = False) -> Dataset:
    """Read a folder with one folder a chat (`chat.json.gz` or `chat.json`, `probing_questions.json`).

    `mixed` takes the assistant's messages too.

    Raises:
        InvalidInputError: There is no chat, or a file is not in this form.
    """
    folders = sorted(
        (each for each in path.iterdir() if each.is_dir()), key=lambda each: (len(each.name), each)
    )
    if not folders:
        refuse(path, "holds no folder of a chat")
    return Dataset(
        name="BEAM",
        track=MIXED if mixed else USER,
        conversations=tuple(_conversation(folder, mixed=mixed) for folder in folders),
    )


def _conversation(folder: Path, *, mixed: bool) -> Conversation:
    packed = folder / "chat.json.gz"
    chat = packed if packed.exists() else folder / "chat.json"
    units = shaped(chat, lambda: [*_units(read_json(chat), mixed=mixed)])
    asked = folder / "probing_questions.json"
    questions = shaped(asked, lambda: tuple(_questions(read_json(asked), units)))
    return Conversation(
        id=f"beam-{folder.name}",
        units=tuple(units),
        questions=questions,
        labels=_superseded(questions),
        style="assistant",
    )


def _units(batches: list[Mapping[str, Any]], *, mixed: bool) -> Iterator[Unit]:
    messages = [
        (batch, message) for batch in batches for turn in batch["turns"] for message in turn
    ]
    anchors = [_anchor(message.get("time_anchor")) for _, message in messages]
    start = next((each for each in anchors if each is not None), _START)
    for turn, ((batch, message), at) in enumerate(
        zip(messages, rising(anchors, start), strict=True), 1
    ):
        text = _GENERATOR_INDEX.sub("", message["content"])
        if text.strip() and (mixed or message["role"] == "user"):
            yield Unit(
                id=str(message["id"]),
                session=f"batch_{batch['batch_number']}",
                turn=turn,
                at=at,
                who=message["role"],
                role=message["role"],
                text=text,
            )


def _anchor(written: str | None) -> datetime | None:
    return datetime.strptime(written, _DATE).replace(tzinfo=UTC) if written else None


def _questions(kinds: Mapping[str, Any], units: list[Unit]) -> Iterator[GoldQuestion]:
    places = {unit.id: place for place, unit in enumerate(units)}
    for kind, questions in kinds.items():
        for number, asked in enumerate(questions, 1):
            sources = asked.get("source_chat_ids")
            stale: tuple[str, ...] = ()
            if isinstance(sources, Mapping) and "updated_info" in sources:
                stale = known(_ids(sources["original_info"]), places)
                sources = sources["updated_info"]
            evidence = known(_ids(sources), places)
            yield GoldQuestion(
                id=f"{kind}-{number}",
                text=asked["question"],
                category="update" if kind == "knowledge_update" else kind,
                evidence=evidence,
                stale=tuple(each for each in stale if each not in evidence),
                answer=str(asked.get("answer", "")),
            )


def _ids(nested: object) -> Iterator[str]:
    """Name messages; the lists that hold them are nested in several ways."""
    if isinstance(nested, Mapping):
        nested = list(nested.values())
    if isinstance(nested, list):
        for each in nested:
            yield from _ids(each)
    elif nested is not None:
        yield str(nested)


def _superseded(questions: tuple[GoldQuestion, ...]) -> dict[str, UnitLabel]:
    """Label what an update made untrue, unless another question still needs it."""
    needed = {each for question in questions for each in question.evidence}
    return {
        old: UnitLabel(noise="superseded", superseded_by=question.evidence[0])
        for question in questions
        if question.evidence
        for old in question.stale
        if old not in needed
    }
