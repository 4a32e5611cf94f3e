"""Bytes to lines: UTF-8 and UTF-16, and line by line the older encodings, but only beyond doubt.

A line that could be read in two ways is not guessed at: a wrong letter in a memory would go
unnoticed for years.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sfams.errors import InvalidInputError

UNREADABLE: Final = "is not UTF-8, and neither GB 18030 nor Windows-1252 beyond doubt"
CUT: Final = "ends in the middle of a character; the file was cut"

_WIDE: Final = (  # the marks of UTF-32 first: that of its little-endian form begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE: Final = 65_536
_BINARY_SHARE: Final = 0.02
_CONTROLS: Final = bytes(set(range(32)) - set(b"\b\t\n\f\r\x1b"))

_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}")
_COMMON_HAN = re.compile(rb"[\xa1-\xa3\xb0-\xd7][\xa1-\xfe]")
_PAIRS = re.compile(rb"(?:[\x00-\x7f]|[\xa1-\xf7][\xa1-\xfe])*")
_TWO_ALONE = re.compile(rb"(?<![\x80-\xffA-Za-z])[\xc0-\xff]{2}(?![\x80-\xffA-Za-z])")
_COMMON_SHARE: Final = 0.8
_FREQUENT: Final = frozenset(
    "的一是不了在人有我他这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天"
    "去能对小多然于心学么之都好看起发当没成只如事把还用第样道想作种开从无己面最但现前些所同日又行"
    "今明很请吗吧呢什给让做再两三月点间次"
)
_FREQUENT_SHARE: Final = 0.1
_LONGEST_LATIN_RUN: Final = 2
_RARE_IN_LATIN: Final = frozenset("¤¦¨¬\u00ad¯´¶¸¹ƒ†‡ˆ‰˜")


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a file; None for one that could not be read, with the reason in `refused`."""

    texts: tuple[str | None, ...]
    refused: dict[int, str]


def read_lines(data: bytes) -> Lines:
    """Decode a file and split it into lines.

    Raises:
        InvalidInputError: The file is binary, or UTF-16 or UTF-32 that cannot be read.
    """
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            return _split(_decode_wide(data, encoding))
    # A power cut leaves a file with NULs behind its last line.
    data = data.rstrip(b"\0").removeprefix(codecs.BOM_UTF8)
    _refuse_binary(data)
    try:
        return _split(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _decode_lines(data)


def _split(text: str) -> Lines:
    # Not splitlines(): it would also split at U+2028 and other characters inside a message.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return Lines(tuple(line.removeprefix("\ufeff") for line in lines), {})


def _decode_wide(data: bytes, encoding: str) -> str:
    width = 4 if encoding == "utf-32" else 2
    try:
        # A lone surrogate is let pass here, to be refused with its line and not with the file.
        return data[: len(data) // width * width].decode(encoding, "surrogatepass")
    except UnicodeDecodeError as error:
        message = f"file: its byte order mark says {encoding.upper()}, but it cannot be read so"
        raise InvalidInputError(message, field="file") from error


def _refuse_binary(data: bytes) -> None:
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > len(sample) * _BINARY_SHARE:
        message = "file: is binary, or UTF-16 without a byte order mark; save it as UTF-8"
        raise InvalidInputError(message, field="file")


def _decode_lines(data: bytes) -> Lines:
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    texts: list[str | None] = []
    refused: dict[int, str] = {}
    utf8 = False
    confirmed = _confirmed_chinese(lines)
    for number, line in enumerate(lines, 1):
        try:
            text: str | None = line.decode("utf-8").removeprefix("\ufeff")
            utf8 = utf8 or not line.isascii()
        except UnicodeDecodeError as error:
            cut = utf8 and number == len(lines) and error.end == len(line)
            text = None if cut else _older(line, confirmed=confirmed)
            if text is None:
                refused[number] = CUT if cut else UNREADABLE
        texts.append(text)
    return Lines(tuple(texts), refused)


def _older(line: bytes, *, confirmed: bool) -> str | None:
    """Read a line as GB 18030 or as Windows-1252, whichever it surely is, else give None."""
    if confirmed and _PAIRS.fullmatch(line):
        return line.decode("gb18030")
    if (chinese := _chinese(line)) is not None:
        return chinese if confirmed else None
    return line.decode("cp1252") if _is_western(line) else None


def _chinese(line: bytes) -> str | None:
    # Nearly any bytes decode as GB 18030. Real Chinese text consists of the 3,755 characters of
    # GB 2312's first level, with a rare one now and then; other bytes rather give rare ones.
    try:
        text = line.decode("gb18030")
    except UnicodeDecodeError:
        return None
    encoded = [char.encode("gb18030") for char in text if char > "\x7f"]
    common = sum(_COMMON_HAN.fullmatch(pair) is not None for pair in encoded)
    return text if common >= len(encoded) * _COMMON_SHARE else None


def _confirmed_chinese(lines: Sequence[bytes]) -> bool:
    # Korean looks like Chinese, byte by byte. Over a whole file the words tell.
    read = [_chinese(line) or "" for line in lines if not _is_utf8(line)]
    letters = [char for char in "".join(read) if char >= "\u4e00"]
    return sum(map(_FREQUENT.__contains__, letters)) > len(letters) * _FREQUENT_SHARE


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_western(line: bytes) -> bool:
    # Letters with accents stand alone, or in twos inside a word. Three in a row are another
    # encoding, and so is what would be a letter of UTF-8, next to the byte that is none.
    if max(map(len, _HIGH_RUN.findall(line))) > _LONGEST_LATIN_RUN:
        return False
    if _UTF8_LETTER.search(line) or _TWO_ALONE.search(line):
        return False
    try:
        return _RARE_IN_LATIN.isdisjoint(line.decode("cp1252"))
    except UnicodeDecodeError:
        return False
