"""Ghosts in SQLite: what is left of forgotten records, under HMACs."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import apsw

from sfams.core.ghosts import MOST_OF_A_TERM, Ghost, Mark, Trail
from sfams.core.moments import to_micros, utc_day
from sfams.core.plan import Action
from sfams.core.record import RecordId
from sfams.stores.rows import moment, to_json
from sfams.stores.sqlite.statements import QUERIES


class Ghosts:
    """The ghosts of one scope. `key` is the store's secret."""

    def __init__(self, connection: apsw.Connection, number: int, key: bytes) -> None:
        self._connection = connection
        self._number = number
        self._key = key

    def listed(self, ids: Sequence[RecordId]) -> list[Ghost]:
        """Read them, oldest first: of these records, or all if `ids` is empty."""
        rows = self._run("ghosts_of", to_json(ids)) if ids else self._run("ghosts")
        return [_ghost(row) for row in rows]

    def by_terms(self, terms: Sequence[int]) -> dict[int, frozenset[RecordId]]:
        """Name those that are still gone, by the terms that they held."""
        found = (
            (term, self._run("ghosts_by_term", self._term(term), MOST_OF_A_TERM)) for term in terms
        )
        return {term: frozenset(row[0] for row in rows) for term, rows in found if rows}

    def by_hash(self, hashes: Sequence[str]) -> Mapping[str, RecordId]:
        """Name those that are still gone, the newest by content hash."""
        marks = {self._hash(each): each for each in hashes}
        rows = self._run("ghosts_by_hash", to_json([mark.hex() for mark in marks]))
        return {marks[mark]: record_id for mark, record_id in rows}

    def add(self, trails: Sequence[Trail]) -> None:
        """Write new ones."""
        ((first,),) = self._connection.execute(QUERIES["ghost_next"])
        numbered = [*enumerate(trails, int(first or 1))]
        self._connection.executemany(
            QUERIES["ghost_add"], ((place, *self._row(each)) for place, each in numbered)
        )
        self._connection.executemany(
            QUERIES["ghost_term_add"],
            (
                (self._number, self._term(term), place)
                for place, each in numbered
                for term in each.terms
            ),
        )

    def regret(self, ids: Sequence[RecordId], at: datetime) -> None:
        """Count one regret a day."""
        self._run("ghost_regret", to_json(ids), utc_day(at).toordinal())

    def back(self, ids: Sequence[RecordId], at: datetime) -> None:
        """Note that records are here again."""
        self._run("ghost_return", to_json(ids), to_micros(at))

    def mark(self, record_id: RecordId, mark: Mark | None) -> bool:
        """Set or lift a mark; False without a ghost."""
        return bool(self._run("ghost_mark", record_id, mark))

    def drop(self, ids: Sequence[RecordId]) -> None:
        """Let them go for good."""
        self._run("erase_ghosts", to_json(ids))

    def _row(self, each: Trail) -> tuple[Any, ...]:
        ghost = each.ghost
        return (
            self._number,
            ghost.record_id,
            to_micros(ghost.at),
            ghost.action.value,
            str(ghost.reason),
            ghost.policy,
            ghost.plan_id,
            ghost.score,
            self._hash(each.content_hash),
        )

    def _hash(self, content_hash: str) -> bytes:
        return hmac.digest(self._key, b"ghost " + content_hash.encode(), "sha256")

    def _term(self, term: int) -> int:
        digest = hmac.digest(self._key, term.to_bytes(8, "little"), "sha256")
        return int.from_bytes(digest[:8], "little") >> 1

    def _run(self, query: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
        return self._connection.execute(QUERIES[query], (self._number, *values)).fetchall()


def _ghost(row: tuple[Any, ...]) -> Ghost:
    record, at, action, reason, policy, plan, score, returned, regrets, mark = row
    return Ghost(
        record_id=record,
        at=moment(at),
        action=Action(action),
        reason=reason,
        policy=policy,
        plan_id=plan,
        score=score,
        returned_at=None if returned is None else moment(returned),
        regrets=regrets,
        mark=None if mark is None else Mark(mark),
    )
