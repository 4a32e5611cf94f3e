"""Hypothesis strategies for retention models with any parameters that they allow."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

from sfams.core.models.activation import Activation
from sfams.core.models.adaptive import Adaptive
from sfams.core.models.density import Density
from sfams.core.models.linear import Linear, classic
from sfams.core.models.parameters import Clock
from sfams.core.models.retrievability import Retrievability
from sfams.core.models.survival import Survival
from sfams.core.retention import RetentionModel

SHARES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
UNIT = st.one_of(SHARES, st.floats(0.0, 1.0))
SIZES = st.floats(0.001, 1e6)
GAINS = st.floats(0.0, 100.0)
WALL_OR_ACTIVE: tuple[Clock, ...] = ("wall", "active")
CLOCKS = st.sampled_from(WALL_OR_ACTIVE)

DEFAULTS: tuple[RetentionModel, ...] = (
    Linear(),
    Linear(clock="active"),
    classic(),
    Adaptive(),
    Survival(),
    Activation(),
    Activation(clock="wall"),
    Retrievability(),
    Retrievability(clock="wall"),
    Density(),
    Density(clock="wall"),
)


@st.composite
def linears(draw: st.DrawFn) -> Linear:
    """Weights that sum to 1 or less."""
    cuts = sorted((draw(UNIT), draw(UNIT), draw(UNIT)))
    return Linear(
        alpha=cuts[0],
        beta=cuts[1] - cuts[0],
        gamma=cuts[2] - cuts[1],
        delta=draw(UNIT),
        recency=draw(st.sampled_from(["linear", "half_life"])),
        recency_days=draw(SIZES),
        n_sat=draw(SIZES),
        use_weight=draw(GAINS),
        log_frequency=draw(st.booleans()),
        age_horizon_days=draw(SIZES),
        whole_days=draw(st.booleans()),
        clock=draw(CLOCKS),
    )


ACTIVATIONS = st.builds(
    Activation,
    alpha=UNIT,
    decay=st.floats(0.01, 0.99),
    threshold=st.floats(-100.0, 100.0),
    noise=st.floats(0.01, 100.0),
    use_gain=GAINS,
    steady_days=st.one_of(st.just(0.0), SIZES),
    clock=CLOCKS,
)
RETRIEVABILITIES = st.builds(
    Retrievability,
    alpha=UNIT,
    stability_days=SIZES,
    decay=st.floats(0.01, 10.0),
    use_gain=GAINS,
    steady_days=st.one_of(st.just(0.0), SIZES),
    clock=CLOCKS,
)
DENSITIES = st.builds(
    Density,
    beta=GAINS,
    delta=UNIT,
    pivot=SIZES,
    n_sat=SIZES,
    use_weight=GAINS,
    horizon_days=SIZES,
    clock=CLOCKS,
)
SURVIVALS = st.builds(
    Survival,
    alpha=UNIT,
    decay=st.one_of(st.floats(0.0, 0.1), st.floats(0.0, 1e3)),
    steady=UNIT,
    shown_gain=st.one_of(UNIT, GAINS),
    used_gain=st.one_of(UNIT, GAINS),
    ceiling=st.floats(1.0, 1e3),
    access_cap=UNIT,
    type_priors=st.dictionaries(st.sampled_from(["person", "date", "place"]), UNIT),
)
ADAPTIVES = st.builds(
    Adaptive,
    size=st.floats(0.0, 10.0),
    used_weight=st.floats(0.0, 10.0),
    shown_weight=st.floats(0.0, 10.0),
    age_weight=st.floats(0.0, 10.0),
    age_horizon_days=SIZES,
)


def models() -> st.SearchStrategy[RetentionModel]:
    """Any model of the product."""
    return st.one_of(
        st.sampled_from(DEFAULTS),
        linears(),
        ACTIVATIONS,
        RETRIEVABILITIES,
        DENSITIES,
        SURVIVALS,
        ADAPTIVES,
    )


ACCESS_LIMITS: Mapping[str, tuple[str, float]] = {
    "linear": ("frequency", Linear().beta),
    "activation": ("accesses", 1.0 - Activation().alpha),
    "retrievability": ("accesses", 1.0 - Retrievability().alpha),
    "survival": ("accesses", Survival().access_cap),
    "density": (
        "frequency",
        (1.0 - Density().delta) * Density().beta / (1.0 + Density().beta),
    ),
}
"""The part that comes from accesses, and its documented limit, with default parameters."""
