"""Archive view: a view built on the spot for what the warm view leaves out (superseded, deleted)."""

from __future__ import annotations

from datetime import datetime

from sfams.core.admission import index_text
from sfams.core.keywords import index_terms
from sfams.core.moments import NEVER, to_micros
from sfams.core.query import Filter, Order, Page
from sfams.core.record import MemoryRecord
from sfams.core.scope import Scope
from sfams.core.view import ScopeView, Vector, ViewChanges, ViewRow
from sfams.ports import Reader
from sfams.service.engine import Engine

LIMIT = 5000
"""Newest records looked at; the archive is asked rarely and on purpose, so it is not kept warm."""


def archive_view(
    engine: Engine, reader: Reader, scope: Scope, selection: Filter, now: datetime
) -> tuple[ScopeView, str]:
    """Build a view of everything that matches, whatever its status; warn where it is cut."""
    page = Page(limit=LIMIT, order=Order.CREATED)
    records = reader.find(scope, selection, page, now)
    vectors = reader.vectors(scope, [record.id for record in records])
    rows = [_row(record, vectors.get(record.id)) for record in records]
    view = ScopeView(engine.embedder.dimension)
    view.advance(ViewChanges(1, rows, ()))
    cut = len(records) == LIMIT
    return view, f"only the newest {LIMIT} records were searched" if cut else ""


def _row(record: MemoryRecord, vector: Vector | None) -> ViewRow:
    expires = NEVER if record.expires_at is None else to_micros(record.expires_at)
    return ViewRow(
        id=record.id,
        hot=True,
        kind=record.kind,
        importance=record.importance,
        created_at=to_micros(record.created_at),
        expires_at=expires,
        session=record.source.session,
        who=record.source.who,
        turn=-1 if record.source.turn is None else record.source.turn,
        tokens=record.tokens,
        vector=vector,
        terms=index_terms(index_text(record.source.who, record.content)),
    )
