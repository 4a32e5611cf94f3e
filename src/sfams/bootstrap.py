"""The composition root: the only place where clock, ids, stores and providers meet the service."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from uuid import UUID

from anyio import to_thread

from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.presets import DEFAULT_POLICY, preset
from sfams.core.scope import Scope
from sfams.core.sensitivity import SensitiveRule
from sfams.errors import InvalidInputError, NotFoundError
from sfams.ports import Clock, Embedder, IdSource
from sfams.providers.bundled import bundled_embedder
from sfams.providers.deadline import DeadlineEmbedder
from sfams.providers.fastembed import fastembed_embedder
from sfams.providers.hashing import HashingEmbedder
from sfams.providers.model import ModelOptions
from sfams.providers.none import NoEmbedder
from sfams.providers.openai_compatible import Endpoint, openai_embedder
from sfams.providers.rules import RulesSummarizer
from sfams.providers.sentence_transformers import sentence_transformers_embedder
from sfams.service import reindexing
from sfams.service.aio import AsyncMemory
from sfams.service.embedding import check_model
from sfams.service.engine import Engine, Reading
from sfams.service.memory import Memory
from sfams.service.reindexing import ReindexProgress, ReindexReport
from sfams.settings import REMOTE, Settings, load_settings, unknown_embedder
from sfams.stores.sqlite import SqliteStore

EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "bundled": bundled_embedder,
    "hashing": HashingEmbedder,
    "none": NoEmbedder,
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
    policy: RetentionPolicy | str = "adaptive",
    clock: Clock = system_clock,
    new_id: IdSource | None = None,
) -> Memory:
    """Open a memory in one SQLite file, creating the file if it is not there.

    Args:
        path: The file; ":memory:" for one that vanishes with the process.
        scope: Whose memory, as "acme/alice" or ("acme", "alice").
        embedder: "bundled" (multilingual, offline), "hashing" (no model), "none" (keywords only),
            "openai:MODEL", "sentence-transformers:MODEL" or "fastembed:MODEL" (extras; the settings name
            endpoint, key and prefixes), or your own `Embedder`.
        policy: A preset's name or a `RetentionPolicy`, the default of `plan_forgetting`.
        clock: Tells the time; tests pass a fake one.
        new_id: Makes record ids; the default is UUIDv7.

    Raises:
        InvalidInputError: Blank scope, unknown embedder or policy, impossible path.
        ModelMismatchError: Its vectors are from another embedding model; see `reindex`.
        SchemaMismatchError: The file is not an SF-AMS store or from a newer release.
        StoreUnavailableError: The file cannot be opened for writing.
    """
    where = Scope(scope)
    rules = preset(policy) if isinstance(policy, str) else policy
    return Memory(_checked(_wire(path, embedder, rules, clock, new_id)), where)


async def open_async(
    path: str | Path = "sfams.db",
    *,
    scope: Scope | str | tuple[str, ...] = "default",
    embedder: Embedder | str = "bundled",
    policy: RetentionPolicy | str = "adaptive",
    clock: Clock = system_clock,
    new_id: IdSource | None = None,
) -> AsyncMemory:
    """Open a memory whose verbs are awaited, on a worker thread: see `open_memory`."""
    opened = partial(
        open_memory,
        path,
        scope=scope,
        embedder=embedder,
        policy=policy,
        clock=clock,
        new_id=new_id,
    )
    return AsyncMemory(await to_thread.run_sync(opened))


def reindex(
    path: str | Path,
    *,
    embedder: Embedder | str = "bundled",
    force: bool = False,
    progress: ReindexProgress | None = None,
    clock: Clock = system_clock,
) -> ReindexReport:
    """Make all vectors of a file anew with another embedder, in all its scopes.

    Others may read and write meanwhile: the old vectors serve until the last new one is there. Broken off,
    it goes on where it stopped. Memories open with the old embedder search by keywords from then on.

    Args:
        path: The file.
        embedder: As for `open`.
        force: Make them anew even if they are from this embedder, and the keywords too.
        progress: Called with how many records are done, and of how many.
        clock: Tells the time.

    Raises:
        NotFoundError: There is no such file.
        InvalidInputError: There is no embedder of that name, or it is "none".
        ProviderError: The embedder failed; what is made so far is kept.
    """
    if not Path(path).exists():
        raise NotFoundError(f"there is no memory at {path}", path=str(path))
    engine = _wire(path, embedder, DEFAULT_POLICY, clock, None)
    try:
        return reindexing.reindex(engine, force=force, progress=progress)
    finally:
        engine.close()


def _wire(
    path: str | Path,
    embedder: Embedder | str,
    policy: RetentionPolicy,
    clock: Clock,
    new_id: IdSource | None,
) -> Engine:
    model = make_embedder(embedder) if isinstance(embedder, str) else embedder
    return Engine(
        store=SqliteStore(path),
        embedder=model,
        clock=clock,
        new_id=new_id or Uuid7(),
        policy=policy,
        summarizer=RulesSummarizer(),
    )


def _checked(engine: Engine) -> Engine:
    """Close what was wired again if its store has vectors of another model."""
    try:
        check_model(engine)
    except BaseException:
        engine.close()
        raise
    return engine


def make_embedder(name: str, settings: Settings | None = None) -> Embedder:
    """Make an embedder by name; those of the extras take endpoint, key and prefixes from the settings."""
    provider, _, model = name.partition(":")
    if name in EMBEDDERS:
        return EMBEDDERS[name]()
    if provider not in REMOTE or not model.strip():
        raise InvalidInputError(f"embedder: {unknown_embedder(name)}", field="embedder")
    how = settings or load_settings()
    options = ModelOptions(
        dimension=how.embedder_dimension,
        query_prefix=how.embedder_query_prefix,
        passage_prefix=how.embedder_passage_prefix,
    )
    if provider == "openai":
        key = None if how.embedder_key is None else how.embedder_key.get_secret_value()
        where = Endpoint(url=how.embedder_url, key=key, timeout=how.embedder_deadline)
        made = openai_embedder(model, where, options)
    else:
        make = sentence_transformers_embedder if provider != "fastembed" else fastembed_embedder
        made = make(model, options)
    return DeadlineEmbedder(made, how.embedder_deadline)


def policy_of(settings: Settings) -> RetentionPolicy:
    """Take the named preset, with the settings' budget in place of its own where one is given."""
    rules = preset(settings.policy)
    if settings.budget_records is None and settings.budget_tokens is None:
        return rules
    return replace(
        rules, budget=Budget(records=settings.budget_records, tokens=settings.budget_tokens)
    )


def build(settings: Settings, *, any_model: bool = False) -> Memory:
    """Wire a memory as the settings say; `any_model` opens a store of another embedding model too.

    Such a memory is searched by keywords, says so, and leaves what is new waiting for a vector.
    """
    where = Scope(settings.scope)
    embedder = make_embedder(settings.embedder, settings)
    wired = _wire(settings.db, embedder, policy_of(settings), system_clock, None)
    engine = replace(wired, reading=reading_of(settings))
    if settings.receipt_key is not None:
        engine = replace(engine, receipt_key=settings.receipt_key.get_secret_value().encode())
    return Memory(engine if any_model else _checked(engine), where)


def reading_of(settings: Settings) -> Reading:
    """Take how texts are read from the settings."""
    return Reading(
        sensitive_rule=SensitiveRule(settings.sensitive),
        zone=settings.zone,
        entities=settings.extract_entities,
    )
