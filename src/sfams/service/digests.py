"""Digests: the notes of a day, week or month become one record that tells them in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sfams.core.moments import MomentLike, format_moment, parse_moment
from sfams.core.periods import Period, Span, span_of, title_of
from sfams.core.query import Filter
from sfams.core.record import Kind, MemoryRecord
from sfams.core.scope import Scope
from sfams.core.selecting import choice
from sfams.core.summarizing import (
    DIGEST,
    Group,
    GroupBy,
    GroupRules,
    Purpose,
    is_summary,
    portions,
    unfit,
)
from sfams.core.text import language_of
from sfams.ports import Reader
from sfams.service.engine import Engine
from sfams.service.results import SummaryReport
from sfams.service.summaries import carry_out, shown
from sfams.service.summarizing import prepare, with_originals

TOLD = (Kind.NOTE, Kind.DIALOGUE, Kind.STATE, Kind.ACTION)
"""Kinds that a digest covers, and digests of shorter periods; what else is known stands for itself."""
RULES = GroupRules(least=3, most=150, most_tokens=20_000)
"""A period with more than this becomes several digests, one after the other."""


def digest(
    engine: Engine, scope: Scope, period: str, now: MomentLike | None, *, dry_run: bool
) -> SummaryReport:
    """Make one record of what was noted in the period around `now`, in place of the notes.

    Covered are live notes, dialogue, states and actions, and digests of shorter periods, which are told
    anew from their originals. Fewer than three are left alone, and what is protected always.

    Raises:
        InvalidInputError: The period is not day, week or month, or the moment cannot be read.
    """
    chosen = choice(Period, period, "period")
    at = engine.now()
    span = span_of(chosen, at if now is None else parse_moment(now, field="now", date_only=True))
    with engine.store.read() as reader:
        records = _covered(reader, scope, chosen, span, at)
        left = {each.id: reason for each in records if (reason := _unfit(each, chosen))}
        free = [each for each in records if each.id not in left]
        made = [
            Group(by=GroupBy.PERIOD, on=chosen.value, members=members, sources=members)
            for members in portions(free, RULES)
        ]
        placed = {member.id for each in made for member in each.members}
        left |= {each.id: "too few for a digest" for each in free if each.id not in placed}
        groups, gone = with_originals(reader, scope, made)
    prepared = prepare(
        engine,
        scope,
        groups,
        purpose=Purpose.DIGEST,
        title=title_of(chosen, span, _language(free)),
        more={DIGEST: chosen.value, "period_from": format_moment(span.start)},
    )
    report = SummaryReport(at=at, left={**left, **gone}, dry_run=dry_run)
    if dry_run:
        return replace(report, summaries=tuple(map(shown, prepared)))
    return replace(report, summaries=carry_out(engine, scope, prepared, at))


def _covered(
    reader: Reader, scope: Scope, period: Period, span: Span, now: datetime
) -> list[MemoryRecord]:
    selection = Filter(kinds=(*TOLD, Kind.SUMMARY), created_from=span.start, created_to=span.end)
    records = reader.get(scope, sorted(reader.matching(scope, selection, now)))
    told = (each for each in records if not is_summary(each) or _shorter(each, period))
    return sorted(told, key=lambda each: (each.created_at, each.id))


def _shorter(record: MemoryRecord, period: Period) -> bool:
    """Tell whether a summary is a digest of a shorter period."""
    order = list(Period)
    covered = record.metadata.get(DIGEST)
    return covered in order and order.index(Period(str(covered))) < order.index(period)


def _unfit(record: MemoryRecord, period: Period) -> str:
    """Say why a record is not covered; that it is a shorter digest is no reason."""
    if _shorter(record, period):
        return unfit(replace(record, metadata={}))
    return unfit(record)


def _language(records: Sequence[MemoryRecord]) -> str:
    counted = Counter(language_of(record.content) for record in records)
    return counted.most_common(1)[0][0] if counted else "en"
