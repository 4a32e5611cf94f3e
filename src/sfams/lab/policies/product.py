"""The product's own models in the bench: they score as they do for every user, without a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from sfams.core.columns import Columns, Needs
from sfams.core.record import JsonValue, RecordId
from sfams.core.retention import RetentionModel, Scores
from sfams.lab.policies.base import Arrival

_UNKNOWN = 0.5


class Product:
    """A model of the product. Without the `prior` every record counts as equal in itself."""

    def __init__(
        self, name: str, model: RetentionModel, *, prior: bool = True, window: float = 0.0
    ) -> None:
        """Wrap a model."""
        self._name = name
        self._model = model
        self._prior = prior
        self._window = window

    @property
    def window(self) -> float:
        """The share of the budget that is kept for the newest."""
        return self._window

    @property
    def name(self) -> str:
        """The name in tables."""
        return self._name

    @property
    def needs(self) -> Needs:
        """The model's."""
        return self._model.needs

    def parameters(self) -> dict[str, JsonValue]:
        """The model's."""
        return self._model.parameters()

    def arrive(self, arrival: Arrival) -> None:
        """Take no note: the store keeps what the model needs."""

    def accessed(self, ids: Sequence[RecordId], at: datetime) -> None:
        """Take no note, as above."""

    def score(self, columns: Columns, now: datetime) -> Scores:
        """Score as the product does."""
        if not self._prior:
            same = np.full(len(columns), _UNKNOWN)
            columns = replace(columns, importance=same, salience=same)
        return self._model.score(columns, now)
