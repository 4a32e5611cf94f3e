"""Lifecycle: which status may follow which, and how a plan is taken back.

A live record may be superseded, summarized or deleted, and come back from each of them; a
superseded or summarized one may be deleted too. Every one may be erased, and from there nothing
comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sfams.core.plan import Action, ForgettingPlan, ForgettingStep
from sfams.core.record import Hold, MemoryRecord, RecordId, Status, Tier, Validity
from sfams.errors import ConflictError, RecordProtectedError

RESTORE_GRACE = timedelta(days=7)
"""How long a restored record is left alone by every rule but expiry."""

_FOLLOWERS: dict[Status, frozenset[Status]] = {
    Status.LIVE: frozenset({Status.SUPERSEDED, Status.SUMMARIZED, Status.DELETED, Status.ERASED}),
    Status.SUPERSEDED: frozenset({Status.LIVE, Status.DELETED, Status.ERASED}),
    Status.SUMMARIZED: frozenset({Status.LIVE, Status.DELETED, Status.ERASED}),
    Status.DELETED: frozenset({Status.LIVE, Status.SUPERSEDED, Status.SUMMARIZED, Status.ERASED}),
    Status.ERASED: frozenset(),
}
_FORGETS = frozenset({Status.SUMMARIZED, Status.DELETED})


@dataclass(frozen=True, slots=True)
class Transition:
    """A change of standing in bulk; None leaves a field alone. Bumps `version`.

    `hold` goes with `held`: its owner, reason and end.
    """

    id: RecordId
    status: Status | None = None
    tier: Tier | None = None
    grace_until: datetime | None = None
    pinned: bool | None = None
    held: bool | None = None
    validity: Validity | None = None
    hold: Hold | None = None


def may_follow(old: Status, new: Status) -> bool:
    """Tell whether a record of status `old` may become `new`; staying the same is no change."""
    return new in _FOLLOWERS[old]


def check_transition(record: MemoryRecord, new: Status) -> None:
    """Refuse a status that may not follow, or that a hold or pin forbids.

    A hold forbids deletion, being summarized and erasure. A pin forbids the first two only: whoever
    a memory is about may demand its erasure over a pin.

    Raises:
        ConflictError: `new` cannot follow the record's present status.
        RecordProtectedError: The record is held or pinned.
    """
    if not may_follow(record.status, new):
        message = f"{record.id}: is {record.status} and cannot become {new}"
        raise ConflictError(message, id=record.id, status=str(record.status))
    if record.held and (new in _FORGETS or new is Status.ERASED):
        message = f"{record.id}: is held and cannot become {new}; release the hold first"
        raise RecordProtectedError(message, id=record.id)
    if record.pinned and new in _FORGETS:
        message = f"{record.id}: is pinned and cannot become {new}; unpin it first"
        raise RecordProtectedError(message, id=record.id)


def restorable(record: MemoryRecord, now: datetime, window: timedelta) -> bool:
    """Tell whether there is something to bring back, and whether it still can be.

    A deleted record for `window` after its deletion (the last instant excluded), a cold, superseded
    or summarized one always, an erased one never; a live hot one needs no restoring.
    """
    if record.status is Status.DELETED:
        return now - record.updated_at < window
    if record.status is Status.LIVE:
        return record.tier is Tier.COLD
    return record.status is not Status.ERASED


def restore_transition(
    record: MemoryRecord, now: datetime, grace: timedelta = RESTORE_GRACE
) -> Transition:
    """Bring one record back: cold to hot, anything else to live in its old tier, under grace.

    A superseded record loses its successor. Ask `restorable` first; that its text is not live in
    another record meanwhile is the caller's to check.

    Raises:
        ConflictError: The record is erased, or live and hot already.
    """
    until = max(now + grace, record.grace_until or now)
    if record.status is Status.LIVE and record.tier is Tier.COLD:
        return Transition(record.id, tier=Tier.HOT, grace_until=until)
    check_transition(record, Status.LIVE)
    reopened = None
    if record.validity.superseded_by is not None:
        reopened = replace(record.validity, superseded_by=None)
    return Transition(record.id, status=Status.LIVE, grace_until=until, validity=reopened)


def undo_transitions(
    plan: ForgettingPlan,
    records: Iterable[MemoryRecord],
    now: datetime,
    live: Mapping[str, RecordId],
    grace: timedelta = RESTORE_GRACE,
) -> tuple[list[Transition], dict[RecordId, str]]:
    """Find out what takes an applied plan back, where its records are still as it left them.

    Applying a step must have raised the record's version by exactly one.

    Args:
        plan: The plan; only steps before its cursor count, and those that it skipped do not.
        records: Its records as they are now, in any order; those missing here have been erased.
        now: The present moment; from `plan.undo_until` on nothing is taken back.
        live: Live records by content hash: texts that have been told again meanwhile.
        grace: How long the restored records are left alone.

    Returns:
        The transitions in the plan's order (demoted: hot again; deleted: live again in their old
        tier), and why other records stay as they are: "changed since", "duplicate of <id>",
        "erased" or "undo window over".
    """
    over = plan.undo_until is not None and now >= plan.undo_until
    found = {record.id: record for record in records}
    taken = dict(live)
    transitions: list[Transition] = []
    skipped: dict[RecordId, str] = {}
    for step in applied_steps(plan):
        if step.action is Action.SUMMARIZE:  # goes back with its whole group
            continue
        record = found.get(step.record_id)
        obstacle = "undo window over" if over else _obstacle(step, record, taken)
        if record is None or obstacle:
            skipped[step.record_id] = obstacle
        else:
            taken[record.content_hash] = record.id
            transitions.append(restore_transition(record, now, grace))
    return transitions, skipped


def applied_steps(plan: ForgettingPlan) -> Iterator[ForgettingStep]:
    """Walk over the steps that have been carried out."""
    steps = (plan.steps[row] for row in range(min(plan.cursor, len(plan.steps))))
    return (step for step in steps if step.record_id not in plan.skipped)


def _obstacle(
    step: ForgettingStep, record: MemoryRecord | None, live: Mapping[str, RecordId]
) -> str:
    if record is None or record.status is Status.ERASED:
        return "erased"
    if step.action is Action.DELETE:
        as_left = record.status is Status.DELETED
    else:
        as_left = record.status is Status.LIVE and record.tier is Tier.COLD
    if not as_left or record.version != step.version + 1:
        return "changed since"
    twin = live.get(record.content_hash, record.id)
    return "" if twin == record.id else f"duplicate of {twin}"
