"""Cases C066, C069, C071, C072 and C079, with every retention model: time, use, and what they come to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.models import ACCESS_LIMITS

import sfams
from sfams.core.models.registry import MODELS, model_from
from sfams.core.policy import Budget
from sfams.service.memory import Memory
from sfams.testing import FakeClock

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
NAMES = sorted(MODELS)
BY_DAYS = ("activation", "density", "linear", "retrievability")
"""Models that can go by either clock."""


@pytest.fixture(params=NAMES)
def model(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@contextmanager
def opened(
    path: Path | str, clock: FakeClock, model: str, /, **parameters: object
) -> Iterator[Memory]:
    policy = sfams.RetentionPolicy(
        model=model_from(model, parameters),  # type: ignore[arg-type]  # as from JSON
        budget=Budget(records=1000),
        threshold=None,
    )
    memory = sfams.open(path, scope="acme/me", embedder="hashing", clock=clock, policy=policy)
    try:
        yield memory
    finally:
        memory.close()


def score(memory: Memory, record_id: str) -> float:
    found = memory.explain(record_id).score
    assert found is not None
    return found


def test_C066_two_months_of_silence_empty_nothing(model: str, clock: FakeClock) -> None:
    """Daily runs over thirty of sixty silent days: nothing goes, and what matters stays above."""
    clock.set(at("2026-01-05"))
    curated = [
        ("preference", "Mila wants answers in Slovene language.", 0.9),
        ("profile", "Mila is a midwife.", 0.9),
        ("fact", "Mila is allergic to latex.", 1.0),
        ("preference", "Mila is addressed informally.", 0.8),
    ]
    with opened(":memory:", clock, model) as memory:
        kept = [memory.remember(text, kind=kind, importance=i).id for kind, text, i in curated]
        episodes = [
            memory.remember(
                f"On day {n} Mila asked about shift plans.", kind="dialogue", importance=0.3
            ).id
            for n in range(8)
        ]
        before = {each: score(memory, each) for each in (*kept, *episodes)}
        clock.advance(days=30)
        for _ in range(30):
            clock.advance(days=1)
            memory.forget(memory.plan_forgetting())
        assert memory.stats().hot == 12
        after = {each: score(memory, each) for each in before}
        assert all(after[kept[2]] > after[each] for each in episodes)
        assert {hit.record.id for hit in memory.recall("allergic", k=3)} & {kept[2]}
        if model not in {"linear", "adaptive"}:  # by the wall clock these lose a little
            assert after == before


@pytest.mark.parametrize("clock_of", ["wall", "active"])
@pytest.mark.parametrize("name", BY_DAYS)
def test_C069_running_daily_hourly_or_once_gives_one_score(
    name: str, clock_of: str, tmp_path: Path
) -> None:
    """A job may run as often as it likes, the process may start anew: nothing decays by being read."""
    start, end = at("2026-01-01"), at("2026-01-31")
    text = "The lift inspection is every May."

    def told(path: str) -> tuple[FakeClock, str]:
        clock = FakeClock(start)
        with opened(tmp_path / path, clock, name, clock=clock_of) as memory:
            stored = memory.remember(text, importance=0.8, kind="note")
            for day in range(31):  # something is said every day, or no active day would pass
                clock.set(start + day * DAY)
                memory.remember(f"On day {day} the lift was used.")
            return FakeClock(start), stored.id

    def run(path: str, step: timedelta | None, *, restart: bool = False) -> tuple[float, float]:
        clock, record_id = told(path)
        moments = [start + n * step for n in range(1, int(30 * DAY / step))] if step else []
        with opened(tmp_path / path, clock, name, clock=clock_of) as memory:
            for moment in [] if restart else moments:
                clock.set(moment)
                memory.plan_forgetting()
        for moment in moments if restart else []:
            clock.set(moment)
            with opened(tmp_path / path, clock, name, clock=clock_of) as memory:
                memory.plan_forgetting()
        clock.set(end)
        with opened(tmp_path / path, clock, name, clock=clock_of) as memory:
            found = memory.get(record_id).importance, score(memory, record_id)
            assert score(memory, record_id) == found[1]
            return found

    once = run("once.db", None)
    assert once[0] == 0.8
    assert run("daily.db", DAY) == pytest.approx(once, abs=1e-9)
    assert run("hourly.db", 6 * HOUR) == pytest.approx(once, abs=1e-9)
    assert run("restarted.db", 5 * DAY, restart=True) == pytest.approx(once, abs=1e-9)
    with opened(tmp_path / "fresh.db", FakeClock(start), name, clock=clock_of) as memory:
        assert once[1] < score(memory, memory.remember(text, importance=0.8, kind="note").id)


def test_C069_survival_moves_by_turns_whatever_runs_between(clock: FakeClock) -> None:
    """A plan after every turn, or one at the end: the same potential."""

    def run(*, often: bool) -> float:
        with opened(":memory:", clock, "survival") as memory:
            record_id = memory.remember("The lift inspection is every May.", kind="note").id
            session = memory.session("s-1")
            for _ in range(20):
                session.turn()
                if often:
                    memory.plan_forgetting()
            memory.plan_forgetting()
            memory.plan_forgetting()
            return score(memory, record_id)

    assert run(often=True) == run(often=False)


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7])
def test_C071_what_is_taken_is_what_the_shown_score_says(
    model: str, threshold: float, clock: FakeClock
) -> None:
    now = clock()
    with opened(":memory:", clock, model) as memory:
        records = [
            memory.remember(
                f"Item {n} lies on shelf {n * 7}.",
                importance=0.1 + 0.8 * n / 23,
                kind=("note", "fact")[n % 2],
                created_at=now - (n * 37 % 200) * DAY - HOUR,
            ).id
            for n in range(24)
        ]
        for n, record_id in enumerate(records):
            if n % 3 == 0:
                memory.reinforce(record_id)
        shown = {record_id: score(memory, record_id) for record_id in records}
        policy = sfams.RetentionPolicy(model=model_from(model, {}), threshold=threshold)
        plan = memory.plan_forgetting(policy)
        assert set(plan.steps.ids) == {name for name, value in shown.items() if value < threshold}
        for step in plan.steps:
            assert step.score == shown[step.record_id]
            assert sum(step.parts.values()) == pytest.approx(step.score, abs=1e-9)
        assert {each: score(memory, each) for each in records} == shown


def test_C072_what_is_used_scores_above_what_is_not(model: str, clock: FakeClock) -> None:
    """One search a day for sixty days: counted, dated, and worth more than none."""
    clock.set(at("2026-01-01"))
    with opened(":memory:", clock, model) as memory:
        used = memory.remember("Ferry tickets are bought at kiosk 4.", importance=0.4).id
        unused = memory.remember("The posters hang somewhere else.", importance=0.4).id
        session = memory.session("s-1")
        for _ in range(60):
            clock.advance(days=1)
            session.turn()
            (hit,) = memory.recall("ferry tickets", k=1)
            assert hit.record.id == used
        values = score(memory, used), score(memory, unused)
        usage = memory.get(used).usage
        assert (usage.access_count, usage.last_accessed_at) == (60, clock())
        assert (memory.get(unused).usage.access_count, memory.get(unused).usage.used_count) == (
            0,
            0,
        )
        assert values[0] > values[1]
        between = sum(values) / 2
        policy = sfams.RetentionPolicy(model=model_from(model, {}), threshold=between)
        assert list(memory.plan_forgetting(policy).steps.ids) == [unused]


@pytest.mark.parametrize("name", sorted(ACCESS_LIMITS))
def test_C079_being_recalled_often_is_worth_a_limited_part(name: str, clock: FakeClock) -> None:
    """Two hundred contexts, four in each turn, one turn an hour: counted once a turn, and capped."""
    part, limit = ACCESS_LIMITS[name]
    clock.set(at("2026-02-20"))
    with opened(":memory:", clock, name) as memory:
        old = memory.remember("Gil had a quarrel about the fence in 2024.", importance=0.5).id
        session = memory.session("s-1")
        for _ in range(50):
            clock.advance(hours=1)
            turn = str(session.turn())
            for _ in range(4):
                memory.context("fence", k=1, turn=turn)
        explained = memory.explain(old)
        assert memory.get(old).usage.access_count == 50
        assert explained.score is not None
        assert 0.0 <= explained.score <= 1.0
        assert 0.0 < explained.parts[part] <= limit + 1e-12
        matters = memory.remember("The fence dispute is settled.", importance=1.0).id
        low = memory.remember("The fence is green.", importance=0.0).id
        assert score(memory, matters) > score(memory, low)


def test_accesses_count_for_the_turn_in_which_they_were_made(clock: FakeClock) -> None:
    """Recalls are buffered; the next turn writes them down first, or all would count for the last."""

    def told(*recalls: int) -> float:
        with opened(":memory:", clock, "survival") as memory:
            record_id = memory.remember("The key is under the mat.", importance=0.5).id
            session = memory.session("s-1")
            for count in recalls:
                session.turn()
                for _ in range(count):
                    memory.recall("key", k=1)
            return score(memory, record_id)

    assert told(4, 4, 4) > told(0, 0, 12)
