"""ScopeView: advancing in steps equals building at once; filters and vectors are exact."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfams.core.keywords import Terms, index_terms, term_id
from sfams.core.moments import NEVER, from_micros
from sfams.core.query import Filter
from sfams.core.record import RecordId, Status, Tier
from sfams.core.view import ScopeView, Vector, ViewChanges, ViewRow
from sfams.errors import InvalidInputError

DIMENSION = 3


def row(name: str, text: str = "", vector: list[float] | None = None) -> ViewRow:
    return ViewRow(
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


def view_of(*rows: ViewRow, dimension: int = DIMENSION) -> ScopeView:
    view = ScopeView(dimension)
    view.advance(ViewChanges(1, rows, ()))
    return view


def facts(view: ScopeView, terms: list[int]) -> dict[str, object]:
    """Everything a view tells about each record, whatever the row it stands in."""
    rows = np.flatnonzero(view.alive).tolist()
    held = {
        term: dict(zip(*(a.tolist() for a in view.postings(term)), strict=True)) for term in terms
    }
    around = view.turn_links.mixed(view.importance.copy(), (0.35, 0.15))
    found: dict[str, object] = {}
    for record_id, each in zip(view.ids(rows), rows, strict=True):
        vector = view.vector(each)
        found[record_id] = (
            view.importance[each],
            view.created_at[each],
            view.tokens[each],
            view.lengths[each],
            view.who_names[view.who[each]],
            None if vector is None else vector.tolist(),
            {term: counts[each] for term, counts in held.items() if each in counts},
            round(float(around[each]), 12),
        )
    return found


WORDS = ("kiln", "glaze", "shed", "tide", "gauge")
TERM_IDS = [term_id(word) for word in WORDS]


def numbered(number: int) -> ViewRow:
    """Make a row from one number: cheap to draw, and it shrinks towards a plain row."""

    def pick(count: int) -> int:
        nonlocal number
        number, choice = divmod(number, count)
        return choice

    name = f"r{pick(13)}"
    vector = [pick(5) - 2.0 for _ in range(DIMENSION)] if pick(4) else None
    words = [word for word in TERM_IDS if pick(2)]
    counts = [1 + pick(9) for _ in words]
    return ViewRow(
        id=RecordId(name),
        hot=pick(5) < 4,
        kind=("fact", "fact:deadline", "note")[pick(3)],
        importance=(0.0, 0.3, 1.0)[pick(3)],
        created_at=pick(6),
        expires_at=(NEVER, 3)[pick(2)],
        session=("", "s1", "s2")[pick(3)],
        who=("", "Ann", "Bob")[pick(3)],
        turn=pick(8) - 1,
        tokens=pick(10),
        vector=None if vector is None else np.array(vector, np.float32),
        terms=Terms(np.array(words, np.uint64), np.array(counts, np.uint16)),
    )


steps = st.lists(
    st.tuples(
        st.lists(st.integers(0, 10**20).map(numbered), max_size=8),
        st.lists(st.integers(0, 12).map(lambda n: RecordId(f"r{n}")), max_size=3),
    ),
    max_size=6,
)


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfams.core.view._FEW", 2)  # so that a few rows are compacted,
    monkeypatch.setattr("sfams.core.postings.BULK", 4)  # sorted at once
    monkeypatch.setattr("sfams.core.postings.FOLD_AT", 9)  # and folded


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],  # the same for every example
)
@given(steps)
def test_advancing_in_steps_equals_building_at_once(
    history: list[tuple[list[ViewRow], list[RecordId]]],
) -> None:
    view = ScopeView(DIMENSION)
    expected: dict[RecordId, ViewRow] = {}
    for seq, (rows, gone) in enumerate(history, 1):
        view.advance(ViewChanges(seq, rows, gone))
        facts(view, TERM_IDS)  # what is remembered between steps must not be stale
        view.dense(np.ones(DIMENSION, np.float32))
        for each in rows:
            expected.pop(each.id, None)
            if each.hot:
                expected[each.id] = each
        for record_id in gone:
            expected.pop(record_id, None)
    at_once = view_of(*expected.values())
    assert len(view) == len(expected) == len(at_once)
    assert view.seq == len(history)
    assert facts(view, TERM_IDS) == facts(at_once, TERM_IDS)
    assert all(view.alive[view.postings(term)[0]].all() for term in TERM_IDS)
    embedded = {
        record_id
        for record_id, each in expected.items()
        if each.vector is not None and each.vector.any()
    }
    assert set(view.ids(view.dense(np.ones(DIMENSION, np.float32))[0])) == embedded
    assert view.average_length == at_once.average_length
    assert [view.frequency(t) for t in TERM_IDS] == [at_once.frequency(t) for t in TERM_IDS]
    for selection in (
        Filter(kinds=("fact",)),
        Filter(who="Ann"),
        Filter(session="s1", expired=True),
    ):
        left, right = (
            set(each.ids(np.flatnonzero(each.mask(selection, 3)))) for each in (view, at_once)
        )
        assert left == right


def test_many_small_steps_are_folded_and_compacted() -> None:
    view = ScopeView(DIMENSION)
    for seq in range(600):
        name = f"r{seq % 200}"
        text = f"kiln number{seq}"
        view.advance(ViewChanges(seq + 1, (row(name, text, [1.0, seq, 0.0]),), ()))
    assert len(view) == 200
    assert view.extent <= 200 / 0.75 + 1
    assert view.frequency(term_id("kiln")) == 200
    assert view.frequency(term_id("number599")) == 1
    assert view.frequency(term_id("number3")) == 0


def test_a_removed_record_leaves_no_vector_or_id_behind() -> None:
    view = view_of(row("a", "kiln", [1, 0, 0]), row("b", "kiln", [0, 1, 0]))
    view.advance(ViewChanges(2, (), (RecordId("a"), RecordId("unknown"))))
    assert len(view) == 1
    assert view.row_of(RecordId("a")) is None
    assert "a" not in view._ids
    assert not view._matrix[0].any()


def test_a_replacement_may_lose_its_vector() -> None:
    view = view_of(row("a", "", [1, 0, 0]))
    view.advance(ViewChanges(2, (row("a"),), ()))
    assert len(view.dense(np.ones(3, np.float32))[0]) == 0


def test_changes_older_than_the_view_are_ignored() -> None:
    view = ScopeView(DIMENSION)
    view.advance(ViewChanges(5, (row("a"),), ()))
    view.advance(ViewChanges(4, (), (RecordId("a"),)))
    assert (view.seq, len(view)) == (5, 1)


def test_a_term_id_above_the_signed_range_is_found() -> None:
    high = 2**64 - 1
    terms = Terms(np.array([high], np.uint64), np.array([65_535], np.uint16))
    for count in (1, 70):
        view = view_of(*(replace(row(f"r{n}"), terms=terms) for n in range(count)))
        rows, counts = view.postings(high)
        assert len(rows) == count
        assert set(counts.tolist()) == {65_535}


def test_dense_is_exact_and_blind_to_length() -> None:
    view = view_of(row("a", "", [3, 0, 0]), row("none"), row("b", "", [0.6, 0.8, 0]))
    for scale in (1.0, 3.0):
        rows, cosines = view.dense(np.array([scale, 0, 0], np.float32))
        assert view.ids(rows) == ["a", "b"]
        assert cosines.tolist() == pytest.approx([1.0, 0.6])


@pytest.mark.parametrize("bad", [[0, 0, 0], [np.nan, 0, 0], [np.inf, 1, 0]])
def test_an_unusable_vector_counts_as_none(bad: list[float]) -> None:
    view = view_of(row("a", "", [1, 0, 0]), row("b", "", bad))
    assert view.ids(view.dense(np.array([1, 0, 0], np.float32))[0]) == ["a"]
    assert len(view.dense(np.array(bad, np.float32))[0]) == 0
    assert view.neighbours(np.array([bad], np.float32), floor=-1.0, k=2) == [[("a", 0.0)]]


def test_a_vector_of_another_model_counts_as_none_but_such_a_query_is_refused() -> None:
    view = view_of(row("a", "", [1, 0]))
    assert len(view.dense(np.ones(3, np.float32))[0]) == 0
    with pytest.raises(InvalidInputError, match="the view holds"):
        view.dense(np.ones(2, np.float32))


@pytest.mark.parametrize("floor", [-1.0, 0.0, 0.3, 0.9, 1.1])
def test_neighbours_equal_sorting_everything(floor: float) -> None:
    values = np.random.default_rng(7).standard_normal((300, 8), dtype=np.float32)
    view = view_of(*(row(f"r{n}", "", v.tolist()) for n, v in enumerate(values)), dimension=8)
    view.advance(ViewChanges(2, (), [RecordId(f"r{n}") for n in range(0, 60, 2)]))
    queries = values[:40]
    for query, near in zip(queries, view.neighbours(queries, floor=floor, k=5), strict=True):
        rows, every = view.dense(query)
        best = [at for at in np.argsort(-every, kind="stable")[:5].tolist() if every[at] >= floor]
        assert [record_id for record_id, _ in near] == view.ids(rows[best])
        assert [cosine for _, cosine in near] == pytest.approx(every[best].tolist(), abs=1e-6)


def test_equal_neighbours_are_given_by_row() -> None:
    view = view_of(*(row(name, "", [1, 0, 0]) for name in "abcd"))
    (near,) = view.neighbours(np.array([[1, 0, 0]], np.float32), floor=0.5, k=3)
    assert near == [("a", 1.0), ("b", 1.0), ("c", 1.0)]


def test_neighbours_are_never_dead_or_without_a_vector() -> None:
    view = view_of(row("far", "", [-1, 0, 0]), row("dead", "", [1, 0, 0]), row("none"))
    view.advance(ViewChanges(2, (), (RecordId("dead"),)))
    asked = np.array([[1, 0, 0]], np.float32)
    assert view.neighbours(asked, floor=-1.0, k=3) == [[("far", -1.0)]]


def test_nobody_is_near_in_an_empty_view_or_to_no_text() -> None:
    empty: Vector = np.zeros((0, DIMENSION), np.float32)
    asked = np.ones((2, DIMENSION), np.float32)
    assert ScopeView(DIMENSION).neighbours(asked, floor=-1.0, k=3) == [[], []]
    assert view_of(row("a", "", [1, 0, 0])).neighbours(empty, floor=-1.0, k=3) == []


def test_mask_reads_every_column() -> None:
    base = row("a")
    view = view_of(
        replace(base, kind="fact:deadline", importance=0.7, created_at=10, who="Ann", session="s"),
        replace(base, id=RecordId("b"), kind="note", importance=0.2, created_at=20, expires_at=50),
    )

    def names(selection: Filter, now: int = 0) -> list[str]:
        return [str(each) for each in view.ids(np.flatnonzero(view.mask(selection, now)))]

    assert names(Filter()) == ["a", "b"]
    assert names(Filter(), now=50) == ["a"]
    assert names(Filter(expired=True), now=50) == ["a", "b"]
    assert names(Filter(kinds=("fact",))) == ["a"]
    assert names(Filter(kinds=("fact:deadline", "note"))) == ["a", "b"]
    assert names(Filter(kinds=("goal",))) == []
    assert names(Filter(importance_min=0.7)) == ["a"]
    assert names(Filter(importance_max=0.2)) == ["b"]
    assert names(Filter(created_from=from_micros(10), created_to=from_micros(20))) == ["a"]
    assert names(Filter(who="Ann")) == names(Filter(session="s")) == ["a"]
    assert names(Filter(who="")) == ["b"]
    assert names(Filter(who="Zed")) == []
    assert names(Filter(statuses=(Status.DELETED,))) == names(Filter(tiers=(Tier.COLD,))) == []
    assert names(Filter(statuses=())) == ["a", "b"]
    assert not ScopeView.answers(Filter(tags=("x",)))
    assert not ScopeView.answers(Filter(text=""))
    assert ScopeView.answers(Filter(who="Ann", created_from=datetime(2026, 1, 1, tzinfo=UTC)))


def test_rows_of_marks_known_ids_only() -> None:
    view = view_of(row("a"), row("b"))
    assert view.rows_of([RecordId("b"), RecordId("zed")]).tolist() == [False, True]
    assert view.rows_of([]).tolist() == [False, False]


def test_neighbours_are_turns_not_rows() -> None:
    def at(name: str, turn: int, importance: float, session: str = "s") -> ViewRow:
        return replace(row(name), turn=turn, importance=importance, session=session)

    view = view_of(
        at("t5", 5, 0.5),
        at("t1", 1, 1.0),
        at("t2", 2, 0.0),
        at("t2b", 2, 0.4),
        at("t3", 3, 0.2),
        at("other", 6, 1.0, "z"),
        at("none", 2, 1.0, ""),
        at("unknown", -1, 1.0),
    )
    around = view.turn_links.mixed(view.importance.copy(), (0.35, 0.15))
    found = dict(zip(view.ids(range(view.extent)), around.tolist(), strict=True))
    assert found["t1"] == pytest.approx(0.35 * 0.4 + 0.15 * 0.2)
    assert found["t2"] == found["t2b"] == pytest.approx(0.35 * (1.0 + 0.2))
    assert found["t3"] == pytest.approx(0.35 * 0.4 + 0.15 * (1.0 + 0.5))
    assert found["t5"] == pytest.approx(0.15 * 0.2)
    assert found["other"] == found["none"] == found["unknown"] == 0.0
