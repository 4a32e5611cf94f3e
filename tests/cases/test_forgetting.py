"""Cases C066 to C079: what is forgotten, by which score, and what a rewrite may not lose.

C074, C075 and C078 are in test_summaries.py, C077 in test_forgetting_log.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import sfams
from sfams.core.plan import Action
from sfams.core.policy import RetentionPolicy
from sfams.core.presets import preset
from sfams.service.memory import Memory
from sfams.testing import FakeClock
from sfams.testing.embedders import ScriptedEmbedder

DAY = timedelta(days=1)
JANUARY = datetime(2026, 1, 1, tzinfo=UTC)


def scores(memory: Memory, policy: RetentionPolicy | None = None) -> dict[str, float]:
    """Every live record's score by its text, as a plan that takes all of them shows it."""
    rules = policy or preset("adaptive")
    every = replace(rules, lowest=1_000, share=None, budget=sfams.Budget())
    plan = memory.plan_forgetting(every)
    return {memory.get(step.record_id).content: step.score for step in plan.steps}


# ── C066 ──────────────────────────────────────────────────────────────────────────────────────────

C066 = (
    ("preference", "Mila wants answers in Slovene.", 0.9),
    ("profile", "Mila is a midwife.", 0.9),
    ("fact", "Mila is allergic to latex.", 1.0),
    ("preference", "Mila is addressed informally.", 0.8),
)


@pytest.mark.parametrize("policy", ["adaptive", "budget"])
def test_C066_two_months_of_silence_do_not_empty_the_memory(
    memory: Memory, clock: FakeClock, policy: str
) -> None:
    clock.set(datetime(2026, 1, 5, tzinfo=UTC))
    curated = [
        memory.remember(text, kind=kind, importance=importance).id
        for kind, text, importance in C066
    ]
    for n in range(8):
        memory.remember(
            f"On day {n} Mila asked about shift plans.", importance=0.3, kind="dialogue"
        )
    clock.advance(days=30)
    for _ in range(30):
        clock.advance(days=1)
        plan = memory.plan_forgetting(policy)
        if len(plan.steps):
            memory.forget(plan)
    assert all(memory.get(each).tier == "hot" for each in curated)
    assert memory.recall("language Slovene", k=1).hits[0].record.content == C066[0][1]
    assert memory.recall("allergic", k=1).hits[0].record.content == C066[2][1]
    assert memory.stats().records.get("deleted", 0) == 0
    found = scores(memory)
    episodes = [score for text, score in found.items() if text.startswith("On day")]
    assert found["Mila is allergic to latex."] > max(episodes)


# ── C069 ──────────────────────────────────────────────────────────────────────────────────────────

C069: dict[str, Callable[[], list[datetime]]] = {
    "once": list,
    "daily": lambda: [JANUARY + n * DAY for n in range(1, 31)],
    "hourly": lambda: [JANUARY + n * timedelta(hours=1) for n in range(1, 720)],
    "twice": lambda: [JANUARY + 30 * DAY] * 2,
}


@contextmanager
def restarted(path: Path, clock: FakeClock) -> Iterator[Memory]:
    with sfams.open(path, embedder="hashing", clock=clock) as memory:
        yield memory


@pytest.mark.parametrize("model", ["classic", "budget", "adaptive", "survival"])
def test_C069_how_often_it_runs_does_not_matter(tmp_path: Path, model: str) -> None:
    ends: list[float] = []
    starts: list[float] = []
    harmless = replace(preset(model), share=None, budget=sfams.Budget(records=100), threshold=None)
    for name, moments in {**C069, "restarting": C069["daily"]}.items():
        clock = FakeClock(JANUARY)
        path = tmp_path / f"{name}.db"
        with restarted(path, clock) as memory:
            memory.remember("The lift inspection is every May.", importance=0.8, kind="note")
            starts.append(next(iter(scores(memory, harmless).values())))
            for moment in moments() if name != "restarting" else ():
                clock.set(moment)
                memory.forget(memory.plan_forgetting(harmless))
        for moment in moments() if name == "restarting" else ():
            clock.set(moment)
            with restarted(path, clock) as memory:
                memory.forget(memory.plan_forgetting(harmless))
        clock.set(JANUARY + 30 * DAY)
        with restarted(path, clock) as memory:
            ends.append(next(iter(scores(memory, harmless).values())))
            assert memory.list()[0].importance == 0.8
    assert max(ends) - min(ends) <= 1e-6
    if model in {
        "classic",
        "budget",
    }:  # the others count logged turns or active days: there are none
        assert ends[0] < starts[0]
    assert ends[0] <= starts[0]


# ── C071 ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("model", ["adaptive", "classic", "survival"])
def test_C071_what_is_forgotten_is_what_the_score_says(
    memory: Memory, clock: FakeClock, threshold: float, model: str
) -> None:
    now = JANUARY + 300 * DAY
    clock.set(now)
    items = [
        {
            "content": f"Locker {n} holds {n + 3} keys.",
            "importance": 0.1 + 0.8 * n / 23,
            "created_at": (now - timedelta(hours=1) - n * 200 * DAY / 24).isoformat(),
            "access_count": n * 40 // 23,
            "last_accessed": (now - n * DAY).isoformat() if n else None,
        }
        for n in range(24)
    ]
    memory.remember_many([{k: v for k, v in each.items() if v is not None} for each in items])
    before = [(record.id, record.usage) for record in memory.list(limit=100)]
    only = RetentionPolicy(model=preset(model).model, threshold=threshold)
    plan = memory.plan_forgetting(only)
    shown = {record.id: memory.explain(record.id) for record in memory.list(limit=100)}
    by_model = scores(memory, only)
    chosen = {memory.get(step.record_id).content for step in plan.steps}
    assert chosen == {text for text, score in by_model.items() if score < threshold}
    assert before == [(record.id, record.usage) for record in memory.list(limit=100)]
    for answer in shown.values():
        assert answer.score == pytest.approx(math.fsum(answer.parts.values()), abs=1e-6)
    for step in plan.steps:
        assert math.fsum(step.parts.values()) == pytest.approx(step.score, abs=1e-6)


# ── C072 ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("model", ["adaptive", "classic", "budget"])
def test_C072_what_is_used_survives_what_is_not(
    memory: Memory, clock: FakeClock, model: str
) -> None:
    clock.set(JANUARY)
    used = memory.remember("Ferry tickets are bought at kiosk 4.", importance=0.4)
    unused = memory.remember("Ferry posters hang at kiosk 9.", importance=0.4)
    for _ in range(60):
        clock.advance(days=1)
        assert memory.recall("ferry tickets", k=1).hits[0].record.id == used.id
    memory.flush()
    usage, idle = memory.get(used.id).usage, memory.get(unused.id).usage
    assert (usage.access_count, usage.last_accessed_at) == (60, JANUARY + 60 * DAY)
    assert (idle.access_count, idle.last_accessed_at) == (0, None)
    rules = RetentionPolicy(model=preset(model).model)
    found = scores(memory, rules)
    high, low = (found[memory.get(each.id).content] for each in (used, unused))
    assert high > low
    plan = memory.plan_forgetting(replace(rules, threshold=(high + low) / 2))
    assert plan.steps.ids == (unused.id,)


# ── C073 ──────────────────────────────────────────────────────────────────────────────────────────

C073 = (
    "Gate B12 opens at 06:10.",
    "Gate B14 is closed for works.",
    "The lounge is near gate B12.",
)


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_C073_a_search_counts_what_it_returns_once(memory: Memory, mode: str) -> None:
    memory.remember_many(C073)
    hits = memory.recall("gate B12", k=2, mode=mode).hits
    memory.flush()
    returned = {hit.record.id for hit in hits}
    counts = {record.id: record.usage.access_count for record in memory.list()}
    assert counts == {each: int(each in returned) for each in counts}
    assert 1 <= len(returned) <= 2


def test_C073_other_reads_count_none(memory: Memory) -> None:
    results = memory.remember_many(C073)
    before = {each.id: memory.get(each.id).updated_at for each in results}
    memory.get(results[0].id)
    memory.list()
    assert len([*memory.export()]) == 3
    memory.plan_forgetting("classic")
    memory.doctor()
    memory.explain(results[0].id, query="gate")
    memory.flush()
    for record in memory.list():
        assert record.usage.access_count == 0
        assert record.updated_at == before[record.id]


# ── C079 ──────────────────────────────────────────────────────────────────────────────────────────


def test_C079_being_recalled_often_does_not_win_for_ever(clock: FakeClock) -> None:
    old = "Gil had a quarrel about the fence in 2024."
    new = "Gil and the neighbour settled the fence dispute on 2026-03-02."
    question = "how is the fence matter going"
    embedder = ScriptedEmbedder(
        {
            question: (1.0, 0.0, 0.0),
            new: (0.82, math.sqrt(1 - 0.82**2), 0.0),
            old: (0.78, 0.0, math.sqrt(1 - 0.78**2)),
        },
        dimension=3,
    )
    clock.set(datetime(2026, 2, 1, tzinfo=UTC))
    with sfams.open(":memory:", embedder=embedder, clock=clock) as memory:
        first = memory.remember(old, importance=0.5)
        for turn in range(50):
            for _ in range(4):
                memory.context("fence", k=1, turn=f"turn-{turn}")
            clock.advance(hours=1)
        memory.flush()
        assert memory.get(first.id).usage.access_count == 50
        clock.set(datetime(2026, 3, 2, tzinfo=UTC))
        memory.remember(new, importance=0.5)
        clock.advance(days=1)
        hits = memory.recall(question, k=2).hits
        assert hits[0].record.content == new
        for name in ("adaptive", "classic", "survival"):
            found = scores(memory, RetentionPolicy(model=preset(name).model))
            assert all(0.0 <= score <= 1.0 for score in found.values())
        plan = memory.plan_forgetting(RetentionPolicy(lowest=2))
        step = next(step for step in plan.steps if step.record_id == first.id)
        assert step.parts["frequency"] <= 0.15
        adaptive = replace(preset("adaptive"), lowest=2)
        use = next(s for s in memory.plan_forgetting(adaptive).steps if s.record_id == first.id)
        assert use.parts["use"] <= 0.07
        assert use.action is Action.DEMOTE
