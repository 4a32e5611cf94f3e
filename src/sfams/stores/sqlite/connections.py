"""Connections: one writer behind a lock, a pool of readers, several processes on one file."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import RLock
from typing import Protocol, TypeVar

import apsw

from sfams.errors import StoreError, StoreUnavailableError
from sfams.stores.sqlite import functions, schema

OLDEST_SQLITE = (3, 51, 3)
"""Older libraries can damage a file in WAL mode that several processes write."""

_CACHED_STATEMENTS = 200
_CACHE = 16 * 1024  # KiB of pages a connection keeps at most
_NAP = 0.005  # seconds between tries where SQLite does not wait by itself
_GLANCE = 0.002  # seconds between two looks at a lock
_LONGEST_WAIT = 1000  # milliseconds inside SQLite, where Ctrl-C is not heard

CLOSED = "the store is closed"
NESTED = "a unit of work is open on this thread already"

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is opened."""

    path: str
    synchronous: str
    busy_timeout: timedelta
    readers: int


class Connections(Protocol):
    """Lends connections: for reading inside a snapshot, for writing inside a transaction."""

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """Lend a connection that sees one state of the file."""
        ...

    def writing(self) -> AbstractContextManager[apsw.Connection]:
        """Lend the writer; commits on a clean exit, rolls back on any exception."""
        ...

    def settle(self, *, rewrite: bool) -> bool:
        """Empty the WAL into the file; False while a reader still needs it."""
        ...

    def residue(self, pieces: Collection[bytes]) -> frozenset[bytes]:
        """Find which byte strings stand in the files and in no row."""
        ...

    def close(self) -> None:
        """Close everything; what is lent is closed when it comes back."""
        ...


def check_library() -> None:
    """Refuse an SQLite library that is too old.

    Raises:
        StoreError: Its WAL mode is not safe.
    """
    found = apsw.sqlite_lib_version()
    if tuple(int(part) for part in found.split(".")[:3]) < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        message = f"SQLite {found} is too old: before {oldest} its WAL can damage a shared file"
        raise StoreError(message, found=found, oldest=oldest)


def patiently(action: Callable[[], Result], patience: timedelta) -> Result:
    """Try again while another process is in the way, until patience ends.

    SQLite's own busy handler does not cover everything: recovery of the WAL and the switch into WAL
    mode answer "busy" at once.
    """
    deadline = time.monotonic() + patience.total_seconds()
    while True:
        try:
            return action()
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() >= deadline:
                raise
            time.sleep(_NAP)


def connect(options: Options, flags: int, *, uri: str = "") -> apsw.Connection:
    """Open one connection with our settings."""
    if uri:
        flags |= apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(
        uri or options.path, flags=flags, statementcachesize=_CACHED_STATEMENTS
    )
    try:
        set_patience(connection, options)
        for name, value in (
            ("foreign_keys", 1),
            ("secure_delete", 1),  # what is deleted is overwritten
            ("synchronous", options.synchronous),
            ("temp_store", "MEMORY"),  # what is sorted never reaches a temporary file
            ("trusted_schema", 0),
            ("cache_size", -_CACHE),
        ):
            connection.pragma(name, value)
        functions.register(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def set_patience(connection: apsw.Connection, options: Options) -> None:
    """Let SQLite wait for locks by itself, as long as it may be deaf to signals.

    It asks every two milliseconds; the built-in waiting falls back to ten times a second, and a writer
    that comes and goes (a plan being applied in chunks) would keep everybody else out.
    """
    patience = min(options.busy_timeout.total_seconds(), _LONGEST_WAIT / 1000)
    deadline = 0.0

    def wait(tries: int) -> bool:
        nonlocal deadline
        if tries == 0:
            deadline = time.monotonic() + patience
        time.sleep(_GLANCE)
        return time.monotonic() < deadline

    connection.set_busy_handler(wait)


@contextmanager
def transaction(connection: apsw.Connection, patience: timedelta) -> Iterator[None]:
    """Begin once nobody else writes; commit on a clean exit, roll back on any exception."""
    patiently(lambda: connection.execute("BEGIN IMMEDIATE"), patience)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled back by itself
            connection.execute("ROLLBACK")
        raise


def bring_up_to_date(connection: apsw.Connection, options: Options) -> None:
    """Apply missing migrations, one transaction each; another process may do so meanwhile."""
    while not schema.is_current(connection.pragma("user_version")):
        with transaction(connection, options.busy_timeout):
            schema.migrate(connection, options.path)


class SharedMemory:
    """One private database in memory, for tests: everybody waits for everybody."""

    def __init__(self, options: Options) -> None:
        self._lock = RLock()
        self._patience = options.busy_timeout
        self._closed = False
        self._connection = connect(options, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        bring_up_to_date(self._connection, options)

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Lend the connection; nobody writes meanwhile but this thread."""
        with self._lock:
            self._check_open()
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Lend the connection inside a transaction."""
        with self._lock:
            self._check_open()
            if self._connection.in_transaction:
                raise StoreError(NESTED)
            with transaction(self._connection, self._patience):
                yield self._connection

    def settle(self, *, rewrite: bool) -> bool:  # noqa: ARG002  (as for a file)
        """Do nothing: there is no file."""
        return True

    def residue(self, pieces: Collection[bytes]) -> frozenset[bytes]:  # noqa: ARG002  (as for a file)
        """Find nothing: there is no file."""
        return frozenset()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailableError(CLOSED)
