"""Promise: records are found by hash, key, claim and what they wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfams.core.record import Claim, EmbeddingState, Status, Tier
from sfams.ports import Transition
from sfams.testing.builders import (
    HOME,
    make_entry,
    make_record,
    make_vector,
    numbered_id,
    text_hash,
)
from sfams.testing.clock import START
from sfams.testing.conformance.base import (
    FIVE,
    FOUR,
    MINUTE,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    fetch_one,
    fill,
    move,
)
from sfams.testing.snapshot import plain_vector

if TYPE_CHECKING:
    from sfams.ports import Store


class LookupPromises(Promises):
    """Direct ways to a record."""

    def test_hashes_lead_to_live_records(self, store: Store) -> None:
        """Cold and expired ones too; what is not live does not count as said."""
        fill(
            store,
            make_entry(1, content="a"),
            make_entry(2, content="b", tier=Tier.COLD),
            make_entry(3, content="c", expires_at=NOW),
            make_entry(4, content="d", status=Status.DELETED),
        )
        hashes = [text_hash(text) for text in "abcde"]
        with store.read() as reader:
            found = dict(reader.by_hash(HOME, hashes))
            assert dict(reader.by_hash(HOME, [])) == {}
        assert found == dict(zip(hashes, [ONE, TWO, THREE], strict=False))

    def test_keys_lead_to_records_of_any_status(self, store: Store) -> None:
        """Exactly as given, but not to erased ones."""
        fill(
            store,
            make_entry(1, key="a"),
            make_entry(2, key="b", status=Status.DELETED),
            make_entry(3, key="A"),
            make_entry(4, key="e"),
        )
        with store.write() as transaction:
            transaction.erase(HOME, [FOUR], NOW)
        with store.read() as reader:
            assert dict(reader.by_key(HOME, ["a", "b", "c", "e"])) == {"a": ONE, "b": TWO}
            assert dict(reader.by_key(HOME, [])) == {}

    def test_claims_lead_to_live_records_of_the_slot(self, store: Store) -> None:
        """Whatever the value and the spelling; subject and attribute both count."""
        slot = Claim("Beta  Release", "Date", "2026-05-04")
        fill(
            store,
            make_entry(1, claim=slot),
            make_entry(2, claim=Claim("beta release", "date", "2026-06-01"), tier=Tier.COLD),
            make_entry(3, claim=slot, status=Status.SUPERSEDED),
            make_entry(4, claim=Claim("beta release", "owner", "Lena")),
            make_entry(5, claim=Claim("date", "beta release", "2026-05-04")),
            make_entry(6),
        )
        with store.read() as reader:
            found = reader.by_claim(HOME, [Claim("BETA RELEASE", "date"), Claim("x", "y")])
            assert {record.id for record in found} == {ONE, TWO}
            assert {record.claim for record in found if record.id == ONE} == {slot}
            wide = reader.by_claim(HOME, [slot, Claim("beta release", "owner"), slot])
            assert sorted(record.id for record in wide) == [ONE, TWO, FOUR]
            assert list(reader.by_claim(HOME, [])) == []

    def test_a_changed_claim_is_found_in_its_new_slot_only(self, store: Store) -> None:
        """Correcting a record moves it."""
        old, new = Claim("beta", "date"), Claim("beta", "owner")
        fill(store, make_entry(1, claim=old))
        with store.write() as transaction:
            transaction.replace([make_entry(1, claim=new)])
        with store.read() as reader:
            assert list(reader.by_claim(HOME, [old])) == []
            assert [record.id for record in reader.by_claim(HOME, [new])] == [ONE]

    def test_what_waits_for_a_vector_is_listed_oldest_first(self, store: Store) -> None:
        """Live records only; a failed one waits no longer."""
        waiting = EmbeddingState.PENDING
        fill(
            store,
            make_entry(1, embedding=waiting, created_at=START + MINUTE),
            make_entry(2, embedding=waiting, created_at=START),
            make_entry(3, embedding=waiting, created_at=START + MINUTE, tier=Tier.COLD),
            make_entry(4, embedding=waiting, status=Status.DELETED),
            make_entry(5, embedding=EmbeddingState.FAILED),
            make_entry(6),
        )
        with store.read() as reader:
            assert [record.id for record in reader.pending(HOME, 9)] == [TWO, ONE, THREE]
            assert [record.id for record in reader.pending(HOME, 2)] == [TWO, ONE]
            assert reader.stats(HOME, NOW).pending == 3  # noqa: PLR2004

    def test_vectors_may_come_later(self, store: Store) -> None:
        """They end the waiting and leave the record as it was."""
        fill(
            store,
            *(make_entry(n, embedding=EmbeddingState.PENDING) for n in (1, 2)),
            make_entry(3, embedding=EmbeddingState.PENDING, tier=Tier.COLD),
        )
        late = {name: make_vector(name) for name in (ONE, THREE, numbered_id(99))}
        with store.write() as transaction:
            transaction.put_vectors(HOME, late, EmbeddingState.READY)
            transaction.put_vectors(HOME, {TWO: None}, EmbeddingState.FAILED)
        with store.read() as reader:
            assert list(reader.pending(HOME, 9)) == []
            vectors = reader.vectors(HOME, [ONE, TWO, THREE])
        assert set(vectors) == {ONE, THREE}
        assert plain_vector(vectors[THREE]) == plain_vector(make_vector(THREE))
        assert fetch_one(store).embedding is EmbeddingState.READY
        assert fetch_one(store, TWO).embedding is EmbeddingState.FAILED
        assert fetch_one(store).version == 1
        assert fetch_one(store).updated_at == make_record(1).updated_at

    def test_a_vector_can_be_put_twice_and_taken_away(self, store: Store) -> None:
        """Re-embedding overwrites; there is one vector a record."""
        fill(store, make_entry(1), make_entry(2))
        with store.write() as transaction:
            transaction.put_vectors(HOME, {ONE: make_vector("new")}, EmbeddingState.READY)
            transaction.put_vectors(HOME, {TWO: None}, EmbeddingState.PENDING)
        with store.read() as reader:
            vectors = reader.vectors(HOME, [ONE, TWO])
            assert reader.stats(HOME, NOW).vectors == 1
            assert [record.id for record in reader.pending(HOME, 9)] == [TWO]
        assert set(vectors) == {ONE}
        assert plain_vector(vectors[ONE]) == plain_vector(make_vector("new"))

    def test_vectors_are_kept_whatever_the_standing(self, store: Store) -> None:
        """A cold or deleted record comes back with the vector that it had."""
        fill(store, *(make_entry(n) for n in range(1, 6)))
        move(store, Transition(ONE, tier=Tier.COLD), Transition(TWO, status=Status.DELETED))
        with store.read() as reader:
            assert set(reader.vectors(HOME, [ONE, TWO, THREE])) == {ONE, TWO, THREE}
        move(store, Transition(ONE, tier=Tier.HOT), Transition(TWO, status=Status.LIVE))
        with store.read() as reader:
            rows = {row.id: row for row in reader.changes(HOME, 0).rows}
        assert set(rows) == {ONE, TWO, THREE, FOUR, FIVE}
        assert plain_vector(rows[TWO].vector) == plain_vector(make_entry(2).vector)
