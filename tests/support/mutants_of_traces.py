"""Stores that keep the traces of accesses wrongly, by the promise that they break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from tests.support.faults import Fault, answering, given

from sfams.core.columns import Columns, Need, Needs
from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.core.traces import EntityTypes, Trace
from sfams.ports import Entry, UsageDelta
from sfams.stores.memory import DictTransaction


class ForgetsTracesOnReplace(DictTransaction):
    def replace(self, entries: Sequence[Entry], /) -> None:
        super().replace(entries)
        for entry in entries:
            rows = self._own(entry.record.scope).rows
            rows[entry.record.id] = replace(rows[entry.record.id], trace=Trace())


class LearnsAgainOnReplace(DictTransaction):
    def replace(self, entries: Sequence[Entry], /) -> None:
        super().replace(entries)
        for entry in entries:
            own = self._own(entry.record.scope)
            row = own.rows[entry.record.id]
            own.rows[entry.record.id] = replace(row, learned=own.logged)


class ErasingTurnsTheLogBack(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        count = super().erase(scope, ids, at)
        own = self._own(scope)
        own.logged = sum(own.turns.values())
        return count


class ErasingKeepsTraces(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        self._state.scopes[Scope((*scope, "of the dead"))] = self._scope(scope).copy()
        return super().erase(scope, ids, at)

    def insert(self, entries: Sequence[Entry], /) -> None:
        super().insert(entries)
        for entry in entries:
            rows = self._own(entry.record.scope).rows
            dead = self._scope(Scope((*entry.record.scope, "of the dead"))).rows
            if entry.record.id in dead:
                trace = dead[entry.record.id].trace
                rows[entry.record.id] = replace(rows[entry.record.id], trace=trace)


class CountsTurnsBySession(DictTransaction):
    def add_usage(self, scope: Scope, deltas: Sequence[UsageDelta], /) -> None:
        own = self._own(scope)
        logged, own.logged = own.logged, max(own.turns.values(), default=0)
        super().add_usage(scope, deltas)
        own.logged = logged


class EveryAccessLeavesAMoment(DictTransaction):
    def add_usage(self, scope: Scope, deltas: Sequence[UsageDelta], /) -> None:
        super().add_usage(scope, deltas)
        rows = self._own(scope).rows
        for delta in deltas:
            row = rows.get(delta.id)
            if row is not None:
                count = row.record.usage.access_count + row.record.usage.used_count
                rows[delta.id] = replace(row, trace=replace(row.trace, count=count))


class ImportsLeaveNoTrace(DictTransaction):
    def insert(self, entries: Sequence[Entry], /) -> None:
        super().insert(entries)
        for entry in entries:
            rows = self._own(entry.record.scope).rows
            rows[entry.record.id] = replace(rows[entry.record.id], trace=Trace())


def _last_only(
    _: DictTransaction, scope: Scope, deltas: Sequence[UsageDelta]
) -> tuple[Scope, list[UsageDelta]]:
    return scope, [replace(delta, moments=()) for delta in deltas]


def _never_late(
    self: DictTransaction, scope: Scope, deltas: Sequence[UsageDelta]
) -> tuple[Scope, list[UsageDelta]]:
    rows = self._scope(scope).rows
    last = {name: row.record.usage.last_accessed_at for name, row in rows.items()}
    return scope, [
        replace(each, at=max(each.at, last.get(each.id) or each.at), moments=()) for each in deltas
    ]


def _all_needs(self: DictTransaction, scope: Scope, now: datetime, *_: Needs) -> tuple[Any, ...]:
    return scope, now, frozenset(Need)


def _types_twice(_: DictTransaction, found: Columns, *__: object) -> Columns:
    if found.entity_types is None:
        return found
    sets = [frozenset({*each, "thing"}) for each in found.entity_types.sets]
    return replace(found, entity_types=EntityTypes(found.entity_types.codes, tuple(sets)))


def _every_day(_: DictTransaction, found: Columns, *__: object) -> Columns:
    days = found.active_days
    return replace(found, active_days=np.arange(days.min(), days.max() + 1)) if len(days) else found


TRACES = [
    Fault(
        "every-access-leaves-a-moment",
        EveryAccessLeavesAMoment,
        "test_repeats_within_an_hour_leave_one_moment",
    ),
    Fault(
        "only-the-last-moment", given("add_usage", _last_only), "test_the_latest_moments_are_kept"
    ),
    Fault("late-is-now", given("add_usage", _never_late), "test_what_is_told_late_takes_its_place"),
    Fault("turns-by-session", CountsTurnsBySession, "test_use_is_counted_by_turn"),
    Fault("learns-again", LearnsAgainOnReplace, "test_records_know_at_which_turn_they_came"),
    Fault(
        "erasing-turns-back", ErasingTurnsTheLogBack, "test_records_know_at_which_turn_they_came"
    ),
    Fault("forgets-traces", ForgetsTracesOnReplace, "test_traces_outlive_changes_of_the_record"),
    Fault("keeps-traces-of-erased", ErasingKeepsTraces, "test_an_erased_record_leaves_no_trace"),
    Fault(
        "imports-leave-no-trace",
        ImportsLeaveNoTrace,
        "test_usage_that_came_along_leaves_a_trace",
    ),
    Fault(
        "always-everything",
        given("columns", _all_needs),
        "test_columns_bring_what_was_asked_for",
    ),
    Fault(
        "types-of-nobody",
        answering("columns", _types_twice),
        "test_columns_bring_the_types_of_entities",
    ),
    Fault(
        "every-day-is-active",
        answering("columns", _every_day),
        "test_columns_know_the_active_days",
    ),
]
