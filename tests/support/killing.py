"""Killing a process at a chosen place inside SQLite, and knowing afterwards where it was.

A `Killer` lives in the process that will die. It hears every statement (apsw's trace) and sees every
write and sync (a VFS over the system's own), keeps the phase in a file that outlives the process, and
sends SIGKILL at the chosen point.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import apsw

VFS = "sfams-killing"


class Phase(IntEnum):
    """What the process was doing when it died."""

    OUTSIDE = 0
    TRANSACTION = 1
    COMMIT = 2
    CHECKPOINT = 3


INSIDE = frozenset({Phase.TRANSACTION, Phase.COMMIT})


class At(StrEnum):
    """At what a process dies."""

    STATEMENT = "statement"  # before a statement of an open transaction
    WRITE = "write"  # before a frame is written to the WAL
    TORN = "torn"  # when half of a frame has been written
    SYNC = "sync"  # before the WAL is synced
    SYNCED = "synced"  # after it, before the call has returned
    CHECKPOINT = "checkpoint"  # between pages that go from the WAL into the file
    TRUNCATE = "truncate"  # before the WAL is emptied
    PARENT = "parent"  # wherever another process's signal meets it


_IN_COMMIT = frozenset({At.WRITE, At.TORN, At.SYNC, At.SYNCED})


@dataclass(frozen=True, slots=True)
class Point:
    """Where to die: in which transaction after arming, before which step of it.

    With `power_cut`, what was written since the last sync is lost in part, as when the lights go out.
    """

    at: At
    transaction: int = 1
    step: int = 1
    power_cut: bool = False


class _Unsynced(NamedTuple):
    path: str
    offset: int
    before: bytes
    length: int


class Marker:
    """A phase that can be read after the process that wrote it is gone."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes([Phase.OUTSIDE]))
        self._path = path

    def map(self) -> mmap.mmap:
        """Map the file, in the process that writes it."""
        with self._path.open("r+b") as file:
            return mmap.mmap(file.fileno(), 1)

    @property
    def phase(self) -> Phase:
        return Phase(self._path.read_bytes()[0])


class Killer:
    """Watches every connection of this process, and ends it at a point."""

    def __init__(self, marker: Marker, point: Point, random: Random) -> None:
        self.point = point
        self.armed = False
        self._phase = marker.map()
        self._random = random
        self._transactions = self._steps = self._pages = 0
        self._unsynced: list[_Unsynced] = []
        self._descriptors: dict[str, int] = {}
        self._vfs = KillingVfs(self)
        apsw.connection_hooks.append(self._watch)

    # ── What SQLite does ──────────────────────────────────────────────────────────────────────────

    def _watch(self, connection: apsw.Connection) -> None:
        mask = apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_PROFILE
        connection.trace_v2(mask, self._traced)

    def _traced(self, event: dict[str, Any]) -> None:
        sql = str(event.get("sql", ""))
        if event["code"] == apsw.SQLITE_TRACE_STMT:
            self._begins(sql)
        elif sql == "BEGIN IMMEDIATE" and event["connection"].in_transaction:
            self._enter(Phase.TRANSACTION)
            self._transactions += self.armed
            self._steps = 0
        elif sql in {"COMMIT", "ROLLBACK"} and self.phase is not Phase.OUTSIDE:
            self._enter(Phase.OUTSIDE)

    def _begins(self, sql: str) -> None:
        if self.phase is not Phase.TRANSACTION:
            return
        self._steps += 1
        if self._due(At.STATEMENT) and (self._steps >= self.point.step or sql == "COMMIT"):
            self.die()
        if sql == "COMMIT":
            self._enter(Phase.COMMIT)
            self._steps = 0

    def writes(self, file: KillingFile, data: bytes, offset: int) -> None:
        """Before `data` goes into a file."""
        if file.wal and self.phase is Phase.COMMIT:
            self._steps += 1
            if self._steps >= self.point.step:
                if self._due(At.TORN):
                    file.put(data[: len(data) // 2], offset)
                if self._due(At.TORN) or self._due(At.WRITE):
                    self.die()
        elif file.main:
            self._pages += self.armed
            if self._due(At.CHECKPOINT) and self._pages >= self.point.step:
                self._enter(Phase.CHECKPOINT)
                if self._random.random() < 0.5:
                    file.put(data[: len(data) // 2], offset)
                self.die()
        self._in(Phase.CHECKPOINT if file.main else self.phase, lambda: file.put(data, offset))

    def syncs(self, file: KillingFile, sync: Callable[[], None]) -> None:
        """Around a sync. A commit with fewer frames than the chosen step dies here."""
        in_commit = file.wal and self.phase is Phase.COMMIT
        if in_commit and any(self._due(at) for at in (At.SYNC, At.WRITE, At.TORN)):
            self.die()
        sync()
        self._unsynced = [each for each in self._unsynced if each.path != file.path]
        if in_commit and self._due(At.SYNCED):
            self.die()

    def truncates(self, file: KillingFile) -> None:
        """Before a file is cut. A checkpoint with fewer pages than the chosen step dies here."""
        if file.wal and self.armed and self.point.at in {At.CHECKPOINT, At.TRUNCATE}:
            self._enter(Phase.CHECKPOINT)
            self.die()

    def deletes(self, path: str) -> None:
        """Before a file is removed, which the last one to close does to the WAL."""
        if path.endswith("-wal") and self.armed and self.point.at in {At.CHECKPOINT, At.TRUNCATE}:
            self._enter(Phase.CHECKPOINT)
            self.die()
        self._descriptors.pop(path, None)  # what comes under this name is another file
        self._unsynced = [each for each in self._unsynced if each.path != path]

    # ── Dying ─────────────────────────────────────────────────────────────────────────────────────

    @property
    def phase(self) -> Phase:
        return Phase(self._phase[0])

    def _enter(self, phase: Phase) -> None:
        self._phase[0] = phase

    def _in(self, phase: Phase, action: Callable[[], None]) -> None:
        before = self.phase
        self._enter(phase)
        action()
        self._enter(before)

    def _due(self, at: At) -> bool:
        late = at in _IN_COMMIT or at is At.STATEMENT
        return (
            self.armed
            and self.point.at is at
            and (not late or self._transactions >= self.point.transaction)
        )

    def remember_unsynced(self, path: str, offset: int, length: int) -> None:
        """Keep what stands where something will be written, to take the write back."""
        if not self.point.power_cut:
            return
        if path not in self._descriptors:  # never closed: closing would drop SQLite's own locks
            self._descriptors[path] = os.open(path, os.O_RDWR)
        before = os.pread(self._descriptors[path], length, offset)
        self._unsynced.append(_Unsynced(path, offset, before, length))

    def die(self) -> None:
        """Lose a part of what no sync has covered, then end without any cleaning up."""
        for write in reversed(self._unsynced):
            if self._random.random() < 0.5:
                lost = write.before.ljust(write.length, b"\0")
                os.pwrite(self._descriptors[write.path], lost, write.offset)
        os.kill(os.getpid(), signal.SIGKILL)


class KillingVfs(apsw.VFS):
    """The system's own VFS, with somebody looking on."""

    def __init__(self, killer: Killer) -> None:
        self.base = apsw.vfs_names()[0]
        self._killer = killer
        super().__init__(VFS, self.base, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  (SQLite's name)
        return KillingFile(self._killer, self.base, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  (SQLite's name)
        self._killer.deletes(filename)
        super().xDelete(filename, syncdir)


class KillingFile(apsw.VFSFile):
    """One file, with somebody looking on."""

    def __init__(
        self, killer: Killer, base: str, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._killer = killer
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self.wal = bool(flags[0] & apsw.SQLITE_OPEN_WAL)
        self.main = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)
        super().__init__(base, name, flags)

    def put(self, data: bytes, offset: int) -> None:
        self._killer.remember_unsynced(self.path, offset, len(data))
        super().xWrite(data, offset)

    def xLock(self, level: int) -> None:  # noqa: N802  (SQLite's name)
        """Say "busy" where the system says EBADF, which apsw alone would turn into an exception.

        SQLite tries to lock a file that it has opened for reading when it closes it.
        """
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError from error

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  (SQLite's name)
        self._killer.writes(self, data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802  (SQLite's name)
        self._killer.syncs(self, lambda: super(KillingFile, self).xSync(flags))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802  (SQLite's name)
        self._killer.truncates(self)
        super().xTruncate(newsize)
