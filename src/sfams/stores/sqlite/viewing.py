"""Whole scopes at once: columns for a policy, changes for a view."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap
from operator import attrgetter
from typing import Any

import apsw

from sfams.core.keywords import ColdPosting
from sfams.core.moments import NEVER
from sfams.core.record import RecordId
from sfams.core.view import ViewChanges, ViewRow
from sfams.errors import StoreError
from sfams.stores.rows import decode_terms, decode_vector, to_json, unreadable
from sfams.stores.sqlite.statements import QUERIES

YEAR_1 = -62_135_596_800_000_000
YEAR_9999 = 253_402_300_799_999_999


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
