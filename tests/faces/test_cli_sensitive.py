"""The command line and what is sensitive: masks unless revealed, rules set and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CARD = "My card is 4111 1111 1111 1111."
PASSWORD = "登录密码是tea-Pot_9"  # that is the point


def refused(cli: Any, *arguments: str) -> str:
    """Run what must be refused; returns what it says."""
    result = cli(*arguments)
    assert result.exit_code == 2
    return str(result.stderr)


def test_listings_mask_what_is_sensitive_unless_asked(cli: Any) -> None:
    cli.remember(CARD)
    cli.remember(PASSWORD)
    shown = cli("ls").stdout
    assert "(sensitive: card ****1111)" in shown
    assert "(sensitive: password)" in shown
    listed = cli.json("ls")["records"]
    assert all(record["masked"] for record in listed)
    for text in (shown, str(listed)):
        assert "4111 " not in text
        assert "tea-Pot_9" not in text
    assert "4111 1111 1111 1111" in cli("ls", "--reveal").stdout
    assert {record["content"] for record in cli.json("ls", "--reveal")["records"]} == {
        CARD,
        PASSWORD,
    }


def test_a_plan_masks_likewise(cli: Any) -> None:
    cli.remember(CARD)
    assert cli.json("plan", "--lowest", "1")["steps"][0]["preview"] == "(sensitive: card ****1111)"
    assert "4111 1111" not in cli("plan", "--lowest", "1").stdout
    assert "4111 1111 1111 1111" in cli("plan", "--lowest", "1", "--reveal").stdout


@pytest.mark.parametrize("text", [CARD, PASSWORD])
def test_explanations_and_errors_never_show_the_text(cli: Any, text: str) -> None:
    one = cli.remember(text)
    cli("sensitive", "refuse")
    failed = refused(cli, "remember", text + " ")
    for shown in (cli("explain", one).stdout, cli("explain", text).stdout, failed):
        assert "4111 " not in shown
        assert "tea-Pot_9" not in shown
    assert "this scope refuses" in failed


def test_a_caller_may_label_a_text_either_way(cli: Any) -> None:
    cli.remember(CARD, "--not-sensitive")
    assert "4111 1111 1111 1111" in cli("ls").stdout
    failed = refused(cli, "remember", "x", "--sensitive", "--not-sensitive")
    assert "contradict" in failed


def test_a_rule_is_set_shown_and_inherited(cli: Any) -> None:
    cli("init")
    assert cli.json("sensitive") == {"scope": "default", "rule": "store"}
    assert cli.json("sensitive", "redact") == {"scope": "default", "rule": "redact"}
    assert cli.json("sensitive", "--scope", "default/me")["rule"] == "redact"
    assert cli.json("remember", CARD)["warnings"] == ["redacted before storing: card"]
    assert "[card ****1111]" in cli("ls").stdout
    assert cli.json("sensitive", "--inherit")["rule"] == "store"
    assert "one of them" in refused(cli, "sensitive", "store", "--inherit")


def test_the_setting_holds_where_no_scope_has_a_rule(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFAMS_SENSITIVE", "refuse")
    cli("init")
    assert cli.json("sensitive")["rule"] == "refuse"
    assert "this scope refuses" in refused(cli, "remember", PASSWORD)
    cli("sensitive", "store")
    cli("remember", PASSWORD)


def test_ingest_counts_what_was_refused(cli: Any, tmp_path: Path) -> None:
    cli("sensitive", "refuse")
    log = tmp_path / "chat.txt"
    log.write_text(f"Mira: Tea at four.\nLeo: {CARD}\nMira: {PASSWORD}\n", "utf-8")
    report = cli.json("ingest", str(log))
    assert (report["added"], report["refused"]) == (1, 2)
    assert "4111" not in str(report)
    assert any("card" in warning for warning in report["warnings"])
