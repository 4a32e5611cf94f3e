"""Columns from records, so that a test of a policy can name records instead of arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sfams.core.columns import ARRAY_FIELDS, Columns
from sfams.core.moments import MISSING, NEVER, to_micros
from sfams.core.record import MemoryRecord, Tier


def columns_of(records: Iterable[MemoryRecord]) -> Columns:
    """Pack records into columns, in the order given; all are taken as live."""
    rows = list(records)
    kinds = tuple(sorted({record.kind for record in rows}))
    cells = [{**_cells(record), "kinds": kinds.index(record.kind)} for record in rows]
    arrays: dict[str, Any] = {
        name: np.array([row[name] for row in cells], element)
        for name, element in ARRAY_FIELDS.items()
    }
    return Columns(ids=tuple(record.id for record in rows), kind_names=kinds, **arrays)


def _cells(record: MemoryRecord) -> dict[str, int | float | bool]:
    last, expiry, grace = record.usage.last_accessed_at, record.expires_at, record.grace_until
    return {
        "versions": record.version,
        "importance": record.importance,
        "created_at": to_micros(record.created_at),
        "last_accessed_at": MISSING if last is None else to_micros(last),
        "access_count": record.usage.access_count,
        "used_count": record.usage.used_count,
        "expires_at": NEVER if expiry is None else to_micros(expiry),
        "grace_until": MISSING if grace is None else to_micros(grace),
        "tokens": record.tokens,
        "similarity": 0.0 if record.twin is None else record.twin.similarity,
        "pinned": record.pinned,
        "held": record.held,
        "cold": record.tier is Tier.COLD,
    }
