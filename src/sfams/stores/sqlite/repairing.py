"""Repairing: mends what `checking` finds, as far as no embedder is needed.

A repair looks again, inside its transaction: what others have written since the check is never
taken for damage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import apsw

from sfams.core.indexing import terms_of
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.scope import Scope
from sfams.ports import Problem
from sfams.stores.rows import encode_terms, scope_to_path, to_json
from sfams.stores.sqlite import postings, records
from sfams.stores.sqlite.checking import CHILD_TABLES, Check, hash_of
from sfams.stores.sqlite.statements import QUERIES
from sfams.stores.sqlite.viewing import YEAR_1, YEAR_9999, unreadable_ids


def repair(connection: apsw.Connection, problems: Sequence[Problem]) -> int:
    """Mend problems; returns how many were mended."""
    mended = sum(_remove_orphans(connection, p) for p in problems if p.check == Check.ORPHANS)
    for problem in problems:
        mend = _MENDERS.get(problem.check)
        if mend is not None and problem.scope is not None:
            mended += mend(_Bench(connection, problem.scope), problem.ids)
    return mended


def _remove_orphans(connection: apsw.Connection, problem: Problem) -> int:
    """Remove rows that belong to no record, from the table that the message names."""
    table = problem.message.partition(":")[0]
    if table not in CHILD_TABLES:
        return 0
    connection.execute(
        f"DELETE FROM {table}"  # noqa: S608  (the name of one of our own tables)
        f" WHERE {CHILD_TABLES[table]} NOT IN (SELECT number FROM record)"
    )
    return 1


class _Bench:
    """One scope under repair. Its `change_seq` rises, so that views take notice."""

    def __init__(self, connection: apsw.Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope
        self._number: int = connection.execute(QUERIES["scope_number"], (scope_to_path(scope),)).get
        self._seq: int = self._run("change_seq_raise").get

    def _run(self, query: str, *values: str | int) -> apsw.Cursor:
        return self._connection.execute(QUERIES[query], (self._number, *values))

    def wait(self, ids: Sequence[RecordId]) -> bool:
        """Mark records that have no vector of the store's model as waiting for one."""
        self._run("repair_models")
        self._run("repair_vectors", self._seq)
        return bool(ids)

    def read_anew(self, ids: Sequence[RecordId]) -> bool:
        """Give unreadable cells a value: a dead row must not keep its whole scope from being read."""
        self._run("repair_cells", YEAR_1, YEAR_9999, to_json(ids), self._seq)
        self._run("repair_traces", to_json(ids))
        return not set(ids) & set(unreadable_ids(self._connection, self._number))

    def index(self, ids: Sequence[RecordId]) -> bool:
        """Make keywords and cold postings from the records again."""
        for number, record in self._records(ids):
            self._index(number, record)
        return bool(ids)

    def accept(self, ids: Sequence[RecordId]) -> bool:
        """Take changed contents as they are, unless a live record says the same already."""
        mended = True
        for number, record in self._records(ids):
            try:
                values = number, hash_of(record), self._seq
                self._connection.execute(QUERIES["repair_content"], values)
            except apsw.ConstraintError:
                mended = False
                continue
            for query in ("vector_remove", "staged_remove"):
                self._connection.execute(QUERIES[query], (number,))
            self._index(number, record)
        return mended

    def _records(self, ids: Sequence[RecordId]) -> list[tuple[int, MemoryRecord]]:
        rows: list[tuple[Any, ...]] = self._run("record_numbers", to_json(ids)).fetchall()
        numbers = dict(rows)
        found = records.by_id(self._connection, self._scope, self._number, ids)
        return [(numbers[record.id], record) for record in found]

    def _index(self, number: int, record: MemoryRecord) -> None:
        terms = terms_of(record)
        entry = number, terms.length, encode_terms(terms)
        self._connection.execute(QUERIES["keyword_put"], entry)
        self._run("postings_drop", to_json([number]))
        cold = postings.cold_among(self._connection, [number])
        postings.add(self._connection, self._number, cold)
        self._connection.execute(QUERIES["record_touch"], (number, self._seq))


_MENDERS: Mapping[str, Callable[[_Bench, Sequence[RecordId]], bool]] = {
    Check.CELLS: _Bench.read_anew,
    Check.CONTENT: _Bench.accept,
    Check.VECTORS: _Bench.wait,
    Check.MODELS: _Bench.wait,
    Check.KEYWORDS: _Bench.index,
    Check.POSTINGS: _Bench.index,
}
