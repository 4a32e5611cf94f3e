"""Checking: what can be wrong in a file, found and named by record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import apsw
import numpy as np

from sfams.core.admission import content_hash
from sfams.core.draft import Draft
from sfams.core.indexing import terms_of
from sfams.core.keywords import Terms
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.scope import Scope
from sfams.ports import Problem
from sfams.stores.rows import decode_terms, scope_from_path, to_json
from sfams.stores.sqlite import records
from sfams.stores.sqlite.statements import QUERIES
from sfams.stores.sqlite.viewing import unreadable_ids


class Check:
    """Names of the checks, as `Problem.check` and `repair` know them."""

    INTEGRITY = "integrity"
    ORPHANS = "orphans"
    CELLS = "unreadable cells"
    CONTENT = "changed content"
    VECTORS = "missing vectors"
    MODELS = "vectors of another model"
    KEYWORDS = "keywords"
    POSTINGS = "cold postings"


WAIT = "mark as waiting for a vector"
REPAIRS = {
    Check.CELLS: "put another moment of the record, or a plain default, in place of what cannot be read",
    Check.ORPHANS: "remove them",
    Check.CONTENT: "take the content as it is: new hash and keywords, waiting for a vector",
    Check.VECTORS: WAIT,
    Check.MODELS: WAIT,
    Check.KEYWORDS: "index the text again",
    Check.POSTINGS: "index the cold records again",
}

_PRIME = 1_000_003

CHILD_TABLES = {
    "entity": "record",
    "tag": "record",
    "relation": "source",
    "past_version": "record",
    "vector": "record",
    "context_vector": "record",
    "staged_vector": "record",
    "keyword": "record",
    "cold_posting": "record",
    "usage": "record",
    "usage_turn": "record",
}
"""Tables whose rows belong to a record, and the column that names it."""


_BY_QUERY = {
    Check.VECTORS: ("check_vectors", "are marked ready but have no vector"),
    Check.MODELS: ("check_models", "have a vector of another model or length than the store's"),
}
_OUR_HASH = re.compile(r"[0-9a-f]{32}")
_SHOWN = 10
_CHUNK = 500


def check(connection: apsw.Connection) -> list[Problem]:
    """Run every check. A damaged file is checked no further: what it says cannot be trusted."""
    damage = _integrity(connection)
    if damage:
        return damage
    problems = list(_orphans(connection))
    try:
        scopes: list[tuple[Any, ...]] = connection.execute(QUERIES["scopes"]).fetchall()
        for number, path in scopes:
            problems += _scope(connection, number, scope_from_path(path))
    except UnicodeDecodeError as error:  # SQLite does not look into the texts
        return [Problem(Check.INTEGRITY, None, (), f"a text is not UTF-8: {error.reason}")]
    return problems


def _scope(connection: apsw.Connection, number: int, scope: Scope) -> Iterator[Problem]:
    unreadable = unreadable_ids(connection, number)
    yield from _problem(Check.CELLS, scope, unreadable, "hold a cell that cannot be read")
    for name, (query, message) in _BY_QUERY.items():
        rows = connection.execute(QUERIES[query], (number,))
        yield from _problem(name, scope, (row[0] for row in rows), message)
    changed, unindexed = _texts(connection, scope, number, frozenset(unreadable))
    yield from _problem(Check.CONTENT, scope, changed, "have a content that their hash denies")
    yield from _problem(Check.KEYWORDS, scope, unindexed, "have keywords that do not fit the text")
    cold = _cold(connection, number)
    yield from _problem(Check.POSTINGS, scope, cold, "are entered wrongly among the cold records")


def _problem(name: str, scope: Scope | None, ids: Iterable[str], message: str) -> Iterator[Problem]:
    named = tuple(RecordId(each) for each in sorted(set(ids)))
    if named:
        yield Problem(name, scope, named, f"{len(named)} {message}", REPAIRS.get(name, ""))


def _integrity(connection: apsw.Connection) -> list[Problem]:
    """Let SQLite look at pages, indexes and cell types. In a bad page it may give up half-way."""
    found: list[str] = []
    try:
        for row in connection.execute(f"PRAGMA integrity_check({_SHOWN})"):
            found.append(str(row[0]))  # noqa: PERF401  (what came before it gave up counts)
    except apsw.CorruptError as error:
        found.append(f"the check could not go on: {error}")
    return [Problem(Check.INTEGRITY, None, (), each) for each in found if each != "ok"]


def _orphans(connection: apsw.Connection) -> Iterator[Problem]:
    for table, column in CHILD_TABLES.items():
        numbers = [row[0] for row in connection.execute(_orphan_query(table, column))]
        if numbers:
            shown = ", ".join(map(str, numbers[:_SHOWN])) + ", ..." * (len(numbers) > _SHOWN)
            message = f"{table}: rows of {len(numbers)} records that are not there ({shown})"
            yield Problem(Check.ORPHANS, None, (), message, REPAIRS[Check.ORPHANS])


def _orphan_query(table: str, column: str) -> str:
    return (
        f"SELECT DISTINCT {column} FROM {table}"  # noqa: S608  (names of our own tables)
        f" WHERE {column} NOT IN (SELECT number FROM record) ORDER BY {column}"
    )


def _texts(
    connection: apsw.Connection, scope: Scope, number: int, unreadable: frozenset[RecordId]
) -> tuple[list[RecordId], list[RecordId]]:
    """Compare every text with its hash and its keywords; name those that differ in each."""
    changed, unindexed = [], []
    rows = connection.execute(QUERIES["record_ids"], (number,)).fetchall()
    ids = [RecordId(str(row[0])) for row in rows if row[0] not in unreadable]
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        keywords = dict(connection.execute(QUERIES["check_keywords"], (number, to_json(chunk))))
        for record in records.by_id(connection, scope, number, chunk):
            if _OUR_HASH.fullmatch(record.content_hash) and hash_of(record) != record.content_hash:
                changed.append(record.id)
            elif not _fits(record, keywords.get(record.id)):
                unindexed.append(record.id)
    return changed, unindexed


def hash_of(record: MemoryRecord) -> str:
    """Make the content hash that a record should have."""
    return content_hash(Draft(content=record.content, source=record.source), record.kind)


def _fits(record: MemoryRecord, keywords: object) -> bool:
    if not isinstance(keywords, bytes):
        return False
    return _counted(decode_terms(keywords)) == _counted(terms_of(record))


def _counted(terms: Terms) -> dict[int, int]:
    return dict(zip(terms.ids.tolist(), terms.counts.tolist(), strict=True))


def _cold(connection: apsw.Connection, number: int) -> list[str]:
    """Compare the cold postings with the keywords: by count and sums, record by record."""
    wanted: dict[str, tuple[int, ...]] = {}
    for record_id, data in connection.execute(QUERIES["check_cold_keywords"], (number,)):
        terms = decode_terms(data)
        mixed = np.fmod(terms.ids.view("<i8"), _PRIME).sum()
        wanted[record_id] = len(terms.ids), int(terms.counts.sum()), int(mixed)
    found = {
        record_id: tuple(sums)
        for record_id, *sums in connection.execute(QUERIES["check_postings"], (number, _PRIME))
    }
    empty = (0, 0, 0)
    return [
        each
        for each in wanted.keys() | found.keys()
        if wanted.get(each, empty) != found.get(each, empty)
    ]
