"""summarize, digest, sources: several memories become one, previewed first and taken back at will."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Unpack

from rich.console import RenderableType
from typer import Argument, Option, Typer

from sfams.cli.options import FilterOptions, filters
from sfams.cli.output import PREVIEW, line, moment, preview, table, visible
from sfams.cli.run import Run, add
from sfams.cli.shapes import receipt_json, summaries_json
from sfams.core.periods import Period
from sfams.core.sensitivity import masked_text
from sfams.core.text import clip
from sfams.core.wire import record_to_wire
from sfams.errors import InvalidInputError
from sfams.service.results import Summary, SummaryReport

DryRun = Annotated[bool, Option("--dry-run", help="Show what would be written; change nothing.")]
Ids = Annotated[
    list[str] | None, Argument(metavar="[ID...]", help="Record ids.", show_default=False)
]
Whole = Annotated[bool, Option("--whole", help="Show the texts whole.")]


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, summarize, "summarize", panel="Forgetting")
    add(app, digest, "digest", panel="Forgetting")
    add(app, sources, "sources", panel="Reading")


def summarize(
    run: Run,
    ids: Ids = None,
    dry_run: DryRun = False,
    whole: Whole = False,
    undo: Annotated[
        str | None, Option("--undo", metavar="ID", help="Take this summary or digest back.")
    ] = None,
    **options: Unpack[FilterOptions],
) -> None:
    """Make one summary of several memories, or of each group on one thing.

    What loses a number, a date, a name or a negation is not written. The sources leave recall and
    stay reachable with `sfams sources`.

    Examples:
        sfams summarize --dry-run
        sfams summarize --entity Iris --kind note
        sfams summarize 019e2f1a-a827-7000-a8e3-25946badddbe 019e2f1a-a850-7000-b71f-ffe3b475f045
        sfams summarize --undo 019e2f1b-0c11-7000-9c55-2f1a4cbb9a10
    """
    fields = filters(options)
    if undo is not None:
        if ids or fields or dry_run:
            message = "summarize: --undo takes one id and nothing else"
            raise InvalidInputError(message, field="undo")
        _undo(run, undo)
        return
    with run.memory() as memory:
        report = memory.summarize(ids or None, dry_run=dry_run, **fields)
    _show(run, report, whole=whole)


def _undo(run: Run, summary_id: str) -> None:
    with run.memory() as memory:
        receipt = memory.unsummarize(summary_id)
    shown: list[RenderableType] = [line(f"Brought back {receipt.restored}.")]
    if receipt.skipped:
        shown.append(table(["skipped", "because"], receipt.skipped.items()))
    run.out.result(receipt_json(receipt), *shown)


def digest(
    run: Run,
    period: Annotated[Period, Option("--period", help="What it covers.")] = Period.WEEK,
    now: Annotated[
        str | None,
        Option("--now", metavar="MOMENT", help="Any moment within it: 2026-07-20; else now."),
    ] = None,
    dry_run: DryRun = False,
    whole: Whole = False,
) -> None:
    """Make one record of the notes of a day, week or month, in place of the notes.

    Covered are notes, dialogue, states and actions; facts, decisions and the like stand for themselves.

    Examples:
        sfams digest --dry-run --whole
        sfams digest --period day
        sfams digest --period month --now 2026-07-20 --json
    """
    with run.memory() as memory:
        report = memory.digest(period.value, now=now, dry_run=dry_run)
    _show(run, report, whole=whole)


def _show(run: Run, report: SummaryReport, *, whole: bool) -> None:
    rows = [
        [
            each.summary_id or ("would be" if not each.reason else "left alone"),
            f"{each.by} {each.on}".strip(),
            str(len(each.members)),
            f"{each.tokens_before} -> {each.tokens_after}" if not each.reason else "",
            each.reason or _text(each, whole=whole),
        ]
        for each in report.summaries
    ]
    heads = ["summary", "on", "of", "tokens", "text"]
    shown: list[RenderableType] = [table(heads, rows)] if rows else []
    shown.append(line(_told(report)))
    run.out.result(summaries_json(report), *shown)
    for reason, number in Counter(report.left.values()).most_common():
        run.out.note(f"Left as they are: {number} ({reason}).")
    if report.refused:
        run.out.note(f"{report.refused} text(s) of the summarizer were refused; see --json.")
    if report.made and not report.dry_run:
        run.out.note(f"Undo: sfams summarize --undo {report.made[0].summary_id}")


def _text(summary: Summary, *, whole: bool) -> str:
    if summary.sensitive:
        return masked_text(summary.content)
    if whole:
        return summary.content
    return clip(visible(" ".join(summary.content.split())), PREVIEW)


def _told(report: SummaryReport) -> str:
    sources = sum(len(each.members) for each in report.made)
    done = "Would make" if report.dry_run else "Made"
    return f"{done} {len(report.made)} of {sources} memories."


def sources(
    run: Run,
    record_id: Annotated[str, Argument(metavar="ID", help="A summary's id.", show_default=False)],
) -> None:
    """Show what a record was made from: the originals of a summary or digest, oldest first.

    Examples:
        sfams sources 019e2f1b-0c11-7000-9c55-2f1a4cbb9a10
    """
    with run.memory() as memory:
        found = memory.sources(record_id)
    rows = [[each.id, moment(each.created_at), each.status.value, preview(each)] for each in found]
    document = {"id": record_id, "sources": [record_to_wire(each) for each in found]}
    if not rows:
        run.out.result(document, line("Made from no other memory."))
        return
    run.out.result(document, table(["id", "said", "status", "text"], rows))
