"""Reindexing: another model's vectors are laid aside and take their place in one stroke."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from sfams.core.keywords import Terms
from sfams.core.record import EmbeddingState, MemoryRecord, RecordId
from sfams.ports import META_DIMENSION, META_MODEL, Adoption, EmbeddingModel, Staged, Staging
from sfams.stores.rows import encode_terms, encode_vector, scope_from_path
from sfams.stores.sqlite import postings, records
from sfams.stores.sqlite.statements import QUERIES


def staging(connection: apsw.Connection) -> Staging:
    """Count the records of all scopes, and what is staged for each model."""
    counted: list[Any] = connection.execute(QUERIES["staged_counts"]).fetchall()
    return Staging(connection.execute(QUERIES["record_count"]).get, dict(counted))


def unstaged(connection: apsw.Connection, model: EmbeddingModel, limit: int) -> list[MemoryRecord]:
    """Read records that have nothing staged for a model, in the order in which they were written."""
    values = model.name, model.dimension, max(limit, 0)
    wanted: dict[tuple[int, str], list[RecordId]] = defaultdict(list)
    rows: list[Any] = connection.execute(QUERIES["unstaged"], values).fetchall()
    for number, path, record_id in rows:
        wanted[number, path].append(RecordId(record_id))
    return [
        record
        for (number, path), ids in wanted.items()
        for record in records.by_id(connection, scope_from_path(path), number, ids)
    ]


def stage(
    connection: apsw.Connection, model: EmbeddingModel, scope: int, staged: Sequence[Staged]
) -> int:
    """Lay vectors of one scope aside; what says something else by now is passed over."""
    number = _model_number(connection, model)
    kept = 0
    for each in staged:
        record = each.record
        data = None if each.vector is None else encode_vector(each.vector)
        said = record.content, record.source.who
        values = scope, record.id, number, model.dimension, data, *said
        connection.execute(QUERIES["stage"], values)
        kept += connection.changes()
    return kept


def adopt(connection: apsw.Connection, model: EmbeddingModel) -> Adoption:
    """Make a model's staged vectors the current ones. Sets, not rows: it holds the write lock."""
    values = _model_number(connection, model), model.dimension
    connection.execute(QUERIES["adopt_seqs"])
    for query in ("adopt_states", "adopt_leave", "adopt_leave_context", "adopt_take"):
        connection.execute(QUERIES[query], values)
    connection.execute(QUERIES["adopt_clear"])
    connection.execute(QUERIES["meta_set"], (META_MODEL, model.name))
    connection.execute(QUERIES["meta_set"], (META_DIMENSION, str(model.dimension)))
    rows: list[Any] = connection.execute(QUERIES["adopt_counts"]).fetchall()
    counts: dict[str, int] = dict(rows)
    return Adoption(
        ready=counts.get(EmbeddingState.READY.value, 0),
        failed=counts.get(EmbeddingState.FAILED.value, 0),
        pending=counts.get(EmbeddingState.PENDING.value, 0),
    )


def put_keywords(
    connection: apsw.Connection, scope: int, seq: int, keywords: Mapping[int, Terms]
) -> None:
    """Write keyword entries of records by number, cold postings with them."""
    cold = postings.cold_among(connection, keywords)
    postings.remove(connection, scope, cold)  # while the old terms are still known
    connection.executemany(
        QUERIES["keyword_put"],
        ((number, terms.length, encode_terms(terms)) for number, terms in keywords.items()),
    )
    postings.add(connection, scope, cold)
    connection.executemany(QUERIES["record_touch"], ((number, seq) for number in keywords))


def _model_number(connection: apsw.Connection, model: EmbeddingModel) -> int:
    number: int = connection.execute(QUERIES["model_number"], (model.name,)).get
    return number
