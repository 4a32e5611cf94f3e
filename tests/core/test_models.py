"""The formulas of the models number for number, and the traps that others fell into."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from sfams.core.columns import Columns, columns_of
from sfams.core.models.activation import Activation
from sfams.core.models.density import Density
from sfams.core.models.linear import Linear
from sfams.core.models.registry import MODELS, model_from
from sfams.core.models.retrievability import Retrievability
from sfams.core.models.survival import CAPACITY, SHARES, Standing, Survival
from sfams.core.moments import to_micros
from sfams.core.presets import preset
from sfams.core.record import Entity, MemoryRecord, Twin, Usage
from sfams.core.retention import RetentionModel, curve
from sfams.core.traces import Accesses, Trace, TurnUse, TurnUses
from sfams.errors import InvalidInputError, InvalidPolicyError
from sfams.testing import make_record

NOW = datetime(2026, 6, 1, tzinfo=UTC)
TODAY = to_micros(NOW) // 86_400_000_000
DAY = timedelta(days=1)


def plain(kind: str = "note", days: float = 0.0, **more: Any) -> MemoryRecord:
    return make_record(kind=kind, importance=0.5, created_at=NOW - days * DAY, tokens=10, **more)


def alone(
    record: MemoryRecord, *days_ago: float, uses: tuple[TurnUse, ...] = (), turns: int = 0
) -> Columns:
    """The columns of one record that was accessed so many days ago and used in these turns."""
    trace = Trace(turns=uses)
    for days in days_ago:
        trace = trace.accessed(to_micros(NOW - days * DAY), to_micros(record.created_at))
    return replace(
        columns_of([record]),
        accesses=Accesses.of([trace]),
        turn_uses=TurnUses.of([trace], [0]),
        turns=turns,
    )


def parts(model: RetentionModel, columns: Columns, now: datetime = NOW) -> dict[str, float]:
    scores = model.score(columns, now)
    return {name: float(part[0]) for name, part in scores.parts.items()}


def value(model: RetentionModel, columns: Columns, now: datetime = NOW) -> float:
    return float(model.score(columns, now).values[0])


# --- activation ----------------------------------------------------------------------------------


def test_activation_is_the_sum_of_powers_of_all_ages() -> None:
    model = Activation(alpha=0.4, threshold=-0.5, noise=0.8, clock="wall")
    total = 1 / math.sqrt(1 + 24) + 1 / math.sqrt(1 + 8) + 1 / math.sqrt(1 + 3)
    present = 1 / (1 + math.exp((-0.5 - math.log(total)) / 0.8))
    found = value(model, alone(plain(days=24), 8, 3))
    assert found == pytest.approx(0.4 * 0.5 + 0.6 * present, abs=1e-12)


def test_activation_of_many_accesses_is_close_to_that_of_all_their_moments() -> None:
    """Forty in forty days, ten of them known: within a thousandth of the exact sum."""
    model = Activation(alpha=0.0, noise=1.0, clock="wall")
    days = [float(day) for day in range(40, 0, -1)]
    exact = sum((1 + day) ** -0.5 for day in (41.0, *days))
    present = 1 / (1 + math.exp(-1.0) / exact)
    assert value(model, alone(plain(days=41), *days)) == pytest.approx(present, abs=1e-3)


def test_activation_weighs_spaced_accesses_more_than_massed_ones() -> None:
    massed = alone(plain(days=30), *(1 + hour / 240 for hour in range(9, 0, -1)))
    spread = alone(plain(days=30), *(1 + day for day in range(9, 0, -1)))
    assert value(Activation(), spread) > value(Activation(), massed)


def test_confirmed_use_makes_accesses_weigh_more() -> None:
    for model in (Activation(clock="wall"), Retrievability(clock="wall")):
        shown = alone(plain(days=30), 9, 5)
        used = replace(shown, used_count=np.array([3]))
        assert value(model, used) > value(model, shown)
        gone = replace(model, use_gain=0.0)
        assert value(gone, used) == value(gone, shown)


# --- retrievability ------------------------------------------------------------------------------


def test_retrievability_is_nine_tenths_at_the_stability() -> None:
    for days in (1.0, 2.3065, 50.0):
        model = Retrievability(alpha=0.0, stability_days=days, clock="wall")
        assert value(model, alone(plain(days=days))) == pytest.approx(0.9, abs=1e-12)


def test_retrievability_falls_by_a_power_and_stability_stretches_it() -> None:
    model = Retrievability(alpha=0.0, clock="wall")
    curve_at = (1 + (0.9 ** (-1 / 0.1542) - 1) * 20 / 2.3065) ** -0.1542
    assert value(model, alone(plain(days=20))) == pytest.approx(curve_at, abs=1e-12)
    spaced = alone(plain(days=60), 50, 20)
    longer = 2.3065 * float(spaced.spaced().stability[0]) / 2.3065
    stretched = (1 + (0.9 ** (-1 / 0.1542) - 1) * 20 / longer) ** -0.1542
    assert value(model, spaced) == pytest.approx(stretched, abs=1e-12)


# --- survival ------------------------------------------------------------------------------------

BARE = Survival(alpha=1.0, decay=0.01, steady=1.0, ceiling=4.0, access_cap=1.0)


def test_survival_follows_its_recursion_turn_by_turn() -> None:
    uses = (TurnUse(3, 2, 0), TurnUse(10, 0, 1), TurnUse(60, 1, 0))
    strength = phi = 0.5
    by_turn = {use.turn: use for use in uses}
    for turn in range(1, 101):
        use = by_turn.get(turn, TurnUse(turn, 0, 0))
        usage = min(1.0, 0.25 * use.shown + use.used)
        phi = max(0.0, phi - 0.01) + strength * usage
    found = value(BARE, alone(plain(), uses=uses, turns=100))
    assert found == pytest.approx(phi / 4.0, abs=1e-12)


def test_survival_ends_at_zero_and_comes_back_with_a_use() -> None:
    dead = alone(plain(), turns=51)
    assert value(BARE, dead) == 0.0
    again = alone(plain(), uses=(TurnUse(5000, 0, 1),), turns=5000)
    assert value(BARE, again) == pytest.approx(0.5 / 4.0, abs=1e-12)


def test_survival_does_not_pass_its_ceiling() -> None:
    often = tuple(TurnUse(turn, 9, 9) for turn in range(1, 11))
    model = replace(BARE, ceiling=1.5)
    assert value(model, alone(plain(), uses=often, turns=10)) == pytest.approx(1.0, abs=1e-12)


def test_survival_moves_by_turns_alone() -> None:
    columns = alone(plain(), turns=20)
    assert value(Survival(), columns) == value(Survival(), columns, NOW + 5000 * DAY)
    assert value(Survival(), replace(columns, turns=21)) < value(Survival(), columns)


def test_survival_wears_what_ages_faster() -> None:
    note, fact = (value(Survival(), alone(plain(kind), turns=40)) for kind in ("note", "fact"))
    start = value(Survival(), alone(plain()))
    assert start - fact == pytest.approx((start - note) / 4, abs=1e-12)


def test_survival_wants_what_is_said_once() -> None:
    twin = replace(plain(), twin=Twin(plain().id, 0.95))
    assert value(BARE, alone(twin)) == pytest.approx(value(BARE, alone(plain())) * 0.05, abs=1e-9)


def test_importance_is_a_judgement_and_priors_of_entity_types() -> None:
    model = Survival(alpha=0.6, type_priors={"person": 0.5, "date": 0.25})
    people = (Entity("Lena", "person"), Entity("Ben", "person"))
    records = [
        make_record(1, importance=0.5),
        make_record(2, importance=0.5, entities=people),
        make_record(3, importance=0.5, entities=(*people, Entity("May", "date"))),
        make_record(4, importance=1.0, entities=(Entity("Oslo", "unknown"),)),
    ]
    found = model.importance(columns_of(records)).tolist()
    assert found == pytest.approx([0.3, 0.5, 0.6, 0.6], abs=1e-12)
    rich = Survival(type_priors={"person": 1.0, "date": 1.0})
    assert rich.importance(columns_of(records)).max() == pytest.approx(0.95)


def test_standings_are_the_papers_shares_of_the_ranking() -> None:
    records = [make_record(n, importance=n / 10_000) for n in range(1, 10_001)]
    standings = Survival().standings(columns_of(records))
    assert {each: standings.count(each) for each in Standing} == {
        each: round(share * 10_000) for each, share in SHARES.items()
    }
    assert (standings[-1], standings[0]) == (Standing.CORE, Standing.IRRELEVANT)
    assert Survival().standings(columns_of([])) == []


def test_the_preset_survival_has_the_papers_capacity() -> None:
    policy = preset("survival")
    assert isinstance(policy.model, Survival)
    assert policy.budget.records == CAPACITY == 300


# --- density -------------------------------------------------------------------------------------


def test_density_is_worth_over_size_with_a_clock() -> None:
    model = Density(beta=0.5, delta=0.2, pivot=30, n_sat=9, horizon_days=100, clock="wall")
    record = replace(plain(days=80), tokens=60, usage=Usage(3, NOW - 25 * DAY, 0))
    frequency = math.log(4) / math.log(10)
    worth = 0.8 * 0.5 * (1 + 0.5 * frequency) / 1.5 * 30 / 90
    assert value(model, alone(record)) == pytest.approx(worth + 0.2 * 0.75, abs=1e-12)


def test_density_prefers_short_ones_and_survives_no_tokens() -> None:
    values = [value(Density(), alone(replace(plain(), tokens=n))) for n in (0, 5, 50, 5000)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 4


# --- clocks and kinds ----------------------------------------------------------------------------

CLOCKED: list[Any] = [Linear, Activation, Retrievability, Density]


@pytest.mark.parametrize("model", CLOCKED)
def test_the_active_clock_counts_days_on_which_something_was_said(model: Any) -> None:
    """Three active days in three months weigh as three days in a row."""
    months = replace(alone(plain(days=90)), active_days=TODAY - np.array([90, 60, 30, 0]))
    row = replace(alone(plain(days=3)), active_days=TODAY - np.array([3, 2, 1, 0]))
    assert value(model(clock="active"), months) == value(model(clock="active"), row)
    assert value(model(clock="active"), row) == value(model(clock="wall"), row)
    assert value(model(clock="wall"), months) < value(model(clock="wall"), row)


@pytest.mark.parametrize("model", [Activation(clock="wall"), Retrievability(clock="wall")])
def test_time_stops_for_kinds_that_do_not_age(model: RetentionModel) -> None:
    for kind in ("fact", "preference", "instruction", "profile", "fact:own"):
        month, year = alone(plain(kind, days=30)), alone(plain(kind, days=365))
        assert value(model, month) == value(model, year) < value(model, alone(plain(kind)))
    for kind in ("goal", "deadline", "action", "state", "dialogue", "goal:own"):
        month, year = alone(plain(kind, days=30)), alone(plain(kind, days=365))
        assert value(model, month) > value(model, year)


def test_a_fact_that_is_used_outlives_one_that_is_not() -> None:
    for model in (Activation(clock="wall"), Retrievability(clock="wall")):
        unused = alone(plain("fact", days=400))
        assert value(model, alone(plain("fact", days=400), 390)) > value(model, unused)


# --- contracts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(MODELS))
def test_no_rows_have_no_scores(name: str) -> None:
    assert model_from(name, {}).score(columns_of([]), NOW).values.shape == (0,)


@pytest.mark.parametrize("name", ["activation", "retrievability", "survival"])
def test_a_model_does_not_guess_what_was_not_read(name: str) -> None:
    bare = replace(columns_of([plain()]), accesses=None, turn_uses=None, entity_types=None)
    with pytest.raises(InvalidInputError, match=r"columns: read without"):
        model_from(name, {}).score(bare, NOW)


WRONG: list[tuple[str, str, object]] = [
    ("activation", "alpha", 1.1),
    ("activation", "decay", 1.0),
    ("activation", "noise", 0),
    ("activation", "threshold", math.nan),
    ("activation", "steady_days", -1),
    ("activation", "clock", "moon"),
    ("retrievability", "stability_days", 0),
    ("retrievability", "decay", 0),
    ("retrievability", "use_gain", "much"),
    ("retrievability", "clock", None),
    ("density", "pivot", 0),
    ("density", "n_sat", 0),
    ("density", "delta", 2),
    ("density", "clock", "wal"),
    ("linear", "clock", "active "),
    ("survival", "decay", -0.1),
    ("survival", "ceiling", 0.5),
    ("survival", "access_cap", True),
    ("survival", "type_priors", ["person"]),
    ("survival", "type_priors", {"person": 2}),
]


@pytest.mark.parametrize(("name", "parameter", "wrong"), WRONG)
def test_wrong_parameters_are_refused_by_name(name: str, parameter: str, wrong: Any) -> None:
    with pytest.raises(InvalidPolicyError, match=parameter):
        model_from(name, {parameter: wrong})


@pytest.mark.parametrize("name", ["activation", "retrievability", "linear"])
def test_a_curve_by_the_wall_clock_falls(name: str) -> None:
    drawn = curve(model_from(name, {"clock": "wall"}), alone(plain()), NOW, horizon=90 * DAY)
    assert (np.diff(drawn.values) < 0).all()
