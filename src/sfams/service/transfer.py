"""Export and import: JSON lines, one record each, nothing lost, nothing doubled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from sfams.core import checks
from sfams.core.admission import Outcome, content_hash
from sfams.core.draft import Draft, draft_from_mapping
from sfams.core.events import Actor, EventType, MemoryEvent
from sfams.core.indexing import terms_of
from sfams.core.moments import format_moment, parse_moment
from sfams.core.query import Cursor, Filter, Order, Page
from sfams.core.record import EmbeddingState, MemoryRecord, RecordId, Status
from sfams.core.scope import Scope
from sfams.core.screening import found_beside, redacted_record
from sfams.core.sensitivity import Finding, SensitiveRule, find_sensitive, named, redact
from sfams.core.tombstones import ERASED, barring_record, text_names
from sfams.core.wire import FORMAT, Json, record_from_wire, record_to_wire
from sfams.errors import InvalidInputError
from sfams.ports import Entry, PastVersion, Reader, Transaction
from sfams.service.engine import Engine
from sfams.service.listing import cursor_after
from sfams.service.remembering import remember_many
from sfams.service.results import Progress
from sfams.service.screening import refusal, rule

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Refused:
    """An input line that was not taken in: where, which field, why. Never the text itself."""

    line: int
    field: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did with each line."""

    added: int
    known: int
    superseded: int = 0
    refused: tuple[Refused, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRules:
    """How lines are taken in.

    `keep_scopes` puts each record of an export back into its own scope, which must be the memory's or below
    it; else all go into the memory's. `erased` lets texts back in that were erased here.
    """

    keep_scopes: bool = False
    erased: bool = False


# ── Export ────────────────────────────────────────────────────────────────────────────────────────


def export_lines(engine: Engine, scopes: Sequence[Scope], fields: Filter) -> Iterator[str]:
    """Write records as JSON lines, scope by scope, oldest first, page by page."""
    engine.flush_usage()
    for scope in scopes:
        yield from _export_scope(engine, scope, fields)


def _export_scope(engine: Engine, scope: Scope, fields: Filter) -> Iterator[str]:
    after: Cursor | None = None
    while True:
        page = Page(limit=_PAGE, order=Order.CREATED, descending=False, after=after)
        with engine.store.read() as reader:
            records = reader.find(scope, fields, page, engine.now())
            past = {r.id: reader.versions(scope, r.id) for r in records if r.version > 1}
        for record in records:
            shape = {"format": FORMAT, **record_to_wire(record)}
            if past.get(record.id):
                shape["past"] = [_past_to_wire(version) for version in past[record.id]]
            yield json.dumps(shape, ensure_ascii=False, allow_nan=False)
        if len(records) < _PAGE:
            return
        after = cursor_after(records[-1], Order.CREATED)


# ── Import ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Whole:
    """A record of an export, with what it said before."""

    line: int
    record: MemoryRecord
    past: tuple[PastVersion, ...]


@dataclass(frozen=True, slots=True)
class _New:
    """A memory in another shape: it is admitted like any other."""

    line: int
    draft: Draft


@dataclass(slots=True)
class _Tally:
    added: int = 0
    known: int = 0
    superseded: int = 0
    refused: list[Refused] = field(default_factory=list)
    warnings: dict[str, None] = field(default_factory=dict)

    def report(self) -> ImportReport:
        return ImportReport(
            added=self.added,
            known=self.known,
            superseded=self.superseded,
            refused=tuple(sorted(self.refused, key=lambda each: each.line)),
            warnings=tuple(self.warnings),
        )


def import_lines(
    engine: Engine,
    scope: Scope,
    lines: Iterable[str],
    rules: ImportRules,
    progress: Progress | None = None,
) -> ImportReport:
    """Take JSON lines in: our own export whole, with ids and history of use, or any classic shape.

    A line that cannot be read, or whose text was erased here, is reported with its number and leaves
    nothing behind; the others are taken in, in transactions of 500. Importing again adds nothing.
    """
    intake = _Intake(engine, scope, rules)
    waiting: list[_Whole | _New] = []
    read = 0
    for number, line in enumerate(lines, 1):
        read += 1
        if line.strip() and (parsed := intake.parse(number, line)) is not None:
            waiting.append(parsed)
        if read == _PAGE:
            intake.take(waiting)
            waiting, read = [], _told(progress, read)
    intake.take(waiting)
    _told(progress, read)
    return intake.tally.report()


def _told(progress: Progress | None, read: int) -> int:
    if progress is not None and read:
        progress(read)
    return 0


class _Intake:
    """Takes parsed lines in, batch by batch."""

    def __init__(self, engine: Engine, scope: Scope, rules: ImportRules) -> None:
        self._engine = engine
        self._scope = scope
        self._rules = rules
        self.tally = _Tally()

    def parse(self, number: int, line: str) -> _Whole | _New | None:
        """Read a line; one that cannot be read is noted."""
        try:
            shape = _json_object(line)
            if shape.get("format") == FORMAT:
                return self._whole(number, shape)
            return _New(number, draft_from_mapping(shape))
        except InvalidInputError as error:
            named = str(error.context.get("field", ""))
            self.tally.refused.append(Refused(number, named, str(error)))
            return None

    def _whole(self, number: int, shape: Json) -> _Whole:
        record = record_from_wire(shape)
        checks.content(record.content)
        where = record.scope if self._rules.keep_scopes else self._scope
        if not self._scope.covers(where):
            message = f"scope: {where} is not {self._scope} or below it"
            raise InvalidInputError(message, field="scope")
        same = Draft(content=record.content, source=record.source)
        record = replace(
            record,
            scope=where,
            content_hash=content_hash(same, record.kind),
            embedding=EmbeddingState.PENDING,
        )
        return _Whole(number, record, _past_from_wire(shape.get("past")))

    def take(self, parsed: Sequence[_Whole | _New]) -> None:
        """Write a batch: records of an export as they were, the others as they are admitted."""
        by_scope: dict[Scope, list[_Whole]] = {}
        for each in parsed:
            if isinstance(each, _Whole):
                by_scope.setdefault(each.record.scope, []).append(each)
        for scope, whole in by_scope.items():
            self._insert(scope, whole)
        self._remember([each for each in parsed if isinstance(each, _New)])

    def _insert(self, scope: Scope, whole: Sequence[_Whole]) -> None:
        """Write exported records; their vectors follow, since models may differ."""
        now = self._engine.now()
        whole = self._screened(scope, whole)
        with self._engine.store.write() as transaction:
            names = {each.line: barring_record(each.record) for each in whole}
            erased = self._erased(transaction, scope, names)
            kept = [each for each in whole if each.line not in erased]
            fresh = _unknown(transaction, scope, kept)
            transaction.insert([Entry(each.record, terms_of(each.record)) for each in fresh])
            past = {each.record.id: self._past(transaction, each) for each in fresh if each.past}
            transaction.put_versions(scope, past)
            events = [
                MemoryEvent(
                    type=EventType.REMEMBERED,
                    at=now,
                    record_id=each.record.id,
                    actor=Actor.SYSTEM,
                    detail={"outcome": "imported"},
                )
                for each in fresh
            ]
            transaction.append(scope, events)
        self._engine.tell(scope, events)
        self.tally.added += len(fresh)
        self.tally.known += len(kept) - len(fresh)

    def _screened(self, scope: Scope, whole: Sequence[_Whole]) -> list[_Whole]:
        """Hold exported records to the rule of the scope they go into, earlier texts included."""
        found = {each.line: _sensitive(each) for each in whole}
        if not any(found.values()):
            return [*whole]
        holds = rule(self._engine, scope)
        if holds is SensitiveRule.REFUSE:
            kept = [each for each in whole if not found[each.line]]
            self.tally.refused += [
                Refused(line, "content", refusal(secrets))
                for line, secrets in found.items()
                if secrets
            ]
            return kept
        if holds is SensitiveRule.STORE:
            return [*whole]
        masked = [_redacted(each) if found[each.line] else each for each in whole]
        told = (
            f"redacted before storing: {named(secrets)}" for secrets in found.values() if secrets
        )
        self.tally.warnings |= dict.fromkeys(told)
        return masked

    def _remember(self, new: Sequence[_New]) -> None:
        if not new:
            return
        told = remember_many(
            self._engine, self._scope, [each.draft for each in new], erased=self._rules.erased
        )
        self.tally.refused += [
            Refused(each.line, "content", "; ".join(result.warnings))
            for each, result in zip(new, told, strict=True)
            if not result.stored
        ]
        results = [result for result in told if result.stored]
        fresh = sum(result.outcome is not Outcome.DUPLICATE for result in results)
        self.tally.added += fresh
        self.tally.known += len(results) - fresh
        self.tally.superseded += sum(len(result.superseded) for result in results)
        self.tally.warnings |= dict.fromkeys(w for result in results for w in result.warnings)

    def _erased(self, reader: Reader, scope: Scope, names: Mapping[int, Sequence[str]]) -> set[int]:
        """Refuse the lines whose text was erased here, unless they may come back."""
        if self._rules.erased or not names:
            return set()
        gone = reader.tombstones(scope, [name for each in names.values() for name in each]).keys()
        lines = {line for line, each in names.items() if not gone.isdisjoint(each)}
        reason = f"not stored: {ERASED}"
        self.tally.refused += [Refused(line, "content", reason) for line in lines]
        return lines

    def _past(self, reader: Reader, whole: _Whole) -> list[PastVersion]:
        """Leave out what a record once said and what was erased here, unless it may come back."""
        if self._rules.erased:
            return list(whole.past)
        names = {version.content: text_names(version.content) for version in whole.past}
        gone = reader.tombstones(
            whole.record.scope, [name for each in names.values() for name in each]
        ).keys()
        return [each for each in whole.past if gone.isdisjoint(names[each.content])]


def _json_object(line: str) -> Json:
    try:
        shape = json.loads(line)
    except (ValueError, RecursionError) as error:
        message = f"not a JSON line, or nested too deeply: {error}"
        raise InvalidInputError(message, field="line") from error
    if not isinstance(shape, dict):
        message = "not a JSON object"
        raise InvalidInputError(message, field="line")
    return shape


def _past_to_wire(past: PastVersion) -> Json:
    until = format_moment(past.until)
    return {"version": past.version, "content": past.content, "until": until}


def _past_from_wire(given: object) -> tuple[PastVersion, ...]:
    items = [] if given is None else given
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InvalidInputError("past: expected a list of objects", field="past")
    past = []
    for item in items:
        version, until = item.get("version"), item.get("until")
        if type(version) is not int or not isinstance(until, str):
            message = "past: each needs version, content and until"
            raise InvalidInputError(message, field="past")
        content = checks.content(item.get("content"))
        past.append(PastVersion(version, content, parse_moment(until, field="past")))
    return tuple(past)


def _sensitive(whole: _Whole) -> tuple[Finding, ...]:
    past = (find_sensitive(version.content) for version in whole.past)
    own = (*find_sensitive(whole.record.content), *found_beside(whole.record))
    return (*own, *chain.from_iterable(past))


def _redacted(whole: _Whole) -> _Whole:
    past = tuple(replace(version, content=redact(version.content)) for version in whole.past)
    return replace(whole, record=redacted_record(whole.record), past=past)


def _unknown(transaction: Transaction, scope: Scope, whole: Sequence[_Whole]) -> list[_Whole]:
    """Leave out what is there: by id, by key, or by text among live records."""
    records = [each.record for each in whole]
    known: set[RecordId] = {r.id for r in transaction.get(scope, [r.id for r in records])}
    keys = set(transaction.by_key(scope, [r.key for r in records if r.key is not None]))
    hashes = set(transaction.by_hash(scope, [r.content_hash for r in records]))
    fresh: list[_Whole] = []
    for each in whole:
        record = each.record
        live_double = record.status is Status.LIVE and record.content_hash in hashes
        if record.id in known or record.key in keys or live_double:
            continue
        fresh.append(each)
        known.add(record.id)
        if record.key is not None:
            keys.add(record.key)
        if record.status is Status.LIVE:
            hashes.add(record.content_hash)
    return fresh
