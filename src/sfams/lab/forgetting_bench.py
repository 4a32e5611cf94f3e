"""The forgetting bench: which evidence is still there, and found, after a policy kept to a budget.

Every conversation is streamed for every policy, budget and seed (`streaming`), the canary searches
the policy, and only then are the gold questions asked (`asking`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from typing import NamedTuple

import numpy as np

from sfams.core.columns import Floats
from sfams.core.policy import Budget
from sfams.errors import InvalidInputError
from sfams.lab import metrics
from sfams.lab.asking import HOT, KEYWORDS, WAYS, WITH_COLD, Asker, sizes_in
from sfams.lab.canary import assert_blind
from sfams.lab.datasets.values import NOISES, Conversation, Dataset
from sfams.lab.metrics import Count, Tally, tallied
from sfams.lab.policies import POLICIES
from sfams.lab.policies.oracles import Room, all_evidence, fractional
from sfams.lab.streaming import Kept, Told, replay, tell
from sfams.ports import Embedder

SHARES = (0.1, 0.25, 0.5)
KINDS = ("tokens", "records")
SEEDS = (0, 1, 2, 3, 4)
FRACTIONAL, ALL_EVIDENCE = "oracle, fractional", "oracle, all evidence"
ORACLES = {FRACTIONAL: fractional, ALL_EVIDENCE: all_evidence}
CONTROL_SHUFFLES = 20
_CONTROL_SEED = 4

_SUFFIXES = {HOT: "", WITH_COLD: ", with cold", KEYWORDS: ", keywords"}

WEIGHTS: Mapping[str, Floats] = {
    "age_balanced": np.ones(metrics.DECILES),
    "need_weighted": metrics.LAG_WEIGHTS,
}
"""Weights of the bins of measures that have several."""

Progress = Callable[[int], object]
"""Called with the number of steps done since the last call (see `Plan.steps`)."""


class Setting(NamedTuple):
    """One row of a table: which policy under which budget."""

    policy: str
    kind: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be measured. Oracles come with it wherever a budget is."""

    policies: Sequence[str] = tuple(POLICIES)
    kinds: Sequence[str] = KINDS
    shares: Sequence[float] = SHARES
    seeds: Sequence[int] = SEEDS

    def __post_init__(self) -> None:
        """Refuse what cannot be measured."""
        for name in self.policies:
            if name not in POLICIES:
                message = f"policy: {name[:40]!r} is unknown; there is {', '.join(POLICIES)}"
                raise InvalidInputError(message, field="policy")
        for kind in self.kinds:
            if kind not in KINDS:
                message = f"budget: {kind[:40]!r} is not {' or '.join(KINDS)}"
                raise InvalidInputError(message, field="budget")
        for share in self.shares:
            if not 0.0 < share <= 1.0:
                message = f"budget: must be a share above 0 and up to 1, got {share}"
                raise InvalidInputError(message, field="budget")
        if not (self.policies and self.kinds and self.shares and self.seeds):
            message = "there is nothing to measure: no policy, no budget or no seed"
            raise InvalidInputError(message, field="policy")

    def runs(self) -> list[tuple[Setting, tuple[int, ...]]]:
        """List the settings with the seeds of each; what has no budget is run once."""
        listed: dict[Setting, tuple[int, ...]] = {}
        for name in self.policies:
            policy = POLICIES[name]
            seeds = tuple(self.seeds) if policy.seeded else (self.seeds[0],)
            for kind in self.kinds:
                for share in self.shares:
                    bounded = Setting(name, kind, share)
                    listed[bounded if policy.bounded else Setting(name, "", 1.0)] = seeds
        return list(listed.items())

    def steps(self, dataset: Dataset) -> int:
        """Count the steps, for a progress bar: each replay, then each examination."""
        oracles = len(ORACLES) * len(self.kinds) * len(self.shares)
        each = 2 * sum(len(seeds) for _, seeds in self.runs()) + oracles
        return each * len(dataset.conversations)


@dataclass(frozen=True, slots=True)
class ForgettingResult:
    """Measures by setting and name, and what is not the same in every run: times in microseconds."""

    tallies: Mapping[Setting, Mapping[str, Tally]]
    microseconds: Mapping[Setting, Sequence[float]]
    bytes_per_record: float


def run_forgetting(
    dataset: Dataset, embedder: Embedder, plan: Plan, progress: Progress | None = None
) -> ForgettingResult:
    """Measure policies on a data set.

    Raises:
        LeakError: A policy holds the text of a question.
    """
    taken: defaultdict[Setting, list[float]] = defaultdict(list)
    by_conversation: defaultdict[tuple[Setting, int], list[Mapping[str, Count]]] = defaultdict(list)
    sizes = []
    for conversation in dataset:
        told = tell(conversation.units, embedder)
        frozen = []
        for run in _replays(told, conversation, plan):
            frozen.append(run)
            if progress is not None:
                progress(1)
        exam = _Exam(conversation, told)
        sizes.append(exam.asker.bytes_per_record())
        for setting, seed, kept in (*frozen, *exam.oracles(plan)):
            ways = _ways(setting, first=seed == plan.seeds[0])
            by_conversation[setting, seed].append(exam.measure(kept, ways))
            taken[setting].extend((kept.seconds * 1e6).tolist())
            if progress is not None:
                progress(1)
    tallies: dict[Setting, dict[str, Tally]] = {}
    grouped: defaultdict[Setting, list[dict[str, Tally]]] = defaultdict(list)
    for (setting, _), counts in by_conversation.items():
        grouped[setting].append(tallied(counts, WEIGHTS))
    for setting, runs in grouped.items():
        tallies[setting] = {
            name: Tally.mean([run[name] for run in runs if name in run]) for name in runs[0]
        }
    return ForgettingResult(tallies, taken, float(np.mean(sizes)))


def _ways(setting: Setting, *, first: bool) -> Sequence[str]:
    """Choose how to ask. Cold records are slow to rank: in tokens, and once per setting."""
    if setting.kind == "records":
        return (HOT,)
    return WAYS if first else (HOT, KEYWORDS)


Run = tuple[Setting, int, Kept]


def _replays(told: Told, conversation: Conversation, plan: Plan) -> Iterator[Run]:
    """Replay every setting and seed; the questions are there for the canary alone."""
    for setting, seeds in plan.runs():
        budget = told.budget(setting.kind, setting.share) if setting.kind else Budget()
        for seed in seeds:
            policy = POLICIES[setting.policy].build(_salted(seed, conversation.id))
            kept = replay(told, policy, budget)
            texts = (question.text for question in conversation.questions)
            assert_blind(policy, texts, (unit.text for unit in told.units))
            yield setting, seed, kept


class _Exam:
    """One conversation after the freeze: its questions, its labels, and what was kept for them."""

    def __init__(self, conversation: Conversation, told: Told) -> None:
        self._conversation = conversation
        self._told = told
        self.asker = Asker(told, conversation.scored)
        self._labels = self._labelled()
        self._worth = self._by_worth()
        self._deals = self._dealt()

    def oracles(self, plan: Plan) -> Iterator[Run]:
        """Choose with the questions known: the bounds of every budget."""
        told = self._told
        evidence = [sorted(each.gold) for each in self.asker.questions]
        for kind, share in product(plan.kinds, plan.shares):
            budget = told.budget(kind, share)
            most = budget.records if budget.tokens is None else budget.tokens
            for name, choose in ORACLES.items():
                chosen = choose(evidence, Room(sizes_in(told, kind), most or 0))
                hot = np.isin(np.arange(len(told.columns)), list(chosen))
                lost = np.where(hot, len(told.units), 0)
                yield Setting(name, kind, share), plan.seeds[0], Kept(lost, len(told.units))

    # ── Measuring ────────────────────────────────────────────────────────────────────────────

    def measure(self, kept: Kept, ways: Sequence[str] = WAYS) -> dict[str, Count]:
        """Take every measure of what a policy left."""
        rows = kept.rows
        self.asker.freeze(rows)
        return {
            **self._survival(rows),
            **self._lag(kept),
            **self._sizes(rows),
            **self._standing(rows),
            **self._found(ways),
        }

    def _survival(self, rows: set[int]) -> dict[str, Count]:
        questions = self.asker.questions
        shares = [metrics.survived(each.gold, rows) for each in questions]
        measures = {
            "survival": Count.of(shares),
            "survival_any": Count.of([float(share > 0) for share in shares]),
            "survival_all": Count.of([float(share == 1) for share in shares]),
            "age_balanced": self._by_age(rows),
            "control": Count.of([metrics.survived(gold, rows) for gold in self._deals]),
        }
        for category in dict.fromkeys(each.category for each in questions):
            chosen = zip(questions, shares, strict=True)
            values = [share for each, share in chosen if each.category == category]
            measures[f"survival: {category}"] = Count.of(values)
        for role, gold_sets in self._by_role().items():
            values = [metrics.survived(gold, rows) for gold in gold_sets]
            measures[f"survival: {role} said it"] = Count.of(values)
        return measures

    def _by_age(self, rows: set[int]) -> Count:
        first = self._told.first
        gold_sets = [[int(first[row]) for row in each.gold] for each in self.asker.questions]
        kept = {int(first[row]) for row in rows}
        return metrics.by_decile(gold_sets, kept, len(self._told.units))

    def _by_role(self) -> Mapping[str, list[frozenset[int]]]:
        roles = [self._told.units[place].role for place in self._told.first]
        if len(set(roles)) == 1:
            return {}
        return {
            role: [part for each in self.asker.questions if (part := _of(each.gold, roles, role))]
            for role in sorted(set(roles))
        }

    def _dealt(self) -> list[frozenset[int]]:
        """Deal the evidence out at random, often enough for chance to even out."""
        chance = np.random.default_rng(_CONTROL_SEED)
        deals = []
        for _ in range(CONTROL_SHUFFLES):
            other = chance.permutation(len(self._told.columns)).tolist()
            deals += [frozenset(other[row] for row in each.gold) for each in self.asker.questions]
        return deals

    def _lag(self, kept: Kept) -> dict[str, Count]:
        told = np.arange(len(self._told.units))
        return {"need_weighted": metrics.by_lag(told, kept.lost[self._told.row_of], kept.units)}

    def _sizes(self, rows: set[int]) -> dict[str, Count]:
        tokens = self._told.columns.tokens
        kept = float(tokens[sorted(rows)].sum())
        return {
            "kept_records": Count(np.array([float(len(rows))]), np.array([float(len(tokens))])),
            "kept_tokens": Count(np.array([kept]), np.array([float(tokens.sum())])),
        }

    def _labelled(self) -> dict[str, frozenset[int]]:
        labels = self._conversation.labels
        return {
            noise: self.asker.rows([each for each, label in labels.items() if label.noise == noise])
            for noise in NOISES
        }

    def _by_worth(self) -> dict[int, list[int]]:
        """Group records by what people say they are worth, where they say so."""
        labels = self._conversation.labels
        worths = sorted({each.worth for each in labels.values() if each.worth is not None})
        return {
            worth: sorted(
                self.asker.rows([each for each, label in labels.items() if label.worth == worth])
            )
            for worth in worths
        }

    def _standing(self, rows: set[int]) -> dict[str, Count]:
        """Count noise that is gone, and what an update made stale beside what is current."""
        gone = {
            noise: Count.of([float(row not in rows) for row in sorted(noisy)])
            for noise, noisy in self._labels.items()
            if noisy
        }
        measures = {f"removed: {noise}": count for noise, count in gone.items()}
        for worth, worthy in self._worth.items():
            measures[f"kept: worth {worth}"] = Count.of([float(row in rows) for row in worthy])
        every = [
            float(row not in rows) for row in sorted(frozenset().union(*self._labels.values()))
        ]
        if every:
            measures["noise_removed"] = Count.of(every)
        updates = [each for each in self.asker.questions if each.stale]
        if updates:
            measures["current"] = Count.of([metrics.survived(e.gold, rows) for e in updates])
            measures["stale"] = Count.of([metrics.survived(e.stale, rows) for e in updates])
        return measures

    def _found(self, ways: Sequence[str]) -> dict[str, Count]:
        ranked = self.asker.ask(ways)
        questions = self.asker.questions
        golds = [each.gold for each in questions]
        measures = {}
        for way, name in ((way, _SUFFIXES[way]) for way in ways):
            for k in (5, 10, 20):
                values = [
                    metrics.recall_at(found, gold, k)
                    for found, gold in zip(ranked[way], golds, strict=True)
                ]
                measures[f"recall@{k}{name}"] = Count.of(values)
            measures[f"ndcg@10{name}"] = Count.of(
                [metrics.ndcg_at(f, gold, 10) for f, gold in zip(ranked[way], golds, strict=True)]
            )
            orders = [
                metrics.stale_first(found, each.gold, each.stale)
                for found, each in zip(ranked[way], questions, strict=True)
                if each.stale
            ]
            if orders:
                decided = [each for each in orders if each is not None]
                measures[f"stale_first{name}"] = Count.of(decided)
        return measures


def _salted(seed: int, conversation: str) -> int:
    """Give each conversation a chance of its own."""
    return int.from_bytes(blake2b(f"{seed}/{conversation}".encode(), digest_size=8).digest())


def _of(gold: frozenset[int], roles: Sequence[str], role: str) -> frozenset[int]:
    return frozenset(row for row in gold if roles[row] == role)
