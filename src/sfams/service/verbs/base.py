"""What all verbs have: the wired engine and the scope that they work on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from sfams.core.draft import Draft, draft_from_mapping, make_draft
from sfams.core.plan import ForgettingPlan
from sfams.core.record import PlanId
from sfams.core.scope import Scope
from sfams.errors import InvalidInputError
from sfams.service import listing
from sfams.service.engine import Engine

Item = TypeVar("Item")


class Verbs:
    """A part of `Memory`."""

    def __init__(self, engine: Engine, scope: Scope) -> None:
        """Bind the wired engine to a scope; `sfams.open` does the wiring."""
        self._engine = engine
        self.scope = scope


def not_text(items: Iterable[Item], field: str) -> Iterable[Item]:
    """Refuse one text where several are expected: its letters are not what was meant."""
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        message = f"{field}: expected a list, got {type(items).__name__}"
        raise InvalidInputError(message, field=field)
    return items


def plan_id_of(plan: ForgettingPlan | str) -> PlanId:
    """Take a plan by value or by id."""
    return PlanId(listing.check_id(plan if isinstance(plan, str) else plan.id))


def many(ids: Iterable[str] | str) -> list[str]:
    """Take one id, or several."""
    return [ids] if isinstance(ids, str) else [*ids]


def to_draft(item: str | Draft | Mapping[str, object]) -> Draft:
    """Take a text, a mapping or a draft as a draft."""
    if isinstance(item, Draft):
        return item
    return make_draft(item, {}) if isinstance(item, str) else draft_from_mapping(item)
