"""Tables of the documentation, written from `benchmarks/results/quality.json` and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfams.lab.policies import PRODUCT

Part = Mapping[str, Any]
Table = tuple[Sequence[str], list[list[str]]]
"""Head and rows."""

MAIN = ("tokens", 0.25)
"""The budget of the main table."""

PUBLISHED: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "locomo": {
        "oracle, fractional": (0.921, 0, 0),
        "random": (0.257, 0.256, 0.608),
        "FIFO": (0.253, 0.254, 0.979),
        "keep-first": (0.280, 0.250, 0.309),
        "longest": (0.326, 0, 0),
        "LRU": (0.218, 0.227, 0.976),
        "LFU": (0.271, 0.260, 0.406),
        "MemoryBank": (0.217, 0.232, 0.960),
        "ACT-R": (0.213, 0.225, 0.924),
    },
    "beam": {
        "oracle, fractional": (0.990, 0, 0),
        "random": (0.265, 0.265, 0.700),
        "FIFO": (0.077, 0.248, 0.963),
        "keep-first": (0.430, 0.254, 0.418),
        "LRU": (0.110, 0.258, 0.955),
        "LFU": (0.426, 0.265, 0.544),
        "MemoryBank": (0.207, 0.293, 0.909),
        "ACT-R": (0.291, 0.307, 0.825),
    },
}
"""Earlier figures at 25 % of the tokens: survival, by age, by need (0: not given).

They come from prototypes on twice as many conversations (all ten of LoCoMo, all twenty of BEAM), with
document frequencies of the whole text.
"""
SAME = ("oracle, fractional", "random", "FIFO", "keep-first", "longest")
"""Policies defined alike here and there; the others depend on what counts as an access."""


def read_result(path: Path) -> Mapping[str, Any]:
    """Read a result."""
    result: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return result


def line_to_rise_from(part: Part) -> Table:
    """Set every policy beside the others at the main budget."""
    names = {
        "kept": "survival",
        "all kept": "survival_all",
        "by age": "age_balanced",
        "by need": "need_weighted",
        "recall@10": "recall@10",
        "with cold": "recall@10, with cold",
    }
    labelled = _labelled(part)
    head = ["policy", "kept, 95 %", *list(names)[1:], *labelled, "less random, 95 %"]
    rows = []
    for row in _rows(part, *MAIN):
        measures = row["measures"]
        shown = [_value(measures.get(name)) for name in [*list(names.values())[1:]]]
        extra = [_value(measures.get(name)) for name in labelled.values()]
        less = row.get("minus random", {}).get("survival")
        rows.append(
            [_policy(row), _with_interval(measures["survival"]), *shown, *extra, _signed(less)]
        )
    return head, rows


def _labelled(part: Part) -> Mapping[str, str]:
    """Choose the columns that only some data sets have labels for."""
    names = {"noise gone": "noise_removed", "current": "current", "stale": "stale"}
    known = {name for row in part["forgetting"]["rows"] for name in row["measures"]}
    return {title: name for title, name in names.items() if name in known}


def by_budget(part: Part) -> Table:
    """Show survival at every budget, and the bound it is to be seen against."""
    budgets = list(
        dict.fromkeys((r["budget"], r["share"]) for r in part["forgetting"]["rows"] if r["budget"])
    )
    head = ["policy", *(f"{share:.0%} of {kind}" for kind, share in budgets)]
    policies = dict.fromkeys(
        row["policy"] for row in part["forgetting"]["rows"] if row["budget"] is not None
    )
    known = {
        (row["policy"], row["budget"], row["share"]): row for row in part["forgetting"]["rows"]
    }
    rows = [
        [
            _bold(policy),
            *(_value(known[policy, *budget]["measures"]["survival"]) for budget in budgets),
        ]
        for policy in policies
    ]
    return head, rows


def against_published(part: Part) -> Table:
    """Set our figures beside the earlier ones; a difference above 0.03 is marked."""
    head = ["policy", "definition", *(f"{name}, earlier" for name in ("kept", "by age", "by need"))]
    known = {row["policy"]: row["measures"] for row in _rows(part, *MAIN)}
    rows = []
    for policy, figures in PUBLISHED[part["id"]].items():
        names = ("survival", "age_balanced", "need_weighted")
        cells = [
            _against(known[policy].get(name), earlier)
            for name, earlier in zip(names, figures, strict=True)
        ]
        rows.append([policy, "same" if policy in SAME else "other accesses", *cells])
    return head, rows


def _against(measured: Sequence[float] | None, earlier: float) -> str:
    if not earlier or measured is None:
        return ""
    mark = "" if abs(measured[0] - earlier) <= _CLOSE else " (!)"
    return f"{measured[0]:.3f}, {earlier:.3f}{mark}"


_CLOSE = 0.0305  # 0.03 after rounding


def recall(part: Part) -> Table:
    """Set the ways of searching side by side."""
    ways = part["recall"]
    names = dict.fromkeys(name for measures in ways.values() for name in measures)
    rows = [[name, *(_with_interval(ways[way][name]) for way in ways)] for name in names]
    return ["measure", *ways], rows


def controls(part: Part) -> Table:
    """Set survival with evidence dealt at random beside the share of the records that is kept."""
    rows = [
        [
            _policy(row),
            _value(row["measures"]["survival"]),
            _value(row["measures"]["control"]),
            _value(row["measures"]["kept_records"]),
        ]
        for row in _rows(part, *MAIN)
    ]
    return ["policy", "kept", "kept, evidence dealt at random", "records kept"], rows


def costs(result: Mapping[str, Any]) -> Table:
    """Show what an insertion costs (score and plan, on the machine that measured), and a record."""
    measured = next(iter(result["timings"].values()))
    shown = [name for name in ("adaptive", "linear", "ACT-R", "FIFO") if name in measured]
    head = ["data set", "bytes a hot record", *(f"{name}: mean, p95 (µs)" for name in shown)]
    rows = []
    for part in result["datasets"]:
        taken = result["timings"][part["id"]]
        cells = [f"{taken[name]['mean_us']:.0f}, {taken[name]['p95_us']:.0f}" for name in shown]
        rows.append([part["id"], f"{part['forgetting']['bytes_per_record']:,}", *cells])
    return head, rows


def _rows(part: Part, kind: str, share: float) -> Iterator[Mapping[str, Any]]:
    for row in part["forgetting"]["rows"]:
        if row["budget"] is None or (row["budget"], row["share"]) == (kind, share):
            yield row


def _policy(row: Mapping[str, Any]) -> str:
    return _bold(row["policy"])


def _bold(policy: str) -> str:
    return f"**{policy}**" if policy in PRODUCT else policy


def _value(triple: Sequence[float | None] | None) -> str:
    return "" if triple is None or triple[0] is None else f"{triple[0]:.3f}"


def _with_interval(triple: Sequence[float]) -> str:
    return f"{triple[0]:.3f} ({triple[1]:.3f} to {triple[2]:.3f})"


def _signed(triple: Sequence[float] | None) -> str:
    return "" if triple is None else f"{triple[0]:+.3f} ({triple[1]:+.3f} to {triple[2]:+.3f})"


def parts(result: Mapping[str, Any], wanted: Iterable[str] = ()) -> list[Part]:
    """Give the data sets of a result, or some of them by id."""
    chosen = set(wanted)
    return [part for part in result["datasets"] if not chosen or part["id"] in chosen]
