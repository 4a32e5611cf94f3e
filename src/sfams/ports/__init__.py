"""What SF-AMS needs from the world, in its own words.

Everything outside `stores/` and `providers/` knows only these protocols. A scope is the first
argument of every store method, and the store, not the caller, filters by it.
"""

from sfams.core.lifecycle import Transition
from sfams.core.record import EntityCount, PastVersion
from sfams.core.reindex import Adoption, EmbeddingModel, Staged, Staging
from sfams.core.traces import UsageDelta
from sfams.ports.providers import Clock, Embedder, IdSource, Listener, Summarizer
from sfams.ports.store import Reader, Store, Transaction
from sfams.ports.values import (
    META_DIMENSION,
    META_MODEL,
    META_TOKENIZER,
    Entry,
    Problem,
    ScopeStats,
)

__all__ = [
    "META_DIMENSION",
    "META_MODEL",
    "META_TOKENIZER",
    "Adoption",
    "Clock",
    "Embedder",
    "EmbeddingModel",
    "EntityCount",
    "Entry",
    "IdSource",
    "Listener",
    "PastVersion",
    "Problem",
    "Reader",
    "ScopeStats",
    "Staged",
    "Staging",
    "Store",
    "Summarizer",
    "Transaction",
    "Transition",
    "UsageDelta",
]
