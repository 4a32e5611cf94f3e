"""A disk that fails when it is told to: SQLite's own VFS with errors at a chosen write."""

from __future__ import annotations

import apsw


class Trouble:
    """Counts what is written, and fails at a chosen one."""

    def __init__(self) -> None:
        self._error: type[apsw.Error] | None = None
        self._left = 0
        self._lasting = False
        self.met = 0

    def arm(self, error: type[apsw.Error], after: int, *, lasting: bool) -> None:
        """Fail at the write number `after` from now; a lasting trouble is met by the next ones too."""
        self._error, self._left, self._lasting = error, after, lasting

    def disarm(self) -> None:
        self._error = None

    def meet(self) -> None:
        if self._error is None:
            return
        self._left -= 1
        if self._left == 0 or (self._left < 0 and self._lasting):
            self.met += 1
            raise self._error


class FaultyVfs(apsw.VFS):
    """The system's own VFS on a disk in trouble."""

    def __init__(self, trouble: Trouble) -> None:
        self._base = apsw.vfs_names()[0]
        self._trouble = trouble
        super().__init__("sfams-faulty", self._base, makedefault=True)

    def xOpen(  # noqa: N802  (SQLite's name)
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return FaultyFile(self._trouble, self._base, name, flags)


class FaultyFile(apsw.VFSFile):
    """One file on it."""

    def __init__(
        self, trouble: Trouble, base: str, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        self._trouble = trouble
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  (SQLite's name)
        self._trouble.meet()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802  (SQLite's name)
        self._trouble.meet()
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802  (SQLite's name)
        self._trouble.meet()
        super().xTruncate(newsize)
