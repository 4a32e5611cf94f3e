"""Laws of scoring and planning that hold for every memory and every policy."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import SHARES, UNIT, models

from sfams.core.columns import Columns, columns_of
from sfams.core.models.linear import Linear
from sfams.core.moments import to_micros
from sfams.core.plan import UNBOUND, Action, ForgettingPlan, Reason
from sfams.core.planner import plan_forgetting, removed_by
from sfams.core.policy import Budget, RetentionPolicy, Rung
from sfams.core.policy_json import policy_from_json, policy_to_json
from sfams.core.record import AGING_KINDS, Kind, MemoryRecord, PlanId, Tier, Usage
from sfams.core.retention import RetentionModel
from sfams.core.review import Ruling, Verdict, weaken
from sfams.core.scope import Scope
from sfams.testing import make_record, numbered_id

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
EVER = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
NEAR = st.integers(-400, 40).map(lambda days: NOW + days * DAY)
MOMENTS = st.one_of(NEAR, EVER, st.just(NOW))
COUNTS = st.one_of(st.integers(0, 30), st.integers(0, 2**60))
FEW = settings(max_examples=30, deadline=None)  # memories take long to draw
RUNGS = st.builds(Rung, below=SHARES, after=st.sampled_from([0, 10, 300]).map(lambda n: n * DAY))
DEMOTE_OR_DELETE = st.sampled_from([Action.DEMOTE, Action.DELETE])


@st.composite
def memories(draw: st.DrawFn, number: int = 1) -> MemoryRecord:
    usage = Usage(draw(COUNTS), draw(st.none() | MOMENTS), draw(COUNTS))
    return make_record(
        number,
        kind=draw(st.sampled_from([*Kind, "fact:own", "goal:own"])),
        importance=draw(UNIT),
        created_at=draw(MOMENTS),
        usage=usage,
        expires_at=draw(st.none() | st.none() | MOMENTS),
        grace_until=draw(st.none() | st.none() | MOMENTS),
        tokens=draw(st.integers(0, 50)),
        tier=draw(st.sampled_from(Tier)),
        pinned=draw(st.sampled_from([False, False, False, True])),
        held=draw(st.sampled_from([False, False, False, True])),
    )


@st.composite
def scopes(draw: st.DrawFn) -> list[MemoryRecord]:
    return [draw(memories(number)) for number in range(1, draw(st.integers(0, 6)) + 1)]


@st.composite
def policies(draw: st.DrawFn) -> RetentionPolicy:
    share = draw(st.none() | SHARES)
    return RetentionPolicy(
        model=draw(models()),
        budget=Budget(
            records=draw(st.none() | st.integers(0, 6)),
            tokens=draw(st.none() | st.integers(0, 150)),
        ),
        threshold=draw(st.none() | SHARES),
        share=share,
        lowest=draw(st.none() | st.integers(0, 6)) if share is None else None,
        threshold_action=draw(DEMOTE_OR_DELETE),
        share_action=draw(DEMOTE_OR_DELETE),
        expired_action=draw(DEMOTE_OR_DELETE),
        floor=draw(st.none() | SHARES),
        grace=draw(st.sampled_from([0, 1, 30])) * DAY,
        max_share=draw(SHARES),
        window=draw(st.sampled_from([0.0, 0.3, 1.0])),
        through_cold=draw(st.booleans()),
        delete=draw(st.none() | RUNGS),
        summarize=draw(st.none() | RUNGS),
        floors=draw(st.sampled_from([{}, {"fact": 0.0}, {"goal": 0.5}])),
        retention=draw(st.sampled_from([{}, {"note": 30 * DAY}, {"sensitive": DAY}])),
    )


def plan(columns: Columns, policy: RetentionPolicy) -> ForgettingPlan:
    return plan_forgetting(columns, policy, scope=Scope("a"), plan_id=PlanId("p"), now=NOW)


def value(model: RetentionModel, record: MemoryRecord, now: datetime = NOW) -> float:
    return float(model.score(columns_of([record]), now).values[0])


# --- scores --------------------------------------------------------------------------------------


@FEW
@given(models(), scopes(), MOMENTS)
def test_scores_are_finite_and_parts_add_up(
    model: RetentionModel, records: list[MemoryRecord], now: datetime
) -> None:
    scores = model.score(columns_of(records), now)
    expired = np.array([record.expired(now) for record in records], np.bool_)
    assert (scores.values[expired] == -1.0).all()
    assert ((scores.values[~expired] >= 0.0) & (scores.values[~expired] <= 1.0)).all()
    total = sum(scores.parts.values(), np.zeros(len(records)))
    assert np.abs(total - scores.values).max(initial=0.0) <= 1e-9


@FEW
@given(models(), memories(), st.integers(0, 2**20), st.integers(0, 2**20), MOMENTS)
def test_more_use_never_lowers_a_score(
    model: RetentionModel, record: MemoryRecord, shown: int, used: int, at: datetime
) -> None:
    last = record.usage.last_accessed_at
    after = Usage(
        record.usage.access_count + shown,
        at if last is None else max(at, last),
        record.usage.used_count + used,
    )
    assert value(model, replace(record, usage=after)) >= value(model, record)


@FEW
@given(models(), memories(), st.integers(0, 10_000))
def test_the_future_never_wins_over_now(
    model: RetentionModel, record: MemoryRecord, days: int
) -> None:
    from_now_on = replace(record, created_at=NOW, usage=Usage())
    ahead = replace(from_now_on, created_at=NOW + days * DAY)
    assert value(model, ahead) == value(model, from_now_on)


@FEW
@given(models(), memories(), st.integers(0, 10_000), st.integers(0, 10_000))
def test_left_alone_no_memory_gains(
    model: RetentionModel, record: MemoryRecord, early: int, later: int
) -> None:
    first, second = sorted((NOW + early * DAY, NOW + later * DAY))
    assert value(model, record, second) <= value(model, record, first) + 1e-12


@FEW
@given(memories(), st.integers(0, 3650))
def test_age_alone_costs_a_lasting_kind_nothing(record: MemoryRecord, days: int) -> None:
    model = Linear(alpha=0.9, beta=0.0, gamma=0.0, delta=0.1)
    older = replace(record, expires_at=None, created_at=NOW - days * DAY)
    newer = replace(older, created_at=NOW)
    if older.kind.partition(":")[0] not in AGING_KINDS:
        assert value(model, older) == value(model, newer)
    else:
        assert value(model, older) <= value(model, newer)


# --- plans ---------------------------------------------------------------------------------------


@FEW
@given(scopes(), policies(), st.randoms(use_true_random=False))
def test_planning_again_in_any_scan_order_gives_the_same_plan(
    records: list[MemoryRecord], policy: RetentionPolicy, random: object
) -> None:
    columns = columns_of(records)
    first = plan(columns, policy)
    assert plan(columns, policy) == first
    shuffled = list(range(len(records)))
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a random.Random
    assert plan(columns.take(np.array(shuffled, np.intp)), policy) == first


@FEW
@given(scopes(), policies())
def test_protected_records_are_in_no_plan(
    records: list[MemoryRecord], policy: RetentionPolicy
) -> None:
    made = plan(columns_of(records), policy)
    by_id = {record.id: record for record in records}
    for step in made.steps:
        record = by_id[step.record_id]
        assert not record.pinned
        assert not record.held
        assert (step.reason in {Reason.EXPIRED, Reason.RETENTION}) or not record.expired(NOW)
        assert not (record.tier is Tier.COLD and step.action is Action.DEMOTE)
        if step.reason not in UNBOUND:
            assert record.grace_until is None or record.grace_until <= NOW
            assert NOW - min(record.created_at, NOW) >= policy.grace
            if step.action is Action.DELETE:
                assert policy.floor is None or record.importance < policy.floor
                floors = {kind: f for kind, f in policy.floors.items() if kind == record.kind}
                assert record.importance < min(floors.values(), default=math.inf)
                assert record.tier is Tier.COLD or not policy.through_cold


@FEW
@given(scopes(), policies())
def test_expiry_stands_above_floor_grace_and_budget(
    records: list[MemoryRecord], policy: RetentionPolicy
) -> None:
    made = plan(columns_of(records), policy)
    taken = {step.record_id: step for step in made.steps}
    for record in records:
        gone = record.expired(NOW) and not record.pinned and not record.held
        if gone and policy.expired_action is Action.DELETE:
            assert taken[record.id].action is Action.DELETE
        if record.expired(NOW) and not gone:
            assert made.spared[record.id] in {"held", "pinned"}


@FEW
@given(scopes(), policies())
def test_demotion_knows_no_share_limit_and_removal_does(
    records: list[MemoryRecord], policy: RetentionPolicy
) -> None:
    strict = replace(policy, max_share=0.0)
    made = plan(columns_of(records), strict)
    removed = removed_by(made.steps)
    assert (made.alarm != "") == (removed > 0)
    only_budget = RetentionPolicy(model=policy.model, budget=Budget(records=0), max_share=0.0)
    assert plan(columns_of(records), only_budget).alarm == ""


@FEW
@given(
    scopes(),
    policies(),
    st.lists(st.tuples(st.integers(1, 6), st.sampled_from(Ruling)), max_size=6),
)
def test_a_review_never_hardens_and_never_widens(
    records: list[MemoryRecord], policy: RetentionPolicy, rulings: list[tuple[int, Ruling]]
) -> None:
    made = plan(columns_of(records), policy)
    after = weaken(made, [Verdict(numbered_id(n), ruling) for n, ruling in rulings])
    assert after.steps.ids == made.steps.ids
    assert (after.steps.actions <= made.steps.actions).all()
    assert after.skipped.keys() <= set(made.steps.ids)
    assert after.blast_share <= made.blast_share
    assert after.alarm in {made.alarm, ""}
    assert weaken(after, []) == after


@FEW
@given(scopes(), policies())
def test_steps_are_unique_sorted_and_explained(
    records: list[MemoryRecord], policy: RetentionPolicy
) -> None:
    columns = columns_of(records)
    made = plan(columns, policy)
    steps = list(made.steps)
    assert len({step.record_id for step in steps}) == len(steps)
    by_id = {record.id: record for record in records}
    keys = [
        (step.score, to_micros(by_id[step.record_id].created_at), step.record_id) for step in steps
    ]
    assert keys == sorted(keys)
    for step in steps:
        assert abs(sum(step.parts.values()) - step.score) <= 1e-9
        row = np.array([columns.ids.index(step.record_id)], np.intp)
        assert step.score == policy.model.score(columns.take(row), NOW).values[0]
    deleted = sum(s.action is Action.DELETE and s.reason not in UNBOUND for s in steps)
    assert made.blast_share == deleted / max(1, len(records))


@FEW
@given(scopes(), policies(), st.integers(0, 6), st.integers(0, 150))
def test_a_larger_budget_never_forgets_more(
    records: list[MemoryRecord], policy: RetentionPolicy, more: int, tokens: int
) -> None:
    budget = policy.budget
    policy = replace(policy, window=0.0)  # a larger budget has another window: see below
    larger = Budget(
        records=None if budget.records is None else budget.records + more,
        tokens=None if budget.tokens is None else budget.tokens + tokens,
    )
    columns = columns_of(records)
    few = set(plan(columns, replace(policy, budget=larger)).steps.ids)
    many = set(plan(columns, policy).steps.ids)
    assert few <= many


@FEW
@given(scopes(), policies(), st.integers(0, 6))
def test_a_larger_budget_never_takes_more_records_whatever_the_window(
    records: list[MemoryRecord], policy: RetentionPolicy, more: int
) -> None:
    small = replace(policy, budget=Budget(records=policy.budget.records or 0))
    large = replace(policy, budget=Budget(records=(policy.budget.records or 0) + more))
    columns = columns_of(records)
    assert len(plan(columns, large).steps) <= len(plan(columns, small).steps)


@FEW
@given(scopes(), policies())
def test_after_the_plan_the_budget_holds_or_only_protected_records_are_left(
    records: list[MemoryRecord], policy: RetentionPolicy
) -> None:
    made = plan(columns_of(records), policy)
    hot = [
        record for record in records if record.tier is Tier.HOT and record.id not in made.steps.ids
    ]
    within_records = policy.budget.records is None or len(hot) <= policy.budget.records
    tokens = sum(record.tokens for record in hot)
    within_tokens = policy.budget.tokens is None or tokens <= policy.budget.tokens
    free = [
        record
        for record in hot
        if not (record.pinned or record.held)
        and (record.grace_until is None or record.grace_until <= NOW)
        and NOW - min(record.created_at, NOW) >= policy.grace
    ]
    assert (within_records and within_tokens) or not free


@FEW
@given(policies())
def test_a_policy_survives_being_saved(policy: RetentionPolicy) -> None:
    assert policy_from_json(policy_to_json(policy)) == policy
