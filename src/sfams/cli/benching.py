"""bench: measure forgetting and recall on labelled conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack, cast

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text
from typer import Argument, Option, Typer

from sfams.cli.output import Output, line, table
from sfams.cli.run import Run, add
from sfams.errors import InvalidInputError

DatasetPath = Annotated[Path, Argument(metavar="DATASET", help="A file or folder of one data set.")]


class BenchOptions(TypedDict, total=False):
    """Options of both benches."""

    form: Annotated[
        str | None,
        Option(
            "--format",
            metavar="NAME",
            help="Form of the data, where it cannot be told: locomo, locomo-original, beam,"
            " beam-mixed, longmemeval, memdaily, jsonl.",
        ),
    ]
    shuffle_labels: Annotated[
        bool,
        Option(
            "--shuffle-labels",
            help="Deal the evidence to other units at random first: what is kept must then fall to"
            " the share of the records that are kept.",
        ),
    ]
    out_file: Annotated[
        Path | None, Option("--out", metavar="FILE", help="Write the JSON document here too.")
    ]


class ForgettingOptions(BenchOptions, total=False):
    """Options of the forgetting bench."""

    budget: Annotated[
        list[str] | None,
        Option(
            "--budget",
            metavar="SHARE",
            help="Share of the conversation that may stay hot, as 25% or 0.25; repeatable.",
        ),
    ]
    kind: Annotated[
        list[str] | None,
        Option("--in", metavar="UNIT", help="Budgets in tokens or records; repeatable."),
    ]
    policy: Annotated[
        list[str] | None,
        Option("--policy", metavar="NAME", help="Only this policy; repeatable."),
    ]
    seed: Annotated[
        list[int] | None,
        Option("--seed", metavar="N", help="Seed of what goes by chance; repeatable."),
    ]


def register(app: Typer) -> None:
    """Add the group of commands."""
    group = Typer(no_args_is_help=True, help="Measure on conversations with known evidence.")
    add(group, forgetting, "forgetting", panel="Benches")
    add(group, recall, "recall", panel="Benches")
    app.add_typer(group, name="bench", rich_help_panel="The file")


def forgetting(run: Run, dataset: DatasetPath, **options: Unpack[ForgettingOptions]) -> None:
    """Replay conversations under a budget; score which evidence was kept and found.

    Examples:
        sfams bench forgetting history.jsonl
        sfams bench forgetting locomo10.json --budget 25% --in tokens --policy adaptive --policy LRU
    """
    from sfams.lab.forgetting_bench import KINDS, SEEDS, SHARES, Plan, run_forgetting
    from sfams.lab.policies import POLICIES
    from sfams.lab.quality_report import described, document, forgetting_json, timings_json

    plan = Plan(
        policies=options.get("policy") or tuple(POLICIES),
        kinds=options.get("kind") or KINDS,
        shares=[*map(_share, options.get("budget") or ())] or SHARES,
        seeds=options.get("seed") or SEEDS,
    )
    with _opened(run, dataset, options) as (data, embedder):
        with _bar(run.out, "Replaying", plan.steps(data)) as advance:
            result = run_forgetting(data, embedder, plan, advance)
        part = {
            "embedder": embedder.model_id,
            **described(data),
            "forgetting": forgetting_json(result),
        }
        made = document([part], timings_json(result))
    _give(run, made, options, _forgetting_page(part))


def recall(run: Run, dataset: DatasetPath, **options: Unpack[BenchOptions]) -> None:
    """Ask the whole memory every question; score which evidence was found, and at which place.

    Examples:
        sfams bench recall history.jsonl
        sfams bench recall beam-100k --format beam-mixed --out recall.json
    """
    from sfams.lab.quality_report import described, document, recall_json
    from sfams.lab.recall_bench import run_recall

    with _opened(run, dataset, options) as (data, embedder):
        with _bar(run.out, "Asking", len(data.conversations)) as advance:
            result = run_recall(data, embedder, advance)
        part = {"embedder": embedder.model_id, **described(data), "recall": recall_json(result)}
        made = document([part], {})
    _give(run, made, options, _recall_page(part))


@contextmanager
def _opened(run: Run, path: Path, options: BenchOptions) -> Iterator[tuple[Any, Any]]:
    """Read the data and embed what it tells, once per text and model."""
    from sfams.lab.datasets import read_dataset
    from sfams.lab.datasets.values import shuffled
    from sfams.lab.vector_cache import cached_embedder, warm

    for name in ("db", "scope"):
        if run.options.get(name):
            message = f"{name}: a bench opens no memory; it takes the path of a data set"
            raise InvalidInputError(message, field=name)
    settings = run.settings()
    data = read_dataset(path, options.get("form"))
    if options.get("shuffle_labels"):
        talks = tuple(shuffled(talk, seed) for seed, talk in enumerate(data))
        data = replace(data, conversations=talks, track="shuffled labels")
    units = sum(len(talk.units) for talk in data)
    with cached_embedder(settings.embedder, settings.cache_folder) as embedder:
        with _bar(run.out, "Embedding", units) as advance:
            warm(data, embedder, advance)
        yield data, embedder


@contextmanager
def _bar(output: Output, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how far it is on stderr, if somebody watches."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(
        *columns, console=console, transient=True, disable=not output.animated
    ) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.advance(task, done)


def _share(text: str) -> float:
    """Read 25% or 0.25."""
    number = text.strip().removesuffix("%")
    try:
        value = float(number)
    except ValueError as error:
        message = f"budget: {text[:40]!r} is not a share such as 25% or 0.25"
        raise InvalidInputError(message, field="budget") from error
    return value / 100 if text.strip().endswith("%") else value


def _give(
    run: Run, made: Mapping[str, object], options: BenchOptions, page: Iterator[RenderableType]
) -> None:
    target = options.get("out_file")
    if target is not None:
        text = json.dumps(made, ensure_ascii=False, allow_nan=False, indent=1)
        try:
            target.write_text(text + "\n", "utf-8")
        except OSError as error:
            message = f"out: {target} cannot be written: {error}"
            raise InvalidInputError(message, field="out") from error
        run.out.note(f"Written to {target}.")
    run.out.result(made, *page, line(f"Fingerprint {str(made['hash'])[:16]}"))


# ── Pages ────────────────────────────────────────────────────────────────────────────────────────


def _head(part: Mapping[str, Any]) -> Text:
    track = f", {part['track']}" if part["track"] else ""
    return line(
        f"{part['name']}{track}: {part['conversations']} conversations, {part['units']:,} units,"
        f" {part['tokens']:,} tokens, {part['questions']} questions with evidence"
    )


_SHOWN = {
    "kept": "survival",
    "all kept": "survival_all",
    "by age": "age_balanced",
    "by need": "need_weighted",
    "recall@10": "recall@10",
    "with cold": "recall@10, with cold",
    "noise gone": "noise_removed",
}


def _forgetting_page(part: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield _head(part)
    rows = part["forgetting"]["rows"]
    budgets = dict.fromkeys((row["budget"], row["share"]) for row in rows if row["budget"])
    free = [row for row in rows if not row["budget"]]
    for kind, share in budgets or {(None, 1.0): None}:
        chosen = [row for row in rows if (row["budget"], row["share"]) == (kind, share)]
        title = f"{share:.0%} of the {kind} may stay hot" if kind else "No budget"
        shown = [*(free if kind else ()), *chosen]
        yield table(
            ["", *_SHOWN, "95 %"], [_forgetting_row(row) for row in shown], title=f"\n{title}"
        )


def _forgetting_row(row: Mapping[str, Any]) -> list[str]:
    measures = cast("Mapping[str, Sequence[float | None]]", row["measures"])
    cells = [_cell(measures[name][0]) if name in measures else "" for name in _SHOWN.values()]
    low, high = measures["survival"][1:]
    return [row["policy"], *cells, f"{_cell(low)} to {_cell(high)}"]


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _recall_page(part: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield _head(part)
    ways = part["recall"]
    names = list(dict.fromkeys(name for each in ways.values() for name in each))
    rows = [[name, *(_cell(ways[way][name][0]) for way in ways)] for name in names]
    yield table(["", *ways], rows)
