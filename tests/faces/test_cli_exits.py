"""How the command line ends: exit codes, errors as JSON, options before and after the command."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sfams import errors
from sfams.cli.app import app
from sfams.cli.exits import EXIT_CODES, exit_code
from sfams.cli.options import read_meta
from sfams.cli.output import age, visible
from sfams.core.scope import Scope
from sfams.ports import Problem
from sfams.service.health import Checkup
from sfams.service.memory import Memory

COMMANDS = (
    *("init", "remember", "recall", "context", "ingest", "plan", "forget", "restore"),
    *(
        "explain",
        "pin",
        "hold",
        "erase",
        "ls",
        "stats",
        "doctor",
        "reindex",
        "export",
        "import",
        "session",
    ),
)


def test_every_kind_of_error_has_a_code() -> None:
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.SfamsError)
    ]
    codes = {kind: exit_code(kind()) for kind in kinds if kind is not errors.SfamsError}
    assert 70 not in codes.values()
    assert sorted(code for _, code in EXIT_CODES) == [2, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (errors.InvalidPolicyError("no"), 2, False),
        (errors.NotFoundError("no"), 4, False),
        (errors.PlanStaleError("no"), 5, False),
        (errors.StoreUnavailableError("no"), 6, True),
        (errors.SchemaMismatchError("no"), 6, False),
        (errors.ProviderUnavailableError("no"), 7, True),
    ],
)
def test_an_error_is_one_json_document(
    cli: Any,
    monkeypatch: pytest.MonkeyPatch,
    error: errors.SfamsError,
    code: int,
    retryable: bool,
) -> None:
    cli.remember("A memory.")
    _break(monkeypatch, error)
    kind = type(error).__name__
    assert cli.error("stats") == (code, {"type": kind, "message": "no", "retryable": retryable})
    shown = cli("stats")
    assert (shown.exit_code, shown.stdout) == (code, "")
    assert shown.stderr.startswith("Error: no")


def test_an_unexpected_error_shows_its_kind_and_no_more(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember("A memory.")
    _break(monkeypatch, KeyError("a secret text"))
    code, error = cli.error("stats")
    assert (code, error["type"]) == (70, "KeyError")
    shown = cli("stats")
    assert shown.exit_code == 70
    assert "secret" not in shown.output
    traced = cli("--debug", "stats")
    assert traced.exit_code == 70
    assert "Traceback" in traced.stderr
    assert "a secret text" in traced.stderr


def test_an_interrupt_ends_with_130(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.remember("A memory.")
    _break(monkeypatch, KeyboardInterrupt())
    result = cli("stats")
    assert (result.exit_code, result.stdout) == (130, "")


def _break(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def build(_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("sfams.cli.run.build", build)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_examples(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert f" sfams {command}" in result.stdout or " sfams " in result.stdout
    assert "\x1b" not in result.stdout


def test_all_commands_are_there_and_none_of_the_next_release() -> None:
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert [command for command in COMMANDS if f"│ {command} " not in shown] == []
    assert not any(f"│ {name} " in shown for name in ("serve", "worker"))


def test_the_version_is_told() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout.split()[0]) == (0, "sfams")


@pytest.mark.parametrize("arguments", [(), ("nosuch",), ("stats", "extra"), ("ls", "--limt", "5")])
def test_wrong_usage_ends_with_2(cli: Any, arguments: tuple[str, ...]) -> None:
    assert cli(*arguments).exit_code == 2
    assert cli.error(*arguments)[0] == 2


def test_options_may_stand_on_either_side_and_the_later_wins(cli: Any, tmp_path: Path) -> None:
    cli.remember("A memory.")
    other = str(tmp_path / "other.db")
    before = cli("--db", other, "--scope", "acme", "--quiet", "remember", "Another.")
    assert before.exit_code == 0
    assert len(cli.ids("--db", other, "--scope", "acme")) == 1
    both = cli.json("--db", str(cli.db), "stats", "--db", other, "--scope", "acme")
    assert (both["db"], both["scope"], both["hot"]) == (other, "acme", 1)


def test_only_what_adds_makes_a_file(cli: Any) -> None:
    for arguments in (
        ("recall", "x"),
        ("context", "x"),
        ("ls",),
        ("stats",),
        ("explain", "x"),
        ("plan",),
        ("doctor",),
        ("erase", "--everything", "--yes"),
    ):
        code, error = cli.error(*arguments)
        assert (code, error["type"]) == (4, "NotFoundError"), arguments
    assert not cli.db.exists()


def test_init_makes_a_file_once(cli: Any) -> None:
    first, second = cli.json("init"), cli.json("init")
    assert first == {
        "db": str(cli.db),
        "created": True,
        "scope": "default",
        "embedder": "hashing",
    }
    assert second == {**first, "created": False}
    assert cli("init").stdout.startswith(f"There is a memory already: {cli.db}\n")


def test_a_sound_file_is_healthy(cli: Any) -> None:
    cli.remember("The demo moves to 1 November.")
    assert cli.json("doctor")["healthy"] is True
    assert cli("doctor").stdout == "Healthy: no problems found.\n"


def test_problems_that_are_left_end_with_1(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Problem("drift", Scope("default"), (), "a vector without a record", "remove it")

    def check(_: Memory, *, repair: bool) -> Checkup:
        return Checkup(problems=() if repair else (found,), repaired=int(repair))

    cli.remember("The demo moves to 1 November.")
    monkeypatch.setattr(Memory, "doctor", check)
    sick = cli("doctor", "--json")
    assert sick.exit_code == 1
    assert json.loads(sick.stdout)["problems"] == [
        {
            "check": "drift",
            "scope": ["default"],
            "ids": [],
            "message": "a vector without a record",
            "repair": "remove it",
        }
    ]
    assert "a vector without a record" in cli("doctor").stdout
    mended = cli("doctor", "--repair")
    assert mended.exit_code == 0
    assert mended.stdout == "Mended 1, embedded 0.\nHealthy: no problems found.\n"


# ── Settings ──────────────────────────────────────────────────────────────────────────────────────


def test_settings_come_from_the_environment(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFAMS_SCOPE", "acme/alice")
    cli.remember("A memory.")
    assert cli.json("stats")["scope"] == "acme/alice"


def test_an_unknown_variable_is_refused(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFAMS_EMBEDER", "hashing")
    code, error = cli.error("init")
    assert code == 2
    assert "SFAMS_EMBEDER" in error["message"]


@pytest.mark.parametrize(
    "options",
    [("--scope", "a//b"), ("--scope", " "), ("--embedder", "odd"), ("--db", "no/such/folder.db")],
)
def test_bad_settings_end_with_2(cli: Any, options: tuple[str, ...]) -> None:
    assert cli.error("init", *options)[0] == 2


def test_a_foreign_file_is_left_as_it_was(cli: Any) -> None:
    cli.db.write_text("not a database")
    code, error = cli.error("stats")
    assert (code, error["type"]) == (6, "SchemaMismatchError")
    assert cli.db.read_text() == "not a database"


# ── Text on its way in and out ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "arguments",
    [
        ("remember", "caf\udce9"),
        ("remember", "ok", "--tag", "a", "--tag", "\udcff"),
        ("recall", "pin \ud83e"),
        ("recall", "x", "--text", "\udce9"),
        ("ls", "--who", "\udce9"),
        ("explain", "\udce9"),
        ("stats", "--scope", "\udce9"),
        ("--scope", "\udce9", "stats"),
        ("erase", "\udce9", "--yes"),
        ("init", "--db", "caf\udce9.db"),
    ],
)
def test_half_characters_are_refused_clearly(cli: Any, arguments: tuple[str, ...]) -> None:
    code, error = cli.error(*arguments)
    assert (code, error["type"]) == (2, "InvalidInputError")
    assert "surrogate" in error["message"] or "UTF-8" in error["message"]


def test_standard_input_must_be_utf8(cli: Any) -> None:
    code, error = cli.error("remember", "-", given=b"caf\xe9")
    assert (code, error["message"]) == (2, "standard input is not valid UTF-8 at byte 3")


def test_metadata_is_json_or_text() -> None:
    assert read_meta(["a=1", "b=x=y", "c=null", 'd="1"', "e=NaN", "f="]) == {
        "a": 1,
        "b": "x=y",
        "c": None,
        "d": "1",
        "e": "NaN",
        "f": "",
    }
    with pytest.raises(errors.InvalidInputError, match="begins like JSON"):
        read_meta(["a=" + "[" * 100_000])


def test_controls_are_shown_and_not_sent() -> None:
    assert visible("a\x1b[0m\r\n\tb\x85é中") == "a\\x1b[0m\\x0d\n\tb\\x85é中"


def test_ages_are_short() -> None:
    spans = (-5, 0, 59, 60, 3600, 86_399, 86_400 * 400)
    assert [age(timedelta(seconds=each)) for each in spans] == [
        *("0s", "0s", "59s", "1m", "1h", "23h", "400d")
    ]


def test_a_blank_scope_is_refused_and_never_means_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFAMS_SCOPE", "acme/alice")
    base = ["--db", str(tmp_path / "m.db"), "--embedder", "hashing"]
    runner = CliRunner()
    assert runner.invoke(app, ["remember", "kept", *base]).exit_code == 0
    for command in (["ls"], ["erase", "--everything", "--yes"], ["remember", "hi"]):
        assert runner.invoke(app, [*command, "--scope", "", *base]).exit_code == 2, command
    assert "kept" in runner.invoke(app, ["ls", *base]).output
