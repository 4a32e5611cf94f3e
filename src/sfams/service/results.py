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

    `id` is the record that now holds it: the new one, or the known one for a duplicate. What was refused
    because it was erased here has the id of the erased record; what a rule refused or is off the record
    has none (""). `embedded` is False while its vector is missing (keywords find it meanwhile). `warnings`
    says why, and what was redacted or refused.
    """

    id: RecordId
    outcome: Outcome
    superseded: tuple[RecordId, ...] = ()
    twin: Twin | None = None
    embedded: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def stored(self) -> bool:
        """Tell whether the memory holds the text now."""
        return self.outcome not in {Outcome.REFUSED, Outcome.OFF_THE_RECORD}


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
    PURGED = "purged"
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
class ResidueCheck:
    """What was looked for in the files, by counts and one digest, and what was found.

    A text is looked for in pieces. `left` are those that stand in the files and in no row: 0 is clean.
    `too_short` texts (under 4 bytes) cannot be told from chance. `rewritten`: the file was written anew.
    """

    texts: int
    pieces: int
    too_short: int
    left: int
    digest: str
    rewritten: bool


OUT_OF_REACH = (
    "backups and copies of the file",
    "exports",
    "prompts and answers of language models",
    "other scopes",
)
"""Where erased texts may still be, and only their keeper can erase them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReceipt:
    """Proof of an erasure: ids, content hashes and counts, never text. `dry_run` only previews.

    `reach` counts by category what went: records, summaries, versions, vectors, relations, plan_steps,
    events (those that lost their detail) and entities (named by nothing else). `withdrawn` are summaries
    made from what was erased, which went with it; `revived` are groups of their other sources, live again.
    `unsure` names records that hold the subject's name only inside something longer: they stay. `number`
    and `seal` are its place in the scope's chain of receipts.
    """

    at: datetime
    ids: tuple[RecordId, ...]
    hashes: tuple[str, ...]
    residue: Residue
    dry_run: bool = False
    reach: Mapping[str, int] = field(default_factory=dict)
    withdrawn: tuple[RecordId, ...] = ()
    revived: tuple[tuple[RecordId, ...], ...] = ()
    unsure: tuple[RecordId, ...] = ()
    checked: ResidueCheck | None = None
    number: int = 0
    seal: str = ""
    signature: str = ""
    out_of_reach: tuple[str, ...] = OUT_OF_REACH


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """A receipt as the store keeps it: ids and counts, one digest in place of the hashes.

    `digest` is SHA-256 over the receipt's hashes, a line each. Of more than 1,000 records `ids` is empty.
    """

    number: int
    at: datetime
    count: int
    ids: tuple[RecordId, ...]
    digest: str
    reach: Mapping[str, int]
    residue: Residue
    checked_at: datetime | None
    seal: str
    signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureLog(Sequence[Erasure]):
    """The erasures of a scope, oldest first, and what is wrong with their chain (nothing: ())."""

    erasures: tuple[Erasure, ...]
    problems: tuple[str, ...] = ()
    head: str = ""
    """Seal of the newest link: kept elsewhere, it shows later whether the chain was cut."""
    signed: bool = False

    def __iter__(self) -> Iterator[Erasure]:
        """Iterate, oldest first."""
        return iter(self.erasures)

    def __len__(self) -> int:
        """Count the erasures."""
        return len(self.erasures)

    @overload
    def __getitem__(self, index: int) -> Erasure: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Erasure, ...]: ...
    def __getitem__(self, index: int | slice) -> Erasure | tuple[Erasure, ...]:
        """Take one, or several."""
        return self.erasures[index]


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
