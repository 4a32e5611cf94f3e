"""Cases C054 to C065: moments, time to live, and ranges of time."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

import sfams
from sfams.core.policy import RetentionPolicy
from sfams.errors import InvalidInputError, StoreError
from sfams.service.memory import Memory
from sfams.testing import FakeClock


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/Los_Angeles", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def contents(memory: Memory, **fields: Any) -> list[str]:
    return [
        record.content for record in memory.list(order="created_at", descending=False, **fields)
    ]


def test_C054_an_expiry_with_an_offset_ends_at_that_instant(
    zone: str, memory: Memory, clock: FakeClock
) -> None:
    clock.set(at("2026-06-01T00:00:00Z"))
    text = "The guest wifi password is valid this week."
    stored = memory.remember(text, expires_at="2026-06-06T00:00:00+09:00")
    assert memory.get(stored.id).expires_at == at("2026-06-05T15:00:00Z")
    clock.set(at("2026-06-05T14:59:59Z"))
    assert [hit.record.content for hit in memory.recall("wifi password")] == [text]
    clock.set(at("2026-06-05T15:00:00Z"))
    assert len(memory.recall("wifi password")) == 0
    with pytest.raises(InvalidInputError, match="expires_at"):
        memory.remember("another text", expires_at="2026-06-06")


def test_C055_the_ttl_boundary_is_exact_and_the_same_everywhere(
    memory: Memory, clock: FakeClock
) -> None:
    clock.set(at("2026-04-20T10:00:00Z"))
    memory.remember("The parking slot is B7.", ttl=60)
    reads: dict[str, Callable[[], int]] = {
        "search": lambda: len(memory.recall("parking slot")),
        "list": lambda: len(memory.list()),
        "count": lambda: memory.stats().hot,
        "context": lambda: len(memory.context("parking slot", tokens=400).ids),
        "export": lambda: len(list(memory.export(status=["live"], expired=False))),
    }
    probes = {
        "2026-04-20T10:00:59.999Z": 1,
        "2026-04-20T10:01:00.000Z": 0,
        "2026-04-20T10:01:00.001Z": 0,
    }
    for probe, expected in probes.items():
        clock.set(at(probe))
        assert {name: read() for name, read in reads.items()} == dict.fromkeys(reads, expected)


@pytest.mark.parametrize("ttl", [-5, 0, math.nan, "sixty", math.inf])
def test_C055_odd_ttls_are_refused_and_nothing_is_stored(memory: Memory, ttl: Any) -> None:
    with pytest.raises(InvalidInputError, match="ttl"):
        memory.remember("text", ttl=ttl)
    assert len(memory.list()) == 0


def test_C055_no_ttl_and_a_very_long_one(memory: Memory, clock: FakeClock) -> None:
    memory.remember("stays", ttl=None)
    memory.remember("stays for long", ttl=9_999_999_999)
    clock.advance(days=365 * 100)
    assert contents(memory) == ["stays", "stays for long"]


def test_C058_every_way_to_write_stamps_the_same_clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        started = datetime.now(UTC)
        with sfams.open(tmp_path / "m.db", scope="s", embedder="hashing") as memory:
            first = memory.remember("by the library")
            memory.import_([json.dumps({"text": "by import without timestamps"})])
            second = memory.remember("to be deleted and restored")
            memory.delete(second.id)
            memory.restore([second.id])
            memory.update(first.id, content="by the library, changed")
            low, high = started - timedelta(minutes=2), started + timedelta(minutes=2)
            records = memory.list(since=low, until=high)
            assert len(records) == 3
            for record in records:
                for moment in (record.created_at, record.updated_at, record.recorded_at):
                    assert moment.utcoffset() == timedelta(0)
                    assert low <= moment <= high
    finally:
        monkeypatch.undo()
        time.tzset()


def test_C059_a_bad_row_fails_visibly_and_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with sfams.open(path, scope="zoe", embedder="hashing") as memory:
        fern = memory.remember("Zoe's desk plant is a fern.")
        memory.remember("Zoe's monitor is 27 inches.")
    connection = apsw.Connection(str(path))
    connection.execute(
        "UPDATE record SET created_at = '2026-05-20T08:29:42+00:00 ' WHERE id = ?", (fern.id,)
    )
    connection.close()
    with sfams.open(path, scope="zoe", embedder="hashing") as memory:
        for read in (memory.recall, memory.context):
            with pytest.raises(StoreError, match=fern.id):
                read("desk plant")
        assert fern.id in {i for problem in memory.doctor().problems for i in problem.ids}


C060_LINES = [
    '{"text": "Bo plays chess on Fridays.", "created_at": "2026-01-05T10:00:00Z", "last_accessed": "soon"}',
    '{"text": "Bo\'s club meets in Hall B.", "created_at": "31/02/2026"}',
    '{"text": "Bo sold the old board.", "created_at": null}',
    '{"text": "Bo\'s rating is 1604.", "created_at": 1767225600}',
]


def test_C060_unreadable_timestamps_are_reported_by_line(memory: Memory) -> None:
    report = memory.import_(C060_LINES)
    assert [(item.line, item.field) for item in report.refused] == [
        (1, "last_accessed"),
        (2, "created_at"),
    ]
    assert "soon" in report.refused[0].reason
    assert "31/02/2026" in report.refused[1].reason
    assert sorted(contents(memory)) == ["Bo sold the old board.", "Bo's rating is 1604."]
    rating = memory.recall("rating")[0].record
    assert rating.created_at == at("2026-01-01T00:00:00Z")
    plan = memory.plan_forgetting(RetentionPolicy(lowest=10))
    assert len(plan.steps) == 2
    assert all(math.isfinite(step.score) for step in plan.steps)


def test_C061_a_day_is_24_hours_across_a_clock_change(
    zone: str, memory: Memory, clock: FakeClock
) -> None:
    stored = memory.remember("day pass", created_at="2026-10-31T12:00:00-04:00", ttl="1d")
    assert memory.get(stored.id).expires_at == at("2026-11-01T16:00:00Z")
    clock.set(at("2026-11-01T15:59:59Z"))
    assert contents(memory) == ["day pass"]
    clock.set(at("2026-11-01T16:00:00Z"))
    assert contents(memory) == []


def test_C061_the_repeated_hour_sorts_by_instant(zone: str, memory: Memory) -> None:
    memory.remember("backup finished", created_at="2026-10-25T02:30:00+01:00")
    memory.remember("backup started", created_at="2026-10-25T02:30:00+02:00")
    records = memory.list(order="created_at", descending=False)
    assert [record.content for record in records] == ["backup started", "backup finished"]
    assert records[0].created_at == at("2026-10-25T00:30:00Z")
    assert records[1].created_at - records[0].created_at == timedelta(seconds=3600)


C062 = {
    "lamp is red": "2026-03-01T00:00:00Z",
    "lamp is blue": "2026-03-11T00:00:00Z",
    "lamp is green": "2036-03-01T00:00:00Z",
    "lamp is old": "1970-01-01T00:00:00Z",
}


@pytest.mark.parametrize("policy", ["adaptive", "classic"])
def test_C062_the_future_counts_as_now(memory: Memory, clock: FakeClock, policy: str) -> None:
    clock.set(at("2026-03-01T00:00:00Z"))
    lines = [
        json.dumps({"text": text, "created_at": moment, "importance": 0.5})
        for text, moment in C062.items()
    ]
    assert memory.import_(lines).added == 4
    model = sfams.preset(policy).model

    def scores() -> dict[str, float]:
        plan = memory.plan_forgetting(RetentionPolicy(model=model, lowest=10))
        return {memory.get(step.record_id).content: step.score for step in plan.steps}

    before = scores()
    for name in ("lamp is blue", "lamp is green"):
        assert before[name] == pytest.approx(before["lamp is red"], abs=1e-9)
        assert 0.0 <= before[name] <= 1.0
    assert before["lamp is old"] <= before["lamp is red"]
    old = next(record for record in memory.list() if record.content == "lamp is old")
    imported = json.dumps(
        {
            "text": "lamp is older still",
            "created_at": "1970-01-01T00:00:00Z",
            "importance": 0.5,
            "access_count": 1,
            "last_accessed": "2026-04-01T00:00:00Z",
        }
    )
    memory.import_([imported])
    after = scores()
    assert math.isfinite(after["lamp is older still"])
    assert after["lamp is old"] <= after["lamp is red"]
    assert memory.get(old.id).importance == 0.5


def test_C063_ranges_include_their_start_and_exclude_their_end(
    memory: Memory, clock: FakeClock
) -> None:
    clock.set(at("2026-07-21T00:30:00Z"))
    moments = {
        "a": "2026-07-19T23:59:59Z",
        "b": "2026-07-20T00:00:00Z",
        "c": "2026-07-20T23:59:59.999Z",
        "d": "2026-07-21T00:00:00Z",
    }
    for name, moment in moments.items():
        memory.remember(f"entry {name}", created_at=moment)
    window = {"since": "2026-07-20T00:00:00Z", "until": "2026-07-21T00:00:00Z"}
    assert contents(memory, **window) == ["entry b", "entry c"]
    found = memory.recall("entry", **window)  # type: ignore[arg-type]  # a plain dict of fields
    assert sorted(hit.record.content for hit in found) == ["entry b", "entry c"]


C065_RECORDS = {
    "jan": "2025-01-07T09:00:00Z",
    "jan-late": "2025-01-31T23:30:00-01:00",
    "feb": "2025-02-01T00:00:00Z",
}


@pytest.mark.parametrize(
    "window",
    [
        {"since": "2025-01-01T00:00:00Z", "until": "2025-02-01T00:00:00Z"},
        {"since": "2025-01-01", "until": "2025-02-01"},
        {"since": 1735689600, "until": 1738368000},
    ],
)
def test_C065_each_date_spelling_gives_the_same_rows(
    zone: str, memory: Memory, window: dict[str, Any]
) -> None:
    for name, moment in C065_RECORDS.items():
        memory.remember(name, created_at=moment)
    assert contents(memory, **window) == ["jan"]
    assert [hit.record.content for hit in memory.recall("jan", **window)] == ["jan"]


def test_C065_a_naive_spelling_is_refused(memory: Memory) -> None:
    window = {"since": "2025-01-01T00:00:00", "until": "2025-02-01T00:00:00"}
    for read in (memory.list, memory.recall):
        with pytest.raises(InvalidInputError, match="time zone"):
            read(**window)  # type: ignore[arg-type]  # a plain dict of fields
