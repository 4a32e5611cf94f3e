"""Explaining: what became of one memory, by id or by its text, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np

from sfams.core.events import EventType, MemoryEvent
from sfams.core.lifecycle import restorable
from sfams.core.plan import Reason
from sfams.core.query import Cursor, Filter, Mode, Order, Page, Query
from sfams.core.record import EmbeddingState, MemoryRecord, RecordId, Status, Tier
from sfams.core.scope import Scope
from sfams.core.text import is_blank, signature
from sfams.core.tombstones import text_names
from sfams.errors import InvalidInputError
from sfams.ports import Reader
from sfams.service.engine import Engine
from sfams.service.listing import check_id, cursor_after
from sfams.service.policies import under
from sfams.service.recalling import search
from sfams.service.results import Explanation, Fate

_PAGE = 500
_WORD = re.compile(r"\w+")
_EVERYTHING = 1_000_000
_RANKED = {Fate.LIVE, Fate.DUPLICATE, Fate.WAITING, Fate.DEMOTED}
_ACTS = {EventType.DEMOTED, EventType.DELETED, EventType.SUMMARIZED}
_LAST_ACT = {
    Fate.DEMOTED: EventType.DEMOTED,
    Fate.DELETED: EventType.DELETED,
    Fate.SUMMARIZED: EventType.SUMMARIZED,
    Fate.SUPERSEDED: EventType.SUPERSEDED,
}


def explain(engine: Engine, scope: Scope, subject: str, query: str | None, k: int) -> Explanation:
    """Tell what became of a memory; with `query`, also at which place it ranks for that question.

    `subject` is a record id, or a text as it was (or should have been) remembered.
    """
    if not isinstance(subject, str) or is_blank(subject):
        message = "explain: name a record id or a text"
        raise InvalidInputError(message, field="subject")
    engine.flush_usage()
    engine = under(engine, scope)
    with engine.store.read() as reader:
        record_id = _as_id(subject)
        if record_id is None:
            found, duplicate = _by_text(reader, scope, subject, engine.now())
        else:
            found, duplicate = next(iter(reader.get(scope, [record_id])), None), False
        if found is None:
            return _absent(reader, scope, subject, record_id)
        answer = _of_record(engine, reader, found)
    if duplicate and answer.fate in {Fate.LIVE, Fate.WAITING}:
        answer = replace(answer, fate=Fate.DUPLICATE, related=found.id)
    return answer if query is None else _with_place(engine, scope, answer, query, k)


def _as_id(subject: str) -> RecordId | None:
    try:
        return check_id(subject)
    except InvalidInputError:
        return None


def _by_text(
    reader: Reader, scope: Scope, text: str, now: datetime
) -> tuple[MemoryRecord | None, bool]:
    """Find the record that holds a text: live ones first; True where only the wording differs."""
    # The longest word narrows the search; what is the same text, its signature decides.
    words = max(_WORD.findall(text), key=len, default=None)
    selection = Filter(statuses=(), text=words, expired=True)
    wanted = signature(text)
    same = [r for r in _all(reader, scope, selection, now) if signature(r.content) == wanted]
    if not same:
        return None, False
    best = min(same, key=lambda record: (record.status is not Status.LIVE, -record.version))
    return best, best.content != text


def _all(reader: Reader, scope: Scope, selection: Filter, now: datetime) -> Iterator[MemoryRecord]:
    after: Cursor | None = None
    while True:
        page = Page(limit=_PAGE, order=Order.CREATED, after=after)
        records = reader.find(scope, selection, page, now)
        yield from records
        if len(records) < _PAGE:
            return
        after = cursor_after(records[-1], Order.CREATED)


def _absent(reader: Reader, scope: Scope, subject: str, record_id: RecordId | None) -> Explanation:
    """Tell what has been erased from what never was: an id by the log, a text by its tombstone.

    A text is known again whoever said it, as long as nobody has lifted its tombstone.
    """
    if record_id is None:
        erased = bool(reader.tombstones(scope, text_names(subject)))
        return Explanation(fate=Fate.ERASED if erased else Fate.NEVER_STORED)
    events = tuple(reader.history(scope, [record_id]))
    if not events:
        return Explanation(fate=Fate.NEVER_STORED, record_id=record_id)
    last = next((e for e in reversed(events) if e.type in _REMOVALS), events[-1])
    purged = last.type is EventType.PURGED
    return Explanation(
        fate=Fate.PURGED if purged else Fate.ERASED,
        record_id=record_id,
        plan_id=last.plan_id,
        at=last.at,
        reason=str(last.detail.get("reason", "")) if purged else "",
        events=events,
    )


_REMOVALS = frozenset({EventType.ERASED, EventType.PURGED})


def _of_record(engine: Engine, reader: Reader, record: MemoryRecord) -> Explanation:
    now = engine.now()
    fate = _fate(record, now)
    events = tuple(reader.history(record.scope, [record.id]))
    act = _last(events, _LAST_ACT.get(fate))
    score, parts = _score(engine, reader, record, act, now)
    detail: Mapping[str, object] = {} if act is None else act.detail
    return Explanation(
        fate=fate,
        record_id=record.id,
        related=_related(record, detail),
        plan_id=None if act is None else act.plan_id,
        at=None if act is None else act.at,
        reason=_reason(record, detail),
        score=score,
        parts=parts,
        protected="held" if record.held_at(now) else "pinned" if record.pinned else "",
        undoable=restorable(record, now, engine.policy.undo_window),
        events=events,
    )


def _related(record: MemoryRecord, detail: Mapping[str, object]) -> RecordId | None:
    """Name what took its place, a successor or a summary; else its twin."""
    if record.status is Status.SUMMARIZED and isinstance(by := detail.get("by"), str):
        return RecordId(by)
    return record.validity.superseded_by or (record.twin.id if record.twin else None)


def _fate(record: MemoryRecord, now: datetime) -> Fate:
    by_status = {
        Status.SUPERSEDED: Fate.SUPERSEDED,
        Status.SUMMARIZED: Fate.SUMMARIZED,
        Status.DELETED: Fate.DELETED,
        Status.ERASED: Fate.ERASED,
    }
    if record.status in by_status:
        return by_status[record.status]
    if record.expired(now):
        return Fate.EXPIRED
    if record.tier is Tier.COLD:
        return Fate.DEMOTED
    return Fate.LIVE if record.embedding is EmbeddingState.READY else Fate.WAITING


def _last(events: tuple[MemoryEvent, ...], kind: EventType | None) -> MemoryEvent | None:
    return next((event for event in reversed(events) if event.type is kind), None)


def _reason(record: MemoryRecord, detail: Mapping[str, object]) -> str:
    if record.status is Status.SUPERSEDED:
        return "a later statement took its place"
    reason = str(detail.get("reason", ""))
    return "its time to live ran out" if reason == Reason.EXPIRED.value else reason


def _score(
    engine: Engine,
    reader: Reader,
    record: MemoryRecord,
    act: MemoryEvent | None,
    now: datetime,
) -> tuple[float | None, dict[str, float]]:
    """Take the score that decided, where a plan did; else today's."""
    if act is not None and act.type in _ACTS and isinstance(act.detail.get("score"), float):
        kept = act.detail.get("parts")
        parts = kept if isinstance(kept, dict) else {}
        return float(str(act.detail["score"])), {n: float(str(v)) for n, v in parts.items()}
    if record.status is not Status.LIVE:
        return None, {}
    columns = reader.columns(record.scope, now, engine.policy.model.needs)
    row = np.array([columns.ids.index(record.id)], dtype=np.intp)
    scores = engine.policy.model.score(columns.take(row), now)
    return float(scores.values[0]), {name: float(part[0]) for name, part in scores.parts.items()}


def _with_place(
    engine: Engine, scope: Scope, answer: Explanation, text: str, k: int
) -> Explanation:
    """Ask the question without cut-off and look where the record stands."""
    if answer.record_id is None or answer.fate not in _RANKED:
        return answer
    ranked = search(engine, scope, Query(text=text, k=_EVERYTHING, mode=Mode.HYBRID))
    ids = [hit.record.id for hit in ranked.hits]
    if answer.record_id not in ids:
        return replace(answer, cut_off="below the relevance cut-off")
    place = ids.index(answer.record_id) + 1
    return replace(answer, place=place, cut_off=f"only the first {k} are" if place > k else "")
