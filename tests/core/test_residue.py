"""Residue: what stands in data is found wherever it stands, and nothing else is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.residue import PIECE, Finder, pieces_of, pieces_of_data, too_short

WORDS = st.binary(min_size=4, max_size=40)


@given(st.lists(WORDS, min_size=1, max_size=8), st.binary(max_size=300), st.data())
def test_it_finds_just_what_is_there(
    wanted: list[bytes], noise: bytes, data: st.DataObject
) -> None:
    planted = data.draw(st.lists(st.sampled_from(wanted)))
    whole = noise.join([b"", *planted, b""])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    blocks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert Finder(wanted).look(blocks) == {each for each in wanted if each in whole}


def test_many_are_found_in_large_data() -> None:
    chance = random.Random(1)
    data = bytearray(chance.randbytes(3 << 20))
    wanted = [chance.randbytes(chance.choice((4, 7, 8, 15, 16, 30))) for _ in range(500)]
    for number, each in enumerate(wanted[:250]):
        at = number * 12_000 + chance.randrange(9000)
        data[at : at + len(each)] = each
    blocks = [bytes(data[at : at + 70_000]) for at in range(0, len(data), 70_000)]
    found = Finder(wanted).look(blocks)
    assert found >= set(wanted[:250])
    assert found == {each for each in wanted if each in bytes(data)}


@pytest.mark.parametrize(
    "text", ["The garage door code is 4471, she said.", "车库的密码是四四七一，她说。"]
)
def test_every_fragment_of_some_length_is_found(text: str) -> None:
    data, pieces = text.encode(), pieces_of([text])
    length = PIECE + 7
    for start in range(len(data) - length + 1):
        fragment = data[start : start + length]
        assert any(piece in fragment for piece in pieces), start


def test_other_forms_are_looked_for_too() -> None:
    pieces = pieces_of(['Zoë said "hi"'])
    for form in ("zoe said", "zoë said", '\\"hi\\"'):
        assert any(form.encode() in piece for piece in pieces)


def test_what_says_nothing_is_left_out() -> None:
    assert pieces_of_data([bytes(64)]) == frozenset()
    assert pieces_of(["ab", ""]) == frozenset()
    assert too_short({"ab", "窑", "窑炉"}) == 2


def test_looking_for_nothing_finds_nothing() -> None:
    finder = Finder([])
    assert (finder.done, finder.look([b"abc"])) == (True, set())
