"""Data sets for evaluation, which are not part of the repository: found by path, or the test skips.

Each converter yields conversations as `(name, turns)`; a turn is an object that `read_chatlog` takes,
once written as a line of JSON.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

Turn = dict[str, str]
Conversation = tuple[str, list[Turn]]

ROOT = Path(__file__).parents[2]
VARIABLE = "SFAMS_DATASETS"

_GENERATOR_INDEX = re.compile(r"\s*->->.*\Z", re.DOTALL)


def dataset(name: str) -> Path:
    """Find a data set in the folder that SFAMS_DATASETS names, or beside the repository."""
    named = os.environ.get(VARIABLE)  # a setting of the tests, not of sfams
    folder = Path(named) if named else ROOT.parent / "shared" / "datasets"
    path = folder / name
    if not path.exists():
        pytest.skip(f"no data set {name!r}; let {VARIABLE} name the folder that holds it")
    return path


def locomo_chatlogs() -> Iterator[Conversation]:
    """LoCoMo: two people over months; a session's turns are a second apart."""
    for sample in _read(dataset("locomo") / "locomo-dev.json"):
        talk = sample["conversation"]
        sessions = sorted(
            (name for name in talk if re.fullmatch(r"session_\d+", name)),
            key=lambda name: int(name.partition("_")[2]),
        )
        turns = []
        for session in sessions:
            written = talk[f"{session}_date_time"]
            start = datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            turns += [
                {
                    "speaker": turn["speaker"],
                    "text": turn["text"],
                    "timestamp": _after(start, at),
                    "session": session,
                    "id": turn["dia_id"],
                }
                for at, turn in enumerate(talk[session])
            ]
        yield sample["sample_id"], turns


def beam_chatlogs() -> Iterator[Conversation]:
    """BEAM: a user and an assistant; few messages carry a date, the others follow them."""
    for folder in sorted(dataset("beam-100k").iterdir()):
        if folder.is_dir():
            yield f"beam-{folder.name}", _beam_turns(folder / "chat.json.gz")


def _beam_turns(path: Path) -> list[Turn]:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    turns: list[Turn] = []
    seconds = 0
    for batch in _read(path):
        for message in (each for turn in batch["turns"] for each in turn):
            if anchor := message.get("time_anchor"):
                # An anchor may lie before what was said last; order counts more than the date.
                anchored = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
                if anchored > start + timedelta(seconds=seconds):
                    start, seconds = anchored, 0
            turns.append(
                {
                    "role": message["role"],
                    "content": _GENERATOR_INDEX.sub("", message["content"]),
                    "timestamp": _after(start, seconds),
                    "session": f"batch_{batch['batch_number']}",
                    "id": str(message["id"]),
                }
            )
            seconds += 1
    return turns


def memorybank_chatlogs(language: str) -> Iterator[Conversation]:
    """MemoryBank, "en" or "cn": one person and an assistant, a few exchanges a day."""
    people = _read(dataset("memorybank") / f"memory_bank_{language}.json")
    for person, kept in people.items():
        name = person.strip()
        turns = []
        for day, exchanges in kept["history"].items():
            start = datetime.fromisoformat(day).replace(tzinfo=UTC)
            for at, exchange in enumerate(exchanges):
                said = ((name, "user", "query"), ("AI", "assistant", "response"))
                turns += [
                    {
                        "speaker": speaker,
                        "role": role,
                        "text": exchange[field].strip(),
                        "timestamp": _after(start, 2 * at + offset),
                        "session": day,
                        "id": f"{day}:{2 * at + offset}",
                    }
                    for offset, (speaker, role, field) in enumerate(said)
                ]
        yield name, turns


def _after(start: datetime, seconds: int) -> str:
    return (start + timedelta(seconds=seconds)).isoformat()


def _read(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
