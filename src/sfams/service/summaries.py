"""Summaries by hand: make them, take them back, and find the way to their originals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from sfams.core.events import MemoryEvent
from sfams.core.plan import Receipt
from sfams.core.record import MemoryRecord, Sensitivity, Status
from sfams.core.scope import Scope
from sfams.core.selecting import make_filter
from sfams.core.summarizing import Group, GroupBy, Grouping, group, is_summary
from sfams.errors import ConflictError, InvalidInputError, RecordProtectedError
from sfams.ports import Reader
from sfams.service.engine import Engine
from sfams.service.listing import check_id, fetch
from sfams.service.results import Summary, SummaryReport
from sfams.service.summarizing import (
    Prepared,
    prepare,
    summarize_group,
    undo_group,
    with_originals,
)

_LEAST = 2


def summarize(
    engine: Engine,
    scope: Scope,
    ids: Iterable[str] | None,
    fields: Mapping[str, object],
    *,
    dry_run: bool,
) -> SummaryReport:
    """Make one summary of the records named by id, or several of all that match a filter.

    Without ids the records are grouped by entity, session or day, and those that must stand for
    themselves (see `core.summarizing.unfit`) are left. With ids whatever is live and not protected goes.

    Raises:
        InvalidInputError: Both ids and a filter, or fewer than two ids.
        NotFoundError: An id is not in this scope.
        ConflictError: A named record is not live.
        RecordProtectedError: A named record is pinned or held.
    """
    wanted = None if ids is None else [check_id(value) for value in ids]
    if wanted is not None and (fields or len(set(wanted)) < _LEAST):
        message = "summarize: give at least two ids, or a filter, or neither"
        raise InvalidInputError(message, field="ids")
    now = engine.now()
    with engine.store.read() as reader:
        if wanted is None:
            matching = sorted(reader.matching(scope, make_filter(fields), now))
            grouping = group(reader.get(scope, matching))
        else:
            grouping = Grouping((_by_hand(fetch(reader, scope, wanted)),))
        groups, left = with_originals(reader, scope, grouping.groups)
    prepared = prepare(engine, scope, groups)
    report = SummaryReport(at=now, left={**grouping.left, **left}, dry_run=dry_run)
    if dry_run:
        return replace(report, summaries=tuple(map(shown, prepared)))
    return replace(report, summaries=carry_out(engine, scope, prepared, now))


def _by_hand(records: Sequence[MemoryRecord]) -> Group:
    protected = [record.id for record in records if record.pinned or record.held]
    if protected:
        message = f"pinned or held: {', '.join(protected)}; unpin or release first"
        raise RecordProtectedError(message, ids=protected)
    others = [record.id for record in records if record.status is not Status.LIVE]
    if others:
        message = f"not live: {', '.join(others)}; restore first"
        raise ConflictError(message, ids=others)
    members = tuple(sorted(records, key=lambda each: (each.created_at, each.id)))
    return Group(by=GroupBy.HAND, on="", members=members, sources=members)


def carry_out(
    engine: Engine, scope: Scope, prepared: Sequence[Prepared], now: datetime
) -> tuple[Summary, ...]:
    """Write prepared summaries, each in a transaction of its own; none that has become impossible."""
    done: list[Summary] = []
    for each in prepared:
        events: tuple[MemoryEvent, ...] = ()
        reason = each.reason
        if not reason:
            with engine.store.write() as transaction:
                changes = summarize_group(engine, transaction, each, now)
                changes.write(transaction, scope, now)
            events, reason = changes.events, changes.reason
        engine.tell(scope, events)
        told = shown(each)
        made = None if reason or each.entry is None else each.entry.record.id
        done.append(replace(told, summary_id=made, reason=reason))
    return tuple(done)


def shown(prepared: Prepared) -> Summary:
    """Tell what a prepared summary is, without an id: it may never be written."""
    group, written = prepared.group, prepared.written
    record = None if prepared.entry is None else prepared.entry.record
    return Summary(
        summary_id=None,
        by=group.by.value,
        on=group.on,
        members=tuple(each.id for each in group.members),
        sources=tuple(each.id for each in group.sources),
        content="" if record is None else record.content,
        tokens_before=group.tokens,
        tokens_after=0 if record is None else record.tokens,
        summarizer=written.summarizer,
        sensitive=any(each.sensitivity is Sensitivity.SENSITIVE for each in group.sources),
        refused=written.refused,
        reason=written.reason,
    )


def unsummarize(engine: Engine, scope: Scope, summary_id: str) -> Receipt:
    """Take a summary back: what it stands for is live again, itself is deleted (restorable).

    What changed meanwhile stays as it is and is reported.

    Raises:
        NotFoundError: The id is not in this scope.
        ConflictError: It is no summary that was made here.
    """
    wanted = check_id(summary_id)
    now = engine.now()
    with engine.store.write() as transaction:
        record = fetch(transaction, scope, [wanted])[0]
        if not is_summary(record):
            message = f"{wanted} is no summary; it stands for no other memory"
            raise ConflictError(message, ids=[wanted])
        changes = undo_group(transaction, scope, record, now)
        changes.write(transaction, scope, now)
    engine.tell(scope, changes.events)
    back = [each for each in changes.transitions if each.status is Status.LIVE]
    return Receipt(
        plan_id=None,
        at=now,
        deleted=len(changes.transitions) - len(back),
        restored=len(back),
        skipped=changes.skipped,
    )


def sources(engine: Engine, scope: Scope, record_id: str) -> tuple[MemoryRecord, ...]:
    """Read the records that one was made from, oldest first: for a summary, its originals in one step.

    Deleted ones are left out; () for a record that was made from nothing.
    """
    with engine.store.read() as reader:
        record = fetch(reader, scope, [check_id(record_id)])[0]
        return _standing(reader, record)


def _standing(reader: Reader, record: MemoryRecord) -> tuple[MemoryRecord, ...]:
    found = reader.get(record.scope, record.derived_from) if record.derived_from else ()
    kept = (each for each in found if each.status is not Status.DELETED)
    return tuple(sorted(kept, key=lambda each: (each.created_at, each.id)))
