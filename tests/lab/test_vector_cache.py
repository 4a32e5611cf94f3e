"""Vectors are kept outside the repository, by model and hash, and questions wait to be asked."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.labelled import conversation

from sfams.errors import InvalidInputError
from sfams.lab.datasets.values import Dataset
from sfams.lab.recall_bench import run_recall
from sfams.lab.vector_cache import FILE, cached_embedder, warm
from sfams.settings import load_settings

DATA = Dataset(name="made-up", conversations=(conversation(20),))


def kinds(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / FILE)) as file:
        return dict(file.execute("SELECT kind, count(*) FROM vectors GROUP BY kind").fetchall())


def test_only_what_is_told_is_embedded_beforehand(tmp_path: Path) -> None:
    done: list[int] = []
    with cached_embedder("hashing", tmp_path) as embedder:
        warm(DATA, embedder, done.append)
        assert kinds(tmp_path) == {"passage": 20}
        run_recall(DATA, embedder)
    assert sum(done) == 20
    assert kinds(tmp_path) == {"passage": 20, "query": len(DATA.conversations[0].scored)}


def test_a_second_run_embeds_nothing_anew(tmp_path: Path) -> None:
    for _ in range(2):
        with cached_embedder("hashing", tmp_path / "deep" / "er") as embedder:
            warm(DATA, embedder)
        assert kinds(tmp_path / "deep" / "er") == {"passage": 20}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InvalidInputError, match=r"cannot be made.*SFAMS_CACHE_DIR"),
        cached_embedder("hashing", tmp_path / "file" / "cache"),
    ):
        pass


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "{named}"),
        ("linux", "", "{home}/.cache"),
        ("darwin", "", "{home}/Library/Caches"),
        ("win32", "LOCALAPPDATA", "{named}"),
        ("win32", "", "{home}/AppData/Local"),
    ],
)
def test_the_cache_is_where_the_system_has_caches(
    platform: str, variable: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "named"))
    folder = expected.format(named=tmp_path / "named", home=tmp_path / "home")
    assert load_settings().cache_folder == Path(folder) / "sfams"
    assert load_settings(cache_dir=tmp_path).cache_folder == tmp_path
