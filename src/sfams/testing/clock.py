"""FakeClock: a clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 7, 20, 12, tzinfo=UTC)
"""Where tests begin unless they say otherwise."""


class FakeClock:
    """Stands in for the clock: `FakeClock()()` tells the moment, `advance(days=30)` moves it."""

    def __init__(self, start: datetime = START) -> None:
        self._moment = _utc(start)

    def __call__(self) -> datetime:
        """Tell the present moment."""
        return self._moment

    def advance(
        self,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        microseconds: float = 0,
    ) -> datetime:
        """Move on (or back, with a negative number) and tell the new moment."""
        self._moment += timedelta(
            days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=microseconds
        )
        return self._moment

    def set(self, moment: datetime) -> datetime:
        """Jump to a moment and tell it."""
        self._moment = _utc(moment)
        return self._moment


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone")
    return moment.astimezone(UTC)
