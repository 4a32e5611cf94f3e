"""Real processes for tests, forked from a server that has imported everything: they start at once."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.synchronize import Barrier
from typing import Any

PATIENCE = 120
"""Seconds after which a process that should be done is taken for stuck."""


def forking() -> ForkServerContext:
    """Give the context whose processes are forked from the server, before any file is open in it."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.support.killing", "tests.support.crash_ledger"])
    return context


def _answer(pipe: Connection, work: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    try:
        pipe.send(("done", work(*arguments)))
    except BaseException:
        pipe.send(("failed", traceback.format_exc()))
        raise


class Worker:
    """One process that calls a function of a module and answers with what it returned."""

    def __init__(self, work: Callable[..., object], *arguments: object) -> None:
        self._pipe, theirs = forking().Pipe(duplex=False)
        self.process: ForkServerProcess = forking().Process(
            target=_answer, args=(theirs, work, arguments), daemon=True
        )
        self.process.start()
        theirs.close()

    def answer(self) -> Any:
        """Wait for what it returned; a failure over there is one here."""
        assert self._pipe.poll(PATIENCE), "no answer: stuck?"
        state, value = self._pipe.recv()
        assert state == "done", value
        self.process.join()
        self._pipe.close()
        return value


def together(count: int, work: Callable[..., object], *arguments: object) -> list[Any]:
    """Run a function in several processes at once; it is given a barrier and its number."""
    barrier: Barrier = forking().Barrier(count)
    workers = [Worker(work, barrier, number, *arguments) for number in range(count)]
    return [worker.answer() for worker in workers]
