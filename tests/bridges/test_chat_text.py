from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from time import perf_counter

import pytest

from sfams.bridges.chatlog import ChatLog, ChatOptions, read_chatlog

CHINA = timezone(timedelta(hours=8))


def read(text: str, name: str = "talk.txt", options: ChatOptions | None = None) -> ChatLog:
    return read_chatlog(text.encode(), name=name, options=options or ChatOptions())


def spoken(log: ChatLog) -> list[tuple[str, str]]:
    return [(draft.source.who, draft.content) for draft in log.drafts]


def moments(log: ChatLog) -> list[str | None]:
    return [
        None if draft.created_at is None else f"{draft.created_at:%Y-%m-%d %H:%M}"
        for draft in log.drafts
    ]


BOTH = [("Mira", "hello"), ("Tomas", "hi")]
CHINESE = [("李伟", "你好"), ("王芳", "嗨")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mira: hello\nTomas: hi", BOTH),
        ("**Mira**: hello\n\n**Tomas**: hi", BOTH),
        ("**Mira:** hello\n\n**Tomas:** hi", BOTH),
        ("- **Mira**: hello\n- **Tomas**: hi", BOTH),
        ("[09:14] Mira: hello\n[09:15] Tomas: hi", BOTH),
        ("[09:14] <Mira> hello\n[09:15] <Tomas> hi", BOTH),
        ("Mira (09:14 AM): hello\nTomas (09:15 AM): hi", BOTH),
        ("李伟：你好\n王芳：嗨", CHINESE),
        ("李伟:你好\n王芳: 嗨", CHINESE),
        ("李伟（2026年3月2日 9:14）：你好\n王芳（2026年3月2日 9:15）：嗨", CHINESE),
        ("李伟 2026-03-02 09:14:05\n你好\n\n王芳 2026-03-02 09:14:09\n嗨", CHINESE),
        ("## User\n\nhello\n\n### Assistant\n\nhi", [("User", "hello"), ("Assistant", "hi")]),
        ("**用户**\n\n你好\n\n**助手**\n\n嗨", [("用户", "你好"), ("助手", "嗨")]),
        (
            "## Mira\na\n## Tomas\nb\n## Mira\nc\n## Tomas\nd",
            [(w, t) for w, t in zip(["Mira", "Tomas"] * 2, "abcd", strict=True)],
        ),
        ("O'Brien: hello\nDr. Kim: hi", [("O'Brien", "hello"), ("Dr. Kim", "hi")]),
    ],
)
def test_the_ways_to_open_a_message(text: str, expected: list[tuple[str, str]]) -> None:
    log = read(text)
    assert spoken(log) == expected
    assert log.skipped == ()
    assert {draft.kind for draft in log.drafts} == {"dialogue"}


@pytest.mark.parametrize(
    "opening",
    [
        "**Mira** (2026-03-02 09:14): hello",
        "**Mira (2026-03-02 09:14):** hello",
        "[2026-03-02 09:14] Mira: hello",
        "2026-03-02T09:14:00Z Mira: hello",
        "2026-03-02 09:14 - Mira: hello",
        "[2 March 2026, 9:14 am] Mira: hello",
        "Mira (2026/3/2 9:14): hello",
        "Mira [2026-03-02 09:14]: hello",
        "## Mira (2026-03-02 09:14)\nhello",
    ],
)
def test_the_ways_to_date_a_message(opening: str) -> None:
    log = read(f"{opening}\n{opening}")
    assert spoken(log) == [("Mira", "hello")] * 2
    assert moments(log) == ["2026-03-02 09:14"] * 2


def test_one_stamped_line_is_enough() -> None:
    assert spoken(read("[2026-03-02 09:14] Mira: hello")) == [("Mira", "hello")]


def test_what_follows_belongs_to_the_message() -> None:
    answer = (
        "Two things.\n\n> Tomas: quoted\n\n1. **Cost:** low\n2. Note: this\n\n"
        "## Plan\n\n```python\nTomas: str\n```\n\n    Tomas: indented\nsee http://a.b: there"
    )
    log = read(f"Mira: Now?\nTomas: {answer}\n\n---\nMira: Good.\nTomas: Bye.")
    assert spoken(log) == [
        ("Mira", "Now?"),
        ("Tomas", answer),
        ("Mira", "Good."),
        ("Tomas", "Bye."),
    ]


def test_between_a_user_and_an_assistant_nobody_else_speaks() -> None:
    answer = "Sure.\nIngredients: flour\nFunction: bake\n09:00 - Breakfast: eggs\nIngredients: oil"
    log = read("User: A cake?\nAssistant: " + answer + "\nUser: Thanks.\nAssistant: Welcome.")
    assert [who for who, _ in spoken(log)] == ["User", "Assistant"] * 2
    assert log.drafts[1].content == answer
    assert [draft.source.role for draft in log.drafts] == ["user", "assistant"] * 2


def test_a_code_block_that_nothing_closes_swallows_no_message() -> None:
    log = read(
        "User: a\nAssistant: b\n```python\nx = 1\n\nUser: c\nAssistant: ```\nd\n```\nUser: e"
    )
    assert [who for who, _ in spoken(log)] == ["User", "Assistant", "User", "Assistant", "User"]


def test_instructions_to_the_model_are_skipped() -> None:
    log = read("System: Be brief.\nUser: hello\nAssistant: hi")
    assert spoken(log) == [("User", "hello"), ("Assistant", "hi")]
    assert [(each.line, each.field) for each in log.skipped] == [(1, "role")]


@pytest.mark.parametrize(
    "text",
    [
        "We met.\nNote: this is it.\nAnd Warning: that.",
        "See http://a.b for it.\nftp://c.d: too.",
        "Name: Bob\nAge: 5\nCity: Oslo",
        "The plan is this: we go.\nThen, as I said: we stay.",
        "It starts at 9:30 and ends\nat 10:45 sharp.",
        "会议在9:30开始。\n地址:上海\n链接:http://a.b",
        "Mira: alone in the file",
    ],
)
def test_prose_has_no_speakers(text: str) -> None:
    log = read(text)
    assert spoken(log) == [("", text)]
    assert log.drafts[0].kind is None


def test_notes_become_one_memory_per_paragraph() -> None:
    log = read(
        "# 2026-03-02\n\n## Deploy\n\nWe use helm.\nAlways.\n\n- a\n- b\n\n```\nx\n\ny\n```\n\n## End",
        "notes.md",
    )
    assert [draft.content for draft in log.drafts] == [
        "Deploy\nWe use helm.\nAlways.",
        "- a\n- b",
        "```\nx\n\ny\n```",
    ]
    assert set(moments(log)) == {"2026-03-02 00:00"}
    assert [(d.source.session, d.source.turn) for d in log.drafts] == [
        ("notes", 1),
        ("notes", 2),
        ("notes", 3),
    ]
    assert [(each.line, each.field) for each in log.skipped] == [(17, "content")]
    again = read("We use helm.", "a.txt"), read("We use helm.", "b.txt")
    assert again[0].drafts[0].key == again[1].drafts[0].key


def test_headings_set_the_day_and_the_session() -> None:
    log = read(
        "# 2026-03-02\nMira: a\nTomas: b\n\n## Session 3 — 2026-03-05\n\n[09:14] Mira: c\n"
        "Tomas: d\n\n=== 8 March 2026 ===\nMira: e\n\n## 第4次会话\nTomas: f\n"
    )
    places = [draft.source.session for draft in log.drafts]
    assert places == [*["talk 2026-03-02"] * 2, *["Session 3"] * 2, "talk 2026-03-08", "第4次会话"]
    assert moments(log) == [
        *["2026-03-02 00:00"] * 2,
        *["2026-03-05 09:14"] * 2,
        *["2026-03-08 00:00"] * 2,
    ]


def test_a_date_amid_an_answer_is_part_of_it() -> None:
    log = read("User: Plan?\nAssistant: Yes:\n\n## March 20, 2026\n\nWe go.\n\nUser: Good.")
    assert spoken(log)[1] == ("Assistant", "Yes:\n\n## March 20, 2026\n\nWe go.")
    assert moments(log) == [None] * 3


def test_a_time_alone_is_of_the_day_before_it_and_midnight_passes() -> None:
    log = read(
        "[2026-03-02 09:14] Mira: a\n[23:59] Tomas: b\n[00:03] Mira: c\n[00:02] Tomas: d",
        options=ChatOptions(timezone=CHINA),
    )
    written = ["2026-03-02 09:14", "2026-03-02 23:59", "2026-03-03 00:03", "2026-03-03 00:02"]
    utc = [
        f"{datetime.fromisoformat(each).replace(tzinfo=CHINA).astimezone(UTC):%Y-%m-%d %H:%M}"
        for each in written
    ]
    assert moments(log) == utc


def test_a_message_whose_time_cannot_be_read_is_refused_whole() -> None:
    log = read(
        "[2026-03-02 09:14] Mira: a\n[31/02/2026 09:15] Tomas: b\nmore of b\n[09:16] Mira: c"
    )
    assert spoken(log) == [("Mira", "a"), ("Mira", "c")]
    assert [(s.line, s.field, s.value) for s in log.skipped] == [
        (2, "timestamp", "31/02/2026 09:15")
    ]


def test_what_stands_before_the_first_speaker_is_listed() -> None:
    log = read("A talk in March.\n\nMira: a\nTomas: b\nMira: c")
    assert len(log.drafts) == 3
    assert [(each.line, each.field) for each in log.skipped] == [(1, "speaker")]


def test_an_opening_without_a_text_is_blank() -> None:
    log = read("Mira: a\nTomas:\nMira: b")
    assert spoken(log) == [("Mira", "a"), ("Mira", "b")]
    assert [(each.line, each.reason) for each in log.skipped] == [(2, "is blank")]


def test_a_transcript_grows_without_changing_its_keys() -> None:
    whole = "Mira: a\nTomas: b\nMira: a\nTomas: c\nnot yet all"
    grown = read(whole + "\nMira: d")
    before = read(whole)
    assert [d.key for d in grown.drafts[:-1]] == [d.key for d in before.drafts]


def test_separators_inside_a_message_do_not_split_it() -> None:
    text = "a\u2028Tomas: b\x0cTomas: c"
    assert spoken(read(f"Mira: {text}\nTomas: d")) == [("Mira", text), ("Tomas", "d")]


@pytest.mark.parametrize(
    "unit",
    [
        "# ",
        " ",
        "1 ",
        "**",
        "- ",
        ": ",
        "a:",
        "[09:14] ",
        "`",
        '"',
        "{",
        "[[",
        "2026-03-02 ",
        "啊：",
    ],
)
def test_hostile_lines_take_linear_time(unit: str) -> None:
    taken = []
    for size in (20_000, 200_000):
        data = f"## {unit * size}x".encode()
        start = perf_counter()
        read_chatlog(data, name="x", options=ChatOptions())
        taken.append(perf_counter() - start)
    assert all(late < 1.0 + 40 * early for early, late in pairwise(taken))
