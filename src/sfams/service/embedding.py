"""Embedding as the use cases need it: a failing or foreign model never loses a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfams.core.record import EmbeddingState
from sfams.core.view import Vector
from sfams.errors import ModelMismatchError
from sfams.ports import META_DIMENSION, META_MODEL, EmbeddingModel, Reader, Transaction
from sfams.service.engine import Engine

NO_EMBEDDER = "searched by keywords only, the memory was opened without an embedder"
NOT_OURS = "stored without a vector for now: the store has changed to another embedding model"


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors in the order of the texts; None where there is none, `states` and `warning` say why."""

    vectors: tuple[Vector | None, ...]
    states: tuple[EmbeddingState, ...]
    warning: str = ""


def embed_passages(engine: Engine, texts: Sequence[str]) -> Embedded:
    """Embed memories. Whatever the model does, an answer of the same length comes back.

    A text whose vector is zero or not finite is marked failed (keywords find it); when the model
    fails or is not the store's model, all are pending and the warning says why.
    """
    if not texts:
        return Embedded((), ())
    warning = model_warning(engine)
    if engine.embedder.dimension and not warning:
        try:
            matrix = np.asarray(engine.embedder.embed_passages(texts), dtype=np.float32)
        except Exception as error:  # noqa: BLE001  foreign code: any failure means "no vector yet"
            warning = f"stored without a vector for now, the embedder failed: {error}"
        else:
            return _checked(engine, matrix, len(texts))
    pending = EmbeddingState.PENDING
    return Embedded((None,) * len(texts), (pending,) * len(texts), warning)


def _checked(engine: Engine, matrix: Vector, count: int) -> Embedded:
    if matrix.shape != (count, engine.embedder.dimension):
        pending = (EmbeddingState.PENDING,) * count
        expected = (count, engine.embedder.dimension)
        warning = f"stored without vectors: the embedder gave shape {matrix.shape}, not {expected}"
        return Embedded((None,) * count, pending, warning)
    vectors = tuple(unit_or_none(row) for row in matrix)
    states = tuple(
        EmbeddingState.FAILED if vector is None else EmbeddingState.READY for vector in vectors
    )
    failed = sum(vector is None for vector in vectors)
    warning = f"{failed} text(s) have no usable vector; keywords find them" if failed else ""
    return Embedded(vectors, states, warning)


def unit_or_none(vector: Vector) -> Vector | None:
    """Scale a vector to length one; None where it is zero or not finite."""
    norm = float(np.linalg.norm(vector.astype(np.float64)))
    if not np.isfinite(norm) or norm < 1e-12:  # noqa: PLR2004  below float32 noise
        return None
    return (vector / np.float32(norm)).astype(np.float32)


def embed_query(engine: Engine, text: str) -> tuple[Vector | None, str]:
    """Embed a question; without a usable vector, None and a warning."""
    if not engine.embedder.dimension:
        return None, NO_EMBEDDER
    warning = model_warning(engine)
    if warning:
        return None, warning
    try:
        vector = np.asarray(engine.embedder.embed_query(text), dtype=np.float32)
    except Exception as error:  # noqa: BLE001  foreign code: keywords still answer
        return None, f"searched by keywords only, the embedder failed: {error}"
    return unit_or_none(vector), ""


# ── The store's model ─────────────────────────────────────────────────────────────────────────────


def model_in_use(engine: Engine) -> EmbeddingModel:
    """Name the engine's embedder."""
    return EmbeddingModel(engine.embedder.model_id, engine.embedder.dimension)


def store_model(reader: Reader) -> EmbeddingModel | None:
    """Name the model that the store's vectors are from; None before its first vector."""
    name, dimension = reader.meta(META_MODEL), reader.meta(META_DIMENSION)
    return None if name is None else EmbeddingModel(name, int(dimension or 0))


def same_weights(one: EmbeddingModel, other: EmbeddingModel) -> bool:
    """Tell whether vectors of both may be compared: what follows a + names a build, not a model."""
    names = (each.name.partition("+")[0] for each in (one, other))
    return one.dimension == other.dimension and next(names) == next(names)


def check_model(engine: Engine) -> None:
    """Refuse to open a store with another model than its own.

    A store without a record takes any model, and no embedder at all goes with every store.

    Raises:
        ModelMismatchError: Names both models and says what can be done.
    """
    with engine.store.read() as reader:
        found, using = store_model(reader), model_in_use(engine)
        if not using.dimension or found is None or same_weights(found, using):
            return
        if not reader.scopes():
            return
    message = (
        f"{engine.store.location}: {_difference(found, using)}. Open it with the model it has, or make all "
        "vectors anew with `sfams reindex`; until then --embedder none searches by words alone"
    )
    raise ModelMismatchError(message, stored=found.name, using=using.name)


def model_warning(engine: Engine) -> str:
    """Say that the store's vectors are from another model; empty when they fit.

    A store is not opened so, but another process may have reindexed it since.
    """
    with engine.store.read() as reader:
        found, using = store_model(reader), model_in_use(engine)
        if not using.dimension or found is None or same_weights(found, using):
            return ""
        if not reader.scopes():
            return ""
    return f"{_difference(found, using)}; keywords still work, open the memory anew to have both"


def build_note(engine: Engine) -> str:
    """Say that the same weights run in another build than the vectors are from; else empty."""
    with engine.store.read() as reader:
        found = store_model(reader)
    using = model_in_use(engine)
    if found is None or found == using or not same_weights(found, using):
        return ""
    return f"the vectors are from another build of the same model: {found.name}, now {using.name}"


def _difference(found: EmbeddingModel, using: EmbeddingModel) -> str:
    return (
        f"the store's vectors are from {found.name} ({found.dimension} dimensions), the embedder in use is "
        f"{using.name} ({using.dimension})"
    )


def claim_model(engine: Engine, transaction: Transaction) -> bool:
    """Tell, under the write lock, whether vectors of our model may be written.

    They may not where another process has written those of another one since we embedded. The first
    vector of a store decides its model.
    """
    found, using = store_model(transaction), model_in_use(engine)
    if found is not None and (same_weights(found, using) or transaction.staging().records):
        return same_weights(found, using)
    transaction.set_meta(META_MODEL, using.name)
    transaction.set_meta(META_DIMENSION, str(using.dimension))
    return True
