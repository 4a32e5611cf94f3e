"""session: turns are counted across runs, the same as in Python."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import sfams
from sfams.cli.app import app


def run(path: Path, *words: str) -> Any:
    base = ["--db", str(path), "--scope", "acme/me", "--embedder", "hashing"]
    return CliRunner().invoke(app, ["session", *words, *base])


def test_turns_go_on_from_run_to_run(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    assert run(path, "chat-7").exit_code == 4
    assert "Turn 1 of chat-7" in run(path, "chat-7", "--turn").output
    assert "Turn 2 of chat-7" in run(path, "chat-7", "--turn").output
    with sfams.open(path, scope="acme/me", embedder="hashing") as memory:
        assert memory.session("chat-7").turn() == 3
    assert "Turn 3 of chat-7 (ended)" in run(path, "chat-7", "--end").output
    assert run(path, " ", "--turn").exit_code == 2
