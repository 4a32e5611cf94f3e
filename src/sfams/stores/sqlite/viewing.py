"""Whole scopes at once: columns for a policy, changes for a view."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import apsw
import numpy as np

from sfams.core.columns import ARRAY_FIELDS, Columns
from sfams.core.keywords import ColdPosting
from sfams.core.moments import MISSING, NEVER
from sfams.core.record import RecordId
from sfams.core.view import ViewChanges, ViewRow
from sfams.errors import StoreError
from sfams.stores.rows import decode_terms, decode_vector, to_json, unreadable
from sfams.stores.sqlite.statements import QUERIES

_CHUNK = 10_000
_YEAR_1 = -62_135_596_800_000_000
_YEAR_9999 = 253_402_300_799_999_999


# ── Columns ───────────────────────────────────────────────────────────────────────────────────────


class _ColumnsBuilder:
    """Collects rows chunk by chunk, so that no list of a million tuples is ever built."""

    def __init__(self) -> None:
        self._ids: list[RecordId] = []
        self._kinds: dict[str, int] = {}
        self._parts: dict[str, array[Any]] = {
            name: array("d" if element is np.float64 else "q")
            for name, element in ARRAY_FIELDS.items()
            if element is not np.bool_
        }
        self._flags = array("q")
        self._twins: dict[int, RecordId] = {}

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add a chunk; an array refuses a cell of another type instead of bending it."""
        (
            ids,
            versions,
            kinds,
            importance,
            created,
            accessed,
            shown,
            used,
            expires,
            grace,
            tokens,
            twins,
            similarity,
            flags,
        ) = zip(*rows, strict=True)
        self._twins.update(
            (place, twin) for place, twin in enumerate(twins, len(self._ids)) if twin is not None
        )
        self._ids += ids
        numbered = self._kinds
        parts = self._parts
        parts["versions"].extend(versions)
        parts["kinds"].extend([numbered.setdefault(kind, len(numbered)) for kind in kinds])
        parts["importance"].extend(importance)
        parts["created_at"].extend(created)
        parts["last_accessed_at"].extend([MISSING if at is None else at for at in accessed])
        parts["access_count"].extend([count or 0 for count in shown])
        parts["used_count"].extend([count or 0 for count in used])
        parts["expires_at"].extend([NEVER if at is None else at for at in expires])
        parts["grace_until"].extend([MISSING if at is None else at for at in grace])
        parts["tokens"].extend(tokens)
        parts["similarity"].extend([each or 0.0 for each in similarity])
        self._flags.extend(flags)

    def build(self) -> Columns:
        """Make the columns; kinds are numbered in the order of their names."""
        names = sorted(self._kinds)
        places = {name: place for place, name in enumerate(names)}
        codes = np.array([places[name] for name in self._kinds], np.int32)
        arrays: dict[str, Any] = {
            name: np.frombuffer(part, part.typecode).astype(ARRAY_FIELDS[name])
            for name, part in self._parts.items()
        }
        if len(codes):
            arrays["kinds"] = codes[arrays["kinds"]]
        arrays["similarity"][self._lost_twins()] = 0.0
        flags = np.frombuffer(self._flags, np.int64)
        return Columns(
            ids=tuple(self._ids),
            kind_names=tuple(names),
            pinned=(flags & 1) != 0,
            held=(flags & 2) != 0,
            cold=(flags & 4) != 0,
            **arrays,
        )

    def _lost_twins(self) -> list[int]:
        """Find the rows whose twin is not live any more, that is not among the rows."""
        live = set(self._ids) if self._twins else set()
        return [place for place, twin in self._twins.items() if twin not in live]


def columns(connection: apsw.Connection, number: int) -> Columns:
    """Read the live records' columns, in id order; a twin that is not live counts as none.

    Raises:
        StoreError: A cell cannot be read; names the records.
    """
    builder = _ColumnsBuilder()
    try:
        for chunk in _chunks(connection.execute(QUERIES["columns"], (number,))):
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
    values = number, _YEAR_1, _YEAR_9999
    return [row[0] for row in connection.execute(QUERIES["record_unreadable"], values)]


# ── The view ──────────────────────────────────────────────────────────────────────────────────────


def changes(connection: apsw.Connection, number: int, seq: int, after: int) -> ViewChanges:
    """Tell what changed after `after` (0: everything that is hot).

    Raises:
        StoreError: A cell cannot be read; names the records.
    """
    cursor = connection.execute(QUERIES["changed" if after else "hot"], (number, after))
    try:
        rows = [_view_row(*row) for row in cursor]
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
