"""AsyncMemory: the same verbs, off the loop, and whole whatever is cancelled."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import sfams
from sfams.bootstrap import open_async, open_memory
from sfams.core.view import Vector
from sfams.service.aio import AsyncMemory, AsyncSession
from sfams.service.aio_verbs.base import READERS
from sfams.service.memory import Memory
from sfams.service.sessions import Session
from sfams.testing.embedders import ScriptedEmbedder

pytestmark = pytest.mark.anyio

PAIRS = [(Memory, AsyncMemory), (Session, AsyncSession)]
NO_WORK = {"within", "with_summarizer", "off_the_record"}
"""Verbs that touch neither file nor model, and are no coroutines."""
RETURNS = {
    "AsyncMemory": "Memory",
    "AsyncSession": "Session",
    "AsyncIterator[str]": "Iterator[str]",
}


def verbs(kind: type) -> dict[str, Any]:
    return {
        name: member
        for part in reversed(kind.__mro__)
        for name, member in vars(part).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }


class GatedEmbedder(ScriptedEmbedder):
    """Waits in every call until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Event()
        self.gate = threading.Event()

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        self.entered.set()
        assert self.gate.wait(30)
        return super().embed_passages(texts)


@pytest.fixture
async def memory(tmp_path: Path, anyio_backend: str) -> Any:
    async with await sfams.open_async(
        tmp_path / "memory.db", scope="acme/alice", embedder="hashing"
    ) as opened:
        yield opened


@pytest.mark.parametrize(("plain", "awaited"), PAIRS)
def test_the_verbs_are_the_same(plain: type, awaited: type) -> None:
    assert sorted(verbs(awaited)) == sorted(verbs(plain))
    for name, verb in verbs(plain).items():
        twin = verbs(awaited)[name]
        ours, theirs = inspect.signature(verb), inspect.signature(twin)
        assert list(theirs.parameters.values()) == list(ours.parameters.values()), name
        returned = str(theirs.return_annotation)
        assert RETURNS.get(returned, returned) == str(ours.return_annotation), name
        works = inspect.iscoroutinefunction(twin) or inspect.isasyncgenfunction(twin)
        assert works == (name not in NO_WORK), name
        assert twin.__doc__, name


def test_opening_takes_the_same_parameters() -> None:
    ours, theirs = inspect.signature(open_memory), inspect.signature(open_async)
    assert theirs.parameters == ours.parameters


async def test_every_verb_reaches_its_twin(memory: AsyncMemory) -> None:
    kiln = (await memory.remember("The kiln fires at 1040 degrees.")).id
    many = await memory.remember_many(["窑温一千零四十度", {"text": "Bake at noon."}], wait=False)
    await memory.flush()
    assert await memory.embed_pending() == 0
    await memory.update(kiln, content="The kiln fires at 1060 degrees.", expected_version=1)
    assert await memory.link(kiln, many[0].id)
    assert await memory.unlink(kiln, many[0].id)
    assert await memory.reinforce(kiln, session="s1") == 1
    assert (await memory.recall("kiln", k=1))[0].record.id == kiln
    assert kiln in (await memory.context("kiln", tokens=200)).ids
    assert (await memory.get(kiln)).version == 2
    assert len((await memory.list(limit=2)).records) == 2
    assert await memory.entities() == []
    assert (await memory.history(kiln))[0].type == "remembered"
    assert [past.content for past in await memory.versions(kiln)] == [
        "The kiln fires at 1040 degrees."
    ]
    await memory.supersede(many[1].id, kiln)
    assert kiln in [record.id for record in await memory.timeline(kiln)]
    assert (await memory.explain(kiln, query="kiln")).record_id == kiln
    for protect in (memory.pin, memory.unpin, memory.hold, memory.release):
        await protect([kiln])
    plan = await memory.plan_forgetting(sfams.RetentionPolicy(budget=sfams.Budget(records=0)))
    assert (await memory.plan(plan.id)).id == plan.id
    assert list(await memory.plans()) == [plan.id]
    assert (await memory.forget(plan)).demoted == 2
    assert (await memory.restore()).restored == 2
    assert (await memory.delete([kiln])).deleted == 1
    assert (await memory.stats()).hot == 1
    lines = [line async for line in memory.export()]
    other = memory.within("acme/bob")
    assert (await other.import_(lines)).added == 3
    assert (await memory.scopes(), len(await memory.within("acme").scopes())) == (
        [sfams.Scope("acme/alice")],
        2,
    )
    assert [line async for line in memory.export_subject(subject="kiln")]
    assert await memory.plan_request("What is the kiln?") is None
    assert not (await memory.off_the_record().remember("Nobody hears.")).stored
    assert len((await other.erase(everything=True)).ids) == 3
    assert [each.count for each in await other.erasures()] == [3]
    assert await other.lift(kiln) == (kiln,)
    assert (await memory.doctor(repair=True)).healthy
    async with await memory.session("s2") as session:
        assert (await session.turn(), session.current, session.id) == (1, 1, "s2")


async def test_many_at_once_lose_nothing(memory: AsyncMemory) -> None:
    async def tell(n: int) -> None:
        await memory.remember(f"Boat {n} lies at pier {n}. 船{n}号")
        assert len(await memory.recall(f"boat {n}")) > 0

    async with anyio.create_task_group() as group:
        for n in range(50):
            group.start_soon(tell, n)
    assert (await memory.stats()).hot == 50
    assert (await memory.doctor()).healthy


async def test_the_loop_and_readers_go_on_while_writers_wait(tmp_path: Path) -> None:
    model = GatedEmbedder()
    async with await sfams.open_async(tmp_path / "m.db", embedder=model) as memory:
        async with anyio.create_task_group() as group:
            for n in range(2 * READERS):  # more than there are threads for
                group.start_soon(memory.remember, f"Note {n}.")
            await anyio.to_thread.run_sync(model.entered.wait)
            assert (await memory.stats()).hot == 0
            assert len(await memory.recall("note", mode="keyword")) == 0
            model.gate.set()
        assert (await memory.stats()).hot == 2 * READERS


async def test_what_is_cancelled_half_way_is_finished(tmp_path: Path) -> None:
    model = GatedEmbedder()
    async with await sfams.open_async(tmp_path / "m.db", embedder=model) as memory:
        async with anyio.create_task_group() as group:

            async def cancelled() -> None:
                with anyio.CancelScope() as scope:
                    group.start_soon(cut, scope)
                    await memory.remember("It is written whole.")  # and it says so
                    await anyio.lowlevel.checkpoint()
                assert scope.cancelled_caught

            async def cut(scope: anyio.CancelScope) -> None:
                await anyio.to_thread.run_sync(model.entered.wait)
                scope.cancel()
                model.gate.set()

            group.start_soon(cancelled)
        assert len(await memory.recall("written whole")) == 1
        assert (await memory.doctor()).healthy
        assert (await memory.remember("It goes on.")).embedded


async def test_closing_finishes_what_was_begun(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with await sfams.open_async(path, embedder="hashing") as memory:
        await memory.remember("The vector follows.", wait=False)
        await memory.recall("vector")
    with sfams.open(path, embedder="hashing") as again:
        record = again.list().records[0]
        assert (record.embedding, record.usage.access_count) == ("ready", 1)


async def test_what_cannot_be_opened_says_so(tmp_path: Path) -> None:
    with pytest.raises(sfams.InvalidInputError, match="is a directory"):
        await sfams.open_async(tmp_path, embedder="hashing")
