"""`sfams demo`: watch the memory of a project being kept small, and what that costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text
from typer import Option

from sfams.cli.forgetting import SHORT
from sfams.cli.output import Output, visible
from sfams.cli.run import Run, add
from sfams.errors import InvalidInputError
from sfams.lab.demo import BUDGET, EVERYTHING, SCOPE, SF_AMS, TOKENS, WINDOW, run_demo
from sfams.lab.history import read_turns
from sfams.lab.page import MARK, render
from sfams.lab.report import Answer, Asked, DemoReport, PlanReport, SystemTotal

PAGE = Path("sfams-demo.html")
"""Where the page goes unless told otherwise."""

_ROWS = 12
_PROSE = 78
_RIGHT, _WRONG = "✓", "✗"


def register(app: typer.Typer) -> None:
    """Add the command."""
    add(app, demo, "demo", panel="The file")


def demo(
    run: Run,
    keep: Annotated[
        Path | None, Option("--keep", metavar="FILE", help="Keep the memory in this new file.")
    ] = None,
    budget: Annotated[int, Option("--budget", min=0, help="Records that may stay hot.")] = BUDGET,
    tokens: Annotated[
        int, Option("--tokens", min=1, help="Tokens of context for a question.")
    ] = TOKENS,
    html: Annotated[Path, Option("--html", metavar="FILE", help="Where the page goes.")] = PAGE,
    no_html: Annotated[bool, Option("--no-html", help="Write no page.")] = False,
) -> None:
    """Replay three months of a bilingual project: forget, ask, compare, undo.

    The same is written as a page: timeline, retention curves, and why each memory went.

    Examples:
        sfams demo
        sfams demo --budget 30 --keep harbour.db
        sfams demo --html out/demo.html --json
    """
    if run.options.get("db") or run.options.get("scope"):
        message = "db: the demo makes a memory of its own; --keep FILE keeps it"
        raise InvalidInputError(message, field="db")
    embedder = run.settings().embedder
    started = time.perf_counter()
    with _place(keep) as path, _progress(run.out) as advance:
        report = run_demo(path, embedder=embedder, budget=budget, tokens=tokens, progress=advance)
    seconds = time.perf_counter() - started
    page = None if no_html else _write_page(run, report, html)
    document = {**report.to_json(), "page": None if page is None else str(page)}
    run.out.result(document, *_page(report), *_farewell(seconds, keep, embedder), *_where(page))


def _write_page(run: Run, report: DemoReport, file: Path) -> Path | None:
    """Write the page; where that cannot be, say so: the demo itself has succeeded."""
    try:
        if file.exists() and MARK not in file.read_text("utf-8", "replace")[:2000]:
            run.out.warn([f"{file} is not a page of the demo and stays as it is; --html FILE"])
            return None
        file.write_text(render(report), "utf-8")
    except OSError as error:
        run.out.warn([f"no page was written to {file}: {error.strerror}"])
        return None
    return file


def _where(page: Path | None) -> Iterator[RenderableType]:
    if page is not None:
        yield Text(f"\nThe same as a page, with every memory and why it went: {page}")


@contextmanager
def _place(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with TemporaryDirectory(prefix="sfams-demo-") as folder:
        yield Path(folder) / "harbour.db"


@contextmanager
def _progress(output: Output) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr while the history is replayed, if somebody watches."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not output.animated,
    )
    with bar:
        task = bar.add_task("Replaying the project", total=len(read_turns()))
        yield lambda done: bar.advance(task, done)


# ── The page ─────────────────────────────────────────────────────────────────────────────────────


def _page(report: DemoReport) -> Iterator[RenderableType]:
    yield from _intro(report)
    yield from _plan(report.plan)
    yield from _questions(report)
    yield from _totals(report)
    yield from _undo(report)


def _heading(text: str) -> Text:
    return Text(f"\n{text}\n", style="bold")


def _prose(text: str) -> Text:
    """Break lines here, so that a paragraph reads well in a pipe too, where lines have no end."""
    return Text(fill(text, _PROSE))


def _intro(report: DemoReport) -> Iterator[RenderableType]:
    sizes, trail = report.sizes, report.trail
    yield _heading("The project Harbour, lived through again")
    yield _prose(
        f"{sizes.turns} turns in {len(trail)} sessions, {_day(trail[0].at)} to"
        f" {_day(trail[-1].at)}, in English and Chinese. After each session a plan keeps the"
        f" {report.budget} most valuable records hot, demotes the others to the cold tier, where"
        " only their words find them, and deletes what has expired."
    )
    yield Text()
    yield _prose(
        f"At the end {sizes.hot} records are hot ({sizes.hot_tokens:,} of"
        f" {sizes.history_tokens:,} tokens), {sizes.cold} cold, {sizes.superseded} superseded by"
        f" newer values and {sizes.deleted} deleted as expired."
    )


def _plan(plan: PlanReport) -> Iterator[RenderableType]:
    yield _heading(f"What the last plan forgot ({_day(plan.at)}), lowest score first")
    parts = [name for name in _part_names(plan) if any(row.parts[name] for row in plan.rows)]
    table = _table("goes", "why", "score", *(SHORT.get(name, name) for name in parts), "said")
    for row in plan.rows[:_ROWS]:
        table.add_row(
            row.action,
            row.reason,
            f"{row.score:.2f}",
            *(_signed(row.parts[name]) for name in parts),
            _clipped(f"{row.turn} {row.who}: {row.text}", 60),
        )
    yield table
    if len(plan.rows) > _ROWS:
        yield Text(f"… and {len(plan.rows) - _ROWS} more")
    yield Text()
    yield _prose(
        f"Hot records: {plan.hot_before} before, {plan.hot_after} after. A score is the sum of its"
        " parts; the higher it is, the longer a record stays."
    )


def _part_names(plan: PlanReport) -> Sequence[str]:
    return list(plan.rows[0].parts) if plan.rows else []


def _questions(report: DemoReport) -> Iterator[RenderableType]:
    yield _heading(f"{len(report.asked)} questions, {report.tokens} tokens of context for each")
    names = (SF_AMS, WINDOW, EVERYTHING)
    table = _table("", SF_AMS, "sliding\nwindow", "keep\neverything", "evidence")
    for each in report.asked:
        question = f"{each.question.key} {each.question.text}"
        marks = [_mark(each.answers[name]) for name in names]
        table.add_row(Text(question), *marks, _clipped(_evidence(each), 72))
    yield table
    yield Text()
    yield _prose(
        f"{_RIGHT} a turn that answers stands in the context, by its id; {_WRONG} none does; old:"
        " an answer that no longer holds stands there (too)."
    )


def _mark(answer: Answer) -> Text:
    mark = Text(_RIGHT, "green") if answer.right else Text(_WRONG, "red")
    return mark.append(" old", "yellow") if answer.stale else mark


def _evidence(asked: Asked) -> str:
    evidence = asked.evidence
    missed = "" if evidence.shown else f" (missed; {evidence.standing})"
    return f"{evidence.turn}{missed} {evidence.text}"


def _totals(report: DemoReport) -> Iterator[RenderableType]:
    yield _heading("Altogether")
    count = len(report.asked)
    table = _table("", "right", "old shown", "mean tokens", "records searched")
    for system in report.systems:
        table.add_row(
            Text(system.name),
            f"{system.right} of {count}",
            str(system.stale_shown),
            f"{system.mean_tokens:.0f}",
            _searched(system),
        )
    yield table


def _searched(system: SystemTotal) -> str:
    words = f" + {system.searched_by_words} by words" if system.searched_by_words else ""
    return f"{system.searched}{words}"


def _undo(report: DemoReport) -> Iterator[RenderableType]:
    undo = report.undo
    yield _heading("The last plan, undone")
    state = "every count is what it was before" if undo.exact else "NOT all is as it was before"
    skipped = f", {undo.skipped} skipped" if undo.skipped else ""
    yield _prose(
        f"{undo.restored} records restored{skipped}; hot {undo.hot_before} → {undo.hot_after};"
        f" {state}."
    )


def _farewell(seconds: float, keep: Path | None, embedder: str) -> Iterator[RenderableType]:
    where = f"--db {quote(str(keep or 'harbour.db'))} --scope {SCOPE}"
    if embedder != "bundled":
        where += f" --embedder {embedder}"
    yield _heading("Try next")
    if keep is None:
        yield _command("sfams demo --keep harbour.db")
    yield _command(f'sfams recall "When is the public launch?" {where}')
    yield _command(f"sfams plan --budget-records 40 {where}")
    yield Text(f"\nMeasured in this run, {seconds:.1f} s; no key, no network.", style="dim")


def _command(text: str) -> Text:
    """Leave a command on one line, so that it can be copied."""
    return Text(text, no_wrap=True, overflow="ignore")


def _table(first: str, *others: str) -> Table:
    """Lay out columns of which the first and the last may wrap."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(first, overflow="fold")
    for name in others[:-1]:
        table.add_column(name, no_wrap=True)
    table.add_column(others[-1], overflow="fold")
    return table


def _signed(value: float) -> str:
    return f"{value:+.2f}" if round(value, 2) else " 0.00"


def _clipped(text: str, cells: int) -> Text:
    """Cut a text to a width, a Chinese character being two cells wide."""
    short = Text(visible(text))
    short.truncate(cells, overflow="ellipsis")
    return short


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
