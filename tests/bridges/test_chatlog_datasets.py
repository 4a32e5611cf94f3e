"""Real conversations, where the data sets are at hand: nothing is lost and nothing is doubled."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

import pytest
from tests.support.evaluation_data import (
    Conversation,
    Turn,
    beam_chatlogs,
    locomo_chatlogs,
    memorybank_chatlogs,
)

from sfams.bridges.chatlog import ChatLog, ChatOptions, read_chatlog

pytestmark = pytest.mark.slow

Source = Callable[[], Iterator[Conversation]]

every_source = pytest.mark.parametrize(
    "source",
    [
        locomo_chatlogs,
        beam_chatlogs,
        partial(memorybank_chatlogs, "en"),
        partial(memorybank_chatlogs, "cn"),
    ],
    ids=["locomo", "beam", "memorybank-en", "memorybank-cn"],
)


def read(text: str, name: str) -> ChatLog:
    return read_chatlog(text.encode(), name=name, options=ChatOptions())


def as_lines(turns: list[Turn]) -> str:
    return "\n".join(json.dumps(turn, ensure_ascii=False) for turn in turns)


def speaker(turn: Turn) -> str:
    return turn.get("speaker") or turn["role"].title()


def text(turn: Turn) -> str:
    return turn.get("text") or turn["content"]


def as_transcript(turns: list[Turn]) -> str:
    """Write what a person would export: a heading per day, a line per message."""
    written: list[str] = []
    day = ""
    for turn in turns:
        if turn["timestamp"][:10] != day:
            day = turn["timestamp"][:10]
            written.append(f"\n# {day}\n")
        colon = "：" if "\u3400" < text(turn)[:1] < "\u9fff" else ": "
        written.append(f"{speaker(turn)}{colon}{text(turn)}")
    return "\n".join(written)


@every_source
def test_every_turn_becomes_a_draft_in_order(source: Source) -> None:
    for name, turns in source():
        log = read(as_lines(turns), f"{name}.jsonl")
        assert log.skipped == ()
        assert [draft.content for draft in log.drafts] == [text(turn) for turn in turns]
        written = [datetime.fromisoformat(turn["timestamp"]) for turn in turns]
        assert [draft.created_at for draft in log.drafts] == written == sorted(written)
        assert len({draft.key for draft in log.drafts}) == len(turns)
        whole = read(json.dumps({"messages": turns}, indent=1), f"{name}.json")
        assert [draft.key for draft in whole.drafts] == [draft.key for draft in log.drafts]


@every_source
def test_a_transcript_of_it_has_the_same_messages(source: Source) -> None:
    for name, turns in source():
        log = read(as_transcript(turns), f"{name}.txt")
        assert log.skipped == ()
        assert [draft.source.who for draft in log.drafts] == [speaker(turn) for turn in turns]
        assert [d.created_at.date() for d in log.drafts if d.created_at] == [
            datetime.fromisoformat(turn["timestamp"]).date() for turn in turns
        ]
