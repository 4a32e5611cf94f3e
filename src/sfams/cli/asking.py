"""plan-request: "forget what I said about X" as a plan to read, carry out and undo."""

from __future__ import annotations

from typing import Annotated

from rich.console import RenderableType
from typer import Argument, Option, Typer

from sfams.cli.output import line, preview, table
from sfams.cli.run import Run, add
from sfams.cli.shapes import plan_json
from sfams.core.plan import ForgettingPlan
from sfams.core.record import MemoryRecord, RecordId


def register(app: Typer) -> None:
    """Add the command."""
    add(app, plan_request, "plan-request", panel="Forgetting")


def plan_request(
    run: Run,
    request: Annotated[str, Argument(help="What somebody wants forgotten, in their words.")],
    who: Annotated[str | None, Option("--who", help="Who asks.")] = None,
    session: Annotated[
        str | None, Option("--session", help="In which conversation they ask.")
    ] = None,
) -> None:
    """Plan what a sentence asks to forget, and save the plan. Changes no memory; `forget` carries it out.

    Understood are English and Chinese requests at the beginning of a sentence; "don't forget" is none.

    Examples:
        sfams plan-request "forget what I said about Viktor" --who Alice
        sfams plan-request "别记这个" --session chat-7
        sfams plan-request "delete everything about alice@example.com" --json
    """
    with run.memory() as memory:
        made = memory.plan_request(request, who=who, session=session)
        if made is None:
            run.out.result({"plan_id": None, "steps": []}, line("No request to forget."))
            return
        records = {step.record_id: memory.get(step.record_id) for step in made.steps}
    texts = {each: preview(record) for each, record in records.items()}
    run.out.result(plan_json(made, records, texts), *_shown(made, records))
    run.out.note(f"Next: sfams forget {made.id}" if len(made.steps) else "Nothing to forget.")


def _shown(made: ForgettingPlan, records: dict[RecordId, MemoryRecord]) -> list[RenderableType]:
    shown: list[RenderableType] = []
    if records:
        rows = [[each.kind, each.id, preview(each)] for each in records.values()]
        shown.append(table(["kind", "id", "text"], rows))
    if made.skipped:
        shown.append(table(["stays", "because"], made.skipped.items()))
    return [*shown, line(f"Plan {made.id}: {len(records)} to delete.")]
