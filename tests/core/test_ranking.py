"""Ranking: parts add up, scores mean the same everywhere, and garbage is not returned wholesale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfams.core.keywords import ColdPosting, index_terms, question_terms, term_id
from sfams.core.moments import NEVER, to_micros
from sfams.core.query import Calibration, Filter, Mode, Query
from sfams.core.ranking import Candidate, ColdSide, Question, Ranking, RankingWeights, rank
from sfams.core.record import RecordId, Status, Tier
from sfams.core.view import ScopeView, Vector, ViewChanges, ViewRow
from sfams.errors import InvalidInputError

NOW = datetime(2026, 6, 1, tzinfo=UTC)
STUB = Calibration(mean=0.0, deviation=0.1)
E5 = Calibration(mean=0.785, deviation=0.022)


def row(name: str, text: str, vector: Sequence[float] | None = None, **fields: Any) -> ViewRow:
    base = ViewRow(
        id=RecordId(name),
        hot=True,
        kind="fact",
        importance=0.5,
        created_at=0,
        expires_at=NEVER,
        session="",
        who="",
        turn=-1,
        tokens=1,
        vector=None if vector is None else np.array(vector, np.float32),
        terms=index_terms(text),
    )
    return replace(base, **fields)


def view_of(rows: Sequence[ViewRow], dimension: int = 3) -> ScopeView:
    view = ScopeView(dimension)
    view.advance(ViewChanges(1, rows, ()))
    return view


def asked(text: str, vector: Sequence[float] | None = None, **fields: Any) -> Question:
    made: Vector | None = None if vector is None else np.array(vector, np.float32)
    return replace(Question.of(Query(text=text), made, NOW), **fields)


def ids(ranking: Ranking) -> list[str]:
    return [str(each.id) for each in ranking.candidates]


def cold(name: str, term: str, **fields: Any) -> ColdPosting:
    base = ColdPosting(RecordId(name), term_id(term), 1, 3, 0.5, 0, NEVER)
    return replace(base, **fields)


# ── Cases ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_c102_vector_scores_are_cosines_and_the_minimum_cuts_the_right_end(scale: float) -> None:
    stub: dict[str, list[float]] = {
        "same": [1, 0, 0],
        "near": [0.6, 0.8, 0],
        "far": [0, 1, 0],
        "opposite": [-1, 0, 0],
    }
    rows = [
        row(name, name, [scale * x for x in vector], created_at=n)
        for n, (name, vector) in enumerate(stub.items())
    ]
    question = asked("query", [scale, 0, 0], mode=Mode.VECTOR)
    found = rank(view_of(rows), question, STUB)
    assert ids(found) == ["same", "near", "far", "opposite"]
    assert [each.score for each in found.candidates] == pytest.approx([1.0, 0.6, 0, 0], abs=1e-3)
    for minimum, names in ((0.5, ["same", "near"]), (0.99, ["same"])):
        cut = rank(view_of(rows), replace(question, min_score=minimum), STUB)
        assert ids(cut) == names
        assert cut.below == 4 - len(names)


def test_c103_a_record_whose_very_words_were_asked_for_is_not_hidden() -> None:
    view = view_of(
        [
            row("1", "The tide gauge login is in the harbour entry of the vault.", [0.31, 0.95, 0]),
            row("2", "The gauge of the model railway is N.", [0.19, 0.98, 0]),
            row("3", "Printer toner is ordered from Kessler.", [0.1, 0.99, 0]),
        ]
    )
    question = asked("tide gauge", [1, 0, 0])
    assert ids(rank(view, question, STUB))[0] == "1"
    strict = rank(view, replace(question, mode=Mode.VECTOR, min_score=0.5), STUB)
    assert strict.candidates == ()
    assert strict.below == 3
    assert strict.best_below == pytest.approx(0.31, abs=0.01)


def test_c104_the_keyword_part_is_not_flattened_in_hybrid_mode() -> None:
    texts = {
        "1": "Kiln glaze schedule: kiln at cone 6, glaze twice, kiln off at noon.",
        "2": "A long letter about holidays, trains, weather and, once, a kiln, and twenty lines.",
        "3": "The glaze is in the shed.",
        "4": "Nothing about pottery here.",
    }
    view = view_of([row(name, text, [1, 0, 0]) for name, text in texts.items()])
    question = asked("kiln glaze", [1, 1, 0])
    assert ids(rank(view, question, STUB))[0] == "1"
    words = rank(view, replace(question, mode=Mode.KEYWORD), STUB)
    assert ids(words)[0] == "1"
    assert set(ids(words)) == {"1", "2", "3"}


def test_c105_one_minimum_makes_sense_in_each_mode() -> None:
    sentence = "The fuse box is behind the coat rack."
    rows = [row(f"room{n}", f"Room {n} has projector {n}.", [0, 1, 0]) for n in range(40)]
    view = view_of([*rows, row("fuse", sentence, [1, 0, 0])])
    for mode in Mode:
        found = rank(view, asked(sentence, [1, 0.1, 0], mode=mode, min_score=0.3), STUB)
        assert ids(found) == ["fuse"], mode
    nonsense = asked("qwrtz plimpf", [0, 0, 1], min_score=0.3)
    assert ids(rank(view, nonsense, STUB)) == []
    assert ids(rank(view, replace(nonsense, mode=Mode.KEYWORD, min_score=0.0), STUB)) == []


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("text", ["...", "!?", "🙂", "", " ", "\u200b"])
def test_c099_a_question_without_words_never_returns_everything(text: str, mode: Mode) -> None:
    # Measured: e5 puts "..." up to 2 deviations above the mean beside most short texts.
    cosine = E5.mean + 2 * E5.deviation
    view = view_of(
        [row(f"r{n}", f"thing {n}", [cosine, (1 - cosine**2) ** 0.5, 0]) for n in range(12)]
    )
    assert ids(rank(view, asked(text, [1, 0, 0], mode=mode), E5)) == []


def test_an_emoji_finds_the_record_that_has_it() -> None:
    view = view_of([row("a", "great day 🙂", [0, 1, 0]), row("b", "great night", [0, 1, 0])])
    assert ids(rank(view, asked("🙂", [1, 0, 0]), E5)) == ["a"]


def test_c111_what_cannot_be_seen_moves_no_dense_score_and_no_neighbour() -> None:
    seen = row("seen", "", [0.6, 0.8, 0], session="s", turn=1)
    past = to_micros(NOW)
    hidden = row("hidden", "", [1, 0, 0], session="s", turn=2, expires_at=past)
    question = asked("where is the drone", [1, 0, 0])
    alone = rank(view_of([seen]), question, STUB)
    assert rank(view_of([seen, hidden]), question, STUB).candidates == alone.candidates


@pytest.mark.parametrize("fields", [{"who": "Ann"}, {"vector": np.ones(3, np.float32)}])
def test_c111_a_hidden_record_does_not_change_which_signals_count(fields: dict[str, Any]) -> None:
    seen = row("seen", "Ann has a kiln")
    other = row("hidden", "shed", expires_at=to_micros(NOW))
    with_it, without = (
        rank(view_of([seen, each]), asked("Ann kiln", [1, 0, 0]), STUB)
        for each in (replace(other, **fields), other)
    )
    assert with_it.candidates == without.candidates


def test_c112_ties_come_newest_first_then_by_id() -> None:
    rows = [row(f"r{n}", "kiln", [1, 0, 0], created_at=n // 2) for n in range(6)]
    expected = ["r4", "r5", "r2", "r3", "r0", "r1"]
    for order in (rows, rows[::-1], rows[3:] + rows[:3]):
        found = rank(view_of(order), asked("kiln", [1, 0, 0]), STUB)
        assert ids(found) == expected
        assert ids(rank(view_of(order), asked("kiln", [1, 0, 0], k=3), STUB)) == expected[:3]


# ── Signals ──────────────────────────────────────────────────────────────────────────────────────


def test_the_speaker_whom_the_question_names_comes_first() -> None:
    view = view_of(
        [
            row("melanie", "I painted a sunrise", [0.8, 0.6, 0], who="Melanie Smith"),
            row("caroline", "I painted a sunrise", [0.8, 0.6, 0], who="Caroline", created_at=9),
        ]
    )
    found = rank(view, asked("When did MELANIE's sunrise get painted?", [1, 0, 0]), STUB)
    assert ids(found) == ["melanie", "caroline"]
    assert found.candidates[0].parts["speaker"] == pytest.approx(0.15 / 2)
    unnamed = rank(view, asked("a sunrise", [1, 0, 0]), STUB)
    assert "speaker" not in unnamed.candidates[0].parts
    assert ids(unnamed) == ["caroline", "melanie"]


def test_a_reply_is_found_beside_its_question() -> None:
    rows = [
        row("question", "When was the kiln fired?", [1, 0, 0], session="s", turn=3),
        row("reply", "On Tuesday.", [0, 1, 0], session="s", turn=4),
        row("elsewhere", "On Tuesday.", [0, 1, 0], session="t", turn=4),
    ]
    question = asked("kiln fired", [1, 0, 0])
    found = rank(view_of(rows), question, STUB)
    assert ids(found) == ["question", "reply"]
    assert found.candidates[1].parts["neighbours"] > 0.1
    off = rank(view_of(rows), question, STUB, RankingWeights(neighbours=()))
    assert ids(off) == ["question"]


def test_neighbours_take_their_part_of_what_is_left() -> None:
    rows = [row(f"r{n}", "", [1, 0, 0], session="s", turn=n, importance=0.0) for n in range(2)]
    question = asked("kiln", [2, 1, 0])
    weights = RankingWeights(neighbours=(0.4,))
    own = 0.55 * 2 / 5**0.5
    found = rank(view_of(rows), question, STUB, weights).candidates
    assert len(found) == 2
    for each in found:
        assert each.parts["neighbours"] == pytest.approx(0.95 * 0.4 * own * (1 - own), abs=1e-5)


def test_recency_is_off_by_default_and_halves_on_time() -> None:
    old = to_micros(NOW - timedelta(days=30))
    view = view_of(
        [row("new", "kiln", created_at=to_micros(NOW)), row("old", "kiln", created_at=old)]
    )
    assert "recency" not in rank(view, asked("kiln"), STUB).candidates[0].parts
    found = rank(view, asked("kiln"), STUB, RankingWeights(recency=0.2)).candidates
    assert [each.parts["recency"] for each in found] == pytest.approx([0.2, 0.1])


def test_without_a_vector_words_carry_the_whole_score() -> None:
    view = view_of([row("a", "kiln", [1, 0, 0], importance=0.0)])
    words = rank(view, asked("kiln", mode=Mode.KEYWORD), STUB).candidates[0]
    for vector in (None, [0, 0, 0], [np.nan, 0, 0]):
        found = rank(view, asked("kiln", vector), STUB).candidates[0]
        assert found.score == pytest.approx(0.95 * words.score)
        assert "dense" not in found.parts
    assert ids(rank(view, asked("kiln", mode=Mode.VECTOR), STUB)) == []


# ── Filters and cold records ─────────────────────────────────────────────────────────────────────


def test_among_narrows_hot_and_cold() -> None:
    view = view_of([row("a", "kiln"), row("b", "kiln")])
    side = ColdSide((cold("c", "kiln"), cold("d", "kiln")), 2)
    question = asked("kiln", selection=Filter(tags=("x",)))
    among = frozenset({RecordId("b"), RecordId("d")})
    assert set(ids(rank(view, replace(question, among=among), STUB, None, side))) == {"b", "d"}
    assert ids(rank(view, question, STUB, None, side)) == ["a", "b"]


def test_cold_records_lose_their_penalty_and_keep_their_order() -> None:
    view = view_of([row("hot", "kiln shed tide")])
    side = ColdSide((cold("cold", "kiln"), cold("late", "kiln", expires_at=to_micros(NOW))), 2)
    found = rank(view, asked("kiln"), STUB, None, side)
    assert ids(found) == ["hot", "cold"]
    hot, chilled = found.candidates
    assert chilled.cold
    assert chilled.score == pytest.approx(0.9 * hot.score)
    assert chilled.parts["cold"] < 0.0
    for selection in (Filter(tiers=(Tier.HOT,)), Filter(statuses=(Status.DELETED,))):
        assert "cold" not in ids(rank(view, asked("kiln", selection=selection), STUB, None, side))
    only = asked("kiln", selection=Filter(tiers=(Tier.COLD,)))
    assert ids(rank(view, only, STUB, None, side)) == ["cold"]
    assert ids(rank(view, asked("kiln", mode=Mode.VECTOR), STUB, None, side)) == []


def test_nothing_is_asked_for_and_nothing_is_there() -> None:
    assert rank(ScopeView(3), asked("kiln", [1, 0, 0]), STUB) == Ranking()
    assert ids(rank(view_of([row("a", "kiln")]), asked("kiln", k=0), STUB)) == []


# ── Laws ─────────────────────────────────────────────────────────────────────────────────────────

numbers = st.sampled_from((0.0, 1.0, -1.0, 0.5, float("nan"), float("inf")))
vectors = st.none() | st.lists(numbers, min_size=3, max_size=3)


def numbered(place: int, number: int) -> ViewRow:
    """Make a row from one number: cheap to draw, and it shrinks towards a plain row."""

    def pick(*choices: Any) -> Any:
        nonlocal number
        number, choice = divmod(number, len(choices))
        return choices[choice]

    values = (0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"))
    return row(
        f"r{place}",
        pick("kiln", "kiln glaze", "Ann", "", "shed kiln kiln"),
        pick(None, [pick(*values), pick(*values), pick(*values)]),
        importance=pick(0.0, 0.4, 1.0, float("nan")),
        created_at=pick(0, 1, 2),
        session=pick("", "s"),
        turn=pick(-1, 0, 1, 2, 3, 4),
        who=pick("", "Ann"),
    )


scopes = st.lists(st.integers(0, 10**9), max_size=8).map(
    lambda numbers: [numbered(place, number) for place, number in enumerate(numbers)]
)
questions = st.builds(
    lambda text, vector, mode: asked(text, vector, mode=mode),
    st.sampled_from(("kiln", "Ann kiln glaze", "", "...")),
    vectors,
    st.sampled_from(list(Mode)),
)
tunings = st.builds(
    RankingWeights,
    recency=st.sampled_from((0.0, 0.3)),
    neighbours=st.sampled_from(((), (0.35, 0.15), (1.0, 1.0))),
    cold_penalty=st.sampled_from((0.0, 1.0)),
)
calibrations = st.sampled_from((STUB, E5, Calibration(0.0, 1.0), Calibration(1.0, 0.0)))


@settings(max_examples=100, deadline=None)
@given(scopes, questions, tunings, calibrations)
def test_parts_add_up_within_bounds_in_a_stable_order(
    rows: list[ViewRow], question: Question, weights: RankingWeights, calibration: Calibration
) -> None:
    side = ColdSide((cold("c1", "kiln"), cold("c2", "glaze", importance=1.0)), 2)
    found = rank(view_of(rows), question, calibration, weights, side)
    for each in found.candidates:
        assert 0.0 <= each.score <= 1.0
        assert sum(each.parts.values()) == pytest.approx(each.score, abs=1e-9)
        assert all(np.isfinite(part) for part in each.parts.values())
    order = [(-each.score, -each.closeness, -each.created_at, each.id) for each in found.candidates]
    assert order == sorted(order)
    again = rank(view_of(rows[::-1]), question, calibration, weights, side)
    assert list(map(_rounded, again.candidates)) == list(map(_rounded, found.candidates))
    few = rank(view_of(rows), replace(question, k=2), calibration, weights, side)
    assert few.candidates == found.candidates[:2]


def _rounded(each: Candidate) -> tuple[str, float]:
    return each.id, round(each.score, 9)


@pytest.mark.parametrize(
    "fields",
    [
        {"dense": -0.1},
        {"dense": float("nan")},
        {"dense": 0.0, "lexical": 0.0},
        {"importance": 0.6, "speaker": 0.4},
        {"neighbours": (0.1, 0.1, 0.1)},
        {"neighbours": (2.0,)},
        {"recency_half_life": timedelta(0)},
        {"cold_penalty": 1.1},
        {"noise": -1.0},
    ],
)
def test_weights_that_make_no_sense_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        RankingWeights(**fields)


def test_a_question_knows_whether_it_has_words() -> None:
    assert not Question.of(Query(text="桂花糕"), None, NOW).wordless
    assert Question.of(Query(text="?! 🙂"), None, NOW).wordless
    assert Question.of(Query(text="kiln kiln"), None, NOW).terms == question_terms("kiln kiln")
