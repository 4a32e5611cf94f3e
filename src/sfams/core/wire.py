"""The JSON form of records and other values: one shape for export, `--json`, HTTP and MCP.

Moments are ISO 8601 in UTC ending in Z, enums their values, empty optional fields are left out.
`record_from_wire(record_to_wire(r)) == r` for every record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import cast

from sfams.core.events import MemoryEvent
from sfams.core.moments import format_moment, parse_moment
from sfams.core.record import (
    Claim,
    EmbeddingState,
    Entity,
    Hold,
    JsonValue,
    MemoryRecord,
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
from sfams.errors import InvalidInputError

Json = dict[str, JsonValue]

FORMAT = "sfams-record/1"
"""Names the shape in exported lines."""


def record_to_wire(record: MemoryRecord) -> Json:
    """Write a record whole."""
    shape: Json = {
        "id": record.id,
        "scope": list(record.scope),
        "kind": record.kind,
        "content": record.content,
        "importance": record.importance,
        "status": record.status.value,
        "tier": record.tier.value,
        "pinned": record.pinned,
        "held": record.held,
        "hold": _hold(record.hold),
        "cold_since": _moment(record.cold_since),
        "created_at": format_moment(record.created_at),
        "recorded_at": format_moment(record.recorded_at),
        "updated_at": format_moment(record.updated_at),
        "expires_at": _moment(record.expires_at),
        "grace_until": _moment(record.grace_until),
        "entities": [_slim({"name": e.name, "type": e.type}) for e in record.entities],
        "tags": list(record.tags),
        "metadata": dict(record.metadata),
        "source": _source(record.source),
        "claim": None if record.claim is None else _plain(record.claim),
        "relations": [{"type": r.type, "target": r.target} for r in record.relations],
        "derived_from": list(record.derived_from),
        "usage": _usage(record.usage),
        "validity": _validity(record.validity),
        "twin": None if record.twin is None else _plain(record.twin),
        "trust": record.trust,
        "salience": record.salience,
        "sensitivity": record.sensitivity.value,
        "language": record.language,
        "tokens": record.tokens,
        "embedding": record.embedding.value,
        "key": record.key,
        "version": record.version,
        "content_hash": record.content_hash,
    }
    return {name: value for name, value in shape.items() if value not in (None, [], {})}


def _hold(hold: Hold | None) -> Json | None:
    if hold is None:
        return None
    return {"owner": hold.owner, "reason": hold.reason, "until": _moment(hold.until)}


def _plain(value: Claim | Twin) -> Json:
    return {item.name: getattr(value, item.name) for item in fields(value)}


def _slim(shape: Mapping[str, JsonValue]) -> Json:
    return {name: value for name, value in shape.items() if value not in (None, "")}


def _moment(value: datetime | None) -> str | None:
    return None if value is None else format_moment(value)


def _source(source: Source) -> Json:
    return _slim(
        {
            "who": source.who,
            "role": source.role,
            "session": source.session,
            "turn": source.turn,
        }
    )


def _usage(usage: Usage) -> Json:
    return _slim(
        {
            "access_count": usage.access_count,
            "last_accessed_at": _moment(usage.last_accessed_at),
            "used_count": usage.used_count,
            "last_used_at": _moment(usage.last_used_at),
        }
    )


def _validity(validity: Validity) -> Json:
    return _slim(
        {
            "valid_from": _moment(validity.valid_from),
            "valid_to": _moment(validity.valid_to),
            "superseded_by": validity.superseded_by,
        }
    )


def record_from_wire(shape: Mapping[str, JsonValue]) -> MemoryRecord:
    """Read a record back.

    Raises:
        InvalidInputError: A field is missing or of the wrong form; the message names it.
    """
    try:
        return _read(_Reader(shape))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        message = f"record: field missing or of the wrong form: {error}"
        raise InvalidInputError(message) from error


class _Reader:
    """Typed access to the fields of one JSON object."""

    def __init__(self, shape: Mapping[str, JsonValue]) -> None:
        self._shape = shape

    def text(self, name: str, default: str | None = None) -> str:
        value = self._shape.get(name, default)
        if not isinstance(value, str):
            raise InvalidInputError(f"{name}: expected text", field=name)
        return value

    def number(self, name: str, default: float) -> float:
        value = self._shape.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidInputError(f"{name}: expected a number", field=name)
        return float(value)

    def flag(self, name: str) -> bool:
        return self._shape.get(name, False) is True

    def moment(self, name: str) -> datetime:
        return parse_moment(self.text(name), field=name)

    def maybe_moment(self, name: str) -> datetime | None:
        return self.moment(name) if self._shape.get(name) is not None else None

    def maybe_text(self, name: str) -> str | None:
        return self.text(name) if self._shape.get(name) is not None else None

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(str(value) for value in cast("list[str]", self._shape.get(name) or []))

    def objects(self, name: str) -> list[_Reader]:
        items = cast("list[Mapping[str, JsonValue]]", self._shape.get(name) or [])
        return [_Reader(item) for item in items]

    def object(self, name: str) -> _Reader:
        return _Reader(cast("Mapping[str, JsonValue]", self._shape.get(name) or {}))

    def has(self, name: str) -> bool:
        return self._shape.get(name) is not None

    def mapping(self, name: str) -> Json:
        return dict(cast("Mapping[str, JsonValue]", self._shape.get(name) or {}))


def _read(reader: _Reader) -> MemoryRecord:
    created = reader.moment("created_at")
    source = reader.object("source")
    return MemoryRecord(
        id=RecordId(reader.text("id")),
        scope=Scope(reader.texts("scope")),
        content=reader.text("content"),
        content_hash=reader.text("content_hash"),
        kind=reader.text("kind"),
        importance=reader.number("importance", 0.5),
        created_at=created,
        recorded_at=reader.maybe_moment("recorded_at") or created,
        updated_at=reader.maybe_moment("updated_at") or created,
        expires_at=reader.maybe_moment("expires_at"),
        grace_until=reader.maybe_moment("grace_until"),
        entities=tuple(
            Entity(e.text("name"), e.text("type", "")) for e in reader.objects("entities")
        ),
        tags=reader.texts("tags"),
        metadata=reader.mapping("metadata"),
        source=Source(
            source.text("who", ""),
            source.text("role", ""),
            source.text("session", ""),
            int(source.number("turn", 0)) if source.has("turn") else None,
        ),
        claim=_read_claim(reader),
        relations=tuple(
            Relation(r.text("type"), RecordId(r.text("target")))
            for r in reader.objects("relations")
        ),
        derived_from=tuple(RecordId(value) for value in reader.texts("derived_from")),
        usage=_read_usage(reader.object("usage")),
        validity=_read_validity(reader.object("validity")),
        twin=_read_twin(reader),
        trust=reader.number("trust", 1.0),
        salience=reader.number("salience", 0.5),
        sensitivity=Sensitivity(reader.text("sensitivity", "normal")),
        language=reader.text("language", "und"),
        tokens=int(reader.number("tokens", 0)),
        status=Status(reader.text("status", "live")),
        tier=Tier(reader.text("tier", "hot")),
        pinned=reader.flag("pinned"),
        held=reader.flag("held"),
        hold=_read_hold(reader),
        cold_since=reader.maybe_moment("cold_since"),
        embedding=EmbeddingState(reader.text("embedding", "pending")),
        key=reader.maybe_text("key"),
        version=int(reader.number("version", 1)),
    )


def _read_claim(reader: _Reader) -> Claim | None:
    if not reader.has("claim"):
        return None
    claim = reader.object("claim")
    return Claim(claim.text("subject"), claim.text("attribute"), claim.text("value", ""))


def _read_hold(reader: _Reader) -> Hold | None:
    if not reader.has("hold"):
        return None
    hold = reader.object("hold")
    return Hold(hold.text("owner", ""), hold.text("reason", ""), hold.maybe_moment("until"))


def _read_twin(reader: _Reader) -> Twin | None:
    if not reader.has("twin"):
        return None
    twin = reader.object("twin")
    return Twin(RecordId(twin.text("id")), twin.number("similarity", 0.0))


def _read_usage(reader: _Reader) -> Usage:
    return Usage(
        int(reader.number("access_count", 0)),
        reader.maybe_moment("last_accessed_at"),
        int(reader.number("used_count", 0)),
        reader.maybe_moment("last_used_at"),
    )


def _read_validity(reader: _Reader) -> Validity:
    successor = reader.maybe_text("superseded_by")
    return Validity(
        reader.maybe_moment("valid_from"),
        reader.maybe_moment("valid_to"),
        None if successor is None else RecordId(successor),
    )


def event_to_wire(event: MemoryEvent) -> Json:
    """Write one line of the log."""
    shape: Json = {
        "type": event.type.value,
        "at": format_moment(event.at),
        "record_id": event.record_id,
        "actor": event.actor.value,
        "plan_id": event.plan_id,
        "detail": dict(event.detail),
    }
    return {name: value for name, value in shape.items() if value not in (None, {})}
