"""MemoryRecord and the small values it is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType

from sfams.core.scope import Scope
from sfams.errors import InvalidInputError

RecordId = NewType("RecordId", str)
PlanId = NewType("PlanId", str)

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
Metadata = Mapping[str, JsonValue]


class Kind(StrEnum):
    """What sort of thing a memory is. Own kinds are plain text, or refine one: `fact:deadline`."""

    FACT = "fact"
    GOAL = "goal"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    DECISION = "decision"
    DEADLINE = "deadline"
    RISK = "risk"
    ACTION = "action"
    DIALOGUE = "dialogue"
    STATE = "state"
    NOTE = "note"
    PROFILE = "profile"
    SUMMARY = "summary"


AGING_KINDS = frozenset(
    {Kind.GOAL, Kind.DEADLINE, Kind.ACTION, Kind.DIALOGUE, Kind.STATE, Kind.RISK, Kind.NOTE}
)
"""Kinds that lose value by age alone; facts, preferences, instructions and profiles do not."""

_KIND = re.compile(r"[a-z][a-z0-9_-]{0,63}(:[a-z0-9_-]{1,64})?")


def parse_kind(value: str) -> str:
    """Check a kind's spelling: lower case, digits, `_`, `-`, and at most one `:` refinement."""
    kind = value.strip().lower()
    if not _KIND.fullmatch(kind):
        message = (
            f"kind: {value[:40]!r} is not a kind; use letters, digits, _ or -, as in fact:deadline"
        )
        raise InvalidInputError(message, field="kind")
    return kind


def base_of(kind: str) -> str:
    """Give the kind that a refinement refines; a kind that is none is its own."""
    return kind.partition(":")[0]


def ages(kind: str) -> bool:
    """Tell whether age counts against a memory of this kind (an own refinement follows its base)."""
    return base_of(kind) in AGING_KINDS


class Status(StrEnum):
    """Where a memory stands in its life."""

    LIVE = "live"
    SUPERSEDED = "superseded"
    SUMMARIZED = "summarized"
    DELETED = "deleted"
    ERASED = "erased"


class Tier(StrEnum):
    """Hot memories are in the view; cold ones are found by keywords only, at a lower rank."""

    HOT = "hot"
    COLD = "cold"


class EmbeddingState(StrEnum):
    """Whether the vector matches the text."""

    READY = "ready"
    PENDING = "pending"
    FAILED = "failed"


class Sensitivity(StrEnum):
    """Whether previews and logs must mask the text."""

    NORMAL = "normal"
    SENSITIVE = "sensitive"


@dataclass(frozen=True, slots=True)
class Entity:
    """A named thing. Two spellings that fold to one `key` are one entity."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a memory says, as a slot with a value: `("beta release", "date", "2026-05-04")`.

    A later record with the same subject and attribute and another value supersedes the earlier one.
    """

    subject: str
    attribute: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed, typed link from the record that carries it to another record of the same scope."""

    type: str
    target: RecordId


@dataclass(frozen=True, slots=True)
class Source:
    """Who said it, in which session, at which turn."""

    who: str = ""
    role: str = ""
    session: str = ""
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a memory was shown (recalled) and how often its use was confirmed."""

    access_count: int = 0
    last_accessed_at: datetime | None = None
    used_count: int = 0
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Validity:
    """When the statement is true in the world, apart from when it was learned."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: RecordId | None = None


@dataclass(frozen=True, slots=True)
class Twin:
    """The nearest other memory at admission and its cosine; distinctness is `1 - similarity`."""

    id: RecordId
    similarity: float


@dataclass(frozen=True, slots=True)
class Hold:
    """Who wants a record left untouched, why, and until when (None: until released)."""

    owner: str = ""
    reason: str = ""
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One structured memory. Immutable: a change makes a new value with a higher `version`.

    `created_at` is when it was said, `recorded_at` when this store learned it, `updated_at` when it
    last changed. All moments are aware UTC.
    """

    id: RecordId
    scope: Scope
    content: str
    content_hash: str
    kind: str
    importance: float
    created_at: datetime
    recorded_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    grace_until: datetime | None = None
    entities: tuple[Entity, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    source: Source = Source()
    claim: Claim | None = None
    relations: tuple[Relation, ...] = ()
    derived_from: tuple[RecordId, ...] = ()
    usage: Usage = Usage()
    validity: Validity = Validity()
    twin: Twin | None = None
    trust: float = 1.0
    salience: float = 0.5
    sensitivity: Sensitivity = Sensitivity.NORMAL
    language: str = "und"
    tokens: int = 0
    status: Status = Status.LIVE
    tier: Tier = Tier.HOT
    pinned: bool = False
    held: bool = False
    hold: Hold | None = None
    cold_since: datetime | None = None
    embedding: EmbeddingState = EmbeddingState.PENDING
    key: str | None = None
    version: int = 1

    def held_at(self, now: datetime) -> bool:
        """Tell whether a hold is in force; it lapses at the very moment it is limited to."""
        until = None if self.hold is None else self.hold.until
        return self.held and (until is None or until > now)

    def expired(self, now: datetime) -> bool:
        """Tell whether the TTL has run out; the boundary itself counts as expired."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class PastVersion:
    """What a record said before it was changed, and until when."""

    version: int
    content: str
    until: datetime


@dataclass(frozen=True, slots=True)
class EntityCount:
    """An entity and how many live records name it."""

    name: str
    type: str
    records: int
