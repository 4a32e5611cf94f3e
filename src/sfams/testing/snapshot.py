"""Snapshots: everything that can be seen of a scope, as plain values to compare and print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import ARRAY_FIELDS, Columns, Need
from sfams.core.events import MemoryEvent
from sfams.core.keywords import Terms
from sfams.core.query import Filter, Order, Page
from sfams.core.record import MemoryRecord, Relation
from sfams.core.scope import Scope
from sfams.core.traces import Ragged
from sfams.core.view import Vector, ViewRow
from sfams.ports import Reader
from sfams.testing.builders import MODELS

EVERYTHING = Filter(statuses=(), expired=True)
"""Selects all records that are not erased."""

Snapshot = dict[str, object]


def plain_vector(vector: Vector | None) -> tuple[float, ...] | None:
    """Turn a vector into numbers; `==` then means equal to the last bit (but for -0)."""
    return None if vector is None else tuple(np.asarray(vector, np.float32).tolist())


def plain_terms(terms: Terms) -> dict[int, int]:
    """Turn a keyword entry into counts by term id, whatever their order."""
    return dict(zip(terms.ids.tolist(), terms.counts.tolist(), strict=True))


def plain_row(row: ViewRow) -> tuple[object, ...]:
    """Turn a row of the change feed into plain values."""
    first = (row.kind, row.importance, row.created_at, row.expires_at, row.session, row.who)
    return (*first, row.turn, row.tokens, plain_vector(row.vector), plain_terms(row.terms))


def plain_columns(columns: Columns) -> dict[str, list[object]]:
    """Turn columns into lists, kinds by name."""
    lists = {name: getattr(columns, name).tolist() for name in ARRAY_FIELDS}
    lists["kinds"] = [columns.kind_names[code] for code in columns.kinds]
    return {"ids": list(columns.ids), **lists}


def plain_traces(columns: Columns) -> dict[str, object]:
    """Turn what models need besides the plain columns into values, the scope's own among them."""
    spaced, uses, types = columns.spaced(), columns.by_turn(), columns.named()
    return {
        "active days": columns.active_days.tolist(),
        "turns": columns.turns,
        "count": spaced.count.tolist(),
        "stability": spaced.stability.tolist(),
        "moments": _lists(spaced.moments),
        "learned": uses.learned.tolist(),
        "by turn": _lists(uses.turns, uses.turns.values, uses.shown, uses.used, uses.over),
        "types": [sorted(types.sets[code]) for code in types.codes],
    }


def _lists(lists: Ragged, *values: NDArray[np.int64]) -> list[list[object]]:
    cells = list(zip(*(each.tolist() for each in values or (lists.values,)), strict=True))
    ends = lists.starts.tolist()
    return [list(cells[start:end]) for start, end in pairwise(ends)]


def plain_record(record: MemoryRecord) -> dict[str, object]:
    """Turn a record into values to compare. Types in its metadata count: true is not 1."""
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    values["metadata"] = repr(_sorted(record.metadata))
    values["relations"] = sorted((each.type, each.target) for each in record.relations)
    return values


def plain_event(event: MemoryEvent) -> dict[str, object]:
    """Turn an event into values to compare, without the number that the store has given it."""
    values = {each.name: getattr(event, each.name) for each in fields(event)}
    del values["number"]
    values["detail"] = repr(_sorted(event.detail))
    return values


def _sorted(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def snapshot(reader: Reader, scope: Scope, now: datetime) -> Snapshot:
    """Take down everything visible of a scope but the numbers that a store is free to choose.

    These are `change_seq` and the numbers of events: they need only rise.
    """
    ids = sorted(reader.matching(scope, EVERYTHING, now))
    records = reader.get(scope, ids)
    return {
        "records": [plain_record(record) for record in records],
        **_listings(reader, scope, now),
        **_lookups(reader, scope, records),
        **_feed(reader, scope),
        "columns": plain_columns(reader.columns(scope, now)),
        "traces": plain_traces(reader.columns(scope, now, frozenset(Need))),
        "history": [plain_event(event) for event in reader.history(scope, (), limit=10**6)],
        "plans": [(name, reader.plan(scope, name)) for name in reader.plans(scope, 10**6)],
        "days": list(reader.active_days(scope)),
        "staging": _staging(reader),
        "turns": {
            session: reader.turns(scope, session)
            for session in {"", "s-1", "s-2", *(record.source.session for record in records)}
        },
    }


def _staging(reader: Reader) -> object:
    staging = reader.staging()
    counts = {name: count for name, count in staging.staged.items() if count}
    unstaged = [{r.id for r in reader.unstaged(model, 10**6)} for model in MODELS]
    return staging.records, counts, unstaged


def _listings(reader: Reader, scope: Scope, now: datetime) -> Snapshot:
    stats = reader.stats(scope, now)
    return {
        "orders": [
            [record.id for record in reader.find(scope, EVERYTHING, page, now)]
            for order in Order
            for page in (
                Page(limit=10**6, order=order, descending=True),
                Page(limit=10**6, order=order, descending=False),
            )
        ],
        "live": [record.id for record in reader.find(scope, Filter(), Page(limit=10**6), now)],
        "pending": [record.id for record in reader.pending(scope, 10**6)],
        "entities": list(reader.entities(scope)),
        "sizes": (stats.hot, stats.cold, stats.hot_tokens, stats.vectors, stats.pending),
        "statuses": {name: count for name, count in stats.records.items() if count},
        "kinds": {name: count for name, count in stats.kinds.items() if count},
    }


def _lookups(reader: Reader, scope: Scope, records: Sequence[MemoryRecord]) -> Snapshot:
    ids = [record.id for record in records]
    claims = [record.claim for record in records if record.claim is not None]
    keys = [record.key for record in records if record.key is not None]
    return {
        "by_hash": dict(reader.by_hash(scope, [record.content_hash for record in records])),
        "by_key": dict(reader.by_key(scope, keys)),
        "by_claim": [sorted(r.id for r in reader.by_claim(scope, [claim])) for claim in claims],
        "linked": sorted((source, *_ends(link)) for source, link in reader.linked(scope, ids)),
        "vectors": {name: plain_vector(each) for name, each in reader.vectors(scope, ids).items()},
        "versions": {name: list(reader.versions(scope, name)) for name in ids},
    }


def _ends(relation: Relation) -> tuple[str, str]:
    return relation.type, relation.target


def _feed(reader: Reader, scope: Scope) -> Snapshot:
    rows = reader.changes(scope, 0).rows
    return {"view": {row.id: plain_row(row) for row in rows}}
