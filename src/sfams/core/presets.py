"""Policies that ship with SF-AMS, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

from sfams.core.models.adaptive import Adaptive
from sfams.core.models.linear import classic
from sfams.core.models.survival import CAPACITY, Survival
from sfams.core.plan import Action
from sfams.core.policy import Budget, RetentionPolicy, Triggers
from sfams.errors import InvalidPolicyError


def classic_policy() -> RetentionPolicy:
    """Score by 0.5 importance + 0.3 recency + 0.2 frequency; the lowest tenth goes a rung down.

    What is hot is demoted, and what is cold and still among the lowest is deleted. Each run takes its
    tenth, so that it runs when somebody asks for it and never by itself.
    """
    return RetentionPolicy(
        name="classic",
        model=classic(),
        share=0.1,
        share_action=Action.DELETE,
        max_share=0.2,
        triggers=Triggers(over_budget=False),
    )


def budget_policy(records: int | None = None, tokens: int | None = None) -> RetentionPolicy:
    """Keep the hot tier within a budget: nothing is deleted but what has expired."""
    return RetentionPolicy(name="budget", budget=Budget(records=records, tokens=tokens))


def survival_policy(records: int = CAPACITY) -> RetentionPolicy:
    """Keep the records with the highest survival potential hot, 300 of them, demote the rest.

    The policy of the SF-AMS paper (arXiv 2607.22562), which evicts the lowest when its 300 places are
    taken; here they go to the cold tier, from which they can come back.
    """
    return RetentionPolicy(name="survival", model=Survival(), budget=Budget(records=records))


WINDOW = 0.05
"""Share of its budget that `adaptive` keeps for the newest records."""


def adaptive_policy(records: int | None = 5000, tokens: int | None = None) -> RetentionPolicy:
    """Keep what is likely to be needed, per token; demote the rest, delete only what has expired.

    Beyond the budget nothing goes until it is exceeded, and then a twentieth at once.
    """
    return RetentionPolicy(
        name="adaptive",
        model=Adaptive(),
        budget=Budget(records=records, tokens=tokens, low=0.95),
        window=WINDOW,
        triggers=Triggers(interval=timedelta(hours=24), session_end=True),
    )


DEFAULT_POLICY = adaptive_policy()
"""The policy of a memory that names no other."""

PRESETS: Mapping[str, Callable[[], RetentionPolicy]] = {
    "adaptive": adaptive_policy,
    "classic": classic_policy,
    "budget": lambda: budget_policy(records=1000),
    "survival": survival_policy,
}


def preset(name: str) -> RetentionPolicy:
    """Take a policy that ships with SF-AMS.

    Raises:
        InvalidPolicyError: There is no preset of this name.
    """
    build = PRESETS.get(name)
    if build is None:
        message = f"policy: {name[:40]!r} is unknown; there is {', '.join(PRESETS)}"
        raise InvalidPolicyError(message, field="policy")
    return build()
