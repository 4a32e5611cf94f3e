"""Erasing: for ever, every trace, with a preview before and a receipt without text after.

One transaction takes the records, the summaries made from them and all that points to them, and writes
the receipt; then the files are settled and searched for what was erased, byte by byte.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import TypeVar

from sfams.core.events import EventType, MemoryEvent
from sfams.core.lifecycle import restore_transition
from sfams.core.record import MemoryRecord, RecordId, Status
from sfams.core.residue import pieces_of, pieces_of_data, too_short
from sfams.core.scope import Scope
from sfams.core.text import drop_words
from sfams.errors import InvalidInputError, RecordProtectedError, StoreUnavailableError
from sfams.ports import Reader, Transaction
from sfams.service import reach as reaching
from sfams.service.engine import Engine, logger
from sfams.service.listing import check_id
from sfams.service.reach import Reach
from sfams.service.receipts import note_check, note_erasure
from sfams.service.results import EraseReceipt, Residue, ResidueCheck

MOST_TEXTS = 20_000
"""Erased texts that are looked for; of more, so many evenly spread ones, and the file is written anew."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller wants erased: ids, everything in the scope, or what fields select."""

    ids: tuple[RecordId, ...] | None = None
    fields: Mapping[str, object] | None = None


def wanted(ids: Sequence[str] | None, fields: Mapping[str, object], *, everything: bool) -> Wanted:
    """Check what is wanted.

    Raises:
        InvalidInputError: Not exactly one of ids, everything and fields.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if everything:
        if ids is not None or given:
            message = "erase: everything=True takes no ids and no filter"
            raise InvalidInputError(message, field="everything")
        return Wanted()
    if (ids is None) == (not given) or ids == []:
        message = (
            "erase: give record ids, a subject or identifier, or a filter (for instance entities or "
            "who), one of them"
        )
        raise InvalidInputError(message, field="ids")
    return Wanted(fields=given) if ids is None else Wanted(ids=tuple(map(check_id, ids)))


def erase(engine: Engine, scope: Scope, what: Wanted, *, dry_run: bool) -> EraseReceipt:
    """Remove records and every trace of them.

    Whatever the status: live, superseded, deleted and cold records are all reached. A hold refuses
    the whole call, naming the held records.

    Raises:
        InvalidInputError: The filter does not narrow anything.
        NotFoundError: An id is not in this scope.
        RecordProtectedError: A record, or a summary made from one, is held.
        StoreUnavailableError: The store cannot be written; nothing is erased.
    """
    now = engine.now()
    with engine.store.read() as reader:
        reach = _find(engine, reader, scope, what)
        _refuse_held(reach.all)
        if dry_run or not reach.records:
            counts = reaching.count(reader, scope, reach, engine)
            return _receipt(reach, counts, now, dry_run=dry_run)
    engine.flush_usage()
    with engine.store.write() as transaction:
        # Once more, under the lock: what was derived meanwhile goes too, what is gone is passed over.
        there = transaction.get(scope, [record.id for record in reach.records])
        reach = replace(
            reaching.of_ids(transaction, scope, [record.id for record in there]),
            unsure=reach.unsure,
        )
        _refuse_held(reach.all)
        counts = reaching.count(transaction, scope, reach, engine)
        texts, blobs = reaching.traces(transaction, scope, reach)
        groups = _orphaned(transaction, scope, reach)
        events = _erase(transaction, scope, reach, groups, now)
        receipt = replace(_receipt(reach, counts, now, dry_run=False), revived=groups)
        link = note_erasure(transaction, scope, receipt, engine.receipt_key)
    _forget_here(engine, scope, reach, events)
    receipt = replace(receipt, number=link.number, seal=link.seal, signature=link.signature)
    return _finished(engine, scope, receipt, _settle(engine, texts, blobs))


def _find(engine: Engine, reader: Reader, scope: Scope, what: Wanted) -> Reach:
    if what.ids is not None:
        return reaching.of_ids(reader, scope, what.ids)
    if what.fields is not None:
        return reaching.of_fields(engine, reader, scope, what.fields)
    return reaching.of_everything(engine, reader, scope)


def _refuse_held(records: Sequence[MemoryRecord]) -> None:
    held = [record.id for record in records if record.held]
    if held:
        message = f"held, so it cannot be erased: {', '.join(held)}; release it first"
        raise RecordProtectedError(message, ids=held)


def _receipt(
    reach: Reach, counts: Mapping[str, int], now: datetime, *, dry_run: bool
) -> EraseReceipt:
    return EraseReceipt(
        at=now,
        ids=tuple(record.id for record in reach.records),
        hashes=tuple(record.content_hash for record in reach.records),
        residue=Residue.PENDING if reach.records and not dry_run else Residue.CLEAN,
        dry_run=dry_run,
        reach=counts,
        withdrawn=tuple(record.id for record in reach.summaries),
        unsure=reach.unsure,
    )


# ── In the transaction ────────────────────────────────────────────────────────────────────────────


def _orphaned(
    transaction: Transaction, scope: Scope, reach: Reach
) -> tuple[tuple[RecordId, ...], ...]:
    """Group what withdrawn summaries stood for and what must live again, so that nothing is lost."""
    gone, seen = set(reach.ids), set[RecordId]()
    groups: list[tuple[RecordId, ...]] = []
    for summary in reach.all:
        ids = [each for each in summary.derived_from if each not in gone and each not in seen]
        sources = [
            record
            for record in transaction.get(scope, ids)
            if record.status is Status.SUMMARIZED
            and not _stood_for(transaction, record, gone)
            and not transaction.by_hash(scope, [record.content_hash])
        ]
        seen.update(record.id for record in sources)
        if sources:
            groups.append(tuple(record.id for record in sources))
    return tuple(groups)


def _stood_for(transaction: Transaction, record: MemoryRecord, gone: set[RecordId]) -> bool:
    """Tell whether a live summary that stays still stands for a record."""
    others = [each for each in transaction.made_from(record.scope, [record.id]) if each not in gone]
    return any(each.status is Status.LIVE for each in transaction.get(record.scope, others))


def _erase(
    transaction: Transaction,
    scope: Scope,
    reach: Reach,
    groups: Sequence[Sequence[RecordId]],
    now: datetime,
) -> list[MemoryEvent]:
    events = [MemoryEvent(type=EventType.ERASED, at=now, record_id=r.id) for r in reach.records]
    events += [
        MemoryEvent(
            type=EventType.ERASED,
            at=now,
            record_id=record.id,
            detail={"reason": "made from what was erased"},
        )
        for record in reach.summaries
    ]
    revived = [record_id for group in groups for record_id in group]
    events += [
        MemoryEvent(
            type=EventType.RESTORED,
            at=now,
            record_id=record_id,
            detail={"reason": "its summary was erased"},
        )
        for record_id in revived
    ]
    waking = [restore_transition(record, now) for record in transaction.get(scope, revived)]
    transaction.transition(scope, waking, now)
    transaction.erase(scope, reach.ids, now)
    transaction.append(scope, events)
    return events


# ── After the commit ──────────────────────────────────────────────────────────────────────────────


def _forget_here(engine: Engine, scope: Scope, reach: Reach, events: Sequence[MemoryEvent]) -> None:
    """Empty what this process keeps in memory, and tell the listeners."""
    engine.usage.forget(scope, reach.ids)
    engine.views.drop(scope)
    drop_words()
    engine.tell(scope, events)


def _settle(engine: Engine, texts: set[str], blobs: Sequence[bytes]) -> ResidueCheck | None:
    """Make the erasure final in the files and look. It is committed: a failing disk only puts that off.

    The file is written anew, which costs as much as all that stays, only where something is left, or
    where more was erased than can be looked for.
    """
    looked_for = _sample(texts, MOST_TEXTS)
    pieces = pieces_of(looked_for) | pieces_of_data(_sample(blobs, MOST_TEXTS))
    rewritten = len(looked_for) < len(texts)
    try:
        settled = engine.store.settle(rewrite=rewritten)
        left = engine.store.residue(pieces)
        if settled and left and not rewritten:
            rewritten = True
            settled = engine.store.settle()
            left = engine.store.residue(left)
    except StoreUnavailableError as error:
        logger.warning("erased, but its residue is still in the files: %s", error)
        return None
    if not settled:
        return None
    return ResidueCheck(
        texts=len(looked_for),
        pieces=len(pieces),
        too_short=too_short(texts),
        left=len(left),
        digest=sha256(b"".join(sorted(sha256(piece).digest() for piece in pieces))).hexdigest(),
        rewritten=rewritten,
    )


def _sample(values: Collection[Value], most: int) -> list[Value]:
    """Take all, or evenly spread ones where there are too many."""
    return list(values)[:: -(-len(values) // most)] if values else []


def _finished(
    engine: Engine, scope: Scope, receipt: EraseReceipt, checked: ResidueCheck | None
) -> EraseReceipt:
    """Note what the search has found, and see to summaries that are to be made anew."""
    clean = checked is not None and not checked.left
    if clean and checked is not None:
        try:
            with engine.store.write() as transaction:
                note_check(transaction, scope, receipt, checked, engine.receipt_key)
        except StoreUnavailableError as error:
            logger.warning("the chain of receipts still says pending: %s", error)
    if receipt.revived and engine.rebuild is not None:
        engine.background.submit(partial(engine.rebuild, scope, receipt.revived))
    residue = Residue.CLEAN if clean else Residue.PENDING
    return replace(receipt, residue=residue, checked=checked)
