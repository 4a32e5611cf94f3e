"""Stores that write, share or erase wrongly, by the promise that they break."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from tests.support.faults import Fault, Faulty, answering, changing, given

from sfams.core.columns import Columns, Needs
from sfams.core.events import Actor
from sfams.core.moments import utc_day
from sfams.core.record import MemoryRecord, RecordId, Status, Tier, Usage
from sfams.core.scope import Scope
from sfams.errors import ConflictError, NotFoundError
from sfams.ports import Entry, Problem, Reader, Transaction
from sfams.stores.dict_reader import DictReader
from sfams.stores.dict_state import State
from sfams.stores.memory import DictStore, DictTransaction

# ── Standing ──────────────────────────────────────────────────────────────────────────────────────


class HoldsForEver(DictTransaction):
    def columns(self, scope: Scope, now: datetime, needs: Needs = frozenset(), /) -> Columns:
        return super().columns(scope, datetime.min.replace(tzinfo=UTC), needs)


class StartsTheColdAnew(DictTransaction):
    def transition(self, scope: Scope, changes: Any, now: datetime, /) -> None:
        super().transition(scope, changes, now)
        own = self._own(scope)
        for each in changes:
            if each.id in own.rows and each.tier is Tier.COLD:
                row = own.rows[each.id]
                own.rows[each.id] = replace(row, record=replace(row.record, cold_since=now))


# ── Isolation, atomicity, sharing ─────────────────────────────────────────────────────────────────


class TransitionsInAnyScope(DictTransaction):
    def transition(self, scope: Scope, changes: Any, now: datetime, /) -> None:
        for each in (scope, *self._state.scopes):
            super().transition(each, changes, now)


class RaisesEveryNumber(DictTransaction):
    def insert(self, entries: Sequence[Entry], /) -> None:
        super().insert(entries)
        for scope in list(self._state.scopes):
            self._own(scope).seq += 1


class ReadsBehindItsWrites(DictTransaction):
    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._before = DictReader(state)

    def get(self, scope: Scope, ids: Sequence[RecordId], /) -> Sequence[MemoryRecord]:
        return self._before.get(scope, ids)


class SwallowsErrors(DictStore):
    @contextmanager
    def read(self) -> Iterator[Reader]:
        with super().read() as reader, suppress(Exception):
            yield reader


class LocksUpAfterAnError(DictStore):
    @contextmanager
    def write(self) -> Iterator[Transaction]:
        try:
            with super().write() as transaction:
                yield transaction
        except Exception:
            self._writing = True
            raise


class DropsSomeCommits(DictStore):
    """Loses what a race would lose, but surely: every seventh unit of work."""

    written = 0

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        before = self._state
        with super().write() as transaction:
            yield transaction
        self.written += 1
        if self.written % 7 == 0:
            self._state = before


class ComplainsOfNothing(DictStore):
    def check(self) -> Sequence[Problem]:
        return [Problem("mood", None, (), "something feels wrong")]


class NeverSettles(DictStore):
    def settle(self, *, rewrite: bool = True) -> bool:
        return False


def _known_scope(self: DictTransaction, found: object, scope: Scope, *rest: object) -> object:
    if scope not in self._state.scopes:
        raise NotFoundError(f"no scope {scope}")
    return found


TOGETHER = [
    Fault("moves-next-door", TransitionsInAnyScope, "test_other_scopes_change_nothing"),
    Fault("one-number-for-all", RaisesEveryNumber, "test_change_numbers_are_each_scopes_own"),
    Fault(
        "refuses-unknown-scopes",
        answering("stats", _known_scope),
        "test_an_unknown_scope_reads_as_empty",
    ),
    Fault("reads-behind", ReadsBehindItsWrites, "test_a_unit_of_work_reads_its_own_writes"),
    Fault("swallows-errors", SwallowsErrors, "test_an_exception_in_a_look_is_let_through"),
    Fault("locks-up", LocksUpAfterAnError, "test_work_goes_on_after_a_rollback"),
    Fault("complains", ComplainsOfNothing, "test_a_sound_store_has_no_problems"),
]

# ── Uniqueness, use ───────────────────────────────────────────────────────────────────────────────


def _clashes_with_itself(self: DictTransaction, entries: Sequence[Entry]) -> tuple[Sequence[Entry]]:
    for entry in entries:
        if self.by_hash(entry.record.scope, [entry.record.content_hash]):
            raise ConflictError("content: said already")
    return (entries,)


def _clashes_with_the_erased(
    self: DictTransaction, entries: Sequence[Entry]
) -> tuple[Sequence[Entry]]:
    for entry in entries:
        if self.tombstones(entry.record.scope, [entry.record.content_hash]):
            raise ConflictError("content: was erased")
    return (entries,)


def _known_ids(self: DictTransaction, scope: Scope, deltas: Any) -> tuple[Scope, Any]:
    for delta in deltas:
        if delta.id not in self._scope(scope).rows:
            raise NotFoundError("no such record")
    return scope, deltas


class ResetsUsage(DictTransaction):
    def replace(self, entries: Sequence[Entry], /) -> None:
        super().replace(entries)
        for entry in entries:
            rows = self._own(entry.record.scope).rows
            row = rows[entry.record.id]
            rows[entry.record.id] = replace(row, record=replace(row.record, usage=Usage()))


ONCE = [
    Fault(
        "clashes-with-itself",
        given("replace", _clashes_with_itself),
        "test_replacing_by_itself_is_no_conflict",
    ),
    Fault(
        "clashes-with-erased",
        given("insert", _clashes_with_the_erased),
        "test_erasing_frees_content_and_key",
    ),
    Fault("counts-known-only", given("add_usage", _known_ids), "test_unknown_ids_are_ignored"),
    Fault("resets-usage", ResetsUsage, "test_usage_outlives_changes_of_the_record"),
    Fault(
        "columns-without-use",
        answering(
            "columns",
            lambda _, found, *__: replace(found, access_count=np.zeros_like(found.access_count)),
        ),
        "test_usage_reaches_the_columns",
    ),
]

# ── Links, the log, plans ─────────────────────────────────────────────────────────────────────────


class LogOfWhatIsThere(DictTransaction):
    def append(self, scope: Scope, events: Any, /) -> None:
        there = self._scope(scope).rows
        super().append(scope, [e for e in events if e.record_id is None or e.record_id in there])


class LinksToNowhere(DictTransaction):
    def relate(self, scope: Scope, source: RecordId, relation: Any, /) -> bool:
        with suppress(NotFoundError):
            return super().relate(scope, source, relation)
        return False


class ForgetsTurnsAtTheEnd(DictTransaction):
    def end_session(self, scope: Scope, session: str, at: datetime, /) -> None:
        super().end_session(scope, session, at)
        self._own(scope).turns.pop(session, None)


class CountsDaysOfStorage(DictTransaction):
    def insert(self, entries: Sequence[Entry], /) -> None:
        super().insert(entries)
        for entry in entries:
            self._own(entry.record.scope).days.add(utc_day(entry.record.recorded_at))
            self._own(entry.record.scope).days.discard(utc_day(entry.record.created_at))


class AdvancesAnything(DictTransaction):
    def advance_plan(self, plan: Any, /) -> None:
        if self.plan(plan.scope, plan.id) is None:
            self.save_plan(plan)
        super().advance_plan(plan)


def _kept_links(self: DictTransaction, entries: Sequence[Entry]) -> tuple[list[Entry]]:
    def old(entry: Entry) -> Entry:
        row = self._scope(entry.record.scope).rows.get(entry.record.id)
        links = row.record.relations if row else ()
        return replace(entry, record=replace(entry.record, relations=links))

    return ([old(entry) for entry in entries],)


def _events(alter: Callable[[Any], Any]) -> Faulty:
    return given("append", lambda _, scope, events: (scope, [alter(each) for each in events]))


LINKS_AND_LOG = [
    Fault("links-to-nowhere", LinksToNowhere, "test_a_link_needs_both_ends"),
    Fault(
        "links-from-the-start-only",
        answering(
            "linked", lambda _, found, __, ids: [each for each in found if each[0] in set(ids)]
        ),
        "test_links_are_found_from_both_ends",
    ),
    Fault(
        "links-of-the-hot",
        answering(
            "linked",
            lambda self, found, scope, _: [
                (name, link)
                for name, link in found
                if self._scope(scope).rows[link.target].stands(Tier.HOT)
            ],
        ),
        "test_a_link_shows_while_both_ends_live",
    ),
    Fault(
        "keeps-old-links",
        given("replace", _kept_links),
        "test_replacing_writes_the_links_that_start_there",
    ),
    Fault(
        "drops-early-links",
        changing(lambda r: replace(r, relations=())),
        "test_a_link_may_be_there_before_its_target",
    ),
    Fault(
        "counts-mentions",
        answering(
            "entities", lambda _, found, *__: [replace(e, records=e.records + 1) for e in found]
        ),
        "test_entities_are_counted_by_live_record",
    ),
    Fault(
        "entities-without-type",
        answering(
            "entities", lambda _, found, *__: list({each.name: each for each in found}.values())
        ),
        "test_entities_of_two_types_are_two",
    ),
    Fault(
        "loses-the-plan-of-an-event",
        _events(lambda e: replace(e, plan_id=None)),
        "test_every_kind_of_event_comes_back",
    ),
    Fault(
        "one-actor",
        _events(lambda e: replace(e, actor=Actor.SYSTEM)),
        "test_every_actor_comes_back",
    ),
    Fault(
        "sorts-the-log",
        answering("history", lambda _, found, *__: sorted(found, key=lambda event: event.at)),
        "test_the_log_keeps_the_order_of_writing",
    ),
    Fault(
        "log-of-what-is-there",
        LogOfWhatIsThere,
        "test_the_log_needs_no_record",
    ),
    Fault(
        "first-page-of-the-log",
        answering("history", lambda _, found, *__: found[:20]),
        "test_the_log_is_read_by_record",
    ),
    Fault("forgets-turns", ForgetsTurnsAtTheEnd, "test_turns_are_numbered_by_session"),
    Fault("days-of-storage", CountsDaysOfStorage, "test_active_days_are_utc_days_of_what_was_said"),
    Fault(
        "no-empty-plans",
        answering("plan", lambda _, found, *__: found if found and len(found.steps) else None),
        "test_an_empty_plan_comes_back",
    ),
    Fault("advances-anything", AdvancesAnything, "test_advancing_an_unknown_plan_is_refused"),
    Fault(
        "plans-by-id",
        answering("plans", lambda _, found, *__: sorted(found)),
        "test_plans_are_listed_newest_first",
    ),
]

# ── The feed, erasing ─────────────────────────────────────────────────────────────────────────────


class ReusesNumbers(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        count = super().erase(scope, ids, at)
        own = self._own(scope)
        own.seq = max((row.seq for row in own.rows.values()), default=0)
        return count


class ErasingKeepsVersions(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        past = dict(self._own(scope).past)
        count = super().erase(scope, ids, at)
        self._own(scope).past = past
        return count


class ErasingTakesNamesakes(DictTransaction):
    def erase(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> int:
        gone = {e for record in self.get(scope, ids) for e in record.entities}
        count = super().erase(scope, ids, at)
        own = self._own(scope)
        for name, row in own.rows.items():
            left = tuple(each for each in row.record.entities if each not in gone)
            own.rows[name] = replace(row, record=replace(row.record, entities=left))
        return count


class FeedLoadsTheDead(DictTransaction):
    def changes(self, scope: Scope, after: int, /) -> Any:
        own = self._own(scope)
        rows = dict(own.rows)
        for name, row in rows.items():
            own.rows[name] = replace(row, record=replace(row.record, status=Status.LIVE))
        found = super().changes(scope, after)
        own.rows = rows
        return found


def _rows(alter: Callable[[Any], Any]) -> Faulty:
    return answering(
        "changes", lambda _, found, *__: replace(found, rows=[alter(row) for row in found.rows])
    )


FEED = [
    Fault("loads-the-dead", FeedLoadsTheDead, "test_a_full_load_is_what_is_live_and_hot"),
    Fault(
        "feed-without-sessions",
        _rows(lambda row: replace(row, session="")),
        "test_a_row_holds_what_ranking_needs",
    ),
    Fault(
        "feed-without-vectors",
        _rows(lambda row: replace(row, vector=None)),
        "test_vectors_reach_the_feed",
    ),
    Fault("reuses-numbers", ReusesNumbers, "test_numbers_are_never_used_twice"),
    Fault(
        "erases-namesakes",
        ErasingTakesNamesakes,
        "test_only_what_nobody_else_names_leaves_the_entities",
    ),
    Fault(
        "counts-what-was-asked",
        answering("erase", lambda _, __, scope, ids, at: len(ids)),
        "test_the_count_tells_what_was_there",
    ),
    Fault(
        "erasing-keeps-versions",
        ErasingKeepsVersions,
        "test_earlier_versions_are_kept_until_then",
    ),
    Fault("never-settles", NeverSettles, "test_erasure_settles"),
]


RACES = [Fault("drops-some-commits", DropsSomeCommits, "test_two_writers_lose_nothing")]


STANDING = [
    Fault("holds-for-ever", HoldsForEver, "test_a_hold_says_who_and_goes_with_it"),
    Fault("starts-the-cold-anew", StartsTheColdAnew, "test_a_cold_record_knows_since_when"),
]


WRITING = [*STANDING, *RACES, *TOGETHER, *ONCE, *LINKS_AND_LOG, *FEED]
