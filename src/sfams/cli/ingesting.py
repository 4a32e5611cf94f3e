"""What `ingest` does: read chat logs, remember what they hold, report what they held back."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from rich.console import RenderableType

from sfams.bridges.chat_values import ChatLog, ChatOptions, Skipped
from sfams.bridges.chatlog import read_chatlog
from sfams.cli.exits import INVALID
from sfams.cli.output import line, table
from sfams.cli.progress import bar
from sfams.cli.run import STDIN, Run
from sfams.core.admission import Outcome
from sfams.core.draft import Draft
from sfams.core.tombstones import ERASED
from sfams.errors import InvalidInputError
from sfams.service.memory import Memory
from sfams.service.results import RememberResult

SKIPPED_SHOWN = 20


@dataclass(frozen=True, slots=True)
class _Read:
    """One file, read."""

    name: str
    log: ChatLog


def ingest_files(run: Run, files: Sequence[Path], fields: Mapping[str, Any]) -> None:
    """Read all files, then remember all they hold.

    Raises:
        InvalidInputError: A file cannot be read; nothing is stored then.
        Exit: Nothing at all was usable.
    """
    how = _chat_options(fields)
    read = [_read(path, how) for path in files]
    drafts = [draft for each in read for draft in each.log.drafts]
    results: list[RememberResult] = []
    if drafts:
        with run.memory(create=True) as memory:
            results = _remember_all(run, memory, drafts)
    _report(run, read, results)
    if not drafts:
        raise typer.Exit(INVALID)


def _chat_options(fields: Mapping[str, Any]) -> ChatOptions:
    if "timezone" not in fields:
        return ChatOptions(**fields)
    return ChatOptions(**{**fields, "timezone": _zone(fields["timezone"])})


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"timezone: {name[:60]!r} is no IANA time zone such as Europe/Berlin"
        raise InvalidInputError(message, field="timezone") from error


def _read(path: Path, options: ChatOptions) -> _Read:
    if str(path) == STDIN:
        return _Read(
            "standard input", read_chatlog(sys.stdin.buffer.read(), name=STDIN, options=options)
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror}"
        raise InvalidInputError(message, field="files") from error
    try:
        return _Read(str(path), read_chatlog(data, name=path.name, options=options))
    except InvalidInputError as error:
        message = f"{path}: {error}"
        raise InvalidInputError(message, **error.context) from error


def _remember_all(run: Run, memory: Memory, drafts: Sequence[Draft]) -> list[RememberResult]:
    with bar(run.out, "Remembering", len(drafts)) as shown:
        return memory.remember_many(drafts, progress=shown.advance)


def _report(run: Run, read: Sequence[_Read], results: Sequence[RememberResult]) -> None:
    outcomes = Counter(result.outcome for result in results)
    skipped = [(each.name, item) for each in read for item in each.log.skipped]
    # What was erased is refused under the id of what was erased, what a rule refuses under none.
    refused = [each for each in results if each.outcome is Outcome.REFUSED]
    erased = sum(bool(each.id) for each in refused)
    told = [each for each in results if each.stored or not each.id]
    warnings = list(dict.fromkeys(text for each in told for text in each.warnings))
    if erased:
        warnings.append(f"{erased} not stored: {ERASED}")
    counts = {
        "added": sum(each.stored for each in results) - outcomes[Outcome.DUPLICATE],
        "known": outcomes[Outcome.DUPLICATE],
        "superseded": sum(len(result.superseded) for result in results),
        "outdated": outcomes[Outcome.OUTDATED],
        "refused": len(refused) - erased,
        "skipped": len(skipped),
        "erased": erased,
    }
    document = {
        **counts,
        "files": [
            {"name": each.name, "format": each.log.format, "drafts": len(each.log.drafts)}
            for each in read
        ],
        "skips": [{"file": name, **asdict(item)} for name, item in skipped],
        "warnings": warnings,
    }
    shown = [line(", ".join(f"{name} {count}" for name, count in counts.items()))]
    tables = [] if run.out.quiet else _skips(skipped)
    run.out.warn(warnings)
    run.out.result(document, *shown, *tables)
    if not results:
        run.out.note("Nothing usable: no message was found.")
    for each in read:
        if each.log.drafts and not any(draft.source.who for draft in each.log.drafts):
            count = len(each.log.drafts)
            run.out.note(f"{each.name}: no speakers found; stored as {count} paragraph(s).")


def _skips(skipped: Sequence[tuple[str, Skipped]]) -> list[RenderableType]:
    if not skipped:
        return []
    more = f"; the first {SKIPPED_SHOWN}" if len(skipped) > SKIPPED_SHOWN else ""
    rows = [(str(s.line), name, s.field, s.value, s.reason) for name, s in skipped[:SKIPPED_SHOWN]]
    heads = ["line", "file", "field", "value", "reason"]
    return [table(heads, rows, title=f"Skipped {len(skipped)}{more}")]
