"""Records as they are read: rows with what belongs to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import apsw

from sfams.core.record import Entity, MemoryRecord, RecordId, Relation
from sfams.core.scope import Scope
from sfams.stores.conditions import Conditions
from sfams.stores.rows import (
    RECORD_COLUMNS,
    USAGE_COLUMNS,
    Children,
    decode_record,
    to_json,
)
from sfams.stores.sqlite.statements import QUERIES

_COLUMNS = ", ".join(
    ["record.number"]
    + [f"record.{name}" for name in RECORD_COLUMNS]
    + [f"usage.{name}" for name in USAGE_COLUMNS]
)
_USED = "LEFT JOIN usage ON usage.record = record.number"

_BY_ID = f"""SELECT {_COLUMNS} FROM json_each(?2) AS wanted
CROSS JOIN record ON record.scope = ?1 AND record.id = wanted.value {_USED}
ORDER BY wanted.key"""  # noqa: S608  (names of columns, no values)

_ORDERED = f"SELECT {_COLUMNS} FROM record {_USED}"  # noqa: S608  (names of columns, no values)


def by_id(
    connection: apsw.Connection, scope: Scope, number: int, ids: Sequence[RecordId]
) -> list[MemoryRecord]:
    """Read records whole, in the order of `ids`."""
    rows = connection.execute(_BY_ID, (number, to_json(ids))).fetchall()
    return _decoded(connection, scope, rows)


def selected(
    connection: apsw.Connection, scope: Scope, where: Conditions, order: str, limit: int
) -> list[MemoryRecord]:
    """Read records that match, in order."""
    sql = f"{_ORDERED} WHERE {where.sql} ORDER BY {order} LIMIT ?"
    rows = connection.execute(sql, (*where.values, max(limit, 0))).fetchall()
    return _decoded(connection, scope, rows)


def _decoded(
    connection: apsw.Connection, scope: Scope, rows: Sequence[tuple[Any, ...]]
) -> list[MemoryRecord]:
    children = _children(connection, [row[0] for row in rows])
    return [decode_record(scope, row[1:], children[row[0]]) for row in rows]


def _children(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, Children]:
    """Read entities, tags and relations of many records with one query each."""
    found: dict[int, Children] = defaultdict(Children)
    wanted = (to_json(numbers),)
    for number, name, kind in connection.execute(QUERIES["entities_of"], wanted):
        found[number].entities.append(Entity(name, kind))
    for number, name in connection.execute(QUERIES["tags_of"], wanted):
        found[number].tags.append(name)
    for number, kind, target in connection.execute(QUERIES["relations_of"], wanted):
        found[number].relations.append(Relation(kind, RecordId(target)))
    return found
