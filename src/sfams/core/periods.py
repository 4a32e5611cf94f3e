"""Periods of a digest: the day, week or month around a moment, in UTC."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from sfams.core.moments import utc_day


class Period(StrEnum):
    """How much a digest covers; weeks begin on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, `end` excluded."""

    start: datetime
    end: datetime


def span_of(period: Period, moment: datetime) -> Span:
    """Find the period in which a moment lies."""
    day = utc_day(moment)
    if period is Period.WEEK:
        day -= timedelta(days=day.weekday())
    elif period is Period.MONTH:
        day = day.replace(day=1)
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if period is Period.MONTH:
        following = (start + timedelta(days=31)).replace(day=1)
        return Span(start, following)
    return Span(start, start + timedelta(days=7 if period is Period.WEEK else 1))


def title_of(period: Period, span: Span, language: str) -> str:
    """Head a digest, so that "this week's progress" and 本周进展 find it by its words."""
    first = span.start.date().isoformat()
    last = (span.end - timedelta(days=1)).date().isoformat()
    until = "" if period is Period.DAY else f" – {last}"
    if language == "zh":
        name = {Period.DAY: "当日进展", Period.WEEK: "本周进展", Period.MONTH: "本月进展"}[period]
        return f"{name}（{first}{until.replace(' – ', '至')}）"
    name = {Period.DAY: "Day's", Period.WEEK: "Week's", Period.MONTH: "Month's"}[period]
    return f"{name} progress {first}{until}"
