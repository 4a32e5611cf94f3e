"""Stores that keep ghosts wrongly, by the promise that they break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tests.support.faults import Fault, answering, given

from sfams.core.ghosts import Mark, Trail
from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.stores.memory import DictTransaction


class FindsTheReturned(DictTransaction):
    def note_return(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        terms = {each.ghost.record_id: each for each in self._own_haunts(scope)}
        super().note_return(scope, ids, at)
        self._own_haunts(scope).extend(terms[each] for each in ids if each in terms)


class CountsEveryRegret(DictTransaction):
    def note_regret(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        super().note_regret(scope, ids, at)
        haunts = self._own_haunts(scope)
        haunts[:] = [replace(each, regretted_on=None) for each in haunts]


class MarksAll(DictTransaction):
    def mark_ghost(self, scope: Scope, record_id: RecordId, mark: Mark | None, /) -> bool:
        done = super().mark_ghost(scope, record_id, mark)
        haunts = self._own_haunts(scope)
        haunts[:] = [replace(each, ghost=replace(each.ghost, mark=mark)) for each in haunts]
        return done


class ErasureLeavesGhosts(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        before = list(self._own_haunts(scope))
        gone = super().erase(scope, ids, at)
        self._own(scope).haunts = before
        return gone


class PurgingIsErasing(DictTransaction):
    def purge(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        return self.erase(scope, ids, at)


class PurgingBars(DictTransaction):
    def purge(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        before = list(self._own_haunts(scope))
        gone = self.erase(scope, ids, at)
        self._own(scope).haunts = before
        return gone


class GhostsRaiseTheNumber(DictTransaction):
    def add_ghosts(self, scope: Scope, trails: Sequence[Trail], /) -> None:
        super().add_ghosts(scope, trails)
        self._own(scope).seq += 1


def _one_term(
    _: DictTransaction, scope: Scope, trails: Sequence[Trail]
) -> tuple[Scope, list[Trail]]:
    return scope, [replace(each, terms=each.terms[:1]) for each in trails]


GHOSTS = [
    Fault("finds-the-returned", FindsTheReturned, "test_who_is_back_is_not_found_any_more"),
    Fault(
        "counts-every-regret",
        CountsEveryRegret,
        "test_a_regret_counts_once_a_day_and_for_the_newest",
    ),
    Fault("marks-all", MarksAll, "test_the_newest_is_marked"),
    Fault("erasure-leaves-ghosts", ErasureLeavesGhosts, "test_erasing_takes_the_ghost_too"),
    Fault("purging-is-erasing", PurgingIsErasing, "test_purging_keeps_the_ghost_and_bars_nothing"),
    Fault("purging-bars", PurgingBars, "test_purging_keeps_the_ghost_and_bars_nothing"),
    Fault(
        "ghosts-raise-the-number",
        GhostsRaiseTheNumber,
        "test_ghosts_come_back_as_they_were_written",
    ),
    Fault(
        "keeps-one-term", given("add_ghosts", _one_term), "test_they_are_found_by_terms_and_hash"
    ),
    Fault(
        "hash-finds-nothing",
        answering("ghosts_by_hash", lambda *_: {}),
        "test_they_are_found_by_terms_and_hash",
    ),
    Fault(
        "terms-find-nothing",
        answering("ghosts_by_terms", lambda *_: {}),
        "test_ghosts_outlive_the_store_object",
    ),
]
