from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.bridges.chatlog import ChatOptions, read_chatlog
from sfams.bridges.encoding import CUT, UNREADABLE, read_lines
from sfams.errors import InvalidInputError

WINDOWS = (
    codecs.BOM_UTF8
    + '{"text": "Café crème is on shelf 2."}\r\n\r\n'.encode()
    + '{"text": "Müller’s key"}\r\n'.encode("cp1252")
    + '{"text": "鍵は引き出し"}\r\n{"text": "broken"\r\n{"text": "last line"}'.encode()
)
EXPECTED = ["Café crème is on shelf 2.", "Müller’s key", "鍵は引き出し", "last line"]


def test_a_file_from_windows_is_read_line_by_line() -> None:
    log = read_chatlog(WINDOWS, name="x.jsonl", options=ChatOptions())
    assert [draft.content for draft in log.drafts] == EXPECTED
    assert [(each.line, each.field) for each in log.skipped] == [(5, "json")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-8-sig"])
def test_the_same_lines_with_a_byte_order_mark(encoding: str) -> None:
    text = "\r\n".join(f'{{"text": "{each}"}}' for each in EXPECTED)
    data = ("\ufeff" + text if encoding == "utf-16-be" else text).encode(encoding)
    log = read_chatlog(data, name="x.jsonl", options=ChatOptions())
    assert [draft.content for draft in log.drafts] == EXPECTED


@pytest.mark.parametrize(
    ("line", "encoding"),
    [
        ("李伟：你好，今天下雨。", "gb18030"),
        ("朱镕基说：请把会议改到周五。", "gb18030"),
        ("Müller’s “key” – façade, 5 € for 2 m²", "cp1252"),
        ("A informação não está aqui: coração", "cp1252"),
        ("¿Dónde está el niño?", "cp1252"),
    ],
)
def test_older_encodings_are_told_apart(line: str, encoding: str) -> None:
    lines = read_lines(line.encode(encoding) + b"\nplain")
    assert lines.texts == (line, "plain")
    assert lines.refused == {}


@pytest.mark.parametrize(
    "line",
    [
        "今天下雨".encode("big5"),
        "鍵は引き出し".encode("shift_jis"),
        "Привет, мир".encode("cp1251"),
        "안녕하세요".encode("euc_kr"),
        "李".encode("gb18030"),  # as likely two letters of another encoding
        "café ".encode() + b"m\xfcller",  # UTF-8 and Windows-1252 in one line
        b"a \x81 b",
        b"\xed\xa0\xbd smile",  # half a character, as broken exporters write it
    ],
)
def test_what_is_in_doubt_is_reported_and_never_guessed(line: bytes) -> None:
    lines = read_lines(b"first\n" + line + b"\nlast")
    assert lines.texts == ("first", None, "last")
    assert lines.refused == {2: UNREADABLE}


def test_one_file_of_chinese_confirms_its_short_lines() -> None:
    lines = read_lines("李\n今天下雨，我们明天再去吧。\n嗯".encode("gb18030"))
    assert lines.texts == ("李", "今天下雨，我们明天再去吧。", "嗯")


def test_a_file_cut_in_the_middle_of_a_character_says_so() -> None:
    lines = read_lines("Mira: café\nTomas: très".encode()[:-2])
    assert lines.texts == ("Mira: café", None)
    assert lines.refused == {2: CUT}


def test_an_unreadable_line_does_not_drop_out_of_a_document_unseen() -> None:
    data = b'{"messages": [\n{"role": "user", "content": "a"},\n{"role": "user",\n"x": "\x81",\n'
    log = read_chatlog(data + b'"content": "b"}]}', name="x.json", options=ChatOptions())
    assert [draft.content for draft in log.drafts] == ["a"]
    assert [(each.line, each.field) for each in log.skipped] == [(4, "encoding"), (4, "json")]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\r\nb\rc\nd", ("a", "b", "c", "d")),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ("a", "b")),  # two files, one behind the other
        (b"a\nb" + b"\0" * 64, ("a", "b")),  # what a power cut leaves
        ("a\u2028b\x0cc".encode(), ("a\u2028b\x0cc",)),
        ("a\nb".encode("utf-16")[:-1], ("a", "")),
    ],
)
def test_lines_end_where_they_end(data: bytes, expected: tuple[str, ...]) -> None:
    assert read_lines(data).texts == expected


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
        b"SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20",
        b"PK\x03\x04\x14\x00\x00\x00\x08\x00",
        "Mira: hi".encode("utf-16-le"),
        "李伟：你好\n王芳：嗨\n".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + b"\xff\xff\xff\xff",
    ],
)
def test_a_binary_file_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputError, match="file: "):
        read_chatlog(data, name="x", options=ChatOptions())


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        log = read_chatlog(data, name="x", options=ChatOptions())
    except InvalidInputError:
        return
    assert log.drafts or log.skipped


@given(
    st.text(
        alphabet=st.sampled_from('{}[]",:\\ \n\r#*>`-[0129](Miraé李："ud83 textrolecontentuser'),
        max_size=200,
    ),
    st.sampled_from(["auto", "jsonl", "json", "markdown", "text"]),
)
def test_any_text_is_read_in_any_format(text: str, named: str) -> None:
    options = ChatOptions(format=named)  # type: ignore[arg-type]  # drawn from its values
    log = read_chatlog(text.encode(), name="x", options=options)
    assert log.drafts or log.skipped
