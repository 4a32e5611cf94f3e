"""Entries as they are written: the row, what belongs to it, and what makes it findable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import apsw

from sfams.core.moments import to_micros
from sfams.core.record import MemoryRecord, Status, Tier, Usage
from sfams.core.traces import trace_of
from sfams.core.view import Vector
from sfams.ports import META_MODEL, Entry
from sfams.stores.matching import folded
from sfams.stores.rows import (
    CLAIM_KEY_COLUMNS,
    RECORD_COLUMNS,
    Cell,
    encode_record,
    encode_ring,
    encode_terms,
    encode_turns,
    encode_usage,
    encode_vector,
    to_json,
)
from sfams.stores.sqlite import postings
from sfams.stores.sqlite.faults import naming_clash
from sfams.stores.sqlite.statements import QUERIES

_COLUMNS = (*RECORD_COLUMNS, *CLAIM_KEY_COLUMNS)
_MARKS = ", ".join("?" * (len(_COLUMNS) + 3))
_NAMES = ", ".join(_COLUMNS)
_TURN = "(SELECT turns FROM scope WHERE number = ?2)"
_INSERT = (
    f"INSERT INTO record (number, scope, change_seq, {_NAMES}, learned_turn)"  # noqa: S608  own names
    f" VALUES ({_MARKS}, {_TURN})"
)
_SET = ", ".join(f"{name} = ?" for name in _COLUMNS)
_REPLACE = f"UPDATE record SET change_seq = ?, {_SET} WHERE number = ?"  # noqa: S608  own names

Numbered = Sequence[tuple[int, Entry]]


class EntryWriter:
    """Writes entries of one scope, each under the number of its row, all with one `change_seq`."""

    def __init__(self, connection: apsw.Connection, scope: int, seq: int) -> None:
        self._connection = connection
        self._scope = scope
        self._seq = seq

    def add(self, numbered: Numbered) -> None:
        """Write new entries."""
        with naming_clash(lambda: self._rivals(numbered)):
            self._connection.executemany(
                _INSERT,
                (
                    (number, self._scope, self._seq, *encode_record(entry.record))
                    for number, entry in numbered
                ),
            )
        self._write_belongings(numbered)
        self._many(
            "usage_set",
            (
                (number, *encode_usage(entry.record.usage), *self._trace(entry.record))
                for number, entry in numbered
                if entry.record.usage != Usage()
            ),
        )

    def _trace(self, record: MemoryRecord) -> tuple[Cell, Cell]:
        """Begin a record's trace with the usage that it brings."""
        turn = self._connection.execute(QUERIES["scope_turns"], (self._scope,)).get
        trace = trace_of(record.usage, to_micros(record.created_at), turn)
        return encode_ring(trace), encode_turns(trace)

    def replace(self, numbered: Numbered) -> None:
        """Write changed entries over the old ones."""
        numbers = [number for number, _ in numbered]
        postings.remove(
            self._connection, self._scope, postings.cold_among(self._connection, numbers)
        )
        self._many(
            "past_version_keep",
            (
                (number, entry.record.content, to_micros(entry.record.updated_at))
                for number, entry in numbered
            ),
        )
        self._many(
            "staged_outdated",
            ((number, entry.record.content, entry.record.source.who) for number, entry in numbered),
        )
        if len(numbered) > 1:  # two records may change places
            self._many("record_vacate", ((number,) for number in numbers))
        with naming_clash(lambda: self._rivals(numbered)):
            self._connection.executemany(
                _REPLACE,
                ((self._seq, *encode_record(entry.record), number) for number, entry in numbered),
            )
        for query in ("entity_clear", "tag_clear", "relation_clear"):
            self._many(query, ((number,) for number in numbers))
        self._many("vector_remove", ((n,) for n, entry in numbered if entry.vector is None))
        self._write_belongings(numbered)

    def put_vectors(self, vectors: Iterable[tuple[int, Vector | None]]) -> None:
        """Write vectors under the store's embedding model; None removes one."""
        given = list(vectors)
        self._many("vector_remove", ((number,) for number, vector in given if vector is None))
        present = [(number, vector) for number, vector in given if vector is not None]
        if present:
            model = self._model()
            self._many(
                "vector_put", ((number, model, encode_vector(vector)) for number, vector in present)
            )

    def _write_belongings(self, numbered: Numbered) -> None:
        self._many("entity_add", self._entities(numbered))
        self._many("tag_add", self._tags(numbered))
        self._many("relation_add", self._relations(numbered))
        self._many(
            "keyword_put",
            ((number, each.terms.length, encode_terms(each.terms)) for number, each in numbered),
        )
        self.put_vectors(
            (number, entry.vector) for number, entry in numbered if entry.vector is not None
        )
        cold = [number for number, entry in numbered if _is_cold(entry.record)]
        if cold:
            postings.add(self._connection, self._scope, cold)

    def _entities(self, numbered: Numbered) -> Iterator[tuple[Cell, ...]]:
        return (
            (number, position, self._scope, folded(entity.name), entity.name, entity.type)
            for number, entry in numbered
            for position, entity in enumerate(entry.record.entities)
        )

    def _tags(self, numbered: Numbered) -> Iterator[tuple[Cell, ...]]:
        return (
            (number, position, self._scope, tag)
            for number, entry in numbered
            for position, tag in enumerate(entry.record.tags)
        )

    def _relations(self, numbered: Numbered) -> Iterator[tuple[Cell, ...]]:
        return (
            (self._scope, number, relation.type, relation.target)
            for number, entry in numbered
            for relation in entry.record.relations
        )

    def _many(self, query: str, rows: Iterable[tuple[Cell, ...]]) -> None:
        self._connection.executemany(QUERIES[query], rows)

    def _model(self) -> int:
        """Number the embedding model that the store works with."""
        name = self._connection.execute(QUERIES["meta"], (META_MODEL,)).get or ""
        number: int = self._connection.execute(QUERIES["model_number"], (name,)).get
        return number

    def _rivals(self, numbered: Numbered) -> list[str]:
        """Name the records that have an id, key or live content that one of these wants."""
        records = [entry.record for _, entry in numbered]
        values = (
            self._scope,
            to_json([record.id for record in records]),
            to_json([record.key for record in records if record.key is not None]),
            to_json([record.content_hash for record in records if record.status is Status.LIVE]),
        )
        return [row[0] for row in self._connection.execute(QUERIES["rivals"], values)]


def _is_cold(record: MemoryRecord) -> bool:
    return record.status is Status.LIVE and record.tier is Tier.COLD
