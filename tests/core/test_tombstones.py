"""Tombstones: an erased text is known again in every guise, and another text in none."""

from __future__ import annotations

from typing import Any

import pytest

from sfams.core.draft import make_draft
from sfams.core.record import Claim, Source
from sfams.core.tombstones import barring, barring_record, left_by, text_names
from sfams.testing.builders import make_record

FACT = make_record(
    1,
    content="Alice's code is 4471.",
    source=Source(who="Alice"),
    claim=Claim("alice", "code", "4471"),
)
TURN = make_record(
    2, content="谢谢！", kind="dialogue", source=Source(who="Alice", session="s", turn=3)
)


def barred(record: Any, content: str, kind: str = "fact", **fields: Any) -> bool:
    names = left_by(record, ["Alice's code is 4470."])
    return not set(names).isdisjoint(barring(make_draft(content, fields), kind))


@pytest.mark.parametrize(
    ("content", "kind", "fields"),
    [
        ("  alice's CODE is  4471", "fact", {}),
        ("Alice's code is 4471.", "note", {"who": "Bob"}),
        ("Alice's code is 4471.", "dialogue", {"who": "user", "session": "x", "turn": 9}),
        ("Alice's code is 4470", "fact", {}),
        ("The door: 4471", "fact", {"subject": "ALICE", "attribute": "Code", "value": "4471"}),
    ],
)
def test_it_is_known_in_every_guise(content: str, kind: str, fields: dict[str, Any]) -> None:
    assert barred(FACT, content, kind, **fields)


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("Alice's code is 4472.", {}),
        ("The door: 4472", {"subject": "alice", "attribute": "code", "value": "4472"}),
        ("The door: 4471", {"subject": "bob", "attribute": "code", "value": "4471"}),
    ],
)
def test_another_text_is_another(content: str, fields: dict[str, Any]) -> None:
    assert not barred(FACT, content, **fields)


def test_a_turn_of_somebody_else_is_another_event() -> None:
    assert not barred(TURN, "谢谢！", "dialogue", who="Bob", session="s", turn=3)
    assert barred(TURN, "谢谢", "dialogue", who="alice", session="t", turn=1)
    assert barred(TURN, "谢谢", "fact", who="Bob")
    assert barred(TURN, "谢谢", "dialogue")


def test_a_record_bars_itself_and_a_text_is_named_alone() -> None:
    for record in (FACT, TURN):
        assert set(left_by(record)) >= {record.content_hash}
        assert not set(left_by(record)).isdisjoint(barring_record(record))
        assert not set(left_by(record)).isdisjoint(text_names(record.content))
