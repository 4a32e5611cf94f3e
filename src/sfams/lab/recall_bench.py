"""The recall bench: how much of the evidence is found in the whole memory, and how much else with it.

Four ways to search the same records: the cosine alone, BM25 alone, their reciprocal rank fusion
(Cormack, Clarke and Buettcher, SIGIR 2009), and the product's hybrid ranking with its defaults.
Nothing here is fitted to the data. Whatever will be must be fitted with the conversation that it is
measured on left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from sfams.core.query import Mode, Query
from sfams.core.ranking import Question
from sfams.lab.asking import Asker
from sfams.lab.datasets.values import Conversation, Dataset, GoldQuestion
from sfams.lab.metrics import Count, Tally, ndcg_at, precision_at, recall_at, tallied
from sfams.lab.streaming import tell
from sfams.ports import Embedder

HYBRID, DENSE, BM25, FUSION = "hybrid (product)", "dense", "BM25", "rank fusion"
_MODES = {HYBRID: Mode.HYBRID, DENSE: Mode.VECTOR, BM25: Mode.KEYWORD}
WAYS = (*_MODES, FUSION)
DEPTH = 100
"""Places that are ranked; rank fusion needs them."""
_RRF = 60

Progress = Callable[[int], object]
"""Called with the number of conversations done since the last call."""


def run_recall(
    dataset: Dataset, embedder: Embedder, progress: Progress | None = None
) -> dict[str, dict[str, Tally]]:
    """Measure every way of searching; returns measures by way and name."""
    counts: defaultdict[str, list[Mapping[str, Count]]] = defaultdict(list)
    for conversation in dataset:
        for way, measures in _measure(conversation, embedder).items():
            counts[way].append(measures)
        if progress is not None:
            progress(1)
    return {way: tallied(each) for way, each in counts.items()}


def _measure(conversation: Conversation, embedder: Embedder) -> dict[str, dict[str, Count]]:
    told = tell(conversation.units, embedder)
    asker = Asker(told, conversation.scored)
    found: dict[str, list[list[int]]] = {way: [] for way in WAYS}
    for question in conversation.scored:
        for way, mode in _MODES.items():
            found[way].append(asker.rank(_question(question, mode, asker, embedder)))
        found[FUSION].append(fused([found[DENSE][-1], found[BM25][-1]]))
    categories = [each.category for each in conversation.scored]
    golds = [asker.rows(each.evidence) for each in conversation.scored]
    return {way: _scored(ranked, golds, categories) for way, ranked in found.items()}


def _question(asked: GoldQuestion, mode: Mode, asker: Asker, embedder: Embedder) -> Question:
    query = Query(text=asked.text, k=DEPTH, mode=mode)
    vector = None if mode is Mode.KEYWORD else embedder.embed_query(asked.text)
    return Question.of(query, vector, asker.moment(asked))


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Fuse rankings by `sum 1 / (60 + place)`; ties by the lower row."""
    scores: defaultdict[int, float] = defaultdict(float)
    for ranked in rankings:
        for place, row in enumerate(ranked, 1):
            scores[row] += 1 / (_RRF + place)
    return sorted(scores, key=lambda row: (-scores[row], row))


def _scored(
    ranked: Sequence[Sequence[int]], golds: Sequence[frozenset[int]], categories: Sequence[str]
) -> dict[str, Count]:
    pairs = list(zip(ranked, golds, strict=True))
    measures = {
        f"recall@{k}": Count.of([recall_at(found, gold, k) for found, gold in pairs])
        for k in (5, 10, 20)
    }
    measures["ndcg@10"] = Count.of([ndcg_at(found, gold, 10) for found, gold in pairs])
    for k in (5, 10):
        values = [precision_at(found, gold, k) for found, gold in pairs]
        measures[f"precision@{k}"] = Count.of(values)
    for category in dict.fromkeys(categories):
        chosen = [pair for pair, each in zip(pairs, categories, strict=True) if each == category]
        values = [recall_at(found, gold, 10) for found, gold in chosen]
        measures[f"recall@10: {category}"] = Count.of(values)
    return measures
