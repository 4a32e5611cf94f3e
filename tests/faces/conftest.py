"""A command line over a memory of its own, without a model."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner, Result

import sfams
from sfams.cli.app import app

COMMAND = typer.main.get_command(app)
"""Made once: typer would make it anew for every run."""


class Cli:
    """`cli("recall", "demo")` runs `sfams recall demo`; `cli.json(...)` reads its one document."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = folder / "memory.db"
        self.env = {"SFAMS_DB": str(self.db), "SFAMS_EMBEDDER": "hashing", "COLUMNS": None}
        self._runner = CliRunner(env=self.env)

    def __call__(self, *arguments: str, given: str | bytes | None = None) -> Result:
        return self._runner.invoke(app, list(arguments), input=given)

    def json(self, *arguments: str, given: str | bytes | None = None) -> Any:
        result = self(*arguments, "--json", given=given)
        assert result.exit_code == 0, result.output
        assert result.stderr == ""
        return strict_json(result.stdout_bytes)

    def error(self, *arguments: str, given: str | bytes | None = None) -> tuple[int, Any]:
        """The exit code and the error of a command that must fail, with nothing on stdout."""
        result = self("--json", *arguments, given=given)
        assert result.stdout == ""
        return result.exit_code, strict_json(result.stderr_bytes)["error"]

    def remember(self, text: str, *options: str) -> str:
        return str(self.json("remember", text, *options)["id"])

    def ids(self, *filters: str) -> list[str]:
        return [each["id"] for each in self.json("ls", *filters)["records"]]


def strict_json(data: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    return json.loads(data.decode("utf-8"), parse_constant=refuse)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in [name for name in os.environ if name.startswith("SFAMS_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("typer.testing._get_command", lambda _: COMMAND, raising=False)
    return Cli(tmp_path)


@pytest.fixture
def notes(cli: Cli) -> Sequence[str]:
    """Ten memories, the last the most important."""
    texts = [(f"Note number {i} is about topic {i}.", i / 10) for i in range(10)]
    with sfams.open(cli.db, embedder="hashing") as memory:
        return [memory.remember(text, importance=worth).id for text, worth in texts]
