"""A scope is matched by its parts: nobody reads a neighbour whose name starts the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfams.core.scope import MAX_PART_LENGTH, MAX_PARTS, Scope
from sfams.errors import InvalidInputError

PARTS = st.lists(
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)
    .map(str.strip)
    .filter(bool),
    min_size=1,
    max_size=4,
)


def test_a_scope_is_the_tuple_of_its_parts() -> None:
    scope = Scope(("acme", "stellar_ai", "user:alice"))
    assert tuple(scope) == ("acme", "stellar_ai", "user:alice")
    assert scope.tenant == "acme"
    assert str(scope) == "acme/stellar_ai/user:alice"
    assert Scope("acme/stellar_ai/user:alice") == scope
    assert Scope(scope) is scope


def test_a_scope_covers_itself_and_what_lies_below_and_no_neighbour() -> None:
    fjord = Scope("client/fjord")
    assert fjord.covers(fjord)
    assert fjord.covers(Scope("client/fjord/ops"))
    for other in ("client/fjord-labs", "client/fjordland/ops", "client", "fjord/client"):
        assert not fjord.covers(Scope(other))


def test_slashes_inside_a_part_do_not_cut_it() -> None:
    scope = Scope(["acme", "a/b", "100%", "%2F"])
    assert str(scope) == "acme/a%2Fb/100%25/%252F"
    assert Scope(str(scope)) == scope


def test_spellings_of_one_character_are_one_scope() -> None:
    assert Scope(["caf\u00e9"]) == Scope(["cafe\u0301"])


@pytest.mark.parametrize(
    "parts",
    [
        "",
        "/",
        "acme/",
        "/acme",
        "acme//alice",
        [],
        ["acme", ""],
        ["acme", " "],
        ["acme", " alice"],
        ["acme", "alice\n"],
        ["a\x00b"],
        ["a\ud800"],
        ["a" * (MAX_PART_LENGTH + 1)],
        ["a"] * (MAX_PARTS + 1),
    ],
)
def test_a_scope_that_could_be_mistaken_is_refused(parts: list[str] | str) -> None:
    with pytest.raises(InvalidInputError, match=r"^scope: ") as caught:
        Scope(parts)
    assert caught.value.context["field"] == "scope"


def test_parts_must_be_text() -> None:
    with pytest.raises(InvalidInputError, match="got int"):
        Scope(["acme", 7])  # type: ignore[list-item]  # what untyped callers do


def test_the_largest_scope_is_taken() -> None:
    assert len(Scope(["a" * MAX_PART_LENGTH] * MAX_PARTS)) == MAX_PARTS


@settings(max_examples=50)
@given(PARTS)
def test_the_text_form_reads_back(parts: list[str]) -> None:
    scope = Scope(parts)
    assert Scope(str(scope)) == scope
    assert str(scope).count("/") == len(parts) - 1


@settings(max_examples=50)
@given(PARTS, PARTS)
def test_covering_is_by_parts(upper: list[str], lower: list[str]) -> None:
    assert Scope(upper).covers(Scope([*upper, *lower]))
    if len(upper) == len(lower) and Scope(upper) != Scope(lower):
        assert not Scope(upper).covers(Scope(lower))
