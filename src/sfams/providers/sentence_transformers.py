"""Embeddings from any sentence-transformers model, by name or folder (extra `sentence-transformers`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from sfams.core.vectors import Vector
from sfams.errors import ProviderError, ProviderUnavailableError
from sfams.providers.model import ModelEmbedder, ModelOptions

_INSTALL: Final = 'install it with `pip install "sf-ams[sentence-transformers]"`'


def sentence_transformers_embedder(
    model: str, options: ModelOptions | None = None
) -> ModelEmbedder:
    """Embed with a model of the hub, or in a folder; it is loaded (and downloaded) by the first text.

    Raises:
        ProviderUnavailableError: The package is not installed.
    """
    if importlib.util.find_spec("sentence_transformers") is None:
        message = f"the package sentence-transformers is not installed; {_INSTALL}"
        raise ProviderUnavailableError(message)
    runner = _Runner(model)
    return ModelEmbedder(
        f"sentence-transformers:{model}", runner.encode, options, close=runner.close
    )


class _Runner:
    """Loads the model once and runs one batch at a time: torch uses all cores by itself."""

    def __init__(self, model: str) -> None:
        self._name = model
        self._lock = Lock()
        self._model: Any = None

    def encode(self, texts: Sequence[str]) -> Vector:
        """Encode a batch.

        Raises:
            ProviderError: The model cannot be loaded, or failed.
        """
        with self._lock:
            try:
                if self._model is None:
                    from sentence_transformers import SentenceTransformer

                    self._model = SentenceTransformer(self._name)
                vectors = self._model.encode(
                    [*texts], convert_to_numpy=True, show_progress_bar=False
                )
            except (OSError, RuntimeError, ValueError, ImportError) as error:
                message = f"sentence-transformers:{self._name}: {type(error).__name__}: {error}"
                raise ProviderError(message) from error
        return np.asarray(vectors, np.float32)

    def close(self) -> None:
        """Let the weights go."""
        with self._lock:
            self._model = None
