"""Requests to forget: what asks for it is understood, and what only sounds like it is not."""

from __future__ import annotations

import pytest

from sfams.core.requests import Request, RequestKind, Topic, parse_request
from sfams.testing.builders import make_record

ABOUT, LAST, SESSION, TEXT = (
    RequestKind.ABOUT,
    RequestKind.LAST,
    RequestKind.SESSION,
    RequestKind.TEXT,
)

ASKED: dict[str, Request] = {
    "Forget what I said about Viktor.": Request(ABOUT, "Viktor", own=True),
    "please forget everything about my trip to Rome": Request(ABOUT, "trip to Rome"),
    "Could you forget what I told you about alice@example.com?": Request(
        ABOUT, "alice@example.com", own=True
    ),
    "Delete everything you know about Project Apollo, please": Request(ABOUT, "Project Apollo"),
    "Thanks. Please delete my address.": Request(ABOUT, "address"),
    "don’t store my phone number": Request(ABOUT, "phone number"),
    "stop remembering my location": Request(ABOUT, "location"),
    "Forget that I live in Graz.": Request(ABOUT, "I live in Graz"),
    "don't keep anything about my health": Request(ABOUT, "health"),
    "Forget Viktor": Request(ABOUT, "Viktor"),
    "don't remember this": Request(LAST, own=True),
    "Don't save that, please.": Request(LAST, own=True),
    "Forget what I just said!": Request(LAST, own=True),
    "scratch that": Request(LAST),
    "forget this conversation": Request(SESSION),
    "don't remember this: my PIN is 4471": Request(TEXT, "my PIN is 4471"),
    "别记这个。": Request(LAST),
    "这个别记": Request(LAST),
    "不要记住这句话": Request(LAST),
    "忘掉我刚才说的话": Request(LAST),
    "把刚才那句忘了吧": Request(LAST),
    "不用记了": Request(LAST),
    "忘掉我说的关于王芳的事": Request(ABOUT, "王芳", own=True),
    "请忘记我说过的关于搬家的话": Request(ABOUT, "搬家", own=True),
    "把关于工资的内容删掉": Request(ABOUT, "工资"),
    "忘掉关于罗马旅行的一切": Request(ABOUT, "罗马旅行"),
    "别记我的地址": Request(ABOUT, "地址"),
    "好的。麻烦你把王芳的事都忘了吧": Request(ABOUT, "王芳"),
    "删除王芳": Request(ABOUT, "王芳"),
    "忘掉这次对话": Request(SESSION),
    "别记这个：密码是4471": Request(TEXT, "密码是4471"),
}
NOT_ASKED = [
    "",
    "Don't forget the milk",
    "don't forget that I live in Graz",
    "I forgot my keys",
    "Never forget me",
    "forget it",
    "Forget about it",
    "I don't remember where I put it",
    "Don't remember where I put it",
    "forget to call",
    "I'll delete the file tomorrow",
    "What did I say about Viktor?",
    "The delete key is broken",
    "Remove before flight is his motto, he said",
    "别忘了带钥匙",
    "不要忘记开会",
    "我忘了告诉你",
    "忘了告诉你，明天开会",
    "我忘记密码了",
    "忘了带伞",
    "记得买牛奶",
    "别记仇",
]


@pytest.mark.parametrize(("text", "request_"), ASKED.items())
def test_it_is_understood(text: str, request_: Request) -> None:
    assert parse_request(text) == request_


@pytest.mark.parametrize("text", NOT_ASKED)
def test_it_is_no_request(text: str) -> None:
    assert parse_request(text) is None


@pytest.mark.parametrize("text", ["please " * 50_000, "别" * 100_000, "forget me " * 50])
def test_a_sentence_without_end_is_no_request(text: str) -> None:
    assert parse_request(text) is None


@pytest.mark.parametrize(
    ("topic", "content", "fits"),
    [
        ("Viktor", "Viktor's job is new.", True),
        ("Viktor", "Viktoria's job is new.", False),
        ("trip to Rome", "In Rome we were on three trips.", True),
        ("trip to Rome", "The trip to Graz.", False),
        ("I live in Graz", "Alice lives in Graz now.", True),
        ("罗马的旅行", "我们的旅行去了罗马。", True),
        ("王芳", "我和王芳去了。", True),
        ("the of", "The end of it.", False),
    ],
)
def test_a_topic_is_its_name_or_all_its_words(topic: str, content: str, fits: bool) -> None:
    assert Topic(topic).fits(make_record(1, content=content)) is fits
