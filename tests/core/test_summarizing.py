"""Grouping mixes nothing that it must not; a summary belongs where its sources do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Unpack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.record import Claim, Entity, MemoryRecord, Sensitivity, Source, Status
from sfams.core.scope import Scope
from sfams.core.summarizing import (
    Group,
    GroupBy,
    Grouping,
    GroupRules,
    SummaryText,
    draft_of,
    group,
    originals,
    request_of,
)
from sfams.errors import InvalidPolicyError
from sfams.testing.builders import RecordFields, make_record, numbered_id

MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)


def note(number: int, *names: str, **fields: Unpack[RecordFields]) -> MemoryRecord:
    """Build a note on some entities."""
    given_fields: RecordFields = {
        "kind": "note",
        "entities": tuple(map(Entity, names)),
        "created_at": MAY + timedelta(days=number),
    }
    return make_record(number, **(given_fields | fields))


def shape(found: Grouping) -> list[tuple[str, str, list[int]]]:
    return [
        (each.by.value, each.on, [int(member.id[-12:], 16) for member in each.members])
        for each in found.groups
    ]


def test_records_on_one_entity_are_grouped_in_the_order_of_time() -> None:
    records = [note(n, "Iris") for n in (3, 1, 2)]
    assert shape(group(records)) == [("entity", "iris", [1, 2, 3])]


def test_the_rarer_entity_is_what_a_group_is_about() -> None:
    records = [note(n, "Iris", "Kayak") for n in (1, 2, 3)] + [note(n, "Iris") for n in (4, 5, 6)]
    assert shape(group(records)) == [("entity", "kayak", [1, 2, 3]), ("entity", "iris", [4, 5, 6])]


def test_without_a_shared_entity_a_session_or_a_day_makes_a_group() -> None:
    records = [
        *(note(n, source=Source(session="standup")) for n in (1, 2, 3)),
        *(note(n, created_at=MAY + timedelta(hours=n)) for n in (4, 5, 6)),
        note(40),
    ]
    found = group(records)
    assert shape(found) == [("session", "standup", [1, 2, 3]), ("day", "2026-05-04", [4, 5, 6])]
    assert found.left == {numbered_id(40): "too few on one thing"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"held": True}, "held"),
        ({"pinned": True}, "pinned"),
        ({"status": Status.DELETED}, "not live"),
        ({"expires_at": MAY}, "expires by itself"),
        ({"claim": Claim("rent", "amount", "805")}, "holds the value of a claim"),
        ({"kind": "instruction"}, "kind instruction stands apart"),
        ({"kind": "preference:food"}, "kind preference:food stands apart"),
        ({"kind": "decision"}, "kind decision stands apart"),
        ({"metadata": {"digest": "week"}}, "is a digest"),
    ],
)
def test_some_records_stay_as_they_are_and_are_told_why(fields: RecordFields, reason: str) -> None:
    records = [note(1, "Iris", **fields), *(note(n, "Iris") for n in (2, 3, 4))]
    found = group(records)
    assert shape(found) == [("entity", "iris", [2, 3, 4])]
    assert found.left == {numbered_id(1): reason}


def test_scopes_are_never_mixed() -> None:
    records = [note(n, "Iris", scope=Scope(f"acme/{n % 2}")) for n in range(1, 7)]
    assert [{each.scope for each in found.members} for found in group(records).groups] == [
        {Scope("acme/0")},
        {Scope("acme/1")},
    ]


def test_many_records_are_cut_into_even_portions_within_the_limits() -> None:
    found = group([note(n, "Iris") for n in range(1, 14)], GroupRules(most=6))
    assert [len(each.members) for each in found.groups] == [5, 5, 3]
    wide = [note(n, "Iris", tokens=100) for n in range(1, 9)]
    assert [each.tokens for each in group(wide, GroupRules(most_tokens=400)).groups] == [400, 400]


@pytest.mark.parametrize("fields", [{"least": 1}, {"least": 5, "most": 4}, {"most_tokens": 0}])
def test_impossible_limits_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidPolicyError):
        GroupRules(**fields)


RECORDS = st.lists(
    st.builds(
        lambda n, names, session, day, kind, held: note(
            n,
            *names,
            source=Source(session=session),
            created_at=MAY + timedelta(days=day),
            kind=kind,
            held=held,
        ),
        st.integers(1, 200),
        st.lists(st.sampled_from(["Iris", "Leo", "Kayak"]), unique=True, max_size=2),
        st.sampled_from(["", "s1", "s2"]),
        st.integers(0, 3),
        st.sampled_from(["note", "fact", "instruction"]),
        st.booleans(),
    ),
    unique_by=lambda each: each.id,
    max_size=40,
)


@given(RECORDS, st.integers(2, 4), st.integers(4, 8), st.randoms())
def test_grouping_is_a_partition_whatever_the_order(
    records: list[MemoryRecord], least: int, most: int, order: Random
) -> None:
    rules = GroupRules(least=least, most=most)
    found = group(records, rules)
    placed = [member.id for each in found.groups for member in each.members] + list(found.left)
    assert sorted(placed) == sorted(record.id for record in records)
    for each in found.groups:
        assert least <= len(each.members) <= most
        assert not any(member.held or member.kind == "instruction" for member in each.members)
        if each.by is GroupBy.ENTITY:
            assert all(
                each.on in {entity.name.lower() for entity in member.entities}
                for member in each.members
            )
    shuffled = list(records)
    order.shuffle(shuffled)
    assert group(shuffled, rules) == found


def test_a_summary_keeps_place_tags_entities_and_the_way_back() -> None:
    records = [
        note(1, "Iris", tags=("sport", "goal"), importance=0.3, trust=0.9),
        note(2, "Iris", tags=("sport",), importance=0.6, sensitivity=Sensitivity.SENSITIVE),
        note(3, "Leo", tags=("sport", "shopping"), importance=0.4, metadata={"team": "a"}),
    ]
    made = draft_of(
        by_hand(records),
        SummaryText("Iris ran.", ("Leo: 8 km",)),
        summarizer="test",
        more={"digest": "week"},
    )
    assert made.content == "Iris ran.\nLeo: 8 km"
    assert made.kind == "summary"
    assert made.importance == pytest.approx(0.65)
    assert made.tags == ("sport", "goal", "shopping")
    assert [entity.name for entity in made.entities] == ["Iris", "Leo"]
    assert made.derived_from == tuple(record.id for record in records)
    assert made.created_at == records[2].created_at
    assert made.trust == 0.9
    assert made.sensitivity is Sensitivity.SENSITIVE
    assert made.claim is None
    assert made.metadata == {
        "summarizer": "test",
        "span_from": "2026-05-05T09:00:00Z",
        "span_to": "2026-05-07T09:00:00Z",
        "facts": ["Leo: 8 km"],
        "digest": "week",
    }


def by_hand(records: list[MemoryRecord]) -> Group:
    return Group(by=GroupBy.HAND, on="", members=tuple(records), sources=tuple(records))


def test_importance_stays_within_one_and_what_all_agree_on_is_kept() -> None:
    records = [
        note(
            n, importance=1.0, metadata={"project": "x", "n": n}, source=Source("Ann", "user", "s")
        )
        for n in (1, 2, 3)
    ]
    made = draft_of(by_hand(records), SummaryText("s"), summarizer="test")
    assert made.importance == 1.0
    assert made.metadata["project"] == "x"
    assert "n" not in made.metadata
    assert made.source == Source("Ann", "user", "s")


def test_a_summary_is_rewritten_from_its_originals() -> None:
    old = [note(n, "Ned", status=Status.SUMMARIZED) for n in (1, 2, 3)]
    first = note(9, "Ned", kind="summary", derived_from=tuple(each.id for each in old))
    fresh = note(10, "Ned")
    known = {each.id: each for each in old}
    assert originals([first, fresh], known) == (*old, fresh)


@pytest.mark.parametrize("gone", [Status.DELETED, Status.ERASED, None])
def test_a_summary_whose_original_is_gone_is_left_alone(gone: Status | None) -> None:
    first = note(9, "Ned", kind="summary", derived_from=(numbered_id(1),))
    known = {} if gone is None else {numbered_id(1): note(1, "Ned", status=gone)}
    assert originals([first], known) is None


def test_a_request_names_texts_entities_and_the_target() -> None:
    records = [note(n, "Iris", tokens=50) for n in (1, 2, 3)]
    asked = request_of(by_hand(records), "en", 0.4)
    assert [each.content for each in asked.sources] == [record.content for record in records]
    assert asked.target_tokens == 60
    assert asked.names == ("Iris",)
