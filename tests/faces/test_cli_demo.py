from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len
from rich.text import Text
from typer.testing import CliRunner, Result

from sfams.bootstrap import open_memory
from sfams.cli import demo
from sfams.lab.demo import SCOPE

runner = CliRunner()


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    made = typer.Typer()
    made.callback()(lambda: None)
    demo.register(made)
    return made


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page goes into the present folder."""
    monkeypatch.chdir(tmp_path)


def run(app: typer.Typer, *arguments: str) -> Result:
    return runner.invoke(app, ["demo", "--embedder", "hashing", *arguments])


def test_a_page_is_written_unless_it_would_cover_something_else(
    app: typer.Typer, tmp_path: Path
) -> None:
    page = tmp_path / "sfams-demo.html"
    result = run(app)
    assert f"why it went: {page.name}" in result.stdout
    first = page.read_text("utf-8")
    assert first.startswith("<!doctype html>")
    assert json.loads(run(app, "--json").stdout)["page"] == page.name  # ours is written anew
    page.write_text("my own notes")
    kept = run(app)
    assert kept.exit_code == 0
    assert "stays as it is" in kept.stderr
    assert page.read_text("utf-8") == "my own notes"
    elsewhere = tmp_path / "other.html"
    run(app, "--html", str(elsewhere))
    assert elsewhere.read_text("utf-8") == first


def test_where_no_page_can_be_written_the_demo_still_succeeds(
    app: typer.Typer, tmp_path: Path
) -> None:
    result = run(app, "--html", str(tmp_path / "absent" / "page.html"))
    assert result.exit_code == 0
    assert "no page was written" in result.stderr
    assert json.loads(run(app, "--no-html", "--json").stdout)["page"] is None
    assert not list(tmp_path.glob("*.html"))


def test_the_page_shows_plan_answers_comparison_and_undo(app: typer.Typer, tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    result = run(app, "--keep", str(path))
    assert result.exit_code == 0, result.output
    for expected in (
        "305 turns in 31 sessions, 2 March 2026 to 30 May 2026",
        "over budget",
        "q05 给陈静的周报要用什么语言，最晚几点发？",
        "keep everything",
        "every count is what it was before",
        f"--db {path}",
    ):
        assert expected in result.stdout
    assert "\x1b" not in result.stdout
    assert not result.stderr
    with open_memory(path, scope=SCOPE, embedder="hashing") as memory:
        assert memory.stats().hot > 60


def test_json_is_one_document(app: typer.Typer) -> None:
    result = run(app, "--json", "--budget", "30")
    report = json.loads(result.stdout)
    assert report["budget"] == report["sizes"]["hot"] == 30
    assert len(report["asked"]) == 10


def test_eighty_columns_are_enough(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    result = run(app)
    assert result.exit_code == 0, result.output
    lines = Text.from_ansi(result.stdout).plain.splitlines()
    assert max(cell_len(each) for each in lines if not each.startswith("sfams ")) <= 80
    assert "最晚几点发？" in "".join(each.split(" ")[0] for each in lines)  # wrapped, not cut


@pytest.mark.parametrize("option", [["--db", "x.db"], ["--scope", "a"]])
def test_a_memory_that_would_not_be_used_is_refused(app: typer.Typer, option: list[str]) -> None:
    result = run(app, *option)
    assert result.exit_code != 0
    assert "--keep" in str(result.exception)
