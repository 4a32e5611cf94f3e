"""Memory: the verbs of SF-AMS over one scope. A thin facade; each verb calls one use-case module."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Self

from sfams.core.scope import Scope
from sfams.ports import Summarizer
from sfams.service import (
    offrecord,
)
from sfams.service.sessions import Session
from sfams.service.verbs.forgetting import ForgettingVerbs
from sfams.service.verbs.moving import MovingVerbs
from sfams.service.verbs.remembering import RememberingVerbs
from sfams.service.verbs.removing import RemovingVerbs


class Memory(RememberingVerbs, ForgettingVerbs, RemovingVerbs, MovingVerbs):
    """The long-term memory of one scope. Threads may share it; processes may share its file.

    `with sfams.open("memory.db", scope="acme/alice") as memory:` closes it at the end. Every verb works
    on this scope alone; `memory.within("acme/bob")` is another scope over the same store.
    """

    def __repr__(self) -> str:
        """Name the scope and the store, never content."""
        return f"Memory(scope={str(self.scope)!r}, store={self._engine.store.location!r})"

    def __enter__(self) -> Self:
        """Use the memory in a `with` block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Finish background work, write the last accesses and let the file go."""
        self._engine.close()

    def flush(self) -> None:
        """Wait for background work and write buffered accesses."""
        self._engine.background.drain()
        self._engine.flush_usage()

    def within(self, scope: Scope | str | Iterable[str]) -> Memory:
        """Work on another scope of the same store; closing either closes both."""
        return Memory(self._engine, Scope(scope))

    def with_summarizer(self, summarizer: Summarizer) -> Memory:
        """Have somebody else write summaries, such as a language model; closing either closes both."""
        return Memory(replace(self._engine, summarizer=summarizer), self.scope)

    def session(self, session: str, *, off_the_record: bool = False) -> Session:
        """Begin or continue a conversation: the source of turn counts and session ends.

        Off the record, nothing that names the session is stored by this process until it ends.
        """
        return Session(self._engine, self.scope, session, off_the_record=off_the_record)

    def off_the_record(self) -> Memory:
        """Read on without leaving a trace: nothing told to it is stored, nothing recalled is counted."""
        return Memory(offrecord.off_the_record(self._engine), self.scope)
