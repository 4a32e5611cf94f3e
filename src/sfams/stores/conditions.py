"""What SQL stores share: a `Filter` as conditions, a page as an order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sfams.core.moments import to_micros
from sfams.core.query import Filter, Order, Page
from sfams.core.text import fold
from sfams.stores.matching import folded
from sfams.stores.rows import Cell, to_json

_BASE_KIND = "substr(record.kind, 1, instr(record.kind, ':') - 1)"
_TAGGED = """record.number IN
    (SELECT tag.record FROM tag WHERE tag.scope = ? AND tag.name = ?)"""
_NAMED = """record.number IN
    (SELECT entity.record FROM entity WHERE entity.scope = ? AND entity.key = ?)"""
_NAMED_TYPED = """(record.number IN
    (SELECT entity.record FROM entity WHERE entity.scope = ?
        AND (entity.key = ? OR (entity.key = ? AND folded(entity.type) = ?))))"""

_SORT = {
    Order.CREATED: "record.created_at",
    Order.ACCESSED: "coalesce(usage.last_accessed_at, 0)",
    Order.IMPORTANCE: "record.importance",
}


class Conditions:
    """A growing conjunction over one scope's records. Every value is bound, none is formatted in."""

    def __init__(self, scope: int) -> None:
        self.scope = scope
        self.values: list[Cell] = []
        self._parts: list[str] = []
        self.add("record.scope = ?", scope)

    def add(self, sql: str, *values: Cell) -> None:
        """Require one more thing; `?` stands for each value in turn."""
        self._parts.append(sql)
        self.values += values

    def one_of(self, sql: str, values: Sequence[Cell]) -> None:
        """Require that `sql` is one of the values."""
        self.add(f"{sql} IN ({', '.join('?' * len(values))})", *values)

    @property
    def sql(self) -> str:
        """The conjunction."""
        return " AND ".join(self._parts)


def filter_conditions(scope: int, selection: Filter, now: datetime) -> Conditions:
    """Turn a filter into conditions; they use the functions `fold`, `folded` and `json_has`.

    A damaged moment (text in a number's place) passes every range, so that reading it fails
    visibly instead of leaving the record out.
    """
    where = Conditions(scope)
    _add_standing(where, selection, now)
    _add_ranges(where, selection)
    if selection.kinds:
        _add_kinds(where, selection.kinds)
    for name in selection.entities:
        _add_entity(where, name)
    for tag in selection.tags:
        where.add(_TAGGED, scope, tag)
    for name, value in selection.metadata.items():
        where.add("json_has(record.metadata, ?, ?)", name, to_json(value))
    _add_source(where, selection)
    if selection.text is not None:
        where.add("instr(fold(record.content), ?) > 0", fold(selection.text))
    return where


def _add_standing(where: Conditions, selection: Filter, now: datetime) -> None:
    if selection.statuses:
        where.one_of("record.status", selection.statuses)
    else:
        where.add("record.status <> 'erased'")
    if selection.tiers:
        where.one_of("record.tier", selection.tiers)
    if not selection.expired:
        where.add("(record.expires_at IS NULL OR record.expires_at > ?)", to_micros(now))


def _add_ranges(where: Conditions, selection: Filter) -> None:
    if selection.importance_min is not None:
        where.add("record.importance >= ?", selection.importance_min)
    if selection.importance_max is not None:
        where.add("record.importance <= ?", selection.importance_max)
    if selection.created_from is not None:
        where.add("record.created_at >= ?", to_micros(selection.created_from))
    if selection.created_to is not None:
        where.add(
            "(record.created_at < ? OR typeof(record.created_at) = 'text')",
            to_micros(selection.created_to),
        )


def _add_kinds(where: Conditions, kinds: Sequence[str]) -> None:
    marks = ", ".join("?" * len(kinds))
    where.add(f"(record.kind IN ({marks}) OR {_BASE_KIND} IN ({marks}))", *kinds, *kinds)


def _add_entity(where: Conditions, name: str) -> None:
    kind, _, rest = name.partition(":")
    if rest:
        where.add(_NAMED_TYPED, where.scope, folded(name), folded(rest), folded(kind))
    else:
        where.add(_NAMED, where.scope, folded(name))


def _add_source(where: Conditions, selection: Filter) -> None:
    if selection.who is not None:
        where.add("record.who = ?", selection.who)
    if selection.session is not None:
        where.add("record.session = ?", selection.session)


def page_order(page: Page, where: Conditions) -> str:
    """Add the page's start to the conditions and give its ORDER BY: sort value, ties by id.

    A keyset, not an offset: rows that come or go meanwhile neither repeat nor hide others.
    """
    sort = _SORT[page.order]
    if page.after is not None:
        sign = "<" if page.descending else ">"
        where.add(f"({sort}, record.id) {sign} (?, ?)", page.after.value, page.after.id)
    direction = "DESC" if page.descending else "ASC"
    return f"{sort} {direction}, record.id {direction}"
