"""AsyncMemory: the verbs of `Memory` for programs with an event loop, asyncio or trio.

Every call runs on a worker thread, so the loop goes on while SQLite and the embedder work. Reading and
writing have limits of their own: writers that wait for each other never keep a reader waiting. A call that
is cancelled once it has begun is finished first: nothing is left half-done, nothing written goes unsaid.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Self, TypeVar, Unpack

from anyio import CapacityLimiter, to_thread

from sfams.core.context import ContextBlock
from sfams.core.draft import Draft, DraftFields
from sfams.core.events import MemoryEvent
from sfams.core.moments import MomentLike
from sfams.core.plan import ForgettingPlan, Receipt
from sfams.core.policy import RetentionPolicy
from sfams.core.query import Cursor, RecallResult
from sfams.core.record import MemoryRecord, PlanId
from sfams.core.scope import Scope
from sfams.core.selecting import FilterFields
from sfams.ports import EntityCount, PastVersion, ScopeStats, Summarizer
from sfams.service import health
from sfams.service.memory import Memory
from sfams.service.recalling import RecallFields
from sfams.service.results import (
    EraseReceipt,
    Explanation,
    Listing,
    Progress,
    RememberResult,
    SummaryReport,
)
from sfams.service.sessions import Session
from sfams.service.transfer import ImportReport

READERS = 8
WRITERS = 4
"""Threads for either kind of call. A file has one writer at a time; the others embed meanwhile."""

_LINES = 500

Result = TypeVar("Result")


class _Threads:
    """Where the calls of one opened memory run."""

    def __init__(self) -> None:
        self._readers = CapacityLimiter(READERS)
        self._writers = CapacityLimiter(WRITERS)

    async def read(self, call: Callable[[], Result]) -> Result:
        return await to_thread.run_sync(call, limiter=self._readers)

    async def write(self, call: Callable[[], Result]) -> Result:
        return await to_thread.run_sync(call, limiter=self._writers)


class AsyncMemory:
    """`Memory` with the same verbs, awaited; see there for what each does and raises.

    `async with await sfams.open_async("memory.db", scope="acme/alice") as memory:` closes it at the end.
    """

    def __init__(self, memory: Memory, threads: _Threads | None = None) -> None:
        """Wrap an opened memory; `sfams.open_async` opens one off the loop."""
        self._memory = memory
        self._threads = threads or _Threads()

    def __repr__(self) -> str:
        """Name the scope and the store, never content."""
        return f"Async{self._memory!r}"

    @property
    def scope(self) -> Scope:
        """Whose memory it is."""
        return self._memory.scope

    async def __aenter__(self) -> Self:
        """Use the memory in an `async with` block."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """Finish background work, write the last accesses and let the file go."""
        await self._threads.write(self._memory.close)

    async def flush(self) -> None:
        """Wait for background work and write buffered accesses."""
        await self._threads.write(self._memory.flush)

    def within(self, scope: Scope | str | Iterable[str]) -> AsyncMemory:
        """Work on another scope of the same store; closing either closes both."""
        return AsyncMemory(self._memory.within(scope), self._threads)

    def with_summarizer(self, summarizer: Summarizer) -> AsyncMemory:
        """See `Memory.with_summarizer`."""
        return AsyncMemory(self._memory.with_summarizer(summarizer), self._threads)

    async def scopes(self) -> Sequence[Scope]:
        """List this scope and those below it that hold anything."""
        return await self._threads.read(self._memory.scopes)

    async def session(self, session: str) -> AsyncSession:
        """Begin or continue a conversation: the source of turn counts and session ends."""
        opened = await self._threads.read(partial(self._memory.session, session))
        return AsyncSession(opened, self._threads)

    # Remembering

    async def remember(
        self, content: str, *, wait: bool = True, **fields: Unpack[DraftFields]
    ) -> RememberResult:
        """Store one text with what is known about it."""
        return await self._threads.write(
            partial(self._memory.remember, content, wait=wait, **fields)
        )

    async def remember_many(
        self,
        items: Iterable[str | Draft | Mapping[str, object]],
        *,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> list[RememberResult]:
        """Store many texts, drafts or mappings, in order. `progress` is called on the worker thread."""
        call = partial(self._memory.remember_many, items, wait=wait, progress=progress)
        return await self._threads.write(call)

    async def embed_pending(self, *, progress: Progress | None = None) -> int:
        """Embed records that were stored without a vector; returns how many have one now."""
        return await self._threads.write(partial(self._memory.embed_pending, progress=progress))

    async def update(
        self, record_id: str, *, expected_version: int | None = None, **fields: object
    ) -> MemoryRecord:
        """Change `content` or any field of `remember` but dates of origin and key."""
        call = partial(self._memory.update, record_id, expected_version=expected_version, **fields)
        return await self._threads.write(call)

    async def supersede(self, old: str, new: str) -> None:
        """Say that record `new` takes the place of record `old`."""
        await self._threads.write(partial(self._memory.supersede, old, new))

    async def link(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Relate two records; False when they are so related already."""
        return await self._threads.write(partial(self._memory.link, source, target, relation_type))

    async def unlink(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Remove a relation; False when there was none."""
        call = partial(self._memory.unlink, source, target, relation_type)
        return await self._threads.write(call)

    async def reinforce(
        self, ids: Iterable[str] | str, *, session: str | None = None, outcome: str | None = None
    ) -> int:
        """Confirm that memories were used; each counts at most once per session."""
        call = partial(self._memory.reinforce, ids, session=session, outcome=outcome)
        return await self._threads.write(call)

    # Reading

    async def recall(
        self, query: str | None = None, **fields: Unpack[RecallFields]
    ) -> RecallResult:
        """Find what answers a question, best first; without one, the last accessed or most important."""
        return await self._threads.read(partial(self._memory.recall, query, **fields))

    async def context(
        self, query: str | None = None, *, tokens: int = 1000, **fields: Unpack[RecallFields]
    ) -> ContextBlock:
        """Recall and format for a prompt: under a token budget, fenced as data."""
        call = partial(self._memory.context, query, tokens=tokens, **fields)
        return await self._threads.read(call)

    async def get(self, record_id: str) -> MemoryRecord:
        """Read one record whole; counts no access."""
        return await self._threads.read(partial(self._memory.get, record_id))

    async def list(
        self,
        *,
        limit: int = 50,
        order: str = "created_at",
        descending: bool = True,
        after: Cursor | None = None,
        **fields: Unpack[FilterFields],
    ) -> Listing:
        """List records that match a filter, page by page; counts no access."""
        page = partial(self._memory.list, limit=limit, order=order, descending=descending)
        return await self._threads.read(partial(page, after=after, **fields))

    async def entities(self) -> Sequence[EntityCount]:
        """List the entities of live records, most named first."""
        return await self._threads.read(self._memory.entities)

    async def history(self, record_id: str) -> tuple[MemoryEvent, ...]:
        """Read what happened to a record, oldest first."""
        return await self._threads.read(partial(self._memory.history, record_id))

    async def versions(self, record_id: str) -> Sequence[PastVersion]:
        """Read what a record said before it was changed."""
        return await self._threads.read(partial(self._memory.versions, record_id))

    async def timeline(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """Read every value a statement has had by supersession, oldest first."""
        return await self._threads.read(partial(self._memory.timeline, record_id))

    async def explain(self, subject: str, *, query: str | None = None, k: int = 10) -> Explanation:
        """Tell what became of a memory, by id or by text, and why; with `query`, where it ranks."""
        return await self._threads.read(partial(self._memory.explain, subject, query=query, k=k))

    async def stats(self) -> ScopeStats:
        """Measure the scope."""
        return await self._threads.read(self._memory.stats)

    # Forgetting

    async def plan_forgetting(
        self, policy: RetentionPolicy | str | None = None, **fields: Unpack[FilterFields]
    ) -> ForgettingPlan:
        """Say what a policy (or a preset by name) would forget, and save it. Changes no record."""
        return await self._threads.write(partial(self._memory.plan_forgetting, policy, **fields))

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

    async def delete(
        self, ids: Iterable[str] | str | None = None, **fields: Unpack[FilterFields]
    ) -> Receipt:
        """Delete by ids or by a filter that narrows something; `restore([id, ...])` brings back."""
        return await self._threads.write(partial(self._memory.delete, ids, **fields))

    async def erase(
        self,
        ids: Iterable[str] | str | None = None,
        *,
        everything: bool = False,
        dry_run: bool = False,
        **fields: Unpack[FilterFields],
    ) -> EraseReceipt:
        """Remove for ever, every trace: by ids, by filter, or `everything=True` in this scope."""
        how = partial(self._memory.erase, ids, everything=everything, dry_run=dry_run)
        return await self._threads.write(partial(how, **fields))

    # Protection

    async def pin(self, ids: Iterable[str] | str) -> Receipt:
        """Keep records out of every plan."""
        return await self._threads.write(partial(self._memory.pin, ids))

    async def unpin(self, ids: Iterable[str] | str) -> Receipt:
        """Lift pins."""
        return await self._threads.write(partial(self._memory.unpin, ids))

    async def hold(
        self,
        ids: Iterable[str] | str,
        *,
        owner: str = "",
        reason: str = "",
        until: MomentLike | None = None,
    ) -> Receipt:
        """Forbid any removal, erasure included, until released or until a moment."""
        call = partial(self._memory.hold, ids, owner=owner, reason=reason, until=until)
        return await self._threads.write(call)

    async def release(self, ids: Iterable[str] | str) -> Receipt:
        """Lift holds."""
        return await self._threads.write(partial(self._memory.release, ids))

    # Moving and mending

    async def export(
        self, *, below: bool = False, **fields: Unpack[FilterFields]
    ) -> AsyncIterator[str]:
        """Write records as JSON lines, oldest first; without a filter, every status."""
        lines = await self._threads.read(partial(self._memory.export, below=below, **fields))
        while chunk := await self._threads.read(lambda: [*islice(lines, _LINES)]):
            for line in chunk:
                yield line

    async def import_(
        self,
        lines: Iterable[str],
        *,
        keep_scopes: bool = False,
        erased: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take JSON lines in: our own export whole, or the classic shapes; again adds nothing."""
        how = partial(self._memory.import_, keep_scopes=keep_scopes, erased=erased)
        return await self._threads.write(partial(how, lines, progress=progress))

    async def doctor(self, *, repair: bool = False) -> health.Checkup:
        """Look for damage in the whole store; with `repair`, mend what can be mended."""
        return await self._threads.write(partial(self._memory.doctor, repair=repair))


class AsyncSession:
    """`Session`, awaited: numbers the turns of a conversation and notes its end."""

    def __init__(self, session: Session, threads: _Threads) -> None:
        """Wrap a session; `AsyncMemory.session` makes one."""
        self._session = session
        self._threads = threads

    @property
    def id(self) -> str:
        """Its name."""
        return self._session.id

    @property
    def current(self) -> int:
        """The present turn; 0 before the first."""
        return self._session.current

    async def turn(self) -> int:
        """Begin the next turn; returns its number."""
        return await self._threads.write(self._session.turn)

    async def end(self) -> None:
        """Note that the session is over."""
        await self._threads.write(self._session.end)

    async def __aenter__(self) -> Self:
        """Use the session in an `async with` block."""
        return self

    async def __aexit__(self, *exception: object) -> None:
        """End it."""
        await self.end()
