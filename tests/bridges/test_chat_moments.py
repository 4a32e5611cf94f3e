from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.bridges.chat_moments import find_day, read_moment

BERLIN = ZoneInfo("Europe/Berlin")
DAY = date(2026, 3, 2)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-02T09:14:00Z", "2026-03-02T09:14:00+00:00"),
        ("2026-03-02T09:14:00+08:00", "2026-03-02T09:14:00+08:00"),
        ("2026-03-02 09:14:00.5", "2026-03-02T09:14:00.500000+01:00"),
        ("2026-03-02 09:14:00,123", "2026-03-02T09:14:00.123000+01:00"),
        ("2026-07-02 09:14", "2026-07-02T09:14:00+02:00"),
        ("2023-04-27", "2023-04-27T00:00:00+02:00"),
        ("20230427T0914", "2023-04-27T09:14:00+02:00"),
        ("20230427091400", "2023-04-27T09:14:00+02:00"),
        ("2023/5/8 13:56", "2023-05-08T13:56:00+02:00"),
        ("2023.5.8", "2023-05-08T00:00:00+02:00"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00+02:00"),
        ("12:09 am on 13 September, 2023", "2023-09-13T00:09:00+02:00"),
        ("12:09 p.m. on 13th of Sept. 2023", "2023-09-13T12:09:00+02:00"),
        ("March-15-2024", "2024-03-15T00:00:00+01:00"),
        ("Mar 5, 2024 at 9:14 PM", "2024-03-05T21:14:00+01:00"),
        ("05-Mar-2024", "2024-03-05T00:00:00+01:00"),
        ("Mon, 02 Mar 2026 09:14:00 +0100", "2026-03-02T09:14:00+01:00"),
        ("Monday, 2 March 2026 09:14 GMT", "2026-03-02T09:14:00+00:00"),
        ("2026年3月2日 9:14", "2026-03-02T09:14:00+01:00"),
        ("2026年3月2日 星期一 下午1:56", "2026-03-02T13:56:00+01:00"),
        ("２０２６-03-02　09：14", "2026-03-02T09:14:00+01:00"),
        (1767225600, "2026-01-01T00:00:00+00:00"),
        (1767225600.5, "2026-01-01T00:00:00.500000+00:00"),
        (1767225600_000, "2026-01-01T00:00:00+00:00"),
        (1767225600_000_000, "2026-01-01T00:00:00+00:00"),
        ("1767225600", "2026-01-01T00:00:00+00:00"),
        ("09:14", "2026-03-02T09:14:00+01:00"),
        ("9:14 pm", "2026-03-02T21:14:00+01:00"),
    ],
)
def test_moments_are_read_as_written(value: object, expected: str) -> None:
    moment = read_moment(value, BERLIN, DAY)
    assert moment is not None
    assert moment.isoformat() == expected


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nothing_is_no_moment(value: object) -> None:
    assert read_moment(value, UTC) is None


def test_a_time_needs_a_day() -> None:
    assert read_moment("09:14", UTC) is None


@pytest.mark.parametrize(
    "value",
    [
        *("soon", "31/02/2026", "2026-02-31", "2026-13-01", "3/4/2026", "03-04-2026", "2026"),
        *("25:00", "13:56 pm on 8 May, 2023", "0:30 am", "8 Mai 2023", "2023-05-08 and more"),
        *("2026-03-02 09:14 and 10:15", "x" * 500, "9" * 40, "1e999"),
        *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
        *(float("nan"), float("inf"), 1e30, True, [], {}),
    ],
)
def test_what_cannot_be_read_or_can_be_read_in_two_ways_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_moment(value, UTC)


@given(st.one_of(st.text(max_size=120), st.floats(), st.integers(), st.booleans()))
def test_any_value_is_read_or_refused(value: object) -> None:
    try:
        moment = read_moment(value, BERLIN, DAY)
    except ValueError:
        return
    assert moment is None or moment.astimezone(UTC).utcoffset() == timedelta(0)


@given(
    st.datetimes(
        min_value=datetime(1970, 1, 2),  # noqa: DTZ001  # the strategy adds the time zone
        max_value=datetime(2200, 1, 1),  # noqa: DTZ001  # the same
        timezones=st.just(timezone(timedelta(hours=8))),
    )
)
def test_iso_moments_survive(moment: datetime) -> None:
    assert read_moment(moment.isoformat(), UTC) == moment


@pytest.mark.parametrize(
    ("title", "day", "rest"),
    [
        ("Session 3 — 2026-03-05", date(2026, 3, 5), "Session 3 —"),
        ("Talk of 5 March 2026, Porto", date(2026, 3, 5), "Talk of  , Porto"),
        ("2026年3月5日", date(2026, 3, 5), ""),
    ],
)
def test_a_day_is_found_in_a_heading(title: str, day: date, rest: str) -> None:
    found = find_day(title)
    assert found is not None
    assert (found[0], found[1].strip()) == (day, rest)


@pytest.mark.parametrize("title", ["Plan", "2026-02-31", "v2026-03-05x", "1-2-3"])
def test_no_day_is_found_where_there_is_none(title: str) -> None:
    assert find_day(title) is None
