"""Triggers: forgetting that nobody has to ask for, never on the thread of who is being served.

When something is due (`board`), one run is queued, however often it becomes due meanwhile; a lease in
the store keeps other processes from running the same scope.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sfams.core.moments import format_moment, parse_moment
from sfams.core.periods import Period, span_of
from sfams.core.plan import Cause, ForgettingPlan, PlanState, Receipt
from sfams.core.policy import RetentionPolicy
from sfams.core.scope import Scope
from sfams.errors import ConflictError
from sfams.ports import Reader, Transaction
from sfams.service import digests, forgetting, planning, policies, purging
from sfams.service.engine import Engine, logger

LEASE = timedelta(minutes=10)
"""How long a run may take before another process takes it for dead."""
_STATE, _LEASE = "forgetting", "lease:forgetting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """What one run did: the plan (None if there was nothing to forget), its receipt, digests, purged.

    Without a receipt the plan waits for a person: it needs approval, or is beyond its limits.
    """

    plan: ForgettingPlan | None = None
    receipt: Receipt | None = None
    digests: int = 0
    purged: int = 0


# ── Asking ───────────────────────────────────────────────────────────────────────────────────────


def consider(engine: Engine, scope: Scope, *, session_over: bool = False) -> None:
    """Queue what is due in a scope; costs the caller a look at the board."""
    if not engine.automatic:
        return
    cause = engine.board.due(scope, engine.now(), session_over=session_over)
    if cause is not None:
        engine.background.submit(partial(_queued, engine, scope, cause, session_over=session_over))


def _queued(engine: Engine, scope: Scope, cause: Cause | None, *, session_over: bool) -> None:
    """Look first where nobody has looked, and run while something is due that a run can change."""
    done: Maintenance | None = None
    try:
        if cause is Cause.DEMAND:
            look(engine, scope)
            cause = _next(engine, scope, ran=False, session_over=session_over)
        while cause is not None:
            done = run(engine, scope, cause)
            if done is None or done.receipt is None:
                return
            # What was told while it ran may be over budget again, and nobody may tell more.
            cause = _next(engine, scope, ran=True, session_over=False)
    finally:
        engine.board.done(scope, ran=done is not None)


def _next(engine: Engine, scope: Scope, *, ran: bool, session_over: bool) -> Cause | None:
    engine.board.done(scope, ran=ran)
    return engine.board.due(scope, engine.now(), session_over=session_over)


def look(engine: Engine, scope: Scope) -> None:
    """See what a scope holds, and when it was run last; a scope never run is from now on."""
    rules = policies.in_force(engine, scope).policy
    now = engine.now()
    engine.board.looking(scope)
    with engine.store.read() as reader:
        columns, last = reader.columns(scope, now), _last(reader, scope)
    if last is None:
        with engine.store.write() as transaction:
            _note(transaction, scope, now)
    engine.board.looked(scope, columns, rules, last or now)


# ── Running ──────────────────────────────────────────────────────────────────────────────────────


def run(engine: Engine, scope: Scope, cause: Cause = Cause.DEMAND) -> Maintenance | None:
    """Make a plan by the policy in force and carry it out, if it may be; then digest what is over.

    A plan that needs approval or is beyond its limits is saved and left to a person. None if another
    process is at it.
    """
    now = engine.now()
    if not _leased(engine, scope, now):
        return None
    try:
        rules = policies.in_force(engine, scope).policy
        told = _digest(engine, scope, rules, now)
        made = planning.draft(engine, scope, planning.PlanRequest(cause=cause))
        receipt = None
        if len(made.steps):
            planning.save(engine, made)
            receipt = _carried_out(engine, made)
        purged = purging.purge(engine, scope).erased
        done = Maintenance(
            plan=made if len(made.steps) else None, receipt=receipt, digests=told, purged=purged
        )
    finally:
        with engine.store.write() as transaction:
            _note(transaction, scope, now)
            transaction.put_setting(scope, _LEASE, None)
    look(engine, scope)
    return done


def _carried_out(engine: Engine, made: ForgettingPlan) -> Receipt | None:
    if made.state is PlanState.PENDING or made.alarm:
        why = made.alarm or "its policy asks for approval"
        logger.warning("plan %s of %s waits for a person: it %s", made.id, made.scope, why)
        return None
    try:
        return forgetting.apply(engine, made.scope, made.id)
    except ConflictError as error:  # somebody else was at it: what is left is found by the next run
        logger.info("plan %s was not applied: %s", made.id, error)
        return None


def _digest(engine: Engine, scope: Scope, rules: RetentionPolicy, now: datetime) -> int:
    """Digest the period that is over, once."""
    if rules.triggers.digest is None:
        return 0
    with engine.store.read() as reader:
        last = _last(reader, scope)
    begun = span_of(Period(rules.triggers.digest), now).start
    if last is not None and last >= begun:
        return 0
    before = begun - timedelta(microseconds=1)
    report = digests.digest(engine, scope, rules.triggers.digest, before, dry_run=False)
    return len(report.made)


def _last(reader: Reader, scope: Scope) -> datetime | None:
    written = reader.setting(scope, _STATE)
    return None if written is None else parse_moment(json.loads(written)["at"], field="at")


def _note(transaction: Transaction, scope: Scope, now: datetime) -> None:
    transaction.put_setting(scope, _STATE, json.dumps({"at": format_moment(now)}))


def _leased(engine: Engine, scope: Scope, now: datetime) -> bool:
    """Take the scope's lease, unless another process holds it and is not over time."""
    with engine.store.write() as transaction:
        written = transaction.setting(scope, _LEASE)
        if written is not None:
            held = json.loads(written)
            if parse_moment(held["until"], field="until") > now:
                return False
        lease = {"until": format_moment(now + LEASE)}
        transaction.put_setting(scope, _LEASE, json.dumps(lease))
    return True
