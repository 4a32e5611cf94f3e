"""Days and times in a text, read against the moment they were said."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfams.core.dates import end_of_day, find_dates, read_span

SAID = datetime(2026, 5, 6, 9, 0, tzinfo=UTC)  # a Wednesday
BERLIN, SHANGHAI = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Shanghai")

TIMES = [
    ("tomorrow 3-4pm", "2026-05-07T15:00", "2026-05-07T16:00"),
    ("Tomorrow at 3pm", "2026-05-07T15:00", None),
    ("tomorrow from 3 to 4 pm", "2026-05-07T15:00", "2026-05-07T16:00"),
    ("between 11 and 1pm on Friday", "2026-05-08T11:00", "2026-05-08T13:00"),
    ("3:30-4:30 pm today", "2026-05-06T15:30", "2026-05-06T16:30"),
    ("2026-05-08 15:00-16:30", "2026-05-08T15:00", "2026-05-08T16:30"),
    ("2026-05-08T10:00:00+02:00", "2026-05-08T08:00", None),
    ("May 8th, 2026 at 10:15 am PST", "2026-05-08T18:15", None),
    ("in two hours", "2026-05-06T11:00", None),
    ("30 minutes ago", "2026-05-06T08:30", None),
    ("next Friday 14:00", "2026-05-15T14:00", None),
    ("tonight at 8pm", "2026-05-06T20:00", None),
    ("noon tomorrow", "2026-05-07T12:00", None),
    ("15:00 UTC+8", "2026-05-07T07:00", None),
    ("8am", "2026-05-07T08:00", None),
    ("10am", "2026-05-06T10:00", None),
    ("23:30-00:30", "2026-05-06T23:30", "2026-05-07T00:30"),
    ("明天下午3点到4点", "2026-05-07T15:00", "2026-05-07T16:00"),
    ("明天下午三点半", "2026-05-07T15:30", None),
    ("今晚8点", "2026-05-06T20:00", None),
    ("下周二上午10:30", "2026-05-12T10:30", None),
    ("2026年5月20日下午2点至3点半", "2026-05-20T14:00", "2026-05-20T15:30"),
    ("上午11点到1点", "2026-05-06T11:00", "2026-05-06T13:00"),
    ("半小时后", "2026-05-06T09:30", None),
    ("北京时间15:00", "2026-05-07T15:00+08:00", None),
    ("后天中午12点", "2026-05-08T12:00", None),
    ("明天１５：３０", "2026-05-07T15:30", None),
]
DAYS = [
    ("2026-05-04", "2026-05-04"),
    ("4 May 2026", "2026-05-04"),
    ("the 4th of May", "2026-05-04"),
    ("January 5", "2026-01-05"),
    ("December 25", "2026-12-25"),
    ("Friday", "2026-05-08"),
    ("last Monday", "2026-04-27"),
    ("day after tomorrow", "2026-05-08"),
    ("3 days ago", "2026-05-03"),
    ("two weeks from now", "2026-05-20"),
    ("5月20号", "2026-05-20"),
    ("2025年1月31日", "2025-01-31"),
    ("十二月三十一日", "2026-12-31"),
    ("周五", "2026-05-08"),
    ("上周五", "2026-05-01"),
    ("下下周一", "2026-05-18"),
    ("礼拜天", "2026-05-10"),
    ("昨天", "2026-05-05"),
    ("三天后", "2026-05-09"),
]
NOTHING = [
    *("31 February 2026", "2026-13-01", "version 3.12.4", "5/4", "at three", "port 8443", "", "?"),
    *("25:00", "a 3 hour film", "3个小时", "5分钟内有效", "一点都不", "这两点"),
    *("may", "I may 5", "第5日报", "we decided 4 things", "mayor 5"),
    *("in the morning", "the day", "192.168.1.12", "chapter 12:3:4:5", "ratio 16:9", "99点"),
]


def at(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@pytest.mark.parametrize(("text", "start", "end"), TIMES)
def test_a_time_is_read_to_the_minute(text: str, start: str, end: str | None) -> None:
    for around in (text, f"See you {text}, please.", f"会议在{text}，请准时"):
        (when,) = find_dates(around, SAID)
        assert when.exact
        assert when.at == at(start)
        assert when.at.tzinfo is UTC
        assert when.until == (None if end is None else at(end))
        assert around[when.start : when.end] in around


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_a_day_is_read_as_its_midnight(text: str, day: str) -> None:
    (when,) = find_dates(f"({text})", SAID)
    assert not when.exact
    assert when.at == at(day + "T00:00")
    assert end_of_day(when, UTC) == when.at + timedelta(days=1)


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_day_or_time_says_nothing(text: str) -> None:
    assert find_dates(text, SAID) == ()


def test_spans_lead_back_to_the_text_as_it_was_written() -> None:
    text = "会议\u200b改到１２月\u200b１日，或者 tomorrow at 3pm。"
    assert [text[w.start : w.end] for w in find_dates(text, SAID)] == [
        "１２月\u200b１日",
        "tomorrow at 3pm",
    ]


def test_times_are_of_the_zone_they_were_written_in() -> None:
    (when,) = find_dates("明天下午3点", SAID, SHANGHAI)
    assert when.at == at("2026-05-07T15:00+08:00")
    late = at("2026-05-06T20:00")  # already tomorrow in Shanghai
    (when,) = find_dates("today at 9am", late, SHANGHAI)
    assert when.at == at("2026-05-07T09:00+08:00")


def test_days_are_as_long_as_their_zone_makes_them() -> None:
    (when,) = find_dates("2026-03-29", SAID, BERLIN)
    assert end_of_day(when, BERLIN) - when.at == timedelta(hours=23)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        *(("45 minutes", 45), ("1.5 hours", 90), ("an hour", 60), ("90 sec", 1.5), ("半小时", 30)),
        *(("10分钟", 10), ("两个小时", 120), ("三十分钟", 30), ("２０分钟", 20)),
    ],
)
def test_lengths_of_time(text: str, minutes: float) -> None:
    assert read_span(f"It takes {text}.") == timedelta(minutes=minutes)
    assert read_span("It takes long.") is None


WORDS = st.sampled_from(
    [
        *(
            "3",
            "15:30",
            "pm",
            "am",
            "tomorrow",
            "明天",
            "下午",
            "点",
            "半",
            "到",
            "-",
            "–",
            "to",
            "in",
        ),
        *(
            "2026-05-04",
            "5月",
            "31日",
            "周五",
            "next",
            "Friday",
            "9999",
            "天后",
            "UTC+14",
            "99",
            "Feb 29",
        ),
    ]
)


@given(
    st.lists(WORDS, max_size=7).map(" ".join) | st.text(max_size=60),
    st.datetimes(timezones=st.just(UTC)),
)
def test_any_text_at_any_moment_can_be_read(text: str, said: datetime) -> None:
    for when in find_dates(text, said):
        assert 0 <= when.start < when.end <= len(text)
        assert when.until is None or when.until > when.at
