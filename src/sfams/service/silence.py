"""Silence: what is off the record in this process, of which nothing is stored."""

from __future__ import annotations

from threading import Lock

from sfams.core.admission import Outcome
from sfams.core.draft import Draft
from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.service.results import RememberResult

UNSAID = RememberResult(
    id=RecordId(""),
    outcome=Outcome.OFF_THE_RECORD,
    warnings=("not stored: this is off the record",),
)
"""The answer to what nobody is to keep."""


class Silence:
    """Everything, or sessions by name."""

    def __init__(self, *, total: bool = False) -> None:
        """Keep quiet about nothing, or about everything."""
        self._total = total
        self._lock = Lock()
        self._sessions: set[tuple[Scope, str]] = set()

    def begin(self, scope: Scope, session: str) -> None:
        """Take a session off the record."""
        with self._lock:
            self._sessions.add((scope, session))

    def end(self, scope: Scope, session: str) -> None:
        """Put it back on."""
        with self._lock:
            self._sessions.discard((scope, session))

    def covers(self, scope: Scope, draft: Draft) -> bool:
        """Tell whether a text is not to be stored."""
        if self._total:
            return True
        with self._lock:
            return (scope, draft.source.session) in self._sessions
