"""Regret: what was forgotten and is asked for, or told, again.

Nothing is written while a question is answered: regrets wait in the usage buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sfams.core.ghosts import Missed, content_terms
from sfams.core.keywords import question_terms
from sfams.core.lifecycle import restorable
from sfams.core.query import Hit, Query
from sfams.core.record import RecordId, Status, Tier
from sfams.core.regret import Weights, enough, matching, share, weigh
from sfams.core.scope import Scope
from sfams.core.view import ScopeView
from sfams.ports import Reader, Transaction
from sfams.service.engine import Engine

MOST_MISSED = 3
_COMPARED = 20
MOST_TERMS = 64
"""Of a longer question no ghost is looked for: it is a text, not a question."""
Postings = dict[int, frozenset[RecordId]]


class Look:
    """A question's look at what its scope has forgotten."""

    def __init__(self, reader: Reader, scope: Scope, query: Query) -> None:
        """Look up the question's content terms: one indexed read."""
        self._reader, self._scope = reader, scope
        asked = () if query.selection.restricts else content_terms(query.text)
        self._terms = asked if len(asked) <= MOST_TERMS else ()
        self._ghosts = reader.ghosts_by_terms(scope, self._terms) if self._terms else {}

    def weigh(self, view: ScopeView, hits: Sequence[Hit]) -> Weights:
        """Weigh the terms, where a ghost or a cold hit gives reason to."""
        cold = any(hit.record.tier is Tier.COLD for hit in hits)
        if not self._terms or not (self._ghosts or cold):
            return {}
        return weigh(self._terms, self._ghosts, view.frequency, len(view))

    def cold(self, weights: Weights, hits: Sequence[Hit]) -> list[RecordId]:
        """Name the demoted records that were asked for."""
        if not weights:
            return []
        return [
            hit.record.id
            for hit in hits[:_COMPARED]
            if hit.record.tier is Tier.COLD and enough(weights, question_terms(hit.record.content))
        ]

    def missed(
        self, engine: Engine, weights: Weights, hits: Sequence[Hit], now: datetime
    ) -> tuple[list[RecordId], list[Missed]]:
        """Name what was forgotten and would have answered better, and of that what can come back."""
        found = matching(weights, self._ghosts) if weights else {}
        if not found:
            return [], []
        stood_for = {each for hit in hits for each in hit.record.derived_from}
        best = max((share(weights, question_terms(h.record.content)) for h in hits[:_COMPARED]),
                   default=0.0)  # fmt: skip
        wanted = {i: s for i, s in found.items() if s > best and i not in stood_for}
        newest = {ghost.record_id: ghost for ghost in self._reader.ghosts(self._scope, [*wanted])}
        window = engine.policy.undo_window
        back = {
            record.id
            for record in self._reader.get(self._scope, [*wanted])
            if record.status is not Status.LIVE and restorable(record, now, window)
        }
        offers = [
            Missed(
                id=each,
                at=newest[each].at,
                action=newest[each].action,
                reason=newest[each].reason,
                policy=newest[each].policy,
                plan_id=newest[each].plan_id,
                share=part,
            )
            for each, part in wanted.items()
            if each in back
        ]
        return [*wanted], offers


def note_retold(
    transaction: Transaction, scope: Scope, hashes: Sequence[str], now: datetime
) -> None:
    """Count a regret for what was forgotten and has been told again, word for word."""
    found = transaction.ghosts_by_hash(scope, hashes) if hashes else {}
    if found:
        transaction.note_regret(scope, sorted(set(found.values())), now)
