"""Promise: one live record a content, one record a key, one record an id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sfams.core.record import MemoryRecord, Status
from sfams.errors import ConflictError
from sfams.ports import Transition
from sfams.testing.builders import HOME, entry_of, make_entry
from sfams.testing.conformance.base import (
    NEXT_DOOR,
    ONE,
    TWO,
    Promises,
    erase,
    fetch,
    fetch_one,
    fill,
    move,
    seen,
)

if TYPE_CHECKING:
    from sfams.ports import Store

DEAD = [Status.SUPERSEDED, Status.SUMMARIZED, Status.DELETED]


def replace_by(store: Store, record: MemoryRecord) -> None:
    """Replace a record."""
    with store.write() as transaction:
        transaction.replace([entry_of(record)])


class UniquenessPromises(Promises):
    """What must not exist twice does not, whichever way it tries to."""

    def test_a_content_lives_once(self, store: Store) -> None:
        """Two writers that admit one text at a time cannot both win."""
        fill(store, make_entry(1, content="Same."))
        with pytest.raises(ConflictError):
            fill(store, make_entry(2, content="Same."))
        assert [record.id for record in fetch(store, ONE, TWO)] == [ONE]

    def test_a_batch_is_held_to_it_too(self, store: Store) -> None:
        """Uniqueness also holds within one call."""
        with pytest.raises(ConflictError):
            fill(store, make_entry(1, content="Same."), make_entry(2, content="Same."))
        with pytest.raises(ConflictError):
            fill(store, make_entry(1, key="k"), make_entry(2, key="k"))
        assert fetch(store, ONE, TWO) == []

    @pytest.mark.parametrize("status", DEAD)
    def test_a_record_that_is_not_live_frees_its_content(
        self, store: Store, status: Status
    ) -> None:
        """What was forgotten may be said again."""
        fill(store, make_entry(1, content="Same.", status=status))
        fill(store, make_entry(2, content="Same."))
        with store.read() as reader:
            found = reader.by_hash(HOME, [make_entry(1, content="Same.").record.content_hash])
        assert list(found.values()) == [TWO]

    @pytest.mark.parametrize("status", DEAD)
    def test_restoring_into_a_twin_is_refused(self, store: Store, status: Status) -> None:
        """The way back is barred while another live record says the same."""
        fill(store, make_entry(1, content="Same.", status=status))
        fill(store, make_entry(2, content="Same."))
        before = seen(store)
        with pytest.raises(ConflictError):
            move(store, Transition(ONE, status=Status.LIVE))
        assert seen(store) == before
        move(store, Transition(TWO, status=Status.DELETED))
        move(store, Transition(ONE, status=Status.LIVE))
        assert fetch_one(store).status is Status.LIVE

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_two_twins_may_change_places(self, store: Store, order: tuple[int, int]) -> None:
        """What counts is how things stand when the whole batch is done."""
        fill(store, make_entry(1, content="Same.", status=Status.DELETED))
        fill(store, make_entry(2, content="Same."))
        changes = [Transition(ONE, status=Status.LIVE), Transition(TWO, status=Status.SUPERSEDED)]
        move(store, *(changes[index] for index in order))
        assert fetch_one(store).status is Status.LIVE
        assert fetch_one(store, TWO).status is Status.SUPERSEDED

    def test_two_records_may_change_texts(self, store: Store) -> None:
        """The same for a batch of edits: contents and keys swap in one call."""
        fill(store, make_entry(1, content="a", key="x"), make_entry(2, content="b", key="y"))
        swapped = [make_entry(1, content="b", key="y"), make_entry(2, content="a", key="x")]
        with store.write() as transaction:
            transaction.replace(swapped)
        assert fetch(store, ONE, TWO) == [entry.record for entry in swapped]

    def test_replacing_into_a_twin_is_refused(self, store: Store) -> None:
        """An edit cannot make a second one either."""
        fill(store, make_entry(1, content="Same."), make_entry(2))
        with pytest.raises(ConflictError):
            replace_by(store, make_entry(2, content="Same.").record)
        assert fetch_one(store, TWO).content != "Same."

    def test_replacing_by_itself_is_no_conflict(self, store: Store) -> None:
        """A record is not its own twin."""
        entry = make_entry(1, content="Same.", key="k")
        fill(store, entry)
        replace_by(store, entry.record)
        assert fetch_one(store) == entry.record

    @pytest.mark.parametrize("status", [Status.LIVE, *DEAD])
    def test_a_key_is_given_once(self, store: Store, status: Status) -> None:
        """Whatever the status of the record that has it."""
        fill(store, make_entry(1, key="k", status=status), make_entry(3, key=None))
        with pytest.raises(ConflictError):
            fill(store, make_entry(2, key="k"))
        fill(store, make_entry(2, key="K"), make_entry(4, key=None))
        with pytest.raises(ConflictError):
            replace_by(store, make_entry(2, key="k").record)

    def test_an_id_is_given_once(self, store: Store) -> None:
        """An insert never overwrites."""
        fill(store, make_entry(1))
        with pytest.raises(ConflictError):
            fill(store, make_entry(1, content="Other text."))
        assert fetch_one(store) == make_entry(1).record

    def test_erasing_frees_content_and_key(self, store: Store) -> None:
        """Nothing of an erased record stands in anybody's way."""
        fill(store, make_entry(1, content="Same.", key="k"))
        erase(store, ONE)
        fill(store, make_entry(2, content="Same.", key="k"))
        assert fetch_one(store, TWO).key == "k"

    def test_other_scopes_are_free(self, store: Store) -> None:
        """Content and key are unique within a scope, not beyond."""
        fill(
            store,
            make_entry(1, content="Same.", key="k"),
            make_entry(2, content="Same.", key="k", scope=NEXT_DOOR),
        )
        assert fetch_one(store, TWO, NEXT_DOOR).key == "k"

    def test_errors_do_not_quote_the_memory(self, store: Store) -> None:
        """A message goes to logs; the text of a memory does not."""
        fill(store, make_entry(1, content="The door code is 4471."))
        with pytest.raises(ConflictError) as caught:
            fill(store, make_entry(2, content="The door code is 4471."))
        assert "4471" not in str(caught.value)
