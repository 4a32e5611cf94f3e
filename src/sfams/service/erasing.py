"""Erasing: for ever, every trace, with a preview before and a receipt without text after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sfams.core.events import EventType, MemoryEvent
from sfams.core.record import MemoryRecord
from sfams.core.scope import Scope
from sfams.core.selecting import make_filter
from sfams.errors import InvalidInputError, RecordProtectedError, StoreUnavailableError
from sfams.ports import Reader
from sfams.service.engine import Engine, logger
from sfams.service.listing import check_id, fetch
from sfams.service.results import EraseReceipt, Residue


def erase(
    engine: Engine,
    scope: Scope,
    ids: Iterable[str] | None,
    fields: Mapping[str, object],
    *,
    dry_run: bool,
) -> EraseReceipt:
    """Remove records and every trace of them, by ids or by a filter that restricts.

    Whatever the status: live, superseded, deleted and cold records are all reached. A hold refuses
    the whole call, naming the held records.

    Raises:
        InvalidInputError: Neither ids nor a real filter were given, or both.
        NotFoundError: An id is not in this scope.
        RecordProtectedError: A record is held.
        StoreUnavailableError: The store cannot be written; nothing is erased.
    """
    wanted = None if ids is None else [check_id(value) for value in ids]
    if (wanted is None) == (not fields) or wanted == []:
        message = "erase: give record ids or a filter (for instance entities or who), one of them"
        raise InvalidInputError(message, field="ids")
    now = engine.now()
    with engine.store.read() as reader:
        records = (
            _selected(engine, reader, scope, fields)
            if wanted is None
            else fetch(reader, scope, wanted)
        )
    _refuse_held(records)
    targets = tuple(record.id for record in records)
    hashes = tuple(record.content_hash for record in records)
    if dry_run or not targets:
        return EraseReceipt(
            at=now, ids=targets, hashes=hashes, residue=Residue.CLEAN, dry_run=dry_run
        )
    engine.usage.forget(scope, targets)
    events = [MemoryEvent(type=EventType.ERASED, at=now, record_id=i) for i in targets]
    with engine.store.write() as transaction:
        _refuse_held(transaction.get(scope, targets))
        transaction.erase(scope, targets, now)
        transaction.append(scope, events)
    engine.views.drop(scope)
    engine.tell(scope, events)
    return EraseReceipt(at=now, ids=targets, hashes=hashes, residue=_settle(engine))


def _settle(engine: Engine) -> Residue:
    """Make the erasure final in the files. It is committed: a failing disk only puts that off."""
    try:
        return Residue.CLEAN if engine.store.settle() else Residue.PENDING
    except StoreUnavailableError as error:
        logger.warning("erased, but its residue is still in the files: %s", error)
        return Residue.PENDING


def _selected(
    engine: Engine, reader: Reader, scope: Scope, fields: Mapping[str, object]
) -> list[MemoryRecord]:
    selection = make_filter({"status": ["all"], "expired": True, **fields})
    if not selection.restricts:
        message = "erase: the filter does not narrow anything; name entities, who, kinds, text, ..."
        raise InvalidInputError(message, field="filter")
    ids = sorted(reader.matching(scope, selection, engine.now()))
    return list(reader.get(scope, ids))


def erase_scope(engine: Engine, scope: Scope, *, dry_run: bool) -> EraseReceipt:
    """Erase everything in a scope (not below it)."""
    now = engine.now()
    with engine.store.read() as reader:
        selection = make_filter({"status": ["all"], "expired": True})
        ids = sorted(reader.matching(scope, selection, now))
    if not ids:
        return EraseReceipt(at=now, ids=(), hashes=(), residue=Residue.CLEAN, dry_run=dry_run)
    return erase(engine, scope, ids, {}, dry_run=dry_run)


def _refuse_held(records: Sequence[MemoryRecord]) -> None:
    held = [record.id for record in records if record.held]
    if held:
        message = f"held, so it cannot be erased: {', '.join(held)}; release it first"
        raise RecordProtectedError(message, ids=held)
