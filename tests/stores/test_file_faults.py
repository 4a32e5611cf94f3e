"""A disk that is full or fails, a file that is cut or overwritten: said clearly, and nothing half-done."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import apsw
import pytest
from tests.support.crash_ledger import SCOPE, Known, Ledger, call, choose, open_at, seen
from tests.support.crash_verdict import settle, use_small_chunks
from tests.support.faulty_vfs import FaultyVfs, Trouble
from tests.support.processes import Worker

import sfams
from sfams.errors import StoreError, StoreUnavailableError
from sfams.service.results import Residue
from sfams.stores.sqlite import SqliteStore
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.clock import START

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
PAGE = 4096


# ── A disk in trouble ─────────────────────────────────────────────────────────────────────────────


def work_on_a_failing_disk(path: Path, seed: int) -> tuple[Ledger, Counter[str]]:
    """Make random calls, each with trouble at a random write of it; compare after every one."""
    use_small_chunks()
    random, ledger, trouble = Random(seed), Ledger(), Trouble()
    vfs = FaultyVfs(trouble)
    fates: Counter[str] = Counter()
    with open_at(path, ledger) as memory:
        for _ in range(60):
            op = choose(ledger, random)
            error = random.choice((apsw.FullError, apsw.IOError))
            trouble.arm(error, random.randint(1, 30), lasting=random.random() < 0.5)
            try:
                answer = call(memory, op)
            except StoreUnavailableError as failure:
                trouble.disarm()
                check_message(failure, path)
                fates[settle(op, memory, ledger, seen(memory))] += 1
            else:
                trouble.disarm()
                ledger.book(op, answer)
            check_state(memory, ledger)
        assert memory.doctor(repair=True).healthy
    fates["met"] = trouble.met
    vfs.unregister()
    return ledger, fates


def check_message(failure: StoreUnavailableError, path: Path) -> None:
    assert failure.retryable
    wanted = (f"the disk is full: {path}", f"reading or writing {path} failed")
    assert str(failure) in wanted


def check_state(memory: sfams.Memory, ledger: Ledger) -> None:
    """What is in the file and what is found must be what the ledger says."""
    assert seen(memory) == ledger.known
    for hit in memory.recall("火锅店 depot tea 新加坡", k=50, count=False):
        known = ledger.known[hit.record.id]
        assert (known.status, known.content) == ("live", hit.record.content)


@needs_fork
@pytest.mark.parametrize("seed", range(4))
def test_a_failing_disk_leaves_nothing_half_done(tmp_path: Path, seed: int) -> None:
    """The error is a retryable one that says what is wrong; once the disk is well, work goes on."""
    path = tmp_path / "memory.db"
    ledger, fates = Worker(work_on_a_failing_disk, path, seed).answer()
    assert fates["met"] >= 10
    assert fates["not done"] >= 5
    with open_at(path, ledger) as memory:
        assert seen(memory) == ledger.known
        assert memory.doctor().healthy


def erase_in_trouble(path: Path) -> int:
    """Let an erasure meet a full disk ever later, until only emptying the WAL is left to fail."""
    trouble = Trouble()
    vfs = FaultyVfs(trouble)
    refused = 0
    with open_at(path, Ledger()) as memory:
        while True:
            record_id = memory.remember(f"第{refused}次要忘记的话 zqsecretx").id
            trouble.arm(apsw.FullError, refused + 1, lasting=True)
            try:
                receipt = memory.erase(record_id)
            except StoreUnavailableError:
                trouble.disarm()
                assert memory.get(record_id).status is sfams.Status.LIVE
                refused += 1
                continue
            break
        trouble.disarm()
        assert trouble.met
        assert receipt.residue is Residue.PENDING
        memory.erase(everything=True)
    vfs.unregister()
    return refused


@needs_fork
def test_an_erasure_is_refused_or_done_and_its_residue_reported(tmp_path: Path) -> None:
    """An error says that nothing is erased; a disk that fails after the commit leaves residue pending."""
    path = tmp_path / "memory.db"
    assert Worker(erase_in_trouble, path).answer() > 3
    assert b"zqsecretx" not in path.read_bytes()


def fill_up(path: Path) -> int:
    """Write until the system refuses to let the file grow, then with room again."""
    import resource  # not on Windows

    stored = 0
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
        with suppress(StoreUnavailableError):
            while stored < 10_000:
                memory.remember(f"第{stored}页写满了")
                stored += 1
        with pytest.raises(StoreUnavailableError, match=f"reading or writing {path} failed"):
            memory.remember("写不下了")
        assert len(memory.list(limit=1000)) == stored
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        memory.remember("又有地方了")
        assert memory.doctor().healthy
    return stored + 1


@needs_fork
def test_a_file_that_the_system_does_not_let_grow(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    stored = Worker(fill_up, path).answer()
    with sfams.open(path, scope=SCOPE, embedder="hashing") as memory:
        assert len(memory.list(limit=1000)) == stored
        assert memory.doctor().healthy


# ── A damaged file ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Known]]:
    """A file with a bit of everything in it, and what it says."""
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    ledger, random = Ledger(), Random(1)
    with open_at(path, ledger) as memory:
        for _ in range(60):
            op = choose(ledger, random)
            ledger.book(op, call(memory, op))
        memory.remember("长长的一段话，一页装不下。" * 1000)
        before = seen(memory)
    return path.read_bytes(), before


def damages(content: bytes) -> Iterator[bytes]:
    """Overwrite every page in one of three ways; cut the file at every seventh."""
    random = Random(2)
    for number in range(len(content) // PAGE):
        start, end = number * PAGE, (number + 1) * PAGE
        page = bytes(byte ^ 0xFF for byte in content[start:end])
        yield (
            content[:start]
            + (page, bytes(PAGE), random.randbytes(PAGE))[number % 3]
            + content[end:]
        )
        if number % 7 == 1:
            yield content[: start + random.randrange(PAGE)]


def verdict(path: Path, before: dict[str, Known]) -> str:
    """Open a damaged file and ask the doctor; both may refuse, neither may overlook anything."""
    damaged = path.read_bytes()
    try:
        memory = open_at(path, Ledger())
    except StoreError:
        assert path.read_bytes() == damaged
        return "refused"
    with memory:
        found = memory.doctor()
        if found.healthy:
            assert seen(memory) == before
            return "nothing lost"
        mended = memory.doctor(repair=True)
        assert mended.healthy or "integrity" in {problem.check for problem in mended.problems}
    return "named"


def test_a_damaged_page_or_a_cut_file_is_never_taken_for_sound(
    tmp_path: Path, sound: tuple[bytes, dict[str, Known]]
) -> None:
    content, before = sound
    verdicts: Counter[str] = Counter()
    for number, damaged in enumerate(damages(content)):
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged)
        verdicts[verdict(path, before)] += 1
    assert verdicts["named"] > verdicts["refused"] > 0
    assert verdicts["nothing lost"] <= 2  # a page that is free


def test_a_reading_of_a_damaged_page_says_what_to_do(
    tmp_path: Path, sound: tuple[bytes, dict[str, Known]]
) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(sound[0])
    connection = apsw.Connection(str(path))
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'record'").get
    connection.close()
    with path.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(b"\xff" * PAGE)
    with open_at(path, Ledger()) as memory:
        for act in (
            memory.list,
            memory.stats,
            memory.plan_forgetting,
            lambda: memory.remember("新"),
        ):
            with pytest.raises(StoreError, match="is damaged; restore a backup"):
                act()
        assert {problem.check for problem in memory.doctor().problems} >= {"integrity"}


def test_rows_that_a_page_once_held_are_erased_too(tmp_path: Path) -> None:
    """SQLite leaves copies behind when it spreads a full page; this history of writes makes one."""
    path, random = tmp_path / "memory.db", Random(3)
    store = SqliteStore(path)
    live: list[int] = []
    erased: list[int] = []
    for turn in range(120):
        with store.write() as transaction:
            new = range(8 * turn, 8 * turn + 8)
            transaction.insert(
                [
                    make_entry(n, content=f"zq{n:05d}x " + "字" * random.randrange(5, 300))
                    for n in new
                ]
            )
            live += new
            transaction.replace(
                [
                    make_entry(
                        n, content=f"zr{n:05d}y{turn} " + "改" * random.randrange(5, 300), version=2
                    )
                    for n in random.sample(live, min(len(live), 4))
                ]
            )
            going = random.sample(live, 3)
            transaction.erase(HOME, [numbered_id(n) for n in going], START)
            live = [n for n in live if n not in going]
            erased += going
    assert store.settle()
    content = path.read_bytes()
    assert not [n for n in erased if b"zq%05dx" % n in content or b"zr%05dy" % n in content]
    store.close()
