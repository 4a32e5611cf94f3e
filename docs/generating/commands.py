"""The reference of the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import typer

from generating.markdown import code, table
from sfams.cli.app import app
from sfams.cli.forgetting import Taking
from sfams.core.query import Mode, Order
from sfams.core.record import Tier

_SHARED = ("Everywhere", "Which memories")

_FILTERS = """\
The filters of `recall`, `context`, `ls` and `erase`. `erase` reaches every status, and expired
memories too, so it has neither `--status` nor `--expired`.
"""

_FREE = ("install_completion", "show_completion", "help")

_CHOICES: dict[str, Iterable[str]] = {"action": Taking, "mode": Mode, "order": Order, "tier": Tier}


def commands() -> str:
    """List every command with its help and its own options, and shared options once."""
    group: Any = typer.main.get_command(app)
    every = dict(listed(group))
    shared: dict[str, dict[str, Any]] = {panel: {} for panel in _SHARED}
    parts = []
    for name, command in every.items():
        own = []
        for each in command.params:
            panel = getattr(each, "rich_help_panel", None)
            if panel in shared:
                shared[panel][each.name] = each
            elif each.name not in _FREE:
                own.append(each)
        panels = {getattr(each, "rich_help_panel", None) for each in command.params}
        parts.append(_command(name, command, own, filtered=_SHARED[1] in panels))
    head = [
        "### Everywhere\n\nBefore or after the name of a command.\n",
        _options([*shared["Everywhere"].values(), *_root_only(group)]),
        f"### Which memories\n\n{_FILTERS}\n",
        _options(shared["Which memories"].values()),
    ]
    overview = table(
        ["command", "what it does"],
        [(f"[{name}](#{name.replace(' ', '-')})", _help(each)) for name, each in every.items()],
    )
    return "\n".join([overview, *parts, *head])


def listed(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401  # as below
    """Give every command with its full name; a group gives those in it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from listed(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _root_only(group: Any) -> Iterator[Any]:  # noqa: ANN401  # typer's own classes have moved about
    return (each for each in group.params if each.name == "version")


def _help(command: Any) -> str:  # noqa: ANN401  # as above
    return " ".join((command.help or "").partition("\n\n")[0].split())


def _command(name: str, command: Any, own: Sequence[Any], *, filtered: bool) -> str:  # noqa: ANN401
    arguments = [each for each in own if each.param_type_name == "argument"]
    usage_line = " ".join([f"sfams {name}", *(_place(each) for each in arguments), "[options]"])
    lines = [f"### {name}\n", f"`{usage_line}`\n", f"{_help(command)}\n"]
    options = [each for each in own if each.param_type_name == "option"]
    if options:
        lines.append(_options(options))
    if filtered:
        lines.append("And the filters of [Which memories](#which-memories).\n")
    return "\n".join(lines)


def _place(argument: Any) -> str:  # noqa: ANN401  # as above
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _options(options: Iterable[Any]) -> str:
    return table(["option", "meaning"], [(_spelling(each), _meaning(each)) for each in options])


def _spelling(option: Any) -> str:  # noqa: ANN401  # as above
    value = f" `{option.metavar}`" if option.metavar else ""
    return ", ".join(map(code, option.opts)) + value


def _meaning(option: Any) -> str:  # noqa: ANN401  # as above
    choices = ", ".join(_CHOICES.get(option.name, ()))
    return f"{option.help or ''}{f' One of {choices}.' if choices else ''}"
