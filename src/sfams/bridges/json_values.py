"""JSON with line numbers: every object knows where it begins, and what precedes damage is kept."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sfams.bridges.chat_values import Skipped

_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)
_BETWEEN: Final = re.compile(r"[\s,]*")
_CLOSER: Final = {"{": "}", "[": "]"}


class Node(dict[str, object]):
    """A JSON object, the line it begins on, and whether it is whole or was cut by damage.

    Of a key given twice the last value counts.
    """

    def __init__(
        self, pairs: Iterable[tuple[str, object]], line: int, *, whole: bool = True
    ) -> None:
        super().__init__(pairs)
        self.line = line
        self.whole = whole


Value = tuple[int, object]
"""The line that a value begins on, and the value: objects as `Node`, NaN and Infinity as None."""


def values_by_line(lines: Sequence[str | None]) -> Iterator[Value | Skipped]:
    """Read one value per line, or several, each line by itself; None stands for an unread line."""
    for number, line in enumerate(lines, 1):
        if line is not None:
            yield from _Scan(line, number).values()


def values_of_document(lines: Sequence[str | None]) -> Iterator[Value | Skipped]:
    """Read a document, or several one after the other, that span lines.

    In a damaged one what precedes the damage is kept, with all that surrounds it, such as the
    session that a message stands in.
    """
    # A line that could not be read must not drop out of a value unseen: NUL is never valid.
    text = "\n".join("\0" if line is None else line for line in lines)
    scan = _Scan(text, 1)
    yield from scan.values()
    if scan.stopped is not None:
        value = scan.repaired()
        if value is not None:
            yield value


class _Scan:
    """Reads the values of one text and remembers where it had to stop."""

    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._first = first_line
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._at = 0
        self.stopped: int | None = None

    def values(self) -> Iterator[Value | Skipped]:
        """Yield value after value; at the first damage one `Skipped`, and no more."""
        while (start := self._next()) < len(self._text):
            try:
                value, self._at = self._load(self._text, start)
            except json.JSONDecodeError as error:
                self.stopped = error.pos
                yield self._refused(error.pos, f"is not JSON from here on: {error.msg}")
                return
            except (ValueError, RecursionError):
                yield self._refused(start, "is JSON nested too deeply, or with too long a number")
                return
            yield self._line(start), value

    def repaired(self) -> Value | None:
        """Close what is open behind the last whole object before the damage, and read that."""
        start = self._next()
        open_brackets: list[str] = []
        end, closers = 0, ""
        for token in _TOKEN.finditer(self._text, start, self.stopped or 0):
            if token[0] in _CLOSER:
                open_brackets.append(_CLOSER[token[0]])
            elif open_brackets and token[0] == open_brackets[-1]:
                open_brackets.pop()
                if token[0] == "}":
                    end, closers = token.end(), "".join(reversed(open_brackets))
        try:
            value, _ = self._load(self._text[:end] + closers, start, whole_until=end)
        except (ValueError, RecursionError):
            return None
        return self._line(start), value

    def _next(self) -> int:
        found = _BETWEEN.match(self._text, self._at)
        return found.end() if found else self._at

    def _load(self, text: str, start: int, whole_until: float = math.inf) -> tuple[object, int]:
        # The decoder finishes objects in the order of their closing brackets, and so do these.
        places = self._objects(text, start)

        def build(pairs: list[tuple[str, object]]) -> Node:
            line, closed_at = next(places)
            return Node(pairs, line, whole=closed_at < whole_until)

        decoder = json.JSONDecoder(
            object_pairs_hook=build,
            parse_constant=lambda _: None,
            strict=False,
        )
        return decoder.raw_decode(text, start)

    def _objects(self, text: str, start: int) -> Iterator[tuple[int, int]]:
        opened: list[int] = []
        for token in _TOKEN.finditer(text, start):
            if token[0] == "{":
                opened.append(self._line(token.start()))
            elif token[0] == "}" and opened:
                yield opened.pop(), token.start()

    def _line(self, at: int) -> int:
        return self._first + bisect_right(self._breaks, at - 1)

    def _refused(self, at: int, reason: str) -> Skipped:
        column = at - self._text.rfind("\n", 0, at)
        return Skipped(self._line(at), "json", f"column {column}", reason)
