"""Summaries by rules alone: no key, no model, no network. The default."""

from __future__ import annotations

from sfams.core.extracting import extract
from sfams.core.summarizing import SummaryRequest, SummaryText

RULES = "rules"


class RulesSummarizer:
    """Picks and shortens sentences (see `core.extracting`), so that nothing of substance is lost."""

    @property
    def name(self) -> str:
        """Always "rules"."""
        return RULES

    def summarize(self, request: SummaryRequest, /) -> SummaryText | None:
        """Write a summary that is shorter than its sources; None where that would lose something."""
        return extract(request)
