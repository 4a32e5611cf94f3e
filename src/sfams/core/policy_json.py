"""Policies as plain data, and back: for saved plans, files and stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import timedelta
from enum import StrEnum
from typing import Any, TypeVar

from sfams.core import policy as parts
from sfams.core.models.registry import model_from
from sfams.core.moments import parse_duration
from sfams.core.plan import Action
from sfams.core.policy import Approval, Budget, Limit, RetentionPolicy, Rung, Triggers
from sfams.core.record import JsonValue
from sfams.errors import InvalidInputError, InvalidPolicyError

Choice = TypeVar("Choice", bound=StrEnum)


def policy_to_json(policy: RetentionPolicy) -> dict[str, JsonValue]:
    """Write a policy out in full, with defaults, durations in seconds, for `policy_from_json`."""
    written: dict[str, JsonValue] = {
        "name": policy.name,
        "model": {"name": policy.model.name, **policy.model.parameters()},
        "budget": _budget_to_json(policy.budget),
        "summarize": _rung_to_json(policy.summarize),
        "delete": _rung_to_json(policy.delete),
        "floors": dict(policy.floors),
        "retention": {kind: each.total_seconds() for kind, each in policy.retention.items()},
        "anomaly": policy.anomaly,
        "approval": policy.approval.value,
        "through_cold": policy.through_cold,
        "purge": policy.purge,
        "triggers": _triggers_to_json(policy.triggers),
    }
    for name in (*parts.SHARES, *parts.COUNTS):
        written[name] = getattr(policy, name)
    for name in parts.ACTIONS:
        written[name] = str(getattr(policy, name))
    for name in parts.DURATIONS:
        written[name] = getattr(policy, name).total_seconds()
    return written


def _budget_to_json(budget: Budget) -> dict[str, JsonValue]:
    kinds: dict[str, JsonValue] = {kind: _sizes(each) for kind, each in budget.kinds.items()}
    return {**_sizes(budget), "low": budget.low, "kinds": kinds}


def _sizes(limit: Limit) -> dict[str, JsonValue]:
    return {name: getattr(limit, name) for name in parts.SIZES}


def _rung_to_json(rung: Rung | None) -> JsonValue:
    return None if rung is None else {"below": rung.below, "after": rung.after.total_seconds()}


def _triggers_to_json(triggers: Triggers) -> dict[str, JsonValue]:
    every = triggers.interval
    return {
        "over_budget": triggers.over_budget,
        "turns": triggers.turns,
        "interval": None if every is None else every.total_seconds(),
        "session_end": triggers.session_end,
        "digest": triggers.digest,
    }


def policy_from_json(
    written: Mapping[str, JsonValue], base: RetentionPolicy | None = None
) -> RetentionPolicy:
    """Build a policy from what `policy_to_json` wrote, or from a part of it: the rest is `base`'s.

    Durations are seconds or text such as "30d". A table replaces the base's whole, but for the
    model's parameters where its name is the same or left out.

    Raises:
        InvalidPolicyError: An unknown key, a value of the wrong type or out of range.
    """
    values: dict[str, Any] = dict(written)
    known = {each.name: each for each in fields(RetentionPolicy)}
    _refuse_unknown("", values, set(known))
    for name, read in _READERS.items():
        if name in values:
            values[name] = read(name, values[name])
    if "model" in values:
        values["model"] = _model(_mapping("model", values["model"]), base)
    for name in ("through_cold", "purge"):
        if not isinstance(values.get(name, True), bool):
            message = f"{name}: must be true or false"
            raise InvalidPolicyError(message, field=name)
    if not isinstance(values.get("name", ""), str):
        message = "name: must be text"
        raise InvalidPolicyError(message, field="name")
    if base is None:
        return RetentionPolicy(**values)
    return RetentionPolicy(**{name: getattr(base, name) for name in known} | values)


def undo_window(written: Mapping[str, JsonValue]) -> timedelta:
    """Read the undo window of a saved policy, whose model need not be known here.

    Raises:
        InvalidPolicyError: It is not a duration.
    """
    return _duration("undo_window", written.get("undo_window", parts.UNDO_WINDOW.total_seconds()))


def _model(written: dict[str, Any], base: RetentionPolicy | None) -> Any:  # noqa: ANN401
    before = {} if base is None else {"name": base.model.name, **base.model.parameters()}
    name = str(written.pop("name", before.get("name", "linear")))
    kept = before if name == before.pop("name", None) else {}
    return model_from(name, {**kept, **written})


def _budget(name: str, value: JsonValue) -> Budget:
    written = _mapping(name, value)
    _refuse_unknown("budget.", written, {each.name for each in fields(Budget)})
    kinds = {}
    for kind, sizes in _mapping("budget.kinds", written.pop("kinds", {})).items():
        limit = _mapping(f"budget.kinds.{kind}", sizes)
        _refuse_unknown(f"budget.kinds.{kind}.", limit, set(parts.SIZES))
        kinds[kind] = Limit(**limit)
    return Budget(kinds=kinds, **written)


def _rung(name: str, value: JsonValue) -> Rung | None:
    if value is None:
        return None
    written = _mapping(name, value)
    _refuse_unknown(f"{name}.", written, {"below", "after"})
    if "after" in written:
        written["after"] = _duration(f"{name}.after", written["after"])
    return Rung(**written)


def _triggers(name: str, value: JsonValue) -> Triggers:
    written = _mapping(name, value)
    _refuse_unknown("triggers.", written, {each.name for each in fields(Triggers)})
    if written.get("interval") is not None:
        written["interval"] = _duration("triggers.interval", written["interval"])
    return Triggers(**written)


def _retention(name: str, value: JsonValue) -> dict[str, timedelta]:
    written = _mapping(name, value)
    return {kind: _duration(f"retention.{kind}", each) for kind, each in written.items()}


def _refuse_unknown(prefix: str, values: Mapping[str, Any], known: set[str]) -> None:
    for name in values:
        if name not in known:
            message = f"{prefix}{name[:40]}: unknown; there is {', '.join(sorted(known))}"
            raise InvalidPolicyError(message, field=f"{prefix}{name[:40]}")


def _mapping(name: str, value: JsonValue) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{name}: must be a table of names and values"
        raise InvalidPolicyError(message, field=name)
    return dict(value)


def _choice(kind: type[Choice], allowed: str) -> Callable[[str, object], Choice]:
    def read(name: str, value: object) -> Choice:
        try:
            return kind(str(value))
        except ValueError as error:
            message = f"{name}: {str(value)[:40]!r} is not {allowed}"
            raise InvalidPolicyError(message, field=name) from error

    return read


def _duration(name: str, value: Any) -> timedelta:  # noqa: ANN401  # whatever the file holds
    if value == 0 and not isinstance(value, bool):
        return timedelta(0)
    try:
        return parse_duration(value, field=name)
    except InvalidInputError as error:
        raise InvalidPolicyError(str(error), field=name) from error


_READERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(parts.ACTIONS, _choice(Action, "demote or delete")),
    **dict.fromkeys(parts.DURATIONS, _duration),
    "approval": _choice(Approval, "never, removals or always"),
    "budget": _budget,
    "summarize": _rung,
    "delete": _rung,
    "floors": _mapping,
    "retention": _retention,
    "triggers": _triggers,
}
