"""Auditing: a sample of what plans forgot is marked right or wrong, and each policy is measured."""

from __future__ import annotations

from dataclasses import dataclass

from sfams.core.ghosts import Ghost, Mark, PolicyRecord, sample, tally
from sfams.core.lifecycle import restorable
from sfams.core.record import MemoryRecord
from sfams.core.scope import Scope
from sfams.core.selecting import choice
from sfams.errors import InvalidInputError, NotFoundError
from sfams.service.engine import Engine
from sfams.service.listing import check_id
from sfams.service.policies import under


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One forgotten memory to judge. `record` is None once it is purged."""

    ghost: Ghost
    record: MemoryRecord | None
    restorable: bool


def audit(engine: Engine, scope: Scope, n: int, seed: int) -> tuple[Audited, ...]:
    """Draw `n` memories that plans forgot; the same ones for the same seed and history."""
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        message = f"n: must be a whole number above 0, got {n}"
        raise InvalidInputError(message, field="n")
    engine, now = under(engine, scope), engine.now()
    with engine.store.read() as reader:
        drawn = sample(reader.ghosts(scope), n, seed)
        records = {r.id: r for r in reader.get(scope, [ghost.record_id for ghost in drawn])}
    found = ((ghost, records.get(ghost.record_id)) for ghost in drawn)
    window = engine.policy.undo_window
    return tuple(
        Audited(
            ghost=ghost,
            record=record,
            restorable=record is not None and restorable(record, now, window),
        )
        for ghost, record in found
    )


def mark(engine: Engine, scope: Scope, record_id: str, value: str) -> Ghost:
    """Say whether forgetting a memory was right.

    Raises:
        NotFoundError: It was not forgotten in this scope, or has been erased.
    """
    wanted, said = check_id(record_id), choice(Mark, value, "mark")
    with engine.store.write() as transaction:
        if not transaction.mark_ghost(scope, wanted, said):
            message = f"{wanted} was not forgotten in {scope}; `sfams audit` lists what was"
            raise NotFoundError(message, id=wanted)
        return transaction.ghosts(scope, [wanted])[-1]


def forgetting_stats(engine: Engine, scope: Scope) -> tuple[PolicyRecord, ...]:
    """Measure how each policy's forgetting has turned out."""
    engine.flush_usage()
    with engine.store.read() as reader:
        return tally(reader.ghosts(scope))
