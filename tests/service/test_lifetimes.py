"""Texts that end by themselves: what the caller says goes before what the text says."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sfams.errors import InvalidInputError
from sfams.service.memory import Memory
from sfams.testing import FakeClock

CODE = "验证码 123456，有效期10分钟"
MEETING = "Join https://zoom.us/j/123456 tomorrow 3-4pm"


def expiry(memory: Memory, text: str, **fields: Any) -> datetime | None:
    return memory.get(memory.remember(text, **fields).id).expires_at


def test_a_code_expires_on_the_minute(memory: Memory, clock: FakeClock) -> None:
    memory.remember(CODE)
    clock.advance(minutes=10, microseconds=-1)
    assert len(memory.list()) == 1
    clock.advance(microseconds=1)
    assert len(memory.list()) == 0
    assert len(memory.list(expired=True)) == 1


def test_a_meeting_link_expires_when_the_meeting_is_over(memory: Memory, clock: FakeClock) -> None:
    over = datetime(2026, 1, 6, 16, 0, tzinfo=UTC)
    assert expiry(memory, MEETING) == over


def test_it_is_counted_from_when_it_was_said(memory: Memory) -> None:
    said = datetime(2025, 7, 1, 10, 0, tzinfo=UTC)
    assert expiry(memory, CODE, created_at=said) == said + timedelta(minutes=10)
    assert expiry(memory, MEETING, created_at=said) == datetime(2025, 7, 2, 16, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", [CODE, MEETING])
def test_the_callers_word_goes_first(memory: Memory, clock: FakeClock, text: str) -> None:
    assert expiry(memory, text, ttl="7d", key="a") == clock() + timedelta(days=7)
    later = datetime(2027, 1, 1, tzinfo=UTC)
    assert expiry(memory, f"{text} until", expires_at=later) == later
    assert expiry(memory, f"{text} still until", ttl=None, expires_at=later) == later
    for at, ttl in enumerate((None, "never")):
        assert expiry(memory, f"{text} never {at}", ttl=ttl) is None


def test_never_and_a_moment_contradict_each_other(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="ttl"):
        memory.remember(CODE, ttl="never", expires_at="2027-01-01T00:00:00Z")


def test_null_in_an_import_is_not_given(memory: Memory, clock: FakeClock) -> None:
    shapes = ({"text": CODE, "ttl": None}, {"text": MEETING, "ttl": "never"}, {"text": "Tea."})
    memory.import_(json.dumps(shape) for shape in shapes)
    ends = {record.content: record.expires_at for record in memory.list()}
    assert ends == {CODE: clock() + timedelta(minutes=10), MEETING: None, "Tea.": None}


def test_the_log_says_why_it_ends(memory: Memory) -> None:
    for text, reason in ((CODE, "one-time code"), (MEETING, "meeting")):
        (event,) = memory.history(memory.remember(text).id)
        assert event.detail["expires"] == reason
    (event,) = memory.history(memory.remember("Tea.", ttl="7d").id)
    assert "expires" not in event.detail


def test_a_redacted_code_ends_as_well(memory: Memory, clock: FakeClock) -> None:
    memory.set_sensitive_rule("redact")
    assert expiry(memory, CODE) == clock() + timedelta(minutes=10)


def test_a_new_text_brings_its_own_end(memory: Memory, clock: FakeClock) -> None:
    stored = memory.remember(MEETING)
    moved = memory.update(stored.id, content=MEETING.replace("3-4pm", "5-6pm"))
    assert moved.expires_at == datetime(2026, 1, 6, 18, 0, tzinfo=UTC)
    plain = memory.update(stored.id, content="The meeting was called off.")
    assert plain.expires_at is None


def test_a_new_text_leaves_the_end_that_the_caller_gave(memory: Memory, clock: FakeClock) -> None:
    stored = memory.remember("Tea at four.", ttl="7d")
    assert memory.update(stored.id, content="Tea at five.").expires_at == clock() + timedelta(
        days=7
    )
    assert memory.update(stored.id, content=CODE, ttl="never").expires_at is None
    code = memory.update(stored.id, content=CODE + "。")
    assert code.expires_at == clock() + timedelta(minutes=10)
