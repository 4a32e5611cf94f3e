"""The command `sfams`: its commands, and `main`."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from typing import Annotated, Any, NoReturn, Unpack

import typer
from typer.core import TyperGroup

from sfams.cli import (
    asking,
    auditing,
    benching,
    erasing,
    forgetting,
    policies,
    protecting,
    reading,
    remembering,
    reviewing,
    sensitive,
    sessions,
    storing,
    summarizing,
    transferring,
    tuning,
)
from sfams.cli import demo as demo_command
from sfams.cli.exits import guarded
from sfams.cli.options import Everywhere
from sfams.cli.run import add_root


class Face(TyperGroup):
    """The group of commands; whatever goes wrong in it ends in the one table of `exits`."""

    def main(  # type: ignore[override]  # narrower than a library needs: we are the program
        self,
        args: Sequence[str] | None = None,
        **extra: Any,  # noqa: ANN401  # typer's own
    ) -> NoReturn:
        """Run and exit."""
        given = list(sys.argv[1:] if args is None else args)
        flags = set(takewhile(lambda each: each != "--", given))
        extra["standalone_mode"] = False
        run = super().main
        sys.exit(
            guarded(
                lambda: run(given, **extra), as_json="--json" in flags, debug="--debug" in flags
            )
        )


app = typer.Typer(
    cls=Face,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        typer.echo(f"sfams {version('sf-ams')}")
    except PackageNotFoundError:
        typer.echo("sfams (run from its sources)")
    raise typer.Exit


def root(
    ctx: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
    **options: Unpack[Everywhere],
) -> None:
    """Long-term memory for agents: remember, recall, and forget by a plan that can be undone."""
    ctx.obj = options


add_root(app, root)
for family in (
    remembering,
    sessions,
    reading,
    forgetting,
    reviewing,
    policies,
    summarizing,
    asking,
    auditing,
    erasing,
    protecting,
    sensitive,
    storing,
    transferring,
):
    family.register(app)
demo_command.register(app)
benching.register(app)
tuning.register(app)


def main() -> NoReturn:
    """Run `sfams` with this process's arguments and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    app(prog_name="sfams")
    raise AssertionError  # `Face.main` has left by now
