"""Fitting the prior: the committed coefficients are what the recipe gives on the committed texts."""

import importlib.util
from pathlib import Path

import pytest

from sfams.core import fitted
from sfams.errors import InvalidInputError
from sfams.lab.datasets import read_dataset
from sfams.lab.datasets.values import Dataset
from sfams.lab.tuning import fit_importance, fits

TEXTS = Path(__file__).parents[2] / "benchmarks" / "quality" / "texts"


def test_the_coefficients_in_force_are_fitted_on_the_own_texts() -> None:
    found = fit_importance([read_dataset(TEXTS)])
    assert found.coefficients == pytest.approx(fitted.COEFFICIENTS, abs=0.0021)
    assert found.centre == pytest.approx(fitted.CENTRE, abs=0.01)
    assert found.bias == pytest.approx(fitted.BIAS, abs=0.01)
    assert found.importance == pytest.approx(fitted.IMPORTANCE, abs=0.0021)


def test_on_conversations_left_out_it_ranks_better_than_importance_alone() -> None:
    found = fit_importance([read_dataset(TEXTS)])
    assert found.ranked > found.ranked_by_importance + 0.03 > 0.8


def test_what_is_written_is_a_module_with_the_same_numbers(tmp_path: Path) -> None:
    found = fit_importance([read_dataset(TEXTS)], ridge=100.0)
    path = tmp_path / "other.py"
    path.write_text(found.module(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("other", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (dict(found.coefficients), 100.0) == (module.COEFFICIENTS, module.RIDGE)
    assert (found.centre, found.bias) == (module.CENTRE, module.BIAS)


def test_progress_is_told_fit_by_fit() -> None:
    data = read_dataset(TEXTS)
    steps: list[int] = []
    fit_importance([data], progress=steps.append)
    assert sum(steps) == fits([data])


def test_too_little_to_learn_from_is_refused() -> None:
    data = read_dataset(TEXTS)
    with pytest.raises(InvalidInputError, match="two conversations"):
        fit_importance([Dataset(name="one", conversations=data.conversations[:1])])
    with pytest.raises(InvalidInputError, match="ridge"):
        fit_importance([data], ridge=0.0)
