"""Stores that read wrongly or keep something wrongly, by the promise that they break."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from tests.support.faults import Fault, answering, anything, changing, given, selecting

from sfams.core.query import Filter, Page
from sfams.core.record import MemoryRecord, Status, Tier
from sfams.core.scope import Scope
from sfams.core.view import Vector
from sfams.errors import NotFoundError
from sfams.ports import Entry
from sfams.stores.dict_reader import DictReader
from sfams.stores.memory import DictTransaction

# ── Round trips ───────────────────────────────────────────────────────────────────────────────────


def _with_old_terms(self: DictTransaction, entries: Sequence[Entry]) -> tuple[list[Entry]]:
    def old(entry: Entry) -> Entry:
        row = self._scope(entry.record.scope).rows.get(entry.record.id)
        return entry if row is None else replace(entry, terms=row.terms)

    return ([old(entry) for entry in entries],)


def _counted_once(entry: Entry) -> Entry:
    return replace(entry, terms=replace(entry.terms, counts=np.ones_like(entry.terms.counts)))


def _to_seconds(record: MemoryRecord) -> MemoryRecord:
    return replace(record, created_at=record.created_at.replace(microsecond=0))


def _as_numbers(record: MemoryRecord) -> MemoryRecord:
    values = {n: int(v) if isinstance(v, bool) else v for n, v in record.metadata.items()}
    return replace(record, metadata=values)


def _bfloat16(vector: Vector) -> Vector:
    return (vector.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


ROUND_TRIP = [
    Fault(
        "normalises-text",
        changing(lambda r: replace(r, content=unicodedata.normalize("NFKC", r.content).strip())),
        "test_text_comes_back_to_the_letter",
    ),
    Fault("cuts-moments", changing(_to_seconds), "test_moments_come_back_to_the_microsecond"),
    Fault("true-becomes-1", changing(_as_numbers), "test_metadata_keeps_its_types"),
    Fault(
        "reads-999-ids",
        given("get", lambda _, scope, ids: (scope, list(ids)[:999])),
        "test_any_number_of_ids_may_be_asked_for",
    ),
    Fault(
        "halves-vectors",
        answering(
            "vectors",
            lambda _, found, *__: {n: _bfloat16(v) for n, v in found.items()},
        ),
        "test_vectors_come_back_to_the_last_bit",
    ),
    Fault(
        "counts-terms-once",
        given("insert", lambda _, entries: ([_counted_once(e) for e in entries],)),
        "test_keyword_entries_come_back",
    ),
    Fault(
        "keeps-old-keywords",
        given("replace", _with_old_terms),
        "test_replacing_writes_the_keywords",
    ),
    Fault(
        "unknown-setting-is-empty",
        answering("meta", lambda _, found, *__: found or ""),
        "test_settings_come_back",
    ),
]

# ── Finding, paging ───────────────────────────────────────────────────────────────────────────────


def _default_upside_down(
    _: DictTransaction, scope: Scope, selection: Filter, page: Page, now: datetime
) -> tuple[Scope, Filter, Page, datetime]:
    return scope, selection, replace(page, descending=False) if page == Page() else page, now


def _cut_before_filtered(
    self: DictTransaction, _: object, scope: Scope, selection: Filter, page: Page, now: datetime
) -> list[MemoryRecord]:
    everything = Filter(statuses=(), expired=True)
    found = DictReader.find(self, scope, everything, page, now)
    return [record for record in found if record.id in self.matching(scope, selection, now)]


FOUND = [
    Fault(
        "finds-the-dead",
        selecting(anything, "statuses"),
        "test_only_what_is_live_is_found_unless_asked_for",
    ),
    Fault("ignores-tiers", selecting(anything, "tiers"), "test_tiers_select"),
    Fault(
        "kinds-by-prefix",
        selecting(lambda r, s: not s.kinds or r.kind.startswith(s.kinds), "kinds"),
        "test_kinds_match_exactly_or_by_base",
    ),
    Fault(
        "any-tag",
        selecting(lambda r, s: not s.tags or bool(set(s.tags) & set(r.tags)), "tags"),
        "test_tags_must_all_be_there",
    ),
    Fault(
        "entities-by-spelling",
        selecting(lambda r, s: set(s.entities) <= {e.name for e in r.entities}, "entities"),
        "test_entities_match_by_their_folded_name",
    ),
    Fault(
        "metadata-by-path",
        given(
            "matching",
            lambda _, scope, selection, now: (
                scope,
                replace(
                    selection,
                    metadata={n.partition(".")[0]: v for n, v in selection.metadata.items()},
                ),
                now,
            ),
        ),
        "test_metadata_names_are_taken_literally",
    ),
    Fault(
        "who-in-any-case",
        selecting(lambda r, s: s.who is None or r.source.who.casefold() == s.who.casefold(), "who"),
        "test_sources_match_exactly",
    ),
    Fault(
        "text-as-spelled",
        selecting(lambda r, s: s.text is None or s.text in r.content, "text"),
        "test_text_is_found_within_the_content",
    ),
    Fault(
        "importance-above",
        selecting(
            lambda r, s: s.importance_min is None or r.importance > s.importance_min,
            "importance_min",
        ),
        "test_importance_ranges_are_closed",
    ),
    Fault(
        "one-condition-too-few",
        selecting(anything, "importance_min"),
        "test_conditions_all_hold_at_once",
    ),
    Fault(
        "selects-without-tags",
        given("matching", lambda _, scope, s, now: (scope, replace(s, tags=()), now)),
        "test_a_listing_and_a_selection_agree",
    ),
    Fault(
        "cuts-before-filtering",
        answering("find", _cut_before_filtered),
        "test_pages_are_filtered_before_they_are_cut",
    ),
    Fault(
        "oldest-first", given("find", _default_upside_down), "test_the_default_page_is_newest_first"
    ),
]

# ── Lookups, standing ─────────────────────────────────────────────────────────────────────────────


class MovesTheFirst999(DictTransaction):
    def transition(self, scope: Scope, changes: Any, now: datetime, /) -> None:
        super().transition(scope, list(changes)[:999], now)


def _old_claims(self: DictTransaction, entries: Sequence[Entry]) -> tuple[list[Entry]]:
    def old(entry: Entry) -> Entry:
        row = self._scope(entry.record.scope).rows.get(entry.record.id)
        claim = row.record.claim if row else None
        return replace(entry, record=replace(entry.record, claim=claim or entry.record.claim))

    return ([old(entry) for entry in entries],)


def _missing_only(
    self: DictTransaction, scope: Scope, vectors: Any, state: Any
) -> tuple[Scope, Any, Any]:
    there = self.vectors(scope, list(vectors))
    return scope, {name: each for name, each in vectors.items() if name not in there}, state


def _hot_and_live(self: DictTransaction, found: Any, scope: Scope, *_: object) -> Any:
    rows = self._scope(scope).rows
    return {name: vector for name, vector in found.items() if rows[name].stands(Tier.HOT)}


def _some_columns(_: DictTransaction, found: Any, *__: object) -> Any:
    if not len(found):
        raise NotFoundError("nothing to plan for")
    return found


LOOKUPS = [
    Fault(
        "keys-of-the-live",
        answering(
            "by_key",
            lambda self, found, scope, _: {
                key: name for key, name in found.items() if self._scope(scope).rows[name].live
            },
        ),
        "test_keys_lead_to_records_of_any_status",
    ),
    Fault(
        "claims-by-spelling",
        answering(
            "by_claim",
            lambda _, found, __, claims: [
                r for r in found if any(r.claim.subject == claim.subject for claim in claims)
            ],
        ),
        "test_claims_lead_to_live_records_of_the_slot",
    ),
    Fault(
        "keeps-the-claim",
        given("replace", _old_claims),
        "test_a_changed_claim_is_found_in_its_new_slot_only",
    ),
    Fault(
        "newest-waits-first",
        answering("pending", lambda _, found, *__: found[::-1]),
        "test_what_waits_for_a_vector_is_listed_oldest_first",
    ),
    Fault(
        "puts-a-vector-once",
        given("put_vectors", _missing_only),
        "test_a_vector_can_be_put_twice_and_taken_away",
    ),
    Fault(
        "vectors-of-the-hot",
        answering("vectors", _hot_and_live),
        "test_vectors_are_kept_whatever_the_standing",
    ),
    Fault(
        "pins-for-ever",
        given(
            "transition",
            lambda _, scope, changes, now: (
                scope,
                [replace(c, pinned=c.pinned or None, held=c.held or None) for c in changes],
                now,
            ),
        ),
        "test_protection_can_be_taken_back",
    ),
    Fault(
        "passes-over-erased",
        given(
            "transition",
            lambda _, scope, changes, now: (
                scope,
                [c for c in changes if c.status is not Status.ERASED],
                now,
            ),
        ),
        "test_only_erasing_erases",
    ),
    Fault("moves-the-first-999", MovesTheFirst999, "test_many_records_change_at_once"),
    Fault(
        "no-cold-keywords",
        answering("cold_postings", lambda *_: []),
        "test_cold_records_are_found_by_keywords",
    ),
    Fault(
        "all-cold-terms",
        given("cold_postings", lambda self, scope, terms: (scope, _all_terms(self, scope))),
        "test_only_the_terms_asked_for_are_found",
    ),
    Fault(
        "no-empty-columns",
        answering("columns", _some_columns),
        "test_columns_may_be_empty",
    ),
    Fault(
        "cold-counts-as-hot",
        answering("stats", lambda _, found, *__: replace(found, hot=found.hot + found.cold)),
        "test_sizes_count_what_is_there",
    ),
]


def _all_terms(self: DictTransaction, scope: Scope) -> list[int]:
    return [term for row in self._rows(scope) for term in row.terms.ids.tolist()]


READING = [*ROUND_TRIP, *FOUND, *LOOKUPS]
