"""recall, context, ls, stats and explain."""

from collections.abc import Sequence
from typing import Any

import pytest
from rich.console import Console

import sfams

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
FLAG = "🇵🇹"


def test_the_answer_comes_first_in_either_language(cli: Any) -> None:
    printer = cli.remember("打印机在二楼的走廊。")
    demo = cli.remember("The demo moves to 1 November.")
    hits = cli.json("recall", "打印机在哪里")["hits"]
    assert hits[0]["record"]["id"] == printer
    assert cli.json("recall", "when is the demo?", "-k", "1")["hits"][0]["record"]["id"] == demo


def test_people_see_score_kind_moment_id_and_text(cli: Any) -> None:
    moment = "2026-07-01T08:00:00Z"
    found = cli.remember("The demo moves.", "--kind", "deadline", "--created-at", moment)
    head, text = cli("recall", "demo").stdout.splitlines()
    assert head.split()[1:] == ["deadline", moment, found]
    assert text.strip() == "The demo moves."


def test_the_parts_of_a_score_add_up(cli: Any) -> None:
    cli.remember("The demo moves to 1 November.")
    (hit,) = cli.json("recall", "demo")["hits"]
    assert sum(hit["parts"].values()) == pytest.approx(hit["score"])
    assert "lexical +" in cli("recall", "demo", "--parts").stdout


def test_without_a_query_the_order_counts(cli: Any, notes: Sequence[str]) -> None:
    hits = cli.json("recall", "--order", "importance", "-k", "2")["hits"]
    assert [hit["record"]["id"] for hit in hits] == [notes[9], notes[8]]


def test_a_recall_counts_one_access(cli: Any) -> None:
    cli.remember("The demo moves to 1 November.")
    cli("recall", "demo")
    assert cli.json("ls")["records"][0]["usage"]["access_count"] == 1


def test_the_time_filter_takes_its_lower_end_and_not_its_upper(cli: Any) -> None:
    moments = {
        "a": "2026-07-19T23:59:59Z",
        "b": "2026-07-20T00:00:00Z",
        "c": "2026-07-20T23:59:59.999Z",
        "d": "2026-07-21T00:00:00Z",
    }
    ids = {n: cli.remember(f"Log {n}.", "--created-at", at) for n, at in moments.items()}
    window = ("--since", "2026-07-20", "--until", "2026-07-21T00:00:00Z")
    hits = cli.json("recall", "log", *window)["hits"]
    assert {hit["record"]["id"] for hit in hits} == {ids["b"], ids["c"]}
    assert set(cli.ids(*window)) == {ids["b"], ids["c"]}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--kind", "risk"),
        ("--tag", "red"),
        ("--entity", "person:Alice"),
        ("--who", "Bob"),
        ("--session", "s1"),
        ("--meta", "n=1"),
        ("--text", "SPECIAL"),
        ("--importance-min", "0.9"),
    ],
)
def test_a_filter_finds_the_one(cli: Any, option: str, value: str) -> None:
    cli.remember("An ordinary memory.", "--importance", "0.1")
    given = ("--kind", "risk:x", "--tag", "red", "--entity", "person:Alice", "--who", "Bob")
    more = ("--session", "s1", "--meta", "n=1", "--importance", "0.9")
    one = cli.remember("A special memory.", *given, *more)
    assert cli.ids(option, value) == [one]
    hits = cli.json("recall", "memory", option, value)["hits"]
    assert [hit["record"]["id"] for hit in hits] == [one]


def test_scopes_are_apart_and_below_is_asked_for(cli: Any) -> None:
    cli.remember("The demo is on Monday.", "--scope", "acme/alice")
    assert cli.json("recall", "demo", "--scope", "acme")["hits"] == []
    assert cli.json("--scope", "acme/al", "recall", "demo")["hits"] == []
    assert len(cli.json("recall", "demo", "--scope", "acme", "--below")["hits"]) == 1


@pytest.mark.parametrize("query", ["", "   ", "\u200b"])
def test_a_blank_query_finds_nothing_and_says_so(cli: Any, query: str) -> None:
    cli.remember("The demo moves to 1 November.")
    result = cli("recall", query)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "blank" in result.stderr
    document = cli.json("recall", query)
    assert document["hits"] == []
    assert len(document["warnings"]) == 1


QUERIES = ["can't", "m3/h", "C++", "NEAR(", '"', "'", '"unclosed', "40*", "^the", "a AND", "OR"]
ODD_QUERIES = [*QUERIES, "*", "rowid:1", "; DROP TABLE x; --", "\\", "%", "{}[]", FAMILY, "[red]x"]


def test_any_text_is_a_query(cli: Any) -> None:
    cli.remember("The multi-tenant gateway can't handle 40 m3/h yet (see TN-88).")
    for query in ODD_QUERIES:
        assert cli("recall", query).exit_code == 0, query
    assert cli("recall", "--", "-yet").exit_code == 0
    assert cli.json("recall", "TN-88")["hits"]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_mode_is_passed_on(cli: Any, mode: str) -> None:
    cli.remember("The demo moves to 1 November.")
    assert cli.json("recall", "demo", "--mode", mode)["mode"] == mode


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "x", "-k", "0"),
        ("recall", "x", "-k", "abc"),
        ("recall", "x", "--mode", "magic"),
        ("recall", "x", "--min-score", "2"),
        ("recall", "x", "--since", "yesterday"),
        ("recall", "x", "--status", "gone"),
        ("recall", "x", "--topk", "3"),
        ("context", "x", "--tokens", "0"),
        ("ls", "--limit", "0"),
        ("ls", "--limit", "-1"),
        ("ls", "--limit", "1001"),
        ("ls", "--ofset", "5"),
        ("ls", "--after", "rubbish"),
        ("ls", "--after", "é"),
        ("ls", "--after", "bnVsbA"),
        ("explain", " "),
        ("explain",),
    ],
)
def test_bad_input_ends_with_2(cli: Any, arguments: tuple[str, ...]) -> None:
    cli.remember("A memory.")
    code, error = cli.error(*arguments)
    assert code == 2
    assert error["message"]


# ── Previews ──────────────────────────────────────────────────────────────────────────────────────


def test_no_preview_cuts_a_grapheme(cli: Any) -> None:
    tails = (f"{FAMILY} park day", f"{FLAG} trip", "e\u0301a")
    texts = ["x" * lead + tail for lead in range(70, 82) for tail in tails]
    with sfams.open(cli.db, embedder="hashing") as memory:
        memory.remember_many(texts)
    shown = cli("ls").stdout_bytes.decode("utf-8").splitlines()[2:]
    assert len(shown) == len(texts)
    for text, line in zip(reversed(texts), shown, strict=True):
        start = line.partition("xx")
        seen = (start[1] + start[2]).removesuffix("…")
        rest = text.removeprefix(seen).lstrip()
        assert text.startswith(seen)
        assert not seen.endswith("\u200d")
        assert not rest.startswith(("\u200d", "\u0301", FLAG[1]))
    assert [r["content"] for r in cli.json("ls")["records"]] == texts[::-1]


def test_a_cut_is_marked_and_the_id_stands_beside_it(cli: Any) -> None:
    one = cli.remember("word " * 1000)
    assert cli("ls").stdout.rstrip().endswith("…")
    listed = cli("recall", "word").stdout
    assert one in listed
    assert listed.rstrip().endswith("…")


def test_a_sensitive_text_is_masked_in_previews_only(cli: Any) -> None:
    cli.remember("The garage door code is 4471.", "--sensitive")
    assert "4471" not in cli("ls").stdout
    assert "4471" in cli("recall", "garage code").stdout


def test_no_text_steers_the_terminal(cli: Any) -> None:
    cli.json("remember", "-", given="red \x1b[31malert\x07 [bold]markup[/bold]\x9b2J")
    for shown in (cli("ls").stdout, cli("recall", "alert").stdout):
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "\x9b" not in shown
        assert r"red \x1b[31malert\x07 [bold]markup[/bold]\x9b2J" in shown


def test_a_narrow_terminal_shows_the_whole_id(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    one = cli.remember(f"{FAMILY} 打印机在二楼的走廊，钥匙在前台。" * 3)
    console = Console(force_terminal=True, width=80, color_system=None, highlight=False)
    monkeypatch.setattr("sfams.cli.output._console", lambda: console)
    for command in ("ls", "plan"):
        arguments = ("--lowest", "1") if command == "plan" else ()
        lines = cli(command, *arguments).stdout.splitlines()
        assert any(one in line for line in lines)


# ── The others ────────────────────────────────────────────────────────────────────────────────────


def test_context_prints_the_block_alone(cli: Any) -> None:
    cli.remember("The demo moves to 1 November.")
    result = cli("context", "demo", "--tokens", "200")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Recalled memories (")
    assert result.stdout.endswith("</memories>\n")
    document = cli.json("context", "demo", "--tokens", "200")
    assert document["text"] + "\n" == result.stdout
    assert document["tokens"] <= 200


def test_context_says_what_did_not_fit(cli: Any) -> None:
    cli.remember("The demo moves to 1 November.")
    result = cli("context", "demo", "--tokens", "1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 did not fit" in result.stderr


@pytest.mark.parametrize("order", ["created_at", "importance"])
@pytest.mark.parametrize("direction", [(), ("--ascending",)])
def test_pages_reach_every_memory_once(
    cli: Any, notes: Sequence[str], order: str, direction: tuple[str, ...]
) -> None:
    seen: list[str] = []
    more: tuple[str, ...] = ("--order", order, *direction)
    while True:
        page = cli.json("ls", "--limit", "3", *more)
        seen += [record["id"] for record in page["records"]]
        if page["next"] is None:
            break
        more = ("--after", page["next"])
    assert seen == (list(notes) if direction else [*reversed(notes)])


def test_the_next_page_is_told_and_belongs_to_one_order(cli: Any, notes: Sequence[str]) -> None:
    result = cli("ls", "--limit", "3")
    token = result.stderr.split()[-1]
    assert result.stderr == f"More: add --after {token}\n"
    assert cli.error("ls", "--after", token, "--order", "importance")[0] == 2
    assert cli.error("ls", "--after", token, "--ascending")[0] == 2


def test_stats_measure_the_scope(cli: Any, notes: Sequence[str]) -> None:
    document = cli.json("stats")
    assert document["records"] == {"live": len(notes)}
    assert (document["hot"], document["cold"]) == (len(notes), 0)
    assert document["db"] == str(cli.db)
    assert ["hot", "10"] in [row.split()[:2] for row in cli("stats").stdout.splitlines()]


def test_explain_tells_what_became_of_a_memory(cli: Any) -> None:
    one = cli.remember("The demo moves to 1 November.")
    answer = cli.json("explain", one, "--query", "demo")
    assert (answer["fate"], answer["record_id"], answer["place"]) == ("live", one, 1)
    assert [event["type"] for event in answer["events"]] == ["remembered"]
    assert cli.json("explain", "Never said.")["fate"] == "never stored"
    shown = cli("explain", "The demo moves to 1 November.")
    assert (shown.exit_code, shown.stdout.split()[0]) == (0, "live")
