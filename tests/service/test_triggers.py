"""Triggers: forgetting by itself, once, in the background, and never more than the policy says."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import sfams
from sfams.core.plan import Cause, PlanState
from sfams.core.policy import Approval, Budget, Limit, RetentionPolicy, Rung, Triggers
from sfams.core.record import Tier
from sfams.errors import ConflictError, InvalidPolicyError
from sfams.service.memory import Memory
from sfams.testing import FakeClock

OFF = Triggers(over_budget=False)
NONE = RetentionPolicy(triggers=OFF)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


class Opened:
    """Opens memories of one file with a policy, and closes them."""

    def __init__(self, path: Path, clock: FakeClock) -> None:
        self._path, self._clock = path, clock
        self.memories: list[Memory] = []

    def __call__(self, policy: RetentionPolicy) -> Memory:
        memory = sfams.open(self._path, embedder="hashing", clock=self._clock, policy=policy)
        self.memories.append(memory)
        return memory


@pytest.fixture
def opened(tmp_path: Path, clock: FakeClock) -> Iterator[Opened]:
    opener = Opened(tmp_path / "memory.db", clock)
    yield opener
    for memory in opener.memories:
        memory.close()


def tell(memory: Memory, count: int, start: int = 0, **fields: object) -> None:
    for n in range(start, start + count):
        memory.remember(f"Sensor {n} hangs in bay {n}.", **fields)  # type: ignore[arg-type]
    memory.flush()


def causes(memory: Memory) -> list[Cause]:
    return [memory.plan(each).cause for each in reversed(memory.plans())]


def test_over_budget_the_lowest_goes_by_itself(opened: Opened) -> None:
    memory = opened(RetentionPolicy(budget=Budget(records=5, low=0.6)))
    tell(memory, 5)
    assert (memory.stats().hot, memory.plans()) == (5, [])
    tell(memory, 1, start=5)
    assert (memory.stats().hot, memory.stats().cold) == (3, 3)
    assert causes(memory) == [Cause.BUDGET]
    tell(memory, 2, start=6)
    assert memory.stats().hot == 5
    assert memory.restore().restored == 3


@pytest.mark.parametrize(
    "budget",
    [Budget(tokens=40), Budget(bytes=120), Budget(kinds={"note": Limit(records=3)})],
)
def test_every_size_of_a_budget_is_watched(opened: Opened, budget: Budget) -> None:
    memory = opened(RetentionPolicy(budget=budget))
    tell(memory, 8, kind="note")
    assert memory.stats().cold > 0
    assert set(causes(memory)) == {Cause.BUDGET}


def test_every_so_many_turns(opened: Opened) -> None:
    triggers = Triggers(over_budget=False, turns=3)
    memory = opened(RetentionPolicy(lowest=1, triggers=triggers))
    tell(memory, 4)
    session = memory.session("s1")
    for _ in range(2):
        session.turn()
    memory.flush()
    assert memory.stats().cold == 0
    session.turn()
    memory.flush()
    assert causes(memory) == [Cause.TURNS]
    assert memory.stats().cold == 1


def test_at_the_end_of_a_session(opened: Opened) -> None:
    memory = opened(
        RetentionPolicy(lowest=1, triggers=Triggers(over_budget=False, session_end=True))
    )
    tell(memory, 3)
    with memory.session("s1") as session:
        session.turn()
    memory.flush()
    assert causes(memory) == [Cause.SESSION]


def test_after_an_interval_in_another_process_too(opened: Opened, clock: FakeClock) -> None:
    policy = RetentionPolicy(
        lowest=1, triggers=Triggers(over_budget=False, interval=timedelta(hours=24))
    )
    first = opened(policy)
    tell(first, 3)
    first.close()
    clock.advance(hours=23)
    second = opened(policy)
    tell(second, 1, start=3)
    assert second.plans() == []
    clock.advance(hours=1)
    tell(second, 1, start=4)
    assert causes(second) == [Cause.INTERVAL]
    tell(second, 1, start=5)
    assert len(second.plans()) == 1


def test_what_is_told_while_it_runs_is_not_forgotten_about(opened: Opened) -> None:
    memory = opened(RetentionPolicy(budget=Budget(records=3)))
    for n in range(60):  # without waiting for the background in between
        memory.remember(f"Sensor {n} hangs in bay {n}.")
    memory.flush()
    assert memory.stats().hot == 3


def test_what_is_off_does_not_run(opened: Opened, clock: FakeClock) -> None:
    memory = opened(replace(NONE, budget=Budget(records=1), lowest=2))
    tell(memory, 5)
    clock.advance(days=400)
    tell(memory, 1, start=5)
    with memory.session("s1") as session:
        session.turn()
    memory.flush()
    assert (memory.stats().hot, memory.plans()) == (6, [])


def test_asked_for_it_runs_at_once(opened: Opened) -> None:
    memory = opened(replace(NONE, budget=Budget(records=2)))
    tell(memory, 5)
    done = memory.maintain()
    assert done.receipt is not None
    assert (done.receipt.demoted, causes(memory)) == (3, [Cause.DEMAND])
    again = memory.maintain()
    assert (again.plan, again.receipt) == (None, None)


def test_what_needs_approval_waits(opened: Opened) -> None:
    memory = opened(RetentionPolicy(budget=Budget(records=2), approval=Approval.ALWAYS))
    tell(memory, 3)
    (plan,) = memory.pending_plans()
    assert (plan.cause, plan.state, memory.stats().hot) == (Cause.BUDGET, PlanState.PENDING, 3)


def test_what_is_beyond_its_limits_waits(
    opened: Opened, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    policy = replace(NONE, budget=Budget(records=1), delete=Rung(), max_share=0.3)
    memory = opened(policy)
    tell(memory, 4)
    memory.maintain()
    clock.advance(minutes=1)
    done = memory.maintain()
    assert done.plan is not None
    assert (done.receipt, "75.0%" in done.plan.alarm) == (None, True)
    assert "waits for a person" in caplog.text
    assert memory.stats().records.get("deleted", 0) == 0


def test_two_runs_of_one_scope_do_not_meet(opened: Opened, clock: FakeClock) -> None:
    memory = opened(NONE)
    tell(memory, 2)
    lease = '{"until": "2099-01-01T00:00:00Z"}'
    with memory._engine.store.write() as transaction:  # as another process would
        transaction.put_setting(memory.scope, "lease:forgetting", lease)
    with pytest.raises(ConflictError, match="another process"):
        memory.maintain()
    clock.set(datetime(2099, 1, 1, 0, 0, 1, tzinfo=UTC))
    memory.maintain()


def test_a_week_that_is_over_is_told_in_one_record(opened: Opened, clock: FakeClock) -> None:
    policy = RetentionPolicy(triggers=Triggers(interval=timedelta(hours=24), digest="week"))
    memory = opened(policy)
    clock.set(datetime(2026, 3, 2, 9, tzinfo=UTC))  # a Monday
    for day in range(7):
        memory.remember(
            f"Stand-up {day + 1}: the importer read {day + 3} of 40 files and Ana mended the parser.",
            kind="note",
        )
        memory.flush()
        clock.advance(days=1)
    memory.remember("Stand-up 8: the importer is done.", kind="note")
    memory.flush()
    (digest,) = memory.list(kinds=["summary"])
    assert digest.content.startswith("Week's progress 2026-03-02")
    hot = [record for record in memory.list(kinds=["note"]) if record.tier is Tier.HOT]
    assert [record.content for record in hot] == ["Stand-up 8: the importer is done."]


def test_a_scope_does_not_move_another(opened: Opened) -> None:
    memory = opened(RetentionPolicy(budget=Budget(records=2)))
    other = memory.within("other")
    tell(memory, 2)
    tell(other, 5)
    assert (memory.stats().cold, other.stats().cold) == (0, 3)


@pytest.mark.parametrize("wrong", ["year", 7])
def test_a_digest_is_of_a_known_period(wrong: object) -> None:
    with pytest.raises(InvalidPolicyError, match="digest"):
        Triggers(digest=wrong)  # type: ignore[arg-type]
