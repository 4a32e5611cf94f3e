"""Export and import: JSON lines, one record each, nothing lost, nothing doubled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from sfams.core.draft import Draft, draft_from_mapping
from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.indexing import terms_of
from sfams.core.query import Cursor, Filter, Order, Page
from sfams.core.record import EmbeddingState, MemoryRecord, Status
from sfams.core.scope import Scope
from sfams.core.wire import FORMAT, record_from_wire, record_to_wire
from sfams.errors import InvalidInputError
from sfams.ports import Entry, Transaction
from sfams.service.engine import Engine
from sfams.service.listing import cursor_after
from sfams.service.remembering import Progress, remember_many

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Refused:
    """An input line that was not taken in: where, which field, why. Never the text itself."""

    line: int
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did with each line."""

    added: int
    known: int
    superseded: int = 0
    refused: tuple[Refused, ...] = ()
    warnings: tuple[str, ...] = ()


def export_lines(engine: Engine, scope: Scope, fields: Filter) -> Iterator[str]:
    """Write records as JSON lines, oldest first, page by page."""
    engine.flush_usage()
    after: Cursor | None = None
    while True:
        page = Page(limit=_PAGE, order=Order.CREATED, descending=False, after=after)
        with engine.store.read() as reader:
            records = reader.find(scope, fields, page, engine.now())
        for record in records:
            shape = {"format": FORMAT, **record_to_wire(record)}
            yield json.dumps(shape, ensure_ascii=False, allow_nan=False)
        if len(records) < _PAGE:
            return
        after = cursor_after(records[-1], Order.CREATED)


def import_lines(
    engine: Engine, scope: Scope, lines: Iterable[str], progress: Progress | None = None
) -> ImportReport:
    """Take JSON lines in: our own export whole, with ids and history of use, or any classic shape.

    A line that cannot be read is reported with its number and field and leaves nothing behind; the
    others are taken in. Importing the same lines again adds nothing.
    """
    drafts: list[Draft] = []
    records: list[MemoryRecord] = []
    refused: list[Refused] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            parsed = _parse(line, scope)
        except InvalidInputError as error:
            refused.append(Refused(number, str(error.context.get("field", "")), str(error)))
            continue
        if isinstance(parsed, Draft):
            drafts.append(parsed)
        else:
            records.append(parsed)
    added, known = _insert_records(engine, scope, records, progress)
    results = remember_many(engine, scope, drafts, progress=progress)
    fresh = sum(result.outcome != "duplicate" for result in results)
    return ImportReport(
        added=added + fresh,
        known=known + len(results) - fresh,
        superseded=sum(len(result.superseded) for result in results),
        refused=tuple(refused),
        warnings=tuple(dict.fromkeys(w for result in results for w in result.warnings)),
    )


def _parse(line: str, scope: Scope) -> Draft | MemoryRecord:
    try:
        shape = json.loads(line)
    except (ValueError, RecursionError) as error:
        message = f"not a JSON line, or nested too deeply: {error}"
        raise InvalidInputError(message, field="line") from error
    if not isinstance(shape, dict):
        message = "not a JSON object"
        raise InvalidInputError(message, field="line")
    if shape.get("format") == FORMAT:
        return replace(record_from_wire(shape), scope=scope)
    return draft_from_mapping(shape)


def _insert_records(
    engine: Engine, scope: Scope, records: list[MemoryRecord], progress: Progress | None
) -> tuple[int, int]:
    """Write exported records as they were; their vectors follow, since models may differ."""
    added = 0
    for start in range(0, len(records), _PAGE):
        chunk = records[start : start + _PAGE]
        now = engine.now()
        with engine.store.write() as transaction:
            fresh = _unknown(transaction, scope, chunk)
            waiting = [replace(record, embedding=EmbeddingState.PENDING) for record in fresh]
            transaction.insert([Entry(record, terms_of(record)) for record in waiting])
            events = [
                MemoryEvent(
                    type=EventType.REMEMBERED,
                    at=now,
                    record_id=record.id,
                    actor=Actor.SYSTEM,
                    detail={"outcome": "imported"},
                )
                for record in fresh
            ]
            transaction.append(scope, events)
        engine.tell(scope, events)
        added += len(fresh)
        if progress is not None:
            progress(len(chunk))
    return added, len(records) - added


def _unknown(
    transaction: Transaction, scope: Scope, chunk: list[MemoryRecord]
) -> list[MemoryRecord]:
    known = {record.id for record in transaction.get(scope, [record.id for record in chunk])}
    keys = set(transaction.by_key(scope, [r.key for r in chunk if r.key is not None]))
    hashes = set(transaction.by_hash(scope, [r.content_hash for r in chunk]))
    fresh: list[MemoryRecord] = []
    for record in chunk:
        live_double = record.status is Status.LIVE and record.content_hash in hashes
        if record.id in known or record.key in keys or live_double:
            continue
        fresh.append(record)
        known.add(record.id)
        if record.key is not None:
            keys.add(record.key)
        if record.status is Status.LIVE:
            hashes.add(record.content_hash)
    return fresh
