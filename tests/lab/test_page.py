"""The demonstration's page: it says what the run found, escapes all it shows, and asks nobody anything."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sfams.lab.demo import run_demo
from sfams.lab.page import MARK, render
from sfams.lab.report import DemoReport

VOID = {"meta", "input"}
HOSTILE = "</script><script>alert('x')</script> \"quotes\" & <b>bold</b> 内存<泄漏>"


class Reader(HTMLParser):
    """Collects elements and texts, and refuses what is not nested."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> DemoReport:
    return run_demo(tmp_path_factory.mktemp("demo") / "harbour.db", embedder="hashing")


@pytest.fixture(scope="module")
def page(report: DemoReport) -> str:
    return render(report)


def test_the_story_agrees_with_the_sizes(report: DemoReport) -> None:
    fates = Counter(life.fate for life in report.story.lives)
    sizes = report.sizes
    assert fates == {
        "hot": sizes.hot,
        "cold": sizes.cold,
        "superseded": sizes.superseded,
        "deleted": sizes.deleted,
    }
    for life in report.story.lives:
        assert (life.since is None) == (life.fate == "hot")
        assert bool(life.reason) == (life.fate != "hot")
        if life.score is not None:
            assert sum(life.parts.values()) == pytest.approx(life.score)
    scores = [life.score for life in report.story.lives if life.fate == "hot" and life.score]
    assert report.story.least_hot == min(scores)
    for line in report.story.outlooks:
        assert (line.days[0], line.days[-1]) == (0.0, 180.0)
        assert all(0.0 <= value <= 1.0 for value in line.values)
        assert line.values[0] >= line.values[-1]


def test_the_page_is_well_formed_and_shows_every_memory(report: DemoReport, page: str) -> None:
    reader = read(page)
    rows = [attrs for tag, attrs in reader.elements if tag == "tr" and "data-fate" in attrs]
    gone = [life for life in report.story.lives if life.fate != "hot"]
    assert Counter(row["data-fate"] for row in rows) == Counter(life.fate for life in gone)
    marks = [
        attrs for _, attrs in reader.elements if (attrs.get("class") or "").startswith("mark ")
    ]
    assert len(marks) == len(report.story.lives) + len(gone) + 4  # timeline, table, legend
    shown = set(reader.texts["td"])
    assert all(life.text in shown for life in gone)
    assert {f"{report.sizes.turns}", f"{report.sizes.hot}"} <= set(reader.texts["strong"])
    assert "9 of 10" in page or f"{report.systems[0].right} of {len(report.asked)}" in page


def test_the_page_needs_nothing_and_asks_nobody(page: str) -> None:
    reader = read(page)
    assert not {tag for tag, _ in reader.elements} & {"link", "img", "iframe", "object", "form"}
    for _, attrs in reader.elements:
        assert not {name for name in attrs if name.startswith("on") or name in ("src", "style")}
    head = {attrs.get("http-equiv"): attrs.get("content") for _, attrs in reader.elements}
    policy = head["Content-Security-Policy"] or ""
    assert "default-src 'none'" in policy
    for tag in ("style", "script"):
        (inlined,) = reader.texts[tag]
        digest = b64encode(sha256(inlined.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "url(" not in inlined
        assert "@import" not in inlined
        assert not re.search(r"fetch|XMLHttp|https?:", inlined)
    assert MARK in page[:2000]


def test_what_is_said_cannot_break_the_page(report: DemoReport) -> None:
    story = report.story
    lives = tuple(replace(life, text=HOSTILE, who=HOSTILE, kind="note") for life in story.lives)
    asked = tuple(
        replace(each, question=replace(each.question, text=HOSTILE)) for each in report.asked
    )
    reader = read(render(replace(report, story=replace(story, lives=lives), asked=asked)))
    assert Counter(tag for tag, _ in reader.elements)["script"] == 1
    assert HOSTILE in reader.texts["td"]
    assert HOSTILE in reader.texts["th"]


def test_the_same_run_gives_the_same_page(report: DemoReport, page: str, tmp_path: Path) -> None:
    again = run_demo(tmp_path / "again.db", embedder="hashing")
    assert render(again) == page


def test_a_run_with_nothing_hot_has_a_page_too(tmp_path: Path) -> None:
    report = run_demo(tmp_path / "none.db", embedder="hashing", budget=0)
    assert report.story.outlooks == ()
    reader = read(render(report))
    assert not [attrs for _, attrs in reader.elements if attrs.get("class") == "mark hot "]
