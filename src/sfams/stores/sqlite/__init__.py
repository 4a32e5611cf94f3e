"""The SQLite store: one file, several processes, no server."""

from __future__ import annotations

from sfams.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
