"""Regret, audit and the record of each policy, on both stores and in both languages."""

from collections.abc import Sequence

import pytest

from sfams.core.ghosts import Mark
from sfams.core.plan import Action
from sfams.core.policy import RetentionPolicy
from sfams.core.scope import Scope
from sfams.errors import InvalidInputError, NotFoundError
from sfams.service.memory import Memory
from sfams.testing import FakeClock

TEXTS = [
    ("The rooftop generator runs on biodiesel.", "which generator runs on biodiesel?"),
    ("屋顶的发电机使用生物柴油。", "屋顶的发电机用生物柴油吗？"),
]
OTHERS = [
    "Alice prefers green tea in the morning.",
    "The budget review is on Thursday.",
    "会议室的投影仪坏了。",
]


def drop(memory: Memory, ids: Sequence[str], action: Action = Action.DELETE) -> str:
    """Forget these by a plan."""
    policy = RetentionPolicy(
        name="harsh", lowest=len(ids), share_action=action, through_cold=False, max_share=1.0
    )
    plan = memory.plan_forgetting(policy, tags=["t"])
    memory.forget(plan, override_blast_radius=True)
    return plan.id


def only(memory: Memory, policy: str = "harsh") -> tuple[int, int, int]:
    """Total, undone and regretted of one policy."""
    (found,) = [each for each in memory.forgetting_stats() if each.policy == policy]
    return found.total, found.undone, found.regretted


@pytest.mark.parametrize(("text", "question"), TEXTS)
def test_a_question_for_what_was_forgotten_offers_it_and_counts_once_a_day(
    memory: Memory, clock: FakeClock, text: str, question: str
) -> None:
    memory.remember_many(OTHERS)
    one = memory.remember(text).id
    assert memory.recall(question).missed == ()
    memory.delete([one])
    (missed,) = memory.recall(question).missed
    assert (missed.id, missed.plan_id, missed.policy) == (one, None, "by hand")
    memory.recall(question)
    assert memory.forgetting_stats()[0].regretted == 1
    memory.recall(question)
    with memory._engine.store.read() as reader:
        assert reader.ghosts(memory.scope)[0].regrets == 1
    memory.restore([one])
    assert memory.recall(question).missed == ()
    assert only(memory, "by hand") == (1, 1, 1)


def test_unrelated_questions_miss_nothing(memory: Memory) -> None:
    ids = [memory.remember(text).id for text, _ in TEXTS]
    memory.remember_many(OTHERS)
    memory.delete(ids)
    for question in (
        "what does Alice drink?",
        "when is the budget review?",
        "which printer is on the second floor?",
        "投影仪怎么了？",
        "谁喜欢绿茶？",
        "what time is it on the roof of the embassy?",
    ):
        assert memory.recall(question).missed == (), question
    assert only(memory, "by hand") == (2, 0, 0)


def test_what_is_answered_otherwise_is_not_missed(memory: Memory) -> None:
    one = memory.remember(TEXTS[0][0], key="a").id
    memory.delete([one])
    memory.remember("On Monday they said: the rooftop generator runs on biodiesel, mostly.")
    assert memory.recall(TEXTS[0][1]).missed == ()


@pytest.mark.parametrize("text", [text for text, _ in TEXTS])
def test_telling_it_again_counts_for_the_policy(memory: Memory, text: str) -> None:
    one = memory.remember(text, tags=["t"]).id
    plan = drop(memory, [one])
    assert only(memory) == (1, 0, 0)
    assert memory.explain(one).plan_id == plan
    assert memory.remember(text).stored
    assert only(memory) == (1, 0, 1)


def test_no_scope_sees_what_another_has_forgotten(memory: Memory) -> None:
    text, question = TEXTS[0]
    memory.delete([memory.remember(text).id])
    other = Memory(memory._engine, Scope(("elsewhere",)))
    assert other.recall(question).missed == ()
    assert other.forgetting_stats() == ()


def test_the_ghost_outlives_the_purge_and_not_the_erasure(memory: Memory, clock: FakeClock) -> None:
    text, question = TEXTS[0]
    one = memory.remember(text, tags=["t"]).id
    plan = drop(memory, [one])
    clock.advance(days=31)
    assert memory.purge().erased == 1
    assert memory.explain(one).plan_id == plan
    assert memory.recall(question).missed == ()
    assert only(memory) == (1, 0, 1)
    two = memory.remember("The vault combination is in the blue folder.").id
    memory.delete([two])
    memory.erase([two])
    assert [each.policy for each in memory.forgetting_stats()] == ["harsh"]


def test_asking_for_a_demoted_memory_is_regret(memory: Memory) -> None:
    text, question = TEXTS[0]
    memory.remember_many(OTHERS)
    one = memory.remember(text, tags=["t"]).id
    drop(memory, [one], Action.DEMOTE)
    memory.recall("what does Alice drink?")
    assert only(memory) == (1, 0, 0)
    result = memory.recall(question)
    assert [hit.record.id for hit in result][:1] == [one]
    assert only(memory) == (1, 0, 1)


def test_a_sample_is_drawn_marked_and_measured(memory: Memory) -> None:
    ids = [memory.remember(f"Sensor {n} hangs in bay {n}.", tags=["t"]).id for n in range(8)]
    plan = drop(memory, ids)
    drawn = memory.audit(4, seed=3)
    assert drawn == memory.audit(4, seed=3) != memory.audit(4, seed=4)
    assert all(each.restorable and each.record for each in drawn)
    for each, said in zip(drawn, ["wrong", "right", "right", "right"], strict=True):
        memory.mark(each.ghost.record_id, said)
    (found,) = memory.forgetting_stats()
    assert (found.right, found.wrong, found.false_rate) == (3, 1, 0.25)
    assert found.interval == pytest.approx((0.0456, 0.6994), abs=1e-3)
    assert memory.audit(4, seed=3)[0].ghost.mark is Mark.WRONG
    memory.restore(plan)
    assert only(memory) == (8, 8, 0)
    assert memory.audit() == ()
    with pytest.raises(InvalidInputError):
        memory.mark(ids[0], "maybe")
    with pytest.raises(NotFoundError):
        memory.mark(memory.remember(OTHERS[0]).id, "right")
