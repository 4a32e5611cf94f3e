"""Simulating: what another policy would have kept and lost, from the scope's own log. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sfams.core.columns import Need
from sfams.core.events import MemoryEvent
from sfams.core.moments import DurationLike, parse_duration
from sfams.core.past import past_of
from sfams.core.policy import RetentionPolicy
from sfams.core.query import Cursor, Filter, Order, Page
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.replay import How, Simulation, SteppedProgress, replay, usual_step
from sfams.core.scope import Scope
from sfams.ports import Reader
from sfams.service import policies
from sfams.service.engine import Engine
from sfams.service.listing import cursor_after
from sfams.service.merging import groups_of

_PAGE = 500
_EVENTS = 5_000
_EVERYTHING = Filter(statuses=(), expired=True)


def simulate(
    engine: Engine,
    scope: Scope,
    policy: RetentionPolicy | str | None,
    every: DurationLike | None,
    progress: SteppedProgress | None,
) -> Simulation:
    """Replay a scope's log under a policy; see `Memory.simulate`."""
    rules = policies.chosen(engine, scope, policy)
    step = usual_step(rules) if every is None else parse_duration(every, field="every")
    engine.flush_usage()
    now = engine.now()
    with engine.store.read() as reader:
        past = past_of(
            _records(reader, scope, now),
            [*_events(reader, scope)],
            reader.columns(scope, now, frozenset({Need.ACCESSES, Need.TURNS})),
            now,
        )

    def group(ids: Sequence[RecordId]) -> Mapping[RecordId, int]:
        if not ids:
            return {}
        with (
            engine.store.read() as reader
        ):  # its own look: a long one would hold up the log of the file
            return groups_of(reader, scope, ids)

    return replay(past, rules, scope, now, How(every=step, group=group, progress=progress))


def _records(reader: Reader, scope: Scope, now: datetime) -> Iterator[MemoryRecord]:
    after: Cursor | None = None
    while True:
        page = Page(limit=_PAGE, order=Order.CREATED, after=after)
        records = reader.find(scope, _EVERYTHING, page, now)
        yield from records
        if len(records) < _PAGE:
            return
        after = cursor_after(records[-1], Order.CREATED)


def _events(reader: Reader, scope: Scope) -> Iterator[MemoryEvent]:
    after = 0
    while events := reader.history(scope, (), after=after, limit=_EVENTS):
        yield from events
        after = events[-1].number
