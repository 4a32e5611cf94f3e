"""What is special to the SQLite store, and that it keeps every store's promises."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sfams.ports import Store
from sfams.stores.sqlite import SqliteStore
from sfams.testing.conformance import StoreConformance


class TestSqliteStore(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = SqliteStore(tmp_path / "memory.db")
        yield store
        store.close()

    def reopen(self, store: Store) -> Store:
        store.close()
        return SqliteStore(store.location)
