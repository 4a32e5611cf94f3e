"""The fast replay does what the verbs of `Memory` do, and holds the budget after every insertion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.evaluation_data import dataset
from tests.support.labelled import conversation

from sfams.core.policy import Budget
from sfams.lab.accesses import FLOOR, nearest, similarities
from sfams.lab.asking import HOT, WITH_COLD, Asker
from sfams.lab.datasets import read_dataset
from sfams.lab.policies import POLICIES
from sfams.lab.streaming import SCOPE, Told, replay, replay_through_service, tell
from sfams.providers.hashing import HashingEmbedder
from sfams.service.memory import Memory
from sfams.stores.memory import DictStore
from sfams.stores.sqlite import SqliteStore

BOUNDED = [name for name, policy in POLICIES.items() if policy.bounded]


@pytest.fixture(scope="module")
def told() -> Told:
    return tell(conversation().units, HashingEmbedder())


@pytest.mark.parametrize("kind", ["tokens", "records"])
@pytest.mark.parametrize("name", BOUNDED)
def test_the_fast_way_equals_the_service(name: str, kind: str, told: Told) -> None:
    budget = told.budget(kind, 0.25)
    policy = POLICIES[name]
    fast = replay(told, policy.build(3), budget)
    real = replay_through_service(told, policy.build(3), budget, DictStore())
    assert fast.lost.tolist() == real.lost.tolist()
    assert 0 < len(fast.rows) < len(told.columns)


@pytest.mark.parametrize("name", ["adaptive", "LFU"])
def test_sqlite_equals_the_dict_store(name: str, told: Told, tmp_path: Path) -> None:
    budget = told.budget("tokens", 0.25)
    store = SqliteStore(tmp_path / "m.db")
    real = replay_through_service(told, POLICIES[name].build(0), budget, store)
    store.close()
    assert real.lost.tolist() == replay(told, POLICIES[name].build(0), budget).lost.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["adaptive", "classic", "ACT-R"])
def test_a_real_conversation_is_replayed_alike_on_every_way(name: str, tmp_path: Path) -> None:
    talk = read_dataset(dataset("locomo") / "locomo-dev.json").conversations[1]
    told = tell(talk.units, HashingEmbedder())
    budget = told.budget("tokens", 0.25)
    fast = replay(told, POLICIES[name].build(0), budget).lost.tolist()
    assert (
        replay_through_service(told, POLICIES[name].build(0), budget, DictStore()).lost.tolist()
        == fast
    )
    store = SqliteStore(tmp_path / "m.db")
    stored = replay_through_service(told, POLICIES[name].build(0), budget, store)
    store.close()
    assert stored.lost.tolist() == fast


@pytest.mark.parametrize("name", BOUNDED)
def test_the_budget_holds_after_every_insertion(name: str, told: Told) -> None:
    for kind, sizes in (("tokens", told.columns.tokens), ("records", np.ones(len(told.columns)))):
        budget = told.budget(kind, 0.1)
        most = budget.tokens if kind == "tokens" else budget.records
        lost = replay(told, POLICIES[name].build(0), budget).lost
        for place in range(len(told.units)):
            there = (told.first <= place) & (lost > place)
            assert sizes[there].sum() <= (most or 0)


def test_a_budget_of_nothing_keeps_nothing_and_none_keeps_everything(told: Told) -> None:
    build = POLICIES["FIFO"].build
    assert replay(told, build(0), Budget(records=0)).rows == set()
    assert replay(told, build(0), Budget(tokens=0)).rows == set()
    assert len(replay(told, build(0), Budget()).rows) == len(told.columns)


def test_what_is_told_twice_is_one_record() -> None:
    units = conversation(20).units
    twice = [units[0], replace(units[0], id="copy"), *units[1:]]
    told = tell(twice, HashingEmbedder())
    assert told.row_of[0] == told.row_of[1]
    assert len(told.columns) == len(twice) - 1
    kept = replay(told, POLICIES["FIFO"].build(0), told.budget("records", 0.5))
    real = replay_through_service(
        told, POLICIES["FIFO"].build(0), told.budget("records", 0.5), DictStore()
    )
    assert kept.lost.tolist() == real.lost.tolist()


def test_asking_is_the_products_own_recall(told: Told) -> None:
    talk = conversation()
    asker = Asker(told, talk.scored)
    asker.freeze(range(0, len(told.columns), 3))
    memory = Memory(told.engine, SCOPE)
    ranked = asker.ask()
    rows = {record_id: row for row, record_id in enumerate(told.columns.ids)}
    for way, tier in ((WITH_COLD, None), (HOT, "hot")):
        for question, found in zip(talk.scored, ranked[way], strict=True):
            chosen = {"tier": tier} if tier else {}
            hits = memory.recall(question.text, k=20, count=False, **chosen)  # type: ignore[arg-type]
            assert [rows[hit.record.id] for hit in hits] == found
    assert ranked[WITH_COLD] != ranked[HOT]


def test_moving_records_between_the_tiers_leaves_no_trace(told: Told) -> None:
    asker = Asker(told, conversation().scored)
    everything = range(len(told.columns))
    first = asker.ask()
    asker.freeze({1, 2, 3})
    assert asker.ask() != first
    asker.freeze(everything)
    assert asker.ask() == first


# ── Accesses ─────────────────────────────────────────────────────────────────────────────────────


def test_nearness_uses_nothing_of_what_is_still_to_come() -> None:
    texts = [unit.text for unit in conversation(30).units]
    assert np.array_equal(similarities(texts)[:20, :20], similarities(texts[:20]))


def test_nearness_by_hand() -> None:
    """The same text is 1, a text without a common word 0, and nobody is near what comes later."""
    near = similarities(["red piano", "green kayak", "red piano"])
    assert near.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]


def test_at_most_three_stored_units_above_the_floor_are_accessed() -> None:
    row = np.array([0.9, 0.5, 0.2, 0.5, FLOOR - 0.01, 0.0])
    assert nearest(row, np.ones(6, np.bool_)) == [0, 1, 3]
    assert nearest(row, np.array([False, True, True, False, True, True])) == [1, 2]
