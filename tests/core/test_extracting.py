"""Summaries without a model: shorter, faithful, the same each time; or none at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.compressing import sentences
from sfams.core.extracting import extract
from sfams.core.fidelity import missing
from sfams.core.summarizing import Purpose, SourceText, SummaryRequest
from sfams.core.text import count_tokens

MONDAY = datetime(2026, 5, 4, 9, tzinfo=UTC)


def asked(
    texts: list[str],
    *,
    whos: list[str] | None = None,
    days: int = 0,
    share: float = 0.4,
    purpose: Purpose = Purpose.GROUP,
) -> SummaryRequest:
    return SummaryRequest(
        sources=tuple(
            SourceText(text, MONDAY + timedelta(days=days * n), whos[n] if whos else "")
            for n, text in enumerate(texts)
        ),
        target_tokens=int(share * sum(map(count_tokens, texts))),
        purpose=purpose,
    )


CHATTER = [
    "Wow, that sounds great! I went hiking near Lake Como and it was really a very lovely time.",
    "Haha, yes! The weather was so sunny and we all had a great day out there together.",
    "By the way, the ferry cost 35 euro and does not run on Sundays. So much fun anyway!",
    "Thanks! It is always nice to talk about trips like that and to hear how it was for you.",
]
PLAUDEREI = [
    "其实我觉得天气真的非常好，大家都很开心，玩得特别高兴。",
    "对了，渡轮票价是三十五欧元，星期天不开船。",
    "哈哈，好的，下次我们还要一起去湖边走一走，晒晒太阳，聊聊天。",
]


@pytest.mark.parametrize("texts", [CHATTER, PLAUDEREI], ids=["en", "zh"])
def test_an_extract_is_shorter_and_loses_nothing_that_is_asked_for_later(texts: list[str]) -> None:
    made = extract(asked(texts))
    assert made is not None
    assert missing(texts, made.content) == ()
    assert count_tokens(made.content) < 0.7 * sum(map(count_tokens, texts))


def test_the_target_is_kept_where_what_must_stay_allows_it() -> None:
    request = asked(CHATTER, share=0.6)
    made = extract(request)
    assert made is not None
    assert count_tokens(made.content) <= request.target_tokens


def test_what_only_greets_goes_first() -> None:
    made = extract(asked(CHATTER))
    assert made is not None
    assert "Thanks" not in made.content
    assert "Haha" not in made.content


def test_texts_made_of_nothing_but_facts_are_left_alone() -> None:
    assert extract(asked(["TN-88", "4,250 euro", "Frankfurt 15:30"])) is None


def test_speakers_are_told_apart() -> None:
    texts = ["I paid 40 euro for the tickets, which was really quite a lot.", "I paid 20 euro."]
    made = extract(asked(texts, whos=["Ann", "Bob"], share=0.9))
    assert made is not None
    said = dict(line.split(": ", 1) for line in made.content.splitlines())
    assert "40 euro" in said["Ann"]
    assert "20 euro" in said["Bob"]


def test_a_relative_day_is_told_with_the_day_on_which_it_was_said() -> None:
    texts = [
        "So, I painted the sunrise by the lake yesterday, and it was such a lovely quiet time.",
        "Well, we had a long talk about the colours, about this and that and how it came to be.",
    ]
    made = extract(asked(texts, days=1))
    assert made is not None
    line = next(line for line in made.content.splitlines() if "yesterday" in line)
    assert line.startswith("2026-05-04: ")


def test_the_day_on_which_something_was_said_stands_for_no_day_that_was_named() -> None:
    texts = [
        "The review with the customers is on Wednesday, as far as I have heard from the others.",
        "Well, we had a long talk about the colours, about this and that and how it came to be.",
        "Today I cleaned up the desk, answered a lot of mail and drank far too much coffee.",
    ]
    made = extract(asked(texts, days=1, purpose=Purpose.DIGEST))
    assert made is not None
    assert "Wed:" in made.content
    assert "Wednesday" in made.content


def test_a_condition_stays_with_what_depends_on_it() -> None:
    texts = ["If it rains, we will cancel the barbecue for all of the 30 people.", *CHATTER]
    made = extract(asked(texts))
    assert made is not None
    line = next(line for line in made.content.split("; ") if "30 people" in line)
    assert "rains" in line


def test_a_question_does_not_become_a_statement() -> None:
    texts = ["Did the landlord really ask for 900 euro?", *CHATTER]
    made = extract(asked(texts))
    assert made is not None
    assert "900 euro?" in made.content


def test_facts_are_part_of_the_text_that_is_stored() -> None:
    made = extract(asked(CHATTER, share=0.1))
    assert made is not None
    assert made.facts
    assert all(fact in made.content for fact in made.facts)


def test_sentences_end_where_people_end_them() -> None:
    assert sentences("Mr. Osei paid 4.5 euro. Good! Really?\nYes") == [
        "Mr. Osei paid 4.5 euro.",
        "Good!",
        "Really?",
        "Yes",
    ]
    assert sentences("好的。谢谢！走吗？") == ["好的。", "谢谢！", "走吗？"]


SAID = st.lists(
    st.one_of(
        st.sampled_from([*CHATTER, *PLAUDEREI]),
        st.text(alphabet="ab Not no 12,.!?:-/年月日三十万不没有APpm。，", max_size=80),
    ),
    min_size=1,
    max_size=6,
)


@given(SAID, st.floats(0.1, 1.0), st.sampled_from(list(Purpose)))
def test_an_extract_never_loses_and_never_grows(
    texts: list[str], share: float, purpose: Purpose
) -> None:
    whos = [("Ann", "Bob")[n % 2] for n in range(len(texts))]
    request = asked(texts, whos=whos, days=1, share=share, purpose=purpose)
    made = extract(request)
    if made is not None:
        assert missing(texts, made.content) == ()
        assert count_tokens(made.content) < sum(map(count_tokens, texts))
    assert extract(request) == made
