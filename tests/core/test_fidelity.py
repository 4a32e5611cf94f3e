"""Fidelity: what texts commit to in English and Chinese, and what a summary may not lose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.fidelity import CommitmentType, commitments, missing

# text -> what it commits to, as "type value"; for negations only that there is one with these words
READ = [
    ("Leo's budget is 4,250 euro.", ["name leo", "number 4250 eur"]),
    ("It costs €4250 or $1.5k.", ["number 1500 usd", "number 4250 eur"]),
    ("预算是四千二百五十欧元。", ["number 4250 eur"]),
    ("涨了百分之十五，共3万元", ["number 15 %", "number 30000 cny"]),
    ("Prices rose fifteen percent in twenty days.", ["number 15 %", "number 20 day"]),
    ("Due 2026-09-30 at 3:30 pm", ["date 15:30", "date 2026-09-30"]),
    ("Due on 30 September 2026", ["date 2026-09-30"]),
    ("Due on September 30th, 2026.", ["date 2026-09-30"]),
    ("截止日期是2026年9月30日下午三点半", ["date 15:30", "date 2026-09-30"]),
    ("It was 3 May, a Monday.", ["date -05-03", "date mon"]),
    ("五月三日，星期一", ["date -05-03", "date mon"]),
    ("See you next Friday or tomorrow", ["date next fri", "date tomorrow"]),
    ("下周五或者明天见", ["date next fri", "date tomorrow"]),
    ("May I ask? We march on.", []),
    ("We sat in the sun and wed our friends.", []),
    (
        "From 06.05.2026 to May 7-9, in Q3 2026, at 20 °C",
        ["date -05-07", "date 2026", "date 2026-05-06", "name q3", "number 20 c", "number 9"],
    ),
    ("See you Sat. or Sun at noon", ["date 12:00", "date sat", "date sun"]),
    ("The release of TN-88 uses SQLite.", ["name sqlite", "name tn-88"]),
    ("Write to alice@example.com about v2.3.1", ["name alice@example.com", "name v2.3.1"]),
    ("小王在读《三体》", ["name 三体", "name 小王"]),
    ("张伟负责用 Python 写脚本", ["name python", "name 张伟"]),
    ("我们一起去吧，十分好，千万记得", []),
    ("Thanks! Sounds good, it is all great.", []),
    ("Running is fun. Thanks to Caroline.", ["name caroline"]),
]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[text for text, _ in READ])
def test_a_text_is_read_for_numbers_dates_and_names(text: str, expected: list[str]) -> None:
    found = [
        f"{each.type} {each.value}"
        for each in commitments(text)
        if each.type is not CommitmentType.NEGATION
    ]
    assert sorted(found) == expected


DENIED = [
    ("Leo does NOT want to fly via Frankfurt.", ["fli", "frankfurt"]),
    ("She no longer eats meat.", ["eat", "meat"]),
    ("He left without his keys.", ["key"]),
    ("I don't know.", ["know"]),
    ("他不想在法兰克福转机。", list("法兰克福转机")),
    ("我没带护照。", list("带护照")),
    ("别告诉妈妈。", list("告诉妈妈")),
    ("我觉得不好吃", list("好吃")),
]


@pytest.mark.parametrize(("text", "words"), DENIED, ids=[text for text, _ in DENIED])
def test_a_negation_carries_what_it_denies(text: str, words: list[str]) -> None:
    found = [each for each in commitments(text) if each.type is CommitmentType.NEGATION]
    assert [list(each.words) for each in found] == [words]


@pytest.mark.parametrize(
    "text",
    [
        "I can't wait to see it!",
        "No problem, never mind.",
        "Not only that, it is not bad.",
        "不错，不过要特别说明",
        "是不是这样？没关系，没问题",
        "未来的区别在于级别",
        "要不要来？",
    ],
)
def test_an_idiom_denies_nothing(text: str) -> None:
    assert CommitmentType.NEGATION not in {each.type for each in commitments(text)}


FAITHFUL = [
    ("The budget is 4,250 euro.", "Budget: €4250."),
    ("预算是4250欧元。", "预算四千二百五十欧元"),
    ("Due 30 September 2026.", "due 2026-09-30"),
    ("Due on 30 September.", "due 2026年9月30日"),
    ("It happened in May.", "on 3 May 2026"),
    ("Leo does NOT want to fly via Frankfurt.", "Leo refuses to fly through Frankfurt."),
    ("Leo does NOT want to fly via Frankfurt.", "Leo won't fly via Frankfurt."),
    ("他不想在法兰克福转机。", "不在法兰克福转机"),
    ("Mr Osei met Ned.", "ned, OSEI"),
    ("Paid 5 on Monday.", "Monday: paid 5 km"),
]


@pytest.mark.parametrize(("source", "summary"), FAITHFUL)
def test_another_spelling_of_the_same_is_no_loss(source: str, summary: str) -> None:
    assert missing([source], summary) == ()


LOSSES = [
    ("The budget is 4,250 euro.", "The budget is 4,200 euro.", "number 4250 eur"),
    ("The budget is 4,250 euro.", "The budget is 4,250.", "number 4250 eur"),
    ("Due 2026-09-30.", "Due in September 2026.", "date 2026-09-30"),
    ("Due on Friday.", "Due on Monday.", "date fri"),
    ("Ned pays Mr Osei.", "Ned pays his landlord.", "name osei"),
    ("Leo will not fly via Frankfurt.", "Leo flies via Frankfurt.", "negation not fli frankfurt"),
    (
        "Leo will not fly via Frankfurt.",
        "Leo flies via Frankfurt, not by train.",
        "negation not fli frankfurt",
    ),
    ("预算是四千二百五十欧元", "预算是四千欧元", "number 4250 eur"),
    ("截止9月30日", "截止9月", "date -09-30"),
    ("张伟负责测试", "有人负责测试", "name 张伟"),
    ("我不吃花生", "我吃花生", "negation not 吃 花 生"),
]


@pytest.mark.parametrize(("source", "summary", "loss"), LOSSES)
def test_what_is_left_out_or_turned_round_is_a_loss(source: str, summary: str, loss: str) -> None:
    assert [f"{each.type} {each.value}" for each in missing([source], summary)] == [loss]


def test_a_slot_of_key_values_carries_what_the_text_leaves_out() -> None:
    sources = ["The budget is 4,250 euro.", "The visa deadline is 2026-09-30."]
    assert missing(sources, "Travel plans.", ["budget: 4250 EUR", "visa: 30 September 2026"]) == ()


def test_a_given_name_counts_even_in_lower_case() -> None:
    sources = ["the stellar project ships soon"]
    assert missing(sources, "It ships soon.") == ()
    assert [each.value for each in missing(sources, "It ships soon.", names=["Stellar"])] == [
        "stellar"
    ]


WRITTEN = st.lists(
    st.one_of(
        st.sampled_from([text for text, _ in READ] + [text for text, _ in DENIED]),
        st.text(max_size=60),
        st.text(alphabet="ab Not no 12,.:-/年月日三十万不没有APpm", max_size=60),
    ),
    max_size=6,
)


@given(WRITTEN)
def test_the_sources_joined_lose_nothing(sources: list[str]) -> None:
    assert missing(sources, "\n".join(sources)) == ()


@given(st.text(max_size=200))
def test_every_text_can_be_read(text: str) -> None:
    assert commitments(text) == commitments(text)
