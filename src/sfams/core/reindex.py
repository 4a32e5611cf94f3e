"""What a reindex is made of: a model, vectors laid aside for it, and what a store remembers of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfams.core.record import MemoryRecord
from sfams.core.vectors import Vector


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model vectors are from: two of one name but another length are two models."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Staged:
    """A vector made ahead for a record as it was read; None says that its text has none."""

    record: MemoryRecord
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Staging:
    """How far a reindex has come: records of all scopes, and how many have been staged, by model."""

    records: int
    staged: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Adoption:
    """What records have after their staged vectors became current: counts over all scopes."""

    ready: int
    failed: int
    pending: int
