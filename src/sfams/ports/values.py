"""Values that pass through the ports of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfams.core.keywords import Terms
from sfams.core.lifecycle import Transition as Transition  # noqa: PLC0414  # part of this port
from sfams.core.record import EntityCount as EntityCount  # noqa: PLC0414  # part of this port
from sfams.core.record import MemoryRecord, RecordId
from sfams.core.record import PastVersion as PastVersion  # noqa: PLC0414  # as above
from sfams.core.reindex import Adoption as Adoption  # noqa: PLC0414  # part of this port
from sfams.core.reindex import EmbeddingModel as EmbeddingModel  # noqa: PLC0414  # as above
from sfams.core.reindex import Staged as Staged  # noqa: PLC0414  # as above
from sfams.core.reindex import Staging as Staging  # noqa: PLC0414  # as above
from sfams.core.scope import Scope
from sfams.core.view import Vector

META_MODEL = "embedding_model"
META_DIMENSION = "embedding_dimension"
META_TOKENIZER = "tokenizer_version"
"""Settings of a store (`Reader.meta`) that say how what is in it was made."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record with what makes it findable. `vector` is None while it waits for one."""

    record: MemoryRecord
    terms: Terms
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class ScopeStats:
    """Size of one scope by status and tier.

    `records` counts by status, with live records whose TTL has run out under "expired"; `hot`, `cold`,
    `hot_tokens` and `kinds` are of live ones that have not expired, `vectors` and `pending` of all live.
    """

    records: Mapping[str, int]
    hot: int
    cold: int
    hot_tokens: int
    vectors: int
    pending: int
    kinds: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `doctor` found. `repair` names what `doctor --repair` would do, "" if nothing can."""

    check: str
    scope: Scope | None
    ids: tuple[RecordId, ...]
    message: str
    repair: str = ""
