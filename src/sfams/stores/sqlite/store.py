"""SqliteStore: the port `Store` on one SQLite file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from sfams.errors import InvalidInputError
from sfams.ports import Problem, Reader, Transaction
from sfams.stores.sqlite.checking import check
from sfams.stores.sqlite.connections import Connections, Options, SharedMemory, check_library
from sfams.stores.sqlite.faults import translated
from sfams.stores.sqlite.pool import FilePool
from sfams.stores.sqlite.reading import SqliteReader
from sfams.stores.sqlite.repairing import repair
from sfams.stores.sqlite.steps import StepsCache
from sfams.stores.sqlite.writing import SqliteTransaction

IN_MEMORY = ":memory:"
_SYNCHRONOUS = frozenset({"FULL", "NORMAL", "EXTRA"})
_BUSY_TIMEOUT = timedelta(seconds=30)


class SqliteStore:
    """Records in one SQLite file, shared by threads and processes of one machine.

    `synchronous="FULL"` keeps every acknowledged write through a power failure, "NORMAL" through
    a killed process only. `busy_timeout` is how long a write waits for other writers.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        synchronous: str = "FULL",
        busy_timeout: timedelta = _BUSY_TIMEOUT,
        readers: int = 4,
    ) -> None:
        """Open a file, a new one if there is none, and bring its schema up to date.

        Raises:
            InvalidInputError: The path cannot be a file, or an option makes no sense.
            SchemaMismatchError: The file is not ours, or a newer release has written it.
            StoreUnavailableError: The file cannot be opened, or another process keeps it locked.
        """
        check_library()
        self._location = _location(path)
        _check_options(synchronous, busy_timeout, readers)
        options = Options(self._location, synchronous, busy_timeout, readers)
        self._steps = StepsCache()
        self._pool: Connections
        with translated(self._location):
            self._pool = SharedMemory(options) if self._location == IN_MEMORY else FilePool(options)

    @property
    def location(self) -> str:
        """The file's whole path."""
        return self._location

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Open a consistent look: what is committed later stays out of it."""
        with translated(self._location), self._pool.reading() as connection:
            reader = SqliteReader(connection, self._steps)
            try:
                yield reader
            finally:
                reader.end()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Open a unit of work; others wait, and one inside another is refused."""
        with translated(self._location), self._pool.writing() as connection:
            transaction = SqliteTransaction(connection, self._steps)
            try:
                yield transaction
            finally:
                transaction.end()

    def settle(self, *, rewrite: bool = True) -> bool:
        """Make erasure final in the files; False while an open reader keeps old pages."""
        with translated(self._location):
            return self._pool.settle(rewrite=rewrite)

    def residue(self, pieces: Collection[bytes], /) -> frozenset[bytes]:
        """Look for bytes in the files; tells those that stand there and in no row."""
        with translated(self._location):
            return self._pool.residue(pieces)

    def check(self) -> Sequence[Problem]:
        """Look for damage: integrity, drift between rows, vectors and keywords."""
        with translated(self._location), self._pool.reading() as connection:
            return check(connection)

    def repair(self, problems: Sequence[Problem], /) -> int:
        """Mend what can be mended without an embedder; returns how many problems that were."""
        with translated(self._location), self._pool.writing() as connection:
            return repair(connection, problems)

    def close(self) -> None:
        """Empty the WAL into the file and let go; further calls fail."""
        with translated(self._location):
            self._pool.close()


def _location(path: str | Path) -> str:
    text = str(path)
    if not text or "\0" in text:
        raise InvalidInputError("path: is empty or holds a NUL character", field="path")
    return text if text == IN_MEMORY else str(Path(text).absolute())


def _check_options(synchronous: str, busy_timeout: timedelta, readers: int) -> None:
    if synchronous not in _SYNCHRONOUS:
        message = f"synchronous: {synchronous!r} is not one of {', '.join(sorted(_SYNCHRONOUS))}"
        raise InvalidInputError(message, field="synchronous")
    if busy_timeout < timedelta(0):
        raise InvalidInputError("busy_timeout: must not be negative", field="busy_timeout")
    if readers < 1:
        raise InvalidInputError("readers: must be at least 1", field="readers")
