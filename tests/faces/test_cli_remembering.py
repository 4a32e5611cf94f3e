"""remember and ingest."""

import json
from pathlib import Path
from typing import Any

import pytest

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
CHAT = "\n".join(
    json.dumps({"role": "user", "content": text}, ensure_ascii=False)
    for text in ("The printer is on floor 2.", "打印机在二楼。", f"{FAMILY} park day")
)


def test_a_text_is_stored_and_its_id_is_told(cli: Any) -> None:
    result = cli("remember", "The demo moves to 1 November.")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"Stored {cli.ids()[0]}\n"


def test_quiet_prints_the_id_alone(cli: Any) -> None:
    result = cli("remember", "The demo moves to 1 November.", "--quiet")
    assert result.stdout == f"{cli.ids()[0]}\n"


def test_a_known_text_is_told_and_not_stored_again(cli: Any) -> None:
    first = cli.remember("The demo moves to 1 November.")
    result = cli("remember", "the demo moves to 1 november")
    assert result.stdout == f"Known already: {first}\n"
    assert cli.ids() == [first]


def test_a_claim_supersedes_and_says_what(cli: Any) -> None:
    slot = ("--subject", "beta", "--attribute", "date", "--value")
    old = cli.remember("Beta is due on 4 May.", *slot, "2026-05-04")
    result = cli("remember", "Beta is due on 9 May.", *slot, "2026-05-09")
    assert result.stdout.startswith("Stored ")
    assert result.stdout.endswith(f"; supersedes {old}\n")


def test_every_field_reads_back(cli: Any) -> None:
    old = cli.remember("Alice likes coffee.")
    cli.remember(
        "Alice prefers tea.",
        *("--kind", "preference", "--importance", "0.35", "--created-at", "2026-07-01T08:00:00Z"),
        *("--ttl", "52w", "--entity", "person:Alice", "--entity", "tea", "--tag", "taste"),
        *("--meta", "ticket=88", "--meta", 'o={"a":[1,null]}', "--meta", "word=plain text"),
        *("--who", "Bob", "--role", "user", "--session", "s1", "--turn", "0", "--key", "k1"),
        *("--supersedes", old, "--valid-from", "2026-06-01T00:00:00Z", "--trust", "0.5"),
        *("--valid-to", "2027-06-01T00:00:00Z", "--sensitive"),
    )
    (record,) = cli.json("ls", "--who", "Bob", "--reveal")["records"]
    assert record["kind"] == "preference"
    assert record["importance"] == 0.35
    assert record["created_at"] == "2026-07-01T08:00:00Z"
    assert record["expires_at"] == "2027-06-30T08:00:00Z"
    assert record["entities"] == [{"name": "Alice", "type": "person"}, {"name": "tea"}]
    assert record["tags"] == ["taste"]
    assert record["metadata"] == {"ticket": 88, "o": {"a": [1, None]}, "word": "plain text"}
    assert record["source"] == {"who": "Bob", "role": "user", "session": "s1", "turn": 0}
    assert (record["key"], record["trust"], record["sensitivity"]) == ("k1", 0.5, "sensitive")
    assert cli.ids("--status", "superseded") == [old]


@pytest.mark.parametrize("value", ["0", "0.0", "0.1", "0.8", "1", "1.0"])
def test_importance_reads_back_equal(cli: Any, value: str) -> None:
    cli.remember("A text.", "--importance", value)
    assert cli.json("ls")["records"][0]["importance"] == float(value)


@pytest.mark.parametrize("value", ["-0.1", "1.01", "high", "nan", "inf", "null", "true", ""])
def test_bad_importance_is_refused_and_stores_nothing(cli: Any, value: str) -> None:
    code, _ = cli.error("remember", "A text.", "--importance", value)
    assert code == 2
    assert not cli.db.exists() or cli.ids() == []


def test_standard_input_is_taken_whole_but_for_the_last_line_end(cli: Any) -> None:
    cli.json("remember", "-", given="\ufefffirst 中文\r\n second\n\n")
    assert cli.json("ls")["records"][0]["content"] == "first 中文\r\n second\n"


def test_a_long_text_is_kept_whole_or_refused(cli: Any) -> None:
    text = "word " * 20_000 + "end"
    cli.json("remember", "-", given=text)
    assert cli.json("ls")["records"][0]["content"] == text
    code, error = cli.error("remember", "-", given="x" * 1_000_001)
    assert (code, error["type"]) == (2, "InvalidInputError")
    assert "1,000,001" in error["message"]
    assert len(cli.ids()) == 1


def test_without_waiting_the_vector_is_there_in_the_end(cli: Any) -> None:
    assert cli.json("remember", "Soon embedded.", "--no-wait")["embedded"] is False
    assert cli.json("stats")["pending"] == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--ttl", "0h"),
        ("--ttl", "1h", "--expires-at", "2027-01-01T00:00:00Z"),
        ("--expires-at", "2027-01-01"),
        ("--created-at", "yesterday"),
        ("--meta", "nothing"),
        ("--meta", "=1"),
        ("--meta", "a={broken"),
        ("--meta", "a=1", "--meta", "a=2"),
        ("--subject", "alone"),
        ("--turn", "-1"),
        ("--kind", "Not A Kind"),
        ("--importence", "0.5"),
    ],
)
def test_bad_fields_are_refused_by_name(cli: Any, options: tuple[str, ...]) -> None:
    code, error = cli.error("remember", "A text.", *options)
    assert code == 2
    assert options[0].strip("-").replace("-", "_")[:4] in error["message"].replace("-", "_")


@pytest.mark.parametrize("text", ["", "   ", "\u200b"])
def test_a_blank_text_is_refused(cli: Any, text: str) -> None:
    assert cli.error("remember", text)[0] == 2


# ── ingest ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def chat(tmp_path: Path) -> str:
    path = tmp_path / "chat.jsonl"
    path.write_text(CHAT, "utf-8")
    return str(path)


def test_a_chat_log_is_taken_in_once(cli: Any, chat: str) -> None:
    first = cli.json("ingest", chat)
    again = cli.json("ingest", chat)
    assert (first["added"], first["known"]) == (3, 0)
    assert (again["added"], again["known"]) == (0, 3)
    assert len(cli.ids()) == 3
    assert f"{FAMILY} park day" in {r["content"] for r in cli.json("ls")["records"]}


def test_what_was_skipped_is_listed_and_the_rest_is_taken(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(CHAT + "\n{broken\n", "utf-8")
    result = cli("ingest", str(path))
    assert result.exit_code == 0
    assert "added 3, known 0, superseded 0, outdated 0, refused 0, skipped 1" in result.stdout
    assert "Skipped 1" in result.stdout
    (skip,) = cli.json("ingest", str(path))["skips"]
    assert (skip["line"], skip["file"]) == (4, str(path))
    assert skip["reason"]


def test_only_the_first_skips_are_shown(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(CHAT + "\n{broken" * 30, "utf-8")
    result = cli("ingest", str(path))
    assert "Skipped 30; the first 20" in result.stdout
    assert len(result.stdout.splitlines()) == 1 + 1 + 2 + 20


def test_standard_input_is_a_file_too(cli: Any, chat: str) -> None:
    report = cli.json("ingest", "-", chat, given=CHAT)
    assert [each["name"] for each in report["files"]] == ["standard input", chat]


def test_times_without_a_zone_are_read_in_the_named_one(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    line = {"role": "user", "content": "Good morning.", "timestamp": "2026-07-01T10:00:00"}
    path.write_text(json.dumps(line), "utf-8")
    cli.json("ingest", str(path), "--timezone", "Asia/Tokyo")
    assert cli.json("ls")["records"][0]["created_at"] == "2026-07-01T01:00:00Z"


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\x00\x01\x02\xff\xfe"])
def test_a_file_with_nothing_usable_ends_with_2(cli: Any, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(data)
    assert cli("ingest", str(path)).exit_code == 2
    assert not cli.db.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.txt",),
        (".",),
        ("chat.jsonl", "--timezone", "Mars/Olympus"),
        ("chat.jsonl", "--timezone", "../etc"),
        ("chat.jsonl", "--format", "odd"),
        (),
    ],
)
def test_bad_input_stores_nothing(cli: Any, chat: str, arguments: tuple[str, ...]) -> None:
    assert cli.error("ingest", *arguments)[0] == 2
    assert not cli.db.exists()
