"""Catching up: vectors for records that were stored without one (wait=False, embedder down)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sfams.core.admission import Outcome
from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.indexing import passage_of, terms_of
from sfams.core.record import EmbeddingState, MemoryRecord, Status
from sfams.core.scope import Scope
from sfams.errors import ProviderError
from sfams.ports import Entry
from sfams.service.embedding import NOT_OURS, Embedded, claim_model, embed_passages
from sfams.service.engine import Engine
from sfams.service.results import Progress, RememberResult

logger = logging.getLogger("sfams")

BATCH = 64


def follow_up(engine: Engine, scope: Scope, results: Sequence[RememberResult]) -> None:
    """See to what waits: once the embedder has answered, earlier texts get their vectors in the background.

    A scope is looked at once after opening and once after each failure, so an embedder that is down is
    never asked by this.
    """
    stored = [result for result in results if result.outcome is not Outcome.REFUSED]
    if not all(result.embedded for result in stored):
        engine.waiting.note(scope)
        return
    answered = any(result.outcome is not Outcome.DUPLICATE for result in stored)
    if answered and engine.waiting.take(scope):
        engine.background.submit(partial(catch_up, engine, scope))


def catch_up(engine: Engine, scope: Scope) -> None:
    """Embed what waits in a scope, as a job: an embedder that fails again is noted and logged."""
    try:
        embed_pending(engine, scope)
    except ProviderError as error:
        engine.waiting.note(scope)
        logger.warning("records of %s still wait for a vector: %s", scope, error)


def embed_pending(engine: Engine, scope: Scope, progress: Progress | None = None) -> int:
    """Embed what waits in a scope; returns how many have a vector now. Without an embedder all wait on.

    Raises:
        ProviderError: The embedder fails still; what was done stays done.
    """
    if not engine.embedder.dimension:
        return 0
    done = 0
    while True:
        with engine.store.read() as reader:
            waiting = [
                record
                for record in reader.pending(scope, BATCH)
                if record.embedding is EmbeddingState.PENDING
            ]
        if not waiting:
            return done
        texts = [passage_of(record) for record in waiting]
        embedded = embed_passages(engine, texts)
        if all(state is EmbeddingState.PENDING for state in embedded.states):
            raise ProviderError(embedded.warning)
        done += _attach(engine, scope, waiting, embedded)
        if progress is not None:
            progress(len(waiting))


def _attach(
    engine: Engine, scope: Scope, waiting: Sequence[MemoryRecord], embedded: Embedded
) -> int:
    """Write vectors to records that still say what was embedded.

    Raises:
        ProviderError: The store has been reindexed for another model meanwhile.
    """
    now = engine.now()
    with engine.store.write() as transaction:
        current = {record.id: record for record in transaction.get(scope, [r.id for r in waiting])}
        entries: list[Entry] = []
        for seen, vector, state in zip(waiting, embedded.vectors, embedded.states, strict=True):
            record = current.get(seen.id)
            if record is None or record.version != seen.version or record.status is not Status.LIVE:
                continue
            entries.append(Entry(replace(record, embedding=state), terms_of(record), vector))
        attached = [entry for entry in entries if entry.vector is not None]
        if attached and not claim_model(engine, transaction):
            raise ProviderError(NOT_OURS)
        events = [
            MemoryEvent(type=EventType.EMBEDDED, at=now, record_id=e.record.id, actor=Actor.SYSTEM)
            for e in attached
        ]
        transaction.replace(entries)
        transaction.append(scope, events)
    engine.tell(scope, events)
    return len(attached)
