"""What became of a call that was cut short: done, not done or whole chunks of it, never half of one."""

from __future__ import annotations

from tests.support.crash_ledger import Known, Ledger, Op, steps_done

import sfams
from sfams.core.plan import PlanState
from sfams.service import forgetting, remembering

CHUNK = 3
"""Steps of a plan, and texts of a batch, in one transaction: small, so that there are many."""


def use_small_chunks() -> None:
    """Cut plans and batches small, in a process that is there for a test alone."""
    forgetting.CHUNK = remembering.CHUNK = CHUNK


def settle(op: Op | None, memory: sfams.Memory, ledger: Ledger, found: dict[str, Known]) -> str:
    """Enter the call that was cut short if it was done; half of it must not be."""
    if op is None:
        assert found == ledger.known
        return "none was open"
    if op.verb.startswith("remember"):
        return _remembering(op, ledger, found)
    if op.verb == "plan":
        return _planning(memory, ledger, found)
    if op.verb == "forget":
        return _forgetting(op, memory, ledger, found)
    if found == ledger.known:
        return "not done"
    ledger.book(op, ())
    assert found == ledger.known
    return "done"


def _remembering(op: Op, ledger: Ledger, found: dict[str, Known]) -> str:
    """Of many texts, whole chunks in their order."""
    ids = {known.content: each for each, known in found.items()}
    stored = [text for text in op.texts if text in ids]
    assert stored == list(op.texts[: len(stored)])
    assert len(stored) % CHUNK == 0 or len(stored) == len(op.texts)
    if not stored:
        assert found == ledger.known
        return "not done"
    ledger.book(op._replace(texts=tuple(stored)), tuple(ids[text] for text in stored))
    assert found == ledger.known
    return "done" if len(stored) == len(op.texts) else "done in part"


def _planning(memory: sfams.Memory, ledger: Ledger, found: dict[str, Known]) -> str:
    assert found == ledger.known
    for plan_id in memory.plans():
        if plan_id not in ledger.plans:
            steps = tuple((s.record_id, s.action.value) for s in memory.plan(plan_id).steps)
            ledger.book(Op("plan"), ((plan_id, ""), *steps))
            return "done"
    return "not done"


def _forgetting(op: Op, memory: sfams.Memory, ledger: Ledger, found: dict[str, Known]) -> str:
    """The plan's cursor tells exactly what was done; the same call finishes it."""
    (plan_id,) = op.ids
    plan = memory.plan(plan_id)
    before = ledger.copy()
    before.book(op, steps_done(memory, plan_id))
    assert found == before.known
    if plan.state is not PlanState.APPLIED:
        memory.forget(plan_id)
    ledger.book(op, steps_done(memory, plan_id))
    assert memory.plan(plan_id).cursor == len(plan.steps)
    if plan.state is PlanState.APPLYING:
        return "done in part, then finished"
    return "done" if plan.state is PlanState.APPLIED else "not done, then done"
