"""What may be remembered: every wrong field is refused by name, nothing is silently changed."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from typing import get_type_hints

import pytest

from sfams.core import checks
from sfams.core.draft import Draft, DraftFields, draft_from_mapping, make_draft
from sfams.core.record import Claim, Entity, Kind, Relation, Sensitivity, Source, Usage
from sfams.errors import InvalidInputError
from sfams.testing import numbered_id

TEXT = "The beta release is due on 4 May."
NOON = datetime(2026, 4, 20, 12, tzinfo=UTC)


def draft(**fields: object) -> Draft:
    return make_draft(TEXT, fields)


def refused(field: str, **fields: object) -> str:
    """The message with which these fields are refused; it names the field and not the text."""
    with pytest.raises(InvalidInputError) as caught:
        draft(**fields)
    assert caught.value.context["field"] == field
    assert field in str(caught.value)
    assert TEXT not in str(caught.value)
    return str(caught.value)


# --- the text ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [TEXT, "  Two  blanks.\n", "我对花生过敏。", "👩‍👩‍👧", "?", "0"])
def test_a_text_is_kept_character_for_character(text: str) -> None:
    assert make_draft(text, {}).content == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "blank"),
        (" \n\t", "blank"),
        ("\u200b\ufeff", "blank"),
        ("pin \ud83e", "surrogate at character 4"),
        ("Zero \x00 byte", "NUL character at 5"),
        ("a" * 1_000_001, "1,000,001 characters, the limit is 1,000,000"),
        (None, "expected text, got NoneType"),
        (b"bytes", "expected text, got bytes"),
    ],
)
def test_a_text_nobody_can_read_or_keep_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=f"content: .*{problem}"):
        make_draft(text, {})


def test_the_longest_text_is_taken() -> None:
    assert len(make_draft("a" * checks.MAX_CONTENT, {}).content) == 1_000_000


# --- all fields ----------------------------------------------------------------------------------


def test_every_field_finds_its_place() -> None:
    made = draft(
        kind="fact:deadline",
        importance=0.9,
        created_at=NOON,
        ttl="24h",
        entities=["project:Stellar", Entity("Mila", "person")],
        tags=["release"],
        metadata={"source": {"page": 7}},
        who="Mila",
        role="user",
        session="s1",
        turn=3,
        subject="beta release",
        attribute="date",
        value="2026-05-04",
        key="m-7",
        supersedes=[numbered_id(1)],
        valid_from=NOON,
        valid_to="2026-05-05T00:00:00Z",
        trust=0.5,
        sensitivity="sensitive",
        derived_from=(numbered_id(2),),
        relations=[Relation("about", numbered_id(3))],
    )
    assert made == Draft(
        content=TEXT,
        kind="fact:deadline",
        importance=0.9,
        created_at=NOON,
        ttl=timedelta(hours=24),
        entities=(Entity("Stellar", "project"), Entity("Mila", "person")),
        tags=("release",),
        metadata={"source": {"page": 7}},
        source=Source("Mila", "user", "s1", 3),
        claim=Claim("beta release", "date", "2026-05-04"),
        key="m-7",
        supersedes=(numbered_id(1),),
        valid_from=NOON,
        valid_to=datetime(2026, 5, 5, tzinfo=UTC),
        trust=0.5,
        sensitivity=Sensitivity.SENSITIVE,
        derived_from=(numbered_id(2),),
        relations=(Relation("about", numbered_id(3)),),
    )


def test_none_is_not_given_for_every_field_but_ttl() -> None:
    nothing = dict.fromkeys(get_type_hints(DraftFields))
    assert make_draft(TEXT, nothing) == Draft(content=TEXT, keeps=True)
    del nothing["ttl"]
    assert make_draft(TEXT, nothing) == Draft(content=TEXT)


def test_every_declared_field_is_checked_and_every_checked_one_declared() -> None:
    for name in get_type_hints(DraftFields):
        refused(name, **{name: object()})


def test_an_unknown_field_is_refused_with_the_nearest_one() -> None:
    assert "'importence'; did you mean 'importance'?" in refused("importence", importence=0.9)
    assert "there is attribute, created_at" in refused("zzz", zzz=None)


# --- single fields -------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, 0.0, 0.1, 0.35, 0.8, 1, 1.0])
def test_importance_is_kept_zero_included(value: float) -> None:
    assert draft(importance=value).importance == value


@pytest.mark.parametrize("value", [-0.1, 1.01, "high", "0.5", math.nan, math.inf, True, [0.5]])
def test_wrong_importance_is_refused_and_never_cut(value: object) -> None:
    refused("importance", importance=value)
    refused("trust", trust=value)


def test_moments_are_utc_and_naive_ones_refused() -> None:
    tokyo = datetime(2026, 6, 6, tzinfo=timezone(timedelta(hours=9)))
    assert draft(expires_at=tokyo).expires_at == datetime(2026, 6, 5, 15, tzinfo=UTC)
    assert draft(created_at=1_767_225_600).created_at == datetime(2026, 1, 1, tzinfo=UTC)
    wrong = [datetime(2026, 6, 6), "2026-06-06T00:00", "2026-06-06", "soon", True, []]  # noqa: DTZ001
    for field, value in product(("created_at", "expires_at", "valid_from", "valid_to"), wrong):
        refused(field, **{field: value})


def test_ttl_and_expiry() -> None:
    assert draft(ttl=60).expiry(NOON) == NOON + timedelta(seconds=60)
    assert draft(ttl="7d").expiry(NOON) == NOON + timedelta(days=7)
    assert draft(expires_at=NOON).expiry(NOON + timedelta(days=1)) == NOON  # expired at once
    assert draft().expiry(NOON) is None
    assert draft(ttl=9_999_999_999).expiry(NOON) == NOON + timedelta(seconds=9_999_999_999)
    assert draft(ttl=timedelta(days=900_000_000)).expiry(NOON) is None  # beyond the year 9999
    for value in (0, -5, math.nan, "sixty", True, timedelta(0), 1e300):
        refused("ttl", ttl=value)
    assert "not both" in refused("ttl", ttl=60, expires_at=NOON)


def test_validity_must_not_end_before_it_begins() -> None:
    assert draft(valid_from=NOON, valid_to=NOON).valid_to == NOON
    refused("valid_to", valid_from=NOON, valid_to=NOON - timedelta.resolution)


def test_kinds_are_spelled_in_lower_case() -> None:
    assert draft(kind=Kind.GOAL).kind == "goal"
    assert draft(kind=" FACT ").kind == "fact"
    for value in ("", "two words", "a:b:c", 7):
        refused("kind", kind=value)


@pytest.mark.parametrize(
    ("given", "name", "type_"),
    [
        ("person:Mila", "Mila", "person"),
        ("person: Mila Novak ", "Mila Novak", "person"),
        ("release_train:R7", "R7", "release_train"),
        ("Mila", "Mila", ""),
        ("QRK ", "QRK", ""),
        ("12:30", "12:30", ""),
        ("Dune: Part Two", "Dune: Part Two", ""),
        ("http://example.org/a:b", "http://example.org/a:b", ""),
        ("gopher://example.org", "gopher://example.org", ""),
        ("mailto:mila@example.org", "mailto:mila@example.org", ""),
        ("url:https://example.org", "https://example.org", "url"),
        ("人物：王", "人物：王", ""),
        (":x", ":x", ""),
    ],
)
def test_entities_may_name_their_type(given: str, name: str, type_: str) -> None:
    assert draft(entities=[given]).entities == (Entity(name, type_),)


def test_spellings_of_one_entity_are_one_and_near_names_stay_apart() -> None:
    assert draft(entities=["QRK", "QRK", "qrk", "QRK "]).entities == (Entity("QRK"),)
    names = ["RX-1603", "RX-1605", "Anna Lindt", "Anna Lind", "Room 12", "Room 21"]
    assert len(draft(entities=names).entities) == 6
    assert len(draft(entities=["person:Jordan", "country:Jordan"]).entities) == 2


@pytest.mark.parametrize(
    "value",
    [
        "Mila",
        ["person:"],
        ["person:  "],
        [" "],
        [7],
        [Entity("")],
        [Entity("Mila", "Two Words")],
        ["a" * 257],
        ["a\x00b"],
        ["line\nbreak"],
        ["\ud800"],
        {"person": "Mila"},
        5,
        ["x"] * 257,
    ],
)
def test_wrong_entities_are_refused(value: object) -> None:
    refused("entities", entities=value)


def test_tags_are_a_list_and_each_counts_once() -> None:
    assert draft(tags=["a", " b ", "a"]).tags == ("a", "b")
    assert draft(tags={"b", "c", "a"}).tags == ("a", "b", "c")
    assert draft(tags=(tag for tag in "xy")).tags == ("x", "y")
    assert "expected a list, got str; write ['work']" in refused("tags", tags="work")
    for value in ([""], ["a" * 129], [1], {"a": 1}, b"ab", 3):
        refused("tags", tags=value)


def test_an_endless_list_is_refused() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "again"

    assert "more than 256" in refused("tags", tags=endless())


@pytest.mark.parametrize("field", ["who", "role", "session", "key", "subject", "attribute"])
def test_names_are_one_line_of_limited_length(field: str) -> None:
    for value in ("", " ", "a" * 257, "a\x00", "a\nb", "\ud800", 7, ["a"]):
        refused(field, **{field: value})


def test_turns_are_whole_numbers() -> None:
    assert draft(turn=0).source.turn == 0
    for value in (-1, 1.5, True, "3", 2**63):
        refused("turn", turn=value)


def test_a_claim_needs_subject_and_attribute() -> None:
    assert draft(subject="office", attribute="floor").claim == Claim("office", "floor")
    refused("attribute", subject="office")
    refused("subject", attribute="floor")
    refused("subject", value="5")


def test_what_it_supersedes_may_be_one_id_or_several() -> None:
    one, two = numbered_id(1), numbered_id(2)
    assert draft(supersedes=one).supersedes == (one,)
    assert draft(supersedes=[one, two, one]).supersedes == (one, two)
    refused("supersedes", supersedes=[None])


def test_relations_and_sensitivity_are_checked() -> None:
    refused("relations", relations=["about"])
    refused("relations", relations=[Relation("", numbered_id(1))])
    refused("sensitivity", sensitivity="secret")
    assert draft(sensitivity="normal").sensitivity is Sensitivity.NORMAL


# --- metadata ------------------------------------------------------------------------------------


def test_metadata_is_plain_json_and_a_copy() -> None:
    given = {"a": [1, 2.5, None, True, "x"], "b": {"c": ("d",)}, "n": 2**63 - 1}
    made = draft(metadata=given)
    assert made.metadata == {"a": [1, 2.5, None, True, "x"], "b": {"c": ["d"]}, "n": 2**63 - 1}
    given["a"] = []
    assert made.metadata["a"] != []
    assert json.loads(json.dumps(made.metadata)) == made.metadata


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({1: "a"}, "keys are text"),
        ({"a": math.nan}, r"metadata\.a: is not finite"),
        ({"a": [math.inf]}, r"metadata\.a\[0\]: is not finite"),
        ({"a": 2**63}, "64 bits"),
        ({"a": NOON}, "not JSON: datetime"),
        ({"a": {1, 2}}, "not JSON: set"),
        ({"a": b"x"}, "not JSON: bytes"),
        ({"a": "\ud800"}, "surrogate"),
        ({"\x00": 1}, "NUL"),
        ({"a": "x" * 65_536}, "65,5.. bytes as JSON, the limit is 65,536"),
        ([1], "table"),
        ("{}", "table"),
    ],
)
def test_metadata_that_is_no_json_is_refused(value: object, problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        draft(metadata=value)


def test_metadata_that_contains_itself_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["self"] = [loop]
    with pytest.raises(InvalidInputError, match="deeper than 32 levels"):
        draft(metadata=loop)


# --- imports -------------------------------------------------------------------------------------


def imported(**fields: object) -> Draft:
    return draft_from_mapping(fields)


@pytest.mark.parametrize(
    "mapping",
    [
        {"text": TEXT, "type": "fact", "timestamp": NOON, "ttl": 86_400},
        {
            "content": TEXT,
            "memory_type": "FACT",
            "created_at": "2026-04-20T12:00:00Z",
            "ttl": "24h",
        },
        {"content": TEXT, "kind": "fact", "created_at": NOON.timestamp(), "ttl_hours": 24},
    ],
)
def test_the_usual_shapes_mean_the_same(mapping: Mapping[str, object]) -> None:
    expected = Draft(content=TEXT, kind="fact", created_at=NOON, ttl=timedelta(days=1))
    assert draft_from_mapping(mapping) == expected


def test_a_whole_object_of_another_memory() -> None:
    made = imported(
        id="m-7",
        text=TEXT,
        linked_entities=["project:Stellar"],
        project_id="stellar_ai",
        user_id="mila",
        metadata={"page": 7},
        last_accessed="2026-04-21T00:00:00Z",
        access_count=4,
        importance=0,
        ttl=None,
    )
    assert made.key == "m-7"
    assert made.entities == (Entity("Stellar", "project"),)
    assert made.metadata == {"project_id": "stellar_ai", "user_id": "mila", "page": 7}
    assert made.usage == Usage(4, datetime(2026, 4, 21, tzinfo=UTC))
    assert made.importance == 0.0
    assert made.ttl is None


def test_usage_may_be_told_in_part() -> None:
    assert imported(text=TEXT).usage is None
    assert imported(text=TEXT, access_count=2).usage == Usage(2)
    assert imported(text=TEXT, last_accessed_at=NOON).usage == Usage(0, NOON)


def test_unknown_keys_of_an_import_are_refused_or_kept() -> None:
    with pytest.raises(InvalidInputError, match="'mood'"):
        imported(text=TEXT, mood="good")
    with pytest.raises(InvalidInputError, match="did you mean 'timestamp'"):
        imported(text=TEXT, timestmp=NOON)
    mapping = {"text": TEXT, "mood": "good", "metadata": {"page": 7}}
    made = draft_from_mapping(mapping, lenient=True)
    assert made.metadata == {"imported": {"mood": "good"}, "page": 7}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "content"),
        ({"text": None}, "content"),
        ({"text": TEXT, "content": TEXT}, "content"),
        ({"text": TEXT, "type": "fact", "kind": "fact"}, "kind"),
        ({"text": TEXT, "ttl": 60, "ttl_hours": 1}, "ttl"),
        ({"text": TEXT, "ttl_hours": "one"}, "ttl_hours"),
        ({"text": TEXT, "ttl_hours": 0}, "ttl_hours"),
        ({"text": TEXT, "last_accessed": "soon"}, "last_accessed"),  # as it was spelt
        ({"text": TEXT, "last_accessed": NOON, "last_accessed_at": NOON}, "last_accessed_at"),
        ({"text": TEXT, "access_count": -1}, "access_count"),
        ({"text": TEXT, "created_at": "31/02/2026"}, "created_at"),
        ({"text": TEXT, "metadata": "x", "project_id": "p"}, "metadata"),
        ({"text": TEXT, "linked_entities": "Mila"}, "entities"),
    ],
)
def test_a_wrong_import_is_refused_by_field(fields: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        imported(**fields)
    assert caught.value.context["field"] == field
