"""Accesses: counters, and the traces that they leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from sfams.core.moments import to_micros
from sfams.core.record import Usage
from sfams.core.traces import TurnUse, trace_of
from sfams.ports import UsageDelta
from sfams.stores.rows import (
    Cells,
    decode_trace,
    encode_ring,
    encode_turns,
    moment_or_none,
    to_json,
    unreadable,
)
from sfams.stores.sqlite.statements import QUERIES


def add(connection: apsw.Connection, scope: int, deltas: Sequence[UsageDelta]) -> None:
    """Add accesses to the records of a scope, at its present turn; unknown ids are ignored."""
    wanted = to_json(sorted({delta.id for delta in deltas}))
    rows = connection.execute(QUERIES["usage_of"], (scope, wanted)).fetchall()
    found = {row[0]: _Counted(row) for row in rows}
    turn: int = connection.execute(QUERIES["scope_turns"], (scope,)).get
    known = [(found[delta.id], delta) for delta in deltas if delta.id in found]
    connection.executemany(
        QUERIES["usage_add"], [counted.add(delta, turn) for counted, delta in known]
    )


class _Counted:
    """A record whose accesses are being counted."""

    def __init__(self, row: tuple[Any, ...]) -> None:
        (
            record_id,
            self._number,
            self._created,
            learned,
            shown,
            accessed,
            used,
            used_at,
            ring,
            turns,
        ) = row
        if ring is None and turns is None:  # as an earlier release has left it
            usage = Usage(shown, moment_or_none(accessed), used, moment_or_none(used_at))
            self._trace = trace_of(usage, self._created, learned)
        else:
            try:
                self._trace = decode_trace(ring, turns)
            except TypeError as error:
                raise unreadable([record_id]) from error

    def add(self, delta: UsageDelta, turn: int) -> Cells:
        """Give the cells to be written: counts to add, last moments by kind of access, the trace."""
        use = TurnUse(turn, delta.shown, delta.used)
        moments = map(to_micros, (*delta.moments, delta.at))
        self._trace = self._trace.noted(use, moments, self._created)
        at = to_micros(delta.at)
        return (
            self._number,
            delta.shown,
            at if delta.shown else None,
            delta.used,
            at if delta.used else None,
            encode_ring(self._trace),
            encode_turns(self._trace),
        )
