"""Cutting: the traces of records (`core.traces`) as they stood at a moment of the past.

Only what a policy's model needs is cut. Where the trace has lost its earliest entries, those that it
still counts are taken as having come with the first one kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfams.core.columns import Bools, Columns, Floats, Ints, Need, Needs
from sfams.core.traces import FIRST_STABILITY, Accesses, Ragged, Trace, TurnUses

Rows = np.ndarray[tuple[int], np.dtype[np.intp]]


class Cutter:
    """Cuts the traces of columns; what they were before the first access is worked out once."""

    def __init__(self, columns: Columns, needs: Needs) -> None:
        """Prepare for columns that have all their traces."""
        self._accesses = columns.spaced() if Need.ACCESSES in needs else None
        self._uses = columns.by_turn() if Need.TURNS in needs else None
        self._turns = columns.turns
        self._steps: Floats = np.empty(0)
        if self._accesses is not None:
            self._steps = _stabilities(self._accesses, columns.created_at)
        self.base = replace(
            columns,
            accesses=None,
            turn_uses=None,
            entity_types=columns.entity_types if Need.ENTITIES in needs else None,
        )

    def cut(self, columns: Columns, rows: Rows, moment: int, born: Bools, *, last: bool) -> Columns:
        """Add the traces of these rows to columns of `base` for them.

        Args:
            columns: The columns without traces.
            rows: Which rows of `base` they are.
            moment: The moment, microseconds since 1970.
            born: Which rows of `base` had come by then.
            last: Whether it is the present, at which nothing is cut off.
        """
        found = columns
        if self._accesses is not None:
            cut = self._accesses if last else _until(self._accesses, self._steps, moment)
            found = replace(found, accesses=cut.take(rows))
        if self._uses is not None:
            turn = self._turns if last else int(np.max(self._uses.learned[born], initial=0))
            found = replace(found, turn_uses=_up_to(self._uses, turn).take(rows), turns=turn)
        return found


def _stabilities(accesses: Accesses, created: Ints) -> Floats:
    """Work out each record's stability after none, one, two, ... of its moments, end to end."""
    steps: list[float] = []
    starts, values = accesses.moments.starts.tolist(), accesses.moments.values.tolist()
    for row, known in enumerate(accesses.stability.tolist()):
        trace = Trace()
        steps.append(FIRST_STABILITY)
        for at in values[starts[row] : starts[row + 1]]:
            trace = trace.accessed(at, int(created[row]))
            steps.append(trace.stability)
        if starts[row + 1] > starts[row]:
            steps[-1] = known  # which counts the earlier ones that are not kept
    return np.array(steps, np.float64)


def _until(accesses: Accesses, steps: Floats, moment: int) -> Accesses:
    lists = accesses.moments
    kept = lists.values <= moment
    lengths = _counted(lists, kept)
    count = np.where(lengths > 0, accesses.count - lists.lengths + lengths, 0)
    places = lists.starts[:-1] + np.arange(len(lengths)) + lengths
    return Accesses(count, steps[places], Ragged.of(lengths, lists.values[kept]))


def _up_to(uses: TurnUses, turn: int) -> TurnUses:
    kept = uses.turns.values <= turn
    return TurnUses(
        uses.learned,
        Ragged.of(_counted(uses.turns, kept), uses.turns.values[kept]),
        *(each[kept] for each in (uses.shown, uses.used, uses.over)),
    )


def _counted(lists: Ragged, kept: Bools) -> Ints:
    return np.bincount(lists.rows[kept], minlength=len(lists.lengths)).astype(np.int64)
