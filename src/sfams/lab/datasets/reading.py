"""Reading data files: gzip or plain, with an error that names the file and what is wrong with it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from sfams.errors import InvalidInputError

Value = TypeVar("Value")


def refuse(path: Path, problem: str, *, line: int | None = None) -> NoReturn:
    """Say what is wrong with a data file, without repeating its text."""
    place = f"{path}:{line}" if line else str(path)
    message = f"{place}: {problem}"
    raise InvalidInputError(message, field="dataset")


def read_bytes(path: Path) -> bytes:
    """Read a file whole, unpacked.

    Raises:
        InvalidInputError: It is not there, cannot be read or is broken.
    """
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        message = f"{path}: cannot be read: {error}"
        raise InvalidInputError(message, field="dataset") from error


def read_json(path: Path) -> Any:  # noqa: ANN401  # a JSON document
    """Read a JSON document."""
    try:
        return json.loads(read_bytes(path))
    except ValueError as error:
        message = f"{path}: not readable as JSON: {error}"
        raise InvalidInputError(message, field="dataset") from error


def shaped(path: Path, make: Callable[[], Value]) -> Value:
    """Turn parsed JSON into values; a missing field or a wrong type names the file.

    Raises:
        InvalidInputError: The file does not have the form of its data set.
    """
    try:
        return make()
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        message = f"{path}: not in the form of this data set: {type(error).__name__}: {error}"
        raise InvalidInputError(message, field="dataset") from error


def rising(moments: Iterable[datetime | None], start: datetime) -> Iterator[datetime]:
    """Date what is told: a second after the one before, or at its own moment if that is later.

    A moment before what was told last is passed over: order counts more than the date.
    """
    last = start - timedelta(seconds=1)
    for moment in moments:
        following = last + timedelta(seconds=1)
        last = following if moment is None else max(moment, following)
        yield last


def known(ids: Iterable[str], places: Mapping[str, object]) -> tuple[str, ...]:
    """Keep the ids of units that are there, each once; published labels name a few others."""
    return tuple(dict.fromkeys(each for each in ids if each in places))
