"""Promise: threads may share a store, a sound store says so, a closed one refuses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from sfams.core.record import Status
from sfams.errors import ConflictError, StoreError
from sfams.ports import Transition, UsageDelta
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.conformance.base import (
    NOW,
    ONE,
    Promises,
    erase,
    event,
    fetch_one,
    fill,
    furnish,
    matching,
    move,
)
from sfams.testing.snapshot import EVERYTHING

if TYPE_CHECKING:
    from sfams.ports import Store

ROUNDS = 20


class SharingPromises(Promises):
    """Threads, health, end."""

    def test_two_writers_lose_nothing(self, store: Store) -> None:
        """Each unit of work sees all that went before; no number is given twice."""
        fill(store, make_entry(1))
        together = Barrier(2)

        def work(writer: int) -> list[int]:
            together.wait()
            turns = []
            for turn in range(ROUNDS):
                with store.write() as transaction:
                    transaction.insert([make_entry(1_000 * writer + turn)])
                    transaction.add_usage(HOME, [UsageDelta(ONE, 1, 0, NOW)])
                    transaction.append(HOME, [event(turn)])
                    turns.append(transaction.log_turn(HOME, "s-1", NOW))
            return turns

        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(work, (1, 2))
        assert sorted(first + second) == list(range(1, 2 * ROUNDS + 1))
        assert len(matching(store, EVERYTHING)) == 2 * ROUNDS + 1
        assert fetch_one(store).usage.access_count == 2 * ROUNDS
        with store.read() as reader:
            numbers = [each.number for each in reader.history(HOME, ())]
        assert len(numbers) == len(set(numbers)) == 2 * ROUNDS
        assert list(store.check()) == []

    def test_of_two_that_say_the_same_one_wins(self, store: Store) -> None:
        """The other is told so."""
        together = Barrier(2)

        def work(number: int) -> int:
            together.wait()
            with suppress(ConflictError):
                fill(store, make_entry(number, content="Said by both."))
                return 1
            return 0

        with ThreadPoolExecutor(2) as pool:
            assert sum(pool.map(work, (1, 2))) == 1
        assert len(matching(store, EVERYTHING)) == 1

    def test_readers_see_whole_units_of_work(self, store: Store) -> None:
        """Records that are written together are seen together, while a writer writes."""

        def write() -> None:
            for turn in range(ROUNDS):
                fill(store, make_entry(2 * turn), make_entry(2 * turn + 1))

        def look() -> list[int]:
            counts = []
            for _ in range(ROUNDS):
                with store.read() as reader:
                    found = len(reader.matching(HOME, EVERYTHING, NOW))
                    rows = len(reader.changes(HOME, 0).rows)
                assert found == rows
                counts.append(found)
            return counts

        with ThreadPoolExecutor(2) as pool:
            looking, writing = pool.submit(look), pool.submit(write)
            counts = looking.result()
            writing.result()
        assert all(count % 2 == 0 for count in counts)
        assert counts == sorted(counts)

    def test_a_unit_of_work_inside_another_is_refused(self, store: Store) -> None:
        """It could neither wait nor commit; the outer one is not harmed by the attempt."""
        with store.write() as transaction:
            transaction.insert([make_entry(1)])
            with pytest.raises(StoreError), store.write():
                pass
        assert fetch_one(store).id == ONE

    def test_what_is_over_is_over(self, store: Store) -> None:
        """A look or unit of work that is kept too long fails instead of showing another state."""
        fill(store, make_entry(1))
        with store.read() as reader:
            pass
        with store.write() as transaction:
            pass
        with pytest.raises(StoreError):
            reader.get(HOME, [ONE])
        with pytest.raises(StoreError):
            transaction.insert([make_entry(2)])
        assert len(matching(store, EVERYTHING)) == 1

    def test_a_sound_store_has_no_problems(self, store: Store) -> None:
        """After everything that can happen to records."""
        assert list(store.check()) == []
        with store.write() as transaction:
            furnish(transaction)
        move(store, Transition(numbered_id(4), status=Status.LIVE))
        erase(store, numbered_id(2))
        assert list(store.check()) == []
        assert store.repair([]) == 0
        assert store.location

    def test_a_closed_store_refuses(self, store: Store) -> None:
        """With an error of ours, and closing twice is no fault."""
        fill(store, make_entry(1))
        store.close()
        store.close()
        with pytest.raises(StoreError), store.read() as reader:
            reader.change_seq(HOME)
        with pytest.raises(StoreError), store.write() as transaction:
            transaction.insert([make_entry(2)])
