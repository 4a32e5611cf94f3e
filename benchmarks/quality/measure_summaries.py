"""Measure how often a summary is refused because it loses something, on 50 real groups of memories.

    python benchmarks/quality/measure_summaries.py            # writes benchmarks/results/summaries.json
    python benchmarks/quality/measure_summaries.py --show 2   # and prints groups with their summaries

Groups are twelve turns in a row of LoCoMo, eight user messages of BEAM, and a day's user messages of
MemoryBank in English and Chinese, drawn evenly over each data set. Summarizers are the rules and, for
comparison, "lead", which takes the first sentence of each source until the target is reached. Data sets
are looked for in the folder that --datasets or SFAMS_DATASETS names, else beside the repository; what is
not there is skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sfams.core.compressing import sentences
from sfams.core.extracting import completed, extract
from sfams.core.fidelity import missing
from sfams.core.summarizing import SourceText, SummaryRequest, SummaryText
from sfams.core.text import count_tokens, language_of
from sfams.lab.datasets import read_dataset

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "summaries.json"
SHARE = 0.4
LEAST = 3

Group = list[SourceText]
Summarizer = Callable[[SummaryRequest], SummaryText | None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = _parse(arguments)
    groups = {
        name: _evenly(list(found), wanted)
        for name, read, place, wanted in SOURCES
        if (options.datasets / place).exists()
        for found in [read(options.datasets / place)]
    }
    if not groups:
        print("no data set found; name the folder that holds them with --datasets", file=sys.stderr)
        return 1
    everything = [group for each in groups.values() for group in each]
    rows = [
        {"data": name, **_measured(summarize, each), "summarizer": who}
        for name, each in {**groups, "all": everything}.items()
        for who, summarize in SUMMARIZERS.items()
    ]
    _print(rows)
    for name, each in groups.items():
        for group in each[: options.show]:
            _show(name, group)
    document = {"share": SHARE, "rows": rows}
    options.out.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    print(f"rules: {_milliseconds(everything)} ms a group; written: {options.out}")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure how many summaries are refused.")
    named = os.environ.get("SFAMS_DATASETS") or ROOT.parent / "shared" / "datasets"
    parser.add_argument("--datasets", type=Path, default=Path(named), help="folder of data sets")
    parser.add_argument("--out", type=Path, default=RESULT, help="where to write the JSON")
    parser.add_argument("--show", type=int, default=0, help="groups of each data set to print")
    return parser.parse_args(arguments)


# ── Groups ────────────────────────────────────────────────────────────────────────────────────────


def _locomo(path: Path) -> Iterator[Group]:
    return _windows(path, "locomo", 12)


def _beam(path: Path) -> Iterator[Group]:
    return _windows(path, "beam", 8)


def _windows(path: Path, form: str, size: int) -> Iterator[Group]:
    for conversation in read_dataset(path, form).conversations:
        units = conversation.units
        for start in range(0, len(units) - size + 1, size):
            yield [SourceText(each.text, each.at, each.who) for each in units[start : start + size]]


def _memorybank(path: Path) -> Iterator[Group]:
    for person in json.loads(path.read_text("utf-8")).values():
        for day, turns in person["history"].items():
            start = datetime.fromisoformat(day).replace(tzinfo=UTC)
            told = [
                SourceText(turn["query"], start + timedelta(minutes=n), person["name"])
                for n, turn in enumerate(turns)
            ]
            if len(told) >= LEAST:
                yield told


SOURCES: tuple[tuple[str, Callable[[Path], Iterator[Group]], str, int], ...] = (
    ("LoCoMo", _locomo, "locomo/locomo-dev.json", 16),
    ("BEAM", _beam, "beam-100k", 12),
    ("MemoryBank en", _memorybank, "memorybank/memory_bank_en.json", 11),
    ("MemoryBank zh", _memorybank, "memorybank/memory_bank_cn.json", 11),
)


def _evenly(groups: list[Group], wanted: int) -> list[Group]:
    """Take some, spread over all, the same in every run."""
    if len(groups) <= wanted:
        return groups
    return [groups[at * len(groups) // wanted] for at in range(wanted)]


# ── Summarizers ───────────────────────────────────────────────────────────────────────────────────


def lead(request: SummaryRequest) -> SummaryText | None:
    """Take first sentences until the target is reached."""
    firsts = [found[0] for each in request.sources if (found := sentences(each.content))]
    taken: list[str] = []
    for first in firsts:
        if count_tokens("\n".join((*taken, first))) > request.target_tokens:
            break
        taken.append(first)
    return SummaryText("\n".join(taken))


def lead_with_facts(request: SummaryRequest) -> SummaryText | None:
    """The same, with what is lost added as facts where that is allowed."""
    given = lead(request)
    return None if given is None else completed(request, given)


SUMMARIZERS: dict[str, Summarizer] = {
    "rules": extract,
    "lead": lead,
    "lead, completed": lead_with_facts,
}


def _request(group: Group) -> SummaryRequest:
    tokens = sum(count_tokens(each.content) for each in group)
    language = language_of("\n".join(each.content for each in group))
    return SummaryRequest(
        sources=tuple(group), target_tokens=int(SHARE * tokens), language=language
    )


# ── Measuring ─────────────────────────────────────────────────────────────────────────────────────


def _measured(summarize: Summarizer, groups: list[Group]) -> dict[str, Any]:
    refused, lost, shares = 0, Counter[str](), []
    for group in groups:
        request = _request(group)
        texts = [each.content for each in group]
        made = summarize(request)
        losses = () if made is None else missing(texts, made.content)
        lost.update(sorted({loss.type.value for loss in losses}))
        if made is None or losses:
            refused += 1
        else:
            shares.append(count_tokens(made.content) / sum(map(count_tokens, texts)))
    return {
        "groups": len(groups),
        "refused": refused,
        "rejection_rate": round(refused / len(groups), 3),
        "tokens": round(sum(shares) / len(shares), 3) if shares else None,
        "groups_that_lose": dict(sorted(lost.items())),
    }


def _milliseconds(groups: list[Group]) -> float:
    begun = time.perf_counter()
    for group in groups:
        extract(_request(group))
    return round((time.perf_counter() - begun) * 1000 / len(groups), 1)


def _print(rows: list[dict[str, Any]]) -> None:
    print(f"{'data':14} {'summarizer':16} {'groups':>6} {'refused':>8} {'tokens':>7}  loses")
    for row in rows:
        tokens = "-" if row["tokens"] is None else f"{row['tokens']:.0%}"
        loses = ", ".join(f"{kind} {count}" for kind, count in row["groups_that_lose"].items())
        print(
            f"{row['data']:14} {row['summarizer']:16} {row['groups']:6} "
            f"{row['rejection_rate']:8.0%} {tokens:>7}  {loses}"
        )


def _show(name: str, group: Group) -> None:
    made = extract(_request(group))
    print(f"\n── {name} " + "─" * 60)
    for each in group:
        print(f"{each.who}: {each.content[:300]}")
    print("=>")
    print("(left alone)" if made is None else made.content)


if __name__ == "__main__":
    sys.exit(main())
