"""Reach: what an erasure takes, found before anything is written, and counted by category."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfams.core.checks import items
from sfams.core.query import Cursor, Filter, Order, Page
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.scope import Scope
from sfams.core.selecting import FilterFields, make_filter
from sfams.core.subjects import Subject, spelling, words_of
from sfams.errors import InvalidInputError
from sfams.ports import PastVersion, Reader
from sfams.service.engine import Engine
from sfams.service.listing import cursor_after, fetch

_PAGE = 500
_ALL_PLANS = 1_000_000
_ALL_EVENTS = 10_000_000
EVERYTHING = Filter(statuses=(), expired=True)


class EraseFields(FilterFields, total=False):
    """Which memories are erased, besides the filters (`FilterFields`), which narrow.

    subject: a person or thing by name, or by all its names: what they said, what names them as an entity,
        and what mentions them, now or in an earlier version.
    identifier: exact strings such as an e-mail address, a telephone number or a handle.
    """

    subject: str | Iterable[str]
    identifier: str | Iterable[str]


@dataclass(frozen=True, slots=True)
class Reach:
    """What is erased: the records asked for, the summaries made from them, and what it all held."""

    records: tuple[MemoryRecord, ...]
    summaries: tuple[MemoryRecord, ...] = ()
    unsure: tuple[RecordId, ...] = ()

    @property
    def all(self) -> tuple[MemoryRecord, ...]:
        """Give the records and the summaries."""
        return (*self.records, *self.summaries)

    @property
    def ids(self) -> tuple[RecordId, ...]:
        """Name all of them."""
        return tuple(record.id for record in self.all)


def of_ids(reader: Reader, scope: Scope, ids: Sequence[RecordId]) -> Reach:
    """Reach from ids; all must be there.

    Raises:
        NotFoundError: Naming those that are not.
    """
    return _with_summaries(reader, scope, fetch(reader, scope, ids))


def of_everything(engine: Engine, reader: Reader, scope: Scope) -> Reach:
    """Reach from a whole scope, not those below it."""
    return Reach(tuple(walk(engine, reader, scope, EVERYTHING)))


def of_fields(engine: Engine, reader: Reader, scope: Scope, fields: Mapping[str, object]) -> Reach:
    """Reach from a subject, identifiers or a filter; together they narrow.

    Raises:
        InvalidInputError: Nothing is narrowed, or a field is wrong.
    """
    own = {name: fields[name] for name in ("subject", "identifier") if fields.get(name) is not None}
    rest = {name: value for name, value in fields.items() if name not in own}
    selection = make_filter({"status": ["all"], "expired": True, **rest})
    if not selection.restricts and not own:
        message = (
            "erase: the filter does not narrow anything; name a subject, an identifier, entities, "
            "who, kinds, text, ..."
        )
        raise InvalidInputError(message, field="filter")
    records: Iterable[MemoryRecord] = walk(engine, reader, scope, selection)
    if not own:
        return _with_summaries(reader, scope, tuple(records))
    subject = make_subject(own, (each.name for each in reader.entities(scope)))
    found, unsure = divide(reader, scope, records, subject)
    return _with_summaries(reader, scope, found, unsure)


def make_subject(fields: Mapping[str, object], others: Iterable[str]) -> Subject:
    """Read `subject` and `identifier`, each one text or several."""
    spellings = [
        spelling(str(text), exact=name == "identifier")
        for name, value in fields.items()
        for text in ([value] if isinstance(value, str) else items(name, value))
    ]
    if not spellings:
        message = "subject: name at least one spelling"
        raise InvalidInputError(message, field="subject")
    return Subject(spellings, others)


def divide(
    reader: Reader, scope: Scope, records: Iterable[MemoryRecord], subject: Subject
) -> tuple[list[MemoryRecord], tuple[RecordId, ...]]:
    """Take the records about a subject; name those that only hold its name inside something longer."""
    found: list[MemoryRecord] = []
    unsure: list[RecordId] = []
    for record in records:
        past = [version.content for version in earlier(reader, scope, record)]
        if subject.about(record, past):
            found.append(record)
        elif any(map(subject.hinted_in, (*words_of(record), *past))):
            unsure.append(record.id)
    return found, tuple(unsure)


def walk(engine: Engine, reader: Reader, scope: Scope, selection: Filter) -> Iterator[MemoryRecord]:
    """Give all records that match, oldest first, page by page."""
    after: Cursor | None = None
    now = engine.now()
    while True:
        page = Page(limit=_PAGE, order=Order.CREATED, descending=False, after=after)
        records = reader.find(scope, selection, page, now)
        yield from records
        if len(records) < _PAGE:
            return
        after = cursor_after(records[-1], Order.CREATED)


def earlier(reader: Reader, scope: Scope, record: MemoryRecord) -> Sequence[PastVersion]:
    """Read what a record said before."""
    return reader.versions(scope, record.id)


def _with_summaries(
    reader: Reader,
    scope: Scope,
    records: Sequence[MemoryRecord],
    unsure: tuple[RecordId, ...] = (),
) -> Reach:
    """Add what was made from the records, and from that, and so on."""
    taken = {record.id for record in records}
    summaries: list[MemoryRecord] = []
    frontier = list(taken)
    while frontier:
        made = [each for each in reader.made_from(scope, frontier) if each not in taken]
        summaries += reader.get(scope, made)
        taken.update(made)
        frontier = made
    left = tuple(each for each in unsure if each not in taken)
    return Reach(tuple(records), tuple(summaries), left)


def count(reader: Reader, scope: Scope, reach: Reach, engine: Engine) -> dict[str, int]:
    """Count what goes, by category."""
    ids = set(reach.ids)
    chunks = [reach.ids[at : at + _PAGE] for at in range(0, len(reach.ids), _PAGE)]
    links = {(r.id, each) for r in reach.all for each in r.relations}
    links.update(link for chunk in chunks for link in reader.linked(scope, chunk))
    plans = (reader.plan(scope, name) for name in reader.plans(scope, _ALL_PLANS))
    return {
        "records": len(reach.records),
        "summaries": len(reach.summaries),
        "versions": sum(len(earlier(reader, scope, record)) for record in reach.all),
        "vectors": sum(len(reader.vectors(scope, chunk)) for chunk in chunks),
        "relations": len(links),
        "plan_steps": sum(len(ids.intersection(plan.steps.ids)) for plan in plans if plan),
        "events": sum(len(reader.history(scope, c, limit=_ALL_EVENTS)) for c in chunks),
        "entities": len(_names_lost(engine, reader, scope, reach)),
    }


def _names_lost(engine: Engine, reader: Reader, scope: Scope, reach: Reach) -> set[str]:
    """Name the entities that no other record names."""
    ids, now = set(reach.ids), engine.now()
    names = {entity.name for record in reach.all for entity in record.entities}
    return {
        name
        for name in names
        if ids.issuperset(
            reader.matching(scope, Filter(statuses=(), expired=True, entities=(name,)), now)
        )
    }


def traces(reader: Reader, scope: Scope, reach: Reach) -> tuple[set[str], list[bytes]]:
    """Give every text that is erased, and every vector as bytes (little-endian float32)."""
    texts: set[str] = set()
    for record in reach.all:
        texts.update(words_of(record))
        texts.update(version.content for version in earlier(reader, scope, record))
        texts.update(entity.name for entity in record.entities)
        texts.update((record.source.who, record.source.session))
    blobs = [
        np.ascontiguousarray(vector, "<f4").tobytes()
        for at in range(0, len(reach.ids), _PAGE)
        for vector in reader.vectors(scope, reach.ids[at : at + _PAGE]).values()
    ]
    return texts - {""}, blobs
