"""What a crash must not undo: a plain account of every acknowledged call, and random calls to make."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

import sfams
from sfams.core.plan import PlanState
from sfams.core.policy import Triggers
from sfams.service.background import Background
from sfams.stores.sqlite import SqliteStore
from sfams.testing.clock import START

POLICY = sfams.RetentionPolicy(
    name="crash",
    budget=sfams.Budget(records=14),
    lowest=5,
    share_action=sfams.Action.DELETE,
    through_cold=False,
    triggers=Triggers(over_budget=False),
    max_share=1.0,
)
WORDS = (
    "我们把服务器迁到新加坡",
    "The tram stops at the depot.",
    "火锅店周三不营业",
    "Lena prefers tea",
)
SCOPE = "团队/alice"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one record."""

    content: str
    status: str = "live"
    tier: str = "hot"
    pinned: bool = False
    used: int = 0
    past: tuple[str, ...] = ()
    links: frozenset[str] = frozenset()


class Op(NamedTuple):
    """One call of the public API, as a value."""

    verb: str
    ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


Steps = tuple[tuple[str, str], ...]
"""Of a plan: record id and action, in order, without what was skipped."""
Answer = tuple[str, ...] | Steps


@dataclass(slots=True)
class Ledger:
    """The state that all acknowledged calls together must have led to."""

    known: dict[str, Known] = field(default_factory=dict)
    erased: list[str] = field(default_factory=list)
    plans: dict[str, tuple[str, Steps]] = field(default_factory=dict)
    calls: int = 0
    last: str = ""
    waiting: bool = False

    def copy(self) -> Ledger:
        return replace(
            self, known=dict(self.known), erased=list(self.erased), plans=dict(self.plans)
        )

    def clock(self) -> datetime:
        """Tell a moment that every call moves on."""
        return START + timedelta(minutes=self.calls)

    def new_texts(self, random: Random, count: int = 1) -> tuple[str, ...]:
        """Make texts, each with a word that occurs nowhere else."""
        words = (f"zq{self.calls:05d}n{number}x" for number in range(count))
        return tuple(f"记号{word} {random.choice(WORDS)}" for word in words)

    def book(self, op: Op, answer: Answer) -> None:
        """Enter an acknowledged call."""
        self.calls += 1
        self.last = op.verb
        getattr(self, f"_book_{op.verb}")(op, answer)

    def _change(self, ids: Iterable[str], **fields: object) -> None:
        for each in ids:
            self.known[each] = replace(self.known[each], **fields)  # type: ignore[arg-type]

    def _book_remember(self, op: Op, answer: tuple[str, ...]) -> None:
        for text, record_id in zip(op.texts, answer, strict=True):
            self.known.setdefault(record_id, Known(text))

    _book_remember_many = _book_remember

    def _book_remember_soon(self, op: Op, answer: tuple[str, ...]) -> None:
        self.waiting = True
        self._book_remember(op, answer)

    def _book_update(self, op: Op, answer: tuple[str, ...]) -> None:
        before = self.known[op.ids[0]]
        self._change(op.ids, content=op.texts[0], past=(*before.past, before.content))

    def _book_supersede(self, op: Op, answer: tuple[str, ...]) -> None:
        self._change(op.ids[:1], status="superseded")

    def _book_pin(self, op: Op, answer: tuple[str, ...]) -> None:
        self._change(op.ids, pinned=True)

    def _book_unpin(self, op: Op, answer: tuple[str, ...]) -> None:
        self._change(op.ids, pinned=False)

    def _book_reinforce(self, op: Op, answer: tuple[str, ...]) -> None:
        for each in op.ids:
            known = self.known[each]
            warmed = {"tier": "hot"} if known.status == "live" else {}
            self._change([each], used=known.used + 1, **warmed)

    def _book_link(self, op: Op, answer: tuple[str, ...]) -> None:
        source, target = op.ids
        self._change([source], links=self.known[source].links | {target})

    def _book_delete(self, op: Op, answer: tuple[str, ...]) -> None:
        self._change(op.ids, status="deleted")

    def _book_restore(self, op: Op, answer: tuple[str, ...]) -> None:
        for each in op.ids:  # what is not live comes back into its old tier
            gone = self.known[each].status != "live"
            self._change([each], **({"status": "live"} if gone else {"tier": "hot"}))

    def _book_plan(self, op: Op, answer: Steps) -> None:
        (plan_id, _), *steps = answer
        self.plans[plan_id] = ("draft", tuple(steps))

    def _book_forget(self, op: Op, answer: Steps) -> None:
        """Enter what was done; `answer` is the plan's steps but for those that it skipped."""
        self.plans[op.ids[0]] = ("applied", answer)
        for record_id, action in answer:
            self._change([record_id], **_effect(action))

    def _book_undo(self, op: Op, answer: tuple[str, ...]) -> None:
        _, steps = self.plans[op.ids[0]]
        self.plans[op.ids[0]] = ("undone", steps)
        for record_id, action in steps:
            undone = {"status": "live"} if action == "delete" else {"tier": "hot"}
            self._change([record_id], **undone)

    def _book_erase(self, op: Op, answer: tuple[str, ...]) -> None:
        for each in op.ids:
            gone = self.known.pop(each)
            self.erased += [gone.content, *gone.past]
        for each, known in self.known.items():
            self._change([each], links=known.links - set(op.ids))


def _effect(action: str) -> dict[str, str]:
    return {"status": "deleted"} if action == "delete" else {"tier": "cold"}


# ── Calls ─────────────────────────────────────────────────────────────────────────────────────────


def choose(ledger: Ledger, random: Random, verb: str = "") -> Op:
    """Choose a call that the ledger's state allows."""
    live = [each for each, known in ledger.known.items() if known.status == "live"]
    if len(live) < 4:
        return Op("remember_many", texts=ledger.new_texts(random, 10))
    verb = verb or random.choice(_MIX)
    if verb in {"forget", "undo"}:
        return _with_plan(ledger, verb)
    return _with_records(ledger, random, verb, live)


def _with_plan(ledger: Ledger, verb: str) -> Op:
    """Go on with the newest plan; one is taken back at once or not at all, so that nothing is skipped."""
    newest, (state, _) = next(reversed(ledger.plans.items()), ("", ("none", ())))
    fits = state == "draft" if verb == "forget" else ledger.last == "forget"
    return Op(verb, (newest,)) if fits else Op("plan")


_MIX = (
    *("remember", "remember", "remember_many", "remember_soon", "update", "supersede", "pin"),
    *(
        "unpin",
        "reinforce",
        "link",
        "delete",
        "restore",
        "plan",
        "forget",
        "forget",
        "undo",
        "undo",
        "erase",
    ),
)


def _with_records(ledger: Ledger, random: Random, verb: str, live: list[str]) -> Op:
    counts = {"remember": 1, "remember_soon": 1, "remember_many": 10}
    if verb in counts:
        return Op(verb, texts=ledger.new_texts(random, counts[verb]))
    if verb == "update":
        return Op(verb, (random.choice(live),), ledger.new_texts(random))
    among = {
        "supersede": live,
        "link": live,
        "erase": sorted(ledger.known),
        "delete": [each for each in live if not ledger.known[each].pinned],
        "restore": [
            each
            for each, known in ledger.known.items()
            if known.status == "deleted" or known.tier == "cold"
        ],
    }.get(verb)
    if among is None:
        return Op(verb, (random.choice(live),))
    return Op(verb, tuple(random.sample(among, 2))) if len(among) > 1 else Op("plan")


def call(memory: sfams.Memory, op: Op) -> Answer:
    """Make a call; the answer is what a ledger needs to enter it."""
    if op.verb in _CALLS:
        return _CALLS[op.verb](memory, op)
    if op.verb in {"supersede", "link"}:
        getattr(memory, op.verb)(*op.ids)
    else:
        getattr(memory, op.verb)(list(op.ids))
    return ()


def _update(memory: sfams.Memory, op: Op) -> Answer:
    memory.update(op.ids[0], content=op.texts[0])
    return ()


def _plan(memory: sfams.Memory, op: Op) -> Answer:
    plan = memory.plan_forgetting()
    return ((plan.id, ""), *((step.record_id, step.action.value) for step in plan.steps))


def _undo(memory: sfams.Memory, op: Op) -> Answer:
    memory.restore(op.ids[0])
    return ()


_CALLS: dict[str, Callable[[sfams.Memory, Op], Answer]] = {
    "remember": lambda memory, op: (memory.remember(op.texts[0]).id,),
    "remember_soon": lambda memory, op: (memory.remember(op.texts[0], wait=False).id,),
    "remember_many": lambda memory, op: tuple(each.id for each in memory.remember_many(op.texts)),
    "update": _update,
    "plan": _plan,
    "forget": lambda memory, op: steps_done(memory, op.ids[0], memory.forget(op.ids[0])),
    "undo": _undo,
}


def steps_done(memory: sfams.Memory, plan_id: str, receipt: sfams.Receipt | None = None) -> Steps:
    """List what a plan has done so far."""
    plan = memory.plan(plan_id)
    if receipt is not None:
        assert plan.state is PlanState.APPLIED
        assert dict(receipt.skipped) == dict(plan.skipped)
    done = list(plan.steps)[: plan.cursor]
    return tuple((s.record_id, s.action.value) for s in done if s.record_id not in plan.skipped)


def seen(memory: sfams.Memory) -> dict[str, Known]:
    """Read back what a ledger accounts for."""
    found: dict[str, Known] = {}
    page = memory.list(limit=1000, status=["all"], expired=True)
    assert page.next is None
    for record in page:
        past = memory.versions(record.id) if record.version > 1 else ()
        found[record.id] = Known(
            content=record.content,
            status=record.status.value,
            tier=record.tier.value,
            pinned=record.pinned,
            used=record.usage.used_count,
            past=tuple(each.content for each in past),
            links=frozenset(each.target for each in record.relations),
        )
    return found


def open_at(path: Path, ledger: Ledger, synchronous: str = "FULL") -> sfams.Memory:
    """Open a memory through the front door, its clock driven by the ledger."""
    memory = sfams.open(path, scope=SCOPE, embedder="hashing", policy=POLICY, clock=ledger.clock)
    if synchronous == "FULL":
        return memory
    memory.close()
    store = SqliteStore(path, synchronous=synchronous)
    return sfams.Memory(replace(memory._engine, store=store, background=Background()), memory.scope)
