"""plan, forget, restore, erase, pin and hold."""

from collections.abc import Sequence
from typing import Any

import pytest

UNKNOWN = "00000000-0000-4000-8000-00000000dead"
BUDGET: dict[str, Any] = {"records": None, "tokens": None, "bytes": None, "low": 1.0, "kinds": {}}
LOWEST = ("--lowest", "2", "--action", "delete")


def test_a_plan_shows_steps_totals_and_the_next_command(cli: Any, notes: Sequence[str]) -> None:
    result = cli("plan", *LOWEST)
    assert result.exit_code == 0
    head, rule, first, second, *summary = result.stdout.splitlines()
    assert head.split()[:5] == ["action", "reason", "score", "base", "sal"]
    assert not rule.strip("─")
    assert first.split()[:3] == ["delete", "lowest", "share"]
    assert (notes[0] in first, notes[1] in second) == (True, True)
    assert "Note number 0 is about topic 0." in first
    assert "steps    0 demote, 2 delete" in summary
    assert "hot      10 -> 8 of 10 live memories" in summary
    plan_id = summary[0].split()[1]
    assert result.stderr == f"Next: sfams forget {plan_id}\n"


def test_the_json_plan_holds_every_step_with_its_parts(cli: Any, notes: Sequence[str]) -> None:
    plan = cli.json("plan", *LOWEST, "--limit", "1")
    assert [step["record_id"] for step in plan["steps"]] == list(notes[:2])
    for step in plan["steps"]:
        assert sum(step["parts"].values()) == pytest.approx(step["score"])
        assert step["preview"].startswith("Note number")
    assert plan["totals"]["before"]["records"] == 10
    assert plan["totals"]["after"]["records"] == 8
    assert plan["policy"]["name"] == "custom"


def test_a_long_plan_is_shown_in_part(cli: Any, notes: Sequence[str]) -> None:
    result = cli("plan", "--lowest", "5", "--limit", "2")
    assert result.stdout.count("lowest share") == 2
    assert "3 more steps; --limit 0 shows all." in result.stderr
    assert cli("plan", "--lowest", "5", "--limit", "0").stdout.count("lowest share") == 5


def test_the_totals_count_cold_memories_once(cli: Any, notes: Sequence[str]) -> None:
    cli("forget", cli.json("plan", "--lowest", "2")["plan_id"])
    for limit in ("0", "1"):
        result = cli("plan", "--lowest", "4", "--action", "delete", "--limit", limit)
        assert "hot      8 -> 6 of 10 live memories" in result.stdout


def test_sensitive_texts_are_masked_in_plans(cli: Any) -> None:
    cli.remember("The garage door code is 4471.", "--sensitive")
    assert "4471" not in cli("plan", "--lowest", "1").stdout
    assert cli.json("plan", "--lowest", "1")["steps"][0]["preview"] == "(sensitive: password)"


def test_nothing_to_forget_is_told(cli: Any, notes: Sequence[str]) -> None:
    result = cli("plan")
    assert (result.exit_code, result.stderr) == (0, "Nothing to forget.\n")
    assert cli.json("plan")["policy"]["name"] == "adaptive"


@pytest.mark.parametrize(
    ("options", "field", "value"),
    [
        (("--policy", "classic"), "share", 0.1),
        (("--policy", "classic", "--lowest", "3"), "share", None),
        (("--policy", "classic", "--lowest", "3"), "share_action", "delete"),
        (("--share", "0.2", "--action", "delete"), "share_action", "delete"),
        (("--threshold", "0.3", "--action", "delete"), "threshold_action", "delete"),
        (("--threshold", "0"), "threshold", 0.0),
        (("--floor", "0.8"), "floor", 0.8),
        (("--grace", "7d"), "grace", 604_800.0),
        (("--max-share", "1"), "max_share", 1.0),
        (("--budget-records", "0"), "budget", BUDGET | {"records": 0}),
        (("--policy", "budget", "--budget-tokens", "9"), "budget", BUDGET | {"tokens": 9}),
    ],
)
def test_the_policy_is_the_preset_with_what_differs(
    cli: Any, notes: Sequence[str], options: tuple[str, ...], field: str, value: object
) -> None:
    assert cli.json("plan", *options)["policy"][field] == value


@pytest.mark.parametrize(
    "options",
    [
        ("--policy", "odd"),
        ("--share", "2"),
        ("--share", "0.1", "--lowest", "1"),
        ("--threshold", "nan"),
        ("--action", "summarize"),
        ("--grace", "soon"),
        ("--budget-records", "-1"),
        ("--limit", "-1"),
    ],
)
def test_a_bad_policy_ends_with_2(cli: Any, notes: Sequence[str], options: tuple[str, ...]) -> None:
    assert cli.error("plan", *options)[0] == 2


def test_a_named_plan_is_carried_out_and_undone(cli: Any, notes: Sequence[str]) -> None:
    plan_id = cli.json("plan", *LOWEST)["plan_id"]
    result = cli("forget", plan_id)
    assert result.exit_code == 0
    assert result.stdout.startswith("Demoted 0, deleted 2; can be undone until 20")
    assert result.stderr == f"Undo: sfams restore {plan_id}\n"
    assert set(cli.ids()) == set(notes[2:])
    assert cli("restore").stdout == f"Restored 2 of plan {plan_id}.\n"
    assert set(cli.ids()) == set(notes)


def test_what_changed_is_skipped_and_reported(cli: Any, notes: Sequence[str]) -> None:
    plan_id = cli.json("plan", *LOWEST)["plan_id"]
    cli("pin", notes[0])
    receipt = cli.json("forget", plan_id)
    assert (receipt["deleted"], receipt["skipped"]) == (1, {notes[0]: "pinned"})


def test_the_last_plan_needs_a_yes(cli: Any, notes: Sequence[str]) -> None:
    cli("plan", *LOWEST)
    assert cli.error("forget", "--last")[0] == 2
    assert len(cli.ids()) == 10
    assert cli.json("forget", "--last", "--yes")["deleted"] == 2


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("y\n", 0, 8), ("n\n", 130, 10), ("", 130, 10)]
)
def test_on_a_terminal_the_last_plan_is_asked_for(
    cli: Any,
    notes: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
    left: int,
) -> None:
    cli("plan", *LOWEST)
    monkeypatch.setattr("sfams.cli.run.interactive", lambda: True)
    result = cli("forget", "--last", given=answer)
    assert result.exit_code == code
    assert "0 demoted, 2 deleted. Carry it out?" in result.output
    assert len(cli.ids()) == left


def test_conflicts_end_with_5(cli: Any, notes: Sequence[str]) -> None:
    plan_id = cli.json("plan", "--lowest", "5", "--action", "delete")["plan_id"]
    code, error = cli.error("forget", plan_id)
    assert (code, error["type"]) == (5, "BlastRadiusError")
    assert cli.json("forget", plan_id, "--override-blast-radius")["deleted"] == 5
    assert cli.error("forget", plan_id)[0] == 5


def test_what_is_not_there_ends_with_4(cli: Any) -> None:
    assert cli.error("forget", UNKNOWN)[0] == 4
    cli.remember("A memory.")
    for arguments in (
        ("forget", UNKNOWN),
        ("forget", "--last", "--yes"),
        ("restore",),
        ("restore", UNKNOWN),
        ("restore", "--id", UNKNOWN),
        ("pin", UNKNOWN),
        ("hold", UNKNOWN),
        ("erase", UNKNOWN, "--yes"),
    ):
        assert cli.error(*arguments)[0] == 4, arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ("forget",),
        ("forget", UNKNOWN, "--last"),
        ("restore", UNKNOWN, "--id", UNKNOWN),
        ("restore", "--id", "nope"),
        ("pin",),
        ("pin", "nope"),
        ("pin", f"{UNKNOWN[:8]}..."),
        ("hold", "nope"),
        ("erase",),
        ("erase", "nope", "--yes"),
        ("erase", UNKNOWN, "--everything"),
        ("erase", UNKNOWN, "--who", "Bob"),
        ("erase", "--tier", "hot", "--yes"),
    ],
)
def test_bad_input_ends_with_2(cli: Any, arguments: tuple[str, ...]) -> None:
    cli.remember("A memory.")
    assert cli.error(*arguments)[0] == 2


def test_single_memories_come_back(cli: Any, notes: Sequence[str]) -> None:
    cli("forget", cli.json("plan", *LOWEST)["plan_id"])
    assert cli("restore", "--id", notes[1]).stdout == "Restored 1.\n"
    assert notes[1] in cli.ids()


def test_pins_are_set_and_lifted(cli: Any, notes: Sequence[str]) -> None:
    assert cli("pin", notes[0], notes[1]).stdout == "Pinned 2 memories\n"
    assert cli.json("plan", *LOWEST)["steps"][0]["record_id"] == notes[2]
    assert "[pinned]" in cli("ls").stdout
    assert cli("pin", "--off", notes[0]).stdout == "Unpinned 1 memory\n"
    assert cli.json("pin", "--off", notes[1])["pinned"] is False


def test_a_hold_refuses_erasure_until_released(cli: Any, notes: Sequence[str]) -> None:
    assert cli("hold", notes[0]).stdout == "Held 1 memory\n"
    code, error = cli.error("erase", notes[0], "--yes")
    assert (code, error["type"]) == (5, "RecordProtectedError")
    assert cli("hold", "--release", notes[0]).stdout == "Released 1 memory\n"
    assert cli.json("erase", notes[0], "--yes")["count"] == 1


# ── erase ─────────────────────────────────────────────────────────────────────────────────────────


def test_an_erasure_leaves_a_receipt_without_text(cli: Any) -> None:
    one = cli.remember("The garage door code is 4471.", "--who", "Kofi")
    receipt = cli("erase", "--who", "Kofi", "--yes")
    assert receipt.exit_code == 0
    assert receipt.stdout.startswith("Erased 1 memory of default.\n")
    assert one in receipt.stdout
    assert "4471" not in receipt.output
    assert cli.json("recall", "4471", "--status", "all", "--expired")["hits"] == []
    assert b"4471" not in cli.db.read_bytes()
    assert cli.json("explain", one)["fate"] == "erased"
    assert cli.error("erase", one, "--yes")[0] == 4


def test_a_preview_erases_nothing(cli: Any, notes: Sequence[str]) -> None:
    preview = cli.json("erase", "--importance-max", "0.2", "--dry-run")
    assert (preview["count"], preview["dry_run"]) == (3, True)
    assert set(preview["ids"]) == set(notes[:3])
    assert len(cli.ids()) == 10


def test_without_a_terminal_an_erasure_needs_a_yes(cli: Any, notes: Sequence[str]) -> None:
    result = cli("erase", "--everything")
    assert result.exit_code == 2
    assert "10 memories of default would be erased for ever." in result.stderr
    assert len(cli.ids()) == 10
    assert cli.json("erase", "--everything", "--yes")["count"] == 10
    assert cli.ids("--status", "all", "--expired") == []


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("erase\n", 0, 7), ("y\n", 130, 10), ("\n", 130, 10)]
)
def test_on_a_terminal_a_word_must_be_typed(
    cli: Any,
    notes: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
    left: int,
) -> None:
    monkeypatch.setattr("sfams.cli.run.interactive", lambda: True)
    result = cli("erase", "--importance-max", "0.2", given=answer)
    assert result.exit_code == code
    assert len(cli.ids()) == left


def test_a_filter_that_meets_nothing_erases_nothing(cli: Any, notes: Sequence[str]) -> None:
    result = cli("erase", "--kind", "risk")
    assert (result.exit_code, result.stdout) == (0, "Would erase 0 memories of default.\n")
