"""MemDaily: short streams of daily remarks in Chinese (Zhang et al., MemSim, arXiv 2409.20163).

Remarks are units, `target_step_id` names the evidence. No licence is stated; load it by path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sfams.lab.datasets.reading import known, read_json, rising, shaped
from sfams.lab.datasets.values import Conversation, Dataset, GoldQuestion, Unit

_MOMENT = re.compile(r"(\d+)年(\d+)月(\d+)日\D*(\d+):(\d+)")


def read_memdaily(path: Path) -> Dataset:
    """Read `memdaily.json`: kinds of question, scenarios, and in each a list of streams.

    Raises:
        InvalidInputError: The file is not there or not in this form.
    """
    kinds = read_json(path)
    conversations = shaped(
        path,
        lambda: tuple(
            _conversation(f"{kind}-{scenario}-{stream['tid']}", kind, stream)
            for kind, scenarios in kinds.items()
            for scenario, streams in scenarios.items()
            for stream in streams
        ),
    )
    return Dataset(name="MemDaily", conversations=conversations)


def _conversation(name: str, kind: str, stream: Mapping[str, Any]) -> Conversation:
    units = tuple(_units(stream["message_list"]))
    asked = stream["QA"]
    targets = known(map(str, asked["target_step_id"]), {unit.id: unit for unit in units})
    question = GoldQuestion(
        id=str(asked["qid"]),
        text=asked["question"],
        category=kind,
        evidence=targets,
        answer=str(asked["answer"]),
        at=_moment(asked["time"]),
    )
    return Conversation(
        id=name, units=units, questions=(question,), language="zh", style="assistant"
    )


def _units(messages: list[Mapping[str, Any]]) -> Iterator[Unit]:
    moments = [_moment(message["time"]) for message in messages]
    dated = zip(messages, rising(moments, moments[0]), strict=True)
    for turn, (message, at) in enumerate(dated, 1):
        yield Unit(
            id=str(message["mid"]),
            session=f"{at:%Y-%m-%d}",
            turn=turn,
            at=at,
            who="",
            role="user",
            text=message["message"],
        )


def _moment(written: str) -> datetime:
    """Read "2024年04月01日 周一 08:39"."""
    found = _MOMENT.search(written)
    if found is None:
        message = f"not a moment: {written[:40]!r}"
        raise ValueError(message)
    return datetime(*map(int, found.groups()), tzinfo=UTC)  # type: ignore[misc,arg-type]  # five numbers
