"""What the groups of promises share: the fixture, a few scopes, and short words for reading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta

import pytest

from sfams.core.events import EventType, MemoryEvent
from sfams.core.query import Filter
from sfams.core.record import (
    Claim,
    EmbeddingState,
    Entity,
    MemoryRecord,
    PlanId,
    RecordId,
    Relation,
    Source,
    Status,
    Tier,
)
from sfams.core.scope import Scope
from sfams.ports import Entry, Store, Transaction, Transition, UsageDelta
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.clock import START
from sfams.testing.planning import make_plan
from sfams.testing.snapshot import Snapshot, snapshot

NOW = START + timedelta(days=1)
MINUTE = timedelta(minutes=1)
TICK = timedelta(microseconds=1)
NEXT_DOOR = Scope(("acme", "stellar_ai", "user:bob"))
ONE, TWO, THREE, FOUR, FIVE = map(numbered_id, range(1, 6))
FIRST_PLAN = PlanId(numbered_id(901))


class Promises(ABC):
    """A group of contract tests."""

    @pytest.fixture
    @abstractmethod
    def store(self) -> Store:
        """Make a new, empty store."""

    def reopen(self, store: Store) -> Store:
        """Close a store and open it again; one that lives in its object only stays open."""
        return store


def fill(store: Store, *entries: Entry) -> None:
    """Insert entries in one unit of work."""
    with store.write() as transaction:
        transaction.insert(entries)


def move(store: Store, *changes: Transition, scope: Scope = HOME) -> None:
    """Change the standing of records."""
    with store.write() as transaction:
        transaction.transition(scope, changes, NOW)


def erase(store: Store, *ids: RecordId, scope: Scope = HOME) -> int:
    """Erase records."""
    with store.write() as transaction:
        return transaction.erase(scope, ids, NOW)


def fetch(store: Store, *ids: RecordId, scope: Scope = HOME) -> list[MemoryRecord]:
    """Read records."""
    with store.read() as reader:
        return list(reader.get(scope, ids))


def fetch_one(store: Store, record_id: RecordId = ONE, scope: Scope = HOME) -> MemoryRecord:
    """Read a record that must be there."""
    (record,) = fetch(store, record_id, scope=scope)
    return record


def matching(store: Store, selection: Filter, scope: Scope = HOME) -> set[RecordId]:
    """Name the records that match."""
    with store.read() as reader:
        return set(reader.matching(scope, selection, NOW))


def seen(store: Store, scope: Scope = HOME) -> Snapshot:
    """Take down everything visible of a scope."""
    with store.read() as reader:
        return snapshot(reader, scope, NOW)


def seq(store: Store, scope: Scope = HOME) -> int:
    """Tell a scope's `change_seq`."""
    with store.read() as reader:
        return reader.change_seq(scope)


def event(number: int, record_id: RecordId | None = ONE) -> MemoryEvent:
    """Build an event that can be told from others."""
    return MemoryEvent(
        type=EventType.UPDATED,
        at=START + number * MINUTE,
        record_id=record_id,
        detail={"number": number},
    )


def furnish(transaction: Transaction, scope: Scope = HOME) -> None:
    """Put a little of everything into a scope: ids ONE to FIVE, one of each standing."""
    transaction.insert(furniture(scope))
    transaction.transition(
        scope,
        [
            Transition(TWO, tier=Tier.COLD),
            Transition(FOUR, status=Status.DELETED),
        ],
        NOW,
    )
    transaction.relate(scope, ONE, Relation("supports", TWO))
    transaction.add_usage(scope, [UsageDelta(ONE, 2, 1, NOW)])
    transaction.append(scope, [event(1), event(2, TWO)])
    transaction.save_plan(make_plan(scope, [ONE, TWO, THREE], plan_id=FIRST_PLAN))
    transaction.log_turn(scope, "s-1", NOW)


def furniture(scope: Scope = HOME) -> Sequence[Entry]:
    """Build the entries that `furnish` inserts."""
    return [
        make_entry(
            1,
            scope=scope,
            key="first",
            entities=(Entity("Lena", "person"),),
            claim=Claim("beta release", "date", "2026-05-04"),
            metadata={"room": 4},
        ),
        make_entry(2, scope=scope, tags=("travel",), source=Source(who="Lena", session="s-1")),
        make_entry(3, scope=scope, embedding=EmbeddingState.PENDING, kind="goal"),
        make_entry(4, scope=scope, relations=(Relation("amends", ONE),)),
        make_entry(5, scope=scope, expires_at=NOW, kind="fact:deadline"),
    ]
