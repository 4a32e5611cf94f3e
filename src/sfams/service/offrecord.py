"""Off the record: a memory that is read and never written, over the same store as another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import NoReturn

from sfams.core.query import Calibration
from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.core.view import Vector
from sfams.errors import ConflictError
from sfams.ports import Embedder, Problem, Reader, Store, Transaction
from sfams.service.background import Background
from sfams.service.engine import Engine
from sfams.service.silence import Silence
from sfams.service.usage import UsageBuffer


def off_the_record(engine: Engine) -> Engine:
    """Make an engine over the same store that never writes; closing it closes nothing."""
    return replace(
        engine,
        store=_Unwritten(engine.store),
        embedder=_Borrowed(engine.embedder),
        listeners=(),
        usage=_Uncounted(),
        background=Background(),
        silence=Silence(total=True),
    )


class _Unwritten:
    """A store whose readers are lent and whose writer is not."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self) -> AbstractContextManager[Reader]:
        return self._store.read()

    def write(self) -> AbstractContextManager[Transaction]:
        return self._refuse()

    def check(self) -> Sequence[Problem]:
        return self._store.check()

    def repair(self, problems: Sequence[Problem], /) -> int:
        return self._refuse() if problems else 0

    def settle(self, *, rewrite: bool = True) -> bool:
        return self._refuse() if rewrite else False

    def residue(self, pieces: Collection[bytes], /) -> frozenset[bytes]:
        return self._store.residue(pieces)

    @property
    def location(self) -> str:
        return self._store.location

    def close(self) -> None:
        """Leave the store open: it is somebody else's."""

    def _refuse(self) -> NoReturn:
        message = "off the record: nothing is written; use the memory that this one was made from"
        raise ConflictError(message)


class _Borrowed:
    """Somebody else's embedder, which stays open."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str, /) -> Vector:
        return self._embedder.embed_query(text)

    def close(self) -> None:
        """Leave it open."""


class _Uncounted(UsageBuffer):
    """Counts no access."""

    def note(
        self,
        scope: Scope,  # noqa: ARG002  (the buffer's)
        ids: Iterable[RecordId],  # noqa: ARG002  (as above)
        at: datetime,  # noqa: ARG002  (as above)
        *,
        turn: str | None = None,  # noqa: ARG002  (as above)
    ) -> bool:
        return False
