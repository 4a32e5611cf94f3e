"""Moments are instants, whatever the host's time zone; durations are longer than zero."""

import math
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.moments import (
    MISSING,
    NEVER,
    DurationLike,
    MomentLike,
    format_moment,
    from_micros,
    parse_duration,
    parse_moment,
    to_micros,
    utc_day,
)
from sfams.errors import InvalidInputError

JUNE = datetime(2026, 6, 5, 15, tzinfo=UTC)


def moment(value: MomentLike) -> datetime:
    return parse_moment(value, field="expires_at")


def duration(value: DurationLike) -> timedelta:
    return parse_duration(value, field="ttl")


@pytest.mark.parametrize(
    "value",
    [
        "2026-06-06T00:00:00+09:00",
        "2026-06-05T15:00:00Z",
        "2026-06-05T15:00Z",
        "2026-06-05 15:00:00.000+00:00",
        "20260605T150000Z",
        datetime(2026, 6, 6, tzinfo=timezone(timedelta(hours=9))),
        1_780_671_600,
        1_780_671_600.0,
    ],
)
def test_every_spelling_of_an_instant_is_that_instant_in_utc(value: MomentLike) -> None:
    assert moment(value) == JUNE
    assert moment(value).tzinfo is UTC


def test_fractions_of_a_second_are_kept() -> None:
    assert moment(1_740_787_200.5) == datetime(2025, 3, 1, 0, 0, 0, 500_000, tzinfo=UTC)
    assert moment("2026-02-11T09:15:00.123456Z").microsecond == 123_456


@pytest.mark.parametrize("host", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_the_hosts_time_zone_does_not_matter(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    time = pytest.importorskip("time")
    monkeypatch.setenv("TZ", host)
    time.tzset()
    try:
        assert moment("2026-06-06T00:00:00+09:00") == JUNE
        assert format_moment(JUNE) == "2026-06-05T15:00:00Z"
        assert utc_day(JUNE) == date(2026, 6, 5)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "value",
    [
        "2026-06-06T00:00:00",
        "2026-06-06",
        "soon",
        "",
        "31/02/2026",
        "2026-02-30T00:00:00Z",
        "2026-05-20T08:29:42+00:00 ",
        "0001-01-01T00:00:00+09:00",
        "9999-12-31T23:00:00-09:00",
        datetime(2026, 6, 6),  # noqa: DTZ001  (naive on purpose)
        math.nan,
        math.inf,
        1e300,
        10**400,
        1_780_671_600_000,
    ],
)
def test_what_is_no_instant_is_refused_by_field(value: MomentLike) -> None:
    with pytest.raises(InvalidInputError, match=r"^expires_at: ") as caught:
        moment(value)
    assert caught.value.context["field"] == "expires_at"


@pytest.mark.parametrize("value", [True, None, [], b"2026", date(2026, 6, 6)])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(InvalidInputError, match="expected a moment"):
        moment(value)  # type: ignore[arg-type]  # what untyped callers do


def test_a_zone_that_knows_no_offset_is_naive() -> None:
    class Nowhere(tzinfo):
        def utcoffset(self, when: datetime | None, /) -> None:
            return None

        dst = utcoffset

        def tzname(self, when: datetime | None, /) -> None:
            return None

    with pytest.raises(InvalidInputError, match="time zone"):
        moment(datetime(2026, 6, 6, tzinfo=Nowhere()))


def test_a_bare_date_is_midnight_utc_for_filters_only() -> None:
    midnight = parse_moment("2026-07-20", field="from", date_only=True)
    assert midnight == datetime(2026, 7, 20, tzinfo=UTC)
    with pytest.raises(InvalidInputError, match="2026-07-20T00:00:00Z"):
        moment("2026-07-20")


def test_the_repeated_hour_sorts_by_instant() -> None:
    started, finished = moment("2026-10-25T02:30:00+02:00"), moment("2026-10-25T02:30:00+01:00")
    assert finished - started == timedelta(hours=1)


def test_a_day_is_24_hours_across_a_clock_change() -> None:
    created = moment("2026-10-31T12:00:00-04:00")
    assert created + duration("1d") == datetime(2026, 11, 1, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (90, timedelta(seconds=90)),
        (0.5, timedelta(milliseconds=500)),
        ("90s", timedelta(seconds=90)),
        ("5m", timedelta(minutes=5)),
        ("24h", timedelta(days=1)),
        (" 7D ", timedelta(days=7)),
        ("1.5 d", timedelta(hours=36)),
        ("4w", timedelta(days=28)),
        (timedelta(days=1), timedelta(days=1)),
        (9_999_999_999, timedelta(seconds=9_999_999_999)),
    ],
)
def test_durations(value: DurationLike, expected: timedelta) -> None:
    assert duration(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        *(0, -5, 1e-9, math.nan, math.inf, 1e300, 10**400, True),
        *("0s", "-5s", "5", "", "sixty", "1d12h", "9999999999999999d"),
        *(timedelta(0), timedelta(days=-1)),
    ],
)
def test_what_is_no_duration_is_refused_zero_included(value: DurationLike) -> None:
    with pytest.raises(InvalidInputError, match=r"^ttl: "):
        duration(value)


@given(st.datetimes(timezones=st.just(UTC)))
def test_columns_and_text_keep_every_microsecond(when: datetime) -> None:
    assert from_micros(to_micros(when)) == when
    assert parse_moment(format_moment(when), field="at") == when
    assert MISSING < to_micros(when) < NEVER
