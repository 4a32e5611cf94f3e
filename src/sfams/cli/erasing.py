"""erase: for ever, with a preview before and a receipt without text after."""

from __future__ import annotations

from typing import Annotated, Unpack

from typer import Argument, Option, Typer

from sfams.cli.options import FilterOptions, filters
from sfams.cli.output import line, pairs
from sfams.cli.run import Run, add
from sfams.cli.shapes import erased_json
from sfams.errors import InvalidInputError
from sfams.service.memory import Memory
from sfams.service.results import EraseReceipt, Residue

WORD = "erase"
RESIDUE = (
    "old pages may hold the text while a reader uses them or the disk is full; "
    "run doctor --repair later"
)


def register(app: Typer) -> None:
    """Add the command."""
    add(app, erase, "erase", panel="Forgetting")


def erase(
    run: Run,
    ids: Annotated[
        list[str] | None, Argument(metavar="ID...", show_default=False, help="Record ids.")
    ] = None,
    everything: Annotated[
        bool, Option("--everything", help="All of this scope (not of those below it).")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only tell what would go.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    **options: Unpack[FilterOptions],
) -> None:
    """Remove memories for ever, every trace, whatever their status: by id, by filter, or all.

    Tells first how many there are, then asks for a word to be typed; where nobody can be asked it
    needs --yes. There is no way back.

    Examples:
        sfams erase 019e2f1a-a827-7000-a8e3-25946badddbe --yes
        sfams erase --who Alice --dry-run
        sfams erase --everything --scope acme/alice
    """
    selection = filters(options)
    if sum((bool(ids), everything, bool(selection))) != 1:
        message = "erase: give record ids, filters or --everything, one of them"
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
    run.out.note(f"{_count(found)} of {memory.scope} would be erased for ever.")
    run.confirm_by_typing(WORD, f"Type {WORD} to go on")


def _show(run: Run, memory: Memory, receipt: EraseReceipt) -> None:
    verb = "Would erase" if receipt.dry_run else "Erased"
    rows = [(each, "" if receipt.dry_run else digest) for each, digest in _proof(receipt)]
    shown = [pairs(rows)] if rows else []
    run.out.result(
        erased_json(receipt), line(f"{verb} {_count(receipt)} of {memory.scope}."), *shown
    )
    if receipt.residue is Residue.PENDING:
        run.out.warn([RESIDUE])


def _proof(receipt: EraseReceipt) -> zip[tuple[str, str]]:
    return zip(receipt.ids, receipt.hashes, strict=True)


def _count(receipt: EraseReceipt) -> str:
    return f"{len(receipt.ids)} memor{'y' if len(receipt.ids) == 1 else 'ies'}"
