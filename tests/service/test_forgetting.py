"""Forgetting: the plan, its application, undo, protection, explanation, erasure."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sfams.core.plan import Action, PlanState, Reason
from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.presets import preset
from sfams.core.record import MemoryRecord, Status, Tier
from sfams.errors import (
    BlastRadiusError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RecordProtectedError,
)
from sfams.service import forgetting
from sfams.service.memory import Memory
from sfams.service.results import Fate
from sfams.testing import FakeClock

CLASSIC = replace(preset("classic"), through_cold=False)
"""The lowest tenth is deleted at once: what a person may ask for."""


def fill(memory: Memory, count: int = 20) -> list[str]:
    items = [
        {
            "content": f"Sensor {n} hangs in bay {n}.",
            "kind": "fact",
            "importance": (n + 1) / (count + 1),
        }
        for n in range(count)
    ]
    return [result.id for result in memory.remember_many(items)]


def snapshot(memory: Memory) -> dict[str, tuple[object, ...]]:
    """Everything about the records that forgetting and undoing must leave as it was."""

    def standing(r: MemoryRecord) -> tuple[object, ...]:
        return (r.content, r.status, r.tier, r.importance, r.entities, r.tags, r.validity, r.usage)

    return {r.id: standing(r) for r in memory.list(status=["all"], expired=True, limit=1000)}


def test_a_plan_changes_nothing_and_two_plans_are_equal(memory: Memory) -> None:
    fill(memory)
    before = snapshot(memory)
    first, second = (memory.plan_forgetting(CLASSIC) for _ in range(2))
    assert first.steps == second.steps
    assert [step.action for step in first.steps] == [Action.DELETE, Action.DELETE]
    assert snapshot(memory) == before
    assert memory.plan(first.id).steps == first.steps
    assert memory.plans()[0] == second.id


def test_what_is_applied_is_what_was_shown(memory: Memory) -> None:
    fill(memory)
    plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=5)))
    shown = {step.record_id for step in plan.steps}
    receipt = memory.forget(plan)
    assert receipt.demoted == len(shown) == 15
    assert {r.id for r in memory.list(tier="cold")} == shown
    assert memory.stats().hot == 5
    for step in plan.steps:
        assert sum(step.parts.values()) == pytest.approx(step.score, abs=1e-9)


def test_undo_is_the_identity(memory: Memory) -> None:
    fill(memory)
    before = snapshot(memory)
    for policy in (CLASSIC, RetentionPolicy(budget=Budget(records=3))):
        plan = memory.plan_forgetting(policy)
        memory.forget(plan)
        assert snapshot(memory) != before
        assert memory.restore(plan).restored == len(plan.steps)
        assert snapshot(memory) == before
        with pytest.raises(ConflictError, match="undone"):
            memory.restore(plan)
        with pytest.raises(ConflictError, match="undone"):
            memory.forget(plan)


def test_restored_records_have_a_grace_period(memory: Memory, clock: FakeClock) -> None:
    fill(memory)
    policy = CLASSIC
    plan = memory.plan_forgetting(policy)
    memory.forget(plan)
    memory.restore()
    taken = {step.record_id for step in plan.steps}
    assert taken.isdisjoint({s.record_id for s in memory.plan_forgetting(policy).steps})
    clock.advance(days=8)
    assert taken == {s.record_id for s in memory.plan_forgetting(policy).steps}


def test_the_undo_window_ends(memory: Memory, clock: FakeClock) -> None:
    fill(memory)
    plan = memory.plan_forgetting(CLASSIC)
    memory.forget(plan)
    clock.advance(days=30)
    with pytest.raises(ConflictError, match="until"):
        memory.restore(plan)


def test_what_changed_or_was_used_since_the_plan_is_skipped(
    memory: Memory, clock: FakeClock
) -> None:
    ids = fill(memory)
    plan = memory.plan_forgetting(RetentionPolicy(share=0.2))
    changed, used, pinned, held = (step.record_id for step in plan.steps)
    clock.advance(minutes=1)
    memory.update(changed, importance=1.0)
    content = memory.get(used).content
    assert memory.recall(content, k=1, mode="keyword")[0].record.id == used
    memory.pin(pinned)
    memory.hold(held)
    receipt = memory.forget(plan)
    assert receipt.skipped == {
        changed: "changed since the plan",
        used: "used since the plan",
        pinned: "pinned",
        held: "held",
    }
    assert receipt.demoted == 0
    assert memory.stats().hot == len(ids)


def test_the_blast_radius_needs_an_override(memory: Memory) -> None:
    fill(memory)
    policy = RetentionPolicy(
        share=0.5, share_action=Action.DELETE, max_share=0.2, through_cold=False
    )
    plan = memory.plan_forgetting(policy)
    with pytest.raises(BlastRadiusError, match="50"):
        memory.forget(plan)
    assert memory.stats().hot == 20
    assert memory.forget(plan, override_blast_radius=True).deleted == 10


def test_expired_records_go_first_and_need_no_share(memory: Memory, clock: FakeClock) -> None:
    fill(memory, 5)
    code = memory.remember("Your code is 481 516.", ttl="5m")
    clock.advance(minutes=6)
    plan = memory.plan_forgetting()
    assert [(s.record_id, s.reason, s.score) for s in plan.steps] == [
        (code.id, Reason.EXPIRED, -1.0)
    ]
    memory.forget(plan)
    answer = memory.explain(code.id)
    assert (answer.fate, answer.plan_id, answer.score) == (Fate.DELETED, plan.id, -1.0)


def test_an_interrupted_run_goes_on_where_it_stopped(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory)
    monkeypatch.setattr(forgetting, "CHUNK", 4)
    plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=0)))
    real, calls = forgetting._apply_chunk, 0

    def dies_in_third_chunk(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(forgetting, "_apply_chunk", dies_in_third_chunk)
    with pytest.raises(KeyboardInterrupt):
        memory.forget(plan)
    half = memory.plan(plan.id)
    assert (half.state, half.cursor) == (PlanState.APPLYING, 8)
    assert memory.stats().cold == 8
    assert memory.forget(plan).demoted == 20
    assert memory.stats().cold == 20


def test_a_half_applied_plan_can_be_undone(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(memory)
    monkeypatch.setattr(forgetting, "CHUNK", 4)
    plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=0)))
    real = forgetting._apply_chunk
    done: list[int] = []

    def dies_in_second_chunk(*args: Any) -> Any:
        done.append(1)
        if len(done) == 2:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(forgetting, "_apply_chunk", dies_in_second_chunk)
    with pytest.raises(KeyboardInterrupt):
        memory.forget(plan)
    assert memory.restore(plan).restored == 4
    assert memory.stats().cold == 0


def test_cold_records_are_found_by_words_at_a_lower_rank(memory: Memory) -> None:
    cold = memory.remember("The kiln in studio B fires at 980 degrees.", importance=0.1)
    memory.forget(memory.plan_forgetting(RetentionPolicy(budget=Budget(records=0))))
    hot = memory.remember("The kiln in studio A fires at 1040 degrees.", importance=0.1)
    hits = memory.recall("kiln studio fires")
    assert [hit.record.id for hit in hits] == [hot.id, cold.id]
    assert hits[1].record.tier is Tier.COLD
    assert hits[1].parts["cold"] < 0
    assert len(memory.recall("980", mode="vector")) == 1


def test_deleting_a_text_and_telling_it_again(memory: Memory) -> None:
    first = memory.remember("The gate code is 7.")
    memory.delete(first.id)
    again = memory.remember("The gate code is 7.")
    assert again.id != first.id
    with pytest.raises(ConflictError, match=again.id):
        memory.restore([first.id])
    memory.delete(again.id)
    memory.restore([first.id])
    assert [r.id for r in memory.list()] == [first.id]


def test_delete_needs_ids_or_a_real_filter(memory: Memory) -> None:
    fill(memory, 6)
    unreal: list[dict[str, Any]] = [
        {},
        {"status": ["live"]},
        {"kinds": []},
        {"tags": []},
        {"metadata": {}},
    ]
    for fields in unreal:
        with pytest.raises(InvalidInputError, match=r"filter|ids"):
            memory.delete(**fields)
    with pytest.raises(InvalidInputError):
        memory.delete([])
    assert len(memory.list()) == 6
    assert memory.delete(importance_max=0.5).deleted == 3


def test_deleting_what_is_not_there_is_not_success(memory: Memory) -> None:
    stored = memory.remember("once")
    with pytest.raises(InvalidInputError, match="not an id"):
        memory.delete("42")
    with pytest.raises(NotFoundError):
        memory.delete("01a00000-0000-7000-8000-000000000000")
    memory.delete(stored.id)
    with pytest.raises(NotFoundError, match="already"):
        memory.delete(stored.id)


def test_pins_and_holds(memory: Memory) -> None:
    ids = fill(memory, 4)
    memory.pin(ids[:2])
    memory.hold(ids[2])
    plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=0)))
    assert {step.record_id for step in plan.steps} == {ids[3]}
    for verb in (memory.delete, memory.erase):
        with pytest.raises(RecordProtectedError, match=ids[2]):
            verb([ids[2], ids[3]])
    assert memory.explain(ids[0]).protected == "pinned"
    memory.unpin(ids[:2])
    memory.release(ids[2])
    assert len(memory.plan_forgetting(RetentionPolicy(budget=Budget(records=0))).steps) == 4


def test_erasing_leaves_no_trace_and_needs_no_status(memory: Memory) -> None:
    secret = memory.remember("Lena met Viktor at the Harbour Cafe.", entities=["person:Viktor"])
    other = memory.remember("Lena likes tea.", entities=["person:Lena"])
    memory.link(other.id, secret.id, "mentions")
    plan = memory.plan_forgetting(RetentionPolicy(lowest=2))
    preview = memory.erase(entities=["person:Viktor"], dry_run=True)
    assert preview.ids == (secret.id,)
    assert memory.get(secret.id).content
    receipt = memory.erase(entities=["person:Viktor"])
    assert (receipt.ids, receipt.residue) == ((secret.id,), "clean")
    with pytest.raises(NotFoundError):
        memory.get(secret.id)
    assert memory.explain(secret.id).fate is Fate.ERASED
    assert [hit.record.id for hit in memory.recall("Viktor Harbour Cafe")] in ([], [other.id])
    assert memory.get(other.id).relations == ()
    assert [entity.name for entity in memory.entities()] == ["Lena"]
    assert secret.id not in {step.record_id for step in memory.plan(plan.id).steps}
    assert "Viktor" not in "\n".join(memory.export())


def test_erasing_needs_a_choice(memory: Memory) -> None:
    fill(memory, 3)
    unreal: list[dict[str, Any]] = [{}, {"status": ["all"]}, {"kinds": []}]
    for fields in unreal:
        with pytest.raises(InvalidInputError):
            memory.erase(**fields)
    with pytest.raises(InvalidInputError):
        memory.erase(["x"], everything=True)
    assert len(memory.erase(everything=True).ids) == 3
    assert len(memory.list(status=["all"])) == 0


def test_explain_answers_for_every_fate(memory: Memory, clock: FakeClock) -> None:
    demoted = memory.remember("Bay 1 is empty.", importance=0.05)
    memory.forget(memory.plan_forgetting(RetentionPolicy(lowest=1)))
    old = memory.remember("Rent is 805.", subject="rent", attribute="sum", value="805")
    new = memory.remember("Rent is 840.", subject="rent", attribute="sum", value="840")
    deleted = memory.remember("Lunch was fine.")
    memory.delete(deleted.id)
    expired = memory.remember("Room 5 until noon.", ttl="1h")
    clock.advance(hours=2)
    assert memory.explain("Bay 1 is empty.").fate is Fate.DEMOTED
    assert memory.explain("Bay 1 is empty.").score is not None
    assert memory.explain("rent is 805").fate is Fate.SUPERSEDED
    assert memory.explain(old.id).related == new.id
    assert memory.explain("rent is 840").fate is Fate.DUPLICATE
    assert memory.explain("Rent is 840.").fate is Fate.LIVE
    assert memory.explain(deleted.id).fate is Fate.DELETED
    assert memory.explain(deleted.id).undoable
    assert memory.explain(expired.id).fate is Fate.EXPIRED
    assert memory.explain("Never said.").fate is Fate.NEVER_STORED
    assert memory.explain(demoted.id, query="bay empty").place == 1


def test_explain_tells_the_place_of_what_was_ranked_out(memory: Memory) -> None:
    ids = [memory.remember(f"Kiln {n} fires at {n}00 degrees.").id for n in range(1, 9)]
    found = [hit.record.id for hit in memory.recall("kiln 3 300 degrees", k=2)]
    left_out = next(record_id for record_id in ids if record_id not in found)
    answer = memory.explain(left_out, query="kiln 3 300 degrees", k=2)
    assert answer.place is not None
    assert answer.place > 2
    assert "first 2" in answer.cut_off


def test_policies_are_checked_when_built() -> None:
    wrong: list[dict[str, Any]] = [
        {"share": 1.5},
        {"threshold": float("nan")},
        {"lowest": -1},
        {"share": 0.1, "lowest": 3},
        {"grace": timedelta(days=-1)},
    ]
    for bad in wrong:
        with pytest.raises(InvalidInputError):
            RetentionPolicy(**bad)


def test_a_status_filter_reaches_deleted_records(memory: Memory) -> None:
    stored = memory.remember("The gate opens at six.")
    memory.delete(stored.id)
    assert len(memory.recall("gate")) == 0
    found = memory.recall("gate", status=["deleted"])
    assert [(hit.record.id, hit.record.status) for hit in found] == [(stored.id, Status.DELETED)]
