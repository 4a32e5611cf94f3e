"""Policies in the store: a scope's own, else the nearest above it, else the memory's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

from sfams.core.events import EventType, MemoryEvent
from sfams.core.policy import RetentionPolicy
from sfams.core.policy_json import policy_from_json, policy_to_json
from sfams.core.presets import preset
from sfams.core.record import JsonValue
from sfams.core.scope import Scope
from sfams.errors import InvalidInputError
from sfams.service import scope_settings
from sfams.service.engine import Engine

SETTING = "policy"


@dataclass(frozen=True, slots=True)
class InForce:
    """The policy that holds in a scope, and the scope that says so; None: the memory as it was opened."""

    policy: RetentionPolicy
    scope: Scope | None = None


def in_force(engine: Engine, scope: Scope) -> InForce:
    """Find the policy that holds in a scope.

    Raises:
        InvalidPolicyError: What is stored is none that this release knows.
    """
    with engine.store.read() as reader:
        found = scope_settings.inherited(reader, scope, SETTING)
    if found is None:
        return InForce(engine.policy)
    where, written = found
    return InForce(policy_from_json(cast("dict[str, JsonValue]", written)), where)


def under(engine: Engine, scope: Scope) -> Engine:
    """Give the engine under the policy that holds in a scope: the same store, the scope's rules."""
    return replace(engine, policy=in_force(engine, scope).policy)


def chosen(engine: Engine, scope: Scope, given: object) -> RetentionPolicy:
    """Take the policy that is given, by value or by a preset's name, else the one in force.

    Raises:
        InvalidInputError: It is neither.
        InvalidPolicyError: There is no such preset.
    """
    if given is None:
        return in_force(engine, scope).policy
    rules = preset(given) if isinstance(given, str) else given
    if not isinstance(rules, RetentionPolicy):
        message = (
            f"policy: expected a RetentionPolicy or a preset's name, got {type(rules).__name__}"
        )
        raise InvalidInputError(message, field="policy")
    return rules


def put(engine: Engine, scope: Scope, given: RetentionPolicy | str | None) -> InForce:
    """Set a scope's own policy, which also holds below it; None: what is above it holds again.

    Raises:
        InvalidInputError: It is neither a policy nor a name.
        InvalidPolicyError: No such preset, or its model is not one that can be stored.
    """
    written: JsonValue = None
    if given is not None:
        written = policy_to_json(chosen(engine, scope, given))
        policy_from_json(written)  # what cannot be read back is refused now, not when it is needed
    scope_settings.put(engine, scope, SETTING, written)
    now = in_force(engine, scope)
    event = MemoryEvent(
        type=EventType.POLICY,
        at=engine.now(),
        detail={"name": now.policy.name, "own": given is not None},
    )
    with engine.store.write() as transaction:
        transaction.append(scope, [event])
    engine.board.forget(scope)
    engine.tell(scope, [event])
    return now
