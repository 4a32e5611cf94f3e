"""Hypothesis strategies for what a store is given: few ids, texts and names, so that they meet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, Protocol

from hypothesis import strategies as st

from sfams.core.events import EventType, MemoryEvent
from sfams.core.plan import ForgettingPlan
from sfams.core.query import Filter, Order, Page
from sfams.core.record import (
    Claim,
    EmbeddingState,
    Entity,
    Hold,
    JsonValue,
    PlanId,
    Relation,
    Source,
    Status,
    Tier,
    Twin,
    Usage,
    Validity,
)
from sfams.core.scope import Scope
from sfams.ports import Entry, PastVersion, Transaction, Transition, UsageDelta
from sfams.testing.acts import Adopt, Forget, Index, Plan, Restore, Stage, Undo
from sfams.testing.builders import (
    MODELS,
    entry_of,
    make_record,
    make_vector,
    numbered_id,
    text_hash,
)
from sfams.testing.clock import START
from sfams.testing.planning import make_plan

NUMBERS = 5
SCOPES = (Scope(("acme",)), Scope(("acme2",)))
TEXTS = ("The kiln is hot.", "Der Ofen ist heiß.", "窑很热", "THE KILN is hot.", "kiln 100%", "x_y")
KINDS = ("fact", "fact:deadline", "factor", "goal")
ENTITIES = (
    Entity("Lena", "person"),
    Entity("LENA  ", "person"),
    Entity("Lena"),
    Entity("Zoë", "band"),
)
CLAIMS = (Claim("Beta", "Date", "1"), Claim("beta ", "date", "2"), Claim("beta", "owner"))
VALUES: tuple[JsonValue, ...] = (None, True, False, 0, 1, 1.5, "1", "", [1], {"a": 1})
SESSIONS = ("s-1", "s-2")
PLANS = tuple(PlanId(numbered_id(number)) for number in (901, 902))
SETTINGS = ("colour", "Colour")


class Act(Protocol):
    """Something done with a unit of work, as a value that prints well."""

    def on(self, transaction: Transaction, /) -> object:
        """Do it, and tell the answer."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a unit of work."""

    method: str
    arguments: tuple[object, ...]

    def on(self, transaction: Transaction) -> object:
        """Make the call."""
        return getattr(transaction, self.method)(*self.arguments)


@dataclass(frozen=True, slots=True)
class Put:
    """Inserts what is not there and replaces what is: it seldom fails, so that much happens."""

    entry: Entry

    def on(self, transaction: Transaction) -> object:
        """Make the call that fits."""
        record = self.entry.record
        there = transaction.get(record.scope, [record.id])
        return (transaction.replace if there else transaction.insert)([self.entry])


scopes = st.sampled_from(SCOPES)
ids = st.integers(1, NUMBERS).map(numbered_id)
plan_ids = st.sampled_from(PLANS)
id_lists = st.lists(ids, max_size=4, unique=True)


def _some_of(
    strategies: dict[str, st.SearchStrategy[object]], most: int
) -> st.SearchStrategy[dict[str, Any]]:
    """Draw values for a few of the names."""
    names = st.sampled_from(sorted(strategies))
    return st.lists(
        names.flatmap(lambda name: st.tuples(st.just(name), strategies[name])), max_size=most
    ).map(dict)


# So close together that many are equal.
moments = st.integers(-3, 3).map(lambda ticks: START + timedelta(microseconds=ticks))
statuses = st.sampled_from([each for each in Status if each is not Status.ERASED])
relations = st.builds(Relation, st.sampled_from(("supports", "amends")), ids)
states = st.sampled_from(EmbeddingState)
flags = st.booleans()
metadata = st.dictionaries(st.sampled_from("xy"), st.sampled_from(VALUES))


_FIELDS: dict[str, st.SearchStrategy[object]] = {
    "content": st.sampled_from(TEXTS[:3]),
    "kind": st.sampled_from(KINDS),
    "importance": st.sampled_from((0.0, 1 / 3, 1.0)),
    "salience": st.sampled_from((0.0, 1 / 3, 1.0)),
    "created_at": moments,
    "updated_at": moments,
    "expires_at": moments,
    "entities": st.lists(st.sampled_from(ENTITIES), max_size=3).map(tuple),
    "tags": st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple),
    "metadata": metadata,
    "source": st.builds(
        Source, who=st.sampled_from(("", "Lena")), session=st.sampled_from(SESSIONS)
    ),
    "claim": st.sampled_from(CLAIMS),
    "relations": st.lists(relations, max_size=2, unique=True).map(tuple),
    "usage": st.just(Usage(3, START, 1, START)),
    "twin": st.builds(Twin, ids, st.sampled_from((0.5, 0.9))),
    "derived_from": st.lists(ids, max_size=2, unique=True).map(tuple),
    "status": statuses,
    "tier": st.sampled_from(Tier),
    "held": flags,
    "hold": st.builds(Hold, st.just("legal"), st.sampled_from(("", "case 7")), moments),
    "cold_since": moments,
    "embedding": states,
    "key": st.sampled_from(("k", "K")),
}
_varied_fields = _some_of(_FIELDS, 5)


@st.composite
def entries(draw: st.DrawFn, scope: Scope) -> Entry:
    """Draw an entry that differs from a plain one in a few fields."""
    number = draw(st.integers(1, NUMBERS))
    fields: dict[str, Any] = {"content": TEXTS[number], "created_at": START}
    return entry_of(make_record(number, scope=scope, **{**fields, **draw(_varied_fields)}))


def first_entries() -> list[Entry]:
    """Build what every run begins with: calls and filters hit something; the last one has a twin."""
    ticks = [timedelta(microseconds=number - 2) for number in range(NUMBERS)]
    values: list[JsonValue] = [True, 1, None, "1", [1]]
    return [
        entry_of(
            make_record(
                number,
                scope=SCOPES[0],
                content=TEXTS[number % 4],
                created_at=START + tick,
                expires_at=START + tick if number % 2 else None,
                metadata={"x": value},
                kind=KINDS[number % len(KINDS)],
                importance=number / 3 % 1,
                entities=(ENTITIES[number % len(ENTITIES)],),
                tags=("a", "b")[: number % 3],
                relations=(Relation("supports", numbered_id(number % NUMBERS + 1)),),
                status=Status.DELETED if number == NUMBERS else Status.LIVE,
                tier=Tier.COLD if number == NUMBERS - 1 else Tier.HOT,
            )
        )
        for number, tick, value in zip(range(1, NUMBERS + 1), ticks, values, strict=True)
    ]


def first_events() -> list[MemoryEvent]:
    """Build the log that every run begins with: three lines a record, in turn."""
    return [
        MemoryEvent(
            type=EventType.UPDATED,
            at=START,
            record_id=numbered_id(number % NUMBERS + 1),
            detail={"number": number},
        )
        for number in range(3 * NUMBERS)
    ]


def entry_lists(scope: Scope) -> st.SearchStrategy[list[Entry]]:
    """Draw entries of different ids."""
    return st.lists(entries(scope), max_size=3, unique_by=lambda entry: entry.record.id)


transitions = st.builds(
    Transition,
    ids,
    st.none() | statuses,
    st.none() | st.sampled_from(Tier),
    st.none() | moments,
    st.none() | flags,
    st.none() | flags,
    st.none() | st.builds(Validity, st.none() | moments, st.none() | moments, st.none() | ids),
)
deltas = st.builds(UsageDelta, ids, st.integers(0, 2), st.integers(0, 2), moments)
past_versions = st.lists(
    st.builds(PastVersion, st.integers(1, 3), st.sampled_from(TEXTS), moments), max_size=2
)
some_vectors = st.sampled_from(TEXTS).map(make_vector)
missing = st.sampled_from((EmbeddingState.PENDING, EmbeddingState.FAILED))


def put_vectors(here: st.SearchStrategy[Scope]) -> st.SearchStrategy[tuple[object, ...]]:
    """Attach vectors, or note their absence: no record is ready without one."""
    given = st.dictionaries(ids, some_vectors, max_size=3)
    mixed = st.dictionaries(ids, st.none() | some_vectors, max_size=3)
    ready = st.tuples(here, given, st.just(EmbeddingState.READY))
    return ready | st.tuples(here, mixed, missing)


events = st.builds(
    MemoryEvent,
    type=st.sampled_from(EventType),
    at=moments,
    record_id=st.none() | ids,
    detail=metadata | st.fixed_dictionaries({"by": ids}),
)


@st.composite
def plans(draw: st.DrawFn, scope: Scope) -> ForgettingPlan:
    """Draw a plan, somewhere on its way."""
    steps = draw(id_lists)
    name = draw(plan_ids)
    return make_plan(
        scope,
        steps,
        plan_id=name,
        minutes=draw(st.integers(0, 2)),
        cursor=draw(st.integers(0, len(steps))),
    )


@cache
def call_lists(scope: Scope) -> st.SearchStrategy[list[Act]]:
    """Draw the writes of one unit of work."""
    single = _single_calls(scope)
    act = st.builds(Put, entries(scope)) | single | single | _forgetting(scope)
    return st.lists(act, min_size=1, max_size=4)


def _forgetting(scope: Scope) -> st.SearchStrategy[Act]:
    here = st.just(scope)
    acts: tuple[st.SearchStrategy[Act], ...] = (
        st.builds(Plan, here, plan_ids),
        st.builds(Forget, here, plan_ids, st.integers(1, 3)),
        st.builds(Undo, here, plan_ids),
        st.builds(Restore, here, id_lists),
        st.builds(Index, here, id_lists),
        st.builds(Stage, here, st.sampled_from(MODELS), id_lists, flags),
        st.builds(Adopt, st.sampled_from(MODELS)),
    )
    return st.one_of(*acts)


def _single_calls(scope: Scope) -> st.SearchStrategy[Call]:
    here = st.just(scope)
    session = st.sampled_from(SESSIONS)
    arguments: dict[str, st.SearchStrategy[tuple[object, ...]]] = {
        "insert": st.tuples(entry_lists(scope)),
        "replace": st.tuples(entry_lists(scope)),
        "transition": st.tuples(here, st.lists(transitions, max_size=3), moments),
        "put_vectors": put_vectors(here),
        "relate": st.tuples(here, ids, relations),
        "unrelate": st.tuples(here, ids, relations),
        "add_usage": st.tuples(here, st.lists(deltas, max_size=3)),
        "append": st.tuples(here, st.lists(events, max_size=3)),
        "save_plan": st.tuples(plans(scope)),
        "advance_plan": st.tuples(plans(scope)),
        "log_turn": st.tuples(here, session, moments),
        "end_session": st.tuples(here, session, moments),
        "put_versions": st.tuples(here, st.dictionaries(ids, past_versions, max_size=2)),
        "erase": st.tuples(here, id_lists, moments),
        "lift": st.tuples(
            here,
            id_lists,
            st.lists(st.sampled_from([text_hash(text) for text in TEXTS]), max_size=1),
        ),
        "set_meta": st.tuples(st.sampled_from(SETTINGS), st.sampled_from(("red", "红色", ""))),
        "put_setting": st.tuples(
            here, st.sampled_from(SETTINGS), st.sampled_from(('"red"', '"红色"', None))
        ),
    }
    often = ("transition", "transition", "put_vectors", "erase")
    return st.sampled_from((*often, *arguments)).flatmap(
        lambda name: st.builds(Call, st.just(name), arguments[name])
    )


_CONDITIONS: dict[str, st.SearchStrategy[object]] = {
    "statuses": st.sampled_from(((), (Status.DELETED, Status.SUPERSEDED))),
    "tiers": st.just((Tier.COLD,)),
    "kinds": st.sampled_from((("fact",), ("fact:deadline", "goal"))),
    "importance_min": st.sampled_from((0.0, 0.5)),
    "importance_max": st.sampled_from((1 / 3, 1.0)),
    "created_from": moments,
    "created_to": moments,
    "entities": st.sampled_from((("lena",), ("person:LENA",), ("zoe", "lena"))),
    "tags": st.sampled_from((("a",), ("a", "b"))),
    "metadata": metadata,
    "who": st.sampled_from(("", "Lena")),
    "session": st.sampled_from(SESSIONS),
    "text": st.sampled_from(("KILN", "heiss", "窑", "100%", "_")),
    "expired": st.just(value=True),
}
filters = _some_of(_CONDITIONS, 2).map(lambda fields: Filter(**fields))
pages = st.builds(Page, limit=st.integers(1, 3), order=st.sampled_from(Order), descending=flags)
