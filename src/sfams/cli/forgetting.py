"""plan, forget and restore: forgetting as a plan that is read before it is carried out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, TypedDict, Unpack

from rich.console import RenderableType
from typer import Argument, Option, Typer

from sfams.bootstrap import policy_of
from sfams.cli.options import Reveal, given
from sfams.cli.output import age, line, moment, pairs, preview, table
from sfams.cli.run import Run, add
from sfams.cli.shapes import plan_json, receipt_json
from sfams.core.moments import parse_duration
from sfams.core.plan import Action, ForgettingPlan, ForgettingStep, Receipt
from sfams.core.policy import RetentionPolicy
from sfams.core.record import MemoryRecord, RecordId, Tier
from sfams.errors import InvalidInputError, NotFoundError
from sfams.ports import ScopeStats
from sfams.service.memory import Memory

SHORT = {
    "importance": "imp",
    "salience": "sal",
    "distinctness": "dist",
    "recency": "rec",
    "frequency": "freq",
    "age": "aging",
}
"""Heads of narrow columns."""

Yes = Annotated[bool, Option("--yes", "-y", help="Do not ask.")]


class Taking(StrEnum):
    """What a policy may do with what it takes."""

    DEMOTE = "demote"
    DELETE = "delete"


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, plan, "plan", panel="Forgetting")
    add(app, forget, "forget", panel="Forgetting")
    add(app, restore, "restore", panel="Forgetting")


class PlanOptions(TypedDict, total=False):
    """The policy: a preset, and what differs from it."""

    policy: Annotated[
        str | None, Option("--policy", help="A preset, such as adaptive or classic (SFAMS_POLICY).")
    ]
    budget_records: Annotated[
        int | None, Option("--budget-records", help="Memories that may stay hot.")
    ]
    budget_tokens: Annotated[
        int | None, Option("--budget-tokens", help="Tokens that may stay hot.")
    ]
    share: Annotated[float | None, Option("--share", metavar="0..1", help="Take the lowest share.")]
    lowest: Annotated[int | None, Option("--lowest", help="Take the lowest so many.")]
    threshold: Annotated[
        float | None, Option("--threshold", metavar="0..1", help="Take scores below it.")
    ]
    action: Annotated[
        Taking | None, Option("--action", help="What to do with what is taken by score.")
    ]
    floor: Annotated[
        float | None, Option("--floor", metavar="0..1", help="Delete nothing this important.")
    ]
    grace: Annotated[str | None, Option("--grace", metavar="7d", help="Leave younger ones alone.")]
    max_share: Annotated[
        float | None, Option("--max-share", metavar="0..1", help="Share one run may delete.")
    ]


def plan(
    run: Run,
    limit: Annotated[int, Option("--limit", min=0, help="Steps to show; 0 for all.")] = 50,
    reveal: Reveal = False,
    **options: Unpack[PlanOptions],
) -> None:
    """Say what a policy would forget, and save the plan. Changes no memory.

    Examples:
        sfams plan
        sfams plan --policy classic --share 0.2
        sfams plan --lowest 10 --action delete --floor 0.8
        sfams plan --budget-tokens 20000 --json
    """
    fields = given(options)
    base = {name: fields.pop(name, None) for name in ("policy", "budget_records", "budget_tokens")}
    policy = _policy(policy_of(run.settings(**base)), fields)
    with run.memory() as memory:
        before = memory.stats()
        made = memory.plan_forgetting(policy)
        shown = list(made.steps) if limit == 0 or run.out.as_json else made.steps[:limit]
        hidden = made.steps[len(shown) :]
        # A step on a cold record frees nothing hot, and only a deletion can be one.
        counted = [step for step in hidden if step.action is Action.DELETE]
        records = _records(memory, [*shown, *counted])
    totals = _totals(made, before, records)
    texts = {each: preview(record, reveal=reveal) for each, record in records.items()}
    document = plan_json(made, records, texts) | {"totals": totals}
    steps = _steps(made, shown, records, texts, wide=run.out.wide)
    run.out.result(document, *steps, *_summary(made, totals))
    if hidden:
        run.out.note(f"{len(hidden)} more steps; --limit 0 shows all.")
    run.out.note(f"Next: sfams forget {made.id}" if len(made.steps) else "Nothing to forget.")


def _policy(base: RetentionPolicy, fields: Mapping[str, Any]) -> RetentionPolicy:
    """Change what was asked for; the result no longer bears the preset's name."""
    changes: dict[str, Any] = dict(fields)
    if not changes:
        return base
    action = changes.pop("action", None)
    if action is not None:
        changes |= {"share_action": Action(action), "threshold_action": Action(action)}
        # A person who asks for deletion gets it, and not a demotion first.
        changes["through_cold"] = action is not Taking.DELETE
    if "grace" in changes:
        changes["grace"] = parse_duration(changes["grace"], field="grace")
    # The preset's share must not stand in the way of another count; two given ones are refused.
    for name, other in (("share", "lowest"), ("lowest", "share")):
        if name in changes:
            changes.setdefault(other, None)
    return replace(base, name="custom", **changes)


def _records(memory: Memory, steps: Iterable[ForgettingStep]) -> dict[RecordId, MemoryRecord]:
    found: dict[RecordId, MemoryRecord] = {}
    for step in steps:
        try:
            found[step.record_id] = memory.get(step.record_id)
        except NotFoundError:  # erased since the plan was made
            continue
    return found


def _totals(
    made: ForgettingPlan, before: ScopeStats, records: Mapping[RecordId, MemoryRecord]
) -> dict[str, object]:
    """Count what is hot before and after."""
    hot = [step for step in made.steps if _was_hot(records.get(step.record_id))]
    return {
        "demote": made.count(Action.DEMOTE),
        "delete": made.count(Action.DELETE),
        "before": {"records": made.hot, "tokens": before.hot_tokens},
        "after": {
            "records": made.hot - len(hot),
            "tokens": before.hot_tokens - sum(step.tokens for step in hot),
        },
    }


def _was_hot(record: MemoryRecord | None) -> bool:
    return record is None or record.tier is Tier.HOT


def _steps(
    made: ForgettingPlan,
    steps: list[ForgettingStep],
    records: Mapping[RecordId, MemoryRecord],
    texts: Mapping[RecordId, str],
    *,
    wide: bool,
) -> list[RenderableType]:
    """Lay out steps; on a narrow terminal what is long stands below what is short."""
    if not steps:
        return []
    parts = [name for name in made.steps.parts if any(step.parts[name] for step in steps)]
    heads = [SHORT.get(name, name) for name in parts]
    rows: list[list[str]] = []
    for step in steps:
        record = records.get(step.record_id)
        text = texts.get(step.record_id, "(gone)")
        since = "" if record is None else age(made.created_at - record.created_at)
        kind = "" if record is None else record.kind
        score, shares = f"{step.score:.2f}", [f"{step.parts[name]:+.2f}" for name in parts]
        if wide:
            cells = [step.action, step.reason, score, *shares, since, kind, step.record_id, text]
            rows.append(cells)
        else:
            why = "  ".join(map(" ".join, zip(heads, shares, strict=True)))
            rows.append(
                [f"{step.action}\n{step.reason}", score, f"{text}\n{why}\n{step.record_id}"]
            )
    if wide:
        return [table(["action", "reason", "score", *heads, "age", "kind", "id", "text"], rows)]
    return [table(["action", "score", "text"], rows)]


def _summary(made: ForgettingPlan, totals: Mapping[str, Any]) -> list[RenderableType]:
    before, after = totals["before"], totals["after"]
    rows = [
        ("plan", made.id),
        ("policy", made.policy["name"]),
        ("steps", f"{totals['demote']} demote, {totals['delete']} delete"),
        ("hot", f"{before['records']} -> {after['records']} of {made.examined} live memories"),
        ("tokens", f"{before['tokens']} -> {after['tokens']}"),
        ("deletes", f"{made.blast_share:.1%} of the scope, expiry aside"),
    ]
    shown: list[RenderableType] = [pairs(rows)]
    if made.blast_share > made.blast_limit:
        limit = f"The policy allows {made.blast_limit:.1%}: forget will ask for --override-blast-radius."
        shown.append(line((limit, "bold")))
    return shown


def forget(
    run: Run,
    plan_id: Annotated[str | None, Argument(metavar="PLAN_ID", show_default=False)] = None,
    last: Annotated[bool, Option("--last", help="The newest plan; asks first.")] = False,
    yes: Yes = False,
    override_blast_radius: Annotated[
        bool, Option("--override-blast-radius", help="Delete more than the policy allows at once.")
    ] = False,
) -> None:
    """Carry a plan out. What changed or was used since is skipped and reported.

    A plan that is named runs at once; --last asks on a terminal and elsewhere needs --yes.

    Examples:
        sfams forget 019e2f1a-a850-7000-b71f-ffe3b475f045
        sfams forget --last --yes
    """
    if (plan_id is None) != last:
        message = "forget: give the id of a plan or --last, one of them"
        raise InvalidInputError(message, field="plan_id")
    with run.memory() as memory:
        if plan_id is None:
            plan_id = _newest(memory)
            if not yes:
                run.confirm(_question(memory.plan(plan_id)))
        receipt = memory.forget(plan_id, override_blast_radius=override_blast_radius)
    done = f"Demoted {receipt.demoted}, deleted {receipt.deleted}"
    until = (
        "" if receipt.undo_until is None else f"; can be undone until {moment(receipt.undo_until)}"
    )
    run.out.result(receipt_json(receipt), line(f"{done}{until}."), *_skipped(receipt))
    if receipt.demoted or receipt.deleted:
        run.out.note(f"Undo: sfams restore {receipt.plan_id}")


def _newest(memory: Memory) -> str:
    plans = memory.plans(1)
    if not plans:
        message = f"no plan in {memory.scope}; make one with `sfams plan`"
        raise NotFoundError(message)
    return plans[0]


def _question(found: ForgettingPlan) -> str:
    counts = f"{found.count(Action.DEMOTE)} demoted, {found.count(Action.DELETE)} deleted"
    return f"Plan {found.id} of {moment(found.created_at)}: {counts}. Carry it out?"


def _skipped(receipt: Receipt) -> list[RenderableType]:
    if not receipt.skipped:
        return []
    return [table(["skipped", "because"], receipt.skipped.items())]


def restore(
    run: Run,
    plan_id: Annotated[str | None, Argument(metavar="PLAN_ID", show_default=False)] = None,
    ids: Annotated[
        list[str] | None, Option("--id", metavar="RECORD", help="Bring a memory back; repeat.")
    ] = None,
) -> None:
    """Undo a plan, bring single memories back, or, with neither, undo the newest plan.

    Examples:
        sfams restore
        sfams restore 019e2f1a-a850-7000-b71f-ffe3b475f045
        sfams restore --id 019e2f1a-a827-7000-a8e3-25946badddbe
    """
    if plan_id is not None and ids:
        message = "restore: give a plan or --id, one of them"
        raise InvalidInputError(message, field="plan_id")
    with run.memory() as memory:
        receipt = memory.restore(ids or plan_id)
    plan_note = "" if receipt.plan_id is None else f" of plan {receipt.plan_id}"
    done = line(f"Restored {receipt.restored}{plan_note}.")
    run.out.result(receipt_json(receipt), done, *_skipped(receipt))
