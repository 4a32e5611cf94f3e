"""What a memory is worth: the formulas, number for number, and the traps that peers fell into."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from sfams.core.columns import columns_of
from sfams.core.models.linear import Linear, classic
from sfams.core.models.registry import model_from
from sfams.core.moments import MISSING, NEVER
from sfams.core.planner import plan_forgetting
from sfams.core.presets import classic_policy
from sfams.core.record import MemoryRecord, PlanId, Usage
from sfams.core.retention import RetentionModel, curve
from sfams.core.scope import Scope
from sfams.errors import InvalidInputError, InvalidPolicyError
from sfams.testing import make_record

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def score(model: RetentionModel, record: MemoryRecord, now: datetime = NOW) -> float:
    return float(model.score(columns_of([record]), now).values[0])


def parts(model: RetentionModel, record: MemoryRecord, now: datetime = NOW) -> dict[str, float]:
    scores = model.score(columns_of([record]), now)
    return {name: float(part[0]) for name, part in scores.parts.items()}


def used(count: int, days_ago: float, importance: float = 0.5) -> MemoryRecord:
    return make_record(
        importance=importance,
        created_at=NOW - 400 * DAY,
        usage=Usage(count, NOW - days_ago * DAY),
    )


@pytest.mark.parametrize(
    ("importance", "days", "count", "expected"),
    [
        (1.0, 0.0, 0, 0.5 + 0.3),
        (0.5, 15.0, 5, 0.25 + 0.15 + 0.1),
        (0.8, 10.9, 3, 0.4 + 0.2 + 0.06),  # ten whole days
        (0.35, 6.0, 1, 0.175 + 0.24 + 0.02),
        (0.2, 29.99, 10, 0.1 + 0.01 + 0.2),  # twenty-nine whole days
        (0.2, 30.0, 10, 0.1 + 0.2),
        (0.9, 399.0, 0, 0.45),
        (0.0, 399.0, 0, 0.0),
        (1.0, 0.0, 50, 1.0),  # frequency is full at ten
    ],
)
def test_classic_numbers(importance: float, days: float, count: int, expected: float) -> None:
    assert score(classic(), used(count, days, importance)) == pytest.approx(expected, abs=1e-12)


TWELVE: list[tuple[float, float, float | None, int, float]] = [
    # importance, created and last accessed days ago, accesses: by hand, with paper and pencil
    (1.00, 0.0, None, 0, 0.8),  # 0.5 + 0.3 * 30/30
    (0.90, 45.0, 3.0, 12, 0.92),  # 0.45 + 0.3 * 27/30 + 0.2 * 1
    (0.80, 50.0, 12.0, 4, 0.66),  # 0.4 + 0.3 * 18/30 + 0.2 * 0.4
    (0.70, 40.0, None, 0, 0.35),  # 0.35 + 0 + 0
    (0.65, 20.0, 9.5, 7, 0.675),  # 0.325 + 0.3 * 21/30 + 0.2 * 0.7: nine whole days
    (0.60, 29.0, None, 0, 0.31),  # 0.3 + 0.3 * 1/30
    (0.50, 30.0, None, 0, 0.25),  # 0.25 + 0: at thirty days nothing is left
    (0.45, 10.99, None, 0, 0.425),  # 0.225 + 0.3 * 20/30: ten whole days
    (0.40, 90.0, 29.9, 2, 0.25),  # 0.2 + 0.3 * 1/30 + 0.2 * 0.2
    (0.30, 60.0, 0.5, 10, 0.65),  # 0.15 + 0.3 + 0.2
    (0.20, 100.0, 99.0, 1, 0.12),  # 0.1 + 0 + 0.02
    (0.00, 15.0, None, 0, 0.15),  # 0 + 0.3 * 15/30
]
"""0.5 * importance + 0.3 * max(0, 1 - whole days / 30) + 0.2 * min(accesses / 10, 1)."""


def test_classic_scores_twelve_records_as_worked_out_by_hand() -> None:
    """The article's numbers exactly, and of the twelve the lowest int(0.1 * 12), one, goes."""
    records = [
        make_record(
            number,
            importance=importance,
            created_at=NOW - created * DAY,
            usage=Usage(count, None if last is None else NOW - last * DAY),
        )
        for number, (importance, created, last, count, _) in enumerate(TWELVE, 1)
    ]
    found = classic().score(columns_of(records), NOW).values
    assert found.tolist() == pytest.approx([each[-1] for each in TWELVE], abs=1e-12)
    made = plan_forgetting(
        columns_of(records),
        classic_policy(),
        scope=Scope("a"),
        plan_id=PlanId("p"),
        now=NOW,
    )
    assert list(made.steps.ids) == [records[10].id]


def test_classic_never_accessed_counts_from_creation() -> None:
    record = make_record(importance=0.4, created_at=NOW - 12 * DAY)
    assert score(classic(), record) == pytest.approx(0.2 + 0.3 * 18 / 30, abs=1e-12)


def test_classic_ignores_age_and_confirmed_use() -> None:
    old = make_record(kind="dialogue", created_at=NOW - 300 * DAY, usage=Usage(2, NOW, 40, NOW))
    expected = {"importance": 0.25, "recency": 0.3, "frequency": 0.04}
    assert parts(classic(), old) == pytest.approx(expected, abs=1e-12)


def test_half_life_halves_and_is_no_time_constant() -> None:
    model = Linear(alpha=0.0, beta=0.0, gamma=1.0, delta=0.0, recency_days=30.0)
    values = [score(model, used(1, days)) for days in (0, 30, 60, 90)]
    assert values == pytest.approx([1.0, 0.5, 0.25, 0.125], abs=1e-12)


def test_linear_window_reaches_zero_and_stays_there() -> None:
    model = Linear(alpha=0.0, beta=0.0, gamma=1.0, delta=0.0, recency="linear", recency_days=10)
    values = [score(model, used(1, days)) for days in (0, 2.5, 10, 300)]
    assert values == pytest.approx([1.0, 0.75, 0.0, 0.0], abs=1e-12)


def test_whole_days_ignore_the_day_that_is_not_over() -> None:
    model = Linear(alpha=0.5, gamma=0.25, recency="linear", recency_days=10, whole_days=True)
    assert score(model, used(0, 2.99)) == score(model, used(0, 2.0))


def test_frequency_is_zero_at_no_use_and_never_above_its_weight() -> None:
    for logarithmic in (False, True):
        model = Linear(alpha=0, beta=1, gamma=0, delta=0, n_sat=10, log_frequency=logarithmic)
        values = [score(model, used(n, 0)) for n in (0, 10, 1_000_000)]
        assert values == [0.0, 1.0, 1.0]
    model = Linear(alpha=0, beta=1, gamma=0, delta=0, n_sat=10, log_frequency=True)
    assert score(model, used(3, 0)) == pytest.approx(math.log(4) / math.log(11), abs=1e-12)


def test_a_confirmed_use_weighs_more_than_a_showing() -> None:
    model = Linear()
    shown = replace(used(2, 0), usage=Usage(2, NOW))
    confirmed = replace(shown, usage=Usage(1, NOW, 1, NOW))
    assert score(model, confirmed) > score(model, shown)


def test_age_counts_only_for_kinds_that_age() -> None:
    model = Linear(delta=0.1, age_horizon_days=180)
    for kind, expected in {
        "fact": 0.0,
        "preference": 0.0,
        "dialogue": -0.05,
        "goal:q": -0.05,
    }.items():
        record = make_record(kind=kind, created_at=NOW - 90 * DAY)
        assert parts(model, record)["age"] == pytest.approx(expected, abs=1e-12)


def test_age_is_full_at_its_horizon() -> None:
    record = make_record(kind="note", created_at=NOW - 5000 * DAY)
    assert parts(Linear(), record)["age"] == -0.05


def test_live_scores_are_cut_to_zero_and_the_cut_is_a_part() -> None:
    record = make_record(kind="note", importance=0.0, created_at=NOW - 5000 * DAY)
    assert score(Linear(), record) == 0.0
    assert parts(Linear(), record)["clamp"] == pytest.approx(0.05, abs=1e-9)
    assert "clamp" not in parts(Linear(), make_record())


def test_expired_is_minus_one_from_the_very_moment_on() -> None:
    record = make_record(importance=1.0, created_at=NOW - DAY, expires_at=NOW)
    assert score(Linear(), record) == -1.0
    assert math.fsum(parts(Linear(), record).values()) == pytest.approx(-1.0, abs=1e-9)
    assert score(Linear(), record, NOW - timedelta(microseconds=1)) > 0.0


def test_the_future_counts_as_now() -> None:
    red, blue, green = (make_record(created_at=NOW + days * DAY) for days in (0, 10, 3653))
    old = make_record(created_at=datetime(1970, 1, 1, tzinfo=UTC))
    for model in (Linear(), classic()):
        assert score(model, red) == score(model, blue) == score(model, green) <= 1.0
        ahead = replace(old, usage=Usage(0, NOW + 30 * DAY))
        assert score(model, old) <= score(model, ahead) <= score(model, red)


def test_an_access_before_creation_does_not_age_a_memory() -> None:
    record = make_record(created_at=NOW - DAY)
    touched = replace(record, usage=Usage(1, NOW - 300 * DAY))
    assert score(Linear(), touched) > score(Linear(), record)


def test_a_score_depends_on_neither_neighbours_nor_earlier_runs() -> None:
    records = [make_record(n, importance=n / 10, created_at=NOW - n * DAY) for n in range(1, 10)]
    model = Linear()
    together = model.score(columns_of(records), NOW).values
    assert together.tolist() == [score(model, record) for record in records]
    assert together.tolist() == model.score(columns_of(records), NOW).values.tolist()


def test_no_rows_have_no_scores() -> None:
    scores = Linear().score(columns_of([]), NOW)
    assert scores.values.shape == (0,)


def test_broken_columns_still_score_finite() -> None:
    columns = columns_of([make_record(n, kind="note") for n in range(1, 6)])
    broken = replace(
        columns,
        importance=np.array([math.nan, math.inf, -math.inf, -5.0, 7.0]),
        created_at=np.array([MISSING, NEVER, 0, MISSING + 1, NEVER - 1]),
        access_count=np.array([-1, NEVER, 0, 2**62, MISSING]),
        used_count=np.array([NEVER, -1, MISSING, 2**62, 0]),
    )
    for model in (Linear(), classic(), Linear(log_frequency=True, recency_days=1e-3)):
        scores = model.score(broken, NOW)
        assert ((scores.values >= 0.0) & (scores.values <= 1.0)).all()
        assert all(np.isfinite(part).all() for part in scores.parts.values())
    assert Linear().score(broken, NOW).parts["importance"].tolist() == [0.0, 0.75, 0.0, 0.0, 0.75]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -0.1),
        ("alpha", math.nan),
        ("alpha", True),
        ("beta", "0.2"),
        ("gamma", 0.5),  # with alpha 0.75 and beta 0.15 more than 1
        ("delta", math.inf),
        ("recency", "power"),
        ("recency_days", 0),
        ("n_sat", 0),
        ("use_weight", -1),
        ("age_horizon_days", math.nan),
        ("log_frequency", 1),
    ],
)
def test_wrong_parameters_are_refused_by_name(name: str, value: object) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(InvalidPolicyError, match=r"alpha|" + name):
        Linear(**wrong)
    with pytest.raises(InvalidPolicyError):
        model_from("linear", wrong)


def test_a_model_is_found_again_from_its_name_and_parameters() -> None:
    for model in (Linear(), classic(), Linear(alpha=0.3, log_frequency=True, recency="linear")):
        assert model_from(model.name, model.parameters()) == model


def test_unknown_models_and_parameters_are_refused() -> None:
    with pytest.raises(InvalidPolicyError, match="there is activation, adaptive"):
        model_from("magic", {})
    with pytest.raises(InvalidPolicyError, match="alfa"):
        model_from("linear", {"alfa": 0.5})


def test_the_curve_of_a_memory_falls_and_ends_with_its_expiry() -> None:
    row = columns_of([make_record(created_at=NOW, expires_at=NOW + 60 * DAY)])
    drawn = curve(Linear(), row, NOW, horizon=90 * DAY, steps=9)
    assert drawn.days.tolist() == pytest.approx([0, 10, 20, 30, 40, 50, 60, 70, 80, 90])
    alive, over = drawn.values[:6], drawn.values[6:]
    assert (np.diff(alive) < 0).all()
    assert over.tolist() == [-1.0] * 4
    assert drawn.values[3] == Linear().score(row, NOW + 30 * DAY).values[0]


def test_a_curve_needs_one_row_and_a_horizon() -> None:
    row = columns_of([make_record()])
    with pytest.raises(InvalidInputError, match="row"):
        curve(Linear(), columns_of([]), NOW, horizon=DAY)
    for horizon in (timedelta(0), -DAY, timedelta.max):
        with pytest.raises(InvalidInputError, match="horizon"):
            curve(Linear(), row, NOW, horizon=horizon)
    for steps in (0, 1001):
        with pytest.raises(InvalidInputError, match="steps"):
            curve(Linear(), row, NOW, horizon=DAY, steps=steps)
