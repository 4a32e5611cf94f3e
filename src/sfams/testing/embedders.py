"""ScriptedEmbedder: vectors by text, and failures on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from sfams.core.query import Calibration
from sfams.core.view import Vector
from sfams.errors import ProviderUnavailableError


class ScriptedEmbedder:
    """An embedder for tests: given vectors for known texts, a text's own hash for others.

    `fail` makes every call raise until it is set back; `calls` counts texts, queries included.
    """

    def __init__(
        self,
        vectors: Mapping[str, Sequence[float]] | None = None,
        *,
        dimension: int = 8,
        model_id: str = "scripted/1",
        seed: int = 0,
    ) -> None:
        """Script the vectors; they are used as they are, not scaled."""
        self._vectors = dict(vectors or {})
        self._dimension = dimension
        self._model_id = model_id
        self._seed = seed
        self.fail = False
        self.calls = 0
        self.seen: list[str] = []

    @property
    def model_id(self) -> str:
        """The given name."""
        return self._model_id

    @property
    def dimension(self) -> int:
        """The given length."""
        return self._dimension

    @property
    def calibration(self) -> Calibration:
        """Hash vectors of different texts are about orthogonal."""
        return Calibration(0.0, 1.0 / np.sqrt(self._dimension))

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Look up or hash each text."""
        if self.fail:
            message = "scripted failure"
            raise ProviderUnavailableError(message)
        self.calls += len(texts)
        self.seen.extend(texts)
        return np.array([self._vector(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question like a passage."""
        return np.asarray(self.embed_passages([text])[0], dtype=np.float32)

    def close(self) -> None:
        """Hold nothing."""

    def _vector(self, text: str) -> Sequence[float]:
        if text in self._vectors:
            return self._vectors[text]
        digest = blake2b(f"{self._seed}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8)
        random = np.random.default_rng(int.from_bytes(digest.digest(), "little"))
        vector = random.standard_normal(self._dimension)
        return [float(value) for value in vector / np.linalg.norm(vector)]
