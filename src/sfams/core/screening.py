"""Screening: what is sensitive in all that a caller wants stored, and the same with masks instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sfams.core.admission import content_hash
from sfams.core.draft import Draft
from sfams.core.record import Claim, JsonValue, MemoryRecord, Metadata
from sfams.core.sensitivity import Finding, find_sensitive, redact
from sfams.core.text import count_tokens, language_of


def found_beside(given: Draft | MemoryRecord) -> tuple[Finding, ...]:
    """Find what is sensitive beside the text: in claim, names, tags, key and metadata."""
    return tuple(_found(given))


def found_in_value(draft: Draft) -> bool:
    """Tell whether the value of a draft's claim is sensitive."""
    return draft.claim is not None and bool(find_sensitive(draft.claim.value))


def redacted_draft(draft: Draft) -> Draft:
    """Put masks in the place of what is sensitive, wherever in the draft it stands."""
    return replace(
        draft,
        content=redact(draft.content),
        entities=tuple(replace(each, name=redact(each.name)) for each in draft.entities),
        tags=_each(draft.tags),
        metadata=_metadata(draft.metadata, redact),
        claim=_claim(draft.claim),
        key=None if draft.key is None else redact(draft.key),
    )


def redacted_record(record: MemoryRecord) -> MemoryRecord:
    """Do the same with a record, and bring hash, language and size up to date; the label stays."""
    content = redact(record.content)
    same = Draft(content=content, source=record.source)
    return replace(
        record,
        content=content,
        content_hash=content_hash(same, record.kind),
        language=language_of(content),
        tokens=count_tokens(content),
        entities=tuple(replace(each, name=redact(each.name)) for each in record.entities),
        tags=_each(record.tags),
        metadata=_metadata(record.metadata, redact),
        claim=_claim(record.claim),
        key=None if record.key is None else redact(record.key),
    )


def _found(given: Draft | MemoryRecord) -> Iterator[Finding]:
    claim = (
        ()
        if given.claim is None
        else (given.claim.subject, given.claim.attribute, given.claim.value)
    )
    names = (each.name for each in given.entities)
    for text in (*claim, *names, *given.tags, given.key or "", *_texts(dict(given.metadata))):
        if text:
            yield from find_sensitive(text)


def _texts(value: JsonValue) -> Iterator[str]:
    """List the texts inside a JSON value; names of fields are not values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        # A field called "password" says what its value is.
        for name, item in value.items():
            yield from (f"{name}={item}",) if isinstance(item, str) else _texts(item)


def _each(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(redact, texts)))


def _claim(claim: Claim | None) -> Claim | None:
    if claim is None:
        return None
    return Claim(redact(claim.subject), redact(claim.attribute), redact(claim.value))


def _metadata(metadata: Metadata, change: Callable[[str], str]) -> Metadata:
    return {name: _field(name, item, change) for name, item in metadata.items()}


def _field(name: str, value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    """Change a text together with its field's name, which may say what it is."""
    if isinstance(value, str):
        changed = change(f"{name}={value}")
        return changed.removeprefix(f"{name}=") if changed.startswith(f"{name}=") else change(value)
    if isinstance(value, list):
        return [_field("", item, change) for item in value]
    if isinstance(value, dict):
        return {key: _field(key, item, change) for key, item in value.items()}
    return value
