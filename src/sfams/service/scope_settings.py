"""Settings of scopes: what the nearest scope says, from this one up to its tenant."""

from __future__ import annotations

import json
from typing import cast

from sfams.core.record import JsonValue
from sfams.core.scope import Scope
from sfams.errors import StoreError
from sfams.ports import Reader
from sfams.service.engine import Engine


def inherited(reader: Reader, scope: Scope, name: str) -> tuple[Scope, JsonValue] | None:
    """Find a setting of this scope, else of the nearest scope above it; tells whose it is, and its value.

    Raises:
        StoreError: It is not JSON: something else has written it.
    """
    for length in range(len(scope), 0, -1):
        where = Scope(scope[:length])
        text = reader.setting(where, name)
        if text is not None:
            return where, _value(text, where, name)
    return None


def put(engine: Engine, scope: Scope, name: str, value: JsonValue) -> None:
    """Write a setting of this scope, in a transaction of its own; None takes it away."""
    text = None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)
    with engine.store.write() as transaction:
        transaction.put_setting(scope, name, text)


def _value(text: str, where: Scope, name: str) -> JsonValue:
    try:
        return cast("JsonValue", json.loads(text))
    except (ValueError, RecursionError) as error:
        message = f"the setting {name} of {where} is not JSON"
        raise StoreError(message, name=name) from error
