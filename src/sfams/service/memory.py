"""Memory: the verbs of SF-AMS over one scope. A thin facade; each verb calls one use-case module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Self, TypeVar, Unpack

from sfams.core.context import ContextBlock
from sfams.core.draft import Draft, DraftFields, draft_from_mapping, make_draft
from sfams.core.events import MemoryEvent
from sfams.core.plan import ForgettingPlan, Receipt
from sfams.core.policy import RetentionPolicy
from sfams.core.query import Cursor, RecallResult
from sfams.core.record import MemoryRecord, PlanId, RecordId
from sfams.core.scope import Scope
from sfams.core.selecting import FilterFields, make_filter
from sfams.errors import InvalidInputError
from sfams.ports import EntityCount, PastVersion, ScopeStats
from sfams.service import (
    asking,
    dossier,
    erasing,
    explaining,
    forgetting,
    health,
    linking,
    listing,
    offrecord,
    pending,
    protecting,
    recalling,
    receipts,
    remembering,
    restoring,
    superseding,
    transfer,
    updating,
)
from sfams.service.engine import Engine
from sfams.service.reach import EraseFields
from sfams.service.recalling import RecallFields
from sfams.service.results import (
    EraseReceipt,
    ErasureLog,
    Explanation,
    Listing,
    Progress,
    RememberResult,
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

    def scopes(self) -> Sequence[Scope]:
        """List this scope and those below it that hold anything."""
        with self._engine.store.read() as reader:
            return reader.scopes(self.scope)

    def session(self, session: str, *, off_the_record: bool = False) -> Session:
        """Begin or continue a conversation: the source of turn counts and session ends.

        Off the record, nothing that names the session is stored by this process until it ends.
        """
        return Session(self._engine, self.scope, session, off_the_record=off_the_record)

    def off_the_record(self) -> Memory:
        """Read on without leaving a trace: nothing told to it is stored, nothing recalled is counted."""
        return Memory(offrecord.off_the_record(self._engine), self.scope)

    # Remembering

    def remember(
        self, content: str, *, wait: bool = True, **fields: Unpack[DraftFields]
    ) -> RememberResult:
        """Store one text with what is known about it; what is not given is estimated.

        A text known already is not stored again (`outcome` "duplicate", the known id). One with the
        `subject` and `attribute` of a live record and another `value` supersedes it. With `wait=False`
        the text is durable on return, its vector follows. What was erased here, or is off the record, is
        not stored: `stored` is False, `outcome` and `warnings` say why.

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
            pending.follow_up(self._engine, self.scope, [each for each in results if each.stored])
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

    def plan_forgetting(self, policy: RetentionPolicy | str | None = None) -> ForgettingPlan:
        """Say what a policy (or a preset by name) would forget, and save it. Changes no record."""
        return forgetting.plan(self._engine, self.scope, policy)

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
            return forgetting.load(reader, self.scope, PlanId(listing.check_id(plan_id)))

    def plans(self, limit: int = 20) -> Sequence[PlanId]:
        """List saved plans, newest first."""
        with self._engine.store.read() as reader:
            return reader.plans(self.scope, limit)

    def forget(self, plan: ForgettingPlan | str, *, override_blast_radius: bool = False) -> Receipt:
        """Carry a plan out. What changed or was used since is skipped and reported.

        Raises:
            BlastRadiusError: It deletes more than the policy's `max_share` of the scope.
        """
        plan_id = PlanId(listing.check_id(plan if isinstance(plan, str) else plan.id))
        return forgetting.apply(
            self._engine, self.scope, plan_id, override_blast_radius=override_blast_radius
        )

    def restore(self, what: ForgettingPlan | str | Iterable[str] | None = None) -> Receipt:
        """Undo: a plan (by value or id), records (a list of ids), or the newest applied plan."""
        if what is None:
            return restoring.restore_newest(self._engine, self.scope)
        if isinstance(what, (str, ForgettingPlan)):
            plan_id = PlanId(listing.check_id(what if isinstance(what, str) else what.id))
            return restoring.restore_plan(self._engine, self.scope, plan_id)
        return restoring.restore_records(self._engine, self.scope, what)

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
        **fields: Unpack[EraseFields],
    ) -> EraseReceipt:
        """Remove for ever, every trace: by ids, subject, identifier or filter, or `everything=True`.

        `dry_run` previews: what would go, by category. See `EraseFields`.
        """
        given = None if ids is None else _many(ids)
        what = erasing.wanted(given, fields, everything=everything)
        return erasing.erase(self._engine, self.scope, what, dry_run=dry_run)

    def erasures(self) -> ErasureLog:
        """Read the receipts of all erasures in this scope, and whether their chain is whole."""
        return receipts.erasures(self._engine, self.scope)

    def lift(self, what: str) -> tuple[RecordId, ...]:
        """Let an erased text be stored again: by the erased record's id, or by the text."""
        return receipts.lift(self._engine, self.scope, what)

    # Protection

    def pin(self, ids: Iterable[str] | str) -> Receipt:
        """Keep records out of every plan."""
        return protecting.protect(self._engine, self.scope, _many(ids), pinned=True)

    def unpin(self, ids: Iterable[str] | str) -> Receipt:
        """Lift pins."""
        return protecting.protect(self._engine, self.scope, _many(ids), pinned=False)

    def hold(self, ids: Iterable[str] | str) -> Receipt:
        """Forbid any removal, erasure included, until released."""
        return protecting.protect(self._engine, self.scope, _many(ids), held=True)

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

    def export_subject(self, **fields: Unpack[EraseFields]) -> Iterator[str]:
        """Write all that is held on a subject as JSON lines: records of every status, versions, log."""
        return dossier.subject_lines(self._engine, self.scope, fields)

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


def _many(ids: Iterable[str] | str) -> list[str]:
    return [ids] if isinstance(ids, str) else [*ids]


def _to_draft(item: str | Draft | Mapping[str, object]) -> Draft:
    if isinstance(item, Draft):
        return item
    return make_draft(item, {}) if isinstance(item, str) else draft_from_mapping(item)
