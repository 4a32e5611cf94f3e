"""Stores that keep the settings of scopes wrongly, by the promise that they break."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tests.support.faults import Fault, answering

from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.stores.memory import DictTransaction


class KeepsTheFirst(DictTransaction):
    def put_setting(self, scope: Scope, name: str, value: str | None, /) -> None:
        if self.setting(scope, name) is None or value is None:
            super().put_setting(scope, name, value)


class InheritsSettings(DictTransaction):
    def setting(self, scope: Scope, name: str, /) -> str | None:
        above = (Scope(scope[:length]) for length in range(len(scope), 0, -1))
        found = (super(InheritsSettings, self).setting(each, name) for each in above)
        return next((value for value in found if value is not None), None)


class OneSettingForAll(DictTransaction):
    def put_setting(self, scope: Scope, name: str, value: str | None, /) -> None:
        for each in (scope, *self._state.scopes):
            super().put_setting(each, name, value)


class NeverTakesAway(DictTransaction):
    def put_setting(self, scope: Scope, name: str, value: str | None, /) -> None:
        if value is not None:
            super().put_setting(scope, name, value)


class RaisesTheNumber(DictTransaction):
    def put_setting(self, scope: Scope, name: str, value: str | None, /) -> None:
        super().put_setting(scope, name, value)
        self._own(scope).seq += 1


class ErasingTakesSettings(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        self._own(scope).settings = {}
        return super().erase(scope, ids, at)


def _stripped(_: DictTransaction, found: str | None, *__: object) -> str | None:
    return found or None


SETTINGS = [
    Fault("keeps-the-first", KeepsTheFirst, "test_a_setting_comes_back_to_the_letter"),
    Fault(
        "empty-is-none", answering("setting", _stripped), "test_a_setting_comes_back_to_the_letter"
    ),
    Fault("inherits-settings", InheritsSettings, "test_a_setting_is_of_one_scope"),
    Fault("one-setting-for-all", OneSettingForAll, "test_a_setting_is_of_one_scope"),
    Fault("never-takes-away", NeverTakesAway, "test_a_setting_can_be_taken_away"),
    Fault("settings-raise-the-number", RaisesTheNumber, "test_settings_touch_no_record"),
    Fault("erasing-takes-settings", ErasingTakesSettings, "test_settings_stay_when_records_go"),
]
