"""The dict store keeps every promise of a store."""

import pytest

from sfams.ports import Store
from sfams.stores.memory import DictStore
from sfams.testing import StoreConformance


class TestDictStore(StoreConformance):
    @pytest.fixture
    def store(self) -> Store:
        return DictStore()
