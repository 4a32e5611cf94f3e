"""What may become of a memory, and how a plan is taken back."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from sfams import ports
from sfams.core.columns import columns_of
from sfams.core.lifecycle import (
    RESTORE_GRACE,
    Transition,
    check_transition,
    may_follow,
    restorable,
    restore_transition,
    undo_transitions,
)
from sfams.core.models.linear import Linear
from sfams.core.plan import Action, ForgettingPlan
from sfams.core.planner import plan_forgetting
from sfams.core.policy import RetentionPolicy
from sfams.core.record import MemoryRecord, PlanId, RecordId, Status, Tier, Validity
from sfams.core.scope import Scope
from sfams.errors import ConflictError, RecordProtectedError
from sfams.testing import make_record, numbered_id

NOW = datetime(2026, 6, 1, tzinfo=UTC)
LATER = NOW + timedelta(days=1)
DAY = timedelta(days=1)


# --- transitions ---------------------------------------------------------------------------------


def test_nothing_follows_erasure_and_nothing_follows_itself() -> None:
    for status in Status:
        assert not may_follow(Status.ERASED, status)
        assert not may_follow(status, status)


def test_everything_but_the_erased_may_be_erased_and_may_live_again() -> None:
    for status in set(Status) - {Status.ERASED}:
        assert may_follow(status, Status.ERASED)
        assert status is Status.LIVE or may_follow(status, Status.LIVE)


def test_a_deleted_record_is_not_superseded_by_surprise() -> None:
    assert may_follow(Status.LIVE, Status.SUPERSEDED)
    assert not may_follow(Status.SUMMARIZED, Status.SUPERSEDED)
    assert not may_follow(Status.SUPERSEDED, Status.SUMMARIZED)


def test_a_transition_that_may_not_be_is_a_conflict() -> None:
    for old, new in product(Status, Status):
        record = make_record(status=old)
        if may_follow(old, new):
            check_transition(record, new)
        else:
            with pytest.raises(ConflictError, match=record.id):
                check_transition(record, new)


def test_a_hold_refuses_erasure_a_pin_does_not() -> None:
    held, pinned = make_record(held=True), make_record(pinned=True)
    for status in (Status.DELETED, Status.SUMMARIZED, Status.ERASED):
        with pytest.raises(RecordProtectedError, match="hold"):
            check_transition(held, status)
    for status in (Status.DELETED, Status.SUMMARIZED):
        with pytest.raises(RecordProtectedError, match="unpin"):
            check_transition(pinned, status)
    check_transition(pinned, Status.ERASED)
    check_transition(pinned, Status.SUPERSEDED)
    check_transition(held, Status.SUPERSEDED)


def test_the_port_speaks_of_the_same_transition() -> None:
    assert ports.Transition is Transition


# --- single records ------------------------------------------------------------------------------


def test_what_can_be_restored() -> None:
    window = 30 * DAY
    deleted = make_record(status=Status.DELETED, updated_at=NOW)
    assert restorable(deleted, NOW, window)
    assert restorable(deleted, NOW + window - timedelta.resolution, window)
    assert not restorable(deleted, NOW + window, window)
    assert restorable(deleted, NOW, timedelta.max)
    for status in (Status.SUPERSEDED, Status.SUMMARIZED):
        assert restorable(make_record(status=status), NOW + 999 * DAY, window)
    assert restorable(make_record(tier=Tier.COLD), NOW, window)
    assert not restorable(make_record(), NOW, window)
    assert not restorable(make_record(status=Status.ERASED), NOW, window)


def test_restoring_one_record() -> None:
    grace = NOW + RESTORE_GRACE
    cold = make_record(1, tier=Tier.COLD)
    assert restore_transition(cold, NOW) == Transition(cold.id, tier=Tier.HOT, grace_until=grace)
    gone = make_record(2, status=Status.DELETED, tier=Tier.COLD)
    assert restore_transition(gone, NOW) == Transition(
        gone.id, status=Status.LIVE, grace_until=grace
    )
    valid = Validity(NOW - DAY, None, numbered_id(9))
    old = make_record(3, status=Status.SUPERSEDED, validity=valid)
    assert restore_transition(old, NOW).validity == Validity(NOW - DAY, None, None)


def test_what_is_there_or_gone_for_good_cannot_be_restored() -> None:
    for record in (make_record(), make_record(status=Status.ERASED)):
        with pytest.raises(ConflictError):
            restore_transition(record, NOW)


def test_restoring_never_shortens_a_grace_period() -> None:
    far = NOW + 365 * DAY
    record = make_record(status=Status.DELETED, grace_until=far)
    assert restore_transition(record, NOW).grace_until == far


# --- whole plans ---------------------------------------------------------------------------------

POLICY = RetentionPolicy(
    model=Linear(alpha=1.0, beta=0.0, gamma=0.0, delta=0.0),
    lowest=2,
    share_action=Action.DELETE,
    through_cold=False,
    threshold=0.6,
)
BEFORE = [make_record(n, importance=n / 10) for n in range(1, 9)]  # 1, 2 deleted; 3, 4, 5 demoted


def applied(records: Iterable[MemoryRecord]) -> tuple[ForgettingPlan, dict[RecordId, MemoryRecord]]:
    """A plan over these records, and the records after it has been carried out."""
    after = {record.id: record for record in records}
    columns = columns_of(after.values())
    made = plan_forgetting(columns, POLICY, scope=Scope("acme"), plan_id=PlanId("p"), now=NOW)
    for step in made.steps:
        change = (
            Transition(step.record_id, status=Status.DELETED)
            if step.action is Action.DELETE
            else Transition(step.record_id, tier=Tier.COLD)
        )
        after[step.record_id] = changed(after[step.record_id], change, NOW)
    cursor = len(made.steps)
    return replace(made, cursor=cursor, applied_at=NOW, undo_until=NOW + 30 * DAY), after


def changed(record: MemoryRecord, change: Transition, now: datetime) -> MemoryRecord:
    return replace(
        record,
        status=change.status or record.status,
        tier=change.tier or record.tier,
        grace_until=change.grace_until or record.grace_until,
        version=record.version + 1,
        updated_at=now,
    )


def standing(record: MemoryRecord) -> tuple[Status, Tier]:
    return record.status, record.tier


def test_apply_then_undo_is_the_identity() -> None:
    mixed = [*BEFORE[:1], replace(BEFORE[1], tier=Tier.COLD), *BEFORE[2:]]
    made, after = applied(mixed)
    assert made.count(Action.DELETE) == 2
    assert made.count(Action.DEMOTE) == 3
    transitions, skipped = undo_transitions(made, after.values(), LATER, {})
    assert skipped == {}
    for change in transitions:
        after[change.id] = changed(after[change.id], change, LATER)
        assert after[change.id].grace_until == LATER + RESTORE_GRACE
    assert [standing(after[record.id]) for record in mixed] == [standing(r) for r in mixed]


def test_what_changed_since_is_left_alone() -> None:
    made, after = applied(BEFORE)
    one, two, three, four, five = (numbered_id(n) for n in range(1, 6))
    after[one] = replace(after[one], status=Status.LIVE, version=3)  # restored by hand
    del after[two]  # erased
    after[three] = replace(after[three], status=Status.SUPERSEDED, version=3)
    after[four] = replace(after[four], version=3)  # edited
    transitions, skipped = undo_transitions(made, after.values(), LATER, {})
    assert [change.id for change in transitions] == [five]
    assert skipped == {
        one: "changed since",
        two: "erased",
        three: "changed since",
        four: "changed since",
    }


def test_a_text_told_again_is_not_doubled() -> None:
    made, after = applied(BEFORE)
    one, three = numbered_id(1), numbered_id(3)
    live = {after[one].content_hash: numbered_id(77), after[three].content_hash: three}
    transitions, skipped = undo_transitions(made, after.values(), LATER, live)
    assert skipped == {one: f"duplicate of {numbered_id(77)}"}
    assert three in {change.id for change in transitions}


def test_two_deleted_copies_give_one_live_record() -> None:
    twins = [replace(record, content_hash="same") for record in BEFORE[:2]]
    made, after = applied([*twins, *BEFORE[2:]])
    transitions, skipped = undo_transitions(made, after.values(), LATER, {})
    assert skipped == {numbered_id(2): f"duplicate of {numbered_id(1)}"}
    assert len(transitions) == 4


def test_nothing_is_undone_when_the_window_is_over() -> None:
    made, after = applied(BEFORE)
    assert made.undo_until is not None
    transitions, skipped = undo_transitions(made, after.values(), made.undo_until, {})
    assert transitions == []
    assert set(skipped.values()) == {"undo window over"}
    assert len(skipped) == len(made.steps)
    last = made.undo_until - timedelta.resolution
    assert len(undo_transitions(made, after.values(), last, {})[0]) == 5


def test_only_applied_steps_are_undone() -> None:
    made, after = applied(BEFORE)
    partly = replace(made, cursor=3, skipped={numbered_id(2): "used since the plan"})
    transitions, skipped = undo_transitions(partly, after.values(), LATER, {})
    assert [change.id for change in transitions] == [numbered_id(1), numbered_id(3)]
    assert skipped == {}


def test_undoing_twice_finds_nothing_left() -> None:
    made, after = applied(BEFORE)
    for change in undo_transitions(made, after.values(), LATER, {})[0]:
        after[change.id] = changed(after[change.id], change, LATER)
    transitions, skipped = undo_transitions(made, after.values(), LATER, {})
    assert transitions == []
    assert set(skipped.values()) == {"changed since"}
