"""BM25: the formula, one scale for all, and hot and cold alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfams.core import lexical
from sfams.core.keywords import ColdPosting, index_terms, question_terms
from sfams.core.moments import NEVER
from sfams.core.record import RecordId
from sfams.core.view import ScopeView, ViewChanges, ViewRow

POTTERY = (
    "Kiln glaze schedule: kiln at cone 6, glaze twice, kiln off at noon.",
    "A long letter about holidays, trains, weather, food and, once, a kiln, followed by "
    + "many lines about the garden and the neighbours " * 5,
    "The glaze is in the shed.",
    "Nothing about pottery here.",
)


def view_of(texts: Sequence[str], first: int = 0) -> ScopeView:
    rows = [
        ViewRow(
            RecordId(f"r{n}"), True, "fact", 0.5, 0, NEVER, "", "", -1, 1, None, index_terms(text)
        )
        for n, text in enumerate(texts, first)
    ]
    view = ScopeView(3)
    view.advance(ViewChanges(1, rows, ()))
    return view


def cold_of(texts: Sequence[str], first: int, terms: Sequence[int]) -> list[ColdPosting]:
    found = []
    for n, text in enumerate(texts, first):
        held = index_terms(text)
        found += [
            ColdPosting(RecordId(f"r{n}"), term, count, held.length, 0.5, 0, NEVER)
            for term, count in zip(held.ids.tolist(), held.counts.tolist(), strict=True)
            if term in terms
        ]
    return found


def scored(texts: Sequence[str], question: str) -> dict[str, float]:
    view = view_of(texts)
    rows, values = lexical.scores(view, lexical.statistics(view, question_terms(question)))
    return dict(zip(map(str, view.ids(rows)), values.tolist(), strict=True))


def test_the_formula_by_hand() -> None:
    texts = ("kiln kiln shed", "shed", "tide gauge")
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    value = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / 2))
    assert scored(texts, "kiln") == {"r0": pytest.approx(1 - math.exp(-value / 8))}
    assert scored(texts, "kiln kiln")["r0"] == pytest.approx(1 - math.exp(-2 * value / 8))


def test_strong_matches_score_above_weak_ones_and_none_is_absent() -> None:
    found = scored(POTTERY, "kiln glaze")
    assert set(found) == {"r0", "r1", "r2"}
    assert found["r0"] > max(found["r1"], found["r2"])
    assert all(0.0 < value <= 1.0 for value in found.values())


def test_the_scale_puts_a_sentence_near_one_and_a_common_word_near_a_tenth() -> None:
    rooms = [f"Room {n} has projector {n} of the third floor." for n in range(200)]
    sentence = "The fuse box is behind the coat rack."
    assert scored([*rooms, sentence], sentence)["r200"] > 0.9
    half = [f"note {n} " + ("printer" if n % 3 == 0 else "toner") for n in range(200)]
    assert 0.05 < scored(half, "printer")["r0"] < 0.25


def test_unknown_words_and_empty_views_give_nothing() -> None:
    assert scored(POTTERY, "qwrtz plimpf") == {}
    assert scored(POTTERY, "...") == {}
    assert scored([], "kiln") == {}


def test_cold_and_hot_records_score_alike() -> None:
    terms = question_terms("kiln glaze")
    everything = scored(POTTERY, "kiln glaze")
    hot = view_of(POTTERY[2:], 2)
    cold = cold_of(POTTERY[:2], 0, list(terms))
    known = lexical.statistics(hot, terms, cold)
    whole = lexical.statistics(view_of(POTTERY), terms)
    assert known.weights == whole.weights
    same_length = lexical.Statistics(known.weights, whole.average_length)
    assert lexical.cold_scores(cold, same_length) == {
        "r0": pytest.approx(everything["r0"]),
        "r1": pytest.approx(everything["r1"]),
    }


def test_a_scope_that_is_all_cold_is_scored() -> None:
    terms = question_terms("kiln")
    cold = cold_of(POTTERY, 0, list(terms))
    known = lexical.statistics(ScopeView(3), terms, cold, cold_records=4)
    found = lexical.cold_scores(cold, known)
    assert found[RecordId("r0")] > found[RecordId("r1")] > 0.0


def test_more_cold_postings_than_records_known_stay_above_zero() -> None:
    terms = question_terms("kiln")
    cold = cold_of(["kiln"] * 50, 0, list(terms))
    known = lexical.statistics(view_of(["kiln"], 99), terms, cold, cold_records=3)
    assert all(0.0 < value < 0.1 for value in lexical.cold_scores(cold, known).values())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=8).map(" ".join), max_size=12))
def test_scores_are_above_zero_and_at_most_one(texts: list[str]) -> None:
    found = scored(texts, "a b c")
    assert {f"r{n}" for n, text in enumerate(texts) if set(text) & set("abc")} == set(found)
    assert all(0.0 < value <= 1.0 for value in found.values())


def test_to_unit_rises_and_stays_within_one() -> None:
    values = lexical.to_unit(np.array([0.0, 1.0, 8.0, 1e6]))
    assert values.tolist() == sorted(values.tolist())
    assert values[0] == 0.0
    assert values[-1] <= 1.0
