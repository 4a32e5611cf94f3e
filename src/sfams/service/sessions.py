"""Sessions: the source of turn counts and session ends, the same on every face."""

from __future__ import annotations

from typing import Self

from sfams.core.scope import Scope
from sfams.core.text import is_blank
from sfams.errors import InvalidInputError
from sfams.service import triggers
from sfams.service.engine import Engine

MAX_SESSION_LENGTH = 256


def check_session(session: str) -> str:
    """Refuse a session id that is blank or too long."""
    if not isinstance(session, str) or is_blank(session) or len(session) > MAX_SESSION_LENGTH:
        message = f"session: needs 1 to {MAX_SESSION_LENGTH} characters that are not blank"
        raise InvalidInputError(message, field="session")
    return session


class Session:
    """One conversation of one scope.

    `turn()` before each exchange numbers it (from 1, kept in the store, so that a restart goes on
    counting); what is recalled twice within one turn counts as one access. `end()` notes that the
    conversation is over. As a context manager it ends itself. Off the record, turns are counted here
    alone, and until it ends nothing that names this session is stored by this process.
    """

    def __init__(
        self, engine: Engine, scope: Scope, session: str, *, off_the_record: bool = False
    ) -> None:
        """Continue the session where the store knows it."""
        self._engine = engine
        self._scope = scope
        self.id = check_session(session)
        self.off_the_record = off_the_record
        if off_the_record:
            engine.silence.begin(scope, self.id)
        with engine.store.read() as reader:
            self._turn = reader.turns(scope, self.id)

    @property
    def current(self) -> int:
        """The present turn; 0 before the first."""
        return self._turn

    def turn(self) -> int:
        """Begin the next turn; returns its number. What was recalled before counts for the turn before."""
        if self.off_the_record:
            self._turn += 1
            return self._turn
        self._engine.flush_usage()
        with self._engine.store.write() as transaction:
            self._turn = transaction.log_turn(self._scope, self.id, self._engine.now())
        self._engine.board.turned(self._scope)
        triggers.consider(self._engine, self._scope)
        return self._turn

    def end(self) -> None:
        """Note that the session is over."""
        if self.off_the_record:
            self._engine.silence.end(self._scope, self.id)
            return
        with self._engine.store.write() as transaction:
            transaction.end_session(self._scope, self.id, self._engine.now())
        triggers.consider(self._engine, self._scope, session_over=True)

    def __enter__(self) -> Self:
        """Use the session in a `with` block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End it."""
        self.end()
