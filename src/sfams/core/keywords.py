"""Keyword entries: terms as 64-bit ids, so that no store keeps a dictionary of words.

A term id is the first eight bytes of BLAKE2b over the term. The same text gives the same ids in every
store, process and release of one `TOKENIZER_VERSION`, nothing has to be allocated, and an erased word
leaves no entry behind in a dictionary.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from sfams.core.record import RecordId
from sfams.core.text import query_terms, tokenise

_MOST = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Terms:
    """A record's keyword entry: 64-bit term ids, how often each occurs, and the length in terms."""

    ids: NDArray[np.uint64]
    counts: NDArray[np.uint16]

    @property
    def length(self) -> int:
        """Number of terms, repeats included."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True)
class ColdPosting:
    """A query term found in a cold live record."""

    id: RecordId
    term: int
    count: int
    length: int
    importance: float
    created_at: int
    expires_at: int


@lru_cache(maxsize=200_000)
def term_id(term: str) -> int:
    """Number a term."""
    return int.from_bytes(
        blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little"
    )


def index_terms(text: str) -> Terms:
    """Make the keyword entry of a memory's text."""
    counted = Counter(tokenise(text))
    ids = np.fromiter(map(term_id, counted), np.uint64, len(counted))
    counts = np.fromiter(counted.values(), np.int64, len(counted))
    return Terms(ids, np.minimum(counts, _MOST).astype(np.uint16))


def question_terms(text: str) -> dict[int, int]:
    """Number the terms of a question and count each."""
    return dict(Counter(term_id(term) for term in query_terms(text)))
