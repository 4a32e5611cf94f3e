"""Columns: what a policy may look at, one numpy array a field and no text.

Moments are int64 microseconds since 1970 (`MISSING` where there is none, `NEVER` for no expiry), so a
million records are a few dozen megabytes and a plan cannot leak content.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfams.core.moments import MISSING, NEVER, to_micros
from sfams.core.record import MemoryRecord, RecordId, Sensitivity, Tier
from sfams.core.traces import Accesses, EntityTypes, TurnUses, trace_of
from sfams.errors import InvalidInputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_DAY = 86_400_000_000  # microseconds


class Need(StrEnum):
    """What a retention model reads of records besides the plain columns; reading it takes longer."""

    ACCESSES = "accesses"
    TURNS = "turns"
    ENTITIES = "entities"


Needs = AbstractSet[Need]
"""What a model needs; most need nothing more."""


def _no_days() -> Ints:
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The live records of one scope, in id order. Row i of every array is record `ids[i]`.

    Of the scope itself: `active_days`, the UTC days since 1970 on which something was said, ascending,
    and `turns`, how many turns its sessions have logged. `accesses`, `turn_uses` and `entity_types` are
    there only where they were asked for (`Need`).

    `kinds` holds codes into `kind_names`. `similarity` is the twin's cosine, 0 without one, `bytes`
    the length of the text in UTF-8, `cold_since` MISSING for what is hot. `held` knows the moment at
    which the columns were read: a hold that has lapsed is none.
    """

    ids: tuple[RecordId, ...]
    versions: Ints
    kinds: NDArray[np.int32]
    kind_names: tuple[str, ...]
    importance: Floats
    salience: Floats
    created_at: Ints
    last_accessed_at: Ints
    access_count: Ints
    used_count: Ints
    expires_at: Ints
    grace_until: Ints
    tokens: Ints
    bytes: Ints
    similarity: Floats
    pinned: Bools
    held: Bools
    cold: Bools
    cold_since: Ints
    sensitive: Bools
    active_days: Ints = field(default_factory=_no_days)
    turns: int = 0
    accesses: Accesses | None = None
    turn_uses: TurnUses | None = None
    entity_types: EntityTypes | None = None

    def __len__(self) -> int:
        """Count the records."""
        return len(self.ids)

    def spaced(self) -> Accesses:
        """Give the records' spaced accesses.

        Raises:
            InvalidInputError: They were not read; so with the next two.
        """
        if self.accesses is None:
            raise _not_read(Need.ACCESSES)
        return self.accesses

    def by_turn(self) -> TurnUses:
        """Give the records' use by logged turn."""
        if self.turn_uses is None:
            raise _not_read(Need.TURNS)
        return self.turn_uses

    def named(self) -> EntityTypes:
        """Give the types of entities that the records name."""
        if self.entity_types is None:
            raise _not_read(Need.ENTITIES)
        return self.entity_types

    def active_since(self, moments: Ints, now: datetime) -> Ints:
        """Count the active days after the day of each moment, up to that of `now`.

        A clock that stands still while nobody says anything: silent weeks count for nothing.
        """
        present = to_micros(now)
        days = np.clip(moments, -_LONGEST, present) // _DAY
        passed = np.searchsorted(self.active_days, days, side="right")
        today = int(np.searchsorted(self.active_days, present // _DAY, side="right"))
        elapsed: Ints = np.maximum(today - passed, 0).astype(np.int64)
        return elapsed

    def take(self, rows: NDArray[np.intp]) -> Columns:
        """Keep only the named rows, in the given order."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in ARRAY_FIELDS}
        for name in _ON_DEMAND:
            packed = getattr(self, name)
            arrays[name] = None if packed is None else packed.take(rows)
        return Columns(
            ids=tuple(self.ids[row] for row in rows),
            kind_names=self.kind_names,
            active_days=self.active_days,
            turns=self.turns,
            **arrays,
        )


_LONGEST = 2**62
_ON_DEMAND = ("accesses", "turn_uses", "entity_types")


def _not_read(need: Need) -> InvalidInputError:
    message = f"columns: read without {need.value}; name it when they are read (`model.needs`)"
    return InvalidInputError(message, field="columns")


ARRAY_FIELDS: dict[str, type] = {
    "versions": np.int64,
    "kinds": np.int32,
    "importance": np.float64,
    "salience": np.float64,
    "created_at": np.int64,
    "last_accessed_at": np.int64,
    "access_count": np.int64,
    "used_count": np.int64,
    "expires_at": np.int64,
    "grace_until": np.int64,
    "tokens": np.int64,
    "bytes": np.int64,
    "similarity": np.float64,
    "pinned": np.bool_,
    "held": np.bool_,
    "cold": np.bool_,
    "cold_since": np.int64,
    "sensitive": np.bool_,
}
"""Array fields of `Columns` and their element types, in order."""


def columns_of(records: Iterable[MemoryRecord], now: datetime | None = None) -> Columns:
    """Pack records into columns, in the order given; all are taken as live, held ones as held.

    What only a store knows is taken from what a record tells: active are the days on which one was
    said, no turn was logged, and of its accesses the last one is known.
    """
    rows = list(records)
    kinds = tuple(sorted({record.kind for record in rows}))
    cells = [{**_cells(record, now), "kinds": kinds.index(record.kind)} for record in rows]
    arrays: dict[str, Any] = {
        name: np.array([row[name] for row in cells], element)
        for name, element in ARRAY_FIELDS.items()
    }
    traces = [trace_of(record.usage, to_micros(record.created_at), 0) for record in rows]
    return Columns(
        ids=tuple(record.id for record in rows),
        kind_names=kinds,
        active_days=np.unique(arrays["created_at"] // _DAY),
        accesses=Accesses.of(traces),
        turn_uses=TurnUses.of(traces, [0] * len(rows)),
        entity_types=EntityTypes.of([types_of(record) for record in rows]),
        **arrays,
    )


def types_of(record: MemoryRecord) -> frozenset[str]:
    """Name the types of entities that a record names."""
    return frozenset(entity.type for entity in record.entities if entity.type)


def _cells(record: MemoryRecord, now: datetime | None) -> dict[str, int | float | bool]:
    last, expiry, grace = record.usage.last_accessed_at, record.expires_at, record.grace_until
    # Without a moment of its own a cold record has been cold since it last changed, not for ever.
    cold_since = record.cold_since or record.updated_at
    return {
        "versions": record.version,
        "importance": record.importance,
        "salience": record.salience,
        "created_at": to_micros(record.created_at),
        "last_accessed_at": MISSING if last is None else to_micros(last),
        "access_count": record.usage.access_count,
        "used_count": record.usage.used_count,
        "expires_at": NEVER if expiry is None else to_micros(expiry),
        "grace_until": MISSING if grace is None else to_micros(grace),
        "tokens": record.tokens,
        "bytes": len(record.content.encode()),
        "similarity": 0.0 if record.twin is None else record.twin.similarity,
        "pinned": record.pinned,
        "held": record.held if now is None else record.held_at(now),
        "cold": record.tier is Tier.COLD,
        "cold_since": to_micros(cold_since) if record.tier is Tier.COLD else MISSING,
        "sensitive": record.sensitivity is not Sensitivity.NORMAL,
    }
