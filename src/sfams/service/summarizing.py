"""Summarizing: groups -> read originals -> a checked text -> embedded -> one transaction, undoable.

Texts are written and embedded while no transaction is open. A group is carried out whole or not at all,
and what changed in between makes it be left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from sfams.core.admission import content_hash
from sfams.core.draft import Draft
from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.extracting import completed, extract
from sfams.core.fidelity import missing
from sfams.core.indexing import passage_of, terms_of
from sfams.core.lifecycle import restore_transition
from sfams.core.record import (
    EmbeddingState,
    JsonValue,
    MemoryRecord,
    PlanId,
    RecordId,
    Sensitivity,
    Status,
)
from sfams.core.scope import Scope
from sfams.core.summarizing import (
    Group,
    Purpose,
    SummaryRequest,
    SummaryText,
    draft_of,
    is_summary,
    originals,
    request_of,
)
from sfams.core.text import count_tokens, language_of
from sfams.ports import Entry, Reader, Summarizer, Transaction, Transition
from sfams.service.embedding import claim_model, embed_passages
from sfams.service.engine import Engine, logger

SHARE = 0.4
"""Share of its sources' tokens that a summary is asked to cost."""
RULES = "rules"
"""Who wrote a summary for which no model was asked, or was refused."""


@dataclass(frozen=True, slots=True)
class Written:
    """A checked text for a group, or why there is none.

    `refused` says why the summarizer's own text was not taken, "" if it was.
    """

    text: SummaryText | None
    summarizer: str = RULES
    refused: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A group with the record that may take its place; without an entry it is left alone."""

    group: Group
    written: Written
    entry: Entry | None = None

    @property
    def reason(self) -> str:
        """Why the group is left alone."""
        return self.written.reason


@dataclass(frozen=True, slots=True)
class Changes:
    """What carries a group out (or takes it back): to be written in one transaction, in this order.

    With a `reason` there is nothing to write: it says why the group is left alone. `skipped` names
    records that stay as they are.
    """

    transitions: tuple[Transition, ...] = ()
    entries: tuple[Entry, ...] = ()
    events: tuple[MemoryEvent, ...] = ()
    skipped: Mapping[RecordId, str] = field(default_factory=dict)
    reason: str = ""

    def write(self, transaction: Transaction, scope: Scope, now: datetime) -> None:
        """Write them: what makes room first, for a summary may say what one of its sources says."""
        transaction.transition(scope, self.transitions, now)
        transaction.insert(self.entries)
        transaction.append(scope, self.events)
        back = [e.record_id for e in self.events if e.type is EventType.RESTORED]
        transaction.note_return(scope, [each for each in back if each is not None], now)


# ── Before the transaction ────────────────────────────────────────────────────────────────────────


def with_originals(
    reader: Reader, scope: Scope, groups: Sequence[Group]
) -> tuple[list[Group], dict[RecordId, str]]:
    """Give each group the texts it is written from; a group that may not read them is left out."""
    ready: list[Group] = []
    left: dict[RecordId, str] = {}
    for group in groups:
        wanted = [i for each in group.members if is_summary(each) for i in each.derived_from]
        known = {each.id: each for each in reader.get(scope, wanted)} if wanted else {}
        sources = originals(group.members, known)
        if sources is None:
            left |= dict.fromkeys((each.id for each in group.members), "its originals are gone")
        else:
            ready.append(replace(group, sources=sources))
    return ready, left


def prepare(
    engine: Engine,
    scope: Scope,
    groups: Sequence[Group],
    *,
    purpose: Purpose = Purpose.GROUP,
    title: str = "",
    more: Mapping[str, JsonValue] | None = None,
) -> list[Prepared]:
    """Write and embed the summaries of groups. No transaction may be open.

    Args:
        engine: The engine; its summarizer is asked, the rules step in.
        scope: Whose memories they are.
        groups: Groups with their originals (`with_originals`).
        purpose: What the summaries are for.
        title: First line of each text.
        more: Further metadata of each record.
    """
    written = [_write(engine, group, purpose, title) for group in groups]
    drafts = [
        None
        if each.text is None
        else draft_of(group, each.text, summarizer=each.summarizer, more=more)
        for group, each in zip(groups, written, strict=True)
    ]
    now = engine.now()
    records = [None if draft is None else _record(engine, scope, draft, now) for draft in drafts]
    there = [record for record in records if record is not None]
    embedded = embed_passages(engine, [passage_of(record) for record in there])
    entries = {
        record.id: Entry(replace(record, embedding=state), terms_of(record), vector)
        for record, state, vector in zip(there, embedded.states, embedded.vectors, strict=True)
    }
    return [
        Prepared(group, each, None if record is None else entries[record.id])
        for group, each, record in zip(groups, written, records, strict=True)
    ]


def _write(engine: Engine, group: Group, purpose: Purpose, title: str) -> Written:
    """Have a summary written and check it; a text that loses something is refused and counted.

    What is sensitive is handed to the rules alone: a model may be another program's.
    """
    language = language_of("\n".join(record.content for record in group.sources))
    request = request_of(group, language, SHARE, purpose)
    secret = any(each.sensitivity is Sensitivity.SENSITIVE for each in group.sources)
    summarizer = None if secret else engine.summarizer
    name = RULES if summarizer is None else summarizer.name
    made, refused = (None, "") if summarizer is None else _asked(summarizer, request)
    if made is None and (summarizer is None or name != RULES):
        made, name = extract(request), RULES
    if made is None:
        return Written(
            None, refused=refused, reason="a summary would lose something or save nothing"
        )
    if title:
        made = SummaryText("\n".join(filter(None, (title, made.text))), made.facts)
    if count_tokens(made.content) >= group.tokens:
        return Written(None, refused=refused, reason="a summary would not be shorter")
    return Written(made, name, refused)


def _asked(summarizer: Summarizer, request: SummaryRequest) -> tuple[SummaryText | None, str]:
    """Ask a summarizer; returns its text if it may stand, else why not."""
    try:
        given = summarizer.summarize(request)
    except Exception as error:  # noqa: BLE001  foreign code: the rules step in, whatever it does
        logger.warning("the summarizer %s failed: %s", summarizer.name, error)
        return None, f"failed: {type(error).__name__}"
    if given is None:
        return None, "gave up"
    made = completed(request, given)
    return made, "" if made is not None else _loss(request, given)


def _loss(request: SummaryRequest, given: SummaryText) -> str:
    texts = [each.content for each in request.sources]
    counts = Counter(loss.type.value for loss in missing(texts, given.content, names=request.names))
    told = ", ".join(f"{number} {kind}s" for kind, number in sorted(counts.items()))
    return f"loses {told}" if told else "not shorter than its sources"


def _record(engine: Engine, scope: Scope, draft: Draft, now: datetime) -> MemoryRecord:
    kind = draft.kind or ""
    return MemoryRecord(
        id=engine.record_id(),
        scope=scope,
        content=draft.content,
        content_hash=content_hash(draft, kind),
        kind=kind,
        importance=draft.importance or 0.0,
        created_at=draft.created_at or now,
        recorded_at=now,
        updated_at=now,
        entities=draft.entities,
        tags=draft.tags,
        metadata=draft.metadata,
        source=draft.source,
        derived_from=draft.derived_from,
        trust=draft.trust,
        sensitivity=draft.sensitivity or Sensitivity.NORMAL,
        language=language_of(draft.content),
        tokens=count_tokens(draft.content),
    )


# ── Inside the transaction ────────────────────────────────────────────────────────────────────────


def summarize_group(
    engine: Engine,
    transaction: Transaction,
    prepared: Prepared,
    now: datetime,
    plan_id: PlanId | None = None,
) -> Changes:
    """Find out what carries a prepared group out, as things stand under the write lock.

    Nothing is written yet (`Changes.write`). A member that changed, or became protected, or a source
    that was changed or deleted since it was read, leaves the whole group alone.
    """
    entry, group = prepared.entry, prepared.group
    if entry is None:
        return Changes(reason=prepared.reason)
    scope = entry.record.scope
    obstacle = _obstacle(transaction, scope, group)
    if not obstacle:
        double = transaction.by_hash(scope, [entry.record.content_hash])
        taken = set(double.values()) - {member.id for member in group.members}
        obstacle = f"{taken.pop()} says the same already" if taken else ""
    if obstacle:
        return Changes(reason=obstacle)
    if entry.vector is not None and not claim_model(engine, transaction):
        pending = replace(entry.record, embedding=EmbeddingState.PENDING)
        entry = replace(entry, record=pending, vector=None)
    return Changes(
        transitions=tuple(
            Transition(member.id, status=Status.SUMMARIZED) for member in group.members
        ),
        entries=(entry,),
        events=_events(entry.record, prepared, now, plan_id),
    )


def _obstacle(reader: Reader, scope: Scope, group: Group) -> str:
    present = {
        each.id: each
        for each in reader.get(scope, [each.id for each in (*group.members, *group.sources)])
    }
    for known in (*group.members, *group.sources):
        found = present.get(known.id)
        if found is None or found.version != known.version:
            return f"{known.id} has changed meanwhile"
        if found.held or found.pinned:
            return f"{known.id} is {'held' if found.held else 'pinned'}"
    return ""


def _events(
    record: MemoryRecord, prepared: Prepared, now: datetime, plan_id: PlanId | None
) -> tuple[MemoryEvent, ...]:
    members = prepared.group.members
    detail: dict[str, JsonValue] = {
        "outcome": "summary",
        "summarizer": prepared.written.summarizer,
        "members": {member.id: member.version + 1 for member in members},
    }
    if prepared.written.refused:
        detail["refused"] = prepared.written.refused
    actor = Actor.USER if plan_id is None else Actor.POLICY
    made = MemoryEvent(
        type=EventType.REMEMBERED,
        at=now,
        record_id=record.id,
        actor=actor,
        plan_id=plan_id,
        detail=detail,
    )
    return made, *(
        MemoryEvent(
            type=EventType.SUMMARIZED,
            at=now,
            record_id=member.id,
            actor=actor,
            plan_id=plan_id,
            detail={"by": record.id},
        )
        for member in members
    )


def undo_group(
    transaction: Transaction,
    scope: Scope,
    summary: MemoryRecord,
    now: datetime,
    plan_id: PlanId | None = None,
) -> Changes:
    """Find out what takes a summary back: its members live again, itself deleted (restorable).

    Members that changed since, or whose text is live in another record, stay as they are and are
    reported. So is the summary if somebody edited, protected or summarized it meanwhile, or if nothing of
    what it stands for would be live without it. Nothing is written yet.
    """
    versions = _members(transaction, scope, summary)
    records = transaction.get(scope, list(versions))
    live = dict(transaction.by_hash(scope, [record.content_hash for record in records]))
    live = {key: holder for key, holder in live.items() if holder != summary.id}
    skipped = dict.fromkeys(versions.keys() - {record.id for record in records}, "erased")
    back: list[Transition] = []
    for record in records:
        obstacle = _stays(record, versions[record.id], live)
        if obstacle:
            skipped[record.id] = obstacle
        else:
            live[record.content_hash] = record.id
            back.append(restore_transition(record, now))
    standing = back or any(each.content_hash in live for each in records)
    own = _own_obstacle(transaction, summary) or ("" if standing else "nothing to bring back")
    events = [
        MemoryEvent(type=EventType.RESTORED, at=now, record_id=each.id, plan_id=plan_id)
        for each in back
    ]
    if own:
        return Changes(tuple(back), (), tuple(events), {**skipped, summary.id: own})
    withdrawn = MemoryEvent(
        type=EventType.DELETED,
        at=now,
        record_id=summary.id,
        plan_id=plan_id,
        detail={"reason": "its sources are back"},
    )
    first = Transition(summary.id, status=Status.DELETED)
    return Changes((first, *back), (), (withdrawn, *events), skipped)


def _stays(record: MemoryRecord, version: int | None, live: Mapping[str, RecordId]) -> str:
    """Say why a member is not brought back; "" if it is."""
    if record.status is not Status.SUMMARIZED or version not in (None, record.version):
        return "changed since"
    double = live.get(record.content_hash, record.id)
    return "" if double == record.id else f"duplicate of {double}"


def _members(reader: Reader, scope: Scope, summary: MemoryRecord) -> dict[RecordId, int | None]:
    """Read from the log which records a summary took the place of, and their versions after it.

    A summary that was imported has no such log: its sources are all that is known.
    """
    for event in reader.history(scope, [summary.id]):
        told = event.detail.get("members")
        if event.type is EventType.REMEMBERED and isinstance(told, dict):
            return {
                RecordId(member): version
                for member, version in told.items()
                if isinstance(version, int)
            }
    return dict.fromkeys(summary.derived_from)


def summaries_of(reader: Reader, scope: Scope, ids: Sequence[RecordId]) -> dict[RecordId, RecordId]:
    """Name the summary that last took the place of each of these records, if one did."""
    return {
        record_id: RecordId(by)
        for record_id in ids
        for event in reader.history(scope, [record_id])
        if event.type is EventType.SUMMARIZED and isinstance(by := event.detail.get("by"), str)
    }


def _own_obstacle(reader: Reader, summary: MemoryRecord) -> str:
    if summary.status is not Status.LIVE:
        return f"is {summary.status}"
    if summary.held or summary.pinned:
        return "held" if summary.held else "pinned"
    return "changed since" if reader.versions(summary.scope, summary.id) else ""
