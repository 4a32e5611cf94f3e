"""The dict store's ghosts: what is left of forgotten records, under HMACs."""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from sfams.core.ghosts import MOST_OF_A_TERM, Ghost, Mark, Trail
from sfams.core.moments import utc_day
from sfams.core.record import RecordId
from sfams.core.scope import Scope

_KEY = b"sfams.stores.memory"  # nothing is kept on disk: a fixed key hides enough


@dataclass(frozen=True, slots=True)
class Haunt:
    """A ghost with its HMACs and the day of its last regret."""

    ghost: Ghost
    hash: bytes
    terms: frozenset[bytes]
    regretted_on: date | None = None


def of_trail(trail: Trail) -> Haunt:
    """Hide what a ghost is known again by."""
    return Haunt(trail.ghost, _hash(trail.content_hash), frozenset(map(_term, trail.terms)))


def by_terms(haunts: Sequence[Haunt], terms: Sequence[int]) -> dict[int, frozenset[RecordId]]:
    """Name those that are still gone, by the terms that they held."""
    gone = [each for each in haunts if each.ghost.returned_at is None]
    found = {
        term: frozenset([e.ghost.record_id for e in gone if mark in e.terms][-MOST_OF_A_TERM:])
        for term, mark in ((term, _term(term)) for term in terms)
    }
    return {term: ids for term, ids in found.items() if ids}


def by_hash(haunts: Sequence[Haunt], hashes: Sequence[str]) -> Mapping[str, RecordId]:
    """Name those that are still gone, the newest by content hash."""
    gone = {each.hash: each.ghost.record_id for each in haunts if each.ghost.returned_at is None}
    return {each: gone[mark] for each in hashes if (mark := _hash(each)) in gone}


def regretted(haunts: Sequence[Haunt], ids: Collection[RecordId], at: datetime) -> list[Haunt]:
    """Count one regret a day, of the newest ghost of each record."""
    newest, today = _newest(haunts, ids), utc_day(at)
    return [
        replace(each, ghost=replace(each.ghost, regrets=each.ghost.regrets + 1), regretted_on=today)
        if place in newest and (each.regretted_on is None or each.regretted_on < today)
        else each
        for place, each in enumerate(haunts)
    ]


def returned(haunts: Sequence[Haunt], ids: Collection[RecordId], at: datetime) -> list[Haunt]:
    """Note that records are here again."""
    newest = _newest(haunts, ids)
    return [
        replace(each, ghost=replace(each.ghost, returned_at=at))
        if place in newest and each.ghost.returned_at is None
        else each
        for place, each in enumerate(haunts)
    ]


def marked(haunts: Sequence[Haunt], record_id: RecordId, mark: Mark | None) -> list[Haunt] | None:
    """Set or lift a mark; None without a ghost."""
    newest = _newest(haunts, [record_id])
    if not newest:
        return None
    return [
        replace(each, ghost=replace(each.ghost, mark=mark)) if place in newest else each
        for place, each in enumerate(haunts)
    ]


def _newest(haunts: Sequence[Haunt], ids: Collection[RecordId]) -> set[int]:
    places = {
        each.ghost.record_id: place
        for place, each in enumerate(haunts)
        if each.ghost.record_id in ids
    }
    return set(places.values())


def _hash(content_hash: str) -> bytes:
    return hmac.digest(_KEY, b"ghost " + content_hash.encode(), "sha256")


def _term(term: int) -> bytes:
    return hmac.digest(_KEY, term.to_bytes(8, "little"), "sha256")[:8]


class GhostReader(ABC):
    """Reads ghosts, for the dict store's reader."""

    @abstractmethod
    def _haunts(self, scope: Scope) -> list[Haunt]:
        """Give a scope's ghosts."""

    def ghosts(self, scope: Scope, ids: Sequence[RecordId] = (), /) -> Sequence[Ghost]:
        """List what was forgotten, oldest first."""
        haunts = self._haunts(scope)
        return [each.ghost for each in haunts if not ids or each.ghost.record_id in ids]

    def ghosts_by_terms(
        self, scope: Scope, terms: Sequence[int], /
    ) -> Mapping[int, frozenset[RecordId]]:
        """Name forgotten records by term."""
        return by_terms(self._haunts(scope), terms)

    def ghosts_by_hash(self, scope: Scope, hashes: Sequence[str], /) -> Mapping[str, RecordId]:
        """Name the newest forgotten record by content hash."""
        return by_hash(self._haunts(scope), hashes)


class GhostWriter(ABC):
    """Writes ghosts, for the dict store's transaction."""

    @abstractmethod
    def _own_haunts(self, scope: Scope) -> list[Haunt]:
        """Give this transaction's own copy of a scope's ghosts."""

    def add_ghosts(self, scope: Scope, trails: Sequence[Trail], /) -> None:
        """Note what is forgotten."""
        self._own_haunts(scope).extend(map(of_trail, trails))

    def note_regret(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        """Count a regret, one a day."""
        haunts = self._own_haunts(scope)
        haunts[:] = regretted(haunts, ids, at)

    def note_return(self, scope: Scope, ids: Sequence[RecordId], at: datetime, /) -> None:
        """Note that records are back."""
        haunts = self._own_haunts(scope)
        haunts[:] = returned(haunts, ids, at)

    def mark_ghost(self, scope: Scope, record_id: RecordId, mark: Mark | None, /) -> bool:
        """Mark the newest ghost of a record; False without one."""
        haunts = self._own_haunts(scope)
        after = marked(haunts, record_id, mark)
        if after is not None:
            haunts[:] = after
        return after is not None
