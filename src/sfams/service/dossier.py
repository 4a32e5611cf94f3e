"""Dossier: all that is held on a subject, as JSON lines, for whoever has a right to read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from sfams.core.moments import format_moment
from sfams.core.record import MemoryRecord
from sfams.core.scope import Scope
from sfams.core.wire import FORMAT, Json, event_to_wire, record_to_wire
from sfams.ports import Reader
from sfams.service.engine import Engine
from sfams.service.reach import Reach, count, earlier, of_fields

HEADER = "sfams-subject/1"
EVENT = "sfams-event/1"
RELATION = "sfams-relation/1"
_ALL = 10_000_000


def subject_lines(engine: Engine, scope: Scope, fields: Mapping[str, object]) -> Iterator[str]:
    """Write what `erase` with the same fields would take, and `unsure` records by id.

    First a header with the counts; then each record (of any status) whole, with use, earlier versions and
    links, followed by its log; at the end the links that lead to it.
    """
    engine.flush_usage()
    with engine.store.read() as reader:
        reach = of_fields(engine, reader, scope, fields)
        header: Json = {
            "format": HEADER,
            "scope": list(scope),
            "at": format_moment(engine.now()),
            "held": dict(count(reader, scope, reach, engine)),
            "unsure": list(reach.unsure),
        }
        lines = [header, *_lines(reader, scope, reach)]
    # Read to the end first: who is slow to take the lines must not keep old pages of the file alive.
    for line in lines:
        yield json.dumps(line, ensure_ascii=False, allow_nan=False)


def _lines(reader: Reader, scope: Scope, reach: Reach) -> Iterator[Json]:
    for record in reach.all:
        yield _record(reader, scope, record)
        for event in reader.history(scope, [record.id], limit=_ALL):
            yield {"format": EVENT, "number": event.number, **event_to_wire(event)}
    ids = set(reach.ids)
    for source, relation in reader.linked(scope, reach.ids):
        if relation.target in ids and source not in ids:
            yield {
                "format": RELATION,
                "source": source,
                "type": relation.type,
                "target": relation.target,
            }


def _record(reader: Reader, scope: Scope, record: MemoryRecord) -> Json:
    shape: Json = {"format": FORMAT, **record_to_wire(record)}
    past = earlier(reader, scope, record)
    if past:
        shape["past"] = [
            {"version": each.version, "content": each.content, "until": format_moment(each.until)}
            for each in past
        ]
    return shape
