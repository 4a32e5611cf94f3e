"""SF-AMS beside Chroma (embedded) and LangGraph's SqliteStore: the same texts and vectors, in one run.

    make bench-peers                                              # an environment of its own, then this
    python benchmarks/speed/bench_peers.py --sizes 1000,10000 --out benchmarks/results/peers.json

Each system runs in a process of its own, one after the other, on the same texts and vectors of 384 numbers
from a table: no model is timed. The work is not equal. SF-AMS indexes words and vectors, checks each text
against what is known, estimates importance and logs; every commit is synced to disk. Chroma keeps vectors,
metadata and text with its defaults (an approximate index, cosine). SqliteStore keeps JSON items, with exact
vectors in sqlite-vec. `exact` is the share of the true ten nearest that a search by vector returns, so that
speed is not bought with wrong answers. Ratios are peer / SF-AMS: above 1 the peer is slower or larger.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from workload import TableEmbedder, Workload, machine, peak_mb, percentiles

K = 10
SINGLES = 200
QUESTIONS = 100
BATCH = 1000
PACKAGES = {
    "sf-ams": "sfams",
    "chromadb": "chromadb",
    "langgraph-checkpoint-sqlite": "langgraph.store.sqlite",
    "sqlite-vec": "sqlite_vec",
    "numpy": "numpy",
    "apsw": "apsw",
}


class System(Protocol):
    """What is asked of each."""

    def add(self, scope: str, texts: Sequence[str], vectors: Any) -> None: ...
    def search(self, scope: str, text: str, vector: Any) -> list[str]: ...
    def delete(self, scope: str, texts: Sequence[str]) -> None: ...
    def close(self) -> None: ...


class SfAms:
    """Words, vectors, admission, importance and log; synchronous=FULL."""

    mode = "vector"

    def __init__(self, folder: Path, workload: Workload) -> None:
        import sfams
        from sfams.core.policy import RetentionPolicy, Triggers

        self._memory = sfams.open(
            folder / "memory.db",
            scope="bench",
            embedder=TableEmbedder(workload),
            policy=RetentionPolicy(triggers=Triggers(over_budget=False)),
        )
        self._ids: dict[str, str] = {}

    def add(self, scope: str, texts: Sequence[str], vectors: Any) -> None:
        results = self._memory.within(scope).remember_many(texts)
        self._ids.update((t, r.id) for t, r in zip(texts, results, strict=True))

    def search(self, scope: str, text: str, vector: Any) -> list[str]:
        found = self._memory.within(scope).recall(text, k=K, mode=self.mode)
        return [hit.record.content for hit in found]

    def delete(self, scope: str, texts: Sequence[str]) -> None:
        self._memory.within(scope).delete([self._ids[text] for text in texts])

    def close(self) -> None:
        self._memory.close()


class SfAmsHybrid(SfAms):
    """The same, asked by words and vectors together, as it comes."""

    mode = "hybrid"


class Chroma:
    """Chroma in this process, as it comes but for cosine and no telemetry."""

    def __init__(self, folder: Path, workload: Workload) -> None:
        import chromadb

        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder / "chroma"), settings)
        self._collection = self._client.get_or_create_collection(
            "bench", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )

    def add(self, scope: str, texts: Sequence[str], vectors: Any) -> None:
        self._collection.add(
            ids=[f"{scope} {text}" for text in texts],
            embeddings=vectors,
            documents=[*texts],
            metadatas=[{"scope": scope} for _ in texts],
        )

    def search(self, scope: str, text: str, vector: Any) -> list[str]:
        found = self._collection.query(
            query_embeddings=[vector], n_results=K, where={"scope": scope}, include=["documents"]
        )
        return list((found["documents"] or [[]])[0])

    def delete(self, scope: str, texts: Sequence[str]) -> None:
        self._collection.delete(ids=[f"{scope} {text}" for text in texts])

    def close(self) -> None:
        self._client.close()


class LangGraph:
    """LangGraph's SqliteStore with its vector index, as it comes."""

    def __init__(self, folder: Path, workload: Workload) -> None:
        from langgraph.store.sqlite import SqliteStore

        embedder = TableEmbedder(workload)
        index: Any = {
            "dims": embedder.dimension,
            "embed": lambda texts: embedder.embed_passages(texts).tolist(),
            "text_fields": ["text"],  # what the store reads; "fields" of the base class it does not
        }
        self._context = SqliteStore.from_conn_string(str(folder / "store.db"), index=index)
        self._store = self._context.__enter__()
        self._store.setup()

    def add(self, scope: str, texts: Sequence[str], vectors: Any) -> None:
        from langgraph.store.base import PutOp

        self._store.batch([PutOp((scope,), text, {"text": text}) for text in texts])

    def search(self, scope: str, text: str, vector: Any) -> list[str]:
        return [item.value["text"] for item in self._store.search((scope,), query=text, limit=K)]

    def delete(self, scope: str, texts: Sequence[str]) -> None:
        from langgraph.store.base import PutOp

        self._store.batch([PutOp((scope,), text, None) for text in texts])

    def close(self) -> None:
        self._context.__exit__(None, None, None)


SYSTEMS: dict[str, Callable[[Path, Workload], System]] = {
    "SF-AMS": SfAms,
    "SF-AMS hybrid": SfAmsHybrid,
    "Chroma": Chroma,
    "LangGraph SqliteStore": LangGraph,
}
NEEDS = {"Chroma": "chromadb", "LangGraph SqliteStore": "langgraph"}


def timed(act: Callable[[], object]) -> float:
    """Run once; seconds."""
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def folder_mb(folder: Path) -> float:
    """Size of everything that a system has written."""
    return round(
        sum(each.stat().st_size for each in folder.rglob("*") if each.is_file()) / 2**20, 1
    )


def one_scope(name: str, folder: Path, size: int) -> dict[str, Any]:
    """Fill one scope, then write, search, reopen and delete there."""
    workload = Workload(size + SINGLES)
    texts, vectors = workload.texts, workload.vectors
    system = SYSTEMS[name](folder, workload)
    load = timed(
        lambda: [
            system.add("bench", texts[at : at + BATCH], vectors[at : at + BATCH])
            for at in range(0, size, BATCH)
        ]
    )
    singles = [
        timed(lambda n=n: system.add("bench", [texts[n]], vectors[n : n + 1]))
        for n in range(size, size + SINGLES)
    ]
    asked = [n * size // QUESTIONS for n in range(QUESTIONS)]
    answers = [system.search("bench", texts[n], vectors[n]) for n in asked]
    searches = [timed(lambda n=n: system.search("bench", texts[n], vectors[n])) for n in asked]
    gone = texts[: size // 10]
    deleted = timed(lambda: system.delete("bench", gone))
    system.close()
    system = SYSTEMS[name](folder, workload)
    cold = timed(lambda: system.search("bench", texts[asked[1]], vectors[asked[1]]))
    system.close()
    return {
        "records": size,
        "load_per_s": round(size / load),
        "add_one": percentiles(singles),
        "search": percentiles(searches),
        "search_after_reopening_ms": round(cold * 1000, 1),
        "exact": round(exactness(vectors, texts, asked, answers), 4),
        "delete_per_s": round(len(gone) / deleted),
        "disk_mb": folder_mb(folder),
        "peak_mb": peak_mb(),
    }


def many_scopes(name: str, folder: Path, scopes: int, each: int = 100) -> dict[str, Any]:
    """Fill many small scopes in one store, then search in some of them."""
    workload = Workload(scopes * each)
    texts, vectors = workload.texts, workload.vectors
    system = SYSTEMS[name](folder, workload)

    def fill() -> None:
        for scope in range(scopes):
            span = slice(scope * each, (scope + 1) * each)
            system.add(f"s{scope}", texts[span], vectors[span])

    load = timed(fill)
    asked = [scope * each for scope in range(0, scopes, max(1, scopes // QUESTIONS))]
    for n in asked:
        system.search(f"s{n // each}", texts[n], vectors[n])
    searches = [
        timed(lambda n=n: system.search(f"s{n // each}", texts[n], vectors[n])) for n in asked
    ]
    system.close()
    return {
        "scopes": scopes,
        "records_each": each,
        "load_per_s": round(scopes * each / load),
        "search": percentiles(searches),
        "disk_mb": folder_mb(folder),
    }


def exactness(
    vectors: Any, texts: Sequence[str], asked: Sequence[int], answers: Sequence[Sequence[str]]
) -> float:
    """Share of the true ten nearest that were answered."""
    shares = []
    for n, found in zip(asked, answers, strict=True):
        true = np.argsort(-(vectors @ vectors[n]), kind="stable")[:K]
        shares.append(len({texts[row] for row in true} & set(found)) / K)
    return float(np.mean(shares))


def in_a_process(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Run in a process of its own, in a folder of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1) as pool,
    ):
        name, *rest = arguments
        return pool.apply(work, (name, Path(folder), *rest))


RATIOS = {
    "add_one p50": lambda r: r["add_one"]["p50_ms"],
    "seconds a record, in batches": lambda r: 1 / r["load_per_s"],
    "search p50": lambda r: r["search"]["p50_ms"],
    "first search after reopening": lambda r: r["search_after_reopening_ms"],
    "disk": lambda r: r["disk_mb"],
    "memory": lambda r: r["peak_mb"],
}


def ratios(results: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Divide each peer's figures by those of SF-AMS: above 1 the peer is slower or larger."""
    ours = results["SF-AMS"]
    return {
        name: {label: round(read(theirs) / read(ours), 2) for label, read in RATIOS.items()}
        for name, theirs in results.items()
        if name != "SF-AMS"
    }


def main() -> None:
    """Run what is asked; print a table, and JSON with --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--scopes", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = [each for each in SYSTEMS if each not in NEEDS or find_spec(NEEDS[each])]
    for missing in SYSTEMS.keys() - set(names):
        print(f"{missing} is not installed: make bench-peers", file=sys.stderr)
    packages = [each for each, module in PACKAGES.items() if find_spec(module.split(".")[0])]
    report: dict[str, Any] = {"machine": machine(packages), "one_scope": [], "many_scopes": {}}
    for size in map(int, options.sizes.split(",")):
        results = {}
        for name in names:
            results[name] = in_a_process(one_scope, name, size)
            print(size, name, json.dumps(results[name]), file=sys.stderr, flush=True)
        report["one_scope"].append({"systems": results, "ratios": ratios(results)})
    for name in names if options.scopes else []:
        report["many_scopes"][name] = in_a_process(many_scopes, name, options.scopes)
        print(name, json.dumps(report["many_scopes"][name]), file=sys.stderr, flush=True)
    text = json.dumps(report, indent=2) + "\n"
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
