"""What the SQL of filters calls back into Python for."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import cast

import apsw

from sfams.core.text import fold
from sfams.stores.matching import folded, json_equal


def register(connection: apsw.Connection) -> None:
    """Make the functions known to a connection."""
    for name, function, arity in (
        ("fold", fold, 1),
        ("folded", folded, 1),
        ("json_has", _json_has, 3),
    ):
        callback = cast("Callable[..., str | bool]", function)
        connection.create_scalar_function(name, callback, arity, deterministic=True)


def _json_has(metadata: str | None, name: str, wanted: str) -> bool:
    """Tell whether a JSON object has a name with just this value."""
    values = json.loads(metadata or "{}")
    return name in values and json_equal(values[name], json.loads(wanted))
