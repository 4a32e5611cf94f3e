"""Presets, models and fitted weights."""

from __future__ import annotations

import dataclasses

from generating.markdown import Row, code, number, table
from sfams.core import fitted
from sfams.core.models import linear
from sfams.core.models.activation import Activation
from sfams.core.models.adaptive import Adaptive
from sfams.core.models.density import Density
from sfams.core.models.registry import model_from
from sfams.core.models.retrievability import Retrievability
from sfams.core.models.survival import Survival
from sfams.core.policy import Budget, RetentionPolicy, Triggers
from sfams.core.presets import PRESETS

MODEL_CLASSES = (Activation, Adaptive, Density, Retrievability, Survival)


def presets() -> str:
    """Set the presets side by side."""
    policies = {name: build() for name, build in PRESETS.items()}
    rows: list[Row] = [
        (code(each.name), *(_shown(getattr(policy, each.name)) for policy in policies.values()))
        for each in dataclasses.fields(RetentionPolicy)
        if each.name != "name"
    ]
    return table(["field", *map(code, policies)], rows)


def _shown(value: object) -> str:
    if isinstance(value, linear.Linear):
        return "`classic`" if value == linear.classic() else "`Linear()`"
    if isinstance(value, MODEL_CLASSES):
        return code(f"{type(value).__name__}()")
    if isinstance(value, Budget):
        return f"{value.records:,} records" if value.records is not None else "none"
    if isinstance(value, Triggers):
        return _triggered(value)
    return "none" if value is None or value == {} else number(value)


def _triggered(triggers: Triggers) -> str:
    when = {
        "over budget": triggers.over_budget,
        f"every {triggers.turns} turns": triggers.turns is not None,
        f"every {number(triggers.interval)}": triggers.interval is not None,
        "end of session": triggers.session_end,
    }
    return ", ".join(name for name, holds in when.items() if holds) or "none"


def linear_models() -> str:
    """Set the default model and the classic one side by side."""
    plain, classic = linear.Linear().parameters(), linear.classic().parameters()
    rows = [(code(name), plain[name], classic[name]) for name in plain]
    return table(["parameter", "`Linear()`", "`classic`"], rows)


def salience_table() -> str:
    """List the fitted coefficients."""
    rows: list[Row] = [(name, f"{value:+.3f}") for name, value in fitted.COEFFICIENTS.items()]
    rows += [
        ("(centre)", f"{fitted.CENTRE:.3f}"),
        ("(bias of need)", f"{fitted.BIAS:.3f}"),
        ("(weight of importance)", f"{fitted.IMPORTANCE:.3f}"),
        ("(ridge)", f"{fitted.RIDGE:g}"),
    ]
    return table(["measure", "coefficient"], rows)


def model_parameters(name: str) -> str:
    """List a model's parameters with their defaults."""
    given = model_from(name, {}).parameters()
    rows = [(code(each), _listed(value)) for each, value in given.items()]
    return table(["parameter", "default"], rows)


def _listed(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {each:g}" for name, each in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)
