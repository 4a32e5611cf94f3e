"""How long a text holds by itself."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sfams.core.lifetimes import CODE_TTL, INVITATION_TTL, MEETING_LENGTH, lifetime

SAID = datetime(2026, 5, 6, 9, 0, tzinfo=UTC)  # a Wednesday

CODES = [
    ("Your verification code is 482913.", 5),
    ("Your verification code is 482913. It is valid for 10 minutes.", 10),
    ("OTP: 904421, expires in 2 hours", 120),
    ("Use 55210 to verify your account within 15 minutes", 15),
    ("验证码 123456", 5),
    ("验证码 123456，有效期10分钟", 10),
    ("【云仓】您的验证码是480021，2分钟内有效。", 2),
    ("您的验证码是480021，半小时内有效", 30),
    ("您的验证码是[one-time code]，30分钟后失效", 30),
]
MEETINGS = [
    ("Join https://us02web.zoom.us/j/8123456789?pwd=abc tomorrow 3-4pm", "2026-05-07T16:00"),
    ("Zoom: https://zoom.us/j/123456 Friday at 10am for 45 minutes", "2026-05-08T10:45"),
    ("https://meet.google.com/abc-defg-hij on 2026-05-08 15:00", "2026-05-08T16:00"),
    ("明天下午3点到4点开会：https://meeting.tencent.com/dm/abcd", "2026-05-07T16:00"),
    ("腾讯会议：123-456-789，明天下午3点到4点", "2026-05-07T16:00"),
    ("飞书会议 https://vc.feishu.cn/j/123456789 周五上午10点半，时长30分钟", "2026-05-08T11:00"),
    ("Please join https://teams.microsoft.com/l/meetup-join/19%3a", "2026-05-07T09:00"),
    ("Join https://zoom.us/j/12345 on 8 May", "2026-05-09T00:00"),
]
FOR_EVER = [
    "My password is hunter2",
    "The lamp is green.",
    "Weekly sync every Monday 10:00 https://zoom.us/j/12345",
    "每周一例会 腾讯会议 123-456-789 上午10点",
    "My room is https://zoom.us/my/mira",
    "The recording of yesterday at 3pm: https://zoom.us/rec/abc",
    "https://zoom.us/j/12345",
    "The meeting was on 2026-04-01 15:00, https://zoom.us/j/1",
    "We use Zoom for meetings at 3pm",
    "会议室在三楼",
    "验证码功能下周三上线",
    "Your verification code is 482913. " + "But that is a long story. " * 20,
]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(("text", "minutes"), CODES)
def test_a_code_holds_for_minutes(text: str, minutes: int) -> None:
    found = lifetime(text, SAID)
    assert found is not None
    assert (found.reason, found.until) == ("one-time code", SAID + timedelta(minutes=minutes))


@pytest.mark.parametrize(("text", "until"), MEETINGS)
def test_a_meeting_link_holds_until_the_meeting_is_over(text: str, until: str) -> None:
    found = lifetime(text, SAID)
    assert found is not None
    assert (found.reason, found.until) == ("meeting", at(until))


@pytest.mark.parametrize("text", FOR_EVER)
def test_what_does_not_say_holds_for_ever(text: str) -> None:
    assert lifetime(text, SAID) is None


def test_a_meeting_is_over_in_the_zone_it_was_written_in() -> None:
    text = "腾讯会议：123-456-789，明天下午3点到4点"
    found = lifetime(text, SAID, ZoneInfo("Asia/Shanghai"))
    assert found is not None
    assert found.until == at("2026-05-07T08:00")


def test_the_defaults_are_the_documented_ones() -> None:
    assert timedelta(minutes=5) == CODE_TTL
    assert timedelta(hours=1) == MEETING_LENGTH
    assert timedelta(days=1) == INVITATION_TTL


def test_the_end_of_time_is_no_end() -> None:
    assert lifetime("OTP: 904421", datetime.max.replace(tzinfo=UTC)) is None
