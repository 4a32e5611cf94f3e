"""A person looks at a plan first: the queue, what may be changed, and holds that say who and how long."""

from datetime import timedelta

import pytest

from sfams.core.plan import Action, PlanState
from sfams.core.policy import Approval, Budget, RetentionPolicy
from sfams.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    PlanStaleError,
    RecordProtectedError,
)
from sfams.service.memory import Memory
from sfams.testing import FakeClock

ASKING = RetentionPolicy(budget=Budget(records=2), approval=Approval.ALWAYS)


def fill(memory: Memory, count: int = 5) -> list[str]:
    return [
        memory.remember(f"Sensor {n} hangs in bay {n}.", importance=n / 10).id for n in range(count)
    ]


def test_a_plan_that_needs_approval_waits(memory: Memory) -> None:
    fill(memory)
    plan = memory.plan_forgetting(ASKING)
    assert plan.state is PlanState.PENDING
    with pytest.raises(ConflictError, match="waits for approval"):
        memory.forget(plan)
    assert [each.id for each in memory.pending_plans()] == [plan.id]
    assert memory.approve(plan).state is PlanState.APPROVED
    assert memory.pending_plans() == []
    assert memory.forget(plan).demoted == 3
    with pytest.raises(ConflictError, match="cannot be reviewed"):
        memory.keep(plan, [plan.steps[0].record_id])


def test_a_rejected_plan_is_over(memory: Memory) -> None:
    fill(memory)
    plan = memory.plan_forgetting(ASKING)
    memory.reject(plan.id)
    with pytest.raises(PlanStaleError, match="rejected"):
        memory.forget(plan)
    with pytest.raises(ConflictError):
        memory.restore(plan)
    with pytest.raises(ConflictError):
        memory.approve(plan)
    assert memory.stats().hot == 5


def test_some_of_a_plan_is_kept_and_some_pinned(memory: Memory) -> None:
    ids = fill(memory)
    plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=2)))
    memory.keep(plan, ids[0])
    after = memory.keep(plan, [ids[1]], pin=True)
    assert after.skipped == {ids[0]: "kept in review", ids[1]: "kept in review: pinned"}
    assert memory.plan(plan.id) == after
    receipt = memory.forget(plan)
    assert (receipt.demoted, receipt.skipped) == (1, after.skipped)
    assert [memory.get(each).pinned for each in ids[:3]] == [False, True, False]
    assert memory.restore(plan).restored == 1
    again = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=0)))
    assert ids[1] not in again.steps.ids
    assert again.spared[plan.steps[1].record_id] == "pinned"


def test_what_is_not_in_a_plan_cannot_be_kept_in_it(memory: Memory) -> None:
    ids = fill(memory)
    plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=2)))
    with pytest.raises(NotFoundError, match="no step"):
        memory.keep(plan, [ids[0], ids[4]])
    assert memory.plan(plan.id) == plan


def test_the_log_says_who_was_asked(memory: Memory) -> None:
    ids = fill(memory)
    plan = memory.plan_forgetting(ASKING)
    memory.keep(plan, ids[0], pin=True)
    assert [event.type for event in memory.history(ids[0])][-1] == "pinned"


def test_a_plan_may_be_narrowed(memory: Memory) -> None:
    memory.remember("The gate code hangs at the door.", importance=0.1, session="s1")
    memory.remember("The gate is painted green.", importance=0.1, session="s2")
    lowest = RetentionPolicy(lowest=5)
    plan = memory.plan_forgetting(lowest, session="s1")
    assert [memory.get(step.record_id).source.session for step in plan.steps] == ["s1"]
    with pytest.raises(InvalidInputError, match="narrow"):
        memory.plan_forgetting(lowest, kinds=[])


def test_a_hold_has_an_owner_and_lapses(memory: Memory, clock: FakeClock) -> None:
    (record_id,) = fill(memory, 1)
    until = clock() + timedelta(days=3)
    memory.hold(record_id, owner="legal", reason="case 7", until=until)
    everything = RetentionPolicy(lowest=1, share_action=Action.DELETE, through_cold=False)
    plan = memory.plan_forgetting(everything)
    assert (len(plan.steps), plan.spared) == (0, {record_id: "held"})
    found = memory.get(record_id).hold
    assert found is not None
    assert (found.owner, found.reason, found.until) == ("legal", "case 7", until)
    with pytest.raises(RecordProtectedError):
        memory.delete(record_id)
    assert memory.explain(record_id).protected == "held"
    clock.advance(days=3)
    assert memory.explain(record_id).protected == ""
    assert len(memory.plan_forgetting(everything).steps) == 1
    memory.delete(record_id)


def test_a_hold_that_is_over_already_is_refused(memory: Memory, clock: FakeClock) -> None:
    (record_id,) = fill(memory, 1)
    with pytest.raises(InvalidInputError, match="over already"):
        memory.hold(record_id, until=clock())
    with pytest.raises(InvalidInputError, match="reason"):
        memory.hold(record_id, reason="x" * 501)
    assert not memory.get(record_id).held
