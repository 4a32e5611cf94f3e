"""remember and ingest: texts and chat logs on their way in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypedDict, Unpack

import typer
from typer import Argument, Option, Typer

from sfams.cli.exits import exit_code
from sfams.cli.options import RememberOptions, given
from sfams.cli.output import line
from sfams.cli.run import STDIN, Run, add
from sfams.cli.shapes import remembered_json
from sfams.core.admission import Outcome
from sfams.errors import ConflictError, InvalidInputError
from sfams.service.results import RememberResult


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, remember, "remember", panel="Remembering")
    add(app, ingest, "ingest", panel="Remembering")


def remember(
    run: Run,
    text: Annotated[str, Argument(help="The text, or - to read it from standard input.")],
    no_wait: Annotated[
        bool, Option("--no-wait", help="Answer when the text is safe; its vector follows.")
    ] = False,
    **options: Unpack[RememberOptions],
) -> None:
    """Store one text. One that is known already is not stored again.

    One that was erased here is refused with exit code 5, until `sfams lift` lets it back in.

    Examples:
        sfams remember "The demo moves to 1 November." --kind deadline --importance 0.9
        sfams remember "Alice prefers tea." --who Alice --entity person:Alice --tag taste
        sfams remember "Beta is due on 4 May." --subject beta --attribute date --value 2026-05-04
        echo "Long note" | sfams remember - --ttl 30d --meta ticket=88
    """
    content = _stdin_text() if text == STDIN else text
    fields = given(options)
    with run.memory(create=True) as memory:
        result = memory.remember(content, wait=not no_wait, **fields)
        # Shown before the memory closes: with --no-wait the vector is made in between.
        run.out.warn(result.warnings)
        if not result.stored:
            run.out.result(remembered_json(result))
            raise typer.Exit(exit_code(ConflictError()))
        shown = line(result.id) if run.out.quiet else line(*_told(result))
        run.out.result(remembered_json(result), shown)


def _stdin_text() -> str:
    """Read standard input as UTF-8; the line end that `echo` adds is not part of the text."""
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"standard input is not valid UTF-8 at byte {error.start}"
        raise InvalidInputError(message, field="content") from error
    return text.removesuffix("\n").removesuffix("\r")


def _told(result: RememberResult) -> list[str | tuple[str, str]]:
    """Say what became of a text."""
    known = result.outcome is Outcome.DUPLICATE
    told: list[str | tuple[str, str]] = ["Known already: " if known else "Stored "]
    told.append((result.id, "bold"))
    if result.outcome is Outcome.OUTDATED:
        told.append(" as outdated: a newer one stands")
    if result.superseded:
        told.append(f"; supersedes {', '.join(result.superseded)}")
    if result.twin is not None:
        told.append(f" (much like {result.twin.id}, {result.twin.similarity:.2f})")
    if not result.embedded and not result.warnings:
        told.append("; its vector follows")
    return told


class IngestOptions(TypedDict, total=False):
    """How to read chat logs."""

    timezone: Annotated[
        str | None,
        Option("--timezone", metavar="IANA", help="Where times without a zone were written (UTC)."),
    ]
    session: Annotated[
        str | None, Option("--session", help="Conversation of messages that name none.")
    ]
    format: Annotated[
        str | None, Option("--format", help="Format of the files; auto looks at the content.")
    ]


def ingest(
    run: Run,
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE...",
            help="Chat logs; - is standard input.",
        ),
    ],
    **options: Unpack[IngestOptions],
) -> None:
    """Take chat logs in, as far as they can be read; the same file again adds nothing.

    All files are read before the first text is stored. Lines that could not be taken are listed and
    do not stop the rest; exit code 2 if nothing at all was usable.

    Examples:
        sfams ingest chat.txt --timezone Europe/Berlin
        sfams ingest *.jsonl --session kickoff --json
        cat export.json | sfams ingest -
    """
    # The readers of chat logs are many; commands that read none start without them.
    from sfams.cli.ingesting import ingest_files

    ingest_files(run, files, given(options))
