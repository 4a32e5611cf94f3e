"""Scope: the isolation path of a memory, matched by parts and never by text prefix."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Self

from sfams.errors import InvalidInputError

MAX_PARTS = 16
MAX_PART_LENGTH = 256


class Scope(tuple[str, ...]):
    """Where a memory lives, for instance `("acme", "stellar_ai", "user:alice")`.

    The first part is the tenant. A scope sees itself and, where asked, what lies below it; never a
    neighbour. As text the parts are joined by "/", and a "/" or "%" inside a part is written %2F, %25.
    """

    __slots__ = ()

    def __new__(cls, parts: Iterable[str] | str) -> Self:
        """Build a scope from its parts or from its text form; every part is checked."""
        if isinstance(parts, cls):
            return parts
        values = [_unescape(part) for part in parts.split("/")] if isinstance(parts, str) else parts
        checked = tuple(_check_part(part) for part in values)
        if not 1 <= len(checked) <= MAX_PARTS:
            message = f"scope: needs 1 to {MAX_PARTS} parts, got {len(checked)}"
            raise InvalidInputError(message, field="scope")
        return super().__new__(cls, checked)

    @property
    def tenant(self) -> str:
        """The first part: whose memory this is."""
        return self[0]

    def covers(self, other: Scope) -> bool:
        """Tell whether `other` is this scope or lies below it."""
        return tuple(other[: len(self)]) == tuple(self)

    def __str__(self) -> str:
        """Text form, read back by `Scope(text)`."""
        return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in self)


def _unescape(part: str) -> str:
    """Undo what `str(scope)` escapes; either case of the hexadecimal digit is read."""
    return part.replace("%2F", "/").replace("%2f", "/").replace("%25", "%")


def _check_part(part: object) -> str:
    if not isinstance(part, str):
        message = f"scope: parts are text, got {type(part).__name__}"
        raise InvalidInputError(message, field="scope")
    value = unicodedata.normalize("NFC", part)
    if not value.strip():
        message = "scope: a part is blank"
        raise InvalidInputError(message, field="scope")
    if value != value.strip() or any(unicodedata.category(char) in {"Cc", "Cs"} for char in value):
        message = "scope: a part has outer blanks, control characters or a lone surrogate"
        raise InvalidInputError(message, field="scope")
    if len(value) > MAX_PART_LENGTH:
        message = f"scope: a part has {len(value)} characters, the limit is {MAX_PART_LENGTH}"
        raise InvalidInputError(message, field="scope")
    return value
