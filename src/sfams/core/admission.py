"""Admission: is a new text new, a duplicate of, superseding, or outdated by what is there?

Decided before anything is written, from values that the caller has looked up. Closeness of vectors
is never a reason to merge or replace: "my sister plays the cello" and "my brother plays the viola"
are close and both true. Only the same key, the same text, the same claim slot or an explicit link
decide; a close neighbour is reported as a hint and both records stay live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b

from sfams.core.draft import Draft
from sfams.core.query import Calibration
from sfams.core.record import Claim, Kind, MemoryRecord, RecordId, Status, Twin
from sfams.core.text import fold, signature
from sfams.errors import ConflictError, InvalidPolicyError


class Outcome(StrEnum):
    """What a new text is to those that are there."""

    NEW = "new"
    DUPLICATE = "duplicate"
    SUPERSEDING = "superseding"
    OUTDATED = "outdated"
    REFUSED = "refused"
    """Not stored: it was erased here for ever, or the scope's rule refuses what was found in it."""
    OFF_THE_RECORD = "off the record"
    """Nothing was to be stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionPolicy:
    """How close a neighbour must be to be called a twin.

    `twin_similarity` is measured between the model's cosine of unrelated texts (0) and that of
    equal texts (1), so that one number suits every embedding model.
    """

    twin_similarity: float = 0.7

    def __post_init__(self) -> None:
        """Check the range."""
        if not 0.0 < self.twin_similarity <= 1.0:
            message = f"twin_similarity: must lie above 0 and up to 1, got {self.twin_similarity}"
            raise InvalidPolicyError(message, field="twin_similarity")

    def twin_cosine(self, calibration: Calibration) -> float:
        """Tell from which cosine on a neighbour is a twin under this embedding model."""
        return calibration.mean + self.twin_similarity * (1.0 - calibration.mean)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A live record near the new text, and the cosine between the two."""

    id: RecordId
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the caller found for a draft.

    `by_key` and `by_hash` are the records with its key and (live) with its content hash, `slot` the
    live records with its claim's subject and attribute, `targets` those it says it supersedes, of
    any status, and `neighbours` the nearest live records, in any order.
    """

    by_key: RecordId | None = None
    by_hash: RecordId | None = None
    slot: Sequence[MemoryRecord] = ()
    targets: Sequence[MemoryRecord] = ()
    neighbours: Sequence[Neighbour] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """What to do with a draft.

    - new: store it.
    - duplicate: store nothing; `duplicate_of` holds it already. Should the draft supersede anything
      by an explicit link, `supersedes` names it, and `duplicate_of` is its successor.
    - superseding: store it; the records in `supersedes` become superseded by it.
    - outdated: store it as superseded by `superseded_by`, which is newer.

    `twin` is a hint that the two may say the same.
    """

    outcome: Outcome
    duplicate_of: RecordId | None = None
    supersedes: tuple[RecordId, ...] = ()
    superseded_by: RecordId | None = None
    twin: Twin | None = None


def content_hash(draft: Draft, kind: str) -> str:
    """Name a text by what makes it the same text: 32 hex digits, equal on every store and release.

    Counted are the signature of the text (case, blanks, quotes and final stops do not matter) and
    who said it. Dialogue also counts session and turn: the same words in another turn are another
    event, while the same turn sent again is not.
    """
    parts = [signature(draft.content), fold(draft.source.who)]
    if kind.partition(":")[0] == Kind.DIALOGUE:
        turn = draft.source.turn
        parts += [draft.source.session, "" if turn is None else str(turn)]
    digest = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def admit(
    draft: Draft, around: Surroundings, *, created_at: datetime, twin_cosine: float
) -> Admission:
    """Decide what a draft is to the live records around it.

    The first rule that fits decides: the same key, then the same text, make a duplicate. In the
    same claim slot with another value, the draft supersedes what is older (or as old) and is
    outdated by what is newer. Explicit links supersede whatever the dates say. Two records of a
    slot with the same value stay side by side. A draft cannot close a loop: it is nobody's
    successor yet, and what supersedes it is live, that is without a successor.

    Args:
        draft: What is to be stored.
        around: What was found for it.
        created_at: When it was said: the draft's moment, or now.
        twin_cosine: Cosine from which the nearest neighbour is named as twin
            (`AdmissionPolicy.twin_cosine`).

    Raises:
        ConflictError: An explicit target is not live and has another successor, or none.
    """
    known = around.by_key or around.by_hash
    linked = _linked(around.targets, known)
    if known is not None:
        return Admission(outcome=Outcome.DUPLICATE, duplicate_of=known, supersedes=linked)
    others = [record for record in _other_values(draft, around) if record.id not in linked]
    newer = [record for record in others if record.created_at > created_at]
    if newer:
        newest = max(newer, key=lambda record: (record.created_at, record.id))
        return Admission(outcome=Outcome.OUTDATED, supersedes=linked, superseded_by=newest.id)
    older = tuple(sorted(record.id for record in others))
    supersedes = tuple(dict.fromkeys((*linked, *older)))
    return Admission(
        outcome=Outcome.SUPERSEDING if supersedes else Outcome.NEW,
        supersedes=supersedes,
        twin=_twin(around.neighbours, supersedes, twin_cosine),
    )


def find_loop(
    successors: Mapping[RecordId, RecordId], old: RecordId, new: RecordId
) -> tuple[RecordId, ...]:
    """Name the loop that would arise if `new` superseded `old`: `old`, …, `old`; () for none.

    Ends on every input, on one that has loops too.

    Args:
        successors: Who has superseded whom so far (`superseded_by`), as far as known.
        old: The record to be superseded.
        new: Its would-be successor.
    """
    path = [old]
    seen: set[RecordId] = set()
    at: RecordId | None = new
    while at is not None and at not in seen:
        path.append(at)
        if at == old:
            return tuple(path)
        seen.add(at)
        at = successors.get(at)
    return ()


def would_loop(successors: Mapping[RecordId, RecordId], old: RecordId, new: RecordId) -> bool:
    """Tell whether `new` superseding `old` would close a loop (see `find_loop`)."""
    return bool(find_loop(successors, old, new))


def _linked(targets: Sequence[MemoryRecord], known: RecordId | None) -> tuple[RecordId, ...]:
    linked: list[RecordId] = []
    for record in targets:
        successor = record.validity.superseded_by
        if record.id == known or (known is not None and successor == known):
            continue
        if record.status is not Status.LIVE:
            by = f" by {successor}" if successor else ""
            message = f"supersedes: {record.id} is not live; it is {record.status}{by}"
            raise ConflictError(message, field="supersedes", id=record.id)
        linked.append(record.id)
    return tuple(dict.fromkeys(linked))


def _other_values(draft: Draft, around: Surroundings) -> list[MemoryRecord]:
    if draft.claim is None:
        return []
    value = _value(draft.claim, draft.content)
    return [
        record
        for record in around.slot
        if record.claim is not None and _value(record.claim, record.content) != value
    ]


def _value(claim: Claim, content: str) -> str:
    """What is claimed; a claim without a value is worth its whole text."""
    return fold(" ".join(claim.value.split())) or signature(content)


def _twin(
    neighbours: Sequence[Neighbour], gone: Sequence[RecordId], twin_cosine: float
) -> Twin | None:
    near = [each for each in neighbours if each.similarity >= twin_cosine and each.id not in gone]
    if not near:
        return None
    nearest = min(near, key=lambda each: (-each.similarity, each.id))
    return Twin(nearest.id, nearest.similarity)
