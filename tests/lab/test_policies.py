"""Baselines do what their source says, on cases small enough to see; no policy beats its bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from tests.support.labelled import START, conversation

from sfams.core.columns import Columns, columns_of
from sfams.core.record import RecordId, Usage
from sfams.lab import metrics
from sfams.lab.asking import Asker
from sfams.lab.policies import POLICIES, Arrival, LabPolicy
from sfams.lab.policies.oracles import Room, all_evidence, fractional
from sfams.lab.streaming import Told, replay, tell
from sfams.providers.hashing import HashingEmbedder
from sfams.testing import make_record

DAY = timedelta(days=1)
NOW = START + 10 * DAY
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def rows(*each: tuple[float, int, float | None]) -> Columns:
    """Columns of records told so many days after START, accessed so often, the last time then."""
    return columns_of(
        make_record(
            id=RecordId(f"r{number}"),
            created_at=START + told * DAY,
            usage=Usage(
                access_count=count,
                last_accessed_at=None if last is None else START + last * DAY,
            ),
        )
        for number, (told, count, last) in enumerate(each)
    )


def arrive(policy: LabPolicy, columns: Columns) -> None:
    for record_id, at in zip(columns.ids, columns.created_at.tolist(), strict=True):
        moment = EPOCH + timedelta(microseconds=at)
        policy.arrive(Arrival(id=record_id, at=moment, who="", role="user", text="", tokens=1))


def values(name: str, columns: Columns) -> Sequence[float]:
    policy = POLICIES[name].build(0)
    arrive(policy, columns)
    found: Sequence[float] = policy.score(columns, NOW).values.tolist()
    return found


def leaves_first(name: str, columns: Columns) -> int:
    return int(np.argmin(values(name, columns)))


CASE = rows((0, 5, 9), (1, 0, None), (2, 1, 3))


def test_what_came_first_leaves_first_or_stays() -> None:
    assert leaves_first("FIFO", CASE) == 0
    assert leaves_first("keep-first", CASE) == 2


def test_the_least_recently_and_the_least_often_used_leave_first() -> None:
    assert leaves_first("LRU", CASE) == 1
    assert leaves_first("LFU", CASE) == 1
    assert leaves_first("LRU", rows((0, 9, 4), (5, 0, None))) == 0
    assert leaves_first("LFU", rows((0, 9, 4), (5, 0, None))) == 1


def test_memorybank_fades_by_days_over_strength() -> None:
    """exp(-t / S): 1 day over strength 6, 9 days over 1, 7 days over 2."""
    assert values("MemoryBank", CASE) == pytest.approx([-1 / 6, -9.0, -3.5])


def test_memorybank_as_released_fades_faster_the_stronger() -> None:
    """exp(-t / 5 * S), read from left to right: the missing brackets of its code."""
    assert values("MemoryBank, released", CASE) == pytest.approx([-1.2, -1.8, -2.8])
    for days, strength in ((1, 6), (9, 1), (7, 2)):
        assert math.exp(-days / 5 * strength) == pytest.approx(math.exp(-(days / 5) * strength))


def test_act_r_sums_every_presentation() -> None:
    """Told 10 days ago, accessed 1 day ago: ln(864000 ** -0.5 + 86400 ** -0.5)."""
    policy = POLICIES["ACT-R"].build(0)
    columns = rows((0, 0, None), (0, 0, None))
    arrive(policy, columns)
    policy.accessed([columns.ids[1]], START + 9 * DAY)
    found = policy.score(columns, NOW).values.tolist()
    once = 864_000**-0.5
    assert found == pytest.approx([math.log(once), math.log(once + 86_400**-0.5)])


def test_act_r_stays_finite_in_the_moment_of_telling() -> None:
    policy = POLICIES["ACT-R"].build(0)
    columns = rows((10, 0, None))
    policy.arrive(Arrival(id=RecordId("r0"), at=NOW, who="", role="", text="", tokens=1))
    assert policy.score(columns, NOW).values.tolist() == [0.0]


def test_chance_gives_every_record_one_priority_for_good() -> None:
    """Reservoir sampling: what is kept at the end is a fair sample of all that was told."""
    first, again = (values("random", CASE) for _ in range(2))
    assert first == again
    policy = POLICIES["random"].build(1)
    arrive(policy, CASE)
    assert policy.score(CASE, NOW).values.tolist() != first
    assert policy.score(CASE, NOW).values.tolist() == policy.score(CASE, NOW).values.tolist()


def test_without_the_prior_importance_makes_no_difference() -> None:
    columns = columns_of(
        make_record(id=RecordId(f"r{number}"), created_at=START, importance=worth)
        for number, worth in enumerate((0.1, 0.9))
    )
    for name in ("adaptive", "classic"):
        low, high = values(name, columns)
        assert low < high
        same, too = values(f"{name}, no prior", columns)
        assert same == too


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_names_its_source_and_scores_every_row_finitely(name: str) -> None:
    assert POLICIES[name].source
    policy = POLICIES[name].build(0)
    arrive(policy, CASE)
    scores = policy.score(CASE, NOW)
    assert scores.values.shape == (3,)
    assert np.isfinite(scores.values).all()
    assert sum(scores.parts.values()) == pytest.approx(scores.values)


# ── Bounds ───────────────────────────────────────────────────────────────────────────────────────


def test_the_fractional_bound_takes_the_densest_first() -> None:
    """Row 0 answers two questions in 4 tokens, row 1 one in 1, row 2 half of one in 1."""
    room = Room(np.array([4.0, 1.0, 1.0, 1.0]), 5)
    assert fractional([[0], [0], [1], [2, 3]], room) == {0, 1}
    assert fractional([[0], [1]], Room(np.array([4.0, 3.0]), 3)) == {1}


def test_the_all_evidence_bound_completes_the_cheapest_questions() -> None:
    room = Room(np.array([4.0, 1.0, 1.0, 1.0]), 3)
    assert all_evidence([[0], [1, 2], [2, 3]], room) == {1, 2, 3}
    assert all_evidence([[0]], room) == set()


@pytest.fixture(scope="module")
def told() -> Told:
    return tell(conversation().units, HashingEmbedder())


@pytest.mark.parametrize("kind", ["tokens", "records"])
@pytest.mark.parametrize("name", [name for name, policy in POLICIES.items() if policy.bounded])
def test_no_policy_beats_the_bound(name: str, kind: str, told: Told) -> None:
    asker = Asker(told, conversation().scored)
    gold = [sorted(each.gold) for each in asker.questions]
    budget = told.budget(kind, 0.25)
    sizes = told.columns.tokens.astype(float) if kind == "tokens" else np.ones(len(told.columns))
    best = fractional(gold, Room(sizes, budget.tokens or budget.records or 0))
    kept = replay(told, POLICIES[name].build(0), budget).rows
    assert sum(metrics.survived(each, kept) for each in gold) <= sum(
        metrics.survived(each, best) for each in gold
    )
