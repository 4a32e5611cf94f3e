"""Remembering: text -> embed outside any transaction -> admission -> one transaction -> id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import compress

import numpy as np

from sfams.core.admission import Neighbour, Outcome, content_hash
from sfams.core.draft import Draft
from sfams.core.importance import prior
from sfams.core.indexing import index_text, terms_of
from sfams.core.lifetimes import lifetime
from sfams.core.record import (
    EmbeddingState,
    MemoryRecord,
    RecordId,
    Sensitivity,
    Usage,
    Validity,
    parse_kind,
)
from sfams.core.salience import salience_given
from sfams.core.scope import Scope
from sfams.core.text import count_tokens, language_of
from sfams.core.tombstones import barring
from sfams.core.view import Vector
from sfams.ports import Reader
from sfams.service.admitting import Admitter, Item, key_holder
from sfams.service.embedding import NOT_OURS, claim_model, embed_passages
from sfams.service.engine import Engine
from sfams.service.hearing import Heard, hear, remember_style
from sfams.service.regretting import note_retold
from sfams.service.results import Progress, RememberResult
from sfams.service.screening import refused, screen
from sfams.service.silence import UNSAID

CHUNK = 64
"""Texts embedded and committed together."""
NEIGHBOURS = 4


def remember_many(
    engine: Engine,
    scope: Scope,
    drafts: Sequence[Draft],
    *,
    wait: bool = True,
    erased: bool = False,
    progress: Progress | None = None,
) -> list[RememberResult]:
    """Take texts in, in order; each chunk of 64 is one transaction.

    With `wait=False` the text is durable when this returns and found by keywords; its vector follows
    in the background. What was erased here is refused, one by one, unless `erased` lets it back in; what
    belongs to a session off the record is passed over.
    """
    results: list[RememberResult] = []
    for start in range(0, len(drafts), CHUNK):
        chunk = drafts[start : start + CHUNK]
        # Asked once: a session may end, or begin, while the others are stored.
        quiet = [engine.silence.covers(scope, draft) for draft in chunk]
        loud = [draft for draft, unsaid in zip(chunk, quiet, strict=True) if not unsaid]
        told = iter(_remember_screened(engine, scope, loud, wait=wait, erased=erased))
        results += [UNSAID if unsaid else next(told) for unsaid in quiet]
        if progress is not None:
            progress(len(chunk))
    return results


def _remember_screened(
    engine: Engine, scope: Scope, drafts: Sequence[Draft], *, wait: bool, erased: bool
) -> list[RememberResult]:
    """Take in what the scope's rule lets in, and report the rest in its place."""
    screened = screen(engine, scope, drafts)
    let_in = [each.draft for each in screened if each.draft is not None]
    told = iter(_remember_chunk(engine, scope, let_in, wait=wait, erased=erased) if let_in else ())
    results = []
    for each in screened:
        if each.draft is None:
            results.append(refused(each.warning))
            continue
        result = next(told)
        if each.warning:
            result = replace(result, warnings=(*result.warnings, each.warning))
        results.append(result)
    return results


@dataclass(frozen=True, slots=True)
class _Judged:
    """A draft with what its text alone tells, and the id it will have if it is new."""

    id: RecordId
    draft: Draft
    kind: str
    importance: float
    content_hash: str
    bars: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where a text lies among others; without a vector it is known already or has to wait."""

    vector: Vector | None = None
    state: EmbeddingState = EmbeddingState.PENDING
    neighbours: tuple[Neighbour, ...] = ()
    warning: str = ""


_UNPLACED = _Placed()


def _remember_chunk(
    engine: Engine, scope: Scope, drafts: Sequence[Draft], *, wait: bool, erased: bool
) -> list[RememberResult]:
    now = engine.now()
    judged = [_judge(engine, draft, erased=erased) for draft in drafts]
    placed = _place(engine, scope, judged) if wait else [_UNPLACED] * len(judged)
    heard = hear(engine, scope, [(each.draft.source.who, each.draft.content) for each in judged])
    twin_cosine = engine.admission.twin_cosine(engine.embedder.calibration)
    items = [
        _complete(scope, text, (place, sound), now, engine.reading.zone)
        for text, place, sound in zip(judged, placed, heard, strict=True)
    ]
    with engine.store.write() as transaction:
        if any(item.vector is not None for item in items) and not claim_model(engine, transaction):
            items = [_without_vector(item) for item in items]
        admitter = Admitter(transaction, scope, items, now)
        results = [admitter.take(item, twin_cosine) for item in items]
        events = admitter.finish()
        new = (each.stored and each.outcome is not Outcome.DUPLICATE for each in results)
        fresh = [*new]
        told = [each.record.content_hash for each in compress(items, fresh)]
        note_retold(transaction, scope, told, now)
        remember_style(transaction, scope, compress(heard, fresh))
    engine.board.added(scope, (item.record for item in compress(items, fresh)))
    engine.tell(scope, events)
    return results


def _judge(engine: Engine, draft: Draft, *, erased: bool) -> _Judged:
    """Fill in kind and importance where the caller left them open."""
    estimate = prior(draft.content)
    kind = parse_kind(draft.kind or estimate.kind)
    importance = estimate.importance if draft.importance is None else draft.importance
    bars = () if erased else barring(draft, kind)
    return _Judged(engine.record_id(), draft, kind, importance, content_hash(draft, kind), bars)


def _complete(
    scope: Scope, text: _Judged, found: tuple[_Placed, Heard], now: datetime, zone: tzinfo
) -> Item:
    """Make the record: moments, language and size are what is still missing."""
    draft, (place, sound) = text.draft, found
    created_at = draft.created_at or now
    own = None if draft.dated else lifetime(draft.content, created_at, zone)
    record = MemoryRecord(
        id=text.id,
        scope=scope,
        content=draft.content,
        content_hash=text.content_hash,
        kind=text.kind,
        importance=text.importance,
        created_at=created_at,
        recorded_at=now,
        updated_at=now,
        expires_at=draft.expiry(created_at) if own is None else own.until,
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
        salience=sound.salience.value
        if draft.importance is None
        else salience_given(draft.importance),
        sensitivity=draft.sensitivity or Sensitivity.NORMAL,
        language=language_of(draft.content),
        tokens=count_tokens(draft.content),
        embedding=place.state,
        key=draft.key,
    )
    return Item(
        draft=draft,
        record=record,
        terms=terms_of(record, sound.terms),
        vector=place.vector,
        neighbours=place.neighbours,
        warning=place.warning,
        holds="" if own is None else own.reason,
        bars=text.bars,
    )


def _without_vector(item: Item) -> Item:
    """Take the vector from an item whose model is not the store's any more."""
    record = replace(item.record, embedding=EmbeddingState.PENDING)
    return replace(item, record=record, vector=None, neighbours=(), warning=NOT_OURS)


def _place(engine: Engine, scope: Scope, texts: Sequence[_Judged]) -> list[_Placed]:
    """Embed what is not known yet, and find its neighbours. No transaction is open meanwhile."""
    with engine.store.read() as reader:
        known = _known(reader, scope, texts)
    fresh = [i for i, text in enumerate(texts) if text.id not in known]
    drafts = [texts[i].draft for i in fresh]
    embedded = embed_passages(engine, [index_text(d.source.who, d.content) for d in drafts])
    vectors = {i: v for i, v in zip(fresh, embedded.vectors, strict=True) if v is not None}
    # Read only now: an embedder may learn its calibration with its first vector.
    floor = engine.admission.twin_cosine(engine.embedder.calibration)
    near = _neighbours(engine, scope, {texts[i].id: v for i, v in vectors.items()}, floor)
    placed = [_UNPLACED] * len(texts)
    for i, state in zip(fresh, embedded.states, strict=True):
        vector = vectors.get(i)
        warning = embedded.warning if vector is None else ""
        placed[i] = _Placed(vector, state, near.get(texts[i].id, ()), warning)
    return placed


def _known(reader: Reader, scope: Scope, texts: Sequence[_Judged]) -> set[RecordId]:
    keys = [text.draft.key for text in texts if text.draft.key is not None]
    given = reader.by_key(scope, keys) if keys else {}
    hashes = reader.by_hash(scope, [text.content_hash for text in texts])
    # What was erased is not shown to an embedder again either.
    barred = reader.tombstones(scope, [name for text in texts for name in text.bars])
    return {
        text.id
        for text in texts
        if text.content_hash in hashes
        or not barred.keys().isdisjoint(text.bars)
        or (
            text.draft.key in given
            and key_holder(reader, scope, text.draft.key, text.content_hash) is not None
        )
    }


def _neighbours(
    engine: Engine, scope: Scope, vectors: Mapping[RecordId, Vector], floor: float
) -> dict[RecordId, tuple[Neighbour, ...]]:
    """Look for twins: near live records, those in the view and those earlier in this chunk."""
    if not vectors:
        return {}
    matrix = np.stack(list(vectors.values()))
    with (
        engine.store.read() as reader,
        engine.views.open(scope, reader, engine.embedder.dimension) as view,
    ):
        found = view.neighbours(matrix, floor=floor, k=NEIGHBOURS)
    ids = list(vectors)
    within = np.tril(matrix @ matrix.T, -1)
    for later, earlier in np.argwhere(within >= floor).tolist():
        found[later].append((ids[earlier], float(within[later, earlier])))
    return {
        record_id: tuple(Neighbour(*each) for each in near)
        for record_id, near in zip(ids, found, strict=True)
        if near
    }
