"""FilePool: the connections to a file. One writes at a time, any number read, nothing is shared."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock, get_ident

import apsw

from sfams.errors import InvalidInputError, StoreError, StoreUnavailableError
from sfams.stores.sqlite import forks, schema
from sfams.stores.sqlite.connections import (
    CLOSED,
    NESTED,
    Options,
    bring_up_to_date,
    connect,
    patiently,
    set_patience,
    transaction,
)
from sfams.stores.sqlite.residue import in_files, in_rows

_SETTLE_WAIT = 250  # milliseconds that `settle` waits for readers
_LEFT_BEHIND: list[object] = []
"""Connections of a parent process: closing them in the child would drop the parent's locks."""


class FilePool:
    """Lends connections to one file.

    A reader is taken from the idle ones or opened; up to `readers` of them are kept. Nobody ever
    waits for a reader, so a read inside a read cannot block itself.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._mutex = Lock()  # guards the fields below, never held for long
        self._idle: list[apsw.Connection] = []
        self._lent = 0
        self._closed = False
        self._inherited = False
        self._turn = Lock()  # whose turn it is to write
        self._writer: apsw.Connection | None = None
        self._writing: int | None = None  # the thread that writes
        self._uri = ""
        self._read_only = False
        self._prepare()
        forks.watch(self)

    # ── Opening ───────────────────────────────────────────────────────────────────────────────────

    def _prepare(self) -> None:
        """Look at the file without touching it, then make it ready."""
        path, patience = Path(self._options.path), self._options.busy_timeout
        check_path(path)
        version = 0
        if path.exists() and path.stat().st_size:
            version = patiently(self._probe, patience)
        if not self._read_only:
            connection = patiently(self._open_writer, patience)
            self._read_only = connection.readonly("main")
            if self._read_only:
                connection.close()
            else:
                self._writer = connection
        if self._read_only:
            schema.require_current(version, self._options.path)
        elif self._writer is not None:
            bring_up_to_date(self._writer, self._options)

    def _probe(self) -> int:
        """Tell the schema version; read-only, so that a file that is not ours stays as it is."""
        try:
            return self._version("")
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # The folder cannot be written, so the file cannot be shared in WAL mode. Nobody has it
            # open (they would have left a -shm file), so it may be read as if it never changed.
            self._uri = f"{Path(self._options.path).as_uri()}?immutable=1"
            self._read_only = True
            return self._version(self._uri)

    def _version(self, uri: str) -> int:
        flags = apsw.SQLITE_OPEN_READONLY | (apsw.SQLITE_OPEN_URI if uri else 0)
        connection = apsw.Connection(uri or self._options.path, flags=flags)
        try:
            connection.execute("BEGIN")  # one look: another process may be migrating
            return schema.check_ours(connection, self._options.path)
        finally:
            connection.close()

    def _open_writer(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = connect(self._options, flags)
        try:
            if (
                not connection.readonly("main")
                and connection.pragma("journal_mode", "wal") != "wal"
            ):
                message = f"{self._options.path}: this file system cannot share a file (no WAL)"
                raise StoreUnavailableError(message)
        except BaseException:
            connection.close()
            raise
        return connection

    # ── Reading ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Lend a connection that sees the file as it is now, whatever is committed meanwhile."""
        connection = self._take()
        try:
            patiently(lambda: _pin(connection), self._options.busy_timeout)
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> apsw.Connection:
        with self._mutex:
            self._check_usable()
            self._lent += 1
            if self._idle:
                return self._idle.pop()
        try:
            return patiently(self._open_reader, self._options.busy_timeout)
        except BaseException:
            with self._mutex:
                self._lent -= 1
            raise

    def _open_reader(self) -> apsw.Connection:
        # A reader may have to recover the WAL, so it opens the file for writing and refuses to write.
        mode = apsw.SQLITE_OPEN_READONLY if self._read_only else apsw.SQLITE_OPEN_READWRITE
        connection = connect(self._options, mode, uri=self._uri)
        connection.pragma("query_only", value=1)
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        sound = False
        with suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            sound = True
        with self._mutex:
            self._lent -= 1
            if sound and not self._closed and len(self._idle) < self._options.readers:
                self._idle.append(connection)
                return
        connection.close()

    # ── Writing ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """Lend the writer inside a transaction, when it is this thread's turn."""
        with self._my_turn() as connection, transaction(connection, self._options.busy_timeout):
            yield connection

    @contextmanager
    def _my_turn(self) -> Iterator[apsw.Connection]:
        if self._writing == get_ident():
            raise StoreError(NESTED)
        if self._read_only:
            raise StoreUnavailableError(f"{self._options.path} is read-only")
        if not self._turn.acquire(timeout=self._options.busy_timeout.total_seconds()):
            message = f"another thread has held the lock of {self._options.path} for too long"
            raise StoreUnavailableError(message)
        self._writing = get_ident()
        try:
            with self._mutex:
                self._check_usable()
            if self._writer is None:
                self._writer = patiently(self._open_writer, self._options.busy_timeout)
            yield self._writer
        finally:
            if self._closed:
                self._close_writer()
            self._writing = None
            self._turn.release()

    def settle(self, *, rewrite: bool) -> bool:
        """Empty the WAL into the file, written anew or not; False while a reader still needs it.

        `secure_delete` overwrites what is deleted, but not the copies that are left in the free part of a
        page when SQLite has moved rows to its neighbours.
        """
        with self._my_turn() as connection:
            connection.set_busy_timeout(_SETTLE_WAIT)
            try:
                if rewrite:
                    connection.execute("VACUUM")
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except (apsw.BusyError, apsw.LockedError):
                return False
            finally:
                set_patience(connection, self._options)
        return True

    def residue(self, pieces: Collection[bytes]) -> frozenset[bytes]:
        """Find which byte strings stand in the files and in no row."""
        left = in_files(self._options.path, pieces)
        if not left:
            return left
        with self.reading() as connection:
            return left - in_rows(connection, left)

    # ── Closing ───────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Close everything, the WAL emptied; what is lent is closed when it comes back."""
        with self._mutex:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        if self._turn.acquire(blocking=False):
            try:
                self._close_writer()
            finally:
                self._turn.release()

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None and not self._inherited:
            with suppress(apsw.Error):
                writer.set_busy_timeout(0)
                writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            writer.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise StoreUnavailableError(CLOSED)
        if self._inherited:
            message = f"{self._options.path} was in use when this process was forked; open it anew"
            raise StoreError(message)

    # ── Forks ─────────────────────────────────────────────────────────────────────────────────────

    def before_fork(self) -> None:
        """Close what is idle; holds the mutex until the fork is over."""
        self._mutex.acquire()  # noqa: SIM115, RUF100
        while self._idle:
            self._idle.pop().close()
        if self._turn.acquire(blocking=False):
            self._close_writer()
            self._turn.release()

    def after_fork_in_parent(self) -> None:
        """Go on; connections are opened again when they are needed."""
        self._mutex.release()

    def after_fork_in_child(self) -> None:
        """Go on with fresh locks; refuse if a connection was in use in the parent."""
        self._inherited = self._inherited or self._lent > 0 or self._writer is not None
        if self._inherited:
            _LEFT_BEHIND.append((self._writer, self))
        self._mutex, self._turn, self._writing = Lock(), Lock(), None


def check_path(path: Path) -> None:
    """Refuse a path that cannot be a file.

    Raises:
        InvalidInputError: A directory, a device, or a file in a folder that is not there.
        StoreUnavailableError: A folder on the way there is closed to us.
    """
    try:
        _check_path(path)
    except PermissionError as error:
        message = f"{path} cannot be opened or made; is the folder open to this user?"
        raise StoreUnavailableError(message) from error
    except OSError as error:
        raise InvalidInputError(f"path: not a path ({error.strerror})", field="path") from error


def _check_path(path: Path) -> None:
    if path.is_dir():
        raise InvalidInputError(f"path: {path} is a directory, not a file", field="path")
    if path.exists() and not path.is_file():
        raise InvalidInputError(f"path: {path} is not a regular file", field="path")
    if not path.parent.is_dir():
        raise InvalidInputError(f"path: the folder {path.parent} does not exist", field="path")


def _pin(connection: apsw.Connection) -> None:
    """Begin to read and fix what is seen: SQLite would wait for the first query to do so."""
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except BaseException:
        connection.execute("ROLLBACK")
        raise
