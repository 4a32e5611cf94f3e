"""What tests look up in a store's file, and in the answers of a memory, besides its own verbs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw

from sfams.core.query import Hit


def rows_in(path: Path) -> tuple[int, int, int]:
    """Count records, vectors and keyword entries in the file itself."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    tables = ("record", "vector", "keyword")
    counts = [connection.execute(f"SELECT count(*) FROM {table}").get for table in tables]
    connection.close()
    return counts[0], counts[1], counts[2]


def ids_of(found: Iterable[Hit]) -> list[str]:
    """Name what was recalled, best first."""
    return [hit.record.id for hit in found]
