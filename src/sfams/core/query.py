"""What is asked of a memory and what comes back: Filter, Query, Hit, RecallResult."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import overload

from sfams.core.ghosts import Missed
from sfams.core.record import JsonValue, MemoryRecord, RecordId, Status, Tier
from sfams.core.scope import Scope


class Mode(StrEnum):
    """Which signals find candidates."""

    HYBRID = "hybrid"
    VECTOR = "vector"
    KEYWORD = "keyword"


class Order(StrEnum):
    """How a listing is sorted; ties are broken by id, so pages never overlap."""

    CREATED = "created_at"
    ACCESSED = "last_accessed_at"
    IMPORTANCE = "importance"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Mean and standard deviation of the cosine of unrelated texts under one embedding model.

    Fixed per model, so that a dense score means the same for every query and every scope size.
    """

    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories of one scope are meant. Empty fields do not restrict.

    Kinds match exactly or by their base (`fact` also means `fact:deadline`). Time ranges include
    their lower end and exclude their upper end. Entities and tags: a record must carry all of them.
    Metadata: the named values must be equal, type included.
    """

    statuses: tuple[Status, ...] = (Status.LIVE,)
    tiers: tuple[Tier, ...] = ()
    kinds: tuple[str, ...] = ()
    importance_min: float | None = None
    importance_max: float | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    who: str | None = None
    session: str | None = None
    text: str | None = None
    expired: bool = False

    @property
    def restricts(self) -> bool:
        """Tell whether anything besides status, tier and expiry narrows the selection."""
        return bool(
            self.kinds
            or self.entities
            or self.tags
            or self.metadata
            or self.who is not None
            or self.session is not None
            or self.text is not None
            or self.importance_min is not None
            or self.importance_max is not None
            or self.created_from is not None
            or self.created_to is not None
        )


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a listing goes on: the sort value and id of the last record of the page before."""

    value: float
    id: RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a listing."""

    limit: int = 50
    order: Order = Order.CREATED
    descending: bool = True
    after: Cursor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to one scope."""

    text: str
    k: int = 10
    mode: Mode = Mode.HYBRID
    selection: Filter = Filter()
    min_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers a query: score in 0..1 and the parts it is the weighted sum of."""

    record: MemoryRecord
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RecallResult(Sequence[Hit]):
    """Hits, best first, with what the caller should know about how they were found."""

    hits: tuple[Hit, ...]
    mode: Mode
    warnings: tuple[str, ...] = ()
    missed: tuple[Missed, ...] = ()
    """What was forgotten, seems to be asked for and can be restored: best match first, at most three."""
    regretted: tuple[tuple[Scope, RecordId], ...] = ()
    """What was forgotten or demoted and asked for all the same: counted for its policy."""

    def __iter__(self) -> Iterator[Hit]:
        """Iterate over the hits, best first."""
        return iter(self.hits)

    def __len__(self) -> int:
        """Count the hits."""
        return len(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        """Take one hit, or several."""
        return self.hits[index]
