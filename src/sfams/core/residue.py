"""Residue: looking for the bytes of erased texts, whatever the size of the files and their number.

A text is looked for in pieces, because a database splits long texts over pages and leaves fragments when
it moves rows. Eight bytes at every place of a block are compared with all pieces at once (numpy), so a
thousand pieces cost no more than one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfams.core.text import fold

PIECE = 16
"""Bytes of a piece: a fragment of twice this length is surely found."""
SHORTEST = 4
"""Bytes; what is shorter stands in any file by chance and is not looked for."""
_FLAT = 3
_WIDTHS: Mapping[int, str] = {8: "<u8", 4: "<u4"}
_MIXER = 0x9E3779B97F4A7C15
_TABLE_BITS = 20


def pieces_of(texts: Iterable[str]) -> frozenset[bytes]:
    """Cut texts into what is looked for: as they are, folded, in lower case, and as JSON writes them."""
    found: set[bytes] = set()
    for text in texts:
        forms = {text, text.lower(), fold(text), json.dumps(text, ensure_ascii=False)[1:-1]}
        for form in forms:
            found.update(_cut(form.encode("utf-8", "surrogatepass")))
    return frozenset(found)


def pieces_of_data(blobs: Iterable[bytes]) -> frozenset[bytes]:
    """Cut binary values, such as vectors; pieces that say nothing (zeros) are left out."""
    return frozenset(piece for blob in blobs for piece in _cut(blob))


def too_short(texts: Iterable[str]) -> int:
    """Count the texts that cannot be told from chance."""
    return sum(len(text.encode("utf-8", "surrogatepass")) < SHORTEST for text in set(texts))


def _cut(data: bytes) -> Iterator[bytes]:
    if len(data) <= PIECE:
        if len(data) >= SHORTEST:
            yield data
        return
    starts = [*range(0, len(data) - PIECE, PIECE), len(data) - PIECE]
    for start in starts:
        piece = data[start : start + PIECE]
        if len(set(piece)) > _FLAT:
            yield piece


class Finder:
    """Finds which of many byte strings stand in blocks of data; each is looked for until it is found."""

    def __init__(self, wanted: Iterable[bytes]) -> None:
        """Sort what is wanted by how many bytes of it can be compared at once."""
        self.found: set[bytes] = set()
        groups: dict[int, list[bytes]] = defaultdict(list)
        for each in set(wanted):
            if len(each) >= SHORTEST:
                groups[8 if len(each) >= 8 else SHORTEST].append(each)  # noqa: PLR2004  (a word)
        self._groups = [_Group(width, each) for width, each in groups.items()]
        self.overlap = max((len(each) for g in groups.values() for each in g), default=1) - 1

    @property
    def done(self) -> bool:
        """Tell whether everything has been found."""
        return not any(self._groups)

    def look(self, blocks: Iterable[bytes]) -> set[bytes]:
        """Look through blocks that follow each other; what stands across their border is found too."""
        rest = b""
        for block in blocks:
            data = rest + block
            for group in self._groups:
                self.found |= group.look(data)
            if self.done:
                break
            rest = data[max(0, len(data) - self.overlap) :]
        return self.found


class _Group:
    """Strings of at least `width` bytes, by their first ones."""

    def __init__(self, width: int, wanted: Sequence[bytes]) -> None:
        self._width = width
        self._by_start: dict[int, list[bytes]] = defaultdict(list)
        for each in wanted:
            self._by_start[int.from_bytes(each[:width], "little")].append(each)
        self._index()

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def _index(self) -> None:
        self._starts = np.array(sorted(self._by_start), _WIDTHS[self._width])
        self._table = np.zeros(1 << _TABLE_BITS, np.bool_)
        self._table[_mixed(self._starts)] = True

    def look(self, data: bytes) -> set[bytes]:
        found: set[bytes] = set()
        for offset in range(self._width):
            count = (len(data) - offset) // self._width
            if count <= 0 or not self._by_start:
                break
            found |= self._look_from(data, offset, count)
        return found

    def _look_from(self, data: bytes, offset: int, count: int) -> set[bytes]:
        found: set[bytes] = set()
        words = np.frombuffer(data, _WIDTHS[self._width], count, offset)
        places = np.flatnonzero(self._table[_mixed(words)])
        places = places[np.isin(words[places], self._starts)]
        for place in places.tolist():
            wanted = self._by_start.get(int(words[place]), ())
            at = offset + place * self._width
            found.update(each for each in wanted if data.startswith(each, at))
        if found:
            self._drop(found)
        return found

    def _drop(self, found: set[bytes]) -> None:
        for start in {int.from_bytes(each[: self._width], "little") for each in found}:
            left = [each for each in self._by_start[start] if each not in found]
            if left:
                self._by_start[start] = left
            else:
                del self._by_start[start]
        self._index()


def _mixed(words: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
    """Spread words over the table (Fibonacci hashing)."""
    mixed: NDArray[np.uint64] = (words.astype(np.uint64) * np.uint64(_MIXER)) >> np.uint64(
        64 - _TABLE_BITS
    )
    return mixed
