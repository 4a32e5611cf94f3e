"""init and doctor: the file itself."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType
from typer import Option, Typer

from sfams.cli.exits import PROBLEMS
from sfams.cli.output import line, pairs, table
from sfams.cli.run import IN_MEMORY, Run, add
from sfams.cli.shapes import checkup_json
from sfams.service.health import Checkup


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, init, "init", panel="The file")
    add(app, doctor, "doctor", panel="The file")


def init(run: Run) -> None:
    """Make the file that holds the memory. One that is there already stays as it is.

    Examples:
        sfams init
        sfams --db agent.db --scope acme/alice --embedder hashing init
    """
    settings = run.settings()
    in_memory = str(settings.db) == IN_MEMORY
    existed = not in_memory and settings.db.exists() and settings.db.stat().st_size > 0
    with run.memory(create=True) as memory:
        scope = str(memory.scope)
    place = IN_MEMORY if in_memory else str(settings.db.absolute())
    run.out.result(
        {"db": place, "created": not existed, "scope": scope, "embedder": settings.embedder},
        line("There is a memory already: " if existed else "Made a memory: ", place),
        pairs([("scope", scope), ("embedder", settings.embedder)]),
    )


def doctor(
    run: Run,
    repair: Annotated[bool, Option("--repair", help="Mend what can be mended.")] = False,
) -> None:
    """Look for damage in the whole file: exit code 1 if a problem is left.

    Examples:
        sfams doctor
        sfams doctor --repair --json
    """
    with run.memory() as memory:
        checkup = memory.doctor(repair=repair)
    run.out.warn(checkup.warnings)
    run.out.result(checkup_json(checkup), *_shown(checkup))
    if not checkup.healthy:
        raise typer.Exit(PROBLEMS)


def _shown(checkup: Checkup) -> list[RenderableType]:
    mended = checkup.repaired + checkup.embedded
    shown: list[RenderableType] = []
    if mended:
        shown.append(line(f"Mended {checkup.repaired}, embedded {checkup.embedded}."))
    if checkup.healthy:
        return [*shown, line("Healthy: no problems found.")]
    rows = [
        (problem.check, str(problem.scope or ""), problem.repair or "-", problem.message)
        for problem in checkup.problems
    ]
    return [*shown, table(["check", "scope", "--repair would", "problem"], rows)]
