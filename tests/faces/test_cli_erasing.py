"""erase by subject, erasures, lift, export of a subject, plan-request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

if TYPE_CHECKING:
    from tests.faces.conftest import Cli

UNKNOWN = "00000000-0000-4000-8000-00000000dead"


@pytest.fixture
def told(cli: Cli) -> list[str]:
    return [
        cli.remember("I will be in Linz.", "--who", "Mira"),
        cli.remember("米拉的工牌号是88。"),
        cli.remember("Write to mira@example.com."),
        cli.remember("Write to amira@example.com."),
    ]


def test_a_preview_shows_everything_that_would_go(cli: Cli, told: list[str]) -> None:
    options = ("--subject", "Mira", "--subject", "米拉", "--identifier", "mira@example.com")
    shown = cli("erase", *options, "--dry-run").stdout
    assert "Would erase 3 memories of default." in shown
    assert "米拉的工牌号是88。" in shown
    assert "vectors" in shown
    assert "Unsure" in shown
    assert "amira@example.com" in shown
    found = cli.json("erase", *options, "--dry-run")
    assert (found["ids"], found["unsure"]) == (told[:3], told[3:])
    assert found["previews"][told[0]] == "I will be in Linz."
    assert len(cli.ids()) == 4


def test_a_subject_is_erased_and_its_receipt_is_kept(cli: Cli, told: list[str]) -> None:
    result = cli("erase", "--subject", "Mira", "--subject", "米拉", "--yes")
    assert "Erased 2 memories of default." in result.stdout
    assert "backups" in result.stderr
    assert set(cli.ids()) == set(told[2:])
    log = cli.json("erasures")
    assert [(each["ids"], each["residue"]) for each in log["erasures"]] == [(told[:2], "clean")]
    assert (log["problems"], log["head"] != "") == ([], True)
    assert "clean" in cli("erasures").stdout


def test_the_preview_is_shown_before_the_word_is_asked_for(
    cli: Cli, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfams.cli.run.interactive", lambda: True)
    result = cli("erase", "--subject", "米拉", given="no\n")
    assert result.exit_code == 130
    assert "米拉的工牌号是88。" in result.stderr
    assert len(cli.ids()) == 4


def test_a_broken_chain_is_told(cli: Cli, told: list[str]) -> None:
    cli("erase", told[0], "--yes")
    connection = apsw.Connection(str(cli.db))
    connection.execute("UPDATE erasure SET at = at + 1 WHERE number = 1")
    connection.close()
    result = cli("erasures")
    assert result.exit_code == 1
    assert "link 1 was changed" in result.stderr


def test_a_key_signs_receipts(cli: Cli, told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFAMS_RECEIPT_KEY", "a key")
    assert cli.json("erase", told[0], "--yes")["signature"]
    assert cli.json("erasures")["signed"] is True
    monkeypatch.setenv("SFAMS_RECEIPT_KEY", "another")
    assert cli("erasures").exit_code == 1


def test_the_erased_is_refused_until_it_is_lifted(
    cli: Cli, told: list[str], tmp_path: Path
) -> None:
    cli("erase", told[1], "--yes")
    result = cli("remember", "米拉的工牌号是88")
    assert result.exit_code == 5
    assert told[1] in result.stderr
    log = tmp_path / "chat.jsonl"
    log.write_text(json.dumps({"content": "米拉的工牌号是88。", "role": "user"}) + "\n", "utf-8")
    assert cli.json("ingest", str(log))["erased"] == 1
    assert cli.error("lift", UNKNOWN)[0] == 4
    assert cli.json("lift", told[1]) == {"lifted": [told[1]]}
    assert cli.json("remember", "米拉的工牌号是88")["stored"] is True


def test_all_that_is_held_on_a_subject_is_exported(cli: Cli, told: list[str]) -> None:
    lines = [json.loads(line) for line in cli("export", "--subject", "Mira").stdout.splitlines()]
    assert lines[0]["held"]["records"] == 1
    assert [line.get("id") for line in lines if line["format"] == "sfams-record/1"] == [told[0]]
    assert cli.json("export", "mira.jsonl", "--subject", "Mira")["lines"] == 3
    assert cli.error("export", "--subject", "Mira", "--below")[0] == 2


def test_a_request_becomes_a_plan(cli: Cli, told: list[str]) -> None:
    made = cli.json("plan-request", "请忘掉关于米拉的事")
    assert [step["record_id"] for step in made["steps"]] == [told[1]]
    assert {step["reason"] for step in made["steps"]} == {"asked"}
    assert cli.json("forget", made["plan_id"])["deleted"] == 1
    assert cli.json("restore", made["plan_id"])["restored"] == 1
    assert "1 to delete" in cli("plan-request", "forget everything about mira@example.com").stdout
    nothing = cli("plan-request", "Don't forget the milk.")
    assert (nothing.exit_code, nothing.stdout) == (0, "No request to forget.\n")
