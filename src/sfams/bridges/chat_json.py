"""Chat logs in JSON and JSONL: messages, conversations of messages, and memories among them.

A message is an object with a speaker and a text; a conversation is one that holds a list of them,
under any name in use. An object with a text but no speaker, or with a kind, is a memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from typing import Final

from sfams.bridges.chat_memories import OwnFieldError, memory_fields, moment_of, noted
from sfams.bridges.chat_values import Item, Noted, Said, Skipped, role_of
from sfams.bridges.json_values import Node, Value
from sfams.core.text import find_surrogate

SPEAKERS: Final = ("speaker", "name", "author", "sender", "from", "who")
CONTENTS: Final = ("content", "text", "message", "body", "value")
MOMENTS: Final = ("timestamp", "created_at", "create_time", "datetime", "ts", "date", "time")
SESSIONS: Final = ("session", "session_id", "sessionId", "conversation_id", "thread", "thread_id")
IDS: Final = ("id", "message_id", "dia_id", "uuid")
_CHILDREN: Final = (
    *("sessions", "conversations", "messages", "turns", "chat_messages", "dialogue", "chat"),
    *("conversation", "history"),
)
_NAMES: Final = (*SESSIONS, "id", "uuid", "title", "name")
_STARTS: Final = (*MOMENTS, "started_at", "session_date", "date_time", "time_anchor")
_MARKS_OF_A_MEMORY: Final = ("memory_type", "kind", "importance")
_DEEPEST: Final = 12


def read_values(values: Iterable[Value | Skipped], zone: tzinfo) -> Iterator[Item]:
    """Turn JSON values into messages and memories; naive times are taken in `zone`."""
    reader = _Reader(zone)
    for value in values:
        if isinstance(value, Skipped):
            yield value
        else:
            line, content = value
            yield from reader.read(content, _Place(line))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands: in which conversation, since when, and how deep."""

    line: int
    session: str = ""
    part: int = 1
    moment: datetime | None = None
    depth: int = 0

    @property
    def inside(self) -> bool:
        return self.depth > 0


class _Reader:
    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._unnamed = 0

    def read(self, value: object, place: _Place) -> Iterator[Item]:
        """Yield what a value holds, in order."""
        if place.depth > _DEEPEST:
            yield Skipped(place.line, "json", "", "is nested too deeply for a chat log")
        elif isinstance(value, Node):
            yield from self._object(value, replace(place, line=value.line))
        elif isinstance(value, list):
            yield from self._list(value, place)
        else:
            kind = type(value).__name__
            yield Skipped(place.line, "json", kind, "expected an object with a text")

    def _list(self, values: Sequence[object], place: _Place) -> Iterator[Item]:
        for value in values:
            if isinstance(value, list):
                yield from self.read(value, replace(place, depth=place.depth + 1))
            elif isinstance(value, Node):
                yield from self.read(value, place)
        odd = sum(not isinstance(value, (list, Node)) for value in values)
        if odd:
            yield Skipped(place.line, "json", f"{odd} values", "expected objects with a text")

    def _object(self, node: Node, place: _Place) -> Iterator[Item]:
        if any(isinstance(node.get(name), list) for name in _CHILDREN):
            yield from self._conversation(node, place)
        elif not node.whole:
            return  # reported where it was cut; half a message is none
        elif isinstance(node.get("mapping"), Node):
            yield Skipped(node.line, "mapping", "", "a tree of messages is not read; give a list")
        else:
            try:
                yield self._single(node, place)
            except OwnFieldError as error:
                yield Skipped(node.line, error.field, error.value, error.reason)

    def _conversation(self, node: Node, place: _Place) -> Iterator[Item]:
        children = [node[name] for name in _CHILDREN if isinstance(node.get(name), list)]
        try:
            start = moment_of(node, _STARTS, self._zone)
        except OwnFieldError as error:
            # Nothing half stored: without their day the messages would be dated by the import.
            reason = f"{error.reason}; the messages of this conversation were not taken"
            yield Skipped(node.line, error.field, error.value, reason)
            return
        session = _name(node)
        if place.session and session:
            session = f"{place.session}/{session}"
        part = place.part
        if not session and not place.session and not _holds_conversations(children):
            self._unnamed += 1
            part = self._unnamed
        moment = start or place.moment
        inner = _Place(node.line, session or place.session, part, moment, place.depth + 1)
        for child in children:
            yield from self.read(child, inner)

    def _single(self, node: Node, place: _Place) -> Item:
        if isinstance(wrapped := node.get("message") or node.get("data"), Node):
            node = Node([*node.items(), *wrapped.items()], node.line)
        _refuse_surrogates(node)
        who, role = _speaker(node)
        text = _content(node)
        if role == "system":
            return Skipped(node.line, "role", role, "instructions to the model are no memory")
        if not text:
            return Skipped(node.line, "content", "", _why_empty(node))
        if _is_memory(node, who or role, place):
            return self._noted(node, text, place)
        day = place.moment.date() if place.moment else None
        memory = node.get("memory")
        return Said(
            line=node.line,
            content=text,
            who=who or role,
            role=role,
            id=_first(node, IDS),
            session=_first(node, SESSIONS) or place.session,
            part=place.part,
            moment=moment_of(node, MOMENTS, self._zone, day) or place.moment,
            memory=memory_fields(memory, self._zone) if isinstance(memory, Node) else {},
        )

    def _noted(self, node: Node, text: str, place: _Place) -> Noted:
        day: date | None = place.moment.date() if place.moment else None
        moment = moment_of(node, MOMENTS, self._zone, day) or place.moment
        taken = {*CONTENTS, *MOMENTS, *SESSIONS}
        # `value` is the text of a message in some formats, and that of a claim in a memory.
        if node.get("subject") is not None:
            taken.discard("value")
        rest = {name: value for name, value in node.items() if name not in taken}
        session = _first(node, SESSIONS) or place.session or None
        mapping = {**rest, "session": session, "created_at": moment}
        return noted(node.line, text, mapping, self._zone)


def _name(node: Node) -> str:
    return _first(node, _NAMES)


def _holds_conversations(children: Sequence[object]) -> bool:
    first = next((child[0] for child in children if isinstance(child, list) and child), None)
    return isinstance(first, Node) and any(isinstance(first.get(name), list) for name in _CHILDREN)


def _first(node: Mapping[str, object], names: Sequence[str]) -> str:
    """Give the first of several fields that holds text or a whole number, as text."""
    for name in names:
        value = node.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _speaker(node: Node) -> tuple[str, str]:
    """Give who speaks ("" if only the role is known) and as what."""
    author = node.get("author")
    nested = author if isinstance(author, Node) else Node([], node.line)
    who = _first(node, SPEAKERS) or _first(nested, ("name", "role"))
    said = _first(node, ("role",)) or _first(nested, ("role",))
    if not said and role_of(kind := _first(node, ("type",))):
        said = kind  # as in {"type": "human", "content": ...}
    return who, role_of(said) or said.lower() or role_of(who)


def _is_memory(node: Node, speaker: str, place: _Place) -> bool:
    if "role" in node or "speaker" in node:
        return False
    kind = _first(node, ("type",))
    typed = bool(kind) and not role_of(kind) and kind not in {"message", "text"}
    if typed or any(node.get(name) is not None for name in _MARKS_OF_A_MEMORY):
        return True
    return not speaker and not place.inside


def _content(node: Node) -> str:
    """Give the text, whether it is a string, an object or a list of parts; "" for none."""
    for name in CONTENTS:
        if text := _plain(node.get(name)):
            return text
    return ""


def _plain(value: object) -> str:
    if isinstance(value, Node):
        value = value.get("text") or value.get("parts")
    if isinstance(value, list):
        value = "\n".join(part for part in map(_part, value) if part.strip())
    return value if isinstance(value, str) and value.strip() else ""


def _part(part: object) -> str:
    text = part.get("text") if isinstance(part, Node) else part
    return text if isinstance(text, str) else ""


def _why_empty(node: Node) -> str:
    if node.get("tool_calls") or node.get("function_call"):
        return "a tool call without a text"
    given = [name for name in CONTENTS if node.get(name)]
    return "is blank or holds no text" if given else "no text"


def _refuse_surrogates(node: Node) -> None:
    pending: list[tuple[str, object]] = [("content", node)]
    while pending:
        field, value = pending.pop()
        if isinstance(value, Node):
            pending += [("key", name) for name in value]
            pending += value.items()
        elif isinstance(value, list):
            pending += [(field, item) for item in value]
        elif isinstance(value, str) and find_surrogate(value) is not None:
            reason = "has a lone surrogate, half of a character; it is not valid Unicode"
            raise OwnFieldError(field, "", reason)
