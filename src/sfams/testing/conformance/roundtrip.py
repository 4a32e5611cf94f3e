"""Promise: what is written comes back, every field of it, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sfams.core.keywords import Terms
from sfams.core.record import (
    Claim,
    EmbeddingState,
    Entity,
    JsonValue,
    MemoryRecord,
    Relation,
    Sensitivity,
    Source,
    Status,
    Tier,
    Twin,
    Usage,
    Validity,
)
from sfams.errors import NotFoundError
from sfams.ports import Entry, PastVersion
from sfams.testing.builders import HOME, entry_of, make_entry, make_record, make_vector, numbered_id
from sfams.testing.conformance.base import (
    MINUTE,
    NEXT_DOOR,
    NOW,
    ONE,
    THREE,
    TICK,
    TWO,
    Promises,
    fetch,
    fetch_one,
    fill,
    furnish,
    seen,
)
from sfams.testing.snapshot import plain_record, plain_terms, plain_vector

if TYPE_CHECKING:
    from sfams.ports import Store

TEXTS = {
    "plain": "The kiln fires at 1040 degrees.",
    "emoji": "👩‍👩‍👧‍👦 🇳🇴 👍🏽 \U0001f9ff",
    "decomposed": "e\u0301 is not \u00e9, \u2126 is not \u03a9",
    "chinese": "星辰科技的测试版将于五月四日发布。𠮷野家",
    "right to left": "שלום עולם \u200f مرحبا",
    "blanks": "  two before,\ttab, \r\n line\u2028separator, three after   ",
    "quoting": """'; DROP TABLE records; -- "x" \\ %_ ? :a $1 {} \\u0041""",
    "escapes": "\x01\x1f\x7f\u0085\ufeff\ufffd",
    "edges": "\ud7ff\ue000\U0010ffff",
    "long": "memory " * 28_571 + "200k",
}
METADATA: dict[str, JsonValue] = {
    "none": None,
    "yes": True,
    "one": 1,
    "one.0": 1.0,
    "text one": "1",
    "": "empty name",
    "名 \"quoted\" 'name'": "值 👍",
    "nested": {"list": [1, [], {}, None, [{"deep": [False, 0, 0.1]}]], "a.b": {"$c": "[0]"}},
    "big": 2**53 + 1,
    "small": 5e-324,
    "third": 1 / 3,
}


def every_field() -> MemoryRecord:
    """Build a record in which no field has its default."""
    return MemoryRecord(
        id=ONE,
        scope=HOME,
        content="Beta moves to 4 May 2026.",
        content_hash="b" * 64,
        kind="decision:release",
        importance=0.1 + 0.2,
        created_at=NOW + TICK,
        recorded_at=NOW + 2 * TICK,
        updated_at=NOW + 3 * TICK,
        expires_at=NOW + 4 * MINUTE + TICK,
        grace_until=NOW + 5 * MINUTE + TICK,
        entities=(Entity("Zoë", "person"), Entity("Beta"), Entity("Zoë", "band")),
        tags=("z", "a", "Ä tag, with comma"),
        metadata=METADATA,
        source=Source(who="Zoë", role="user", session="s/1", turn=0),
        claim=Claim("Beta release", "Date", "2026-05-04"),
        relations=(Relation("supports", TWO), Relation("amends", TWO)),
        derived_from=(THREE, TWO),
        usage=Usage(7, NOW + 6 * TICK, 3, NOW + 5 * TICK),
        validity=Validity(NOW - MINUTE, NOW + MINUTE, TWO),
        twin=Twin(TWO, 1 / 3),
        trust=0.7,
        sensitivity=Sensitivity.SENSITIVE,
        language="nb",
        tokens=9,
        status=Status.SUPERSEDED,
        tier=Tier.COLD,
        pinned=True,
        held=True,
        embedding=EmbeddingState.FAILED,
        key="caller's key / 1",
        version=42,
    )


class RoundTripPromises(Promises):
    """What is written comes back."""

    def test_every_field_comes_back(self, store: Store) -> None:
        """Nothing is lost, rounded or put in another order."""
        record = every_field()
        fill(store, entry_of(record), make_entry(2), make_entry(3))
        assert plain_record(fetch_one(store)) == plain_record(record)
        found = fetch_one(store)
        assert (found.entities, found.tags) == (record.entities, record.tags)
        assert found.derived_from == record.derived_from

    def test_defaults_come_back(self, store: Store) -> None:
        """Absent is not empty, and empty is not absent."""
        record = replace(make_record(1), embedding=EmbeddingState.PENDING)
        fill(store, entry_of(record))
        assert fetch_one(store) == record

    @pytest.mark.parametrize("name", TEXTS)
    def test_text_comes_back_to_the_letter(self, store: Store, name: str) -> None:
        """Neither normalised nor trimmed nor cut."""
        text = TEXTS[name]
        source = Source(who=text[:90], role=text[:40], session=text[:90])
        entities = (Entity(text[:90], "thing"),)
        fill(
            store,
            make_entry(1, content=text, source=source, key=text[:90], entities=entities),
        )
        record = fetch_one(store)
        assert record.content == text
        assert (record.source, record.key, record.entities) == (source, text[:90], entities)

    def test_moments_come_back_to_the_microsecond(self, store: Store) -> None:
        """Over the whole range of `datetime`, before 1970 too, as aware UTC."""
        moments = [
            datetime(1, 1, 1, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            datetime(1970, 1, 1, tzinfo=UTC),
            NOW + TICK,
            datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        ]
        fill(
            store,
            *(make_entry(n, created_at=at, expires_at=at) for n, at in enumerate(moments)),
        )
        found = fetch(store, *map(numbered_id, range(len(moments))))
        assert [record.created_at for record in found] == moments
        assert [record.expires_at for record in found] == moments
        assert {record.created_at.tzinfo for record in found} == {UTC}

    @pytest.mark.parametrize("value", [0.0, 1.0, 0.1 + 0.2, 5e-324, 1 - 2**-53])
    def test_numbers_come_back_to_the_last_bit(self, store: Store, value: float) -> None:
        """An importance of 0 is a value, not its absence."""
        twin = Twin(TWO, value)
        fill(store, make_entry(1, importance=value, trust=value, twin=twin, tokens=0))
        record = fetch_one(store)
        assert (record.importance, record.trust, record.twin) == (value, value, twin)

    def test_metadata_keeps_its_types(self, store: Store) -> None:
        """1, 1.0, "1" and true are four values."""
        fill(store, make_entry(1, metadata=METADATA))
        assert (
            plain_record(fetch_one(store))["metadata"]
            == plain_record(make_record(1, metadata=METADATA))["metadata"]
        )

    def test_the_callers_values_are_parted_from_the_store(self, store: Store) -> None:
        """Changing what was handed in, or what was handed out, changes nothing stored."""
        given: dict[str, JsonValue] = {"list": [1]}
        vector = make_vector("x")
        fill(store, replace(make_entry(1, metadata=given), vector=vector))
        given["more"] = 1
        vector[:] = 0
        taken = fetch_one(store).metadata["list"]
        assert isinstance(taken, list)
        taken.append(2)
        assert fetch_one(store).metadata == {"list": [1]}
        with store.read() as reader:
            kept = reader.vectors(HOME, [ONE])[ONE]
        assert plain_vector(kept) == plain_vector(make_vector("x"))

    def test_records_come_in_the_order_asked_for(self, store: Store) -> None:
        """Unknown ids are left out, not errors."""
        fill(store, make_entry(1), make_entry(2), make_entry(3))
        found = fetch(store, THREE, numbered_id(99), ONE, TWO)
        assert [record.id for record in found] == [THREE, ONE, TWO]
        assert fetch(store) == []

    def test_any_number_of_ids_may_be_asked_for(self, store: Store) -> None:
        """A database's limit on parameters is not the caller's."""
        fill(store, make_entry(1))
        ids = [numbered_id(n) for n in range(34_000, 0, -1)]
        with store.read() as reader:
            assert [record.id for record in reader.get(HOME, ids)] == [ONE]
            assert set(reader.vectors(HOME, ids)) == {ONE}
            assert dict(reader.by_hash(HOME, ids)) == {}
            assert dict(reader.tombstones(HOME, ids)) == {}

    def test_vectors_come_back_to_the_last_bit(self, store: Store) -> None:
        """As float32, with or without a unit length."""
        values = [1 / 3, -0.0, 1e-45, -3.4e38, 1.0, 0.5, -1e-30, 2 / 3]
        vector = np.array(values, np.float32)
        fill(store, replace(make_entry(1), vector=vector))
        with store.read() as reader:
            found = reader.vectors(HOME, [ONE, TWO])
        assert set(found) == {ONE}
        assert found[ONE].dtype == np.float32
        assert found[ONE].tobytes() == vector.tobytes()

    def test_keyword_entries_come_back(self, store: Store) -> None:
        """All 64 bits of a term id and all 16 of a count."""
        ids = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
        terms = Terms(ids, np.array([1, 2, 3, 65_535, 4], np.uint16))
        none = Terms(np.empty(0, np.uint64), np.empty(0, np.uint16))
        fill(store, Entry(make_record(1), terms), Entry(make_record(2), none))
        with store.read() as reader:
            rows = {row.id: row for row in reader.changes(HOME, 0).rows}
        assert plain_terms(rows[ONE].terms) == plain_terms(terms)
        assert rows[ONE].terms.length == terms.length
        assert plain_terms(rows[TWO].terms) == {}

    def test_a_replaced_record_is_new_throughout(self, store: Store) -> None:
        """Every field is written, and those now empty are emptied. Usage is counted apart."""
        fill(store, entry_of(every_field()), make_entry(2), make_entry(3))
        bare = make_record(1, content="Now this.", version=43, relations=())
        with store.write() as transaction:
            transaction.replace([entry_of(bare)])
        assert fetch_one(store) == replace(bare, usage=every_field().usage)
        with store.write() as transaction:
            transaction.replace([entry_of(every_field())])
        assert plain_record(fetch_one(store)) == plain_record(every_field())

    def test_replacing_writes_or_removes_the_vector(self, store: Store) -> None:
        """The vector of an old text must not stay behind a new one."""
        fill(store, make_entry(1), make_entry(2))
        changed = [
            make_entry(1, content="Other text."),
            make_entry(2, content="Not embedded.", embedding=EmbeddingState.PENDING),
        ]
        with store.write() as transaction:
            transaction.replace(changed)
        with store.read() as reader:
            vectors = reader.vectors(HOME, [ONE, TWO])
            rows = {row.id: row for row in reader.changes(HOME, 0).rows}
        assert set(vectors) == {ONE}
        assert plain_vector(vectors[ONE]) == plain_vector(make_vector("Other text."))
        assert plain_vector(rows[ONE].vector) == plain_vector(vectors[ONE])
        assert rows[TWO].vector is None

    def test_replacing_writes_the_keywords(self, store: Store) -> None:
        """The words of the old text find nothing any more."""
        fill(store, make_entry(1, content="alpha", tier=Tier.COLD))
        changed = make_entry(1, content="gamma", tier=Tier.COLD)
        old = [int(term) for term in make_entry(1, content="alpha").terms.ids]
        with store.write() as transaction:
            transaction.replace([changed])
        with store.read() as reader:
            assert list(reader.cold_postings(HOME, old)) == []
            assert len(reader.cold_postings(HOME, changed.terms.ids.tolist())) == 1

    def test_replacing_an_unknown_record_is_refused(self, store: Store) -> None:
        """A replace never inserts."""
        fill(store, make_entry(1))
        with pytest.raises(NotFoundError), store.write() as transaction:
            transaction.replace([make_entry(1, content="Changed."), make_entry(2)])
        assert fetch(store, ONE, TWO) == [make_record(1)]

    def test_settings_come_back(self, store: Store) -> None:
        """Store-wide settings are text by name; the last one written counts."""
        with store.write() as transaction:
            transaction.set_meta("model", "e5 ☃")
            transaction.set_meta("model", "e5 ☃ 2")
            transaction.set_meta("empty", "")
        with store.read() as reader:
            assert (reader.meta("model"), reader.meta("empty")) == ("e5 ☃ 2", "")
            assert reader.meta("unknown") is None

    def test_an_import_brings_earlier_versions(self, store: Store) -> None:
        """They come before what is changed here, of known records alone, and go with their record."""
        fill(store, make_entry(1, version=3), make_entry(2))
        first, second = (PastVersion(n, f"Said {n}.", NOW) for n in (1, 2))
        with store.write() as transaction:
            transaction.put_versions(HOME, {ONE: [first], THREE: [second]})
            transaction.put_versions(HOME, {ONE: [second]})
            transaction.put_versions(NEXT_DOOR, {TWO: [first]})
            transaction.replace([make_entry(1, content="Changed.", version=4, updated_at=NOW)])
        third = PastVersion(3, make_record(1).content, NOW)
        with store.read() as reader:
            assert list(reader.versions(HOME, ONE)) == [first, second, third]
            assert [*reader.versions(HOME, TWO), *reader.versions(HOME, THREE)] == []
        with store.write() as transaction:
            transaction.erase(HOME, [ONE], NOW)
            assert list(transaction.versions(HOME, ONE)) == []

    def test_everything_outlives_a_restart(self, store: Store) -> None:
        """What one store object has committed, the next one reads."""
        with store.write() as transaction:
            furnish(transaction)
            transaction.set_meta("model", "e5")
        before = seen(store)
        again = self.reopen(store)
        assert seen(again) == before
        with again.read() as reader:
            assert reader.meta("model") == "e5"
        assert list(again.check()) == []
        with again.write() as transaction:
            assert transaction.log_turn(HOME, "s-1", NOW) == 2  # noqa: PLR2004
