"""Tombstones: by which names an erased text is known again, whoever brings it back and however it is put.

A store keeps these names as HMACs only. Blanks, case, quotes and final stops make no other name (see
`signature`); another speaker does only between two turns of dialogue, where the same words are another
event.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b

from sfams.core.admission import content_hash
from sfams.core.draft import Draft
from sfams.core.record import Claim, Kind, MemoryRecord, Source
from sfams.core.text import fold

ERASED = "its text was erased here for ever; `lift` lets it back in"


def left_by(record: MemoryRecord, past: Iterable[str] = ()) -> tuple[str, ...]:
    """Name everything that an erased record has said.

    Args:
        record: The record.
        past: Its earlier contents.
    """
    names = [record.content_hash, *_claimed(record.claim)]
    for content in (record.content, *past):
        names += _said(content, record.source.who)
        if not _is_event(record.kind, record.source):
            names.append(_by_anybody(content))
    return tuple(dict.fromkeys(names))


def barring(draft: Draft, kind: str) -> tuple[str, ...]:
    """Name what would bar a text: a tombstone under any of these names says that it was erased."""
    said = _said(draft.content, draft.source.who)
    if _is_event(kind, draft.source):
        said = said[:1]
    names = (content_hash(draft, kind), *said, _by_anybody(draft.content), *_claimed(draft.claim))
    return tuple(dict.fromkeys(names))


def barring_record(record: MemoryRecord) -> tuple[str, ...]:
    """Name what would bar a record that comes back whole."""
    draft = Draft(content=record.content, source=record.source, claim=record.claim)
    return tuple(dict.fromkeys((record.content_hash, *barring(draft, record.kind))))


def text_names(text: str) -> tuple[str, ...]:
    """Name a text that nobody in particular said."""
    return tuple(dict.fromkeys(_said(text, "")))


def _said(content: str, who: str) -> tuple[str, ...]:
    """Name a text as said by somebody, then as said by anybody; kind, session and turn aside."""
    draft = Draft(content=content, source=Source(who=who))
    anybody = replace(draft, source=Source())
    return content_hash(draft, Kind.FACT), content_hash(anybody, Kind.FACT)


def _is_event(kind: str, source: Source) -> bool:
    """Tell whether it is a turn of dialogue by somebody, of which there may be more with its words."""
    return kind.partition(":")[0] == Kind.DIALOGUE and bool(source.who)


def _by_anybody(content: str) -> str:
    """Name a text that is barred whoever says it, in dialogue too."""
    named = content_hash(Draft(content=content), Kind.FACT)
    return blake2b(named.encode(), digest_size=16, person=b"anybody").hexdigest()


def _claimed(claim: Claim | None) -> tuple[str, ...]:
    """Name a slot with its value: the same fact in other words."""
    if claim is None or not claim.value:
        return ()
    digest = blake2b(digest_size=16, person=b"claim")
    for part in (claim.subject, claim.attribute, claim.value):
        data = " ".join(fold(part).split()).encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return (digest.hexdigest(),)
