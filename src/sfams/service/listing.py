"""Reading without a question: get, list, entities, history, stats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from sfams.core.events import MemoryEvent
from sfams.core.moments import to_micros
from sfams.core.query import Cursor, Order, Page
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.scope import Scope
from sfams.core.selecting import choice, make_filter
from sfams.errors import InvalidInputError, NotFoundError
from sfams.ports import EntityCount, PastVersion, Reader, ScopeStats
from sfams.service.engine import Engine
from sfams.service.results import Listing

MAX_LIMIT = 1000
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def check_id(value: str) -> RecordId:
    """Tell a malformed id from an unknown one."""
    text = value.strip().lower() if isinstance(value, str) else ""
    if not _ID.fullmatch(text):
        message = f"id: {str(value)[:60]!r} is not an id (a UUID of 36 characters)"
        raise InvalidInputError(message, field="id")
    return RecordId(text)


def fetch(reader: Reader, scope: Scope, ids: Iterable[RecordId]) -> list[MemoryRecord]:
    """Read records that must all be there.

    Raises:
        NotFoundError: Naming the ids that are not in this scope.
    """
    wanted = list(dict.fromkeys(ids))
    records = list(reader.get(scope, wanted))
    if len(records) != len(wanted):
        found = {record.id for record in records}
        missing = [record_id for record_id in wanted if record_id not in found]
        message = f"no such memory in {scope}: {', '.join(missing)}"
        raise NotFoundError(message, ids=missing)
    return records


def get(engine: Engine, scope: Scope, record_id: str) -> MemoryRecord:
    """Read one record whole. Does not count as an access."""
    with engine.store.read() as reader:
        return fetch(reader, scope, [check_id(record_id)])[0]


def list_records(engine: Engine, scope: Scope, page: Page, fields: Mapping[str, object]) -> Listing:
    """List one page of matching records."""
    if (
        isinstance(page.limit, bool)
        or not isinstance(page.limit, int)
        or not 1 <= page.limit <= MAX_LIMIT
    ):
        message = f"limit: must lie in 1..{MAX_LIMIT}, got {page.limit}"
        raise InvalidInputError(message, field="limit")
    selection = make_filter(fields)
    if page.order is Order.ACCESSED:
        engine.flush_usage()
    with engine.store.read() as reader:
        records = tuple(reader.find(scope, selection, page, engine.now()))
    more = len(records) == page.limit
    return Listing(records=records, next=cursor_after(records[-1], page.order) if more else None)


def make_page(limit: int, order: str, after: Cursor | None, *, descending: bool) -> Page:
    """Check the paging of a listing."""
    return Page(
        limit=limit, order=choice(Order, order, "order"), descending=descending, after=after
    )


def sort_value(record: MemoryRecord, order: Order) -> float:
    """Give what a listing sorts by: importance, or microseconds since 1970 (0 for never accessed)."""
    if order is Order.IMPORTANCE:
        return record.importance
    if order is Order.ACCESSED:
        accessed = record.usage.last_accessed_at
        return 0.0 if accessed is None else float(to_micros(accessed))
    return float(to_micros(record.created_at))


def cursor_after(record: MemoryRecord, order: Order) -> Cursor:
    """Make the cursor that continues a listing behind a record."""
    return Cursor(sort_value(record, order), record.id)


def entities(engine: Engine, scope: Scope) -> Sequence[EntityCount]:
    """List entities of live records, most named first."""
    with engine.store.read() as reader:
        return reader.entities(scope)


def history(engine: Engine, scope: Scope, record_id: str) -> tuple[MemoryEvent, ...]:
    """Read a record's log, oldest first."""
    wanted = check_id(record_id)
    with engine.store.read() as reader:
        events = tuple(reader.history(scope, [wanted]))
    if not events:
        message = f"no such memory in {scope}: {wanted}"
        raise NotFoundError(message, ids=[wanted])
    return events


def versions(engine: Engine, scope: Scope, record_id: str) -> Sequence[PastVersion]:
    """Read what a record said before it was changed."""
    wanted = check_id(record_id)
    with engine.store.read() as reader:
        fetch(reader, scope, [wanted])
        return reader.versions(scope, wanted)


def chain(engine: Engine, scope: Scope, record_id: str) -> tuple[MemoryRecord, ...]:
    """Follow supersession both ways: every value a statement has had, oldest first.

    Visits each record once, so a damaged chain cannot make it run for ever.
    """
    with engine.store.read() as reader:
        start = fetch(reader, scope, [check_id(record_id)])[0]
        seen = {start.id: start}
        frontier = [start]
        while frontier:
            linked = _neighbours(reader, scope, frontier)
            frontier = [record for record in linked if record.id not in seen]
            seen.update((record.id, record) for record in frontier)
    return tuple(sorted(seen.values(), key=lambda record: (record.created_at, record.id)))


def _neighbours(
    reader: Reader, scope: Scope, records: Sequence[MemoryRecord]
) -> Sequence[MemoryRecord]:
    later = {r.validity.superseded_by for r in records if r.validity.superseded_by is not None}
    earlier = reader.replaced_by(scope, [record.id for record in records])
    return reader.get(scope, sorted(later.union(earlier)))


def stats(engine: Engine, scope: Scope) -> ScopeStats:
    """Measure the scope: records by status, tiers, tokens, vectors."""
    with engine.store.read() as reader:
        return reader.stats(scope, engine.now())
