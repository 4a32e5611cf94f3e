"""Asking to forget, and not being recorded at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sfams.core.plan import Reason
from sfams.errors import ConflictError, InvalidInputError
from sfams.service import remembering, screening
from sfams.service.memory import Memory
from sfams.testing import FakeClock

OpenMemory = Callable[..., Memory]


def contents(memory: Memory) -> set[str]:
    return {record.content for record in memory.list(limit=100)}


def told(memory: Memory) -> None:
    memory.remember("Viktor is looking for a job.", who="Alice", session="s", turn=1)
    memory.remember("Viktor called.", who="Bob", session="s", turn=2)
    memory.remember("维克多的工资是五千。", who="Alice", session="t", turn=1)


def test_a_request_becomes_a_plan_to_apply_and_undo(memory: Memory) -> None:
    told(memory)
    before = contents(memory)
    plan = memory.plan_request("Please forget what I said about Viktor.", who="alice")
    assert plan is not None
    assert [memory.get(step.record_id).content for step in plan.steps] == [
        "Viktor is looking for a job."
    ]
    assert {step.reason for step in plan.steps} == {Reason.ASKED}
    assert "Viktor" not in repr(plan)
    assert contents(memory) == before
    memory.recall("Viktor")  # to look at it does not save it
    assert memory.forget(plan).deleted == 1
    assert contents(memory) == before - {"Viktor is looking for a job."}
    assert memory.history(plan.steps[0].record_id)[-1].actor == "user"
    memory.restore(plan)
    assert contents(memory) == before


def test_what_anybody_said_goes_where_nobody_is_named(memory: Memory) -> None:
    told(memory)
    plan = memory.plan_request("忘掉关于维克多的一切")
    assert plan is not None
    assert len(plan.steps) == 1
    plan = memory.plan_request("forget everything about Viktor")
    assert plan is not None
    assert len(plan.steps) == 2


@pytest.mark.parametrize("words", ["Don't remember this.", "别记这个"])
def test_this_is_what_was_said_last(memory: Memory, clock: FakeClock, words: str) -> None:
    told(memory)
    clock.advance(minutes=1)
    memory.remember("My PIN is 4471.", who="Alice", session="s", turn=3)
    memory.remember("Note: a PIN.", who="Alice", session="s", turn=3, kind="note")
    plan = memory.plan_request(words, who="Alice", session="s")
    assert plan is not None
    assert len(plan.steps) == 2
    memory.forget(plan)
    told_since = memory.plan_request(words, who="Bob", session="s")
    assert told_since is not None
    assert [memory.get(s.record_id).content for s in told_since.steps] == ["Viktor called."]


def test_a_conversation_needs_its_name(memory: Memory) -> None:
    told(memory)
    with pytest.raises(InvalidInputError, match="session"):
        memory.plan_request("forget this conversation")
    plan = memory.plan_request("forget this conversation", session="s")
    assert plan is not None
    assert len(plan.steps) == 2


def test_the_protected_stay_and_are_named(memory: Memory) -> None:
    told(memory)
    pinned, held, _ = sorted(record.id for record in memory.list())
    memory.pin(pinned)
    memory.hold(held)
    plan = memory.plan_request("forget everything about Viktor")
    assert plan is not None
    assert (len(plan.steps), dict(plan.skipped)) == (0, {pinned: "pinned", held: "held"})
    assert memory.forget(plan).deleted == 0


def test_the_very_words_are_looked_for(memory: Memory) -> None:
    memory.remember("Alice: my PIN is  4471!")
    plan = memory.plan_request("don't remember this: my pin is 4471")
    assert plan is not None
    assert len(plan.steps) == 1


def test_what_asks_for_nothing_plans_nothing(memory: Memory) -> None:
    assert memory.plan_request("Don't forget the milk.") is None
    assert list(memory.plans()) == []


# ── Off the record ────────────────────────────────────────────────────────────────────────────────


def everything(memory: Memory) -> object:
    with memory._engine.store.read() as reader:
        events = list(reader.history(memory.scope, ()))
    memory.flush()
    return list(memory.export()), events, memory.stats()


def test_off_the_record_nothing_is_stored_nor_counted(memory: Memory) -> None:
    kept = memory.remember("The kiln is hot.").id
    before = everything(memory)
    with memory.off_the_record() as quiet:
        answers = quiet.remember_many(["A secret.", "秘密。", "The kiln is hot."])
        assert {each.outcome for each in answers} == {"off the record"}
        assert not any(each.stored for each in answers)
        assert quiet.recall("kiln")[0].record.id == kept
        quiet.flush()
        for act in (lambda: quiet.delete([kept]), lambda: quiet.pin(kept), quiet.plan_forgetting):
            with pytest.raises(ConflictError, match="off the record"):
                act()
    assert everything(memory) == before
    assert memory.remember("It goes on.").stored


def test_a_session_off_the_record_keeps_others_on_it(memory: Memory) -> None:
    with memory.session("s", off_the_record=True) as session:
        assert (session.turn(), session.turn(), session.off_the_record) == (1, 2, True)
        answers = memory.remember_many(
            [{"text": "A secret.", "session": "s"}, {"text": "A note.", "session": "t"}]
        )
        assert [each.stored for each in answers] == [False, True]
    assert contents(memory) == {"A note."}
    assert memory.session("s").current == 0
    assert memory.remember("On again.", session="s").stored


def test_a_session_that_ends_while_texts_are_stored_answers_for_the_right_ones(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = memory.session("s", off_the_record=True)

    def ends_meanwhile(*given: Any) -> list[screening.Screened]:
        session.end()
        return screening.screen(*given)

    monkeypatch.setattr(remembering, "screen", ends_meanwhile)
    answers = memory.remember_many(
        [{"text": "A secret.", "session": "s"}, {"text": "A note.", "session": "t"}]
    )
    assert [each.stored for each in answers] == [False, True]
    assert contents(memory) == {"A note."}
