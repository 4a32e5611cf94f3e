"""UsageBuffer: accesses are counted in memory and written in batches, never on the read path."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from sfams.core.record import RecordId
from sfams.core.scope import Scope
from sfams.core.traces import KEPT, SPACING
from sfams.ports import Store, UsageDelta

FLUSH_AT = 256
"""Distinct records with unwritten accesses after which the caller should flush."""
_TURNS_REMEMBERED = 10_000
_APART = timedelta(microseconds=SPACING)


@dataclass(slots=True)
class _Count:
    shown: int
    at: datetime
    moments: list[datetime]
    """Accesses that lie apart, the first of each time: what the trace is made of."""

    def add(self, shown: int, moments: Iterable[datetime]) -> None:
        self.shown += shown
        for at in moments:
            if all(abs(at - each) >= _APART for each in self.moments):
                self.moments = sorted((*self.moments, at))[-KEPT:]
            self.at = max(self.at, at)


class UsageBuffer:
    """Write-behind buffer of accesses.

    Loss bound: a killed process loses at most the accesses of `FLUSH_AT` distinct records since the
    last flush; never a record. Within one turn a record counts once, however often it is recalled.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._lock = Lock()
        self._counts: dict[Scope, dict[RecordId, _Count]] = {}
        self._size = 0
        self._regrets: dict[Scope, dict[RecordId, datetime]] = {}
        self._turns: OrderedDict[tuple[Scope, str, RecordId], None] = OrderedDict()

    def note(
        self, scope: Scope, ids: Iterable[RecordId], at: datetime, *, turn: str | None = None
    ) -> bool:
        """Count one access for each record; True when it is time to flush."""
        with self._lock:
            counts = self._counts.setdefault(scope, {})
            for record_id in ids:
                if turn is not None and not self._first_in_turn((scope, turn, record_id)):
                    continue
                known = counts.get(record_id)
                if known is None:
                    counts[record_id] = _Count(1, at, [at])
                    self._size += 1
                else:
                    known.add(1, [at])
            return self._size >= FLUSH_AT

    def regret(self, scope: Scope, ids: Iterable[RecordId], at: datetime) -> None:
        """Count what was forgotten and asked for; of one record the last moment is kept."""
        with self._lock:
            self._regrets.setdefault(scope, {}).update(dict.fromkeys(ids, at))

    def _first_in_turn(self, mark: tuple[Scope, str, RecordId]) -> bool:
        if mark in self._turns:
            return False
        self._turns[mark] = None
        if len(self._turns) > _TURNS_REMEMBERED:
            self._turns.popitem(last=False)
        return True

    def forget(self, scope: Scope, ids: Iterable[RecordId]) -> None:
        """Drop unwritten accesses of records that are being erased, and in which turns they were seen."""
        with self._lock:
            gone = set(ids)
            counts = self._counts.get(scope, {})
            for record_id in gone:
                self._regrets.get(scope, {}).pop(record_id, None)
                if counts.pop(record_id, None) is not None:
                    self._size -= 1
            for mark in [mark for mark in self._turns if mark[0] == scope and mark[2] in gone]:
                del self._turns[mark]

    def flush(self, store: Store) -> int:
        """Write everything buffered in one transaction; on failure it stays buffered."""
        with self._lock:
            taken, self._counts, self._size = self._counts, {}, 0
            regrets, self._regrets = self._regrets, {}
        pending = {scope: counts for scope, counts in taken.items() if counts}
        if not pending and not any(regrets.values()):
            return 0
        try:
            with store.write() as transaction:
                for scope, counts in pending.items():
                    deltas = [
                        UsageDelta(record_id, count.shown, 0, count.at, tuple(count.moments))
                        for record_id, count in counts.items()
                    ]
                    transaction.add_usage(scope, deltas)
                for scope, moments in regrets.items():
                    for record_id, at in moments.items():
                        transaction.note_regret(scope, [record_id], at)
        except BaseException:
            self._put_back(pending)
            for scope, moments in regrets.items():
                for record_id, at in moments.items():
                    self.regret(scope, [record_id], at)
            raise
        return sum(len(counts) for counts in pending.values())

    def _put_back(self, pending: dict[Scope, dict[RecordId, _Count]]) -> None:
        with self._lock:
            for scope, counts in pending.items():
                current = self._counts.setdefault(scope, {})
                for record_id, count in counts.items():
                    known = current.get(record_id)
                    if known is None:
                        current[record_id] = count
                        self._size += 1
                    else:
                        known.add(count.shown, [*count.moments, count.at])
