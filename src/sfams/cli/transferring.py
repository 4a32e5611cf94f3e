"""export and import: memories as JSON lines, out and back in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Annotated, Unpack

import typer
from rich.console import RenderableType
from typer import Argument, Option, Typer

from sfams.cli.exits import INVALID
from sfams.cli.options import ExportOptions, filters, subjects
from sfams.cli.output import line, table
from sfams.cli.progress import bar
from sfams.cli.run import STDIN, Run, add
from sfams.errors import InvalidInputError
from sfams.service.memory import Memory
from sfams.service.transfer import ImportReport

REFUSED_SHOWN = 20


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, export, "export", panel="The file")
    add(app, import_, "import", panel="The file")


def export(
    run: Run,
    file: Annotated[str, Argument(help="Where to write; - is standard output.")] = STDIN,
    below: Annotated[bool, Option("--below", help="Also the scopes below this one.")] = False,
    **options: Unpack[ExportOptions],
) -> None:
    """Write memories as JSON lines: every status unless filtered, earlier versions with them.

    A file appears when it is complete, or not at all. The log and plans are not exported. With --subject
    or --identifier: all that is held on it, log and links included, as `erase` would take it.

    Examples:
        sfams export backup.jsonl
        sfams --scope acme export acme.jsonl --below
        sfams export --kind fact --tag apollo | gzip > facts.jsonl.gz
        sfams export mira.jsonl --subject Mira --identifier mira@example.com
    """
    about = bool(options.get("subject") or options.get("identifier"))
    if about and below:
        message = "export: --subject looks into one scope; run it for each of those below"
        raise InvalidInputError(message, field="below")
    with run.memory(any_model=True) as memory:
        lines = (
            memory.export_subject(**subjects(options))
            if about
            else memory.export(below=below, **filters(options))
        )
        if file == STDIN:
            for each in lines:
                run.out.write(each + "\n")
            return
        total = None if about or filters(options) else _count(memory, below=below)
        with _appearing(Path(file)) as out, bar(run.out, "Exporting", total) as shown:
            count = 0
            for each in lines:
                out.write(each + "\n")
                count += 1
                shown.advance(1)
    what = "lines" if about else "memories"
    named = {"file": file, "lines" if about else "records": count}
    run.out.result(named, line(f"Wrote {count} {what} to {file}"))


def _count(memory: Memory, *, below: bool) -> int:
    scopes = memory.scopes() if below else [memory.scope]
    return sum(count for scope in scopes for count in memory.within(scope).stats().records.values())


@contextmanager
def _appearing(path: Path) -> Iterator[IO[str]]:
    """Write beside the file and put it in its place when all is there.

    Raises:
        InvalidInputError: It cannot be written.
    """
    try:
        with NamedTemporaryFile(
            "w",
            encoding="utf-8",
            newline="\n",
            dir=path.parent,
            prefix=f".{path.name}.",
            delete=False,
        ) as out:
            try:
                yield out
                out.flush()
                os.fsync(out.fileno())
                Path(out.name).replace(path)
            except BaseException:
                Path(out.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        message = f"{path}: cannot be written: {error.strerror}"
        raise InvalidInputError(message, field="file") from error


def import_(
    run: Run,
    file: Annotated[str, Argument(help="JSON lines; - is standard input.")],
    keep_scopes: Annotated[
        bool, Option("--keep-scopes", help="Each into its own scope, this one or below it.")
    ] = False,
    erased: Annotated[
        bool, Option("--erased", help="Let texts that were erased here back in.")
    ] = False,
    no_embed: Annotated[
        bool, Option("--no-embed", help="Leave the vectors to `sfams doctor --repair`.")
    ] = False,
) -> None:
    """Take JSON lines in: an export whole, or one memory a line in a common shape.

    The same lines again add nothing. A line that cannot be taken is listed and does not stop the rest; exit
    code 2 if nothing at all was usable.

    Examples:
        sfams import backup.jsonl
        sfams --scope acme import acme.jsonl --keep-scopes
        zcat facts.jsonl.gz | sfams import - --no-embed --json
    """
    with run.memory(create=True) as memory:
        with _opened(file) as lines, bar(run.out, "Importing") as shown:
            report = memory.import_(
                lines, keep_scopes=keep_scopes, erased=erased, progress=shown.advance
            )
        embedded = 0 if no_embed else _embed(run, memory)
    _report(run, report, embedded)
    if report.refused and not report.added + report.known:
        raise typer.Exit(INVALID)


@contextmanager
def _opened(file: str) -> Iterator[Iterable[str]]:
    """Read lines as UTF-8.

    Raises:
        InvalidInputError: The file cannot be read, or is not UTF-8.
    """
    name = "standard input" if file == STDIN else file
    try:
        if file == STDIN:
            sys.stdin.reconfigure(encoding="utf-8-sig")  # type: ignore[union-attr]
            yield sys.stdin
            return
        with Path(file).open(encoding="utf-8-sig") as lines:
            yield lines
    except UnicodeDecodeError as error:
        message = f"{name}: not valid UTF-8 at byte {error.start} of what was read last"
        raise InvalidInputError(message, field="file") from error
    except OSError as error:
        raise InvalidInputError(
            f"{name}: cannot be read: {error.strerror}", field="file"
        ) from error


def _embed(run: Run, memory: Memory) -> int:
    """Make the vectors of what has come in, scope by scope."""
    scopes = [memory.within(scope) for scope in memory.scopes()]
    waiting = sum(each.stats().pending for each in scopes)
    with bar(run.out, "Embedding", waiting) as shown:
        return sum(each.embed_pending(progress=shown.advance) for each in scopes)


def _report(run: Run, report: ImportReport, embedded: int) -> None:
    document = {
        "added": report.added,
        "known": report.known,
        "superseded": report.superseded,
        "embedded": embedded,
        "refused": [
            {"line": each.line, "field": each.field, "reason": each.reason}
            for each in report.refused
        ],
        "warnings": list(report.warnings),
    }
    run.out.warn(report.warnings)
    told = f"Added {report.added}, known already {report.known}, embedded {embedded}."
    shown: list[RenderableType] = [line(told)]
    if report.refused:
        rows = [(str(r.line), r.field, r.reason) for r in report.refused[:REFUSED_SHOWN]]
        more = f"; the first {REFUSED_SHOWN}" if len(report.refused) > REFUSED_SHOWN else ""
        title = f"Refused {len(report.refused)}{more}"
        shown.append(table(["line", "field", "reason"], rows, title=title))
    run.out.result(document, *shown)
