"""SqliteReader: everything that can be asked of one snapshot."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, NoReturn, cast

import apsw

from sfams.core.columns import Columns, Needs
from sfams.core.events import MemoryEvent
from sfams.core.ghosts import Ghost
from sfams.core.keywords import ColdPosting
from sfams.core.moments import to_micros
from sfams.core.plan import ForgettingPlan
from sfams.core.query import Filter, Page
from sfams.core.receipts import ChainLink
from sfams.core.record import Claim, MemoryRecord, PlanId, RecordId, Relation
from sfams.core.scope import Scope
from sfams.core.view import Vector, ViewChanges
from sfams.errors import StoreError
from sfams.ports import EmbeddingModel, EntityCount, PastVersion, ScopeStats, Staging
from sfams.stores.conditions import filter_conditions, page_order
from sfams.stores.matching import claim_key
from sfams.stores.rows import (
    decode_event,
    decode_link,
    decode_vector,
    moment,
    scope_from_path,
    scope_to_path,
    to_json,
)
from sfams.stores.sqlite import columns, records, reindexing, viewing
from sfams.stores.sqlite.ghosts import Ghosts
from sfams.stores.sqlite.plans import Plans
from sfams.stores.sqlite.schema import TOMBSTONE_KEY
from sfams.stores.sqlite.statements import QUERIES
from sfams.stores.sqlite.steps import StepsCache

_EPOCH_DAY = datetime(1970, 1, 1, tzinfo=UTC).date()


class SqliteReader:
    """A consistent look at the file."""

    def __init__(self, connection: apsw.Connection, steps: StepsCache) -> None:
        self._connection = connection
        self._steps = steps
        self._numbers: dict[Scope, int] = {}
        self._key = b""

    def end(self) -> None:
        """Part from the connection, which will be lent to others; further calls fail."""
        self._connection = cast("apsw.Connection", _Over())

    def _number(self, scope: Scope) -> int:
        """Number a scope; 0, under which nothing is found, if it is unknown."""
        if scope not in self._numbers:
            number = self._value("scope_number", scope_to_path(scope))
            if number is None:
                return 0
            self._numbers[scope] = number
        return self._numbers[scope]

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401
        return self._connection.execute(QUERIES[query], values).fetchall()

    def _value(self, query: str, *values: Any) -> Any:  # noqa: ANN401  (a cell of the database)
        rows = self._rows(query, *values)
        return rows[0][0] if rows else None

    # ── Records ───────────────────────────────────────────────────────────────────────────────────

    def scopes(self, below: Scope | None = None, /) -> Sequence[Scope]:
        """List scopes that hold a record, in order of their parts."""
        found = (scope_from_path(path) for (path,) in self._rows("scope_paths"))
        return sorted(scope for scope in found if below is None or below.covers(scope))

    def get(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[MemoryRecord]:
        """Read records whole, in the order of `ids`."""
        return records.by_id(self._connection, scope, self._number(scope), ids)

    def find(
        self, scope: Scope, selection: Filter, page: Page, now: datetime, /
    ) -> Sequence[MemoryRecord]:
        """List records that match, one page of them."""
        where = filter_conditions(self._number(scope), selection, now)
        order = page_order(page, where)
        return records.selected(self._connection, scope, where, order, page.limit)

    def matching(self, scope: Scope, selection: Filter, now: datetime, /) -> frozenset[RecordId]:
        """Name every record that matches."""
        where = filter_conditions(self._number(scope), selection, now)
        sql = f"SELECT record.id FROM record WHERE {where.sql}"  # noqa: S608  (values are bound)
        return frozenset(row[0] for row in self._connection.execute(sql, where.values))

    def by_hash(self, scope: Scope, hashes: Sequence[str], /) -> Mapping[str, RecordId]:
        """Find live records by content hash."""
        return dict(self._rows("record_by_hash", self._number(scope), to_json(hashes)))

    def by_key(self, scope: Scope, keys: Sequence[str], /) -> Mapping[str, RecordId]:
        """Find records by the caller's key."""
        return dict(self._rows("record_by_key", self._number(scope), to_json(keys)))

    def replaced_by(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[RecordId]:
        """Name the records whose place these have taken, in id order."""
        rows = self._rows("record_replaced_by", self._number(scope), to_json(ids))
        return [record_id for (record_id,) in rows]

    def by_claim(self, scope: Scope, claims: Sequence[Claim], /) -> Sequence[MemoryRecord]:
        """Find live records with the same subject and attribute, in id order."""
        wanted = to_json(sorted({claim_key(claim) for claim in claims}))
        return self._whole(scope, self._rows("record_by_claim", self._number(scope), wanted))

    def pending(self, scope: Scope, limit: int, /) -> Sequence[MemoryRecord]:
        """List live records that wait for a vector, oldest first."""
        rows = self._rows("record_waiting", self._number(scope), max(limit, 0))
        return self._whole(scope, rows)

    def _whole(self, scope: Scope, rows: Sequence[tuple[Any, ...]]) -> Sequence[MemoryRecord]:
        return self.get(scope, [row[0] for row in rows])

    def linked(
        self, scope: Scope, ids: Sequence[RecordId], /
    ) -> Sequence[tuple[RecordId, Relation]]:
        """List relations that start or end at these records, both ends live."""
        rows = self._rows("linked", self._number(scope), to_json(ids))
        return [(source, Relation(kind, target)) for source, kind, target in rows]

    def entities(self, scope: Scope, /) -> Sequence[EntityCount]:
        """List entities named by live records, most named first; the least spelling stands for all."""
        return [EntityCount(*row) for row in self._rows("entity_counts", self._number(scope))]

    def stats(self, scope: Scope, now: datetime, /) -> ScopeStats:
        """Measure the scope."""
        number = self._number(scope)
        moment_of = to_micros(now)
        hot, cold, hot_tokens, vectors, pending = self._rows("count_live", number, moment_of)[0]
        return ScopeStats(
            records=dict(self._rows("count_statuses", number, moment_of)),
            hot=hot,
            cold=cold,
            hot_tokens=hot_tokens,
            vectors=vectors,
            pending=pending,
            kinds=dict(self._rows("count_kinds", number, moment_of)),
        )

    # ── The view and the policy's columns ─────────────────────────────────────────────────────────

    def columns(self, scope: Scope, now: datetime, needs: Needs = frozenset(), /) -> Columns:
        """Read the live records' columns, in id order; a twin that is not live counts as none."""
        return columns.read(self._connection, self._number(scope), now, needs)

    def changes(self, scope: Scope, after: int, /) -> ViewChanges:
        """Tell what changed after `after` (0: everything that is hot)."""
        number = self._number(scope)
        return viewing.changes(self._connection, number, self.change_seq(scope), after)

    def change_seq(self, scope: Scope, /) -> int:
        """Tell the scope's present `change_seq`."""
        return self._value("change_seq", self._number(scope)) or 0

    def vectors(self, scope: Scope, ids: Sequence[RecordId], /) -> Mapping[RecordId, Vector]:
        """Read vectors by id, hot or cold."""
        rows = self._rows("vectors", self._number(scope), to_json(ids))
        return {record_id: decode_vector(data) for record_id, data in rows}

    def cold_postings(self, scope: Scope, terms: Sequence[int], /) -> Sequence[ColdPosting]:
        """Find the query's terms in cold live records."""
        return viewing.cold_postings(self._connection, self._number(scope), terms)

    # ── The log, plans, erasures ──────────────────────────────────────────────────────────────────

    def history(
        self, scope: Scope, ids: Sequence[RecordId], /, *, after: int = 0, limit: int = 1000
    ) -> Sequence[MemoryEvent]:
        """Read the log, oldest first."""
        values = self._number(scope), after, max(limit, 0)
        rows = (
            self._rows("events_of", *values, to_json(ids)) if ids else self._rows("events", *values)
        )
        return [decode_event(row) for row in rows]

    def plan(self, scope: Scope, plan_id: PlanId, /) -> ForgettingPlan | None:
        """Load a plan."""
        return self._plans(scope, self._number(scope)).load(plan_id)

    def _plans(self, scope: Scope, number: int) -> Plans:
        return Plans(self._connection, scope, number, self._steps)

    def plans(self, scope: Scope, limit: int, /) -> Sequence[PlanId]:
        """List plan ids, newest first."""
        return [row[0] for row in self._rows("plan_ids", self._number(scope), max(limit, 0))]

    def versions(self, scope: Scope, record_id: RecordId, /) -> Sequence[PastVersion]:
        """List a record's earlier contents, oldest first."""
        rows = self._rows("past_versions", self._number(scope), record_id)
        return [PastVersion(version, content, moment(until)) for version, content, until in rows]

    def made_from(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[RecordId]:
        """Name the records of any status that were made from these, in id order."""
        return [row[0] for row in self._rows("record_made_from", self._number(scope), to_json(ids))]

    def tombstones(self, scope: Scope, names: Sequence[str], /) -> Mapping[str, RecordId]:
        """Tell which of these names were erased, last by which record."""
        marks = {self._tombstone(each): each for each in names}
        wanted = to_json([mark.hex() for mark in marks])
        rows = self._rows("tombstones", self._number(scope), wanted)
        return {marks[mark]: record_id for mark, record_id in rows}

    def _tombstone(self, name: str) -> bytes:
        """Make what is left of an erased text: an HMAC of its name, under a key of this store's."""
        return hmac.digest(self._secret(), name.encode(), "sha256")

    def _secret(self) -> bytes:
        if not self._key:
            self._key = self._value("secret", TOMBSTONE_KEY)
        return self._key

    def _ghosts(self, number: int) -> Ghosts:
        return Ghosts(self._connection, number, self._secret())

    def ghosts(self, scope: Scope, ids: Sequence[RecordId] = (), /) -> Sequence[Ghost]:
        """List what was forgotten, oldest first."""
        return self._ghosts(self._number(scope)).listed(ids)

    def ghosts_by_terms(
        self, scope: Scope, terms: Sequence[int], /
    ) -> Mapping[int, frozenset[RecordId]]:
        """Name forgotten records by term; a scope without ghosts costs one look."""
        number = self._number(scope)
        if not self._value("ghost_any", number):
            return {}
        return self._ghosts(number).by_terms(terms)

    def ghosts_by_hash(self, scope: Scope, hashes: Sequence[str], /) -> Mapping[str, RecordId]:
        """Name the newest forgotten record by content hash."""
        return self._ghosts(self._number(scope)).by_hash(hashes)

    def erasures(self, scope: Scope, /, *, last: int | None = None) -> Sequence[ChainLink]:
        """Read the chain of receipts, oldest first."""
        most = -1 if last is None else max(last, 0)
        return [decode_link(row) for row in self._rows("erasures", self._number(scope), most)]

    # ── Reindexing ────────────────────────────────────────────────────────────────────────────────

    def staging(self) -> Staging:
        """Tell how far a reindex has come."""
        return reindexing.staging(self._connection)

    def unstaged(self, model: EmbeddingModel, limit: int, /) -> Sequence[MemoryRecord]:
        """List records that have nothing staged for this model."""
        return reindexing.unstaged(self._connection, model, limit)

    # ── Sessions, activity, settings ──────────────────────────────────────────────────────────────

    def turns(self, scope: Scope, session: str, /) -> int:
        """Count the turns logged in a session."""
        return self._value("turns", self._number(scope), session) or 0

    def active_days(self, scope: Scope, /) -> Sequence[date]:
        """List the UTC days on which something was said, ascending."""
        rows = self._rows("active_days", self._number(scope))
        return [_EPOCH_DAY + timedelta(days=day) for (day,) in rows]

    def meta(self, name: str, /) -> str | None:
        """Read a store-wide setting."""
        value: str | None = self._value("meta", name)
        return value

    def setting(self, scope: Scope, name: str, /) -> str | None:
        """Read a scope's own setting."""
        value: str | None = self._value("setting", scope_to_path(scope), name)
        return value


class _Over:
    """Stands where a connection was."""

    def __getattr__(self, name: str) -> NoReturn:
        raise StoreError("this look at the store, or unit of work, is over")


def day_number(at: datetime) -> int:
    """Count the UTC days from 1970 to a moment."""
    return (at.astimezone(UTC).date() - _EPOCH_DAY).days
