"""Models have parameters: how these are listed, checked and given back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeGuard, TypeVar

from sfams.core.columns import Needs
from sfams.core.record import JsonValue
from sfams.errors import InvalidPolicyError

Clock = Literal["wall", "active"]
"""By which days time passes: all of them, or only those on which something was said in the scope."""
CLOCKS = ("wall", "active")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parametric:
    """What every model here shares: its fields are its parameters."""

    name: ClassVar[str]
    """The name in saved policies."""
    needs: ClassVar[Needs] = frozenset()
    """What it reads besides the plain columns."""

    def parameters(self) -> dict[str, JsonValue]:
        """All of them by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


Model = TypeVar("Model", bound=Parametric)


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is an int or float, a truth value not being one; NaN is."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check(name: str, value: object, *, low: float, high: float) -> None:
    """Refuse a parameter that is no number of a range."""
    if not is_number(value) or not low <= value <= high:
        message = f"{name}: must be a number in {low:g}..{high:g}, got {value!r}"
        raise InvalidPolicyError(message, field=name)


def check_range(model: object, low: float, high: float, *names: str) -> None:
    """Refuse parameters of a model that are no numbers of a range."""
    for name in names:
        check(name, getattr(model, name), low=low, high=high)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of a few words."""
    if value not in choices:
        message = f"{name}: {value!r} is not {' or '.join(choices)}"
        raise InvalidPolicyError(message, field=name)


def built(model: type[Model], parameters: Mapping[str, JsonValue]) -> Model:
    """Build a model from parameters by name.

    Raises:
        InvalidPolicyError: It has no such parameter, or a value is out of range.
    """
    known = {each.name for each in fields(model)}
    unknown = sorted(parameters.keys() - known)
    if unknown:
        message = f"model.{unknown[0][:40]}: unknown; {model.name} has {', '.join(sorted(known))}"
        raise InvalidPolicyError(message, field=f"model.{unknown[0][:40]}")
    checked: dict[str, Any] = dict(parameters)
    return model(**checked)
