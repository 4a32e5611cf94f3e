"""Erasing: every trace of a record goes, tombstones stay."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import apsw

from sfams.core.events import without_ids
from sfams.core.moments import to_micros
from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.core.tombstones import left_by
from sfams.stores.rows import to_json
from sfams.stores.sqlite import postings, records
from sfams.stores.sqlite.plans import Plans
from sfams.stores.sqlite.statements import QUERIES

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CHUNK = 500


class Eraser:
    """Erases records of one scope inside a transaction. `mark` makes the HMAC of a name."""

    def __init__(
        self,
        connection: apsw.Connection,
        place: tuple[Scope, int],
        plans: Plans,
        mark: Callable[[str], bytes],
    ) -> None:
        self._connection = connection
        self._scope, self._number = place
        self._plans = plans
        self._mark = mark

    def erase(self, ids: Sequence[RecordId], at: datetime) -> int:
        """Remove records; ids that are not in the scope are passed over. Returns how many went."""
        rows = self._run("erase_targets", to_json(ids))
        if not rows:
            return 0
        gone = [RecordId(record_id) for record_id, _ in rows]
        numbers = [number for _, number in rows]
        ((seq,),) = self._run("change_seq_raise")
        sessions = self._bury(gone, to_micros(at), seq)
        cold = postings.cold_among(self._connection, numbers)
        postings.remove(self._connection, self._number, cold)
        # Vectors, keywords, usage, entities, tags, versions and outgoing relations go with the row.
        self._connection.executemany(QUERIES["erase_record"], ((number,) for number in numbers))
        self._run("erase_sessions", to_json(sorted(sessions)))
        self._run("erase_all_sessions")
        for query in (
            "erase_links",
            "erase_successors",
            "erase_twins",
            "erase_sources",
            "erase_outbox",
            "erase_jobs",
            "event_scrub",
        ):
            self._run(query, to_json(gone))
        self._scrub(frozenset(gone))
        self._plans.drop(frozenset(gone))
        return len(rows)

    def _bury(self, gone: Sequence[RecordId], at: int, seq: int) -> set[str]:
        """Leave tombstones of all that the records have said; returns the sessions they name."""
        sessions: set[str] = set()
        for start in range(0, len(gone), _CHUNK):
            chunk = gone[start : start + _CHUNK]
            found = records.by_id(self._connection, self._scope, self._number, chunk)
            sessions |= {record.source.session for record in found if record.source.session}
            marks = (
                (self._number, record.id, self._mark(name), at, seq)
                for record in found
                for name in left_by(record, self._past(record.id))
            )
            self._connection.executemany(QUERIES["tombstone_add"], marks)
        return sessions

    def _past(self, record_id: RecordId) -> Iterator[str]:
        return (content for _, content, _ in self._run("past_versions", record_id))

    def _scrub(self, gone: frozenset[RecordId]) -> None:
        """Take the ids out of what the log says of others."""
        changed = [
            (self._number, number, to_json(dict(without_ids(json.loads(detail), gone))))
            for number, detail in self._run("event_details")
            if not gone.isdisjoint(_ID.findall(detail))
        ]
        self._connection.executemany(QUERIES["event_detail_set"], changed)

    def _run(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        return self._connection.execute(QUERIES[query], (self._number, *values)).fetchall()
