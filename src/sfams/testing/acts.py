"""Acts for the state machine: what the service does with a store, call by call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfams.core.indexing import terms_of
from sfams.core.keywords import index_terms
from sfams.core.lifecycle import restorable, restore_transition, undo_transitions
from sfams.core.plan import Action, ForgettingPlan, PlanState
from sfams.core.planner import plan_forgetting
from sfams.core.policy import UNDO_WINDOW, Budget, RetentionPolicy
from sfams.core.record import PlanId, RecordId, Status, Tier
from sfams.core.scope import Scope
from sfams.ports import EmbeddingModel, Staged, Transaction, Transition
from sfams.testing.builders import make_vector
from sfams.testing.clock import START

POLICY = RetentionPolicy(
    name="machine",
    budget=Budget(records=1),
    lowest=2,
    share_action=Action.DELETE,
    through_cold=False,
    max_share=1.0,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Make a plan from the scope's columns and save it."""

    scope: Scope
    plan_id: PlanId

    def on(self, transaction: Transaction) -> object:
        """Plan with a policy that takes nearly everything."""
        columns = transaction.columns(self.scope, START)
        plan = plan_forgetting(columns, POLICY, scope=self.scope, plan_id=self.plan_id, now=START)
        transaction.save_plan(plan)
        return plan.steps.ids


@dataclass(frozen=True, slots=True)
class Forget:
    """Apply the next chunk of a saved plan, whatever it was made from."""

    scope: Scope
    plan_id: PlanId
    size: int

    def on(self, transaction: Transaction) -> object:
        """Change standing and move the plan's cursor together."""
        plan = transaction.plan(self.scope, self.plan_id)
        if plan is None:
            return None
        cursor = min(plan.cursor + self.size, len(plan.steps))
        changes = _transitions(transaction, plan, cursor)
        transaction.transition(self.scope, changes, START)
        taken = {change.id for change in changes}
        passed = (step.record_id for step in plan.steps[plan.cursor : cursor])
        skipped = {
            record_id: "changed since the plan" for record_id in passed if record_id not in taken
        }
        done = cursor == len(plan.steps)
        transaction.advance_plan(
            replace(
                plan,
                state=PlanState.APPLIED if done else PlanState.APPLYING,
                cursor=cursor,
                skipped={**plan.skipped, **skipped},
                applied_at=START if done else plan.applied_at,
                undo_until=START + UNDO_WINDOW,
            )
        )
        return sorted(taken)


def _transitions(
    transaction: Transaction, plan: ForgettingPlan, cursor: int
) -> Sequence[Transition]:
    steps = list(plan.steps[plan.cursor : cursor])
    records = {each.id: each for each in transaction.get(plan.scope, [s.record_id for s in steps])}
    fresh = [
        step
        for step in steps
        if (record := records.get(step.record_id)) is not None
        and record.version == step.version
        and record.status is Status.LIVE
    ]
    return [
        Transition(step.record_id, status=Status.DELETED)
        if step.action is Action.DELETE
        else Transition(step.record_id, tier=Tier.COLD)
        for step in fresh
    ]


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back what a plan has done so far."""

    scope: Scope
    plan_id: PlanId

    def on(self, transaction: Transaction) -> object:
        """Restore what is still as the plan left it."""
        plan = transaction.plan(self.scope, self.plan_id)
        if plan is None:
            return None
        records = transaction.get(self.scope, plan.steps.ids)
        live = transaction.by_hash(self.scope, [record.content_hash for record in records])
        transitions, skipped = undo_transitions(plan, records, START, live)
        transaction.transition(self.scope, transitions, START)
        transaction.advance_plan(replace(plan, state=PlanState.UNDONE))
        return sorted(skipped.items())


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring single records back."""

    scope: Scope
    ids: Sequence[RecordId]

    def on(self, transaction: Transaction) -> object:
        """Restore those of them that can be."""
        records = transaction.get(self.scope, self.ids)
        lost = [record for record in records if restorable(record, START, UNDO_WINDOW)]
        transaction.transition(self.scope, [restore_transition(r, START) for r in lost], START)
        return [record.id for record in lost]


@dataclass(frozen=True, slots=True)
class Index:
    """Make the keyword entries of records anew."""

    scope: Scope
    ids: Sequence[RecordId]

    def on(self, transaction: Transaction) -> object:
        """Index what they say; one id is of nobody."""
        records = transaction.get(self.scope, self.ids)
        keywords = {record.id: terms_of(record) for record in records}
        nobody = {RecordId("nobody"): index_terms("nobody")}
        transaction.put_keywords(self.scope, {**keywords, **nobody})
        return sorted(keywords)


@dataclass(frozen=True, slots=True)
class Stage:
    """Lay vectors of a model aside for records, one of them for a text that was said before."""

    scope: Scope
    model: EmbeddingModel
    ids: Sequence[RecordId]
    outdated: bool

    def on(self, transaction: Transaction) -> object:
        """Stage what is read now; the first of it as if it had changed since."""
        staged = [
            Staged(record, None if record.kind == "fact" else make_vector(record.content))
            for record in transaction.get(self.scope, self.ids)
        ]
        if self.outdated and staged:
            staged[0] = replace(staged[0], record=replace(staged[0].record, content="As it was."))
        return transaction.stage_vectors(self.model, staged)


@dataclass(frozen=True, slots=True)
class Adopt:
    """Make a model's staged vectors the current ones."""

    model: EmbeddingModel

    def on(self, transaction: Transaction) -> object:
        """Adopt, and tell how the records stand then."""
        return transaction.adopt_vectors(self.model)
