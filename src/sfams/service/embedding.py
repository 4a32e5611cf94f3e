"""Embedding as the use cases need it: a failing or foreign model never loses a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfams.core.record import EmbeddingState
from sfams.core.view import Vector
from sfams.ports import META_DIMENSION, META_MODEL, Transaction
from sfams.service.engine import Engine


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
    if not warning:
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
    warning = model_warning(engine)
    if warning:
        return None, warning
    try:
        vector = np.asarray(engine.embedder.embed_query(text), dtype=np.float32)
    except Exception as error:  # noqa: BLE001  foreign code: keywords still answer
        return None, f"searched by keywords only, the embedder failed: {error}"
    return unit_or_none(vector), ""


def model_warning(engine: Engine) -> str:
    """Say that the store's vectors are from another model; empty when they fit."""
    with engine.store.read() as reader:
        model, dimension = reader.meta(META_MODEL), reader.meta(META_DIMENSION)
    if model is None or model == engine.embedder.model_id:
        return ""
    return (
        f"the store's vectors are from {model} ({dimension} dimensions), the embedder in use is "
        f"{engine.embedder.model_id} ({engine.embedder.dimension}); keywords still work"
    )


def claim_model(engine: Engine, transaction: Transaction) -> None:
    """Note the model beside the store's first vector; call it where one is about to be written."""
    if transaction.meta(META_MODEL) is None:
        transaction.set_meta(META_MODEL, engine.embedder.model_id)
        transaction.set_meta(META_DIMENSION, str(engine.embedder.dimension))
