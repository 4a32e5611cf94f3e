"""A text as a reader sees it, character for character: the form in which patterns look for numbers.

Full-width and mathematical letters and digits, digits of other scripts, and the many blanks and dashes
become plain; characters without a shape go. Every place can be led back to the text as it was written.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from sfams.core.scripts import INVISIBLE

_RANGES: Final = (
    (0xFF10, 0xFF1A),  # full width; marks that Chinese is written with stay, patterns know them
    (0xFF21, 0xFF3B),
    (0xFF41, 0xFF5B),
    (0x1D400, 0x1D800),  # mathematical letters and digits
    (0x2460, 0x2469),  # circled digits
    (0x0660, 0x066A),  # Arabic-Indic
    (0x06F0, 0x06FA),
    (0x0966, 0x0970),  # Devanagari
    (0x2000, 0x200B),  # blanks
)
_MARKS: Final = "\u00a0\u202f\u3000\u2010\u2011\u2012\u2013\u2212－＝．＠＋＿＃＊／＄＆"


def _table() -> dict[int, str]:
    plain = {ord(odd): form for odd, form in zip(_MARKS, "   ------=.@+_#*/$&", strict=True)}
    for first, last in _RANGES:
        for point in range(first, last):
            char = chr(point)
            digit = unicodedata.decimal(char, None)
            form = unicodedata.normalize("NFKC", char) if digit is None else str(digit)
            if len(form) == 1 and form.isascii():
                plain[point] = form
    return plain


_PLAIN: Final = _table()
_BEYOND: Final = 0x10000
# Apart, because `re` looks a character up in one step only while all of a set are in the basic plane.
_ODD = re.compile(f"[{''.join(chr(each) for each in sorted(_PLAIN) if each < _BEYOND)}]")
_ODD_BEYOND = re.compile("[\U0001d400-\U0001d7ff]")
_HIDDEN = re.compile(f"[{INVISIBLE.partition(chr(0xE0000))[0]}]")
_HIDDEN_BEYOND = re.compile("[\U000e0000-\U000e0fff]")


@dataclass(frozen=True, slots=True)
class Seen:
    """The plain form of a text; `places` leads back to the original, None where it is the same."""

    text: str
    places: tuple[int, ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Lead a stretch of the plain form, not an empty one, back to the original text."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1


def seen(text: str) -> Seen:
    """Give a text's plain form; never raises, linear in the text."""
    if text.isascii():
        return Seen(text)
    places: tuple[int, ...] | None = None
    if _HIDDEN.search(text) or _HIDDEN_BEYOND.search(text):
        places = tuple(at for at, char in enumerate(text) if not _is_hidden(char))
        text = "".join(text[at] for at in places)
    odd = _ODD.search(text) or _ODD_BEYOND.search(text)
    return Seen(text.translate(_PLAIN) if odd else text, places)


def _is_hidden(char: str) -> bool:
    return bool(_HIDDEN.match(char) or _HIDDEN_BEYOND.match(char))
