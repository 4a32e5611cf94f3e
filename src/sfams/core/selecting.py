"""Filters as callers write them: keyword fields, checked and turned into a `Filter`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypedDict, TypeVar, cast

from sfams.core.checks import known_field
from sfams.core.moments import MomentLike, parse_moment
from sfams.core.query import Filter
from sfams.core.record import Metadata, Status, Tier, parse_kind
from sfams.core.text import is_blank
from sfams.errors import InvalidInputError

Choice = TypeVar("Choice", bound=StrEnum)


class FilterFields(TypedDict, total=False):
    """Which memories are meant. Fields left out do not restrict.

    kinds: exact kinds or bases (`fact` also means `fact:deadline`).
    importance_min, importance_max: both ends included, 0..1.
    since, until: creation time; the lower end is included, the upper excluded. Aware moments, ISO 8601
        with offset, seconds since 1970, or a bare date (midnight UTC).
    entities, tags: a record must carry all of them; entities as "name" or "type:name".
    metadata: equal values, type included.
    who, session: the source's speaker and session.
    text: a part of the content, case and accents folded.
    status: statuses to include (default: live); tier: "hot" or "cold" only.
    expired: also records whose TTL has run out.
    """

    kinds: Iterable[str]
    importance_min: float
    importance_max: float
    since: MomentLike
    until: MomentLike
    entities: Iterable[str]
    tags: Iterable[str]
    metadata: Metadata
    who: str
    session: str
    text: str
    status: Iterable[str]
    tier: str
    expired: bool


def make_filter(fields: Mapping[str, object]) -> Filter:
    """Check a caller's filter.

    Raises:
        InvalidInputError: Unknown field, wrong type or value out of range, by name.
    """
    for name in fields:
        known_field(name, FilterFields.__annotations__)
    given = cast(
        "FilterFields", {name: value for name, value in fields.items() if value is not None}
    )
    tier = given.get("tier")
    created_from = given.get("since")
    created_to = given.get("until")
    return Filter(
        statuses=_statuses(given.get("status")),
        tiers=() if tier is None else (choice(Tier, tier, "tier"),),
        kinds=tuple(parse_kind(kind) for kind in _texts(given.get("kinds"), "kinds")),
        importance_min=_unit(given.get("importance_min"), "importance_min"),
        importance_max=_unit(given.get("importance_max"), "importance_max"),
        created_from=None if created_from is None else _moment(created_from, "since"),
        created_to=None if created_to is None else _moment(created_to, "until"),
        entities=_texts(given.get("entities"), "entities"),
        tags=_texts(given.get("tags"), "tags"),
        metadata=_mapping(given.get("metadata")),
        who=_text(given.get("who"), "who"),
        session=_text(given.get("session"), "session"),
        text=_text(given.get("text"), "text"),
        expired=bool(given.get("expired", False)),
    )


def _moment(value: MomentLike, field: str) -> datetime:
    return parse_moment(value, field=field, date_only=True)


def _statuses(values: object) -> tuple[Status, ...]:
    if values is None:
        return (Status.LIVE,)
    names = _texts(values, "status")
    if names == ("all",):
        return ()
    return tuple(choice(Status, name, "status") for name in names)


def choice(kind: type[Choice], value: object, field: str) -> Choice:
    """Read a member of a StrEnum, naming the choices where it is none."""
    try:
        return kind(str(value))
    except ValueError as error:
        message = f"{field}: {value!r} is not one of {', '.join(kind)}"
        raise InvalidInputError(message, field=field) from error


def _texts(values: object, field: str) -> tuple[str, ...]:
    if values is None:
        return ()
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        message = f"{field}: expected a list of text, got {type(values).__name__}"
        raise InvalidInputError(message, field=field)
    return tuple(cast("str", _text(value, field)) for value in values)


def _text(value: object, field: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or is_blank(value):
        message = f"{field}: expected text that is not blank"
        raise InvalidInputError(message, field=field)
    return value


def _mapping(value: object) -> Metadata:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        message = f"metadata: expected a mapping, got {type(value).__name__}"
        raise InvalidInputError(message, field="metadata")
    return cast("Metadata", value)


def _unit(value: object, field: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        message = f"{field}: expected a number in 0..1, got {type(value).__name__}"
        raise InvalidInputError(message, field=field)
    if not (math.isfinite(value) and 0.0 <= value <= 1.0):
        message = f"{field}: must lie in 0..1, got {value}"
        raise InvalidInputError(message, field=field)
    return float(value)
