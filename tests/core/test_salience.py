"""Salience: what stands out from how a speaker and a conversation usually sound."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core import fitted
from sfams.core.importance import prior, words_of
from sfams.core.indexing import spoken_terms
from sfams.core.salience import (
    BEGINNING,
    SIZES,
    Surroundings,
    beginning,
    log_odds,
    measures,
    salience,
    salience_given,
)
from sfams.core.style import NAMES, Style, Tally, heard


def measured(text: str, around: Surroundings | None = None) -> float:
    terms = set(spoken_terms("", text).ids.tolist())
    return salience(text, words_of(text), terms, around or Surroundings()).value


def traits(text: str) -> set[str]:
    return set(heard(text, words_of(text)).traits)


def told(*texts: str) -> Surroundings:
    """What a memory knows after one speaker has said these."""
    tally, known = Tally(), set[int]()
    for text in texts:
        tally = tally.plus(heard(text, words_of(text)).tally())
        known |= set(spoken_terms("", text).ids.tolist())
    return Surroundings(Style(tally, tally), known)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Can you help me with the draft?", {"question", "request"}),
        ("能不能帮我看一下？", {"question", "request"}),
        ("Thanks, that sounds great!", {"reaction"}),
        ("好的，谢谢", {"reaction"}),
        ("I met Carla at the market yesterday.", {"myself", "event", "time", "name"}),
        ("我昨天在市场见了她", {"myself", "event", "time", "others"}),
        ("My sister never eats fish.", {"myself", "family", "circumstance", "negation"}),
        ("姐姐不吃鱼", {"family", "negation"}),
        ("", set()),
    ],
)
def test_traits_of_a_text(text: str, expected: set[str]) -> None:
    assert traits(text) >= expected
    assert not traits("The kettle stands in the kitchen.") - {"name"}


def test_a_trait_that_somebody_always_has_says_nothing() -> None:
    chat = Style(Tally(100, (5,) * len(NAMES)), Tally(50, (2,) * len(NAMES)))
    plans = Style(Tally(100, (95,) * len(NAMES)), Tally(50, (49,) * len(NAMES)))
    assert chat.surprise("time") > 2.5
    assert plans.surprise("time") < 0.1
    assert Style().surprise("time") == pytest.approx(-math.log(0.25))


def test_a_new_speaker_is_taken_for_one_of_the_others() -> None:
    everybody = Tally(100, (50,) * len(NAMES))
    stranger, known = Style(everybody), Style(everybody, Tally(95, (0,) * len(NAMES)))
    assert stranger.surprise("event") == pytest.approx(-math.log(50.5 / 102))
    assert known.surprise("event") > 3.5


def test_said_again_it_stands_out_less() -> None:
    text = "Robert moved to Salzburg in May."
    assert measured(text, told(text)) < measured(text, told("Lunch was fine."))


def test_a_name_is_new_once() -> None:
    text = "We asked Carla about it."
    terms = set(spoken_terms("", text).ids.tolist())
    new = salience(text, words_of(text), terms, Surroundings())
    known = salience(text, words_of(text), terms, told("They saw Carla."))
    assert (new.measured["new name"] > 0, known.measured["new name"]) == (True, 0.0)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("I signed the lease in Linz on 3 May, the rent is 780 euro.", "Haha, same here!"),
        ("My daughter Mira is allergic to penicillin.", "What did you have for lunch?"),
        ("我们5月3日在林茨签了租约，房租780欧元。", "哈哈，我也是！"),
        ("我女儿对青霉素过敏，昨天刚确诊。", "你午饭吃了什么？"),
    ],
)
def test_what_tells_stands_out_from_what_answers(more: str, less: str) -> None:
    assert measured(more) > measured(less) + 0.2


def test_the_beginning_ends() -> None:
    steps = [beginning(n) for n in range(0, BEGINNING + 20, 10)]
    assert steps[0] == pytest.approx(0.3 * math.log(6))
    assert all(a > b for a, b in pairwise(steps[:11]))
    assert steps[10:] == [0.0, 0.0]


def test_a_given_importance_weighs_as_its_odds() -> None:
    for importance in (0.01, 0.3, 0.5, 0.9):
        both = log_odds(salience_given(importance)) + fitted.IMPORTANCE * log_odds(importance)
        assert both == pytest.approx(log_odds(importance))


def test_every_measure_has_a_coefficient() -> None:
    found = measures(heard("", []), frozenset(), Surroundings())
    assert list(found) == [*NAMES, *SIZES] == list(fitted.COEFFICIENTS)


@given(st.text(st.characters()))
def test_any_text_has_a_salience(text: str) -> None:
    assert 0.0 < measured(text) < 1.0


# Importance alone, as people would rank it.

MATTERS = (
    "My card number is 4111 1111 1111 1111.",
    "The project deadline is 4 May.",
    "我的银行卡号是 6222 0212 3456 7890。",
    "项目截止日期是5月4日。",
)
TASTE = ("My favourite colour is green.", "我最喜欢的颜色是绿色。")
TALK = ("The coffee is nice today.", "Lovely weather, isn't it?", "今天咖啡不错", "天气真好啊")


def test_what_matters_is_above_taste_and_taste_above_small_talk() -> None:
    """By at least a tenth of importance, and a fifth, in both languages."""
    matters, taste, talk = (
        [prior(text).importance for text in texts] for texts in (MATTERS, TASTE, TALK)
    )
    assert min(matters) > max(taste) + 0.1
    assert min(taste) > max(talk) + 0.2
