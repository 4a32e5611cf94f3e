"""Opening: what is not ours stays untouched, what cannot work says so."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from sfams.errors import InvalidInputError, SchemaMismatchError, StoreError, StoreUnavailableError
from sfams.stores.sqlite import SqliteStore, connections, functions, schema
from sfams.stores.sqlite.statements import QUERIES, parse_queries
from sfams.testing.builders import HOME, make_entry, numbered_id

ONE = numbered_id(1)
SOURCES = Path(str(schema.__file__)).parents[3]
NOBODY = 65534


def fill(path: Path, *numbers: int) -> None:
    store = SqliteStore(path)
    with store.write() as transaction:
        transaction.insert([make_entry(number) for number in numbers])
    store.close()


def alter(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql).fetchall()
    connection.close()


def everything_in(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_is_none(path: str) -> None:
    with pytest.raises(InvalidInputError, match="path"):
        SqliteStore(path)


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="is a directory"):
        SqliteStore(tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"nowhere does not exist"):
        SqliteStore(tmp_path / "nowhere" / "memory.db")
    assert everything_in(tmp_path) == {}


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no devices here")
def test_a_device() -> None:
    with pytest.raises(InvalidInputError, match="not a regular file"):
        SqliteStore("/dev/null")


@pytest.mark.parametrize(
    "options", [{"synchronous": "OFF"}, {"busy_timeout": timedelta(-1)}, {"readers": 0}]
)
def test_options_that_make_no_sense(tmp_path: Path, options: dict[str, object]) -> None:
    (name,) = options
    with pytest.raises(InvalidInputError, match=name):
        SqliteStore(tmp_path / "memory.db", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"hello", b"Dear diary, " * 1000])
def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(SchemaMismatchError, match=r"notes\.txt"):
        SqliteStore(path)
    assert everything_in(tmp_path) == {"notes.txt": content}


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_application_stays_as_it_is(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "other.db"
    alter(path, f"PRAGMA journal_mode = {journal}; CREATE TABLE bookmark (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(SchemaMismatchError, match="another application"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_newer_schema_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path, 1)
    newest = schema.migrations()[-1].number
    alter(path, f"PRAGMA user_version = {newest + 7}")
    before = path.read_bytes()
    with pytest.raises(SchemaMismatchError, match=rf"version {newest + 7}.* up to {newest}"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_migrations_of_another_release(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path, 1)
    alter(path, "UPDATE migration SET checksum = 'another'")
    before = path.read_bytes()
    with pytest.raises(SchemaMismatchError, match="migrations that this release does not have"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_missing_migrations_are_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    fill(path, 1)
    known = schema.migrations()
    more = (
        *known,
        schema.Migration(len(known) + 1, "more", "CREATE TABLE more (x ANY) STRICT"),
        schema.Migration(len(known) + 2, "most", "CREATE TABLE most (x ANY) STRICT"),
    )
    monkeypatch.setattr(schema, "migrations", lambda: more)
    for _ in range(2):
        store = SqliteStore(path)
        with store.read() as reader:
            assert [record.id for record in reader.get(HOME, [ONE])] == [ONE]
        store.close()
    connection = apsw.Connection(str(path))
    assert connection.pragma("user_version") == len(more)
    assert connection.execute("SELECT count(*) FROM migration").get == len(more)
    connection.close()


def test_a_failing_migration_leaves_the_file_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    fill(path, 1)
    known = schema.migrations()
    broken = schema.Migration(
        len(known) + 1, "broken", "CREATE TABLE half (x); CREATE TABLE half (x)"
    )
    with monkeypatch.context() as patch:
        patch.setattr(schema, "migrations", lambda: (*known, broken))
        with pytest.raises(StoreError):
            SqliteStore(path)
    fill(path, 2)


def test_an_old_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    with pytest.raises(StoreError, match=r"3\.40\.1 is too old"):
        SqliteStore(tmp_path / "memory.db")
    assert connections.OLDEST_SQLITE == (3, 51, 3)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    fill(path, 1)
    connection = apsw.Connection(str(path))
    assert connection.pragma("application_id") == int.from_bytes(b"SFAM", "big")
    assert connection.pragma("journal_mode") == "wal"
    connection.close()


def test_a_relative_path_survives_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = SqliteStore("memory.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    with store.write() as transaction:
        transaction.insert([make_entry(1)])
    assert store.location == str(tmp_path / "memory.db")
    store.close()


def test_closing_leaves_one_file(tmp_path: Path) -> None:
    fill(tmp_path / "memory.db", 1)
    assert list(everything_in(tmp_path)) == ["memory.db"]


def test_every_query_is_sound(tmp_path: Path) -> None:
    """Each statement compiles against the schema, and each is used."""
    fill(tmp_path / "memory.db", 1)
    connection = apsw.Connection(str(tmp_path / "memory.db"))
    functions.register(connection)
    for sql in QUERIES.values():
        connection.execute(
            f"EXPLAIN {sql}", [None] * max(map(int, ["0", *re.findall(r"\?(\d+)", sql)]))
        )
    connection.close()
    code = "".join(
        each.read_text("utf-8") for each in Path(str(schema.__file__)).parent.glob("*.py")
    )
    assert [name for name in QUERIES if f'"{name}"' not in code] == []


def test_a_query_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="twice"):
        parse_queries("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n")


READ_ONLY = """
import os, sys
from sfams.errors import StoreUnavailableError
from sfams.stores.sqlite import SqliteStore
from sfams.stores.sqlite.schema import migrations
from sfams.testing.builders import HOME, make_entry, numbered_id
migrations()  # read from a folder that may be closed to nobody
os.setuid(int(sys.argv[2]))
store = SqliteStore(sys.argv[1])
with store.read() as reader:
    assert [record.id for record in reader.get(HOME, [numbered_id(1)])] == [numbered_id(1)]
try:
    with store.write() as transaction:
        transaction.insert([make_entry(2)])
except StoreUnavailableError as error:
    assert "read-only" in str(error), error
else:
    raise SystemExit("a read-only store was written")
store.close()
"""
CREATE = """
import os, sys
from sfams.errors import StoreUnavailableError
from sfams.stores.sqlite import SqliteStore
from sfams.stores.sqlite.schema import migrations
migrations()  # read from a folder that may be closed to nobody
os.setuid(int(sys.argv[2]))
try:
    SqliteStore(sys.argv[1])
except StoreUnavailableError as error:
    assert "cannot be opened or made" in str(error), error
else:
    raise SystemExit("a file was made in a read-only folder")
"""


def run_as_nobody(program: str, path: Path) -> None:
    """Run a program as a user for whom permissions count (root may write everywhere)."""
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(user)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users")
@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o666, 0o555), (0o444, 0o555)])
def test_a_read_only_store_can_be_read(open_folder: Path, file: int, folder: int) -> None:
    path = open_folder / "memory.db"
    fill(path, 1)
    path.chmod(file)
    open_folder.chmod(folder)
    try:
        run_as_nobody(READ_ONLY, path)
    finally:
        open_folder.chmod(0o777)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users")
def test_a_closed_folder(open_folder: Path) -> None:
    (open_folder / "closed").mkdir(0o700)
    fill(open_folder / "closed" / "memory.db", 1)
    if os.geteuid() == 0:
        run_as_nobody(CREATE, open_folder / "closed" / "memory.db")


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users")
def test_nothing_can_be_made_in_a_read_only_folder(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    try:
        run_as_nobody(CREATE, open_folder / "memory.db")
    finally:
        open_folder.chmod(0o777)


def test_a_full_disk(tmp_path: Path) -> None:
    """Nothing is half written, and the store works again when there is room."""
    store = SqliteStore(tmp_path / "memory.db")
    with store.write() as transaction:
        transaction.insert([make_entry(1)])
    connection = store._pool._writer  # type: ignore[attr-defined]
    room = connection.pragma("page_count") + 2
    connection.pragma("max_page_count", room)
    with pytest.raises(StoreUnavailableError, match="full") as caught, store.write() as transaction:
        transaction.insert([make_entry(n) for n in range(2, 500)])
    assert caught.value.retryable
    connection.pragma("max_page_count", 1_000_000)
    with store.write() as transaction:
        transaction.insert([make_entry(2)])
    with store.read() as reader:
        found = reader.get(HOME, [numbered_id(n) for n in range(500)])
    assert [record.id for record in found] == [numbered_id(1), numbered_id(2)]
    assert list(store.check()) == []
    store.close()


def test_a_locked_file(tmp_path: Path) -> None:
    """A write waits as long as it was told to, then says who is in the way."""
    path = tmp_path / "memory.db"
    fill(path, 1)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    store = SqliteStore(path, busy_timeout=timedelta(milliseconds=50))
    with (
        pytest.raises(StoreUnavailableError, match="another process holds the lock"),
        store.write(),
    ):
        pass
    with store.read() as reader:
        assert len(reader.get(HOME, [ONE])) == 1
    other.execute("ROLLBACK")
    other.close()
    with store.write() as transaction:
        transaction.insert([make_entry(2)])
    store.close()


def test_a_surrogate_is_the_callers_mistake(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    with pytest.raises(InvalidInputError, match="surrogate"), store.write() as transaction:
        transaction.insert([make_entry(1, content="half \ud83d")])
    store.close()


def test_memory_needs_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteStore(":memory:")
    with store.write() as transaction:
        transaction.insert([make_entry(1)])
    with store.read() as reader:
        assert len(reader.get(HOME, [ONE])) == 1
    store.close()
    assert everything_in(tmp_path) == {}
    with pytest.raises(StoreUnavailableError), store.read():
        pass
