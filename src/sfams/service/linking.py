"""Links between records, and confirmed use: link, unlink, reinforce."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sfams.core.events import EventType, MemoryEvent
from sfams.core.lifecycle import restore_transition
from sfams.core.record import MemoryRecord, RecordId, Relation, Status, Tier
from sfams.core.scope import Scope
from sfams.errors import InvalidInputError
from sfams.ports import UsageDelta
from sfams.service.engine import Engine
from sfams.service.listing import check_id, fetch
from sfams.service.sessions import check_session

_RELATION_TYPE = re.compile(r"[a-z][a-z0-9_-]{0,63}")


def link(engine: Engine, scope: Scope, source: str, target: str, relation_type: str) -> bool:
    """Relate two records of the scope; False when they are so related already."""
    start, relation = _checked(source, target, relation_type)
    return _change(engine, scope, start, relation, EventType.LINKED)


def unlink(engine: Engine, scope: Scope, source: str, target: str, relation_type: str) -> bool:
    """Remove a relation; False when there was none."""
    start, relation = _checked(source, target, relation_type)
    return _change(engine, scope, start, relation, EventType.UNLINKED)


def _change(
    engine: Engine, scope: Scope, start: RecordId, relation: Relation, kind: EventType
) -> bool:
    event = MemoryEvent(
        type=kind,
        at=engine.now(),
        record_id=start,
        detail={"type": relation.type, "target": relation.target},
    )
    with engine.store.write() as transaction:
        fetch(transaction, scope, [start, relation.target])
        act = transaction.relate if kind is EventType.LINKED else transaction.unrelate
        changed = act(scope, start, relation)
        if changed:
            transaction.append(scope, [event])
    if changed:
        engine.tell(scope, [event])
    return changed


def _checked(source: str, target: str, relation_type: str) -> tuple[RecordId, Relation]:
    start, end = check_id(source), check_id(target)
    if start == end:
        message = "link: a memory cannot be linked to itself"
        raise InvalidInputError(message, field="target")
    if not isinstance(relation_type, str) or not _RELATION_TYPE.fullmatch(relation_type):
        message = f"type: {relation_type!r} is not a relation type such as supports or part_of"
        raise InvalidInputError(message, field="type")
    return start, Relation(relation_type, end)


def reinforce(
    engine: Engine, scope: Scope, ids: Iterable[str], session: str | None, outcome: str | None
) -> int:
    """Confirm that memories were really used; counts each at most once per session.

    Returns how many were counted. Confirmed use weighs more than being shown, and brings a cold memory
    back into the hot tier, under grace.
    """
    wanted = [check_id(value) for value in ids]
    if session is not None:
        check_session(session)
    now = engine.now()
    with engine.store.write() as transaction:
        records = fetch(transaction, scope, wanted)
        counted = {
            event.record_id
            for event in transaction.history(scope, wanted)
            if event.type is EventType.REINFORCED
            and session is not None
            and event.detail.get("session") == session
        }
        fresh = [record_id for record_id in dict.fromkeys(wanted) if record_id not in counted]
        events = [
            MemoryEvent(
                type=EventType.REINFORCED,
                at=now,
                record_id=record_id,
                detail={"session": session, "outcome": outcome},
            )
            for record_id in fresh
        ]
        warm = [restore_transition(each, now) for each in records if _is_cold(each)]
        events += [
            MemoryEvent(
                type=EventType.RESTORED, at=now, record_id=each.id, detail={"reason": "used"}
            )
            for each in warm
        ]
        transaction.transition(scope, warm, now)
        transaction.add_usage(scope, [UsageDelta(record_id, 0, 1, now) for record_id in fresh])
        transaction.append(scope, events)
    engine.tell(scope, events)
    return len(fresh)


def _is_cold(record: MemoryRecord) -> bool:
    return record.status is Status.LIVE and record.tier is Tier.COLD
