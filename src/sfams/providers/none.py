"""NoEmbedder: a memory that is searched by its words alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from sfams.core.query import Calibration
from sfams.core.view import Vector

MODEL_ID: Final = "none"


class NoEmbedder:
    """Stands where an embedder would; its dimension of 0 tells that there are no vectors to be had.

    What is remembered meanwhile waits for a vector; `doctor --repair` or `reindex` under a real embedder
    makes them. A store of any model may be opened with it.
    """

    @property
    def model_id(self) -> str:
        """Always "none"."""
        return MODEL_ID

    @property
    def dimension(self) -> int:
        """Always 0."""
        return 0

    @property
    def calibration(self) -> Calibration:
        """Nothing is compared."""
        return Calibration(0.0, 1.0)

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Give rows without a number, shape (n, 0)."""
        return np.zeros((len(texts), 0), np.float32)

    def embed_query(self, text: str, /) -> Vector:
        """Give no number, whatever is asked."""
        return np.zeros(0 * len(text), np.float32)

    def close(self) -> None:
        """Hold nothing."""
