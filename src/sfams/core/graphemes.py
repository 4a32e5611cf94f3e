"""Shortened views of a text that never cut through what a reader takes for one character."""

import re
import unicodedata
from typing import Final

from sfams.core.scripts import FLAG_LETTERS, SKIN_TONES, SURROGATES

_ZWJ: Final = "\u200d"
_SURROGATE = re.compile(f"[{SURROGATES}]")
_FLAG_LETTER = re.compile(f"[{FLAG_LETTERS}]")
# Not marks by category, yet drawn onto the character before them: joiners, half-width voicing,
# Thai and Lao AM, skin tones, and the tag letters that spell the flag of Scotland.
_EXTENDER = re.compile(f"[\u200c\u200d\uff9e\uff9f\u0e33\u0eb3{SKIN_TONES}\U000e0020-\U000e007f]")
_VIRAMA = re.compile("[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0d4d]")
_PREPENDED = re.compile("[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2]")  # signs around a number
_BREAKS: Final = frozenset({"Cc", "Zl", "Zp"})

# Hangul letters before, inside and after a syllable; an LV syllable may still take a final.
_LEADING = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_VOWEL = re.compile("[\u1160-\u11a7\ud7b0-\ud7c6]")
_FINAL = re.compile("[\u11a8-\u11ff\ud7cb-\ud7fb]")
_SYLLABLE = re.compile("[\uac00-\ud7a3]")


def clip(text: str, limit: int, mark: str = "…") -> str:
    """Show the start of a text in at most `limit` code points, the mark of the cut included.

    The cut falls between grapheme clusters (Unicode Annex 29; any character after a ZWJ counts as
    joined), so it keeps families, flags, accents and Hangul syllables whole, and may return only
    the mark. A text that fits comes back as it is, but for lone surrogates: they become U+FFFD,
    because a view must always be valid UTF-8.
    """
    if len(text) <= limit:
        return _SURROGATE.sub("\ufffd", text)
    if limit < len(mark):
        return clip(mark, max(limit, 0), "")
    end = limit - len(mark)
    while end > 0 and _joined(text, end):
        end -= 1
    return _SURROGATE.sub("\ufffd", text[:end].rstrip() + mark)


def _joined(text: str, at: int) -> bool:
    """Whether the characters on both sides of `at` belong to one cluster."""
    left, right = text[at - 1], text[at]
    if unicodedata.category(left) in _BREAKS or unicodedata.category(right) in _BREAKS:
        return left + right == "\r\n"
    if unicodedata.category(right).startswith("M") or _EXTENDER.match(right):
        return True
    if _FLAG_LETTER.match(right):
        return left == _ZWJ or _flag_letters_before(text, at) % 2 == 1
    return (
        (left == _ZWJ and not right.isspace())
        or bool(_PREPENDED.match(left))
        or _joined_conjunct(left, right)
        or _joined_hangul(left, right)
    )


def _joined_conjunct(left: str, right: str) -> bool:
    # One block of 128 code points is one script: a virama joins only the consonants of its own.
    return bool(_VIRAMA.match(left)) and right.isalpha() and ord(left) >> 7 == ord(right) >> 7


def _joined_hangul(left: str, right: str) -> bool:
    if _LEADING.match(left):
        return bool(_LEADING.match(right) or _VOWEL.match(right) or _SYLLABLE.match(right))
    open_syllable = bool(_SYLLABLE.match(left)) and (ord(left) - 0xAC00) % 28 == 0
    if _VOWEL.match(left) or open_syllable:
        return bool(_VOWEL.match(right) or _FINAL.match(right))
    return bool((_FINAL.match(left) or _SYLLABLE.match(left)) and _FINAL.match(right))


def _flag_letters_before(text: str, at: int) -> int:
    # Two letters make a flag, so in a row of flags only the count says where one ends.
    start = at
    while start > 0 and _FLAG_LETTER.match(text[start - 1]):
        start -= 1
    return at - start
