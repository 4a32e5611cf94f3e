"""Draft: what a caller wants remembered, checked once, whichever door it came through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict

from sfams.core import checks
from sfams.core.moments import DurationLike, MomentLike, parse_duration, parse_moment
from sfams.core.record import (
    Claim,
    Entity,
    JsonValue,
    Metadata,
    RecordId,
    Relation,
    Sensitivity,
    Source,
    Usage,
    parse_kind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory before admission: no id, scope or hash yet; None is left to the service to fill in.

    `kind`, `importance` and `sensitivity` of None are told from the text, `created_at` of None is now.
    With `keeps` it never expires, whatever its text says. `usage` is set by imports alone.
    """

    content: str
    kind: str | None = None
    importance: float | None = None
    created_at: datetime | None = None
    ttl: timedelta | None = None
    expires_at: datetime | None = None
    keeps: bool = False
    entities: tuple[Entity, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    source: Source = field(default_factory=Source)
    claim: Claim | None = None
    key: str | None = None
    supersedes: tuple[RecordId, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    trust: float = 1.0
    sensitivity: Sensitivity | None = None
    derived_from: tuple[RecordId, ...] = ()
    relations: tuple[Relation, ...] = ()
    usage: Usage | None = None

    @property
    def dated(self) -> bool:
        """Tell whether the caller said how long it holds."""
        return self.keeps or self.ttl is not None or self.expires_at is not None

    def expiry(self, created_at: datetime) -> datetime | None:
        """Tell when it expires if it was said at `created_at`; None for never.

        A time to live that leads beyond the year 9999 never ends.
        """
        if self.ttl is None:
            return self.expires_at
        try:
            return created_at + self.ttl
        except OverflowError:
            return None


NEVER: Final = "never"
"""As `ttl`: it does not expire, whatever its text says."""


class DraftFields(TypedDict, total=False):
    """What may be said about a memory besides its text. None means "not given", but for `ttl`."""

    kind: str | None
    """What sort of thing it is, such as `fact`, `preference` or `fact:deadline`; else estimated."""
    importance: float | None
    """0..1; else estimated from the text."""
    created_at: MomentLike | None
    """When it was said; else now."""
    ttl: DurationLike | None
    """How long it holds from `created_at` on: a timedelta, seconds, text such as "24h", or "never". Else
    told from the text (codes, meetings); here None says never, like "never"."""
    expires_at: MomentLike | None
    """When it ceases to hold, instead of `ttl`. A moment before `created_at` is expired at once."""
    entities: Iterable[str | Entity] | None
    """Whom and what it is about: `name`, `type:name` or `Entity`."""
    tags: Iterable[str] | None
    """Labels to filter by."""
    metadata: Mapping[str, Any] | None
    """Own JSON data, at most 64 kB."""
    who: str | None
    """Who said it."""
    role: str | None
    """As what: user, assistant, tool, …"""
    session: str | None
    """In which conversation."""
    turn: int | None
    """At which turn of it."""
    subject: str | None
    """With `attribute`: the slot of a claim, which holds one current value."""
    attribute: str | None
    """See `subject`."""
    value: str | None
    """The claim's value; without it the text itself counts as the value."""
    key: str | None
    """The caller's own id, unique in the scope; telling it again is a duplicate."""
    supersedes: Iterable[str] | str | None
    """Ids of memories that this one replaces."""
    valid_from: MomentLike | None
    """From when on it is true in the world."""
    valid_to: MomentLike | None
    """Until when it is true in the world."""
    trust: float | None
    """0..1, how far the source is trusted."""
    sensitivity: str | None
    """`sensitive` masks the text in previews and logs, `normal` does not; else told from the text."""
    derived_from: Iterable[str] | None
    """Ids of the memories that it was made from."""
    relations: Iterable[Relation] | None
    """Links to other memories of the scope."""


def make_draft(content: str, fields: Mapping[str, object]) -> Draft:
    """Check a text and its `DraftFields`, and make them a draft.

    Raises:
        InvalidInputError: Blank, unreadable or too long text, an unknown field, a value of the
            wrong type or out of range, or fields that contradict each other. The message names the
            field, never the text.
    """
    for name in fields:
        checks.known_field(name, _CHECKS)
    given: dict[str, Any] = {
        name: _CHECKS[name](name, value) for name, value in fields.items() if value is not None
    }
    text = checks.content(content)
    _agree(given)
    keeps = given.get("ttl") is None and "ttl" in fields and "expires_at" not in given
    source = {name: given.pop(name) for name in ("who", "role", "session", "turn") if name in given}
    claim = {name: given.pop(name) for name in ("subject", "attribute", "value") if name in given}
    return Draft(
        content=text,
        source=Source(**source),
        claim=Claim(**claim) if claim else None,
        keeps=keeps,
        **given,
    )


def draft_from_mapping(mapping: Mapping[str, object], *, lenient: bool = False) -> Draft:
    """Make a draft of one imported object, whose keys may be those of common memory files.

    Besides the `DraftFields`: text or content; type or memory_type for kind; ttl_hours; timestamp
    for created_at; linked_entities for entities; id for key; access_count with last_accessed(_at)
    for the usage so far; project_id and user_id, which are kept in the metadata.

    Args:
        mapping: The object, as read from JSON.
        lenient: Keep unknown keys in `metadata["imported"]` instead of refusing them.

    Raises:
        InvalidInputError: As `make_draft`, or two keys that mean the same field.
    """
    fields, extra = _rename(mapping)
    if not lenient:
        for name in extra:
            checks.known_field(name, {*_IMPORTED, *_ALIASES})
    if "ttl_hours" in fields:
        _put(fields, "ttl", _hours(fields.pop("ttl_hours")), "ttl_hours")
    usage = _usage({name: fields.pop(name) for name in _USAGE if name in fields})
    kept = {name: fields.pop(name) for name in _KEPT if name in fields}
    if extra:
        kept["imported"] = extra
    if kept:
        own = fields.get("metadata", {})
        fields["metadata"] = {**kept, **own} if isinstance(own, Mapping) else own
    content: Any = fields.pop("content", None)
    draft = make_draft(content, fields)
    return draft if usage is None else replace(draft, usage=usage)


_ALIASES = {
    "text": "content",
    "type": "kind",
    "memory_type": "kind",
    "timestamp": "created_at",
    "linked_entities": "entities",
    "id": "key",
}
_USAGE = {
    "access_count": "access_count",
    "last_accessed": "last_accessed_at",
    "last_accessed_at": "last_accessed_at",
}
_KEPT = ("project_id", "user_id")


def _rename(mapping: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Sort an object's keys into fields under our names and what is unknown; null is not given."""
    fields: dict[str, object] = {}
    extra: dict[str, object] = {}
    for name, value in mapping.items():
        field_name = _ALIASES.get(name, name)
        if value is None:
            continue
        if field_name in _IMPORTED:
            _put(fields, field_name, value, name)
        else:
            extra[name] = value
    return fields, extra


def _put(fields: dict[str, object], name: str, value: object, given_as: str) -> None:
    if name in fields:
        checks.refuse(name, f"is given twice, once as {given_as}")
    fields[name] = value


def _hours(value: object) -> timedelta:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        checks.refuse("ttl_hours", f"expected a number of hours, got {type(value).__name__}")
    return parse_duration(value * 3600, field="ttl_hours")


def _usage(given: Mapping[str, object]) -> Usage | None:
    if not given:
        return None
    named: dict[str, Any] = {}
    for name, value in given.items():
        _put(named, _USAGE[name], value, name)
    last = named.get("last_accessed_at")
    spelt = next((name for name in given if name.startswith("last_accessed")), "")
    return Usage(
        access_count=checks.count("access_count", named.get("access_count", 0)),
        last_accessed_at=None if last is None else parse_moment(last, field=spelt),
    )


def _agree(given: Mapping[str, Any]) -> None:
    """Refuse fields that contradict each other."""
    if "ttl" in given and "expires_at" in given:
        checks.refuse("ttl", "give ttl or expires_at, not both")
    if "subject" in given and "attribute" not in given:
        checks.refuse("attribute", "is missing; subject and attribute name a claim together")
    if "subject" not in given and ("attribute" in given or "value" in given):
        checks.refuse("subject", "is missing; subject and attribute name a claim together")
    if "valid_from" in given and "valid_to" in given and given["valid_to"] < given["valid_from"]:
        checks.refuse("valid_to", "is before valid_from")


def _text(name: str, value: object) -> str:
    return checks.label(name, value)


def _value(name: str, value: object) -> str:
    return checks.label(name, value, checks.MAX_VALUE)


def _kind(name: str, value: object) -> str:
    return parse_kind(checks.label(name, value))


def _moment(name: str, value: Any) -> datetime:  # noqa: ANN401  # parse_moment checks the type
    return parse_moment(value, field=name)


def _duration(name: str, value: Any) -> timedelta | None:  # noqa: ANN401  # parse_duration checks it
    if value == NEVER:
        return None
    return parse_duration(value, field=name)


def _entities(_: str, value: object) -> tuple[Entity, ...]:
    return checks.entities(value)


def _tags(name: str, value: object) -> tuple[str, ...]:
    return checks.labels(name, value, checks.MAX_TAG)


def _metadata(_: str, value: object) -> dict[str, JsonValue]:
    return checks.metadata(value)


def _ids(name: str, value: object) -> tuple[RecordId, ...]:
    several = [value] if isinstance(value, str) else value
    return tuple(RecordId(each) for each in checks.labels(name, several))


def _sensitivity(name: str, value: object) -> Sensitivity:
    try:
        return Sensitivity(str(value))
    except ValueError:
        checks.refuse(name, f"{str(value)[:40]!r} is not normal or sensitive")


def _relations(name: str, value: object) -> tuple[Relation, ...]:
    found: dict[Relation, None] = {}
    for item in checks.items(name, value):
        if not isinstance(item, Relation):
            checks.refuse(name, f"expected Relation, got {type(item).__name__}")
        target = RecordId(checks.label(name, item.target))
        found[Relation(checks.label(name, item.type), target)] = None
    return tuple(found)


_CHECKS: dict[str, Callable[[str, Any], object]] = {
    "kind": _kind,
    "importance": checks.unit,
    "created_at": _moment,
    "ttl": _duration,
    "expires_at": _moment,
    "entities": _entities,
    "tags": _tags,
    "metadata": _metadata,
    "who": _text,
    "role": _text,
    "session": _text,
    "turn": checks.count,
    "subject": _text,
    "attribute": _text,
    "value": _value,
    "key": _text,
    "supersedes": _ids,
    "valid_from": _moment,
    "valid_to": _moment,
    "trust": checks.unit,
    "sensitivity": _sensitivity,
    "derived_from": _ids,
    "relations": _relations,
}
_IMPORTED = frozenset({*_CHECKS, *_USAGE, *_KEPT, "content", "ttl_hours"})
