"""init, doctor and reindex: the file itself."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType
from typer import Option, Typer

from sfams import bootstrap
from sfams.cli.exits import PROBLEMS
from sfams.cli.output import line, pairs, table
from sfams.cli.progress import bar
from sfams.cli.run import IN_MEMORY, Run, add, require_file
from sfams.cli.shapes import checkup_json
from sfams.service.health import Checkup


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, init, "init", panel="The file")
    add(app, doctor, "doctor", panel="The file")
    add(app, reindex, "reindex", panel="The file")


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
    with run.memory(any_model=True) as memory:
        checkup = memory.doctor(repair=repair)
    run.out.warn(checkup.warnings)
    run.out.result(checkup_json(checkup), *_shown(checkup))
    if not checkup.healthy:
        raise typer.Exit(PROBLEMS)


def reindex(
    run: Run,
    force: Annotated[
        bool, Option("--force", help="Also where vectors and keywords fit already.")
    ] = False,
) -> None:
    """Make the vectors of the whole file anew, with the embedder of --embedder.

    Others may read and write meanwhile; the old vectors serve until the last new one is there. Stopped
    half way, the next run goes on.

    Examples:
        sfams reindex
        sfams --embedder hashing reindex
        sfams reindex --force --json
    """
    settings = run.settings()
    require_file(settings)
    with bar(run.out, "Embedding") as shown:
        report = bootstrap.reindex(
            settings.db,
            embedder=bootstrap.make_embedder(settings.embedder, settings),
            force=force,
            progress=shown.reach,
        )
    model = f"{report.model} ({report.dimension} dimensions)"
    said = f"Made {report.embedded} of {report.records} vectors with {model}."
    if not report.changed:
        said = f"Nothing to do: the vectors are from {model}; --force makes them anew."
    run.out.result(
        asdict(report),
        line(said),
        pairs(
            [
                ("model before", report.before or "none"),
                ("texts without a usable vector", str(report.failed)),
                ("keyword entries made anew", str(report.keywords)),
            ]
        ),
    )


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
