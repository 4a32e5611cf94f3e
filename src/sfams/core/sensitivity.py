"""What in a text must not be shown about: numbers of cards and people, passwords, keys, codes.

Patterns and check digits, no model; English and Chinese. Sensitive does not mean unimportant: nothing
here touches importance. A mask keeps what a person needs to tell one card or phone from another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sfams.core import sensitive_shapes as shapes
from sfams.core.checksums import chinese_identity, iban, luhn
from sfams.core.record import MemoryRecord, Sensitivity
from sfams.core.seen import seen


class SensitiveRule(StrEnum):
    """What a scope does with a text in which something sensitive was found."""

    STORE = "store"
    REDACT = "redact"
    REFUSE = "refuse"


class Secret(StrEnum):
    """What was found. The value is the word that masks and messages use."""

    PRIVATE_KEY = "private key"
    KEY = "key"
    CODE = "one-time code"
    PASSWORD = "password"  # noqa: S105  # the word, not one
    CARD = "card"
    IDENTITY = "identity number"
    ACCOUNT = "account"
    SOCIAL = "social security number"
    PHONE = "phone"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something sensitive at `start`..`end` of the text, and what may be shown in its place."""

    type: Secret
    start: int
    end: int
    mask: str


_KEEPS_TAIL: Final = frozenset({Secret.CARD, Secret.ACCOUNT, Secret.PHONE})
_TAIL: Final = 4

Spans = Iterator[tuple[int, int]]


def find_sensitive(text: str) -> tuple[Finding, ...]:
    """Find what is sensitive in a text, in order; the spans do not overlap.

    Never raises; time is linear in the text, and short where no word or number hints at anything.
    """
    plain = seen(text)
    spans: list[tuple[int, int, Secret]] = []
    lower = plain.text.lower()
    looks = (*_LOOKS, *_NUMBERS) if _NINE_DIGITS.search(plain.text) else _LOOKS
    for look in looks:
        if look.worth(plain.text, lower):
            spans += [(*span, look.type) for span in look.find(plain.text)]
    found = []
    for start, end, kind in _apart(spans):
        mask = _mask(kind, plain.text[start:end])
        found.append(Finding(kind, *plain.span(start, end), mask))
    return tuple(found)


def redact(text: str, findings: Iterable[Finding] | None = None) -> str:
    """Put masks in the place of what is sensitive, and leave the rest as it is."""
    parts, at = [], 0
    for each in find_sensitive(text) if findings is None else findings:
        parts += [text[at : each.start], each.mask]
        at = each.end
    return "".join([*parts, text[at:]])


def named(findings: Iterable[Finding]) -> str:
    """Name the types that were found, each once: for messages, which never hold the text."""
    return ", ".join(dict.fromkeys(each.type.value for each in findings))


def masked(record: MemoryRecord) -> str:
    """Give what previews and logs may show of a record: its text, or what is sensitive about it.

    Nothing of a sensitive text is shown but the masks of what was found: who set the label may have
    meant other words than the patterns know.
    """
    sensitive = record.sensitivity is Sensitivity.SENSITIVE
    return masked_text(record.content) if sensitive else record.content


def masked_text(text: str) -> str:
    """Give the masks of what is sensitive about a text, in place of the text."""
    found = ", ".join(dict.fromkeys(each.mask.strip("[]") for each in find_sensitive(text)))
    return f"(sensitive: {found})" if found else "(sensitive)"


def _mask(kind: Secret, shown: str) -> str:
    if kind not in _KEEPS_TAIL:
        return f"[{kind.value}]"
    tail = re.sub("[^0-9A-Za-z]", "", shown)[-_TAIL:]
    return f"[{kind.value} ****{tail}]"


def _apart(spans: list[tuple[int, int, Secret]]) -> list[tuple[int, int, Secret]]:
    """Join spans that overlap; the type that stands first in `Secret` names them."""
    order = list(Secret)
    joined: list[tuple[int, int, Secret]] = []
    for start, end, kind in sorted(spans):
        if joined and start < joined[-1][1]:
            first, last, other = joined[-1]
            joined[-1] = (first, max(last, end), min(kind, other, key=order.index))
        else:
            joined.append((start, end, kind))
    return joined


# ── Numbers ──────────────────────────────────────────────────────────────────────────────────────


def _is_other_number(text: str, at: int) -> bool:
    return shapes.OTHER_NUMBER.search(text[max(0, at - 30) : at].lower()) is not None


def _digits(text: str) -> str:
    return text.replace(" ", "").replace("-", "")


def _cards(text: str) -> Spans:
    for match in shapes.CARD.finditer(text):
        digits = _digits(match[0])
        real = shapes.CARD_PREFIX.fullmatch(digits) and luhn(digits)
        if real and not _is_other_number(text, match.start()):
            yield match.span()


def _phones(text: str) -> Spans:
    for match in shapes.PHONE.finditer(text):
        if not _is_other_number(text, match.start()):
            yield match.span()


def _identities(text: str) -> Spans:
    for match in shapes.IDENTITY.finditer(text):
        if chinese_identity(_digits(match[0])):
            yield match.span()


def _accounts(text: str) -> Spans:
    for match in shapes.IBAN.finditer(text):
        # Words in capitals may follow: the country says how much of it is the number.
        for end in range(match.end(), match.start() + 14, -1):
            number = text[match.start() : end].replace(" ", "")
            if text[end - 1] != " " and not text[end : end + 1].isalnum() and iban(number):
                yield match.start(), end
                break


def _socials(text: str) -> Spans:
    for match in shapes.SOCIAL.finditer(text):
        around = text[max(0, match.start() - 40) : match.end() + 24].lower()
        if shapes.SOCIAL_WORD.search(around):
            yield match.span()


# ── Keys, passwords, codes ───────────────────────────────────────────────────────────────────────


def _matches(*patterns: re.Pattern[str], group: int | str = 0) -> Callable[[str], Spans]:
    def look(text: str) -> Spans:
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield match.span(group)

    return look


def _passwords(text: str) -> Spans:
    for match in shapes.PASSWORD.finditer(text):
        if match["quoted"] is not None:
            yield from _value(match, "quoted", _any)
        else:
            yield from _value(match, "bare", _weak)
    for match in shapes.PHRASE.finditer(text):
        yield from _value(match, "bare", _phrase)
    for match in shapes.PASSWORD_ALONE.finditer(text):
        yield from _value(match, "bare", _any)


def _strong_values(text: str) -> Spans:
    for match in shapes.STRONG.finditer(text):
        yield from _value(match, "bare" if match["quoted"] is None else "quoted", _strong)


def _pins(text: str) -> Spans:
    for match in shapes.PIN.finditer(text):
        yield from _value(match, "bare", _any)


def _chinese_passwords(text: str) -> Spans:
    for match in shapes.CHINESE_PASSWORD.finditer(text):
        name = next(name for name in ("quoted", "bare", "alone") if match[name] is not None)
        yield from _value(match, name, _any)


def _codes(*patterns: re.Pattern[str]) -> Callable[[str], Spans]:
    def find(text: str) -> Spans:
        for pattern in patterns:
            for match in pattern.finditer(text):
                name = next((each for each, value in match.groupdict().items() if value), "")
                if name and not shapes.NO_CODE.match(match[0]):
                    yield match.span(name)

    return find


_TRAILING: Final = ".,;:)]}>\"'`*"


def _value(match: re.Match[str], name: str, accepts: Callable[[str, str], bool]) -> Spans:
    """Give the span of a value that can be one, without the marks that end a sentence."""
    value = match[name].rstrip(_TRAILING) if name != "quoted" else match[name]
    start = match.start(name)
    after = match.string[start + len(value) : start + len(value) + 2]
    if value and not shapes.PLACEHOLDER.fullmatch(value) and accepts(value, after):
        yield start, start + len(value)


def _any(_: str, __: str) -> bool:
    """What stands in quotes, or is told by its shape."""
    return True


def _phrase(value: str, _: str) -> bool:
    return shapes.NO_PHRASE.isdisjoint(value.lower().split())


def _strong(value: str, _: str) -> bool:
    """Letters and digits in one word of eight or more: no prose looks so."""
    return bool(re.fullmatch(r"(?=.*\d)(?=.*[A-Za-z])[!-~]{8,120}", value))


def _weak(value: str, after: str) -> bool:
    """A digit, a sign or a capital inside; a plain word only where the sentence ends with it."""
    if value.lower() in shapes.NO_PASSWORD or len(value) < 3:  # noqa: PLR2004
        return False
    if re.search(r"\d|[^A-Za-z'-]|(?<=[a-z])[A-Z]", value):
        return True
    ends = not after.strip() or after[0] in ".,;!)\"'\n"
    return ends and not after.startswith(" ") and not re.search(r"(?:ed|ing|able|ly)$", value)


@dataclass(frozen=True, slots=True)
class _Look:
    """A type, how it is found, and what a text must have for it to be worth looking.

    That is one of the words (in lower case), and the shape. Most texts have neither, and this tells fast.
    """

    type: Secret
    find: Callable[[str], Spans]
    words: tuple[str, ...] = ()
    shape: re.Pattern[str] | None = None

    def worth(self, text: str, lower: str) -> bool:
        """Tell whether a text, also given in lower case, may have something of the type."""
        words = self.words
        return (not words or any(map(lower.__contains__, words))) and (
            self.shape is None or self.shape.search(text) is not None
        )


_KEY_WORDS = (
    *("sk-", "k_live_", "k_test_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
    *(
        "akia",
        "asia",
        "xox",
        "aiza",
        "hf_",
        "npm_",
        "pypi-",
        "dop_v1_",
        "sg.",
        "ltai",
        "akid",
        ":aa",
    ),
    *("eyj", "bearer "),
)
_PIN_WORDS = ("pin", "door", "gate", "alarm", "entry", "lock", "safe", "garage", "building")
_CHINESE_WORDS = ("密码", "口令", "暗号", "解锁码", "提取码", "密钥", "秘钥", "令牌")
_CODE_WORDS = ("code", "otp", "one-time p", "one time p", "one-time-p")
_CODE_FIRST_WORDS = (
    *(
        "is your",
        "as your",
        "to verif",
        "to sign",
        "to log",
        "to confirm",
        "to authent",
        "to complete",
    ),
    "to your",
)
_CHINESE_CODE_WORDS = (
    *("验证码", "校验码", "动态", "一次性密码", "短信码", "确认码", "登录码", "安全码"),
)
_DIGITS = re.compile(r"\d{3}")
_NINE_DIGITS = re.compile(r"\d(?:[ -]?\d){8}")

_LOOKS: Final = (
    _Look(Secret.PRIVATE_KEY, _matches(shapes.PRIVATE_KEY), ("-----begin",)),
    _Look(Secret.KEY, _matches(shapes.KEY), _KEY_WORDS),
    _Look(Secret.PASSWORD, _matches(shapes.LOGIN, group=1), ("://",)),
    _Look(Secret.CODE, _codes(shapes.CODE), _CODE_WORDS, re.compile(r"\d")),
    _Look(Secret.CODE, _codes(shapes.CODE_FIRST), _CODE_FIRST_WORDS, _DIGITS),
    _Look(
        Secret.CODE,
        _codes(shapes.CHINESE_CODE, shapes.CHINESE_CODE_FIRST),
        _CHINESE_CODE_WORDS,
        _DIGITS,
    ),
    _Look(Secret.PASSWORD, _passwords, ("pass", "pwd")),
    _Look(Secret.PASSWORD, _strong_values, ("key", "token", "secret"), re.compile(r"\d")),
    _Look(Secret.PASSWORD, _pins, _PIN_WORDS, _DIGITS),
    _Look(Secret.PASSWORD, _chinese_passwords, _CHINESE_WORDS),
    _Look(Secret.ACCOUNT, _accounts, shape=re.compile(r"[A-Z]\d\d")),
)
_NUMBERS: Final = (
    _Look(Secret.CARD, _cards),
    _Look(Secret.IDENTITY, _identities),
    _Look(Secret.SOCIAL, _socials),
    _Look(Secret.PHONE, _phones),
)
