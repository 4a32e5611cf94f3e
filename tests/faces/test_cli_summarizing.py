"""summarize, digest and sources."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import sfams

MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
NOTES = (
    "Stand-up: yesterday I worked on the login page and it went quite well, nothing blocked me.",
    "Stand-up: I fixed bug TN-88 together with Bob, and today I am going to write some more tests.",
    "站会：发布改到了2026年6月12日，所以评审的时间稍微宽裕了一些，大家都松了口气。",
    "Stand-up: I reviewed three pull requests and helped the new colleague to set up her machine.",
)


@pytest.fixture
def week(cli: Any) -> Sequence[str]:
    with sfams.open(cli.db, embedder="hashing") as memory:
        return [
            memory.remember(text, kind="note", created_at=MONDAY + timedelta(days=day)).id
            for day, text in enumerate(NOTES)
        ]


def test_a_digest_is_shown_before_it_is_made(cli: Any, week: Sequence[str]) -> None:
    preview = cli("digest", "--now", "2026-05-06", "--dry-run", "--whole")
    assert preview.exit_code == 0
    assert "Would make 1 of 4 memories." in preview.stdout
    assert "TN-88" in preview.stdout
    assert cli.ids() == list(week)[::-1]


def test_a_digest_takes_the_place_of_the_notes_and_is_taken_back(
    cli: Any, week: Sequence[str]
) -> None:
    made = cli.json("digest", "--now", "2026-05-06")
    (summary,) = made["summaries"]
    assert (made["made"], made["dry_run"], summary["members"]) == (1, False, list(week))
    assert summary["tokens_after"] < summary["tokens_before"]
    assert cli.ids() == [summary["summary_id"]]
    shown = cli.json("sources", summary["summary_id"])
    assert [each["content"] for each in shown["sources"]] == list(NOTES)
    back = cli.json("summarize", "--undo", summary["summary_id"])
    assert back["restored"] == 4
    assert cli.ids() == list(week)[::-1]


def test_summaries_say_what_was_left_and_how_to_undo(cli: Any, week: Sequence[str]) -> None:
    cli.remember("Never deploy on Fridays.", "--kind", "instruction")
    result = cli("summarize", *week)
    assert result.exit_code == 0
    assert "Made 1 of 4 memories." in result.stdout
    assert "Undo: sfams summarize --undo " in result.stderr
    result = cli("summarize", "--kind", "instruction")
    assert "Made 0 of 0 memories." in result.stdout
    assert "Left as they are: 1 (kind instruction stands apart)." in result.stderr


def test_sensitive_texts_are_masked(cli: Any) -> None:
    texts = [f"Well, the code of the garage door no. {n} is 447{n}, as it was." for n in range(3)]
    ids = [cli.remember(text, "--sensitive") for text in texts]
    assert "447" not in cli("summarize", *ids, "--dry-run", "--whole").stdout
    assert cli.json("summarize", *ids, "--dry-run")["summaries"][0]["content"] == "(sensitive)"


def test_a_record_made_from_nothing_has_no_sources(cli: Any) -> None:
    known = cli.remember("The tram leaves at noon.")
    assert "Made from no other memory." in cli("sources", known).stdout
    assert cli.json("sources", known)["sources"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("summarize", "--undo", "x", "--kind", "note"),
        ("summarize", "019e2f1a-a827-7000-a8e3-25946badddbe"),
        ("digest", "--now", "then"),
    ],
)
def test_what_makes_no_sense_is_refused(
    cli: Any, week: Sequence[str], arguments: tuple[str, ...]
) -> None:
    code, error = cli.error(*arguments)
    assert code == 2
    assert error["message"]


def test_what_was_made_from_nothing_cannot_be_undone(cli: Any) -> None:
    known = cli.remember("The tram leaves at noon.")
    code, error = cli.error("summarize", "--undo", known)
    assert "no summary" in error["message"]
    assert code == 5
