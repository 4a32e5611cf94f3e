"""policy: which rules hold in a scope, and other ones."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option, Typer

from sfams.cli.output import line, table
from sfams.cli.policy_files import read
from sfams.cli.run import Run, add
from sfams.cli.simulating import simulate
from sfams.core.policy_json import policy_to_json
from sfams.core.policy_toml import policy_to_toml
from sfams.core.record import JsonValue
from sfams.errors import InvalidInputError
from sfams.service.policies import InForce

Named = Annotated[str, Argument(metavar="POLICY", help="A preset, or a TOML file.")]
_IN_FORCE = "in-force"


def register(app: Typer) -> None:
    """Add the commands."""
    group = Typer(no_args_is_help=True, help="Show, set, compare and try retention policies.")
    add(group, show, "show", panel="Policies")
    add(group, set_, "set", panel="Policies")
    add(group, diff, "diff", panel="Policies")
    add(group, simulate, "simulate", panel="Policies")
    app.add_typer(group, name="policy", rich_help_panel="Forgetting")


def show(
    run: Run,
    named: Annotated[
        str | None,
        Argument(metavar="POLICY", help="A preset or TOML file; else the one in force."),
    ] = None,
) -> None:
    """Print a policy as TOML: the one that holds in this scope, a preset, or a file with all defaults.

    Examples:
        sfams policy show
        sfams policy show long-research > policy.toml
    """
    found = _in_force(run) if named is None else InForce(read(named))
    run.out.result(_json(found), line(policy_to_toml(found.policy).rstrip()))
    if named is None:
        run.out.note(f"From {_source(found)}.")


def set_(
    run: Run,
    named: Annotated[
        str | None, Argument(metavar="POLICY", help="A preset, or a TOML file.")
    ] = None,
    unset: Annotated[
        bool, Option("--unset", help="Take the scope's own policy away: what is above it holds.")
    ] = False,
) -> None:
    """Set the policy of this scope and of what is below it. It holds from the next run on.

    Examples:
        sfams policy set fast-campaign --scope acme/spring-sale
        sfams policy set policy.toml
        sfams policy set --unset
    """
    if (named is None) != unset:
        message = "policy set: give a preset or a file, or --unset"
        raise InvalidInputError(message, field="policy")
    with run.memory() as memory:
        found = memory.set_policy(None if named is None else read(named))
    told = line(f"In force: {found.policy.name}, from {_source(found)}.")
    run.out.result(_json(found), told)


def diff(run: Run, one: Named, other: Named = _IN_FORCE) -> None:
    """Show where two policies differ; the second is the one in force if it is not named.

    Examples:
        sfams policy diff fast-campaign long-research
        sfams policy diff policy.toml
    """
    first = read(one)
    second = _in_force(run).policy if other == _IN_FORCE else read(other)
    left, right = _flat(policy_to_json(first)), _flat(policy_to_json(second))
    names = [name for name in {**left, **right} if left.get(name) != right.get(name)]
    rows = [[name, _cell(left.get(name)), _cell(right.get(name))] for name in names]
    document = {"differs": {name: [left.get(name), right.get(name)] for name in names}}
    shown = [table(["field", first.name, second.name], rows)] if rows else []
    run.out.result(document, *shown)
    if not rows:
        run.out.note("No difference.")


def _in_force(run: Run) -> InForce:
    with run.memory() as memory:
        return memory.policy()


def _source(found: InForce) -> str:
    return "the settings" if found.scope is None else f"scope {found.scope}"


def _json(found: InForce) -> dict[str, object]:
    scope = None if found.scope is None else list(found.scope)
    return {"scope": scope, "policy": policy_to_json(found.policy)}


def _flat(written: dict[str, JsonValue], prefix: str = "") -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for name, value in written.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def _cell(value: JsonValue) -> str:
    return "" if value is None else str(value)
