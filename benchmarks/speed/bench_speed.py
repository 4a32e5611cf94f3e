"""Speed of the memory itself, embedding excluded: vectors come from a table.

    python benchmarks/speed/bench_speed.py                     # all sizes, about ten minutes on two cores
    python benchmarks/speed/bench_speed.py --sizes 1000,10000  # a quick look
    python benchmarks/speed/bench_speed.py --out benchmarks/results/speed.json

Every figure is of one run on one machine beside whatever else it did (the load is noted); compare
ratios, not milliseconds.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from workload import TableEmbedder, Workload, machine, peak_mb, percentiles

import sfams
from sfams.bootstrap import Uuid7, system_clock
from sfams.core.models.registry import MODELS, model_from
from sfams.core.planner import plan_forgetting
from sfams.core.policy import Budget, RetentionPolicy, Triggers
from sfams.core.record import Entity, PlanId
from sfams.core.scope import Scope
from sfams.ports import UsageDelta
from sfams.service.memory import Memory
from sfams.stores.sqlite import SqliteStore
from sfams.testing import make_entry, make_record

PROBES = 200
QUIET = RetentionPolicy(triggers=Triggers(over_budget=False))
"""Forgets nothing by itself, so that what is measured is what the names say."""
PACKAGES = ["sf-ams", "numpy", "apsw", "PyStemmer"]


def timed(act: Callable[[], object]) -> float:
    """Run once; seconds."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def file_mb(path: Path) -> float:
    """Size of a store with its log."""
    return round(sum(each.stat().st_size for each in path.parent.glob(path.name + "*")) / 2**20, 1)


def fill(memory: Memory, texts: list[str]) -> None:
    """Store texts in batches, as an import does."""
    for start in range(0, len(texts), 5000):
        memory.remember_many(texts[start : start + 5000])


def one_scope(folder: Path, size: int) -> dict[str, Any]:
    """Grow one scope to `size`, then measure writing and reading there."""
    workload = Workload(size + 1000 + PROBES)
    path = folder / f"one-{size}.db"
    embedder = TableEmbedder(workload)
    with sfams.open(path, scope="bench/one", embedder=embedder, policy=QUIET) as memory:
        load = timed(lambda: fill(memory, workload.texts[:size]))
        batch = workload.texts[size : size + 1000]
        batched = timed(lambda: memory.remember_many(batch))
        singles = [timed(lambda t=t: memory.remember(t)) for t in workload.texts[-PROBES:]]
        asked = [workload.question(n * size // PROBES) for n in range(PROBES)]
        memory.recall(asked[0])
        warm = [timed(lambda q=q: memory.recall(q)) for q in asked]
        vector = [timed(lambda q=q: memory.recall(q, mode="vector")) for q in asked[:50]]
        words = [timed(lambda q=q: memory.recall(q, mode="keyword")) for q in asked[:50]]
        plan = timed(
            lambda: memory.plan_forgetting(RetentionPolicy(budget=Budget(records=size // 2)))
        )
    with sfams.open(path, scope="bench/one", embedder=embedder, policy=QUIET) as memory:
        cold = timed(lambda: memory.recall(asked[0]))
    return {
        "records": size,
        "load_per_s": round(size / load),
        "batch_per_s": round(1000 / batched),
        "remember": percentiles(singles),
        "recall_warm": percentiles(warm),
        "recall_vector": percentiles(vector),
        "recall_keyword": percentiles(words),
        "recall_cold_start_ms": round(cold * 1000, 1),
        "plan_and_save_s": round(plan, 3),
        "file_mb": file_mb(path),
        "process_peak_mb": peak_mb(),
    }


def many_scopes(folder: Path, scopes: int, each: int = 100) -> dict[str, Any]:
    """A thousand small scopes in one file: writing, and recall in one after the other (views cold)."""
    workload = Workload(scopes * each)
    path = folder / "many.db"
    with sfams.open(path, scope="bench", embedder=TableEmbedder(workload), policy=QUIET) as memory:
        started = time.perf_counter()
        for n in range(scopes):
            memory.within(f"bench/{n}").remember_many(workload.texts[n * each : (n + 1) * each])
        load = time.perf_counter() - started
        cold = [
            timed(lambda n=n: memory.within(f"bench/{n}").recall(workload.question(n * each)))
            for n in range(0, scopes, max(1, scopes // PROBES))
        ]
        near = memory.within("bench/1")
        near.recall("warm it")
        warm = [
            timed(lambda n=n: near.recall(workload.question(each + n % each)))
            for n in range(PROBES)
        ]
    return {
        "scopes": scopes,
        "records_each": each,
        "load_per_s": round(scopes * each / load),
        "recall_cold_scope": percentiles(cold),
        "recall_warm_scope": percentiles(warm),
        "file_mb": file_mb(path),
    }


ACCESSED = 3
"""One record in so many names somebody and was accessed, on five days and at five turns."""


def planning(folder: Path, size: int) -> dict[str, Any]:
    """Store `size` bare records, then plan over them in a process that has done nothing else.

    With each model in turn; the figures of the plan itself are those with the plainest, `linear`.
    """
    path = folder / f"plan-{size}.db"
    _store_bare(path, size)
    models = {name: in_a_process(plan_once, path, size, name) for name in sorted(MODELS)}
    shown = ("plan_s", "columns_s", "decide_s", "plan_mb")
    return {
        **models["linear"],
        "file_mb": file_mb(path),
        "models": {name: {key: each[key] for key in shown} for name, each in models.items()},
    }


def _store_bare(path: Path, size: int) -> None:
    store = SqliteStore(path)
    scope, ids = Scope("bench/plan"), Uuid7()
    entry = make_entry(content="A note for planning.", scope=scope)
    people, now = (Entity("Lena", "person"),), system_clock()
    for start in range(0, size, 10_000):
        chunk = [
            replace(
                entry,
                record=make_record(
                    id=ids(),
                    scope=scope,
                    content_hash=str(n),
                    importance=(n % 997) / 997,
                    tokens=20,
                    created_at=now - timedelta(days=n % 400),
                    entities=people if n % ACCESSED == 0 else (),
                ),
                vector=None,
            )
            for n in range(start, min(start + 10_000, size))
        ]
        accessed = [each.record.id for each in chunk[::ACCESSED]]
        with store.write() as transaction:
            transaction.insert(chunk)
            for day in range(5, 0, -1):
                at = now - timedelta(days=day)
                transaction.add_usage(scope, [UsageDelta(each, 1, 0, at) for each in accessed])
                transaction.log_turn(scope, "bench", at)
    store.close()


def plan_once(path: Path, size: int, model_name: str) -> dict[str, Any]:
    """Plan over all records: columns, decision and saving apart, and the memory that it takes."""
    store = SqliteStore(path)
    scope, now = Scope("bench/plan"), system_clock()
    model = model_from(model_name, {})
    before = peak_mb()
    with store.read() as reader:
        started = time.perf_counter()
        columns = reader.columns(scope, now, model.needs)
        read = time.perf_counter() - started
    policy = RetentionPolicy(model=model, budget=Budget(records=size // 2))
    started = time.perf_counter()
    plan = plan_forgetting(columns, policy, scope=scope, plan_id=PlanId(Uuid7()()), now=now)
    decided = time.perf_counter() - started
    planned = peak_mb()
    with store.write() as transaction:
        saved = timed(lambda: transaction.save_plan(plan))
    store.close()
    return {
        "records": size,
        "steps": len(plan.steps),
        "columns_s": round(read, 3),
        "decide_s": round(decided, 3),
        "plan_s": round(read + decided, 3),
        "save_s": round(saved, 3),
        "plan_mb": round(planned - before, 1),
        "save_mb": round(peak_mb() - planned, 1),
    }


def in_a_process(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Run in a process of its own, so that its peak memory is its own too."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def _write_meanwhile(path: str, ready: Any, stop: Any, out: Any) -> None:
    workload = Workload(3000, seed=11)
    times = []
    with sfams.open(
        path, scope="bench/other", embedder=TableEmbedder(workload), policy=QUIET
    ) as memory:
        memory.remember(workload.texts[0])
        ready.set()
        for text in workload.texts[1:]:
            if stop.is_set():
                break
            times.append(timed(lambda t=text: memory.remember(t)))
            time.sleep(0.005)
    out.put(times)


def applying(folder: Path, steps: int) -> dict[str, Any]:
    """Apply a plan of 10,000 steps while another process writes; how long do its writes take?"""
    workload = Workload(steps + 100)
    path = folder / "apply.db"
    context = multiprocessing.get_context("spawn")
    ready, stop, out = context.Event(), context.Event(), context.Queue()
    with sfams.open(
        path, scope="bench/apply", embedder=TableEmbedder(workload), policy=QUIET
    ) as memory:
        fill(memory, workload.texts)
        plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=100)))
        other = context.Process(target=_write_meanwhile, args=(str(path), ready, stop, out))
        other.start()
        ready.wait(60)
        taken = timed(lambda: memory.forget(plan))
        stop.set()
        waits = out.get(timeout=60)
        other.join()
    return {
        "steps": len(plan.steps),
        "apply_s": round(taken, 3),
        "other_writes": len(waits),
        "other_write": percentiles(waits),
    }


def triggered(folder: Path, records: int = 2_000, rounds: int = 10) -> dict[str, Any]:
    """Remember with and without triggers, in turns, over a budget that is exceeded again and again."""
    each = records // 10
    workload = Workload(2 * (records + rounds * each))
    busy = RetentionPolicy(budget=Budget(records=records, low=0.95))
    times: dict[str, list[float]] = {"off": [], "on": []}
    memories: dict[str, Memory] = {}
    texts = iter(workload.texts)
    for name, policy in (("off", QUIET), ("on", busy)):
        memories[name] = sfams.open(
            folder / f"trigger-{name}.db",
            scope="bench/trigger",
            embedder=TableEmbedder(workload),
            policy=policy,
        )
        fill(memories[name], list(islice(texts, records)))
        memories[name].flush()
    for _ in range(rounds):
        for name, memory in memories.items():
            chunk = list(islice(texts, each))
            times[name] += [timed(lambda t=text, m=memory: m.remember(t)) for text in chunk]
    plans = len(memories["on"].plans(1000))
    for memory in memories.values():
        memory.close()
    off, on = (percentiles(times[name]) for name in ("off", "on"))
    slower = sum(times["on"]) / sum(times["off"])
    return {"runs": plans, "off": off, "on": on, "on_to_off": round(slower, 3)}


def main() -> None:
    """Run what is asked and print it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--plan-sizes", default="10000,100000,1000000")
    parser.add_argument("--scopes", type=int, default=1000, help="scopes of 100 records")
    parser.add_argument("--steps", type=int, default=10_000, help="steps of a plan that is applied")
    parser.add_argument("--triggered", type=int, default=2_000, help="budget that triggers watch")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    report: dict[str, Any] = {"machine": machine(PACKAGES), "one_scope": [], "plan": []}

    def say(name: str, figures: dict[str, Any]) -> dict[str, Any]:
        print(name, json.dumps(figures), file=sys.stderr, flush=True)
        return figures

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in map(int, filter(None, options.sizes.split(","))):
            figures = in_a_process(one_scope, folder, size)
            report["one_scope"].append(say("one scope", figures))
        report["many_scopes"] = say(
            "many scopes", in_a_process(many_scopes, folder, options.scopes)
        )
        report["applying"] = say("applying", applying(folder, options.steps))
        report["triggered"] = say("triggered", triggered(folder, options.triggered))
        for size in filter(None, options.plan_sizes.split(",")):
            report["plan"].append(say("plan", planning(folder, int(size))))
    text = json.dumps(report, indent=2) + "\n"
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
