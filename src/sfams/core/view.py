"""ScopeView: one scope's packed columns, vectors and postings; serves recall and admission.

A view holds the hot live records of one scope as arrays. It is built from `ViewChanges` and
advanced by them; advancing in steps gives what building at once gives, but for the order of rows.
Not thread-safe: whoever shares a view guards every use, reads included, with one lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Bools, Floats, Ints
from sfams.core.keywords import Terms
from sfams.core.moments import to_micros
from sfams.core.postings import Counts, Postings
from sfams.core.query import Filter
from sfams.core.record import RecordId, Status, Tier
from sfams.core.turns import TurnLinks
from sfams.core.vectors import RowNumbers, Vector, cosines_of, neighbours, units

Codes = NDArray[np.int32]

__all__ = ["RowNumbers", "ScopeView", "Vector", "ViewChanges", "ViewRow"]

DEAD_SHARE = 0.25
"""A view is compacted when more than this share of its rows is dead."""

_FEW = 64  # dead rows that are not worth compacting
_BLOCK = 4096  # vectors converted at a time


@dataclass(frozen=True, slots=True)
class ViewRow:
    """One changed record as the view needs it. `hot` is False when it must leave the view.

    Moments are microseconds since 1970 (`NEVER` for no expiry), `turn` is -1 where there is none. A
    vector that is zero, not finite or of another length than the view's counts as none.
    """

    id: RecordId
    hot: bool
    kind: str
    importance: float
    created_at: int
    expires_at: int
    session: str
    who: str
    turn: int
    tokens: int
    vector: Vector | None
    terms: Terms


@dataclass(frozen=True, slots=True)
class ViewChanges:
    """What changed in a scope after a given `change_seq`: rows, and ids that are gone for good."""

    seq: int
    rows: Sequence[ViewRow]
    gone: Sequence[RecordId]


_NUMBERS: dict[str, type] = {
    "importance": np.float64,
    "created_at": np.int64,
    "expires_at": np.int64,
    "turn": np.int64,
    "tokens": np.int32,
}
_CODES = ("kind", "session", "who")
_COLUMNS: dict[str, type] = {
    **_NUMBERS,
    **dict.fromkeys(_CODES, np.int32),
    "length": np.int32,
    **dict.fromkeys(("alive", "embedded"), np.bool_),
}


class _Names:
    """Numbers texts that repeat. Code 0 is the empty text."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.codes = {"": 0}
        for text in texts:
            self.code(text)

    def code(self, text: str) -> int:
        return self.codes.setdefault(text, len(self.codes))


class ScopeView:
    """One scope's hot records as arrays. Row numbers hold until the next `advance`.

    Every array is parallel to the rows, dead ones included, and has `extent` entries; `alive` tells
    which rows count. A record of 27 terms and 384 dimensions takes about 2 kB, up to
    twice that after growing by one.
    """

    def __init__(self, dimension: int) -> None:
        """Start empty, for vectors of this length."""
        self.dimension = dimension
        self._seq = 0
        self._extent = 0
        self._ids: list[RecordId] = []
        self._rows: dict[RecordId, int] = {}
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(0, element) for name, element in _COLUMNS.items()
        }
        self._matrix: Vector = np.zeros((0, dimension), np.float32)
        self._names = {name: _Names() for name in _CODES}
        self._postings = Postings()
        self._total_length = 0
        self._links: TurnLinks | None = None
        self._embedded: RowNumbers | None = None

    # ── What it holds ────────────────────────────────────────────────────────────────────────────

    def __len__(self) -> int:
        """Count the live rows."""
        return len(self._rows)

    @property
    def seq(self) -> int:
        """The `change_seq` up to which the view is complete."""
        return self._seq

    @property
    def extent(self) -> int:
        """Length of every column and mask: live and dead rows."""
        return self._extent

    @property
    def alive(self) -> Bools:
        """Which rows count."""
        return self._columns["alive"][: self._extent]

    @property
    def importance(self) -> Floats:
        """Importance of each row, 0..1."""
        return self._columns["importance"][: self._extent]

    @property
    def created_at(self) -> Ints:
        """When each row was said, in microseconds since 1970."""
        return self._columns["created_at"][: self._extent]

    @property
    def tokens(self) -> Codes:
        """Size of each row in tokens."""
        return self._columns["tokens"][: self._extent]

    @property
    def lengths(self) -> Codes:
        """Length of each row in terms."""
        return self._columns["length"][: self._extent]

    @property
    def average_length(self) -> float:
        """Mean length of the live rows in terms; 0 for an empty view."""
        return self._total_length / len(self._rows) if self._rows else 0.0

    @property
    def who(self) -> Codes:
        """Who said each row, as a place in `who_names`."""
        return self._columns["who"][: self._extent]

    @property
    def who_names(self) -> tuple[str, ...]:
        """Names of speakers by code, "" first."""
        return tuple(self._names["who"].codes)

    @property
    def turn_links(self) -> TurnLinks:
        """Which rows stand next to each other in a session (built at first use after a change)."""
        if self._links is None:
            sessions, turns = self._part("session"), self._part("turn")
            rows = np.flatnonzero(self.alive & (sessions > 0) & (turns >= 0))
            self._links = TurnLinks(rows, sessions[rows], turns[rows])
        return self._links

    @property
    def nbytes(self) -> int:
        """Bytes held, ids and dicts estimated at 200 a record."""
        columns = sum(column.nbytes for column in self._columns.values())
        return columns + self._matrix.nbytes + self._postings.nbytes + 200 * len(self._ids)

    def ids(self, rows: Iterable[int]) -> list[RecordId]:
        """Name the records in these rows."""
        return [self._ids[row] for row in rows]

    def row_of(self, record_id: RecordId) -> int | None:
        """Find a record's row; None when it is not in the view."""
        return self._rows.get(record_id)

    def rows_of(self, ids: Iterable[RecordId]) -> Bools:
        """Mark the rows of these records; ids that are not in the view are ignored."""
        marked = np.zeros(self._extent, np.bool_)
        rows = [row for each in ids if (row := self._rows.get(each)) is not None]
        marked[np.array(rows, np.intp)] = True
        return marked

    def vector(self, row: int) -> Vector | None:
        """Read a row's unit vector; None when it has none."""
        return self._matrix[row].copy() if self._columns["embedded"][row] else None

    def postings(self, term: int) -> tuple[RowNumbers, Counts]:
        """Find the live rows that hold a term, and how often each does."""
        rows, counts = self._postings.get(term)
        if len(self._rows) < self._extent:
            keep = self.alive[rows]
            rows, counts = rows[keep], counts[keep]
        return rows.astype(np.intp), counts

    def frequency(self, term: int) -> int:
        """Count the live rows that hold a term."""
        rows, _ = self._postings.get(term)
        return len(rows) if len(self._rows) == self._extent else int(self.alive[rows].sum())

    # ── Selecting ────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def answers(selection: Filter) -> bool:
        """Tell whether `mask` alone answers a filter; else the store has to name what matches."""
        return not (
            selection.entities or selection.tags or selection.metadata or selection.text is not None
        )

    def mask(self, selection: Filter, now_micros: int) -> Bools:
        """Mark the live rows that match a filter, as far as the columns tell (see `answers`)."""
        if selection.statuses and Status.LIVE not in selection.statuses:
            return np.zeros(self._extent, np.bool_)
        if selection.tiers and Tier.HOT not in selection.tiers:
            return np.zeros(self._extent, np.bool_)
        found = self.alive.copy()
        if not selection.expired:
            found &= self._part("expires_at") > now_micros
        self._narrow_by_numbers(found, selection)
        if selection.kinds:
            wanted = [
                code
                for kind, code in self._names["kind"].codes.items()
                if kind in selection.kinds or kind.partition(":")[0] in selection.kinds
            ]
            found &= np.isin(self._part("kind"), wanted)
        for name, text in (("who", selection.who), ("session", selection.session)):
            if text is not None:
                found &= self._part(name) == self._names[name].codes.get(text, -1)
        return found

    def _narrow_by_numbers(self, found: Bools, selection: Filter) -> None:
        if selection.importance_min is not None:
            found &= self.importance >= selection.importance_min
        if selection.importance_max is not None:
            found &= self.importance <= selection.importance_max
        if selection.created_from is not None:
            found &= self.created_at >= to_micros(selection.created_from)
        if selection.created_to is not None:
            found &= self.created_at < to_micros(selection.created_to)

    # ── Vectors ──────────────────────────────────────────────────────────────────────────────────

    def dense(self, query: Vector) -> tuple[RowNumbers, Vector]:
        """Compare one vector, shape (dimension,), with every live row that has one: exact.

        Returns:
            Rows and their cosines, -1..1; both empty when the vector is zero or not finite.
        """
        unit, usable = units(np.asarray(query)[None], self.dimension)
        if not usable[0]:
            return np.empty(0, np.intp), np.empty(0, np.float32)
        rows = self._embedded_rows()
        cosines = np.clip(cosines_of(unit, self._matrix[: self._extent])[0], -1.0, 1.0)
        return rows, cosines if len(rows) == self._extent else cosines[rows]

    def neighbours(
        self, vectors: Vector, *, floor: float, k: int
    ) -> list[list[tuple[RecordId, float]]]:
        """Find the live rows near each of n vectors, shape (n, dimension): exact.

        Returns:
            For each at most k records with their cosines, from `floor` on, nearest first (0 for no vector).
        """
        queries, _ = units(np.asarray(vectors), self.dimension)
        usable = self.alive & self._part("embedded")
        found = neighbours(queries, self._matrix[: self._extent], usable, floor=floor, k=k)
        return [[(self._ids[row], cosine) for row, cosine in each] for each in found]

    def _embedded_rows(self) -> RowNumbers:
        if self._embedded is None:
            self._embedded = np.flatnonzero(self.alive & self._part("embedded"))
        return self._embedded

    # ── Changing ─────────────────────────────────────────────────────────────────────────────────

    def advance(self, changes: ViewChanges) -> None:
        """Take in what changed: rows that are new, written anew or leave; records that are gone.

        Changes older than the view are ignored. The last of several rows of one record counts.
        """
        if changes.seq < self._seq:
            return
        latest = {row.id: row for row in changes.rows}
        for record_id in changes.gone:
            latest.pop(record_id, None)
            self._remove(record_id)
        for record_id in latest:
            self._remove(record_id)
        arriving = [row for row in latest.values() if row.hot]
        if arriving:
            self._append(arriving)
        self._seq = changes.seq
        self._links = self._embedded = None
        dead = self._extent - len(self._rows)
        if dead > _FEW and dead > DEAD_SHARE * self._extent:
            self._compact()

    def _part(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self._extent]

    def _remove(self, record_id: RecordId) -> None:
        row = self._rows.pop(record_id, None)
        if row is None:
            return
        self._columns["alive"][row] = False
        self._total_length -= int(self._columns["length"][row])
        self._matrix[row] = 0.0
        self._ids[row] = RecordId("")

    def _append(self, rows: Sequence[ViewRow]) -> None:
        first, end = self._extent, self._extent + len(rows)
        self._reserve(end)
        span = slice(first, end)
        for name, element in _NUMBERS.items():
            self._columns[name][span] = np.fromiter(map(attrgetter(name), rows), element, len(rows))
        for name in _CODES:
            codes = map(self._names[name].code, map(attrgetter(name), rows))
            self._columns[name][span] = np.fromiter(codes, np.int32, len(rows))
        lengths = self._postings.add(first, [row.terms for row in rows])
        self._columns["length"][span] = lengths
        self._columns["alive"][span] = True
        self._put_vectors(first, rows)
        ids = [row.id for row in rows]
        self._ids.extend(ids)
        self._rows.update(zip(ids, range(first, end), strict=True))
        self._total_length += int(lengths.sum())
        self._extent = end

    def _put_vectors(self, first: int, rows: Sequence[ViewRow]) -> None:
        shape = (self.dimension,)
        for start in range(0, len(rows), _BLOCK):
            block = [
                (row, each.vector)
                for row, each in enumerate(rows[start : start + _BLOCK], first + start)
                if each.vector is not None and each.vector.shape == shape
            ]
            if block:
                scaled, usable = units(np.array([each for _, each in block]), self.dimension)
                places = np.array([row for row, _ in block], np.intp)
                self._matrix[places] = scaled
                self._columns["embedded"][places] = usable

    def _reserve(self, needed: int) -> None:
        room = len(self._matrix)
        if needed <= room:
            return
        room = max(needed, 2 * room, _FEW)
        for name, column in self._columns.items():
            self._columns[name] = _grown(column, self._extent, room)
        self._matrix = _grown(self._matrix, self._extent, room)

    def _compact(self) -> None:
        keep = np.flatnonzero(self.alive)
        new_rows = np.full(self._extent, -1, np.int32)
        new_rows[keep] = np.arange(len(keep), dtype=np.int32)
        self._postings.renumber(new_rows)
        self._columns = {name: column[keep] for name, column in self._columns.items()}
        self._matrix = self._matrix[keep]
        self._ids = self.ids(keep)
        self._rows = {record_id: row for row, record_id in enumerate(self._ids)}
        self._extent = len(keep)
        for name in _CODES:
            texts = tuple(self._names[name].codes)
            codes = self._columns[name]
            used = np.unique(codes)
            self._names[name] = kept = _Names(texts[code] for code in used)
            renamed = np.zeros(len(texts), np.int32)
            renamed[used] = [kept.codes[texts[code]] for code in used]
            self._columns[name] = renamed[codes]


def _grown(array: NDArray[Any], used: int, room: int) -> NDArray[Any]:
    larger = np.zeros((room, *array.shape[1:]), array.dtype)  # pages not written yet cost nothing
    larger[:used] = array[:used]
    return larger
