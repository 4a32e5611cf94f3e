"""Promise: a scope's settings are its own, and touch nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from sfams.core.scope import Scope
from sfams.testing.builders import HOME, make_entry
from sfams.testing.conformance.base import (
    NEXT_DOOR,
    ONE,
    Promises,
    erase,
    fill,
    seen,
    seq,
)

if TYPE_CHECKING:
    from sfams.ports import Store


def put(store: Store, value: str | None, name: str = "rule", scope: Scope = HOME) -> None:
    """Write a setting in a unit of work of its own."""
    with store.write() as transaction:
        transaction.put_setting(scope, name, value)


def read(store: Store, name: str = "rule", scope: Scope = HOME) -> str | None:
    """Read a setting."""
    with store.read() as reader:
        return reader.setting(scope, name)


class SettingPromises(Promises):
    """Settings of scopes."""

    @pytest.mark.parametrize("value", ['"redact"', '{"名": [1, 2.5, null]}', ""])
    def test_a_setting_comes_back_to_the_letter(self, store: Store, value: str) -> None:
        """What was written last stands; what nobody wrote is None."""
        assert read(store) is None
        put(store, '"before"')
        put(store, value)
        assert read(store) == value
        assert read(store, "another") is None

    @pytest.mark.parametrize("other", [Scope(HOME[:-1]), Scope((*HOME, "below")), NEXT_DOOR])
    def test_a_setting_is_of_one_scope(self, store: Store, other: Scope) -> None:
        """No scope above, below or beside has it: to inherit is not the store's work."""
        put(store, "1")
        assert read(store, scope=other) is None
        put(store, "2", scope=other)
        put(store, None, scope=other)
        assert read(store) == "1"

    def test_a_setting_can_be_taken_away(self, store: Store) -> None:
        """Once, twice, and from a scope that nobody has written; other names stay."""
        put(store, "1")
        put(store, "2", "another")
        put(store, None)
        put(store, None)
        put(store, None, scope=NEXT_DOOR)
        assert read(store) is None
        assert read(store, "another") == "2"

    def test_settings_touch_no_record(self, store: Store) -> None:
        """A scope that has only settings is not listed, and nobody has to read its records again."""
        fill(store, make_entry(1))
        before, number = seen(store), seq(store)
        put(store, "1")
        put(store, "2", scope=NEXT_DOOR)
        assert seen(store) == before
        assert seq(store) == number
        with store.read() as reader:
            assert list(reader.scopes()) == [HOME]

    def test_settings_stay_when_records_go(self, store: Store) -> None:
        """Neither erasing nor a restart takes them away, nor a unit of work that fails."""
        fill(store, make_entry(1))
        put(store, "1")
        erase(store, ONE)
        with suppress(KeyError), store.write() as transaction:
            transaction.put_setting(HOME, "rule", "2")
            assert transaction.setting(HOME, "rule") == "2"
            raise KeyError
        assert read(self.reopen(store)) == "1"
