"""Fixtures that every test may use: a clock that does not tick, and memories on both stores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings

from sfams.bootstrap import Uuid7
from sfams.core.scope import Scope
from sfams.ports import Embedder, Store
from sfams.providers.hashing import HashingEmbedder
from sfams.service.engine import Engine
from sfams.service.memory import Memory
from sfams.stores.memory import DictStore
from sfams.stores.sqlite import SqliteStore
from sfams.testing import FakeClock

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

# In CI the state machine makes long runs (see properties/test_store_machine.py) and a failure prints
# what reproduces it; elsewhere it is as short as the tests around it.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=False, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")

OpenMemory = Callable[..., Memory]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture(params=["dict", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Both stores: whatever the service promises holds on each."""
    return DictStore() if request.param == "dict" else SqliteStore(tmp_path / "memory.db")


@pytest.fixture
def open_memory(store: Store, clock: FakeClock) -> Iterator[OpenMemory]:
    """Wire memories over one store; all are closed at the end."""
    opened: list[Memory] = []

    def make(scope: str = "acme/me", embedder: Embedder | None = None) -> Memory:
        engine = Engine(
            store=store,
            embedder=embedder or HashingEmbedder(),
            clock=clock,
            new_id=Uuid7(),
            automatic=False,  # what runs by itself when a clock jumps has tests of its own
        )
        opened.append(Memory(engine, Scope(scope)))
        return opened[-1]

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()
