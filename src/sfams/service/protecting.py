"""Protection and deletion by the user's hand: pin, hold, delete. All of it can be taken back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from sfams.core.events import EventType, MemoryEvent
from sfams.core.ghosts import deleted_by_hand
from sfams.core.moments import MomentLike, format_moment, parse_moment
from sfams.core.plan import Receipt
from sfams.core.record import Hold, JsonValue, RecordId, Status
from sfams.core.scope import Scope
from sfams.core.selecting import make_filter
from sfams.errors import InvalidInputError, NotFoundError, RecordProtectedError
from sfams.ports import Transaction, Transition
from sfams.service.engine import Engine
from sfams.service.listing import check_id, fetch

_LONGEST = 500
"""Characters of a hold's owner and reason."""


def protect(
    engine: Engine,
    scope: Scope,
    ids: Iterable[str],
    *,
    pinned: bool | None = None,
    held: bool | None = None,
    hold: Hold | None = None,
) -> Receipt:
    """Set or lift pins (no plan takes it) and holds (not even erasure does).

    Raises:
        NotFoundError: An id is not in this scope.
        InvalidInputError: The hold would be over already.
    """
    wanted = [check_id(value) for value in ids]
    now = engine.now()
    if hold is not None and hold.until is not None and hold.until <= now:
        message = f"until: {hold.until:%Y-%m-%d %H:%M}Z is over already"
        raise InvalidInputError(message, field="until")
    kind = _protection_event(pinned=pinned, held=held)
    detail = {} if hold is None else _hold_detail(hold)
    events = [
        MemoryEvent(type=kind, at=now, record_id=record_id, detail=detail) for record_id in wanted
    ]
    with engine.store.write() as transaction:
        fetch(transaction, scope, wanted)
        changes = [
            Transition(record_id, pinned=pinned, held=held, hold=hold) for record_id in wanted
        ]
        transaction.transition(scope, changes, now)
        transaction.append(scope, events)
    engine.tell(scope, events)
    return Receipt(plan_id=None, at=now)


def make_hold(owner: str, reason: str, until: MomentLike | None) -> Hold:
    """Check who holds, why and until when.

    Raises:
        InvalidInputError: A text that is too long, or a moment that is none.
    """
    for name, text in (("owner", owner), ("reason", reason)):
        if not isinstance(text, str) or len(text) > _LONGEST:
            message = f"{name}: must be text of up to {_LONGEST} characters"
            raise InvalidInputError(message, field=name)
    return Hold(
        owner, reason, None if until is None else parse_moment(until, field="until", date_only=True)
    )


def _hold_detail(hold: Hold) -> dict[str, JsonValue]:
    until = None if hold.until is None else format_moment(hold.until)
    return {"owner": hold.owner, "reason": hold.reason, "until": until}


def _protection_event(*, pinned: bool | None, held: bool | None) -> EventType:
    if pinned is not None:
        return EventType.PINNED if pinned else EventType.UNPINNED
    return EventType.HELD if held else EventType.RELEASED


def delete(
    engine: Engine, scope: Scope, ids: Iterable[str] | None, fields: Mapping[str, object]
) -> Receipt:
    """Delete records by ids or by a filter that narrows something; `restore` brings them back.

    Raises:
        InvalidInputError: Neither ids nor a real filter, or both.
        NotFoundError: An id is unknown here or deleted already.
        RecordProtectedError: A record is pinned or held.
    """
    wanted = None if ids is None else [check_id(value) for value in ids]
    if (wanted is None) == (not fields) or wanted == []:
        message = "delete: give record ids or a filter such as kinds, tags or entities, one of them"
        raise InvalidInputError(message, field="ids")
    now = engine.now()
    with engine.store.write() as transaction:
        if wanted is None:
            selection = make_filter(fields)
            if not selection.restricts:
                message = "delete: the filter does not narrow anything; name kinds, tags, text, ..."
                raise InvalidInputError(message, field="filter")
            wanted = sorted(transaction.matching(scope, selection, now))
        _refuse_unfit(transaction, scope, wanted, now)
        events = [
            MemoryEvent(type=EventType.DELETED, at=now, record_id=i, detail={"reason": "by hand"})
            for i in wanted
        ]
        changes = [Transition(record_id, status=Status.DELETED) for record_id in wanted]
        trails = [deleted_by_hand(record, now) for record in transaction.get(scope, wanted)]
        transaction.add_ghosts(scope, trails)
        transaction.transition(scope, changes, now)
        transaction.append(scope, events)
    engine.tell(scope, events)
    return Receipt(plan_id=None, at=now, deleted=len(wanted))


def _refuse_unfit(
    transaction: Transaction, scope: Scope, ids: list[RecordId], now: datetime
) -> None:
    records = fetch(transaction, scope, ids)
    protected = [record.id for record in records if record.pinned or record.held_at(now)]
    if protected:
        message = f"pinned or held: {', '.join(protected)}; unpin or release first"
        raise RecordProtectedError(message, ids=protected)
    deleted = [record.id for record in records if record.status is Status.DELETED]
    if deleted:
        message = f"deleted already: {', '.join(deleted)}"
        raise NotFoundError(message, ids=deleted)
