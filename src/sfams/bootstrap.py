"""The composition root: the only place where clock, ids, stores and providers meet the service."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from uuid import UUID

from sfams.core.policy import Budget, RetentionPolicy, preset
from sfams.core.scope import Scope
from sfams.errors import InvalidInputError
from sfams.ports import Clock, Embedder, IdSource
from sfams.providers.bundled import bundled_embedder
from sfams.providers.hashing import HashingEmbedder
from sfams.service.engine import Engine
from sfams.service.memory import Memory
from sfams.settings import Settings
from sfams.stores.sqlite import SqliteStore

EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "bundled": bundled_embedder,
    "hashing": HashingEmbedder,
}


def system_clock() -> datetime:
    """Read the machine's clock, aware UTC."""
    return datetime.now(UTC)


class Uuid7:
    """Makes UUIDv7 ids (RFC 9562): milliseconds, then a counter that keeps one process in order."""

    def __init__(self) -> None:
        """Start with the present millisecond."""
        self._lock = Lock()
        self._last = 0

    def __call__(self) -> str:
        """Make the next id; later ids sort after earlier ones."""
        with self._lock:
            # 48 bits of milliseconds and 12 bits that count up within one, as one rising number
            self._last = max(self._last + 1, int(time.time() * 1000) << 12)
            rising = self._last
        high = (rising >> 12 << 16) | 0x7000 | (rising & 0xFFF)
        return str(UUID(int=(high << 64) | (0b10 << 62) | secrets.randbits(62)))


def open_memory(
    path: str | Path = "sfams.db",
    *,
    scope: Scope | str | tuple[str, ...] = "default",
    embedder: Embedder | str = "bundled",
    policy: RetentionPolicy | str = "default",
    clock: Clock = system_clock,
    new_id: IdSource | None = None,
) -> Memory:
    """Open a memory in one SQLite file, creating the file if it is not there.

    Args:
        path: The file; ":memory:" for one that vanishes with the process.
        scope: Whose memory, as "acme/alice" or ("acme", "alice").
        embedder: "bundled" (multilingual, offline), "hashing" (no model), or your own `Embedder`.
        policy: A preset's name or a `RetentionPolicy`, the default of `plan_forgetting`.
        clock: Tells the time; tests pass a fake one.
        new_id: Makes record ids; the default is UUIDv7.

    Raises:
        InvalidInputError: Blank scope, unknown embedder or policy, impossible path.
        SchemaMismatchError: The file is not an SF-AMS store or from a newer release.
        StoreUnavailableError: The file cannot be opened for writing.
    """
    where = Scope(scope)
    rules = preset(policy) if isinstance(policy, str) else policy
    model = named_embedder(embedder) if isinstance(embedder, str) else embedder
    engine = Engine(
        store=SqliteStore(path),
        embedder=model,
        clock=clock,
        new_id=new_id or Uuid7(),
        policy=rules,
    )
    return Memory(engine, where)


def named_embedder(name: str) -> Embedder:
    """Make an embedder that comes with SF-AMS.

    Raises:
        InvalidInputError: There is none of this name.
    """
    make = EMBEDDERS.get(name)
    if make is None:
        message = f"embedder: {name!r} is not one of {', '.join(EMBEDDERS)}"
        raise InvalidInputError(message, field="embedder")
    return make()


def policy_of(settings: Settings) -> RetentionPolicy:
    """Take the named preset, with the settings' budget in place of its own where one is given."""
    rules = preset(settings.policy)
    if settings.budget_records is None and settings.budget_tokens is None:
        return rules
    return replace(
        rules, budget=Budget(records=settings.budget_records, tokens=settings.budget_tokens)
    )


def build(settings: Settings) -> Memory:
    """Wire a memory as the settings say."""
    return open_memory(
        settings.db,
        scope=settings.scope,
        embedder=settings.embedder,
        policy=policy_of(settings),
    )
