"""Reindexing: every vector made anew by the embedder in use, beside readers and writers.

What is made is laid aside in the store; the old vectors serve until the last one is there, and all change
places in one transaction. A reindex that was broken off goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.indexing import passage_of, terms_of
from sfams.core.query import Cursor, Filter, Order, Page
from sfams.core.record import MemoryRecord, RecordId, Status
from sfams.core.reindex import Adoption
from sfams.core.scope import Scope
from sfams.core.text import TOKENIZER_VERSION
from sfams.core.view import Vector
from sfams.errors import InvalidInputError, ProviderError
from sfams.ports import META_TOKENIZER, EmbeddingModel, Staged, Transaction
from sfams.service.embedding import model_in_use, same_weights, store_model, unit_or_none
from sfams.service.engine import Engine
from sfams.service.listing import cursor_after
from sfams.service.pending import embed_pending

BATCH = 64
_ROUNDS = 20
"""How often an adoption waits for what others have written meanwhile, before that has to wait instead."""

ReindexProgress = Callable[[int, int], object]
"""Called with how many records are done, and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexReport:
    """What a reindex did: texts embedded in this run, and texts without a usable vector (`failed`)."""

    model: str
    dimension: int
    before: str | None
    records: int
    embedded: int = 0
    failed: int = 0
    keywords: int = 0

    @property
    def changed(self) -> bool:
        """Tell whether there was anything to do."""
        return bool(self.embedded or self.failed or self.keywords)


def reindex(
    engine: Engine, *, force: bool = False, progress: ReindexProgress | None = None
) -> ReindexReport:
    """Make the vectors of all scopes fit this embedder, and the keywords this release's tokenizer.

    Nothing is done where they fit already, unless `force`; records that wait for a vector get theirs.

    Raises:
        InvalidInputError: The memory has no embedder.
        ProviderError: The embedder failed; what is made so far is kept for the next run.
    """
    model = model_in_use(engine)
    if not model.dimension:
        raise InvalidInputError(
            'embedder: a reindex needs one; "none" makes no vectors', field="embedder"
        )
    engine.flush_usage()
    run = _Run(engine, model, progress)
    with engine.store.read() as reader:
        before, staging = store_model(reader), reader.staging()
        tokenizer = reader.meta(META_TOKENIZER)
    fits = before is None or same_weights(before, model)
    keywords = _index_all(engine) if force or tokenizer != TOKENIZER_VERSION else 0
    if fits and not force and not staging.staged.get(model.name):
        run.embedded = _embed_waiting(engine)
    else:
        run.embed_all()
    return ReindexReport(
        model=model.name,
        dimension=model.dimension,
        before=None if before is None else before.name,
        records=staging.records,
        embedded=run.embedded,
        failed=run.failed,
        keywords=keywords,
    )


class _Run:
    """One reindex under way."""

    def __init__(
        self, engine: Engine, model: EmbeddingModel, progress: ReindexProgress | None
    ) -> None:
        self._engine = engine
        self._model = model
        self._progress = progress
        self.embedded = 0
        self.failed = 0

    def embed_all(self) -> None:
        """Stage until nothing is left, then change the vectors over."""
        for round_ in range(_ROUNDS):
            self._stage_all()
            if self._adopt(whatever=round_ == _ROUNDS - 1):
                break
        _embed_waiting(self._engine)

    def _stage_all(self) -> None:
        while True:
            with self._engine.store.read() as reader:
                records = reader.unstaged(self._model, BATCH)
                staging = reader.staging()
            if self._progress is not None:
                self._progress(staging.staged.get(self._model.name, 0), staging.records)
            if not records:
                return
            vectors = self._vectors(records)
            with self._engine.store.write() as transaction:
                transaction.stage_vectors(
                    self._model, [Staged(r, v) for r, v in zip(records, vectors, strict=True)]
                )

    def _vectors(self, records: Sequence[MemoryRecord]) -> list[Vector | None]:
        try:
            made = self._engine.embedder.embed_passages([passage_of(record) for record in records])
        except Exception as error:
            message = f"the embedder failed; what is done is kept, run it again to go on: {error}"
            raise ProviderError(message) from error
        matrix = np.asarray(made, np.float32)
        if matrix.shape != (len(records), self._model.dimension):
            message = f"the embedder gave shape {matrix.shape} for {len(records)} texts"
            raise ProviderError(message)
        vectors = [unit_or_none(row) for row in matrix]
        self.failed += sum(vector is None for vector in vectors)
        self.embedded += sum(vector is not None for vector in vectors)
        return vectors

    def _adopt(self, *, whatever: bool) -> Adoption | None:
        """Change over, unless somebody has written since: None. At last those have to wait instead."""
        engine = self._engine
        now = engine.now()
        with engine.store.write() as transaction:
            if not whatever and transaction.unstaged(self._model, 1):
                return None
            scopes = transaction.scopes()
            adoption = transaction.adopt_vectors(self._model)
            event = MemoryEvent(
                type=EventType.REINDEXED,
                at=now,
                actor=Actor.SYSTEM,
                detail={"model": self._model.name, "dimension": self._model.dimension},
            )
            for scope in scopes:
                transaction.append(scope, [event])
        for scope in scopes:
            engine.views.drop(scope)
            engine.tell(scope, [event])
        return adoption


def _embed_waiting(engine: Engine) -> int:
    with engine.store.read() as reader:
        scopes = reader.scopes()
    return sum(embed_pending(engine, scope) for scope in scopes)


# ── Keywords ──────────────────────────────────────────────────────────────────────────────────────


def _index_all(engine: Engine) -> int:
    """Make the keyword entries of all records anew, page by page, and note the tokenizer."""
    with engine.store.read() as reader:
        scopes = reader.scopes()
    done = sum(_index_scope(engine, scope) for scope in scopes)
    with engine.store.write() as transaction:
        transaction.set_meta(META_TOKENIZER, TOKENIZER_VERSION)
    return done


def _index_scope(engine: Engine, scope: Scope) -> int:
    done = 0
    after: Cursor | None = None
    everything = Filter(statuses=tuple(s for s in Status if s is not Status.ERASED), expired=True)
    while True:
        page = Page(limit=BATCH, order=Order.CREATED, descending=False, after=after)
        with engine.store.read() as reader:
            records = reader.find(scope, everything, page, engine.now())
        if not records:
            return done
        with engine.store.write() as transaction:
            _index(transaction, scope, [record.id for record in records])
        done += len(records)
        after = cursor_after(records[-1], Order.CREATED)


def _index(transaction: Transaction, scope: Scope, ids: Sequence[RecordId]) -> None:
    """Index what the records say now, under the write lock."""
    records = transaction.get(scope, ids)
    transaction.put_keywords(scope, {record.id: terms_of(record) for record in records})
