"""Shorter forms of a sentence: without what only greets, without clauses, without function words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sfams.core.fidelity import Commitment, Kept
from sfams.core.spans import has_cjk
from sfams.core.text import count_tokens

__all__ = ["forms", "sentences", "stripped"]

_END = re.compile(
    r"(?<=[.!?])(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)\s+"
    r"|(?<=[。！？…])(?![。！？…])|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+"
)


def sentences(text: str) -> list[str]:
    """Cut a text into sentences, at line ends too; nothing but white space is lost."""
    return [part.strip() for part in _END.split(text) if part.strip()]


_OPENING: Final = re.compile(
    r"^(?:(?:wow|oh|ah|aw+|yeah|yep|yes|ok|okay|well|so|haha|hey|hi|hello|thanks|thank you|sure|right|"
    r"totally|absolutely|exactly|by the way|btw|anyway|actually|honestly|basically|cool|great|awesome|nice|"
    r"of course|you know|i mean|i think|i guess)(?:\s+[A-Z][\w'-]*)?\s*[,!.:–—-]+\s*)+(?=\w)",
    re.IGNORECASE,
)
_DENSE_OPENING: Final = re.compile(
    r"^(?:(?:嗯+|哦+|啊+|哎+|好的|好吧|哈哈+|对了|是的|那|谢谢你?|其实|然后|话说|我觉得|我想)[,，。！!、~～\s]*)+(?=\w)"
)


def stripped(sentence: str) -> str:
    """Leave out what only opens a sentence: "Wow, Caroline!", 对了，."""
    bare = (_DENSE_OPENING if has_cjk(sentence) else _OPENING).sub("", sentence)
    return bare[:1].upper() + bare[1:] if sentence[:1].isupper() else bare


_BREAK = re.compile(
    r"\s[–—-]+\s|[,;:!](?!\d)\s*|[，；：、]|\s(?=\b(?:and|but|because|so|which|while|although)\b)",
)
_TELEGRAPH: Final = re.compile(
    r"(?<![\w'-])(?:a|an|the|is|are|was|were|am|be|been|being|I|I'm|I've|it|it's|its|that's|there's|there|"
    r"really|very|so|just|actually|basically|quite|pretty|also|then|and|that|this|these|those)(?![\w'-])\s+(?=\w)",
    re.IGNORECASE,
)
_DENSE_TELEGRAPH: Final = re.compile(
    r"(?<!目)的(?![确士话])|(?<!为)了(?!解)|[呢吧啊呀哦嘛哈]|真的|非常|其实|然后|我觉得|感觉"
)
_EDGES: Final = " ,;:.!，；：、。！-–—"


def _telegraph(text: str) -> str:
    short = _DENSE_TELEGRAPH.sub("", text) if has_cjk(text) else _TELEGRAPH.sub("", text)
    return " ".join(short.split()).strip(_EDGES)


def forms(sentence: str, wanted: Sequence[Commitment]) -> Iterator[str]:
    """Give shorter forms of a sentence, the shortest first; the last is the sentence itself.

    The first ones hold only the clauses in which something of what is wanted stands. Whether a form
    still says all of it is the caller's to check.
    """
    bare = stripped(sentence)
    told = ", ".join(_telling(bare, wanted))
    made = {_telegraph(told), told, _telegraph(bare), bare}
    yield from sorted(filter(None, made), key=lambda form: (count_tokens(form), form))
    yield sentence


_CONDITION: Final = re.compile(
    r"\b(?:if|unless|when|whenever|until|except|provided|in case)\b|如果|要是|假如|除非|只有|否则|的话",
    re.IGNORECASE,
)


def _telling(sentence: str, wanted: Sequence[Commitment]) -> Iterator[str]:
    """Give the clauses that say something of what is wanted; a condition keeps them together."""
    if _CONDITION.search(sentence):
        yield sentence.strip(_EDGES)
        return
    for clause in _BREAK.split(sentence):
        kept = Kept(clause)
        if any(map(kept.has, wanted)):
            yield clause.strip(_EDGES)
