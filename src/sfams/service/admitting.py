"""Admitting: a chunk of completed drafts is decided and written in turn, inside one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sfams.core.admission import Admission, Neighbour, Outcome, Surroundings, admit
from sfams.core.draft import Draft
from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.indexing import terms_of
from sfams.core.keywords import Terms
from sfams.core.record import JsonValue, MemoryRecord, RecordId, Status
from sfams.core.scope import Scope
from sfams.core.tombstones import ERASED
from sfams.core.view import Vector
from sfams.ports import Entry, Reader, Transaction
from sfams.service.listing import check_id, fetch
from sfams.service.results import RememberResult
from sfams.service.superseding import supersede_all


@dataclass(frozen=True, slots=True)
class Item:
    """A draft on its way in: completed, with a fresh id, and its vector once there is one.

    `holds` tells what limits its life where its text says so.
    """

    draft: Draft
    record: MemoryRecord
    terms: Terms
    vector: Vector | None = None
    neighbours: tuple[Neighbour, ...] = ()
    warning: str = ""
    holds: str = ""
    bars: tuple[str, ...] = ()
    """Under which names a tombstone keeps it out."""


class Admitter:
    """Takes items so that a chunk acts like its texts said one after the other.

    What is known of the chunk's keys and texts is asked once, under the write lock, and kept up to date;
    new records wait to be written together until an item needs to see them in the store.
    """

    def __init__(
        self, transaction: Transaction, scope: Scope, items: Sequence[Item], now: datetime
    ) -> None:
        self._transaction = transaction
        self._scope = scope
        self._now = now
        self._wanted = [item.record.content_hash for item in items]
        self._hashes = dict(transaction.by_hash(scope, self._wanted))
        keys = [item.draft.key for item in items if item.draft.key is not None]
        self._keys = set(transaction.by_key(scope, keys)) if keys else set()
        names = [name for item in items for name in item.bars]
        self._erased = transaction.tombstones(scope, names) if names else {}
        self._aliases: dict[RecordId, RecordId] = {}
        self._refused: set[RecordId] = set()
        self._waiting: list[Entry] = []
        self._events: list[MemoryEvent] = []

    def take(self, item: Item, twin_cosine: float) -> RememberResult:
        """Decide what an item is to everything before it, and note or write it."""
        draft = item.draft
        alone = draft.claim is None and not draft.supersedes and draft.key not in self._keys
        around = self._alone(item) if alone else self._among_others(item)
        decision = admit(draft, around, created_at=item.record.created_at, twin_cosine=twin_cosine)
        barred = next((self._erased[name] for name in item.bars if name in self._erased), None)
        if barred is not None and decision.duplicate_of is None:
            return self._refuse(item, barred)
        if decision.duplicate_of is not None:
            self._aliases[item.record.id] = decision.duplicate_of
        self._note(item, decision)
        return RememberResult(
            id=decision.duplicate_of or item.record.id,
            outcome=decision.outcome,
            superseded=decision.supersedes,
            twin=decision.twin,
            embedded=decision.duplicate_of is not None or item.vector is not None,
            warnings=self._warnings(item, decision, alone=alone),
        )

    def _refuse(self, item: Item, barred: RecordId) -> RememberResult:
        """Store nothing: the text, or the value of its claim, was erased and nobody has lifted that."""
        self._refused.add(item.record.id)
        warning = f"not stored: {ERASED} ({barred})"
        return RememberResult(id=barred, outcome=Outcome.REFUSED, warnings=(warning,))

    def finish(self) -> list[MemoryEvent]:
        """Write what waits, and the log; returns the events."""
        self._flush()
        self._transaction.append(self._scope, self._events)
        return self._events

    def _flush(self) -> None:
        if self._waiting:
            self._transaction.insert(self._waiting)
            self._waiting = []

    def _alone(self, item: Item) -> Surroundings:
        """Surround an item that concerns nobody but a record of the same text."""
        return Surroundings(
            by_hash=self._hashes.get(item.record.content_hash), neighbours=self._near(item)
        )

    def _among_others(self, item: Item) -> Surroundings:
        """Ask the store about key, claim and links, with everything before it written."""
        self._flush()
        draft, wanted = item.draft, item.record.content_hash
        holder = key_holder(self._transaction, self._scope, draft.key, wanted)
        ids = [check_id(value) for value in draft.supersedes]
        claims = [] if draft.claim is None else [draft.claim]
        return Surroundings(
            by_key=None if holder is None else holder.id,
            by_hash=self._hashes.get(wanted),
            slot=self._transaction.by_claim(self._scope, claims) if claims else (),
            targets=fetch(self._transaction, self._scope, ids) if ids else (),
            neighbours=self._near(item),
        )

    def _near(self, item: Item) -> tuple[Neighbour, ...]:
        """Name neighbours by the records that hold them: one in this chunk may be a duplicate."""
        return tuple(
            replace(near, id=self._aliases[near.id]) if near.id in self._aliases else near
            for near in item.neighbours
            if near.id not in self._refused
        )

    def _note(self, item: Item, decision: Admission) -> None:
        known = decision.duplicate_of
        if known is None:
            self._add(item, decision)
        else:
            self._event(EventType.DUPLICATE, known, {})
        if decision.supersedes:
            self._flush()
            self._events += supersede_all(
                self._transaction,
                self._scope,
                decision.supersedes,
                known or item.record.id,
                self._now,
            )
            self._hashes = dict(self._transaction.by_hash(self._scope, self._wanted))

    def _add(self, item: Item, decision: Admission) -> None:
        record = _standing(item.record, decision)
        if record.key is not None:
            if record.key in self._keys:
                _release_key(self._transaction, record)
            self._keys.add(record.key)
        if record.status is Status.LIVE:
            self._hashes[record.content_hash] = record.id
        self._waiting.append(Entry(record, item.terms, item.vector))
        detail: dict[str, JsonValue] = {"outcome": decision.outcome.value}
        if item.holds:
            detail["expires"] = item.holds
        if decision.supersedes:
            detail["supersedes"] = list(decision.supersedes)
        self._event(EventType.REMEMBERED, record.id, detail)

    def _event(self, kind: EventType, record_id: RecordId, detail: dict[str, JsonValue]) -> None:
        event = MemoryEvent(
            type=kind, at=self._now, record_id=record_id, actor=Actor.ADMISSION, detail=detail
        )
        self._events.append(event)

    def _warnings(self, item: Item, decision: Admission, *, alone: bool) -> tuple[str, ...]:
        """Say what the caller should know: no vector yet, or known but deleted."""
        if decision.duplicate_of is None:
            return (item.warning,) if item.warning else ()
        if alone:
            return ()
        known = fetch(self._transaction, self._scope, [decision.duplicate_of])[0]
        if known.status is Status.DELETED:
            return (f"{known.id} has said this and was deleted; restore it to have it back",)
        return ()


def key_holder(
    reader: Reader, scope: Scope, key: str | None, content_hash: str
) -> MemoryRecord | None:
    """Find the record under a key; a deleted one that says something else has lost it."""
    held_by = None if key is None else reader.by_key(scope, [key]).get(key)
    if held_by is None:
        return None
    holder = next(iter(reader.get(scope, [held_by])), None)
    lost = (
        holder is not None
        and holder.status is Status.DELETED
        and holder.content_hash != content_hash
    )
    return None if lost else holder


def _release_key(transaction: Transaction, record: MemoryRecord) -> None:
    """Take the key from a deleted record that says something else, for the new record to have it."""
    held_by = {} if record.key is None else transaction.by_key(record.scope, [record.key])
    for holder in transaction.get(record.scope, list(held_by.values())):
        vector = transaction.vectors(record.scope, [holder.id]).get(holder.id)
        transaction.replace([Entry(replace(holder, key=None), terms_of(holder), vector)])


def _standing(record: MemoryRecord, decision: Admission) -> MemoryRecord:
    """Give the record its twin, or its place behind the newer value that is known already."""
    if decision.outcome is not Outcome.OUTDATED:
        return record if decision.twin is None else replace(record, twin=decision.twin)
    validity = replace(record.validity, superseded_by=decision.superseded_by)
    return replace(record, status=Status.SUPERSEDED, validity=validity)
