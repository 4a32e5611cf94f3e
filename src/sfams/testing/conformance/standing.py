"""Promise: standing changes in bulk, and columns, sizes and cold keywords follow at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sfams.core.keywords import ColdPosting
from sfams.core.moments import MISSING, NEVER, to_micros
from sfams.core.record import (
    EmbeddingState,
    Hold,
    RecordId,
    Sensitivity,
    Status,
    Tier,
    Twin,
    Usage,
    Validity,
)
from sfams.errors import InvalidInputError
from sfams.ports import Transition
from sfams.testing.builders import HOME, entry_of, make_entry, make_record, numbered_id
from sfams.testing.conformance.base import (
    FIVE,
    FOUR,
    MINUTE,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    erase,
    fetch_one,
    fill,
    move,
)
from sfams.testing.snapshot import plain_columns

if TYPE_CHECKING:
    from sfams.ports import Store

WORDS = "kiln kiln glaze"


def postings(store: Store, content: str = WORDS) -> list[ColdPosting]:
    """Find a text's terms among the cold records, in a fixed order."""
    terms = [int(term) for term in make_entry(1, content=content).terms.ids]
    with store.read() as reader:
        found = reader.cold_postings(HOME, terms)
    return sorted(found, key=lambda posting: (posting.id, posting.term))


def cold_ids(store: Store, content: str = WORDS) -> set[RecordId]:
    """Name the cold records that hold a text's terms."""
    return {posting.id for posting in postings(store, content)}


class StandingPromises(Promises):
    """Transitions, and what shows their effect."""

    def test_each_field_changes_alone(self, store: Store) -> None:
        """None leaves a field as it is; version and `updated_at` tell of the change."""
        fill(store, *(make_entry(n) for n in range(1, 6)))
        validity = Validity(NOW, NOW + MINUTE, TWO)
        move(
            store,
            Transition(ONE, status=Status.SUPERSEDED, validity=validity),
            Transition(TWO, tier=Tier.COLD),
            Transition(THREE, grace_until=NOW + MINUTE),
            Transition(FOUR, pinned=True),
            Transition(FIVE, held=True),
        )
        new = {"version": 2, "updated_at": NOW}
        assert fetch_one(store, ONE) == make_record(
            1, status=Status.SUPERSEDED, validity=validity, version=2, updated_at=NOW
        )
        assert fetch_one(store, TWO) == make_record(
            2, tier=Tier.COLD, cold_since=NOW, version=2, updated_at=NOW
        )
        assert fetch_one(store, THREE).grace_until == NOW + MINUTE
        assert fetch_one(store, FOUR).pinned
        assert fetch_one(store, FIVE) == make_record(5, held=True, version=2, updated_at=NOW)
        assert fetch_one(store, FOUR).version == new["version"]

    def test_protection_can_be_taken_back(self, store: Store) -> None:
        """False is a value, not the absence of one."""
        validity = Validity(superseded_by=TWO)
        fill(store, make_entry(1, pinned=True, held=True, validity=validity))
        move(store, Transition(ONE, pinned=False, held=False, validity=Validity()))
        found = fetch_one(store)
        assert (found.pinned, found.held, found.validity) == (False, False, Validity())

    def test_a_hold_says_who_and_goes_with_it(self, store: Store) -> None:
        """Owner, reason and end come with the hold and leave with it; other changes leave them alone."""
        hold = Hold("legal", "案件 7", NOW + MINUTE)
        fill(store, make_entry(1))
        move(store, Transition(ONE, held=True, hold=hold))
        move(store, Transition(ONE, pinned=True))
        assert fetch_one(store).hold == hold
        for moment, held in ((NOW, True), (NOW + MINUTE, False)):
            with store.read() as reader:
                assert reader.columns(HOME, moment).held.tolist() == [held]
        move(store, Transition(ONE, held=False))
        assert (fetch_one(store).held, fetch_one(store).hold) == (False, None)

    def test_a_cold_record_knows_since_when(self, store: Store) -> None:
        """From its demotion on, whatever else changes; one that came cold, since it last changed."""
        came = make_entry(2, tier=Tier.COLD)
        fill(store, make_entry(1), came)
        move(store, Transition(ONE, tier=Tier.COLD))
        with store.write() as transaction:
            later = [Transition(ONE, tier=Tier.COLD, pinned=True)]
            transaction.transition(HOME, later, NOW + MINUTE)
        assert fetch_one(store).cold_since == NOW
        with store.read() as reader:
            since = reader.columns(HOME, NOW).cold_since.tolist()
        assert since == [to_micros(NOW), to_micros(came.record.updated_at)]
        move(store, Transition(ONE, tier=Tier.HOT))
        assert fetch_one(store).cold_since is None
        with store.read() as reader:
            assert reader.columns(HOME, NOW).cold_since.tolist()[0] == MISSING

    def test_only_the_named_records_change(self, store: Store) -> None:
        """Unknown ids are passed over."""
        fill(store, make_entry(1), make_entry(2))
        move(store, Transition(ONE, tier=Tier.COLD), Transition(THREE, tier=Tier.COLD))
        assert fetch_one(store, TWO) == make_record(2)
        with store.write() as transaction:
            transaction.transition(HOME, [], NOW)
        assert fetch_one(store, TWO) == make_record(2)

    def test_only_erasing_erases(self, store: Store) -> None:
        """The status alone would leave every trace in place."""
        fill(store, make_entry(1))
        with pytest.raises(InvalidInputError):
            move(store, Transition(ONE, status=Status.ERASED))
        with pytest.raises(InvalidInputError):
            fill(store, make_entry(2, status=Status.ERASED))
        with pytest.raises(InvalidInputError), store.write() as transaction:
            transaction.replace([make_entry(1, status=Status.ERASED)])
        assert fetch_one(store) == make_record(1)

    def test_many_records_change_at_once(self, store: Store) -> None:
        """More than a statement can hold."""
        fill(store, *(make_entry(n) for n in range(2_500)))
        move(store, *(Transition(numbered_id(n), tier=Tier.COLD) for n in range(2_500)))
        with store.read() as reader:
            stats = reader.stats(HOME, NOW)
            assert (stats.hot, stats.cold) == (0, 2_500)
            assert list(reader.changes(HOME, 0).rows) == []

    @pytest.mark.parametrize("way", ["inserted", "demoted", "replaced"])
    def test_cold_records_are_found_by_keywords(self, store: Store, way: str) -> None:
        """Whichever way they became cold."""
        cold = make_entry(1, content=WORDS, tier=Tier.COLD, importance=0.7, expires_at=NOW)
        if way == "inserted":
            fill(store, cold)
        else:
            hot = make_entry(1, content=WORDS, importance=0.7, expires_at=NOW)
            fill(store, hot)
            assert postings(store) == []
            with store.write() as transaction:
                if way == "demoted":
                    transaction.transition(HOME, [Transition(ONE, tier=Tier.COLD)], NOW)
                else:
                    transaction.replace([cold])
        expected = [
            ColdPosting(
                id=ONE,
                term=term,
                count=count,
                length=cold.terms.length,
                importance=0.7,
                created_at=to_micros(cold.record.created_at),
                expires_at=to_micros(NOW),
            )
            for term, count in zip(cold.terms.ids.tolist(), cold.terms.counts.tolist(), strict=True)
        ]
        assert postings(store) == sorted(expected, key=lambda posting: posting.term)

    def test_cold_keywords_come_and_go_with_standing(self, store: Store) -> None:
        """Hot, deleted and erased records have none; a restored cold one has them again."""
        fill(store, *(make_entry(n, content=f"{WORDS} {n}") for n in (1, 2, 3)))
        move(store, *(Transition(name, tier=Tier.COLD) for name in (ONE, TWO, THREE)))
        assert cold_ids(store) == {ONE, TWO, THREE}
        move(store, Transition(ONE, tier=Tier.HOT), Transition(TWO, status=Status.DELETED))
        assert cold_ids(store) == {THREE}
        move(store, Transition(TWO, status=Status.LIVE))
        assert cold_ids(store) == {TWO, THREE}
        erase(store, THREE)
        assert cold_ids(store) == {TWO}
        move(store, Transition(TWO, status=Status.DELETED))
        move(store, Transition(TWO, status=Status.LIVE, tier=Tier.HOT))
        assert cold_ids(store) == set()
        assert list(store.check()) == []

    def test_only_the_terms_asked_for_are_found(self, store: Store) -> None:
        """Each once, however often it is named."""
        fill(store, make_entry(1, content=WORDS, tier=Tier.COLD))
        (kiln,) = make_entry(1, content="kiln").terms.ids.tolist()
        with store.read() as reader:
            (found,) = reader.cold_postings(HOME, [kiln, kiln, 7])
            assert (found.term, found.count) == (kiln, 2)
            assert list(reader.cold_postings(HOME, [])) == []

    def test_columns_show_live_records_in_id_order(self, store: Store) -> None:
        """Every value of every live record, absent moments marked as such."""
        fill(
            store,
            make_entry(
                2,
                kind="goal",
                importance=0.0,
                salience=0.25,
                expires_at=NOW,
                grace_until=NOW + MINUTE,
                usage=Usage(3, NOW, 2, NOW),
                tokens=0,
                pinned=True,
                sensitivity=Sensitivity.SENSITIVE,
                version=9,
            ),
            make_entry(1, tier=Tier.COLD, held=True),
            make_entry(3, status=Status.DELETED),
        )
        with store.read() as reader:
            columns = reader.columns(HOME, NOW)
        one, two = make_record(1), make_record(2)
        assert plain_columns(columns) == {
            "ids": [ONE, TWO],
            "versions": [1, 9],
            "kinds": ["fact", "goal"],
            "importance": [0.5, 0.0],
            "salience": [0.5, 0.25],
            "created_at": [to_micros(one.created_at), to_micros(two.created_at)],
            "last_accessed_at": [MISSING, to_micros(NOW)],
            "access_count": [0, 3],
            "used_count": [0, 2],
            "expires_at": [NEVER, to_micros(NOW)],
            "grace_until": [MISSING, to_micros(NOW + MINUTE)],
            "tokens": [one.tokens, 0],
            "bytes": [len(one.content), len(two.content)],
            "similarity": [0.0, 0.0],
            "pinned": [False, True],
            "held": [True, False],
            "cold": [True, False],
            "cold_since": [to_micros(one.updated_at), MISSING],
            "sensitive": [False, True],
        }

    def test_columns_may_be_empty(self, store: Store) -> None:
        """A policy runs over nothing without a special case."""
        with store.read() as reader:
            columns = reader.columns(HOME, NOW)
            assert (len(columns), columns.importance.shape) == (0, (0,))

    def test_a_twin_counts_while_it_lives(self, store: Store) -> None:
        """A record becomes distinct again when what it resembled leaves."""
        fill(store, make_entry(1, twin=Twin(TWO, 0.9)), make_entry(2), make_entry(3))
        with store.read() as reader:
            assert reader.columns(HOME, NOW).similarity.tolist() == [0.9, 0.0, 0.0]
        move(store, Transition(TWO, status=Status.DELETED))
        with store.read() as reader:
            assert reader.columns(HOME, NOW).similarity.tolist() == [0.0, 0.0]
        move(store, Transition(TWO, status=Status.LIVE))
        with store.read() as reader:
            assert reader.columns(HOME, NOW).similarity.tolist() == [0.9, 0.0, 0.0]
        erase(store, TWO)
        with store.read() as reader:
            assert reader.columns(HOME, NOW).similarity.tolist() == [0.0, 0.0]

    def test_sizes_count_what_is_there(self, store: Store) -> None:
        """By status, tier and kind; tokens of the hot tier; vectors and those still to come."""
        fill(
            store,
            make_entry(1, tokens=10),
            make_entry(2, tokens=20, kind="goal"),
            make_entry(3, tokens=40, tier=Tier.COLD),
            make_entry(4, tokens=80, status=Status.DELETED),
            entry_of(make_record(5, tokens=160, embedding=EmbeddingState.PENDING)),
        )
        erase(store, TWO)
        with store.read() as reader:
            stats = reader.stats(HOME, NOW)
        assert {name: n for name, n in stats.records.items() if n} == {"live": 3, "deleted": 1}
        assert (stats.hot, stats.cold, stats.hot_tokens) == (2, 1, 170)
        assert (stats.vectors, stats.pending) == (2, 1)
        assert {name: n for name, n in stats.kinds.items() if n} == {"fact": 3}
