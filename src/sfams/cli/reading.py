"""recall, context, ls, stats and explain: reading without a trace but the counted access."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict, Unpack, cast

from rich.console import RenderableType
from rich.padding import Padding
from typer import Argument, Option, Typer

from sfams.cli.options import RecallOptions, Reveal, StandingOptions, filters, given
from sfams.cli.output import line, moment, pairs, preview, table
from sfams.cli.run import Run, add
from sfams.cli.shapes import (
    context_json,
    explanation_json,
    listed_json,
    policy_record_json,
    recalled_json,
    stats_json,
)
from sfams.core.ghosts import PolicyRecord
from sfams.core.query import Cursor, Hit, Order, RecallResult
from sfams.core.record import MemoryRecord, RecordId, Status, Tier
from sfams.core.text import clip
from sfams.errors import InvalidInputError
from sfams.service.recalling import RecallFields
from sfams.service.results import Explanation, Listing

SHOWN = 600
"""Code points of a hit's text; `--json` gives all of it."""

Query = Annotated[str | None, Argument(help="What to look for.", show_default=False)]
Limit = Annotated[int, Option("-k", help="How many hits at most, 1 to 1000.")]


def register(app: Typer) -> None:
    """Add the commands."""
    add(app, recall, "recall", panel="Reading")
    add(app, context, "context", panel="Reading")
    add(app, ls, "ls", panel="Reading")
    add(app, stats, "stats", panel="Reading")
    add(app, explain, "explain", panel="Reading")


def recall(
    run: Run,
    query: Query = None,
    k: Limit = 10,
    parts: Annotated[bool, Option("--parts", help="Show what each score is made of.")] = False,
    **options: Unpack[RecallOptions],
) -> None:
    """Find what answers a question, best first; without one, what was last accessed.

    Examples:
        sfams recall "when is the demo?"
        sfams recall "打印机在哪里" -k 3 --parts
        sfams recall release --kind deadline --since 2026-07-01 --until 2026-08-01
        sfams recall --order importance --status all --json
    """
    with run.memory() as memory:
        result = memory.recall(query, **_recall_fields(options, k))
    run.out.warn(result.warnings)
    run.out.result(recalled_json(query, result), *_hits(result, parts=parts))
    if not result.hits:
        run.out.note("Nothing found.")
    for each in result.missed:
        by = "by hand" if each.plan_id is None else f"by plan {each.plan_id}"
        run.out.note(f"Forgotten on {moment(each.at)} {by}: sfams restore --id {each.id}")


def _recall_fields(options: RecallOptions, k: int) -> RecallFields:
    return cast("RecallFields", {**given(options), "k": k})


def _hits(result: RecallResult, *, parts: bool) -> list[RenderableType]:
    shown: list[RenderableType] = []
    for hit in result:
        shown.append(_head(hit))
        if parts:
            shown.append(Padding(line((_parts(hit.parts), "dim")), (0, 0, 0, 6)))
        shown.append(Padding(line(clip(hit.record.content.strip(), SHOWN)), (0, 0, 0, 6)))
    return shown


def _head(hit: Hit) -> RenderableType:
    record = hit.record
    who = f"  {record.source.who}" if record.source.who else ""
    about = f"  {record.kind}  {moment(record.created_at)}{who}{_marks(record)}  "
    return line((f"{hit.score:.2f}", "bold"), about, (record.id, "dim"))


def _parts(parts: Mapping[str, float]) -> str:
    return "  ".join(f"{name} {value:+.3f}" for name, value in parts.items())


def _marks(record: MemoryRecord) -> str:
    """Say what is out of the ordinary about a record."""
    marks = [
        record.status.value if record.status is not Status.LIVE else "",
        record.tier.value if record.tier is Tier.COLD else "",
        "pinned" if record.pinned else "",
        "held" if record.held else "",
    ]
    named = " ".join(filter(None, marks))
    return f"  [{named}]" if named else ""


def context(
    run: Run,
    query: Query = None,
    tokens: Annotated[int, Option("--tokens", help="The most tokens the text may cost.")] = 1000,
    k: Annotated[int, Option("-k", help="How many memories to choose from.")] = 50,
    **options: Unpack[RecallOptions],
) -> None:
    """Recall into one block for a prompt, under a token budget; nothing else on standard output.

    Examples:
        sfams context "when is the demo?" --tokens 800
        sfams context "what does Alice like?" --entity person:Alice --json
    """
    with run.memory() as memory:
        block = memory.context(query, tokens=tokens, **_recall_fields(options, k))
    if run.out.as_json:
        run.out.result(context_json(block))
    elif block.text:
        run.out.write(block.text + "\n")
    if block.omitted or not block.ids:
        fit = f"{len(block.ids)} memories in {block.tokens} tokens, {block.omitted} did not fit."
        run.out.note(fit if block.omitted else "Nothing found.")


class ListOptions(StandingOptions, total=False):
    """How to list."""

    order: Annotated[Order | None, Option("--order", help="Sort by (default created_at).")]
    ascending: Annotated[bool, Option("--ascending", help="Lowest or oldest first.")]


def ls(
    run: Run,
    limit: Annotated[int, Option("--limit", help="Memories on a page, 1 to 1000.")] = 50,
    after: Annotated[
        str | None, Option("--after", metavar="TOKEN", help="Go on where a page ended.")
    ] = None,
    reveal: Reveal = False,
    **options: Unpack[ListOptions],
) -> None:
    """List memories page by page, newest first; counts no access. Sensitive texts are masked.

    Examples:
        sfams ls --kind fact --tag apollo
        sfams ls --limit 200 --after eyJ2IjoxLjB9
        sfams ls --order importance --status all --expired --json
        sfams ls --tag bank --reveal
    """
    order = options.get("order")
    ascending = options.get("ascending", False)
    cursor = None
    if after is not None:
        cursor, order, ascending = _read_token(after, order, ascending=ascending)
    sort = order or Order.CREATED
    with run.memory() as memory:
        page = memory.list(
            limit=limit, order=sort, descending=not ascending, after=cursor, **filters(options)
        )
    token = None if page.next is None else _write_token(page.next, sort, ascending=ascending)
    document = {"records": [listed_json(record, reveal=reveal) for record in page], "next": token}
    run.out.result(document, *_page(page, wide=run.out.wide, reveal=reveal))
    if not page:
        run.out.note("Nothing here.")
    if token is not None:
        run.out.note(f"More: add --after {token}")


def _page(page: Listing, *, wide: bool, reveal: bool) -> list[RenderableType]:
    if not page:
        return []
    texts = [(record, preview(record, reveal=reveal)) for record in page]
    if wide:
        heads = ["id", "created", "kind", "imp", "", "text"]
        return [table(heads, ([r.id, *_short(r), _marks(r), text] for r, text in texts))]
    rows = ([*_short(r), f"{text}\n{r.id}{_marks(r)}"] for r, text in texts)
    return [table(["created", "kind", "imp", "text"], rows)]


def _short(record: MemoryRecord) -> list[str]:
    return [moment(record.created_at), record.kind, f"{record.importance:.2f}"]


def _write_token(cursor: Cursor, order: Order, *, ascending: bool) -> str:
    """Pack where a listing goes on, with its order: a token fits no other order."""
    packed = json.dumps([cursor.value, cursor.id, order.value, ascending], separators=(",", ":"))
    return urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def _read_token(token: str, order: Order | None, *, ascending: bool) -> tuple[Cursor, Order, bool]:
    try:
        packed = urlsafe_b64decode(token.encode("ascii") + b"=" * (-len(token) % 4))
        value, record_id, name, upwards = json.loads(packed)
        cursor, own = Cursor(float(value), RecordId(str(record_id))), Order(name)
    except (ValueError, TypeError, RecursionError) as error:
        message = "after: not a token of `sfams ls`"
        raise InvalidInputError(message, field="after") from error
    if (order is not None and order is not own) or (ascending and not upwards):
        message = f"after: the token belongs to a listing by {own}; the order must stay"
        raise InvalidInputError(message, field="after")
    return cursor, own, bool(upwards)


def stats(run: Run) -> None:
    """Measure the scope: memories by status, tier and kind, tokens, vectors, and what policies forgot.

    Examples:
        sfams stats
        sfams stats --scope acme/alice --json
    """
    settings = run.settings()
    with run.memory() as memory:
        measured = memory.stats()
        policies = memory.forgetting_stats()
        where = {"db": str(settings.db), "scope": str(memory.scope)}
    rows = [
        *where.items(),
        ("hot", f"{measured.hot} ({measured.hot_tokens} tokens)"),
        ("cold", measured.cold),
        *((status, count) for status, count in measured.records.items()),
        ("vectors", f"{measured.vectors} ({measured.pending} waiting)"),
        *((f"kind {kind}", count) for kind, count in measured.kinds.items()),
    ]
    document = {**where, **stats_json(measured), "forgetting": [*map(policy_record_json, policies)]}
    shown: list[RenderableType] = [pairs(rows)]
    if policies:
        shown.append(
            table(["policy", "forgotten", "undone", "missed", "marked", "false"], _judged(policies))
        )
    run.out.result(document, *shown)


def _judged(policies: Sequence[PolicyRecord]) -> list[list[str]]:
    return [
        [
            each.policy,
            ", ".join(f"{count} {action}" for action, count in each.forgotten.items()),
            f"{each.undo_rate:.1%}",
            f"{each.regret_rate:.1%}",
            f"{each.right} right, {each.wrong} wrong",
            _rate(each),
        ]
        for each in policies
    ]


def _rate(each: PolicyRecord) -> str:
    if each.false_rate is None or each.interval is None:
        return "-"
    low, high = each.interval
    return f"{each.false_rate:.1%} ({low:.1%} to {high:.1%})"


class ExplainOptions(TypedDict, total=False):
    """What to compare with."""

    query: Annotated[
        str | None, Option("--query", help="Also tell where it ranks for this question.")
    ]


def explain(
    run: Run,
    subject: Annotated[str, Argument(metavar="ID|TEXT", help="A record id, or a text.")],
    k: Annotated[int, Option("-k", help="How many hits the question would return.")] = 10,
    **options: Unpack[ExplainOptions],
) -> None:
    """Tell what became of a memory, and why it is, or is not, found.

    Examples:
        sfams explain 019e2f1a-a827-7000-a8e3-25946badddbe
        sfams explain "The demo moves to 1 November." --query "when is the demo?"
    """
    with run.memory() as memory:
        answer = memory.explain(subject, query=options.get("query"), k=k)
    run.out.result(explanation_json(answer), *_answer(answer))


def _answer(answer: Explanation) -> list[RenderableType]:
    facts = [
        ("id", answer.record_id),
        ("protected", answer.protected),
        ("score", None if answer.score is None else f"{answer.score:.3f}"),
        ("parts", _parts(answer.parts)),
        ("undo", f"sfams restore {_undo(answer)}" if answer.undoable else ""),
    ]
    shown: list[RenderableType] = [line((answer.sentence, "bold"))]
    shown.append(pairs((name, value) for name, value in facts if value))
    if answer.events:
        rows = [
            (moment(event.at), event.type.value, event.actor.value, event.plan_id or "")
            for event in answer.events
        ]
        shown.append(table(["at", "event", "by", "plan"], rows))
    return shown


def _undo(answer: Explanation) -> str:
    return answer.plan_id or f"--id {answer.record_id}"
