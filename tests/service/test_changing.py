"""Updating, linking, moving between stores, sessions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sfams.core.record import EmbeddingState
from sfams.errors import ConflictError, InvalidInputError, NotFoundError, RecordProtectedError
from sfams.service.memory import Memory
from sfams.testing import FakeClock
from sfams.testing.embedders import ScriptedEmbedder


def test_an_update_is_found_by_its_new_words_only(memory: Memory, clock: FakeClock) -> None:
    stored = memory.remember("The quarterly report is due on 14 April.", tags=["work"])
    clock.advance(hours=1)
    changed = memory.update(stored.id, content="Swimming lessons start on 3 June.")
    assert (changed.version, changed.updated_at, changed.tags) == (2, clock(), ("work",))
    assert len(memory.recall("quarterly", mode="keyword")) == 0
    assert memory.recall("swimming lessons", mode="keyword")[0].record.id == stored.id
    assert memory.recall("swimming lessons", mode="vector")[0].record.id == stored.id
    past = memory.versions(stored.id)
    assert [(v.version, v.content) for v in past] == [
        (1, "The quarterly report is due on 14 April.")
    ]
    assert [event.type for event in memory.history(stored.id)] == ["remembered", "updated"]


def test_a_failed_embedding_never_leaves_the_old_vector(open_memory: Any) -> None:
    embedder = ScriptedEmbedder()
    memory: Memory = open_memory(embedder=embedder)
    stored = memory.remember("The quarterly report is due.")
    embedder.fail = True
    changed = memory.update(stored.id, content="Swimming lessons start.")
    assert changed.embedding is EmbeddingState.PENDING
    embedder.fail = False
    assert len(memory.recall("The quarterly report is due.", mode="vector")) == 0
    assert memory.embed_pending() == 1
    assert memory.recall("Swimming lessons start.", mode="vector")[0].score == pytest.approx(
        1, abs=1e-5
    )


def test_updates_refuse_what_they_must(memory: Memory) -> None:
    stored = memory.remember("one")
    other = memory.remember("two")
    wrong: list[dict[str, Any]] = [
        {},
        {"colour": "red"},
        {"key": "k"},
        {"importance": 7},
        {"content": " "},
    ]
    for fields in wrong:
        with pytest.raises(InvalidInputError):
            memory.update(stored.id, **fields)
    with pytest.raises(ConflictError, match="version"):
        memory.update(stored.id, expected_version=4, importance=0.1)
    with pytest.raises(ConflictError, match=other.id):
        memory.update(stored.id, content="Two.")
    memory.hold(stored.id)
    with pytest.raises(RecordProtectedError):
        memory.update(stored.id, importance=0.1)
    memory.delete(other.id)
    with pytest.raises(ConflictError, match="deleted"):
        memory.update(other.id, importance=0.1)
    assert memory.get(stored.id).version == 2


def test_the_second_of_two_editors_is_told(memory: Memory) -> None:
    stored = memory.remember("draft")
    memory.update(stored.id, expected_version=1, importance=0.2)
    with pytest.raises(ConflictError, match="version 2"):
        memory.update(stored.id, expected_version=1, importance=0.9)
    assert memory.get(stored.id).importance == 0.2


def test_fields_not_named_stay(memory: Memory, clock: FakeClock) -> None:
    stored = memory.remember(
        "Deadline is Friday.",
        kind="deadline",
        importance=0.0,
        ttl="1d",
        entities=["project:Harbour"],
        metadata={"a": [1, {"b": None}]},
        who="Mira",
        session="s",
        turn=3,
        subject="release",
        attribute="date",
        value="Friday",
        key="k1",
        trust=0.5,
    )
    before = memory.get(stored.id)
    clock.advance(minutes=1)
    after = memory.update(stored.id, importance=0.7)
    for name in (
        "content",
        "kind",
        "expires_at",
        "entities",
        "metadata",
        "source",
        "claim",
        "key",
        "trust",
    ):
        assert getattr(after, name) == getattr(before, name), name
    assert memory.get(stored.id) == after
    moved = memory.update(stored.id, ttl="2h", value="Monday", turn=4)
    assert moved.claim is not None
    assert (moved.claim.subject, moved.claim.value) == ("release", "Monday")
    assert (moved.source.who, moved.source.turn) == ("Mira", 4)


def test_links(memory: Memory) -> None:
    a, b = memory.remember("Alpha plan").id, memory.remember("Beta plan").id
    assert memory.link(a, b, "supports")
    assert not memory.link(a, b, "supports")
    assert [(r.type, r.target) for r in memory.get(a).relations] == [("supports", b)]
    memory.delete(b)
    memory.restore([b])
    assert [(r.type, r.target) for r in memory.get(a).relations] == [("supports", b)]
    assert memory.unlink(a, b, "supports")
    assert not memory.unlink(a, b, "supports")
    for call in ((a, a, "x"), (a, b, "No Such")):
        with pytest.raises(InvalidInputError):
            memory.link(*call)


def test_entities_are_one_by_spelling_and_distinct_by_name(memory: Memory) -> None:
    for n, name in enumerate(("QRK", "QRK", "qrk", "QRK ")):
        memory.remember(f"Fact {n} about the customer.", entities=[name])
    for name in ("RX-1603", "RX-1605", "Anna Lindt", "Anna Lind"):
        memory.remember(f"About {name}.", entities=[name])
    counted = {entity.name: entity.records for entity in memory.entities()}
    assert counted == {"QRK": 4, "RX-1603": 1, "RX-1605": 1, "Anna Lindt": 1, "Anna Lind": 1}


def test_export_and_import_lose_nothing_and_double_nothing(
    open_memory: Any, clock: FakeClock
) -> None:
    source: Memory = open_memory("acme/a")
    slot: dict[str, Any] = {"subject": "rent", "attribute": "sum"}
    old = source.remember("Rent is 805.", value="805", **slot)
    source.remember("租金涨到840。", value="840", **slot)
    kept = source.remember("Pinned 🙂", entities=["person:Ada"], tags=["t"], metadata={"x": 1.5})
    source.pin(kept.id)
    source.link(kept.id, old.id, "about")
    gone = source.remember("Deleted one.")
    source.delete(gone.id)
    source.recall("rent", count=True)
    lines = list(source.export())
    target: Memory = open_memory("beta/b")
    report = target.import_(lines)
    assert (report.added, report.known, report.refused) == (4, 0, ())
    again = target.import_(lines)
    assert (again.added, again.known) == (0, 4)
    assert target.embed_pending() >= 1

    def shapes(memory: Memory) -> list[dict[str, Any]]:
        parsed = [json.loads(line) for line in memory.export()]
        for shape in parsed:
            del shape["scope"]
            shape.pop("embedding", None)
            shape.pop("twin", None)
        return parsed

    assert shapes(target) == shapes(source)
    assert [r.id for r in target.timeline(old.id)] == [r.id for r in source.timeline(old.id)]


def test_classic_shapes_are_taken_in(memory: Memory, clock: FakeClock) -> None:
    lines = [
        json.dumps({"text": "Demo on 1 November.", "type": "deadline", "ttl_hours": 24}),
        json.dumps(
            {
                "content": "Ada leads the project.",
                "memory_type": "fact",
                "linked_entities": ["person:Ada"],
                "project_id": "stellar",
                "importance": 0.8,
            }
        ),
        "not json",
        "[1, 2]",
        json.dumps({"text": "x", "colour": "red"}),
    ]
    report = memory.import_(lines)
    assert report.added == 2
    assert [item.line for item in report.refused] == [3, 4, 5]
    records = {record.kind: record for record in memory.list()}
    assert records["deadline"].expires_at is not None
    assert records["fact"].entities[0].name == "Ada"
    assert records["fact"].metadata["project_id"] == "stellar"


def test_sessions_count_turns_across_restarts(memory: Memory) -> None:
    with memory.session("chat-1") as session:
        assert [session.turn(), session.turn()] == [1, 2]
    assert memory.session("chat-1").turn() == 3
    assert memory.session("chat-2").current == 0
    with pytest.raises(InvalidInputError):
        memory.session(" ")


def test_unknown_ids(memory: Memory) -> None:
    missing = "01a00000-0000-7000-8000-000000000000"
    for verb in (memory.get, memory.history, memory.versions, memory.timeline):
        with pytest.raises(NotFoundError):
            verb(missing)
        with pytest.raises(InvalidInputError):
            verb("not-an-id")
    with pytest.raises(NotFoundError):
        memory.forget(missing)
    with pytest.raises(NotFoundError):
        memory.restore(missing)
    with pytest.raises(NotFoundError):
        memory.restore()
