"""Who tests the suite? Stores with one fault each, which the named test must notice."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.support.faults import Fault
from tests.support.mutants_of_erasing import ERASING
from tests.support.mutants_of_ghosts import GHOSTS
from tests.support.mutants_of_reading import READING
from tests.support.mutants_of_reindexing import REINDEXING
from tests.support.mutants_of_settings import SETTINGS
from tests.support.mutants_of_traces import TRACES
from tests.support.mutants_of_writing import (
    WRITING,
    AdvancesAnything,
    ComplainsOfNothing,
    ErasingKeepsVersions,
    ForgetsTurnsAtTheEnd,
    LogOfWhatIsThere,
    ResetsUsage,
)

from sfams.core.columns import Columns, Needs
from sfams.core.events import MemoryEvent
from sfams.core.keywords import ColdPosting
from sfams.core.plan import ForgettingPlan
from sfams.core.query import Filter, Order, Page
from sfams.core.record import EmbeddingState, MemoryRecord, RecordId, Status
from sfams.core.scope import Scope
from sfams.core.view import Vector, ViewChanges
from sfams.errors import SfamsError
from sfams.ports import Entry, Reader, Store, Transaction, Transition, UsageDelta
from sfams.stores.dict_state import State
from sfams.stores.memory import DictStore, DictTransaction
from sfams.testing import StoreConformance
from sfams.testing.machine import store_machine

TICK = timedelta(microseconds=1)


class Suite(StoreConformance):
    """The suite, to be run test by test."""

    @pytest.fixture
    def store(self) -> Store:
        return DictStore()


class MutantStore(DictStore):
    """A dict store whose looks and units of work are of a faulty class."""

    def __init__(self, faulty: type[DictTransaction]) -> None:
        super().__init__()
        self._faulty = faulty

    def _reader(self, state: State) -> DictTransaction:
        return self._faulty(state)

    def _transaction(self, state: State) -> DictTransaction:
        return self._faulty(state)


class GetsFromAnyScope(DictTransaction):
    def get(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[MemoryRecord]:
        return [row.record for each in self._state.scopes for row in self._rows(each)]


class MatchesScopesByText(DictTransaction):
    def scopes(self, below: Scope | None = None, /) -> Sequence[Scope]:
        return [each for each in super().scopes() if str(each).startswith(str(below or ""))]


class ErasesInAnyScope(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        count = 0
        for each in list(self._state.scopes):
            count += super().erase(each, ids, at)
        return count


class KeepsTheOldVector(DictTransaction):
    def replace(self, entries: Sequence[Entry], /) -> None:
        for entry in entries:
            old = self.vectors(entry.record.scope, [entry.record.id])
            vector = old.get(entry.record.id) if entry.vector is None else entry.vector
            super().replace([replace(entry, vector=vector)])


class RoundsImportance(DictTransaction):
    def insert(self, entries: Sequence[Entry], /) -> None:
        super().insert(
            [
                replace(e, record=replace(e.record, importance=round(e.record.importance, 6)))
                for e in entries
            ]
        )


class ServesExpired(DictTransaction):
    def find(
        self, scope: Scope, selection: Filter, page: Page, now: datetime, /
    ) -> Sequence[MemoryRecord]:
        return super().find(scope, replace(selection, expired=True), page, now)


class ExpiresOneTickLate(DictTransaction):
    def matching(self, scope: Scope, selection: Filter, now: datetime, /) -> frozenset[RecordId]:
        return super().matching(scope, selection, now - TICK)


class ClosesTimeRanges(DictTransaction):
    def matching(self, scope: Scope, selection: Filter, now: datetime, /) -> frozenset[RecordId]:
        if selection.created_to is not None:
            selection = replace(selection, created_to=selection.created_to + TICK)
        return super().matching(scope, selection, now)


class ComparesMetadataAsText(DictTransaction):
    def matching(self, scope: Scope, selection: Filter, now: datetime, /) -> frozenset[RecordId]:
        wanted = {(name, str(value)) for name, value in selection.metadata.items()}
        found = super().matching(scope, replace(selection, metadata={}), now)
        return frozenset(
            record.id
            for record in self.get(scope, sorted(found))
            if wanted <= {(name, str(value)) for name, value in record.metadata.items()}
        )


class LosesTheLastPage(DictTransaction):
    def find(
        self, scope: Scope, selection: Filter, page: Page, now: datetime, /
    ) -> Sequence[MemoryRecord]:
        found = super().find(scope, selection, page, now)
        return [] if page.after is not None and len(found) < page.limit else found


class BreaksTiesOneWay(DictTransaction):
    def find(
        self, scope: Scope, selection: Filter, page: Page, now: datetime, /
    ) -> Sequence[MemoryRecord]:
        found = super().find(scope, selection, page, now)
        if page.order is Order.IMPORTANCE and page.descending:
            return sorted(found, key=lambda record: (-record.importance, record.id))
        return found


class BumpsVersionOnUse(DictTransaction):
    def add_usage(self, scope: Scope, deltas: Sequence[UsageDelta], /) -> None:
        super().add_usage(scope, deltas)
        self.transition(scope, [Transition(delta.id) for delta in deltas], deltas[0].at)


class TurnsUsageBack(DictTransaction):
    def add_usage(self, scope: Scope, deltas: Sequence[UsageDelta], /) -> None:
        super().add_usage(scope, deltas)
        own = self._own(scope)
        for delta in deltas:
            if delta.id not in own.rows:
                continue
            row = own.rows[delta.id]
            usage = replace(row.record.usage, last_accessed_at=delta.at)
            own.rows[delta.id] = replace(row, record=replace(row.record, usage=usage))


class FeedMissesTransitions(DictTransaction):
    def transition(self, scope: Scope, changes: Sequence[Transition], now: datetime, /) -> None:
        seqs = {name: row.seq for name, row in self._scope(scope).rows.items()}
        super().transition(scope, changes, now)
        own = self._own(scope)
        own.rows = {name: replace(row, seq=seqs[name]) for name, row in own.rows.items()}


class FeedHidesErased(DictTransaction):
    def changes(self, scope: Scope, after: int, /) -> ViewChanges:
        return replace(super().changes(scope, after), gone=())


class FeedLoadsTheCold(DictTransaction):
    def changes(self, scope: Scope, after: int, /) -> ViewChanges:
        changes = super().changes(scope, after)
        return replace(changes, rows=[replace(row, hot=True) for row in changes.rows])


class VectorsMissTheFeed(DictTransaction):
    def put_vectors(
        self, scope: Scope, vectors: Mapping[RecordId, Vector | None], state: EmbeddingState, /
    ) -> None:
        before = self.change_seq(scope)
        super().put_vectors(scope, vectors, state)
        self._own(scope).seq = before


class AllowsTwins(DictTransaction):
    def insert(self, entries: Sequence[Entry], /) -> None:
        for number, entry in enumerate(entries):
            content_hash = entry.record.content_hash
            fresh = f"{content_hash}-{number}-{len(self._own(entry.record.scope).rows)}"
            super().insert([replace(entry, record=replace(entry.record, content_hash=fresh))])


class RestoresIntoTwins(DictTransaction):
    def transition(self, scope: Scope, changes: Sequence[Transition], now: datetime, /) -> None:
        own = self._own(scope)
        rows, own.rows = own.rows, {}
        for change in changes:
            own.rows = {name: row for name, row in rows.items() if name == change.id}
            super().transition(scope, [change], now)
            rows |= own.rows
        own.rows = rows


class ErasingKeepsRelations(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        links = {name: row.record.relations for name, row in self._scope(scope).rows.items()}
        count = super().erase(scope, ids, at)
        own = self._own(scope)
        for name, row in own.rows.items():
            own.rows[name] = replace(row, record=replace(row.record, relations=links[name]))
        return count


class ErasingKeepsDetails(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        events = list(self._own(scope).events)
        count = super().erase(scope, ids, at)
        self._own(scope).events = events
        return count


class ErasingKeepsPlanSteps(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        plans = dict(self._own(scope).plans)
        count = super().erase(scope, ids, at)
        self._own(scope).plans = plans
        return count


class ErasingLeavesNoTombstone(DictTransaction):
    def tombstones(self, scope: Scope, names: Sequence[str], /) -> Mapping[str, RecordId]:
        return {}


class ColdKeywordsOutliveDeletion(DictTransaction):
    def cold_postings(self, scope: Scope, terms: Sequence[int], /) -> Sequence[ColdPosting]:
        own = self._own(scope)
        rows = own.rows
        own.rows = {
            name: replace(row, record=replace(row.record, status=Status.LIVE))
            for name, row in rows.items()
        }
        found = super().cold_postings(scope, terms)
        own.rows = rows
        return found


class ColumnsOfOnePage(DictTransaction):
    def columns(self, scope: Scope, now: datetime, needs: Needs = frozenset(), /) -> Columns:
        columns = super().columns(scope, now, needs)
        return columns.take(np.arange(min(len(columns), 1)))


class RoundsPlans(DictTransaction):
    def save_plan(self, plan: ForgettingPlan, /) -> None:
        scores = plan.steps.scores.astype(np.float32).astype(np.float64)
        super().save_plan(replace(plan, steps=replace(plan.steps, scores=scores)))


class PagesTheLogTooEarly(DictTransaction):
    def history(
        self, scope: Scope, ids: Sequence[RecordId], /, *, after: int = 0, limit: int = 1000
    ) -> Sequence[MemoryEvent]:
        page = super().history(scope, (), after=after, limit=limit)
        return [event for event in page if not ids or event.record_id in set(ids)]


class CommitsInSpiteOfErrors(DictStore):
    @contextmanager
    def write(self) -> Iterator[Transaction]:
        transaction = self._transaction(self._state)
        try:
            yield transaction
        finally:
            self._state = transaction.result


class WritesInPlace(DictStore):
    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with super().write() as transaction:
            assert isinstance(transaction, DictTransaction)
            transaction._owned.update(self._state.scopes)
            yield transaction


class ForgetsOnClose(DictStore):
    @contextmanager
    def read(self) -> Iterator[Reader]:
        yield self._reader(self._state)


@dataclass(frozen=True)
class Mutant:
    """A fault, the test that must notice it, and that test's parameters."""

    store: type[DictStore] | type[DictTransaction]
    test: str
    arguments: tuple[object, ...] = ()

    def make(self) -> Store:
        if issubclass(self.store, DictTransaction):
            return MutantStore(self.store)
        return self.store()


PAIR = (Scope(("acme",)), Scope(("acme2",)))
MUTANTS = [
    Mutant(GetsFromAnyScope, "test_other_scopes_see_nothing", (PAIR,)),
    Mutant(MatchesScopesByText, "test_scopes_are_listed_below_by_parts"),
    Mutant(ErasesInAnyScope, "test_erasing_reaches_into_no_other_scope", (PAIR,)),
    Mutant(KeepsTheOldVector, "test_replacing_writes_or_removes_the_vector"),
    Mutant(RoundsImportance, "test_numbers_come_back_to_the_last_bit", (0.1 + 0.2,)),
    Mutant(ServesExpired, "test_expiry_is_exact"),
    Mutant(ExpiresOneTickLate, "test_expiry_is_exact"),
    Mutant(ClosesTimeRanges, "test_time_ranges_are_half_open"),
    Mutant(ComparesMetadataAsText, "test_metadata_is_compared_with_its_type", (1, [1])),
    Mutant(
        LosesTheLastPage,
        "test_pages_give_everything_once_in_order",
        (Order.CREATED, True, 4),
    ),
    Mutant(
        BreaksTiesOneWay,
        "test_pages_give_everything_once_in_order",
        (Order.IMPORTANCE, True, 4),
    ),
    Mutant(BumpsVersionOnUse, "test_usage_changes_nothing_else"),
    Mutant(TurnsUsageBack, "test_the_last_moment_is_the_latest"),
    Mutant(FeedMissesTransitions, "test_rows_that_left_are_marked"),
    Mutant(FeedMissesTransitions, "test_following_equals_reloading", ("demote",)),
    Mutant(FeedHidesErased, "test_erased_ids_are_told"),
    Mutant(FeedLoadsTheCold, "test_following_equals_reloading", ("demote",)),
    Mutant(VectorsMissTheFeed, "test_writing_records_raises_the_number", ("vectors",)),
    Mutant(AllowsTwins, "test_a_content_lives_once"),
    Mutant(RestoresIntoTwins, "test_restoring_into_a_twin_is_refused", (Status.DELETED,)),
    Mutant(ErasingKeepsRelations, "test_links_vanish_at_both_ends"),
    Mutant(ErasingKeepsDetails, "test_the_log_keeps_the_lines_and_loses_the_detail"),
    Mutant(ErasingKeepsPlanSteps, "test_erased_records_leave_saved_plans"),
    Mutant(ErasingLeavesNoTombstone, "test_a_tombstone_keeps_the_text_out"),
    Mutant(ColdKeywordsOutliveDeletion, "test_cold_keywords_come_and_go_with_standing"),
    Mutant(ColumnsOfOnePage, "test_columns_show_live_records_in_id_order"),
    Mutant(RoundsPlans, "test_a_long_plan_comes_back_exactly"),
    Mutant(PagesTheLogTooEarly, "test_the_log_is_read_by_record"),
    Mutant(CommitsInSpiteOfErrors, "test_an_exception_rolls_everything_back", (KeyError,)),
    Mutant(CommitsInSpiteOfErrors, "test_a_refused_batch_leaves_nothing"),
    Mutant(WritesInPlace, "test_a_look_stays_as_it_was"),
    Mutant(WritesInPlace, "test_open_work_is_seen_by_nobody_else"),
    Mutant(ForgetsOnClose, "test_a_closed_store_refuses"),
]


ALSO: dict[type[DictTransaction] | type[DictStore], tuple[str, ...]] = {
    AllowsTwins: (
        "test_a_batch_is_held_to_it_too",
        "test_a_record_that_is_not_live_frees_its_content",
        "test_an_id_is_given_once",
        "test_defaults_come_back",
        "test_errors_do_not_quote_the_memory",
        "test_hashes_lead_to_live_records",
        "test_many_records_are_erased_at_once",
        "test_of_two_that_say_the_same_one_wins",
        "test_only_the_named_records_change",
        "test_replacing_an_unknown_record_is_refused",
        "test_replacing_into_a_twin_is_refused",
        "test_scopes_may_hold_the_same",
    ),
    GetsFromAnyScope: (
        "test_a_chain_of_links_keeps_its_order",
        "test_counters_add_up",
        "test_each_field_changes_alone",
        "test_links_are_made_once_and_taken_away_once",
        "test_links_change_no_version",
        "test_other_scopes_are_free",
        "test_records_come_in_the_order_asked_for",
        "test_replaced_entities_and_tags_leave_nothing_behind",
        "test_the_callers_values_are_parted_from_the_store",
        "test_two_twins_may_change_places",
        "test_usage_is_erased_too",
        "test_vectors_may_come_later",
    ),
    CommitsInSpiteOfErrors: (
        "test_a_key_is_given_once",
        "test_a_plan_that_was_rolled_back_was_never_there",
        "test_a_unit_of_work_inside_another_is_refused",
        "test_what_is_over_is_over",
    ),
    BumpsVersionOnUse: ("test_other_writes_do_not",),
    ColumnsOfOnePage: ("test_a_twin_counts_while_it_lives",),
    ErasesInAnyScope: ("test_scopes_may_use_the_same_id",),
    ErasingKeepsDetails: ("test_no_trace_is_left",),
    ErasingKeepsRelations: ("test_an_id_may_come_again",),
    FeedMissesTransitions: ("test_following_equals_reloading_through_a_long_history",),
    KeepsTheOldVector: ("test_two_records_may_change_texts",),
    LosesTheLastPage: ("test_a_page_goes_on_where_a_vanished_record_stood",),
    RoundsImportance: ("test_every_field_comes_back",),
    RoundsPlans: ("test_advancing_keeps_the_steps", "test_saving_again_writes_it_whole"),
    TurnsUsageBack: ("test_shown_and_used_are_counted_apart",),
    ComplainsOfNothing: ("test_everything_outlives_a_restart",),
    ResetsUsage: ("test_a_replaced_record_is_new_throughout",),
    LogOfWhatIsThere: ("test_the_log_is_read_page_by_page",),
}
FAULTS = [
    *READING,
    *WRITING,
    *REINDEXING,
    *GHOSTS,
    *SETTINGS,
    *ERASING,
    *TRACES,
    *(Fault(f"{store.__name__}-{test}", store, test) for store in ALSO for test in ALSO[store]),
]
"""More of them, each with a test that may have many cases: one of these must notice."""

UNTRIED = {"test_readers_see_whole_units_of_work"}
"""A race, which no mutant loses every time."""


def run(mutant: Mutant, store: Store) -> None:
    getattr(Suite(), mutant.test)(store, *mutant.arguments)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: f"{each.store.__name__}-{each.test}")
def test_the_suite_notices(mutant: Mutant) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run(mutant, mutant.make())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.test)
def test_the_sound_store_passes(mutant: Mutant) -> None:
    run(mutant, DictStore())


def cases(test: str) -> list[tuple[object, ...]]:
    """Expand a test's parameters."""
    found: list[tuple[object, ...]] = [
        (PAIR,) if test == "test_other_scopes_change_nothing" else ()
    ]
    for mark in getattr(getattr(Suite, test), "pytestmark", ()):
        names, values = mark.args
        several = not isinstance(names, str)
        found = [(*f, *value) if several else (*f, value) for f in found for value in values]
    return found


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.name)
def test_the_suite_notices_this_too(fault: Fault) -> None:
    for arguments in cases(fault.test):
        mutant = Mutant(fault.store, fault.test, arguments)
        try:
            run(mutant, mutant.make())
        except (AssertionError, pytest.fail.Exception, SfamsError, ValueError):
            return
    pytest.fail(f"nobody noticed {fault.name}")


def test_every_promise_has_a_mutant() -> None:
    """A test that no broken store has ever failed may be one that cannot fail."""
    tried = {mutant.test for mutant in MUTANTS} | {fault.test for fault in FAULTS}
    assert {name for name in dir(Suite) if name.startswith("test_")} - tried == UNTRIED


@pytest.mark.parametrize(
    "faulty",
    [
        FeedMissesTransitions,
        FeedHidesErased,
        ErasingKeepsRelations,
        ColdKeywordsOutliveDeletion,
        AdvancesAnything,
        ErasingKeepsVersions,
        ForgetsTurnsAtTheEnd,
        ResetsUsage,
    ],
)
def test_the_state_machine_notices(faulty: type[DictTransaction]) -> None:
    searching = settings(
        max_examples=300,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(store_machine(lambda: MutantStore(faulty)), settings=searching)
