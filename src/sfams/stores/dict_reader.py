"""Everything that can be read from a dict store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from sfams.core.columns import ARRAY_FIELDS, Columns, Need, Needs, types_of
from sfams.core.events import MemoryEvent
from sfams.core.indexing import view_row
from sfams.core.keywords import ColdPosting
from sfams.core.moments import MISSING, NEVER, to_micros
from sfams.core.plan import ForgettingPlan
from sfams.core.query import Filter, Page
from sfams.core.receipts import ChainLink
from sfams.core.record import (
    Claim,
    EmbeddingState,
    MemoryRecord,
    PlanId,
    RecordId,
    Relation,
    Sensitivity,
    Tier,
)
from sfams.core.scope import Scope
from sfams.core.traces import Accesses, EntityTypes, TurnUses
from sfams.core.view import Vector, ViewChanges
from sfams.errors import StoreError
from sfams.ports import EmbeddingModel, EntityCount, PastVersion, ScopeStats, Staging
from sfams.stores.dict_ghosts import GhostReader, Haunt
from sfams.stores.dict_state import Row, ScopeState, State, detached, tombstone
from sfams.stores.matching import claim_key, folded, matches, sort_value

_EPOCH_DAY = date(1970, 1, 1)


class DictReader(GhostReader):
    """A look at one state."""

    def __init__(self, state: State) -> None:
        self._current: State | None = state

    def end(self) -> None:
        """End the look; further calls fail."""
        self._current = None

    @property
    def _state(self) -> State:
        if self._current is None:
            raise StoreError("this look at the store, or unit of work, is over")
        return self._current

    def _scope(self, scope: Scope) -> ScopeState:
        """Give a scope's state, an empty one if it is unknown."""
        return self._state.scopes.get(scope) or ScopeState()

    def _haunts(self, scope: Scope) -> list[Haunt]:
        return self._scope(scope).haunts

    def _rows(self, scope: Scope) -> list[Row]:
        """Give a scope's rows in id order."""
        return [row for _, row in sorted(self._scope(scope).rows.items())]

    def scopes(self, below: Scope | None = None, /) -> Sequence[Scope]:
        """List scopes that hold a record, in order of their parts."""
        return sorted(
            scope
            for scope, state in self._state.scopes.items()
            if state.rows and (below is None or below.covers(scope))
        )

    def get(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[MemoryRecord]:
        """Read records whole, in the order of `ids`."""
        rows = self._scope(scope).rows
        return [detached(rows[record_id].record) for record_id in ids if record_id in rows]

    def _matching(self, scope: Scope, selection: Filter, now: datetime) -> Iterator[MemoryRecord]:
        return (row.record for row in self._rows(scope) if matches(row.record, selection, now))

    def find(
        self, scope: Scope, selection: Filter, page: Page, now: datetime, /
    ) -> Sequence[MemoryRecord]:
        """List records that match, one page of them."""

        def place(record: MemoryRecord) -> tuple[float, RecordId]:
            return sort_value(record, page.order), record.id

        found = sorted(self._matching(scope, selection, now), key=place, reverse=page.descending)
        if page.after is not None:
            last = (page.after.value, page.after.id)
            found = [
                record
                for record in found
                if (place(record) < last if page.descending else place(record) > last)
            ]
        return [detached(record) for record in found[: max(page.limit, 0)]]

    def matching(self, scope: Scope, selection: Filter, now: datetime, /) -> frozenset[RecordId]:
        """Name every record that matches."""
        return frozenset(record.id for record in self._matching(scope, selection, now))

    def by_hash(self, scope: Scope, hashes: Sequence[str], /) -> Mapping[str, RecordId]:
        """Find live records by content hash."""
        return {
            row.record.content_hash: row.record.id
            for row in self._rows(scope)
            if row.live and row.record.content_hash in set(hashes)
        }

    def replaced_by(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[RecordId]:
        """Name the records whose place these have taken, in id order."""
        wanted = set(ids)
        return [
            row.record.id
            for row in self._rows(scope)
            if row.record.validity.superseded_by in wanted
        ]

    def by_key(self, scope: Scope, keys: Sequence[str], /) -> Mapping[str, RecordId]:
        """Find records by the caller's key."""
        return {
            row.record.key: row.record.id
            for row in self._rows(scope)
            if row.record.key is not None and row.record.key in set(keys)
        }

    def by_claim(self, scope: Scope, claims: Sequence[Claim], /) -> Sequence[MemoryRecord]:
        """Find live records with the same subject and attribute, in id order."""
        wanted = {claim_key(claim) for claim in claims}
        return [
            detached(row.record)
            for row in self._rows(scope)
            if row.live and row.record.claim is not None and claim_key(row.record.claim) in wanted
        ]

    def pending(self, scope: Scope, limit: int, /) -> Sequence[MemoryRecord]:
        """List live records that wait for a vector, oldest first."""
        waiting = [
            row.record
            for row in self._rows(scope)
            if row.live and row.record.embedding is EmbeddingState.PENDING
        ]
        waiting.sort(key=lambda record: (record.created_at, record.id))
        return [detached(record) for record in waiting[:limit]]

    def columns(self, scope: Scope, now: datetime, needs: Needs = frozenset(), /) -> Columns:
        """Read the live records' columns, in id order; a twin that is not live counts as none."""
        state = self._scope(scope)
        rows = [row for row in self._rows(scope) if row.live]
        live = [row.record for row in rows]
        names = tuple(sorted({record.kind for record in live}))
        cells = [
            _cells(record, state.rows, now) | {"kinds": names.index(record.kind)} for record in live
        ]
        values: dict[str, Any] = {
            name: np.array([each[name] for each in cells], element)
            for name, element in ARRAY_FIELDS.items()
        }
        return Columns(
            ids=tuple(record.id for record in live),
            kind_names=names,
            active_days=np.array([(day - _EPOCH_DAY).days for day in sorted(state.days)], np.int64),
            turns=state.logged,
            **_on_demand(rows, needs),
            **values,
        )

    def changes(self, scope: Scope, after: int, /) -> ViewChanges:
        """Tell what changed after `after` (0: everything that is hot)."""
        state = self._scope(scope)
        return ViewChanges(
            seq=state.seq,
            rows=[
                view_row(
                    row.record,
                    row.terms,
                    row.vector if row.stands(Tier.HOT) else None,
                    hot=row.stands(Tier.HOT),
                )
                for row in self._rows(scope)
                if row.seq > after and (after or row.stands(Tier.HOT))
            ],
            gone=sorted(record_id for record_id, seq in state.gone.items() if seq > after),
        )

    def change_seq(self, scope: Scope, /) -> int:
        """Tell the scope's present `change_seq`."""
        return self._scope(scope).seq

    def vectors(self, scope: Scope, ids: Sequence[RecordId], /) -> Mapping[RecordId, Vector]:
        """Read vectors by id, hot or cold."""
        rows = self._scope(scope).rows
        return {
            record_id: vector
            for record_id in ids
            if record_id in rows and (vector := rows[record_id].vector) is not None
        }

    def cold_postings(self, scope: Scope, terms: Sequence[int], /) -> Sequence[ColdPosting]:
        """Find the query's terms in cold live records."""
        wanted = set(terms)
        return [
            ColdPosting(
                id=row.record.id,
                term=term,
                count=count,
                length=row.terms.length,
                importance=row.record.importance,
                created_at=to_micros(row.record.created_at),
                expires_at=_micros(row.record.expires_at, NEVER),
            )
            for row in self._rows(scope)
            if row.stands(Tier.COLD)
            for term, count in zip(row.terms.ids.tolist(), row.terms.counts.tolist(), strict=True)
            if term in wanted
        ]

    def linked(
        self, scope: Scope, ids: Sequence[RecordId], /
    ) -> Sequence[tuple[RecordId, Relation]]:
        """List relations that start or end at these records, both ends live."""
        rows = self._scope(scope).rows
        wanted = set(ids)
        return [
            (row.record.id, relation)
            for row in self._rows(scope)
            for relation in row.record.relations
            if wanted & {row.record.id, relation.target}
            and row.live
            and _is_live(rows, relation.target)
        ]

    def entities(self, scope: Scope, /) -> Sequence[EntityCount]:
        """List entities of live records, most named first, each by its least spelling."""
        named: dict[tuple[str, str], tuple[set[str], set[RecordId]]] = {}
        for row in self._rows(scope):
            for entity in row.record.entities if row.live else ():
                key = folded(entity.name), entity.type
                names, ids = named.setdefault(key, (set(), set()))
                names.add(entity.name)
                ids.add(row.record.id)
        counts = [
            EntityCount(min(names), kind, len(ids)) for (_, kind), (names, ids) in named.items()
        ]
        return sorted(counts, key=lambda entity: (-entity.records, entity.name, entity.type))

    def history(
        self, scope: Scope, ids: Sequence[RecordId], /, *, after: int = 0, limit: int = 1000
    ) -> Sequence[MemoryEvent]:
        """Read the log, oldest first."""
        found = [
            event
            for event in self._scope(scope).events
            if event.number > after and (not ids or event.record_id in set(ids))
        ]
        return found[: max(limit, 0)]

    def plan(self, scope: Scope, plan_id: PlanId, /) -> ForgettingPlan | None:
        """Load a plan."""
        return self._scope(scope).plans.get(plan_id)

    def plans(self, scope: Scope, limit: int, /) -> Sequence[PlanId]:
        """List plan ids, newest first."""
        plans = self._scope(scope).plans.values()
        newest = sorted(plans, key=lambda plan: (plan.created_at, plan.id), reverse=True)
        return [plan.id for plan in newest[: max(limit, 0)]]

    def versions(self, scope: Scope, record_id: RecordId, /) -> Sequence[PastVersion]:
        """List a record's earlier contents, oldest first."""
        return self._scope(scope).past.get(record_id, ())

    def made_from(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[RecordId]:
        """Name the records of any status that were made from these, in id order."""
        wanted = set(ids)
        return [
            row.record.id
            for row in self._rows(scope)
            if not wanted.isdisjoint(row.record.derived_from)
        ]

    def tombstones(self, scope: Scope, names: Sequence[str], /) -> Mapping[str, RecordId]:
        """Tell which of these names were erased, last by which record."""
        erased = self._scope(scope).tombstones
        return {each: erased[mark][-1] for each in names if (mark := tombstone(each)) in erased}

    def erasures(self, scope: Scope, /, *, last: int | None = None) -> Sequence[ChainLink]:
        """Read the chain of receipts, oldest first."""
        links = self._scope(scope).erasures
        return links[max(0, len(links) - last) :] if last is not None else list(links)

    def turns(self, scope: Scope, session: str, /) -> int:
        """Count the turns logged in a session."""
        return self._scope(scope).turns.get(session, 0)

    def active_days(self, scope: Scope, /) -> Sequence[date]:
        """List the UTC days on which something was said, ascending."""
        return sorted(self._scope(scope).days)

    def stats(self, scope: Scope, now: datetime, /) -> ScopeStats:
        """Measure the scope."""
        rows = self._rows(scope)
        fresh = [row for row in rows if row.live and not row.record.expired(now)]
        hot = [row for row in fresh if row.stands(Tier.HOT)]
        return ScopeStats(
            records=_counted(
                "expired" if row.live and row.record.expired(now) else row.record.status.value
                for row in rows
            ),
            hot=len(hot),
            cold=len(fresh) - len(hot),
            hot_tokens=sum(row.record.tokens for row in hot),
            vectors=sum(row.live and row.vector is not None for row in rows),
            pending=len(self.pending(scope, len(rows))),
            kinds=_counted(row.record.kind for row in fresh),
        )

    def staging(self) -> Staging:
        """Tell how far a reindex has come."""
        rows = [row for state in self._state.scopes.values() for row in state.rows.values()]
        return Staging(len(rows), Counter(model.name for row in rows for model in row.staged))

    def unstaged(self, model: EmbeddingModel, limit: int, /) -> Sequence[MemoryRecord]:
        """List records that have nothing staged for this model, in order of scope and id."""
        waiting = [
            row.record
            for scope in sorted(self._state.scopes)
            for row in self._rows(scope)
            if model not in row.staged
        ]
        return [detached(record) for record in waiting[: max(limit, 0)]]

    def meta(self, name: str, /) -> str | None:
        """Read a store-wide setting."""
        return self._state.meta.get(name)

    def setting(self, scope: Scope, name: str, /) -> str | None:
        """Read a scope's own setting."""
        return self._scope(scope).settings.get(name)


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _micros(moment: datetime | None, absent: int) -> int:
    return absent if moment is None else to_micros(moment)


def _on_demand(rows: Sequence[Row], needs: Needs) -> dict[str, Any]:
    """Pack what only some models need."""
    traces = [row.trace for row in rows]
    packed: dict[Need, Callable[[], tuple[str, object]]] = {
        Need.ACCESSES: lambda: ("accesses", Accesses.of(traces)),
        Need.TURNS: lambda: ("turn_uses", TurnUses.of(traces, [row.learned for row in rows])),
        Need.ENTITIES: lambda: (
            "entity_types",
            EntityTypes.of([types_of(row.record) for row in rows]),
        ),
    }
    return dict(packed[need]() for need in needs)


def _cells(record: MemoryRecord, rows: Mapping[RecordId, Row], now: datetime) -> dict[str, float]:
    """Give a record's cells of the columns, but for its kind."""
    twin = record.twin if record.twin and _is_live(rows, record.twin.id) else None
    return {
        "versions": record.version,
        "importance": record.importance,
        "salience": record.salience,
        "created_at": to_micros(record.created_at),
        "last_accessed_at": _micros(record.usage.last_accessed_at, MISSING),
        "access_count": record.usage.access_count,
        "used_count": record.usage.used_count,
        "expires_at": _micros(record.expires_at, NEVER),
        "grace_until": _micros(record.grace_until, MISSING),
        "tokens": record.tokens,
        "bytes": len(record.content.encode()),
        "similarity": 0.0 if twin is None else twin.similarity,
        "pinned": record.pinned,
        "held": record.held_at(now),
        "cold": record.tier is Tier.COLD,
        "cold_since": _micros(_cold_since(record), MISSING),
        "sensitive": record.sensitivity is not Sensitivity.NORMAL,
    }


def _cold_since(record: MemoryRecord) -> datetime | None:
    """Since when it is cold; without a moment of its own, since it last changed."""
    return (record.cold_since or record.updated_at) if record.tier is Tier.COLD else None


def _is_live(rows: Mapping[RecordId, Row], record_id: RecordId) -> bool:
    return record_id in rows and rows[record_id].live
