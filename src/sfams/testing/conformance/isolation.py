"""Promise: nothing of a scope can be seen, changed or counted from another one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from sfams.core.query import Page
from sfams.core.record import Claim, EmbeddingState, Relation, Status, Tier
from sfams.core.scope import Scope
from sfams.errors import NotFoundError
from sfams.ports import Store, Transition, UsageDelta
from sfams.testing.builders import make_entry, make_vector, text_hash
from sfams.testing.conformance.base import (
    FIRST_PLAN,
    FIVE,
    FOUR,
    NOW,
    ONE,
    THREE,
    TWO,
    Promises,
    event,
    fetch_one,
    fill,
    furnish,
    furniture,
    seen,
    seq,
)
from sfams.testing.planning import make_plan
from sfams.testing.snapshot import EVERYTHING

if TYPE_CHECKING:
    from sfams.ports import Reader

IDS = [ONE, TWO, THREE, FOUR, FIVE]
NEIGHBOURS = {
    "sibling": (("acme", "ai", "alice"), ("acme", "ai", "bob")),
    "longer name": (("acme",), ("acme2",)),
    "shorter name": (("acme2",), ("acme",)),
    "parent": (("acme", "ai"), ("acme",)),
    "child": (("acme",), ("acme", "ai")),
    "slash inside": (("a", "b"), ("a/b",)),
    "percent inside": (("a%2Fb",), ("a/b",)),
    "wildcard percent": (("acme",), ("ac%",)),
    "wildcard underscore": (("acme",), ("acm_",)),
    "case": (("acme",), ("Acme",)),
    "accent": (("zoe",), ("zoë",)),
    "full width": (("ac",), ("ａｃ",)),
    "blank inside": (("a b",), ("a", "b")),
    "colon": (("user:a",), ("user", "a")),
}


class IsolationPromises(Promises):
    """A scope sees itself."""

    @pytest.fixture(params=NEIGHBOURS)
    def pair(self, request: pytest.FixtureRequest) -> tuple[Scope, Scope]:
        """Give two scopes that a careless store may take for one."""
        home, other = NEIGHBOURS[request.param]
        return Scope(home), Scope(other)

    def test_other_scopes_see_nothing(self, store: Store, pair: tuple[Scope, Scope]) -> None:
        """No way of reading leads into another scope."""
        home, other = pair
        with store.write() as transaction:
            furnish(transaction, home)
            assert _visible(transaction, other, home) == []
        with store.read() as reader:
            assert _visible(reader, other, home) == []
            assert list(reader.scopes()) == [home]

    def test_other_scopes_change_nothing(self, store: Store, pair: tuple[Scope, Scope]) -> None:
        """No way of writing leads into another scope: an id is passed over or unknown there."""
        home, other = pair
        with store.write() as transaction:
            furnish(transaction, home)
        before, number = seen(store, home), seq(store, home)
        _attack(store, other)
        assert seen(store, home) == before
        assert seq(store, home) == number

    def test_erasing_reaches_into_no_other_scope(
        self, store: Store, pair: tuple[Scope, Scope]
    ) -> None:
        """Erasing by another scope's ids erases nothing and leaves no tombstone."""
        home, other = pair
        with store.write() as transaction:
            furnish(transaction, home)
        before, number = seen(store, home), seq(store, home)
        with store.write() as transaction:
            assert transaction.erase(other, IDS, NOW) == 0
        assert seen(store, home) == before
        assert seq(store, home) == number
        with store.read() as reader:
            hashes = [entry.record.content_hash for entry in furniture()]
            assert dict(reader.tombstones(other, hashes)) == {}
            assert list(reader.changes(other, 0).gone) == []

    def test_scopes_may_hold_the_same(self, store: Store) -> None:
        """One content, key, claim, entity, session and plan name in two scopes are two of each."""
        home, other = Scope(("acme",)), Scope(("acme2",))
        twin = {"content": "The same.", "key": "the-same"}
        fill(store, make_entry(1, scope=home, content="The same.", key="the-same"))
        fill(store, make_entry(2, scope=other, content="The same.", key="the-same"))
        with store.write() as transaction:
            assert transaction.log_turn(home, "s-1", NOW) == 1
            assert transaction.log_turn(other, "s-1", NOW) == 1
            transaction.append(home, [event(1)])
            transaction.erase(other, [TWO], NOW)
        with store.read() as reader:
            assert dict(reader.by_key(home, ["the-same"])) == {twin["key"]: ONE}
            hashes = [text_hash(twin["content"])]
            assert dict(reader.by_hash(home, hashes)) == {hashes[0]: ONE}
            assert dict(reader.tombstones(home, hashes)) == {}
            assert set(reader.tombstones(other, hashes)) == set(hashes)
            assert list(reader.history(other, ())) == []
        assert fetch_one(store, ONE, home).content == "The same."

    def test_scopes_may_use_the_same_id(self, store: Store) -> None:
        """An id refused here because it is taken there would tell that it is."""
        home, other = Scope(("acme",)), Scope(("acme2",))
        fill(store, make_entry(1, scope=home, content="Ours."))
        fill(store, make_entry(1, scope=other, content="Theirs."))
        with store.write() as transaction:
            transaction.transition(other, [Transition(ONE, status=Status.DELETED)], NOW)
            transaction.add_usage(other, [UsageDelta(ONE, 1, 0, NOW)])
        assert fetch_one(store, ONE, home) == make_entry(1, scope=home, content="Ours.").record
        with store.write() as transaction:
            transaction.erase(other, [ONE], NOW)
        assert fetch_one(store, ONE, home).content == "Ours."

    def test_change_numbers_are_each_scopes_own(self, store: Store) -> None:
        """Writing next door raises nothing here and feeds nothing here."""
        home, other = Scope(("acme",)), Scope(("acme2",))
        fill(store, make_entry(1, scope=home))
        number = seq(store, home)
        fill(store, make_entry(2, scope=other), make_entry(3, scope=other))
        assert seq(store, home) == number
        with store.read() as reader:
            assert list(reader.changes(home, number).rows) == []

    def test_scopes_are_listed_below_by_parts(self, store: Store) -> None:
        """`acme` covers `acme/ai`; it does not cover `acme2`."""
        names = [("acme",), ("acme", "ai"), ("acme", "ai", "x"), ("acme2",), ("acme/ai",), ("b",)]
        for number, name in enumerate(names):
            fill(store, make_entry(number, scope=Scope(name)))
        with store.read() as reader:
            assert set(reader.scopes()) == {Scope(name) for name in names}
            assert set(reader.scopes(Scope(("acme",)))) == {Scope(name) for name in names[:3]}
            assert set(reader.scopes(Scope(("acme", "ai")))) == {Scope(n) for n in names[1:3]}
            assert set(reader.scopes(Scope(("acme", "a")))) == set()

    def test_an_unknown_scope_reads_as_empty(self, store: Store) -> None:
        """It is no error to look at what nobody has written."""
        nobody = Scope(("nobody",))
        with store.read() as reader:
            assert _visible(reader, nobody, nobody) == []
            assert reader.change_seq(nobody) == 0
            assert list(reader.scopes()) == []


def _attack(store: Store, other: Scope) -> None:
    """Try every write that takes an id, on ids of another scope."""
    relation = Relation("supports", THREE)
    with store.write() as transaction:
        hidden = [Transition(name, Status.DELETED, Tier.COLD, NOW, True, True) for name in IDS]  # noqa: FBT003
        with suppress(NotFoundError):
            transaction.transition(other, hidden, NOW)
        transaction.add_usage(other, [UsageDelta(name, 1, 1, NOW) for name in IDS])
        transaction.append(other, [event(9)])
        assert transaction.unrelate(other, ONE, Relation("supports", TWO)) is False
        with suppress(NotFoundError):
            transaction.put_vectors(
                other, dict.fromkeys(IDS, make_vector("forged")), EmbeddingState.READY
            )
    with suppress(NotFoundError), store.write() as transaction:
        transaction.relate(other, ONE, relation)
    with pytest.raises(NotFoundError), store.write() as transaction:
        transaction.replace([make_entry(1, scope=other, content="Forged.")])
    with suppress(NotFoundError), store.write() as transaction:
        transaction.advance_plan(make_plan(other, [], plan_id=FIRST_PLAN))


def _visible(reader: Reader, other: Scope, home: Scope) -> list[str]:
    """Name the ways by which `other` sees anything of what `furnish` put into `home`."""
    entries = furniture(home)
    hashes = [entry.record.content_hash for entry in entries]
    terms = [term for entry in entries for term in entry.terms.ids.tolist()]
    changes = reader.changes(other, 0)
    stats = reader.stats(other, NOW)
    found: dict[str, object] = {
        "get": reader.get(other, IDS),
        "find": reader.find(other, EVERYTHING, Page(), NOW),
        "matching": reader.matching(other, EVERYTHING, NOW),
        "by_hash": reader.by_hash(other, hashes),
        "by_key": reader.by_key(other, ["first"]),
        "by_claim": reader.by_claim(other, [Claim("beta release", "date")]),
        "pending": reader.pending(other, 9),
        "columns": reader.columns(other, NOW).ids,
        "changes": [*changes.rows, *changes.gone],
        "vectors": reader.vectors(other, IDS),
        "cold_postings": reader.cold_postings(other, terms),
        "linked": reader.linked(other, IDS),
        "entities": reader.entities(other),
        "history": [*reader.history(other, ()), *reader.history(other, IDS)],
        "plan": reader.plan(other, FIRST_PLAN),
        "plans": reader.plans(other, 9),
        "versions": reader.versions(other, ONE),
        "tombstones": reader.tombstones(other, hashes),
        "turns": reader.turns(other, "s-1"),
        "active_days": reader.active_days(other),
        "stats": sum(stats.records.values()) + stats.vectors + stats.pending + stats.hot,
        "kinds": sum(stats.kinds.values()),
        "change_seq": reader.change_seq(other),
    }
    return [name for name, value in found.items() if value]
