"""Vectors kept between runs, outside of every repository, by model and hash of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sfams.bootstrap import make_embedder
from sfams.core.indexing import index_text
from sfams.errors import InvalidInputError
from sfams.lab.datasets.values import Dataset
from sfams.lab.replay import SharedEmbedder
from sfams.ports import Embedder
from sfams.providers.caching import CachingEmbedder

FILE = "vectors.sqlite"
_BLOCK = 32

Progress = Callable[[int], object]
"""Called with the number of texts embedded since the last call."""


@contextmanager
def cached_embedder(name: str, folder: Path) -> Iterator[Embedder]:
    """Open an embedder that finds in `folder` what it has embedded before, and keeps what is new.

    Raises:
        InvalidInputError: Unknown embedder, or the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cache_dir: {folder} cannot be made: {error}; set SFAMS_CACHE_DIR"
        raise InvalidInputError(message, field="cache_dir") from error
    inner = CachingEmbedder(make_embedder(name), folder / FILE)
    try:
        yield SharedEmbedder(inner)
    finally:
        inner.close()


def warm(dataset: Dataset, embedder: Embedder, progress: Progress | None = None) -> None:
    """Embed all that is told, in blocks; questions wait until they are asked."""
    texts = [index_text(unit.who, unit.text) for talk in dataset for unit in talk.units]
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        embedder.embed_passages(block)
        if progress is not None:
            progress(len(block))
