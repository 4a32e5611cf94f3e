"""A hundred processes are killed while they write; what they had acknowledged is there, whole.

Each dies by SIGKILL at a place that it has chosen beforehand (see `tests.support.killing`) and says
before every call what it will do, after every call that it has returned. What is in the file afterwards
must be what the acknowledged calls make, with the one that was cut short either done or not.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

import pytest
from tests.support.crash_ledger import (
    Answer,
    Ledger,
    Op,
    call,
    choose,
    open_at,
    seen,
)
from tests.support.crash_verdict import settle, use_small_chunks
from tests.support.killing import INSIDE, At, Killer, Marker, Phase, Point
from tests.support.processes import forking

import sfams

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

KILLS_PER_FILE = 10


@dataclass(frozen=True, slots=True)
class Task:
    """How one process goes to its end: with which call, after how many others, where in it."""

    point: Point
    seed: int
    verb: str = ""
    before: int = 0
    new_file: bool = False
    synchronous: str = "FULL"


@dataclass(slots=True)
class Story:
    """What a process said before it died."""

    told: list[tuple[Op, Answer]] = field(default_factory=list)
    begun: Op | None = None
    opened_after: float = 0.0


# ── In the process that dies ──────────────────────────────────────────────────────────────────────


def work(pipe: Connection, task: Task, path: Path, ledger: Ledger, marker: Marker) -> None:
    """Make calls until the end comes."""
    use_small_chunks()
    random = Random(task.seed)
    killer = Killer(marker, task.point, random)
    killer.armed = task.new_file
    memory = open_at(path, ledger, task.synchronous)
    pipe.send("open")
    for _ in range(task.before):
        tell(pipe, memory, ledger, choose(ledger, random))
    if task.verb == "forget":
        tell(pipe, memory, ledger, Op("plan"))
    killer.armed = True
    for _ in range(8):
        tell(pipe, memory, ledger, choose(ledger, random, task.verb))
    memory.close()


def tell(pipe: Connection, memory: sfams.Memory, ledger: Ledger, op: Op) -> None:
    """Make one call and acknowledge it once it has returned."""
    pipe.send(op)
    answer = call(memory, op)
    pipe.send((op, answer))
    ledger.book(op, answer)


# ── In the process that looks on ──────────────────────────────────────────────────────────────────


def run_to_its_end(task: Task, path: Path, ledger: Ledger, marker: Marker) -> Story:
    """Start a process, listen until it is dead, and make sure that it was killed."""
    context = forking()
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=work, args=(theirs, task, path, ledger, marker))
    started = perf_counter()
    child.start()
    theirs.close()
    story = Story()
    patience = Random(task.seed)
    try:
        while True:
            due = task.point.at is At.PARENT and len(story.told) >= task.before
            if due and not ours.poll(patience.uniform(0, 0.006)):
                child.kill()
            heard = ours.recv()
            if heard == "open":
                story.opened_after = perf_counter() - started
            elif isinstance(heard, Op):
                story.begun = heard
            else:
                story.told.append(heard)
                story.begun = None
    except EOFError:
        child.join()
    assert child.exitcode == -9, f"{task} ended with {child.exitcode}"
    ours.close()
    return story


def check_after(story: Story, path: Path, ledger: Ledger, random: Random) -> str:
    """Open what the dead process has left, and compare; tells what became of the call cut short."""
    for op, answer in story.told:
        ledger.book(op, answer)
    memory = open_at(path, ledger)
    found = seen(memory)
    fate = settle(story.begun, memory, ledger, found)
    assert seen(memory) == ledger.known
    problems = memory.doctor().problems
    assert {each.check for each in problems} <= ({"pending"} if ledger.waiting else set())
    if problems or (story.begun and story.begun.verb == "erase"):  # it finishes an erasure too
        assert memory.doctor(repair=True).healthy
        ledger.waiting = False
    go_on = Op("remember", texts=ledger.new_texts(random))
    ledger.book(go_on, call(memory, go_on))
    assert seen(memory) == ledger.known
    memory.close()
    left = {each.name: each.read_bytes() for each in path.parent.glob(f"{path.name}*")}
    assert list(left) == [path.name]
    for text in ledger.erased:
        assert text.split()[0].encode() not in left[path.name]
    return fate


def tasks(random: Random) -> list[Task]:
    """A hundred ends, in any order."""

    def some(count: int, *ats: At, power_cut: bool = False, **fields: object) -> list[Task]:
        made = []
        for number in range(count):
            transaction, step = random.randint(1, 4), random.randint(1, 12)
            point = Point(ats[number % len(ats)], transaction, step, power_cut)
            before = random.randint(0, 3)
            made.append(Task(point, random.getrandbits(32), before=before, **fields))  # type: ignore[arg-type]
        return made

    every = [
        *some(20, At.STATEMENT),
        *some(16, At.WRITE, At.TORN, At.SYNC, At.SYNCED),
        *some(10, At.STATEMENT, At.WRITE, At.SYNC, At.CHECKPOINT, At.SYNCED, power_cut=True),
        *some(12, At.STATEMENT, At.TORN, At.SYNC, verb="forget"),
        *some(8, At.STATEMENT, At.WRITE, verb="remember_many"),
        *some(8, At.STATEMENT, At.SYNC, verb="erase"),
        *some(6, At.CHECKPOINT, At.TRUNCATE, verb="erase"),
        *some(6, At.CHECKPOINT, At.TRUNCATE),
        *some(8, At.PARENT),
    ]
    opening = some(6, At.STATEMENT, At.TORN, At.SYNC, At.SYNCED, new_file=True)
    random.shuffle(every)
    return [*opening, *every]


def test_a_hundred_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    random = Random(20260720)
    phases: Counter[Phase] = Counter()
    fates: Counter[str] = Counter()
    starts = []
    ledger, path = Ledger(), tmp_path / "0.db"
    begun = perf_counter()
    for number, task in enumerate(tasks(random)):
        if task.new_file or number % KILLS_PER_FILE == 0:
            ledger, path = Ledger(), tmp_path / f"{number}.db"
        marker = Marker(tmp_path / "phase")
        story = run_to_its_end(task, path, ledger.copy(), marker)
        starts.append(story.opened_after)
        phases[marker.phase] += 1
        fates[check_after(story, path, ledger, random)] += 1
    inside = sum(phases[phase] for phase in INSIDE)
    kinds = ", ".join(f"{count} {phase.name.lower()}" for phase, count in phases.items())
    report = (
        f"\n{phases.total()} kills in {perf_counter() - begun:.1f} s ({kinds}); a process has opened "
        f"the file after {median(starts):.3f} s; the calls cut short: {dict(fates)}\n"
    )
    sys.stdout.write(report)
    assert phases.total() >= 100
    assert inside >= 50
    assert phases[Phase.CHECKPOINT] >= 5
    assert fates["done in part, then finished"] >= 3
    assert fates["done in part"] >= 1


@pytest.mark.parametrize(("synchronous", "loses"), [("FULL", False), ("NORMAL", True)])
def test_a_power_cut_takes_only_what_was_not_synced(
    tmp_path: Path, synchronous: str, loses: bool
) -> None:
    """Shows too that the cut is a real one: "NORMAL" does not survive it, as its description says."""
    lost = 0
    for seed in range(5):
        ledger, path = Ledger(), tmp_path / f"{seed}.db"
        point = Point(At.STATEMENT, transaction=8, power_cut=True)
        task = Task(point, seed, verb="remember", synchronous=synchronous)
        story = run_to_its_end(task, path, ledger, Marker(tmp_path / "phase"))
        told = [text for op, _ in story.told for text in op.texts]
        memory = open_at(path, ledger)
        there = {known.content for known in seen(memory).values()}
        assert memory.doctor().healthy
        memory.close()
        lost += len(set(told) - there)
    assert (lost > 0) is loses
