"""Builders: valid records, entries and ids, so that a test names only what it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b, sha256
from itertools import count
from typing import TypedDict, Unpack

import numpy as np

from sfams.core.indexing import terms_of
from sfams.core.record import (
    Claim,
    EmbeddingState,
    Entity,
    Hold,
    MemoryRecord,
    Metadata,
    RecordId,
    Relation,
    Sensitivity,
    Source,
    Status,
    Tier,
    Twin,
    Usage,
    Validity,
)
from sfams.core.scope import Scope
from sfams.core.view import Vector
from sfams.ports import EmbeddingModel, Entry
from sfams.testing.clock import START

HOME = Scope(("acme", "stellar_ai", "user:alice"))
"""The scope of built records unless a test names another."""

DIMENSION = 8
"""Length of built vectors."""

MODELS = tuple(EmbeddingModel(name, DIMENSION) for name in ("mini-a", "mini-b"))
"""Models between which built records are reindexed."""


class RecordFields(TypedDict, total=False):
    """The fields of `MemoryRecord`, to be given by name where a test cares."""

    id: RecordId
    scope: Scope
    content: str
    content_hash: str
    kind: str
    importance: float
    created_at: datetime
    recorded_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    grace_until: datetime | None
    entities: tuple[Entity, ...]
    tags: tuple[str, ...]
    metadata: Metadata
    source: Source
    claim: Claim | None
    relations: tuple[Relation, ...]
    derived_from: tuple[RecordId, ...]
    usage: Usage
    validity: Validity
    twin: Twin | None
    trust: float
    salience: float
    sensitivity: Sensitivity
    language: str
    tokens: int
    status: Status
    tier: Tier
    pinned: bool
    held: bool
    hold: Hold | None
    cold_since: datetime | None
    embedding: EmbeddingState
    key: str | None
    version: int


def numbered_id(number: int) -> RecordId:
    """Make the id of a number: shaped like a UUIDv7, sorted as the numbers are."""
    digits = f"{number:032x}"
    return RecordId(f"{digits[:8]}-{digits[8:12]}-7{digits[13:16]}-8{digits[17:20]}-{digits[20:]}")


def counting_ids(first: int = 1) -> Callable[[], str]:
    """Make an `IdSource` that counts."""
    numbers = count(first)
    return lambda: numbered_id(next(numbers))


def text_hash(content: str) -> str:
    """Hash a content; equal texts have equal hashes."""
    return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def make_record(number: int = 1, /, **fields: Unpack[RecordFields]) -> MemoryRecord:
    """Build a valid live record: id, text and moment follow from `number`, the rest from `fields`.

    >>> make_record(7, kind="goal").content
    'Memory 7 is about the tram to depot 7.'
    """
    content = fields.get("content", f"Memory {number} is about the tram to depot {number}.")
    moment = fields.get("created_at", START + timedelta(minutes=number))
    built = MemoryRecord(
        id=numbered_id(number),
        scope=HOME,
        content=content,
        content_hash=text_hash(content),
        kind="fact",
        importance=0.5,
        created_at=moment,
        recorded_at=moment,
        updated_at=moment,
        language="en",
        tokens=max(1, len(content.split())),
        embedding=EmbeddingState.READY,
    )
    return replace(built, **fields)


def make_vector(text: str) -> Vector:
    """Build a unit vector that depends on the text alone."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIMENSION).digest()
    values = np.frombuffer(digest, np.uint8).astype(np.float32) - np.float32(127.5)
    return values / np.linalg.norm(values)


def entry_of(record: MemoryRecord) -> Entry:
    """Make a record's entry: its keywords, and its vector if the record says that it has one."""
    ready = record.embedding is EmbeddingState.READY
    vector = make_vector(record.content) if ready else None
    return Entry(record, terms_of(record), vector)


def make_entry(number: int = 1, /, **fields: Unpack[RecordFields]) -> Entry:
    """Build a record as `make_record` does, with its keywords and a vector made from its text."""
    return entry_of(make_record(number, **fields))
