"""What the readers of chat logs speak about, whatever the format of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Final, Literal, get_args

from sfams.core.draft import Draft
from sfams.core.text import clip
from sfams.errors import InvalidInputError

Format = Literal["auto", "jsonl", "json", "markdown", "text"]

MAX_SHOWN: Final = 40
"""Characters of a refused value that a report shows."""

_FORMATS: Final = get_args(Format)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How to read a chat log.

    `timezone` is where naive times and bare dates were written, `session` names the conversation
    of messages that name none, and `format` of "auto" looks at the content first, then the suffix.
    """

    timezone: tzinfo = UTC
    session: str | None = None
    format: Format = "auto"

    def __post_init__(self) -> None:
        """Check the format."""
        if self.format not in _FORMATS:
            message = f"format: {self.format!r} is not one of {', '.join(_FORMATS)}"
            raise InvalidInputError(message, field="format")


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not taken: where, which field, its value (never a message's text), why."""

    line: int
    field: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True)
class ChatLog:
    """What a chat log holds: drafts in the order of the file, and all that was not taken."""

    drafts: tuple[Draft, ...]
    skipped: tuple[Skipped, ...]
    format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One message as read, before it gets its turn and key.

    `moment` keeps the offset that the file gives, `part` tells unnamed conversations of one file
    apart, and `memory` holds what the message says about itself as a memory.
    """

    line: int
    content: str
    who: str = ""
    role: str = ""
    id: str = ""
    session: str = ""
    part: int = 1
    moment: datetime | None = None
    memory: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Noted:
    """A memory that stands for itself, as a mapping that `draft_from_mapping` understands."""

    line: int
    mapping: Mapping[str, object]


Item = Said | Noted | Skipped


def shown(value: object) -> str:
    """Show a refused value in a report: clipped, and of lists and tables the type alone."""
    if isinstance(value, (list, dict)):
        return type(value).__name__
    return clip(str(value), MAX_SHOWN)


_ROLES: Final = {
    "user": ("user", "human", "me", "you", "customer", "client", "用户", "我", "客户", "人类"),
    "assistant": (
        *("assistant", "ai", "bot", "model", "gpt", "chatgpt", "claude", "gemini", "copilot"),
        *("agent", "llm", "助手", "助理", "机器人", "智能助手", "模型"),
    ),
    "system": ("system", "developer", "系统"),
    "tool": ("tool", "function", "工具"),
}
_ROLE_OF: Final = {word: role for role, words in _ROLES.items() for word in words}


def role_of(word: str) -> str:
    """Tell which role a speaker's name or a role's name stands for; "" for a person's name."""
    return _ROLE_OF.get(word.strip().lower(), "")
