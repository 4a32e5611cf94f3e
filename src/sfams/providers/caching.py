"""Embedder that remembers: vectors of another embedder in a file, for tests and benchmarks.

Not for a store in use: the file grows without bound and keeps traces (hashes) of every text.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from sfams.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sfams.core.query import Calibration
    from sfams.core.vectors import Vector
    from sfams.ports import Embedder

_WAIT_SECONDS: Final = 60.0
_BLOCK: Final = 128  # texts embedded between two writes: what a stopped run can lose
_STORED: Final = np.dtype("<f4")  # the file can be moved between machines

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (model, kind, digest)
) WITHOUT ROWID
"""

_Kind = Literal["passage", "query"]


class CachingEmbedder:
    """Wraps an embedder so that each text is embedded once per model, kind and file.

    Threads and processes may share the file. It is opened per call, so nothing is carried over a
    fork, and in rollback-journal mode, since write-ahead logging between processes is only safe
    with SQLite libraries newer than many a Python has. A file that cannot be used is a
    `ProviderError`; errors of the inner embedder pass through.
    """

    def __init__(self, inner: Embedder, path: str | Path) -> None:
        """Keep the vectors of `inner` in the file at `path`, made when missing."""
        self._inner = inner
        self._path = Path(path)
        self._model = inner.model_id
        with self._file() as file:
            file.execute(_SCHEMA)

    @property
    def model_id(self) -> str:
        """The inner embedder's."""
        return self._model

    @property
    def dimension(self) -> int:
        """The inner embedder's."""
        return self._inner.dimension

    @property
    def calibration(self) -> Calibration:
        """The inner embedder's."""
        return self._inner.calibration

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories, those that the file lacks by the inner embedder."""
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        digests = [_digest(text) for text in texts]
        known = self._known("passage", digests)
        wanted = dict(zip(digests, texts, strict=True))
        missing = [(digest, text) for digest, text in wanted.items() if digest not in known]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            vectors = self._inner.embed_passages([text for _, text in block])
            fresh = dict(zip([digest for digest, _ in block], vectors, strict=True))
            self._keep("passage", fresh)
            known.update(fresh)
        for row, digest in enumerate(digests):
            rows[row] = known[digest]
        return rows

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question, from the file where it has been asked before."""
        digest = _digest(text)
        known = self._known("query", [digest])
        if digest not in known:
            known[digest] = self._inner.embed_query(text)
            self._keep("query", known)
        return known[digest]

    def close(self) -> None:
        """Close the inner embedder; the file stays."""
        self._inner.close()

    def _known(self, kind: _Kind, digests: Sequence[bytes]) -> dict[bytes, Vector]:
        found: dict[bytes, Vector] = {}
        size = self.dimension * _STORED.itemsize
        with self._file() as file:
            file.execute("BEGIN")  # one read lock for the batch instead of one per text
            for digest in digests:
                row = file.execute(
                    "SELECT vector FROM vectors WHERE model = ? AND kind = ? AND digest = ?",
                    (self._model, kind, digest),
                ).fetchone()
                if row is not None and len(row[0]) == size:
                    found[digest] = np.frombuffer(row[0], dtype=_STORED).astype(np.float32)
            file.execute("COMMIT")
        return found

    def _keep(self, kind: _Kind, vectors: dict[bytes, Vector]) -> None:
        rows = [
            (self._model, kind, digest, vector.astype(_STORED).tobytes())
            for digest, vector in vectors.items()
        ]
        with self._file() as file:
            file.execute("BEGIN IMMEDIATE")
            file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
            file.execute("COMMIT")

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(
                sqlite3.connect(self._path, timeout=_WAIT_SECONDS, isolation_level=None)
            ) as file:
                yield file
        except sqlite3.Error as error:
            message = f"vector cache: {error}"
            raise ProviderError(message, path=str(self._path)) from error


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
