"""RetentionPolicy: what is to be kept, as data, checked when it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any

from sfams.core.moments import parse_duration
from sfams.core.plan import Action
from sfams.core.record import JsonValue
from sfams.core.retention import Linear, RetentionModel, classic, is_number, model_from
from sfams.errors import InvalidInputError, InvalidPolicyError

_RANGES = ("threshold", "share", "floor", "max_share")
_ACTIONS = ("threshold_action", "share_action", "expired_action")
_DURATIONS = ("grace", "undo_window")

UNDO_WINDOW = timedelta(days=30)
"""How long a plan can be taken back, unless its policy says otherwise."""


def _check_share(name: str, value: object, *, optional: bool) -> None:
    if value is None and optional:
        return
    if not is_number(value) or not 0.0 <= value <= 1.0:
        message = f"{name}: must be a number in 0..1, got {value!r}"
        raise InvalidPolicyError(message, field=name)


def _check_count(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        message = f"{name}: must be a whole number, 0 or more, got {value!r}"
        raise InvalidPolicyError(message, field=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much hot memory a scope may hold; None does not limit."""

    records: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        """Refuse budgets that are no whole number, or below zero."""
        _check_count("budget.records", self.records)
        _check_count("budget.tokens", self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """Which records a plan takes and what it does with them.

    A record is taken when it has expired (`expired_action`), when its score is below `threshold`
    (`threshold_action`), when it is among the lowest `int(share * n)` or the lowest `lowest`
    (`share_action`), or when the hot tier is over `budget` (demoted, lowest score first). Pins,
    holds and the grace period protect; `floor` protects records of at least that importance from
    everything but expiry and demotion. `max_share` is the blast radius: no plan may delete more
    than this share of the scope, expired records apart. Demotion to budget is exempt.
    """

    name: str = "custom"
    model: RetentionModel = field(default_factory=Linear)
    budget: Budget = Budget()
    threshold: float | None = None
    share: float | None = None
    lowest: int | None = None
    threshold_action: Action = Action.DEMOTE
    share_action: Action = Action.DEMOTE
    expired_action: Action = Action.DELETE
    floor: float | None = None
    grace: timedelta = timedelta(0)
    max_share: float = 0.2
    undo_window: timedelta = UNDO_WINDOW

    def __post_init__(self) -> None:
        """Check ranges and contradictions."""
        for name in _RANGES:
            _check_share(name, getattr(self, name), optional=name != "max_share")
        _check_count("lowest", self.lowest)
        if self.share is not None and self.lowest is not None:
            message = "share and lowest: give one of them"
            raise InvalidPolicyError(message, field="share")
        for name in _DURATIONS:
            if getattr(self, name) < timedelta(0):
                message = f"{name}: must not be negative"
                raise InvalidPolicyError(message, field=name)
        for name in _ACTIONS:
            if getattr(self, name) not in {Action.DEMOTE, Action.DELETE}:
                message = f"{name}: {getattr(self, name)} is not demote or delete"
                raise InvalidPolicyError(message, field=name)


def classic_policy() -> RetentionPolicy:
    """Score by 0.5 importance + 0.3 recency + 0.2 frequency and delete the lowest tenth."""
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
"""Policies by name: `default`, `classic`, and `budget`, which keeps 1,000 records hot."""


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


def policy_to_json(policy: RetentionPolicy) -> dict[str, JsonValue]:
    """Write a policy out in full, with defaults, durations in seconds, for `policy_from_json`."""
    written: dict[str, JsonValue] = {
        "name": policy.name,
        "model": {"name": policy.model.name, **policy.model.parameters()},
        "budget": {"records": policy.budget.records, "tokens": policy.budget.tokens},
    }
    for name in (*_RANGES, "lowest"):
        written[name] = getattr(policy, name)
    for name in _ACTIONS:
        written[name] = str(getattr(policy, name))
    for name in _DURATIONS:
        written[name] = getattr(policy, name).total_seconds()
    return written


def policy_from_json(written: Mapping[str, JsonValue]) -> RetentionPolicy:
    """Build a policy from what `policy_to_json` wrote, or from a part of it: the rest is default.

    Durations are seconds or text such as "30d".

    Raises:
        InvalidPolicyError: An unknown key, a value of the wrong type or out of range.
    """
    values: dict[str, Any] = dict(written)
    _refuse_unknown("", values, {each.name for each in fields(RetentionPolicy)})
    if "model" in values:
        model = dict(_mapping("model", values["model"]))
        values["model"] = model_from(str(model.pop("name", "linear")), model)
    if "budget" in values:
        budget = _mapping("budget", values["budget"])
        _refuse_unknown("budget.", budget, {"records", "tokens"})
        values["budget"] = Budget(**budget)
    if not isinstance(values.get("name", ""), str):
        message = "name: must be text"
        raise InvalidPolicyError(message, field="name")
    for name in _ACTIONS:
        if name in values:
            values[name] = _action(name, values[name])
    for name in _DURATIONS:
        if name in values:
            values[name] = _duration(name, values[name])
    return RetentionPolicy(**values)


def undo_window(written: Mapping[str, JsonValue]) -> timedelta:
    """Read the undo window of a saved policy, whose model need not be known here.

    Raises:
        InvalidPolicyError: It is not a duration.
    """
    return _duration("undo_window", written.get("undo_window", UNDO_WINDOW.total_seconds()))


def _refuse_unknown(prefix: str, values: Mapping[str, Any], known: set[str]) -> None:
    for name in values:
        if name not in known:
            message = f"{prefix}{name[:40]}: unknown; there is {', '.join(sorted(known))}"
            raise InvalidPolicyError(message, field=f"{prefix}{name[:40]}")


def _mapping(name: str, value: JsonValue) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{name}: must be a table of names and values"
        raise InvalidPolicyError(message, field=name)
    return value


def _action(name: str, value: object) -> Action:
    try:
        return Action(str(value))
    except ValueError as error:
        message = f"{name}: {str(value)[:40]!r} is not demote or delete"
        raise InvalidPolicyError(message, field=name) from error


def _duration(name: str, value: Any) -> timedelta:  # noqa: ANN401  # whatever the file holds
    if value == 0 and not isinstance(value, bool):
        return timedelta(0)
    try:
        return parse_duration(value, field=name)
    except InvalidInputError as error:
        raise InvalidPolicyError(str(error), field=name) from error
