"""The dict store's erasing: every trace of records goes, tombstones stay."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sfams.core.events import without_ids
from sfams.core.record import RecordId
from sfams.core.tombstones import left_by
from sfams.stores.dict_edits import without_links, without_steps
from sfams.stores.dict_state import ScopeState, tombstone


def erase(own: ScopeState, ids: Collection[RecordId]) -> int:
    """Remove records from a scope's own copy; returns how many were there."""
    own.haunts = [each for each in own.haunts if each.ghost.record_id not in ids]
    known = {record_id for record_id in ids if record_id in own.rows}
    if not known:
        return 0
    own.seq += 1
    named = {own.rows[record_id].record.source.session for record_id in known}
    for record_id in sorted(known):
        _bury(own, record_id)
    own.rows = {record_id: without_links(row, known) for record_id, row in own.rows.items()}
    own.events = [
        replace(
            event,
            detail={} if event.record_id in known else without_ids(event.detail, known),
        )
        for event in own.events
    ]
    own.plans = {name: without_steps(plan, known) for name, plan in own.plans.items()}
    left = {row.record.source.session for row in own.rows.values()}
    for sessions in (own.turns, own.ended):
        for session in [s for s in sessions if s not in left and (s in named or not own.rows)]:
            del sessions[session]
    return len(known)


def _bury(own: ScopeState, record_id: RecordId) -> None:
    past = [version.content for version in own.past.pop(record_id, ())]
    for name in left_by(own.rows[record_id].record, past):
        mark = tombstone(name)
        others = (each for each in own.tombstones.get(mark, ()) if each != record_id)
        own.tombstones[mark] = (*others, record_id)
    own.gone[record_id] = own.seq
    del own.rows[record_id]


def lift(own: ScopeState, ids: Sequence[RecordId], names: Sequence[str]) -> list[RecordId]:
    """Take away every mark of the records that are named, or that have left one of the names."""
    wanted, marks = set(ids), {tombstone(name) for name in names}
    lifted = {
        each
        for mark, records in own.tombstones.items()
        for each in records
        if each in wanted or mark in marks
    }
    own.tombstones = {
        mark: records for mark, records in own.tombstones.items() if lifted.isdisjoint(records)
    }
    return sorted(lifted)
