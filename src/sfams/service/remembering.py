"""Remembering: text -> embed outside any transaction -> admission -> one transaction -> id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from sfams.core.admission import Neighbour, content_hash
from sfams.core.draft import Draft
from sfams.core.importance import prior
from sfams.core.indexing import passage_of, terms_of
from sfams.core.record import MemoryRecord, RecordId, Usage, Validity, parse_kind
from sfams.core.scope import Scope
from sfams.core.text import count_tokens, language_of
from sfams.ports import Reader
from sfams.service.admitting import Admitter, Item, key_holder
from sfams.service.embedding import claim_model, embed_passages
from sfams.service.engine import Engine
from sfams.service.results import RememberResult

CHUNK = 64
"""Texts embedded and committed together."""
NEIGHBOURS = 4

Progress = Callable[[int], object]
"""Called with the number of texts done since the last call."""


def remember_many(
    engine: Engine,
    scope: Scope,
    drafts: Sequence[Draft],
    *,
    wait: bool = True,
    progress: Progress | None = None,
) -> list[RememberResult]:
    """Take texts in, in order; each chunk of 64 is one transaction.

    With `wait=False` the text is durable when this returns and found by keywords; its vector follows
    in the background.
    """
    results: list[RememberResult] = []
    for start in range(0, len(drafts), CHUNK):
        chunk = drafts[start : start + CHUNK]
        results.extend(_remember_chunk(engine, scope, chunk, wait=wait))
        if progress is not None:
            progress(len(chunk))
    return results


def _remember_chunk(
    engine: Engine, scope: Scope, drafts: Sequence[Draft], *, wait: bool
) -> list[RememberResult]:
    now = engine.now()
    items = [_complete(engine, scope, draft, now) for draft in drafts]
    if wait:
        items = _with_vectors(engine, scope, items)
    twin_cosine = engine.admission.twin_cosine(engine.embedder.calibration)
    with engine.store.write() as transaction:
        if any(item.vector is not None for item in items):
            claim_model(engine, transaction)
        admitter = Admitter(transaction, scope, items, now)
        results = [admitter.take(item, twin_cosine) for item in items]
        events = admitter.finish()
    engine.tell(scope, events)
    return results


def _complete(engine: Engine, scope: Scope, draft: Draft, now: datetime) -> Item:
    """Fill in what the caller left open: kind, importance, moments, language, size."""
    estimate = prior(draft.content)
    kind = parse_kind(draft.kind or estimate.kind)
    created_at = draft.created_at or now
    record = MemoryRecord(
        id=engine.record_id(),
        scope=scope,
        content=draft.content,
        content_hash=content_hash(draft, kind),
        kind=kind,
        importance=estimate.importance if draft.importance is None else draft.importance,
        created_at=created_at,
        recorded_at=now,
        updated_at=now,
        expires_at=draft.expiry(created_at),
        entities=draft.entities,
        tags=draft.tags,
        metadata=draft.metadata,
        source=draft.source,
        claim=draft.claim,
        relations=draft.relations,
        derived_from=draft.derived_from,
        usage=draft.usage or Usage(),
        validity=Validity(draft.valid_from, draft.valid_to),
        trust=draft.trust,
        sensitivity=draft.sensitivity,
        language=language_of(draft.content),
        tokens=count_tokens(draft.content),
        key=draft.key,
    )
    return Item(draft, record, terms_of(record))


def _with_vectors(engine: Engine, scope: Scope, items: list[Item]) -> list[Item]:
    """Embed what is not known yet, and find its neighbours. No transaction is open meanwhile."""
    with engine.store.read() as reader:
        known = _known(reader, scope, items)
    fresh = [i for i, item in enumerate(items) if item.record.id not in known]
    texts = [passage_of(items[i].record) for i in fresh]
    embedded = embed_passages(engine, texts)
    result = list(items)
    for i, vector, state in zip(fresh, embedded.vectors, embedded.states, strict=True):
        item = items[i]
        record = replace(item.record, embedding=state)
        warning = embedded.warning if vector is None else ""
        result[i] = replace(item, record=record, vector=vector, warning=warning)
    return _with_neighbours(engine, scope, result)


def _known(reader: Reader, scope: Scope, items: Sequence[Item]) -> set[RecordId]:
    given = reader.by_key(scope, [item.draft.key for item in items if item.draft.key is not None])
    held = (item for item in items if item.draft.key in given)
    keys = {item.draft.key for item in held if key_holder(reader, item) is not None}
    hashes = reader.by_hash(scope, [item.record.content_hash for item in items])
    return {
        item.record.id
        for item in items
        if item.draft.key in keys or item.record.content_hash in hashes
    }


def _with_neighbours(engine: Engine, scope: Scope, items: list[Item]) -> list[Item]:
    """Look for the nearest live records: those in the view, and those earlier in this chunk."""
    at = [i for i, item in enumerate(items) if item.vector is not None]
    if not at:
        return items
    matrix = np.stack([vector for i in at if (vector := items[i].vector) is not None])
    with (
        engine.store.read() as reader,
        engine.views.open(scope, reader, engine.embedder.dimension) as view,
    ):
        rows, cosines = view.nearest(matrix, NEIGHBOURS)
        found = [
            [
                Neighbour(record_id, float(cosine))
                for record_id, cosine in zip(view.ids(row_list), row_cosines, strict=True)
            ]
            for row_list, row_cosines in zip(rows.tolist(), cosines, strict=True)
        ]
    within = matrix @ matrix.T
    result = list(items)
    for n, i in enumerate(at):
        near = found[n] + [Neighbour(items[at[m]].record.id, float(within[n, m])) for m in range(n)]
        near.sort(key=lambda neighbour: -neighbour.similarity)
        result[i] = replace(items[i], neighbours=tuple(near[:NEIGHBOURS]))
    return result
