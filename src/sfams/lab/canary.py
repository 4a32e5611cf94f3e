"""The canary: before anything is asked, no policy may hold a question's text."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, MethodType, ModuleType

import numpy as np

from sfams.errors import SfamsError

_TOLD_ANYWAY = 12  # characters: shorter texts may stand anywhere by chance
_CLOSED = (type, ModuleType, BuiltinFunctionType, CodeType, FrameType, bytes, int, float)


class LeakError(SfamsError):
    """A policy got hold of what it must not know."""


def assert_blind(policy: object, questions: Iterable[str], told: Iterable[str]) -> None:
    """Search everything that can be reached from a policy for the text of a question.

    Texts that were told too are no secret, and neither are very short ones.

    Raises:
        LeakError: One was found. The message does not repeat it.
    """
    public = "\n".join(told)
    secrets = [text for text in questions if len(text) >= _TOLD_ANYWAY and text not in public]
    for text in texts_within(policy):
        if any(secret in text for secret in secrets):
            message = f"{type(policy).__name__} holds the text of a question before the freeze"
            raise LeakError(message)


def texts_within(root: object) -> Iterator[str]:
    """Find every text that an object refers to, directly or not: fields, containers, closures.

    Modules, classes and the globals of functions are not entered.
    """
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, _CLOSED):
            continue
        seen.add(id(thing))
        if isinstance(thing, str):
            yield thing
        else:
            waiting.extend(_referents(thing))


def _referents(thing: object) -> Iterable[object]:
    if isinstance(thing, FunctionType):
        cells = [cell.cell_contents for cell in thing.__closure__ or () if _filled(cell)]
        return [*cells, *(thing.__defaults__ or ()), thing.__kwdefaults__, thing.__dict__]
    if isinstance(thing, MethodType):
        return [thing.__self__, thing.__func__]
    if isinstance(thing, dict):  # the collector passes over keys that are texts
        return [*thing.keys(), *thing.values()]
    if isinstance(thing, np.ndarray):
        return thing.ravel().tolist() if thing.dtype.kind in "OUS" else ()
    return gc.get_referents(thing)


def _filled(cell: object) -> bool:
    try:
        cell.cell_contents  # type: ignore[attr-defined]  # noqa: B018  # raises when it is empty
    except ValueError:
        return False
    return True
