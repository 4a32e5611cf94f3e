"""Promise: another model's vectors are made beside the current ones and take their place at once."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sfams.core.keywords import index_terms
from sfams.core.record import EmbeddingState, RecordId, Source, Status, Tier
from sfams.ports import META_DIMENSION, META_MODEL, Adoption, EmbeddingModel, Entry, Staged
from sfams.testing.builders import DIMENSION, HOME, make_entry, make_record, make_vector
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
    fetch,
    fetch_one,
    fill,
    seen,
    seq,
)
from sfams.testing.snapshot import plain_terms, plain_vector

if TYPE_CHECKING:
    from sfams.core.record import MemoryRecord
    from sfams.core.view import Vector
    from sfams.ports import Store

OLD = EmbeddingModel("mini-a", DIMENSION)
NEW = EmbeddingModel("mini-b", DIMENSION + 4)
EVERY = 99


def new_vector(record_id: RecordId) -> Vector:
    """Build a vector of the new model."""
    return np.concatenate((make_vector(record_id), np.zeros(4, np.float32)))


def stage(store: Store, *records: MemoryRecord, model: EmbeddingModel = NEW) -> int:
    """Stage a vector for each record."""
    staged = [Staged(record, new_vector(record.id)[: model.dimension]) for record in records]
    with store.write() as transaction:
        return transaction.stage_vectors(model, staged)


def adopt(store: Store, model: EmbeddingModel = NEW) -> Adoption:
    """Adopt a model."""
    with store.write() as transaction:
        return transaction.adopt_vectors(model)


def unstaged(store: Store, model: EmbeddingModel = NEW, limit: int = EVERY) -> list[RecordId]:
    """Name what has nothing staged."""
    with store.read() as reader:
        return sorted(record.id for record in reader.unstaged(model, limit))


def staged_counts(store: Store) -> tuple[int, dict[str, int]]:
    """Tell how far a reindex has come."""
    with store.read() as reader:
        staging = reader.staging()
    return staging.records, {name: count for name, count in staging.staged.items() if count}


def vectors(store: Store, *ids: RecordId) -> dict[RecordId, tuple[float, ...] | None]:
    """Read vectors as plain values."""
    with store.read() as reader:
        found = reader.vectors(HOME, ids)
    return {name: plain_vector(vector) for name, vector in found.items()}


def in_use(store: Store) -> dict[str, object]:
    """Take down everything visible but what is staged."""
    return {name: value for name, value in seen(store).items() if name != "staging"}


def stock(store: Store) -> None:
    """Fill two scopes under the old model, with one record of each standing."""
    with store.write() as transaction:
        transaction.set_meta(META_MODEL, OLD.name)
        transaction.set_meta(META_DIMENSION, str(OLD.dimension))
    fill(
        store,
        make_entry(1),
        make_entry(2, tier=Tier.COLD, source=Source(who="Lena")),
        make_entry(3, status=Status.DELETED),
        make_entry(4, scope=NEXT_DOOR),
    )


class ReindexPromises(Promises):
    """Staged vectors, adoption, new keywords."""

    def test_staging_changes_nothing_in_use(self, store: Store) -> None:
        """Recall goes on with the old model until the new one is complete."""
        stock(store)
        before, number = in_use(store), seq(store)
        assert stage(store, make_record(1), fetch_one(store, TWO)) == 2  # noqa: PLR2004
        assert in_use(store) == before
        assert seq(store) == number
        assert list(store.check()) == []

    def test_progress_is_told_over_all_scopes(self, store: Store) -> None:
        """Whatever a record's standing is, it is listed until it has something staged."""
        stock(store)
        assert unstaged(store) == [ONE, TWO, THREE, FOUR]
        assert staged_counts(store) == (4, {})
        rounds = 0
        while records := list(_some_unstaged(store, limit=3)):
            assert stage(store, *records) == len(records)
            rounds += 1
        assert rounds == 2  # noqa: PLR2004
        assert staged_counts(store) == (4, {NEW.name: 4})
        assert unstaged(store, OLD) == [ONE, TWO, THREE, FOUR]

    def test_no_vector_is_a_result_too(self, store: Store) -> None:
        """A text without a vector is not asked for again and again."""
        stock(store)
        with store.write() as transaction:
            assert transaction.stage_vectors(NEW, [Staged(make_record(1), None)]) == 1
        assert ONE not in unstaged(store)
        adopt(store)
        assert fetch_one(store).embedding is EmbeddingState.FAILED
        assert vectors(store, ONE) == {}

    def test_staging_again_overwrites(self, store: Store) -> None:
        """One staged vector a record and model."""
        stock(store)
        other = Staged(make_record(1), new_vector(TWO))
        assert stage(store, make_record(1)) == 1
        with store.write() as transaction:
            assert transaction.stage_vectors(NEW, [other]) == 1
        assert staged_counts(store) == (4, {NEW.name: 1})
        adopt(store)
        assert vectors(store, ONE) == {ONE: plain_vector(new_vector(TWO))}

    def test_what_changed_meanwhile_is_passed_over(self, store: Store) -> None:
        """Text and speaker are what is embedded; an erased or foreign record is no error."""
        stock(store)
        late = [
            make_record(1, content="Another text."),
            replace(fetch_one(store, TWO), source=Source(who="Zoë")),
            make_record(5),
            make_record(1, scope=NEXT_DOOR),
        ]
        assert stage(store, *late) == 0
        assert stage(store, make_record(1, tags=("new",), version=7)) == 1

    def test_what_is_staged_goes_with_its_text(self, store: Store) -> None:
        """A change of text or speaker drops it, other changes do not, erasing does."""
        stock(store)
        records = fetch(store, ONE, TWO, THREE)
        assert stage(store, *records) == len(records)
        with store.write() as transaction:
            transaction.replace([make_entry(1, tags=("new",), version=2)])
        assert unstaged(store) == [FOUR]
        with store.write() as transaction:
            transaction.replace([make_entry(1, content="Another text.", version=3)])
            transaction.replace([make_entry(2, tier=Tier.COLD, source=Source(who="Zoë"))])
        erase(store, THREE)
        assert unstaged(store) == [ONE, TWO, FOUR]
        assert staged_counts(store) == (3, {})

    def test_adopting_makes_staged_vectors_current(self, store: Store) -> None:
        """In all scopes and standings at once; who has none waits, and no version moves."""
        stock(store)
        records = [*fetch(store, ONE, TWO, THREE), *fetch(store, FOUR, scope=NEXT_DOOR)]
        assert stage(store, *records[:1], *records[2:]) == 3  # noqa: PLR2004
        assert adopt(store) == Adoption(ready=3, failed=0, pending=1)
        assert vectors(store, ONE, TWO, THREE) == {
            name: plain_vector(new_vector(name)) for name in (ONE, THREE)
        }
        assert fetch_one(store) == records[0]
        assert fetch_one(store, TWO) == replace(records[1], embedding=EmbeddingState.PENDING)
        with store.read() as reader:
            assert [record.id for record in reader.pending(HOME, EVERY)] == [TWO]
            assert reader.meta(META_MODEL) == NEW.name
            assert reader.meta(META_DIMENSION) == str(NEW.dimension)
            next_door = reader.vectors(NEXT_DOOR, [FOUR])
        assert plain_vector(next_door[FOUR]) == plain_vector(new_vector(FOUR))
        assert list(store.check()) == []

    def test_adopting_drops_whatever_is_staged(self, store: Store) -> None:
        """Of other models too; a reindex that follows begins anew."""
        stock(store)
        stage(store, make_record(1))
        stage(store, make_record(1), model=EmbeddingModel("mini-c", DIMENSION))
        adopt(store)
        assert staged_counts(store) == (4, {})
        assert unstaged(store) == [ONE, TWO, THREE, FOUR]

    def test_adopting_is_told_by_the_feed(self, store: Store) -> None:
        """A view that holds old vectors must not compare them with new questions."""
        stock(store)
        number, next_door = seq(store), seq(store, NEXT_DOOR)
        stage(store, make_record(1))
        adopt(store)
        assert seq(store) > number
        assert seq(store, NEXT_DOOR) > next_door
        with store.read() as reader:
            rows = {row.id: row for row in reader.changes(HOME, number).rows}
            others = {row.id: row for row in reader.changes(NEXT_DOOR, next_door).rows}
        assert plain_vector(rows[ONE].vector) == plain_vector(new_vector(ONE))
        assert others[FOUR].vector is None

    def test_vectors_of_the_same_model_are_kept(self, store: Store) -> None:
        """What was written under the model already needs nothing staged."""
        stock(store)
        before = vectors(store, ONE, TWO, THREE)
        assert adopt(store, OLD) == Adoption(ready=4, failed=0, pending=0)
        assert vectors(store, ONE, TWO, THREE) == before

    def test_another_length_is_another_model(self, store: Store) -> None:
        """Even under the same name."""
        stock(store)
        longer = EmbeddingModel(OLD.name, NEW.dimension)
        stage(store, make_record(1), model=longer)
        assert unstaged(store, OLD) == [ONE, TWO, THREE, FOUR]
        assert adopt(store, longer) == Adoption(ready=1, failed=0, pending=3)
        assert set(vectors(store, ONE, TWO, THREE)) == {ONE}

    def test_what_is_written_afterwards_is_of_the_new_model(self, store: Store) -> None:
        """So that adopting it again keeps it."""
        stock(store)
        adopt(store)
        with store.write() as transaction:
            late = {ONE: new_vector(ONE)}
            transaction.put_vectors(HOME, late, EmbeddingState.READY)
            entry = make_entry(5)
            transaction.insert([Entry(entry.record, entry.terms, new_vector(FIVE))])
        assert adopt(store) == Adoption(ready=2, failed=0, pending=3)
        assert set(vectors(store, ONE, TWO, FIVE)) == {ONE, FIVE}

    def test_staging_and_adopting_roll_back(self, store: Store) -> None:
        """An adoption that fails half way has not begun."""
        stock(store)
        stage(store, make_record(1))
        before, number = seen(store), seq(store)
        with suppress(KeyError), store.write() as transaction:
            transaction.stage_vectors(NEW, [Staged(make_record(3), new_vector(THREE))])
            transaction.adopt_vectors(NEW)
            raise KeyError
        assert seen(store) == before
        assert seq(store) == number
        assert staged_counts(store) == (4, {NEW.name: 1})
        with store.read() as reader:
            assert reader.meta(META_MODEL) == OLD.name

    def test_staging_outlives_a_restart(self, store: Store) -> None:
        """A reindex of a million records goes on where it stopped."""
        stock(store)
        stage(store, make_record(1))
        again = self.reopen(store)
        assert staged_counts(again) == (4, {NEW.name: 1})
        assert adopt(again) == Adoption(ready=1, failed=0, pending=3)
        assert vectors(again, ONE) == {ONE: plain_vector(new_vector(ONE))}

    def test_keywords_can_be_written_anew(self, store: Store) -> None:
        """Another tokenizer's terms replace the old ones in view and cold postings, nothing else."""
        stock(store)
        terms, number = index_terms("kiln"), seq(store)
        (kiln,) = terms.ids.tolist()
        records = fetch(store, ONE, TWO, THREE)
        old = make_entry(2).terms.ids.tolist()
        with store.write() as transaction:
            transaction.put_keywords(HOME, {ONE: terms, TWO: terms, THREE: terms, FIVE: terms})
            transaction.put_keywords(NEXT_DOOR, {ONE: index_terms("forged")})
        assert fetch(store, ONE, TWO, THREE) == records
        with store.read() as reader:
            rows = {row.id: row for row in reader.changes(HOME, number).rows}
            assert [posting.id for posting in reader.cold_postings(HOME, [kiln])] == [TWO]
            assert list(reader.cold_postings(HOME, old)) == []
        assert plain_terms(rows[ONE].terms) == plain_terms(terms)
        with store.write() as transaction:
            transaction.erase(HOME, [TWO], NOW)
            assert list(transaction.cold_postings(HOME, [kiln])) == []


def _some_unstaged(store: Store, limit: int) -> list[MemoryRecord]:
    with store.read() as reader:
        records = list(reader.unstaged(NEW, limit))
    assert len(records) <= limit
    return records
