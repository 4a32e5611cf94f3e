"""Taking texts in, and changing what is held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Unpack

from sfams.core.admission import Outcome
from sfams.core.draft import Draft, DraftFields, make_draft
from sfams.core.record import MemoryRecord
from sfams.core.sensitivity import SensitiveRule
from sfams.errors import SensitiveContentError
from sfams.service import (
    linking,
    pending,
    remembering,
    screening,
    superseding,
    triggers,
    updating,
)
from sfams.service.results import (
    Progress,
    RememberResult,
)
from sfams.service.verbs.base import Verbs, many, not_text, to_draft


class RememberingVerbs(Verbs):
    """Taking texts in, and changing what is held."""

    def remember(
        self, content: str, *, wait: bool = True, **fields: Unpack[DraftFields]
    ) -> RememberResult:
        """Store one text with what is known about it; what is not given is estimated.

        A text known already is not stored again (`outcome` "duplicate", the known id). One with the
        `subject` and `attribute` of a live record and another `value` supersedes it. With `wait=False`
        the text is durable on return, its vector follows. What was erased here, or is off the record, is
        not stored: `stored` is False, `outcome` and `warnings` say why.

        Raises:
            InvalidInputError: Blank or over-long text, unknown field or bad value, by name.
            SensitiveContentError: The scope's rule refuses what was found in it (`set_sensitive_rule`).
            ConflictError: `supersedes` names a record that is not live.
        """
        result = self.remember_many([make_draft(content, fields)], wait=wait)[0]
        if result.outcome is Outcome.REFUSED and not result.id:  # by a rule, not by an erasure
            raise SensitiveContentError(*result.warnings, field="content")
        return result

    def remember_many(
        self,
        items: Iterable[str | Draft | Mapping[str, object]],
        *,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> list[RememberResult]:
        """Store many texts, drafts or mappings, in order; all are checked before the first is stored.

        Each 64 are one transaction; `progress` is called with the number done since its last call. A text
        that the scope's rule refuses has the outcome "refused" and is not stored.
        """
        drafts = [to_draft(item) for item in not_text(items, "items")]
        results = remembering.remember_many(
            self._engine, self.scope, drafts, wait=wait, progress=progress
        )
        if wait:
            pending.follow_up(self._engine, self.scope, [each for each in results if each.stored])
        else:
            self._engine.background.submit(partial(pending.catch_up, self._engine, self.scope))
        if any(each.stored for each in results):
            triggers.consider(self._engine, self.scope)
        return results

    def embed_pending(self, *, progress: Progress | None = None) -> int:
        """Embed records that were stored without a vector; returns how many have one now."""
        return pending.embed_pending(self._engine, self.scope, progress)

    def update(
        self, record_id: str, *, expected_version: int | None = None, **fields: object
    ) -> MemoryRecord:
        """Change `content` or any field of `remember` but dates of origin and key.

        New text is embedded anew; what was said before stays in `versions`. With `expected_version` a
        change by somebody else is a ConflictError instead of being overwritten.
        """
        return updating.update(self._engine, self.scope, record_id, expected_version, fields)

    def supersede(self, old: str, new: str) -> None:
        """Say that record `new` takes the place of record `old`."""
        superseding.supersede(self._engine, self.scope, old, new)

    def link(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Relate two records; False when they are so related already."""
        return linking.link(self._engine, self.scope, source, target, relation_type)

    def unlink(self, source: str, target: str, relation_type: str = "related") -> bool:
        """Remove a relation; False when there was none."""
        return linking.unlink(self._engine, self.scope, source, target, relation_type)

    def reinforce(
        self, ids: Iterable[str] | str, *, session: str | None = None, outcome: str | None = None
    ) -> int:
        """Confirm that memories were used; each counts at most once per session. Returns how many."""
        return linking.reinforce(self._engine, self.scope, many(ids), session, outcome)

    def sensitive_rule(self) -> SensitiveRule:
        """Tell what this scope does with what is sensitive: its own rule, or the nearest above it."""
        return screening.rule(self._engine, self.scope)

    def set_sensitive_rule(self, rule: str | None) -> None:
        """Set it for this scope and those below: "store", "redact" or "refuse"; None inherits again."""
        screening.set_rule(self._engine, self.scope, rule)
