"""Subjects: a name is a whole name, an identifier is exact, and a longer name is somebody else's."""

from __future__ import annotations

import pytest

from sfams.core.subjects import Sort, Subject, spelling
from sfams.errors import InvalidInputError

NAMED = [
    ("alice@example.com", "mail Alice@Example.com.", True),
    ("alice@example.com", "(alice@example.com), bob", True),
    ("alice@example.com", "写给alice@example.com吧", True),
    ("alice@example.com", "mailto:alice@example.com?x", True),
    ("alice@example.com", "malice@example.com", False),
    ("alice@example.com", "alice@example.com.au", False),
    ("alice@example.com", "x+alice@example.com", False),
    ("alice@example.com", "a.alice@example.com", False),
    ("alice@example.com", "bob@example.com", False),
    ("+1 555-123-4567", "call (555) 123 4567!", True),
    ("+1 555-123-4567", "001 555.123.4567", True),
    ("+1 555-123-4567", "call 5551234567 88 times", True),
    ("+1 555-123-4567", "+15551234567", True),
    ("+1 555-123-4567", "1555123456799", False),
    ("+1 555-123-4567", "ab5551234567", False),
    ("13812345678", "手机号13812345678号", True),
    ("13812345678", "+86 138-1234-5678", True),
    ("13812345678", "１３８１２３４５６７８", True),
    ("13812345678", "138123456789", False),
    ("13812345678", "id x13812345678", False),
    ("Alice", "ALICE's car", True),
    ("Alice", "Alice说", True),
    ("Alice", "ask Alice.", True),
    ("Alice", "malice", False),
    ("Alice", "alices", False),
    ("Alice", "alice@example.com", False),
    ("Alice", "@alice", False),
    ("Alice", "alice_k", False),
    ("Zoë", "zoe sang", True),
    ("Fang  Wang", "fang wang's", True),
    ("王芳", "我和王芳去了", True),
    ("王芳", "王方去了", False),
    ("TN-88", "ticket tn-88.", True),
    ("TN-88", "ticket TN-880", False),
    ("TN-88", "ticket ATN-88", False),
]


@pytest.mark.parametrize(("name", "text", "named"), NAMED)
def test_it_is_named_or_not(name: str, text: str, named: bool) -> None:
    assert Subject([spelling(name)]).named_in(text) is named


def test_a_longer_known_name_is_somebody_elses() -> None:
    ann = Subject([spelling("Ann")], ["Ann Lee", "Ann's car", "Bob"])
    assert not ann.named_in("Ann Lee sang")
    assert ann.named_in("Ann and Ann Lee met")
    assert ann.named_in("Ann's car is red")
    assert not Subject([spelling("王芳")], ["王芳芳"]).named_in("王芳芳来了")
    assert Subject([spelling("王芳")], ["王芳的车"]).named_in("王芳的车是红的")


def test_hints_are_names_at_the_head_of_something_longer() -> None:
    mira = Subject([spelling("Mira"), spelling("mira@example.com")])
    hints = {"Mirabella", "x amira@example.com", "Admiral", "Mira"}
    assert {text for text in hints if mira.hinted_in(text)} == {"Mirabella", "x amira@example.com"}


def test_names_of_entities_may_be_typed() -> None:
    person = Subject([spelling("person:Paris")])
    assert person.is_name("PARIS", "person")
    assert not person.is_name("Paris", "city")
    assert Subject([spelling("Paris")]).is_name("paris", "city")


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("Alice Kim", Sort.NAME),
        ("alice@example.com", Sort.IDENTIFIER),
        ("+43 664 1234567", Sort.PHONE),
        ("4471", Sort.IDENTIFIER),
        ("https://example.com/alice", Sort.IDENTIFIER),
    ],
)
def test_what_is_looked_for_is_told_by_its_shape(text: str, sort: Sort) -> None:
    assert spelling(text).sort is sort


@pytest.mark.parametrize("text", ["", " ", "a", "\u200b", "7"])
def test_nobody_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="subject"):
        spelling(text)


def test_one_chinese_character_may_be_a_name() -> None:
    assert Subject([spelling("芳")]).named_in("阿芳来了")
