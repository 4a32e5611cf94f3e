"""Several threads and processes on one file lose nothing and see no "database is locked"."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from sfams.core.query import Filter
from sfams.errors import StoreError, StoreUnavailableError
from sfams.ports import UsageDelta
from sfams.stores.sqlite import SqliteStore
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.clock import START

PROGRAM = """
import sys
from sfams.stores.sqlite import SqliteStore
from sfams.testing.builders import HOME, make_entry
path, first, count, batch = sys.argv[1], *map(int, sys.argv[2:])
store = SqliteStore(path)
for start in range(first, first + count, batch):
    with store.write() as transaction:
        transaction.insert([make_entry(n) for n in range(start, start + batch)])
        {inside}
    print(start + batch, flush=True)
    with store.read() as reader:
        reader.changes(HOME, 0)
store.close()
"""
WRITER = PROGRAM.format(inside="pass")
SLOW_WRITER = PROGRAM.format(inside="import time; time.sleep(0.01)")


def start(program: str, path: Path, *numbers: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, str(path), *map(str, numbers)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def numbers_in(store: SqliteStore) -> set[int]:
    with store.read() as reader:
        ids = reader.matching(HOME, Filter(expired=True), START)
        records = reader.get(HOME, sorted(ids))
        assert set(reader.vectors(HOME, sorted(ids))) == ids
    return {int(record.id.rpartition("-")[2], 16) for record in records}


def in_threads(*actions: Callable[[], object]) -> list[BaseException]:
    failures: list[BaseException] = []

    def guarded(action: Callable[[], object]) -> None:
        try:
            action()
        except BaseException as error:  # noqa: BLE001  (reported by the test)
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_processes_open_and_write_a_new_file_together(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    writers = [start(WRITER, path, first * 1000, 25, 1) for first in range(4)]
    for writer in writers:
        _, errors = writer.communicate(timeout=120)
        assert writer.returncode == 0, errors
    store = SqliteStore(path)
    expected = {first * 1000 + n for first in range(4) for n in range(25)}
    assert numbers_in(store) == expected
    assert list(store.check()) == []
    store.close()


@pytest.mark.parametrize("acknowledged", [1, 2, 4])
def test_a_killed_writer_loses_nothing_it_has_acknowledged(
    tmp_path: Path, acknowledged: int
) -> None:
    """Whole batches or none of them, whenever it is killed."""
    path = tmp_path / "memory.db"
    writer = start(SLOW_WRITER, path, 0, 5000, 20)
    assert writer.stdout is not None
    for _ in range(acknowledged):
        last = int(writer.stdout.readline())
    writer.kill()
    rest, _ = writer.communicate()
    last = max([last, *map(int, rest.split())])
    store = SqliteStore(path)
    found = numbers_in(store)
    assert len(found) % 20 == 0
    assert found == set(range(len(found)))
    assert len(found) >= last
    assert list(store.check()) == []
    store.close()


def test_a_reader_sees_one_state_while_others_write(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    with store.read() as reader:
        with store.write() as transaction:
            transaction.insert([make_entry(1)])
        assert reader.change_seq(HOME) == 0
        assert reader.get(HOME, [numbered_id(1)]) == []
        with store.read() as later:
            assert later.change_seq(HOME) == 1
    store.close()


def test_threads_share_a_store(tmp_path: Path) -> None:
    """More threads than readers are kept; each sees whole units of work."""
    store = SqliteStore(tmp_path / "memory.db", readers=2)

    def write(first: int) -> None:
        for n in range(first, first + 10):
            with store.write() as transaction:
                transaction.insert([make_entry(2 * n), make_entry(2 * n + 1)])
                transaction.add_usage(HOME, [UsageDelta(numbered_id(2 * n), 1, 0, START)])

    def read() -> None:
        for _ in range(20):
            assert len(numbers_in(store)) % 2 == 0

    writers = [lambda first=first: write(first) for first in (0, 100, 200)]
    assert in_threads(*writers, *[read] * 6) == []
    assert len(numbers_in(store)) == 60
    assert len(store._pool._idle) <= 2  # type: ignore[attr-defined]
    store.close()


def test_a_unit_of_work_inside_another_is_refused(tmp_path: Path) -> None:
    for path in (str(tmp_path / "memory.db"), ":memory:"):
        store = SqliteStore(path)
        with store.write(), pytest.raises(StoreError, match="open on this thread"), store.write():
            pass
        with store.write() as transaction:
            transaction.set_meta("a", "b")
        store.close()


def test_a_thread_waits_for_another_and_gives_up(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db", busy_timeout=timedelta(milliseconds=50))

    def write() -> None:
        with store.write():
            pass

    with store.write():
        (failure,) = in_threads(write)
    assert isinstance(failure, StoreUnavailableError)
    assert in_threads(write) == []
    store.close()


def test_what_is_over_cannot_be_used(tmp_path: Path) -> None:
    """A connection that has been lent to others must not be reached through an old reader."""
    store = SqliteStore(tmp_path / "memory.db")
    with store.read() as reader:
        pass
    with store.write() as transaction:
        pass
    for late in (reader, transaction):
        with pytest.raises(StoreError, match="is over"):
            late.change_seq(HOME)
    store.close()


def test_closing_while_another_thread_reads(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    with store.write() as transaction:
        transaction.insert([make_entry(1)])
    with store.read() as reader:
        store.close()
        store.close()
        assert len(reader.get(HOME, [numbered_id(1)])) == 1
    for use in (store.read, store.write):
        with pytest.raises(StoreUnavailableError, match="closed"), use():
            pass
    assert [each.name for each in tmp_path.iterdir()] == ["memory.db"]


def test_erasure_settles_once_readers_have_gone(tmp_path: Path) -> None:
    """Not a word of it is left in any file."""
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    with store.write() as transaction:
        transaction.insert([make_entry(1, content="xylophone " * 500), make_entry(2)])
    assert store.settle()
    with store.read() as reader:
        reader.change_seq(HOME)
        with store.write() as transaction:
            transaction.erase(HOME, [numbered_id(1)], START)
        assert not store.settle()
    assert store.settle()
    assert all(b"xylophone" not in each.read_bytes() for each in tmp_path.iterdir())
    store.close()


def write_in_child(store: SqliteStore, number: int) -> None:
    with store.write() as transaction:
        transaction.insert([make_entry(number)])


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@needs_fork
def test_a_store_works_on_both_sides_of_a_fork(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    write_in_child(store, 1)
    assert numbers_in(store) == {1}
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=write_in_child, args=(store, n)) for n in (2, 3)]
    for child in children:
        child.start()
    write_in_child(store, 4)
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
    assert numbers_in(store) == {1, 2, 3, 4}
    assert list(store.check()) == []
    store.close()


def refuse_in_child(store: SqliteStore) -> None:
    with suppress(StoreError):
        write_in_child(store, 2)
        os._exit(1)
    os._exit(0)


@needs_fork
def test_a_fork_inside_a_unit_of_work_is_refused_in_the_child(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "memory.db")
    child = multiprocessing.get_context("fork").Process(target=refuse_in_child, args=(store,))
    with store.write() as transaction:
        transaction.insert([make_entry(1)])
        child.start()
        child.join()
    assert child.exitcode == 0
    write_in_child(store, 3)
    assert numbers_in(store) == {1, 3}
    store.close()
