"""Measures against cases computed by hand, and laws that hold for every input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.lab import metrics
from sfams.lab.metrics import LAGS, Count, Tally

rows = st.integers(0, 30)
rankings = st.lists(rows, unique=True, max_size=30)
golds = st.sets(rows, min_size=1, max_size=8)


def test_survival_is_the_share_of_the_evidence_that_is_kept() -> None:
    assert metrics.survived({1, 2, 3, 4}, {2, 4, 9}) == 0.5
    assert metrics.survived({1}, set()) == 0.0


def test_recall_counts_evidence_among_the_first_k() -> None:
    ranked = [7, 1, 8, 2, 9]
    assert metrics.recall_at(ranked, {1, 2, 3}, 2) == pytest.approx(1 / 3)
    assert metrics.recall_at(ranked, {1, 2, 3}, 5) == pytest.approx(2 / 3)


def test_precision_counts_what_was_returned_even_if_that_is_less_than_k() -> None:
    assert metrics.precision_at([7, 1], {1}, 10) == 0.5
    assert metrics.precision_at([], {1}, 10) == 0.0


def test_ndcg_by_hand() -> None:
    # gains at places 2 and 3 of a possible 1 and 2
    gain = 1 / math.log2(3) + 1 / math.log2(4)
    assert metrics.ndcg_at([5, 1, 2], {1, 2}, 10) == pytest.approx(gain / (1 + 1 / math.log2(3)))
    assert metrics.ndcg_at([1, 2], {1, 2}, 10) == 1.0
    assert metrics.ndcg_at([1], set(range(1, 30)), 1) == 1.0


def test_a_stale_unit_above_the_current_one_is_noticed() -> None:
    assert metrics.stale_first([9, 3, 1], {1}, {3}) == 1.0
    assert metrics.stale_first([9, 1, 3], {1}, {3}) == 0.0
    assert metrics.stale_first([9], {1}, {3}) is None


def test_age_balance_cancels_where_the_evidence_lies() -> None:
    """Nine questions about the first tenth and one about the last: each tenth counts once."""
    gold_sets = [{0}] * 9 + [{99}]
    tally = Tally.of([metrics.by_decile(gold_sets, {99}, 100)], np.ones(metrics.DECILES))
    assert tally.value == 0.5
    half = Tally.of([metrics.by_decile([{0, 99}], {0}, 100)], np.ones(metrics.DECILES))
    assert half.value == 0.5


def test_the_lag_curve_by_hand() -> None:
    """Of 12 units, each stored for 6 insertions: all are there after 5, none after 10."""
    told = np.arange(12)
    count = metrics.by_lag(told, told + 6, 12)
    assert count.counts.tolist() == [7, 2, 0, 0, 0, 0, 0]
    assert count.sums.tolist() == [7, 0, 0, 0, 0, 0, 0]
    tally = Tally.of([count], metrics.LAG_WEIGHTS)
    assert tally.value == pytest.approx((1 / 5) / (1 / 5 + 1 / 10))


def test_a_unit_that_leaves_by_the_insertion_at_the_lag_is_not_stored_then() -> None:
    assert metrics.by_lag(np.array([0]), np.array([5]), 6).sums[0] == 0
    assert metrics.by_lag(np.array([0]), np.array([6]), 6).sums[0] == 1


def test_questions_weigh_alike_whichever_conversation_they_belong_to() -> None:
    tally = Tally.of([Count.of([1.0]), Count.of([0.0, 0.0, 0.0])])
    assert tally.value == 0.25


def test_intervals_come_from_drawing_conversations() -> None:
    """Two conversations, one all right and one all wrong: a draw is 0, 0.5 or 1."""
    tally = Tally.of([Count.of([1.0] * 50), Count.of([0.0] * 50)])
    found = metrics.interval(tally)
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)
    drawn = tally.over(metrics.draws(2))
    assert set(drawn.tolist()) == {0.0, 0.5, 1.0}
    assert np.mean(drawn == 0.5) == pytest.approx(0.5, abs=0.05)


def test_a_paired_difference_is_narrow_where_both_find_the_same_hard() -> None:
    one = Tally.of([Count.of([share]) for share in (0.1, 0.5, 0.9)])
    other = Tally.of([Count.of([share - 0.1]) for share in (0.1, 0.5, 0.9)])
    found = metrics.difference(one, other)
    assert (found.low, found.value, found.high) == pytest.approx((0.1, 0.1, 0.1))
    assert metrics.interval(one).high - metrics.interval(one).low > 0.5


def test_the_oracle_is_one_and_chance_is_nought() -> None:
    chance, policy, oracle = (Tally.of([Count.of([v, v])]) for v in (0.2, 0.5, 0.8))
    assert metrics.normalised(policy, chance, oracle).value == pytest.approx(0.5)
    assert metrics.normalised(oracle, chance, oracle).value == 1.0
    assert metrics.normalised(chance, chance, oracle).value == 0.0
    assert math.isnan(metrics.normalised(policy, oracle, oracle).value)


def test_a_measure_that_a_conversation_lacks_counts_nothing_for_it() -> None:
    tallies = metrics.tallied(
        [{"a": Count.of([1.0]), "b": Count.of([0.5])}, {"a": Count.of([0.0])}]
    )
    assert (tallies["a"].value, tallies["b"].value) == (0.5, 0.5)
    assert tallies["b"].counts.tolist() == [[1.0], [0.0]]


def test_seeds_are_averaged_within_a_conversation() -> None:
    runs = [Tally.of([Count.of([value])]) for value in (0.0, 1.0)]
    assert Tally.mean(runs).value == 0.5


@given(rankings, golds, st.integers(1, 30))
def test_every_measure_of_a_ranking_lies_in_the_unit(
    ranked: list[int], gold: set[int], k: int
) -> None:
    for measure in (metrics.recall_at, metrics.precision_at, metrics.ndcg_at):
        assert 0.0 <= measure(ranked, gold, k) <= 1.0 + 1e-12


@given(rankings, golds, st.integers(1, 29))
def test_looking_further_finds_no_less(ranked: list[int], gold: set[int], k: int) -> None:
    assert metrics.recall_at(ranked, gold, k) <= metrics.recall_at(ranked, gold, k + 1)


@given(golds, st.sets(rows), st.sets(rows))
def test_keeping_more_keeps_no_less_evidence(
    gold: set[int], kept: set[int], more: set[int]
) -> None:
    assert metrics.survived(gold, kept) <= metrics.survived(gold, kept | more)


@given(st.lists(golds, min_size=1, max_size=9))
def test_what_keeps_everything_is_one_by_every_measure(gold_sets: list[set[int]]) -> None:
    everything = set(range(31))
    assert all(metrics.survived(gold, everything) == 1 for gold in gold_sets)
    decile = metrics.by_decile(gold_sets, everything, 31)
    assert Tally.of([decile], np.ones(metrics.DECILES)).value == pytest.approx(1.0)


@given(st.integers(1, 500), st.integers(1, 500))
def test_staying_longer_never_lowers_the_lag_curve(units: int, stay: int) -> None:
    told = np.arange(units)
    shorter = metrics.by_lag(told, told + stay, units)
    longer = metrics.by_lag(told, told + stay + 1, units)
    assert (shorter.sums <= longer.sums).all()
    assert (shorter.counts == longer.counts).all()
    assert len(shorter.sums) == len(LAGS)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=1, max_size=6))
def test_an_interval_holds_what_can_be_drawn(values: list[list[float]]) -> None:
    tally = Tally.of([Count.of(each) for each in values])
    found = metrics.interval(tally)
    means = [sum(each) / len(each) for each in values]
    assert min(means) - 1e-9 <= found.low <= found.high <= max(means) + 1e-9
