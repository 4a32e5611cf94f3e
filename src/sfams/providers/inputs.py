"""What every embedder does to a text before its engine sees it, and to what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from sfams.errors import InvalidInputError, ProviderError

if TYPE_CHECKING:
    from sfams.core.vectors import Vector

_UNIT_TOLERANCE: Final = 1e-3


def clean(text: str) -> str:
    """Make any text safe for a C engine; a blank one is refused with `InvalidInputError`.

    A NUL would end the text early in C, and a lone surrogate has no UTF-8: they become a blank and
    a question mark.
    """
    cleaned = text.replace("\0", " ").strip().encode("utf-8", "replace").decode("utf-8")
    if not cleaned:
        message = "text to embed: is blank"
        raise InvalidInputError(message, field="text")
    return cleaned


def excerpt(text: str, head: int, tail: int) -> str:
    """Bound the cost of a long text: its first `head` and last `tail` characters.

    A text that fits is returned as it is. Only the vector comes from the excerpt; the stored text
    is never cut.
    """
    if len(text) <= head + tail:
        return text
    return f"{text[:head]}\n{text[len(text) - tail :]}"


def unit_rows(vectors: Vector, engine: str) -> Vector:
    """Pass rows of unit length on; anything else is a `ProviderError` that names the engine.

    The engines report no error of their own, so what comes out is looked at.
    """
    deviation = np.abs(np.linalg.norm(vectors, axis=1) - 1.0)
    if not bool(np.all(deviation < _UNIT_TOLERANCE)):  # false for NaN too
        message = f"{engine}: the engine returned a vector that is not of unit length"
        raise ProviderError(message)
    return vectors
