"""Events: what happened to a memory, when, through whom and why. They carry no memory text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
    POLICY = "policy"
    DEMOTED = "demoted"
    SUMMARIZED = "summarized"
    DELETED = "deleted"
    RESTORED = "restored"
    PURGED = "purged"
    ERASED = "erased"
    LIFTED = "lifted"


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


def without_ids(
    detail: Mapping[str, JsonValue], gone: Collection[RecordId]
) -> Mapping[str, JsonValue]:
    """Take erased records' ids out of an event's detail, at any depth; the same value if none is in it."""
    left = {
        name: _without(value, gone)
        for name, value in detail.items()
        if not _is_one(name, gone) and not _is_one(value, gone)
    }
    return detail if left == detail else left


def _without(value: JsonValue, gone: Collection[RecordId]) -> JsonValue:
    if isinstance(value, list):
        return [_without(item, gone) for item in value if not _is_one(item, gone)]
    return dict(without_ids(value, gone)) if isinstance(value, dict) else value


def _is_one(value: JsonValue, gone: Collection[RecordId]) -> bool:
    return isinstance(value, str) and value in gone
