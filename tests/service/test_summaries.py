"""Summaries and digests as acts: whole or not at all, undoable, with a reason for what is left alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import sfams
from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.record import EmbeddingState, RecordId, Sensitivity, Status, Tier
from sfams.core.summarizing import SummaryRequest, SummaryText
from sfams.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RecordProtectedError,
)
from sfams.service.memory import Memory
from sfams.service.summarizing import summaries_of
from sfams.testing import FakeClock
from sfams.testing.embedders import ScriptedEmbedder

OpenMemory = Callable[..., Memory]

TRIP = (
    "Well, we took the ferry to Bellagio and paid 35 euro for it, which was really quite a lot.",
    "The weather by the lake was so lovely, and we all sat outside for hours and hours.",
    "By the way, the ferry does not run on Sundays, so we will have to take the bus back home.",
)
STANDUP = (
    "Stand-up: yesterday I worked on the login page and it went quite well, nothing blocked me.",
    "Stand-up: I fixed bug TN-88 together with Bob, and today I am going to write some more tests.",
    "Stand-up: we had a long talk about the roadmap and about what everybody would like to do next.",
    "Stand-up: the release was moved to 2026-06-12, so there is a bit more time for the reviews.",
    "Stand-up: I reviewed three pull requests and helped the new colleague to set up her machine.",
    "Stand-up: not much happened today, I mostly sat in meetings and answered a lot of mail.",
    "Stand-up: the search is 40 % faster now, and I am really happy with how it has turned out.",
)
ZHANHUI = (
    "站会：昨天我主要在做登录页面，进展还比较顺利，没有遇到什么阻碍。",
    "站会：和张伟一起修复了 TN-88，今天打算再补一些测试，争取把覆盖率提上去。",
    "站会：大家讨论了很久路线图，也聊了聊每个人接下来想做的事情，气氛很好。",
    "站会：发布改到了2026年6月12日，所以评审的时间稍微宽裕了一些，大家都松了口气。",
    "站会：我评审了三个合并请求，还帮新来的同事配好了电脑，她上手很快。",
    "站会：今天没什么特别的事情，基本上都在开会，回了很多很多邮件。",
    "站会：搜索现在快了百分之四十，我对这个结果真的非常满意，大家也都很高兴。",
)
MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)


def told(memory: Memory, *texts: str, **fields: object) -> list[str]:
    return [memory.remember(text, **fields).id for text in texts]  # type: ignore[arg-type]


def week(memory: Memory, texts: tuple[str, ...] = STANDUP) -> list[str]:
    return [
        memory.remember(text, kind="note", created_at=MONDAY + timedelta(days=day)).id
        for day, text in enumerate(texts)
    ]


def summarized(memory: Memory, ids: list[str]) -> str:
    (made,) = memory.summarize(ids).made
    assert made.summary_id is not None
    return made.summary_id


# ── Summaries ─────────────────────────────────────────────────────────────────────────────────────


def test_a_summary_takes_the_place_of_its_sources(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    before = memory.stats()
    summary = memory.get(summarized(memory, ids))
    after = memory.stats()
    assert summary.kind == "summary"
    assert summary.embedding is EmbeddingState.READY
    assert (before.hot, after.hot) == (3, 1)
    assert after.hot_tokens == summary.tokens < before.hot_tokens
    assert {memory.get(each).status for each in ids} == {Status.SUMMARIZED}
    assert [hit.record.id for hit in memory.recall("ferry to Bellagio")] == [summary.id]
    assert [each.id for each in memory.sources(summary.id)] == ids
    assert memory.doctor().healthy


def test_the_log_says_what_was_summarized_into_what(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    summary = summarized(memory, ids)
    assert memory.history(ids[0])[-1].detail == {"by": summary}
    made = memory.history(summary)[0]
    assert made.detail["summarizer"] == "rules"
    assert made.detail["members"] == dict.fromkeys(ids, 2)
    assert not any(text[:12] in str(made.detail) for text in TRIP)


def test_a_source_explains_which_summary_stands_for_it(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    summary = summarized(memory, ids)
    answer = memory.explain(TRIP[0])
    assert (answer.fate.value, answer.record_id, answer.related) == ("summarized", ids[0], summary)
    assert answer.undoable


def test_a_preview_says_what_would_be_written_and_writes_nothing(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    preview = memory.summarize(ids, dry_run=True)
    assert preview.dry_run
    assert preview.summaries[0].summary_id is None
    assert memory.stats().hot == 3
    (made,) = memory.summarize(ids).made
    assert made.content == preview.summaries[0].content


def test_taking_a_summary_back_is_the_identity(memory: Memory) -> None:
    ids = told(memory, *TRIP, tags=["trip"])
    before = [memory.get(each) for each in ids]
    summary = summarized(memory, ids)
    receipt = memory.unsummarize(summary)
    assert (receipt.restored, receipt.deleted, dict(receipt.skipped)) == (3, 1, {})
    for record in before:
        after = memory.get(record.id)
        assert (after.content, after.tags, after.status) == (
            record.content,
            record.tags,
            Status.LIVE,
        )
    found = [hit.record.id for hit in memory.recall("ferry to Bellagio", mode="vector")]
    assert ids[0] in found
    assert summary not in found


def test_what_changed_meanwhile_stays_as_it_is_and_is_reported(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    summary = summarized(memory, ids)
    memory.restore([ids[0]])
    memory.delete(ids[1])
    memory.update(summary, content="We paid 35 euro for the ferry, which rests on Sundays. Nice.")
    receipt = memory.unsummarize(summary)
    assert receipt.skipped == {
        ids[0]: "changed since",
        ids[1]: "changed since",
        summary: "changed since",
    }
    assert memory.get(summary).status is Status.LIVE
    assert memory.get(ids[1]).status is Status.DELETED
    assert memory.get(ids[2]).status is Status.LIVE


def test_a_source_that_was_told_again_is_not_doubled(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    summary = summarized(memory, ids)
    again = memory.remember(TRIP[0]).id
    receipt = memory.unsummarize(summary)
    assert receipt.skipped == {ids[0]: f"duplicate of {again}"}
    assert receipt.restored == 2


def test_a_demoted_summary_can_still_be_taken_back(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    summary = summarized(memory, ids)
    memory.remember("Never forget the name of the captain.", importance=1.0)
    policy = RetentionPolicy(name="one", budget=Budget(records=1), grace=timedelta(0))
    memory.forget(memory.plan_forgetting(policy))
    assert memory.get(summary).tier is Tier.COLD
    assert memory.unsummarize(summary).restored == 3
    assert memory.get(summary).status is Status.DELETED


def test_a_summary_without_whose_text_nothing_would_be_left_stays(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    summary = summarized(memory, ids)
    memory.delete(ids)
    receipt = memory.unsummarize(summary)
    assert receipt.skipped[RecordId(summary)] == "nothing to bring back"
    assert (receipt.restored, receipt.deleted) == (0, 0)
    assert memory.get(summary).status is Status.LIVE


def test_a_summary_stays_a_summary_when_it_is_moved_to_another_file(
    memory: Memory, tmp_path: Path
) -> None:
    ids = told(memory, *TRIP)
    summary = summarized(memory, ids)
    lines = list(memory.export())
    with sfams.open(tmp_path / "other.db", embedder="hashing") as other:
        other.import_(lines)
        assert [each.content for each in other.sources(summary)] == list(TRIP)
        assert other.unsummarize(summary).restored == 3
        assert {each.id for each in other.list()} == set(ids)


def test_the_summary_of_a_record_is_found_in_the_log(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    (other,) = told(memory, "The tram leaves at noon.")
    first = summarized(memory, ids)
    memory.unsummarize(first)
    second = summarized(memory, ids[:2])
    with memory._engine.store.read() as reader:
        found = summaries_of(reader, memory.scope, [memory.get(each).id for each in (*ids, other)])
    assert found == {ids[0]: second, ids[1]: second, ids[2]: first}


def test_what_is_sensitive_is_not_handed_to_a_model(memory: Memory) -> None:
    handed: list[int] = []
    using = memory.with_summarizer(Meddling(memory, lambda _: handed.append(1)))
    ids = told(using, *TRIP, sensitivity="sensitive")
    (made,) = using.summarize(ids).made
    assert (handed, made.summarizer, made.refused) == ([], "rules", "")
    assert made.summary_id is not None
    assert using.get(made.summary_id).sensitivity is Sensitivity.SENSITIVE


@pytest.mark.parametrize("act", ["pin", "hold"])
def test_a_protected_record_is_not_summarized_by_hand(memory: Memory, act: str) -> None:
    ids = told(memory, *TRIP)
    getattr(memory, act)(ids[1])
    with pytest.raises(RecordProtectedError, match=ids[1]):
        memory.summarize(ids)
    assert memory.stats().hot == 3


def test_only_live_records_are_summarized(memory: Memory) -> None:
    ids = told(memory, *TRIP)
    memory.delete(ids[1])
    with pytest.raises(ConflictError, match="not live"):
        memory.summarize(ids)


@pytest.mark.parametrize("ids", [["x"], []])
def test_one_record_makes_no_summary(memory: Memory, ids: list[str]) -> None:
    known = told(memory, *TRIP)[:1] if ids else []
    with pytest.raises(InvalidInputError, match="at least two"):
        memory.summarize(known)


def test_ids_and_a_filter_exclude_each_other(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="or a filter"):
        memory.summarize(told(memory, *TRIP), tags=["x"])


def test_another_scope_is_out_of_reach(open_memory: OpenMemory) -> None:
    mine, yours = open_memory("acme/me"), open_memory("acme/you")
    ids = told(mine, *TRIP)
    with pytest.raises(NotFoundError):
        yours.summarize(ids)
    summary = summarized(mine, ids)
    for verb in (yours.sources, yours.unsummarize):
        with pytest.raises(NotFoundError):
            verb(summary)


def test_what_stands_for_nothing_cannot_be_taken_back(memory: Memory) -> None:
    (plain,) = told(memory, "The tram leaves at noon.")
    assert memory.sources(plain) == ()
    with pytest.raises(ConflictError, match="no summary"):
        memory.unsummarize(plain)


def test_groups_are_found_by_entity_and_the_rest_is_told_why(memory: Memory) -> None:
    ids = told(memory, *TRIP, entities=["Bellagio"], kind="note")
    (rule,) = told(memory, "Never book on Sundays.", entities=["Bellagio"], kind="instruction")
    report = memory.summarize()
    assert [(each.by, each.on, list(each.members)) for each in report.made] == [
        ("entity", "bellagio", ids)
    ]
    assert report.left == {rule: "kind instruction stands apart"}


def test_a_filter_narrows_what_is_grouped(memory: Memory) -> None:
    told(memory, *TRIP, session="a", kind="note", tags=["trip"])
    assert memory.summarize(tags=["other"]).summaries == ()
    assert len(memory.summarize(tags=["trip"]).made) == 1


class Raising:
    name = "model"

    def summarize(self, request: SummaryRequest, /) -> SummaryText | None:
        message = "no answer"
        raise TimeoutError(message)


class Silent:
    name = "model"

    def summarize(self, request: SummaryRequest, /) -> SummaryText | None:
        return None


class Good:
    name = "model"

    def summarize(self, request: SummaryRequest, /) -> SummaryText | None:
        return SummaryText("Ferry to Bellagio: 35 euro; it does not run on Sundays, bus home.")


@pytest.mark.parametrize(
    ("summarizer", "writer", "refused"),
    [
        (Raising(), "rules", "failed: TimeoutError"),
        (Silent(), "rules", "gave up"),
        (Good(), "model", ""),
    ],
)
def test_the_rules_step_in_for_a_summarizer_that_fails(
    memory: Memory, summarizer: Raising | Silent | Good, writer: str, refused: str
) -> None:
    using = memory.with_summarizer(summarizer)
    (made,) = using.summarize(told(using, *TRIP)).made
    assert (made.summarizer, made.refused) == (writer, refused)
    assert made.summary_id is not None
    assert using.get(made.summary_id).metadata["summarizer"] == writer


def test_a_group_that_would_lose_something_is_left_alone(memory: Memory) -> None:
    ids = told(memory, "TN-88, TN-89", "4,250 euro", "15:30 Frankfurt")
    (left,) = memory.summarize(ids).summaries
    assert left.summary_id is None
    assert left.reason == "a summary would lose something or save nothing"
    assert memory.stats().hot == 3


class Meddling:
    """A summarizer during whose work somebody else changes a source."""

    name = "model"

    def __init__(self, memory: Memory, act: Callable[[Memory], object]) -> None:
        self._memory = memory
        self._act = act

    def summarize(self, request: SummaryRequest, /) -> SummaryText | None:
        self._act(self._memory)
        return None


@pytest.mark.parametrize("act", ["pin", "delete", "erase"])
def test_what_changes_while_the_text_is_written_leaves_the_group_alone(
    memory: Memory, act: str
) -> None:
    ids = told(memory, *TRIP)
    using = memory.with_summarizer(Meddling(memory, lambda each: getattr(each, act)([ids[0]])))
    (left,) = using.summarize(ids).summaries
    assert left.summary_id is None
    assert left.reason == f"{ids[0]} has changed meanwhile"
    assert {memory.get(each).status for each in ids[1:]} == {Status.LIVE}
    assert memory.stats().kinds.get("summary", 0) == 0


def test_without_an_embedder_a_summary_waits_for_its_vector(open_memory: OpenMemory) -> None:
    embedder = ScriptedEmbedder()
    memory = open_memory(embedder=embedder)
    ids = told(memory, *TRIP)
    embedder.fail = True
    summary = memory.get(summarized(memory, ids))
    assert summary.embedding is EmbeddingState.PENDING
    assert memory.recall("ferry Bellagio", mode="keyword")[0].record.id == summary.id


def test_no_transaction_is_open_while_a_summary_is_written(memory: Memory) -> None:
    def writes(each: Memory) -> None:
        each.remember("Said by another writer meanwhile, in a transaction of its own.")

    ids = told(memory, *TRIP)
    using = memory.with_summarizer(Meddling(memory, writes))
    assert len(using.summarize(ids).made) == 1


# ── Digests ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("notes", "question"),
    [(STANDUP, "this week's progress"), (ZHANHUI, "本周进展")],
    ids=["en", "zh"],
)
def test_seven_standup_notes_become_one_weekly_record(
    memory: Memory, notes: tuple[str, ...], question: str
) -> None:
    ids = week(memory, notes)
    before = memory.stats()
    report = memory.digest("week", now=MONDAY + timedelta(days=6))
    (made,) = report.made
    assert list(made.members) == ids
    assert made.summary_id is not None
    record = memory.get(made.summary_id)
    assert memory.stats().hot == 1
    assert record.tokens < before.hot_tokens
    assert record.metadata["digest"] == "week"
    assert "2026-06-12" in record.content or "2026年6月12日" in record.content
    assert "TN-88" in record.content
    assert [hit.record.id for hit in memory.recall(question, mode="keyword")] == [record.id]
    assert [source.content for source in memory.sources(record.id)] == list(notes)
    assert memory.unsummarize(record.id).restored == 7
    assert memory.stats().hot == 7


def test_a_digest_covers_its_period_and_its_kinds_alone(memory: Memory) -> None:
    ids = week(memory)
    last = memory.remember(
        STANDUP[0] + " Again.", kind="note", created_at=MONDAY - timedelta(days=1)
    )
    fact = memory.remember("The office is in Lyon.", kind="fact", created_at=MONDAY)
    memory.pin(ids[2])
    report = memory.digest("week", now="2026-05-06")
    (made,) = report.made
    assert set(made.members) == {*ids} - {ids[2]}
    assert report.left == {ids[2]: "pinned"}
    assert {memory.get(each).status for each in (last.id, fact.id, ids[2])} == {Status.LIVE}


def test_a_month_is_told_from_the_notes_below_its_weeks(memory: Memory) -> None:
    ids = week(memory)
    (weekly,) = memory.digest("week", now=MONDAY).made
    later = [
        memory.remember(text + " Later.", kind="note", created_at=MONDAY + timedelta(days=7 + n)).id
        for n, text in enumerate(STANDUP)
    ]
    (monthly,) = memory.digest("month", now=MONDAY).made
    assert set(monthly.members) == {weekly.summary_id, *later}
    assert monthly.sources == (*ids, *later)


def test_a_second_digest_of_a_week_finds_nothing_to_do(memory: Memory) -> None:
    week(memory)
    assert len(memory.digest("week", now=MONDAY).made) == 1
    assert memory.digest("week", now=MONDAY).summaries == ()


def test_too_few_notes_make_no_digest(memory: Memory, clock: FakeClock) -> None:
    kept = memory.remember(STANDUP[0], kind="note").id
    report = memory.digest("day")
    assert report.summaries == ()
    assert report.left == {kept: "too few for a digest"}


@pytest.mark.parametrize(
    ("period", "now"), [("year", None), ("week", "then"), ("week", "2026-13-01")]
)
def test_an_unknown_period_or_moment_is_refused(
    memory: Memory, period: str, now: str | None
) -> None:
    with pytest.raises(InvalidInputError, match=r"period|now"):
        memory.digest(period, now=now)


def test_a_preview_of_a_digest_changes_nothing(memory: Memory) -> None:
    week(memory)
    preview = memory.digest("week", now=MONDAY, dry_run=True)
    assert len(preview.made) == 1
    assert memory.stats().hot == 7
