"""Stores with one fault each, by the promise that they break: what the conformance suite must notice.

Most are the dict store with one method that is given something else, or answers something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from sfams.core.query import Filter
from sfams.core.record import MemoryRecord
from sfams.core.scope import Scope
from sfams.stores.dict_reader import DictReader
from sfams.stores.memory import DictStore, DictTransaction

Faulty = type[DictTransaction]


class Fault(NamedTuple):
    """A broken store and the test that must notice it."""

    name: str
    store: Faulty | type[DictStore]
    test: str


def answering(method: str, alter: Callable[..., Any]) -> Faulty:
    """Break what a method answers: `alter` gets the unit of work, the answer and the arguments."""
    sound = getattr(DictTransaction, method)

    def broken(self: DictTransaction, *arguments: Any, **named: Any) -> Any:
        return alter(self, sound(self, *arguments, **named), *arguments)

    return type("Mutant", (DictTransaction,), {method: broken})


def given(method: str, alter: Callable[..., Any]) -> Faulty:
    """Break what a method is given: `alter` gets the unit of work and the arguments, and makes new ones."""
    sound = getattr(DictTransaction, method)

    def broken(self: DictTransaction, *arguments: Any, **named: Any) -> Any:
        return sound(self, *alter(self, *arguments), **named)

    return type("Mutant", (DictTransaction,), {method: broken})


def selecting(keep: Callable[[MemoryRecord, Filter], bool], *fields: str) -> Faulty:
    """Break a condition: `fields` of the filter are not looked at, `keep` takes their place."""
    plain = Filter(statuses=())

    def broken(
        self: DictTransaction, scope: Scope, selection: Filter, now: datetime
    ) -> Iterator[MemoryRecord]:
        loose = replace(selection, **{name: getattr(plain, name) for name in fields})
        found = DictReader._matching(self, scope, loose, now)
        return (record for record in found if keep(record, selection))

    return type("Mutant", (DictTransaction,), {"_matching": broken})


def changing(alter: Callable[[MemoryRecord], MemoryRecord], method: str = "insert") -> Faulty:
    """Write every record a little differently."""
    return given(
        method,
        lambda _, entries: ([replace(e, record=alter(e.record)) for e in entries],),
    )


def anything(record: MemoryRecord, selection: Filter) -> bool:
    """Keep every record."""
    return True
