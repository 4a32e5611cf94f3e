"""Past: what a scope's log and its records tell of former days, as far as they do.

Texts, importance, kind and expiry are today's: the log names the fields that an update changed and
keeps no old values. Of accesses it knows the moments of a record's trace and the last one (`core.traces`);
the others are spread over these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from sfams.core.columns import Bools, Columns, Ints, columns_of
from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.moments import MISSING, parse_moment, to_micros
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.traces import Accesses, Ragged, TurnUses

NO_TWIN = -1


class What(StrEnum):
    """What happened to a record that no policy had a hand in."""

    BORN = "born"
    ENDED = "ended"
    REOPENED = "reopened"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    HELD = "held"
    RELEASED = "released"
    SHOWN = "shown"
    USED = "used"
    TOLD = "told again"
    RESTORED = "restored"


ASKED = frozenset({What.SHOWN, What.USED, What.TOLD, What.RESTORED})
"""What tells that somebody wanted a record."""


class Happening(NamedTuple):
    """One moment (microseconds since 1970) in the life of the record in a row."""

    at: int
    row: int
    what: What


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The records of a scope, in id order, as they are today, and what happened to them, in order.

    `columns` has one row for each, whatever became of it, with what is known of its traces. `pinned` and
    `held` are how they came; `twins` is the row of a record's twin, `NO_TWIN` without one. `known` counts
    the happenings by which a row was shown. `erased` counts records of which only the log tells.
    """

    columns: Columns
    happenings: Sequence[Happening]
    pinned: Bools
    held: Bools
    twins: Ints
    known: Ints
    erased: int


def past_of(
    records: Iterable[MemoryRecord], events: Sequence[MemoryEvent], live: Columns, now: datetime
) -> Past:
    """Put a scope's past together.

    A record counts from the moment at which it was said, so that an imported history replays as it went.
    What was deleted by hand, replaced, or merged because a person asked for it ends whatever the policy;
    what a policy did is left out, and so are the summaries that it had made.

    Args:
        records: All that are not erased, of any status.
        events: The whole log, oldest first.
        live: The columns of the live ones, with `Need.ACCESSES` and `Need.TURNS`.
        now: The present moment.
    """
    made = {each.record_id for each in events if _made_by_policy(each)}
    rows = sorted((each for each in records if each.id not in made), key=lambda each: each.id)
    places = {record.id: row for row, record in enumerate(rows)}
    born = [to_micros(min(record.created_at, record.recorded_at)) for record in rows]
    columns = _with_traces(columns_of(rows, now), live, places, born)
    told = _told(events, places, born, now)
    shown = _shown(columns, told, born)
    first = [Happening(at, row, What.BORN) for row, at in enumerate(born)]
    # stable: of one moment the births come first, then what the log tells in its order
    happenings = sorted([*first, *shown, *told], key=lambda each: each.at)
    return Past(
        columns=columns,
        happenings=happenings,
        pinned=_at_first(columns.pinned, told, What.PINNED, What.UNPINNED),
        held=_at_first(columns.held, told, What.HELD, What.RELEASED),
        twins=np.array([_twin(each, places) for each in rows], np.int64),
        known=np.bincount([each.row for each in shown], minlength=len(rows)).astype(np.int64),
        erased=len(
            {e.record_id for e in events if e.type is EventType.REMEMBERED} - made - {*places}
        ),
    )


def _made_by_policy(event: MemoryEvent) -> bool:
    summary = event.detail.get("outcome") == "summary"
    return event.type is EventType.REMEMBERED and event.actor is Actor.POLICY and summary


def _twin(record: MemoryRecord, places: Mapping[RecordId, int]) -> int:
    return NO_TWIN if record.twin is None else places.get(record.twin.id, NO_TWIN)


# ── The log ──────────────────────────────────────────────────────────────────────────────────────

_SAME = {
    EventType.PINNED: What.PINNED,
    EventType.UNPINNED: What.UNPINNED,
    EventType.HELD: What.HELD,
    EventType.RELEASED: What.RELEASED,
    EventType.DUPLICATE: What.TOLD,
    EventType.REINFORCED: What.USED,
    EventType.SUPERSEDED: What.ENDED,
}
_BY_A_PERSON = {
    EventType.DELETED: What.ENDED,
    EventType.SUMMARIZED: What.ENDED,
    EventType.RESTORED: What.RESTORED,
}


def _told(
    events: Sequence[MemoryEvent],
    places: Mapping[RecordId, int],
    born: Sequence[int],
    now: datetime,
) -> list[Happening]:
    """Read the log. A later statement ends an earlier one when it was said, not when it was imported."""
    told: list[Happening] = []
    for event in events:
        row = None if event.record_id is None else places.get(event.record_id)
        what = _what(event)
        if row is None or what is None:
            continue
        at = max(to_micros(event.at), born[row])
        if event.type is EventType.SUPERSEDED:
            by = places.get(RecordId(str(event.detail.get("by"))))
            at = at if by is None else max(born[by], born[row])
        told.append(Happening(at, row, what))
        until = event.detail.get("until")
        if what is What.HELD and isinstance(until, str):
            lapses = parse_moment(until, field="until")
            if lapses <= now:
                told.append(Happening(to_micros(lapses), row, What.RELEASED))
    return told


def _what(event: MemoryEvent) -> What | None:
    if event.type is EventType.RESTORED and event.detail.get("reason") == "used":
        return None  # the use itself is in the log
    if event.type in _BY_A_PERSON and event.actor is Actor.USER:
        return _BY_A_PERSON[event.type]
    if event.type is EventType.RESTORED:
        return What.REOPENED
    return _SAME.get(event.type)


def _shown(columns: Columns, told: Sequence[Happening], born: Sequence[int]) -> list[Happening]:
    """List the known moments at which a record came back to somebody.

    A moment of a confirmed use is one of them only where fewer others are known than were counted: who
    confirms a memory has been shown it just before, and of both one moment is kept.
    """
    used = {(each.row, each.at) for each in told if each.what is What.USED}
    spaced = columns.spaced().moments
    known = {*zip(spaced.rows.tolist(), spaced.values.tolist(), strict=True)}
    last = {*enumerate(columns.last_accessed_at.tolist())}
    sure = {(row, at) for row, at in (known - used) | last if at != MISSING}
    left = columns.access_count.copy()
    found = []
    for row, at in [*sorted(sure), *sorted((known & used) - sure)]:
        if left[row] > 0:
            left[row] -= 1
            found.append(Happening(max(at, born[row]), row, What.SHOWN))
    return found


def _at_first(today: Bools, told: Sequence[Happening], on: What, off: What) -> Bools:
    """Tell what held before the log's first word on it: the opposite of that, or what holds today."""
    first: dict[int, What] = {}
    for each in told:
        if each.what in {on, off}:
            first.setdefault(each.row, each.what)
    before = today.copy()
    for row, what in first.items():
        before[row] = what is off
    return before


# ── Traces ───────────────────────────────────────────────────────────────────────────────────────


def _with_traces(
    columns: Columns, live: Columns, places: Mapping[RecordId, int], born: Sequence[int]
) -> Columns:
    """Take the traces of what is live; of the rest only the last access is known."""
    rows = [(places[each], row) for row, each in enumerate(live.ids) if each in places]
    order = np.arange(len(columns))
    order[[place for place, _ in rows]] = [len(columns) + row for _, row in rows]
    accesses, uses = _joined(columns.spaced(), live.spaced()), _turns(columns, live)
    return replace(
        columns,
        active_days=live.active_days,
        turns=live.turns,
        accesses=accesses.take(order),
        turn_uses=_learned(uses.take(order), {place for place, _ in rows}, born),
    )


def _end_to_end(one: Ragged, other: Ragged) -> Ragged:
    lengths = np.concatenate((one.lengths, other.lengths))
    return Ragged.of(lengths, np.concatenate((one.values, other.values)))


def _joined(one: Accesses, other: Accesses) -> Accesses:
    return Accesses(
        np.concatenate((one.count, other.count)),
        np.concatenate((one.stability, other.stability)),
        _end_to_end(one.moments, other.moments),
    )


def _turns(columns: Columns, live: Columns) -> TurnUses:
    one, other = columns.by_turn(), live.by_turn()
    arrays = ("learned", "shown", "used", "over")
    joined = {name: np.concatenate((getattr(one, name), getattr(other, name))) for name in arrays}
    return TurnUses(turns=_end_to_end(one.turns, other.turns), **joined)


def _learned(uses: TurnUses, known: set[int], born: Sequence[int]) -> TurnUses:
    """Let what is not live any more have come at the turn of the live one before it."""
    learned, turn = uses.learned.copy(), 0
    for row in sorted(range(len(born)), key=born.__getitem__):
        turn = max(turn, int(learned[row]))
        if row not in known:
            learned[row] = turn
    # What is known of their use was put at turn 0, where it would be older than they are.
    values = np.maximum(uses.turns.values, learned[uses.turns.rows])
    return replace(uses, learned=learned, turns=Ragged(uses.turns.starts, values))
