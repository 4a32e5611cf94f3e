"""Measure what is kept and what is found on every labelled data set at hand.

    python benchmarks/quality/measure_quality.py                 # writes benchmarks/results/quality.json
    python benchmarks/quality/measure_quality.py --only locomo --out /tmp/quality.json
    python benchmarks/quality/measure_quality.py --hash          # and prints the fingerprint alone

Data sets are looked for in the folder that --datasets or SFAMS_DATASETS names, else beside the
repository (../shared/datasets); what is not there is skipped and said. Vectors are kept in the user's
cache folder (SFAMS_CACHE_DIR), so that a second run takes minutes. The fingerprint covers everything
but times: the same in every run on the same texts, model and code.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sfams.lab.datasets import read_dataset
from sfams.lab.datasets.values import Dataset
from sfams.lab.forgetting_bench import Plan, run_forgetting
from sfams.lab.quality_report import (
    described,
    document,
    forgetting_json,
    recall_json,
    timings_json,
)
from sfams.lab.recall_bench import run_recall
from sfams.lab.vector_cache import cached_embedder, warm
from sfams.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "quality.json"
OWN = ROOT / "benchmarks" / "quality" / "texts"


class Source(NamedTuple):
    """Where a data set is (below the data folder), its form, what is measured, by which model."""

    place: str | Path
    form: str
    plan: Plan = Plan()
    embedder: str | None = None
    """None: the one that is asked for."""


SOURCES = {
    "own": Source(OWN, "jsonl"),
    "locomo": Source("locomo/locomo-dev.json", "locomo"),
    "beam": Source("beam-100k", "beam"),
    # In tokens alone, for by records it would only show who writes longer; and without a model, for
    # the assistant's long messages take as long to embed as everything else together.
    "beam-mixed": Source("beam-100k", "beam-mixed", Plan(kinds=("tokens",)), "hashing"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write, and say where."""
    options = _parse(arguments)
    started = time.perf_counter()
    parts, timings = [], {}
    settings = load_settings(embedder=options.embedder)
    for name, source in _found(options):
        dataset = read_dataset(options.datasets / source.place, source.form)
        _say(f"{name}: {dataset.title}, {len(dataset.conversations)} conversations")
        begun = time.perf_counter()
        model = source.embedder or settings.embedder
        with cached_embedder(model, settings.cache_folder) as embedder:
            part, costs = _measured(dataset, source.plan, embedder)
            parts.append({"id": name, "embedder": embedder.model_id, **part})
        timings[name] = {**costs, "seconds": round(time.perf_counter() - begun, 1)}
        _say(f"{name}: {timings[name]['seconds']} s")
    if not parts:
        _say("no data set found; name the folder that holds them with --datasets")
        return 1
    timings["seconds"] = round(time.perf_counter() - started, 1)
    made = document(parts, timings)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(made, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    options.out.write_text(_broken(text) + "\n", "utf-8")
    _say(f"written: {options.out}")
    sys.stdout.write(f"{made['hash']}\n" if options.hash else f"fingerprint {made['hash']}\n")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure what is kept and what is found.")
    beside = ROOT.parent / "shared" / "datasets"
    named = os.environ.get("SFAMS_DATASETS") or beside  # of benchmarks and tests, not of sfams
    parser.add_argument("--datasets", type=Path, default=Path(named), help="folder of data sets")
    parser.add_argument("--out", type=Path, default=RESULT, help="where to write the JSON")
    parser.add_argument("--only", action="append", choices=SOURCES, help="repeatable")
    parser.add_argument("--embedder", default=None, help="bundled (default) or hashing")
    parser.add_argument("--hash", action="store_true", help="print the fingerprint alone")
    return parser.parse_args(arguments)


def _found(options: argparse.Namespace) -> Iterator[tuple[str, Source]]:
    for name, source in SOURCES.items():
        if options.only and name not in options.only:
            continue
        if not (options.datasets / source.place).exists():  # an absolute place stays as it is
            _say(f"{name}: skipped, it is not there")
            continue
        yield name, source


def _measured(dataset: Dataset, plan: Plan, embedder: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    warm(dataset, embedder)
    recalled = run_recall(dataset, embedder)
    result = run_forgetting(dataset, embedder, plan)
    part = {
        **described(dataset),
        "recall": recall_json(recalled),
        "forgetting": forgetting_json(result),
    }
    return part, timings_json(result)


def _broken(text: str) -> str:
    """Begin a line with each row, so that two results can be compared by eye."""
    for start in ('{"policy"', '{"id"', '"recall"', '"timings"', '"hash"'):
        text = text.replace(start, "\n" + start)
    return text


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
