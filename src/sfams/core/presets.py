"""Policies that ship with SF-AMS, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sfams.core.plan import Action
from sfams.core.policy import Budget, RetentionPolicy
from sfams.core.retention import classic
from sfams.errors import InvalidPolicyError


def classic_policy() -> RetentionPolicy:
    """Score by 0.5 importance + 0.3 recency + 0.2 frequency; the lowest tenth goes a rung down.

    What is hot is demoted, and what is cold and still among the lowest is deleted.
    """
    return RetentionPolicy(
        name="classic", model=classic(), share=0.1, share_action=Action.DELETE, max_share=0.2
    )


def budget_policy(records: int | None = None, tokens: int | None = None) -> RetentionPolicy:
    """Keep the hot tier within a budget: nothing is deleted but what has expired."""
    return RetentionPolicy(name="budget", budget=Budget(records=records, tokens=tokens))


DEFAULT_POLICY = RetentionPolicy(name="default", budget=Budget(records=5000))
"""Keep a scope's 5,000 most valuable records hot, demote the rest, delete only what expired."""

PRESETS: Mapping[str, Callable[[], RetentionPolicy]] = {
    "default": lambda: DEFAULT_POLICY,
    "classic": classic_policy,
    "budget": lambda: budget_policy(records=1000),
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
