"""Embeddings from fastembed's ONNX models, without torch (extra `fastembed`)."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from sfams.core.vectors import Vector
from sfams.errors import ProviderError, ProviderUnavailableError
from sfams.providers.model import ModelEmbedder, ModelOptions

_INSTALL: Final = 'install it with `pip install "sf-ams[fastembed]"`'


def fastembed_embedder(model: str, options: ModelOptions | None = None) -> ModelEmbedder:
    """Embed with a model that fastembed knows; the first text loads it, and downloads it if need be.

    Raises:
        ProviderUnavailableError: The package is not installed.
    """
    if importlib.util.find_spec("fastembed") is None:
        raise ProviderUnavailableError(f"the package fastembed is not installed; {_INSTALL}")
    runner = _Runner(model)
    return ModelEmbedder(f"fastembed:{model}", runner.encode, options, close=runner.close)


class _Runner:
    """Loads the model once; ONNX Runtime lets threads share it."""

    def __init__(self, model: str) -> None:
        self._name = model
        self._lock = Lock()
        self._model: Any = None

    def encode(self, texts: Sequence[str]) -> Vector:
        """Encode a batch.

        Raises:
            ProviderError: fastembed does not know the model, cannot load it, or failed.
        """
        try:
            return np.array(list(self._loaded().embed([*texts])), np.float32)
        except (OSError, RuntimeError, ValueError, ImportError) as error:
            message = f"fastembed:{self._name}: {type(error).__name__}: {error}"
            raise ProviderError(message) from error

    def close(self) -> None:
        """Let the weights go."""
        with self._lock:
            self._model = None

    def _loaded(self) -> Any:  # noqa: ANN401  # an optional package's class
        with self._lock:
            if self._model is None:
                from fastembed import TextEmbedding

                self._model = TextEmbedding(self._name)
            return self._model
