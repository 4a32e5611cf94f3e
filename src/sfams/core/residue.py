"""Residue: looking for the bytes of erased texts, whatever the size of the files and their number.

A text is looked for in pieces, because a database splits long texts over pages and leaves fragments when
it moves rows. Eight bytes at every place of a block are compared with all pieces at once (numpy), so a
thousand pieces cost no more than one.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sfams.core.text import fold

PIECE = 16
_EVERY = 8
"""Bytes of a piece, and how far apart they begin: a fragment of 23 bytes is surely found."""
SHORTEST = 4
"""Bytes; what is shorter stands in any file by chance and is not looked for."""
_FLAT = 3
"""A piece that begins with no more different bytes says nothing: zeros of a vector, blanks of a text."""
_WIDTHS = (16, 8, SHORTEST)
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_SECOND_MIXER = np.uint64(0xC2B2AE3D27D4EB4F)
_WINDOW = 1 << 18
"""Bytes looked through at once: what fits into a processor's cache."""


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
    starts = [*range(0, len(data) - PIECE, _EVERY), len(data) - PIECE]
    for start in starts:
        piece = data[start : start + PIECE]
        if len(set(piece[:8])) > _FLAT:
            yield piece


class Finder:
    """Finds which of many byte strings stand in blocks of data; each is looked for until it is found."""

    def __init__(self, wanted: Iterable[bytes]) -> None:
        """Sort what is wanted by how many bytes of it can be compared at once."""
        self.found: set[bytes] = set()
        groups: dict[int, list[bytes]] = defaultdict(list)
        for each in set(wanted):
            width = next((width for width in _WIDTHS if len(each) >= width), 0)
            if width:
                groups[width].append(each)
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
            for start in range(0, len(data), _WINDOW):
                part = data[start : start + _WINDOW + self.overlap]
                for group in self._groups:
                    self.found |= group.look(part)
            if self.done:
                break
            rest = data[max(0, len(data) - self.overlap) :]
        return self.found


class _Group:
    """Strings of at least `width` bytes, by their first ones."""

    def __init__(self, width: int, wanted: Sequence[bytes]) -> None:
        self._width = width
        self._step = min(width, 8)
        self._by_start: dict[bytes, list[bytes]] = defaultdict(list)
        for each in wanted:
            self._by_start[each[:width]].append(each)
        self._index()

    def __bool__(self) -> bool:
        return bool(self._by_start)

    def _index(self) -> None:
        bits = min(max(len(self._by_start).bit_length() + 6, 12), 22)
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.bool_)
        if self._by_start:
            starts = self._hashes(b"".join(self._by_start), 0)
            self._table[starts[:: self._width // self._step]] = True

    def look(self, data: bytes) -> set[bytes]:
        found: set[bytes] = set()
        for offset in range(self._step if self else 0):
            if len(data) - offset < self._width:
                break
            places = np.flatnonzero(self._table[self._hashes(data, offset)])
            for at in (places * self._step + offset).tolist():
                starting = self._by_start.get(data[at : at + self._width])
                if starting:
                    found.update(each for each in starting if data.startswith(each, at))
        if found:
            self._drop(found)
        return found

    def _hashes(self, data: bytes, offset: int) -> NDArray[np.int64]:
        """Spread the first bytes at every step over the table (Fibonacci hashing)."""
        count = (len(data) - offset) // self._step
        words = np.frombuffer(data, f"<u{self._step}", count, offset).astype(np.uint64, copy=False)
        mixed = words * _MIXER
        if self._width > self._step:
            mixed = mixed[:-1]
            mixed ^= words[1:] * _SECOND_MIXER
        mixed >>= self._shift
        return mixed.view(np.int64)

    def _drop(self, found: set[bytes]) -> None:
        for start in {each[: self._width] for each in found}:
            left = [each for each in self._by_start[start] if each not in found]
            if left:
                self._by_start[start] = left
            else:
                del self._by_start[start]
        self._index()
