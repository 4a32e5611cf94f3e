"""What a message or line says about itself as a memory, cleaned for `draft_from_mapping`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, tzinfo
from hashlib import blake2b
from typing import Final

from sfams.bridges.chat_moments import read_moment
from sfams.bridges.chat_values import Noted, shown

_MOMENTS: Final = ("expires_at", "valid_from", "valid_to", "last_accessed", "last_accessed_at")
_NUMBERS: Final = ("importance", "ttl", "ttl_hours", "trust", "access_count")
_OF_THE_MESSAGE: Final = frozenset(
    {
        *("content", "text", "who", "role", "session", "turn", "key", "id"),
        *("created_at", "timestamp"),
    }
)


class OwnFieldError(Exception):
    """A field of a message cannot be read; the message is refused whole."""

    def __init__(self, field: str, value: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.value = value
        self.reason = reason


def moment_of(
    mapping: Mapping[str, object], names: Sequence[str], zone: tzinfo, day: date | None = None
) -> datetime | None:
    """Read the first of several fields that holds a moment; None if none does.

    A `date` beside a `time` without one is read together with it.

    Raises:
        OwnFieldError: The field holds something that is no moment.
    """
    for name in names:
        value = mapping.get(name)
        if value is None or value == "":
            continue
        at = mapping.get("time")
        if name == "date" and isinstance(at, str) and isinstance(value, str) and ":" in at:
            moment = _read(name, f"{value} {at}" if ":" not in value else value, zone, day)
        else:
            moment = _read(name, value, zone, day)
        if moment is not None:
            return moment
    return None


def memory_fields(memory: Mapping[str, object], zone: tzinfo) -> dict[str, object]:
    """Clean the fields of a message's "memory"; who said it when is the message's own business.

    Raises:
        OwnFieldError: A moment in it cannot be read.
    """
    fields = {
        name: value
        for name, value in memory.items()
        if name not in _OF_THE_MESSAGE and value is not None
    }
    for name in _MOMENTS:
        if name in fields:
            fields[name] = _read(name, fields[name], zone)
    for name in _NUMBERS:
        if isinstance(value := fields.get(name), str):
            fields[name] = _number(value)
    return fields


def noted(line: int, text: str, mapping: Mapping[str, object], zone: tzinfo) -> Noted:
    """Make a memory of a text that stands for itself.

    Its key is the one given, else comes from its text, so that reading it again adds nothing.

    Raises:
        OwnFieldError: A moment in it cannot be read.
    """
    own = {name: mapping[name] for name in ("who", "role", "turn", "session") if name in mapping}
    key = mapping.get("key") if mapping.get("key") is not None else mapping.get("id")
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    fields = {
        **memory_fields(mapping, zone),
        **own,
        "content": text,
        "created_at": mapping.get("created_at"),
        "key": f"memory:{digest}" if key is None else str(key),
    }
    return Noted(line, fields)


def _read(name: str, value: object, zone: tzinfo, day: date | None = None) -> datetime | None:
    try:
        return read_moment(value, zone, day)
    except ValueError as error:
        raise OwnFieldError(name, shown(value), str(error)) from error


def _number(text: str) -> object:
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    return int(number) if number.is_integer() else number
