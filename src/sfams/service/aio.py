"""AsyncMemory: the verbs of `Memory` for programs with an event loop, asyncio or trio.

Every call runs on a worker thread, so the loop goes on while SQLite and the embedder work. Reading and
writing have limits of their own: writers that wait for each other never keep a reader waiting. A call that
is cancelled once it has begun is finished first: nothing is left half-done, nothing written goes unsaid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Self

from sfams.core.scope import Scope
from sfams.ports import Summarizer
from sfams.service.aio_verbs.base import Threads
from sfams.service.aio_verbs.forgetting import AsyncForgettingVerbs
from sfams.service.aio_verbs.moving import AsyncMovingVerbs
from sfams.service.aio_verbs.reading import AsyncReadingVerbs
from sfams.service.aio_verbs.remembering import AsyncRememberingVerbs
from sfams.service.aio_verbs.removing import AsyncRemovingVerbs
from sfams.service.sessions import Session


class AsyncMemory(
    AsyncRememberingVerbs,
    AsyncReadingVerbs,
    AsyncForgettingVerbs,
    AsyncRemovingVerbs,
    AsyncMovingVerbs,
):
    """`Memory` with the same verbs, awaited; see there for what each does and raises.

    `async with await sfams.open_async("memory.db", scope="acme/alice") as memory:` closes it at the end.
    """

    def __repr__(self) -> str:
        """Name the scope and the store, never content."""
        return f"Async{self._memory!r}"

    async def __aenter__(self) -> Self:
        """Use the memory in an `async with` block."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """Finish background work, write the last accesses and let the file go."""
        await self._threads.write(self._memory.close)

    async def flush(self) -> None:
        """Wait for background work and write buffered accesses."""
        await self._threads.write(self._memory.flush)

    def within(self, scope: Scope | str | Iterable[str]) -> AsyncMemory:
        """Work on another scope of the same store; closing either closes both."""
        return AsyncMemory(self._memory.within(scope), self._threads)

    def with_summarizer(self, summarizer: Summarizer) -> AsyncMemory:
        """See `Memory.with_summarizer`."""
        return AsyncMemory(self._memory.with_summarizer(summarizer), self._threads)

    async def scopes(self) -> Sequence[Scope]:
        """List this scope and those below it that hold anything."""
        return await self._threads.read(self._memory.scopes)

    async def session(self, session: str, *, off_the_record: bool = False) -> AsyncSession:
        """Begin or continue a conversation: the source of turn counts and session ends."""
        call = partial(self._memory.session, session, off_the_record=off_the_record)
        return AsyncSession(await self._threads.read(call), self._threads)

    def off_the_record(self) -> AsyncMemory:
        """Read on without leaving a trace: nothing told to it is stored, nothing recalled is counted."""
        return AsyncMemory(self._memory.off_the_record(), self._threads)


class AsyncSession:
    """`Session`, awaited: numbers the turns of a conversation and notes its end."""

    def __init__(self, session: Session, threads: Threads) -> None:
        """Wrap a session; `AsyncMemory.session` makes one."""
        self._session = session
        self._threads = threads

    @property
    def id(self) -> str:
        """Its name."""
        return self._session.id

    @property
    def off_the_record(self) -> bool:
        """Whether nothing of it is stored."""
        return self._session.off_the_record

    @property
    def current(self) -> int:
        """The present turn; 0 before the first."""
        return self._session.current

    async def turn(self) -> int:
        """Begin the next turn; returns its number."""
        return await self._threads.write(self._session.turn)

    async def end(self) -> None:
        """Note that the session is over."""
        await self._threads.write(self._session.end)

    async def __aenter__(self) -> Self:
        """Use the session in an `async with` block."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """End it."""
        await self.end()
