"""Promise: what was erased is known again until it is lifted, and nothing points to it any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfams.core.events import EventType, MemoryEvent
from sfams.core.receipts import ChainLink, next_link
from sfams.core.record import (
    Claim,
    JsonValue,
    PastVersion,
    RecordId,
    Source,
    Status,
    Twin,
    Validity,
)
from sfams.core.residue import pieces_of
from sfams.core.tombstones import left_by
from sfams.testing.builders import HOME, make_entry, make_record
from sfams.testing.conformance.base import (
    FIVE,
    FOUR,
    NEXT_DOOR,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    erase,
    fetch_one,
    fill,
    seq,
)

if TYPE_CHECKING:
    from sfams.ports import Store

SECRET = "The garage door code is 4471."  # noqa: S105  (nobody's door)
EARLIER = "车库密码是4470。"


def known(store: Store, *names: str) -> dict[str, RecordId]:
    """Ask which names were erased."""
    with store.read() as reader:
        return dict(reader.tombstones(HOME, names))


def lift(store: Store, *ids: RecordId, names: tuple[str, ...] = ()) -> list[RecordId]:
    """Lift tombstones in a unit of work."""
    with store.write() as transaction:
        return list(transaction.lift(HOME, ids, names))


def chain(length: int) -> list[ChainLink]:
    """Make receipts that follow each other."""
    links: list[ChainLink] = []
    for number in range(length):
        last = links[-1] if links else None
        links.append(next_link(last, NOW, {"ids": [ONE], "records": number, "窑": None}))
    return links


class TombstonePromises(Promises):
    """What stays of the erased, and what may not."""

    def test_a_tombstone_knows_all_that_was_said(self, store: Store) -> None:
        """The text under every name, what it said before, and the value of its claim."""
        record = make_record(
            1, content=SECRET, source=Source(who="Lena"), claim=Claim("door", "code", "4471")
        )
        fill(store, make_entry(1, content=SECRET, source=record.source, claim=record.claim))
        with store.write() as transaction:
            transaction.put_versions(HOME, {ONE: [PastVersion(1, EARLIER, NOW)]})
        names = left_by(record, [EARLIER])
        assert known(store, *names) == {}
        erase(store, ONE)
        assert known(store, *names, "never left") == dict.fromkeys(names, ONE)

    def test_the_last_that_said_it_is_named(self, store: Store) -> None:
        """Of two records with one text, the one that was erased last."""
        fill(store, make_entry(1, content=SECRET))
        erase(store, ONE)
        fill(store, make_entry(2, content=SECRET))
        erase(store, TWO)
        name = make_record(1, content=SECRET).content_hash
        assert known(store, name) == {name: TWO}

    def test_lifting_lets_a_text_back_in(self, store: Store) -> None:
        """By id or by any name, with all its names; others stay, and open views still hear of it."""
        fill(store, make_entry(1, content=SECRET), make_entry(2), make_entry(3))
        number = seq(store)
        erase(store, ONE, TWO, THREE)
        names = left_by(make_record(1, content=SECRET))
        assert lift(store, FOUR) == []
        assert lift(store, ONE) == [ONE]
        assert lift(store, ONE) == []
        assert known(store, *names) == {}
        second = left_by(make_record(2))
        assert known(store, *second) == dict.fromkeys(second, TWO)
        assert lift(store, names=second[-1:]) == [TWO]
        assert known(store, *second) == {}
        third = left_by(make_record(3))
        assert known(store, *third) == dict.fromkeys(third, THREE)
        with store.read() as reader:
            assert set(reader.changes(HOME, number).gone) == {ONE, TWO, THREE}

    def test_lifting_frees_all_who_said_it(self, store: Store) -> None:
        """A text that was erased twice is free after one lifting."""
        fill(store, make_entry(1, content=SECRET))
        erase(store, ONE)
        fill(store, make_entry(2, content=SECRET))
        erase(store, TWO)
        lift(store, ONE)
        assert known(store, make_record(1, content=SECRET).content_hash) == {}

    def test_lifting_reaches_into_no_other_scope(self, store: Store) -> None:
        """Neither by id nor by name."""
        fill(store, make_entry(1, content=SECRET))
        erase(store, ONE)
        names = left_by(make_record(1, content=SECRET))
        with store.write() as transaction:
            assert list(transaction.lift(NEXT_DOOR, [ONE], names)) == []
        assert known(store, *names) == dict.fromkeys(names, ONE)

    def test_nothing_points_to_the_erased(self, store: Store) -> None:
        """Successor, twin and sources are taken from other records; the rest of them stays."""
        other = make_record(5, validity=Validity(superseded_by=THREE), twin=Twin(THREE, 0.8))
        fill(
            store,
            make_entry(1),
            make_entry(
                2,
                status=Status.SUPERSEDED,
                validity=Validity(valid_from=NOW, superseded_by=ONE),
                twin=Twin(ONE, 0.9),
                derived_from=(THREE, ONE, FOUR),
            ),
            make_entry(3),
            make_entry(5, validity=other.validity, twin=other.twin),
        )
        erase(store, ONE)
        left = fetch_one(store, TWO)
        assert left.validity == Validity(valid_from=NOW)
        assert (left.twin, left.status) == (None, Status.SUPERSEDED)
        assert left.derived_from == (THREE, FOUR)
        assert fetch_one(store, FIVE) == other
        assert list(store.check()) == []

    def test_the_log_of_others_loses_the_id(self, store: Store) -> None:
        """Wherever in a detail it stands; all else stays, in its place."""
        details: tuple[dict[str, JsonValue], ...] = (
            {"by": ONE, "why": "newer"},
            {"supersedes": [THREE, ONE], "parts": {ONE: 1, "kept": [[ONE], "窑"]}},
            {"by": THREE},
        )
        fill(store, make_entry(1), make_entry(2), make_entry(3))
        with store.write() as transaction:
            transaction.append(
                HOME,
                [
                    MemoryEvent(type=EventType.UPDATED, at=NOW, record_id=TWO, detail=detail)
                    for detail in details
                ],
            )
        erase(store, ONE)
        with store.read() as reader:
            assert [dict(each.detail) for each in reader.history(HOME, [TWO])] == [
                {"why": "newer"},
                {"supersedes": [THREE], "parts": {"kept": [[], "窑"]}},
                {"by": THREE},
            ]

    def test_what_was_made_from_records_is_named(self, store: Store) -> None:
        """Of any status, each once, in id order; in this scope alone."""
        fill(
            store,
            make_entry(1),
            make_entry(2, derived_from=(ONE, FIVE)),
            make_entry(3, derived_from=(FIVE,), status=Status.DELETED),
            make_entry(4, derived_from=(TWO,)),
            make_entry(5, scope=NEXT_DOOR, derived_from=(ONE,)),
        )
        with store.read() as reader:
            assert list(reader.made_from(HOME, [FIVE, ONE])) == [TWO, THREE]
            assert list(reader.made_from(HOME, [TWO])) == [FOUR]
            assert list(reader.made_from(HOME, [])) == []

    def test_receipts_come_back_as_a_chain(self, store: Store) -> None:
        """All, or the last so many, oldest first; each scope has its own; none in a broken-off work."""
        links = chain(12)
        with store.write() as transaction:
            for link in links:
                transaction.add_erasure(HOME, link)
            assert list(transaction.erasures(HOME, last=1)) == links[-1:]
        with store.read() as reader:
            assert list(reader.erasures(HOME)) == links
            assert list(reader.erasures(HOME, last=2)) == links[-2:]
            assert list(reader.erasures(HOME, last=0)) == []
            assert list(reader.erasures(NEXT_DOOR)) == []
        fill(store, make_entry(1))
        erase(store, ONE)
        with store.read() as reader:
            assert list(reader.erasures(HOME)) == links

    def test_what_is_held_is_no_residue(self, store: Store) -> None:
        """A text in a row has a right to be there; after erasing and settling it is nowhere."""
        fill(store, make_entry(1, content=SECRET), make_entry(2, content=EARLIER))
        pieces = pieces_of([SECRET, EARLIER])
        assert store.residue(pieces) == frozenset()
        erase(store, ONE, TWO)
        assert store.settle(rewrite=False) is True
        assert store.settle() is True
        assert store.residue(pieces) == frozenset()
