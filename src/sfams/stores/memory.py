"""The dict store: the oracle that every other store is compared with, and a store for tests.

A unit of work changes its own copy of what it touches; a clean exit puts the copy in place of the
old state, an exception throws it away. What a reader holds is therefore never changed under it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from threading import RLock

import numpy as np

from sfams.core.events import MemoryEvent
from sfams.core.moments import utc_day
from sfams.core.plan import ForgettingPlan, Steps
from sfams.core.record import (
    EmbeddingState,
    MemoryRecord,
    RecordId,
    Relation,
    Status,
    Usage,
)
from sfams.core.scope import Scope
from sfams.core.view import Vector
from sfams.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StoreError,
    StoreUnavailableError,
)
from sfams.ports import Entry, PastVersion, Problem, Reader, Transaction, Transition, UsageDelta
from sfams.stores.dict_reader import DictReader, Row, ScopeState, State, detached, tombstone


class DictTransaction(DictReader):
    """A unit of work on a private copy of the state."""

    def __init__(self, state: State) -> None:
        super().__init__(State(dict(state.scopes), dict(state.meta)))
        self._owned: set[Scope] = set()

    @property
    def result(self) -> State:
        """The changed copy, to be put in place of the old state."""
        return self._state

    def _own(self, scope: Scope) -> ScopeState:
        """Give this transaction's own copy of a scope, made when first written."""
        if scope not in self._owned:
            self._state.scopes[scope] = self._scope(scope).copy()
            self._owned.add(scope)
        return self._state.scopes[scope]

    def insert(self, entries: Sequence[Entry], /) -> None:
        """Add new records."""
        for scope, batch in _by_scope(entries).items():
            own = self._own(scope)
            own.seq += 1
            for entry in batch:
                if entry.record.id in own.rows:
                    message = f"record {entry.record.id} is there already"
                    raise ConflictError(message, id=entry.record.id)
                _put(own, entry.record, entry)
                own.days.add(utc_day(entry.record.created_at))
            _check_unique(own)

    def replace(self, entries: Sequence[Entry], /) -> None:
        """Write changed records whole; usage stays, for it is counted apart."""
        for scope, batch in _by_scope(entries).items():
            own = self._own(scope)
            own.seq += 1
            for entry in batch:
                old = own.rows.get(entry.record.id)
                if old is None:
                    message = f"record {entry.record.id} is not in this scope"
                    raise NotFoundError(message, id=entry.record.id)
                if old.record.content != entry.record.content:
                    _keep_version(own, old.record, entry.record.updated_at)
                _put(own, replace(entry.record, usage=old.record.usage), entry)
            _check_unique(own)

    def transition(self, scope: Scope, changes: Sequence[Transition], now: datetime, /) -> None:
        """Change standing in bulk; ids that are not in this scope are passed over."""
        own = self._own(scope)
        known = [change for change in changes if change.id in own.rows]
        own.seq += bool(known)
        for change in known:
            if change.status is Status.ERASED:
                raise InvalidInputError("status: only `erase` erases", field="status")
            row = own.rows[change.id]
            fields = {
                name: value
                for name in ("status", "tier", "grace_until", "pinned", "held", "validity")
                if (value := getattr(change, name)) is not None
            }
            record = replace(row.record, **fields, updated_at=now, version=row.record.version + 1)
            own.rows[change.id] = replace(row, record=record, seq=own.seq)
        _check_unique(own)

    def put_vectors(
        self, scope: Scope, vectors: Mapping[RecordId, Vector | None], state: EmbeddingState, /
    ) -> None:
        """Attach vectors (or note their failure) without touching `version`."""
        own = self._own(scope)
        known = [record_id for record_id in vectors if record_id in own.rows]
        own.seq += bool(known)
        for record_id in known:
            row = own.rows[record_id]
            own.rows[record_id] = replace(
                row,
                record=replace(row.record, embedding=state),
                vector=_own_vector(vectors[record_id]),
                seq=own.seq,
            )

    def relate(self, scope: Scope, source: RecordId, relation: Relation, /) -> bool:
        """Add a relation; False when it was there."""
        own = self._own(scope)
        for end in (source, relation.target):
            if end not in own.rows:
                raise NotFoundError(f"record {end} is not in this scope", id=end)
        row = own.rows[source]
        if relation in row.record.relations:
            return False
        relations = (*row.record.relations, relation)
        own.rows[source] = replace(row, record=replace(row.record, relations=relations))
        return True

    def unrelate(self, scope: Scope, source: RecordId, relation: Relation, /) -> bool:
        """Remove a relation; False when there was none."""
        own = self._own(scope)
        row = own.rows.get(source)
        if row is None or relation not in row.record.relations:
            return False
        relations = tuple(each for each in row.record.relations if each != relation)
        own.rows[source] = replace(row, record=replace(row.record, relations=relations))
        return True

    def add_usage(self, scope: Scope, deltas: Sequence[UsageDelta], /) -> None:
        """Add accesses; unknown ids are ignored, and neither `version` nor `change_seq` moves."""
        own = self._own(scope)
        for delta in deltas:
            if delta.id in own.rows:
                row = own.rows[delta.id]
                usage = _add(row.record.usage, delta)
                own.rows[delta.id] = replace(row, record=replace(row.record, usage=usage))

    def append(self, scope: Scope, events: Sequence[MemoryEvent], /) -> None:
        """Add to the log, numbered from 1."""
        own = self._own(scope)
        for event in events:
            own.events.append(replace(event, number=len(own.events) + 1, detail=dict(event.detail)))

    def save_plan(self, plan: ForgettingPlan, /) -> None:
        """Write a plan, new or changed."""
        self._own(plan.scope).plans[plan.id] = plan

    def advance_plan(self, plan: ForgettingPlan, /) -> None:
        """Write how far a saved plan has come; its steps stay as they are."""
        own = self._own(plan.scope)
        saved = own.plans.get(plan.id)
        if saved is None:
            raise NotFoundError(f"plan {plan.id} is not in this scope", id=plan.id)
        own.plans[plan.id] = replace(
            saved,
            state=plan.state,
            cursor=plan.cursor,
            skipped=dict(plan.skipped),
            applied_at=plan.applied_at,
            undo_until=plan.undo_until,
        )

    def log_turn(self, scope: Scope, session: str, at: datetime, /) -> int:
        """Count one more turn of a session; returns its number, from 1."""
        own = self._own(scope)
        own.turns[session] = own.turns.get(session, 0) + 1
        own.days.add(utc_day(at))
        return own.turns[session]

    def end_session(self, scope: Scope, session: str, at: datetime, /) -> None:
        """Note that a session is over."""
        self._own(scope).ended[session] = at

    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        """Remove every trace of records and leave a tombstone."""
        own = self._own(scope)
        known = {record_id for record_id in ids if record_id in own.rows}
        own.seq += bool(known)
        named = {own.rows[record_id].record.source.session for record_id in known}
        for record_id in known:
            own.tombstones[tombstone(own.rows[record_id].record.content_hash)] = at
            own.gone[record_id] = own.seq
            del own.rows[record_id]
            own.past.pop(record_id, None)
        own.rows = {record_id: _without_links(row, known) for record_id, row in own.rows.items()}
        own.events = [
            replace(event, detail={}) if event.record_id in known else event for event in own.events
        ]
        own.plans = {name: _without_steps(plan, known) for name, plan in own.plans.items()}
        left = {row.record.source.session for row in own.rows.values()}
        for sessions in (own.turns, own.ended) if known else ():
            for session in [s for s in sessions if s not in left and (s in named or not own.rows)]:
                del sessions[session]
        return len(known)

    def set_meta(self, name: str, value: str, /) -> None:
        """Write a store-wide setting."""
        self._state.meta[name] = value


def _by_scope(entries: Iterable[Entry]) -> dict[Scope, list[Entry]]:
    batches: dict[Scope, list[Entry]] = {}
    for entry in entries:
        batches.setdefault(entry.record.scope, []).append(entry)
    return batches


def _put(own: ScopeState, record: MemoryRecord, entry: Entry) -> None:
    if record.status is Status.ERASED:
        raise InvalidInputError("status: only `erase` erases", field="status")
    own.rows[record.id] = Row(detached(record), entry.terms, _own_vector(entry.vector), own.seq)
    own.gone.pop(record.id, None)


def _keep_version(own: ScopeState, record: MemoryRecord, until: datetime) -> None:
    past = PastVersion(record.version, record.content, until)
    own.past[record.id] = (*own.past.get(record.id, ()), past)


def _own_vector(vector: Vector | None) -> Vector | None:
    """Part a vector from the caller's array; whoever reads it later cannot change it."""
    if vector is None:
        return None
    copied = np.array(vector, np.float32)
    copied.flags.writeable = False
    return copied


def _check_unique(own: ScopeState) -> None:
    """Refuse a second live record of one content hash, and a second record of one key."""
    hashes: dict[str, RecordId] = {}
    keys: dict[str, RecordId] = {}
    for record_id, row in own.rows.items():
        record = row.record
        if row.live and hashes.setdefault(record.content_hash, record_id) != record_id:
            first = hashes[record.content_hash]
            raise ConflictError(f"content: live record {first} says the same", id=first)
        if record.key is not None and keys.setdefault(record.key, record_id) != record_id:
            first = keys[record.key]
            raise ConflictError(f"key: record {first} has it already", id=first, field="key")


def _add(usage: Usage, delta: UsageDelta) -> Usage:
    """Counters add up; each last moment is the latest of its own kind of access."""
    if delta.shown:
        usage = replace(
            usage,
            access_count=usage.access_count + delta.shown,
            last_accessed_at=max(usage.last_accessed_at or delta.at, delta.at),
        )
    if delta.used:
        usage = replace(
            usage,
            used_count=usage.used_count + delta.used,
            last_used_at=max(usage.last_used_at or delta.at, delta.at),
        )
    return usage


def _without_links(row: Row, gone: set[RecordId]) -> Row:
    relations = tuple(each for each in row.record.relations if each.target not in gone)
    if len(relations) == len(row.record.relations):
        return row
    return replace(row, record=replace(row.record, relations=relations))


def _without_steps(plan: ForgettingPlan, gone: set[RecordId]) -> ForgettingPlan:
    """Take records out of a saved plan; its cursor still stands before the same next step."""
    kept = np.array([record_id not in gone for record_id in plan.steps.ids], np.bool_)
    skipped = {name: why for name, why in plan.skipped.items() if name not in gone}
    if kept.all() and len(skipped) == len(plan.skipped):
        return plan
    steps = plan.steps
    left = Steps(
        ids=tuple(record_id for record_id in steps.ids if record_id not in gone),
        versions=steps.versions[kept],
        actions=steps.actions[kept],
        reasons=steps.reasons[kept],
        scores=steps.scores[kept],
        tokens=steps.tokens[kept],
        parts={name: values[kept] for name, values in steps.parts.items()},
    )
    cursor = int(np.count_nonzero(kept[: plan.cursor]))
    return replace(plan, steps=left, cursor=cursor, skipped=skipped)


class DictStore:
    """Records in dicts: nothing survives the process, nothing is clever."""

    location = "memory"

    def __init__(self) -> None:
        self._lock = RLock()
        self._state = State({}, {})
        self._writing = False
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Open a consistent look: what is committed later stays out of it."""
        with self._lock:
            self._check_open()
            reader = self._reader(self._state)
        try:
            yield reader
        finally:
            reader.end()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Open a unit of work; others wait, and one inside another is refused."""
        with self._lock:
            self._check_open()
            if self._writing:
                raise StoreError("a unit of work is open on this thread already")
            self._writing = True
            transaction = self._transaction(self._state)
            try:
                yield transaction
                self._state = transaction.result
            finally:
                transaction.end()
                self._writing = False

    def _reader(self, state: State) -> DictReader:
        return DictReader(state)

    def _transaction(self, state: State) -> DictTransaction:
        return DictTransaction(state)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailableError("the store is closed")

    def check(self) -> Sequence[Problem]:
        """Find nothing: rows, vectors and keywords are one value here and cannot drift apart."""
        with self._lock:
            self._check_open()
        return ()

    def repair(self, problems: Sequence[Problem], /) -> int:
        """Mend nothing, for nothing breaks."""
        with self._lock:
            self._check_open()
        return 0 * len(problems)

    def settle(self) -> bool:
        """Tell that erasure is final: there are no files."""
        with self._lock:
            self._check_open()
        return True

    def close(self) -> None:
        """Let go; further calls fail."""
        with self._lock:
            self._closed = True
            self._state = State({}, {})
