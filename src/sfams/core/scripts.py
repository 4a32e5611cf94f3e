"""Writing systems: characters without blanks, emoji, the unseen, and the language they hint at.

The tables are written out rather than asked of `unicodedata`, so that a store's terms do not change
with the Python that wrote them (the data follows the interpreter), and importing costs nothing.
Each constant is the inside of a regular expression's `[...]`. Source: Unicode 15.1, Scripts.txt and
DerivedGeneralCategory.txt; historic scripts are left out.
"""

import re
from collections.abc import Mapping
from typing import Final

# --- scripts written without blanks ------------------------------------------------------------

HAN: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
KANA: Final = (
    "\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\U0001b000-\U0001b16f"
)
BOPOMOFO: Final = "\u3105-\u312f\u31a0-\u31bf"
HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7fb\uffa1-\uffdc"
THAI: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"
LAO_KHMER_MYANMAR: Final = (
    "\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17e9\ua9e0-\ua9fe\uaa60-\uaa7f"
)

IDEOGRAPHIC: Final = HAN + KANA + BOPOMOFO
"""Chinese and Japanese: a blank says nothing here, and one character can be a word."""
CJK: Final = IDEOGRAPHIC + HANGUL
DENSE: Final = CJK + THAI + LAO_KHMER_MYANMAR
"""Everything that is cut into pairs of characters, because no blank marks a word."""

# --- marks, emoji and what cannot be seen ------------------------------------------------------

MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0"
    "\u07eb-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0903\u093a-\u094f"
    "\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u09e2\u09e3\u09fe-\u0a03"
    "\u0a3c-\u0a51\u0a70\u0a71\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0ae2\u0ae3\u0afa-\u0b03"
    "\u0b3c-\u0b57\u0b62\u0b63\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04\u0c3c-\u0c56\u0c62\u0c63"
    "\u0c81-\u0c83\u0cbc-\u0cd6\u0ce2\u0ce3\u0cf3\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d62\u0d63"
    "\u0d81-\u0d83\u0dca-\u0ddf\u0df2\u0df3\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f\u0f71-\u0f84"
    "\u0f86-\u0f97\u0f99-\u0fbc\u135d-\u135f\u1712-\u1715\u18a9\u1920-\u193b\u1a17-\u1a1b"
    "\u1a55-\u1a7f\u1ab0-\u1ace\u1b00-\u1b04\u1b34-\u1b44\u1b6b-\u1b73\u1b80-\u1b82\u1ba1-\u1bad"
    "\u1be6-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1dc0-\u1dff\u20d0-\u20e2\u20e4-\u20f0"
    "\ua802\ua806\ua80b\ua823-\ua827\ua880\ua881\ua8b4-\ua8c5\ua8e0-\ua8f1\uabe3-\uabea"
    "\ufb1e\ufe20-\ufe2f\U00011000-\U00011002\U00011100-\U00011134\U0001e944-\U0001e94a"
)
"""Vowel signs and accents, which belong to the word they stand in; `\\w` leaves them out."""

FLAG_LETTERS: Final = "\U0001f1e6-\U0001f1ff"
SKIN_TONES: Final = "\U0001f3fb-\U0001f3ff"
EMOJI: Final = (
    "\u203c\u2049\u231a\u231b\u2328\u23cf\u23e9-\u23fa\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d"
    "\U0001f000-\U0001f0ff\U0001f18e-\U0001f19a\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
)
"""Pictures that mean something on their own; skin tones and flag letters only do so in company."""

INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
"""Zero-width characters, direction and variation marks, tags, letters without a shape (U+3164)."""

SURROGATES: Final = "\ud800-\udfff"
"""Halves of a UTF-16 pair: possible in a Python string, impossible in UTF-8 and JSON."""

# --- language ----------------------------------------------------------------------------------

_KANA = re.compile(f"[{KANA}]")

# What one character says, in Latin letters: a Chinese sentence stays Chinese around long names.
_SCRIPTS: Final[Mapping[str, tuple[re.Pattern[str], int]]] = {
    "zh": (re.compile(f"[{HAN}{KANA}]"), 6),
    "ko": (re.compile(f"[{HANGUL}]"), 4),
    "ru": (re.compile("[\u0400-\u052f]"), 1),
    "el": (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), 1),
    "th": (re.compile(f"[{THAI}]"), 1),
    "hi": (re.compile("[\u0900-\u0963\u0966-\u097f]"), 1),
    "he": (re.compile("[\u0590-\u05ff\ufb1d-\ufb4f]"), 1),
    "ar": (re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc]"), 1),
    "en": (re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"), 1),
}

# Letters of sister languages: Ukrainian and Serbian are not Russian, nor is Persian Arabic.
_STRANGERS: Final[Mapping[str, re.Pattern[str]]] = {
    "ru": re.compile("[іїєґўђѓјљњќћџѕ]", re.IGNORECASE),
    "ar": re.compile("[پچژگکیےٹڈڑں]"),
}

_LETTER = re.compile("[A-Za-z]")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_ENGLISH_WORDS: Final = """
    the and of to is are was were be been have has had do does did will would can could should i you
    he she it we they my your his her our their this that these those what who when where how why
    not don't can't isn't with from for at by as but or if about into then there please i'm it's
    let's that's
"""
_OTHER_LATIN_WORDS: Final = """
    der die das und nicht ist ein eine ich wir sie mit auf für von den dem im zu war
    le la les des et est une un du que qui je nous vous pas dans
    el los las y en es por con una para se il di che non sono per della o os um uma não com do da
    de het een van niet ik wij op och att det som inte jag är og ikke jeg er på
    w z nie jest się bir ve bu için mi me no si ja na
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHER_LATIN = frozenset(_OTHER_LATIN_WORDS.split())


def language_of(text: str) -> str:
    """Say which language a text is probably in, from its script alone.

    One of zh, ja, ko, ru, el, th, hi, he, ar, en, or "und" where the script does not tell (a Latin
    text without English function words, a Cyrillic one with Ukrainian letters). A hint for choosing
    cues and prompts, not an identification: Bulgarian passes for ru, Marathi for hi.
    """
    if text.isascii():  # nothing but Latin letters can be in it: a fifth of the time
        return "en" if _LETTER.search(text) and _reads_english(text) else "und"
    weights = {code: len(script.findall(text)) * unit for code, (script, unit) in _SCRIPTS.items()}
    best = max(weights, key=weights.__getitem__)
    if not weights[best]:
        return "und"
    if best == "en":
        return "en" if _reads_english(text) else "und"
    if best == "zh" and _has_kana(text, weights["zh"] // _SCRIPTS["zh"][1]):
        return "ja"
    if best in _STRANGERS and _STRANGERS[best].search(text):
        return "und"
    return best


def _has_kana(text: str, ideographs: int) -> bool:
    # A stray の adorns many a Chinese sign; a Japanese sentence is never less than a tenth kana.
    return len(_KANA.findall(text)) * 10 >= ideographs


def _reads_english(text: str) -> bool:
    words = [word.replace("\u2019", "'") for word in _WORD.findall(text.lower())]
    english = sum(word in _ENGLISH for word in words)
    return english > sum(word in _OTHER_LATIN for word in words)
