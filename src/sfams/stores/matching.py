"""What a `Filter` means, in plain Python: the definition that every store's query agrees with."""

from __future__ import annotations

from datetime import datetime

from sfams.core.moments import to_micros
from sfams.core.query import Filter, Order
from sfams.core.record import Claim, JsonValue, MemoryRecord, Status
from sfams.core.text import fold


def folded(text: str) -> str:
    """Make the key under which two spellings of a name are one: folded, blanks collapsed."""
    return " ".join(fold(text).split())


def claim_key(claim: Claim) -> tuple[str, str]:
    """Name the slot that a claim fills, whatever its value."""
    return folded(claim.subject), folded(claim.attribute)


def json_equal(left: JsonValue, right: JsonValue) -> bool:
    """Compare as JSON does: numbers by value, but true is not 1 and "1" is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            json_equal(value, right[name]) for name, value in left.items()
        )
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(json_equal, left, right))
    return left == right


def kind_matches(kind: str, wanted: tuple[str, ...]) -> bool:
    """Tell whether a kind is wanted, exactly or through its base."""
    return kind in wanted or kind.partition(":")[0] in wanted


def names_entity(record: MemoryRecord, wanted: str) -> bool:
    """Tell whether a record names an entity, given as `name` or `type:name`.

    The whole text is tried as a name first, so that a name with a colon of its own is found too.
    """
    kind, _, rest = wanted.partition(":")
    return any(
        folded(entity.name) == folded(wanted)
        or (rest and folded(entity.type) == folded(kind) and folded(entity.name) == folded(rest))
        for entity in record.entities
    )


def matches(record: MemoryRecord, selection: Filter, now: datetime) -> bool:
    """Tell whether a record is meant by a filter at a moment."""
    return (
        _stands(record, selection, now)
        and _within(record, selection)
        and (not selection.kinds or kind_matches(record.kind, selection.kinds))
        and all(names_entity(record, name) for name in selection.entities)
        and set(selection.tags) <= set(record.tags)
        and all(
            name in record.metadata and json_equal(record.metadata[name], value)
            for name, value in selection.metadata.items()
        )
        and selection.who in {None, record.source.who}
        and selection.session in {None, record.source.session}
        and (selection.text is None or fold(selection.text) in fold(record.content))
    )


def _stands(record: MemoryRecord, selection: Filter, now: datetime) -> bool:
    return (
        record.status is not Status.ERASED
        and (not selection.statuses or record.status in selection.statuses)
        and (not selection.tiers or record.tier in selection.tiers)
        and (selection.expired or not record.expired(now))
    )


def _within(record: MemoryRecord, selection: Filter) -> bool:
    return (
        (selection.importance_min is None or record.importance >= selection.importance_min)
        and (selection.importance_max is None or record.importance <= selection.importance_max)
        and (selection.created_from is None or record.created_at >= selection.created_from)
        and (selection.created_to is None or record.created_at < selection.created_to)
    )


def sort_value(record: MemoryRecord, order: Order) -> float:
    """Give the number that a listing sorts by: microseconds (0 if never accessed) or importance."""
    if order is Order.IMPORTANCE:
        return record.importance
    if order is Order.CREATED:
        return float(to_micros(record.created_at))
    accessed = record.usage.last_accessed_at
    return 0.0 if accessed is None else float(to_micros(accessed))
