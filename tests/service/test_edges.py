"""Edges that were once wrong: odd arguments, odd spellings, odd orders of events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sfams
from sfams.core.record import Status
from sfams.errors import ConflictError, InvalidInputError
from sfams.service.memory import Memory
from sfams.service.results import Fate
from sfams.testing import FakeClock


@pytest.mark.parametrize("text", ["heyyou", b"heyyou", 5, None])
def test_one_text_is_not_a_list_of_texts(memory: Memory, text: Any) -> None:
    for verb in (memory.remember_many, memory.import_):
        with pytest.raises(InvalidInputError, match="expected a list"):
            verb(text)
    assert len(memory.list()) == 0


def test_a_line_nested_too_deeply_is_refused_and_the_others_are_taken(memory: Memory) -> None:
    deep = '{"content": "x", "metadata": ' + "[" * 5000 + "]" * 5000 + "}"
    report = memory.import_(['{"content": "good line"}', deep])
    assert (report.added, [item.line for item in report.refused]) == (1, [2])


def test_a_policy_by_name_and_wrong_policies(memory: Memory) -> None:
    assert memory.plan_forgetting("classic").policy["name"] == "classic"
    odd: list[Any] = ["", "no such", {}, [], 5]
    for wrong in odd:
        with pytest.raises(InvalidInputError, match="policy"):
            memory.plan_forgetting(wrong)


@pytest.mark.parametrize("limit", ["5", 5.0, True, 0, None])
def test_a_limit_is_a_whole_number(memory: Memory, limit: Any) -> None:
    with pytest.raises(InvalidInputError, match="limit"):
        memory.list(limit=limit)


def test_explain_knows_every_spelling_that_remember_calls_the_same(memory: Memory) -> None:
    stored = memory.remember('The "shop" closes at 18:00.')
    for text in (
        'the "shop"  closes at 18:00',
        "The “shop” closes\nat 18:00!",
        'THE "SHOP" CLOSES AT 18:00.',
    ):
        assert memory.remember(text).id == stored.id
        assert memory.explain(text).record_id == stored.id
    first = memory.remember("Tea.")
    memory.remember_many([f"Tea number {n} is green." for n in range(60)])
    assert memory.explain("Tea.").record_id == first.id


def test_a_key_moves_from_a_deleted_record_to_a_new_text(memory: Memory) -> None:
    old = memory.remember("Ivo enjoys horror films.", key="pref-seat")
    memory.delete(old.id)
    same = memory.remember("Ivo enjoys horror films.", key="pref-seat")
    assert (same.outcome, same.id) == ("duplicate", old.id)
    assert "deleted" in same.warnings[0]
    new = memory.remember("Ivo prefers window seats.", key="pref-seat")
    assert new.outcome == "new"
    assert memory.get(new.id).key == "pref-seat"
    assert (memory.get(old.id).key, memory.get(old.id).status) == (None, Status.DELETED)
    assert memory.doctor().healthy


def test_erasing_takes_the_names_of_sessions_along(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with sfams.open(path, scope="t", embedder="hashing") as memory:
        for name in ("zyxw-private", "kept-session"):
            memory.session(name).turn()
            memory.remember(f"said in {name[:4]}", session=name, kind="dialogue")
        memory.erase(session="zyxw-private")
        assert memory.session("kept-session").current == 1
    data = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"zyxw-private" not in data
    assert b"kept-session" in data
    with sfams.open(path, scope="t", embedder="hashing") as memory:
        memory.session("never-named").turn()
        memory.erase(everything=True)
    data = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"kept-session" not in data
    assert b"never-named" not in data


def test_a_plan_applied_by_somebody_else_is_not_ours(memory: Memory) -> None:
    memory.remember_many([f"Sensor {n} hangs in bay {n}." for n in range(20)])
    plan = memory.plan_forgetting("classic")
    assert memory.forget(plan).demoted == 2
    with pytest.raises(ConflictError, match="applied already"):
        memory.forget(plan)


def test_an_import_of_superseded_values_keeps_their_order(memory: Memory, clock: FakeClock) -> None:
    slot = {"subject": "demo", "attribute": "date"}
    lines = [
        json.dumps({"text": f"Demo on {day}.", "value": day, "created_at": 1767225600 + n, **slot})
        for n, day in enumerate(("1 May", "8 May", "15 May"))
    ]
    memory.import_(lines[::-1])
    live = memory.list()
    assert [record.content for record in live] == ["Demo on 15 May."]
    assert memory.explain("Demo on 1 May.").fate is Fate.SUPERSEDED


def test_explain_knows_an_erased_text_again(memory: Memory) -> None:
    stored = memory.remember("The gate code is 7.")
    memory.erase([stored.id])
    assert memory.explain(stored.id).fate is Fate.ERASED
    assert memory.explain("the gate code is 7").fate is Fate.ERASED
    assert memory.explain("The gate code is 8.").fate is Fate.NEVER_STORED
