"""What the benchmarks measured, read from their results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generating.markdown import code, table
from sfams.lab import quality_tables

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"

RESULT = RESULTS / "quality.json"
"""Written by benchmarks/quality/measure_quality.py; every number of these tables is in it."""


def measured(make: Callable[[quality_tables.Part], quality_tables.Table], *wanted: str) -> str:
    """Write one table for each data set of the result (or for those that are wanted)."""
    found = quality_tables.parts(quality_tables.read_result(RESULT), wanted)
    return "\n".join(f"**{_title(part)}**\n\n{table(*make(part))}" for part in found)


def _title(part: quality_tables.Part) -> str:
    track = f", {part['track']}" if part["track"] else ""
    model = "" if "hashing" not in part["embedder"] else ", without a model"
    return f"{_NAMES.get(part['id'], part['name'])}{track}{model}"


_NAMES = {"own": "Own texts"}


def data_sets() -> str:
    """List what was measured on."""
    found = quality_tables.parts(quality_tables.read_result(RESULT))
    names = ("conversations", "units", "tokens", "questions")
    rows = [(_title(part), *(f"{part[name]:,}" for name in names)) for part in found]
    return table(["data set", *names], rows)


def summaries() -> str:
    """Tell how often summaries were refused."""
    rows = [
        (
            row["data"],
            row["summarizer"],
            row["groups"],
            f"{row['rejection_rate']:.0%}",
            "" if row["tokens"] is None else f"{row['tokens']:.0%}",
            ", ".join(f"{kind} {count}" for kind, count in row["groups_that_lose"].items()),
        )
        for row in json.loads(SUMMARIES.read_text("utf-8"))["rows"]
    ]
    heads = ["data", "summarizer", "groups", "refused", "tokens of the sources", "groups that lose"]
    return table(heads, rows)


SUMMARIES = RESULTS / "summaries.json"
"""Written by benchmarks/quality/measure_summaries.py."""

SPEED, PEERS = RESULTS / "speed.json", RESULTS / "peers.json"
"""Written by benchmarks/speed/bench_speed.py and bench_peers.py."""


def speed_alone() -> str:
    """Write what the speed benchmark measured."""
    found = json.loads(SPEED.read_text("utf-8"))
    one = [
        (
            f"{each['records']:,}",
            f"{each['remember']['p50_ms']} / {each['remember']['p99_ms']}",
            f"{each['batch_per_s']:,}",
            f"{each['recall_warm']['p50_ms']} / {each['recall_warm']['p99_ms']}",
            f"{each['recall_cold_start_ms']:,.0f}",
            f"{each['file_mb']}",
            f"{each['process_peak_mb']:.0f}",
        )
        for each in found["one_scope"]
    ]
    head = [
        "records in a scope",
        "remember, p50 / p99 ms",
        "in batches, a second",
        "recall, p50 / p99 ms",
        "first recall, ms",
        "file, MB",
        "process, MB",
    ]
    plans = [
        (
            f"{each['records']:,}",
            f"{each['steps']:,}",
            f"{each['plan_s']}",
            f"{each['save_s']}",
            f"{each['plan_mb']:.0f}",
        )
        for each in found["plan"]
    ]
    many, applying = found["many_scopes"], found["applying"]
    rows = [
        (
            f"recall in one of {many['scopes']:,} scopes of {many['records_each']}, p50 / p99 ms",
            f"{many['recall_warm_scope']['p50_ms']} / {many['recall_warm_scope']['p99_ms']}",
        ),
        *_triggered_row(found),
        (
            f"others wait while {applying['steps']:,} steps are applied, p50 / p99 ms",
            f"{applying['other_write']['p50_ms']} / {applying['other_write']['p99_ms']}",
        ),
    ]
    return "\n".join(
        (
            _machine(found),
            table(head, one),
            table(["", "measured"], rows),
            table(["plan over", "steps", "plan, s", "save, s", "memory added, MB"], plans),
            *_by_model(found["plan"][-1]),
        )
    )


def _triggered_row(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Tell what triggers cost the caller, where the result has it."""
    taken = found.get("triggered")
    if taken is None:
        return []
    name = f"one remember with triggers against without, p50 ms ({taken['runs']} runs), and all of them"
    value = f"{taken['on']['p50_ms']} / {taken['off']['p50_ms']}, {taken['on_to_off']} times"
    return [(name, value)]


def _by_model(plan: dict[str, Any]) -> list[str]:
    """Set the models side by side, where the result has them."""
    rows = [
        (code(name), each["plan_s"], each["columns_s"], each["decide_s"], f"{each['plan_mb']:.0f}")
        for name, each in plan.get("models", {}).items()
    ]
    head = [
        f"plan over {plan['records']:,} by",
        "all, s",
        "reading, s",
        "deciding, s",
        "memory, MB",
    ]
    return [table(head, rows)] if rows else []


def speed_peers() -> str:
    """Write what the comparison measured, size by size."""
    found = json.loads(PEERS.read_text("utf-8"))
    parts = [_machine(found)]
    for each in found["one_scope"]:
        names = list(each["systems"])
        size = each["systems"][names[0]]["records"]
        labels = list(next(iter(each["ratios"].values())))
        rows = [
            (name, *(f"{each['ratios'][name][label]:g}" for label in labels), _exact(each, name))
            for name in each["ratios"]
        ]
        ours = ("SF-AMS", *("1" for _ in labels), _exact(each, "SF-AMS"))
        parts.append(f"**{size:,} records in one scope**\n")
        parts.append(table(["", *labels, "exact"], [ours, *rows]))
    many = found["many_scopes"]
    rows = [
        (name, f"{each['load_per_s']:,}", f"{each['search']['p50_ms']}", f"{each['disk_mb']}")
        for name, each in many.items()
    ]
    scopes = next(iter(many.values()))
    parts.append(f"**{scopes['scopes']:,} scopes of {scopes['records_each']}**\n")
    parts.append(table(["", "taken in, a second", "search p50, ms", "disk, MB"], rows))
    return "\n".join(parts)


def _exact(each: dict[str, Any], name: str) -> str:
    return "(by words too)" if "hybrid" in name else f"{each['systems'][name]['exact']:g}"


def _machine(found: dict[str, Any]) -> str:
    machine = found["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in machine["packages"].items())
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load_at_start']} at the start;"
        f" Python {machine['python']}, {packages}.\n"
    )
