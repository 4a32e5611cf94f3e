"""Several processes over one file, by the public API: nothing is lost, counted twice or hidden."""

from __future__ import annotations

import os
import signal
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random

import pytest
from tests.support.processes import PATIENCE, Worker, forking, together

import sfams
from sfams.core.admission import Outcome
from sfams.core.events import EventType
from sfams.core.policy import Triggers
from sfams.errors import ConflictError, StoreUnavailableError
from sfams.stores.sqlite import SqliteStore
from sfams.testing.builders import HOME, make_entry

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

SCOPE = "团队/共享"
POLICY = sfams.RetentionPolicy(
    name="shared",
    lowest=3,
    share_action=sfams.Action.DELETE,
    through_cold=False,
    budget=sfams.Budget(records=60),
    max_share=1.0,
    triggers=Triggers(over_budget=False),
)
SUBJECTS = ("新加坡的服务器", "周三的火锅店", "仓库的钥匙", "Lena 的航班", "财务报表")


def open_shared(path: Path) -> sfams.Memory:
    return sfams.open(path, scope=SCOPE, embedder="hashing", policy=POLICY)


# ── Everybody does everything ─────────────────────────────────────────────────────────────────────


def mixed_work(barrier: Barrier, number: int, path: Path) -> tuple[list[str], Counter[str]]:
    """Write, recall, plan, apply and check in turn; tells what it stored and what it was shown."""
    random = Random(number)
    stored: list[str] = []
    shown: Counter[str] = Counter()
    barrier.wait(PATIENCE)
    with open_shared(path) as memory:
        for turn in range(12):
            text = f"进程{number}第{turn}句：{random.choice(SUBJECTS)}已经换了地方"
            stored.append(memory.remember(text).id)
            stored += [
                each.id for each in memory.remember_many([f"{text}，{n}号" for n in range(4)])
            ]
            found = memory.recall(random.choice(SUBJECTS), k=5)
            shown.update(hit.record.id for hit in found)
            if turn % 4 == number:
                memory.forget(memory.plan_forgetting())
            elif turn % 4 == 0:
                assert memory.doctor().healthy
            memory.reinforce(stored[-1], session=f"s{number}")
    return stored, shown


def test_processes_that_do_everything_lose_nothing(tmp_path: Path) -> None:
    """Writers, readers, planners, appliers and doctors on a file that none of them finds in place."""
    path = tmp_path / "memory.db"
    answers = together(4, mixed_work, path)
    stored = [each for ids, _ in answers for each in ids]
    shown = sum((counts for _, counts in answers), Counter[str]())
    assert len(set(stored)) == len(stored) == 4 * 12 * 5
    with open_shared(path) as memory:
        records = {r.id: r for r in memory.list(limit=1000, status=["all"])}
        assert set(records) == set(stored)
        counted = {each: r.usage.access_count for each, r in records.items()}
        assert {each: count for each, count in counted.items() if count} == dict(shown)
        assert sum(record.usage.used_count for record in records.values()) == 4 * 12
        assert memory.doctor().healthy
        assert memory.stats().records["deleted"] > 0


# ── Views ─────────────────────────────────────────────────────────────────────────────────────────


def tell_and_look(barrier: Barrier, number: int, path: Path) -> list[list[bool]]:
    """Say something, then look for what each of the others has said and taken back."""
    seen: list[list[bool]] = []
    with open_shared(path) as memory:
        memory.recall("钥匙")  # the view is warm before anything changes
        for turn in range(6):
            barrier.wait(PATIENCE)
            mine = memory.remember(f"第{turn}轮口令是{word(number, turn)}").id
            barrier.wait(PATIENCE)
            seen.append([is_found(memory, word(other, turn)) for other in range(3)])
            barrier.wait(PATIENCE)
            memory.delete(mine)
            barrier.wait(PATIENCE)
            seen.append([not is_found(memory, word(other, turn)) for other in range(3)])
    return seen


def word(number: int, turn: int) -> str:
    return f"zq{number}x{turn}"


def is_found(memory: sfams.Memory, text: str) -> bool:
    found = memory.recall(text, k=20, count=False)
    return any(text in hit.record.content for hit in found)


def test_every_process_sees_what_the_others_changed(tmp_path: Path) -> None:
    for seen in together(3, tell_and_look, tmp_path / "memory.db"):
        assert len(seen) == 12
        assert all(all(each) for each in seen)


# ── Races ─────────────────────────────────────────────────────────────────────────────────────────

ROUNDS = 25


def say_the_same(barrier: Barrier, number: int, path: Path) -> list[tuple[str, Outcome]]:
    results: list[tuple[str, Outcome]] = []
    with open_shared(path) as memory:
        for turn in range(ROUNDS):
            barrier.wait(PATIENCE)
            result = memory.remember(f"会议改到第{turn}天下午三点")
            results.append((result.id, result.outcome))
    return results


def test_a_text_told_by_two_processes_at_once_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    first, second = together(2, say_the_same, path)
    for (one, outcome), (two, other) in zip(first, second, strict=True):
        assert one == two
        assert {outcome, other} == {Outcome.NEW, Outcome.DUPLICATE}
    with open_shared(path) as memory:
        assert len(memory.list(limit=1000, status=["all"])) == ROUNDS


def replace_the_value(barrier: Barrier, number: int, path: Path) -> None:
    with open_shared(path) as memory:
        for turn in range(ROUNDS):
            barrier.wait(PATIENCE)
            memory.remember(
                f"第{turn}个项目由{number}号负责",
                subject=f"项目{turn}",
                attribute="负责人",
                value=str(number),
            )


def test_a_claim_told_by_two_processes_at_once_has_one_current_value(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    together(2, replace_the_value, path)
    with open_shared(path) as memory:
        statuses = Counter(record.status for record in memory.list(limit=1000, status=["all"]))
        assert statuses == {sfams.Status.LIVE: ROUNDS, sfams.Status.SUPERSEDED: ROUNDS}
        assert memory.doctor().healthy


def apply_it(barrier: Barrier, number: int, path: Path, plan_id: str) -> tuple[int, int] | None:
    with open_shared(path) as memory:
        barrier.wait(PATIENCE)
        try:
            receipt = memory.forget(plan_id)
        except ConflictError:
            return None
        return receipt.deleted, receipt.demoted


def test_a_plan_applied_by_two_processes_at_once_is_applied_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    rules = replace(POLICY, lowest=150)
    with open_shared(path) as memory:
        memory.remember_many([f"第{n}条记录：{SUBJECTS[n % 5]}" for n in range(300)])
        plan = memory.plan_forgetting(rules)
    answers = together(2, apply_it, path, plan.id)
    done = {answer for answer in answers if answer is not None}
    assert done == {(150, 90)}
    with open_shared(path) as memory:
        for step in plan.steps:
            record = memory.get(step.record_id)
            assert record.version == step.version + 1
            events = [event.type for event in memory.history(step.record_id)]
            assert sum(each in {EventType.DELETED, EventType.DEMOTED} for each in events) == 1
        assert memory.restore(plan).restored == 240


# ── A writer that stands still ────────────────────────────────────────────────────────────────────


def write_slowly(path: Path, pipe: Connection) -> None:
    """Write, tell so, and commit when told to."""
    store = SqliteStore(path)
    with store.write() as transaction:
        transaction.insert([make_entry(1, content="停在事务中间的那一条")])
        pipe.send("in the middle")
        pipe.recv()
    store.close()


@pytest.mark.parametrize("end", ["goes on", "is killed"])
def test_a_writer_that_is_stopped_in_a_transaction(tmp_path: Path, end: str) -> None:
    """Others read on; a write waits as long as it was told to, then says so, and works afterwards."""
    path = tmp_path / "memory.db"
    store = SqliteStore(path, busy_timeout=timedelta(milliseconds=100))
    ours, theirs = forking().Pipe()
    worker = Worker(write_slowly, path, theirs)
    theirs.close()
    pid = worker.process.pid
    assert pid is not None
    assert ours.recv() == "in the middle"
    os.kill(pid, signal.SIGSTOP)
    with (
        pytest.raises(StoreUnavailableError, match="another process holds the lock") as caught,
        store.write(),
    ):
        pass
    assert caught.value.retryable
    with store.read() as reader:
        assert reader.change_seq(HOME) == 0
    if end == "is killed":
        os.kill(pid, signal.SIGKILL)
        worker.process.join()
    else:
        os.kill(pid, signal.SIGCONT)
        ours.send("commit")
        worker.answer()
    with store.write() as transaction:
        transaction.insert([make_entry(2)])
    with store.read() as reader:
        found = reader.get(HOME, [make_entry(n).record.id for n in (1, 2)])
    assert len(found) == (1 if end == "is killed" else 2)
    assert list(store.check()) == []
    store.close()
    ours.close()
