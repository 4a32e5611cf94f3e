"""Cold postings: the inverted index of the live records that have left the view."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from sfams.stores.rows import decode_terms, to_json
from sfams.stores.sqlite.statements import QUERIES


def cold_among(connection: apsw.Connection, numbers: Iterable[int]) -> set[int]:
    """Keep the records that are live and cold."""
    rows = connection.execute(QUERIES["cold_among"], (to_json(list(numbers)),))
    return {number for (number,) in rows}


def add(connection: apsw.Connection, scope: int, numbers: Iterable[int]) -> None:
    """Enter records under each of their terms."""
    found = sorted(_postings(connection, numbers))  # in the order of the table: twice as fast
    connection.executemany(
        QUERIES["posting_add"], [(scope, term, record, count) for term, record, count in found]
    )


def remove(connection: apsw.Connection, scope: int, numbers: Iterable[int]) -> None:
    """Take records out; call it while their keywords are still the ones that were entered."""
    found = sorted(_postings(connection, numbers))
    connection.executemany(
        QUERIES["posting_remove"], [(scope, term, record) for term, record, _ in found]
    )


def _postings(connection: apsw.Connection, numbers: Iterable[int]) -> list[tuple[int, int, int]]:
    """List (term, record, count) from the records' keyword entries."""
    rows = connection.execute(QUERIES["keywords_of"], (to_json(list(numbers)),))
    found: list[tuple[int, int, int]] = []
    for record, data in rows:
        terms = decode_terms(data)
        counts = terms.counts.tolist()
        signed_ids = terms.ids.view("<i8").tolist()
        found += zip(signed_ids, [record] * len(counts), counts, strict=True)
    return found
