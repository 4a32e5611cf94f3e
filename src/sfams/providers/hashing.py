"""Embedder without a model: signed feature hashing of words and their pieces.

Finds shared words and word parts, not meaning. For tests, for machines too small for a model, and
as the honest floor in benchmarks.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from sfams.core.query import Calibration
from sfams.core.text import tokenise
from sfams.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sfams.core.vectors import Vector

# Measured by benchmarks/quality/calibrate_embedder.py at 256 dimensions, seed 0: questions against
# memories of other topics, conversations or users, mean of five sources (0.02 to 0.13, within a
# source 0.071 to 0.097). Shared function words make it differ from zero.
CALIBRATION: Final = Calibration(mean=0.081, deviation=0.086)

_VERSION: Final = 1  # raise it when any text would get another vector
_PIECES: Final = (3, 4)  # lengths of the character n-grams of a word, its ends marked
_PIECE_SHARE: Final = 0.5  # weight of all pieces of a word together, the word itself having 1
_WHOLE: Final = 2  # words up to this length have no pieces
_CACHED_WORDS: Final = 32_768  # about 26 MB

_SMALLEST: Final = 8  # below, every text resembles every other


class HashingEmbedder:
    """Vectors from the text alone: the same text, dimension and seed give the same anywhere.

    A text without any word has the zero vector, which callers treat as "no vector". Passages and
    questions are embedded alike.
    """

    def __init__(self, dimension: int = 256, seed: int = 0) -> None:
        """Choose the vector length (8 or more) and a seed, 0 to 2**64 - 1."""
        if dimension < _SMALLEST or not 0 <= seed < 2**64:
            message = f"HashingEmbedder: needs dimension >= {_SMALLEST} and 0 <= seed < 2**64"
            raise InvalidInputError(message, dimension=dimension, seed=seed)
        self._dimension = dimension
        self._seed = seed

    @property
    def model_id(self) -> str:
        """Dimension, seed and version of the recipe."""
        return f"hashing-{self._dimension}-s{self._seed}/{_VERSION}"

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        """Cosine of a question and an unrelated memory."""
        return CALIBRATION

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories: float32, shape (n, dimension), unit rows or zero rows."""
        rows = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            self._add(text, rows[row])
        return rows

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question: float32, shape (dimension,)."""
        row = np.zeros(self._dimension, dtype=np.float32)
        self._add(text, row)
        return row

    def close(self) -> None:
        """Nothing to give back."""

    def _add(self, text: str, row: Vector) -> None:
        # A word counts once, however often it is said: repeats say little about the subject.
        words = sorted(set(tokenise(text)))
        if not words:
            return
        features = [_features(word, self._dimension, self._seed) for word in words]
        places = np.concatenate([place for place, _ in features])
        weights = np.concatenate([weight for _, weight in features])
        total = np.bincount(places, weights, minlength=self._dimension)
        length = float(np.sqrt(total @ total))
        if length > 0.0:
            row[:] = total / length


@lru_cache(maxsize=_CACHED_WORDS)
def _features(word: str, dimension: int, seed: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Places in the vector and signed weights of a word and its pieces."""
    pieces = list(_pieces(word))
    names = [f"w{word}", *(f"p{piece}" for piece in pieces)]
    # Pieces of one word add up like independent directions, hence the root.
    each = (_PIECE_SHARE / max(1, len(pieces))) ** 0.5
    hashes = [_hash(name, seed) for name in names]
    places = np.array([value % dimension for value in hashes], dtype=np.intp)
    signs = np.array([1.0 if value >> 63 else -1.0 for value in hashes])
    return places, signs * np.array([1.0] + [each] * len(pieces))


def _pieces(word: str) -> Iterator[str]:
    if len(word) <= _WHOLE:  # pairs of Chinese characters among them
        return
    marked = f"<{word}>"
    for size in _PIECES:
        for start in range(len(marked) - size + 1):
            yield marked[start : start + size]


def _hash(name: str, seed: int) -> int:
    # Not hash(): that differs from process to process.
    salt = seed.to_bytes(8, "little")
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt)
    return int.from_bytes(digest.digest(), "little")
