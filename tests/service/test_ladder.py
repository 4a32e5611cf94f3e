"""The ladder whole: hot, cold, one for many, deleted; each rung in its time, and all of it undone."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from sfams.core.plan import Action, PlanState
from sfams.core.policy import Budget, RetentionPolicy, Rung
from sfams.core.record import MemoryRecord, RecordId, Status, Tier
from sfams.service.memory import Memory
from sfams.service.merging import FELL_APART
from sfams.testing import FakeClock

DAY = timedelta(days=1)
LADDER = RetentionPolicy(
    budget=Budget(records=2),
    summarize=Rung(below=1.0, after=7 * DAY),
    delete=Rung(below=1.0, after=30 * DAY),
    max_share=1.0,
)
NOTES = (
    "Stand-up: Iris ran 5 km on Monday in the rain and felt good about her knees and her shoes.",
    "Stand-up: Iris ran 8 km on Thursday, slower than she wanted, because the wind was strong.",
    "Stand-up: Iris bought trail shoes for 120 euro in the shop near the station after work.",
    "Stand-up: Iris stretched for 20 minutes on Friday and read about training plans for beginners.",
)
CHINESE = (
    "站会：王芳周一在雨里跑了5公里，膝盖和鞋子都感觉不错，心情很好，打算周末再跑一次。",
    "站会：王芳周四跑了8公里，比计划慢一些，因为风很大，路上人也多，她有点累。",
    "站会：王芳下班后在车站旁边的店里花120欧元买了越野跑鞋，颜色是蓝色的。",
    "站会：王芳周五拉伸了20分钟，还读了一些给初学者的训练计划，记了笔记。",
)


def fill(memory: Memory, notes: tuple[str, ...], name: str) -> list[RecordId]:
    ids = [memory.remember(text, importance=0.2, kind="note", entities=[name]).id for text in notes]
    for n in range(2):
        memory.remember(f"The harbour crane {n} lifts 40 tons.", importance=0.9)
    return ids


def standing(memory: Memory, ids: Sequence[str]) -> set[tuple[str, str]]:
    records = [memory.get(each) for each in ids]
    return {(record.status.value, record.tier.value) for record in records}


def plain(record: MemoryRecord) -> MemoryRecord:
    """What must come back: everything but the counters of its changes and its grace."""
    return replace(record, version=0, updated_at=record.created_at, grace_until=None)


@pytest.mark.parametrize(("notes", "name"), [(NOTES, "Iris"), (CHINESE, "王芳")])
def test_each_rung_in_its_time_and_back(
    memory: Memory, clock: FakeClock, notes: tuple[str, ...], name: str
) -> None:
    ids = fill(memory, notes, name)
    before = [plain(memory.get(each)) for each in ids]
    first = memory.plan_forgetting(LADDER)
    assert memory.forget(first).demoted == 4
    cold = [plain(memory.get(each)) for each in ids]
    assert len(memory.plan_forgetting(LADDER).steps) == 0
    clock.advance(days=7)
    second = memory.plan_forgetting(LADDER)
    assert {step.action for step in second.steps} == {Action.SUMMARIZE}
    assert len({step.group for step in second.steps}) == 1
    receipt = memory.forget(second)
    assert (receipt.summarized, receipt.skipped) == (4, {})
    assert standing(memory, ids) == {("summarized", "cold")}
    (summary,) = memory.list(kinds=["summary"])
    assert set(summary.derived_from) == set(ids)
    assert summary.importance >= 0.2
    assert "120" in summary.content
    assert [each.id for each in memory.sources(summary.id)] == sorted(ids)
    assert memory.restore(second).restored == 4
    assert [plain(memory.get(each)) for each in ids] == cold
    assert memory.get(summary.id).status is Status.DELETED
    assert memory.restore(first).restored == 0  # changed since: its records went on
    memory.restore(ids)
    assert [plain(memory.get(each)) for each in ids] == before


def test_what_nobody_can_be_grouped_with_goes_when_its_time_is_over(
    memory: Memory, clock: FakeClock
) -> None:
    ids = fill(memory, NOTES[:1], "Iris")
    memory.forget(memory.plan_forgetting(LADDER))
    clock.advance(days=29)
    assert len(memory.plan_forgetting(LADDER).steps) == 0
    clock.advance(days=1)
    plan = memory.plan_forgetting(LADDER)
    assert [(step.action, step.reason) for step in plan.steps] == [("delete", "long cold")]
    memory.forget(plan)
    assert memory.get(ids[0]).status is Status.DELETED


def test_a_group_goes_whole_or_not_at_all(memory: Memory, clock: FakeClock) -> None:
    ids = fill(memory, NOTES, "Iris")
    memory.forget(memory.plan_forgetting(LADDER))
    clock.advance(days=7)
    plan = memory.plan_forgetting(LADDER)
    memory.pin(ids[2])
    receipt = memory.forget(plan)
    assert receipt.summarized == 0
    assert receipt.skipped == {
        **dict.fromkeys(ids, FELL_APART),
        ids[2]: "pinned",
    }
    assert standing(memory, ids) == {("live", "cold")}
    assert len(memory.list(kinds=["summary"])) == 0


def test_what_a_review_keeps_is_not_in_the_summary(memory: Memory, clock: FakeClock) -> None:
    ids = fill(memory, NOTES, "Iris")
    memory.forget(memory.plan_forgetting(LADDER))
    clock.advance(days=7)
    plan = memory.plan_forgetting(LADDER)
    memory.keep(plan, ids[0])
    assert memory.forget(plan).summarized == 3
    (summary,) = memory.list(kinds=["summary"])
    assert set(summary.derived_from) == set(ids[1:])
    assert memory.get(ids[0]).status is Status.LIVE


def test_a_summary_that_was_changed_stays_and_undo_says_so(
    memory: Memory, clock: FakeClock
) -> None:
    ids = fill(memory, NOTES, "Iris")
    memory.forget(memory.plan_forgetting(LADDER))
    clock.advance(days=7)
    plan = memory.plan_forgetting(LADDER)
    memory.forget(plan)
    (summary,) = memory.list(kinds=["summary"])
    memory.update(summary.id, content=summary.content + " She likes it.")
    receipt = memory.restore(plan)
    assert receipt.restored == 4
    assert receipt.skipped == {summary.id: "changed since"}
    assert memory.get(summary.id).status is Status.LIVE
    assert memory.plan(plan.id).state is PlanState.UNDONE
    assert standing(memory, ids) == {("live", "cold")}


def test_a_cold_record_that_is_used_comes_back_by_itself(memory: Memory) -> None:
    ids = fill(memory, NOTES, "Iris")
    memory.forget(memory.plan_forgetting(LADDER))
    memory.reinforce([ids[1]])
    assert memory.get(ids[1]).tier is Tier.HOT
    assert [event.type for event in memory.history(ids[1])][-2:] == ["reinforced", "restored"]
    assert memory.get(ids[0]).tier is Tier.COLD
