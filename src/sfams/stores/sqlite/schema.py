"""The file's schema: is it ours, is it of this release, and what is missing."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

import apsw

from sfams.core.text import TOKENIZER_VERSION
from sfams.errors import SchemaMismatchError, StoreUnavailableError
from sfams.ports import META_TOKENIZER

APPLICATION_ID = int.from_bytes(b"SFAM", "big")
TOMBSTONE_KEY = "tombstone"

_FILE = re.compile(r"(\d{4})_\w+\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a schema version to the next."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """Fingerprint of the text."""
        return sha256(self.sql.encode()).hexdigest()


@lru_cache(maxsize=1)
def migrations() -> tuple[Migration, ...]:
    """Read the migrations of this release, in order."""
    folder = files(__package__).joinpath("migrations")
    found = sorted((each for each in folder.iterdir() if _FILE.fullmatch(each.name)), key=str)
    return tuple(
        Migration(number, each.name.removesuffix(".sql"), each.read_text("utf-8"))
        for number, each in enumerate(found, 1)
    )


def check_ours(connection: apsw.Connection, location: str) -> int:
    """Tell the schema version of a file (0: new), reading only.

    Raises:
        SchemaMismatchError: Another application's file, or one that another release has written.
    """
    application = connection.pragma("application_id")
    version: int = connection.pragma("user_version")
    if application != APPLICATION_ID:
        tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
        if application or version or tables:
            message = f"{location} belongs to another application; it has been left as it was"
            raise SchemaMismatchError(message, location=location)
        return 0
    newest = migrations()[-1].number
    if version > newest:
        message = (
            f"{location} has schema version {version}, this release knows versions up to {newest}; "
            "it has been left as it was: install a newer release"
        )
        raise SchemaMismatchError(message, found=version, known=newest, location=location)
    _check_history(connection, version, location)
    return version


def is_current(version: int) -> bool:
    """Tell whether nothing has to be migrated."""
    return version == migrations()[-1].number


def migrate(connection: apsw.Connection, location: str) -> None:
    """Apply what is missing. Call it under the write lock, once per missing migration or once more.

    Raises:
        SchemaMismatchError: The file's migrations are not the ones of this release.
    """
    version = check_ours(connection, location)
    for migration in migrations()[version : version + 1]:
        connection.execute(migration.sql).fetchall()  # to its end, whatever it answers
        if version == 0:
            _fill(connection)
        connection.execute(
            "INSERT INTO migration (number, name, checksum) VALUES (?, ?, ?)",
            (migration.number, migration.name, migration.checksum),
        )
        connection.pragma("user_version", migration.number)


def require_current(version: int, location: str) -> None:
    """Refuse a file that would have to be migrated but cannot be written."""
    if not is_current(version):
        message = f"{location} is read-only and its schema version {version} is out of date"
        raise StoreUnavailableError(message, location=location)


def _fill(connection: apsw.Connection) -> None:
    """Write what a new file starts with."""
    connection.pragma("application_id", APPLICATION_ID)
    connection.execute("INSERT INTO meta VALUES (?, ?)", (META_TOKENIZER, TOKENIZER_VERSION))
    connection.execute("INSERT INTO secret VALUES (?, ?)", (TOMBSTONE_KEY, secrets.token_bytes(32)))


def _check_history(connection: apsw.Connection, version: int, location: str) -> None:
    applied = connection.execute("SELECT name, checksum FROM migration ORDER BY number").fetchall()
    known = [(each.name, each.checksum) for each in migrations()[:version]]
    if applied != known:
        message = f"{location} was made by migrations that this release does not have"
        raise SchemaMismatchError(message, location=location, version=version)
