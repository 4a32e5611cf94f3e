"""Events: what happened to a memory, when, through whom and why. They carry no memory text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from sfams.core.record import JsonValue, PlanId, RecordId


class EventType(StrEnum):
    """What happened."""

    REMEMBERED = "remembered"
    DUPLICATE = "duplicate"
    EMBEDDED = "embedded"
    REINDEXED = "reindexed"
    UPDATED = "updated"
    LINKED = "linked"
    UNLINKED = "unlinked"
    REINFORCED = "reinforced"
    SUPERSEDED = "superseded"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    HELD = "held"
    RELEASED = "released"
    PLANNED = "planned"
    REVIEWED = "reviewed"
    DEMOTED = "demoted"
    SUMMARIZED = "summarized"
    DELETED = "deleted"
    RESTORED = "restored"
    ERASED = "erased"


class Actor(StrEnum):
    """Who caused it."""

    USER = "user"
    POLICY = "policy"
    TTL = "ttl"
    JUDGE = "judge"
    ADMISSION = "admission"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvent:
    """One line of the log of a scope. `detail` holds scores, reasons and other ids, never content."""

    type: EventType
    at: datetime
    record_id: RecordId | None = None
    actor: Actor = Actor.USER
    plan_id: PlanId | None = None
    detail: Mapping[str, JsonValue] = field(default_factory=dict)
    number: int = 0
    """Place in the scope's log, given by the store."""
