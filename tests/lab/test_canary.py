"""No policy may see a question before the freeze, by whichever way it got hold of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.support.labelled import conversation

from sfams.lab import forgetting_bench
from sfams.lab.canary import LeakError, assert_blind, texts_within
from sfams.lab.datasets.values import Dataset
from sfams.lab.forgetting_bench import Plan, run_forgetting
from sfams.lab.policies import POLICIES, Policy
from sfams.lab.policies.base import Baseline
from sfams.providers.hashing import HashingEmbedder

SECRET = "Where does Ana live since May?"
TOLD = ("Ana moved to Porto.",)


def closing_over(text: str) -> Callable[[], int]:
    return lambda: len(text)


class Slotted:
    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


HIDING: dict[str, Callable[[str], Any]] = {
    "a field": lambda text: SimpleNamespace(secret=text),
    "a slot": Slotted,
    "a longer text": lambda text: [f"Please note: {text} Thanks!"],
    "deep in containers": lambda text: {"a": [({"b": frozenset([text])},)]},
    "a dict's key": lambda text: {text: 1},
    "a closure": closing_over,
    "a default": lambda text: lambda value=text: value,
    "a partial": lambda text: partial(print, text),
    "a bound method": lambda text: Slotted([text]).__init__,  # type: ignore[misc]
    "an array of objects": lambda text: np.array([None, text], object),
    "a generator": lambda text: (each for each in [text]),
}


@pytest.mark.parametrize("way", HIDING)
def test_a_question_is_found_wherever_it_is_hidden(way: str) -> None:
    with pytest.raises(LeakError, match="before the freeze") as caught:
        assert_blind(HIDING[way](SECRET), [SECRET], TOLD)
    assert SECRET not in str(caught.value)


def test_what_was_told_is_no_secret_and_neither_is_a_short_text() -> None:
    assert_blind(SimpleNamespace(said=TOLD), [TOLD[0], "Why?"], TOLD)
    assert_blind(SimpleNamespace(said="Why?"), ["Why?"], TOLD)


def test_a_loop_ends() -> None:
    loop: list[Any] = ["text"]
    loop.append(loop)
    assert list(texts_within(loop)) == ["text"]


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_passes_the_canary_in_the_bench(name: str) -> None:
    data = Dataset(name="made-up", conversations=(conversation(),))
    plan = Plan(policies=(name,), kinds=("tokens",), shares=(0.25,), seeds=(0,))
    assert run_forgetting(data, HashingEmbedder(), plan).tallies


def test_the_bench_stops_at_a_policy_that_received_a_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talk = conversation()

    def peeking(seed: int) -> Baseline:
        peeker = Baseline("peeker", lambda columns, _: np.zeros(len(columns)))
        peeker.__dict__["asked_later"] = [each.text for each in talk.questions]
        return peeker

    monkeypatch.setattr(forgetting_bench, "POLICIES", {**POLICIES, "peeker": Policy(peeking, "")})
    plan = Plan(policies=("peeker",), kinds=("tokens",), shares=(0.25,))
    data = Dataset(name="made-up", conversations=(talk,))
    with pytest.raises(LeakError):
        run_forgetting(data, HashingEmbedder(), plan)
