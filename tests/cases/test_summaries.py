"""Cases C019, C074, C075 and C078: what a summary keeps, what it refuses, and what it is made from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import sfams
from sfams.core.record import Status
from sfams.core.summarizing import SummaryRequest, SummaryText
from sfams.service.memory import Memory
from sfams.testing import FakeClock


class Stub:
    """A summarizer that says what it is told to, and notes what it was given."""

    def __init__(self, answer: str | Callable[[SummaryRequest], str]) -> None:
        self.answer = answer
        self.asked: list[SummaryRequest] = []

    @property
    def name(self) -> str:
        return "stub"

    def summarize(self, request: SummaryRequest, /) -> SummaryText | None:
        self.asked.append(request)
        return SummaryText(self.answer if isinstance(self.answer, str) else self.answer(request))


def remember(memory: Memory, *texts: str, **fields: object) -> list[str]:
    return [memory.remember(text, **fields).id for text in texts]  # type: ignore[arg-type]


def texts_found(memory: Memory, query: str, **fields: object) -> list[str]:
    return [hit.record.content for hit in memory.recall(query, **fields)]  # type: ignore[arg-type]


# ── C019 ──────────────────────────────────────────────────────────────────────────────────────────

PETRA = (
    "Petra rents a storage unit at Pier 7.",
    "Petra owns two kayaks.",
    "Petra paddles on Sundays.",
    "Petra sold one kayak in May.",
    "Petra's club is called Nordlys.",
)


def joined(request: SummaryRequest) -> str:
    return " | ".join(source.content for source in request.sources)


def test_C019_a_deleted_fact_is_not_handed_to_a_summarizer(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    stub = Stub(joined)
    with sfams.open(path, scope="acme/petra", embedder="hashing") as opened:
        memory = opened.with_summarizer(stub)
        ids = remember(memory, *PETRA, entities=["Petra"], kind="note")
        memory.delete(ids[0])
        report = memory.summarize()
        assert [set(each.members) for each in report.summaries] == [set(ids[1:])]
    sfams.reindex(path, embedder="hashing", force=True)
    with sfams.open(path, scope="acme/petra", embedder="hashing") as memory:
        assert memory.doctor().healthy
        for query in ("Pier 7", "storage unit"):
            for mode in ("keyword", "vector", "hybrid"):
                assert not [
                    text for text in texts_found(memory, query, mode=mode) if "Pier" in text
                ]
        for record in memory.list(status=["live", "superseded", "summarized"]):
            assert "Pier 7" not in record.content
    assert stub.asked
    assert "Pier 7" not in joined(stub.asked[0])


def test_C019_a_summary_of_what_is_deleted_later_is_not_written_anew(memory: Memory) -> None:
    """Its text still holds the deleted source: it is neither handed on nor mixed with new records."""
    long = [f"{text} That was said on a long and quiet evening by the water." for text in PETRA]
    stub = Stub(lambda _: " ".join(PETRA))
    told = memory.with_summarizer(stub)
    ids = remember(told, *long, entities=["Petra"], kind="note")
    (summary,) = told.summarize(ids).made
    assert summary.summary_id is not None
    told.delete(ids[0])
    more = remember(told, "Petra bought a paddle.", "Petra went home.", entities=["Petra"])
    report = told.summarize([summary.summary_id, *more])
    assert report.summaries == ()
    assert set(report.left.values()) == {"its originals are gone"}
    assert len(stub.asked) == 1


# ── C074 ──────────────────────────────────────────────────────────────────────────────────────────

IRIS = (
    ("Iris ran 5 km on Monday.", ["sport", "goal"], 0.3),
    ("Iris ran 8 km on Thursday.", ["sport"], 0.6),
    ("Iris bought trail shoes.", ["sport", "shopping"], 0.4),
)
IRIS_SUMMARY = "Iris ran 5 km and 8 km this week and bought trail shoes."


def test_C074_a_summary_keeps_owner_tags_entities_importance_and_the_way_back(
    open_memory: Callable[..., Memory], clock: FakeClock
) -> None:
    memory = open_memory("iris").with_summarizer(Stub(IRIS_SUMMARY))
    ids = []
    for text, tags, importance in IRIS:
        kept = memory.remember(text, tags=tags, importance=importance, entities=["Iris"])
        ids.append(kept.id)
        clock.advance(days=1)
    (made,) = memory.summarize(ids).made
    assert made.summary_id is not None
    summary = memory.get(made.summary_id)
    assert summary.content.startswith(IRIS_SUMMARY)
    assert "Monday" in summary.content
    assert "Thursday" in summary.content
    assert str(summary.scope) == "iris"
    assert set(summary.tags) == {"sport", "goal", "shopping"}
    assert [entity.name for entity in summary.entities] == ["Iris"]
    assert summary.importance > 0.6
    assert summary.derived_from == tuple(ids)
    assert [source.content for source in memory.sources(summary.id)] == [row[0] for row in IRIS]
    assert summary.metadata["span_from"] == "2026-01-05T09:00:00Z"
    assert summary.metadata["span_to"] == "2026-01-07T09:00:00Z"
    assert [hit.record.id for hit in memory.recall("trail shoes", tags=["sport"])] == [summary.id]
    assert [each.id for each in memory.list(entities=["Iris"])] == [summary.id]
    assert [(each.name, each.records) for each in memory.entities()] == [("Iris", 1)]


# ── C075 ──────────────────────────────────────────────────────────────────────────────────────────

LEO = (
    "Leo's budget for the trip is 4,250 euro.",
    "The visa deadline is 2026-09-30.",
    "Leo does NOT want to fly via Frankfurt.",
)


def test_C075_a_vague_summary_does_not_cost_dates_amounts_or_negations(memory: Memory) -> None:
    stub = Stub("Leo has some travel plans and wishes.")
    told = memory.with_summarizer(stub)
    ids = remember(told, *LEO)
    report = told.summarize(ids)
    (summary,) = report.summaries
    assert len(stub.asked) == 1
    assert report.refused == 1
    assert summary.refused == "loses 1 dates, 1 names, 1 negations, 1 numbers"
    assert summary.summary_id is not None
    assert summary.summarizer == "rules"
    record = told.get(summary.summary_id)
    assert record.tokens < summary.tokens_before
    for query, original in (("4,250", LEO[0]), ("visa deadline", LEO[1]), ("Frankfurt", LEO[2])):
        hit = told.recall(query, mode="keyword")[0]
        assert hit.record.id == record.id
        assert original in [source.content for source in told.sources(hit.record.id)]
    assert "NOT" in record.content
    told.unsummarize(record.id)
    assert [told.get(each).content for each in ids] == list(LEO)
    assert {told.get(each).status for each in ids} == {Status.LIVE}
    assert told.get(record.id).status is Status.DELETED


# ── C078 ──────────────────────────────────────────────────────────────────────────────────────────

NED = ("Ned's rent is 805 euro.", "Ned pays on the 3rd.", "Ned's landlord is Mr Osei.")
NED_LATER = ("Ned's rent rose to 840 euro in May.", "Ned got a receipt.")


def test_C078_a_second_round_works_from_the_originals(memory: Memory) -> None:
    stub = Stub("Ned rents a flat.")
    told = memory.with_summarizer(stub)
    first = remember(told, *NED, entities=["Ned"], kind="fact")
    (one,) = told.summarize().made
    assert one.summary_id is not None
    second = remember(told, *NED_LATER, entities=["Ned"], kind="fact")
    (two,) = told.summarize().summaries
    handed = joined(stub.asked[1])
    assert "805 euro" in handed
    assert "Mr Osei" in handed
    assert "rents a flat" not in handed
    assert two.sources == (*first, *second)
    assert set(two.members) == {one.summary_id, *second}
    assert two.summary_id is not None
    assert told.get(two.summary_id).derived_from == (*first, *second)
    assert [source.content for source in told.sources(two.summary_id)] == [*NED, *NED_LATER]


@pytest.mark.parametrize("rounds", [1, 2])
def test_C078_each_round_is_taken_back_by_itself(memory: Memory, rounds: int) -> None:
    told = memory.with_summarizer(Stub("Ned rents a flat."))
    remember(told, *NED, entities=["Ned"], kind="fact")
    before = [each.id for each in told.list()]
    (made,) = told.summarize().made
    if rounds == 2:
        remember(told, *NED_LATER, entities=["Ned"], kind="fact")
        before = [each.id for each in told.list()]
        (made,) = told.summarize().made
    assert made.summary_id is not None
    told.unsummarize(made.summary_id)
    assert [each.id for each in told.list()] == before
