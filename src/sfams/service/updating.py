"""Updating: a record says something else from now on; what it said before stays in its versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sfams.core.admission import content_hash
from sfams.core.draft import Draft, make_draft
from sfams.core.entities import find_entities
from sfams.core.events import EventType, MemoryEvent
from sfams.core.indexing import passage_of, terms_of
from sfams.core.lifetimes import lifetime
from sfams.core.record import (
    Claim,
    EmbeddingState,
    Entity,
    MemoryRecord,
    Sensitivity,
    Source,
    Status,
    Validity,
)
from sfams.core.salience import salience_given
from sfams.core.scope import Scope
from sfams.core.sensitivity import find_sensitive
from sfams.core.text import count_tokens, language_of
from sfams.core.tombstones import ERASED, barring_record
from sfams.errors import (
    ConflictError,
    InvalidInputError,
    RecordProtectedError,
    SensitiveContentError,
)
from sfams.ports import Entry, Transaction
from sfams.service.embedding import claim_model, embed_passages
from sfams.service.engine import Engine
from sfams.service.hearing import hear
from sfams.service.listing import check_id, fetch
from sfams.service.receipts import is_barred
from sfams.service.screening import screen

_FIXED = frozenset({"created_at", "key", "supersedes", "derived_from", "relations"})
"""Fields of a draft that an update may not touch: history, identity, and what has verbs of its own."""


def update(
    engine: Engine,
    scope: Scope,
    record_id: str,
    expected_version: int | None,
    fields: Mapping[str, object],
) -> MemoryRecord:
    """Change fields of one live record; new text is embedded anew before the transaction opens.

    Raises:
        InvalidInputError: Nothing to change, an unknown or fixed field, or a bad value.
        SensitiveContentError: The scope's rule refuses what was found in the new text.
        NotFoundError: No such record in this scope.
        ConflictError: Its version is not the expected one (or changed meanwhile), it is not live, or
            another live record says the same, or the text was erased here.
        RecordProtectedError: It is held.
    """
    wanted = check_id(record_id)
    if not fields:
        message = "update: name at least one field to change"
        raise InvalidInputError(message)
    fixed = sorted(_FIXED & fields.keys())
    if fixed:
        message = f"update: {', '.join(fixed)} cannot be changed"
        raise InvalidInputError(message, field=fixed[0])
    now = engine.now()
    with engine.store.read() as reader:
        before = fetch(reader, scope, [wanted])[0]
    _check_changeable(before, expected_version, now)
    after = _changed(engine, before, fields, now)
    entry = _entry(engine, before, after, told=fields.get("importance") is not None)
    event = MemoryEvent(
        type=EventType.UPDATED,
        at=now,
        record_id=wanted,
        detail={"fields": [*sorted(fields)], "version": after.version},
    )
    with engine.store.write() as transaction:
        _check_still(transaction, before, after, now)
        entry = _settled(engine, transaction, before, entry)
        transaction.replace([entry])
        transaction.append(scope, [event])
    engine.tell(scope, [event])
    return entry.record


def _check_changeable(record: MemoryRecord, expected_version: int | None, now: datetime) -> None:
    if expected_version is not None and record.version != expected_version:
        message = (
            f"{record.id} is at version {record.version}, not {expected_version}; read it again"
        )
        raise ConflictError(message, id=record.id, version=record.version)
    if record.status is not Status.LIVE:
        message = f"{record.id} is {record.status}; restore it before changing it"
        raise ConflictError(message, id=record.id)
    if record.held_at(now):
        message = f"{record.id} is held; release it first"
        raise RecordProtectedError(message, id=record.id)


def _check_still(
    transaction: Transaction, before: MemoryRecord, after: MemoryRecord, now: datetime
) -> None:
    current = fetch(transaction, before.scope, [before.id])[0]
    _check_changeable(current, before.version, now)
    double = transaction.by_hash(before.scope, [after.content_hash]).get(after.content_hash)
    if double is not None and double != before.id:
        message = f"{double} says the same already"
        raise ConflictError(message, ids=[double])
    if (before.content, before.claim) != (after.content, after.claim):
        barred = is_barred(transaction, before.scope, barring_record(after))
        if barred is not None:
            message = f"content: {ERASED} ({barred})"
            raise ConflictError(message, ids=[barred])


def _changed(
    engine: Engine, before: MemoryRecord, fields: Mapping[str, object], now: datetime
) -> MemoryRecord:
    given: dict[str, Any] = {**_old_claim(before, fields), **fields}
    draft = make_draft(given.pop("content", before.content), given)
    draft = _screened(engine, before, draft, fields)
    content = draft.content
    source = Source(
        *(getattr(draft.source if name in fields else before.source, name) for name in _SOURCE)
    )
    kind = draft.kind if "kind" in fields and draft.kind else before.kind
    same = Draft(content=content, source=source)
    return replace(
        before,
        content=content,
        content_hash=content_hash(same, kind),
        kind=kind,
        source=source,
        claim=_claim(before, draft, fields),
        validity=_validity(before, draft, fields),
        expires_at=_expiry(engine, before, draft, fields, now),
        salience=before.salience
        if fields.get("importance") is None
        else salience_given(draft.importance or 0.0),
        language=language_of(content),
        tokens=count_tokens(content),
        sensitivity=_label(before, draft, fields),
        entities=_entities(before, draft, fields),
        version=before.version + 1,
        updated_at=now,
        **{name: getattr(draft, name) for name in _PLAIN if fields.get(name) is not None},
    )


_SOURCE = ("who", "role", "session", "turn")
_CLAIM = frozenset({"subject", "attribute", "value"})
_PLAIN = ("importance", "tags", "metadata", "trust")


def _screened(
    engine: Engine, before: MemoryRecord, draft: Draft, fields: Mapping[str, object]
) -> Draft:
    """Look at what is new as at a new memory; what stands there already is left as it is."""
    unchanged = "content" not in fields
    (seen,) = screen(engine, before.scope, [replace(draft, content="") if unchanged else draft])
    if seen.draft is None:
        raise SensitiveContentError(seen.warning, field="content")
    return replace(seen.draft, content=before.content) if unchanged else seen.draft


def _expiry(
    engine: Engine,
    before: MemoryRecord,
    draft: Draft,
    fields: Mapping[str, object],
    now: datetime,
) -> datetime | None:
    """Take what the caller says, else what a new text says; what an old text said goes with it."""
    if {"ttl", "expires_at"} & fields.keys():
        return draft.expiry(now)
    if "content" not in fields:
        return before.expires_at
    new = lifetime(draft.content, now, engine.reading.zone)
    if new is not None:
        return new.until
    old = lifetime(before.content, before.created_at, engine.reading.zone)
    return None if old is not None and old.until == before.expires_at else before.expires_at


def _label(before: MemoryRecord, draft: Draft, fields: Mapping[str, object]) -> Sensitivity:
    """Take the caller's label, or raise it where what is new asks for it; no text lowers it."""
    if fields.get("sensitivity") is None and draft.sensitivity is not Sensitivity.SENSITIVE:
        return before.sensitivity
    return draft.sensitivity or before.sensitivity


def _entities(
    before: MemoryRecord, draft: Draft, fields: Mapping[str, object]
) -> tuple[Entity, ...]:
    """Take the caller's entities; those that an old text named go with it."""
    if fields.get("entities") is not None:
        return draft.entities
    told = find_entities(before.content, find_sensitive(before.content))
    return (
        draft.entities if "content" in fields and before.entities in ((), told) else before.entities
    )


def _old_claim(before: MemoryRecord, fields: Mapping[str, object]) -> dict[str, str]:
    """Give the parts of a claim that a change of another part leaves as they are."""
    if before.claim is None or not _CLAIM & fields.keys():
        return {}
    return {name: part for name in _CLAIM if (part := getattr(before.claim, name))}


def _claim(before: MemoryRecord, draft: Draft, fields: Mapping[str, object]) -> Claim | None:
    return draft.claim if _CLAIM & fields.keys() else before.claim


def _validity(before: MemoryRecord, draft: Draft, fields: Mapping[str, object]) -> Validity:
    return replace(
        before.validity,
        valid_from=draft.valid_from if "valid_from" in fields else before.validity.valid_from,
        valid_to=draft.valid_to if "valid_to" in fields else before.validity.valid_to,
    )


def _entry(engine: Engine, before: MemoryRecord, after: MemoryRecord, *, told: bool) -> Entry:
    """Pair the changed record with its keywords and, where its text is new, the vector of that.

    `told`: somebody has said how important it is, so that its new words are not asked.
    """
    text, terms = passage_of(after), terms_of(after)
    if text == passage_of(before):
        return Entry(after, terms)
    embedded = embed_passages(engine, [text])
    (heard,) = hear(engine, after.scope, [(after.source.who, after.content)])
    record = replace(
        after,
        embedding=embedded.states[0],
        twin=None,
        salience=after.salience if told else heard.salience.value,
    )
    return Entry(record, terms, embedded.vectors[0])


def _settled(engine: Engine, transaction: Transaction, before: MemoryRecord, entry: Entry) -> Entry:
    """Give an unchanged text the vector it has now, a new one its own if that is of the store's model."""
    record = entry.record
    if passage_of(record) == passage_of(before):
        current = fetch(transaction, record.scope, [record.id])[0]
        vector = transaction.vectors(record.scope, [record.id]).get(record.id)
        return replace(entry, record=replace(record, embedding=current.embedding), vector=vector)
    if entry.vector is None or claim_model(engine, transaction):
        return entry
    return replace(entry, record=replace(record, embedding=EmbeddingState.PENDING), vector=None)
