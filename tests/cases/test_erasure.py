"""Erasure, shown: after each kind of it, no verb, no file and no export holds a word of what went."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sfams
from sfams.core.record import EmbeddingState, RecordId, Status, Tier
from sfams.core.reindex import EmbeddingModel, Staged
from sfams.ports import Store, Transition
from sfams.service.memory import Memory
from sfams.service.results import Residue
from sfams.stores.sqlite.residue import in_files
from sfams.testing.builders import make_vector

SECRETS = {
    "en": ("Viktor Halloran", "Viktor Halloran's garage door code is 4471-99.", "4471-99"),
    "zh": ("欧阳子渊", "欧阳子渊家车库的密码是四四七一九九。", "四四七一九九"),
}
KINDS: dict[str, Callable[[str, list[str]], dict[str, Any]]] = {
    "id": lambda name, ids: {"ids": ids},
    "subject": lambda name, ids: {"subject": name},
    "identifier": lambda name, ids: {"identifier": name},
    "filter": lambda name, ids: {"tags": ["secret"]},
    "scope": lambda name, ids: {"everything": True},
}
KEPT = "The tram to the depot leaves at nine."


def tell(memory: Memory, name: str, secret: str, code: str) -> list[RecordId]:
    """Put a secret everywhere it can be: each status and tier, versions, links, plans, summaries."""
    about: dict[str, Any] = {"entities": [f"person:{name}"], "tags": ["secret"]}
    claim: dict[str, Any] = {"subject": name, "attribute": "code"}
    plain = memory.remember(secret, key=f"door {name}", metadata={"code": code}, **about).id
    changed = memory.remember(f"{name}: {code}, once.", who=name, session=name, **about).id
    memory.update(changed, content=f"{name} moved.")
    cold = memory.remember(f"{name} again: {code}; kept cold.", **about).id
    claimed = memory.remember(f"{name}, {code}!", value=code, **claim, **about).id
    newer = memory.remember(f"{name}, {code} now", value=f"{code}0", **claim, **about).id
    deleted = memory.remember(f"{name} deleted: {code}.", **about).id
    memory.delete(deleted)
    memory.remember(f"Summary: {name}, {code}.", kind="summary", derived_from=[plain])
    kept = memory.remember(KEPT).id
    memory.link(kept, plain, "about")
    memory.recall(code, k=20)
    memory.reinforce(plain, session=name, outcome=code)
    memory.plan_forgetting(sfams.RetentionPolicy(budget=sfams.Budget(records=0)))
    with memory.session(name) as session:
        session.turn()
    with memory._engine.store.write() as transaction:
        changes = [Transition(cold, tier=Tier.COLD)]
        transaction.transition(memory.scope, changes, memory._engine.now())
        records = transaction.get(memory.scope, [plain])
        staged = [Staged(record, make_vector(secret)) for record in records]
        transaction.stage_vectors(EmbeddingModel("next", 8), staged)
    return [plain, changed, cold, claimed, newer, deleted]


def shown_by(memory: Memory, name: str, secret: str, code: str) -> list[str]:
    """Name the verbs that still hold a word of it."""
    records = memory.list(limit=1000, status=["all"], expired=True).records
    answers: dict[str, Any] = {
        f"recall {mode} {status} {len(query)}": memory.recall(
            query, mode=mode, status=[status], expired=True
        )
        for query in (name, code, secret)
        for mode in ("keyword", "vector", "hybrid")
        for status in ("live", "all")
    }
    with memory._engine.store.read() as reader:
        answers["log"] = list(reader.history(memory.scope, (), limit=10**6))
        answers["sessions"] = name if reader.turns(memory.scope, name) else ""
    answers |= {
        "context": memory.context(code, tokens=4000).text,
        "list": records,
        "entities": memory.entities(),
        "versions": [memory.versions(record.id) for record in records],
        "timeline": [memory.timeline(record.id) for record in records],
        "explain": [memory.explain(record.id) for record in records],
        "plans": [memory.plan(plan) for plan in memory.plans(1000)],
        "erasures": memory.erasures(),
        "export": list(memory.export(below=True)),
        "held": list(memory.export_subject(subject=name)),
    }
    return [
        each for each, answer in answers.items() if any(w in repr(answer) for w in (name, code))
    ]


def bytes_in(store: Store, *words: str) -> list[str]:
    """Name the words that stand in the store's files, in any case."""
    path = Path(store.location)
    data = [file.read_bytes().lower() for file in path.parent.glob(path.name + "*")]
    return [word for word in words if any(word.lower().encode() in each for each in data)]


@pytest.mark.parametrize("language", SECRETS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_word_is_left(memory: Memory, kind: str, language: str) -> None:
    name, secret, code = SECRETS[language]
    store, on_disk = memory._engine.store, memory._engine.store.location != "memory"
    ids = tell(memory, name, secret, code)
    assert shown_by(memory, name, secret, code)
    assert not on_disk or bytes_in(store, name, code) == [name, code]
    wanted = KINDS[kind](name, [*ids])
    before = memory.erase(dry_run=True, **wanted)
    receipt = memory.erase(**wanted)
    assert dict(receipt.reach) == dict(before.reach)
    assert set(ids) <= {*receipt.ids, *receipt.withdrawn}
    assert receipt.residue is Residue.CLEAN
    assert shown_by(memory, name, secret, code) == []
    if on_disk:
        assert bytes_in(store, name, code, secret) == []
        vectors = [make_vector(secret).astype("<f4").tobytes()]
        assert in_files(store.location, vectors) == frozenset()
    left = {record.content for record in memory.list(status=["all"])}
    assert left == (set() if kind == "scope" else {KEPT})
    assert [each.embedding for each in memory.list()] == [EmbeddingState.READY] * len(left)
    assert memory.doctor().healthy


def test_a_summarized_source_is_reached_too(memory: Memory) -> None:
    name, secret, code = SECRETS["zh"]
    source = memory.remember(secret).id
    other = memory.remember(KEPT).id
    memory.remember(f"{name}: {code}", kind="summary", derived_from=[source, other])
    with memory._engine.store.write() as transaction:
        changes = [Transition(each, status=Status.SUMMARIZED) for each in (source, other)]
        transaction.transition(memory.scope, changes, memory._engine.now())
    memory.erase(subject=name)
    assert shown_by(memory, name, secret, code) == []
    assert {record.content for record in memory.list()} == {KEPT}


# ── Two processes ─────────────────────────────────────────────────────────────────────────────────

OTHER = """
import json, sys, sfams
with sfams.open(sys.argv[1], scope="acme/me", embedder="hashing") as memory:
    for line in sys.stdin:
        verb, text = json.loads(line)
        answer = (
            [hit.record.content for hit in memory.recall(text, status=["all"])]
            if verb == "recall" else memory.remember(text).outcome.value
        )
        print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Callable[[str, str], Any]]:
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path / "memory.db")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(verb: str, text: str) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([verb, text]) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.communicate(timeout=60)


def test_another_process_neither_finds_it_nor_brings_it_back(
    tmp_path: Path, other: Callable[[str, str], Any]
) -> None:
    name, secret, code = SECRETS["en"]
    with sfams.open(tmp_path / "memory.db", scope="acme/me", embedder="hashing") as memory:
        tell(memory, name, secret, code)
        assert any(code in text for text in other("recall", code))
        receipt = memory.erase(subject=name)
        assert receipt.residue is Residue.CLEAN
        assert not any(code in text for text in other("recall", code))
        assert other("remember", secret) == "refused"
        assert bytes_in(memory._engine.store, name, code) == []
        memory.lift(secret)
        assert other("remember", secret) == "new"
