"""Chat logs as Markdown or plain text: transcripts, and notes where nobody speaks.

- A message is opened by a speaker: `Mira: …`, `**Mira** (2026-03-02 09:14): …`, `[09:14] Mira: …`,
  `李伟：…`, or a heading such as `## User`. What follows belongs to it: paragraphs, lists, code,
  quotes.
- A heading or line that is a date sets the day of what follows; one may name the session, too.
- A time without a date is of the day before it in the file; if it goes back by more than twelve
  hours, midnight has passed.
- A text in which nobody speaks becomes one memory per paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final

from sfams.bridges.chat_memories import noted
from sfams.bridges.chat_moments import find_day, read_moment
from sfams.bridges.chat_speakers import Opening, heading_title, name_key, opening_of, speakers
from sfams.bridges.chat_values import Item, Said, Skipped, role_of, shown

_RULE: Final = re.compile(r"\s{0,3}([-*_=])(?:\s*\1){2,}\s*")
_FENCE: Final = re.compile(r"\s*(?:```+|~~~+)\s*(?P<language>[^`]*)")
_SESSION: Final = re.compile(
    r"(?:session|conversation|chat|day|meeting|会话|对话|聊天|第)\s*#?\s*[\w-]{0,20}\s*[次天节场轮]?",
    re.IGNORECASE,
)
_AROUND: Final = " \t-–—=*_:：|,，()（）#"
_WEEKDAY: Final = re.compile(
    r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\b|(?:星期|周)[一-龥]", re.IGNORECASE
)
_LONGEST_SECTION: Final = 120
_NEW_DAY: Final = timedelta(hours=12)


def read_text(lines: Sequence[str | None], zone: tzinfo) -> Iterator[Item]:
    """Turn the lines of a transcript into messages, or those of a note into paragraphs."""
    openings = [None if line is None else opening_of(line) for line in lines]
    fenced = _fences(lines, [False] * len(lines))
    outside = [None if fenced[at] else opening for at, opening in enumerate(openings)]
    names = speakers(outside, [line is not None and _is_body(line) for line in lines])
    opens = [opening is not None and name_key(opening.who) in names for opening in openings]
    fenced = _fences(lines, opens)
    reader: _Transcript | _Notes = _Notes(zone)
    if names:
        reader = _Transcript(zone, _sections(lines, opens))
    for at, line in enumerate(lines):
        if line is not None:
            opening = openings[at] if opens[at] and not fenced[at] else None
            yield from reader.take(_Line(at + 1, line, fenced[at], opening))
    yield from reader.finished()


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    fenced: bool
    opening: Opening | None


def _fences(lines: Sequence[str | None], opens: Sequence[bool]) -> list[bool]:
    """Tell which lines stand in a code block.

    A block that is never closed must not swallow the messages behind it: a fence is none if one
    with a language, or a message after a blank line, comes before the fence that closes it.
    """
    inside = [False] * len(lines)
    start: int | None = None
    for at, line in enumerate(lines):
        fence = _FENCE.fullmatch(line or "")
        blank_before = at > 0 and not (lines[at - 1] or "").strip()
        if fence and (start is None or fence["language"]):
            start = at
        elif fence and start is not None:
            inside[start : at + 1] = [True] * (at + 1 - start)
            start = None
        elif opens[at] and blank_before:
            start = None
    return inside


def _sections(lines: Sequence[str | None], opens: Sequence[bool]) -> frozenset[int]:
    """Number the lines that begin a section: dates and sessions with a message right below.

    The same line amid an answer, as in a plan for a trip, belongs to the answer.
    """
    found: set[int] = set()
    waiting: list[int] = []
    for at, line in enumerate(lines):
        if opens[at]:
            found.update(waiting)
            waiting = []
        elif line is not None and _section(line) is not None:
            waiting.append(at + 1)
        elif line is not None and _is_body(line):
            waiting = []
    return frozenset(found)


def _is_body(line: str) -> bool:
    if not line.strip() or _RULE.fullmatch(line):
        return False
    return not heading_title(line) and _section(line) is None


def _section(line: str) -> tuple[date | None, str] | None:
    """Read a line that sets the day, the session or both, such as "## Session 3 — 2026-03-05"."""
    if len(line) > _LONGEST_SECTION:
        return None
    title = heading_title(line)
    text = (title or line).strip(_AROUND)
    found = find_day(text)
    rest = _WEEKDAY.sub(" ", found[1] if found else text).strip(_AROUND)
    if found and not rest:
        return found[0], ""
    if (found or title) and _SESSION.fullmatch(rest):
        return (found[0] if found else None), rest
    return None


class _Calendar:
    """The day and session that hold where the reader stands."""

    def __init__(self, zone: tzinfo) -> None:
        self.zone = zone
        self.session = ""
        self._day: date | None = None
        self._latest: datetime | None = None
        self._fresh = False

    def turn_to(self, day: date | None, session: str) -> None:
        """Begin a section."""
        self.session = session
        if day is not None:
            self._day, self._fresh, self._latest = day, True, None

    def moment(self, stamp: str) -> datetime | None:
        """Date a message by its time as written, on the day that holds.

        Without a time the first message of a day gets the day, and the others follow it.

        Raises:
            ValueError: The time cannot be read.
        """
        if stamp:
            return self._stamped(stamp)
        if not self._fresh or self._day is None:
            return None
        self._fresh = False
        return datetime.combine(self._day, time(), self.zone)

    def _stamped(self, stamp: str) -> datetime | None:
        moment = read_moment(stamp, self.zone, self._day)
        if moment is None:
            return None
        dated = read_moment(stamp, self.zone) is not None
        if not dated and self._latest is not None and self._latest - moment > _NEW_DAY:
            moment += timedelta(days=1)
        self._day, self._latest, self._fresh = moment.date(), moment, False
        return moment


class _Transcript:
    """Collects messages: an opening, and all lines up to the next one."""

    def __init__(self, zone: tzinfo, sections: frozenset[int]) -> None:
        self._calendar = _Calendar(zone)
        self._sections = sections
        self._said: Said | None = None
        self._refused: Skipped | None = None
        self._lines: list[str] = []

    def take(self, line: _Line) -> Iterator[Item]:
        """Take a line, which opens a message or belongs to what is open."""
        section = _section(line.text) if line.number in self._sections else None
        if line.opening is not None:
            yield from self.finished()
            self._open(line.number, line.opening)
        elif section is not None:
            yield from self.finished()
            self._calendar.turn_to(*section)
        elif self._said is not None:
            if line.fenced or not _RULE.fullmatch(line.text):
                self._lines.append(line.text)
        elif _is_body(line.text):
            yield Skipped(line.number, "speaker", "", "stands before the first speaker")

    def _open(self, number: int, opening: Opening) -> None:
        moment: datetime | None = None
        try:
            moment = self._calendar.moment(opening.stamp)
        except ValueError as error:
            self._refused = Skipped(number, "timestamp", shown(opening.stamp), str(error))
        self._said = Said(
            line=number,
            content="",
            who=opening.who,
            role=role_of(opening.who),
            session=self._calendar.session,
            moment=moment,
        )
        self._lines = [opening.text]

    def finished(self) -> Iterator[Item]:
        """Close the message that is open."""
        said, refused = self._said, self._refused
        text = "\n".join(self._lines).strip("\n").rstrip()
        self._said, self._refused, self._lines = None, None, []
        if refused is not None:
            yield refused
        elif said is not None and said.role == "system":
            yield Skipped(said.line, "role", "system", "instructions to the model are no memory")
        elif said is not None:
            yield replace(said, content=text)


class _Notes:
    """Collects paragraphs; a heading belongs to the paragraph below it."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._moment: datetime | None = None
        self._first = 0
        self._lines: list[str] = []
        self._headed = False

    def take(self, line: _Line) -> Iterator[Item]:
        """Take a line."""
        section = None if line.fenced else _section(line.text)
        if section is not None and section[0] is not None:
            yield from self.finished()
            self._moment = datetime.combine(section[0], time(), self._zone)
        elif not line.fenced and (title := heading_title(line.text)):
            yield from self.finished()
            self._begin(line.number, title, headed=True)
        elif not line.fenced and (not line.text.strip() or _RULE.fullmatch(line.text)):
            if not self._headed:
                yield from self.finished()
        else:
            self._begin(line.number, line.text, headed=False)

    def _begin(self, number: int, line: str, *, headed: bool) -> None:
        self._first = self._first or number
        self._lines.append(line.rstrip())
        self._headed = headed

    def finished(self) -> Iterator[Item]:
        """Close the paragraph that is open."""
        first, lines, headed = self._first, self._lines, self._headed
        self._first, self._lines, self._headed = 0, [], False
        if headed:
            yield Skipped(first, "content", "", "a heading without a text below it")
        elif lines:
            yield noted(first, "\n".join(lines), {"created_at": self._moment}, self._zone)
