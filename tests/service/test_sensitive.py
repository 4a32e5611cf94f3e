"""Sensitive texts: labelled when they are stored, masked where they are shown, held to the scope's rule."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import OpenMemory

from sfams.core.admission import Outcome
from sfams.core.importance import prior
from sfams.core.record import Sensitivity
from sfams.core.sensitivity import SensitiveRule, masked
from sfams.errors import InvalidInputError, SensitiveContentError
from sfams.service.memory import Memory

CARD = "My card is 4111 1111 1111 1111."
CARD_ZH = "我的银行卡号是４１１１ １１１１ １１１１ １１１１"
PASSWORD_ZH = "登录密码是tea-Pot_9"
PLAIN = "The lamp is green."
SENSITIVE = [CARD, CARD_ZH, PASSWORD_ZH, "Your code is 482913.", "身份证号11010519491231002X"]
SECRETS = ("4111", "４１１１", "tea-Pot_9", "482913", "11010519491231002X")


def everything(memory: Memory) -> str:
    """Put into one text all that can be read of a memory."""
    records = memory.list(status=["all"], expired=True)
    return "".join(
        [
            *memory.export(),
            *(repr(event) for record in records for event in memory.history(record.id)),
            *(repr(version) for record in records for version in memory.versions(record.id)),
        ]
    )


def texts(memory: Memory) -> list[str]:
    return [record.content for record in memory.list(status=["all"], descending=False)]


@pytest.mark.parametrize("text", SENSITIVE)
def test_the_label_is_told_from_the_text(memory: Memory, text: str) -> None:
    record = memory.get(memory.remember(text).id)
    assert record.sensitivity is Sensitivity.SENSITIVE
    assert record.content == text
    assert not any(secret in masked(record) for secret in SECRETS)


def test_a_plain_text_has_no_label(memory: Memory) -> None:
    assert memory.get(memory.remember(PLAIN).id).sensitivity is Sensitivity.NORMAL


@pytest.mark.parametrize(("text", "given"), [(CARD, "normal"), (PLAIN, "sensitive")])
def test_the_callers_label_stands(memory: Memory, text: str, given: str) -> None:
    record = memory.get(memory.remember(text, sensitivity=given).id)
    assert record.sensitivity.value == given


def test_a_claims_value_is_looked_at_too(memory: Memory) -> None:
    stored = memory.remember("It has changed.", subject="card", attribute="no", value=CARD)
    assert memory.get(stored.id).sensitivity is Sensitivity.SENSITIVE


@pytest.mark.parametrize("text", SENSITIVE)
def test_sensitive_is_not_unimportant(memory: Memory, text: str) -> None:
    record = memory.get(memory.remember(text).id)
    assert record.importance == prior(text).importance
    assert record.importance > memory.get(memory.remember("今天天气真好").id).importance + 0.1


def test_recall_get_and_context_give_the_text(memory: Memory) -> None:
    stored = memory.remember(CARD)
    assert memory.recall("card")[0].record.content == CARD
    assert memory.get(stored.id).content == CARD
    assert "4111 1111 1111 1111" in memory.context("card").text


@pytest.mark.parametrize("text", SENSITIVE)
def test_redact_stores_the_mask_in_its_place(memory: Memory, text: str) -> None:
    memory.set_sensitive_rule("redact")
    result = memory.remember(text)
    assert result.outcome is Outcome.NEW
    assert [each.partition(":")[0] for each in result.warnings] == ["redacted before storing"]
    record = memory.get(result.id)
    assert "[" in record.content
    assert record.sensitivity is Sensitivity.NORMAL
    assert not any(secret in everything(memory) for secret in SECRETS)


@pytest.mark.parametrize("text", SENSITIVE)
def test_refuse_stores_nothing(memory: Memory, text: str) -> None:
    memory.set_sensitive_rule("refuse")
    with pytest.raises(SensitiveContentError) as caught:
        memory.remember(text)
    assert "this scope refuses" in str(caught.value)
    assert not any(secret in str(caught.value) for secret in SECRETS)
    assert texts(memory) == []
    assert everything(memory) == ""


@pytest.mark.parametrize("rule", ["redact", "refuse"])
def test_all_parts_of_a_memory_are_held_to_the_rule(memory: Memory, rule: str) -> None:
    memory.set_sensitive_rule(rule)
    number = "4111111111111111"
    parts: list[dict[str, Any]] = [
        {"subject": "card", "attribute": "number", "value": number},
        {"subject": f"card {number}", "attribute": "limit"},
        {"entities": [f"card:{number}"]},
        {"tags": [f"card {number}"]},
        {"key": f"card {number}"},
        {"metadata": {"deep": [{"password": "hunter2", "card": [number]}]}},
        {"metadata": {"password": "hunter2"}},
    ]
    results = memory.remember_many(
        {"content": f"Note {at}", **part} for at, part in enumerate(parts)
    )
    kept = [result for result in results if result.outcome is not Outcome.REFUSED]
    assert len(kept) == (len(parts) if rule == "redact" else 0)
    assert number not in everything(memory)
    assert "hunter2" not in everything(memory)


def test_of_many_each_refused_text_is_reported_in_its_place(memory: Memory) -> None:
    memory.set_sensitive_rule("refuse")
    told: list[int] = []
    results = memory.remember_many([PLAIN, CARD, PASSWORD_ZH, "茶在四点"], progress=told.append)
    refused = Outcome.REFUSED
    assert [result.outcome for result in results] == [Outcome.NEW, refused, refused, Outcome.NEW]
    assert [bool(result.id) for result in results] == [True, False, False, True]
    assert "card" in results[1].warnings[0]
    assert texts(memory) == [PLAIN, "茶在四点"]
    assert sum(told) == 4


def test_the_nearest_scope_with_a_rule_decides(open_memory: OpenMemory) -> None:
    me, tenant = open_memory("acme/team/me"), open_memory("acme")
    assert me.sensitive_rule() is SensitiveRule.STORE
    tenant.set_sensitive_rule("refuse")
    assert me.sensitive_rule() is SensitiveRule.REFUSE
    open_memory("acme/team").set_sensitive_rule("redact")
    assert me.sensitive_rule() is SensitiveRule.REDACT
    assert "[card ****1111]" in me.get(me.remember(CARD).id).content
    me.set_sensitive_rule("store")
    assert me.get(me.remember(CARD).id).content == CARD
    me.set_sensitive_rule(None)
    assert me.sensitive_rule() is SensitiveRule.REDACT
    assert open_memory("acme2/team/me").sensitive_rule() is SensitiveRule.STORE
    assert open_memory("acme/other").sensitive_rule() is SensitiveRule.REFUSE


def test_an_unknown_rule_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="store, redact, refuse"):
        memory.set_sensitive_rule("hide")
    assert memory.sensitive_rule() is SensitiveRule.STORE


def test_an_update_is_held_to_the_rule(memory: Memory) -> None:
    stored = memory.remember(PLAIN)
    memory.set_sensitive_rule("refuse")
    with pytest.raises(SensitiveContentError):
        memory.update(stored.id, content=CARD)
    with pytest.raises(SensitiveContentError):
        memory.update(stored.id, metadata={"password": "hunter2"})
    assert memory.get(stored.id).content == PLAIN
    memory.set_sensitive_rule("redact")
    assert memory.update(stored.id, content=CARD).content == "My card is [card ****1111]."
    assert "4111 " not in everything(memory)


def test_a_rule_leaves_what_is_stored_as_it_is(memory: Memory) -> None:
    stored = memory.remember(CARD)
    memory.set_sensitive_rule("refuse")
    assert memory.update(stored.id, importance=0.9).content == CARD
    memory.set_sensitive_rule("redact")
    assert memory.update(stored.id, tags=["bank"]).content == CARD


def test_a_new_text_may_raise_the_label_and_never_lowers_it(memory: Memory) -> None:
    stored = memory.remember(PLAIN)
    assert memory.update(stored.id, content=CARD).sensitivity is Sensitivity.SENSITIVE
    assert memory.update(stored.id, content="It is blue.").sensitivity is Sensitivity.SENSITIVE
    assert memory.update(stored.id, sensitivity="normal").sensitivity is Sensitivity.NORMAL
    asked = memory.update(stored.id, content=CARD_ZH, sensitivity="normal")
    assert asked.sensitivity is Sensitivity.NORMAL


def lines(*shapes: dict[str, Any]) -> Iterable[str]:
    return [json.dumps(shape, ensure_ascii=False) for shape in shapes]


def test_imports_of_other_shapes_are_held_to_the_rule(memory: Memory) -> None:
    memory.set_sensitive_rule("refuse")
    report = memory.import_(lines({"text": PLAIN}, {"text": CARD_ZH}, {"text": "茶在四点"}))
    assert [(each.line, each.field) for each in report.refused] == [(2, "content")]
    assert report.added == 2
    memory.set_sensitive_rule("redact")
    report = memory.import_(lines({"text": CARD}))
    assert report.warnings == ("redacted before storing: card",)
    assert "4111 " not in everything(memory)


@pytest.mark.parametrize("rule", ["redact", "refuse"])
def test_exports_are_held_to_the_rule_with_what_they_said_before(
    open_memory: OpenMemory, rule: str
) -> None:
    source, target = open_memory("acme/source"), open_memory("acme/target")
    source.remember("Tea at four.")
    for text in (CARD, PASSWORD_ZH):
        source.remember(text)
    changed = source.remember("OTP: 904421")
    source.update(changed.id, content="It was used.")
    target.set_sensitive_rule(rule)
    report = target.import_(source.export())
    kept = 4 if rule == "redact" else 1
    assert (report.added, len(report.refused)) == (kept, 4 - kept)
    assert not any(secret in everything(target) for secret in (*SECRETS, "904421"))
    assert len(target.list()) == kept
    assert len(target.recall("tea")) >= 1
    assert target.import_(source.export()).added == 0


def test_an_export_keeps_the_labels_it_has(open_memory: OpenMemory) -> None:
    source, target = open_memory("acme/source"), open_memory("acme/target")
    source.remember(CARD, sensitivity="normal")
    source.remember(PASSWORD_ZH)
    target.import_(source.export())
    labels = {record.content: record.sensitivity.value for record in target.list()}
    assert labels == {CARD: "normal", PASSWORD_ZH: "sensitive"}


def test_no_file_of_the_store_has_what_was_refused_or_redacted(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory()
    memory.remember(PLAIN)
    for rule in ("refuse", "redact"):
        memory.set_sensitive_rule(rule)
        memory.remember_many([CARD, CARD_ZH, PASSWORD_ZH, "Your code is 482913."])
    for file in tmp_path.iterdir():
        data = file.read_bytes()
        assert not any(secret.encode() in data for secret in ("4111 1111", "１１１", *SECRETS[2:4]))
