"""Purging: what can no longer be undone leaves for good, and may be told again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from sfams.core.events import EventType
from sfams.core.plan import Action
from sfams.core.policy import RetentionPolicy
from sfams.core.presets import preset
from sfams.errors import NotFoundError
from sfams.service.memory import Memory
from sfams.service.results import Fate
from sfams.testing import FakeClock

SECRET = "车库密码是4471。"


def test_what_was_deleted_leaves_after_the_window(memory: Memory, clock: FakeClock) -> None:
    one = memory.remember(SECRET, importance=0.2).id
    memory.delete([one])
    clock.advance(days=29)
    assert memory.purge(dry_run=True).erased == memory.purge().erased == 0
    clock.advance(days=1)
    assert memory.purge(dry_run=True).erased == 1
    assert memory.get(one).content == SECRET
    assert memory.purge().erased == 1
    with pytest.raises(NotFoundError):
        memory.get(one)
    answer = memory.explain(one)
    assert (answer.fate, answer.reason) == (Fate.PURGED, "undo window over")
    assert answer.events[-1].type is EventType.PURGED
    assert SECRET not in str(answer.events) + "".join(memory.export())
    again = memory.remember(SECRET)
    assert (again.stored, again.id != one) == (True, True)


def test_what_a_plan_deleted_waits_for_its_own_window(memory: Memory, clock: FakeClock) -> None:
    memory.remember_many([f"Sensor {n} hangs in bay {n}." for n in range(4)])
    long = RetentionPolicy(
        lowest=1, share_action=Action.DELETE, through_cold=False, max_share=1.0,
        undo_window=timedelta(days=90),
    )  # fmt: skip
    plan = memory.plan_forgetting(long)
    memory.forget(plan)
    clock.advance(days=60)
    assert memory.purge().erased == 0
    assert memory.restore(plan).restored == 1
    memory.forget(memory.plan_forgetting(long))
    clock.advance(days=90)
    assert memory.purge().erased == 1


def test_what_is_held_or_kept_by_the_policy_stays(memory: Memory, clock: FakeClock) -> None:
    one, two = (memory.remember(f"Sensor {n} hangs in bay {n}.").id for n in range(2))
    memory.flush()  # the first look in the background is over
    memory.delete([one, two])
    memory.hold([one], owner="legal")
    clock.advance(days=400)
    memory.set_policy(replace(preset("adaptive"), name="hoarder", purge=False))
    assert memory.purge().erased == 0
    memory.set_policy(None)
    assert memory.maintain().purged == 1
    assert memory.get(one).held
    assert memory.explain(two).fate is Fate.PURGED
