"""Survival: a potential that use feeds and every turn of the conversation wears down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sfams.core.columns import Columns, Floats, Ints, Need
from sfams.core.models.parameters import Parametric, check, check_range
from sfams.core.models.signals import ageing, unit
from sfams.core.moments import to_micros
from sfams.core.record import JsonValue
from sfams.core.retention import Scores, finished
from sfams.errors import InvalidPolicyError

CAPACITY = 300
"""Records that the paper's memory holds; the budget of the preset `survival`."""

TYPE_PRIORS: Mapping[str, float] = {
    "person": 0.4,
    "organization": 0.3,
    "place": 0.2,
    "date": 0.4,
    "money": 0.4,
    "product": 0.2,
}
"""How much an entity of a type adds; the paper does not print its own, these are ours."""


class Standing(StrEnum):
    """Standing of a memory among the others of its scope, by ranked importance."""

    CORE = "core"
    IMPORTANT = "important"
    SECONDARY = "secondary"
    IRRELEVANT = "irrelevant"


SHARES: Mapping[Standing, float] = {
    Standing.CORE: 0.1062,
    Standing.IMPORTANT: 0.1425,
    Standing.SECONDARY: 0.4922,
    Standing.IRRELEVANT: 0.2591,
}
"""Shares of the four in the paper's memory; the last takes what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival(Parametric):
    """`phi = max(0, phi + I*usage*diversity - decay)` at each logged turn, as a share of `ceiling`.

    The survival potential of SF-AMS (Yang et al. 2026, arXiv 2607.22562). Its step is a turn that a
    session logs, never a score that is computed: between two turns nothing changes, and without
    sessions nothing decays. It is replayed from what is kept of a record, the turn at which it came and
    the latest turns with an access (`sfams.core.traces`); it starts as if used once on arrival.

    - importance `I = alpha*S + (1-alpha) * (sum of type_priors of the entity types it names)`, at most
      1; S is the importance that was given, by a judge where there is one, or estimated.
    - usage in a turn: `min(1, shown_gain * shown + used_gain * used)`; what was used before the turns
      that are kept counts as used at the first of these, where it is worth no more than `ceiling`.
    - diversity: `1 - similarity` to its twin.
    - decay: `decay` a turn, and `steady` times that for kinds that do not age.

    phi never rises above `ceiling`, and accesses are worth at most `access_cap` of the score.

    Raises:
        InvalidPolicyError: A parameter is out of range.
    """

    name = "survival"
    needs = frozenset({Need.TURNS, Need.ENTITIES})

    alpha: float = 0.7
    decay: float = 0.003
    steady: float = 0.25
    shown_gain: float = 0.25
    used_gain: float = 1.0
    ceiling: float = 2.0
    access_cap: float = 0.5
    type_priors: Mapping[str, float] = field(default_factory=lambda: dict(TYPE_PRIORS))

    def __post_init__(self) -> None:
        """Check every parameter, so that no score can be anything but finite."""
        check_range(self, 0.0, 1.0, "alpha", "steady", "access_cap")
        check_range(self, 0.0, 1e3, "decay", "shown_gain", "used_gain")
        check_range(self, 1.0, 1e3, "ceiling")
        given: object = self.type_priors
        if not isinstance(given, Mapping):
            message = "type_priors: must be a table of numbers by type of entity"
            raise InvalidPolicyError(message, field="type_priors")
        for name, prior in self.type_priors.items():
            check(f"type_priors.{name}", prior, low=0.0, high=1.0)

    def parameters(self) -> dict[str, JsonValue]:
        """All of them by name, the priors as a table of its own."""
        return {**Parametric.parameters(self), "type_priors": dict(self.type_priors)}

    def importance(self, columns: Columns) -> Floats:
        """Weigh every row: what was given or estimated, and the types of entities that it names."""
        types = columns.named()
        priors = [sum(self.type_priors.get(each, 0.0) for each in named) for named in types.sets]
        of_types = np.array([*priors, 0.0])[types.codes]
        return unit(self.alpha * unit(columns.importance) + (1.0 - self.alpha) * of_types)

    def standings(self, columns: Columns) -> list[Standing]:
        """Rank the rows by importance and cut them into the paper's four shares."""
        order = np.argsort(-self.importance(columns), kind="stable")
        places = np.empty(len(columns), np.intp)
        places[order] = np.arange(len(columns))
        limits = np.cumsum([SHARES[each] for each in Standing][:-1]) * len(columns)
        names = list(Standing)
        return [names[code] for code in np.searchsorted(limits, places, side="right")]

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score every row at the turn that the scope has reached; see the class for the formula."""
        strength = self.importance(columns) * (1.0 - unit(columns.similarity))
        loss = np.where(ageing(columns), self.decay, self.decay * self.steady)
        uses = columns.by_turn()
        phi, turn = self._replayed(columns, strength, loss)
        alone = _worn(strength, loss, columns.turns - uses.learned) / self.ceiling
        together = _worn(phi, loss, columns.turns - turn) / self.ceiling
        parts = {
            "arrival": alone,
            "accesses": np.clip(together - alone, 0.0, self.access_cap),
        }
        return finished(parts, columns.expires_at <= to_micros(now))

    def _replayed(
        self, columns: Columns, strength: Floats, loss: Floats
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Replay the turns with an access, all rows at a time; gives phi and the turn of the last."""
        uses = columns.by_turn()
        phi, turn = strength.copy(), uses.learned.copy()
        for place in range(int(uses.turns.lengths.max(initial=0))):
            rows, cells = uses.turns.at(place)
            at = np.maximum(uses.turns.values[cells], turn[rows])
            usage = self.shown_gain * uses.shown[cells] + self.used_gain * uses.used[cells]
            worn = _worn(phi[rows], loss[rows], at - turn[rows])
            gained = worn + strength[rows] * np.minimum(usage, uses.over[cells])
            phi[rows], turn[rows] = np.minimum(gained, self.ceiling), at
        return phi, turn


def _worn(phi: Floats, loss: Floats, turns: Ints) -> Floats:
    worn: Floats = np.maximum(phi - loss * np.maximum(turns, 0), 0.0)
    return worn
