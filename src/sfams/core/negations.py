"""What a text denies: "not", "no longer", 不, 没 and their like, with the words that they deny.

A negation reaches over the content words that follow it in its clause, at most four of them in a
source and eight in a summary; where none follows, over those before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sfams.core.scripts import CJK
from sfams.core.spans import Commitment, CommitmentType, has_cjk
from sfams.core.text import fold, stem

__all__ = ["denials_of", "denied", "negations_of"]

_REACH: Final = 4
_WIDE: Final = 8
_DENSE_REACH: Final = 6
_DENSE_WIDE: Final = 14

_CUE: Final = (
    r"not|never|no longer|no more|no|nor|neither|none|nobody|nothing|nowhere|without|cannot|"
    r"\w+n't|(?:is|are|was|were|do|does|did|have|has|had|can|could|would|should|wo|ai)nt"
)
_SOFT: Final = (
    r"refus\w+|avoid\w*|declin\w+|reject\w*|exclud\w+|except|instead of|rather than|unable|stop\w*|"
    r"quit\w*|against|lacks?|fail\w*|rules? out"
)
_IDIOMS: Final = re.compile(
    r"\b(?:not only|not just|not bad|no (?:problem|worries|wonder|doubt|matter|way|kidding|big deal)|"
    r"why not|never ?mind|(?:can't|cannot|couldn't|can not) (?:wait|believe|agree more|thank)\b|"
    r"don't (?:worry|mention it)|whether or not|or not|if not|if nothing else|isn't it|aren't you|"
    r"don't you|didn't you|doesn't it|won't you|(?:why|how about|wouldn't it) (?:don't|not) (?:we|you)|"
    r"nothing (?:like|beats)|no\. ?(?=\d))",
    re.IGNORECASE,
)
_WORD: Final = r"[^\W_]+(?:['.,-][^\W_]+)*"
_SCAN = re.compile(
    rf"(?P<cue>(?<![\w'])(?:{_CUE})(?![\w']))|(?P<soft>(?<![\w'])(?:{_SOFT})(?![\w']))|"
    rf"(?P<stop>[\n.!?;:()\[\]—…|]+(?!\w)|--)|(?P<comma>,(?!\d))|(?P<word>{_WORD})",
    re.IGNORECASE,
)
_BREAK_WORDS: Final = """
but because although though however while since unless so which who whose where when if
"""
_FUNCTION_WORDS: Final = """
a an the this that these those it its i me my mine we us our you your he him his she her they them
their and or of at by for from in into on onto out over up to with about after before between via
through as than then there here all any each some such own too very just also ever still yet even
really quite only can could will would shall should may might must do does did is am are was were be
been being much many lot anymore more at what how why i'm it's i've i'd
"""
_LIGHT_WORDS: Final = """
done doing have has had having get got getting go going gone want wants wanted like likes liked think
know let
"""
_BREAKS: Final = frozenset(_BREAK_WORDS.split())
_FUNCTION: Final = frozenset(_FUNCTION_WORDS.split())
_LIGHT: Final = frozenset(_LIGHT_WORDS.split())

_DENSE_CUE = re.compile(
    r"不再|从未|从来没有?|从不|(?<![差对])(?<!不得)不(?![错过仅但只管论客]|好意思|少|同|久|断|停|愧|由|妨|如|得不|一会|起$|得了)"
    r"|没(?!关系|问题|事|完没|准|收)有?|(?<![南])无(?![论锡线疑聊敌数非意]|所谓)|未(?!来|婚|必|免)"
    r"|(?<![特区分级性类告个识辨离差派])别(?![人的处墅名致扭说忘看])|勿|禁止|拒绝|避免|取消"
)
_DENSE_STOP = re.compile(r"[，。！？；：、,.!?;:\n（）()]|但是?|因为|所以|不过|而是|而且|如果")
_DENSE_LIGHT: Final = frozenset(
    "的了着过吧呢吗啊呀哦嘛会能要想去来再太很是有在把被给跟和也都就还得让可以我你他她它们这那个一用到从对"
)
_DENSE_CHAR = re.compile(rf"[{CJK}]|[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Denial:
    """Words that are denied, as they stood there; `soft`: by a verb such as "avoids"."""

    words: tuple[str, ...]
    shown: str
    soft: bool = False


def negations_of(text: str) -> list[Commitment]:
    """Find what a plain text denies."""
    return [
        Commitment(CommitmentType.NEGATION, "not " + " ".join(each.words), each.shown, each.words)
        for each in _all(text, _REACH, _DENSE_REACH)
        if not each.soft
    ]


def denials_of(text: str) -> tuple[frozenset[str], ...]:
    """Find what a plain text denies in the widest sense, by "refuses" and "avoids" too."""
    return tuple(frozenset(each.words) for each in _all(text, _WIDE, _DENSE_WIDE))


def denied(wanted: Commitment, denials: list[frozenset[str]]) -> bool:
    """Tell whether one denial denies at least half of the words of a negation."""
    need = -(-len(wanted.words) // 2)
    return any(sum(word in each for word in wanted.words) >= need for each in denials)


def _all(text: str, reach: int, dense: int) -> Iterator[_Denial]:
    blank = _IDIOMS.sub(lambda found: " " * len(found[0]), text)
    yield from _latin(blank, reach)
    if has_cjk(blank):
        yield from _dense(blank, dense)


def _latin(text: str, reach: int) -> Iterator[_Denial]:
    found = list(_SCAN.finditer(text))
    for at, each in enumerate(found):
        if each["cue"] is None and each["soft"] is None:
            continue
        ahead = _collect(found[at + 1 :], reach)
        words = ahead or _collect(found[:at][::-1], reach)[::-1]
        if words:
            end = ahead[-1].end() if ahead else each.end()
            shown = " ".join(text[each.start() : end].split())
            yield _Denial(tuple(map(_stemmed, words)), shown, soft=each["cue"] is None)


def _collect(found: list[re.Match[str]], reach: int) -> list[re.Match[str]]:
    """Gather content words up to the end of the clause; light ones only where there are no others."""
    words: list[re.Match[str]] = []
    light: list[re.Match[str]] = []
    for each in found:
        said = each["word"] or each["soft"]
        if said is None:
            if each["comma"] and not words:
                continue
            break
        if said.lower() in _BREAKS or len(words) == reach:
            break
        if said.lower() not in _FUNCTION:
            (light if said.lower() in _LIGHT else words).append(each)
    return words or light[:reach]


def _stemmed(found: re.Match[str]) -> str:
    return stem(fold(found[0]).removesuffix("'s").replace(",", ""))


def _dense(text: str, reach: int) -> Iterator[_Denial]:
    for found in _DENSE_CUE.finditer(text):
        start, end = found.span()
        if start > 0 and end < len(text) and text[start - 1] == text[end]:
            continue  # 是不是, 能不能: a question
        stop = _DENSE_STOP.search(text, end)
        ahead = text[end : stop.start() if stop else len(text)]
        words, length = _characters(ahead, reach)
        if not words:
            before = _DENSE_STOP.split(text[:start])[-1] or ""
            words, length = _characters(before[-reach * 2 :], reach)[0], 0
        if words:
            yield _Denial(tuple(words), text[start : end + length].strip())


def _characters(text: str, reach: int) -> tuple[list[str], int]:
    words: list[str] = []
    length = 0
    for found in _DENSE_CHAR.finditer(text):
        if found[0] in _DENSE_LIGHT:
            continue
        words.append(found[0].lower())
        length = found.end()
        if len(words) == reach:
            break
    return words, length
