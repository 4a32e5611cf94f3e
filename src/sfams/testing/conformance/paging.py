"""Promise: pages of a listing neither overlap nor leave anything out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from sfams.core.moments import to_micros
from sfams.core.query import Cursor, Filter, Order, Page
from sfams.core.record import MemoryRecord, RecordId, Status
from sfams.ports import Transition, UsageDelta
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.clock import START
from sfams.testing.conformance.base import (
    MINUTE,
    NOW,
    Promises,
    erase,
    fill,
    move,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sfams.ports import Store

COUNT = 23
ORDERS = [(order, descending) for order in Order for descending in (True, False)]


def stock(store: Store) -> None:
    """Insert records that tie with others in every order."""
    fill(
        store,
        *(
            make_entry(
                n,
                created_at=START + n % 5 * MINUTE,
                importance=n % 4 / 3,
            )
            for n in range(COUNT)
        ),
    )
    used = [UsageDelta(numbered_id(n), 1, 0, NOW - n % 3 * MINUTE) for n in range(0, COUNT, 2)]
    with store.write() as transaction:
        transaction.add_usage(HOME, used)


def value_of(record: MemoryRecord, order: Order) -> float:
    """Give the value that a record is sorted by."""
    if order is Order.IMPORTANCE:
        return record.importance
    if order is Order.CREATED:
        return float(to_micros(record.created_at))
    accessed = record.usage.last_accessed_at
    return 0.0 if accessed is None else float(to_micros(accessed))


def pages(
    store: Store, order: Order, *, descending: bool, limit: int
) -> Iterator[list[MemoryRecord]]:
    """Turn the pages of a listing one by one."""
    after: Cursor | None = None
    while True:
        page = Page(limit=limit, order=order, descending=descending, after=after)
        with store.read() as reader:
            records = list(reader.find(HOME, Filter(), page, NOW))
        if not records:
            return
        yield records
        after = Cursor(value_of(records[-1], order), records[-1].id)


def places(records: list[MemoryRecord], order: Order) -> list[tuple[float, RecordId]]:
    """Give what a listing is sorted by."""
    return [(value_of(record, order), record.id) for record in records]


class PagingPromises(Promises):
    """Keyset paging."""

    @pytest.mark.parametrize(("order", "descending"), ORDERS)
    @pytest.mark.parametrize("limit", [1, 4, COUNT, 100])
    def test_pages_give_everything_once_in_order(
        self,
        store: Store,
        order: Order,
        descending: bool,  # noqa: FBT001  (a parameter of the test)
        limit: int,
    ) -> None:
        """Ties are broken by id, in the direction of the listing."""
        stock(store)
        turned = list(pages(store, order, descending=descending, limit=limit))
        records = [record for page in turned for record in page]
        assert len(records) == COUNT
        assert all(len(page) == limit for page in turned[:-1])
        sorted_by = places(records, order)
        assert sorted_by == sorted(sorted_by, reverse=descending)
        assert all(left != right for left, right in pairwise(sorted_by))

    def test_pages_are_filtered_before_they_are_cut(self, store: Store) -> None:
        """Deleted records use up no place on a page."""
        stock(store)
        move(store, *(Transition(numbered_id(n), Status.DELETED) for n in range(20)))
        erase(store, numbered_id(20))
        with store.read() as reader:
            found = reader.find(HOME, Filter(), Page(limit=2), NOW)
        assert {record.id for record in found} == {numbered_id(21), numbered_id(22)}

    @pytest.mark.parametrize(("order", "descending"), ORDERS)
    def test_a_page_goes_on_where_a_vanished_record_stood(
        self,
        store: Store,
        order: Order,
        descending: bool,  # noqa: FBT001  (a parameter of the test)
    ) -> None:
        """The cursor is a place, not a record."""
        stock(store)
        turning = pages(store, order, descending=descending, limit=5)
        first = next(turning)
        erase(store, first[-1].id)
        rest = [record for page in turning for record in page]
        assert len({record.id for record in first + rest}) == COUNT

    def test_the_default_page_is_newest_first(self, store: Store) -> None:
        """The order in which people look."""
        fill(store, *(make_entry(n) for n in range(60)))
        with store.read() as reader:
            found = reader.find(HOME, Filter(), Page(), NOW)
        assert [record.id for record in found] == [numbered_id(n) for n in range(59, 9, -1)]
