"""Output in one place: one JSON document, or text and tables for people.

Results go to standard output, all else to standard error.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from sfams.core.moments import format_moment
from sfams.core.record import MemoryRecord
from sfams.core.sensitivity import masked
from sfams.core.text import clip

PREVIEW = 79
"""Code points of a text in a table."""
WIDE = 130
"""Columns from which on a terminal shows ids beside texts instead of below them."""

_PIPE_WIDTH = 1000
_NUMBER = re.compile(r"[-+]?[\d.]+[a-z%]?")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Output:
    """Where a command's answer goes, and in which form."""

    as_json: bool = False
    quiet: bool = False

    def result(self, document: Mapping[str, object], *shown: RenderableType) -> None:
        """Give the answer: the document as JSON, or what is shown to people."""
        if self.as_json:
            layout = 2 if sys.stdout.isatty() else None
            text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=layout)
            self.write(text + "\n")
        elif shown:
            self.write(self._rendered(shown))

    def note(self, text: str) -> None:
        """Say something beside the answer, unless only the answer is wanted."""
        if not (self.quiet or self.as_json):
            self._say(text)

    def aside(self, shown: RenderableType) -> None:
        """Show a table beside the answer, on standard error."""
        if not self.as_json:
            sys.stderr.write(self._rendered([shown]))

    def warn(self, warnings: Iterable[str]) -> None:
        """Show warnings; the JSON document carries its own."""
        if not self.as_json:
            for warning in warnings:
                self._say(f"Warning: {warning}")

    def write(self, text: str) -> None:
        """Put text on stdout as it is."""
        sys.stdout.write(text)

    @property
    def wide(self) -> bool:
        """Tell whether lines may be long: on a wide terminal, or not on one."""
        console = _console()
        return not console.is_terminal or console.width >= WIDE

    @property
    def animated(self) -> bool:
        """Tell whether somebody watches stderr and wants a progress bar."""
        return not (self.quiet or self.as_json) and sys.stderr.isatty()

    def _say(self, text: str) -> None:
        print(visible(text), file=sys.stderr)  # noqa: T201  # the one place for notes

    def _rendered(self, shown: Sequence[RenderableType]) -> str:
        console = _console()
        if not console.is_terminal:
            console.width = _PIPE_WIDTH
        with console.capture() as captured:
            for each in shown:
                console.print(each)
        text = captured.get()
        if console.is_terminal:
            return text
        return "\n".join(each.rstrip() for each in text.split("\n"))


def _console() -> Console:
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def visible(text: str) -> str:
    r"""Write control characters out as \x1b, so that no memory can steer the terminal."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def preview(record: MemoryRecord, limit: int = PREVIEW, *, reveal: bool = False) -> str:
    """Show the start of a record's text on one line; a sensitive one is masked unless it is asked for."""
    text = record.content if reveal else masked(record)
    # No more than the view can show is looked at: a text may have a million characters.
    return clip(visible(" ".join(text[: limit * 20].split())), limit)


def moment(value: datetime) -> str:
    """Write a moment for people: ISO UTC to the second."""
    return format_moment(value.replace(microsecond=0))


def age(span: timedelta) -> str:
    """Write a span in its largest whole unit: 3d, 5h, 12m, 40s; 0s for what lies ahead."""
    seconds = max(0, int(span.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def line(*parts: str | tuple[str, str]) -> Text:
    """Write one line; a pair is text with its style."""
    styled = [(visible(p[0]), p[1]) if isinstance(p, tuple) else visible(p) for p in parts]
    return Text.assemble(*styled)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> Table:
    """Lay out rows: columns of numbers to the right, the last one in the room that is left."""
    cells = [[visible(cell) for cell in row] for row in rows]
    made = Table(
        box=SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False, show_edge=False
    )
    for at, name in enumerate(columns[:-1]):
        numbers = all(_NUMBER.fullmatch(row[at]) for row in cells)
        made.add_column(Text(name), no_wrap=True, justify="right" if numbers else "left")
    made.add_column(Text(columns[-1]), overflow="fold")
    for row in cells:
        made.add_row(*map(Text, row))
    return made


def pairs(rows: Iterable[tuple[str, object]]) -> Table:
    """Lay out names and values."""
    made = Table.grid(padding=(0, 2))
    for name, value in rows:
        made.add_row(Text(name), Text(visible(str(value)), overflow="fold"))
    return made
