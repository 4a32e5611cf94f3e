"""How long a text holds by itself: a one-time code for minutes, a meeting link until the meeting is over.

What a caller says (`ttl`, `expires_at`) goes before all of it. Where a text does not surely tell, it holds
for ever: what has wrongly expired is not found any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from sfams.core.dates import When, end_of_day, find_dates, read_span
from sfams.core.seen import seen
from sfams.core.sensitivity import Secret, find_sensitive

CODE_TTL: Final = timedelta(minutes=5)
"""Of a one-time code that states no validity of its own."""
MEETING_LENGTH: Final = timedelta(hours=1)
"""Of a meeting whose end is not told."""
INVITATION_TTL: Final = timedelta(days=1)
"""Of a link to a meeting whose day and time are not told."""

_SHORT: Final = 400
"""Characters of a message that may be all about a code; a longer text only quotes one."""
_INVITATION: Final = 2_000
"""Characters of an invitation."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Until when a text holds, and why: `one-time code` or `meeting`."""

    until: datetime
    reason: str


def lifetime(text: str, said_at: datetime, zone: tzinfo = UTC) -> Lifetime | None:
    """Tell until when a text holds; None: it does not say, and holds for ever.

    Args:
        text: What was said.
        said_at: When, aware.
        zone: Where its times without a zone were written.
    """
    if len(text) > _INVITATION:
        return None
    lower = seen(text).text.lower()
    if len(text) <= _SHORT and any(map(lower.__contains__, _CODE_WORDS)) and _holds_code(text):
        return _added(said_at, _validity(lower) or CODE_TTL, "one-time code")
    if any(map(lower.__contains__, _MEETING_WORDS)):
        return _meeting(text, lower, said_at, zone)
    return None


def _added(at: datetime, span: timedelta, reason: str) -> Lifetime | None:
    try:
        return Lifetime(at.astimezone(UTC) + span, reason)
    except OverflowError:
        return None


# ── One-time codes ───────────────────────────────────────────────────────────────────────────────

_CODE_WORDS: Final = (
    *("code", "otp", "one-time", "one time", "is your", "to verif", "to sign", "to log", "to your"),
    *("验证码", "校验码", "动态", "一次性密码", "短信码", "确认码", "登录码", "安全码"),
)
_MASK: Final = f"[{Secret.CODE.value}]"
_COUNT: Final = r"(?:\d{1,3}|an?|one|two|three|five|ten|[一二两三五半]|二?十五?|三十)"
_SPAN: Final = rf"({_COUNT}[ -]?(?:min(?:ute)?s?|h(?:ou)?rs?|sec(?:ond)?s?|分钟|个?小时|秒))"
_VALIDITY = re.compile(
    r"(?:valid|good|expires?|expiring|use it|enter it|active)(?: \w+)? "
    rf"(?:for|in|within|after) (?:the next )?{_SPAN}|within {_SPAN}|"
    rf"(?:有效期|有效时间|时效)[为是：:\s]{{0,3}}{_SPAN}|"
    rf"{_SPAN}(?:之?内|以内)?(?:有效|输入|使用|完成|填写|验证)|{_SPAN}后(?:失效|过期)"
)


def _holds_code(text: str) -> bool:
    """Tell whether a code stands in the text, or the mask that has taken its place."""
    return _MASK in text or any(each.type is Secret.CODE for each in find_sensitive(text))


def _validity(lower: str) -> timedelta | None:
    match = _VALIDITY.search(lower)
    return None if match is None else read_span(next(filter(None, match.groups())))


# ── Meetings ─────────────────────────────────────────────────────────────────────────────────────

_MEETING_WORDS: Final = (
    *("zoom", "teams.", "meet.google", "webex", "meet.jit.si", "whereby.com", "gotomeeting.com"),
    *("meeting.tencent", "voovmeeting", "feishu", "larksuite", "dingtalk", "会议", "meeting id"),
)
_LINK = re.compile(
    r"(?:zoom\.(?:us|com(?:\.cn)?)/(?:j|w|s|my|wc)/|teams\.(?:microsoft|live)\.com/(?:l/meetup-join|meet)|"
    r"meet\.google\.com/[a-z]{3}|webex\.com/(?:meet|join|[\w-]+/j\.php)|meet\.jit\.si/\w|whereby\.com/\w|"
    r"gotomeeting\.com/join|meeting\.tencent\.com/|voovmeeting\.com/|vc\.feishu\.cn/|"
    r"(?:vc|meetings?)\.larksuite\.com/|meeting\.dingtalk\.com/)"
)
_NUMBER = re.compile(
    r"(?:腾讯会议|飞书会议|会议(?:号码?|id)|meeting id|zoom(?: id)?)[\s：:#为是]{0,3}"
    r"\d{3}[ -]?\d{3,4}[ -]?\d{3,4}"
)
_AGAIN = re.compile(
    r"\b(?:every|each|weekly|daily|monthly|biweekly|recurring|standing|always|usual|permanent|personal)\b|"
    r"每[天日周月个]|例会|固定|长期|永久|个人会议|zoom\.us/my/"
)
_OVER = re.compile(
    r"\brecord(?:ing|ed)\b|/rec/|录像|录制|回放|纪要|\bminutes of\b|\bnotes (?:from|of)\b"
)
_INVITES = re.compile(
    r"\b(?:join|meeting|call|invit\w+|sync|standup|webinar|interview)\b|入会|邀请|参会|开会|会议|面试"
)


def _meeting(text: str, lower: str, said_at: datetime, zone: tzinfo) -> Lifetime | None:
    link = _LINK.search(lower)
    if (link is None and _NUMBER.search(lower) is None) or _OVER.search(lower):
        return None
    if _AGAIN.search(lower):
        return None
    end = _end(find_dates(text, said_at, zone), lower, zone)
    if end is not None:
        return Lifetime(end, "meeting") if end > said_at else None
    invites = link is not None and _INVITES.search(lower.replace(link[0], "", 1))
    return _added(said_at, INVITATION_TTL, "meeting") if invites else None


def _end(dates: Iterable[When], lower: str, zone: tzinfo) -> datetime | None:
    """Tell when the first moment with a time is over, else the first day."""
    found = tuple(dates)
    timed = next((each for each in found if each.exact), None)
    if timed is not None:
        return timed.until or timed.at + (read_span(lower) or MEETING_LENGTH)
    return end_of_day(found[0], zone) if found else None
