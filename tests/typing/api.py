"""The public API as its users type it: checked by mypy with the tests, never run.

A line that stops to type-check here breaks programs out there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import sfams
from sfams.core.query import Calibration, Cursor
from sfams.core.record import Entity, PlanId, RecordId
from sfams.ports import EntityCount, PastVersion, ScopeStats
from sfams.service.health import Checkup
from sfams.service.sessions import Session
from sfams.service.transfer import ImportReport


def opening(path: Path) -> None:
    with sfams.open() as memory:
        assert_type(memory, sfams.Memory)
        assert_type(memory.scope, sfams.Scope)
    sfams.open("memory.db", scope="acme/alice").close()
    sfams.open(path, scope=("acme", "alice"), embedder="hashing", policy="classic").close()
    sfams.open(
        ":memory:",
        scope=sfams.Scope("acme/alice"),
        policy=sfams.preset("classic"),
        clock=lambda: datetime(2026, 7, 20, tzinfo=UTC),
        new_id=lambda: "019e2f1a-a827-7000-a8e3-25946badddbe",
    ).close()
    settings = sfams.load_settings(db="memory.db", budget_records=500)
    assert_type(settings, sfams.Settings)
    assert_type(sfams.build(settings), sfams.Memory)


class OwnEmbedder:
    """Satisfies the protocol by its shape alone."""

    model_id = "own/1"
    dimension = 2
    calibration = Calibration(0.0, 0.1)

    def embed_passages(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), np.float32)

    def embed_query(self, text: str, /) -> NDArray[np.float32]:
        return np.ones(2, np.float32)

    def close(self) -> None:
        pass


def own_embedder() -> None:
    sfams.open("memory.db", embedder=OwnEmbedder()).close()


def remembering(memory: sfams.Memory) -> None:
    result = memory.remember("The demo moves to 1 November.")
    assert_type(result, sfams.RememberResult)
    assert_type(result.id, RecordId)
    memory.remember("Tea at four.", kind=sfams.Kind.NOTE, importance=0.4, ttl="30d", wait=False)
    memory.remember("Tea at four.", kind="note:draft", importance=1, ttl=timedelta(days=30))
    memory.remember(
        "Mira lives in Graz.",
        created_at="2026-07-20T12:00:00Z",
        expires_at=datetime(2027, 1, 1, tzinfo=UTC),
        entities=["person:Mira", Entity("Graz", "place")],
        tags={"home"},
        metadata={"ticket": 88, "nested": {"ok": True}},
        who="Mira",
        role="user",
        session="chat-7",
        turn=12,
        key="crm-4711",
        supersedes=result.id,
        trust=0.8,
        sensitivity="sensitive",
    )
    memory.remember("Beta is due.", subject="beta", attribute="date", value="05-04")
    memory.remember("Not given.", kind=None, importance=None, ttl=None)
    memory.remember("No such field.", importence=0.9)  # type: ignore[call-arg]  # a typing error is found before the program runs
    memory.remember("No number.", importance="high")  # type: ignore[arg-type]  # the same for a wrong type


def remembering_many(memory: sfams.Memory) -> None:
    draft = sfams.Draft(content="A draft.", importance=0.5)
    results = memory.remember_many(["A text.", draft, {"content": "A mapping.", "kind": "fact"}])
    assert_type(results, list[sfams.RememberResult])
    memory.remember_many((text for text in ("a", "b")), progress=print)
    assert_type(memory.embed_pending(), int)


def recalling(memory: sfams.Memory) -> None:
    found = memory.recall("when is the demo?", k=3, mode="hybrid", min_score=0.2)
    assert_type(found, sfams.RecallResult)
    for hit in found:
        assert_type(hit, sfams.Hit)
        assert_type(hit.score, float)
        assert_type(hit.record, sfams.MemoryRecord)
        assert_type(hit.record.kind, str)
        assert_type(hit.record.expires_at, datetime | None)
        parts = [f"{name} {part:.2f}" for name, part in hit.parts.items()]
        assert_type(parts, list[str])
    assert_type(found[0], sfams.Hit)
    assert_type(found[:2], tuple[sfams.Hit, ...])
    assert_type(len(found), int)
    assert_type(found.warnings, tuple[str, ...])
    memory.recall(
        kinds=["fact"], since="2026-07-20", until=1_784_600_000, tags=["x"], order="importance"
    )
    memory.recall("demo", status=["superseded"], tier="cold", expired=True, below=True, count=False)
    memory.recall("demo", kinds=("fact",), turn="chat-7/12")
    memory.recall("demo", limit=3)  # type: ignore[call-arg]  # it is called k

    block = memory.context("what does Mira like?", tokens=800, entities=["person:Mira"])
    assert_type(block, sfams.ContextBlock)
    assert_type(block.text, str)
    assert_type(block.omitted, int)


def reading(memory: sfams.Memory, record_id: str) -> None:
    record = memory.get(record_id)
    assert_type(record.status, sfams.Status)
    assert_type(record.tier, sfams.Tier)
    assert_type(record.usage.access_count, int)
    page = memory.list(limit=10, order="importance", descending=False, kinds=["fact"])
    assert_type(page, sfams.Listing)
    assert_type(page.next, Cursor | None)
    assert_type([each.content for each in page], list[str])
    memory.list(after=page.next)
    assert_type(memory.entities(), Sequence[EntityCount])
    assert_type(memory.versions(record_id), Sequence[PastVersion])
    assert_type(memory.timeline(record_id), tuple[sfams.MemoryRecord, ...])
    assert_type(memory.stats(), ScopeStats)
    for event in memory.history(record_id):
        assert_type(event.at, datetime)


def changing(memory: sfams.Memory, record_id: str) -> None:
    changed = memory.update(record_id, content="Other words.", importance=0.2, expected_version=1)
    assert_type(changed, sfams.MemoryRecord)
    memory.supersede(record_id, changed.id)
    assert_type(memory.link(record_id, changed.id, "supports"), bool)
    assert_type(memory.unlink(record_id, changed.id), bool)
    assert_type(memory.reinforce([record_id], session="chat-7", outcome="helped"), int)


def policies() -> sfams.RetentionPolicy:
    simple = sfams.Linear(alpha=0.7, beta=0.0, gamma=0.3, delta=0.0, recency="half_life")
    sfams.Linear(recency="quadratic")  # type: ignore[arg-type]  # not one of the two shapes
    return sfams.RetentionPolicy(
        name="mine",
        model=simple,
        budget=sfams.Budget(records=500, tokens=20_000),
        threshold=0.15,
        share_action=sfams.Action.DELETE,
        floor=0.8,
        grace=timedelta(days=3),
        max_share=0.05,
        undo_window=timedelta(days=60),
    )


def forgetting(memory: sfams.Memory) -> None:
    plan = memory.plan_forgetting()
    assert_type(plan, sfams.ForgettingPlan)
    assert_type(memory.plan_forgetting(policies()), sfams.ForgettingPlan)
    for step in plan.steps:
        assert_type(step, sfams.ForgettingStep)
        assert_type(step.action, sfams.Action)
        assert_type(step.score, float)
    assert_type(plan.steps[0], sfams.ForgettingStep)
    assert_type(plan.steps[:5], list[sfams.ForgettingStep])
    assert_type(plan.count(sfams.Action.DEMOTE), int)
    assert_type(memory.plans(), Sequence[PlanId])
    assert_type(memory.plan(plan.id), sfams.ForgettingPlan)
    receipt = memory.forget(plan, override_blast_radius=True)
    assert_type(receipt, sfams.Receipt)
    assert_type(receipt.undo_until, datetime | None)
    memory.forget(plan.id)
    memory.restore()
    memory.restore(plan)
    memory.restore(plan.id)
    memory.restore([step.record_id for step in plan.steps])


def removing(memory: sfams.Memory, ids: list[str]) -> None:
    assert_type(memory.delete(ids), sfams.Receipt)
    memory.delete(tags=["draft"])
    receipt = memory.erase(who="Mira", dry_run=True)
    assert_type(receipt, sfams.EraseReceipt)
    memory.erase(ids[0])
    memory.erase(everything=True)
    for act in (memory.pin, memory.unpin, memory.hold, memory.release):
        assert_type(act(ids), sfams.Receipt)
        act(ids[0])


def explaining(memory: sfams.Memory) -> None:
    answer = memory.explain("The demo is on 15 October.", query="when is the demo?", k=5)
    assert_type(answer, sfams.Explanation)
    assert_type(answer.sentence, str)
    assert_type(answer.score, float | None)
    assert_type(answer.place, int | None)


def scopes_and_sessions(memory: sfams.Memory) -> None:
    for scope in memory.scopes():
        assert_type(scope, sfams.Scope)
        assert_type(memory.within(scope), sfams.Memory)
    memory.within("acme/bob")
    memory.within(("acme", "bob"))
    with memory.session("chat-7") as session:
        assert_type(session, Session)
        assert_type(session.turn(), int)


def moving_and_mending(memory: sfams.Memory) -> None:
    lines = list(memory.export(kinds=["fact"]))
    assert_type(lines, list[str])
    assert_type(memory.import_(lines, progress=print), ImportReport)
    checkup = memory.doctor(repair=True)
    assert_type(checkup, Checkup)
    assert_type(checkup.healthy, bool)
    memory.flush()


def errors(memory: sfams.Memory) -> str:
    try:
        memory.get("nonsense")
    except (sfams.InvalidInputError, sfams.NotFoundError) as error:
        assert_type(error.retryable, bool)
        return str(error.context.get("field", ""))
    except sfams.SfamsError:
        raise
    return ""


async def awaited(path: Path) -> None:
    async with await sfams.open_async(path, scope="acme/alice") as memory:
        assert_type(memory, sfams.AsyncMemory)
        assert_type(await memory.remember("A text.", kind="fact"), sfams.RememberResult)
        assert_type(await memory.recall("text", k=3), sfams.RecallResult)
        assert_type([line async for line in memory.export(below=True)], list[str])
