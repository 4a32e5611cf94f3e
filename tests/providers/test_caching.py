from __future__ import annotations

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sfams.core.query import Calibration
from sfams.errors import ProviderError, ProviderUnavailableError
from sfams.providers.caching import CachingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sfams.core.vectors import Vector


class CountingEmbedder:
    """Vectors that tell text and kind, and a list of what was asked."""

    def __init__(self, model_id: str = "counting/1") -> None:
        self.model_id = model_id
        self.dimension = 3
        self.calibration = Calibration(mean=0.25, deviation=0.5)
        self.passages: list[str] = []
        self.queries: list[str] = []
        self.closed = False

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        self.passages.extend(texts)
        return np.array([[len(text), hash_of(text), 1] for text in texts], dtype=np.float32)

    def embed_query(self, text: str, /) -> Vector:
        self.queries.append(text)
        return np.array([len(text), hash_of(text), 2], dtype=np.float32)

    def close(self) -> None:
        self.closed = True


class RefusingEmbedder(CountingEmbedder):
    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        raise ProviderUnavailableError

    def embed_query(self, text: str, /) -> Vector:
        raise ProviderUnavailableError


def hash_of(text: str) -> float:
    return sum(ord(char) for char in text) / 1000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.db"


def test_each_text_is_embedded_once_and_order_is_kept(path: Path) -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner, path)
    texts = ["tea", "咖啡", "tea", "milk"]
    first = cached.embed_passages(texts)
    again = cached.embed_passages(texts[::-1])[::-1]
    assert inner.passages == ["tea", "咖啡", "milk"]
    assert first.dtype == again.dtype == np.float32
    assert np.array_equal(first, CountingEmbedder().embed_passages(texts))
    assert np.array_equal(first, again)
    assert cached.embed_passages([]).shape == (0, 3)


def test_queries_are_kept_apart_from_passages(path: Path) -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner, path)
    passage = cached.embed_passages(["tea"])[0]
    query = cached.embed_query("tea")
    assert np.array_equal(query, cached.embed_query("tea"))
    assert not np.array_equal(query, passage)
    assert inner.queries == ["tea"]


def test_a_second_run_needs_no_model(path: Path) -> None:
    expected = CachingEmbedder(CountingEmbedder(), path).embed_passages(["tea", "milk"])
    later = CachingEmbedder(RefusingEmbedder(), path)
    assert np.array_equal(later.embed_passages(["tea", "milk"]), expected)
    with pytest.raises(ProviderUnavailableError):
        later.embed_passages(["tea", "new"])
    with pytest.raises(ProviderUnavailableError):
        later.embed_query("tea")


def test_another_model_has_its_own_vectors(path: Path) -> None:
    CachingEmbedder(CountingEmbedder("a/1"), path).embed_query("tea")
    other = CountingEmbedder("a/2")
    CachingEmbedder(other, path).embed_query("tea")
    assert other.queries == ["tea"]


def test_a_stopped_run_keeps_what_it_had(path: Path) -> None:
    class StoppingEmbedder(CountingEmbedder):
        def embed_passages(self, texts: Sequence[str], /) -> Vector:
            if self.passages:
                raise ProviderUnavailableError
            return super().embed_passages(texts)

    texts = [f"text {n}" for n in range(200)]
    inner = StoppingEmbedder()
    with pytest.raises(ProviderUnavailableError):
        CachingEmbedder(inner, path).embed_passages(texts)
    second = CountingEmbedder()
    CachingEmbedder(second, path).embed_passages(texts)
    assert inner.passages + second.passages == texts
    assert len(inner.passages) > 50


def test_it_answers_for_the_inner_embedder(path: Path) -> None:
    inner = CountingEmbedder()
    cached = CachingEmbedder(inner, path)
    assert (cached.model_id, cached.dimension, cached.calibration) == (
        inner.model_id,
        inner.dimension,
        inner.calibration,
    )
    cached.close()
    assert inner.closed


def test_threads_share_the_file(path: Path) -> None:
    cached = CachingEmbedder(CountingEmbedder(), path)
    texts = [f"text {n}" for n in range(40)]
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda _: cached.embed_passages(texts), range(8)))
    expected = CountingEmbedder().embed_passages(texts)
    assert all(np.array_equal(result, expected) for result in results)


WRITER = """
import sys
import numpy as np
from sfams.providers.caching import CachingEmbedder

class Embedder:
    model_id, dimension = "counting/1", 3
    def embed_passages(self, texts):
        return np.array([[len(t), sum(map(ord, t)) / 1000, 1] for t in texts], dtype=np.float32)

cached = CachingEmbedder(Embedder(), sys.argv[1])
for n in range(int(sys.argv[2]), int(sys.argv[2]) + 30):
    cached.embed_passages([f"text {n}", f"text {n + 1}"])
"""


def test_processes_share_the_file(path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(start)])
        for start in (0, 15, 30)
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    texts = [f"text {n}" for n in range(61)]
    kept = CachingEmbedder(RefusingEmbedder(), path).embed_passages(texts)
    assert np.array_equal(kept, CountingEmbedder().embed_passages(texts))


def test_a_vector_of_the_wrong_length_is_made_anew(path: Path) -> None:
    cached = CachingEmbedder(CountingEmbedder(), path)
    expected = cached.embed_query("tea")
    with sqlite3.connect(path) as file:
        file.execute("UPDATE vectors SET vector = x'00'")
    file.close()
    assert np.array_equal(cached.embed_query("tea"), expected)
    assert np.array_equal(CachingEmbedder(RefusingEmbedder(), path).embed_query("tea"), expected)


def test_a_file_that_is_no_cache_is_a_provider_error(path: Path) -> None:
    path.write_bytes(b"something else entirely, and long enough to be read as a page " * 20)
    with pytest.raises(ProviderError, match="vector cache"):
        CachingEmbedder(CountingEmbedder(), path)
