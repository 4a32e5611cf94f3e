"""Plans, reviews, undo, summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from sfams.core.moments import DurationLike, MomentLike
from sfams.core.plan import ForgettingPlan, Receipt
from sfams.core.policy import RetentionPolicy
from sfams.core.record import MemoryRecord, PlanId
from sfams.core.replay import Simulation, SteppedProgress
from sfams.core.selecting import FilterFields
from sfams.errors import ConflictError
from sfams.service import (
    asking,
    digests,
    forgetting,
    listing,
    planning,
    policies,
    restoring,
    reviewing,
    simulating,
    summaries,
    triggers,
)
from sfams.service.policies import InForce
from sfams.service.results import (
    SummaryReport,
)
from sfams.service.triggers import Maintenance
from sfams.service.verbs.base import Verbs, many, plan_id_of


class ForgettingVerbs(Verbs):
    """Plans, reviews, undo, summaries."""

    def plan_forgetting(
        self, policy: RetentionPolicy | str | None = None, **fields: Unpack[FilterFields]
    ) -> ForgettingPlan:
        """Say what a policy (or a preset by name) would forget, and save it. Changes no record.

        With a filter (`session="s1"`, `kinds=["dialogue"]`, ...) only matching records may be taken.
        """
        request = planning.PlanRequest(policy=policy, where=fields)
        return planning.plan(self._engine, self.scope, request)

    def policy(self) -> InForce:
        """Tell which policy holds here, and which scope says so."""
        return policies.in_force(self._engine, self.scope)

    def set_policy(self, policy: RetentionPolicy | str | None) -> InForce:
        """Set this scope's own policy, for it and what is below; None: what is above it holds again."""
        return policies.put(self._engine, self.scope, policy)

    def simulate(
        self,
        policy: RetentionPolicy | str | None = None,
        *,
        every: DurationLike | None = None,
        progress: SteppedProgress | None = None,
    ) -> Simulation:
        """Replay this scope's log under a policy: what it would have kept and lost, and what was missed.

        Changes nothing. Summaries are not written, so what would be summarized is counted apart.

        Args:
            policy: A policy or a preset's name; None for the one in force.
            every: How often the policy runs; None for its own interval, a day if it only watches a
                budget, a week if nothing sets it off. At most 400 runs: a longer past takes longer steps.
            progress: Called with how many runs are done, and of how many.

        Raises:
            InvalidInputError: It is no policy, or no duration.
        """
        return simulating.simulate(self._engine, self.scope, policy, every, progress)

    def plan_request(
        self, request: str, *, who: str | None = None, session: str | None = None
    ) -> ForgettingPlan | None:
        """Plan what a sentence asks to forget ("forget what I said about X", "别记这个"); None if nothing.

        `who` is the speaker, `session` the conversation that "this" means. Changes no record.
        """
        return asking.plan_request(self._engine, self.scope, request, who, session)

    def plan(self, plan_id: str) -> ForgettingPlan:
        """Read a saved plan."""
        with self._engine.store.read() as reader:
            return planning.load(reader, self.scope, PlanId(listing.check_id(plan_id)))

    def plans(self, limit: int = 20) -> Sequence[PlanId]:
        """List saved plans, newest first."""
        with self._engine.store.read() as reader:
            return reader.plans(self.scope, limit)

    def forget(self, plan: ForgettingPlan | str, *, override_blast_radius: bool = False) -> Receipt:
        """Carry a plan out. What changed or was used since is skipped and reported.

        Raises:
            BlastRadiusError: It removes more than the policy allows in one run.
            ConflictError: It is applied, undone or rejected, or waits for approval.
        """
        return forgetting.apply(
            self._engine, self.scope, plan_id_of(plan), override_blast_radius=override_blast_radius
        )

    def maintain(self) -> Maintenance:
        """Do now what the policy in force would do by itself: plan, carry out, digest what is over.

        Raises:
            ConflictError: Another process is at it.
        """
        done = triggers.run(self._engine, self.scope)
        if done is None:
            message = f"another process maintains {self.scope}; try again in a moment"
            raise ConflictError(message)
        return done

    def pending_plans(self) -> Sequence[ForgettingPlan]:
        """List the plans that wait for a person's approval, oldest first."""
        return reviewing.pending(self._engine, self.scope)

    def approve(self, plan: ForgettingPlan | str) -> ForgettingPlan:
        """Let a plan through that waits for approval; `forget` then carries it out."""
        return reviewing.approve(self._engine, self.scope, plan_id_of(plan))

    def reject(self, plan: ForgettingPlan | str) -> ForgettingPlan:
        """Refuse a plan for good."""
        return reviewing.reject(self._engine, self.scope, plan_id_of(plan))

    def keep(
        self, plan: ForgettingPlan | str, ids: Iterable[str] | str, *, pin: bool = False
    ) -> ForgettingPlan:
        """Take records out of a plan before it is applied; with `pin`, out of all to come as well."""
        return reviewing.keep(self._engine, self.scope, plan_id_of(plan), many(ids), pin=pin)

    def restore(self, what: ForgettingPlan | str | Iterable[str] | None = None) -> Receipt:
        """Undo: a plan (by value or id), records (a list of ids), or the newest applied plan."""
        if what is None:
            return restoring.restore_newest(self._engine, self.scope)
        if isinstance(what, (str, ForgettingPlan)):
            return restoring.restore_plan(self._engine, self.scope, plan_id_of(what))
        return restoring.restore_records(self._engine, self.scope, what)

    def summarize(
        self,
        ids: Iterable[str] | str | None = None,
        *,
        dry_run: bool = False,
        **fields: Unpack[FilterFields],
    ) -> SummaryReport:
        """Make one summary of these records, or of each group on one thing among those that match.

        The sources leave recall and stay reachable (`sources`); `unsummarize` brings them back. A text
        that loses a number, date, name or negation is refused. With `dry_run` nothing is written.
        """
        wanted = None if ids is None else many(ids)
        return summaries.summarize(self._engine, self.scope, wanted, fields, dry_run=dry_run)

    def digest(
        self, period: str = "week", *, now: MomentLike | None = None, dry_run: bool = False
    ) -> SummaryReport:
        """Make one record of the notes of a day, week or month, the one in which `now` lies."""
        return digests.digest(self._engine, self.scope, period, now, dry_run=dry_run)

    def unsummarize(self, summary_id: str) -> Receipt:
        """Take a summary or digest back: its members are live again, itself is deleted."""
        return summaries.unsummarize(self._engine, self.scope, summary_id)

    def sources(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """Read what a record was made from, oldest first: a summary's originals, in one step."""
        return summaries.sources(self._engine, self.scope, record_id)
