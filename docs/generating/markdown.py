"""How what the pages repeat is written down."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from datetime import timedelta

Row = Sequence[object]


def table(head: Row, rows: Iterable[Row]) -> str:
    """Write a Markdown table."""
    lines = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Row) -> str:
    flat = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(flat)} |"


def first_sentence(thing: object) -> str:
    """Give the first sentence of a docstring."""
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    found = re.match(r".*?\.(?=\s|$)", flat := " ".join(paragraph.split()))
    return found[0] if found else flat


def code(value: object) -> str:
    """Quote a value as code; nothing for what is not set."""
    return "" if value in (None, "", inspect.Parameter.empty) else f"`{value}`"


def number(value: object) -> str:
    """Write a value of a parameter: a length of time in days, several with commas."""
    if isinstance(value, timedelta):
        return f"{value.days} days" if value else "0"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
