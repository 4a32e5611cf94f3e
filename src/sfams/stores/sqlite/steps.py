"""A plan's steps as one array per column, packed; the last ones read are kept unpacked."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfams.core.plan import NO_GROUP, Steps
from sfams.core.record import RecordId
from sfams.stores.rows import to_json

Packed = Sequence[tuple[str, bytes]]

IDS = "ids"
_PART = "part:"
_ARRAYS: Mapping[str, str] = {
    "versions": "<i8",
    "actions": "<i1",
    "reasons": "<i1",
    "scores": "<f8",
    "tokens": "<i8",
    "groups": "<i4",
}
_SMALL = frozenset({"versions", "actions", "reasons", "tokens", "groups"})
"""Columns of small whole numbers: they shrink to little, while scores and parts do not."""


def pack(steps: Steps) -> Packed:
    """Write steps, column by column."""
    columns = [(IDS, _squeeze(to_json(steps.ids).encode()))]
    for name, kind in _ARRAYS.items():
        data = getattr(steps, name).astype(kind).tobytes()
        columns.append((name, _squeeze(data) if name in _SMALL else data))
    columns += ((_PART + name, part.astype("<f8").tobytes()) for name, part in steps.parts.items())
    return columns


def unpack(columns: Packed) -> Steps:
    """Read steps; their arrays cannot be written to."""
    found = dict(columns)
    if "groups" not in found:  # a plan of an older schema
        size = len(found["versions"] and zlib.decompress(found["versions"])) // 8
        found["groups"] = _squeeze(np.full(size, NO_GROUP, "<i4").tobytes())
    arrays: dict[str, NDArray[Any]] = {
        name: np.frombuffer(zlib.decompress(found[name]) if name in _SMALL else found[name], kind)
        for name, kind in _ARRAYS.items()
    }
    parts = {
        name.removeprefix(_PART): np.frombuffer(data, "<f8")
        for name, data in columns
        if name.startswith(_PART)
    }
    return Steps(ids=tuple(unpack_ids(found[IDS])), parts=parts, **arrays)


def unpack_ids(data: bytes) -> list[RecordId]:
    """Read the ids alone."""
    ids: list[RecordId] = json.loads(zlib.decompress(data))
    return ids


def without(steps: Steps, gone: frozenset[str]) -> tuple[Steps, NDArray[np.bool_]]:
    """Take records out; tells which steps were kept."""
    kept = np.fromiter((each not in gone for each in steps.ids), np.bool_, len(steps))
    arrays = {name: getattr(steps, name)[kept] for name in _ARRAYS}
    parts = {name: values[kept] for name, values in steps.parts.items()}
    ids = tuple(each for each in steps.ids if each not in gone)
    return Steps(ids=ids, parts=parts, **arrays), kept


def fingerprint(columns: Packed) -> bytes:
    """Name steps by what they are, so that equal names mean equal steps."""
    digest = blake2b(digest_size=16)
    for name, data in columns:
        digest.update(f"{name} {len(data)} ".encode() + data)
    return digest.digest()


class StepsCache:
    """The steps that were read last: a plan is loaded anew for every chunk that is applied."""

    def __init__(self) -> None:
        self._last: tuple[bytes, Steps] | None = None

    def get(self, name: bytes) -> Steps | None:
        """Give the steps of this fingerprint, if they are the last."""
        last = self._last
        return last[1] if last is not None and last[0] == name else None

    def put(self, name: bytes, steps: Steps) -> None:
        """Keep steps in place of those before."""
        self._last = name, steps

    def clear(self) -> None:
        """Forget: an erased record's id must not stay in memory either."""
        self._last = None


def _squeeze(data: bytes) -> bytes:
    return zlib.compress(data, 1)
