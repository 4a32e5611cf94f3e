"""From a function to a command: its options, its memory, its output.

A command is `function(run, ..., **options: Unpack[SomeOptions])`, as a verb of `Memory` is (ADR 0001):
at most six parameters, the rest declared in a TypedDict. Typer wants one parameter per option, so
`add` shows it the TypedDict's fields as parameters, and those of `Everywhere` behind them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast, get_args, get_type_hints

import typer

from sfams.bootstrap import build
from sfams.cli.exits import quiet_pipe
from sfams.cli.options import Everywhere
from sfams.cli.output import Output
from sfams.core.text import find_surrogate
from sfams.errors import InvalidInputError, NotFoundError
from sfams.service.memory import Memory
from sfams.settings import Settings, load_settings

Command = Callable[..., None]
IN_MEMORY = ":memory:"
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command: where its memory is and where its answer goes."""

    options: Everywhere
    out: Output

    def settings(self, **more: object) -> Settings:
        """Read the settings; the options of the command line win."""
        named = {name: self.options.get(name) for name in ("db", "scope", "embedder")}
        return load_settings(**named, **more)

    @contextmanager
    def memory(
        self, *, create: bool = False, any_model: bool = False, **more: object
    ) -> Iterator[Memory]:
        """Open the memory. Only what adds something makes a new file; only care opens another model's.

        Raises:
            ModelMismatchError: The vectors in the file are from another embedding model.
            NotFoundError: There is no such file and the command would have nothing to do in one.
        """
        settings = self.settings(**more)
        if not create:
            require_file(settings)
        with build(settings, any_model=any_model) as memory:
            yield memory

    def confirm(self, question: str) -> None:
        """Ask on a terminal; without one, refuse: the caller must say --yes.

        Raises:
            InvalidInputError: There is nobody to ask.
            Abort: The answer was no.
        """
        self._need_somebody()
        typer.confirm(question, err=True, abort=True)

    def confirm_by_typing(self, word: str, question: str) -> None:
        """Ask for a word, where a slip of the finger must not be enough; else as `confirm`."""
        self._need_somebody()
        if typer.prompt(question, err=True).strip() != word:
            raise typer.Abort

    def _need_somebody(self) -> None:
        if self.out.as_json or not interactive():
            message = "needs a confirmation and nobody can be asked here; say --yes"
            raise InvalidInputError(message, field="yes")


def require_file(settings: Settings) -> None:
    """Refuse to look into a file that is not there."""
    if str(settings.db) != IN_MEMORY and not settings.db.exists():
        message = f"there is no memory at {settings.db}; `sfams init` or `sfams remember` makes one"
        raise NotFoundError(message, db=str(settings.db))


def interactive() -> bool:
    """Tell whether somebody is there to be asked."""
    return sys.stdin.isatty()


def add(app: typer.Typer, function: Command, name: str, *, panel: str) -> None:
    """Make a function a command of the app."""

    def command(ctx: typer.Context, **values: Any) -> None:  # noqa: ANN401  # whatever typer read
        own = {each: values.pop(each) for each in Everywhere.__annotations__}
        options = merge(ctx.obj or {}, own)
        for each, value in (*values.items(), *options.items()):
            _refuse_surrogates(each, value)
        out = Output(as_json=options.get("as_json", False), quiet=options.get("quiet", False))
        with quiet_pipe():
            function(Run(options, out), **values)

    _show_as(command, [*_parameters(function)[1:], *_fields(Everywhere)])
    command.__doc__ = function.__doc__
    app.command(name, rich_help_panel=panel)(command)


def add_root(app: typer.Typer, function: Command) -> None:
    """Make a function what runs before every command; it takes the options of `Everywhere`."""
    _show_as(function, _parameters(function)[1:])
    app.callback()(function)


def merge(before: Mapping[str, Any], after: Mapping[str, Any]) -> Everywhere:
    """Join the options before and after a command's name: the later win, flags add up."""
    # An empty text is an answer, and a wrong one (an unset shell variable): it must not fall back.
    merged = dict(before) | {n: v for n, v in after.items() if v is not None and v is not False}
    known = Everywhere.__annotations__
    return cast("Everywhere", {n: v for n, v in merged.items() if n in known and v is not None})


def _show_as(function: Command, parameters: list[inspect.Parameter]) -> None:
    """Give a function the signature that typer reads: a context, then these."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    context = inspect.Parameter("ctx", kind, annotation=typer.Context)
    shown = [context, *(each.replace(kind=kind) for each in parameters)]
    # Typer passes all by name, so the order only matters to `Signature`: those with defaults last.
    shown.sort(key=lambda each: each.default is not each.empty)
    function.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]  # read by inspect
    function.__annotations__ = {each.name: each.annotation for each in shown}


def _parameters(function: Command) -> list[inspect.Parameter]:
    """List a function's parameters, its TypedDict taken apart."""
    hints = get_type_hints(function, include_extras=True)
    listed: list[inspect.Parameter] = []
    for each in inspect.signature(function).parameters.values():
        if each.kind is each.VAR_KEYWORD:
            listed += _fields(get_args(hints[each.name])[0])
        else:
            listed.append(each.replace(annotation=hints[each.name]))
    return listed


def _fields(options: Any) -> list[inspect.Parameter]:  # noqa: ANN401  # a TypedDict class has no type
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if get_args(hint)[0] is bool else None,
            annotation=hint,
        )
        for name, hint in get_type_hints(options, include_extras=True).items()
    ]


def _refuse_surrogates(name: str, value: object) -> None:
    """Refuse bytes of the command line that are no UTF-8; only a path may hold any bytes."""
    for each in value if isinstance(value, list) else [value]:
        at = find_surrogate(each) if isinstance(each, str) else None
        if at is not None:
            message = f"{name}: not valid UTF-8 at character {at} (a byte or half a character)"
            raise InvalidInputError(message, field=name)
