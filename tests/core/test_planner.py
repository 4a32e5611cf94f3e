"""The plan: which rule takes which memory, in which order, and what nothing may take."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from sfams.core.columns import Columns, Needs, columns_of
from sfams.core.models.linear import Linear
from sfams.core.plan import Action, ForgettingPlan, Reason
from sfams.core.planner import plan_forgetting
from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.policy_json import policy_from_json, policy_to_json, undo_window
from sfams.core.presets import DEFAULT_POLICY, budget_policy, classic_policy, preset
from sfams.core.record import JsonValue, MemoryRecord, PlanId, Tier, Usage
from sfams.core.retention import Scores
from sfams.core.scope import Scope
from sfams.errors import InvalidPolicyError
from sfams.testing import make_record, numbered_id

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
WHOLLY_BY_IMPORTANCE = Linear(alpha=1.0, beta=0.0, gamma=0.0, delta=0.0)


def plan(
    records: Iterable[MemoryRecord], policy: RetentionPolicy, now: datetime = NOW
) -> ForgettingPlan:
    columns = columns_of(records)
    return plan_forgetting(columns, policy, scope=Scope("acme"), plan_id=PlanId("p1"), now=now)


def worth(importance: float, number: int | None = None, **fields: object) -> MemoryRecord:
    """A record whose score under `by_importance` policies is its importance."""
    number = round(importance * 100) if number is None else number
    record = make_record(number, importance=importance, created_at=NOW - 100 * DAY, tokens=10)
    return replace(record, **fields)  # type: ignore[arg-type]  # by name, as the test says


def by_importance(**fields: object) -> RetentionPolicy:
    policy = RetentionPolicy(model=WHOLLY_BY_IMPORTANCE, max_share=1.0, through_cold=False)
    return replace(policy, **fields)  # type: ignore[arg-type]  # by name, as the test says


def taken(made: ForgettingPlan) -> list[int]:
    """Which records, by the last digits of their ids, in the plan's order."""
    return [int(record_id[-4:], 16) for record_id in made.steps.ids]


TEN = [worth(n / 10) for n in range(1, 11)]


# --- single rules --------------------------------------------------------------------------------


def test_the_threshold_takes_what_is_below_it_and_shows_why() -> None:
    made = plan(TEN, by_importance(threshold=0.3))
    assert taken(made) == [10, 20]
    step = made.steps[0]
    assert (step.action, step.reason, step.score) == (Action.DEMOTE, Reason.BELOW_THRESHOLD, 0.1)
    assert math.fsum(step.parts.values()) == pytest.approx(step.score, abs=1e-9)
    assert step.record_id == numbered_id(10)
    assert (step.version, step.tokens) == (1, 10)


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7])
def test_what_is_taken_is_what_the_shown_score_says(threshold: float) -> None:
    records = [
        make_record(
            n,
            importance=0.1 + n * 0.8 / 23,
            created_at=NOW - timedelta(hours=1) - n * 8 * DAY,
            usage=Usage(n * 40 // 23, NOW - n * DAY if n else None),
        )
        for n in range(24)
    ]
    policy = RetentionPolicy(threshold=threshold)
    shown = policy.model.score(columns_of(records), NOW).values
    below = {record.id for record, value in zip(records, shown, strict=True) if value < threshold}
    assert set(plan(records, policy).steps.ids) == below


@pytest.mark.parametrize(("tier", "action"), [("hot", Action.DEMOTE), ("cold", Action.DELETE)])
def test_classic_takes_the_lowest_tenth_a_rung_down_whole_numbers_only(
    tier: str, action: Action
) -> None:
    for count, expected in ((9, 0), (10, 1), (19, 1), (25, 2), (30, 3)):
        records = [worth(n / 100, tier=Tier(tier)) for n in range(count)]
        made = plan(records, classic_policy())
        assert len(made.steps) == expected == int(0.1 * count)
        assert {step.action for step in made.steps} <= {action}
        assert {step.reason for step in made.steps} <= {Reason.LOWEST_SHARE}


def test_a_fixed_number_instead_of_a_share() -> None:
    assert taken(plan(TEN, by_importance(lowest=3))) == [10, 20, 30]
    assert taken(plan(TEN, by_importance(lowest=0))) == []
    assert len(plan(TEN, by_importance(lowest=99)).steps) == 10


def test_the_budget_in_records_demotes_the_lowest() -> None:
    made = plan(TEN, by_importance(budget=Budget(records=8)))
    assert taken(made) == [10, 20]
    assert made.steps[0].reason is Reason.OVER_BUDGET
    assert made.steps[0].action is Action.DEMOTE


def test_the_budget_in_tokens_demotes_until_it_fits() -> None:
    for tokens, count in ((100, 0), (99, 1), (90, 1), (89, 2), (0, 10)):
        assert len(plan(TEN, by_importance(budget=Budget(tokens=tokens))).steps) == count


def test_both_budgets_hold() -> None:
    assert len(plan(TEN, by_importance(budget=Budget(records=9, tokens=50))).steps) == 5
    assert len(plan(TEN, by_importance(budget=Budget(records=3, tokens=90))).steps) == 7


def test_cold_records_do_not_count_against_the_budget() -> None:
    records = [worth(n / 10, tier=Tier.COLD if n <= 4 else Tier.HOT) for n in range(1, 11)]
    made = plan(records, by_importance(budget=Budget(records=6)))
    assert taken(made) == []
    assert (made.examined, made.hot) == (10, 6)


def test_expired_records_go_first_whatever_their_importance() -> None:
    records = [*TEN, worth(1.0, 999, expires_at=NOW), worth(0.99, 998, expires_at=NOW - DAY)]
    made = plan(records, by_importance(threshold=0.2))
    assert taken(made) == [998, 999, 10]
    assert made.steps[0].reason is Reason.EXPIRED
    assert made.steps[0].action is Action.DELETE
    assert made.steps[0].score == -1.0


def test_expired_records_do_not_count_in_the_share() -> None:
    records = [*TEN, *(worth(0.5, 500 + n, expires_at=NOW) for n in range(10))]
    made = plan(records, by_importance(share=0.1, share_action=Action.DELETE))
    assert len(made.steps) == 11


# --- protection ----------------------------------------------------------------------------------


@pytest.mark.parametrize("protected", [{"pinned": True}, {"held": True}])
@pytest.mark.parametrize("expires_at", [None, NOW])
def test_pinned_and_held_records_are_in_no_plan(
    protected: dict[str, bool], expires_at: datetime | None
) -> None:
    records = [worth(0.0, n, expires_at=expires_at, **protected) for n in range(1, 4)]
    everything = by_importance(
        threshold=1.0, threshold_action=Action.DELETE, lowest=99, budget=Budget(records=0)
    )
    assert taken(plan(records, everything)) == []


def test_grace_protects_from_everything_but_expiry() -> None:
    everything = by_importance(threshold=1.0, lowest=99, budget=Budget(records=0, tokens=0))
    graced = worth(0.0, 1, grace_until=NOW + DAY)
    assert taken(plan([graced], everything)) == []
    assert taken(plan([replace(graced, expires_at=NOW)], everything)) == [1]
    assert taken(plan([replace(graced, grace_until=NOW)], everything)) == [1]


def test_young_records_are_under_the_grace_of_the_policy() -> None:
    ages = [timedelta(days=-5), timedelta(0), 7 * DAY - timedelta.resolution, 7 * DAY, 8 * DAY]
    records = [worth(0.1, n, created_at=NOW - age) for n, age in enumerate(ages)]
    assert taken(plan(records, by_importance(threshold=0.5, grace=7 * DAY))) == [4, 3]


def test_the_floor_protects_from_deletion_but_not_from_demotion() -> None:
    low = Linear(alpha=0.1, beta=0.0, gamma=0.0, delta=0.0)
    records = [worth(0.8, 1), worth(0.9, 2), worth(0.2, 3)]
    deleting = by_importance(model=low, threshold=0.5, threshold_action=Action.DELETE, floor=0.8)
    assert taken(plan(records, deleting)) == [3]
    assert taken(plan(records, replace(deleting, threshold_action=Action.DEMOTE))) == [3, 1, 2]
    assert taken(plan(records, replace(deleting, threshold=None, budget=Budget(records=1)))) == [
        3,
        1,
    ]


def test_the_next_lowest_goes_in_a_protected_ones_place() -> None:
    records = [worth(0.1, pinned=True), worth(0.2, held=True), *TEN[2:]]
    made = plan(records, by_importance(share=0.2, share_action=Action.DELETE, floor=0.9))
    assert taken(made) == [30, 40]


def test_protected_records_fill_the_budget_too() -> None:
    records = [worth(0.1, pinned=True), worth(0.2, grace_until=NOW + DAY), *TEN[2:]]
    three = plan(records, by_importance(budget=Budget(records=3)))
    assert taken(three) == [30, 40, 50, 60, 70, 80, 90]
    none = plan(records, by_importance(budget=Budget(records=0)))
    assert taken(none) == [30, 40, 50, 60, 70, 80, 90, 100]


# --- several rules at once -----------------------------------------------------------------------


def test_a_record_gets_one_step_the_hardest() -> None:
    policy = by_importance(
        threshold=0.4,
        threshold_action=Action.DEMOTE,
        lowest=2,
        share_action=Action.DELETE,
        budget=Budget(records=6),
    )
    steps = list(plan(TEN, policy).steps)
    assert [(step.action, step.reason) for step in steps] == [
        (Action.DELETE, Reason.LOWEST_SHARE),
        (Action.DELETE, Reason.LOWEST_SHARE),
        (Action.DEMOTE, Reason.BELOW_THRESHOLD),
        (Action.DEMOTE, Reason.OVER_BUDGET),
    ]


def test_of_equal_actions_the_threshold_gives_the_reason() -> None:
    made = plan(TEN, by_importance(threshold=0.2, lowest=2))
    assert [step.reason for step in made.steps] == [Reason.BELOW_THRESHOLD, Reason.LOWEST_SHARE]


def test_cold_records_can_only_be_deleted() -> None:
    cold = [replace(record, tier=Tier.COLD) for record in TEN]
    assert taken(plan(cold, by_importance(threshold=0.5, lowest=5))) == []
    assert len(plan(cold, by_importance(lowest=5, share_action=Action.DELETE)).steps) == 5
    expired = [worth(0.5, expires_at=NOW, tier=Tier.COLD)]
    assert taken(plan(expired, by_importance(expired_action=Action.DEMOTE))) == []


def test_demoting_the_lowest_share_again_finds_nothing_to_do() -> None:
    policy = by_importance(share=0.3)
    assert taken(plan(TEN, policy)) == [10, 20, 30]
    after = [replace(record, tier=Tier.COLD) for record in TEN[:3]] + TEN[3:]
    assert taken(plan(after, policy)) == []


def test_an_expired_pin_does_not_shield_the_others_from_the_budget() -> None:
    records = [worth(0.1, pinned=True, expires_at=NOW), worth(0.2), worth(0.3)]
    assert taken(plan(records, by_importance(budget=Budget(records=2)))) == [20]


# --- blast radius --------------------------------------------------------------------------------


def test_the_blast_radius_counts_deletions_other_than_expired() -> None:
    records = [*TEN, *(worth(0.5, 500 + n, expires_at=NOW) for n in range(10))]
    policy = by_importance(lowest=5, share_action=Action.DELETE, max_share=0.3)
    made = plan(records, policy)
    assert (made.blast_share, made.blast_limit) == (5 / 20, 0.3)
    assert plan(TEN, by_importance(budget=Budget(records=0))).blast_share == 0.0
    assert plan([], policy).blast_share == 0.0


def test_the_planner_never_drops_steps_over_the_limit() -> None:
    policy = by_importance(threshold=1.0, threshold_action=Action.DELETE, max_share=0.1)
    made = plan(TEN, policy)
    assert made.blast_share == 0.9 > made.blast_limit
    assert made.count(Action.DELETE) == 9


# --- order ---------------------------------------------------------------------------------------


def test_ties_go_by_age_then_by_id_and_not_by_scan_order() -> None:
    older = worth(0.5, 9, created_at=NOW - 200 * DAY)
    records = [worth(0.5, 3), worth(0.5, 1), older, worth(0.5, 2), worth(0.1, 7)]
    forward = plan(records, by_importance(lowest=4))
    backward = plan(reversed(records), by_importance(lowest=4))
    assert taken(forward) == [7, 9, 1, 2]
    assert forward == backward


def test_an_empty_scope_gives_an_empty_plan() -> None:
    made = plan([], DEFAULT_POLICY)
    assert (len(made.steps), made.examined, made.hot) == (0, 0, 0)


def test_two_months_of_silence_empty_nothing() -> None:
    start = NOW - 60 * DAY
    curated = [
        make_record(n, kind=kind, importance=importance, created_at=start)
        for n, (kind, importance) in enumerate(
            [("preference", 0.9), ("profile", 0.9), ("fact", 1.0), ("preference", 0.8)], 1
        )
    ]
    episodes = [
        make_record(n, kind="dialogue", importance=0.3, created_at=start) for n in range(10, 18)
    ]
    records = [*curated, *episodes]
    for day in range(31):
        assert taken(plan(records, DEFAULT_POLICY, start + (30 + day) * DAY)) == []
    tight = plan(records, budget_policy(records=4))
    assert set(tight.steps.ids) == {record.id for record in episodes}
    assert tight.count(Action.DELETE) == 0


@dataclass(frozen=True)
class Broken:
    """A model that breaks its promise."""

    name: str = "broken"
    needs: Needs = frozenset()

    def parameters(self) -> dict[str, JsonValue]:
        return {}

    def score(self, columns: Columns, now: datetime) -> Scores:
        return Scores(np.full(len(columns), math.nan), {})


def test_a_model_that_gives_no_number_is_refused() -> None:
    with pytest.raises(InvalidPolicyError, match="broken"):
        plan(TEN, RetentionPolicy(model=Broken()))


# --- the policy as data --------------------------------------------------------------------------


def test_a_plan_shows_its_exact_policy() -> None:
    policy = by_importance(
        threshold=0.25, share=0.1, grace=timedelta(days=1.5), budget=Budget(tokens=90), floor=0.9
    )
    made = plan(TEN, policy)
    assert policy_from_json(dict(made.policy)) == policy


@pytest.mark.parametrize("name", ["adaptive", "classic", "budget", "survival"])
def test_presets_survive_being_saved(name: str) -> None:
    assert policy_from_json(policy_to_json(preset(name))) == preset(name)


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InvalidPolicyError, match="adaptive, classic, budget, survival"):
        preset("magic")


def test_a_policy_may_be_written_in_part_and_by_hand() -> None:
    policy = policy_from_json({"share": 0.2, "share_action": "delete", "grace": "7d", "floor": 1})
    assert policy == RetentionPolicy(share=0.2, share_action=Action.DELETE, grace=7 * DAY, floor=1)
    assert policy_from_json({"grace": 0}).grace == timedelta(0)
    assert policy_from_json({}) == RetentionPolicy()


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({"treshold": 0.1}, "treshold"),
        ({"threshold": "low"}, "threshold"),
        ({"threshold": 1.5}, "threshold"),
        ({"share": True}, "share"),
        ({"share": 0.1, "lowest": 3}, "share"),
        ({"lowest": -1}, "lowest"),
        ({"lowest": 2.5}, "lowest"),
        ({"max_share": None}, "max_share"),
        ({"budget": {"records": -1}}, "budget.records"),
        ({"budget": {"bites": 1}}, "budget.bites"),
        ({"budget": 5}, "budget"),
        ({"grace": "soon"}, "grace"),
        ({"grace": -1}, "grace"),
        ({"grace": False}, "grace"),
        ({"threshold_action": "keep"}, "threshold_action"),
        ({"share_action": "burn"}, "share_action"),
        ({"model": {"name": "magic"}}, "model"),
        ({"model": "linear"}, "model"),
        ({"model": {"beta": 2}}, "beta"),
        ({"name": 7}, "name"),
    ],
)
def test_a_wrong_policy_is_refused_by_field(written: dict[str, JsonValue], field: str) -> None:
    with pytest.raises(InvalidPolicyError) as caught:
        policy_from_json(written)
    assert caught.value.context["field"] == field
    assert field.split(".", maxsplit=1)[0] in str(caught.value)


def test_a_policy_is_refused_when_built() -> None:
    with pytest.raises(InvalidPolicyError, match="undo_window"):
        RetentionPolicy(undo_window=-DAY)
    with pytest.raises(InvalidPolicyError, match="expired_action"):
        RetentionPolicy(expired_action=Action.SUMMARIZE)


def test_the_undo_window_is_read_without_knowing_the_model() -> None:
    written: dict[str, JsonValue] = {"model": {"name": "mine"}, "undo_window": 86_400.0}
    assert undo_window(written) == DAY
    assert undo_window({}) == 30 * DAY
