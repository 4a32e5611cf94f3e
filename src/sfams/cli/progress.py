"""Progress of long work, on standard error, where somebody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from sfams.cli.output import Output


class Bar:
    """A bar that counts; it shows nothing where nobody watches (a pipe, --json, --quiet)."""

    def __init__(self, shown: Progress | None, task: TaskID | None) -> None:
        self._shown = shown
        self._task = task

    def advance(self, done: int) -> None:
        """Count what was done since the last call."""
        if self._shown is not None and self._task is not None:
            self._shown.advance(self._task, done)

    def reach(self, done: int, total: int) -> None:
        """Stand at a number, of a total that may have grown."""
        if self._shown is not None and self._task is not None:
            self._shown.update(self._task, completed=done, total=total)


@contextmanager
def bar(out: Output, label: str, total: int | None = None) -> Iterator[Bar]:
    """Show a bar while the block runs."""
    if not out.animated:
        yield Bar(None, None)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield Bar(shown, shown.add_task(label, total=total))
