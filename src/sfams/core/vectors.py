"""Exact nearest neighbours over a packed float32 matrix of unit rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Bools
from sfams.errors import InvalidInputError

Vector = NDArray[np.float32]
RowNumbers = NDArray[np.intp]

_FEW = 2
_LARGE = 3_000_000  # numbers in a matrix (8,000 rows of 384) from which on BLAS threads pay
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

    A few queries against a matrix of moderate size go row by row on this thread alone: the same memory
    traffic, but no waiting for BLAS threads to be woken, which on a busy machine takes longer (10 ms) than
    the work (0.04 ms at 1,000). A large matrix is worth the waking: its rows are read by all cores.
    """
    if len(queries) <= _FEW and matrix.size < _LARGE:
        return np.stack([np.vecdot(matrix, query) for query in queries])
    return queries @ matrix.T


def neighbours(
    queries: Vector, matrix: Vector, usable: Bools, *, floor: float, k: int
) -> list[list[tuple[int, float]]]:
    """Find each query's nearest rows, nearest first, equal ones by row.

    Args:
        queries: Unit rows, shape (n, d).
        matrix: Unit rows, shape (m, d).
        usable: Which rows of `matrix` may be found, shape (m,).
        floor: The least cosine that counts as near.
        k: How many to find.

    Returns:
        For each query its rows with their cosines, -1..1.
    """
    found: list[list[tuple[int, float]]] = []
    if not len(matrix):
        return [[] for _ in queries]
    step = max(1, _CELLS // len(matrix))
    for start in range(0, len(queries), step):
        cosines = cosines_of(queries[start : start + step], matrix)
        # Most texts have nobody near: one pass for the largest is all that they cost.
        best = cosines.max(axis=1)
        found += [
            _nearest(row, usable, floor, k) if best[at] >= floor else []
            for at, row in enumerate(cosines)
        ]
    return found


def _nearest(cosines: Vector, usable: Bools, floor: float, k: int) -> list[tuple[int, float]]:
    rows = np.flatnonzero((cosines >= floor) & usable)
    near = cosines[rows]
    if len(rows) > k:
        keep = near >= np.partition(near, -k)[-k]
        rows, near = rows[keep], near[keep]
    order = np.argsort(-near, kind="stable")[:k]
    return list(zip(rows[order].tolist(), np.clip(near[order], -1.0, 1.0).tolist(), strict=True))
