"""Residue: do the bytes of erased texts still stand in the files, beside what the rows hold?

The main file is read through SQLite's own file layer: closing a file that was opened past it would drop
the locks which SQLite holds on that file for this process. The -shm file holds numbers of pages and is
left alone for the same reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

import apsw

from sfams.core.residue import Finder

_BLOCK = 4 << 20
_ROWS = 2000
_BESIDE = ("-wal", "-journal")
_FOR_READING = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY


def in_files(path: str, pieces: Collection[bytes]) -> frozenset[bytes]:
    """Find which byte strings stand in a database's files."""
    finder = Finder(pieces)
    finder.look(_main(path))
    for suffix in _BESIDE:
        finder.look(_plain(Path(path + suffix)))
    return frozenset(finder.found)


def in_rows(connection: apsw.Connection, pieces: Collection[bytes]) -> frozenset[bytes]:
    """Find which byte strings stand in a cell, of the schema too: there they have a right to be."""
    finder = Finder(pieces)
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0"
    ).fetchall()
    for (table,) in [("sqlite_schema",), *tables]:
        if not finder.done:
            finder.look(_cells(connection, str(table)))
    return frozenset(finder.found)


def _main(path: str) -> Iterator[bytes]:
    file = apsw.VFSFile("", path, [_FOR_READING, 0])
    try:
        size = file.xFileSize()
        for start in range(0, size, _BLOCK):
            yield file.xRead(min(_BLOCK, size - start), start)
    finally:
        file.xClose()


def _plain(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except FileNotFoundError:
        return


def _cells(connection: apsw.Connection, table: str) -> Iterator[bytes]:
    columns = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
    named = ", ".join(f'"{name}"' for (name,) in columns)
    rows = connection.execute(f'SELECT {named} FROM "{table}"')  # noqa: S608  (names of our tables)
    while chunk := list(islice(rows, _ROWS)):
        cells = (cell for row in chunk for cell in row if isinstance(cell, (str, bytes)))
        yield b"\0".join(c.encode() if isinstance(c, str) else c for c in cells) + b"\0"
