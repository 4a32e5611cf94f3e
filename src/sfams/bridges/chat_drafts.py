"""Messages to drafts: moments inherited, turns counted, keys that survive a second reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import Final

from sfams.bridges.chat_values import ChatOptions, Item, Noted, Said, Skipped, shown
from sfams.core.checks import MAX_NAME
from sfams.core.draft import Draft, draft_from_mapping
from sfams.core.record import Kind
from sfams.core.text import is_blank
from sfams.errors import InvalidInputError

_SHOWABLE: Final = frozenset({"importance", "kind", "trust", "ttl", "ttl_hours", "access_count"})
_LONGEST_STEM: Final = 200


def draft_items(
    items: Iterable[Item], *, name: str, options: ChatOptions, notes_session: bool
) -> Iterator[Draft | Skipped]:
    """Make drafts of what a reader found.

    Args:
        items: Messages, memories and refusals in the order of the file.
        name: The file's name; only its stem counts, and only where no session is named.
        options: The caller's session, if any.
        notes_session: Put what nobody said into one session as well, since it is one text.
    """
    drafter = _Drafter(_stem(name), options, notes_session=notes_session)
    for item in _dated(list(items)):
        yield item if isinstance(item, Skipped) else drafter.draft(item)


def _stem(name: str) -> str:
    base = name.replace("\\", "/").rpartition("/")[2]
    stem = base.rpartition(".")[0] or base
    plain = "".join(char if char.isprintable() else "_" for char in stem).strip()
    return plain[:_LONGEST_STEM] or "chat"


def _dated(items: Sequence[Item]) -> list[Item]:
    """Let undated messages follow the dated one before them, so that the order in time is kept.

    Those before the first date get that date. Where nothing is dated, nothing is.
    """
    moments = (item.moment for item in items if isinstance(item, Said))
    latest: datetime | None = next((moment for moment in moments if moment is not None), None)
    dated: list[Item] = []
    for item in items:
        if isinstance(item, Said):
            latest = item.moment or latest
            dated.append(replace(item, moment=latest))
        else:
            dated.append(item)
    return dated


class _Drafter:
    """Counts the turns of each session and names each message."""

    def __init__(self, stem: str, options: ChatOptions, *, notes_session: bool) -> None:
        self._stem = stem
        self._options = options
        self._notes_session = notes_session
        self._turns: Counter[str] = Counter()
        self._repeats: Counter[str] = Counter()
        self._contents: dict[str, tuple[str, int]] = {}

    def draft(self, item: Said | Noted) -> Draft | Skipped:
        """Make one draft, or tell why not."""
        if isinstance(item, Noted):
            return self._noted(item)
        session = item.session or self._options.session or self._home(item)
        # A message that is refused keeps its turn: the others stay where they are, and beside whom.
        self._turns[session] += 1
        if is_blank(item.content):
            return Skipped(item.line, "content", "", "is blank")
        digest = _digest(item.who, item.content)
        key = self._key(item, session, digest)
        content, line = self._contents.setdefault(key, (digest, item.line))
        if line != item.line and content == digest:
            return Skipped(item.line, "id", shown(item.id), f"says the same as line {line}")
        if content != digest:
            key = _fitting(f"{key}:{digest}")
        fields = {
            "kind": None
            if "type" in item.memory or "memory_type" in item.memory
            else Kind.DIALOGUE,
            **item.memory,
            "content": item.content,
            "who": item.who or None,
            "role": item.role or None,
            "session": session,
            "turn": self._turns[session],
            "created_at": item.moment,
            "key": key,
        }
        return _checked(item.line, fields)

    def _noted(self, item: Noted) -> Draft | Skipped:
        fields = {name: value for name, value in item.mapping.items() if value is not None}
        if self._notes_session:
            session = self._options.session or self._stem
            self._turns[session] += 1
            fields |= {"session": session, "turn": self._turns[session]}
        elif self._options.session:
            fields.setdefault("session", self._options.session)
        return _checked(item.line, fields)

    def _home(self, item: Said) -> str:
        """Name a session that the file does not name, the same whenever it is read."""
        part = f" #{item.part}" if item.part > 1 else ""
        # The day as written, not as in the caller's time zone, which may be another next time.
        day = f" {item.moment.date().isoformat()}" if item.moment else ""
        return f"{self._stem}{part}{day}"

    def _key(self, item: Said, session: str, digest: str) -> str:
        """Name a message by its id, else by its words and how often they were said before.

        Not by its turn: that changes for all that follow when a refused line is mended.
        """
        if item.id:
            return _fitting(f"chat:{session}:{item.id}")
        own = _digest(session, digest)
        self._repeats[own] += 1
        return f"chat:{_digest(own, str(self._repeats[own]))}"


def _digest(*parts: str) -> str:
    digest = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _fitting(key: str) -> str:
    return key if len(key) <= MAX_NAME else f"chat:{_digest(key)}"


def _checked(line: int, fields: dict[str, object]) -> Draft | Skipped:
    try:
        return draft_from_mapping(fields, lenient=True)
    except InvalidInputError as error:
        field = str(error.context.get("field", ""))
        value = shown(fields[field]) if field in _SHOWABLE and field in fields else ""
        return Skipped(line, field, value, str(error))
