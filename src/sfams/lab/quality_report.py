"""The benches' results as one JSON document, and its fingerprint.

Every measure is `[value, low, high]` with the 95 % interval over conversations, `null` where it is not
defined. What differs between runs (times) stands under "timings" and is left out of the fingerprint.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from hashlib import sha256

import numpy as np

from sfams.core.record import JsonValue
from sfams.core.text import count_tokens
from sfams.lab import metrics
from sfams.lab.datasets.values import Dataset
from sfams.lab.forgetting_bench import (
    ALL_EVIDENCE,
    FRACTIONAL,
    ORACLES,
    ForgettingResult,
    Setting,
)
from sfams.lab.metrics import Estimate, Tally
from sfams.lab.policies import IMPORTANCE, KEEP_EVERYTHING, RANDOM

FORMAT = 1
COMPARED = ("survival", "age_balanced", "need_weighted", "recall@10")
"""Measures whose paired differences to random and to importance alone are reported."""
_DIGITS = 4
_UNDEFINED = {FRACTIONAL: ("need_weighted",), ALL_EVIDENCE: ("need_weighted",)}
"""An oracle chooses at the end, so it has no lag curve."""

JsonObject = dict[str, JsonValue]


def described(dataset: Dataset) -> JsonObject:
    """Say what was measured on, in numbers."""
    units = [unit for talk in dataset for unit in talk.units]
    return {
        "name": dataset.name,
        "track": dataset.track,
        "conversations": len(dataset.conversations),
        "units": len(units),
        "tokens": sum(count_tokens(unit.text) for unit in units),
        "questions": sum(len(talk.scored) for talk in dataset),
    }


def forgetting_json(result: ForgettingResult) -> JsonObject:
    """Write the forgetting bench's measures out, one row a policy and budget."""
    rows: list[JsonValue] = [_row(result.tallies, setting) for setting in result.tallies]
    return {"bytes_per_record": round(result.bytes_per_record), "rows": rows}


def timings_json(result: ForgettingResult) -> JsonObject:
    """Write out what an insertion costs in the bench (score and plan), in microseconds."""
    taken: dict[str, list[float]] = {}
    for setting, microseconds in result.microseconds.items():
        if setting.policy not in ORACLES:
            taken.setdefault(setting.policy, []).extend(microseconds)
    return {
        policy: {
            "mean_us": round(float(np.mean(each)), 1),
            "p95_us": round(float(np.percentile(each, 95)), 1),
        }
        for policy, each in taken.items()
    }


def recall_json(result: Mapping[str, Mapping[str, Tally]]) -> JsonObject:
    """Write the recall bench's measures out, by way of searching."""
    return {
        way: {name: _triple(metrics.interval(tally)) for name, tally in measures.items()}
        for way, measures in result.items()
    }


def document(parts: Sequence[JsonObject], timings: JsonObject) -> JsonObject:
    """Put data sets together, with the fingerprint of all that must not change between runs."""
    made: JsonObject = {"format": FORMAT, "datasets": list(parts)}
    return {**made, "hash": fingerprint(made), "timings": timings}


def fingerprint(written: Mapping[str, JsonValue]) -> str:
    """Hash a document without its times."""
    kept = {name: value for name, value in written.items() if name not in {"hash", "timings"}}
    text = json.dumps(kept, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return sha256(text.encode()).hexdigest()


# ── Rows ─────────────────────────────────────────────────────────────────────────────────────────


def _row(tallies: Mapping[Setting, Mapping[str, Tally]], setting: Setting) -> JsonObject:
    own = {
        name: tally
        for name, tally in tallies[setting].items()
        if name not in _UNDEFINED.get(setting.policy, ())
    }
    row: JsonObject = {
        "policy": setting.policy,
        "budget": setting.kind or None,
        "share": setting.share,
        "measures": {name: _triple(metrics.interval(tally)) for name, tally in own.items()},
    }
    if "need_weighted" in own:
        curve = own["need_weighted"].bins().tolist()
        pairs = zip(metrics.LAGS, curve, strict=True)
        row["lag_curve"] = {str(lag): _number(value) for lag, value in pairs}
    return {**row, **_beside(tallies, setting, own)}


def _beside(
    tallies: Mapping[Setting, Mapping[str, Tally]], setting: Setting, own: Mapping[str, Tally]
) -> JsonObject:
    """Compare a row with chance, importance alone, the oracle and no forgetting, where measured."""
    found: JsonObject = {}
    for name in (RANDOM, IMPORTANCE):
        other = tallies.get(setting._replace(policy=name))
        if other is not None and name != setting.policy:
            found[f"minus {name}"] = {
                each: _triple(metrics.difference(own[each], other[each]))
                for each in COMPARED
                if each in own and each in other
            }
    chance = tallies.get(setting._replace(policy=RANDOM))
    oracle = tallies.get(setting._replace(policy=FRACTIONAL))
    if chance is not None and oracle is not None:
        placed = metrics.normalised(own["survival"], chance["survival"], oracle["survival"])
        found["oracle_normalised"] = _triple(placed)
    everything = tallies.get(Setting(KEEP_EVERYTHING, "", 1.0))
    if everything is not None:
        found["relative"] = {
            name: _triple(metrics.relative(own[name], everything[_whole(name)]))
            for name in ("recall@10", "ndcg@10", "recall@10, with cold", "ndcg@10, with cold")
            if name in own
        }
    if "stale" in own:
        found["current_minus_stale"] = _triple(metrics.difference(own["current"], own["stale"]))
    return found


def _whole(name: str) -> str:
    """Without forgetting nothing is cold."""
    return name.removesuffix(", with cold")


def _triple(estimate: Estimate) -> list[JsonValue]:
    return [_number(each) for each in (estimate.value, estimate.low, estimate.high)]


def _number(value: float) -> JsonValue:
    return round(float(value), _DIGITS) if math.isfinite(value) else None
