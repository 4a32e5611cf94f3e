"""The bench as a whole: controls, reports, and the same result in every process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.labelled import conversation, write_jsonl

from sfams.errors import InvalidInputError
from sfams.lab.datasets.values import Dataset, shuffled
from sfams.lab.forgetting_bench import (
    FRACTIONAL,
    ForgettingResult,
    Plan,
    Setting,
    run_forgetting,
)
from sfams.lab.policies import KEEP_EVERYTHING, POLICIES
from sfams.lab.quality_report import document, fingerprint, forgetting_json, recall_json
from sfams.lab.recall_bench import BM25, DENSE, FUSION, HYBRID, fused, run_recall
from sfams.providers.hashing import HashingEmbedder

ROOT = Path(__file__).parents[2]
TALKS = (conversation(60, "one"), conversation(45, "two"))
DATA = Dataset(name="made-up", conversations=TALKS)
PLAN = Plan(kinds=("tokens", "records"), shares=(0.25,), seeds=(0, 1))


@pytest.fixture(scope="module")
def result() -> ForgettingResult:
    return run_forgetting(DATA, HashingEmbedder(), PLAN)


def value(result: ForgettingResult, policy: str, name: str, kind: str = "tokens") -> float:
    setting = Setting(policy, kind, 0.25) if kind else Setting(policy, "", 1.0)
    return result.tallies[setting][name].value


@pytest.mark.parametrize("kind", ["tokens", "records"])
@pytest.mark.parametrize("name", [name for name, policy in POLICIES.items() if policy.bounded])
def test_evidence_dealt_at_random_falls_to_the_share_that_is_kept(
    name: str, kind: str, result: ForgettingResult
) -> None:
    kept = value(result, name, "kept_records", kind)
    assert value(result, name, "control", kind) == pytest.approx(kept, abs=0.05)


@pytest.mark.parametrize("name", ["adaptive", "shortest", "LFU"])
def test_shuffled_labels_fall_to_the_budget(name: str) -> None:
    plan = Plan(policies=(name,), kinds=("records",), shares=(0.25,))
    dealt = [
        Dataset(name="dealt", conversations=tuple(shuffled(talk, seed) for talk in TALKS))
        for seed in range(12)
    ]
    found = [
        run_forgetting(each, HashingEmbedder(), plan).tallies[Setting(name, "records", 0.25)]
        for each in dealt
    ]
    assert np.mean([each["survival"].value for each in found]) == pytest.approx(0.25, abs=0.06)


def test_keeping_everything_is_the_measure_of_all(result: ForgettingResult) -> None:
    for name in ("survival", "survival_all", "age_balanced", "need_weighted", "kept_tokens"):
        assert value(result, KEEP_EVERYTHING, name, "") == 1.0
    assert value(result, KEEP_EVERYTHING, "noise_removed", "") == 0.0


def test_any_mean_and_all_stand_in_order(result: ForgettingResult) -> None:
    for tallies in result.tallies.values():
        low, middle, high = (
            tallies[name].value for name in ("survival_all", "survival", "survival_any")
        )
        assert low <= middle <= high


def test_the_newest_are_kept_by_fifo_and_the_oldest_by_keep_first(result: ForgettingResult) -> None:
    assert value(result, "FIFO", "need_weighted") > value(result, "keep-first", "need_weighted")
    assert value(result, "FIFO", "current") > value(result, "FIFO", "stale")
    assert value(result, "keep-first", "stale") > value(result, "keep-first", "current")


def test_shortest_removes_no_small_talk_and_longest_all(result: ForgettingResult) -> None:
    assert value(result, "longest", "noise_removed") == 1.0
    assert value(result, "shortest", "noise_removed") < 0.5


def test_cold_records_are_found_by_their_words(result: ForgettingResult) -> None:
    for name in ("adaptive", "random"):
        hot = value(result, name, "recall@20")
        assert value(result, name, "recall@20, with cold") > hot


def test_a_report_sets_every_row_beside_chance_and_the_oracle(result: ForgettingResult) -> None:
    rows: Any = forgetting_json(result)["rows"]
    assert len(rows) == 1 + (len(POLICIES) - 1 + 2) * 2
    row = next(r for r in rows if (r["policy"], r["budget"]) == ("adaptive", "tokens"))
    less = row["minus random"]["survival"]
    own, chance = value(result, "adaptive", "survival"), value(result, "random", "survival")
    assert less[0] == pytest.approx(own - chance, abs=1e-4)
    best = value(result, FRACTIONAL, "survival")
    placed = (own - chance) / (best - chance)
    assert row["oracle_normalised"][0] == pytest.approx(placed, abs=1e-4)
    assert row["relative"]["recall@10"][0] <= 1.5
    oracle = next(r for r in rows if r["policy"] == FRACTIONAL)
    assert "need_weighted" not in oracle["measures"]
    json.dumps(rows, allow_nan=False)


def test_times_are_no_part_of_the_fingerprint(result: ForgettingResult) -> None:
    part: dict[str, Any] = {"forgetting": forgetting_json(result)}
    one = document([part], {"adaptive": {"mean_us": 1.0}})
    other = document([part], {"adaptive": {"mean_us": 2.0}})
    assert one["hash"] == other["hash"] == fingerprint(one)
    assert document([part, part], {})["hash"] != one["hash"]


BAD_PLANS: list[tuple[dict[str, Any], str]] = [
    ({"policies": ("belady",)}, "'belady' is unknown; there is keep everything"),
    ({"kinds": ("bytes",)}, "'bytes' is not tokens or records"),
    ({"shares": (0.0,)}, "above 0 and up to 1"),
    ({"shares": (1.5,)}, "above 0 and up to 1"),
    ({"seeds": ()}, "nothing to measure"),
]


@pytest.mark.parametrize(("fields", "message"), BAD_PLANS)
def test_what_cannot_be_measured_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Plan(**fields)


def test_progress_counts_every_replay_and_examination() -> None:
    done: list[int] = []
    plan = Plan(policies=("random", "adaptive", KEEP_EVERYTHING), shares=(0.5,), seeds=(0, 1))
    run_forgetting(DATA, HashingEmbedder(), plan, done.append)
    assert sum(done) == plan.steps(DATA) == 2 * (2 * (2 * 2 + 2 + 1) + 2 * 2)


# ── Recall ───────────────────────────────────────────────────────────────────────────────────────


def test_fusion_by_hand() -> None:
    """Row 3 stands second twice (2/62), row 1 first once (1/61), row 2 first and third."""
    assert fused([[1, 3, 2], [2, 3]]) == [2, 3, 1]
    assert fused([[], [4]]) == [4]


def test_the_recall_bench_compares_four_ways() -> None:
    found = run_recall(DATA, HashingEmbedder())
    assert list(found) == [HYBRID, DENSE, BM25, FUSION]
    for measures in found.values():
        at = [measures[f"recall@{k}"].value for k in (5, 10, 20)]
        assert at == sorted(at)
        assert "recall@10: update" in measures
    # the number in each question stands in one fact: words must find it
    assert found[BM25]["recall@5"].value > 0.9
    json.dumps(recall_json(found), allow_nan=False)


# ── Fresh processes ──────────────────────────────────────────────────────────────────────────────


def test_two_fresh_processes_print_the_same_fingerprint(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    write_jsonl(texts / "a.jsonl", conversation(25, "a"))
    program = (
        "import runpy, sys;"
        "script = runpy.run_path(sys.argv[1]);"
        "script['SOURCES'].clear();"
        "script['SOURCES']['own'] = script['Source'](sys.argv[2], 'jsonl');"
        "sys.exit(script['main'](['--hash', '--embedder', 'hashing', '--out', sys.argv[3]]))"
    )
    script = str(ROOT / "benchmarks" / "quality" / "measure_quality.py")
    hashes = []
    for number in range(2):
        out = tmp_path / f"{number}.json"
        done = subprocess.run(
            [sys.executable, "-c", program, script, str(texts), str(out)],
            capture_output=True,
            text=True,
            check=True,
            env={
                "PYTHONPATH": str(ROOT / "src"),
                "PYTHONHASHSEED": str(number),
                "SFAMS_CACHE_DIR": str(tmp_path / "cache"),
            },
        )
        written = json.loads(out.read_text("utf-8"))
        assert written["hash"] == fingerprint(written) == done.stdout.strip()
        hashes.append(written["hash"])
    assert hashes[0] == hashes[1]
