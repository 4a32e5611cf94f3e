"""What SQL stores share: records, keywords, vectors and events as rows and back."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.keywords import Terms
from sfams.core.moments import from_micros, to_micros
from sfams.core.receipts import ChainLink
from sfams.core.record import (
    Claim,
    EmbeddingState,
    Entity,
    Hold,
    MemoryRecord,
    PlanId,
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
from sfams.core.traces import Trace, TurnUse
from sfams.core.view import Vector
from sfams.errors import StoreError
from sfams.stores.matching import claim_key

Cell = None | int | float | str | bytes
Cells = tuple[Cell, ...]

RECORD_COLUMNS = (
    "id",
    "version",
    "status",
    "tier",
    "embedding",
    "pinned",
    "held",
    "kind",
    "importance",
    "trust",
    "tokens",
    "created_at",
    "recorded_at",
    "updated_at",
    "expires_at",
    "grace_until",
    "valid_from",
    "valid_to",
    "superseded_by",
    "twin",
    "twin_similarity",
    "sensitivity",
    "language",
    "session",
    "turn",
    "role",
    "who",
    "key",
    "content_hash",
    "subject",
    "attribute",
    "value",
    "derived_from",
    "metadata",
    "content",
    "hold_owner",
    "hold_reason",
    "hold_until",
    "cold_since",
    "salience",
)
"""Columns that make a record."""

CLAIM_KEY_COLUMNS = ("subject_key", "attribute_key")
USAGE_COLUMNS = ("access_count", "last_accessed_at", "used_count", "last_used_at")


# ── JSON and moments ──────────────────────────────────────────────────────────────────────────────


def to_json(value: object) -> str:
    """Write JSON, compact."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def micros(moment: datetime | None) -> int | None:
    """Write a moment that may be missing."""
    return None if moment is None else to_micros(moment)


def moment(value: Cell) -> datetime:
    """Read a moment, and nothing else that a damaged cell may hold.

    Raises:
        TypeError: It is not a whole number.
        OverflowError: It lies outside the years 1 to 9999.
    """
    if type(value) is not int:
        message = f"not a moment but {type(value).__name__}"
        raise TypeError(message)
    return from_micros(value)


def moment_or_none(value: Cell) -> datetime | None:
    """Read a moment that may be missing."""
    return None if value is None else moment(value)


# ── Scopes ────────────────────────────────────────────────────────────────────────────────────────


def scope_to_path(scope: Scope) -> str:
    """Write a scope: a JSON list of its parts, so that no part can be mistaken for two."""
    return to_json(list(scope))


def scope_from_path(path: str) -> Scope:
    """Read a scope."""
    return Scope(json.loads(path))


# ── Records ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Children:
    """What belongs to a record but has a table of its own."""

    entities: list[Entity] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)


def encode_record(record: MemoryRecord) -> Cells:
    """Write a record's own columns: `RECORD_COLUMNS`, then `CLAIM_KEY_COLUMNS`."""
    claim, twin, source, hold = record.claim, record.twin, record.source, record.hold
    return (
        record.id,
        record.version,
        record.status.value,
        record.tier.value,
        record.embedding.value,
        int(record.pinned),
        int(record.held),
        record.kind,
        record.importance,
        record.trust,
        record.tokens,
        to_micros(record.created_at),
        to_micros(record.recorded_at),
        to_micros(record.updated_at),
        micros(record.expires_at),
        micros(record.grace_until),
        micros(record.validity.valid_from),
        micros(record.validity.valid_to),
        record.validity.superseded_by,
        twin.id if twin else None,
        twin.similarity if twin else None,
        record.sensitivity.value,
        record.language,
        source.session,
        source.turn,
        source.role,
        source.who,
        record.key,
        record.content_hash,
        *((claim.subject, claim.attribute, claim.value) if claim else (None, None, None)),
        to_json(record.derived_from) if record.derived_from else None,
        to_json(record.metadata) if record.metadata else None,
        record.content,
        *((hold.owner, hold.reason, micros(hold.until)) if hold else (None, None, None)),
        micros(record.cold_since),
        record.salience,
        *(claim_key(claim) if claim else (None, None)),
    )


def encode_usage(usage: Usage) -> Cells:
    """Write `USAGE_COLUMNS`."""
    return (
        usage.access_count,
        micros(usage.last_accessed_at),
        usage.used_count,
        micros(usage.last_used_at),
    )


def decode_record(scope: Scope, cells: Sequence[Any], children: Children) -> MemoryRecord:
    """Read a record from `RECORD_COLUMNS` and `USAGE_COLUMNS`.

    Raises:
        StoreError: A cell cannot be read; names the record, so that nothing is skipped in silence.
    """
    row = dict(zip(RECORD_COLUMNS + USAGE_COLUMNS, cells, strict=True))
    try:
        return _decode(scope, row, children)
    except (TypeError, ValueError, OverflowError) as error:
        raise unreadable([RecordId(str(row["id"]))]) from error


def unreadable(ids: Sequence[RecordId]) -> StoreError:
    """Make the error for records whose rows are damaged."""
    message = f"unreadable cells in the rows of {', '.join(ids) or 'a record'}; see `sfams doctor`"
    return StoreError(message, ids=tuple(ids))


def _decode(scope: Scope, row: Mapping[str, Any], children: Children) -> MemoryRecord:
    return MemoryRecord(
        id=RecordId(row["id"]),
        scope=scope,
        content=row["content"],
        content_hash=row["content_hash"],
        kind=row["kind"],
        importance=_number(row["importance"]),
        created_at=moment(row["created_at"]),
        recorded_at=moment(row["recorded_at"]),
        updated_at=moment(row["updated_at"]),
        expires_at=moment_or_none(row["expires_at"]),
        grace_until=moment_or_none(row["grace_until"]),
        entities=tuple(children.entities),
        tags=tuple(children.tags),
        metadata=json.loads(row["metadata"] or "{}"),
        source=Source(row["who"], row["role"], row["session"], row["turn"]),
        claim=_claim(row),
        relations=tuple(children.relations),
        derived_from=tuple(json.loads(row["derived_from"] or "[]")),
        usage=_usage(row),
        validity=Validity(
            moment_or_none(row["valid_from"]),
            moment_or_none(row["valid_to"]),
            row["superseded_by"],
        ),
        twin=None if row["twin"] is None else Twin(row["twin"], _number(row["twin_similarity"])),
        trust=_number(row["trust"]),
        salience=_number(row["salience"]),
        sensitivity=Sensitivity(row["sensitivity"]),
        language=row["language"],
        tokens=row["tokens"],
        status=Status(row["status"]),
        tier=Tier(row["tier"]),
        pinned=bool(row["pinned"]),
        held=bool(row["held"]),
        hold=_hold(row),
        cold_since=moment_or_none(row["cold_since"]),
        embedding=EmbeddingState(row["embedding"]),
        key=row["key"],
        version=row["version"],
    )


def _number(value: Cell) -> float:
    if type(value) is not float:
        message = f"not a number but {type(value).__name__}"
        raise TypeError(message)
    return value


def _hold(row: Mapping[str, Any]) -> Hold | None:
    if row["hold_owner"] is None:
        return None
    return Hold(row["hold_owner"], row["hold_reason"], moment_or_none(row["hold_until"]))


def _claim(row: Mapping[str, Any]) -> Claim | None:
    if row["subject"] is None:
        return None
    return Claim(row["subject"], row["attribute"], row["value"])


def _usage(row: Mapping[str, Any]) -> Usage:
    return Usage(
        access_count=row["access_count"] or 0,
        last_accessed_at=moment_or_none(row["last_accessed_at"]),
        used_count=row["used_count"] or 0,
        last_used_at=moment_or_none(row["last_used_at"]),
    )


# ── Vectors and keywords ──────────────────────────────────────────────────────────────────────────


def encode_vector(vector: Vector) -> bytes:
    """Write a vector: little-endian float32."""
    return np.ascontiguousarray(vector, "<f4").tobytes()


def decode_vector(data: bytes) -> Vector:
    """Read a vector; it cannot be written to."""
    return np.frombuffer(data, "<f4")


def encode_terms(terms: Terms) -> bytes:
    """Write a keyword entry: all ids, then all counts."""
    return terms.ids.astype("<u8").tobytes() + terms.counts.astype("<u2").tobytes()


def decode_terms(data: bytes | None) -> Terms:
    """Read a keyword entry; none is an empty one."""
    data = data or b""
    size = len(data) // 10
    return Terms(np.frombuffer(data, "<u8", size), np.frombuffer(data, "<u2", size, 8 * size))


# ── Traces ────────────────────────────────────────────────────────────────────────────────────────

_RING_HEAD = struct.Struct("<qd")
_TURN_USE = struct.Struct("<iIII")
RING_WORDS, TURN_BYTES = _RING_HEAD.size // 8, _TURN_USE.size
TURN_USE = np.dtype([("turn", "<i4"), *((name, "<u4") for name in ("shown", "used", "over"))])


def encode_ring(trace: Trace) -> bytes | None:
    """Write spaced accesses: how many there were (int64), stability (float64), moments (int64)."""
    if not trace.count:
        return None
    head = _RING_HEAD.pack(trace.count, trace.stability)
    return head + struct.pack(f"<{len(trace.moments)}q", *trace.moments)


def encode_turns(trace: Trace) -> bytes | None:
    """Write use by turn: turn (int32), shown, used, over (uint32)."""
    return b"".join(_TURN_USE.pack(*each) for each in trace.turns) or None


def decode_trace(ring: bytes | None, turns: bytes | None) -> Trace:
    """Read a trace; what was never written is empty.

    Raises:
        TypeError: It has been damaged.
    """
    if ring is not None and (len(ring) % 8 or len(ring) <= _RING_HEAD.size):
        message = f"not a trace but {len(ring)} bytes"
        raise TypeError(message)
    if turns is not None and len(turns) % TURN_BYTES:
        message = f"not a trace but {len(turns)} bytes"
        raise TypeError(message)
    uses = tuple(TurnUse(*cells) for cells in _TURN_USE.iter_unpack(turns or b""))
    if not ring:
        return Trace(turns=uses)
    count, stability = _RING_HEAD.unpack_from(ring)
    moments = struct.unpack(f"<{len(ring) // 8 - RING_WORDS}q", ring[_RING_HEAD.size :])
    return Trace(count, stability, moments, uses)


# ── Events ────────────────────────────────────────────────────────────────────────────────────────


def encode_event(event: MemoryEvent) -> Cells:
    """Write an event: type, moment, actor, record, plan, detail."""
    detail = to_json(dict(event.detail)) if event.detail else "{}"
    at = to_micros(event.at)
    return event.type.value, at, event.actor.value, event.record_id, event.plan_id, detail


def decode_event(cells: Sequence[Any]) -> MemoryEvent:
    """Read an event: number, then what `encode_event` writes."""
    number, kind, at, actor, record, plan, detail = cells
    return MemoryEvent(
        type=EventType(kind),
        at=moment(at),
        record_id=None if record is None else RecordId(record),
        actor=Actor(actor),
        plan_id=None if plan is None else PlanId(plan),
        detail=json.loads(detail),
        number=number,
    )


def encode_link(link: ChainLink) -> Cells:
    """Write a receipt of the chain: number, moment, body, previous seal, seal, signature."""
    at = to_micros(link.at)
    return link.number, at, to_json(dict(link.body)), link.previous, link.seal, link.signature


def decode_link(cells: Sequence[Any]) -> ChainLink:
    """Read what `encode_link` writes."""
    number, at, body, previous, seal, signature = cells
    return ChainLink(
        number=number,
        at=moment(at),
        body=json.loads(body),
        previous=previous,
        seal=seal,
        signature=signature,
    )
