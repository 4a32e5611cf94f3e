"""policy simulate: what another policy would have kept and lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from rich.console import RenderableType
from typer import Argument, Option

from sfams.cli.options import Reveal
from sfams.cli.output import line, moment, pairs, preview, table
from sfams.cli.policy_files import read
from sfams.cli.progress import bar
from sfams.cli.run import Run
from sfams.core.moments import format_moment
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.replay import Loss, Simulation, Standing
from sfams.errors import NotFoundError
from sfams.service.memory import Memory

_ROWS = 12
"""Standings shown to people: the first, the last, and so many as fit between."""


def simulate(
    run: Run,
    named: Annotated[
        str | None,
        Argument(metavar="POLICY", help="A preset or TOML file; else the one in force."),
    ] = None,
    every: Annotated[
        str | None,
        Option("--every", metavar="7d", help="How often it runs; else as its triggers say."),
    ] = None,
    limit: Annotated[int, Option("--limit", min=0, help="Losses to show; 0 for all.")] = 20,
    reveal: Reveal = False,
) -> None:
    """Replay this scope's log under a policy: what it would have kept and lost. Changes nothing.

    Of what would have been lost it also says what was asked for later.

    Examples:
        sfams policy simulate fast-campaign
        sfams policy simulate policy.toml --every 7d --limit 0
        sfams policy simulate --json
    """
    with run.memory() as memory:
        policy = None if named is None else read(named)
        with bar(run.out, "Replaying") as shown:
            found = memory.simulate(policy, every=every, progress=shown.reach)
        losses = sorted(found.losses, key=lambda loss: (not loss.wanted, loss.at, loss.id))
        listed = losses if limit == 0 or run.out.as_json else losses[:limit]
        texts = _texts(memory, listed, reveal=reveal)
    run.out.result(
        _json(found, losses, texts), *_shown(found, _losses(listed, texts, wide=run.out.wide))
    )
    if len(listed) < len(losses):
        run.out.note(f"{len(losses) - len(listed)} more losses; --limit 0 shows all.")


def _texts(memory: Memory, losses: Sequence[Loss], *, reveal: bool) -> dict[RecordId, str]:
    found: dict[RecordId, str] = {}
    for loss in losses:
        try:
            record: MemoryRecord = memory.get(loss.id)
        except NotFoundError:  # erased meanwhile
            continue
        found[loss.id] = preview(record, reveal=reveal)
    return found


def _shown(found: Simulation, losses: Sequence[RenderableType]) -> list[RenderableType]:
    heads = ["at", "hot", "cold", "summarized", "lost", "hot tokens", "lost tokens"]
    standings = table(heads, map(_row, _some(found.standings)))
    last, regretted = found.standings[-1], found.regretted
    rows = [
        ("policy", f"{found.policy['name']}, run {len(found.standings)} times"),
        ("kept", f"{last.kept} of {found.records} memories, {last.hot} of them hot"),
        ("lost", f"{len(found.losses)}, {len(regretted)} of them wanted later"),
        ("cold", f"{found.cold_wanted} wanted while they were cold"),
    ]
    if found.waiting:
        rows.append(
            ("limits", f"{found.waiting} runs beyond the policy's limits, left to a person")
        )
    if found.unknown:
        rows.append(("unknown", f"{found.unknown} erased or purged, and not replayed"))
    return [standings, *losses, pairs(rows), line("Nothing was changed.")]


def _some(standings: Sequence[Standing]) -> list[Standing]:
    """Take the last, and others at equal distances before it."""
    step = -(-len(standings) // _ROWS)
    return [*reversed(standings[::-1][::step])]


def _row(each: Standing) -> list[str]:
    numbers = (each.hot, each.cold, each.summarized, each.lost, each.hot_tokens, each.lost_tokens)
    return [moment(each.at)[:16], *map(str, numbers)]


def _losses(
    losses: Sequence[Loss], texts: Mapping[RecordId, str], *, wide: bool
) -> list[RenderableType]:
    """Lay out losses; on a narrow terminal what is long stands below what is short."""
    if not losses:
        return []
    rows = []
    for loss in losses:
        text = texts.get(loss.id, "(gone)")
        facts = [loss.reason, f"{loss.score:.2f}", str(loss.tokens), loss.kind, _wanted(loss)]
        if wide:
            rows.append([moment(loss.at)[:10], *facts, loss.id, text])
        else:
            why = f"{loss.reason}, score {loss.score:.2f}, {loss.kind}"
            rows.append([moment(loss.at)[:10], f"{text}\n{why}\n{_wanted(loss)}\n{loss.id}"])
    if wide:
        heads = ["lost", "because", "score", "tokens", "kind", "wanted later", "id", "text"]
        return [table(heads, rows)]
    return [table(["lost", "text"], rows)]


def _wanted(loss: Loss) -> str:
    if loss.wanted_at is None:
        return "not wanted since"
    counts = ", ".join(f"{how} {count}" for how, count in loss.wanted.items())
    return f"{counts}, first on {moment(loss.wanted_at)[:10]}"


def _json(
    found: Simulation, losses: Sequence[Loss], texts: Mapping[RecordId, str]
) -> dict[str, object]:
    return {
        "scope": list(found.scope),
        "policy": dict(found.policy),
        "every": found.every.total_seconds(),
        "records": found.records,
        "unknown": found.unknown,
        "waiting": found.waiting,
        "cold_wanted": found.cold_wanted,
        "regretted": len(found.regretted),
        "standings": [_standing_json(each) for each in found.standings],
        "losses": [_loss_json(each, texts.get(each.id)) for each in losses],
    }


def _standing_json(each: Standing) -> dict[str, object]:
    return {
        "at": format_moment(each.at),
        "kept": each.kept,
        "hot": each.hot,
        "cold": each.cold,
        "summarized": each.summarized,
        "lost": each.lost,
        "tokens": {
            "hot": each.hot_tokens,
            "cold": each.cold_tokens,
            "summarized": each.summarized_tokens,
            "lost": each.lost_tokens,
        },
    }


def _loss_json(loss: Loss, text: str | None) -> dict[str, object]:
    return {
        "record_id": loss.id,
        "at": format_moment(loss.at),
        "reason": loss.reason.value,
        "score": loss.score,
        "kind": loss.kind,
        "tokens": loss.tokens,
        "wanted": {how.value: count for how, count in loss.wanted.items()},
        "wanted_at": None if loss.wanted_at is None else format_moment(loss.wanted_at),
        "preview": text,
    }
