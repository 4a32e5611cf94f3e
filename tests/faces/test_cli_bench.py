"""sfams bench: two benches over a data set named by its path."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.labelled import conversation, write_jsonl

FEW = ("--budget", "25%", "--in", "tokens", "--policy", "adaptive", "--policy", "random")


@pytest.fixture
def history(cli: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SFAMS_CACHE_DIR", str(cli.folder / "cache"))
    return write_jsonl(cli.folder / "history.jsonl", conversation(30))


def test_the_forgetting_bench_prints_a_table_for_each_budget(cli: Any, history: Path) -> None:
    result = cli("bench", "forgetting", str(history), *FEW, "--budget", "0.5")
    assert result.exit_code == 0, result.output
    assert "history: 1 conversations, 30 units" in result.stdout
    assert "25% of the tokens may stay hot" in result.stdout
    assert "50% of the tokens may stay hot" in result.stdout
    lines = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert lines.count("adaptive") == lines.count("random") == 2


def test_the_forgetting_bench_gives_every_measure_as_json(cli: Any, history: Path) -> None:
    found = cli.json("bench", "forgetting", str(history), *FEW)
    (part,) = found["datasets"]
    assert part["units"] == 30
    rows = {row["policy"]: row for row in part["forgetting"]["rows"]}
    assert set(rows) == {"adaptive", "random", "oracle, fractional", "oracle, all evidence"}
    value, low, high = rows["adaptive"]["measures"]["survival"]
    assert 0 <= low <= value <= high <= 1
    assert found["timings"]["adaptive"]["mean_us"] > 0
    assert found["hash"] == cli.json("bench", "forgetting", str(history), *FEW)["hash"]


def test_labels_can_be_shuffled_as_a_control(cli: Any, history: Path) -> None:
    plain, dealt = (
        cli.json("bench", "recall", str(history), *more)["datasets"][0]
        for more in ((), ("--shuffle-labels",))
    )
    assert dealt["track"] == "shuffled labels"
    assert plain["recall"]["BM25"]["recall@5"][0] > 0.9
    assert dealt["recall"]["BM25"]["recall@5"][0] < 0.5


def test_another_seed_is_another_chance(cli: Any, history: Path) -> None:
    one, other = (
        cli.json("bench", "forgetting", str(history), *FEW, "--seed", seed)["hash"]
        for seed in ("1", "2")
    )
    assert one != other


def test_the_recall_bench_sets_ways_side_by_side(cli: Any, history: Path) -> None:
    result = cli("bench", "recall", str(history))
    assert "BM25" in result.stdout
    assert "recall@10" in result.stdout
    ways = cli.json("bench", "recall", str(history))["datasets"][0]["recall"]
    assert set(ways) == {"hybrid (product)", "dense", "BM25", "rank fusion"}


def test_the_document_is_written_too(cli: Any, history: Path) -> None:
    out = cli.folder / "recall.json"
    shown = cli.json("bench", "recall", str(history), "--out", str(out))
    assert json.loads(out.read_text("utf-8")) == shown


def test_vectors_are_kept_outside_by_hash_alone(cli: Any, history: Path) -> None:
    cli.json("bench", "recall", str(history))
    kept = cli.folder / "cache" / "vectors.sqlite"
    assert kept.exists()
    assert b"kayak" in history.read_bytes()
    assert b"kayak" not in kept.read_bytes()
    assert not cli.db.exists()


WRONG = [
    (("--budget", "lots"), "'lots' is not a share"),
    (("--budget", "0"), "above 0"),
    (("--policy", "belady"), "'belady' is unknown"),
    (("--in", "bytes"), "'bytes' is not"),
    (("--db", "m.db"), "a bench opens no memory"),
    (("--scope", "acme"), "a bench opens no memory"),
    (("--format", "csv"), "'csv' is unknown"),
    (("--format", "locomo"), "history.jsonl"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_what_makes_no_sense_is_refused(
    options: tuple[str, ...], message: str, cli: Any, history: Path
) -> None:
    code, error = cli.error("bench", "forgetting", str(history), *options)
    assert code == 2
    assert message in error["message"]


def test_a_data_set_that_is_not_there_is_named(cli: Any) -> None:
    code, error = cli.error("bench", "recall", "nowhere.jsonl")
    assert code == 2
    assert "nowhere.jsonl: there is no such file" in error["message"]
