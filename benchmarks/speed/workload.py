"""What the speed benchmarks work on: the same texts and vectors in every run, for every peer."""

from __future__ import annotations

import os
import platform
import random
import resource
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from sfams.core.query import Calibration
from sfams.core.view import Vector

DIMENSION = 384
TOPICS = 64
_SYLLABLES = [
    "ka",
    "lo",
    "mi",
    "tra",
    "sen",
    "vor",
    "pel",
    "du",
    "ris",
    "ban",
    "co",
    "fen",
    "gar",
    "hul",
]
_HAN = "项目会议数据接口部署测试用户报告计划风险决定截止日期需求版本系统团队问题方案更新客户服务"


class Workload:
    """Texts of about 30 terms (a fifth of them Chinese) and clustered unit vectors, by number."""

    def __init__(self, size: int, seed: int = 7) -> None:
        """Make `size` texts with their vectors, and as many questions as anybody needs."""
        self._random = random.Random(seed)
        words = sorted({"".join(self._random.choices(_SYLLABLES, k=3)) for _ in range(4000)})
        weights = [1.0 / (rank + 3) for rank in range(len(words))]
        self._words, self._weights = words, weights
        self.texts = [self._text(number) for number in range(size)]
        generator = np.random.default_rng(seed)
        centres = generator.standard_normal((TOPICS, DIMENSION), dtype=np.float32)
        noise = generator.standard_normal((size, DIMENSION), dtype=np.float32)
        vectors = centres[np.arange(size) % TOPICS] + 0.7 * noise
        self.vectors: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def _text(self, number: int) -> str:
        if number % 5 == 0:
            return f"记录{number}：" + "".join(self._random.choices(_HAN, k=28)) + "。"
        words = self._random.choices(self._words, weights=self._weights, k=18)
        return f"Note {number}: " + " ".join(words) + "."

    def question(self, number: int) -> str:
        """Ask with four words of a text."""
        words = self.texts[number].split()
        return " ".join(words[2:6]) if len(words) > 5 else self.texts[number][4:10]


class TableEmbedder:
    """Looks vectors up, so that a benchmark times the memory and not the model."""

    model_id = "table/1"
    dimension = DIMENSION
    calibration = Calibration(0.0, 0.05)

    def __init__(self, workload: Workload) -> None:
        """Know the vectors of a workload; other texts get the vector of a text by their length."""
        self._vectors = workload.vectors
        self._rows = {text: row for row, text in enumerate(workload.texts)}

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        """Look up."""
        rows = [self._rows.get(text, len(text) % len(self._vectors)) for text in texts]
        return self._vectors[rows]

    def embed_query(self, text: str, /) -> Vector:
        """Look up."""
        return np.asarray(self.embed_passages([text])[0], np.float32)

    def close(self) -> None:
        """Hold nothing."""


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Sum times up in milliseconds."""
    values = np.array(seconds) * 1000.0
    return {
        "p50_ms": round(float(np.percentile(values, 50)), 3),
        "p95_ms": round(float(np.percentile(values, 95)), 3),
        "p99_ms": round(float(np.percentile(values, 99)), 3),
    }


def peak_mb() -> float:
    """Tell the process's peak memory in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def machine(packages: Sequence[str]) -> dict[str, Any]:
    """Name machine and versions, without a path or a host."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "load_at_start": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in packages},
    }
