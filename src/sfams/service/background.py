"""Background: one worker thread for what must not hold up a caller (embedding, flushing)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from sfams.core.scope import Scope

logger = logging.getLogger("sfams")


class Waiting:
    """Where records may wait for a vector: any scope until it was looked at, and again after a failure."""

    def __init__(self) -> None:
        """Know nothing."""
        self._lock = Lock()
        self._settled: set[Scope] = set()

    def note(self, scope: Scope) -> None:
        """Something waits there."""
        with self._lock:
            self._settled.discard(scope)

    def take(self, scope: Scope) -> bool:
        """Tell whether to look there, which the caller then does."""
        with self._lock:
            due = scope not in self._settled
            self._settled.add(scope)
            return due


class Background:
    """Runs small jobs one after the other on a thread that starts with the first of them.

    Nothing depends on a job having run: what it would do is found and done by the next run or by
    `doctor --repair`. A failing job is logged with its traceback.
    """

    def __init__(self) -> None:
        """Start without a thread."""
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False

    def submit(self, job: Callable[[], object]) -> Future[object] | None:
        """Queue a job; None after `close`."""
        with self._lock:
            if self._closed:
                return None
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="sfams-background")
            return self._pool.submit(_guarded, job)

    def drain(self) -> None:
        """Wait until everything queued so far has run."""
        future = self.submit(_nothing)
        if future is not None:
            future.result()

    def close(self) -> None:
        """Finish what is queued, then take no more."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)


def _nothing() -> None:
    """Mark a place in the queue."""


def _guarded(job: Callable[[], object]) -> object:
    try:
        return job()
    except Exception:  # the thread's last line: the failure is logged, the work stays marked
        logger.exception("background job failed")
        return None
