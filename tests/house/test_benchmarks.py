"""The benchmarks run, at sizes that take a moment, so that they cannot rot; figures are not looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sfams.core.models.registry import MODELS

SPEED = Path(__file__).parents[2] / "benchmarks" / "speed"


def run(script: str, *options: str) -> Any:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, str(SPEED / script), *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_speed_benchmark_reports_every_part() -> None:
    report = run(
        "bench_speed.py",
        *("--sizes", "200,400", "--scopes", "3", "--steps", "200", "--plan-sizes", "500"),
        *("--triggered", "100"),
    )
    assert {"cpu", "cores", "load_at_start", "python", "packages"} <= report["machine"].keys()
    assert [each["records"] for each in report["one_scope"]] == [200, 400]
    assert report["many_scopes"]["scopes"] == 3
    assert report["applying"]["steps"] == 200
    assert report["triggered"]["runs"] > 0
    (plan,) = report["plan"]
    assert (plan["records"], plan["steps"]) == (500, 250)
    assert set(plan.pop("models")) == set(MODELS)
    for part in (*report["one_scope"], report["many_scopes"], plan):
        assert all(value > 0 for value in part.values() if isinstance(value, int))


def test_the_measure_of_summaries_tells_the_rules_from_a_naive_summarizer(tmp_path: Path) -> None:
    said = (
        "Well, we took the ferry to Bellagio and it was really quite a lovely trip for all of us.",
        "By the way, the tickets cost 35 euro, and the ferry does not run on Sundays at all.",
        "The weather by the lake was so nice that we all sat outside for hours and hours.",
    )
    turns = [{"query": text, "response": ""} for text in said]
    people = {"Ann": {"name": "Ann", "history": {"2026-05-04": turns}}}
    folder = tmp_path / "memorybank"
    folder.mkdir()
    (folder / "memory_bank_en.json").write_text(json.dumps(people), "utf-8")
    out = tmp_path / "summaries.json"
    script = SPEED.parent / "quality" / "measure_summaries.py"
    done = subprocess.run(
        [sys.executable, str(script), "--datasets", str(tmp_path), "--out", str(out)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = {(row["data"], row["summarizer"]): row for row in json.loads(out.read_text())["rows"]}
    assert rows["all", "rules"]["rejection_rate"] == 0.0
    assert rows["all", "lead"]["rejection_rate"] == 1.0


def test_the_comparison_runs_with_what_is_installed() -> None:
    report = run("bench_peers.py", "--sizes", "200", "--scopes", "2")
    (one,) = report["one_scope"]
    assert one["systems"]["SF-AMS"]["exact"] == 1.0
    assert one["ratios"]["SF-AMS hybrid"]["disk"] == 1.0
    assert report["many_scopes"]["SF-AMS"]["records_each"] == 100
