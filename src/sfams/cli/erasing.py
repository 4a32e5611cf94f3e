"""erase, erasures, lift: a preview before, for ever, a receipt without text after, and a way back in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Unpack

import typer
from rich.console import RenderableType
from typer import Argument, Option, Typer

from sfams.cli.exits import PROBLEMS
from sfams.cli.options import SubjectOptions, subjects
from sfams.cli.output import line, moment, pairs, preview, table
from sfams.cli.run import Run, add
from sfams.cli.shapes import erased_json, erasures_json
from sfams.core.record import MemoryRecord, RecordId
from sfams.errors import InvalidInputError, NotFoundError
from sfams.service.memory import Memory
from sfams.service.results import EraseReceipt, Residue

WORD = "erase"
SHOWN = 50
RESIDUE = (
    "old pages may hold the text while a reader uses them or the disk is full; "
    "run doctor --repair later"
)
PARTS = ("summaries", "versions", "vectors", "relations", "plan_steps", "events", "entities")


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, erase, "erase", panel="Forgetting")
    add(app, erasures, "erasures", panel="Forgetting")
    add(app, lift, "lift", panel="Forgetting")


def erase(
    run: Run,
    ids: Annotated[
        list[str] | None, Argument(metavar="ID...", show_default=False, help="Record ids.")
    ] = None,
    everything: Annotated[
        bool, Option("--everything", help="All of this scope (not of those below it).")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would go.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    **options: Unpack[SubjectOptions],
) -> None:
    """Remove memories for ever, every trace, whatever their status: by id, subject, filter, or all.

    Shows first what would go, then asks for a word to be typed; where nobody can be asked it needs
    --yes. There is no way back. What was erased is not stored again until `sfams lift`.

    Examples:
        sfams erase 019e2f1a-a827-7000-a8e3-25946badddbe --yes
        sfams erase --subject "Alice Kim" --subject alice --dry-run
        sfams erase --identifier alice@example.com --identifier "+43 664 1234567"
        sfams erase --who Alice --dry-run --json
        sfams erase --everything --scope acme/alice
    """
    selection = subjects(options)
    if sum((bool(ids), everything, bool(selection))) != 1:
        message = "erase: give record ids, --subject or --identifier, filters, or --everything, one of them"
        raise InvalidInputError(message, field="ids")
    wanted = ids or None
    with run.memory() as memory:
        if dry_run or not yes:
            found = memory.erase(wanted, everything=everything, dry_run=True, **selection)
            if dry_run or not found.ids:
                _show(run, memory, found)
                return
            _agree(run, memory, found)
            if not everything:  # what was shown, and not what matches by now
                wanted, selection = list(found.ids), {}
        _show(run, memory, memory.erase(wanted, everything=everything, **selection))


def _agree(run: Run, memory: Memory, found: EraseReceipt) -> None:
    for each in _preview(memory, found):
        run.out.aside(each)
    run.out.note(f"{_count(found)} of {memory.scope} would be erased for ever.")
    run.confirm_by_typing(WORD, f"Type {WORD} to go on")


def _show(run: Run, memory: Memory, receipt: EraseReceipt) -> None:
    verb = "Would erase" if receipt.dry_run else "Erased"
    shown: list[RenderableType] = [line(f"{verb} {_count(receipt)} of {memory.scope}.")]
    if receipt.ids:
        shown += (
            _preview(memory, receipt)
            if receipt.dry_run
            else [pairs(_proof(receipt)), pairs(_numbers(receipt))]
        )
    document = erased_json(receipt)
    if receipt.dry_run:
        document["previews"] = {
            record.id: preview(record) for record in _records(memory, receipt.ids)
        }
    run.out.result(document, *shown)
    if receipt.ids and receipt.residue is Residue.PENDING and not receipt.dry_run:
        run.out.warn([RESIDUE])
    if receipt.ids and not receipt.dry_run:
        run.out.note(f"Not reached: {', '.join(receipt.out_of_reach)}.")


def _preview(memory: Memory, found: EraseReceipt) -> list[RenderableType]:
    """Show what would go: texts, then what hangs on them, then what only resembles it."""
    shown: list[RenderableType] = []
    for title, ids in (
        ("", found.ids),
        ("Summaries made from it, which go too", found.withdrawn),
        ("Unsure: these stay; name them by id or by another --subject", found.unsure),
    ):
        rows = [[r.id, r.status, preview(r)] for r in _records(memory, ids[:SHOWN])]
        if rows:
            more = f" (the first {SHOWN} of {len(ids)})" if len(ids) > SHOWN else ""
            shown.append(table(["id", "status", "text"], rows, title=title + more))
    return [*shown, pairs(_numbers(found))]


def _records(memory: Memory, ids: Iterable[RecordId]) -> list[MemoryRecord]:
    found = []
    for record_id in ids:
        try:
            found.append(memory.get(record_id))
        except NotFoundError:  # gone since
            continue
    return found


def _numbers(receipt: EraseReceipt) -> list[tuple[str, object]]:
    counts = [
        (name.replace("_", " "), receipt.reach[name]) for name in PARTS if receipt.reach[name]
    ]
    revived = sum(map(len, receipt.revived))
    rows: list[tuple[str, object]] = [*counts]
    if revived:
        rows.append(("live again", revived))
    if receipt.number:
        rows += [
            ("residue", receipt.residue.value),
            ("receipt", receipt.number),
            ("seal", receipt.seal),
        ]
    return rows


def _proof(receipt: EraseReceipt) -> zip[tuple[str, str]]:
    return zip(receipt.ids, receipt.hashes, strict=True)


def _count(receipt: EraseReceipt) -> str:
    return f"{len(receipt.ids)} memor{'y' if len(receipt.ids) == 1 else 'ies'}"


def erasures(run: Run) -> None:
    """List the receipts of all erasures in this scope and check their chain; exit code 1 if it is broken.

    With a key (SFAMS_RECEIPT_KEY) the signatures are checked too. Keep the newest seal elsewhere: it
    shows later whether the end of the chain was cut off.

    Examples:
        sfams erasures
        sfams erasures --scope acme/alice --json
    """
    with run.memory(any_model=True) as memory:
        log = memory.erasures()
    rows = [
        [str(each.number), moment(each.at), str(each.count), each.residue.value, each.seal]
        for each in log
    ]
    shown: list[RenderableType] = [line(f"{len(log)} erasure{'' if len(log) == 1 else 's'}.")]
    if rows:
        shown.insert(0, table(["no", "at", "records", "residue", "seal"], rows))
    run.out.result(erasures_json(log), *shown)
    run.out.warn(log.problems)
    if log.problems:
        raise typer.Exit(PROBLEMS)


def lift(
    run: Run,
    what: Annotated[str, Argument(metavar="ID|TEXT", help="The erased record's id, or its text.")],
) -> None:
    """Let an erased text be stored again. Nothing comes back by this: it has to be told anew.

    Examples:
        sfams lift 019e2f1a-a827-7000-a8e3-25946badddbe
        sfams lift "Alice lives in Graz."
    """
    with run.memory(any_model=True) as memory:
        lifted = memory.lift(what)
    run.out.result({"lifted": list(lifted)}, line(f"Lifted {', '.join(lifted)}."))
