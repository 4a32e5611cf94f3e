"""Memory: the verbs of SF-AMS over one scope. A thin facade; each verb calls one use-case module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Self, TypeVar, Unpack

from sfams.core.context import ContextBlock
from sfams.core.draft import Draft, DraftFields, draft_from_mapping, make_draft
from sfams.core.events import MemoryEvent
from sfams.core.moments import MomentLike
from sfams.core.plan import ForgettingPlan, Receipt
from sfams.core.policy import RetentionPolicy
from sfams.core.query import Cursor, RecallResult
from sfams.core.record import MemoryRecord, PlanId
from sfams.core.scope import Scope
from sfams.core.selecting import FilterFields, make_filter
from sfams.errors import InvalidInputError
from sfams.ports import EntityCount, PastVersion, ScopeStats, Summarizer
from sfams.service import (
    digests,
    erasing,
    explaining,
    forgetting,
    health,
    linking,
    listing,
    pending,
    planning,
    protecting,
    recalling,
    remembering,
    restoring,
    reviewing,
    summaries,
    superseding,
    transfer,
    updating,
)
from sfams.service.engine import Engine
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

Item = TypeVar("Item")


class Memory:
    """The long-term memory of one scope. Threads may share it; processes may share its file.

    `with sfams.open("memory.db", scope="acme/alice") as memory:` closes it at the end. Every verb works
    on this scope alone; `memory.within("acme/bob")` is another scope over the same store.
    """

    def __init__(self, engine: Engine, scope: Scope) -> None:
        """Bind the wired engine to a scope; `sfams.open` does the wiring."""
        self._engine = engine
        self.scope = scope

    def __repr__(self) -> str:
        """Name the scope and the store, never content."""
        return f"Memory(scope={str(self.scope)!r}, store={self._engine.store.location!r})"

    def __enter__(self) -> Self:
        """Use the memory in a `with` block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Finish background work, write the last accesses and let the file go."""
        self._engine.close()

    def flush(self) -> None:
        """Wait for background work and write buffered accesses."""
        self._engine.background.drain()
        self._engine.flush_usage()

    def within(self, scope: Scope | str | Iterable[str]) -> Memory:
        """Work on another scope of the same store; closing either closes both."""
        return Memory(self._engine, Scope(scope))

    def with_summarizer(self, summarizer: Summarizer) -> Memory:
        """Have somebody else write summaries, such as a language model; closing either closes both."""
        return Memory(replace(self._engine, summarizer=summarizer), self.scope)

    def scopes(self) -> Sequence[Scope]:
        """List this scope and those below it that hold anything."""
        with self._engine.store.read() as reader:
            return reader.scopes(self.scope)

    def session(self, session: str) -> Session:
        """Begin or continue a conversation: the source of turn counts and session ends."""
        return Session(self._engine, self.scope, session)

    # Remembering

    def remember(
        self, content: str, *, wait: bool = True, **fields: Unpack[DraftFields]
    ) -> RememberResult:
        """Store one text with what is known about it; what is not given is estimated.

        A text known already is not stored again (`outcome` "duplicate", the known id). One with the
        `subject` and `attribute` of a live record and another `value` supersedes it. With `wait=False`
        the text is durable on return, its vector follows.

        Raises:
            InvalidInputError: Blank or over-long text, unknown field or bad value, by name.
            ConflictError: `supersedes` names a record that is not live.
        """
        return self.remember_many([make_draft(content, fields)], wait=wait)[0]

    def remember_many(
        self,
        items: Iterable[str | Draft | Mapping[str, object]],
        *,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> list[RememberResult]:
        """Store many texts, drafts or mappings, in order; all are checked before the first is stored.

        Each 64 are one transaction; `progress` is called with the number done since its last call.
        """
        drafts = [_to_draft(item) for item in _not_text(items, "items")]
        results = remembering.remember_many(
            self._engine, self.scope, drafts, wait=wait, progress=progress
        )
        if wait:
            pending.follow_up(self._engine, self.scope, results)
        else:
            self._engine.background.submit(partial(pending.catch_up, self._engine, self.scope))
        return results

    def embed_pending(self, *, progress: Progress | None = None) -> int:
        """Embed records that were stored without a vector; returns how many have one now."""
        return pending.embed_pending(self._engine, self.scope, progress)

    def update(
        self, record_id: str, *, expected_version: int | None = None, **fields: object
    ) -> MemoryRecord:
        """Change `content` or any field of `remember` but dates of origin and key.

        New text is embedded anew; what was said before stays in `versions`. With `expected_version` a
        change by somebody else is a ConflictError instead of being overwritten.
        """
        return updating.update(self._engine, self.scope, record_id, expected_version, fields)

    def supersede(self, old: str, new: str) -> None:
        """Say that record `new` takes the place of record `old`."""
        superseding.supersede(self._engine, self.scope, old, new)

    def link(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Relate two records; False when they are so related already."""
        return linking.link(self._engine, self.scope, source, target, relation_type)

    def unlink(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Remove a relation; False when there was none."""
        return linking.unlink(self._engine, self.scope, source, target, relation_type)

    def reinforce(
        self, ids: Iterable[str] | str, *, session: str | None = None, outcome: str | None = None
    ) -> int:
        """Confirm that memories were used; each counts at most once per session. Returns how many."""
        return linking.reinforce(self._engine, self.scope, _many(ids), session, outcome)

    # Reading

    def recall(self, query: str | None = None, **fields: Unpack[RecallFields]) -> RecallResult:
        """Find what answers a question, best first; without one, the last accessed or most important.

        Every returned record counts one access (once per `turn` where one is given). Counting is
        buffered: reading writes nothing. See `RecallFields` for k, mode and filters.
        """
        return recalling.recall(self._engine, self.scope, query, fields)

    def context(
        self, query: str | None = None, *, tokens: int = 1000, **fields: Unpack[RecallFields]
    ) -> ContextBlock:
        """Recall and format for a prompt: under a token budget, fenced as data."""
        return recalling.context(self._engine, self.scope, query, tokens, fields)

    def get(self, record_id: str) -> MemoryRecord:
        """Read one record whole; counts no access."""
        return listing.get(self._engine, self.scope, record_id)

    def list(
        self,
        *,
        limit: int = 50,
        order: str = "created_at",
        descending: bool = True,
        after: Cursor | None = None,
        **fields: Unpack[FilterFields],
    ) -> Listing:
        """List records that match a filter, page by page; counts no access."""
        page = listing.make_page(limit, order, after, descending=descending)
        return listing.list_records(self._engine, self.scope, page, fields)

    def entities(self) -> Sequence[EntityCount]:
        """List the entities of live records, most named first."""
        return listing.entities(self._engine, self.scope)

    def history(self, record_id: str) -> tuple[MemoryEvent, ...]:
        """Read what happened to a record, oldest first."""
        return listing.history(self._engine, self.scope, record_id)

    def versions(self, record_id: str) -> Sequence[PastVersion]:
        """Read what a record said before it was changed."""
        return listing.versions(self._engine, self.scope, record_id)

    def timeline(self, record_id: str) -> tuple[MemoryRecord, ...]:
        """Read every value a statement has had by supersession, oldest first."""
        return listing.chain(self._engine, self.scope, record_id)

    def explain(self, subject: str, *, query: str | None = None, k: int = 10) -> Explanation:
        """Tell what became of a memory, by id or by text, and why; with `query`, where it ranks."""
        return explaining.explain(self._engine, self.scope, subject, query, k)

    def stats(self) -> ScopeStats:
        """Measure the scope."""
        return listing.stats(self._engine, self.scope)

    # Forgetting

    def plan_forgetting(
        self, policy: RetentionPolicy | str | None = None, **fields: Unpack[FilterFields]
    ) -> ForgettingPlan:
        """Say what a policy (or a preset by name) would forget, and save it. Changes no record.

        With a filter (`session="s1"`, `kinds=["dialogue"]`, ...) only matching records may be taken.
        """
        request = planning.PlanRequest(policy=policy, where=fields)
        return planning.plan(self._engine, self.scope, request)

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
            self._engine, self.scope, _plan_id(plan), override_blast_radius=override_blast_radius
        )

    def pending_plans(self) -> Sequence[ForgettingPlan]:
        """List the plans that wait for a person's approval, oldest first."""
        return reviewing.pending(self._engine, self.scope)

    def approve(self, plan: ForgettingPlan | str) -> ForgettingPlan:
        """Let a plan through that waits for approval; `forget` then carries it out."""
        return reviewing.approve(self._engine, self.scope, _plan_id(plan))

    def reject(self, plan: ForgettingPlan | str) -> ForgettingPlan:
        """Refuse a plan for good."""
        return reviewing.reject(self._engine, self.scope, _plan_id(plan))

    def keep(
        self, plan: ForgettingPlan | str, ids: Iterable[str] | str, *, pin: bool = False
    ) -> ForgettingPlan:
        """Take records out of a plan before it is applied; with `pin`, out of all to come as well."""
        return reviewing.keep(self._engine, self.scope, _plan_id(plan), _many(ids), pin=pin)

    def restore(self, what: ForgettingPlan | str | Iterable[str] | None = None) -> Receipt:
        """Undo: a plan (by value or id), records (a list of ids), or the newest applied plan."""
        if what is None:
            return restoring.restore_newest(self._engine, self.scope)
        if isinstance(what, (str, ForgettingPlan)):
            return restoring.restore_plan(self._engine, self.scope, _plan_id(what))
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
        wanted = None if ids is None else _many(ids)
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

    def delete(
        self, ids: Iterable[str] | str | None = None, **fields: Unpack[FilterFields]
    ) -> Receipt:
        """Delete by ids or by a filter that narrows something; `restore([id, ...])` brings back."""
        wanted = None if ids is None else _many(ids)
        return protecting.delete(self._engine, self.scope, wanted, fields)

    def erase(
        self,
        ids: Iterable[str] | str | None = None,
        *,
        everything: bool = False,
        dry_run: bool = False,
        **fields: Unpack[FilterFields],
    ) -> EraseReceipt:
        """Remove for ever, every trace: by ids, by filter, or `everything=True` in this scope."""
        if everything:
            if ids is not None or fields:
                message = "erase: everything=True takes no ids and no filter"
                raise InvalidInputError(message, field="everything")
            return erasing.erase_scope(self._engine, self.scope, dry_run=dry_run)
        wanted = None if ids is None else _many(ids)
        return erasing.erase(self._engine, self.scope, wanted, fields, dry_run=dry_run)

    # Protection

    def pin(self, ids: Iterable[str] | str) -> Receipt:
        """Keep records out of every plan."""
        return protecting.protect(self._engine, self.scope, _many(ids), pinned=True)

    def unpin(self, ids: Iterable[str] | str) -> Receipt:
        """Lift pins."""
        return protecting.protect(self._engine, self.scope, _many(ids), pinned=False)

    def hold(
        self,
        ids: Iterable[str] | str,
        *,
        owner: str = "",
        reason: str = "",
        until: MomentLike | None = None,
    ) -> Receipt:
        """Forbid any removal, erasure included, until released or until a moment."""
        wish = protecting.make_hold(owner, reason, until)
        return protecting.protect(self._engine, self.scope, _many(ids), held=True, hold=wish)

    def release(self, ids: Iterable[str] | str) -> Receipt:
        """Lift holds."""
        return protecting.protect(self._engine, self.scope, _many(ids), held=False)

    # Moving and mending

    def export(self, *, below: bool = False, **fields: Unpack[FilterFields]) -> Iterator[str]:
        """Write records as JSON lines, oldest first; without a filter, every status.

        With `below` also those of the scopes below this one; each line names its scope.
        """
        selection = make_filter({"status": ["all"], "expired": True, **fields})
        scopes = self.scopes() if below else [self.scope]
        return transfer.export_lines(self._engine, scopes, selection)

    def import_(
        self,
        lines: Iterable[str],
        *,
        keep_scopes: bool = False,
        erased: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take JSON lines in: our own export whole, or the classic shapes; again adds nothing.

        Exported records keep ids, dates, use, links and earlier versions; they go into this scope, or with
        `keep_scopes` into their own (this one or below it), and wait for a vector (`embed_pending`). A
        text that was erased here is refused unless `erased` lets it back in.
        """
        rules = transfer.ImportRules(keep_scopes=keep_scopes, erased=erased)
        given = _not_text(lines, "lines")
        return transfer.import_lines(self._engine, self.scope, given, rules, progress)

    def doctor(self, *, repair: bool = False) -> health.Checkup:
        """Look for damage in the whole store; with `repair`, mend what can be mended."""
        return health.check(self._engine, repair=repair)


def _not_text(items: Iterable[Item], field: str) -> Iterable[Item]:
    """Refuse one text where several are expected: its letters are not what was meant."""
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        message = f"{field}: expected a list, got {type(items).__name__}"
        raise InvalidInputError(message, field=field)
    return items


def _plan_id(plan: ForgettingPlan | str) -> PlanId:
    return PlanId(listing.check_id(plan if isinstance(plan, str) else plan.id))


def _many(ids: Iterable[str] | str) -> list[str]:
    return [ids] if isinstance(ids, str) else [*ids]


def _to_draft(item: str | Draft | Mapping[str, object]) -> Draft:
    if isinstance(item, Draft):
        return item
    return make_draft(item, {}) if isinstance(item, str) else draft_from_mapping(item)
