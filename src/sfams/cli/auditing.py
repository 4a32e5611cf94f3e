"""audit: judge a sample of what plans forgot."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option, Typer

from sfams.cli.output import line, moment, preview, table
from sfams.cli.run import Run, add
from sfams.cli.shapes import ghost_json
from sfams.core.ghosts import Mark
from sfams.errors import InvalidInputError
from sfams.service.auditing import Audited


def register(app: Typer) -> None:
    """Add the command."""
    add(app, audit, "audit", panel="Forgetting")


def audit(
    run: Run,
    verdict: Annotated[
        str | None, Argument(metavar="right|wrong", help="With --mark.", show_default=False)
    ] = None,
    mark: Annotated[
        str | None, Option("--mark", metavar="ID", help="The memory that is judged.")
    ] = None,
    n: Annotated[int, Option("-n", help="How many to draw.")] = 20,
    seed: Annotated[int, Option("--seed", help="Another seed draws others.")] = 0,
) -> None:
    """Draw memories that plans forgot, or mark one right or wrong; `stats` shows the rate.

    Examples:
        sfams audit -n 10 --seed 3
        sfams audit --mark 019e2f1a-a827-7000-a8e3-25946badddbe wrong
    """
    if (mark is None) != (verdict is None):
        message = "audit: give --mark ID together with right or wrong"
        raise InvalidInputError(message, field="mark")
    with run.memory() as memory:
        if mark is not None and verdict is not None:
            ghost = memory.mark(mark, verdict)
            run.out.result(ghost_json(ghost), line(f"Marked {ghost.record_id} {ghost.mark}."))
            if ghost.mark is Mark.WRONG:
                run.out.note(f"Bring it back: sfams restore --id {ghost.record_id}")
            return
        drawn = memory.audit(n, seed=seed)
    rows = [
        [
            each.ghost.record_id,
            moment(each.ghost.at),
            f"{each.ghost.action}: {each.ghost.reason}",
            each.ghost.mark or "",
            _text(each),
        ]
        for each in drawn
    ]
    shown = [table(["id", "forgotten", "why", "mark", "text"], rows)] if rows else []
    run.out.result({"sample": [_json(each) for each in drawn]}, *shown)
    run.out.note("Next: sfams audit --mark ID right|wrong" if rows else "No plan forgot anything.")


def _text(each: Audited) -> str:
    return "(purged)" if each.record is None else preview(each.record)


def _json(each: Audited) -> dict[str, object]:
    shown = None if each.record is None else preview(each.record)
    return {**ghost_json(each.ghost), "text": shown, "restorable": each.restorable}
