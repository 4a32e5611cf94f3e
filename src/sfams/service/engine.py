"""Engine: the ports and shared state that every use case works with."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from sfams.core.admission import AdmissionPolicy
from sfams.core.events import MemoryEvent
from sfams.core.policy import RetentionPolicy
from sfams.core.presets import DEFAULT_POLICY
from sfams.core.ranking import RankingWeights
from sfams.core.record import PlanId, RecordId
from sfams.core.scope import Scope
from sfams.core.sensitivity import SensitiveRule
from sfams.errors import StoreUnavailableError
from sfams.ports import Clock, Embedder, IdSource, Listener, Store, Summarizer
from sfams.service.background import Background, Waiting
from sfams.service.board import Board
from sfams.service.silence import Silence
from sfams.service.usage import UsageBuffer
from sfams.service.views import ViewCache

logger = logging.getLogger("sfams")

Rebuild = Callable[[Scope, Sequence[Sequence[RecordId]]], object]
"""Told of groups of records that an erasure has left without their summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How texts are read on their way in.

    `sensitive_rule` holds where no scope has a rule of its own. Times without a zone were written in
    `zone`. With `entities` a text's own are stored where the caller gave none.
    """

    sensitive_rule: SensitiveRule = SensitiveRule.STORE
    zone: tzinfo = UTC
    entities: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """Everything a use case needs, wired once by `bootstrap` and shared by every `Memory`."""

    store: Store
    embedder: Embedder
    clock: Clock
    new_id: IdSource
    policy: RetentionPolicy = DEFAULT_POLICY
    admission: AdmissionPolicy = field(default_factory=AdmissionPolicy)
    reading: Reading = field(default_factory=Reading)
    weights: RankingWeights = field(default_factory=RankingWeights)
    summarizer: Summarizer | None = None
    """Who writes summaries; None for the rules of `core.extracting`, which also step in for others."""
    listeners: tuple[Listener, ...] = ()
    views: ViewCache = field(default_factory=ViewCache)
    usage: UsageBuffer = field(default_factory=UsageBuffer)
    background: Background = field(default_factory=Background)
    waiting: Waiting = field(default_factory=Waiting)
    board: Board = field(default_factory=Board)
    automatic: bool = True
    """Whether the policy's triggers may run by themselves."""
    silence: Silence = field(default_factory=Silence)
    rebuild: Rebuild | None = None
    """Makes summaries anew, without what was erased; called in the background."""
    receipt_key: bytes = b""
    """Signs the receipts of erasures; empty: they are chained and not signed."""

    def now(self) -> datetime:
        """Read the clock once; a use case passes the answer down."""
        return self.clock()

    def record_id(self) -> RecordId:
        """Make the id of a new record."""
        return RecordId(self.new_id())

    def plan_id(self) -> PlanId:
        """Make the id of a new plan."""
        return PlanId(self.new_id())

    def tell(self, scope: Scope, events: Sequence[MemoryEvent]) -> None:
        """Tell the listeners what has been committed."""
        if events:
            for listener in self.listeners:
                listener(scope, events)

    def flush_usage(self) -> int:
        """Write buffered accesses down, so that what is read next counts them.

        Where they cannot be written (a read-only file, a lock that is not let go) they stay buffered, with
        a warning in the log: what only reads must not fail for it.
        """
        try:
            return self.usage.flush(self.store)
        except StoreUnavailableError as error:
            logger.warning("access counts were not written: %s", error)
            return 0

    def close(self) -> None:
        """Finish background work, write the last accesses, close the embedder and the store."""
        try:
            self.background.close()
            self.flush_usage()
        finally:
            self.embedder.close()
            self.store.close()
