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
    except UnicodeDecodeError as error:
        raise StoreError(f"{location} is damaged; {_ADVICE}", location=location) from error
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


_PASSING: dict[type[apsw.Error], str] = {
    apsw.BusyError: "another process holds the lock of {}; try again",
    apsw.LockedError: "another process holds the lock of {}; try again",
    apsw.FullError: "the disk is full: {}",
    apsw.ReadOnlyError: "{} is read-only",
    apsw.PermissionsError: "{} is read-only",
    apsw.CantOpenError: "{} cannot be opened or made; is the folder writable?",
    apsw.IOError: "reading or writing {} failed",
}
"""What may go away by itself or by hand: the store is unavailable for now."""


_ADVICE = "restore a backup, or copy what can still be read with `sfams ls --json`"
_LASTING = (apsw.ReadOnlyError, apsw.PermissionsError, apsw.CantOpenError)
"""What stays as it is until somebody changes the permissions."""


def _translate(error: apsw.Error, location: str) -> SfamsError:
    if isinstance(error, apsw.ConstraintError):
        return _clash(error)
    if type(error) in _PASSING:
        fault = StoreUnavailableError(_PASSING[type(error)].format(location), location=location)
        fault.retryable = not isinstance(error, _LASTING)
        return fault
    if isinstance(error, apsw.NotADBError):
        message = f"{location} is not an SQLite file; it has been left as it was"
        return SchemaMismatchError(message, location=location)
    if isinstance(error, apsw.CorruptError):
        return StoreError(f"{location} is damaged; {_ADVICE}", location=location)
    message = f"SQLite refused: {type(error).__name__} in {location}"
    return StoreError(message, location=location)


def _clash(error: apsw.ConstraintError) -> SfamsError:
    """Name the constraint and nothing else: the message holds no value."""
    columns = str(error).partition("constraint failed: ")[2]
    if columns in _CLASHES:
        return ConflictError(_CLASHES[columns], constraint=columns)
    return StoreError(
        f"SQLite refused: constraint {columns or 'unknown'} failed", constraint=columns
    )
