"""DeadlineEmbedder: an embedder that answers in time or not at all.

A model that hangs must not hang the memory: after the deadline the caller goes on without a vector (the
text is stored and waits for one, a question is answered by its words).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Final, TypeVar

from sfams.core.query import Calibration
from sfams.core.vectors import Vector
from sfams.errors import ProviderUnavailableError
from sfams.ports import Embedder

MOST_STUCK: Final = 4
"""Calls given up that may still be under way; with so many, further ones are refused at once."""

Result = TypeVar("Result")


class DeadlineEmbedder:
    """Wraps an embedder; each call has `seconds`. What answers later is thrown away.

    Calls run on threads that do not keep the process from ending.
    """

    def __init__(self, inner: Embedder, seconds: float) -> None:
        """Wrap an embedder."""
        self._inner = inner
        self._seconds = seconds
        self._lock = Lock()
        self._stuck = 0
        self._dimension: int | None = None

    @property
    def model_id(self) -> str:
        """The inner embedder's."""
        return self._inner.model_id

    @property
    def dimension(self) -> int:
        """The inner embedder's; asked once."""
        if self._dimension is None:
            self._dimension = self._timed(lambda: self._inner.dimension)
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        """The inner embedder's, read without a deadline: it must not ask the model."""
        return self._inner.calibration

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories, or raise `ProviderUnavailableError` when the time is over."""
        return self._timed(lambda: self._inner.embed_passages(texts))

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question, or raise `ProviderUnavailableError` when the time is over."""
        return self._timed(lambda: self._inner.embed_query(text))

    def close(self) -> None:
        """Close the inner embedder; calls that were given up are not waited for."""
        self._inner.close()

    def _timed(self, call: Callable[[], Result]) -> Result:
        with self._lock:
            if self._stuck >= MOST_STUCK:
                message = f"{self.model_id}: {self._stuck} earlier calls have not come back yet"
                raise ProviderUnavailableError(message)
        answer: Future[Result] = Future()
        Thread(target=_run, args=(call, answer), name="sfams-embed", daemon=True).start()
        try:
            return answer.result(self._seconds)
        except TimeoutError as error:
            if answer.done():  # the call itself ran into a timeout of its own
                raise
            with self._lock:
                self._stuck += 1
            answer.add_done_callback(self._back)
            message = f"{self.model_id}: no answer within {self._seconds:g} seconds"
            raise ProviderUnavailableError(message) from error

    def _back(self, _: object) -> None:
        with self._lock:
            self._stuck -= 1


def _run(call: Callable[[], Result], answer: Future[Result]) -> None:
    try:
        answer.set_result(call())
    except BaseException as error:  # noqa: BLE001  # raised again where it was asked for
        answer.set_exception(error)
