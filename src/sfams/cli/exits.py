"""How a command ends: the one table of errors and exit codes, and how an error is shown.

0 done · 1 `doctor` found problems · 2 invalid input or usage · 4 not found · 5 conflict · 6 store ·
7 provider · 70 unexpected · 130 interrupted or declined · 141 the reader of a pipe went away
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import cast

import typer

from sfams.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    ProviderError,
    SfamsError,
    StoreError,
)

PROBLEMS = 1
INVALID = 2
UNEXPECTED = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

EXIT_CODES: tuple[tuple[type[SfamsError], int], ...] = (
    (InvalidInputError, INVALID),
    (NotFoundError, 4),
    (ConflictError, 5),
    (StoreError, 6),
    (ProviderError, 7),
)

# Newer releases of typer carry their own click, so its base error is taken where it surely is.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[2])


def exit_code(error: BaseException) -> int:
    """Look an error up."""
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), UNEXPECTED)


def guarded(call: Callable[[], object], *, as_json: bool, debug: bool) -> int:
    """Run the command line; say on stderr what went wrong, and answer the exit code."""
    try:
        code = call()
    except UsageError as error:
        if as_json:
            _show_json("UsageError", error.format_message())
        else:
            error.show()
        return error.exit_code
    except typer.Abort:
        _say("Stopped; nothing further was done.")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the outermost frame: whatever it is, it gets an exit code
        if debug:
            _say("".join(traceback.format_exception(error)).rstrip())
        _show(error, as_json=as_json)
        return exit_code(error)
    return code if isinstance(code, int) else 0


def _show(error: Exception, *, as_json: bool) -> None:
    expected = isinstance(error, SfamsError)
    # What an unexpected error says may hold a memory's text, so only --debug shows it.
    message = str(error) if expected else "unexpected; run it again with --debug for the traceback"
    kind, retryable = type(error).__name__, isinstance(error, SfamsError) and error.retryable
    if as_json:
        _show_json(kind, message, retryable=retryable)
    else:
        prefix = "Error: " if expected else f"Error: {kind}: "
        _say(prefix + message + (" (worth another try)" if retryable else ""))


def _show_json(kind: str, message: str, *, retryable: bool = False) -> None:
    error = {"type": kind, "message": message, "retryable": retryable}
    _say(json.dumps({"error": error}, ensure_ascii=False))


def _say(text: str) -> None:
    with suppress(BrokenPipeError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201  # the one place for errors


@contextmanager
def quiet_pipe() -> Iterator[None]:
    """End quietly when the reader of our output has gone, as in `sfams ls | head`."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError as error:
        # What is still buffered must not fail again when the interpreter closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(BROKEN_PIPE) from error
