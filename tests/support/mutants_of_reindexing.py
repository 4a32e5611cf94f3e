"""Stores that stage, adopt or bring in earlier versions wrongly, by the promise that they break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.support.faults import Fault, answering, given

from sfams.ports import EmbeddingModel, Staged
from sfams.stores.memory import DictTransaction


class StagingGoesIntoUse(DictTransaction):
    def stage_vectors(self, model: EmbeddingModel, staged: Sequence[Staged], /) -> int:
        for each in staged:
            own = self._own(each.record.scope)
            if each.record.id in own.rows:
                own.rows[each.record.id] = replace(own.rows[each.record.id], vector=each.vector)
        return super().stage_vectors(model, staged)


class StagesOutdatedTexts(DictTransaction):
    def stage_vectors(self, model: EmbeddingModel, staged: Sequence[Staged], /) -> int:
        now = [
            replace(each, record=found[0])
            for each in staged
            if (found := self.get(each.record.scope, [each.record.id]))
        ]
        return super().stage_vectors(model, now)


class StagesOnce(DictTransaction):
    def stage_vectors(self, model: EmbeddingModel, staged: Sequence[Staged], /) -> int:
        waiting = {record.id for record in self.unstaged(model, 10**6)}
        super().stage_vectors(model, [each for each in staged if each.record.id in waiting])
        return len(staged)


class StagesOnlyVectors(DictTransaction):
    def stage_vectors(self, model: EmbeddingModel, staged: Sequence[Staged], /) -> int:
        return super().stage_vectors(model, [e for e in staged if e.vector is not None])


class KeepsWhatWasStaged(DictTransaction):
    def replace(self, entries: Sequence[Any], /) -> None:
        before = {e.record.id: self._own(e.record.scope).rows.get(e.record.id) for e in entries}
        super().replace(entries)
        for entry in entries:
            own = self._own(entry.record.scope)
            old = before[entry.record.id]
            if old is not None:
                row = own.rows[entry.record.id]
                own.rows[entry.record.id] = replace(row, staged=old.staged)


class AdoptsByName(DictTransaction):
    """Takes two lengths of one name for one model."""

    def adopt_vectors(self, model: EmbeddingModel, /) -> Any:
        for state in self._state.scopes:
            own = self._own(state)
            for name, row in own.rows.items():
                if row.vector is not None and row.model == model.name:
                    own.rows[name] = replace(row, staged={model: row.vector, **row.staged})
        return super().adopt_vectors(model)


class AdoptsWithoutNumbers(DictTransaction):
    def adopt_vectors(self, model: EmbeddingModel, /) -> Any:
        before = {scope: self._own(scope).seq for scope in list(self._state.scopes)}
        adoption = super().adopt_vectors(model)
        for scope, seq in before.items():
            self._own(scope).seq = seq
        return adoption


class AdoptsOneScope(DictTransaction):
    def adopt_vectors(self, model: EmbeddingModel, /) -> Any:
        _, *others = sorted(self._state.scopes)
        kept = {scope: self._state.scopes[scope].copy() for scope in others}
        adoption = super().adopt_vectors(model)
        self._state.scopes.update(kept)
        return adoption


class KeepsStagedOfOthers(DictTransaction):
    def adopt_vectors(self, model: EmbeddingModel, /) -> Any:
        others = {
            (scope, name): {m: v for m, v in row.staged.items() if m != model}
            for scope in self._state.scopes
            for name, row in self._own(scope).rows.items()
        }
        adoption = super().adopt_vectors(model)
        for (scope, name), staged in others.items():
            own = self._own(scope)
            own.rows[name] = replace(own.rows[name], staged=staged)
        return adoption


class AdoptsOnlyStaged(DictTransaction):
    """Lets go of a vector that is of the model already."""

    def adopt_vectors(self, model: EmbeddingModel, /) -> Any:
        for scope in list(self._state.scopes):
            own = self._own(scope)
            for name, row in own.rows.items():
                own.rows[name] = replace(row, model="nobody")
        return super().adopt_vectors(model)


class WritesUnderTheOldModel(DictTransaction):
    def _model(self) -> str:
        return "mini-a"


class CommitsAdoptions(DictTransaction):
    """Changes what is committed, whatever becomes of the unit of work."""

    def adopt_vectors(self, model: EmbeddingModel, /) -> Any:
        for scope, own in self._before.scopes.items():
            self._before.scopes[scope] = replace_staged(own)
        return super().adopt_vectors(model)

    def __init__(self, state: Any) -> None:
        super().__init__(state)
        self._before = state


def replace_staged(own: Any) -> Any:
    for name, row in own.rows.items():
        own.rows[name] = replace(row, staged={})
    return own


REINDEXING = [
    Fault("staging-goes-into-use", StagingGoesIntoUse, "test_staging_changes_nothing_in_use"),
    Fault(
        "lists-what-is-staged",
        answering("unstaged", lambda self, _, model, limit: self.get(*_first_scope(self))[:limit]),
        "test_progress_is_told_over_all_scopes",
    ),
    Fault("stages-only-vectors", StagesOnlyVectors, "test_no_vector_is_a_result_too"),
    Fault("stages-once", StagesOnce, "test_staging_again_overwrites"),
    Fault("stages-outdated", StagesOutdatedTexts, "test_what_changed_meanwhile_is_passed_over"),
    Fault("keeps-what-was-staged", KeepsWhatWasStaged, "test_what_is_staged_goes_with_its_text"),
    Fault("adopts-one-scope", AdoptsOneScope, "test_adopting_makes_staged_vectors_current"),
    Fault("keeps-staged-of-others", KeepsStagedOfOthers, "test_adopting_drops_whatever_is_staged"),
    Fault("adopts-without-numbers", AdoptsWithoutNumbers, "test_adopting_is_told_by_the_feed"),
    Fault("adopts-only-staged", AdoptsOnlyStaged, "test_vectors_of_the_same_model_are_kept"),
    Fault("adopts-by-name", AdoptsByName, "test_another_length_is_another_model"),
    Fault(
        "writes-under-the-old-model",
        WritesUnderTheOldModel,
        "test_what_is_written_afterwards_is_of_the_new_model",
    ),
    Fault("commits-adoptions", CommitsAdoptions, "test_staging_and_adopting_roll_back"),
    Fault(
        "adopts-nothing",
        given("adopt_vectors", lambda _, model: (EmbeddingModel("none", model.dimension),)),
        "test_staging_outlives_a_restart",
    ),
    Fault(
        "indexes-nothing",
        given("put_keywords", lambda _, scope, keywords: (scope, {})),
        "test_keywords_can_be_written_anew",
    ),
    Fault(
        "brings-the-last-version-only",
        given(
            "put_versions",
            lambda _, scope, versions: (scope, {n: past[:0] for n, past in versions.items()}),
        ),
        "test_an_import_brings_earlier_versions",
    ),
]


def _first_scope(transaction: DictTransaction) -> tuple[Any, Any]:
    scope = min(transaction._state.scopes)
    return scope, list(transaction._state.scopes[scope].rows)
