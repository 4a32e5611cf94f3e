"""session: count the turns of a conversation, and note its end."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option, Typer

from sfams.cli.output import line
from sfams.cli.run import Run, add

Name = Annotated[str, Argument(metavar="SESSION", help="The conversation's name.")]
Turn = Annotated[bool, Option("--turn", help="Begin the next turn.")]
End = Annotated[bool, Option("--end", help="Note that the conversation is over.")]


def register(app: Typer) -> None:
    """Add the command."""
    add(app, session, "session", panel="Remembering")


def session(run: Run, name: Name, *, turn: Turn = False, end: End = False) -> None:
    """Tell at which turn a conversation is; begin the next one, or end it.

    Examples:
        sfams session chat-7 --turn
        sfams session chat-7 --end
    """
    with run.memory(create=turn) as memory:
        conversation = memory.session(name)
        if turn:
            conversation.turn()
        if end:
            conversation.end()
        number = conversation.current
    shape = {"session": name, "turn": number, "ended": end}
    run.out.result(shape, line(f"Turn {number} of {name}", " (ended)" if end else ""))
