"""pending, approve, reject, keep, maintain, purge: a person's part in forgetting, and the policy's."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option, Typer

from sfams.cli.output import line, moment, table
from sfams.cli.run import Run, add
from sfams.cli.shapes import receipt_json
from sfams.core.plan import Action, ForgettingPlan

PlanId = Annotated[str, Argument(metavar="PLAN_ID", help="Id of a plan.")]


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, pending, "pending", panel="Forgetting")
    add(app, approve, "approve", panel="Forgetting")
    add(app, reject, "reject", panel="Forgetting")
    add(app, keep, "keep", panel="Forgetting")
    add(app, maintain, "maintain", panel="Forgetting")
    add(app, purge, "purge", panel="Forgetting")


def pending(run: Run) -> None:
    """List the plans that wait for approval, oldest first.

    Examples:
        sfams pending
        sfams pending --json
    """
    with run.memory() as memory:
        plans = memory.pending_plans()
    rows = [
        [each.id, moment(each.created_at), str(each.policy["name"]), each.cause, _counts(each)]
        for each in plans
    ]
    shown = [table(["plan", "made", "policy", "because", "steps"], rows)] if rows else []
    run.out.result({"plans": [_plan_json(each) for each in plans]}, *shown)
    run.out.note("Next: sfams approve PLAN_ID, or reject, or keep" if rows else "Nothing waits.")


def approve(run: Run, plan_id: PlanId) -> None:
    """Let a plan through that waits for approval; `forget` then carries it out.

    Examples:
        sfams approve 019e2f1a-a850-7000-b71f-ffe3b475f045
    """
    with run.memory() as memory:
        plan = memory.approve(plan_id)
    run.out.result(_plan_json(plan), line(f"Approved {plan.id}: {_counts(plan)}."))
    run.out.note(f"Next: sfams forget {plan.id}")


def reject(run: Run, plan_id: PlanId) -> None:
    """Refuse a plan for good.

    Examples:
        sfams reject 019e2f1a-a850-7000-b71f-ffe3b475f045
    """
    with run.memory() as memory:
        plan = memory.reject(plan_id)
    run.out.result(_plan_json(plan), line(f"Rejected {plan.id}."))


def keep(
    run: Run,
    plan_id: PlanId,
    ids: Annotated[list[str], Argument(metavar="ID...", help="Records to take out of the plan.")],
    pin: Annotated[bool, Option("--pin", help="Pin them too: out of all plans to come.")] = False,
) -> None:
    """Take memories out of a plan that is not carried out yet.

    Examples:
        sfams keep 019e2f1a-a850-7000-b71f-ffe3b475f045 019e2f1a-a827-7000-a8e3-25946badddbe
        sfams keep 019e2f1a-a850-7000-b71f-ffe3b475f045 019e2f1a-a827-7000-a8e3-25946badddbe --pin
    """
    with run.memory() as memory:
        plan = memory.keep(plan_id, ids, pin=pin)
    run.out.result(_plan_json(plan), line(f"Kept out of {plan.id}: {len(plan.skipped)}."))


def maintain(run: Run) -> None:
    """Do now what the policy in force does by itself: forget what is due, digest what is over.

    Examples:
        sfams maintain
        sfams maintain --json
    """
    with run.memory() as memory:
        done = memory.maintain()
    document: dict[str, object] = {
        "plan": None if done.plan is None else _plan_json(done.plan),
        "receipt": None if done.receipt is None else receipt_json(done.receipt),
        "digests": done.digests,
        "purged": done.purged,
    }
    if done.plan is None:
        told = "Nothing to forget."
    elif done.receipt is None:
        told = f"Plan {done.plan.id} waits for a person: {_counts(done.plan)}."
    else:
        told = f"Plan {done.plan.id} carried out: {_counts(done.plan)}."
    run.out.result(document, line(told))
    if done.purged:
        run.out.note(f"{done.purged} purged: deleted for longer than can be undone.")
    if done.digests:
        run.out.note(f"{done.digests} digest(s) made.")


def purge(
    run: Run, dry_run: Annotated[bool, Option("--dry-run", help="Only count.")] = False
) -> None:
    """Remove for good what was deleted and can no longer be brought back. It may be told again.

    Examples:
        sfams purge --dry-run
        sfams purge
    """
    with run.memory() as memory:
        receipt = memory.purge(dry_run=dry_run)
    told = f"{'Would purge' if dry_run else 'Purged'} {receipt.erased}."
    run.out.result(receipt_json(receipt) | {"dry_run": dry_run}, line(told))


def _counts(plan: ForgettingPlan) -> str:
    actions = (Action.DEMOTE, Action.SUMMARIZE, Action.DELETE)
    named = [f"{count} {each}" for each in actions if (count := plan.count(each))]
    return ", ".join(named) or "no step"


def _plan_json(plan: ForgettingPlan) -> dict[str, object]:
    return {
        "plan_id": plan.id,
        "state": plan.state.value,
        "policy": plan.policy["name"],
        "cause": plan.cause.value,
        "alarm": plan.alarm,
        "steps": {each.value: plan.count(each) for each in Action if each is not Action.KEEP},
        "kept": dict(plan.skipped),
    }
