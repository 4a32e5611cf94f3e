"""ModelEmbedder: what every model reached by a plain `encode(texts)` needs to be an `Embedder`.

Prefixes, checks of what comes back, unit length, and a calibration measured once on sentences that have
nothing to do with each other. The providers in this folder say how a text is encoded, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfams.core.query import Calibration
from sfams.core.vectors import Vector
from sfams.errors import ProviderError
from sfams.providers.inputs import clean
from sfams.providers.unrelated import QUESTIONS, STATEMENTS

Encode = Callable[[Sequence[str]], Vector]
"""Turns texts into raw vectors, shape (n, any length); raises `ProviderError`."""

MOST_CHARACTERS: Final = 8_000
"""Of a text; models read some 512 to 8,192 tokens and many servers refuse more instead of cutting."""

_UNKNOWN: Final = Calibration(0.2, 0.1)
"""Until a model has answered; nothing is compared before."""
_LEAST: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """How a model is used.

    `dimension` is the length of its vectors, learned from the first answer where it is not given.
    `query_prefix` and `passage_prefix` go before texts; None takes those that the model's name asks for
    (E5 and BGE). `calibration` is the cosine of unrelated texts, measured at first use where it is not
    given. `batch` is how many texts go into one call.
    """

    dimension: int | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    calibration: Calibration | None = None
    batch: int = 64


@dataclass(frozen=True, slots=True)
class _Prefixes:
    query: str = ""
    passage: str = ""


_FAMILIES: Final = {
    "e5": _Prefixes("query: ", "passage: "),
    "bge": _Prefixes("Represent this sentence for searching relevant passages: "),
}
"""By a part of the model's name, as the model cards of the families ask for it."""
_ALREADY: Final = (
    "bge-m3",
    "e5-mistral",
    "e5-instruct",
)  # of those names, but without these prefixes


class ModelEmbedder:
    """An `Embedder` over an `encode` function. Threads may share it as far as they may share that."""

    def __init__(
        self,
        model_id: str,
        encode: Encode,
        options: ModelOptions | None = None,
        *,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        """Name the model; nothing is loaded or called yet."""
        self._model_id = model_id
        self._encode = encode
        self._options = options or ModelOptions()
        self._prefixes = _prefixes(model_id, self._options)
        self._close = close
        self._learned = _Learned()

    @property
    def model_id(self) -> str:
        """Provider and model, as they were asked for."""
        return self._model_id

    @property
    def dimension(self) -> int:
        """Length of every vector; where it is not known yet, one text is encoded to learn it.

        Raises:
            ProviderError: The model cannot be asked; `dimension` in the options makes that unnecessary.
        """
        known = self._options.dimension or self._learned.dimension
        if known:
            return known
        try:
            self._rows([self._prefixes.passage + STATEMENTS[0]])
        except ProviderError as error:
            message = f"{error}; a memory opens all the same where the model's dimension is given"
            raise type(error)(message) from error
        return self._learned.dimension

    @property
    def calibration(self) -> Calibration:
        """Cosine of a question and an unrelated statement: given, or measured before the first vector.

        Asks nobody. A model that has given no vector yet has a guess: there is nothing to compare.
        """
        return self._options.calibration or self._learned.calibration or _UNKNOWN

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories: float32, shape (n, dimension), unit rows, zero rows for no direction.

        Raises:
            ProviderError: The model failed, or gave something else than it was asked for.
        """
        return self._embed(self._prefixes.passage, texts)

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question: float32, shape (dimension,); errors as `embed_passages`."""
        vector: Vector = self._embed(self._prefixes.query, [text])[0]
        return vector

    def close(self) -> None:
        """Give back what the provider holds."""
        self._close()

    def _embed(self, prefix: str, texts: Sequence[str]) -> Vector:
        # Whoever holds a vector compares it: no vector is given before the calibration is known. Not under
        # a lock, for one call that hangs would hold up all others; measuring twice gives the same.
        if texts and self._options.calibration is None and self._learned.calibration is None:
            self._learned.calibration = self._measured()
        return self._raw(prefix, texts)

    def _raw(self, prefix: str, texts: Sequence[str]) -> Vector:
        ready = [prefix + clean(text)[:MOST_CHARACTERS] for text in texts]
        size = max(1, self._options.batch)
        parts = [self._rows(ready[at : at + size]) for at in range(0, len(ready), size)]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), np.float32)

    def _rows(self, ready: Sequence[str]) -> Vector:
        try:
            raw = np.asarray(self._encode(ready), np.float32)
        except (TypeError, ValueError) as error:
            message = f"{self._model_id}: did not answer with rows of numbers of one length"
            raise ProviderError(message) from error
        if raw.ndim != 2 or len(raw) != len(ready) or not raw.shape[1]:  # noqa: PLR2004  rows of numbers
            message = f"{self._model_id}: gave shape {raw.shape} for {len(ready)} texts"
            raise ProviderError(message)
        expected = self._options.dimension or self._learned.dimension or raw.shape[1]
        if raw.shape[1] != expected:
            message = f"{self._model_id}: gave vectors of {raw.shape[1]} numbers, not {expected}"
            raise ProviderError(message)
        self._learned.dimension = expected
        return _unit_or_zero(raw)

    def _measured(self) -> Calibration:
        asked = self._raw(self._prefixes.query, QUESTIONS)
        told = self._raw(self._prefixes.passage, STATEMENTS)
        cosines = asked @ told.T
        unrelated = cosines[~np.eye(len(QUESTIONS), dtype=np.bool_)]
        deviation = max(float(unrelated.std()), 1e-3)
        return Calibration(round(float(unrelated.mean()), 4), round(deviation, 4))


@dataclass(slots=True)
class _Learned:
    """What the model's answers have told."""

    dimension: int = 0
    calibration: Calibration | None = None


def _prefixes(model_id: str, options: ModelOptions) -> _Prefixes:
    name = model_id.lower()
    family = _Prefixes()
    if not any(part in name for part in _ALREADY):
        family = next((each for part, each in _FAMILIES.items() if part in name), family)
    query, passage = options.query_prefix, options.passage_prefix
    return _Prefixes(
        family.query if query is None else query, family.passage if passage is None else passage
    )


def _unit_or_zero(raw: Vector) -> Vector:
    """Scale rows to length one; a row that is zero or not finite becomes zero: "no vector"."""
    wide = raw.astype(np.float64)
    wide[~np.isfinite(wide).all(axis=1)] = 0.0
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    scaled: Vector = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > _LEAST).astype(
        np.float32
    )
    return scaled
