"""Promise: a plan comes back exactly, however long, and stays what it was when it is advanced."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sfams.core.plan import ForgettingPlan, PlanState, Steps
from sfams.core.record import PlanId
from sfams.errors import NotFoundError
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.conformance.base import (
    FIRST_PLAN,
    FOUR,
    MINUTE,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    erase,
    fill,
)
from sfams.testing.planning import make_plan

if TYPE_CHECKING:
    from sfams.ports import Store


def save(store: Store, plan: ForgettingPlan) -> None:
    """Save a plan."""
    with store.write() as transaction:
        transaction.save_plan(plan)


def load(store: Store, plan_id: PlanId = FIRST_PLAN) -> ForgettingPlan:
    """Load a plan that must be there."""
    with store.read() as reader:
        plan = reader.plan(HOME, plan_id)
    assert plan is not None
    return plan


def applied(plan: ForgettingPlan) -> ForgettingPlan:
    """Bring a plan half way."""
    return replace(
        plan,
        state=PlanState.APPLYING,
        cursor=2,
        skipped={TWO: "used since the plan", numbered_id(99): "changed: 名"},
        applied_at=NOW + MINUTE,
        undo_until=NOW + 2 * MINUTE,
    )


class PlanPromises(Promises):
    """Saved plans."""

    def test_a_long_plan_comes_back_exactly(self, store: Store) -> None:
        """Thousands of steps, each score to the last bit and of the same element type."""
        plan = make_plan(HOME, [numbered_id(n) for n in range(6_000, 0, -1)], plan_id=FIRST_PLAN)
        save(store, plan)
        found = load(store)
        assert found == plan
        assert found.steps[4_321] == plan.steps[4_321]
        assert found.steps.actions.dtype == np.int8
        assert found.steps.scores.tobytes() == plan.steps.scores.tobytes()
        assert repr(found.policy) == repr(plan.policy)

    def test_an_empty_plan_comes_back(self, store: Store) -> None:
        """Nothing to forget is a plan too."""
        plan = replace(make_plan(HOME, [], plan_id=FIRST_PLAN), steps=Steps(), policy={})
        save(store, plan)
        assert load(store) == plan

    def test_every_field_comes_back(self, store: Store) -> None:
        """How far it has come included."""
        plan = applied(make_plan(HOME, [ONE, TWO, THREE], plan_id=FIRST_PLAN))
        save(store, plan)
        assert load(store) == plan

    def test_saving_again_writes_it_whole(self, store: Store) -> None:
        """A weakened plan takes the place of the first one."""
        save(store, applied(make_plan(HOME, [ONE, TWO, THREE], plan_id=FIRST_PLAN)))
        weaker = make_plan(HOME, [THREE], plan_id=FIRST_PLAN, minutes=1)
        save(store, weaker)
        assert load(store) == weaker
        with store.read() as reader:
            assert list(reader.plans(HOME, 9)) == [FIRST_PLAN]

    def test_a_plan_that_was_rolled_back_was_never_there(self, store: Store) -> None:
        """Not even for whoever had read it within the unit of work that failed."""
        plan = make_plan(HOME, [ONE, TWO], plan_id=FIRST_PLAN)
        save(store, plan)
        assert load(store) == plan
        other = make_plan(HOME, [THREE], plan_id=FIRST_PLAN)
        with suppress(KeyError), store.write() as transaction:
            transaction.save_plan(other)
            assert transaction.plan(HOME, FIRST_PLAN) == other
            raise KeyError
        assert load(store) == plan

    @pytest.mark.parametrize("state", PlanState)
    def test_advancing_keeps_the_steps(self, store: Store, state: PlanState) -> None:
        """Only state, cursor, skipped and moments are written."""
        plan = make_plan(HOME, [ONE, TWO, THREE], plan_id=FIRST_PLAN)
        save(store, plan)
        further = replace(applied(plan), state=state)
        with store.write() as transaction:
            transaction.advance_plan(replace(further, steps=Steps(), examined=0, policy={}))
        assert load(store) == further

    def test_advancing_an_unknown_plan_is_refused(self, store: Store) -> None:
        """It would be half a plan."""
        with pytest.raises(NotFoundError), store.write() as transaction:
            transaction.advance_plan(make_plan(HOME, [], plan_id=FIRST_PLAN))
        with store.read() as reader:
            assert reader.plan(HOME, FIRST_PLAN) is None

    def test_plans_are_listed_newest_first(self, store: Store) -> None:
        """By when they were made, not when they were saved."""
        for number, minutes in ((3, 5), (1, 9), (2, 1)):
            plan_id = PlanId(numbered_id(number))
            save(store, make_plan(HOME, [ONE], plan_id=plan_id, minutes=minutes))
        with store.read() as reader:
            assert list(reader.plans(HOME, 9)) == [PlanId(each) for each in (ONE, THREE, TWO)]
            assert list(reader.plans(HOME, 2)) == [PlanId(each) for each in (ONE, THREE)]

    def test_erased_records_leave_saved_plans(self, store: Store) -> None:
        """Their steps go from every column, and the cursor stays before the same next step."""
        fill(store, *(make_entry(n) for n in range(1, 5)))
        plan = make_plan(HOME, [FOUR, TWO, ONE, THREE], plan_id=FIRST_PLAN)
        save(store, replace(applied(plan), cursor=3))
        other = make_plan(HOME, [THREE, FOUR], plan_id=PlanId(numbered_id(902)))
        save(store, other)
        erase(store, TWO)
        found = load(store)
        assert found.steps.ids == (FOUR, ONE, THREE)
        assert list(found.steps) == [plan.steps[0], plan.steps[2], plan.steps[3]]
        assert found.cursor == 2  # noqa: PLR2004
        assert TWO not in found.skipped
        assert load(store, other.id) == other
