"""Columns: what a policy may look at, one numpy array a field and no text.

Moments are int64 microseconds since 1970 (`MISSING` where there is none, `NEVER` for no expiry), so a
million records are a few dozen megabytes and a plan cannot leak content.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfams.core.moments import MISSING, NEVER, to_micros
from sfams.core.record import MemoryRecord, RecordId, Sensitivity, Tier

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The live records of one scope, in id order. Row i of every array is record `ids[i]`.

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

    def __len__(self) -> int:
        """Count the records."""
        return len(self.ids)

    def take(self, rows: NDArray[np.intp]) -> Columns:
        """Keep only the named rows, in the given order."""
        arrays: dict[str, Any] = {name: getattr(self, name)[rows] for name in ARRAY_FIELDS}
        return Columns(
            ids=tuple(self.ids[row] for row in rows), kind_names=self.kind_names, **arrays
        )


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
    """Pack records into columns, in the order given; all are taken as live, held ones as held."""
    rows = list(records)
    kinds = tuple(sorted({record.kind for record in rows}))
    cells = [{**_cells(record, now), "kinds": kinds.index(record.kind)} for record in rows]
    arrays: dict[str, Any] = {
        name: np.array([row[name] for row in cells], element)
        for name, element in ARRAY_FIELDS.items()
    }
    return Columns(ids=tuple(record.id for record in rows), kind_names=kinds, **arrays)


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
