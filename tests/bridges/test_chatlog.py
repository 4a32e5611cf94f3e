from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sfams.bridges.chatlog import ChatLog, ChatOptions, Format, read_chatlog
from sfams.core.record import Claim, Entity
from sfams.errors import InvalidInputError

CHINA = timezone(timedelta(hours=8))


def read(text: str, name: str = "talk.jsonl", options: ChatOptions | None = None) -> ChatLog:
    return read_chatlog(text.encode(), name=name, options=options or ChatOptions())


def lines(*objects: object) -> str:
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in objects)


def contents(log: ChatLog) -> list[str]:
    return [draft.content for draft in log.drafts]


def keys(log: ChatLog) -> list[str | None]:
    return [draft.key for draft in log.drafts]


def refusals(log: ChatLog) -> list[tuple[int, str, str]]:
    return [(each.line, each.field, each.value) for each in log.skipped]


def said(content: str, **fields: object) -> dict[str, object]:
    return {"role": "user", "content": content, **fields}


# --- what a message becomes --------------------------------------------------------------------


def test_a_message_becomes_dialogue_with_its_source() -> None:
    log = read(
        lines(
            {
                "id": "t1",
                "session": "s01",
                "speaker": "Mira",
                "role": "user",
                "content": "早上好, everyone.",
                "timestamp": "2026-03-02T08:30:00Z",
            }
        )
    )
    (draft,) = log.drafts
    assert log.format == "jsonl"
    assert log.skipped == ()
    assert (draft.content, draft.kind) == ("早上好, everyone.", "dialogue")
    assert draft.created_at == datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
    assert (draft.source.who, draft.source.role) == ("Mira", "user")
    assert (draft.source.session, draft.source.turn) == ("s01", 1)
    assert draft.key == "chat:s01:t1"


@pytest.mark.parametrize("speaker", ["speaker", "author", "name", "from", "sender", "who"])
@pytest.mark.parametrize("content", ["content", "text", "message", "body"])
def test_the_names_in_use_are_understood(speaker: str, content: str) -> None:
    (draft,) = read(lines({speaker: "李伟", content: "你好"})).drafts
    assert (draft.source.who, draft.content) == ("李伟", "你好")


@pytest.mark.parametrize("name", ["timestamp", "created_at", "time", "date", "ts"])
def test_the_names_for_a_date_are_understood(name: str) -> None:
    (draft,) = read(lines(said("x", **{name: "2026-03-02 09:14"}))).drafts
    assert draft.created_at == datetime(2026, 3, 2, 9, 14, tzinfo=UTC)


@pytest.mark.parametrize("name", ["session", "session_id", "conversation_id", "thread"])
def test_the_names_for_a_session_are_understood(name: str) -> None:
    (draft,) = read(lines(said("x", **{name: 7}))).drafts
    assert draft.source.session == "7"


@pytest.mark.parametrize("name", ["id", "message_id", "dia_id"])
def test_the_names_for_an_id_are_understood(name: str) -> None:
    assert keys(read(lines(said("x", session="s", **{name: "D1:3"})))) == ["chat:s:D1:3"]


@pytest.mark.parametrize(
    ("word", "role"),
    [("human", "user"), ("ai", "assistant"), ("gpt", "assistant"), ("助手", "assistant")],
)
def test_words_for_user_and_assistant_are_roles(word: str, role: str) -> None:
    (draft,) = read(lines({"from": word, "value": "x"})).drafts
    assert (draft.source.who, draft.source.role) == (word, role)


def test_what_a_message_says_about_itself_goes_into_the_draft() -> None:
    memory = {
        "kind": "deadline",
        "importance": "0.9",
        "subject": "closed beta",
        "attribute": "date",
        "value": "2026-04-20",
        "entities": ["org:粤达物流"],
        "ttl_hours": 24,
        "tags": ["harbour"],
    }
    (draft,) = read(lines(said("The beta is out on 20 April.", memory=memory))).drafts
    assert (draft.kind, draft.importance, draft.tags) == ("deadline", 0.9, ("harbour",))
    assert draft.claim == Claim("closed beta", "date", "2026-04-20")
    assert draft.entities == (Entity("粤达物流", "org"),)
    assert draft.ttl == timedelta(hours=24)


def test_a_memory_in_a_message_cannot_change_who_said_what_when() -> None:
    memory = {"content": "other", "who": "Eve", "session": "x", "key": "k", "created_at": "soon"}
    (draft,) = read(lines(said("mine", session="s", id=1, memory=memory))).drafts
    assert (draft.content, draft.source.who, draft.key) == ("mine", "user", "chat:s:1")


def test_direct_memories_keep_their_shape() -> None:
    log = read(
        lines(
            {
                "text": "Bo is allergic to nuts.",
                "memory_type": "fact",
                "ttl_hours": 24,
                "linked_entities": ["person:Bo"],
                "created_at": "2026-03-02 09:14",
                "project_id": "p1",
                "seen_by": "crawler",
                "id": 7,
            }
        ),
        options=ChatOptions(timezone=CHINA),
    )
    (draft,) = log.drafts
    assert (draft.kind, draft.key, draft.entities) == ("fact", "7", (Entity("Bo", "person"),))
    assert draft.created_at == datetime(2026, 3, 2, 1, 14, tzinfo=UTC)
    assert draft.metadata == {"project_id": "p1", "imported": {"seen_by": "crawler"}}


# --- JSON documents ----------------------------------------------------------------------------

PARTS = [{"type": "text", "text": "A"}, {"type": "image_url"}, {"type": "text", "text": "B"}]


def test_messages_of_an_api_call() -> None:
    document = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": PARTS},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
            {"role": "tool", "content": "42"},
            {"role": "assistant", "content": "It is 42."},
        ]
    }
    log = read(json.dumps(document, indent=1), "call.json")
    assert log.format == "json"
    assert contents(log) == ["A\nB", "42", "It is 42."]
    assert [draft.source.role for draft in log.drafts] == ["user", "tool", "assistant"]
    assert [(each.field, each.reason) for each in log.skipped] == [
        ("role", "instructions to the model are no memory"),
        ("content", "a tool call without a text"),
    ]
    assert [each.line for each in log.skipped] == [3, 23]


def test_sessions_give_their_name_and_date_to_their_turns() -> None:
    document = {
        "sessions": [
            {"id": "s1", "date": "1:56 pm on 8 May, 2023", "turns": [[said("a")], [said("b")]]},
            {"id": "s2", "timestamp": "2023-05-09T10:00:00Z", "messages": [said("c")]},
        ]
    }
    log = read(json.dumps(document), "sessions.json")
    places = [(d.source.session, d.source.turn, d.created_at) for d in log.drafts]
    first, second = datetime(2023, 5, 8, 13, 56, tzinfo=UTC), datetime(2023, 5, 9, 10, tzinfo=UTC)
    assert places == [("s1", 1, first), ("s1", 2, first), ("s2", 1, second)]


def test_a_session_without_a_readable_date_is_not_taken() -> None:
    document = {"sessions": [{"id": "s", "date": "soon", "messages": [said("a"), said("b")]}]}
    log = read(json.dumps(document), "sessions.json")
    assert log.drafts == ()
    assert refusals(log) == [(1, "date", "soon")]


def test_a_session_inside_a_conversation_is_named_by_both() -> None:
    document = {"id": "c1", "sessions": [{"id": "s1", "messages": [said("a")]}]}
    (draft,) = read(json.dumps(document), "x.json").drafts
    assert draft.source.session == "c1/s1"


def test_content_blocks_are_read_where_the_text_is_empty() -> None:
    document = [
        {
            "uuid": "c1",
            "chat_messages": [
                {"sender": "human", "text": "", "content": [{"type": "text", "text": "Seat 14C."}]},
                {"sender": "human", "text": "I moved to Gent.", "content": []},
            ],
        }
    ]
    assert contents(read(json.dumps(document), "x.json")) == ["Seat 14C.", "I moved to Gent."]


def test_a_message_in_an_envelope() -> None:
    envelope = {"type": "user", "timestamp": "2026-03-02T09:14:00Z", "message": said("hi")}
    (draft,) = read(lines(envelope)).drafts
    assert (draft.content, draft.source.role) == ("hi", "user")
    assert draft.created_at == datetime(2026, 3, 2, 9, 14, tzinfo=UTC)


def test_unnamed_conversations_of_one_file_are_kept_apart() -> None:
    log = read(lines({"messages": [said("a")]}, {"messages": [said("a")]}))
    assert [d.source.session for d in log.drafts] == ["talk", "talk #2"]
    assert len(set(keys(log))) == 2


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (lines(said("a"), said("b")), "x", "jsonl"),
        (lines(said("a"), said("b")), "x.json", "jsonl"),
        (json.dumps([said("a")]), "x.txt", "json"),
        (json.dumps({"messages": [said("a")]}, indent=2), "x.jsonl", "json"),
        ("[\n" + json.dumps(said("a")) + ",\n" + json.dumps(said("b")), "x", "json"),
        ('{"role": "user", "content": "cut"\n' + lines(said("a"), said("b")), "x", "jsonl"),
        ("Mira: a\nTomas: b", "x", "text"),
        ("Mira: a\nTomas: b", "x.md", "markdown"),
        ("**Mira:** a\n**Tomas:** b", "x", "markdown"),
        ("[09:14] Mira: a", "x", "text"),
        ("{note} to self", "x", "text"),
    ],
)
def test_the_format_is_told_by_content_then_suffix(text: str, name: str, expected: str) -> None:
    log = read(text, name)
    assert log.format == expected
    assert log.drafts


def test_a_format_that_is_named_is_taken() -> None:
    log = read(lines(said("a")), options=ChatOptions(format="text"))
    assert log.format == "text"
    named: Format = "xml"  # type: ignore[assignment]  # what a face may hand in
    with pytest.raises(InvalidInputError, match="format"):
        ChatOptions(format=named)


# --- keys, turns and dates ---------------------------------------------------------------------


def test_reading_again_or_grown_or_elsewhere_gives_the_same_keys() -> None:
    log = [said("OK"), said("OK"), {"role": "assistant", "content": "OK"}]
    once = keys(read(lines(*log), "a/talk.jsonl"))
    assert len(set(once)) == 3
    assert keys(read(lines(*log), "b\\talk.jsonl")) == once
    assert keys(read(lines(*log, said("new")), "talk.jsonl"))[:3] == once


def test_mending_a_refused_line_changes_no_other_key() -> None:
    broken = read(lines(said("a"), said("b", timestamp="soon"), said("c")))
    mended = read(lines(said("a"), said("b"), said("c")))
    assert set(keys(broken)) < set(keys(mended))


def test_equal_memories_have_one_key() -> None:
    first, second, third = keys(read(lines({"text": "a"}, {"text": "a"}, {"text": "b"})))
    assert first == second != third


def test_one_id_for_two_texts_loses_neither() -> None:
    log = read(lines(said("a", id=1), said("b", id=1), said("a", id=1)))
    assert contents(log) == ["a", "b"]
    assert len(set(keys(log))) == 2
    assert refusals(log) == [(3, "id", "1")]


def test_a_key_is_never_too_long() -> None:
    (draft,) = read(lines(said("a", id="x" * 300))).drafts
    assert len(draft.key or "") < 256


def test_a_refused_message_keeps_its_turn() -> None:
    log = read(lines(said("a"), said(" \u200b"), said("c")))
    assert [draft.source.turn for draft in log.drafts] == [1, 3]


def test_an_undated_message_follows_the_one_before_it() -> None:
    at = "2026-03-02T09:14:00Z"
    log = read(lines(said("a"), said("b", timestamp=at), said("c", timestamp=None)))
    assert {draft.created_at for draft in log.drafts} == {datetime(2026, 3, 2, 9, 14, tzinfo=UTC)}


def test_where_nothing_is_dated_the_service_takes_its_own_time() -> None:
    (draft,) = read(lines(said("a"))).drafts
    assert draft.created_at is None


def test_a_session_that_nobody_names_is_the_file_and_the_day_as_written() -> None:
    late = said("a", timestamp="2026-03-02T23:30:00-05:00")
    assert read(lines(late), "logs/talk.jsonl").drafts[0].source.session == "talk 2026-03-02"
    named = read(lines(late, said("b", session="own")), options=ChatOptions(session="mine"))
    assert [draft.source.session for draft in named.drafts] == ["mine", "own"]


# --- faults ------------------------------------------------------------------------------------


def test_unreadable_times_are_listed_and_nothing_is_half_stored() -> None:
    log = read(
        lines(
            {
                "text": "Bo plays chess.",
                "created_at": "2026-01-05T10:00:00Z",
                "last_accessed": "soon",
            },
            {"text": "Bo's club meets in Hall B.", "created_at": "31/02/2026"},
            {"text": "Bo sold the old board.", "created_at": None},
            {"text": "Bo's rating is 1604.", "created_at": 1767225600},
        )
    )
    assert refusals(log) == [(1, "last_accessed", "soon"), (2, "created_at", "31/02/2026")]
    assert contents(log) == ["Bo sold the old board.", "Bo's rating is 1604."]
    assert [d.created_at for d in log.drafts] == [None, datetime(2026, 1, 1, tzinfo=UTC)]


def test_two_objects_on_a_line_and_a_cut_last_line() -> None:
    log = read(lines(said("a")) + lines(said("b")) + '\n{"role": "user", "content": "tunes pia')
    assert contents(log) == ["a", "b"]
    (cut,) = log.skipped
    assert (cut.line, cut.field) == (2, "json")
    assert "pia" not in cut.value + cut.reason


def test_what_precedes_the_damage_of_a_document_is_kept_with_its_session() -> None:
    text = (
        '{"sessions": [{"id": "s1", "messages": [\n'
        ' {"role": "user", "content": "whole"},\n'
        ' {"role": "user", "content": [{"type": "text", "text": "ha"}], "memory": {"kind": "fact"}, '
    )
    log = read(text, "talk.json")
    assert [(d.content, d.source.session) for d in log.drafts] == [("whole", "s1")]
    assert [(each.line, each.field) for each in log.skipped] == [(3, "json")]


LONG = "a" * 1_000_001


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        (r'{"role": "user", "content": "\ud83e"}', "content", ""),
        (r'{"role": "user", "content": "a", "memory": {"tags": ["\ud83e"]}}', "tags", ""),
        ('{"role": "user", "content": "  "}', "content", ""),
        ('{"role": "user", "content": null}', "content", ""),
        ('{"role": "user", "content": {"a": 1}}', "content", ""),
        ('{"role": "user", "content": "a", "time": [1]}', "time", "list"),
        ('{"role": "user", "content": "a", "time": true}', "time", "True"),
        ('{"role": "user", "content": "a", "time": "1e999"}', "time", "1e999"),
        ('{"role": "user", "content": "a", "memory": {"importance": 7}}', "importance", "7"),
        ('{"role": "user", "content": "a", "memory": {"expires_at": "x"}}', "expires_at", "x"),
        ('{"role": "user", "content": "a", "memory": {"subject": "b"}}', "attribute", ""),
        ('{"type": "entity", "name": "Orkester", "observations": []}', "content", ""),
        ('{"mapping": {"a": {"message": null}}}', "mapping", ""),
        ("[1, 2]", "json", "2 values"),
        ("7", "json", "int"),
        ("not JSON", "json", "column 1"),
        ("[" * 100_000, "json", "column 1"),
        ("9" * 5_000, "json", "column 1"),
        (json.dumps(said(LONG)), "content", ""),
    ],
)
def test_what_cannot_be_taken_is_listed_and_the_rest_is_read_on(
    line: str, field: str, value: str
) -> None:
    log = read(f"{line}\n{lines(said('next'))}", options=ChatOptions(format="jsonl"))
    assert contents(log) == ["next"]
    assert refusals(log) == [(1, field, value)]


def test_a_text_beyond_the_limit_is_refused_with_both_numbers() -> None:
    (refused,) = read(lines(said(LONG))).skipped
    assert "1,000,001" in refused.reason
    assert "1,000,000" in refused.reason


def test_odd_but_readable_json() -> None:
    log = read(
        '{"role": "user", "content": "first", "content": "last"}\n'
        '{"role": "user", "content": "a", "timestamp": "1767225600", "memory": {"trust": NaN}}\n'
        '{"role": "user", "content": "tab\tinside"}\n'
        '{"role": "user", "content": "😀"}'
    )
    assert log.skipped == ()
    assert contents(log) == ["last", "a", "tab\tinside", "😀"]
    assert log.drafts[1].created_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("data", [b"", b" \r\n\n", b"[]", b"\xef\xbb\xbf", b"---\n", b'{"a": []}'])
def test_a_file_without_a_message_says_so(data: bytes) -> None:
    log = read_chatlog(data, name="x", options=ChatOptions())
    assert log.drafts == ()
    assert len(log.skipped) == 1


@pytest.mark.parametrize("name", ["", ".", "..", "/", ".jsonl", "a\ud800\n.jsonl", "长" * 400])
def test_any_file_name_gives_a_session(name: str) -> None:
    log = read(lines(said("a")), name, ChatOptions(format="jsonl"))
    assert log.skipped == ()
    assert log.drafts[0].source.session
