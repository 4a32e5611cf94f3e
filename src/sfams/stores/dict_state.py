"""What the dict store holds: rows, scopes, everything."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import date, datetime

import numpy as np

from sfams.core.events import MemoryEvent
from sfams.core.keywords import Terms
from sfams.core.plan import ForgettingPlan
from sfams.core.receipts import ChainLink
from sfams.core.record import MemoryRecord, PlanId, RecordId, Status, Tier
from sfams.core.scope import Scope
from sfams.core.traces import Trace
from sfams.core.view import Vector
from sfams.errors import ConflictError
from sfams.ports import EmbeddingModel, PastVersion
from sfams.stores.dict_ghosts import Haunt

_TOMBSTONE_KEY = b"sfams.stores.memory"  # nothing is kept on disk: a fixed key hides enough


@dataclass(frozen=True, slots=True)
class Row:
    """A record with its keywords and vector, and the `change_seq` that last touched it.

    `model` names what made the vector; `staged` holds vectors laid aside for a reindex. `trace` is
    what its accesses left, `learned` the scope's turn at which it came.
    """

    record: MemoryRecord
    terms: Terms
    vector: Vector | None
    seq: int
    model: str = ""
    staged: Mapping[EmbeddingModel, Vector | None] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)
    learned: int = 0

    @property
    def live(self) -> bool:
        """Tell whether the record is live."""
        return self.record.status is Status.LIVE

    def is_of(self, model: EmbeddingModel) -> bool:
        """Tell whether there is a vector, made by this model."""
        return self.vector is not None and (self.model, len(self.vector)) == (
            model.name,
            model.dimension,
        )

    def stands(self, tier: Tier) -> bool:
        """Tell whether the record is live in this tier."""
        return self.live and self.record.tier is tier


@dataclass(slots=True)
class ScopeState:
    """Everything of one scope."""

    seq: int = 0
    rows: dict[RecordId, Row] = field(default_factory=dict)
    past: dict[RecordId, tuple[PastVersion, ...]] = field(default_factory=dict)
    gone: dict[RecordId, int] = field(default_factory=dict)
    tombstones: dict[bytes, tuple[RecordId, ...]] = field(default_factory=dict)
    erasures: list[ChainLink] = field(default_factory=list)
    events: list[MemoryEvent] = field(default_factory=list)
    plans: dict[PlanId, ForgettingPlan] = field(default_factory=dict)
    turns: dict[str, int] = field(default_factory=dict)
    ended: dict[str, datetime] = field(default_factory=dict)
    days: set[date] = field(default_factory=set)
    settings: dict[str, str] = field(default_factory=dict)
    logged: int = 0
    haunts: list[Haunt] = field(default_factory=list)

    def copy(self) -> ScopeState:
        """Copy the containers; what lies in them is immutable."""
        return ScopeState(
            self.seq,
            dict(self.rows),
            dict(self.past),
            dict(self.gone),
            dict(self.tombstones),
            list(self.erasures),
            list(self.events),
            dict(self.plans),
            dict(self.turns),
            dict(self.ended),
            set(self.days),
            dict(self.settings),
            self.logged,
            list(self.haunts),
        )


@dataclass(frozen=True, slots=True)
class State:
    """Everything."""

    scopes: dict[Scope, ScopeState]
    meta: dict[str, str]


def tombstone(name: str) -> bytes:
    """Make what is left of an erased text: an HMAC of its name."""
    return hmac.digest(_TOMBSTONE_KEY, name.encode(), "sha256")


def detached(record: MemoryRecord) -> MemoryRecord:
    """Part a record from the caller's metadata, the one thing in it that can be changed."""
    return replace(record, metadata=deepcopy(dict(record.metadata))) if record.metadata else record


def own_vector(vector: Vector | None) -> Vector | None:
    """Part a vector from the caller's array; whoever reads it later cannot change it."""
    if vector is None:
        return None
    copied = np.array(vector, np.float32)
    copied.flags.writeable = False
    return copied


def check_unique(own: ScopeState) -> None:
    """Refuse a second live record of one content hash, and a second record of one key."""
    hashes: dict[str, RecordId] = {}
    keys: dict[str, RecordId] = {}
    for record_id, row in own.rows.items():
        record = row.record
        if row.live and hashes.setdefault(record.content_hash, record_id) != record_id:
            first = hashes[record.content_hash]
            raise ConflictError(f"content: live record {first} says the same", id=first)
        if record.key is not None and keys.setdefault(record.key, record_id) != record_id:
            first = keys[record.key]
            raise ConflictError(f"key: record {first} has it already", id=first, field="key")
