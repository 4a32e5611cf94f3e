"""Erasing: every trace of a record goes, a tombstone stays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import apsw

from sfams.core.moments import to_micros
from sfams.core.record import RecordId
from sfams.stores.rows import to_json
from sfams.stores.sqlite import postings
from sfams.stores.sqlite.plans import Plans
from sfams.stores.sqlite.statements import QUERIES


class Eraser:
    """Erases records of one scope inside a transaction. `mark` makes the HMAC of a content hash."""

    def __init__(
        self, connection: apsw.Connection, number: int, plans: Plans, mark: Callable[[str], bytes]
    ) -> None:
        self._connection = connection
        self._number = number
        self._plans = plans
        self._mark = mark

    def erase(self, ids: Sequence[RecordId], at: datetime) -> int:
        """Remove records; ids that are not in the scope are passed over. Returns how many went."""
        rows = self._run("erase_targets", to_json(ids))
        if not rows:
            return 0
        ((seq,),) = self._run("change_seq_raise")
        gone = [record_id for record_id, *_ in rows]
        postings.remove(
            self._connection,
            self._number,
            postings.cold_among(self._connection, (number for _, number, *_ in rows)),
        )
        # Vectors, keywords, usage, entities, tags and outgoing relations go with the row.
        self._connection.executemany(QUERIES["erase_record"], ((number,) for _, number, *_ in rows))
        self._run("erase_sessions", to_json(sorted({session for *_, session in rows if session})))
        self._run("erase_all_sessions")
        for query in ("erase_links", "erase_outbox", "erase_jobs", "event_scrub"):
            self._run(query, to_json(gone))
        self._plans.drop(frozenset(gone))
        self._connection.executemany(
            QUERIES["tombstone_add"],
            (
                (self._number, record_id, self._mark(content_hash), to_micros(at), seq)
                for record_id, _, content_hash, _ in rows
            ),
        )
        return len(rows)

    def _run(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        return self._connection.execute(QUERIES[query], (self._number, *values)).fetchall()
