"""The service on a file against the service on dicts: the same calls, crashes in between, the same memory.

A crash copies the file as it lies on the disk, as `kill -9` would leave it, and goes on with the copy;
what was only counted in memory is lost on both sides.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sfams.core.plan import Action
from sfams.core.policy import Budget, RetentionPolicy, Rung
from sfams.core.presets import preset
from sfams.core.record import MemoryRecord
from sfams.core.scope import Scope
from sfams.errors import SfamsError
from sfams.ports import Store
from sfams.providers.hashing import HashingEmbedder
from sfams.service.engine import Engine
from sfams.service.memory import Memory
from sfams.service.usage import UsageBuffer
from sfams.stores.memory import DictStore
from sfams.stores.sqlite import SqliteStore
from sfams.testing import FakeClock, counting_ids

TEXTS = (
    "The demo is on Friday at ten.",
    "Iris ran 5 km on Monday in the rain and was glad.",
    "Iris ran 8 km on Thursday and her knee hurt a little.",
    "Iris bought trail shoes for 120 euro near the station.",
    "客户想要红色主题。",
    "Thanks!",
    "The vault code is changed every May.",
)
POLICIES = (
    preset("adaptive"),
    RetentionPolicy(budget=Budget(records=2)),
    RetentionPolicy(lowest=1, share_action=Action.DELETE, through_cold=False, max_share=1.0),
    RetentionPolicy(threshold=0.5),
    RetentionPolicy(
        summarize=Rung(after=timedelta(days=3)),
        delete=Rung(after=timedelta(days=20)),
        budget=Budget(records=1),
        max_share=1.0,
    ),
)
ALL = ["all"]


class ServiceMachine(RuleBasedStateMachine):
    """Makes each call on both memories and compares what they answer and hold."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.folder = Path(tempfile.mkdtemp())
        self.files = 0
        self.ids = counting_ids(), counting_ids()
        self.file = self._wired(SqliteStore(self.folder / "0.db"), 0)
        self.dicts = self._wired(DictStore(), 1)
        self.plans: list[str] = []
        self.known: list[str] = []

    def teardown(self) -> None:
        self.file.close()
        self.dicts.close()
        shutil.rmtree(self.folder)

    def _wired(self, store: Store, side: int) -> Memory:
        engine = Engine(
            store=store,
            embedder=HashingEmbedder(),
            clock=self.clock,
            new_id=self.ids[side],
            automatic=False,
        )
        return Memory(engine, Scope("acme/me"))

    def both(self, verb: str, *arguments: object, **fields: object) -> Any:
        """Call a verb on both; the answers, or the errors, must be alike."""
        answers = []
        for memory in (self.file, self.dicts):
            try:
                answers.append(getattr(memory, verb)(*arguments, **fields))
            except SfamsError as error:
                answers.append((type(error), str(error)))
        assert answers[0] == answers[1], verb
        return answers[0]

    # ── Calls ────────────────────────────────────────────────────────────────────────────────────

    @rule(
        text=st.sampled_from(TEXTS),
        importance=st.none() | st.sampled_from([0.1, 0.5, 0.9]),
        kind=st.none() | st.sampled_from(["note", "fact"]),
        ttl=st.none() | st.sampled_from(["1d", "10d"]),
    )
    def remember(
        self, text: str, importance: float | None, kind: str | None, ttl: str | None
    ) -> None:
        fields = {"importance": importance, "kind": kind} | ({"ttl": ttl} if ttl else {})
        given = {name: value for name, value in fields.items() if value is not None}
        result = self.both("remember", text, **given)
        self.known = [*dict.fromkeys((*self.known, result.id))]

    @rule(text=st.sampled_from(TEXTS), turn=st.none() | st.sampled_from("ab"))
    def recall(self, text: str, turn: str | None) -> None:
        fields: dict[str, Any] = {"k": 3} if turn is None else {"k": 3, "turn": turn}
        found = [
            [(hit.record.id, hit.record.tier) for hit in memory.recall(text, **fields)]
            for memory in (self.file, self.dicts)
        ]
        assert found[0] == found[1]

    @rule(policy=st.sampled_from(POLICIES))
    def plan(self, policy: RetentionPolicy) -> None:
        made = self.both("plan_forgetting", policy)
        assert self.both("plan", made.id) == made
        self.plans.append(made.id)

    @precondition(lambda self: self.plans)
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        plan_id = data.draw(st.sampled_from(self.plans))
        before = self.both("plan", plan_id)
        receipt = self.both("forget", plan_id)
        if not isinstance(receipt, tuple) and before.cursor == 0:
            # The preview is what is done, but for what is reported.
            done = receipt.demoted + receipt.summarized + receipt.deleted
            assert done + len(receipt.skipped) == len(before.steps)

    @precondition(lambda self: self.plans)
    @rule(data=st.data())
    def apply_and_restore_is_nothing(self, data: st.DataObject) -> None:
        plan_id = data.draw(st.sampled_from(self.plans))
        before = self.records()
        receipt = self.both("forget", plan_id)
        if not isinstance(receipt, tuple):
            self.both("restore", plan_id)
            after = self.records()
            assert {each: plain(after[each]) for each in before} == {
                each: plain(record) for each, record in before.items()
            }

    @precondition(lambda self: self.plans)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        self.both("restore", data.draw(st.sampled_from(self.plans)))

    @precondition(lambda self: self.known)
    @rule(data=st.data(), verb=st.sampled_from(["pin", "unpin", "hold", "release", "reinforce"]))
    def protect(self, data: st.DataObject, verb: str) -> None:
        self.both(verb, [data.draw(st.sampled_from(self.known))])

    @precondition(lambda self: self.known)
    @rule(data=st.data(), days=st.integers(1, 5))
    def hold_for_a_time(self, data: st.DataObject, days: int) -> None:
        until = self.clock() + timedelta(days=days)
        wanted = [data.draw(st.sampled_from(self.known))]
        self.both("hold", wanted, owner="legal", until=until)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), verb=st.sampled_from(["delete", "erase"]))
    def remove(self, data: st.DataObject, verb: str) -> None:
        wanted = [data.draw(st.sampled_from(self.known))]
        results = []
        for memory in (self.file, self.dicts):
            try:
                getattr(memory, verb)(wanted)
                results.append("done")
            except SfamsError as error:
                results.append(str(error))
        assert results[0] == results[1]

    @rule(days=st.integers(1, 12))
    def time_passes(self, days: int) -> None:
        self.clock.advance(days=days)

    @rule()
    def flush(self) -> None:
        self.both("flush")

    @rule()
    def crash(self) -> None:
        """Go on with what lies on the disk; unwritten counts are lost on both sides."""
        self.files += 1
        before, after = (self.folder / f"{n}.db" for n in (self.files - 1, self.files))
        for ending in ("", "-wal"):
            source = Path(f"{before}{ending}")
            if source.exists():
                shutil.copy(source, f"{after}{ending}")
        old = self.file
        self.file = self._wired(SqliteStore(after), 0)
        old._engine.usage.flush(DictStore())  # they go nowhere
        old.close()
        lost = replace(self.dicts._engine, usage=UsageBuffer())
        self.dicts = Memory(lost, self.dicts.scope)

    # ── Looking ──────────────────────────────────────────────────────────────────────────────────

    def records(self) -> dict[str, MemoryRecord]:
        held: list[dict[str, MemoryRecord]] = [
            {str(record.id): record for record in memory.list(limit=100, status=ALL, expired=True)}
            for memory in (self.file, self.dicts)
        ]
        assert held[0] == held[1]
        return held[0]

    @invariant()
    def holds_the_same(self) -> None:
        self.records()

    @invariant()
    def is_sound(self) -> None:
        for memory in (self.file, self.dicts):
            assert list(memory.doctor().problems) == []


def plain(record: MemoryRecord) -> MemoryRecord:
    """What applying and undoing must leave as it was."""
    return replace(record, version=0, updated_at=record.created_at, grace_until=None)


TestServiceMachine = ServiceMachine.TestCase
TestServiceMachine.settings = settings(
    max_examples=60 if os.environ.get("CI") else 15, stateful_step_count=25, deadline=None
)
