"""Measures of forgetting and finding: pure, over places of units; what is not defined is NaN.

A measure over a data set is a `Tally`: sums and counts by conversation, so that intervals come from
drawing whole conversations. Questions weigh alike, whichever conversation they belong to.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfams.core.columns import Floats, Ints

LAGS = (5, 10, 20, 50, 100, 200, 400)
"""Units between telling and asking at which the lag curve is read."""
DECILES = 10
DRAWS = 2000
_SEED = 20_261_201

# ── One question ─────────────────────────────────────────────────────────────────────────────────


def survived(gold: Collection[int], kept: Collection[int]) -> float:
    """Which share of the evidence is kept, 0..1."""
    return sum(each in kept for each in gold) / len(gold)


def recall_at(ranked: Sequence[int], gold: Collection[int], k: int) -> float:
    """Which share of the evidence stands among the first k."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def precision_at(ranked: Sequence[int], gold: Collection[int], k: int) -> float:
    """Which share of the first k (or of fewer, if fewer were returned) is evidence; 0 for none."""
    shown = ranked[:k]
    return sum(each in gold for each in shown) / len(shown) if shown else 0.0


def ndcg_at(ranked: Sequence[int], gold: Collection[int], k: int) -> float:
    """Discounted gain over that of a perfect order (Jarvelin and Kekalainen, 2002), gains 0 or 1."""
    gain = sum(1 / math.log2(at + 2) for at, each in enumerate(ranked[:k]) if each in gold)
    ideal = sum(1 / math.log2(at + 2) for at in range(min(len(gold), k)))
    return gain / ideal


def stale_first(
    ranked: Sequence[int], current: Collection[int], stale: Collection[int]
) -> float | None:
    """1 if a stale unit stands above every current one, 0 if not; None if neither was found."""
    for each in ranked:
        if each in current:
            return 0.0
        if each in stale:
            return 1.0
    return None


# ── One conversation ─────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Count:
    """Sums and counts of one conversation by bin; most measures have one bin."""

    sums: Floats
    counts: Floats

    @classmethod
    def of(cls, values: Sequence[float]) -> Count:
        """Count values that weigh alike, in one bin."""
        return cls(np.array([math.fsum(values)]), np.array([float(len(values))]))


def by_decile(gold_sets: Sequence[Collection[int]], kept: Collection[int], units: int) -> Count:
    """Sum up survival by the place of the evidence, in tenths of the conversation.

    A question with n units of evidence gives each a weight of 1/n.
    """
    sums, counts = np.zeros(DECILES), np.zeros(DECILES)
    for gold in gold_sets:
        for place in gold:
            decile = place * DECILES // units
            counts[decile] += 1 / len(gold)
            sums[decile] += (place in kept) / len(gold)
    return Count(sums, counts)


def by_lag(told: Ints, lost: Ints, units: int) -> Count:
    """Count the units that are still stored so many units after they were told.

    Args:
        told: The place at which each unit was told.
        lost: The place of the insertion by which it left; `units` or more if it never did.
        units: How many units there are; a lag that ends behind the last is not counted.
    """
    lags = np.array(LAGS)
    seen = told[:, None] + lags < units
    stored = seen & (lost[:, None] > told[:, None] + lags)
    return Count(stored.sum(0).astype(np.float64), seen.sum(0).astype(np.float64))


LAG_WEIGHTS: Floats = 1.0 / np.array(LAGS, np.float64)
"""Need falls as one over the lag (Anderson and Schooler, 1991)."""

# ── A data set ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Tally:
    """A measure over conversations: the weighted mean, over bins, of sums over counts.

    `sums` and `counts` have the shape (conversations, bins). Bins without a count are left out.
    """

    sums: Floats
    counts: Floats
    weights: Floats = field(default_factory=lambda: np.ones(1))

    @classmethod
    def of(cls, counts: Sequence[Count], weights: Floats | None = None) -> Tally:
        """Put the conversations together."""
        sums = np.stack([each.sums for each in counts])
        numbers = np.stack([each.counts for each in counts])
        return cls(sums, numbers, np.ones(sums.shape[1]) if weights is None else weights)

    @classmethod
    def mean(cls, tallies: Sequence[Tally]) -> Tally:
        """Average runs over the same conversations that differ in their seed."""
        sums = np.mean([each.sums for each in tallies], axis=0)
        counts = np.mean([each.counts for each in tallies], axis=0)
        return cls(sums, counts, tallies[0].weights)

    def bins(self) -> Floats:
        """Give the mean of each bin over all conversations."""
        with np.errstate(invalid="ignore"):
            result: Floats = self.sums.sum(0) / self.counts.sum(0)
        return result

    @property
    def value(self) -> float:
        """The measure over all conversations."""
        return float(self.over(np.ones((1, len(self.sums))))[0])

    def over(self, draws: Floats) -> Floats:
        """Measure draws of conversations, shape (draws, conversations), given as multiplicities."""
        sums, counts = draws @ self.sums, draws @ self.counts
        weights = self.weights * (counts > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(counts > 0, sums / counts, 0.0)
            result: Floats = (weights * means).sum(1) / weights.sum(1)
        return result


def tallied(
    counts: Sequence[Mapping[str, Count]], weights: Mapping[str, Floats] | None = None
) -> dict[str, Tally]:
    """Put conversations together, measure by measure; one that lacks a measure counts nothing."""
    made = {}
    for name in dict.fromkeys(name for each in counts for name in each):
        bins = next(len(each[name].sums) for each in counts if name in each)
        none = Count(np.zeros(bins), np.zeros(bins))
        made[name] = Tally.of([each.get(name, none) for each in counts], (weights or {}).get(name))
    return made


def draws(conversations: int, count: int = DRAWS) -> Floats:
    """Draw conversations with replacement; the same draws for the same number of conversations."""
    chance = np.random.default_rng(_SEED)
    shares = np.full(conversations, 1 / conversations)
    return chance.multinomial(conversations, shares, size=count).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float


def estimate(value: float, drawn: Floats) -> Estimate:
    """Give a value the percentile interval of its draws (Efron and Tibshirani, 1993).

    Draws in which the measure is not defined are left out.
    """
    defined = drawn[np.isfinite(drawn)]
    if not len(defined) or not math.isfinite(value):
        return Estimate(value, math.nan, math.nan)
    low, high = np.percentile(defined, [2.5, 97.5])
    return Estimate(value, float(low), float(high))


def interval(tally: Tally) -> Estimate:
    """Estimate a measure."""
    return estimate(tally.value, tally.over(draws(len(tally.sums))))


def difference(one: Tally, other: Tally) -> Estimate:
    """Estimate `one - other` on the same conversations: paired, so what both find hard cancels."""
    drawn = draws(len(one.sums))
    return estimate(one.value - other.value, one.over(drawn) - other.over(drawn))


def relative(one: Tally, other: Tally) -> Estimate:
    """Estimate `one / other` on the same conversations."""
    drawn = draws(len(one.sums))
    with np.errstate(invalid="ignore", divide="ignore"):
        return estimate(
            float(np.float64(one.value) / other.value), one.over(drawn) / other.over(drawn)
        )


def normalised(policy: Tally, chance: Tally, oracle: Tally) -> Estimate:
    """Place a policy between chance (0) and the oracle (1), on the same conversations."""
    drawn = draws(len(policy.sums))

    def place(measured: Floats, low: Floats, high: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = np.where(high > low, (measured - low) / (high - low), np.nan)
        return result

    every = np.ones((1, len(policy.sums)))
    value = place(policy.over(every), chance.over(every), oracle.over(every))[0]
    return estimate(float(value), place(policy.over(drawn), chance.over(drawn), oracle.over(drawn)))
