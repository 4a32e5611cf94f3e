"""Summarizing: which memories become one, and what the record that stands for them carries.

Pure decisions about records; who writes the text is a `Summarizer`, whether it may stand is decided by
`fidelity`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from math import ceil

from sfams.core.draft import Draft
from sfams.core.moments import format_moment, utc_day
from sfams.core.record import (
    Entity,
    JsonValue,
    Kind,
    MemoryRecord,
    RecordId,
    Sensitivity,
    Source,
    Status,
)
from sfams.core.text import fold
from sfams.errors import InvalidPolicyError

IMPORTANCE_STEP = 0.05
"""How far a summary stands above the most important of its sources (capped at 1)."""

FACTS = "facts"
"""Metadata of a summary: lines of key values ("label: value; value"), which end its text too."""
SPAN_FROM = "span_from"
SPAN_TO = "span_to"
"""Metadata of a summary: when its earliest and its latest source were said."""
SUMMARIZER = "summarizer"
"""Metadata of a summary: who wrote it."""
DIGEST = "digest"
"""Metadata of a digest: its period (day, week or month)."""


class Purpose(StrEnum):
    """What a summary is for: a group of memories on one thing, or a period told in order."""

    GROUP = "group"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class SourceText:
    """One memory as a summarizer reads it."""

    content: str
    created_at: datetime
    who: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What a summarizer is asked for.

    `sources` stand in the order in which they were said; `names` are those of their entities. The
    answer should cost about `target_tokens`, and must keep every number, date, name and negation.
    """

    sources: tuple[SourceText, ...]
    target_tokens: int
    language: str = "und"
    purpose: Purpose = Purpose.GROUP
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryText:
    """What a summarizer gives: a text, and lines of key values ("label: value; value") beside it."""

    text: str
    facts: tuple[str, ...] = ()

    @property
    def content(self) -> str:
        """The text to be stored: facts are part of it, so that keywords find them."""
        return "\n".join(filter(None, (self.text, *self.facts)))


class GroupBy(StrEnum):
    """What the memories of a group have in common."""

    ENTITY = "entity"
    SESSION = "session"
    DAY = "day"
    PERIOD = "period"
    HAND = "hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Memories to be summarized as one, oldest first.

    `members` are live and make room for the summary. `sources` are what it is written from: the same,
    but for members that are summaries themselves, for which their own sources stand (see `originals`).
    """

    by: GroupBy
    on: str
    members: tuple[MemoryRecord, ...]
    sources: tuple[MemoryRecord, ...]

    @property
    def tokens(self) -> int:
        """What the members cost, and the summary must undercut."""
        return sum(record.tokens for record in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRules:
    """Which memories may be summarized, and how many make one.

    `apart` are kinds (with their refinements) that are never summarized: each such record counts word
    for word.
    """

    least: int = 3
    most: int = 12
    most_tokens: int = 1500
    apart: frozenset[str] = frozenset(
        {Kind.INSTRUCTION, Kind.PREFERENCE, Kind.DECISION, Kind.PROFILE, Kind.DEADLINE}
    )

    def __post_init__(self) -> None:
        """Check that groups can exist."""
        if not 2 <= self.least <= self.most:  # noqa: PLR2004  one record needs no summary
            message = f"least: must lie in 2..most, got {self.least} and {self.most}"
            raise InvalidPolicyError(message, field="least")
        if self.most_tokens < 1:
            message = f"most_tokens: must be positive, got {self.most_tokens}"
            raise InvalidPolicyError(message, field="most_tokens")


DEFAULT_GROUP_RULES = GroupRules()


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups, and why the other records are in none. Every record is in one of the two, once."""

    groups: tuple[Group, ...]
    left: Mapping[RecordId, str] = field(default_factory=dict)


# ── Grouping ──────────────────────────────────────────────────────────────────────────────────────


def group(records: Iterable[MemoryRecord], rules: GroupRules = DEFAULT_GROUP_RULES) -> Grouping:
    """Sort records into groups on one entity, else of one session, else of one day.

    Entities that few records name come first, so that groups are about something; a record is in one
    group at most. A group never reaches beyond a scope. Left alone are records that are protected, not
    live, expire by themselves, fill a claim slot, are of a kind that stands apart, or are too few.
    The same for every order of the records.
    """
    ordered = sorted(records, key=lambda each: (each.scope, each.created_at, each.id))
    left = {each.id: reason for each in ordered if (reason := unfit(each, rules))}
    free = [each for each in ordered if each.id not in left]
    groups: list[Group] = []
    for scope in dict.fromkeys(each.scope for each in free):
        rest = [each for each in free if each.scope == scope]
        for by, keys in _KEYS:
            found, rest = _by(rest, by, keys, rules)
            groups += found
        left |= dict.fromkeys((each.id for each in rest), "too few on one thing")
    return Grouping(tuple(groups), left)


def unfit(record: MemoryRecord, rules: GroupRules = DEFAULT_GROUP_RULES) -> str:
    """Say why a record may not be summarized; "" if it may."""
    reasons = (
        (record.held, "held"),
        (record.pinned, "pinned"),
        (record.status is not Status.LIVE, "not live"),
        (record.expires_at is not None, "expires by itself"),
        (record.claim is not None, "holds the value of a claim"),
        (record.kind.partition(":")[0] in rules.apart, f"kind {record.kind} stands apart"),
        (DIGEST in record.metadata, "is a digest"),
    )
    return next((reason for applies, reason in reasons if applies), "")


_Keys = Callable[[MemoryRecord], Sequence[str]]
_KEYS: tuple[tuple[GroupBy, _Keys], ...] = (
    (GroupBy.ENTITY, lambda each: sorted({fold(entity.name) for entity in each.entities})),
    (GroupBy.SESSION, lambda each: [each.source.session] if each.source.session else []),
    (GroupBy.DAY, lambda each: [utc_day(each.created_at).isoformat()]),
)


def _by(
    records: list[MemoryRecord], by: GroupBy, keys: _Keys, rules: GroupRules
) -> tuple[list[Group], list[MemoryRecord]]:
    """Form groups by one thing, the rarest first; returns them and what is left."""
    sharing: dict[str, list[MemoryRecord]] = {}
    for record in records:
        for key in keys(record):
            sharing.setdefault(key, []).append(record)
    taken: set[RecordId] = set()
    groups: list[Group] = []
    for key in sorted(sharing, key=lambda each: (len(sharing[each]), each)):
        free = [record for record in sharing[key] if record.id not in taken]
        for members in portions(free, rules):
            groups.append(Group(by=by, on=key, members=members, sources=members))
            taken.update(record.id for record in members)
    return groups, [record for record in records if record.id not in taken]


def portions(
    records: Sequence[MemoryRecord], rules: GroupRules
) -> Iterable[tuple[MemoryRecord, ...]]:
    """Cut records into portions of about the same number, none above the limits."""
    if len(records) < rules.least:
        return
    size = ceil(len(records) / ceil(len(records) / rules.most))
    portion: list[MemoryRecord] = []
    tokens = 0
    for record in records:
        if len(portion) == size or (portion and tokens + record.tokens > rules.most_tokens):
            if len(portion) >= rules.least:
                yield tuple(portion)
            portion, tokens = [], 0
        portion.append(record)
        tokens += record.tokens
    if len(portion) >= rules.least:
        yield tuple(portion)


def originals(
    members: Sequence[MemoryRecord], known: Mapping[RecordId, MemoryRecord]
) -> tuple[MemoryRecord, ...] | None:
    """Give what a summary of these records is written from: never another summary.

    For a summary its sources stand, so that no rewrite of a rewrite drifts from what was said.

    Args:
        members: The records to be summarized.
        known: The sources of those that are summaries, as far as they still exist.

    Returns:
        The originals, oldest first, each once; None if one of them is gone, deleted or erased, for then
        nobody may read it again and the summary has to be left alone.
    """
    found: dict[RecordId, MemoryRecord] = {}
    for member in members:
        if not is_summary(member):
            found[member.id] = member
            continue
        for source in member.derived_from:
            original = known.get(source)
            if original is None or original.status in {Status.DELETED, Status.ERASED}:
                return None
            found[source] = original
    return tuple(sorted(found.values(), key=lambda each: (each.created_at, each.id)))


def is_summary(record: MemoryRecord) -> bool:
    """Tell whether a record stands for others."""
    return record.kind.partition(":")[0] == Kind.SUMMARY and bool(record.derived_from)


# ── What is asked, and what is stored ─────────────────────────────────────────────────────────────


def request_of(
    group: Group, language: str, share: float, purpose: Purpose = Purpose.GROUP
) -> SummaryRequest:
    """Ask for a summary of a group in `share` of the tokens of its sources."""
    tokens = sum(record.tokens for record in group.sources)
    return SummaryRequest(
        sources=tuple(
            SourceText(each.content, each.created_at, each.source.who) for each in group.sources
        ),
        target_tokens=max(1, int(tokens * share)),
        language=language,
        purpose=purpose,
        names=tuple(entity.name for entity in _entities(group.sources)),
    )


def draft_of(
    group: Group, text: SummaryText, *, summarizer: str, more: Mapping[str, JsonValue] | None = None
) -> Draft:
    """Make the record's fields: it belongs where its sources belong, and leads back to them.

    Tags and entities are the union of theirs, metadata and source what all of them agree on. It is
    worth more than the most important of them, as trusted as the least, as sensitive as the most. It
    counts as said when the latest of them was, and claims nothing.

    Args:
        group: What it stands for.
        text: What it says.
        summarizer: Who wrote it, for the record.
        more: Further metadata.
    """
    sources = group.sources
    said = [record.created_at for record in sources]
    highest = max(record.importance for record in (*sources, *group.members))
    metadata: dict[str, JsonValue] = {
        **_agreed(sources),
        SUMMARIZER: summarizer,
        SPAN_FROM: format_moment(min(said)),
        SPAN_TO: format_moment(max(said)),
        **(more or {}),
    }
    if text.facts:
        metadata[FACTS] = list(text.facts)
    return Draft(
        content=text.content,
        kind=Kind.SUMMARY,
        importance=min(1.0, highest + IMPORTANCE_STEP),
        created_at=max(said),
        entities=_entities(sources),
        tags=tuple(dict.fromkeys(tag for record in sources for tag in record.tags)),
        metadata=metadata,
        source=_source(sources),
        trust=min(record.trust for record in sources),
        sensitivity=_strictest(sources),
        derived_from=tuple(record.id for record in sources),
    )


def _entities(records: Sequence[MemoryRecord]) -> tuple[Entity, ...]:
    found: dict[str, Entity] = {}
    for record in records:
        for entity in record.entities:
            key = fold(entity.name)
            if key not in found or (entity.type and not found[key].type):
                found[key] = entity
    return tuple(found.values())


_OWN = frozenset({FACTS, SPAN_FROM, SPAN_TO, SUMMARIZER, DIGEST})


def _agreed(records: Sequence[MemoryRecord]) -> dict[str, JsonValue]:
    first, *others = (record.metadata for record in records)
    return {
        name: value
        for name, value in first.items()
        if name not in _OWN and all(name in each and each[name] == value for each in others)
    }


def _source(records: Sequence[MemoryRecord]) -> Source:
    def common(values: Iterable[str]) -> str:
        distinct = set(values)
        return distinct.pop() if len(distinct) == 1 else ""

    return Source(
        who=common(record.source.who for record in records),
        role=common(record.source.role for record in records),
        session=common(record.source.session for record in records),
    )


def _strictest(records: Sequence[MemoryRecord]) -> Sensitivity:
    order = list(Sensitivity)
    return max((record.sensitivity for record in records), key=order.index)
