"""Stores that erase too little, or forget what they have erased, by the promise that they break."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests.support.faults import Fault, answering, given

from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.stores.memory import DictStore, DictTransaction


class RemembersTheLastTextOnly(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        self._own(scope).past = {}
        return super().erase(scope, ids, at)


class NamesTheFirst(DictTransaction):
    def tombstones(self, scope: Scope, names: Sequence[str], /) -> Mapping[str, RecordId]:
        return dict.fromkeys(super().tombstones(scope, names), RecordId(f"{1:08x}"))


class LiftsOneNameOnly(DictTransaction):
    def lift(
        self, scope: Scope, ids: Sequence[RecordId], names: Sequence[str], /
    ) -> Sequence[RecordId]:
        before = dict(self._own(scope).tombstones)
        lifted = super().lift(scope, ids, names)
        own = self._own(scope)
        kept = [mark for mark in before if mark not in own.tombstones][1:]
        own.tombstones |= {mark: before[mark] for mark in kept}
        return lifted


class LiftsForOneOnly(DictTransaction):
    def lift(
        self, scope: Scope, ids: Sequence[RecordId], names: Sequence[str], /
    ) -> Sequence[RecordId]:
        before = dict(self._own(scope).tombstones)
        lifted = super().lift(scope, ids, names)
        left = {m: tuple(r for r in rs if r not in lifted) for m, rs in before.items()}
        self._own(scope).tombstones = {mark: records for mark, records in left.items() if records}
        return lifted


class LiftingHidesTheErased(DictTransaction):
    def lift(
        self, scope: Scope, ids: Sequence[RecordId], names: Sequence[str], /
    ) -> Sequence[RecordId]:
        lifted = super().lift(scope, ids, names)
        for each in lifted:
            self._own(scope).gone.pop(each, None)
        return lifted


class LiftsInAnyScope(DictTransaction):
    def lift(
        self, scope: Scope, ids: Sequence[RecordId], names: Sequence[str], /
    ) -> Sequence[RecordId]:
        return [
            r for each in self._state.scopes for r in super(type(self), self).lift(each, ids, names)
        ]


def _keeping(field: str) -> type[DictTransaction]:
    """Leave what points to the erased in one field."""

    def erase(self: Any, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        before = {name: row.record for name, row in self._scope(scope).rows.items()}
        count = DictTransaction.erase(self, scope, ids, at)
        own = self._own(scope)
        for name, row in own.rows.items():
            kept = {field: getattr(before[name], field)}
            own.rows[name] = replace(row, record=replace(row.record, **kept))
        return count

    return type("Mutant", (DictTransaction,), {"erase": erase})


class KeepsIdsInTheLog(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        before = list(self._own(scope).events)
        count = super().erase(scope, ids, at)
        self._own(scope).events = [
            replace(e, detail={}) if e.record_id in set(ids) else e for e in before
        ]
        return count


class EmptiesTheLog(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        count = super().erase(scope, ids, at)
        own = self._own(scope)
        own.events = [replace(event, detail={}) for event in own.events]
        return count


class ErasingEndsTheChain(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        self._own(scope).erasures = []
        return super().erase(scope, ids, at)


class SeesResidueEverywhere(DictStore):
    def residue(self, pieces: Collection[bytes], /) -> frozenset[bytes]:
        return frozenset(pieces)


ERASING = [
    Fault(
        "remembers-the-last", RemembersTheLastTextOnly, "test_a_tombstone_knows_all_that_was_said"
    ),
    Fault("names-the-first", NamesTheFirst, "test_the_last_that_said_it_is_named"),
    Fault("lifts-one-name", LiftsOneNameOnly, "test_lifting_lets_a_text_back_in"),
    Fault("lifting-hides-the-erased", LiftingHidesTheErased, "test_lifting_lets_a_text_back_in"),
    Fault("lifts-for-one", LiftsForOneOnly, "test_lifting_frees_all_who_said_it"),
    Fault("lifts-in-any-scope", LiftsInAnyScope, "test_lifting_reaches_into_no_other_scope"),
    *(
        Fault(f"erasing-keeps-{field}", _keeping(field), "test_nothing_points_to_the_erased")
        for field in ("validity", "twin", "derived_from")
    ),
    Fault("keeps-ids-in-the-log", KeepsIdsInTheLog, "test_the_log_of_others_loses_the_id"),
    Fault("empties-the-log", EmptiesTheLog, "test_the_log_of_others_loses_the_id"),
    Fault(
        "made-from-in-any-order",
        answering("made_from", lambda _, found, *__: list(reversed(found))),
        "test_what_was_made_from_records_is_named",
    ),
    Fault(
        "shortest-chain",
        answering("erasures", lambda _, found, *__: list(found)[-1:]),
        "test_receipts_come_back_as_a_chain",
    ),
    Fault(
        "unsealed",
        given("add_erasure", lambda _, scope, link: (scope, replace(link, previous=""))),
        "test_receipts_come_back_as_a_chain",
    ),
    Fault("erasing-ends-the-chain", ErasingEndsTheChain, "test_receipts_come_back_as_a_chain"),
    Fault("residue-everywhere", SeesResidueEverywhere, "test_what_is_held_is_no_residue"),
]
