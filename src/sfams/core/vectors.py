"""Exact nearest neighbours over a packed float32 matrix of unit rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Bools
from sfams.errors import InvalidInputError

Vector = NDArray[np.float32]
RowNumbers = NDArray[np.intp]

_FEW = 2
_CELLS = 4_000_000  # similarities held at a time (16 MB)


def units(vectors: Vector, dimension: int) -> tuple[Vector, Bools]:
    """Scale the rows of (n, dimension) to length 1.

    Returns:
        Unit rows, and which rows are usable: a row that is zero or not finite becomes zero.
    """
    if vectors.ndim != 2 or vectors.shape[1] != dimension:  # noqa: PLR2004  (rows of numbers)
        message = f"vector: has the shape {vectors.shape[1:]}, the view holds ({dimension},)"
        raise InvalidInputError(message, field="vector")
    wide = vectors.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    usable = np.isfinite(norms) & (norms > 0.0)
    scaled = np.divide(wide, norms[:, None], out=np.zeros_like(wide), where=usable[:, None])
    return scaled.astype(np.float32), usable


def cosines_of(queries: Vector, matrix: Vector) -> Vector:
    """Multiply unit queries (n, d) with unit rows (m, d): shape (n, m).

    A few queries go row by row on this thread alone: the same memory traffic, but no waiting for BLAS
    threads to be woken, which on a busy machine takes longer (10 ms) than the work (0.04 ms at 1,000).
    """
    if len(queries) <= _FEW:
        return np.stack([np.vecdot(matrix, query) for query in queries])
    return queries @ matrix.T


def nearest(queries: Vector, matrix: Vector, rows: RowNumbers, k: int) -> tuple[RowNumbers, Vector]:
    """Find the k nearest of the named rows for each query, nearest first, equal ones by row.

    Args:
        queries: Unit rows, shape (n, d).
        matrix: Unit rows, shape (m, d).
        rows: The rows of `matrix` that may be found.
        k: How many to find.

    Returns:
        Rows and cosines -1..1, both of shape (n, min(k, len(rows))).
    """
    width = max(0, min(k, len(rows)))
    places = np.empty((len(queries), width), np.intp)
    cosines = np.empty((len(queries), width), np.float32)
    if not width:
        return places, cosines
    hidden = np.ones(len(matrix), np.bool_)
    hidden[rows] = False
    some_hidden = len(rows) < len(matrix)
    step = max(1, _CELLS // len(matrix))
    for start in range(0, len(queries), step):
        span = slice(start, start + step)
        near = cosines_of(queries[span], matrix)
        if some_hidden:
            near[:, hidden] = -np.inf
        places[span], cosines[span] = _largest(near, width)
    return places, np.clip(cosines, -1.0, 1.0)


def _largest(values: Vector, k: int) -> tuple[RowNumbers, Vector]:
    if k == 1:
        places = values.argmax(axis=1)[:, None]
    else:
        places = np.sort(np.argpartition(values, -k, axis=1)[:, -k:], axis=1)
    top = np.take_along_axis(values, places, axis=1)
    order = np.argsort(-top, axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(top, order, axis=1)
