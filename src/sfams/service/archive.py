"""Archive view: a view built on the spot for what the warm view leaves out (superseded, deleted)."""

from __future__ import annotations

from datetime import datetime

from sfams.core.indexing import terms_of, view_row
from sfams.core.query import Filter, Order, Page
from sfams.core.scope import Scope
from sfams.core.view import ScopeView, ViewChanges
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
    rows = [
        view_row(record, terms_of(record), vectors.get(record.id), hot=True) for record in records
    ]
    view = ScopeView(engine.embedder.dimension)
    view.advance(ViewChanges(1, rows, ()))
    cut = len(records) == LIMIT
    return view, f"only the newest {LIMIT} records were searched" if cut else ""
