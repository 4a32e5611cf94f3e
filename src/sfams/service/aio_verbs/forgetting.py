"""Plans, reviews, undo, summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Unpack

from sfams.core.moments import DurationLike, MomentLike
from sfams.core.plan import ForgettingPlan, Receipt
from sfams.core.policy import RetentionPolicy
from sfams.core.record import MemoryRecord, PlanId
from sfams.core.replay import Simulation, SteppedProgress
from sfams.core.selecting import FilterFields
from sfams.service.aio_verbs.base import AsyncVerbs
from sfams.service.policies import InForce
from sfams.service.results import (
    SummaryReport,
)
from sfams.service.triggers import Maintenance


class AsyncForgettingVerbs(AsyncVerbs):
    """Plans, reviews, undo, summaries."""

    async def plan_forgetting(
        self, policy: RetentionPolicy | str | None = None, **fields: Unpack[FilterFields]
    ) -> ForgettingPlan:
        """Say what a policy (or a preset by name) would forget, and save it. Changes no record."""
        return await self._threads.write(partial(self._memory.plan_forgetting, policy, **fields))

    async def policy(self) -> InForce:
        """Tell which policy holds here, and which scope says so."""
        return await self._threads.read(self._memory.policy)

    async def set_policy(self, policy: RetentionPolicy | str | None) -> InForce:
        """Set this scope's own policy, for it and what is below; None: what is above it holds again."""
        return await self._threads.write(partial(self._memory.set_policy, policy))

    async def simulate(
        self,
        policy: RetentionPolicy | str | None = None,
        *,
        every: DurationLike | None = None,
        progress: SteppedProgress | None = None,
    ) -> Simulation:
        """Replay this scope's log under a policy; `progress` is called on a worker thread."""
        run = partial(self._memory.simulate, policy, every=every, progress=progress)
        return await self._threads.read(run)

    async def plan_request(
        self, request: str, *, who: str | None = None, session: str | None = None
    ) -> ForgettingPlan | None:
        """Plan what a sentence asks to forget ("forget what I said about X"); None if nothing."""
        call = partial(self._memory.plan_request, request, who=who, session=session)
        return await self._threads.write(call)

    async def plan(self, plan_id: str) -> ForgettingPlan:
        """Read a saved plan."""
        return await self._threads.read(partial(self._memory.plan, plan_id))

    async def plans(self, limit: int = 20) -> Sequence[PlanId]:
        """List saved plans, newest first."""
        return await self._threads.read(partial(self._memory.plans, limit))

    async def forget(
        self, plan: ForgettingPlan | str, *, override_blast_radius: bool = False
    ) -> Receipt:
        """Carry a plan out. What changed or was used since is skipped and reported."""
        call = partial(self._memory.forget, plan, override_blast_radius=override_blast_radius)
        return await self._threads.write(call)

    async def maintain(self) -> Maintenance:
        """Do now what the policy in force would do by itself: plan, carry out, digest what is over."""
        return await self._threads.write(self._memory.maintain)

    async def pending_plans(self) -> Sequence[ForgettingPlan]:
        """List the plans that wait for a person's approval, oldest first."""
        return await self._threads.read(self._memory.pending_plans)

    async def approve(self, plan: ForgettingPlan | str) -> ForgettingPlan:
        """Let a plan through that waits for approval; `forget` then carries it out."""
        return await self._threads.write(partial(self._memory.approve, plan))

    async def reject(self, plan: ForgettingPlan | str) -> ForgettingPlan:
        """Refuse a plan for good."""
        return await self._threads.write(partial(self._memory.reject, plan))

    async def keep(
        self, plan: ForgettingPlan | str, ids: Iterable[str] | str, *, pin: bool = False
    ) -> ForgettingPlan:
        """Take records out of a plan before it is applied; with `pin`, out of all to come as well."""
        return await self._threads.write(partial(self._memory.keep, plan, ids, pin=pin))

    async def restore(self, what: ForgettingPlan | str | Iterable[str] | None = None) -> Receipt:
        """Undo: a plan (by value or id), records (a list of ids), or the newest applied plan."""
        return await self._threads.write(partial(self._memory.restore, what))

    async def summarize(
        self,
        ids: Iterable[str] | str | None = None,
        *,
        dry_run: bool = False,
        **fields: Unpack[FilterFields],
    ) -> SummaryReport:
        """See `Memory.summarize`."""
        run = partial(self._memory.summarize, ids, dry_run=dry_run, **fields)
        return await self._threads.write(run)

    async def digest(
        self, period: str = "week", *, now: MomentLike | None = None, dry_run: bool = False
    ) -> SummaryReport:
        """See `Memory.digest`."""
        run = partial(self._memory.digest, period, now=now, dry_run=dry_run)
        return await self._threads.write(run)

    async def unsummarize(self, summary_id: str) -> Receipt:
        """See `Memory.unsummarize`."""
        return await self._threads.write(partial(self._memory.unsummarize, summary_id))

    async def sources(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """See `Memory.sources`."""
        return await self._threads.read(partial(self._memory.sources, record_id))
