"""Policies as TOML: what a project keeps beside its code, and a person can read and change.

A file says what differs: `base = "adaptive"` takes all the rest from that preset. Durations are text
such as "30d".
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from datetime import timedelta

from sfams.core.policy import DURATIONS, RetentionPolicy
from sfams.core.policy_json import policy_from_json, policy_to_json
from sfams.core.presets import preset
from sfams.core.record import JsonValue
from sfams.errors import InvalidPolicyError

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
_SPANS = frozenset({*DURATIONS, "after", "interval"})


def policy_from_toml(text: str, where: str = "policy") -> RetentionPolicy:
    """Read a policy.

    Args:
        text: The TOML.
        where: What errors name, such as the file.

    Raises:
        InvalidPolicyError: It is no TOML, or a field is unknown or out of range; names it.
    """
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{where}: not TOML: {error}"
        raise InvalidPolicyError(message, field="policy") from error
    base = written.pop("base", None)
    if base is not None and not isinstance(base, str):
        message = f"{where}: base: must be the name of a preset"
        raise InvalidPolicyError(message, field="base")
    try:
        rules = None if base is None else preset(base)
        named = {"name": written.get("name", "custom" if base is None else f"{base}, changed")}
        return policy_from_json({**written, **named}, rules)
    except InvalidPolicyError as error:
        raise InvalidPolicyError(f"{where}: {error}", **error.context) from error


def policy_to_toml(policy: RetentionPolicy) -> str:
    """Write a policy out in full; `policy_from_toml` reads it back. What is not limited is left out."""
    written = policy_to_json(policy)
    plain = {name: value for name, value in written.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in written.items() if isinstance(value, dict)}
    lines = [*_pairs(plain)]
    for name, table in tables.items():
        lines += _table(name, table)
    return "\n".join(lines) + "\n"


def _table(name: str, table: Mapping[str, JsonValue]) -> Iterator[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, dict)}
    yield ""
    yield f"[{name}]"
    spans = name == "retention"
    yield from _pairs(plain, spans=spans)
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _table(f"{name}.{json.dumps(key)}", value)


def _pairs(values: Mapping[str, JsonValue], *, spans: bool = False) -> Iterator[str]:
    for name, value in values.items():
        if value is None:
            continue
        key = name if name.replace("_", "").replace("-", "").isalnum() else json.dumps(name)
        if (spans or name in _SPANS) and isinstance(value, (int, float)):
            yield f"{key} = {json.dumps(_span(timedelta(seconds=value)))}"
        else:
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _span(length: timedelta) -> str | int:
    """Write a duration in the largest unit that it is a whole number of."""
    seconds = length.total_seconds()
    if not seconds:
        return 0
    for unit, size in _UNITS:
        if seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{seconds}s"
