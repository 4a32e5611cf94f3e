"""Promise: relations and entities show what is live, and lose nothing of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sfams.core.record import Entity, RecordId, Relation, Status, Tier
from sfams.errors import NotFoundError
from sfams.ports import EntityCount, Transition
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.conformance.base import (
    FOUR,
    ONE,
    THREE,
    TWO,
    Promises,
    fetch_one,
    fill,
    move,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfams.ports import Store

SUPPORTS_TWO = Relation("supports", TWO)
AMENDS_TWO = Relation("amends", TWO)


def linked(store: Store, *ids: RecordId) -> list[tuple[RecordId, str, RecordId]]:
    """List the links at some records, in a fixed order."""
    with store.read() as reader:
        return sorted((source, link.type, link.target) for source, link in reader.linked(HOME, ids))


def entities(store: Store) -> Sequence[EntityCount]:
    """List entities."""
    with store.read() as reader:
        return reader.entities(HOME)


class LinkingPromises(Promises):
    """Links between records, and the things they name."""

    def test_links_are_made_once_and_taken_away_once(self, store: Store) -> None:
        """The answer tells whether anything changed; type and direction count."""
        fill(store, *(make_entry(n) for n in (1, 2, 3)))
        with store.write() as transaction:
            assert transaction.relate(HOME, ONE, SUPPORTS_TWO) is True
            assert transaction.relate(HOME, ONE, SUPPORTS_TWO) is False
            assert transaction.relate(HOME, ONE, AMENDS_TWO) is True
            assert transaction.relate(HOME, TWO, Relation("supports", ONE)) is True
        assert set(fetch_one(store).relations) == {SUPPORTS_TWO, AMENDS_TWO}
        with store.write() as transaction:
            assert transaction.unrelate(HOME, ONE, SUPPORTS_TWO) is True
            assert transaction.unrelate(HOME, ONE, SUPPORTS_TWO) is False
            assert transaction.unrelate(HOME, THREE, SUPPORTS_TWO) is False
        assert fetch_one(store).relations == (AMENDS_TWO,)
        assert fetch_one(store, TWO).relations == (Relation("supports", ONE),)

    def test_a_link_needs_both_ends(self, store: Store) -> None:
        """Whoever relates two records must see both."""
        fill(store, make_entry(1))
        for source, target in ((ONE, TWO), (TWO, ONE)):
            with pytest.raises(NotFoundError), store.write() as transaction:
                transaction.relate(HOME, source, Relation("supports", target))
        assert fetch_one(store).relations == ()

    def test_links_change_no_version(self, store: Store) -> None:
        """A link beside a record does not make plans stale."""
        fill(store, make_entry(1), make_entry(2))
        with store.write() as transaction:
            transaction.relate(HOME, ONE, SUPPORTS_TWO)
        assert fetch_one(store).version == 1

    def test_links_are_found_from_both_ends(self, store: Store) -> None:
        """Each once, with its direction."""
        fill(store, make_entry(1, relations=(SUPPORTS_TWO,)), make_entry(2), make_entry(3))
        with store.write() as transaction:
            transaction.relate(HOME, TWO, Relation("before", THREE))
        first, second = (ONE, "supports", TWO), (TWO, "before", THREE)
        assert linked(store, ONE) == [first]
        assert linked(store, TWO) == [first, second]
        assert linked(store, THREE) == [second]
        assert linked(store, ONE, TWO, THREE) == [first, second]
        assert linked(store) == []

    def test_a_link_shows_while_both_ends_live(self, store: Store) -> None:
        """Deleting hides it, restoring gives it back once; cold records are live."""
        fill(store, make_entry(1, relations=(SUPPORTS_TWO,)), make_entry(2))
        for name in (ONE, TWO):
            for _ in range(2):
                move(store, Transition(name, status=Status.DELETED))
                assert linked(store, ONE, TWO) == []
                move(store, Transition(name, status=Status.LIVE))
                assert linked(store, ONE, TWO) == [(ONE, "supports", TWO)]
        move(store, Transition(TWO, tier=Tier.COLD))
        assert linked(store, ONE) == [(ONE, "supports", TWO)]

    def test_replacing_writes_the_links_that_start_there(self, store: Store) -> None:
        """Those that end there belong to their own records."""
        fill(store, make_entry(1, relations=(SUPPORTS_TWO,)), make_entry(2), make_entry(3))
        changed = [
            make_entry(1, relations=(AMENDS_TWO,)),
            make_entry(2, relations=(Relation("before", THREE),)),
        ]
        with store.write() as transaction:
            transaction.replace(changed)
        assert linked(store, TWO) == [(ONE, "amends", TWO), (TWO, "before", THREE)]

    def test_a_link_may_be_there_before_its_target(self, store: Store) -> None:
        """An import writes records in any order."""
        fill(store, make_entry(1, relations=(SUPPORTS_TWO,)))
        assert fetch_one(store).relations == (SUPPORTS_TWO,)
        assert linked(store, ONE) == []
        fill(store, make_entry(2))
        assert linked(store, ONE) == [(ONE, "supports", TWO)]

    def test_entities_are_counted_by_live_record(self, store: Store) -> None:
        """Most named first; a record counts once, however often it names the thing."""
        lena, oslo = Entity("Lena", "person"), Entity("Oslo", "place")
        fill(
            store,
            make_entry(1, entities=(oslo,)),
            make_entry(2, entities=(lena, Entity("LENA", "person"))),
            make_entry(3, entities=(lena,), tier=Tier.COLD),
            make_entry(4, entities=(lena, oslo, Entity("Rome", "place")), status=Status.DELETED),
        )
        listed = entities(store)
        assert [(each.type, each.records) for each in listed] == [("person", 2), ("place", 1)]
        assert listed[0].name in {"Lena", "LENA"}
        assert listed[1].name == "Oslo"
        move(store, Transition(FOUR, status=Status.LIVE))
        assert [each.records for each in entities(store)] == [3, 2, 1]

    def test_entities_of_two_types_are_two(self, store: Store) -> None:
        """Mercury the planet is not Mercury the metal."""
        planet, metal = Entity("Mercury", "planet"), Entity("Mercury", "metal")
        fill(store, make_entry(1, entities=(planet, metal)), make_entry(2, entities=(planet,)))
        assert [(each.name, each.type, each.records) for each in entities(store)] == [
            ("Mercury", "planet", 2),
            ("Mercury", "metal", 1),
        ]

    def test_replaced_entities_and_tags_leave_nothing_behind(self, store: Store) -> None:
        """What nobody names any more is not listed."""
        fill(store, make_entry(1, entities=(Entity("Lena"),), tags=("a",)), make_entry(2))
        with store.write() as transaction:
            transaction.replace([make_entry(1, entities=(Entity("Oslo"),), tags=("b",))])
        assert [each.name for each in entities(store)] == ["Oslo"]
        assert fetch_one(store).tags == ("b",)

    def test_a_chain_of_links_keeps_its_order(self, store: Store) -> None:
        """Links come back in the order in which they were made."""
        targets = [numbered_id(n) for n in (9, 3, 7, 5)]
        given = tuple(Relation("before", target) for target in targets[:2])
        fill(store, make_entry(1, relations=given), *(make_entry(n) for n in (3, 5, 7, 9)))
        with store.write() as transaction:
            for target in targets[2:]:
                transaction.relate(HOME, ONE, Relation("before", target))
        assert [link.target for link in fetch_one(store).relations] == targets
