"""Cases C001 to C013: what contradicts replaces, what repeats is known, what is alike stays apart."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

import sfams
from sfams.core.record import Status
from sfams.errors import ConflictError
from sfams.service.memory import Memory
from sfams.testing import FakeClock
from sfams.testing.embedders import ScriptedEmbedder


def live(memory: Memory) -> list[str]:
    return sorted(record.content for record in memory.list(limit=100))


# ── C001 ──────────────────────────────────────────────────────────────────────────────────────────


def test_C001_a_contradicting_fact_replaces_the_old_one(memory: Memory, clock: FakeClock) -> None:
    """Who finds the contradiction, a person or a judge, names the old record; nothing is deleted."""
    clock.set(datetime(2026, 1, 10, 9, tzinfo=UTC))
    old = memory.remember("Nadia drinks oat milk in her coffee.")
    clock.set(datetime(2026, 4, 2, 9, tzinfo=UTC))
    text = "Nadia no longer drinks oat milk; she takes her coffee black."
    new = memory.remember(text, supersedes=[old.id])
    assert live(memory) == [text]
    found = [hit.record.id for hit in memory.recall("how does Nadia take her coffee", k=5)]
    assert found == [new.id]
    before = memory.get(old.id)
    assert (before.status, before.validity.superseded_by) == (Status.SUPERSEDED, new.id)
    memory.restore([old.id])
    assert memory.get(old.id).status is Status.LIVE


def test_C001_a_slot_with_another_value_does_so_by_itself(memory: Memory) -> None:
    slot: dict[str, Any] = {"subject": "Nadia", "attribute": "coffee"}
    old = memory.remember("Nadia drinks oat milk in her coffee.", value="oat milk", **slot)
    new = memory.remember("Nadia takes her coffee black.", value="black", **slot)
    assert new.superseded == (old.id,)
    assert live(memory) == ["Nadia takes her coffee black."]


# ── C002 and C008 ─────────────────────────────────────────────────────────────────────────────────


def test_C002_the_same_text_again_is_known(memory: Memory, clock: FakeClock) -> None:
    clock.set(datetime(2026, 2, 1, 8, tzinfo=UTC))
    first = memory.remember("The spare key is under the blue flowerpot.")
    clock.advance(hours=1)
    again = [
        memory.remember(text)
        for text in (
            "The spare key is under the blue flowerpot.",
            "  The spare key is  under the blue flowerpot.\n",
        )
    ]
    assert [(each.id, each.outcome.value) for each in again] == [(first.id, "duplicate")] * 2
    (record,) = memory.list()
    assert (record.id, record.created_at) == (first.id, datetime(2026, 2, 1, 8, tzinfo=UTC))
    assert memory.stats().records == {"live": 1}


def test_C008_thirty_replays_leave_one_record(memory: Memory) -> None:
    other = memory.remember("Standup notes live in the wiki.", who="omar")
    with ThreadPoolExecutor(5) as pool:
        results = list(
            pool.map(
                lambda _: memory.remember(
                    "Standup moved to 09:40.", who="omar", session="m-17", turn=3, kind="note"
                ),
                range(30),
            )
        )
    (same,) = {each.id for each in results}
    assert {record.id for record in memory.list()} == {other.id, same}
    assert {hit.record.id for hit in memory.recall("standup", k=5)} == {other.id, same}


# ── C003 and C004 ─────────────────────────────────────────────────────────────────────────────────


def test_C003_short_unrelated_facts_do_not_overwrite_each_other(memory: Memory) -> None:
    texts = ["我对花生过敏。", "我每周三去游泳。", "我的车停在地下二层。"]
    ids = [memory.remember(text).id for text in texts]
    assert len(set(ids)) == 3
    assert live(memory) == sorted(texts)
    assert memory.recall("过敏", k=1).hits[0].record.content == texts[0]


C004 = (
    "My sister Ines plays the cello.",
    "My brother Tiago plays the viola.",
    "Ines teaches the cello on Mondays.",
    "Ines plays the cello in the town orchestra.",
)


def test_C004_facts_about_different_people_stay_side_by_side() -> None:
    """With vectors whose cosine is 0.95 between any two."""
    share = 0.05**0.5
    vectors = {
        text: [0.95**0.5, *(share if place == n else 0.0 for place in range(4))]
        for n, text in enumerate(C004)
    }
    with sfams.open(":memory:", embedder=ScriptedEmbedder(vectors, dimension=5)) as memory:
        results = [memory.remember(text) for text in C004]
        assert live(memory) == sorted(C004)
        assert {each.outcome.value for each in results} == {"new"}
        assert all(each.superseded == () for each in results)
        assert results[3].twin is not None


# ── C009 ──────────────────────────────────────────────────────────────────────────────────────────

C009 = (
    ("2026-01-12T10:00:00Z", "The Brno office is on floor 2."),
    ("2026-03-18T10:00:00Z", "The Brno office is on floor 5."),
    ("2026-06-09T10:00:00Z", "The Brno office is on floor 9."),
)


@pytest.mark.parametrize("how", ["named", "slot"])
def test_C009_after_three_changes_only_the_newest_is_current(memory: Memory, how: str) -> None:
    last = ""
    for moment, text in C009:
        named: dict[str, Any] = {"supersedes": [last]} if how == "named" and last else {}
        slot: dict[str, Any] = {"subject": "Brno office", "attribute": "floor", "value": text[-2]}
        fields = named if how == "named" else slot
        last = memory.remember(text, created_at=moment, **fields).id
    question = "which floor is the Brno office on"
    assert [hit.record.content for hit in memory.recall(question)] == [C009[2][1]]
    history = [(record.created_at, record.content) for record in memory.timeline(last)]
    assert history == [(datetime.fromisoformat(moment), text) for moment, text in C009]
    every = memory.recall(question, status=["live", "superseded"])
    assert {hit.record.content for hit in every} == {text for _, text in C009}
    assert every.hits[0].record.content == C009[2][1]


# ── C011 and C012 ─────────────────────────────────────────────────────────────────────────────────


def test_C011_the_same_name_from_several_sessions_is_one_entity(memory: Memory) -> None:
    names = ("QRK", "QRK", "qrk", "QRK ")
    texts = (
        "QRK renewed its contract.",
        "QRK asked for SSO.",
        "qrk pays by invoice.",
        "QRK 's admin is Femi.",
    )
    for n, (name, text) in enumerate(zip(names, texts, strict=True)):
        memory.remember(text, entities=[name], session=f"s{n}")
    assert [(each.name, each.records) for each in memory.entities()] == [("QRK", 4)]
    assert len(memory.list(entities=["QRK"])) == 4


def test_C012_nearly_equal_names_stay_apart(memory: Memory) -> None:
    names = (
        *("RX-1603", "RX-1605", "Anna Lindt", "Anna Lind"),
        *("billing-api", "billing-app", "Room 12", "Room 21"),
    )
    for name in names:
        memory.remember(f"Somebody has asked about {name} today.", entities=[name])
    assert {each.name: each.records for each in memory.entities()} == dict.fromkeys(names, 1)
    for name in names:
        assert len(memory.list(entities=[name])) == 1


# ── C013 ──────────────────────────────────────────────────────────────────────────────────────────


def test_C013_loops_of_supersession_are_refused_and_walks_end(memory: Memory) -> None:
    a, b, c = (memory.remember(f"Default shell is {s}.").id for s in ("bash", "zsh", "fish"))
    memory.supersede(a, b)
    memory.supersede(b, c)
    with pytest.raises(ConflictError, match="loop"):
        memory.supersede(c, a)
    started = time.monotonic()
    assert [record.id for record in memory.timeline(c)] == [a, b, c]
    assert time.monotonic() - started < 2
    assert live(memory) == ["Default shell is fish."]
    memory.restore([b])  # takes "c supersedes b" away
    memory.supersede(c, b)
    assert live(memory) == ["Default shell is zsh."]
    assert {record.id for record in memory.timeline(b)} == {a, b, c}
