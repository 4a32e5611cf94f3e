"""Receipts of erasures as a chain: each carries the seal of the one before, so that none can be taken out.

A seal is a SHA-256 over number, moment, body and the previous seal. With a key, each is signed as well
(HMAC-SHA256): whoever has only the file cannot then make the chain anew. Bodies hold ids, counts and
digests, never text.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from sfams.core.moments import format_moment
from sfams.core.record import JsonValue

FIRST = ""
"""What the first link carries in place of a previous seal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """One line of a scope's chain; `number` counts from 1. `signature` is "" without a key."""

    number: int
    at: datetime
    body: Mapping[str, JsonValue]
    previous: str
    seal: str
    signature: str = ""


def next_link(
    last: ChainLink | None, at: datetime, body: Mapping[str, JsonValue], key: bytes = b""
) -> ChainLink:
    """Make the link that follows `last`, signed where there is a key."""
    number = 1 if last is None else last.number + 1
    previous = FIRST if last is None else last.seal
    seal = _seal(number, at, body, previous)
    return ChainLink(
        number=number,
        at=at,
        body=body,
        previous=previous,
        seal=seal,
        signature=_sign(seal, key) if key else "",
    )


def problems_in(links: Sequence[ChainLink], key: bytes = b"") -> tuple[str, ...]:
    """Check a whole chain, oldest first: name what was changed, taken out or signed by another key.

    What was cut off at its end cannot be seen from the chain itself: compare the newest seal with one that
    was kept elsewhere.
    """
    found: list[str] = []
    previous = FIRST
    for place, link in enumerate(links, 1):
        if link.number != place:
            found.append(f"link {place} is missing")
            break
        if link.seal != _seal(link.number, link.at, link.body, link.previous):
            found.append(f"link {place} was changed")
        if link.previous != previous:
            found.append(f"link {place} does not follow the one before it")
        if key and not hmac.compare_digest(link.signature, _sign(link.seal, key)):
            found.append(f"link {place} is not signed with this key")
        previous = link.seal
    return tuple(found)


def digest_of(values: Sequence[str]) -> str:
    """Fold many hashes into one, so that a kept receipt can be compared with the chain."""
    return sha256("\n".join(values).encode()).hexdigest()


def _seal(number: int, at: datetime, body: Mapping[str, JsonValue], previous: str) -> str:
    shape = {"number": number, "at": format_moment(at), "body": dict(body), "previous": previous}
    written = json.dumps(shape, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return sha256(written.encode()).hexdigest()


def _sign(seal: str, key: bytes) -> str:
    return hmac.new(key, seal.encode(), "sha256").hexdigest()
