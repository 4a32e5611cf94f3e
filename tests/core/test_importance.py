"""The content prior: what a sentence is worth before any model has read it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.cues import FEATURES
from sfams.core.importance import prior
from sfams.core.record import Kind


@pytest.mark.parametrize(
    "text",
    [
        *("Hi", "Thanks!", "ok", "lol", "haha", "Good morning!", "Ok, thanks a lot!"),
        *("You're welcome!", "Sounds good!", "好的", "谢谢", "哈哈", "早上好", "嗯", "收到，谢谢"),
        *("👍", "...", "", "\u200b"),
    ],
)
def test_a_bare_greeting_is_worth_next_to_nothing(text: str) -> None:
    assert prior(text).importance < 0.2
    assert prior(text).kind == Kind.DIALOGUE


@pytest.mark.parametrize(
    "text",
    [
        "How was your weekend?",
        "The weather is lovely today.",
        "Haha, that's hilarious!",
        "I'm doing well, how about you?",
        "It was so good to see you yesterday!",
        "Wow, that sounds amazing, congrats!",
        "Have a great day, talk to you soon!",
        "今天天气真好",
        "你吃饭了吗？",
        "哈哈，你真厉害",
    ],
)
def test_small_talk_is_worth_little(text: str) -> None:
    assert prior(text).importance < 0.35
    assert prior(text).kind == Kind.DIALOGUE


@pytest.mark.parametrize(
    "text",
    [
        "The cat sleeps on the router.",
        "The office in Lisbon has 12 desks.",
        "The delay is due to rain.",
        "Die Straße zum Gasthof ist gesperrt.",
        "Бабушка живёт в Казани.",
        "会议室在三楼",
        "用Docker部署报表服务",
    ],
)
def test_a_plain_statement_stands_in_the_middle(text: str) -> None:
    assert 0.4 <= prior(text).importance <= 0.6
    assert prior(text).kind == Kind.FACT


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My daughter is allergic to peanuts.", Kind.PREFERENCE),
        ("I prefer tea over coffee.", Kind.PREFERENCE),
        ("我对青霉素过敏", Kind.PREFERENCE),
        ("她喜欢桂花糕，讨厌香菜", Kind.PREFERENCE),
        ("The report is due on Friday.", Kind.DEADLINE),
        ("I need this by Friday.", Kind.DEADLINE),
        ("The demo moves to Tuesday.", Kind.DEADLINE),
        ("They pushed the launch to the 14th.", Kind.DEADLINE),
        ("会议改到周五下午三点", Kind.DEADLINE),
        ("报告截止日期是下周五", Kind.DEADLINE),
        ("We decided to use PostgreSQL.", Kind.DECISION),
        ("We’ll go with the second design.", Kind.DECISION),
        ("我们决定改用SQLite", Kind.DECISION),
        ("Please always answer in French.", Kind.INSTRUCTION),
        ("From now on, keep replies short.", Kind.INSTRUCTION),
        ("Make sure the door is locked.", Kind.INSTRUCTION),
        ("记住，以后请用中文回答", Kind.INSTRUCTION),
        ("There is a risk that the migration fails.", Kind.RISK),
        ("数据库有泄露的风险", Kind.RISK),
        ("My goal is to run a marathon.", Kind.GOAL),
        ("今年的目标是跑完马拉松", Kind.GOAL),
        ("I need to call the dentist tomorrow.", Kind.ACTION),
        ("We moved to Berlin in 2021.", Kind.FACT),
        ("我妈妈的生日是十月二日", Kind.FACT),
    ],
)
def test_what_an_agent_should_keep_ranks_high_and_has_its_kind(text: str, kind: Kind) -> None:
    assert prior(text).importance > 0.6
    assert prior(text).kind == kind


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("The cat sleeps on the router.", ()),
        ("Budget for TN-88 is €4,250.", ("number", "amount", "code", "name")),
        ("Ask @anna at 18:00 about 《红楼梦》.", ("number", "date", "name")),
        ("When is the deadline?", ("deadline", "question")),
        ("我们在 Lisbon 见面", ("foreign name",)),
    ],
)
def test_reasons_name_the_features_that_fired(text: str, reasons: tuple[str, ...]) -> None:
    assert prior(text).reasons == reasons


def test_the_longest_cue_counts() -> None:
    assert "chatter" in prior("Sure, that works for everyone on the team.").reasons
    assert "chatter" not in prior("Make sure that works for everyone on the team.").reasons


def test_asking_is_worth_less_than_telling() -> None:
    assert (
        prior("Is the deadline on Friday?").importance < prior("The deadline is Friday.").importance
    )


def test_the_importance_is_the_logistic_of_the_fired_coefficients() -> None:
    result = prior("We decided on Friday: the budget is €4,250.")
    total = -0.1 + sum(row.coefficient for row in FEATURES if row.name in result.reasons)

    assert result.importance == pytest.approx(1 / (1 + math.exp(-total)))


def test_no_cue_speaks_for_two_features() -> None:
    cues = [cue for row in FEATURES for cue in row.cues.split("|") if cue]

    assert len(cues) == len(set(cues))


@given(st.text(st.characters()))
def test_any_text_has_a_prior(text: str) -> None:
    result = prior(text)

    assert 0.0 < result.importance < 1.0
    assert result.kind in Kind
