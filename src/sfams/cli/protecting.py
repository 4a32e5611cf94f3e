"""pin and hold: what no plan, or nothing at all, may take."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option, Typer

from sfams.cli.output import line
from sfams.cli.run import Run, add
from sfams.cli.shapes import receipt_json

Ids = Annotated[list[str], Argument(metavar="ID...", help="Record ids.")]


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, pin, "pin", panel="Protecting")
    add(app, hold, "hold", panel="Protecting")


def pin(
    run: Run, ids: Ids, off: Annotated[bool, Option("--off", help="Lift the pins.")] = False
) -> None:
    """Keep memories out of every plan; expiry included.

    Examples:
        sfams pin 019e2f1a-a827-7000-a8e3-25946badddbe
        sfams pin --off 019e2f1a-a827-7000-a8e3-25946badddbe
    """
    with run.memory() as memory:
        receipt = memory.unpin(ids) if off else memory.pin(ids)
    done = {"pinned": not off, "ids": ids}
    run.out.result(
        receipt_json(receipt) | done, line("Unpinned " if off else "Pinned ", _count(ids))
    )


def hold(
    run: Run,
    ids: Ids,
    owner: Annotated[str, Option("--owner", help="Who wants it kept.")] = "",
    reason: Annotated[str, Option("--reason", help="What for.")] = "",
    until: Annotated[
        str | None,
        Option("--until", metavar="MOMENT", help="When it lapses: 2027-01-01; else never."),
    ] = None,
    release: Annotated[bool, Option("--release", "--off", help="Lift the holds.")] = False,
) -> None:
    """Forbid any removal, erasure included, until released or until a moment.

    Examples:
        sfams hold 019e2f1a-a827-7000-a8e3-25946badddbe --owner legal --reason "case 7"
        sfams hold 019e2f1a-a827-7000-a8e3-25946badddbe --until 2027-01-01
        sfams hold --release 019e2f1a-a827-7000-a8e3-25946badddbe
    """
    with run.memory() as memory:
        if release:
            receipt = memory.release(ids)
        else:
            receipt = memory.hold(ids, owner=owner, reason=reason, until=until)
    done = {"held": not release, "ids": ids}
    run.out.result(
        receipt_json(receipt) | done, line("Released " if release else "Held ", _count(ids))
    )


def _count(ids: list[str]) -> str:
    return f"{len(set(ids))} memor{'y' if len(set(ids)) == 1 else 'ies'}"
