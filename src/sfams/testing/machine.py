"""A state machine: the same random calls on a store and on the dict store must show the same.

from sfams.testing.machine import store_machine

TestMyStore = store_machine(lambda: MyStore(new_path())).TestCase
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from sfams.core.moments import to_micros
from sfams.core.query import Cursor, Filter, Order, Page
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.scope import Scope
from sfams.errors import SfamsError
from sfams.ports import Reader, Store
from sfams.stores.memory import DictStore
from sfams.testing import strategies
from sfams.testing.builders import make_entry, numbered_id, text_hash
from sfams.testing.clock import START
from sfams.testing.following import FollowedView
from sfams.testing.snapshot import snapshot
from sfams.testing.strategies import NUMBERS, SCOPES, SESSIONS, SETTINGS, TEXTS, Act

IDS = [numbered_id(number) for number in range(1, NUMBERS + 1)]
HASHES = [text_hash(text) for text in TEXTS]
TERMS = sorted({term for text in TEXTS for term in make_entry(content=text).terms.ids.tolist()})


class BrokenOffError(Exception):
    """Breaks off a unit of work."""


class StoreMachine(RuleBasedStateMachine):
    """Drives two stores; `store_machine` names the one to be tried."""

    make_store: Callable[[], Store]

    def __init__(self) -> None:
        super().__init__()
        self.pair = (self.make_store(), DictStore())
        self.views = {scope: FollowedView(scope) for scope in SCOPES}
        for store in self.pair:
            with store.write() as transaction:
                transaction.insert(strategies.first_entries())
                transaction.append(SCOPES[0], strategies.first_events())
                for session in SESSIONS:
                    transaction.log_turn(SCOPES[0], session, START)
        self._compare(SCOPES[0])

    @rule(data=st.data(), scope=strategies.scopes, fails=st.sampled_from((False,) * 4 + (True,)))
    def work(self, data: st.DataObject, scope: Scope, *, fails: bool) -> None:
        """Make a few calls in one unit of work; one in five is broken off."""
        calls = data.draw(strategies.call_lists(scope), "calls")
        tried, oracle = (_outcome(store, calls, fails=fails) for store in self.pair)
        assert tried == oracle
        self._compare(scope)
        self._follow(scope)

    @rule(
        scope=strategies.scopes,
        listings=st.lists(st.tuples(strategies.filters, strategies.pages), min_size=1, max_size=5),
    )
    def look(self, scope: Scope, listings: list[tuple[Filter, Page]]) -> None:
        """Turn all pages of a few listings, and name what matches."""
        for selection, page in listings:
            tried, oracle = (_found(store, scope, selection, page) for store in self.pair)
            assert tried == oracle

    def _compare(self, scope: Scope) -> None:
        tried, oracle = (_seen(store, scope) for store in self.pair)
        assert tried == oracle

    def _follow(self, scope: Scope) -> None:
        """Bring the view up to date from the feed; it must equal a full load."""
        view, loaded = self.views[scope], FollowedView(scope)
        with self.pair[0].read() as reader:
            view.follow(reader)
            loaded.follow(reader)
        assert view.plain() == loaded.plain()
        assert view.seq == loaded.seq

    def teardown(self) -> None:
        """Compare every scope, and ask the store for its health; let go."""
        for scope in SCOPES:
            self._compare(scope)
        store = self.pair[0]
        assert list(store.check()) == []
        store.close()


def store_machine(make_store: Callable[[], Store]) -> type[StoreMachine]:
    """Make the state machine of a store; `make_store` opens a new, empty one for each run."""
    return type("TriedStoreMachine", (StoreMachine,), {"make_store": staticmethod(make_store)})


def _outcome(store: Store, calls: Sequence[Act], *, fails: bool) -> list[object]:
    """Make calls in one unit of work; tell the answers and the kind of error that ended it."""
    answers: list[object] = []
    try:
        with store.write() as transaction:
            answers.extend(call.on(transaction) for call in calls)
            _break_off(fails=fails)
    except (SfamsError, BrokenOffError) as error:
        answers.append(type(error).__name__)
    return answers


def _break_off(*, fails: bool) -> None:
    if fails:
        raise BrokenOffError


def _seen(store: Store, scope: Scope) -> dict[str, object]:
    """Take down everything visible of a scope, near what was erased too."""
    with store.read() as reader:
        return {
            **snapshot(reader, scope, START),
            "scopes": [sorted(reader.scopes(below)) for below in (None, *SCOPES)],
            "postings": sorted(reader.cold_postings(scope, TERMS), key=repr),
            "logs": [_log(reader, scope, [record_id]) for record_id in IDS],
            "gone": sorted(reader.changes(scope, 0).gone),
            "tombstones": dict(reader.tombstones(scope, HASHES)),
            "made from": list(reader.made_from(scope, IDS)),
            "successors": list(reader.replaced_by(scope, IDS)),
            "settings": [(reader.meta(n), reader.setting(scope, n)) for n in SETTINGS],
        }


def _found(
    store: Store, scope: Scope, selection: Filter, page: Page
) -> tuple[frozenset[RecordId], list[RecordId]]:
    listed: list[RecordId] = []
    with store.read() as reader:
        while records := reader.find(scope, selection, page, START):
            listed += [record.id for record in records]
            page = replace(page, after=_cursor(records[-1], page.order))
        return reader.matching(scope, selection, START), listed


def _cursor(record: MemoryRecord, order: Order) -> Cursor:
    accessed = record.usage.last_accessed_at
    values = {
        Order.CREATED: float(to_micros(record.created_at)),
        Order.ACCESSED: 0.0 if accessed is None else float(to_micros(accessed)),
        Order.IMPORTANCE: record.importance,
    }
    return Cursor(values[order], record.id)


def _log(reader: Reader, scope: Scope, ids: list[RecordId]) -> list[object]:
    events = reader.history(scope, ids, limit=2)
    return [(event.type, event.at, event.record_id, repr(event.detail)) for event in events]
