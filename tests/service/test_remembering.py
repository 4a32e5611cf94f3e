"""Remembering: what is stored, what is a duplicate, what supersedes what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sfams.core.record import EmbeddingState, Status
from sfams.errors import ConflictError, InvalidInputError, NotFoundError
from sfams.service.memory import Memory
from sfams.testing import FakeClock
from sfams.testing.embedders import ScriptedEmbedder

BAD = [
    ({"content": ""}, "content"),
    ({"content": " \u200b\n"}, "content"),
    ({"content": "half \ud83e"}, "content"),
    ({"content": "x", "importance": 1.5}, "importance"),
    ({"content": "x", "importance": float("nan")}, "importance"),
    ({"content": "x", "created_at": "2026-01-01T00:00:00"}, "created_at"),
    ({"content": "x", "created_at": "yesterday"}, "created_at"),
    ({"content": "x", "kind": "No such kind!"}, "kind"),
    ({"content": "x", "entities": [" "]}, "entities"),
    ({"content": "x", "impotrance": 0.5}, "importance"),
    ({"content": "x", "ttl": 5, "expires_at": "2026-01-01T00:00:00Z"}, "ttl"),
    ({"content": "x", "subject": "demo"}, "attribute"),
]


@pytest.mark.parametrize(("call", "named"), BAD)
def test_bad_input_is_refused_by_name_and_leaves_nothing(
    memory: Memory, call: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidInputError, match=named):
        memory.remember(**call)
    with pytest.raises(InvalidInputError, match=named):
        memory.remember_many(["a good text", call])
    assert len(memory.list(status=["all"])) == 0


def test_what_is_not_given_is_estimated(memory: Memory, clock: FakeClock) -> None:
    stored = memory.remember("From now on, please always answer in Chinese.")
    record = memory.get(stored.id)
    assert record.kind == "instruction"
    assert 0.5 < record.importance <= 1.0
    assert record.created_at == record.recorded_at == clock()
    assert record.language == "en"
    assert record.tokens > 5
    assert record.embedding is EmbeddingState.READY


def test_the_same_text_again_is_known(memory: Memory, clock: FakeClock) -> None:
    first = memory.remember("The spare key is under the blue flowerpot.")
    clock.advance(hours=1)
    for text in (
        "The spare key is under the blue flowerpot.",
        "  The spare key is  under the blue flowerpot.\n",
        "the spare key is under the blue flowerpot",
    ):
        again = memory.remember(text)
        assert (again.outcome, again.id) == ("duplicate", first.id)
    records = memory.list(status=["all"])
    assert [record.id for record in records] == [first.id]
    assert records[0].recorded_at == records[0].created_at


def test_a_question_and_a_number_make_another_text(memory: Memory) -> None:
    texts = ["He is coming.", "He is coming?", "Room 12", "Room 21", "C", "C++", "-5", "5"]
    assert {memory.remember(text).outcome for text in texts} == {"new"}
    assert len(memory.list()) == len(texts)


def test_the_same_words_in_another_turn_are_another_event(memory: Memory) -> None:
    turns: list[dict[str, Any]] = [
        {"session": "s1", "turn": 1},
        {"session": "s1", "turn": 2},
        {"session": "s2", "turn": 1},
    ]
    for turn in turns:
        assert memory.remember("yes", kind="dialogue", who="Mira", **turn).outcome == "new"
    assert memory.remember("Yes.", kind="dialogue", who="Mira", session="s1", turn=1).outcome == (
        "duplicate"
    )
    assert len(memory.list()) == 3


def test_a_key_makes_writing_idempotent(memory: Memory) -> None:
    first = memory.remember("Standup moved to 09:40.", key="msg-1")
    again = memory.remember("Standup moved to 09:45.", key="msg-1")
    assert (again.outcome, again.id) == ("duplicate", first.id)


def test_a_later_value_supersedes_an_earlier_one(memory: Memory, clock: FakeClock) -> None:
    slot: dict[str, Any] = {"subject": "demo", "attribute": "date"}
    first = memory.remember("The demo is on 15 October.", value="10-15", **slot)
    clock.advance(days=3)
    second = memory.remember("The demo moves to 1 November.", value="11-01", **slot)
    assert second.superseded == (first.id,)
    assert memory.get(first.id).status is Status.SUPERSEDED
    assert memory.get(first.id).validity.superseded_by == second.id
    assert [hit.record.id for hit in memory.recall("when is the demo?")] == [second.id]
    assert [record.id for record in memory.timeline(second.id)] == [first.id, second.id]


def test_an_older_value_that_arrives_late_does_not_win(memory: Memory) -> None:
    slot: dict[str, Any] = {"subject": "demo", "attribute": "date"}
    new = memory.remember("now", value="11-01", created_at="2026-03-01T00:00:00Z", **slot)
    old = memory.remember("then", value="10-15", created_at="2026-02-01T00:00:00Z", **slot)
    assert old.outcome == "outdated"
    assert memory.get(old.id).validity.superseded_by == new.id
    assert memory.get(new.id).status is Status.LIVE


def test_going_back_to_an_earlier_value(memory: Memory, clock: FakeClock) -> None:
    for shell in ("bash", "zsh", "bash"):
        clock.advance(days=1)
        memory.remember(
            f"Default shell is {shell}.", subject="shell", attribute="default", value=shell
        )
    live = memory.list()
    assert [record.content for record in live] == ["Default shell is bash."]
    assert len(memory.list(status=["superseded"])) == 2


def test_explicit_supersession_checks_its_targets(memory: Memory) -> None:
    first = memory.remember("Nadia drinks oat milk.")
    second = memory.remember("Nadia takes her coffee black.", supersedes=first.id)
    assert second.superseded == (first.id,)
    with pytest.raises(ConflictError, match=first.id):
        memory.remember("Nadia drinks tea.", supersedes=first.id)
    with pytest.raises(NotFoundError):
        memory.remember("Nadia drinks cocoa.", supersedes="01a00000-0000-7000-8000-000000000000")
    assert len(memory.list(status=["all"])) == 2


def test_a_loop_of_supersession_is_refused(memory: Memory) -> None:
    a, b, c = (memory.remember(f"Default shell is {s}.").id for s in ("bash", "zsh", "fish"))
    memory.supersede(a, b)
    memory.supersede(b, c)
    with pytest.raises(ConflictError, match="loop"):
        memory.supersede(c, a)
    assert [record.id for record in memory.timeline(c)] == [a, b, c]
    memory.restore([b])
    memory.supersede(c, b)
    assert [record.id for record in memory.list()] == [b]


def test_close_vectors_are_a_hint_and_never_a_reason(open_memory: Any) -> None:
    texts = [
        "My sister Ines plays the cello.",
        "My brother Tiago plays the viola.",
        "Ines teaches the cello on Mondays.",
        "Ines plays the cello in the town orchestra.",
    ]
    vectors: dict[str, list[float]] = {
        text: [1.0] + [0.32 * (n == m) for m in range(4)] for n, text in enumerate(texts)
    }
    memory: Memory = open_memory(embedder=ScriptedEmbedder(vectors, dimension=5))
    results = [memory.remember(text) for text in texts]
    assert {result.outcome for result in results} == {"new"}
    assert results[1].twin is not None
    assert results[1].twin.id == results[0].id
    assert len(memory.list()) == 4


def test_a_chunk_acts_like_its_texts_said_one_after_the_other(memory: Memory) -> None:
    slot: dict[str, Any] = {"subject": "floor", "attribute": "number"}
    items = [
        {"content": "The office is on floor 2.", "value": "2", **slot},
        {"content": "The office is on floor 5.", "value": "5", **slot},
        {"content": "the office is on floor 5", "value": "5", **slot},
        {"content": "Short text."},
        {"content": "short text"},
    ]
    outcomes = [str(result.outcome) for result in memory.remember_many(items)]
    assert outcomes == ["new", "superseding", "duplicate", "new", "duplicate"]
    assert len(memory.list()) == 2


def test_a_failing_embedder_loses_nothing_and_says_so(open_memory: Any) -> None:
    embedder = ScriptedEmbedder()
    memory: Memory = open_memory(embedder=embedder)
    embedder.fail = True
    stored = memory.remember("Swimming lessons start on 3 June.")
    assert not stored.embedded
    assert "embedder failed" in stored.warnings[0]
    assert memory.get(stored.id).embedding is EmbeddingState.PENDING
    found = memory.recall("swimming lessons")
    assert [hit.record.id for hit in found] == [stored.id]
    assert found.warnings
    assert not memory.doctor().healthy
    embedder.fail = False
    checkup = memory.doctor(repair=True)
    assert (checkup.healthy, checkup.embedded) == (True, 1)
    assert memory.get(stored.id).embedding is EmbeddingState.READY
    assert (
        memory.recall("Swimming lessons start on 3 June.", mode="vector")[0].record.id == stored.id
    )


def test_unusable_vectors_are_flagged_and_never_ranked(open_memory: Any) -> None:
    nan, inf = float("nan"), float("inf")
    vectors: dict[str, list[float]] = {
        "good one": [1.0, 0.0, 0.0, 0.0],
        "good two": [0.8, 0.6, 0.0, 0.0],
        "blank": [0.0, 0.0, 0.0, 0.0],
        "broken": [nan, 0.0, 0.0, 0.0],
        "infinite": [inf, 0.0, 0.0, 0.0],
    }
    memory: Memory = open_memory(embedder=ScriptedEmbedder(vectors, dimension=4))
    stored = {text: memory.remember(text) for text in vectors}
    assert [text for text, result in stored.items() if not result.embedded] == [
        "blank", "broken", "infinite",
    ]  # fmt: skip
    ids = [hit.record.content for hit in memory.recall("good one", mode="vector", k=5)]
    assert ids[:2] == ["good one", "good two"]
    for mode in ("vector", "hybrid"):
        for query in ("good one", "blank"):
            assert all(0.0 <= hit.score <= 1.0 for hit in memory.recall(query, mode=mode, k=5))
    assert [hit.record.content for hit in memory.recall("blank")] == ["blank"]


def test_without_waiting_the_text_is_durable_at_once(memory: Memory) -> None:
    stored = memory.remember("Lift inspection is every May.", wait=False)
    assert memory.recall("lift inspection", mode="keyword")[0].record.id == stored.id
    memory.flush()
    assert memory.get(stored.id).embedding is EmbeddingState.READY


def test_thirty_replays_in_parallel_leave_one_record(memory: Memory) -> None:
    memory.remember("Standup notes live in the wiki.")
    with ThreadPoolExecutor(5) as pool:
        jobs = [pool.submit(memory.remember, "Standup moved to 09:40.") for _ in range(30)]
        ids = {job.result().id for job in jobs}
    assert len(ids) == 1
    assert len(memory.list()) == 2
    assert len(memory.recall("standup", k=5)) == 2


def test_progress_counts_every_item(memory: Memory) -> None:
    seen: list[int] = []
    memory.remember_many((f"Shelf {n} holds jar {n}." for n in range(150)), progress=seen.append)
    assert seen == [64, 64, 22]


def test_scopes_do_not_see_each_other(open_memory: Any) -> None:
    alice, alicia, below = (
        open_memory(s) for s in ("acme/alice", "acme/alicia", "acme/alice/work")
    )
    stored = alice.remember("Alice's locker code is 4471.")
    alicia.remember("Alicia has no locker.")
    below.remember("The work locker is green.")
    assert [hit.record.id for hit in alice.recall("locker")] == [stored.id]
    assert {str(hit.record.scope) for hit in alice.recall("locker", below=True)} == {
        "acme/alice", "acme/alice/work",
    }  # fmt: skip
    for verb in (alicia.get, alicia.history, alicia.pin, alicia.hold, alicia.delete, alicia.erase):
        with pytest.raises(NotFoundError):
            verb(stored.id)
    with pytest.raises(NotFoundError):
        alicia.restore([stored.id])
    with pytest.raises(NotFoundError):
        alicia.update(stored.id, importance=0.1)
    other = alicia.list()[0].id
    for link in (alicia.link, alicia.unlink, alicia.supersede):
        with pytest.raises(NotFoundError):
            link(other, stored.id)
    assert alicia.explain(stored.id).fate == "never stored"
