"""Promise: a filter means the same everywhere, at its boundaries too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sfams.core.query import Filter, Page
from sfams.core.record import Entity, JsonValue, RecordId, Source, Status, Tier
from sfams.testing.builders import HOME, make_entry, numbered_id
from sfams.testing.conformance.base import (
    MINUTE,
    NOW,
    ONE,
    THREE,
    TICK,
    TWO,
    Promises,
    fill,
    matching,
)

if TYPE_CHECKING:
    from sfams.ports import Store


def numbers(found: set[RecordId]) -> list[int]:
    """Turn numbered ids back into numbers."""
    return sorted(int(record_id[-8:], 16) for record_id in found)


class FindingPromises(Promises):
    """Filters."""

    def test_only_what_is_live_is_found_unless_asked_for(self, store: Store) -> None:
        """No statuses at all means every one but erased."""
        statuses = [Status.LIVE, Status.SUPERSEDED, Status.SUMMARIZED, Status.DELETED]
        fill(store, *(make_entry(n, status=status) for n, status in enumerate(statuses)))
        assert numbers(matching(store, Filter())) == [0]
        assert numbers(matching(store, Filter(statuses=()))) == [0, 1, 2, 3]
        assert numbers(matching(store, Filter(statuses=(Status.DELETED, Status.LIVE)))) == [0, 3]
        assert numbers(matching(store, Filter(statuses=(Status.ERASED,)))) == []

    def test_tiers_select(self, store: Store) -> None:
        """Both by default."""
        fill(store, make_entry(1), make_entry(2, tier=Tier.COLD))
        assert matching(store, Filter()) == {ONE, TWO}
        assert matching(store, Filter(tiers=(Tier.COLD,))) == {TWO}

    def test_expiry_is_exact(self, store: Store) -> None:
        """Gone at its moment, there one microsecond before."""
        ends = [NOW - TICK, NOW, NOW + TICK, None]
        fill(store, *(make_entry(n, expires_at=end) for n, end in enumerate(ends)))
        assert numbers(matching(store, Filter())) == [2, 3]
        assert numbers(matching(store, Filter(expired=True))) == [0, 1, 2, 3]
        with store.read() as reader:
            for now, expected in ((NOW - TICK, [1, 2, 3]), (NOW + TICK, [3])):
                assert numbers(set(reader.matching(HOME, Filter(), now))) == expected
                found = reader.find(HOME, Filter(), Page(), now)
                assert numbers({record.id for record in found}) == expected

    def test_time_ranges_are_half_open(self, store: Store) -> None:
        """Lower end in, upper end out: days neither overlap nor leave a gap."""
        ticks = [-TICK, TICK * 0, TICK, MINUTE - TICK, MINUTE]
        fill(store, *(make_entry(n, created_at=NOW + tick) for n, tick in enumerate(ticks)))
        since, until = Filter(created_from=NOW), Filter(created_to=NOW + MINUTE)
        assert numbers(matching(store, since)) == [1, 2, 3, 4]
        assert numbers(matching(store, until)) == [0, 1, 2, 3]
        assert numbers(matching(store, replace(since, created_to=NOW + MINUTE))) == [1, 2, 3]
        assert numbers(matching(store, replace(since, created_to=NOW))) == []

    def test_importance_ranges_are_closed(self, store: Store) -> None:
        """Both ends in; 0 is a bound like any other."""
        values = [0.0, 0.1 + 0.2, 0.5, 1.0]
        fill(store, *(make_entry(n, importance=value) for n, value in enumerate(values)))
        assert numbers(matching(store, Filter(importance_min=0.1 + 0.2))) == [1, 2, 3]
        assert numbers(matching(store, Filter(importance_max=0.5))) == [0, 1, 2]
        assert numbers(matching(store, Filter(importance_max=0.0))) == [0]
        assert numbers(matching(store, Filter(importance_min=1.0, importance_max=1.0))) == [3]

    def test_kinds_match_exactly_or_by_base(self, store: Store) -> None:
        """`fact` means `fact:deadline` too, but not `factor` and not the other way round."""
        kinds = ["fact", "fact:deadline", "factor", "deadline", "fact_x", "fact-x:deadline"]
        fill(store, *(make_entry(n, kind=kind) for n, kind in enumerate(kinds)))
        assert numbers(matching(store, Filter(kinds=("fact",)))) == [0, 1]
        assert numbers(matching(store, Filter(kinds=("fact:deadline",)))) == [1]
        assert numbers(matching(store, Filter(kinds=("deadline", "factor")))) == [2, 3]
        assert numbers(matching(store, Filter(kinds=("fac",)))) == []

    def test_tags_must_all_be_there(self, store: Store) -> None:
        """Exactly as written."""
        tags = [("a", "b"), ("a",), ("b", "a", "c"), (), ("A", "b"), ("a,b",)]
        fill(store, *(make_entry(n, tags=each) for n, each in enumerate(tags)))
        assert numbers(matching(store, Filter(tags=("a", "b")))) == [0, 2]
        assert numbers(matching(store, Filter(tags=("b", "b")))) == [0, 2, 4]

    def test_entities_match_by_their_folded_name(self, store: Store) -> None:
        """Case, width and blanks do not tell two names apart; a type may be asked for."""
        named = [
            (Entity("Zoë  Ødegård", "person"),),
            (Entity("ZOË ØDEGÅRD", "band"), Entity("Oslo", "place")),
            (Entity("Zoë"),),
            (Entity("Ｏｓｌｏ"),),
            (Entity("note: read", "title"),),
        ]
        fill(store, *(make_entry(n, entities=each) for n, each in enumerate(named)))
        assert numbers(matching(store, Filter(entities=("zoë ødegård",)))) == [0, 1]
        assert numbers(matching(store, Filter(entities=("person:Zoë Ødegård",)))) == [0]
        assert numbers(matching(store, Filter(entities=("Person:zoë ødegård",)))) == [0]
        assert numbers(matching(store, Filter(entities=("oslo",)))) == [1, 3]
        assert numbers(matching(store, Filter(entities=("oslo", "Zoë ødegård")))) == [1]
        assert numbers(matching(store, Filter(entities=("place:oslo",)))) == [1]
        assert numbers(matching(store, Filter(entities=("Note: Read",)))) == [4]
        assert numbers(matching(store, Filter(entities=("Zo%",)))) == []

    @pytest.mark.parametrize(
        ("wanted", "expected"),
        [
            (1, [1]),
            ("1", [2]),
            (True, [3]),
            (False, [4]),
            (0, [5]),
            (None, [6]),
            ("", [7]),
            ([1, "1"], [8]),
            ([1, 1], []),
            ({"b": None, "a": [True]}, [9]),
            ({"a": [True]}, []),
            ("true", []),
            ("null", []),
            (0.1, [10]),
        ],
    )
    def test_metadata_is_compared_with_its_type(
        self, store: Store, wanted: JsonValue, expected: list[int]
    ) -> None:
        """1, "1" and true are different; a missing name equals nothing, not even null."""
        values: list[JsonValue] = [
            1,
            "1",
            True,
            False,
            0,
            None,
            "",
            [1, "1"],
            {"a": [True], "b": None},
            0.1,
        ]
        fill(
            store,
            make_entry(0),
            *(make_entry(n, metadata={"x": value}) for n, value in enumerate(values, 1)),
        )
        assert numbers(matching(store, Filter(metadata={"x": wanted}))) == expected

    @pytest.mark.parametrize("name", ["a.b", "a b", "$", "x[0]", '"', "'", "名", "", "a\\b"])
    def test_metadata_names_are_taken_literally(self, store: Store, name: str) -> None:
        """A name is a name, not a path into the value."""
        fill(
            store,
            make_entry(1, metadata={name: "here", "other": 1}),
            make_entry(2, metadata={"a": {"b": "here"}, "x": ["here"]}),
        )
        assert matching(store, Filter(metadata={name: "here"})) == {ONE}
        assert matching(store, Filter(metadata={name: "here", "other": 1})) == {ONE}
        assert matching(store, Filter(metadata={name: "here", "other": 2})) == set()

    def test_sources_match_exactly(self, store: Store) -> None:
        """An empty name is asked for as such."""
        fill(
            store,
            make_entry(1, source=Source(who="Lena", session="s-1")),
            make_entry(2, source=Source(who="lena", session="s-10")),
            make_entry(3),
        )
        assert matching(store, Filter(who="Lena")) == {ONE}
        assert matching(store, Filter(session="s-1")) == {ONE}
        assert matching(store, Filter(who="")) == {THREE}
        assert matching(store, Filter(who="Lena", session="s-10")) == set()

    def test_text_is_found_within_the_content(self, store: Store) -> None:
        """Case and accents folded; `%` and `_` are ordinary characters."""
        contents = ["The Café is 100% open.", "CAFE 100 closed", "caf_", "测试版发布", "none"]
        fill(store, *(make_entry(n, content=text) for n, text in enumerate(contents)))
        assert numbers(matching(store, Filter(text="cafe"))) == [0, 1]
        assert numbers(matching(store, Filter(text="CAFÉ IS"))) == [0]
        assert numbers(matching(store, Filter(text="100%"))) == [0]
        assert numbers(matching(store, Filter(text="_"))) == [2]
        assert numbers(matching(store, Filter(text="试版"))) == [3]

    def test_conditions_all_hold_at_once(self, store: Store) -> None:
        """Each narrows the selection further, none widens it."""
        wanted = {"kind": "goal", "tags": ("a",), "metadata": {"x": 1}, "importance": 0.9}
        fill(
            store,
            make_entry(1, **wanted),  # type: ignore[arg-type]
            make_entry(2, **{**wanted, "kind": "fact"}),  # type: ignore[arg-type]
            make_entry(3, **{**wanted, "tags": ()}),  # type: ignore[arg-type]
            make_entry(4, **{**wanted, "metadata": {}}),  # type: ignore[arg-type]
            make_entry(5, **{**wanted, "importance": 0.1}),  # type: ignore[arg-type]
            make_entry(6, **wanted, status=Status.DELETED),  # type: ignore[arg-type]
        )
        selection = Filter(
            kinds=("goal",), tags=("a",), metadata={"x": 1}, importance_min=0.5, text="tram"
        )
        assert matching(store, selection) == {ONE}
        assert matching(store, replace(selection, statuses=())) == {ONE, numbered_id(6)}

    def test_a_listing_and_a_selection_agree(self, store: Store) -> None:
        """`find` and `matching` are one filter."""
        kinds = ["fact", "goal", "fact:x"]
        fill(store, *(make_entry(n, kind=kinds[n % 3], tags=("a",) * (n % 2)) for n in range(30)))
        for selection in (Filter(), Filter(kinds=("fact",)), Filter(tags=("a",))):
            with store.read() as reader:
                found = reader.find(HOME, selection, Page(limit=99), NOW)
                assert {r.id for r in found} == reader.matching(HOME, selection, NOW)
                assert len(found) == len({r.id for r in found})
