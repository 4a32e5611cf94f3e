"""The columns of a whole scope, for a policy: streamed, packed, without a text."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import apsw
import numpy as np

from sfams.core.columns import Columns, Ints, Need, Needs
from sfams.core.moments import MISSING, NEVER, to_micros
from sfams.core.record import RecordId
from sfams.core.traces import (
    FIRST_STABILITY,
    Accesses,
    EntityTypes,
    Ragged,
    TurnUses,
    counted,
    seeded,
)
from sfams.stores.rows import RING_WORDS, TURN_BYTES, TURN_USE
from sfams.stores.sqlite.statements import QUERIES
from sfams.stores.sqlite.viewing import damaged

_CHUNK = 500  # below the threshold at which Python looks for garbage

_SELECTED = (
    "versions",
    "kinds",
    "importance",
    "salience",
    "created_at",
    "last_accessed_at",
    "access_count",
    "used_count",
    "expires_at",
    "grace_until",
    "tokens",
    "bytes",
    "cold_since",
    "similarity",
    "flags",
)
"""What the query selects, in its order, besides ids and twins."""
_REAL = frozenset({"importance", "salience", "similarity"})
_PLAIN = len(_SELECTED) + 2
_ON_DEMAND = {
    Need.ACCESSES: ", coalesce(usage.access_ring, x'')",
    Need.TURNS: ", record.learned_turn, coalesce(usage.model_state, x'')",
    Need.ENTITIES: (
        ", (SELECT json_group_array(DISTINCT type) FROM entity"
        " WHERE entity.record = record.number AND type <> '')"
    ),
}
"""What it selects besides, where it is needed: reading it for nothing would cost a tenth of a second."""


def read(connection: apsw.Connection, number: int, now: datetime, needs: Needs) -> Columns:
    """Read the live records' columns, in id order; a twin that is not live counts as none.

    Raises:
        StoreError: A cell cannot be read; names the records.
    """
    builder = _ColumnsBuilder(needs)
    more = "".join(_ON_DEMAND[need] for need in builder.needs)
    query = QUERIES["columns"].replace("/* on demand */", more)
    values = number, MISSING, NEVER, to_micros(now)
    try:
        for chunk in _chunks(connection.execute(query, values)):
            builder.add(chunk)
        return builder.build(*_of_scope(connection, number))
    except (TypeError, OverflowError) as error:
        raise damaged(connection, number) from error


def _of_scope(connection: apsw.Connection, number: int) -> tuple[Ints, int]:
    """Read the scope's active days and how many turns it has logged."""
    days = [day for (day,) in connection.execute(QUERIES["active_days"], (number,))]
    turns: int = connection.execute(QUERIES["scope_turns"], (number,)).get or 0
    return np.array(days, np.int64), turns


def _chunks(cursor: apsw.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    while chunk := list(islice(cursor, _CHUNK)):
        yield chunk


class _ColumnsBuilder:
    """Collects rows chunk by chunk, so that no list of a million tuples is ever built."""

    def __init__(self, needs: Needs) -> None:
        self.needs = [need for need in Need if need in needs]
        self._ids: list[RecordId] = []
        self._kinds: dict[str, int] = {}
        self._twins: list[RecordId | None] = []
        self._parts = {name: array("d" if name in _REAL else "q") for name in _SELECTED}
        self._rings, self._turns = _Blobs(8), _Blobs(TURN_BYTES)
        self._learned = array("q")
        self._types: dict[str, int] = {}
        self._typed = array("i")

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add a chunk; an array refuses a cell of another type instead of bending it."""
        cells = list(zip(*rows, strict=True))
        ids, versions, kinds, *numbers, twins, similarity, flags = cells[:_PLAIN]
        self._ids += ids
        self._twins += twins
        codes = _coded(self._kinds, kinds)
        plain = versions, codes, *numbers, similarity, flags
        for part, values in zip(self._parts.values(), plain, strict=True):
            part.extend(array(part.typecode, values))
        self._add_more(cells[_PLAIN:])

    def _add_more(self, cells: list[tuple[Any, ...]]) -> None:
        left = iter(cells)
        if Need.ACCESSES in self.needs:
            self._rings.add(next(left))
        if Need.TURNS in self.needs:
            self._learned.extend(array("q", next(left)))
            self._turns.add(next(left))
        if Need.ENTITIES in self.needs:
            self._typed.extend(_coded(self._types, next(left)))

    def build(self, active_days: Ints, turns: int) -> Columns:
        """Make the columns; kinds are numbered in the order of their names."""
        found: dict[str, Any] = {
            name: np.frombuffer(part, part.typecode) for name, part in self._parts.items()
        }
        flags = found.pop("flags")
        names = sorted(self._kinds)
        places = {name: place for place, name in enumerate(names)}
        codes = np.array([places[name] for name in self._kinds], np.int32)
        found["kinds"] = codes[found["kinds"]]
        found["similarity"] = found["similarity"].copy()
        found["similarity"][self._lost_twins()] = 0.0
        return Columns(
            ids=tuple(self._ids),
            kind_names=tuple(names),
            pinned=(flags & 1) != 0,
            held=(flags & 2) != 0,
            cold=(flags & 4) != 0,
            sensitive=(flags & 8) != 0,
            active_days=active_days,
            turns=turns,
            accesses=self._accesses(found) if Need.ACCESSES in self.needs else None,
            turn_uses=self._turn_uses(found) if Need.TURNS in self.needs else None,
            entity_types=self._entity_types() if Need.ENTITIES in self.needs else None,
            **found,
        )

    def _lost_twins(self) -> list[int]:
        """Find the rows whose twin is not live any more, that is not among the rows."""
        live = {None, *self._ids} if any(self._twins) else {None}
        return [place for place, twin in enumerate(self._twins) if twin not in live]

    def _accesses(self, found: dict[str, Any]) -> Accesses:
        words, lengths = self._rings.words("<i8"), self._rings.lengths()
        kept = lengths > 0
        if (lengths[kept] <= RING_WORDS).any():
            message = "spaced accesses without a moment"
            raise TypeError(message)
        heads = (np.cumsum(lengths) - lengths)[kept]
        count = np.zeros(len(lengths), np.int64)
        stability = np.full(len(lengths), FIRST_STABILITY)
        count[kept], stability[kept] = words[heads], words.view("<f8")[heads + 1]
        moments = np.ones(len(words), np.bool_)
        moments[heads] = moments[heads + 1] = False
        lists = Ragged.of(np.maximum(lengths - RING_WORDS, 0), words[moments])
        known = Accesses(count, stability, lists)
        return seeded(known, found["last_accessed_at"], found["created_at"])

    def _turn_uses(self, found: dict[str, Any]) -> TurnUses:
        cells = self._turns.words(TURN_USE)
        turns, *counts = (cells[name].astype(np.int64) for name in TURN_USE.names or ())
        lists = Ragged.of(self._turns.lengths(), turns)
        known = TurnUses(np.frombuffer(self._learned, np.int64), lists, *counts)
        return counted(known, found["access_count"], found["used_count"])

    def _entity_types(self) -> EntityTypes:
        sets = [frozenset(json.loads(written)) for written in self._types]
        packed = EntityTypes.of(sets)
        return EntityTypes(packed.codes[np.frombuffer(self._typed, np.int32)], packed.sets)


class _Blobs:
    """Cells of bytes, end to end."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._data = bytearray()
        self._lengths = array("q")

    def add(self, cells: Sequence[bytes]) -> None:
        """Add a chunk of them."""
        self._data += b"".join(cells)
        self._lengths.extend(map(len, cells))

    def lengths(self) -> Ints:
        """Tell how many words each cell has.

        Raises:
            TypeError: One does not consist of whole words.
        """
        lengths = np.frombuffer(self._lengths, np.int64)
        if (lengths % self._size).any():
            message = "a trace that is none"
            raise TypeError(message)
        return lengths // self._size

    def words(self, element: Any) -> Any:  # noqa: ANN401  (numpy's names of types)
        """Read all of them as elements of a type."""
        self.lengths()
        return np.frombuffer(self._data, element)


def _coded(codes: dict[str, int], names: Sequence[str]) -> Iterator[int]:
    """Number names in the order in which they come."""
    for name in set(names) - codes.keys():
        codes[name] = len(codes)
    return map(codes.__getitem__, names)
