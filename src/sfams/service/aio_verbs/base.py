"""Worker threads, and what all awaited verbs have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from sfams.core.scope import Scope
from sfams.service.memory import Memory

READERS = 8
WRITERS = 4
"""Threads for either kind of call. A file has one writer at a time; the others embed meanwhile."""

Result = TypeVar("Result")


class Threads:
    """Where the calls of one opened memory run."""

    def __init__(self) -> None:
        self._readers = CapacityLimiter(READERS)
        self._writers = CapacityLimiter(WRITERS)

    async def read(self, call: Callable[[], Result]) -> Result:
        """Run a call that only reads."""
        return await to_thread.run_sync(call, limiter=self._readers)

    async def write(self, call: Callable[[], Result]) -> Result:
        """Run a call that may write."""
        return await to_thread.run_sync(call, limiter=self._writers)


class AsyncVerbs:
    """A part of `AsyncMemory`."""

    def __init__(self, memory: Memory, threads: Threads | None = None) -> None:
        """Wrap a memory; `sfams.open_async` opens one."""
        self._memory = memory
        self._threads = threads or Threads()

    @property
    def scope(self) -> Scope:
        """Whose memory it is."""
        return self._memory.scope
