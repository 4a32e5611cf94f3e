"""The named statements of `queries.sql`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


def parse_queries(text: str) -> Mapping[str, str]:
    """Split a file at its `-- name: ...` lines; a name may occur once."""
    _, *pairs = _NAME.split(text)
    names, bodies = pairs[::2], pairs[1::2]
    if len(set(names)) != len(names):
        message = "a query's name occurs twice"
        raise ValueError(message)
    return {
        name: body.partition(";\n")[0].strip() for name, body in zip(names, bodies, strict=True)
    }


QUERIES = parse_queries(files(__package__).joinpath("queries.sql").read_text("utf-8"))
