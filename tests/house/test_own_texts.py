"""The own-written labelled texts are whole: every label names something that is there."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

TEXTS = Path(__file__).parents[2] / "benchmarks" / "quality" / "texts"
FILES = sorted(TEXTS.glob("*.jsonl"))
CATEGORIES = {"single", "multi", "temporal", "update", "preference", "abstention"}
NOISE = {"small_talk", "filler", "expired", "superseded", None}


def conversations(file: Path) -> list[list[dict[str, Any]]]:
    found: list[list[dict[str, Any]]] = []
    for line in file.read_text("utf-8").splitlines():
        item = json.loads(line)
        if item["type"] == "conversation":
            found.append([])
        found[-1].append(item)
    return found


def of_type(items: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [item for item in items if item["type"] == kind]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_both_sets_are_there_in_both_languages() -> None:
    assert [file.stem for file in FILES] == ["assistant-en", "assistant-zh", "peer-en", "peer-zh"]
    for style in ("peer", "assistant"):
        units = [
            item
            for file in FILES
            if file.stem.startswith(style)
            for one in conversations(file)
            for item in of_type(one, "unit")
        ]
        assert len(units) >= 200


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_labels_fit_together(file: Path) -> None:
    for items in conversations(file):
        head, *rest = items
        assert (head["licence"], head["language"]) == ("CC0-1.0", file.stem[-2:])
        units, questions = of_type(rest, "unit"), of_type(rest, "question")
        by_id = {unit["id"]: unit for unit in units}
        assert len(by_id) == len(units)
        assert len({unit["text"] for unit in units if len(unit["text"]) > 12}) == len(
            [unit for unit in units if len(unit["text"]) > 12]
        )
        moments = [moment(unit["at"]) for unit in units]
        assert moments == sorted(moments)
        for unit in units:
            assert unit["worth"] in (0, 1, 2)
            assert unit["noise"] in NOISE
            successor = unit["superseded_by"]
            assert (unit["noise"] == "superseded") == (successor is not None)
            assert successor is None or moment(by_id[successor]["at"]) > moment(unit["at"])
            assert unit["expires_at"] is None or moment(unit["expires_at"]) > moment(unit["at"])
        for question in questions:
            assert moment(question["at"]) > moments[-1]
            assert question["category"] in CATEGORIES
            assert bool(question["evidence"]) == (question["category"] != "abstention")
            assert all(by_id[each]["worth"] == 2 for each in question["evidence"])
            for each in question["stale"]:
                assert by_id[each]["superseded_by"] is not None or question["category"] == "update"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_most_is_never_asked_for_and_every_category_is(file: Path) -> None:
    units = [unit for items in conversations(file) for unit in of_type(items, "unit")]
    questions = [each for items in conversations(file) for each in of_type(items, "question")]
    evidence = {
        (number, each)
        for number, items in enumerate(conversations(file))
        for question in of_type(items, "question")
        for each in question["evidence"]
    }
    assert 0.1 < len(evidence) / len(units) < 0.3
    assert 0.5 < sum(unit["noise"] is not None for unit in units) / len(units) < 0.75
    assert Counter(each["category"] for each in questions).keys() == CATEGORIES


def test_the_table_counts_right() -> None:
    page = (TEXTS / "README.md").read_text("utf-8")
    rows = re.findall(r"`(\S+)\.jsonl` \| (\d+) \| (\d+) \| (\d+)", page)
    counted = [
        (
            file.stem,
            len(conversations(file)),
            sum(len(of_type(items, "unit")) for items in conversations(file)),
            sum(len(of_type(items, "question")) for items in conversations(file)),
        )
        for file in FILES
    ]
    assert sorted((name, int(a), int(b), int(c)) for name, a, b, c in rows) == counted
