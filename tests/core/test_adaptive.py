"""Adaptive: need per token, explained by parts, and never a clock."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from sfams.core import fitted
from sfams.core.columns import columns_of
from sfams.core.models.adaptive import Adaptive
from sfams.core.presets import preset
from sfams.core.record import MemoryRecord, Twin, Usage
from sfams.errors import InvalidPolicyError
from sfams.testing import make_record, numbered_id

NOW = datetime(2026, 6, 1, tzinfo=UTC)
YEAR = timedelta(days=365)


def record(**fields: object) -> MemoryRecord:
    plain = make_record(1, created_at=NOW, tokens=20, importance=0.5, salience=0.5)
    return replace(plain, **fields)  # type: ignore[arg-type]  # by name


def score(*records: MemoryRecord, now: datetime = NOW) -> list[float]:
    found: list[float] = Adaptive().score(columns_of(records), now).values.tolist()
    return found


def test_a_usual_memory_of_middling_size_has_one_half() -> None:
    assert score(record()) == [pytest.approx(0.5)]


def test_the_value_is_need_per_token() -> None:
    """Without anything else: p / usual p * (20 / tokens) ** 1.1, put into 0..1."""
    salience, importance, tokens = 0.8, 0.9, 45
    odds = np.log(salience / (1 - salience)) + fitted.IMPORTANCE * np.log(9)
    chance = 1 / (1 + np.exp(-(fitted.BIAS + odds)))
    density = chance * (1 + np.exp(-fitted.BIAS)) * (20 / tokens) ** 1.1
    made = record(salience=salience, importance=importance, tokens=tokens)
    assert score(made) == [pytest.approx(density / (1 + density))]


def test_every_part_is_named_and_they_add_up() -> None:
    made = record(
        kind="note",
        salience=0.7,
        importance=0.8,
        tokens=50,
        usage=Usage(5, NOW, 2, NOW),
        twin=Twin(numbered_id(9), 0.95),
        created_at=NOW - YEAR / 2,
    )
    scores = Adaptive(clock="wall").score(columns_of([made]), NOW)
    parts = {name: float(part[0]) for name, part in scores.parts.items()}
    assert sum(parts.values()) == pytest.approx(float(scores.values[0]), abs=1e-9)
    signs = {name: np.sign(part) for name, part in parts.items()}
    assert signs == {
        "base": 1,
        "salience": 1,
        "importance": 1,
        "use": 1,
        "distinctness": -1,
        "age": -1,
        "size": -1,
    }


def test_shown_counts_little_and_has_a_limit_and_used_counts_more() -> None:
    never, once, often, always = (record(usage=Usage(n, NOW)) for n in (0, 1, 200, 10**9))
    used = record(usage=Usage(1, NOW, 1, NOW))
    values = score(never, once, often, always, used)
    assert values[0] < values[1] < values[2] == values[3] < values[4]
    assert values[3] - values[0] < 0.07


def test_silence_forgets_nothing() -> None:
    fact, note = record(kind="fact"), record(kind="note")
    assert score(fact, now=NOW + 10 * YEAR) == score(fact)
    assert score(note, now=NOW + 10 * YEAR) == score(note)  # nothing was said in these years
    wall = Adaptive(clock="wall")
    aged = [wall.score(columns_of([note]), NOW + n * YEAR).values[0] for n in (0, 1, 10)]
    assert aged[0] > aged[1] == aged[2]


def test_odd_cells_give_numbers() -> None:
    odd = columns_of([record(), record(), record()])
    odd.importance[:] = [np.nan, 0.0, 1.0]
    odd.salience[:] = [np.inf, 0.0, 1.0]
    odd.tokens[:] = [0, -5, 10**9]
    odd.similarity[:] = [np.nan, 7.0, -1.0]
    odd.used_count[:] = [-1, 2**40, 0]
    values = Adaptive().score(odd, NOW).values
    assert np.isfinite(values).all()
    assert ((values >= 0) & (values <= 1)).all()


def test_expired_is_below_everything() -> None:
    made = record(expires_at=NOW, salience=0.99)
    assert score(made) == [-1.0]


@pytest.mark.parametrize("wrong", [-0.1, 11, float("nan"), "1", True, None])
def test_a_parameter_is_a_number_of_its_range(wrong: object) -> None:
    with pytest.raises(InvalidPolicyError, match="size"):
        Adaptive(size=wrong)  # type: ignore[arg-type]  # on purpose


def test_the_preset_keeps_a_window_and_water_marks() -> None:
    policy = preset("adaptive")
    assert (policy.budget.records, policy.budget.low, policy.window) == (5000, 0.95, 0.05)
    assert policy.model == Adaptive()
