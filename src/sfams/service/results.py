"""What the verbs answer: small values that faces show as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import overload

from sfams.core.admission import Outcome
from sfams.core.events import MemoryEvent
from sfams.core.query import Cursor
from sfams.core.record import MemoryRecord, PlanId, RecordId, Twin

Progress = Callable[[int], object]
"""Called with the number of texts done since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberResult:
    """What became of one text.

    `id` is the record that now holds it: the new one, or the known one for a duplicate. `embedded` is
    False while its vector is missing (keywords find it meanwhile); `warnings` then says why.
    """

    id: RecordId
    outcome: Outcome
    superseded: tuple[RecordId, ...] = ()
    twin: Twin | None = None
    embedded: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Sequence[MemoryRecord]):
    """One page of records; `next` continues it, None at the end."""

    records: tuple[MemoryRecord, ...]
    next: Cursor | None = None

    def __iter__(self) -> Iterator[MemoryRecord]:
        """Iterate over this page."""
        return iter(self.records)

    def __len__(self) -> int:
        """Count this page."""
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> MemoryRecord: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[MemoryRecord, ...]: ...
    def __getitem__(self, index: int | slice) -> MemoryRecord | tuple[MemoryRecord, ...]:
        """Take one record, or several."""
        return self.records[index]


class Fate(StrEnum):
    """What became of a memory, as `explain` answers."""

    NEVER_STORED = "never stored"
    DUPLICATE = "duplicate of another"
    LIVE = "live"
    WAITING = "live, waiting for its vector"
    EXPIRED = "expired"
    DEMOTED = "demoted"
    SUPERSEDED = "superseded"
    SUMMARIZED = "summarized"
    DELETED = "deleted"
    ERASED = "erased"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a memory is, or is not, found.

    `plan_id`, `at`, `score`, `parts` and `reason` tell which act of forgetting touched it last and with
    which score; without one, `score` and `parts` are today's retention score. `place` is its rank for
    the question asked (1 = first), `cut_off` says why it was not returned.
    """

    fate: Fate
    record_id: RecordId | None = None
    related: RecordId | None = None
    plan_id: PlanId | None = None
    at: datetime | None = None
    reason: str = ""
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    protected: str = ""
    undoable: bool = False
    place: int | None = None
    cut_off: str = ""
    events: tuple[MemoryEvent, ...] = ()

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        text = self.fate.value
        if self.related is not None:
            text += f" (see {self.related})"
        if self.reason:
            text += f": {self.reason}"
        if self.plan_id is not None:
            text += f", by plan {self.plan_id}"
        if self.place is not None:
            text += f"; rank {self.place}"
        if self.cut_off:
            text += f", not returned: {self.cut_off}"
        return text


class Residue(StrEnum):
    """Whether erased text may still lie in the files."""

    CLEAN = "clean"
    PENDING = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReceipt:
    """Proof of an erasure: ids and content hashes, never text. `dry_run` only counts."""

    at: datetime
    ids: tuple[RecordId, ...]
    hashes: tuple[str, ...]
    residue: Residue
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One group of memories and what stands, or would stand, for them.

    `members` made room for it; `sources` are the originals it was written from. `summary_id` is None in
    a preview and where the group was left alone, for which `reason` says why. `refused` says why the text
    of the summarizer was not taken; the rules wrote it then.
    """

    summary_id: RecordId | None
    by: str
    on: str
    members: tuple[RecordId, ...]
    sources: tuple[RecordId, ...]
    content: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    summarizer: str = ""
    sensitive: bool = False
    refused: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryReport:
    """What `summarize` or `digest` did, or would do (`dry_run`); `left` says why others are in no group."""

    at: datetime
    summaries: tuple[Summary, ...] = ()
    left: Mapping[RecordId, str] = field(default_factory=dict)
    dry_run: bool = False

    @property
    def made(self) -> tuple[Summary, ...]:
        """Groups for which there is a text."""
        return tuple(each for each in self.summaries if not each.reason)

    @property
    def refused(self) -> int:
        """How many texts of the summarizer were refused."""
        return sum(bool(each.refused) for each in self.summaries)
