"""Board: what the triggers of all scopes stand at, in this process.

Per scope it knows what the hot tier holds and since when nothing ran. A first look fills it; from there
it counts on, so that asking whether something is due costs next to nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from sfams.core.columns import Columns
from sfams.core.plan import Cause
from sfams.core.policy import SIZES, RetentionPolicy
from sfams.core.record import MemoryRecord, base_of
from sfams.core.scope import Scope

Size = tuple[str, str]
"""A kind ("" for all) and what is counted of it: records, tokens or bytes."""


@dataclass(slots=True)
class _Standing:
    """What the board knows of a scope; nothing until somebody has looked."""

    hot: Counter[Size] = field(default_factory=Counter)
    since: Counter[Size] = field(default_factory=Counter)
    """What was added while somebody looked, who may have seen it or not."""
    limits: Mapping[Size, int] = field(default_factory=dict)
    due_at: datetime | None = None
    turns: int = 0
    every: int | None = None
    at_session_end: bool = False
    looked: bool = False
    queued: bool = False


class Board:
    """What the triggers of all scopes stand at, in this process."""

    def __init__(self) -> None:
        """Know nothing."""
        self._lock = Lock()
        self._standing: dict[Scope, _Standing] = {}

    def added(self, scope: Scope, records: Iterable[MemoryRecord]) -> None:
        """Count records that have become hot."""
        with self._lock:
            standing = self._standing.setdefault(scope, _Standing())
            for record in records:
                sizes = {
                    "records": 1,
                    "tokens": record.tokens,
                    "bytes": len(record.content.encode()),
                }
                for kind in ("", record.kind, base_of(record.kind)):
                    for counted in (standing.hot, standing.since):
                        counted.update({(kind, name): size for name, size in sizes.items()})

    def looking(self, scope: Scope) -> None:
        """Note that somebody begins to look: what is added from here on may be missed."""
        with self._lock:
            self._standing.setdefault(scope, _Standing()).since.clear()

    def turned(self, scope: Scope) -> None:
        """Count a turn."""
        with self._lock:
            self._standing.setdefault(scope, _Standing()).turns += 1

    def due(self, scope: Scope, now: datetime, *, session_over: bool = False) -> Cause | None:
        """Tell what is due, and take it to be queued by the caller; a first look is on demand."""
        with self._lock:
            standing = self._standing.setdefault(scope, _Standing())
            if standing.queued:
                return None
            cause = _cause(standing, now, session_over=session_over)
            standing.queued = cause is not None
            return cause

    def looked(
        self, scope: Scope, columns: Columns, rules: RetentionPolicy, last: datetime
    ) -> None:
        """Enter what there is and when the next run is due."""
        every = rules.triggers.interval
        with self._lock:
            standing = self._standing.setdefault(scope, _Standing())
            # Counted twice, it brings on a run that finds nothing to do; missed, it would stay.
            standing.hot = _sizes(columns) + standing.since
            standing.limits = _limits(rules) if rules.triggers.over_budget else {}
            standing.due_at = None if every is None else last + every
            standing.every = rules.triggers.turns
            standing.at_session_end = rules.triggers.session_end
            standing.looked = True

    def forget(self, scope: Scope) -> None:
        """Let everything at and below a scope be looked at anew: another policy holds there."""
        with self._lock:
            for each in [s for s in self._standing if s[: len(scope)] == tuple(scope)]:
                if not self._standing[each].queued:
                    del self._standing[each]

    def done(self, scope: Scope, *, ran: bool) -> None:
        """Let the next run be queued."""
        with self._lock:
            standing = self._standing.setdefault(scope, _Standing())
            standing.queued = False
            standing.turns = 0 if ran else standing.turns


def _cause(standing: _Standing, now: datetime, *, session_over: bool) -> Cause | None:
    causes = {
        Cause.DEMAND: not standing.looked,
        Cause.BUDGET: any(standing.hot[name] > size for name, size in standing.limits.items()),
        Cause.TURNS: standing.every is not None and standing.turns >= standing.every,
        Cause.SESSION: session_over and standing.at_session_end,
        Cause.INTERVAL: standing.due_at is not None and now >= standing.due_at,
    }
    return next((cause for cause, holds in causes.items() if holds), None)


def _sizes(columns: Columns) -> Counter[Size]:
    found: Counter[Size] = Counter()
    hot = ~columns.cold
    for code, kind in enumerate(columns.kind_names):
        rows = hot & (columns.kinds == code)
        sizes = {
            "records": int(rows.sum()),
            "tokens": int(columns.tokens[rows].sum()),
            "bytes": int(columns.bytes[rows].sum()),
        }
        for each in dict.fromkeys(("", kind, base_of(kind))):
            found.update({(each, name): size for name, size in sizes.items()})
    return found


def _limits(rules: RetentionPolicy) -> dict[Size, int]:
    every = {"": rules.budget, **rules.budget.kinds}
    return {
        (kind, name): size
        for kind, limit in every.items()
        for name in SIZES
        if (size := limit.sizes().get(name)) is not None
    }
