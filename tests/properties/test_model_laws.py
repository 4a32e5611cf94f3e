"""Laws of every retention model, over records with traces, by any parameters."""

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import ACCESS_LIMITS, DEFAULTS, models

from sfams.core.columns import ARRAY_FIELDS, Columns, columns_of
from sfams.core.models.registry import MODELS, model_from
from sfams.core.moments import MISSING, NEVER, from_micros, to_micros
from sfams.core.record import Entity, Kind, MemoryRecord, Twin, Usage
from sfams.core.retention import RetentionModel
from sfams.core.traces import KEPT, Accesses, Trace, TurnUse, TurnUses
from sfams.testing import make_record, numbered_id

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FEW = settings(max_examples=60, deadline=None)
EVER = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
MOMENTS = st.one_of(
    st.integers(-400 * 24, 24).map(lambda hours: NOW + hours * timedelta(hours=1)), EVER
)
COUNTS = st.one_of(st.integers(0, 30), st.integers(0, 2**60))
LAST_TURN = 500
USES = st.builds(TurnUse, st.integers(0, LAST_TURN), st.integers(0, 9), st.integers(0, 3))
EVENTS = st.lists(st.tuples(MOMENTS.map(to_micros), USES), max_size=2 * KEPT)
NEGLIGIBLE = 1e-12


@st.composite
def memories(draw: st.DrawFn) -> tuple[MemoryRecord, Trace]:
    """A record and the trace of accesses that came in any order."""
    events = draw(EVENTS)
    created = draw(MOMENTS)
    shown, used = (sum(use[place] for _, use in events) for place in (1, 2))
    moments = [at for at, use in events if use.shown or use.used]
    record = make_record(
        kind=draw(st.sampled_from([*Kind, "goal:own"])),
        importance=draw(st.floats(0.0, 1.0)),
        salience=draw(st.floats(0.0, 1.0)),
        created_at=created,
        usage=Usage(shown, from_micros(max(moments)) if moments else None, used),
        expires_at=draw(st.none() | st.none() | MOMENTS),
        tokens=draw(st.integers(0, 3000)),
        twin=draw(st.none() | st.just(Twin(numbered_id(99), 0.93))),
        entities=tuple(Entity(each, each) for each in draw(st.sets(st.sampled_from(TYPES)))),
    )
    return record, traced(events, created)


TYPES = ["person", "date", "place", "idea"]


def traced(events: Sequence[tuple[int, TurnUse]], created: datetime) -> Trace:
    trace = Trace()
    for at, use in events:
        trace = trace.noted(use, [at], to_micros(created))
    return trace


def packed(
    *memories: tuple[MemoryRecord, Trace], turns: int = LAST_TURN, days: Sequence[int] = ()
) -> Columns:
    """Columns as a store reads them, for one or more of (record, trace)."""
    records, traces = [record for record, _ in memories], [trace for _, trace in memories]
    columns = columns_of([replace(each, id=numbered_id(n)) for n, each in enumerate(records, 1)])
    return replace(
        columns,
        accesses=Accesses.of(traces),
        turn_uses=TurnUses.of(traces, [0] * len(traces)),
        turns=turns,
        active_days=np.array(sorted(days), np.int64),
    )


def value(model: RetentionModel, columns: Columns, now: datetime = NOW) -> float:
    return float(model.score(columns, now).values[0])


@FEW
@given(models(), st.lists(memories(), max_size=4), MOMENTS, st.integers(0, 2 * LAST_TURN))
def test_scores_are_finite_and_explained(
    model: RetentionModel, given_: list[tuple[MemoryRecord, Trace]], now: datetime, turns: int
) -> None:
    columns = packed(*given_, turns=turns, days=range(20_000, 21_000, 3))
    scores = model.score(columns, now)
    expired = np.array([record.expired(now) for record, _ in given_], np.bool_)
    assert (scores.values[expired] == -1.0).all()
    assert ((scores.values[~expired] >= 0.0) & (scores.values[~expired] <= 1.0)).all()
    total = sum(scores.parts.values(), np.zeros(len(columns)))
    assert np.abs(total - scores.values).max(initial=0.0) <= 1e-9
    assert all(np.isfinite(part).all() for part in scores.parts.values())


@FEW
@given(models(), memories(), EVENTS, st.booleans())
def test_more_use_never_lowers_a_score(
    model: RetentionModel,
    memory: tuple[MemoryRecord, Trace],
    more: list[tuple[int, TurnUse]],
    active: bool,
) -> None:
    """However much there is already, and in whichever order it is told."""
    record, trace = memory
    days = range(19_000, 21_000, 2) if active else ()
    before = value(model, packed((record, trace), days=days))
    for at, use in more:
        usage = record.usage
        if use.shown or use.used:
            last = max(usage.last_accessed_at or from_micros(at), from_micros(at))
            usage = replace(usage, last_accessed_at=last)
        usage = replace(
            usage,
            access_count=usage.access_count + use.shown,
            used_count=usage.used_count + use.used,
        )
        record = replace(record, usage=usage)
        trace = trace.noted(use, [at], to_micros(record.created_at))
        after = value(model, packed((record, trace), days=days))
        assert after >= before - NEGLIGIBLE
        before = after


@FEW
@given(models(), memories(), st.integers(0, 10_000), st.integers(0, 10_000))
def test_time_never_raises_the_score_of_what_nobody_touches(
    model: RetentionModel, memory: tuple[MemoryRecord, Trace], early: int, later: int
) -> None:
    columns = packed(memory, days=range(15_000, 40_000))
    until = replace(columns, turns=columns.turns + later)
    first, second = NOW + early * DAY / 10, NOW + (early + later) * DAY / 10
    assert value(model, until, second) <= value(model, columns, first) + NEGLIGIBLE


@FEW
@given(models(), memories())
def test_the_future_never_wins_over_now(
    model: RetentionModel, memory: tuple[MemoryRecord, Trace]
) -> None:
    record, trace = memory
    fresh = replace(record, created_at=NOW)
    ahead = replace(record, created_at=NOW + 5 * DAY)
    assert value(model, packed((ahead, trace))) <= value(model, packed((fresh, trace)))


@FEW
@given(models(), st.lists(memories(), min_size=1, max_size=4))
def test_a_score_depends_on_neither_neighbours_nor_earlier_runs(
    model: RetentionModel, given_: list[tuple[MemoryRecord, Trace]]
) -> None:
    columns = packed(*given_, days=range(19_000, 21_000, 5))
    before = {name: getattr(columns, name).copy() for name in ARRAY_FIELDS}
    together = model.score(columns, NOW).values
    for hour in range(1, 25):
        model.score(columns, NOW - hour * timedelta(hours=1))
    assert together.tolist() == model.score(columns, NOW).values.tolist()
    rows = (np.array([row], np.intp) for row in range(len(columns)))
    assert together.tolist() == [value(model, columns.take(row)) for row in rows]
    for name, cells in before.items():
        assert getattr(columns, name).tolist() == cells.tolist()


@pytest.mark.parametrize("model", DEFAULTS, ids=lambda each: f"{each.name}")
def test_broken_columns_still_score_finite(model: RetentionModel) -> None:
    """What damaged files and wrong clocks bring: nothing is silently left out, nothing is no number."""
    count = 6
    extremes = np.array([MISSING, NEVER, 0, MISSING + 1, NEVER - 1, -1])
    floats = np.array([np.nan, np.inf, -np.inf, -5.0, 7.0, 0.5])
    whole = columns_of([make_record(n, kind="note") for n in range(1, count + 1)])
    broken = replace(
        whole,
        importance=floats,
        salience=floats,
        similarity=floats[::-1],
        created_at=extremes,
        last_accessed_at=extremes[::-1],
        access_count=extremes,
        used_count=extremes[::-1],
        tokens=extremes,
        accesses=Accesses(extremes, floats, replace(whole.spaced().moments)),
        turn_uses=replace(whole.by_turn(), learned=extremes // 2),
        turns=5,
        active_days=np.array([-5, 0, 20_000]),
    )
    scores = model.score(broken, NOW)
    assert ((scores.values >= 0.0) & (scores.values <= 1.0)).all()
    assert all(np.isfinite(part).all() for part in scores.parts.values())


@FEW
@given(models(), memories(), st.integers(1, 3000))
def test_silence_ages_nothing_by_the_active_clock(
    model: RetentionModel, memory: tuple[MemoryRecord, Trace], days: int
) -> None:
    record, trace = memory
    if getattr(model, "clock", "wall") == "wall" and model.name != "survival":
        return
    columns = packed((replace(record, expires_at=None), trace), days=[19_000, 20_000, 20_500])
    assert value(model, columns, NOW + days * DAY) == value(model, columns)


@pytest.mark.parametrize("name", sorted(ACCESS_LIMITS))
def test_accesses_have_a_documented_limit(name: str) -> None:
    """A hundred thousand recalls, spread over years and turns, still leave it; one more does nothing."""
    model = model_from(name, {})
    part, limit = ACCESS_LIMITS[name]
    events = [
        (to_micros(NOW - 1000 * DAY + hours * timedelta(hours=8)), TurnUse(hours, 9, 9))
        for hours in range(3000)
    ]
    record = make_record(
        importance=1.0,
        tokens=1,
        created_at=NOW - 1000 * DAY,
        usage=Usage(100_000, NOW, 100_000, NOW),
    )
    trace = traced(events, record.created_at)
    columns = packed((record, trace), turns=3000, days=range(19_000, 20_606))
    assert 0.0 < model.score(columns, NOW).parts[part][0] <= limit + NEGLIGIBLE
    assert value(model, columns) <= 1.0


@FEW
@given(models())
def test_a_model_is_found_again_from_its_name_and_parameters(model: RetentionModel) -> None:
    assert model_from(model.name, model.parameters()) == model
    assert set(model.parameters()) == {each.name for each in fields(type(model))}  # type: ignore[arg-type]


def test_every_model_is_held_to_these_laws() -> None:
    assert {model.name for model in DEFAULTS} == set(MODELS)
