"""Turns: which records stand side by side in a session, so that a reply finds its question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Floats, Ints

REACH = 2
"""How many turns away a neighbour may stand."""


class TurnLinks:
    """Groups the rows of one session and turn, and links each group to those within `REACH` turns.

    Only turn numbers decide, not the order of rows, so every way of building a view links alike.
    A turn that is missing is a gap, not a bridge. Records of one turn are one group, and no
    neighbours of each other.
    """

    def __init__(self, rows: NDArray[np.intp], sessions: NDArray[np.int32], turns: Ints) -> None:
        """Link the named rows; `sessions` and `turns` are parallel to `rows`."""
        order = np.lexsort((turns, sessions))
        self._rows = rows[order]
        session, turn = sessions[order], turns[order]
        first = np.ones(len(order), np.bool_)
        first[1:] = (session[1:] != session[:-1]) | (turn[1:] != turn[:-1])
        self._starts = np.flatnonzero(first)
        self._group = np.cumsum(first) - 1
        self._links = _linked(session[first], turn[first])

    def mixed(self, values: Floats, weights: Sequence[float]) -> Floats:
        """Sum what stands around each row: per distance, weight x (turn before + turn after).

        Args:
            values: One number per row of the view; a turn counts with its best row.
            weights: By distance, nearest first, at most `REACH` of them.

        Returns:
            One number per row of the view, 0 for rows without a session or turn.
        """
        result = np.zeros(len(values))
        if not len(self._rows):
            return result
        best = np.append(np.maximum.reduceat(values[self._rows], self._starts), 0.0)
        around = np.zeros(len(self._starts))
        for (before, after), weight in zip(self._links, weights, strict=False):
            around += weight * (best[before] + best[after])
        result[self._rows] = around[self._group]
        return result


def _linked(
    sessions: NDArray[np.int32], turns: Ints
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """For each distance, the group that many turns before and after, or `len(turns)` for none."""
    none = len(turns)
    links = []
    for distance in range(1, REACH + 1):
        before = np.full(none, none, np.intp)
        after = np.full(none, none, np.intp)
        for step in range(1, distance + 1):  # a turn this far is at most as many groups away
            near = np.arange(none - step) if none > step else np.empty(0, np.intp)
            same = sessions[near] == sessions[near + step]
            near = near[same & (turns[near + step] - turns[near] == distance)]
            after[near] = near + step
            before[near + step] = near
        links.append((before, after))
    return links
