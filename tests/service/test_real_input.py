"""Real conversations, from the log to undo. Skipped with a message where the data sets are absent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.evaluation_data import (
    beam_chatlogs,
    dataset,
    locomo_chatlogs,
    memorybank_chatlogs,
)

import sfams
from sfams.bridges.chatlog import read_chatlog
from sfams.core.policy import Budget, RetentionPolicy

Conversation = tuple[str, list[dict[str, Any]]]


SETS: dict[str, Callable[[], Iterator[Conversation]]] = {
    "locomo": locomo_chatlogs,
    "beam": beam_chatlogs,
    "memorybank-en": lambda: memorybank_chatlogs("en"),
    "memorybank-cn": lambda: memorybank_chatlogs("cn"),
}


def as_log(turns: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(turn, ensure_ascii=False) for turn in turns).encode()


@pytest.mark.parametrize("name", SETS)
def test_a_conversation_from_log_to_undo(name: str, tmp_path: Path) -> None:
    for title, turns in SETS[name]():
        log = read_chatlog(as_log(turns), name=f"{title}.jsonl")
        assert len(log.drafts) + len(log.skipped) >= len(turns)
        scope = f"{name}/{title}"
        with sfams.open(tmp_path / "m.db", scope=scope, embedder="hashing") as memory:
            results = memory.remember_many(log.drafts)
            stored = {result.id for result in results}
            assert memory.stats().records == {"live": len(stored)}
            again = memory.remember_many(log.drafts)
            assert {result.outcome for result in again} == {"duplicate"}
            first = log.drafts[0]
            assert memory.get(results[0].id).created_at == first.created_at
            plan = memory.plan_forgetting(RetentionPolicy(budget=Budget(records=len(stored) // 4)))
            receipt = memory.forget(plan)
            assert receipt.demoted == len(stored) - len(stored) // 4
            assert memory.restore(plan).restored == receipt.demoted
            assert memory.stats().hot == len(stored)


def test_words_find_evidence_in_locomo(tmp_path: Path) -> None:
    """A floor for ranking by words alone: a broken tokenizer or BM25 falls far below it."""
    samples = {
        s["sample_id"]: s for s in json.loads((dataset("locomo") / "locomo-dev.json").read_text())
    }
    found, asked = 0.0, 0
    for title, turns in locomo_chatlogs():
        sample = next(s for key, s in samples.items() if str(key) in title)
        with sfams.open(tmp_path / "m.db", scope=f"locomo/{title}", embedder="hashing") as memory:
            results = memory.remember_many(read_chatlog(as_log(turns), name="log.jsonl").drafts)
            place = dict(
                zip((result.id for result in results), (turn["id"] for turn in turns), strict=True)
            )
            for question in sample["qa"]:
                evidence = question.get("audited_evidence") or question.get("evidence") or []
                gold = set(re.findall(r"D\d+:\d+", " ".join(evidence)))
                if question["category"] == 5 or not gold:
                    continue
                hits = memory.recall(str(question["question"]), mode="keyword", k=10, count=False)
                found += len(gold & {place[hit.record.id] for hit in hits}) / len(gold)
                asked += 1
    assert asked > 500
    assert found / asked > 0.45
