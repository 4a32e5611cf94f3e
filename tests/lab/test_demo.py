from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from sfams.bootstrap import open_memory
from sfams.core.vectors import Vector
from sfams.errors import InvalidInputError
from sfams.lab.demo import EVERYTHING, HOT_ONLY, SCOPE, SF_AMS, WINDOW, run_demo
from sfams.lab.history import by_session, read_questions, read_turns
from sfams.lab.replay import ReplayClock, ReplayIds, SharedEmbedder
from sfams.lab.report import DemoReport
from sfams.providers.hashing import HashingEmbedder
from sfams.testing.clock import START

BUDGET, TOKENS = 60, 400


class CountingEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed_passages(self, texts: Sequence[str], /) -> Vector:
        self.texts += texts
        return super().embed_passages(texts)


@pytest.fixture(scope="module")
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "harbour.db"


@pytest.fixture(scope="module")
def report(path: Path, embedder: CountingEmbedder) -> DemoReport:
    return run_demo(path, embedder=embedder, budget=BUDGET, tokens=TOKENS)


def test_the_history_is_whole() -> None:
    turns, questions = read_turns(), read_questions()
    keys = {turn.key for turn in turns}
    assert (len(turns), len(keys), len(by_session(turns)), len(questions)) == (305, 305, 31, 10)
    assert all(first.at <= second.at for first, second in pairwise(turns))
    assert all(keys >= {*each.gold, *each.stale} and each.gold for each in questions)


def test_what_keeps_everything_hears_the_same_but_ends_and_supersedes_nothing() -> None:
    kept, everything = ([t.fields(forgetting=each) for t in read_turns()] for each in (True, False))
    assert any(fields["ttl"] for fields in kept)
    assert not any(fields["ttl"] for fields in everything)
    slots = [(f["subject"], f["attribute"]) for f in everything if "subject" in f]
    assert len(slots) == len(set(slots)) == sum("subject" in fields for fields in kept) > 30
    ends = {"ttl", "attribute"}
    for one, other in zip(kept, everything, strict=True):
        assert {n: v for n, v in one.items() if n not in ends} == {
            n: v for n, v in other.items() if n not in ends
        }


def test_no_text_is_embedded_twice(report: DemoReport, embedder: CountingEmbedder) -> None:
    assert len(embedder.texts) == len(set(embedder.texts)) > 290


def test_the_budget_holds_after_every_session(report: DemoReport) -> None:
    assert len(report.trail) == 31
    assert sum(each.turns for each in report.trail) == 305
    assert all(each.hot <= BUDGET for each in report.trail)
    assert report.trail[-1].hot == report.sizes.hot == BUDGET


def test_every_turn_is_accounted_for(report: DemoReport) -> None:
    sizes = report.sizes
    assert sizes.hot + sizes.cold + sizes.superseded + sizes.deleted == sizes.turns == 305
    assert sizes.deleted == sum(each.deleted for each in report.trail) > 0
    assert sizes.superseded == sum(each.superseded for each in report.trail) > 0


def test_every_question_is_put_to_every_system(report: DemoReport) -> None:
    assert [each.question for each in report.asked] == list(read_questions())
    for each in report.asked:
        assert list(each.answers) == [SF_AMS, HOT_ONLY, WINDOW, EVERYTHING]
        for answer in each.answers.values():
            assert 0 < answer.tokens <= TOKENS
            assert answer.right == bool(set(answer.turns) & set(each.question.gold))
            assert set(answer.stale) == set(answer.turns) & set(each.question.stale)
        assert each.evidence.shown == each.answers[SF_AMS].right


def test_the_totals_are_the_sums(report: DemoReport) -> None:
    for system in report.systems:
        answers = [each.answers[system.name] for each in report.asked]
        assert system.right == sum(answer.right for answer in answers)
        assert system.stale_shown == sum(bool(answer.stale) for answer in answers)
        assert system.mean_tokens == pytest.approx(sum(a.tokens for a in answers) / len(answers))


def test_the_window_is_the_newest_turns(report: DemoReport) -> None:
    newest = [turn.key for turn in reversed(read_turns())]
    shown = list(report.asked[0].answers[WINDOW].turns)
    assert shown == newest[: len(shown)]


def test_what_is_superseded_or_expired_is_not_shown(report: DemoReport) -> None:
    assert report.systems[0].name == SF_AMS
    assert report.systems[0].stale_shown == 0


def test_the_plan_says_why(report: DemoReport) -> None:
    rows = report.plan.rows
    assert rows
    assert [row.score for row in rows] == sorted(row.score for row in rows)
    for row in rows:
        assert sum(row.parts.values()) == pytest.approx(row.score)
        assert row.text == next(turn.text for turn in read_turns() if turn.key == row.turn)


def test_the_last_plan_is_undone(report: DemoReport, path: Path) -> None:
    undo, plan = report.undo, report.plan
    assert (undo.hot_before, undo.hot_after) == (plan.hot_after, plan.hot_before)
    assert (undo.restored, undo.skipped, undo.exact) == (len(plan.rows), 0, True)
    with open_memory(path, scope=SCOPE, embedder="hashing") as memory:
        assert memory.stats().hot == plan.hot_before


def test_the_same_run_gives_the_same_report(report: DemoReport, tmp_path: Path) -> None:
    told: list[int] = []
    again = run_demo(
        tmp_path / "again.db",
        embedder="hashing",
        budget=BUDGET,
        tokens=TOKENS,
        progress=told.append,
    )
    assert again == report
    assert told == [each.turns for each in report.trail]


def test_the_report_is_json(report: DemoReport) -> None:
    text = json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False)
    shape = json.loads(text)
    assert shape["trail"][-1]["at"] == "2026-05-30T08:50:00Z"
    assert shape["asked"][0]["question"]["gold"] == ["t208"]
    assert len(shape["systems"]) == 4


@pytest.mark.parametrize("wrong", [{"embedder": "psychic"}, {"budget": -1}, {"tokens": 0}])
def test_senseless_arguments_are_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        run_demo(tmp_path / "m.db", **{"embedder": "hashing", **wrong})  # type: ignore[arg-type]


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mine.db"
    path.write_text("precious")
    with pytest.raises(InvalidInputError, match="exists"):
        run_demo(path, embedder="hashing")
    assert path.read_text() == "precious"


def test_replay_ids_rise_and_repeat() -> None:
    first, second = (ReplayIds(ReplayClock(START)) for _ in range(2))
    made = [first() for _ in range(100)]
    assert made == sorted(made) == [second() for _ in range(100)]
    assert len({each[-8:] for each in made}) == 100


def test_a_shared_embedder_embeds_once_and_stays_open() -> None:
    inner = CountingEmbedder()
    shared = SharedEmbedder(inner)
    rows = shared.embed_passages(["a cat", "a dog", "a cat"])
    assert (rows[0] == rows[2]).all()
    shared.close()
    assert (shared.embed_passages(["a dog"])[0] == rows[1]).all()
    assert inner.texts == ["a cat", "a dog"]
    assert shared.embed_passages([]).shape == (0, inner.dimension)
