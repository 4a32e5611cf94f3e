"""Case C077 of forgetting.json: whatever leaves the active set has a log entry that says why."""

from datetime import timedelta

from sfams.core.events import Actor, EventType
from sfams.core.plan import Action
from sfams.core.policy import RetentionPolicy
from sfams.service.memory import Memory
from sfams.service.results import Fate
from sfams.testing import FakeClock

SECRET = "车库密码是4471。"
LEAVING = {
    EventType.DELETED,
    EventType.SUMMARIZED,
    EventType.SUPERSEDED,
    EventType.DEMOTED,
}


def test_c077_each_departure_is_logged_with_its_reason(memory: Memory, clock: FakeClock) -> None:
    by_ttl = [
        memory.remember(f"The door code of gate {n} is {n}{n}7.", ttl=timedelta(hours=1)).id
        for n in range(4)
    ]
    by_score = [
        memory.remember(f"Weak note {n} on weather {n * 7}.", importance=0.01).id for n in range(3)
    ]
    by_hand = [
        memory.remember(f"The lamp {n} is from shop {n * 3}.", importance=0.9).id for n in range(2)
    ]
    by_hand.append(memory.remember(SECRET, importance=0.9).id)
    others = [
        memory.remember(f"Contract {n} ends in year {2030 + n}.", importance=0.95).id
        for n in range(5)
    ]
    clock.advance(hours=2)
    policy = RetentionPolicy(
        name="harsh", lowest=3, share_action=Action.DELETE, through_cold=False, max_share=1.0
    )
    plan = memory.plan_forgetting(policy)
    memory.forget(plan, override_blast_radius=True)
    memory.delete(by_hand)
    active = {record.id for record in memory.list(limit=100)}
    gone = [*by_ttl, *by_score, *by_hand]
    assert active == set(others)
    for record_id in gone:
        answer = memory.explain(record_id)
        (entry,) = [event for event in answer.events if event.type in LEAVING]
        assert entry.at == clock()
        assert entry.detail["reason"]
        assert (answer.fate, answer.undoable) == (Fate.DELETED, True)
        assert answer.reason
    actors = {
        event.record_id: event.actor
        for each in gone
        for event in memory.explain(each).events
        if event.type in LEAVING
    }
    assert [actors[each] for each in gone] == [
        *[Actor.TTL] * 4,
        *[Actor.POLICY] * 3,
        *[Actor.USER] * 3,
    ]
    assert all(memory.explain(each).plan_id == plan.id for each in (*by_ttl, *by_score))
    assert all(memory.explain(each).score is not None for each in by_score)
    clock.advance(days=31)
    assert memory.purge().erased == len(gone)
    for record_id in gone:
        answer = memory.explain(record_id)
        assert answer.fate is Fate.PURGED
        assert answer.events[-1].type is EventType.PURGED
        assert SECRET not in str(answer.events)
    assert [memory.explain(each).plan_id for each in (*by_score, *by_hand)] == [
        *[plan.id] * 3,
        *[None] * 3,
    ]
