"""Receipts of erasures: a chain in the store that says what was erased when, without a word of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from sfams.core.events import EventType, MemoryEvent
from sfams.core.receipts import ChainLink, digest_of, next_link, problems_in
from sfams.core.record import JsonValue, RecordId
from sfams.core.scope import Scope
from sfams.core.text import is_blank
from sfams.core.tombstones import text_names
from sfams.errors import InvalidInputError, NotFoundError
from sfams.ports import Reader, Transaction
from sfams.service.engine import Engine
from sfams.service.listing import check_id
from sfams.service.results import EraseReceipt, Erasure, ErasureLog, Residue, ResidueCheck

_ERASED, _CHECKED = "erased", "checked"
_MOST_IDS = 1000


def note_erasure(
    transaction: Transaction, scope: Scope, receipt: EraseReceipt, key: bytes
) -> ChainLink:
    """Write a receipt into the chain, in the transaction that erases."""
    ids: list[JsonValue] = [*receipt.ids, *receipt.withdrawn]
    body: dict[str, JsonValue] = {
        "type": _ERASED,
        "count": len(ids),
        "ids": ids if len(ids) <= _MOST_IDS else [],
        "digest": digest_of(receipt.hashes),
        "reach": dict(receipt.reach),
        "out_of_reach": list(receipt.out_of_reach),
    }
    return _add(transaction, scope, receipt, body, key)


def note_check(
    transaction: Transaction,
    scope: Scope,
    receipt: EraseReceipt,
    checked: ResidueCheck,
    key: bytes,
) -> ChainLink:
    """Write down that the files of an erasure are clean."""
    body: dict[str, JsonValue] = {
        "type": _CHECKED,
        "erasure": receipt.number,
        "residue": Residue.CLEAN.value,
        **asdict(checked),
    }
    return _add(transaction, scope, receipt, body, key)


def _add(
    transaction: Transaction,
    scope: Scope,
    receipt: EraseReceipt,
    body: Mapping[str, JsonValue],
    key: bytes,
) -> ChainLink:
    last = next(iter(transaction.erasures(scope, last=1)), None)
    link = next_link(last, receipt.at, body, key)
    transaction.add_erasure(scope, link)
    return link


def settle_pending(engine: Engine) -> int:
    """After the files have been written anew: note in every scope that what was pending is clean now."""
    noted = 0
    now = engine.now()
    with engine.store.read() as reader:
        waiting = [scope for scope in reader.scopes() if _pending(reader.erasures(scope))]
    for scope in waiting:
        with engine.store.write() as transaction:
            for number in _pending(transaction.erasures(scope)):
                last = transaction.erasures(scope, last=1)[0]
                body: dict[str, JsonValue] = {
                    "type": _CHECKED,
                    "erasure": number,
                    "residue": Residue.CLEAN.value,
                    "rewritten": True,
                }
                transaction.add_erasure(scope, next_link(last, now, body, engine.receipt_key))
                noted += 1
    return noted


def _pending(links: Sequence[ChainLink]) -> list[int]:
    done = _checked(links)
    return [link.number for link in links if _is(link, _ERASED) and link.number not in done]


def _checked(links: Iterable[ChainLink]) -> dict[int, ChainLink]:
    return {int(str(link.body["erasure"])): link for link in links if _is(link, _CHECKED)}


def _is(link: ChainLink, kind: str) -> bool:
    return link.body.get("type") == kind


def erasures(engine: Engine, scope: Scope) -> ErasureLog:
    """Read the receipts of a scope and check their chain."""
    with engine.store.read() as reader:
        links = reader.erasures(scope)
    done = _checked(links)
    return ErasureLog(
        erasures=tuple(_read(link, done.get(link.number)) for link in links if _is(link, _ERASED)),
        problems=problems_in(links, engine.receipt_key),
        head=links[-1].seal if links else "",
        signed=bool(engine.receipt_key),
    )


def _read(link: ChainLink, check: ChainLink | None) -> Erasure:
    body = link.body
    ids, reach = body.get("ids"), body.get("reach")
    return Erasure(
        number=link.number,
        at=link.at,
        count=int(str(body.get("count", 0))),
        ids=tuple(RecordId(str(each)) for each in ids) if isinstance(ids, list) else (),
        digest=str(body.get("digest", "")),
        reach={n: int(str(v)) for n, v in reach.items()} if isinstance(reach, dict) else {},
        residue=Residue.PENDING if check is None else Residue.CLEAN,
        checked_at=None if check is None else check.at,
        seal=link.seal,
        signature=link.signature,
    )


def lift(engine: Engine, scope: Scope, what: str) -> tuple[RecordId, ...]:
    """Let an erased text be stored again: by the erased record's id, or by the text itself.

    Raises:
        NotFoundError: Nothing of that id or text was erased here (or it has been lifted).
    """
    if not isinstance(what, str) or is_blank(what):
        message = "lift: name the id of an erased record, or its text"
        raise InvalidInputError(message, field="what")
    ids, names = _as_ids(what), text_names(what)
    now = engine.now()
    with engine.store.write() as transaction:
        lifted = tuple(transaction.lift(scope, ids, () if ids else names))
        if not lifted:
            message = f"lift: nothing of that {'id' if ids else 'text'} was erased in {scope}"
            raise NotFoundError(message, ids=ids)
        events = [MemoryEvent(type=EventType.LIFTED, at=now, record_id=each) for each in lifted]
        transaction.append(scope, events)
    engine.tell(scope, events)
    return lifted


def _as_ids(what: str) -> list[RecordId]:
    try:
        return [check_id(what)]
    except InvalidInputError:
        return []


def is_barred(reader: Reader, scope: Scope, names: Sequence[str]) -> RecordId | None:
    """Name the erased record that keeps a text out."""
    return next(iter(reader.tombstones(scope, names).values()), None)
