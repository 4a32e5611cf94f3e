"""SqliteTransaction: one unit of work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sfams.core.events import MemoryEvent
from sfams.core.ghosts import Mark, Trail
from sfams.core.keywords import Terms
from sfams.core.moments import to_micros
from sfams.core.plan import ForgettingPlan
from sfams.core.receipts import ChainLink
from sfams.core.record import EmbeddingState, RecordId, Relation, Status, Validity
from sfams.core.scope import Scope
from sfams.core.view import Vector
from sfams.errors import InvalidInputError, NotFoundError
from sfams.ports import Adoption, EmbeddingModel, Entry, PastVersion, Staged, Transition, UsageDelta
from sfams.stores.rows import Cells, encode_event, encode_link, micros, scope_to_path, to_json
from sfams.stores.sqlite import postings, reindexing, usage
from sfams.stores.sqlite.entries import EntryWriter
from sfams.stores.sqlite.erasing import Eraser
from sfams.stores.sqlite.faults import naming_clash
from sfams.stores.sqlite.reading import SqliteReader, day_number
from sfams.stores.sqlite.statements import QUERIES


class SqliteTransaction(SqliteReader):
    """A reader that also writes; whoever lends its connection commits or rolls back."""

    def _own(self, scope: Scope) -> int:
        """Number a scope, a new one too."""
        number = self._number(scope)
        if not number:
            number = self._numbers[scope] = self._value("scope_add", scope_to_path(scope))
        return number

    def _known(self, number: int, ids: Iterable[RecordId]) -> dict[RecordId, int]:
        """Number the records that are in a scope."""
        return dict(self._rows("record_numbers", number, to_json(list(ids))))

    def _raise_seq(self, number: int) -> int:
        seq: int = self._value("change_seq_raise", number)
        return seq

    def _many(self, query: str, rows: Iterable[Cells]) -> None:
        self._connection.executemany(QUERIES[query], rows)

    # ── Records ───────────────────────────────────────────────────────────────────────────────────

    def insert(self, entries: Sequence[Entry], /) -> None:
        """Add new records."""
        for scope, batch in _by_scope(entries).items():
            number = self._own(scope)
            _refuse_erased(entry.record.status for entry in batch)
            numbered = list(enumerate(batch, self._value("record_next")))
            EntryWriter(self._connection, number, self._raise_seq(number)).add(numbered)
            days = {day_number(entry.record.created_at) for entry in batch}
            self._many("active_day_add", ((number, day) for day in days))

    def replace(self, entries: Sequence[Entry], /) -> None:
        """Write changed records whole; usage stays, for it is counted apart."""
        for scope, batch in _by_scope(entries).items():
            number = self._own(scope)
            _refuse_erased(entry.record.status for entry in batch)
            known = self._known(number, (entry.record.id for entry in batch))
            for entry in batch:
                _require(entry.record.id, known)
            numbered = [(known[entry.record.id], entry) for entry in batch]
            EntryWriter(self._connection, number, self._raise_seq(number)).replace(numbered)

    def transition(self, scope: Scope, changes: Sequence[Transition], now: datetime, /) -> None:
        """Change standing in bulk; ids that are not in this scope are passed over."""
        _refuse_erased(change.status for change in changes)
        number = self._own(scope)
        known = self._known(number, {change.id for change in changes})
        if not known:
            return
        seq, at = self._raise_seq(number), to_micros(now)
        before = postings.cold_among(self._connection, known.values())
        self._many("transition", ((number, each.id, seq, at, *_standing(each)) for each in changes))
        # By themselves, because they move the record in more indexes.
        self._many(
            "transition_validity",
            ((number, e.id, *_validity(e.validity)) for e in changes if e.validity is not None),
        )
        with naming_clash(lambda: self._twins(number, known)):
            self._many(
                "transition_status",
                ((number, record_id, status) for record_id, status in _final(changes)),
            )
        after = postings.cold_among(self._connection, known.values())
        postings.remove(self._connection, number, before - after)
        postings.add(self._connection, number, after - before)

    def _twins(self, number: int, ids: Iterable[RecordId]) -> list[str]:
        return [row[0] for row in self._rows("twins", number, to_json(list(ids)))]

    def put_vectors(
        self, scope: Scope, vectors: Mapping[RecordId, Vector | None], state: EmbeddingState, /
    ) -> None:
        """Attach vectors (or note their failure) without touching `version`."""
        number = self._own(scope)
        known = self._known(number, vectors)
        if not known:
            return
        seq = self._raise_seq(number)
        writer = EntryWriter(self._connection, number, seq)
        writer.put_vectors((known[record_id], vectors[record_id]) for record_id in known)
        self._many("vector_state", ((each, state.value, seq) for each in known.values()))

    def put_keywords(self, scope: Scope, keywords: Mapping[RecordId, Terms], /) -> None:
        """Write keyword entries anew, without touching `version`."""
        number = self._own(scope)
        known = self._known(number, keywords)
        if known:
            terms = {place: keywords[record_id] for record_id, place in known.items()}
            reindexing.put_keywords(self._connection, number, self._raise_seq(number), terms)

    def put_versions(
        self, scope: Scope, versions: Mapping[RecordId, Sequence[PastVersion]], /
    ) -> None:
        """Add to records' earlier contents, in order."""
        known = self._known(self._own(scope), versions)
        self._many(
            "past_version_add",
            (
                (number, past.version, to_micros(past.until), past.content)
                for record_id, number in known.items()
                for past in versions[record_id]
            ),
        )

    def stage_vectors(self, model: EmbeddingModel, staged: Sequence[Staged], /) -> int:
        """Lay vectors of a model aside; what says something else by now is passed over."""
        scopes: dict[Scope, list[Staged]] = {}
        for each in staged:
            scopes.setdefault(each.record.scope, []).append(each)
        return sum(
            reindexing.stage(self._connection, model, self._number(scope), batch)
            for scope, batch in scopes.items()
        )

    def adopt_vectors(self, model: EmbeddingModel, /) -> Adoption:
        """Make a model's staged vectors the current ones, in all scopes."""
        return reindexing.adopt(self._connection, model)

    def relate(self, scope: Scope, source: RecordId, relation: Relation, /) -> bool:
        """Add a relation; False when it was there."""
        number = self._own(scope)
        known = self._known(number, (source, relation.target))
        _require(source, known)
        _require(relation.target, known)
        link = number, known[source], relation.type, relation.target
        self._connection.execute(QUERIES["relation_add"], link)
        return self._connection.changes() > 0

    def unrelate(self, scope: Scope, source: RecordId, relation: Relation, /) -> bool:
        """Remove a relation; False when there was none."""
        number = self._own(scope)
        known = self._known(number, (source,))
        if source not in known:
            return False
        link = number, known[source], relation.type, relation.target
        self._connection.execute(QUERIES["relation_remove"], link)
        return self._connection.changes() > 0

    def add_usage(self, scope: Scope, deltas: Sequence[UsageDelta], /) -> None:
        """Add accesses; unknown ids are ignored, and neither `version` nor `change_seq` moves."""
        usage.add(self._connection, self._own(scope), deltas)

    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        """Remove every trace of records and leave tombstones."""
        self._ghosts(self._own(scope)).drop(ids)
        return self._eraser(scope).erase(ids, at)

    def purge(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        """Remove records, without a tombstone that bars them; ghosts stay."""
        gone = self._eraser(scope).erase(ids, at)
        self.lift(scope, ids, ())
        return gone

    def _eraser(self, scope: Scope) -> Eraser:
        number = self._own(scope)
        plans = self._plans(scope, number)
        return Eraser(self._connection, (scope, number), plans, self._tombstone)

    def add_ghosts(self, scope: Scope, trails: Sequence[Trail], /) -> None:
        """Note what is forgotten."""
        self._ghosts(self._own(scope)).add(trails)

    def note_regret(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        """Count a regret, one a day."""
        self._ghosts(self._own(scope)).regret(ids, at)

    def note_return(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        """Note that records are back."""
        self._ghosts(self._own(scope)).back(ids, at)

    def mark_ghost(self, scope: Scope, record_id: RecordId, mark: Mark | None, /) -> bool:
        """Mark the newest ghost of a record; False without one."""
        return self._ghosts(self._own(scope)).mark(record_id, mark)

    def lift(
        self, scope: Scope, ids: Sequence[RecordId], names: Sequence[str], /
    ) -> Sequence[RecordId]:
        """Let erased records' texts back in, by id or by name."""
        number = self._own(scope)
        marks = to_json([self._tombstone(name).hex() for name in names])
        lifted = [row[0] for row in self._rows("tombstone_lifted", number, to_json(ids), marks)]
        self._rows("tombstone_lift", number, to_json(lifted))
        return lifted

    def add_erasure(self, scope: Scope, link: ChainLink, /) -> None:
        """Add a receipt to the chain."""
        self._rows("erasure_add", self._own(scope), *encode_link(link))

    # ── The log, plans, sessions, settings ────────────────────────────────────────────────────────

    def append(self, scope: Scope, events: Sequence[MemoryEvent], /) -> None:
        """Add to the log, numbered from 1."""
        number = self._own(scope)
        numbered = enumerate(events, self._value("event_next", number))
        self._many("event_add", ((number, place, *encode_event(e)) for place, e in numbered))

    def save_plan(self, plan: ForgettingPlan, /) -> None:
        """Write a plan, new or changed."""
        self._plans(plan.scope, self._own(plan.scope)).save(plan)

    def advance_plan(self, plan: ForgettingPlan, /) -> None:
        """Write how far a saved plan has come; its steps stay as they are."""
        if not self._plans(plan.scope, self._own(plan.scope)).advance(plan):
            raise NotFoundError(f"plan {plan.id} is not in this scope", id=plan.id)

    def log_turn(self, scope: Scope, session: str, at: datetime, /) -> int:
        """Count one more turn of a session; returns its number, from 1."""
        number = self._own(scope)
        self._value("active_day_add", number, day_number(at))
        self._value("scope_turn_log", number)
        turn: int = self._value("turn_log", number, session, to_micros(at))
        return turn

    def end_session(self, scope: Scope, session: str, at: datetime, /) -> None:
        """Note that a session is over."""
        self._value("session_end", self._own(scope), session, to_micros(at))

    def set_meta(self, name: str, value: str, /) -> None:
        """Write a store-wide setting."""
        self._value("meta_set", name, value)

    def put_setting(self, scope: Scope, name: str, value: str | None, /) -> None:
        """Write a scope's own setting; None takes it away."""
        if value is None:
            self._value("setting_drop", self._number(scope), name)
        else:
            self._value("setting_put", self._own(scope), name, value)


def _by_scope(entries: Iterable[Entry]) -> dict[Scope, list[Entry]]:
    batches: dict[Scope, list[Entry]] = {}
    for entry in entries:
        batches.setdefault(entry.record.scope, []).append(entry)
    return batches


def _refuse_erased(statuses: Iterable[Status | None]) -> None:
    if Status.ERASED in set(statuses):
        raise InvalidInputError("status: only `erase` erases", field="status")


def _require(record_id: RecordId, known: Mapping[RecordId, int]) -> None:
    if record_id not in known:
        raise NotFoundError(f"record {record_id} is not in this scope", id=record_id)


def _final(changes: Sequence[Transition]) -> list[tuple[RecordId, Status]]:
    """List what each record becomes; who leaves the live ones first: a swap of twins is no clash."""
    last = {change.id: change.status for change in changes if change.status is not None}
    return sorted(last.items(), key=lambda each: each[1] is Status.LIVE)


def _standing(change: Transition) -> Cells:
    """Write what changes; None leaves a column alone."""
    return (
        change.tier,
        micros(change.grace_until),
        None if change.pinned is None else int(change.pinned),
        None if change.held is None else int(change.held),
        None if change.hold is None else change.hold.owner,
        None if change.hold is None else change.hold.reason,
        None if change.hold is None else micros(change.hold.until),
    )


def _validity(truth: Validity) -> Cells:
    return micros(truth.valid_from), micros(truth.valid_to), truth.superseded_by
