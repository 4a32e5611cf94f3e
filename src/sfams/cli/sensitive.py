"""sensitive: what a scope does with cards, passwords and codes."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option, Typer

from sfams.cli.output import line
from sfams.cli.run import Run, add
from sfams.core.sensitivity import SensitiveRule
from sfams.errors import InvalidInputError


def register(app: Typer) -> None:
    """Add the command."""
    add(app, sensitive, "sensitive", panel="Protecting")


def sensitive(
    run: Run,
    rule: Annotated[
        SensitiveRule | None, Argument(help="What to do from now on.", show_default=False)
    ] = None,
    inherit: Annotated[
        bool, Option("--inherit", help="Have no rule here: the one above holds again.")
    ] = False,
) -> None:
    """Show or set what a scope, and those below it, do with what is sensitive in a text.

    store keeps it and masks it in previews; redact stores masks in its place; refuse stores nothing of the
    text. What is stored already stays as it is.

    Examples:
        sfams sensitive
        sfams sensitive redact --scope acme
        sfams sensitive --inherit --scope acme/alice
    """
    if inherit and rule is not None:
        message = "sensitive: give a rule or --inherit, one of them"
        raise InvalidInputError(message, field="rule")
    with run.memory(create=rule is not None) as memory:
        if inherit or rule is not None:
            memory.set_sensitive_rule(rule)
        holds, scope = memory.sensitive_rule(), str(memory.scope)
    run.out.result({"scope": scope, "rule": holds.value}, line(f"{scope}: ", (holds.value, "bold")))
