"""Asking: a request to forget, as somebody put it, becomes a saved plan to read before it is applied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.plan import ACTIONS, NO_GROUP, REASONS, Action, ForgettingPlan, Reason, Steps
from sfams.core.query import Filter, Order, Page
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.requests import Request, RequestKind, Topic, parse_request, says
from sfams.core.scope import Scope
from sfams.core.subjects import fold_name
from sfams.errors import InvalidInputError
from sfams.ports import Reader
from sfams.service.engine import Engine
from sfams.service.reach import walk
from sfams.service.sessions import check_session

_EXPIRED_TOO = Filter(expired=True)


def plan_request(
    engine: Engine, scope: Scope, request: str, who: str | None, session: str | None
) -> ForgettingPlan | None:
    """Plan what a sentence asks to forget; None where it asks for nothing of the kind.

    The plan deletes (reason "asked"), for `forget` to carry out and `restore` to undo; what is pinned or
    held is named among the skipped. It holds no word of the request.

    Raises:
        InvalidInputError: The request is about a session and none was named.
    """
    if session is not None:
        check_session(session)
    asked = parse_request(request)
    if asked is None:
        return None
    now = engine.now()
    with engine.store.read() as reader:
        found = _selected(engine, reader, scope, asked, (who, session))
        examined = sum(
            reader.stats(scope, now).records.get(each, 0) for each in ("live", "expired")
        )
    made = _plan(engine, scope, asked.kind, found, (now, examined))
    event = MemoryEvent(
        type=EventType.PLANNED,
        at=now,
        actor=Actor.USER,
        plan_id=made.id,
        detail={"steps": len(made.steps), "examined": examined},
    )
    with engine.store.write() as transaction:
        transaction.save_plan(made)
        transaction.append(scope, [event])
    engine.tell(scope, [event])
    return made


def _selected(
    engine: Engine,
    reader: Reader,
    scope: Scope,
    asked: Request,
    whose: tuple[str | None, str | None],
) -> list[MemoryRecord]:
    who, session = whose
    if asked.kind is RequestKind.SESSION:
        if session is None:
            message = "session: the request is about this conversation; say which session it is"
            raise InvalidInputError(message, field="session")
        return list(walk(engine, reader, scope, Filter(expired=True, session=session)))
    if asked.kind is RequestKind.LAST:
        return _last(reader, scope, engine.now(), who, session)
    records = walk(engine, reader, scope, _EXPIRED_TOO)
    if asked.kind is RequestKind.TEXT:
        return [record for record in records if says(record, asked.topic)]
    topic = Topic(asked.topic)
    mine = who if asked.own else None
    return [record for record in records if _said_by(record, mine) and topic.fits(record)]


def _said_by(record: MemoryRecord, who: str | None) -> bool:
    """Tell whether somebody may have said it: a record without a speaker may be anybody's."""
    said = record.source.who
    return who is None or not said or fold_name(said) == fold_name(who)


def _last(
    reader: Reader, scope: Scope, now: datetime, who: str | None, session: str | None
) -> list[MemoryRecord]:
    """Take the newest record, and what came in with it: the same turn, or the same moment."""
    selection = Filter(expired=True, session=session)
    newest = [
        record
        for record in reader.find(scope, selection, Page(limit=_RECENT, order=Order.CREATED), now)
        if _said_by(record, who)
    ]
    if not newest:
        return []
    last = newest[0]
    return [record for record in newest if _together(record, last)]


_RECENT = 100


def _together(one: MemoryRecord, other: MemoryRecord) -> bool:
    if one.source.session != other.source.session:
        return False
    if one.source.turn is not None or other.source.turn is not None:
        return one.source.turn == other.source.turn
    return one.created_at == other.created_at


def _plan(
    engine: Engine,
    scope: Scope,
    kind: RequestKind,
    found: Iterable[MemoryRecord],
    measured: tuple[datetime, int],
) -> ForgettingPlan:
    now, examined = measured
    records = list(found)
    free = [record for record in records if not record.held and not record.pinned]
    kept = {record.id: "held" if record.held else "pinned" for record in records}
    return ForgettingPlan(
        id=engine.plan_id(),
        scope=scope,
        created_at=now,
        policy={
            "name": "asked",
            "request": kind.value,
            "undo_window": engine.policy.undo_window.total_seconds(),
        },
        steps=_steps(free),
        examined=examined,
        hot=sum(record.tier == "hot" for record in records),
        blast_share=len(free) / examined if examined else 0.0,
        blast_limit=1.0,
        skipped=_without(kept, [record.id for record in free]),
    )


def _without(kept: dict[RecordId, str], free: Sequence[RecordId]) -> dict[RecordId, str]:
    return {record_id: why for record_id, why in kept.items() if record_id not in set(free)}


def _steps(records: Sequence[MemoryRecord]) -> Steps:
    """Delete each: a person has said so, no score decided."""
    count = len(records)
    return Steps(
        ids=tuple(record.id for record in records),
        versions=np.array([record.version for record in records], np.int64),
        actions=np.full(count, ACTIONS.index(Action.DELETE), np.int8),
        reasons=np.full(count, REASONS.index(Reason.ASKED), np.int8),
        scores=np.zeros(count),
        tokens=np.array([record.tokens for record in records], np.int64),
        groups=np.full(count, NO_GROUP, np.int32),
    )
