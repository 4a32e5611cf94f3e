"""The tables of the documentation, from the committed result and from one made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sfams.lab import quality_tables
from sfams.lab.quality_report import fingerprint

RESULT = Path(__file__).parents[2] / "benchmarks" / "results" / "quality.json"


def row(policy: str, kept: float, **more: list[float]) -> dict[str, Any]:
    measures = {
        name: [kept, kept - 0.1, kept + 0.1]
        for name in ("survival", "survival_all", "control", "kept_records", "recall@10")
    }
    return {
        "policy": policy,
        "budget": None if policy == "keep everything" else "tokens",
        "share": 1.0 if policy == "keep everything" else 0.25,
        "measures": {**measures, **more},
        "minus random": {"survival": [kept - 0.257, -0.1, 0.1]},
    }


def part(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"id": "locomo", "forgetting": {"rows": list(rows), "bytes_per_record": 2100}}


EARLIER = [row(name, figures[0]) for name, figures in quality_tables.PUBLISHED["locomo"].items()]


def test_the_product_is_set_in_bold_and_without_forgetting_comes_along() -> None:
    head, rows = quality_tables.line_to_rise_from(
        part(row("keep everything", 1.0), row("adaptive", 0.4), row("FIFO", 0.3))
    )
    assert [each[0] for each in rows] == ["keep everything", "**adaptive**", "FIFO"]
    assert head[:3] == ["policy", "kept, 95 %", "all kept"]
    assert rows[1][1] == "0.400 (0.300 to 0.500)"
    assert rows[1][-1] == "+0.143 (-0.100 to +0.100)"


def test_only_labelled_data_has_columns_of_noise() -> None:
    plain, _ = quality_tables.line_to_rise_from(part(row("adaptive", 0.4)))
    noisy, rows = quality_tables.line_to_rise_from(
        part(row("adaptive", 0.4, noise_removed=[0.7, 0.6, 0.8]))
    )
    assert set(noisy) - set(plain) == {"noise gone"}
    assert "0.700" in rows[0]


def test_a_difference_to_the_earlier_figures_is_marked() -> None:
    _, same = quality_tables.against_published(part(*EARLIER))
    assert not any("(!)" in cell for each in same for cell in each)
    far = [row("random", 0.30), *(each for each in EARLIER if each["policy"] != "random")]
    _, other = quality_tables.against_published(part(*far))
    assert [each[0] for each in other if "(!)" in each[2]] == ["random"]
    assert next(each for each in other if each[0] == "random")[2] == "0.300, 0.257 (!)"


def test_the_committed_result_is_whole() -> None:
    result = quality_tables.read_result(RESULT)
    assert result["hash"] == fingerprint(result)
    assert {"locomo", "beam"} <= {each["id"] for each in result["datasets"]}


@pytest.mark.parametrize("name", ["locomo", "beam"])
def test_evidence_dealt_at_random_is_kept_as_often_as_records_are(name: str) -> None:
    (found,) = quality_tables.parts(quality_tables.read_result(RESULT), [name])
    for each in found["forgetting"]["rows"]:
        measures = each["measures"]
        # not closer: one weighs conversations by their questions, the other by their records
        assert measures["control"][0] == pytest.approx(measures["kept_records"][0], abs=0.05)
