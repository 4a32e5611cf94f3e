"""The ladder: what waits where, how long, and what no run may do at once."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sfams.core.columns import columns_of
from sfams.core.models.linear import Linear
from sfams.core.plan import Action, Cause, ForgettingPlan, PlanState, Reason
from sfams.core.planner import Circumstances, plan_forgetting, to_summarize
from sfams.core.policy import Approval, Budget, Limit, RetentionPolicy, Rung, Triggers
from sfams.core.policy_json import policy_from_json, policy_to_json
from sfams.core.record import Hold, JsonValue, MemoryRecord, PlanId, RecordId, Sensitivity, Tier
from sfams.core.review import KEPT, Ruling, Verdict, unlikeliest, weaken
from sfams.core.scope import Scope
from sfams.errors import InvalidPolicyError
from sfams.testing import make_record, numbered_id

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
BY_IMPORTANCE = RetentionPolicy(
    model=Linear(alpha=1.0, beta=0.0, gamma=0.0, delta=0.0), max_share=1.0
)


def plan(
    records: Iterable[MemoryRecord],
    circumstances: Circumstances | None = None,
    /,
    **fields: object,
) -> ForgettingPlan:
    """Plan by importance alone; the policy's other fields as the test says."""
    policy = replace(BY_IMPORTANCE, **fields)  # type: ignore[arg-type]  # by name
    return plan_forgetting(
        columns_of(records, NOW),
        policy,
        scope=Scope("acme"),
        plan_id=PlanId("p1"),
        now=NOW,
        circumstances=circumstances or Circumstances(),
    )


def worth(importance: float, number: int | None = None, **fields: object) -> MemoryRecord:
    number = round(importance * 100) if number is None else number
    record = make_record(number, importance=importance, created_at=NOW - 100 * DAY, tokens=10)
    return replace(record, **fields)  # type: ignore[arg-type]  # by name


def cold(importance: float, days: float, number: int | None = None) -> MemoryRecord:
    since = NOW - timedelta(days=days)
    return worth(importance, number, tier=Tier.COLD, cold_since=since)


def steps(made: ForgettingPlan) -> list[tuple[int, str, str]]:
    return [(int(each.record_id[-4:], 16), each.action, each.reason) for each in made.steps]


TEN = [worth(n / 10) for n in range(1, 11)]


# --- through the cold ----------------------------------------------------------------------------


def test_nothing_hot_is_deleted_by_score() -> None:
    made = plan([*TEN[:2], cold(0.15, 1)], lowest=3, share_action=Action.DELETE)
    assert steps(made) == [
        (10, "demote", "lowest share"),
        (15, "delete", "lowest share"),
        (20, "demote", "lowest share"),
    ]


def test_cold_records_wait_before_they_go() -> None:
    records = [cold(0.1, 9.9), cold(0.2, 10), cold(0.3, 400), *TEN[3:]]
    made = plan(records, delete=Rung(below=0.25, after=10 * DAY))
    assert steps(made) == [(20, "delete", "long cold")]


def test_a_cold_record_without_a_moment_has_not_waited_for_ever() -> None:
    imported = worth(0.1, tier=Tier.COLD, updated_at=NOW - DAY)
    assert steps(plan([imported], delete=Rung(after=2 * DAY))) == []
    assert steps(plan([imported], delete=Rung(after=DAY))) == [(10, "delete", "long cold")]


def test_groups_are_summarized_together_and_stand_side_by_side() -> None:
    records = [cold(0.1, 8), cold(0.2, 8), cold(0.3, 8), cold(0.4, 8), cold(0.5, 3)]
    groups = {numbered_id(10): 1, numbered_id(20): 0, numbered_id(30): 1, numbered_id(50): 1}
    made = plan(records, Circumstances(groups=groups), summarize=Rung(below=0.6, after=7 * DAY))
    assert steps(made) == [
        (10, "summarize", "merged"),
        (30, "summarize", "merged"),
        (20, "summarize", "merged"),
    ]
    assert [each.group for each in made.steps] == [1, 1, 0]


def test_what_would_be_summarized_is_named_lowest_first() -> None:
    records = [cold(0.3, 8), cold(0.1, 8), cold(0.2, 1), worth(0.05), cold(0.9, 8)]
    policy = replace(BY_IMPORTANCE, summarize=Rung(below=0.5, after=7 * DAY), floor=0.8)
    assert to_summarize(columns_of(records), policy, NOW) == [numbered_id(10), numbered_id(30)]
    assert to_summarize(columns_of(records), BY_IMPORTANCE, NOW) == []


# --- protection ----------------------------------------------------------------------------------


def test_a_hold_ends_at_its_moment() -> None:
    held = worth(0.1, held=True, hold=Hold("legal", "case 7", NOW + DAY))
    lapsed = worth(0.2, held=True, hold=Hold("legal", "case 7", NOW))
    made = plan([held, lapsed], threshold=0.5)
    assert steps(made) == [(20, "demote", "below threshold")]
    assert made.spared == {held.id: "held"}


def test_a_plan_names_what_protection_kept() -> None:
    records = [
        worth(0.1, pinned=True),
        worth(0.2, held=True, expires_at=NOW),
        worth(0.3, grace_until=NOW + DAY),
        *TEN[3:],
    ]
    made = plan(records, budget=Budget(records=0))
    assert made.unmet_budget == {"records": 3}
    assert made.spared == {
        numbered_id(10): "pinned",
        numbered_id(20): "held",
        numbered_id(30): "under grace",
    }
    assert len(plan(TEN, budget=Budget(records=0)).unmet_budget) == 0


def test_floors_by_kind() -> None:
    records = [worth(0.1, n, kind=kind) for n, kind in enumerate(("fact", "fact:x", "note"), 1)]
    made = plan(
        records,
        threshold=0.5,
        threshold_action=Action.DELETE,
        through_cold=False,
        floors={"fact": 0.0},
    )
    assert steps(made) == [(3, "delete", "below threshold")]


def test_a_retention_limit_outranks_value_but_no_hold_and_no_pin() -> None:
    old = {"created_at": NOW - 400 * DAY}
    records = [
        worth(1.0, 1, kind="dialogue", grace_until=NOW + DAY, **old),
        worth(1.0, 2, kind="dialogue", held=True, **old),
        worth(1.0, 3, kind="dialogue", pinned=True, **old),
        worth(1.0, 4, kind="dialogue", created_at=NOW - 364 * DAY),
        worth(1.0, 5, kind="fact", sensitivity=Sensitivity.SENSITIVE, created_at=NOW - 30 * DAY),
        worth(1.0, 6, kind="fact", **old),
    ]
    limits = {"dialogue": 365 * DAY, "sensitive": 30 * DAY}
    made = plan(records, retention=limits, floor=0.0)
    assert steps(made) == [(1, "delete", "retention limit"), (5, "delete", "retention limit")]
    assert made.spared == {numbered_id(2): "held", numbered_id(3): "pinned"}
    assert made.blast_share == 0.0


# --- budgets -------------------------------------------------------------------------------------


def test_a_budget_in_bytes() -> None:
    records = [worth(n / 10, content="日" * 10) for n in range(1, 11)]
    assert len(plan(records, budget=Budget(bytes=300)).steps) == 0
    assert len(plan(records, budget=Budget(bytes=299)).steps) == 1


def test_the_low_water_mark_is_where_it_stops() -> None:
    assert len(plan(TEN, budget=Budget(records=10, low=0.5)).steps) == 0
    assert len(plan(TEN, budget=Budget(records=9, low=0.5)).steps) == 6


def test_budgets_by_kind_come_before_the_whole() -> None:
    records = [worth(n / 10, kind="dialogue" if n % 2 else "fact") for n in range(1, 11)]
    budget = Budget(records=7, kinds={"dialogue": Limit(records=3)})
    assert [each[0] for each in steps(plan(records, budget=budget))] == [10, 20, 30]


def test_the_window_keeps_the_newest_until_nothing_else_is_left() -> None:
    records = [worth(n / 10, created_at=NOW - n * DAY) for n in range(1, 11)]
    made = plan(records, budget=Budget(records=4), window=0.5)
    assert {each[0] for each in steps(made)} == {30, 40, 50, 60, 70, 80}
    made = plan(records, budget=Budget(tokens=40), window=0.5)
    assert {each[0] for each in steps(made)} == {30, 40, 50, 60, 70, 80}
    none_left = plan(records, budget=Budget(records=0), window=1.0)
    assert len(none_left.steps) == 10


# --- narrowing, limits, approval -----------------------------------------------------------------


def test_only_candidates_are_taken_but_all_count() -> None:
    some = frozenset({numbered_id(20), numbered_id(90)})
    chosen = Circumstances(candidates=some)
    assert [each[0] for each in steps(plan(TEN, chosen, threshold=0.5))] == [20]
    assert [each[0] for each in steps(plan(TEN, chosen, lowest=2))] == [20, 90]


def test_a_number_limits_a_run_too() -> None:
    records = [cold(n / 100, 5) for n in range(50)]
    made = plan(records, lowest=5, share_action=Action.DELETE, max_count=4)
    assert made.alarm == "removes 5 memories, the policy allows 4"
    assert plan(records, lowest=4, share_action=Action.DELETE, max_count=4).alarm == ""


def test_what_is_far_from_usual_is_an_alarm() -> None:
    records = [cold(n / 100, 5) for n in range(100)]
    usual = Circumstances(usual=4)
    taking = {"share_action": Action.DELETE, "anomaly": 6.0}
    assert "where 4 are usual" in plan(records, usual, lowest=25, **taking).alarm
    assert plan(records, usual, lowest=24, **taking).alarm == ""
    assert plan(records, lowest=90, **taking).alarm == ""


@pytest.mark.parametrize(
    ("approval", "state"),
    [
        (Approval.NEVER, PlanState.DRAFT),
        (Approval.REMOVALS, PlanState.DRAFT),
        (Approval.ALWAYS, PlanState.PENDING),
    ],
)
def test_which_plans_wait_for_a_person(approval: Approval, state: PlanState) -> None:
    assert plan(TEN, threshold=0.5, approval=approval).state is state
    removing = plan([cold(0.1, 3)], delete=Rung(), approval=approval)
    assert (removing.state is PlanState.PENDING) == (approval is not Approval.NEVER)
    assert plan(TEN, approval=approval).state is PlanState.DRAFT


# --- review --------------------------------------------------------------------------------------


def reviewed(*rulings: tuple[int, Ruling]) -> tuple[ForgettingPlan, ForgettingPlan]:
    records = [cold(n / 10, 9) for n in range(1, 6)]
    made = plan(records, threshold=0.35, threshold_action=Action.DELETE, max_share=0.5)
    return made, weaken(made, [Verdict(numbered_id(n), ruling) for n, ruling in rulings])


def test_a_review_keeps_and_softens() -> None:
    made, after = reviewed((10, Ruling.KEEP), (20, Ruling.SOFTEN), (30, Ruling.UPHOLD))
    assert [each.action for each in after.steps] == ["delete", "demote", "delete"]
    assert after.skipped == {numbered_id(10): KEPT}
    assert (made.blast_share, made.alarm != "") == (0.6, True)
    assert (after.blast_share, after.alarm) == (0.2, "")


def test_a_review_never_hardens_or_widens() -> None:
    made = plan(TEN, threshold=0.35)
    strange = [
        Verdict(RecordId("unknown"), Ruling.KEEP),
        *(Verdict(numbered_id(n), Ruling.SOFTEN) for n in (10, 50)),
    ]
    assert weaken(made, strange) == made


def test_what_to_look_at_first() -> None:
    made, _ = reviewed()
    assert unlikeliest(made, 2) == [numbered_id(30), numbered_id(20)]
    assert unlikeliest(made, -1) == []


# --- as data -------------------------------------------------------------------------------------

FULL = RetentionPolicy(
    budget=Budget(records=5, bytes=9, low=0.9, kinds={"note": Limit(tokens=3)}),
    window=0.2,
    summarize=Rung(below=0.4, after=7 * DAY),
    delete=Rung(after=90 * DAY),
    floors={"fact": 0.8},
    retention={"dialogue": 365 * DAY, "sensitive": DAY},
    max_count=100,
    anomaly=5.0,
    approval=Approval.REMOVALS,
    purge=False,
    triggers=Triggers(turns=50, interval=None, session_end=False),
)


def test_every_field_survives_being_saved() -> None:
    assert policy_from_json(policy_to_json(FULL)) == FULL


def test_a_policy_in_part_is_the_rest_of_another() -> None:
    changed = policy_from_json({"window": 0.1, "model": {"alpha": 0.5}}, FULL)
    assert changed == replace(FULL, window=0.1, model=Linear(alpha=0.5))
    other = policy_from_json({"budget": {"records": 7}, "delete": None}, FULL)
    assert other == replace(FULL, budget=Budget(records=7), delete=None)


@pytest.mark.parametrize(
    ("written", "field"),
    [
        ({"budget": {"kinds": {"note": {"bites": 3}}}}, "budget.kinds.note.bites"),
        ({"budget": {"kinds": {"No Kind": {}}}}, "budget.kinds.No Kind"),
        ({"budget": {"low": 2}}, "budget.low"),
        ({"summarize": 3}, "summarize"),
        ({"summarize": {"above": 3}}, "summarize.above"),
        ({"delete": {"after": "soon"}}, "delete.after"),
        ({"delete": {"below": "low"}}, "below"),
        ({"floors": {"fact": 2}}, "floors.fact"),
        ({"retention": {"fact": "always"}}, "retention.fact"),
        ({"anomaly": 0.5}, "anomaly"),
        ({"approval": "sometimes"}, "approval"),
        ({"triggers": {"turns": 0}}, "triggers.turns"),
        ({"triggers": {"session_end": 1}}, "triggers.session_end"),
        ({"through_cold": "no"}, "through_cold"),
        ({"window": 1.2}, "window"),
    ],
)
def test_a_wrong_rule_is_refused_by_field(written: Mapping[str, JsonValue], field: str) -> None:
    with pytest.raises(InvalidPolicyError) as caught:
        policy_from_json(written)
    assert caught.value.context["field"] == field


def test_a_plan_says_what_had_it_made() -> None:
    assert plan(TEN, Circumstances(cause=Cause.SESSION)).cause is Cause.SESSION
    assert Reason.ASKED.value == "asked"
