"""The dict store: the oracle that every other store is compared with, and a store for tests.

A unit of work changes its own copy of what it touches; a clean exit puts the copy in place of the
old state, an exception throws it away. What a reader holds is therefore never changed under it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from threading import RLock

from sfams.core.events import MemoryEvent
from sfams.core.keywords import Terms
from sfams.core.moments import utc_day
from sfams.core.plan import ForgettingPlan
from sfams.core.receipts import ChainLink
from sfams.core.record import EmbeddingState, MemoryRecord, RecordId, Relation, Status
from sfams.core.scope import Scope
from sfams.core.view import Vector
from sfams.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StoreError,
    StoreUnavailableError,
)
from sfams.ports import (
    META_DIMENSION,
    META_MODEL,
    Adoption,
    EmbeddingModel,
    Entry,
    PastVersion,
    Problem,
    Reader,
    Staged,
    Transaction,
    Transition,
    UsageDelta,
)
from sfams.stores import dict_erasing as erasing
from sfams.stores.dict_edits import (
    adopted,
    learned,
    moved,
    says_the_same,
    succeeding,
    with_access,
    with_setting,
)
from sfams.stores.dict_ghosts import GhostWriter, Haunt
from sfams.stores.dict_reader import DictReader
from sfams.stores.dict_state import Row, ScopeState, State, check_unique, detached, own_vector


class DictTransaction(DictReader, GhostWriter):
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
                own.rows[entry.record.id] = learned(self._row(entry, own.seq), own.logged)
                own.gone.pop(entry.record.id, None)
                own.days.add(utc_day(entry.record.created_at))
            check_unique(own)

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
                own.rows[entry.record.id] = succeeding(self._row(entry, own.seq), old)
            check_unique(own)

    def _row(self, entry: Entry, seq: int) -> Row:
        if entry.record.status is Status.ERASED:
            raise InvalidInputError("status: only `erase` erases", field="status")
        vector = own_vector(entry.vector)
        return Row(detached(entry.record), entry.terms, vector, seq, self._model())

    def _model(self) -> str:
        """Name the model that vectors are from which are written now."""
        return self.meta(META_MODEL) or ""

    def transition(self, scope: Scope, changes: Sequence[Transition], now: datetime, /) -> None:
        """Change standing in bulk; ids that are not in this scope are passed over."""
        own = self._own(scope)
        known = [change for change in changes if change.id in own.rows]
        own.seq += bool(known)
        for change in known:
            if change.status is Status.ERASED:
                raise InvalidInputError("status: only `erase` erases", field="status")
            row = own.rows[change.id]
            record = moved(row.record, change, now)
            own.rows[change.id] = replace(row, record=record, seq=own.seq)
        check_unique(own)

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
                vector=own_vector(vectors[record_id]),
                seq=own.seq,
                model=self._model(),
            )

    def put_keywords(self, scope: Scope, keywords: Mapping[RecordId, Terms], /) -> None:
        """Write keyword entries anew, without touching `version`."""
        own = self._own(scope)
        known = [record_id for record_id in keywords if record_id in own.rows]
        own.seq += bool(known)
        for record_id in known:
            row = own.rows[record_id]
            own.rows[record_id] = replace(row, terms=keywords[record_id], seq=own.seq)

    def put_versions(
        self, scope: Scope, versions: Mapping[RecordId, Sequence[PastVersion]], /
    ) -> None:
        """Add to records' earlier contents, in order."""
        own = self._own(scope)
        for record_id, past in versions.items():
            if record_id in own.rows:
                own.past[record_id] = (*own.past.get(record_id, ()), *past)

    def stage_vectors(self, model: EmbeddingModel, staged: Sequence[Staged], /) -> int:
        """Lay vectors aside; what says something else by now is passed over."""
        kept = 0
        for each in staged:
            own = self._own(each.record.scope)
            row = own.rows.get(each.record.id)
            if row is not None and says_the_same(row.record, each.record):
                vectors = {**row.staged, model: own_vector(each.vector)}
                own.rows[each.record.id] = replace(row, staged=vectors)
                kept += 1
        return kept

    def adopt_vectors(self, model: EmbeddingModel, /) -> Adoption:
        """Make staged vectors the current ones, in all scopes."""
        counts: Counter[EmbeddingState] = Counter()
        for scope in list(self._state.scopes):
            own = self._own(scope)
            own.seq += bool(own.rows)
            for record_id, row in own.rows.items():
                own.rows[record_id] = adopted(row, model, own.seq)
                counts[own.rows[record_id].record.embedding] += 1
        self._state.meta[META_MODEL] = model.name
        self._state.meta[META_DIMENSION] = str(model.dimension)
        return Adoption(
            ready=counts[EmbeddingState.READY],
            failed=counts[EmbeddingState.FAILED],
            pending=counts[EmbeddingState.PENDING],
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
            row = own.rows.get(delta.id)
            if row is not None:
                own.rows[delta.id] = with_access(row, delta, own.logged)

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
        own.logged += 1
        own.days.add(utc_day(at))
        return own.turns[session]

    def end_session(self, scope: Scope, session: str, at: datetime, /) -> None:
        """Note that a session is over."""
        self._own(scope).ended[session] = at

    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:  # noqa: ARG002
        """Remove every trace of records and leave tombstones."""
        return erasing.erase(self._own(scope), ids)

    def purge(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:  # noqa: ARG002
        """Remove records, without a tombstone that bars them; ghosts stay."""
        own = self._own(scope)
        before = list(own.haunts)
        gone = erasing.erase(own, ids)
        erasing.lift(own, ids, ())
        own.haunts = before
        return gone

    def _own_haunts(self, scope: Scope) -> list[Haunt]:
        return self._own(scope).haunts

    def lift(
        self, scope: Scope, ids: Sequence[RecordId], names: Sequence[str], /
    ) -> Sequence[RecordId]:
        """Let erased records' texts back in, by id or by name."""
        return erasing.lift(self._own(scope), ids, names)

    def add_erasure(self, scope: Scope, link: ChainLink, /) -> None:
        """Add a receipt to the chain."""
        self._own(scope).erasures.append(replace(link, body=dict(link.body)))

    def set_meta(self, name: str, value: str, /) -> None:
        """Write a store-wide setting."""
        self._state.meta[name] = value

    def put_setting(self, scope: Scope, name: str, value: str | None, /) -> None:
        """Write a scope's own setting; None takes it away."""
        own = self._own(scope)
        own.settings = with_setting(own.settings, name, value)


def _by_scope(entries: Iterable[Entry]) -> dict[Scope, list[Entry]]:
    batches: dict[Scope, list[Entry]] = {}
    for entry in entries:
        batches.setdefault(entry.record.scope, []).append(entry)
    return batches


def _keep_version(own: ScopeState, record: MemoryRecord, until: datetime) -> None:
    past = PastVersion(record.version, record.content, until)
    own.past[record.id] = (*own.past.get(record.id, ()), past)


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

    def settle(self, *, rewrite: bool = True) -> bool:  # noqa: ARG002  (the port's)
        """Tell that erasure is final: there are no files."""
        with self._lock:
            self._check_open()
        return True

    def residue(self, pieces: Collection[bytes], /) -> frozenset[bytes]:  # noqa: ARG002  (as above)
        """Find nothing: there are no files."""
        with self._lock:
            self._check_open()
        return frozenset()

    def close(self) -> None:
        """Let go; further calls fail."""
        with self._lock:
            self._closed = True
            self._state = State({}, {})
