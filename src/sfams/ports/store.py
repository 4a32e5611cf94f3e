"""Where records live: one consistent look, one unit of work, and the store that gives both."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Protocol

from sfams.core.columns import Columns, Needs
from sfams.core.events import MemoryEvent
from sfams.core.ghosts import Ghost, Mark, Trail
from sfams.core.keywords import ColdPosting, Terms
from sfams.core.lifecycle import Transition as Transition  # noqa: PLC0414  # part of this port
from sfams.core.plan import ForgettingPlan
from sfams.core.query import Filter, Page
from sfams.core.receipts import ChainLink
from sfams.core.record import Claim, EmbeddingState, MemoryRecord, PlanId, RecordId, Relation
from sfams.core.record import EntityCount as EntityCount  # noqa: PLC0414  # part of this port
from sfams.core.record import PastVersion as PastVersion  # noqa: PLC0414  # as above
from sfams.core.reindex import Adoption as Adoption  # noqa: PLC0414  # part of this port
from sfams.core.reindex import EmbeddingModel as EmbeddingModel  # noqa: PLC0414  # as above
from sfams.core.reindex import Staged as Staged  # noqa: PLC0414  # as above
from sfams.core.reindex import Staging as Staging  # noqa: PLC0414  # as above
from sfams.core.scope import Scope
from sfams.core.traces import UsageDelta
from sfams.core.view import Vector, ViewChanges
from sfams.ports.values import Entry, Problem, ScopeStats


class Reader(Protocol):
    """A consistent look at the store."""

    def scopes(self, below: Scope | None = None, /) -> Sequence[Scope]:
        """List scopes that hold anything: all, or one and those below it."""
        ...

    def get(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[MemoryRecord]:
        """Read records whole, in the order of `ids`; unknown ids are left out, erased ones too."""
        ...

    def find(
        self, scope: Scope, selection: Filter, page: Page, now: datetime, /
    ) -> Sequence[MemoryRecord]:
        """List records that match, sorted by `page.order` then id, after `page.after`."""
        ...

    def matching(self, scope: Scope, selection: Filter, now: datetime, /) -> frozenset[RecordId]:
        """Name every record that matches."""
        ...

    def by_hash(self, scope: Scope, hashes: Sequence[str], /) -> Mapping[str, RecordId]:
        """Find live records by content hash."""
        ...

    def by_key(self, scope: Scope, keys: Sequence[str], /) -> Mapping[str, RecordId]:
        """Find records (any status but erased) by the caller's key."""
        ...

    def replaced_by(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[RecordId]:
        """Name the records whose place these have taken (`superseded_by`), in id order."""
        ...

    def by_claim(self, scope: Scope, claims: Sequence[Claim], /) -> Sequence[MemoryRecord]:
        """Find live records with the same folded subject and attribute, whatever the value."""
        ...

    def pending(self, scope: Scope, limit: int, /) -> Sequence[MemoryRecord]:
        """List live records whose vector is missing or out of date, oldest first."""
        ...

    def columns(self, scope: Scope, now: datetime, needs: Needs = frozenset(), /) -> Columns:
        """Read the live records' columns, in id order, for a policy, with what its model needs."""
        ...

    def changes(self, scope: Scope, after: int, /) -> ViewChanges:
        """Tell what changed after `after` (0: everything that is hot)."""
        ...

    def change_seq(self, scope: Scope, /) -> int:
        """Tell the scope's present `change_seq`; 0 for an unknown scope."""
        ...

    def vectors(self, scope: Scope, ids: Sequence[RecordId], /) -> Mapping[RecordId, Vector]:
        """Read vectors by id, hot or cold."""
        ...

    def cold_postings(self, scope: Scope, terms: Sequence[int], /) -> Sequence[ColdPosting]:
        """Find the query's terms in cold live records."""
        ...

    def linked(
        self, scope: Scope, ids: Sequence[RecordId], /
    ) -> Sequence[tuple[RecordId, Relation]]:
        """List relations that start or end at these records, both ends live."""
        ...

    def entities(self, scope: Scope, /) -> Sequence[EntityCount]:
        """List entities named by live records, most named first."""
        ...

    def history(
        self, scope: Scope, ids: Sequence[RecordId], /, *, after: int = 0, limit: int = 1000
    ) -> Sequence[MemoryEvent]:
        """Read the log, oldest first: of these records, or of the whole scope if `ids` is empty."""
        ...

    def plan(self, scope: Scope, plan_id: PlanId, /) -> ForgettingPlan | None:
        """Load a plan."""
        ...

    def plans(self, scope: Scope, limit: int, /) -> Sequence[PlanId]:
        """List plan ids, newest first."""
        ...

    def versions(self, scope: Scope, record_id: RecordId, /) -> Sequence[PastVersion]:
        """List a record's earlier contents, oldest first; `replace` keeps one when content changes."""
        ...

    def made_from(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[RecordId]:
        """Name the records of any status that were made from these (`derived_from`), in id order."""
        ...

    def tombstones(self, scope: Scope, names: Sequence[str], /) -> Mapping[str, RecordId]:
        """Tell which of these names (see `core.tombstones`; kept as HMACs) were erased, last by whom."""
        ...

    def erasures(self, scope: Scope, /, *, last: int | None = None) -> Sequence[ChainLink]:
        """Read the chain of receipts, oldest first: all, or the last so many."""
        ...

    def ghosts(self, scope: Scope, ids: Sequence[RecordId] = (), /) -> Sequence[Ghost]:
        """List what was forgotten, oldest first: of these records, or all if `ids` is empty."""
        ...

    def ghosts_by_terms(
        self, scope: Scope, terms: Sequence[int], /
    ) -> Mapping[int, frozenset[RecordId]]:
        """Name forgotten records, not yet returned, by the terms asked for: the newest 200 of each."""
        ...

    def ghosts_by_hash(self, scope: Scope, hashes: Sequence[str], /) -> Mapping[str, RecordId]:
        """Name the newest forgotten record, not yet returned, by content hash."""
        ...

    def turns(self, scope: Scope, session: str, /) -> int:
        """Count the turns logged in a session."""
        ...

    def active_days(self, scope: Scope, /) -> Sequence[date]:
        """List the UTC days on which something was said, ascending."""
        ...

    def stats(self, scope: Scope, now: datetime, /) -> ScopeStats:
        """Measure the scope."""
        ...

    def staging(self) -> Staging:
        """Tell how far a reindex has come."""
        ...

    def unstaged(self, model: EmbeddingModel, limit: int, /) -> Sequence[MemoryRecord]:
        """List records of all scopes and standings that have nothing staged for this model."""
        ...

    def meta(self, name: str, /) -> str | None:
        """Read a store-wide setting, such as the embedding model."""
        ...

    def setting(self, scope: Scope, name: str, /) -> str | None:
        """Read a scope's own setting (JSON text); what it inherits is for the service to find."""
        ...


class Transaction(Reader, Protocol):
    """One unit of work: commits on a clean exit, rolls back on any exception.

    Every write of records raises the scope's `change_seq`; usage does not.
    """

    def insert(self, entries: Sequence[Entry], /) -> None:
        """Add new records with keywords, vector, entities, tags and relations."""
        ...

    def replace(self, entries: Sequence[Entry], /) -> None:
        """Write changed records whole; a vector of None removes the old one."""
        ...

    def transition(self, scope: Scope, changes: Sequence[Transition], now: datetime, /) -> None:
        """Change status, tier, protection or validity of many records at once."""
        ...

    def put_vectors(
        self, scope: Scope, vectors: Mapping[RecordId, Vector | None], state: EmbeddingState, /
    ) -> None:
        """Attach vectors (or note their failure) without touching `version`."""
        ...

    def put_keywords(self, scope: Scope, keywords: Mapping[RecordId, Terms], /) -> None:
        """Write keyword entries anew, without touching `version`; unknown ids are ignored."""
        ...

    def put_versions(
        self, scope: Scope, versions: Mapping[RecordId, Sequence[PastVersion]], /
    ) -> None:
        """Add to records' earlier contents, in order, as an import brings them; unknown ids are ignored."""
        ...

    def stage_vectors(self, model: EmbeddingModel, staged: Sequence[Staged], /) -> int:
        """Lay vectors of a model aside, in any scope; nothing that is in use changes.

        A record that no longer says (text and speaker) what was embedded is passed over. What is staged
        goes when its record says something else or is erased. Returns how many were kept.
        """
        ...

    def adopt_vectors(self, model: EmbeddingModel, /) -> Adoption:
        """Make a model's staged vectors the current ones, in all scopes, and drop whatever is staged.

        The store's model is this one from then on (`meta`). A record without a staged vector keeps the
        one it has if that is of this model, and waits for one otherwise. Raises `change_seq`, touches
        no `version`.
        """
        ...

    def relate(self, scope: Scope, source: RecordId, relation: Relation, /) -> bool:
        """Add a relation; False when it was there."""
        ...

    def unrelate(self, scope: Scope, source: RecordId, relation: Relation, /) -> bool:
        """Remove a relation; False when there was none."""
        ...

    def add_usage(self, scope: Scope, deltas: Sequence[UsageDelta], /) -> None:
        """Add accesses to the usage table; unknown ids are ignored."""
        ...

    def append(self, scope: Scope, events: Sequence[MemoryEvent], /) -> None:
        """Add to the log."""
        ...

    def save_plan(self, plan: ForgettingPlan, /) -> None:
        """Write a plan, new or changed."""
        ...

    def advance_plan(self, plan: ForgettingPlan, /) -> None:
        """Write state, cursor, skipped and moments of a saved plan; its steps stay as they are."""
        ...

    def log_turn(self, scope: Scope, session: str, at: datetime, /) -> int:
        """Count one more turn of a session (and of the scope); returns its number, from 1."""
        ...

    def end_session(self, scope: Scope, session: str, at: datetime, /) -> None:
        """Note that a session is over."""
        ...

    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        """Remove every trace of records: row, vectors, keywords, versions, plan steps, event detail.

        Other records and events lose what points to them. Leaves tombstones: HMACs of `left_by`.
        """
        ...

    def purge(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        """Remove records as `erase` does, but leave no tombstone that bars their texts, and keep ghosts."""
        ...

    def add_ghosts(self, scope: Scope, trails: Sequence[Trail], /) -> None:
        """Note what is forgotten; hashes and terms are kept as HMACs. `erase` takes them away."""
        ...

    def note_regret(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        """Count a regret for the newest ghost of each record, one a UTC day; others are ignored."""
        ...

    def note_return(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        """Note that records are back, in the newest ghost of each; others are ignored."""
        ...

    def mark_ghost(self, scope: Scope, record_id: RecordId, mark: Mark | None, /) -> bool:
        """Mark the newest ghost of a record, or lift its mark; False without a ghost."""
        ...

    def lift(
        self, scope: Scope, ids: Sequence[RecordId], names: Sequence[str], /
    ) -> Sequence[RecordId]:
        """Let erased records' texts back in, by id or by name; returns the ids, in order."""
        ...

    def add_erasure(self, scope: Scope, link: ChainLink, /) -> None:
        """Add a receipt to the chain."""
        ...

    def set_meta(self, name: str, value: str, /) -> None:
        """Write a store-wide setting."""
        ...

    def put_setting(self, scope: Scope, name: str, value: str | None, /) -> None:
        """Write a scope's own setting, JSON text; None takes it away. Raises no `change_seq`."""
        ...


class Store(Protocol):
    """Where records live."""

    def read(self) -> AbstractContextManager[Reader]:
        """Open a consistent look."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """Open a unit of work; one at a time."""
        ...

    def check(self) -> Sequence[Problem]:
        """Look for damage: integrity, drift between rows, vectors and keywords."""
        ...

    def repair(self, problems: Sequence[Problem], /) -> int:
        """Mend what the store can mend without an embedder; returns how many."""
        ...

    def settle(self, *, rewrite: bool = True) -> bool:
        """Make erasure final in the files; False while an open reader keeps old pages.

        Without `rewrite` what is in use is not written anew, so fragments may be left: see `residue`.
        """
        ...

    def residue(self, pieces: Collection[bytes], /) -> frozenset[bytes]:
        """Look for bytes in the files; tells those that stand there and in no row."""
        ...

    @property
    def location(self) -> str:
        """Where the store is, for people."""
        ...

    def close(self) -> None:
        """Finish and let go; further calls fail."""
        ...
