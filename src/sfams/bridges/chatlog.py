"""Chat logs to drafts: JSONL, JSON, Markdown and plain text, whoever wrote them.

- Nothing is half stored. A message whose date or fields cannot be read is listed in `skipped` with
  line, field and value, and the rest is read on. An over-long one is never cut.
- Naive times and bare dates are taken in the caller's time zone. A message without a date follows
  the dated one before it; if nothing is dated, the service takes the time of the import.
- Reading the same file again, or one that has grown, gives the same keys, wherever the file lies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from sfams.bridges.chat_drafts import draft_items
from sfams.bridges.chat_json import read_values
from sfams.bridges.chat_speakers import heading_title
from sfams.bridges.chat_text import read_text
from sfams.bridges.chat_values import ChatLog, ChatOptions, Format, Item, Skipped
from sfams.bridges.encoding import Lines, read_lines
from sfams.bridges.json_values import values_by_line, values_of_document
from sfams.core.draft import Draft

__all__ = ["ChatLog", "ChatOptions", "Format", "Skipped", "read_chatlog"]

_SUFFIXES: Final[dict[str, Format]] = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "json",
    "md": "markdown",
    "markdown": "markdown",
}
_JSON_START: Final = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{\]"])')
_JSON_LINE: Final = re.compile(r'\s*\{\s*["}].*(?<![,{\[\s])\s*')
_MARKDOWN: Final = re.compile(r"\s{0,3}(?:\*\*|__|[-*+]\s+\*\*)\S")
_PROBED: Final = 50


def read_chatlog(data: bytes, *, name: str, options: ChatOptions | None = None) -> ChatLog:
    """Read a chat log.

    Args:
        data: The file's bytes, in any encoding that `encoding` knows.
        name: The file's name, for its suffix and to name sessions that the file does not name.
        options: Time zone, session and format.

    Raises:
        InvalidInputError: The file is binary or in an encoding that cannot be read.
    """
    options = options or ChatOptions()
    lines = read_lines(data)
    found = options.format if options.format != "auto" else _detect(lines.texts, name)
    items = list(_items(lines, found, options))
    notes_session = found in {"markdown", "text"}
    drafts: list[Draft] = []
    skipped = [Skipped(line, "encoding", "", why) for line, why in lines.refused.items()]
    for result in draft_items(items, name=name, options=options, notes_session=notes_session):
        if isinstance(result, Draft):
            drafts.append(result)
        else:
            skipped.append(result)
    if not drafts and not skipped:
        skipped.append(Skipped(1, "file", "", "holds no message"))
    skipped.sort(key=lambda item: item.line)
    return ChatLog(tuple(drafts), tuple(skipped), found)


def _items(lines: Lines, found: Format, options: ChatOptions) -> Iterator[Item]:
    if found == "jsonl":
        return read_values(values_by_line(lines.texts), options.timezone)
    if found == "json":
        return read_values(values_of_document(lines.texts), options.timezone)
    return read_text(lines.texts, options.timezone)


def _detect(lines: Sequence[str | None], name: str) -> Format:
    """Tell the format by the content, and where that leaves it open, by the suffix."""
    head = [line for line in lines if line is not None and line.strip()][:_PROBED]
    suffix = _SUFFIXES.get(name.rpartition(".")[2].lower(), "text")
    if head and _JSON_START.match("\n".join(head)):
        return _json_or_jsonl(head, suffix)
    if any(map(_JSON_LINE.fullmatch, head)) and suffix == "jsonl":
        return "jsonl"
    if suffix == "text" and any(heading_title(line) or _MARKDOWN.match(line) for line in head):
        return "markdown"
    return suffix


def _json_or_jsonl(head: Sequence[str], suffix: Format) -> Format:
    if _whole(head[0]) if len(head) > 1 else suffix == "jsonl":
        return "jsonl"
    # A damaged first line of many, or a document that spans lines?
    looks = sum(_JSON_LINE.fullmatch(line) is not None for line in head)
    return "jsonl" if looks > 1 and looks > len(head) // 2 else "json"


def _whole(line: str) -> bool:
    """Tell whether a line holds at least one whole object."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        json.JSONDecoder(strict=False).raw_decode(line.lstrip())
    except (ValueError, RecursionError):
        return False
    return True
