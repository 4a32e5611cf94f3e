"""Postings: which rows of a view hold a term, and how often.

A sorted base segment (compressed sparse rows) answers by binary search; what came since lies in a
small dict and is folded into the base when it has grown. New records wait, unsorted, until a term is
looked up: while texts are taken in, nobody asks. All rows are int32, counts uint16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sfams.core.keywords import Terms

Rows = NDArray[np.int32]
Counts = NDArray[np.uint16]

FOLD_AT = 32_768
"""Postings held in the dict before they are folded, which copies the base (50 ms at 3 million)."""

BULK = 512
"""From this many records on, what waits is sorted into a segment at once instead of dict by dict."""

_MOST_WAITING = 8_192  # records; a long import would otherwise hold its terms twice


@dataclass(frozen=True, slots=True)
class _Segment:
    """Term `terms[i]` stands in `rows[starts[i]:starts[i + 1]]`; terms ascend."""

    terms: NDArray[np.uint64]
    starts: NDArray[np.int64]
    rows: Rows
    counts: Counts


def _empty() -> _Segment:
    return _Segment(
        np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint16)
    )


class Postings:
    """Inverted index over the rows of one view. Rows may be dead; the view masks them."""

    def __init__(self) -> None:
        self._base = _empty()
        self._delta: dict[int, list[int]] = {}  # row << 16 | count
        self._fresh = 0
        self._waiting: list[tuple[int, Terms]] = []

    def add(self, first: int, terms: Sequence[Terms]) -> NDArray[np.int64]:
        """Enter records in rows `first`, `first + 1`, ...; returns their lengths in terms."""
        self._waiting.extend(enumerate(terms, first))
        if len(self._waiting) >= _MOST_WAITING:
            self._settle()
        return np.fromiter((each.length for each in terms), np.int64, len(terms))

    def _settle(self) -> None:
        """Make what waits findable."""
        waiting, self._waiting = self._waiting, []
        if len(waiting) >= BULK:
            self._fold()
            self._base = _merge(self._base, _segment_of(waiting))
            return
        for row, each in waiting:
            for term, count in zip(each.ids.tolist(), each.counts.tolist(), strict=True):
                self._delta.setdefault(term, []).append(row << 16 | count)
            self._fresh += len(each.ids)
        if self._fresh > FOLD_AT:
            self._fold()

    def get(self, term: int) -> tuple[Rows, Counts]:
        """Look up a term: rows that hold it (dead ones too, unordered) and how often each does."""
        if self._waiting:
            self._settle()
        base = self._base
        at = int(np.searchsorted(base.terms, np.uint64(term)))
        if at < len(base.terms) and int(base.terms[at]) == term:
            span = slice(int(base.starts[at]), int(base.starts[at + 1]))
            rows, counts = base.rows[span], base.counts[span]
        else:
            rows, counts = base.rows[:0], base.counts[:0]
        if fresh := self._delta.get(term):
            more_rows, more_counts = _unpacked(np.array(fresh, np.int64))
            rows = np.concatenate((rows, more_rows))
            counts = np.concatenate((counts, more_counts))
        return rows, counts

    def renumber(self, new_rows: Rows) -> None:
        """Give every row its new number, `new_rows[old]`; -1 drops the row's postings."""
        self._settle()
        self._fold()
        base = self._base
        moved = new_rows[base.rows]
        keep = moved >= 0
        ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(keep)))[base.starts]
        used = np.diff(ends) > 0
        self._base = _Segment(
            base.terms[used],
            np.concatenate((np.zeros(1, np.int64), ends[1:][used])),
            moved[keep],
            base.counts[keep],
        )

    def _fold(self) -> None:
        if not self._delta:
            return
        sizes = [len(packed) for packed in self._delta.values()]
        ids = np.repeat(np.fromiter(self._delta, np.uint64, len(sizes)), sizes)
        packed = np.fromiter(chain.from_iterable(self._delta.values()), np.int64, len(ids))
        rows, counts = _unpacked(packed)
        self._base = _merge(self._base, _sorted_segment(ids, rows, counts))
        self._delta = {}
        self._fresh = 0

    @property
    def nbytes(self) -> int:
        """Bytes held, about 80 for each posting that is not folded yet."""
        base = self._base
        fresh = self._fresh + sum(len(each.ids) for _, each in self._waiting)
        arrays = (base.terms, base.starts, base.rows, base.counts)
        return sum(array.nbytes for array in arrays) + 80 * fresh


def _segment_of(waiting: Sequence[tuple[int, Terms]]) -> _Segment:
    sizes = np.fromiter((len(each.ids) for _, each in waiting), np.int64, len(waiting))
    rows = np.fromiter((row for row, _ in waiting), np.int32, len(waiting))
    ids = np.concatenate([each.ids for _, each in waiting])
    counts = np.concatenate([each.counts for _, each in waiting])
    return _sorted_segment(ids, np.repeat(rows, sizes), counts)


def _unpacked(packed: NDArray[np.int64]) -> tuple[Rows, Counts]:
    return (packed >> 16).astype(np.int32), (packed & 0xFFFF).astype(np.uint16)


def _sorted_segment(ids: NDArray[np.uint64], rows: Rows, counts: Counts) -> _Segment:
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    first = np.concatenate((np.ones(min(len(ids), 1), np.bool_), ids[1:] != ids[:-1]))
    starts = np.append(np.flatnonzero(first), len(ids)).astype(np.int64)
    return _Segment(ids[first], starts, rows[order], counts[order])


def _merge(old: _Segment, new: _Segment) -> _Segment:
    """Join two segments term by term, the old rows of a term before the new ones."""
    if not len(old.rows):
        return new
    terms = np.union1d(old.terms, new.terms)
    rows = np.empty(len(old.rows) + len(new.rows), np.int32)
    counts = np.empty(len(rows), np.uint16)
    places = [np.searchsorted(terms, part.terms) for part in (old, new)]
    sizes = np.zeros(len(terms), np.int64)
    for part, place in zip((old, new), places, strict=True):
        sizes[place] += np.diff(part.starts)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    filled = starts[:-1].copy()
    for part, place in zip((old, new), places, strict=True):
        lengths = np.diff(part.starts)
        target = np.arange(len(part.rows)) + np.repeat(filled[place] - part.starts[:-1], lengths)
        rows[target] = part.rows
        counts[target] = part.counts
        filled[place] += lengths
    return _Segment(terms, starts, rows, counts)
