"""The one place where SQLite's errors become ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import apsw

from sfams.errors import (
    ConflictError,
    InvalidInputError,
    SchemaMismatchError,
    SfamsError,
    StoreError,
    StoreUnavailableError,
)

# By the names that SQLite gives to what clashed; see the unique indexes of the schema.
_CLASHES = {
    "record.scope, record.id": "id: the record is there already",
    "record.scope, record.key": "key: another record has it",
    "record.scope, record.content_hash": "content: a live record says the same",
}


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Raise what SQLite raises as an error of the tree, the original as its cause."""
    try:
        yield
    except apsw.Error as error:
        raise _translate(error, location) from error
    except UnicodeEncodeError as error:
        message = "text: holds a lone surrogate, which no file can hold"
        raise InvalidInputError(message) from error


@contextmanager
def naming_clash(rivals: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Translate a constraint's refusal here already, where it is known which records clash."""
    try:
        yield
    except apsw.ConstraintError as error:
        clash = _clash(error)
        clash.context["ids"] = tuple(rivals())
        raise clash from error


def _translate(error: apsw.Error, location: str) -> SfamsError:
    match error:
        case apsw.ConstraintError():
            return _clash(error)
        case apsw.BusyError() | apsw.LockedError():
            message = f"another process holds the lock of {location}; try again"
        case apsw.FullError():
            message = f"the disk is full: {location}"
        case apsw.ReadOnlyError() | apsw.PermissionsError():
            message = f"{location} is read-only"
        case apsw.CantOpenError():
            message = f"{location} cannot be opened or made; is the folder writable?"
        case apsw.IOError():
            message = f"reading or writing {location} failed"
        case apsw.NotADBError():
            message = f"{location} is not an SQLite file; it has been left as it was"
            return SchemaMismatchError(message, location=location)
        case apsw.CorruptError():
            message = f"{location} is damaged; see `sfams doctor`"
            return StoreError(message, location=location)
        case _:
            message = f"SQLite refused: {type(error).__name__} in {location}"
            return StoreError(message, location=location)
    return StoreUnavailableError(message, location=location)


def _clash(error: apsw.ConstraintError) -> SfamsError:
    """Name the constraint and nothing else: the message holds no value."""
    columns = str(error).partition("constraint failed: ")[2]
    if columns in _CLASHES:
        return ConflictError(_CLASHES[columns], constraint=columns)
    return StoreError(f"SQLite refused: constraint {columns or 'unknown'} failed", constraint=columns)
