"""What sensitive things look like: the patterns of `sensitivity`, apart from what is done with them.

All are searched in the plain form of a text (`seen`). Precision comes before recall where a number has no
check digit: it takes a word that says what it is. Shapes of keys follow what their makers document.
"""

from __future__ import annotations

import re
from typing import Final

_FLAGS: Final = re.IGNORECASE | re.ASCII
"""ASCII: a Latin word or number also ends where a Chinese character begins."""

# ── Numbers with a check digit, or a fixed plan ──────────────────────────────────────────────────

# Not inside a longer number, word, decimal or hexadecimal group.
_BEFORE: Final = r"(?<![A-Za-z0-9_.+])(?<![0-9a-f]-)(?<!\d,)"
_AFTER: Final = r"(?![A-Za-z0-9_]|[.,]\d|-[0-9A-Za-z])"

CARD = re.compile(
    f"{_BEFORE}(?:"
    r"\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3}(?!\d))?|3[47]\d\d([ -])\d{6}\2\d{5}|"
    r"3\d{3}([ -])\d{6}\3\d{4}|62\d{4}[ -]\d{13}"
    f"){_AFTER}"
)
CARD_PREFIX = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|"
    r"3[47]\d{13}|(?:6011|64[4-9]\d|65\d\d)\d{12}|(?:30[0-5]|36\d|38\d|39\d)\d{11}|"
    r"35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}|220[0-4]\d{12}|(?:5018|5020|5038|6304|6759|676[1-3])\d{12}"
)
"""Visa, Mastercard, American Express, Discover, Diners, JCB, UnionPay, Mir, Maestro: prefix and length."""

PHONE = re.compile(
    r"(?<![A-Za-z0-9_.])(?<![0-9a-f]-)(?<!\d,)(?:(?<!\+)(?:\+|00)86[ -]?|(?<!\+)86[ -])?(?<!\+)"
    r"(?:13\d|14[5-9]|15[0-35-9]|16[2567]|17[0-8]|18\d|19[0-35-9])(?:\d{8}|([ -])\d{4}\1\d{4})"
    f"{_AFTER}"
)
"""Chinese mobile numbers, by the prefixes that are given out."""

IDENTITY = re.compile(
    f"{_BEFORE}(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[1-3])\\d{{4}} ?(?:18|19|20)\\d\\d"
    f"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\\d|3[01]) ?\\d{{3}}[0-9Xx]{_AFTER}"
)
"""Chinese identity numbers (GB 11643): province, birthday, serial and check character."""

IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]{2,4}){3,8}(?![a-z])")

SOCIAL = re.compile(
    f"{_BEFORE}(?!000|666|9\\d\\d)\\d{{3}}([- ]?)(?!00)\\d\\d\\1(?!0000)\\d{{4}}{_AFTER}"
)
SOCIAL_WORD = re.compile(r"\bssn\b|social[ -]security|社会安全|社安")

OTHER_NUMBER = re.compile(
    r"(?:order|invoice|tracking|parcel|shipment|ticket|serial|imei|isbn|sku|batch|commit|build|timestamp|"
    r"reference|case|订单|单号|运单|快递|物流|发票|序列|流水|编号|工单|批次|时间戳)[^0-9\n]{0,12}$"
)
"""What says, just before a number, that it is none of these."""

# ── Keys and tokens that show what they are ──────────────────────────────────────────────────────

KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?:proj-|ant-|or-|svcacct-)?[A-Za-z0-9_-]{20,}|[srp]k_(?:live|test)_[A-Za-z0-9]{16,}|"
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}|"
    r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|xox[abeprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{35}|"
    r"hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|dop_v1_[a-f0-9]{64}|"
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|LTAI[A-Za-z0-9]{12,26}(?![A-Za-z0-9])|"
    r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])|\d{8,10}:AA[A-Za-z0-9_-]{33}|"
    r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}|"
    r"[Bb]earer (?=[A-Za-z0-9._~+/-]*\d)[A-Za-z0-9._~+/-]{20,}=*)"
)
PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[\s\S]*?-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
)
LOGIN = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,80}:([^\s/:@\[<{$*][^\s/:@]{2,100})@(?=[\w\[])"
)
"""The password inside an address."""

# ── What a word says is secret ───────────────────────────────────────────────────────────────────

_QUALIFIED: Final = r"[\"'`*_]{0,2}(?:\s(?:for|to|of|on|in)(?:\s[\w'@./-]{1,40}){1,5}?)?"
_SAYS: Final = (
    r"(?:\s(?:is|was)(?:\s(?:now|still|currently))?(?:\s(?:set|changed|reset) to)?:?|"
    r"\s(?:changed|reset|set|updated) to:?|\s?(?:[:=]{1,2}|->|=>|是|为))[*_]{0,2}\s{0,3}"
)
_VALUE: Final = r"(?:[\"'`“‘「](?P<quoted>[^\"'`”’」\n]{1,80})[\"'`”’」]|(?P<bare>[!-~]{3,120}))"

PASSWORD = re.compile(
    r"(?<![a-z])(?:pass(?:word|code|phrase|wd)s?|pwd|passwd)(?![a-z])"
    f"{_QUALIFIED}{_SAYS}{_VALUE}",
    _FLAGS,
)
PASSWORD_ALONE = re.compile(
    r"(?<![a-z])pass(?:word|code)(?: to)?\s(?P<bare>(?=[!-~]*\d)(?=[!-~]*[A-Za-z])[!-~]{6,64})",
    _FLAGS,
)
PHRASE = re.compile(
    f"(?<![a-z])passphrase{_QUALIFIED}{_SAYS}(?P<bare>[A-Za-z]{{3,20}}(?: [A-Za-z]{{3,20}}){{2,7}})"
    r"(?=[.,;!\n]|$)",
    _FLAGS,
)
STRONG = re.compile(
    r"(?<![a-z])(?:(?:api|access|secret|private|encryption|signing|auth)[ _-]?(?:key|token|secret)|secret|"
    r"token|client[ _-]?secret|app[ _-]?(?:secret|key)|license[ _-]?key)(?:[ _-]?id)?(?![a-z])"
    f"{_QUALIFIED}{_SAYS}{_VALUE}",
    _FLAGS,
)
PIN = re.compile(
    r"(?<![a-z])(?:pin(?: code| number)?|(?:door|gate|alarm|entry|lock|safe|garage|building|unlock)"
    f"(?: door)? (?:code|pin|combination)){_QUALIFIED}(?:{_SAYS}|\\s)"
    r"(?P<bare>\d{4,8}#?)(?![\w-]|[.,]\d)",
    _FLAGS,
)
_CHINESE_SAYS: Final = r"\s{0,2}(?:(?:已经?)?(?:改|设|换)(?:成|为)了?|是|为|：|:|=)\s{0,2}"
CHINESE_PASSWORD = re.compile(
    r"(?:密码|口令|暗号|解锁码|提取码|密钥|秘钥|令牌)(?:"
    f"{_CHINESE_SAYS}(?:[\"'“‘「『](?P<quoted>[^\"'”’」』\\n]{{2,60}})[\"'”’」』]|(?P<bare>[!-~]{{4,100}}))|"
    r"\s?(?P<alone>(?=[!-~]*\d)[!-~]{4,64}))"
    r"(?!\s?(?:编码|加密|格式|哈希|字段|位|个|次|年|月|种|条|类|以上|字符|分钟|小时|天))"
)

# ── One-time codes ───────────────────────────────────────────────────────────────────────────────

_CODE_WORD: Final = (
    r"(?:(?:verification|verify|security|confirmation|login|log-in|sign-?in|one[- ]time|2fa|mfa|otp|sms|"
    r"activation|authentication|auth|authorization) (?:pass)?code|one[- ]time (?:password|pin)|otp)"
)
_CODE: Final = (
    r"(?P<code>(?:G-)?\d{3}[ -]\d{3}|(?:G-)?\d{4,8}|(?=[A-Z]*\d)[A-Z0-9]{6,8})(?![\w.-]\w|\w|,\d)"
)
_GOES_ON: Final = (
    r"(?=\s*(?:$|[\n.,;!?)\"'。，；！-]|(?:and|to|for|it|do|don't|please|valid|expires|is)\b))"
)
CODE = re.compile(
    f"\\b(?:{_CODE_WORD}(?:(?: (?:for|to) [^.:\\n]{{1,40}}?)?(?: is:?| was|:|=| -)| #?) ?{_CODE}|"
    f"(?:your (?:[\\w-]{{2,20}} )?code(?: for [^.:\\n]{{1,40}}?)?(?: is|:)?|the code (?:is|:)) "
    f"{_CODE.replace('code>', 'other>')}{_GOES_ON})",
    _FLAGS,
)
CODE_FIRST = re.compile(
    f"(?<![\\w.-]){_CODE} is your [^.\\n]{{0,40}}?(?:code|otp|pin|password)\\b|"
    f"\\b(?:use|enter) {_CODE.replace('code>', 'other>')} "
    r"(?:to|as) (?:your |sign|log|verif|confirm|authent|complete)",
    _FLAGS,
)
NO_CODE = re.compile(
    r"\byour (?:error|status|exit|country|postal|post|zip|area|promo|promotion|discount|coupon|product|"
    r"voucher|gift|referral|invite|booking|tracking|order|course|dress|source|building|zip-) ?code",
    _FLAGS,
)
CHINESE_CODE = re.compile(
    r"(?:验证码|校验码|动态码|动态密码|动态口令|一次性密码|短信码|确认码|登录码|安全码)"
    r"(?:号码)?[\s:：是为，,\"“「【\[（(]{0,4}"
    r"(?P<code>\d{4,8}|\d{3}[ -]\d{3}|(?=[A-Z]*\d)[A-Z0-9]{6,8})(?![\dA-Za-z年月日号个位条次元.:%-])"
)
CHINESE_CODE_FIRST = re.compile(
    r"(?<![\w.-])(?P<code>\d{4,8})(?:\s{0,2}(?:是|为|作为)[^\s，。,.\n]{0,16}(?:验证码|校验码|动态码|动态密码)|"
    r"\s?[（(](?:[^\s（）()，。]{0,8})(?:验证码|动态码)[）)])",
    _FLAGS,
)

# ── Values that are none ─────────────────────────────────────────────────────────────────────────

PLACEHOLDER = re.compile(
    r"[*•xX.…_?#-]+|[<{\[$%(].*|your[_-].*|.*\(.*|(?:os|env|process|config|settings|self|args)[.\[].*|"
    r"(?:str|string|bytes|int|bool|none|null|nil|true|false|undefined|optional|required|any|text|char|varchar"
    r"|secretstr|env|n/a|tbd|todo)[,;?|)}\]]*(?:\[.*)?",
    _FLAGS,
)
_PROSE: Final = """
the a an my your our their his her its this that these those not no never none too very so same also
only always often now just still here there where what when who how why and or but if in on at by to
for of with from as it them us me be been being was were is are has have had do does did will would
should could can may might must wrong right correct incorrect valid invalid weak strong safe secure
insecure missing empty blank hidden visible long short longer shorter old new different unknown
secret public private default case-sensitive sensitive ready fine okay good bad easy hard simple
complex unique random optional mandatory required necessary impossible available unavailable kept
sent written stuck gone lost due about per policy field rules reset change manager protected expired
stored shared forgotten needed changed used encrypted hashed below above inside under known broken
taken chosen given made set up out off over full enough at-least minimum maximum between more less
"""
NO_PASSWORD: Final = frozenset(_PROSE.split())
"""Words that follow "the password is" and are not the password."""
NO_PHRASE: Final = frozenset(
    {
        "the",
        "a",
        "an",
        "and",
        "or",
        "in",
        "on",
        "at",
        "to",
        "for",
        "of",
        "with",
        "is",
        "are",
        "was",
        "it",
    }
)
"""Words that a sentence has, and a phrase of random words has not."""
