"""What a text is to a memory: the form to compare, the terms to find it by, the tokens it costs.

The stored text itself is never changed; everything here is a view of it. No function raises for any
`str`, lone surrogates included, and all take time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

import numpy as np
import Stemmer
from numpy.typing import NDArray

from sfams.core.graphemes import clip
from sfams.core.scripts import (
    CJK,
    DENSE,
    EMOJI,
    FLAG_LETTERS,
    IDEOGRAPHIC,
    INVISIBLE,
    MARKS,
    SURROGATES,
    language_of,
)

__all__ = [
    "TOKENIZER_VERSION",
    "clip",
    "count_tokens",
    "drop_words",
    "find_surrogate",
    "fold",
    "is_blank",
    "language_of",
    "normalise",
    "query_terms",
    "signature",
    "stem",
    "tokenise",
]

TOKENIZER_VERSION: Final = "1"
"""Stored beside the terms; raise it with any change to `fold`, the terms or PyStemmer's rules."""

# --- forms of a text ---------------------------------------------------------------------------

_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_SURROGATE = re.compile(f"[{SURROGATES}]")
_SEEN = re.compile(f"[^\\s\x00-\x1f\x7f-\x9f{INVISIBLE}]")


def normalise(text: str) -> str:
    """Give the form in which texts are compared and hashed: NFC, each run of blanks one blank."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def is_blank(text: str) -> bool:
    """Whether a reader sees nothing: only white space, controls and characters without a shape."""
    return _SEEN.search(text) is None


def find_surrogate(text: str) -> int | None:
    """Find the first lone surrogate, which neither UTF-8 nor JSON can carry."""
    found = _SURROGATE.search(text)
    return found.start() if found else None


_ACCENTS = re.compile("[\u0300-\u036f]+")
# An accent on these is spelling that people leave out when they search. Elsewhere a mark is a vowel
# (Devanagari, Thai, Hebrew, Arabic) or another letter (Cyrillic й), and stays.
_LATIN_OR_GREEK = re.compile(
    "[A-Za-zªº\u00c0-\u02af\u1d00-\u1dbf\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f"
    "\u0370-\u03ff\u1f00-\u1fff]"
)
# Letters that Unicode does not take apart but keyboards do, and the many shapes of ' and -.
_PLAIN: Final = dict(zip("øłđħı‘’‛ʼ‐‑‒–−", "oldhi''''-----", strict=True))
_VARIANT = re.compile(f"[{''.join(_PLAIN)}]")


def fold(text: str) -> str:
    """Give the form in which a text is searched: equal for what people type as the same.

    Compatibility forms (full width, ligatures), case, invisible characters, the shape of
    apostrophes and hyphens, and the accents of Latin and Greek do not matter; nor do Russian ё and
    Turkish ı.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    folded = _ACCENTS.sub(_without_accents, unicodedata.normalize("NFD", folded))
    folded = _VARIANT.sub(lambda found: _PLAIN[found[0]], folded)
    return unicodedata.normalize("NFKC", folded)


def _without_accents(marks: re.Match[str]) -> str:
    # Searching for the marks and looking back is six times faster than searching for their letters.
    letter = marks.string[marks.start() - 1 : marks.start()]
    if _LATIN_OR_GREEK.match(letter):
        return ""
    return marks[0].replace("\u0308", "") if letter == "е" else marks[0]


_FULL_WIDTH = {0xFF01 + i: chr(0x21 + i) for i in range(94)}
_QUOTES = str.maketrans("“”„‟«»「」『』〝〞‘’‚‛", '""""""""""""' + "''''")
_TYPOGRAPHY = _FULL_WIDTH | _QUOTES
# 5' is feet and 5" inches; anywhere else single and double quotes are a matter of taste.
_SINGLE_QUOTE = re.compile(r"(?<!\d)'")
_IDLE_BLANK = re.compile(f"(?<=[{IDEOGRAPHIC}]) | (?=[{IDEOGRAPHIC}])")
_FINAL_STOPS = ".!。｡… "
_CLOSERS = "\"')]}"


def signature(text: str) -> str:
    """Give the form that near-duplicates share: same words, numbers, symbols and question marks.

    Case, blanks, the style of quotes, full-width forms and final stops and exclamation marks do not
    matter. Accents do: "resume" is not "résumé". Punctuation alone is its own signature.
    """
    if text.isascii():  # no other forms to bring together: a third of the time
        plain = _SINGLE_QUOTE.sub('"', " ".join(text.lower().split()))
    else:
        seen = _INVISIBLE.sub("", text)
        plain = normalise(seen.translate(_TYPOGRAPHY)).casefold()
        plain = _SINGLE_QUOTE.sub('"', _IDLE_BLANK.sub("", normalise(plain)))
    core = plain.rstrip(_FINAL_STOPS + _CLOSERS)
    closers = "".join(char for char in plain[len(core) :] if char in _CLOSERS)
    return core + closers if core else plain


# --- search terms ------------------------------------------------------------------------------

_LETTER = f"[^\\W_{DENSE}{FLAG_LETTERS}]"
_WORD = f"{_LETTER}++(?:[{MARKS}]++{_LETTER}*+)*+"
# C++, C#, A+ and 50+ keep their sign; in a+b and C#5 it only joins or ends a word.
_PIECE = rf"{_WORD}(?:\+\+|[+#](?!\w))?+"
_JOINER = r"(?:[-./:@&'_+]|(?<=\d),(?=\d))"
# Possessive throughout: no text can make the search go back over what it has read.
_TOKEN = re.compile(
    f"([{DENSE}]++)|({_PIECE}(?:{_JOINER}{_PIECE})*+|[{FLAG_LETTERS}]{{2}}|[{EMOJI}{FLAG_LETTERS}])"
)
_UNIGRAMS = re.compile(f"[{CJK}]")
_SEGMENTS = re.compile(r"[/:@&]")
_PIECES = re.compile(r"[-./:@&'_+#,]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_CLITICS = frozenset({"d", "ll", "m", "re", "s", "t", "ve"})

_SINGLE: Final = "="
"""Marks the term of one character: 退 is found inside 退款 only when it is asked for alone."""
_LONGEST_TERM: Final = 64
"""In characters; the rest of a longer word (base64, a log line) is not searchable."""


def tokenise(text: str) -> list[str]:
    """Give the terms a text is indexed by, repeats included, in the order of the text.

    A word gives itself folded and stemmed; a compound gives itself, its segments and its words, so
    that TN-88 finds TN-88 before TN 89. Scripts without blanks, and Hangul, give overlapping pairs
    of characters, and each Chinese, Japanese or Korean character as a term of its own beside them.
    An emoji (skin tone aside) is a term; punctuation is none.
    """
    terms: list[str] = []
    for run, token in _TOKEN.findall(fold(text)):
        if run:
            terms.extend(_pairs(run))
            if len(run) > 1:
                terms.extend(_SINGLE + char for char in _UNIGRAMS.findall(run))
        else:
            terms.extend(_word_terms(token))
    return terms


def query_terms(text: str) -> list[str]:
    """Give the terms to search for: as `tokenise`, without the single characters of longer runs.

    They would match every text that has one character in common and drown the pairs.
    """
    terms: list[str] = []
    for run, token in _TOKEN.findall(fold(text)):
        terms.extend(_pairs(run) if run else _word_terms(token))
    return terms


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [_SINGLE + run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _word_terms(token: str) -> tuple[str, ...]:
    # Only short words recur; caching the others would let one hostile text fill the memory.
    return _short_terms(token) if len(token) <= _LONGEST_TERM else _split(token)


@lru_cache(maxsize=65_536)
def _short_terms(token: str) -> tuple[str, ...]:
    return (stem(token),) if token.isalpha() else _split(token)


def drop_words() -> None:
    """Empty the cache of words: after an erasure this process shall not remember them either."""
    _short_terms.cache_clear()


def _split(token: str) -> tuple[str, ...]:
    """Give a compound's terms, the whole first, each once."""
    segments = _SEGMENTS.split(token)
    pieces = [piece for piece in _PIECES.split(token) if piece and piece not in _CLITICS]
    whole = [token] if len(token) <= _LONGEST_TERM else []
    numbers = [token.replace(",", "")] if _THOUSANDS.fullmatch(token) else []
    terms = [*whole, *numbers, *segments, *(pieces or [token])]
    return tuple(dict.fromkeys(stem(term[:_LONGEST_TERM]) for term in terms))


# A Snowball stemmer keeps the word it is working on inside itself. PyStemmer holds the interpreter
# lock throughout, so threads may share it there; a build without that lock would need one each. Its
# own cache is off: the one above already answers for every word that recurs.
_ENGLISH = Stemmer.Stemmer("english", 0)
_RUSSIAN = Stemmer.Stemmer("russian", 0)
_LATIN_WORD = re.compile("[a-z]+(?:'s)?")
_CYRILLIC_WORD = re.compile("[а-я]+")


def stem(word: str) -> str:
    """Cut a folded word down to what its inflections share, in English and in Russian."""
    if _LATIN_WORD.fullmatch(word):
        return str(_ENGLISH.stemWord(word))
    if _CYRILLIC_WORD.fullmatch(word):
        return str(_RUSSIAN.stemWord(word))
    return word


# --- cost --------------------------------------------------------------------------------------

# Hundredths of a token per character; where classes overlap, the later counts. Set by hand between
# OpenAI's cl100k_base and o200k_base: English chat, code and Markdown come within a tenth of both,
# Chinese within a quarter (the two differ there by half).
_OTHER_COST: Final = 60
_ASTRAL_COST: Final = 140
_COSTS: Final = (
    ("A-Za-z", 24),
    ("\u0080-\u024f\u1e00-\u1eff", 45),
    ("\u0400-\u052f", 42),
    ("\u3000-\u303f\uff01-\uff65", 80),
    (CJK, 90),
    (EMOJI, 130),
    (SURROGATES, 100),
    ("\x00-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000", 10),
    (" ", 0),
)
_BEYOND: Final = 0x10000


def _cost_table() -> NDArray[np.uint8]:
    # The last entry stands for everything beyond the basic plane: emoji and rare ideographs.
    table = np.full(_BEYOND + 1, _OTHER_COST, np.uint8)
    for characters, cost in _COSTS:
        for first, last in re.findall("(.)(?:-(.))?", characters, re.DOTALL):
            table[ord(first) : ord(last or first) + 1] = cost
    table[_BEYOND] = _ASTRAL_COST
    return table


_COST = _cost_table()


def count_tokens(text: str) -> int:
    """Estimate how many tokens a language model will see, without any model's vocabulary.

    About one per four Latin letters (1.3 a word with its punctuation), per two digits or marks, and
    0.9 per Chinese character. Each character has a fixed price, so the sum only grows as text is
    added; spaces alone cost 0, and anything to read at least 1.
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    hundredths = int(_COST[np.minimum(points, _BEYOND)].sum(dtype=np.int64))
    return -(-hundredths // 100)
