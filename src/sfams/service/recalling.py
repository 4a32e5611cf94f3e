"""Recalling: query -> embed -> rank every record of the scope -> hits with their parts.

Nothing is written on this path; accesses go to a buffer that is flushed in batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from sfams.core.context import ContextBlock, build_context
from sfams.core.ghosts import Missed
from sfams.core.keywords import question_terms
from sfams.core.query import Filter, Hit, Mode, Order, Page, Query, RecallResult
from sfams.core.ranking import Candidate, ColdSide, Question, rank
from sfams.core.record import RecordId, Status
from sfams.core.scope import Scope
from sfams.core.selecting import FilterFields, choice, make_filter
from sfams.core.text import find_surrogate, is_blank
from sfams.core.view import ScopeView, Vector
from sfams.errors import InvalidInputError
from sfams.ports import Reader
from sfams.service.archive import archive_view
from sfams.service.embedding import embed_query
from sfams.service.engine import Engine
from sfams.service.listing import sort_value
from sfams.service.regretting import MOST_MISSED, Look

MAX_K = 1000
MAX_QUERY = 100_000
BLANK_WARNING = "the query is blank; leave it out to list by last access or importance"


class RecallFields(FilterFields, total=False):
    """How to recall, besides which memories (`FilterFields`).

    k: how many hits at most (default 10).
    mode: "hybrid" (default), "vector" or "keyword".
    min_score: leave out hits below this score, 0..1 (default 0).
    below: also search the scopes below this one.
    order: without a query, "last_accessed_at" (default), "importance" or "created_at".
    turn: accesses with the same `turn` count once per record, however often it is recalled.
    count: False leaves access counts alone.
    """

    k: int
    mode: str
    min_score: float
    below: bool
    order: str
    turn: str
    count: bool


_OWN = frozenset(RecallFields.__annotations__) - frozenset(FilterFields.__annotations__)


def recall(
    engine: Engine, scope: Scope, text: str | None, fields: Mapping[str, object]
) -> RecallResult:
    """Find what answers a question, best first, and count the accesses."""
    own = cast("RecallFields", {name: value for name, value in fields.items() if name in _OWN})
    selection = make_filter({name: v for name, v in fields.items() if name not in _OWN})
    now = engine.now()
    k = _check_k(own.get("k", 10))
    scopes = _scopes(engine, scope, below=own.get("below", False))
    if text is None:
        order = choice(Order, own.get("order", Order.ACCESSED), "order")
        result = _listed(engine, scopes, selection, Page(limit=k, order=order), now)
    else:
        query = Query(
            text=_check_text(text),
            k=k,
            mode=choice(Mode, own.get("mode", Mode.HYBRID), "mode"),
            selection=selection,
            min_score=_check_score(own.get("min_score", 0.0)),
        )
        result = search(engine, scope, query, scopes=scopes, now=now)
    if own.get("count", True):
        _count(engine, result, now, own.get("turn"))
    return result


def context(
    engine: Engine, scope: Scope, text: str | None, tokens: int, fields: Mapping[str, object]
) -> ContextBlock:
    """Recall, then format under a token budget; only what fits counts as shown."""
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1:
        message = f"tokens: must be a whole number above 0, got {tokens}"
        raise InvalidInputError(message, field="tokens")
    silent = {"k": 50, **fields, "count": False}
    found = recall(engine, scope, text, silent)
    block = build_context(found.hits, token_budget=tokens, now=engine.now())
    if fields.get("count", True):
        shown = frozenset(block.ids)
        hits = tuple(hit for hit in found.hits if hit.record.id in shown)
        _count(
            engine, replace(found, hits=hits), engine.now(), cast("str | None", fields.get("turn"))
        )
    return block


def _check_k(k: object) -> int:
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_K:
        message = f"k: must be a whole number in 1..{MAX_K}, got {k}"
        raise InvalidInputError(message, field="k")
    return k


def _check_score(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0:
        message = f"min_score: must lie in 0..1, got {value}"
        raise InvalidInputError(message, field="min_score")
    return float(value)


def _check_text(text: object) -> str:
    if not isinstance(text, str):
        message = f"query: expected text, got {type(text).__name__}"
        raise InvalidInputError(message, field="query")
    if len(text) > MAX_QUERY:
        message = f"query: has {len(text)} characters, the limit is {MAX_QUERY}"
        raise InvalidInputError(message, field="query")
    if find_surrogate(text) is not None:
        message = "query: holds half a character (a lone surrogate)"
        raise InvalidInputError(message, field="query")
    return text


def _scopes(engine: Engine, scope: Scope, *, below: bool) -> Sequence[Scope]:
    if not below:
        return [scope]
    with engine.store.read() as reader:
        return reader.scopes(scope) or [scope]


def _listed(
    engine: Engine, scopes: Sequence[Scope], selection: Filter, page: Page, now: datetime
) -> RecallResult:
    """Answer without a question: by last access, importance or creation, highest first."""
    if page.order is Order.ACCESSED:
        engine.flush_usage()
    with engine.store.read() as reader:
        records = [r for scope in scopes for r in reader.find(scope, selection, page, now)]
    records.sort(key=lambda record: (sort_value(record, page.order), record.id), reverse=True)
    hits = tuple(
        Hit(record, record.importance, {"importance": record.importance})
        for record in records[: page.limit]
    )
    return RecallResult(hits, Mode.KEYWORD)


def search(
    engine: Engine,
    scope: Scope,
    query: Query,
    *,
    scopes: Sequence[Scope] = (),
    now: datetime | None = None,
) -> RecallResult:
    """Rank a scope (or several) for a question; counts no access."""
    if is_blank(query.text):
        return RecallResult((), query.mode, (BLANK_WARNING,))
    moment = now or engine.now()
    vector, warning = (None, "") if query.mode is Mode.KEYWORD else embed_query(engine, query.text)
    warnings = [warning] if warning else []
    asked = _Asked(query, vector, moment, warnings)
    hits: list[Hit] = []
    with engine.store.read() as reader:
        for each in scopes or [scope]:
            hits.extend(_search_scope(engine, reader, each, asked))
    hits.sort(key=lambda hit: -hit.score)  # stable: within a scope ranking has broken the ties
    missed = sorted(asked.missed, key=lambda each: (-each.share, each.id))[:MOST_MISSED]
    shown = tuple(hits[: query.k])
    told = tuple(dict.fromkeys(warnings))
    return RecallResult(shown, query.mode, told, tuple(missed), tuple(asked.regretted))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question on its way through the scopes."""

    query: Query
    vector: Vector | None
    now: datetime
    warnings: list[str]
    missed: list[Missed] = field(default_factory=list)
    regretted: list[tuple[Scope, RecordId]] = field(default_factory=list)


def _search_scope(engine: Engine, reader: Reader, scope: Scope, asked: _Asked) -> list[Hit]:
    query, vector, now = asked.query, asked.vector, asked.now
    if query.selection.statuses == (Status.LIVE,):
        among = _among(reader, scope, query.selection, now)
        question = Question.of(query, vector, now, among)
        cold = ColdSide(reader.cold_postings(scope, list(question_terms(query.text))))
        with engine.views.open(scope, reader, engine.embedder.dimension) as view:
            found = rank(view, question, engine.embedder.calibration, engine.weights, cold)
            hits = _hydrate(reader, scope, found.candidates, query.selection)
            _look_back(engine, Look(reader, scope, query), (view, scope, hits), asked)
        return hits
    view, warning = archive_view(engine, reader, scope, query.selection, now)
    if warning:
        asked.warnings.append(warning)
    live = replace(query, selection=Filter(expired=True))
    question = Question.of(live, vector, now)
    found = rank(view, question, engine.embedder.calibration, engine.weights)
    return _hydrate(reader, scope, found.candidates, query.selection)


def _look_back(
    engine: Engine, look: Look, found: tuple[ScopeView, Scope, list[Hit]], asked: _Asked
) -> None:
    """Note what this scope has forgotten and the question asks for."""
    view, scope, hits = found
    weights = look.weigh(view, hits)
    wanted, offers = look.missed(engine, weights, hits, asked.now)
    asked.missed.extend(offers)
    asked.regretted.extend((scope, each) for each in (*wanted, *look.cold(weights, hits)))


def _among(
    reader: Reader, scope: Scope, selection: Filter, now: datetime
) -> frozenset[RecordId] | None:
    """Ask the store which records match, where the view's columns cannot tell (cold ones included)."""
    return reader.matching(scope, selection, now) if selection.restricts else None


def _hydrate(
    reader: Reader, scope: Scope, candidates: Sequence[Candidate], selection: Filter
) -> list[Hit]:
    """Read the records behind candidates; what has left the selection meanwhile is dropped."""
    records = {r.id: r for r in reader.get(scope, [each.id for each in candidates])}
    return [
        Hit(record, candidate.score, candidate.parts)
        for candidate in candidates
        if (record := records.get(candidate.id)) is not None
        and (not selection.statuses or record.status in selection.statuses)
    ]


def _count(engine: Engine, result: RecallResult, now: datetime, turn: str | None) -> None:
    by_scope: dict[Scope, list[RecordId]] = {}
    for hit in result.hits:
        by_scope.setdefault(hit.record.scope, []).append(hit.record.id)
    full = [engine.usage.note(each, ids, now, turn=turn) for each, ids in by_scope.items()]
    for each, record_id in result.regretted:
        engine.usage.regret(each, [record_id], now)
    if any(full):
        engine.background.submit(engine.flush_usage)
