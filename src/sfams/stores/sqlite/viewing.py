"""Whole scopes at once: columns for a policy, changes for a view."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice, starmap
from operator import attrgetter
from typing import Any

import apsw
import numpy as np

from sfams.core.columns import Columns
from sfams.core.keywords import ColdPosting
from sfams.core.moments import MISSING, NEVER, to_micros
from sfams.core.record import RecordId
from sfams.core.view import ViewChanges, ViewRow
from sfams.errors import StoreError
from sfams.stores.rows import decode_terms, decode_vector, to_json, unreadable
from sfams.stores.sqlite.statements import QUERIES

_CHUNK = 1000
YEAR_1 = -62_135_596_800_000_000
YEAR_9999 = 253_402_300_799_999_999


# ── Columns ───────────────────────────────────────────────────────────────────────────────────────


_SELECTED = (
    "versions",
    "kinds",
    "importance",
    "salience",
    "created_at",
    "last_accessed_at",
    "access_count",
    "used_count",
    "expires_at",
    "grace_until",
    "tokens",
    "bytes",
    "cold_since",
    "similarity",
    "flags",
)
"""What the query selects, in its order, besides ids and twins."""
_REAL = frozenset({"importance", "salience", "similarity"})


class _ColumnsBuilder:
    """Collects rows chunk by chunk, so that no list of a million tuples is ever built."""

    def __init__(self) -> None:
        self._ids: list[RecordId] = []
        self._kinds: dict[str, int] = {}
        self._twins: list[RecordId | None] = []
        self._parts = {name: array("d" if name in _REAL else "q") for name in _SELECTED}

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add a chunk; an array refuses a cell of another type instead of bending it."""
        ids, versions, kinds, *numbers, twins, similarity, flags = zip(*rows, strict=True)
        self._ids += ids
        self._twins += twins
        for kind in set(kinds) - self._kinds.keys():
            self._kinds[kind] = len(self._kinds)
        codes = map(self._kinds.__getitem__, kinds)
        cells = versions, codes, *numbers, similarity, flags
        for part, values in zip(self._parts.values(), cells, strict=True):
            part.extend(array(part.typecode, values))

    def build(self) -> Columns:
        """Make the columns; kinds are numbered in the order of their names."""
        found: dict[str, Any] = {
            name: np.frombuffer(part, part.typecode) for name, part in self._parts.items()
        }
        flags = found.pop("flags")
        names = sorted(self._kinds)
        places = {name: place for place, name in enumerate(names)}
        codes = np.array([places[name] for name in self._kinds], np.int32)
        found["kinds"] = codes[found["kinds"]]
        found["similarity"] = found["similarity"].copy()
        found["similarity"][self._lost_twins()] = 0.0
        return Columns(
            ids=tuple(self._ids),
            kind_names=tuple(names),
            pinned=(flags & 1) != 0,
            held=(flags & 2) != 0,
            cold=(flags & 4) != 0,
            sensitive=(flags & 8) != 0,
            **found,
        )

    def _lost_twins(self) -> list[int]:
        """Find the rows whose twin is not live any more, that is not among the rows."""
        live = {None, *self._ids} if any(self._twins) else {None}
        return [place for place, twin in enumerate(self._twins) if twin not in live]


def columns(connection: apsw.Connection, number: int, now: datetime) -> Columns:
    """Read the live records' columns, in id order; a twin that is not live counts as none.

    Raises:
        StoreError: A cell cannot be read; names the records.
    """
    builder = _ColumnsBuilder()
    values = number, MISSING, NEVER, to_micros(now)
    try:
        for chunk in _chunks(connection.execute(QUERIES["columns"], values)):
            builder.add(chunk)
    except (TypeError, OverflowError) as error:
        raise damaged(connection, number) from error
    return builder.build()


def _chunks(cursor: apsw.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while chunk := list(islice(cursor, _CHUNK)):
        yield chunk


def damaged(connection: apsw.Connection, number: int) -> StoreError:
    """Find the records whose rows cannot be read and make the error that names them."""
    return unreadable(unreadable_ids(connection, number))


def unreadable_ids(connection: apsw.Connection, number: int) -> list[RecordId]:
    """Name the records that hold a cell of a wrong type or a moment outside years 1 to 9999."""
    values = number, YEAR_1, YEAR_9999
    return [row[0] for row in connection.execute(QUERIES["record_unreadable"], values)]


# ── The view ──────────────────────────────────────────────────────────────────────────────────────


def changes(connection: apsw.Connection, number: int, seq: int, after: int) -> ViewChanges:
    """Tell what changed after `after` (0: everything that is hot).

    Raises:
        StoreError: A cell cannot be read; names the records.
    """
    if after:
        cursor = connection.execute(QUERIES["changed"], (number, after))
    else:
        cursor = connection.execute(QUERIES["hot"], (number,))
    try:
        rows = sorted(starmap(_view_row, cursor), key=attrgetter("id"))
    except TypeError as error:
        raise damaged(connection, number) from error
    gone = [row[0] for row in connection.execute(QUERIES["gone"], (number, after))]
    return ViewChanges(seq, rows, gone)


def _view_row(*cells: Any) -> ViewRow:  # noqa: ANN401  (a row of the database)
    (
        record_id,
        hot,
        kind,
        importance,
        created_at,
        expires_at,
        session,
        who,
        turn,
        tokens,
        vector,
        terms,
    ) = cells
    if type(created_at) is not int or not (expires_at is None or type(expires_at) is int):
        message = "a moment that is none"
        raise TypeError(message)
    return ViewRow(
        record_id,
        bool(hot),
        kind,
        importance,
        created_at,
        NEVER if expires_at is None else expires_at,
        session,
        who,
        -1 if turn is None else turn,
        tokens,
        None if vector is None else decode_vector(vector),
        decode_terms(terms),
    )


def cold_postings(
    connection: apsw.Connection, number: int, terms: Sequence[int]
) -> list[ColdPosting]:
    """Find terms in cold live records."""
    wanted = to_json(sorted({signed(term) for term in terms}))
    return [
        ColdPosting(
            record_id,
            term % 2**64,
            count,
            length,
            importance,
            created_at,
            NEVER if expires_at is None else expires_at,
        )
        for record_id, term, count, length, importance, created_at, expires_at in (
            connection.execute(QUERIES["cold_postings"], (number, wanted))
        )
    ]


def signed(term: int) -> int:
    """Write a 64-bit term id as SQLite's signed integer."""
    return term - 2**64 if term >= 2**63 else term
