"""Requests to forget, as people put them: "forget what I said about Viktor", "别记这个". Rules only.

A request is recognised at the beginning of a sentence, after polite words. "Don't forget", "I forgot",
别忘了 and 忘了带 are none, nor is "forget it", which means something else. What is recognised becomes a
plan that is shown before anything goes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from sfams.core.keywords import term_id
from sfams.core.record import MemoryRecord
from sfams.core.scripts import HAN
from sfams.core.stopwords import FUNCTION_TERMS
from sfams.core.subjects import Subject, fold_name, spelling
from sfams.core.text import normalise, query_terms, tokenise
from sfams.errors import InvalidInputError


class RequestKind(StrEnum):
    """What is to be forgotten."""

    ABOUT = "about"
    """Whatever is about the topic."""
    TEXT = "text"
    """The very words of the topic."""
    LAST = "last"
    """What was said last."""
    SESSION = "session"
    """This conversation."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a sentence asks for; `own` where it names what the speaker has said."""

    kind: RequestKind
    topic: str = ""
    own: bool = False


def parse_request(text: str) -> Request | None:
    """Read a message; the first sentence that asks for forgetting counts, None where none does."""
    for sentence in _SENTENCE.split(normalise(text)):
        for read in (_english, _chinese) if len(sentence) <= _LONGEST else ():
            request = read(sentence.strip(" ,，;；"))
            if request is not None:
                return request
    return None


_LONGEST = 400
"""Characters of a sentence that may be a request."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[。！？\n]+")
_ENDS = " .!?。！？,，、\"'“”‘’「」"

# ── English ───────────────────────────────────────────────────────────────────────────────────────

_POLITE = (
    r"(?:(?:please|pls|hey|hi|ok|okay|well|actually|sorry|and|just|now|kindly|so|no|wait"
    r"|(?:can|could|would|will) you|you (?:can|should|may|must)"
    r"|i(?:'d| would) like you to|i want you to|i need you to)\b,?\s*)*"
)
_AGAINST = (
    r"(?:(?:do not|don'?t|never|stop)\s+(?:remember|sav|stor|keep|record|memori[sz]|log|retain|not)"
    r"(?:e|ing|ping)?(?: down)?)"
)
_FORGET = r"(?:forget|delete|erase|remove|wipe|discard|scrub|purge|drop)"
_ACT = re.compile(
    rf"{_POLITE}(?:(?P<against>{_AGAINST})|(?P<verb>{_FORGET}))\b(?: about\b(?= (?:it|that|this)$))?"
    r"\s*(?P<rest>.*?)(?:,? (?:please|again|now|thanks|thank you|for me|from (?:your )?memory))*",
    re.IGNORECASE,
)
_OFF_RECORD = re.compile(
    rf"{_POLITE}(?:scratch|strike) that|(?:(?:this|that) (?:is|was) )?off the record", re.IGNORECASE
)
_LAST = re.compile(
    r"(?:that|this|that one|this one|what i(?:'ve| have)? just (?:said|told you|wrote)"
    r"|what i said(?: just now| last)?|(?:my|the) last (?:message|sentence|remark|thing|statement)"
    r"(?: i said)?|the above)",
    re.IGNORECASE,
)
_SESSION = re.compile(
    r"(?:(?:everything|all|what|anything)[\w' ]* (?:in|from|during) )?(?:this|our|the) (?:whole )?"
    r"(?:conversation|chat|session|talk)|everything (?:i|we)(?:'ve| have)? said(?: here)?",
    re.IGNORECASE,
)
_VERY_WORDS = re.compile(r"(?:this|that|the following)\s*[:：]\s*(?P<topic>.+)", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:(?:what|everything|anything|all|whatever|the things?|things)\b(?: that)?"
    r"(?: (?P<who>i|we|you)\b)?[\w' ]*? |(?P<all>all|everything) )?"
    r"(?:about|regarding|concerning|related to|of)\s+(?P<topic>.+)",
    re.IGNORECASE,
)
_THAT = re.compile(r"that\s+(?P<topic>\w.*\s.*)", re.IGNORECASE)
_NO_TOPIC = re.compile(
    r"(?:it|them|me|everything|all|anything|nothing|to|where|when|who|whom|how|why|if|whether|which|what)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 6
_POSSESSIVE = re.compile(r"(?:all )?(?:my|our|the|any|every|that|this)\s+", re.IGNORECASE)


def _english(sentence: str) -> Request | None:
    plain = sentence.replace("\u2019", "'").strip(_ENDS)
    if _OFF_RECORD.fullmatch(plain):
        return Request(RequestKind.LAST)
    found = _ACT.fullmatch(plain)
    if found is None:
        return None
    rest = found["rest"].strip(_ENDS)
    if found["verb"] is None and rest.lower() == "it":
        return Request(RequestKind.LAST)
    return _named(rest) if rest else None


def _named(rest: str) -> Request | None:
    """Read what is named behind the verb."""
    if _LAST.fullmatch(rest):
        return Request(RequestKind.LAST, own=True)
    if _SESSION.fullmatch(rest):
        return Request(RequestKind.SESSION)
    for pattern, kind in ((_VERY_WORDS, RequestKind.TEXT), (_ABOUT, RequestKind.ABOUT)):
        found = pattern.fullmatch(rest)
        if found is not None:
            own = found.groupdict().get("who") or ""
            return _request(kind, found["topic"], own=own.lower() in {"i", "we"})
    found = _THAT.fullmatch(rest)
    if found is not None:
        return _request(RequestKind.ABOUT, found["topic"])
    bare = len(rest.split()) <= _MOST_WORDS and not re.search(r"[,;]", rest)
    return _request(RequestKind.ABOUT, rest) if bare and not _NO_TOPIC.match(rest) else None


def _request(kind: RequestKind, topic: str, *, own: bool = False) -> Request | None:
    words = topic.strip(_ENDS)
    if kind is RequestKind.ABOUT:
        words = _POSSESSIVE.sub("", words, count=1).strip(_ENDS) or words
    if _NO_TOPIC.fullmatch(words):
        return None
    return Request(kind, words, own) if words else None


# ── Chinese ───────────────────────────────────────────────────────────────────────────────────────

_ZH_POLITE = (
    r"(?:(?:请你?|麻烦你?|帮我|能不能|能否|可不可以|可以|你|那就|那|好的?|好吧|拜托|算了)[，,\s]*)*"
)
_ZH_NOTE = r"(?:记住|记录|记下来?|记着|保存|存储|存下来?|存|记)(?![恨仇错挂])(?:了|下来)?"
_ZH_AGAINST = rf"(?:别|不要|不用|不必|勿|请勿|甭|无需)(?:再)?{_ZH_NOTE}"
_ZH_SURE = r"(?:忘掉|忘却|删掉|删除|删了|删去|清除|清掉|抹掉|抹去|擦除|移除)"
_ZH_FORGET = rf"(?:{_ZH_SURE}|忘记|忘了)"
_ZH_END = r"(?:吧|了|啊|哦|呀|好吗|可以吗|行吗|谢谢)*"
_ZH_SAID = r"(?:我|咱们|我们)?(?:刚刚|刚才|刚|方才)(?:我)?(?:说|讲|提到|告诉你|写)?(?:的|过的)?"
_ZH_LAST = (
    rf"(?:(?:这|那|上|前)一?(?:个|条|句|件|些|段)?(?:话|事|事情|消息|内容|东西)?|它"
    rf"|{_ZH_SAID}(?:那|这)?(?:个|条|句|些)?(?:话|事|内容|东西|消息)?)"
)
_ZH_SESSION = (
    r"(?:这次|本次|这段|这个|我们的|今次|此次)(?:的)?(?:整个)?(?:对话|聊天|谈话|会话)(?:内容)?"
)
_ZH_THING = r"(?:事情|事|话|内容|信息|记忆|东西|记录|资料|部分|一切)"
_ZH_THINGS = rf"(?:(?:有关|相关)?(?:的)?(?:一切|所有|全部|任何)?{_ZH_THING})?"
_ZH_TOLD = (
    r"(?:(?P<own>我们?|咱们)?(?:之前|以前|曾经|刚才|上次|今天|昨天)?"
    r"(?:(?:跟|对|和|向)你)?(?:说|讲|提|聊|谈|告诉你)(?:过|到|起)*(?:的)?)"
)
_ZH_YOU = r"(?:你(?:知道|记得|记住|存|保存)(?:的|了的)?)"
_ZH_ABOUT = rf"(?:所有|一切|全部|任何)?(?:{_ZH_TOLD}|{_ZH_YOU})?(?:所有|一切)?"
_ZH_PATTERNS: tuple[tuple[RequestKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (RequestKind.TEXT, rf"{_ZH_POLITE}{_ZH_AGAINST}{_ZH_LAST}[:：](?P<topic>.+)"),
        (RequestKind.SESSION, rf"{_ZH_POLITE}(?:{_ZH_FORGET}|{_ZH_AGAINST}){_ZH_SESSION}{_ZH_END}"),
        (
            RequestKind.SESSION,
            rf"{_ZH_POLITE}把?{_ZH_SESSION}都?(?:{_ZH_FORGET}|{_ZH_AGAINST}){_ZH_END}",
        ),
        (RequestKind.LAST, rf"{_ZH_POLITE}{_ZH_AGAINST}(?:{_ZH_LAST})?{_ZH_END}"),
        (RequestKind.LAST, rf"{_ZH_POLITE}{_ZH_FORGET}{_ZH_LAST}{_ZH_END}"),
        (RequestKind.LAST, rf"{_ZH_POLITE}{_ZH_LAST}(?:就|都|你)?{_ZH_AGAINST}{_ZH_END}"),
        (RequestKind.LAST, rf"{_ZH_POLITE}把{_ZH_LAST}(?:都|给我|给)?{_ZH_FORGET}{_ZH_END}"),
        (
            RequestKind.ABOUT,
            (
                rf"{_ZH_POLITE}(?:{_ZH_FORGET}|{_ZH_AGAINST}){_ZH_ABOUT}(?:关于|有关)(?:我的)?"
                rf"(?P<topic>.+?){_ZH_THINGS}{_ZH_END}"
            ),
        ),
        (
            RequestKind.ABOUT,
            (
                rf"{_ZH_POLITE}把{_ZH_ABOUT}(?:关于|有关)?(?:我的)?(?P<topic>.+?){_ZH_THINGS}"
                rf"(?:都|全部|全|给我|给)*{_ZH_FORGET}{_ZH_END}"
            ),
        ),
        (
            RequestKind.ABOUT,
            (
                rf"{_ZH_POLITE}(?:{_ZH_SURE}|{_ZH_AGAINST}|(?:忘记|忘了)(?=我的|我[^，,]*[说讲提聊谈]))"
                rf"{_ZH_ABOUT}(?:我的)?(?P<topic>.+?){_ZH_THINGS}{_ZH_END}"
            ),
        ),
    )
)
_ZH = re.compile(f"[{HAN}]")


def _chinese(sentence: str) -> Request | None:
    plain = sentence.strip(_ENDS)
    if not _ZH.search(plain):
        return None
    for kind, pattern in _ZH_PATTERNS:
        found = pattern.fullmatch(plain)
        if found is not None:
            groups = found.groupdict()
            topic = (groups.get("topic") or "").strip(_ENDS)
            if kind is RequestKind.ABOUT and not topic:
                continue
            return Request(kind, topic, bool(groups.get("own")))
    return None


# ── Which memories a topic means ──────────────────────────────────────────────────────────────────


class Topic:
    """Tells whether records are about a topic: its name, or all its words in any order."""

    def __init__(self, topic: str) -> None:
        """Read the topic once, for many records."""
        try:
            self._subject: Subject | None = Subject([spelling(topic[:256])])
        except InvalidInputError:
            self._subject = None
        words = topic.replace("的", " ").split()
        terms = {term for word in words for term in query_terms(word)}
        self._terms = frozenset(term for term in terms if term_id(term) not in FUNCTION_TERMS)

    def fits(self, record: MemoryRecord) -> bool:
        """Tell whether a record is about it."""
        if self._subject is not None and self._subject.about(record):
            return True
        return bool(self._terms) and self._terms.issubset(tokenise(record.content))


def says(record: MemoryRecord, words: str) -> bool:
    """Tell whether a record holds just these words, case and blanks aside."""
    return fold_name(words) in fold_name(record.content)
