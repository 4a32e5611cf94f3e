"""LoCoMo: two people over months (Maharana et al., ACL 2024, arXiv 2402.17753; CC BY-NC 4.0).

Turns are units; a session's turns are a second apart. Categories 1-4 are scored, 5 (adversarial) has
no answer. Where a question carries `audited_evidence` (dial481/locomo-audit), that is its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from sfams.lab.datasets.reading import known, read_json, rising, shaped
from sfams.lab.datasets.values import Conversation, Dataset, GoldQuestion, Unit

CATEGORIES = {1: "multi", 2: "temporal", 3: "open", 4: "single", 5: "abstention"}
_TURN = re.compile(r"D\d+:\d+")  # tolerant: a few are written "D8:6; D9:17"
_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


def read_locomo(path: Path, *, audited: bool = True) -> Dataset:
    """Read `locomo10.json` or a part of it, with corrected evidence unless `audited` is False.

    Raises:
        InvalidInputError: The file is not there or not in this form.
    """
    samples = read_json(path)
    conversations = shaped(path, lambda: tuple(_conversation(each, audited) for each in samples))
    return Dataset(name="LoCoMo", conversations=conversations, track="" if audited else "original")


def _conversation(sample: Mapping[str, Any], audited: bool) -> Conversation:  # noqa: FBT001
    units = _units(sample["conversation"])
    places = {unit.id: unit for unit in units}
    questions = []
    for number, asked in enumerate(sample["qa"], 1):
        evidence = asked.get("audited_evidence") if audited else None
        written = evidence or asked.get("evidence") or []
        adversarial = CATEGORIES[asked["category"]] == "abstention"
        found = () if adversarial else known(_TURN.findall(" ".join(written)), places)
        questions.append(
            GoldQuestion(
                id=f"q{number:03}",
                text=str(asked["question"]),
                category=CATEGORIES[asked["category"]],
                evidence=found,
                answer=str(asked.get("answer", "")),
            )
        )
    return Conversation(id=str(sample["sample_id"]), units=tuple(units), questions=tuple(questions))


def _units(talk: Mapping[str, Any]) -> list[Unit]:
    names = sorted(filter(_SESSION.fullmatch, talk), key=_number)
    told = [(name, place, turn) for name in names for place, turn in enumerate(talk[name], 1)]
    firsts = [True, *(one[0] != other[0] for one, other in pairwise(told))]
    starts = [
        _moment(talk[f"{name}_date_time"]) if first else None
        for first, (name, _, _) in zip(firsts, told, strict=True)
    ]
    return [
        Unit(
            id=turn["dia_id"],
            session=name,
            turn=place,
            at=at,
            who=turn["speaker"],
            role="user",
            text=turn["text"],
        )
        for (name, place, turn), at in zip(told, _dated(starts), strict=True)
        if turn["text"].strip()
    ]


def _dated(starts: Sequence[datetime | None]) -> list[datetime]:
    first = next(each for each in starts if each is not None)
    return list(rising(starts, first))


def _number(name: str) -> int:
    return int(name.removeprefix("session_"))


def _moment(written: str) -> datetime:
    return datetime.strptime(written, _DATE).replace(tzinfo=UTC)
