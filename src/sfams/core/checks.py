"""Checks of what callers hand in: each gives the clean value or refuses, naming the field."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NoReturn

from sfams.core.record import Entity, JsonValue
from sfams.core.text import find_surrogate, fold, is_blank
from sfams.errors import InvalidInputError

MAX_CONTENT = 1_000_000
"""Characters of one memory."""
MAX_NAME = 256
"""Characters of an entity's name, a speaker, role, session, key, subject or attribute."""
MAX_TYPE = 64
"""Characters of an entity's type."""
MAX_TAG = 128
"""Characters of a tag."""
MAX_VALUE = 4096
"""Characters of a claim's value."""
MAX_ITEMS = 256
"""Entities, tags or links of one memory."""
MAX_METADATA = 65_536
"""Bytes of the metadata, written as JSON in UTF-8."""
MAX_DEPTH = 32
"""Levels of lists and tables inside metadata."""
MAX_WHOLE = 2**63 - 1
"""Largest whole number that every store keeps exactly."""

_TYPED_ENTITY = re.compile(rf"([a-z][a-z0-9_]{{0,{MAX_TYPE - 1}}}):(?!//)(.*)", re.DOTALL)
_ENTITY_TYPE = re.compile(rf"[a-z][a-z0-9_]{{0,{MAX_TYPE - 1}}}")
_SCHEMES = frozenset(
    {"data", "file", "ftp", "git", "http", "https", "mailto", "sftp", "sms", "ssh", "tel", "urn"}
)


def refuse(field: str, problem: str) -> NoReturn:
    """Raise an `InvalidInputError` about one field."""
    message = f"{field}: {problem}"
    raise InvalidInputError(message, field=field)


def known_field(name: object, known: Iterable[str]) -> None:
    """Refuse a field that does not exist, with the nearest one that does."""
    fields = list(known)
    if name in fields:
        return
    text = str(name)[:40]
    near = get_close_matches(text, fields, 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there is {', '.join(sorted(fields))}"
    message = f"there is no field {text!r}{hint}"
    raise InvalidInputError(message, field=text)


def content(value: object) -> str:
    """Take a memory's text as it is, unless nobody could read it or a store could not keep it."""
    if not isinstance(value, str):
        refuse("content", f"expected text, got {type(value).__name__}")
    if len(value) > MAX_CONTENT:
        refuse("content", f"has {len(value):,} characters, the limit is {MAX_CONTENT:,}")
    if is_blank(value):
        refuse("content", "is blank")
    _storable("content", value)
    return value


def label(field: str, value: object, limit: int = MAX_NAME) -> str:
    """Take one line of text: blanks trimmed, not empty, no control characters, not too long."""
    if not isinstance(value, str):
        refuse(field, f"expected text, got {type(value).__name__}")
    text = unicodedata.normalize("NFC", value).strip()
    if is_blank(text):
        refuse(field, "is blank")
    if len(text) > limit:
        refuse(field, f"has {len(text)} characters, the limit is {limit}")
    _storable(field, text)
    if any(unicodedata.category(char) == "Cc" for char in text):
        refuse(field, "has control characters")
    return text


def unit(field: str, value: object) -> float:
    """Take a number in 0..1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        refuse(field, f"expected a number in 0..1, got {_shown(value)}")
    if not 0.0 <= value <= 1.0:
        refuse(field, f"must lie in 0..1, got {value}")
    return float(value)


def count(field: str, value: object) -> int:
    """Take a whole number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(field, f"expected a whole number, got {_shown(value)}")
    if not 0 <= value <= MAX_WHOLE:
        refuse(field, f"must be 0 or more and below 2**63, got {str(value)[:40]}")
    return value


def items(field: str, value: object) -> list[object]:
    """Take several values; one text alone is refused, it would be taken apart into its letters."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        hint = f"; write [{value[:40]!r}]" if isinstance(value, str) else ""
        refuse(field, f"expected a list, got {type(value).__name__}{hint}")
    given: list[object] = []
    for item in value:
        given.append(item)
        if len(given) > MAX_ITEMS:
            refuse(field, f"has more than {MAX_ITEMS} items")
    return sorted(given, key=str) if isinstance(value, (set, frozenset)) else given


def labels(field: str, value: object, limit: int = MAX_NAME) -> tuple[str, ...]:
    """Take several lines of text, each once, in the order given (sets: sorted)."""
    return tuple(dict.fromkeys(label(field, item, limit) for item in items(field, value)))


def entities(value: object) -> tuple[Entity, ...]:
    """Take entities, or text `type:name` or `name`; spellings that fold to one are one entity."""
    found: dict[tuple[str, str], Entity] = {}
    for item in items("entities", value):
        entity = _entity(item)
        found.setdefault((fold(entity.name), entity.type), entity)
    return tuple(found.values())


def _entity(item: object) -> Entity:
    if isinstance(item, Entity):
        name, type_ = item.name, item.type
    elif isinstance(item, str):
        name, type_ = _split_entity(item)
    else:
        refuse("entities", f"expected text or Entity, got {type(item).__name__}")
    if type_ and not _ENTITY_TYPE.fullmatch(type_):
        refuse("entities", f"type {_shown(type_)} is not lower-case letters, digits and _")
    return Entity(" ".join(label("entities", name).split()), type_)


def _split_entity(text: str) -> tuple[str, str]:
    match = _TYPED_ENTITY.fullmatch(text.strip())
    if match is None or match[1] in _SCHEMES:
        return text, ""
    return match[2], match[1]


def metadata(value: object) -> dict[str, JsonValue]:
    """Take a table of JSON values: text keys, finite numbers, limited depth and size."""
    if not isinstance(value, Mapping):
        refuse("metadata", f"expected a table of names and values, got {type(value).__name__}")
    plain = _table(value, "metadata", 1)
    size = len(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_METADATA:
        refuse("metadata", f"has {size:,} bytes as JSON, the limit is {MAX_METADATA:,}")
    return plain


def _table(value: Mapping[object, object], path: str, depth: int) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            refuse(path, f"keys are text, got {type(key).__name__}")
        _storable(path, key)
        plain[str(key)] = _json(item, f"{path}.{key[:40]}", depth + 1)
    return plain


def _json(value: object, path: str, depth: int) -> JsonValue:
    if depth > MAX_DEPTH:
        refuse(path[:80], f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return _table(value, path, depth)
    if isinstance(value, (list, tuple)):
        return [_json(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(value)]
    return _scalar(value, path)


def _scalar(value: object, path: str) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        _storable(path, value)
        return str(value)
    if isinstance(value, int) and abs(value) <= MAX_WHOLE:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, (int, float)):
        refuse(path, "is not finite" if isinstance(value, float) else "does not fit in 64 bits")
    refuse(path, f"is not JSON: {type(value).__name__}")


def _storable(field: str, text: str) -> None:
    at = find_surrogate(text)
    if at is not None:
        refuse(field, f"has a lone surrogate at character {at}; it is not valid Unicode")
    if "\x00" in text:
        refuse(field, f"has a NUL character at {text.index(chr(0))}; not every store can keep it")


def _shown(value: object) -> str:
    return f"{type(value).__name__} {str(value)[:40]!r}"
