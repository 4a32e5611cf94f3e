"""What makes a record findable: the text that is embedded, and the words that are indexed."""

from __future__ import annotations

import numpy as np

from sfams.core.keywords import Terms, index_terms
from sfams.core.moments import NEVER, to_micros
from sfams.core.record import MemoryRecord
from sfams.core.view import Vector, ViewRow


def index_text(who: str, content: str) -> str:
    """Join speaker and content: the speaker's name belongs to what was said."""
    return f"{who}: {content}" if who else content


def passage_of(record: MemoryRecord) -> str:
    """Give the text of a record that is embedded."""
    return index_text(record.source.who, record.content)


def spoken_terms(who: str, content: str) -> Terms:
    """Make the keyword entry of what was said, without the labels of a record."""
    return index_terms(index_text(who, content))


def terms_of(record: MemoryRecord, spoken: Terms | None = None) -> Terms:
    """Make a record's keyword entry: its text (`spoken`, if at hand), and once each what its labels add.

    Labels are the names of its entities, its claim and its tags, so that "staging gateway port" finds
    a record filed under that claim whose text, in whatever language, has none of these words.
    """
    if spoken is None:
        spoken = spoken_terms(record.source.who, record.content)
    labels = [entity.name for entity in record.entities]
    if record.claim is not None:
        labels += [record.claim.subject, record.claim.attribute, record.claim.value]
    labels += record.tags
    if not labels:
        return spoken
    known = set(spoken.ids.tolist())
    added = [term for term in index_terms(" \n ".join(labels)).ids.tolist() if term not in known]
    return Terms(
        np.concatenate((spoken.ids, np.array(added, np.uint64))),
        np.concatenate((spoken.counts, np.ones(len(added), np.uint16))),
    )


def view_row(record: MemoryRecord, terms: Terms, vector: Vector | None, *, hot: bool) -> ViewRow:
    """Pack a record for the view."""
    return ViewRow(
        id=record.id,
        hot=hot,
        kind=record.kind,
        importance=record.importance,
        created_at=to_micros(record.created_at),
        expires_at=NEVER if record.expires_at is None else to_micros(record.expires_at),
        session=record.source.session,
        who=record.source.who,
        turn=-1 if record.source.turn is None else record.source.turn,
        tokens=record.tokens,
        vector=vector,
        terms=terms,
    )
