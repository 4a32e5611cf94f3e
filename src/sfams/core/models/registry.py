"""The models that a saved policy may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from sfams.core.models.activation import Activation
from sfams.core.models.adaptive import Adaptive
from sfams.core.models.density import Density
from sfams.core.models.linear import Linear
from sfams.core.models.parameters import built
from sfams.core.models.retrievability import Retrievability
from sfams.core.models.survival import Survival
from sfams.core.record import JsonValue
from sfams.core.retention import RetentionModel
from sfams.errors import InvalidPolicyError


def model_from(name: str, parameters: Mapping[str, JsonValue]) -> RetentionModel:
    """Build the model of a saved policy; parameters that are not given keep their defaults.

    Raises:
        InvalidPolicyError: Unknown model, unknown parameter or a value out of range.
    """
    build = MODELS.get(name)
    if build is None:
        message = f"model: {name[:40]!r} is unknown; there is {', '.join(sorted(MODELS))}"
        raise InvalidPolicyError(message, field="model")
    return build(parameters)


MODELS: dict[str, Callable[[Mapping[str, JsonValue]], RetentionModel]] = {
    each.name: partial(built, each)
    for each in (Activation, Adaptive, Density, Linear, Retrievability, Survival)
}
"""Builders of the models, by name."""
