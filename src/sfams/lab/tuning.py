"""Fitting the content prior: ridge-logistic coefficients of salience on labelled conversations.

A unit counts as needed where people say that it is worth 2, or, where nobody rated it, where it is
evidence of a question. Deterministic: there is no chance in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent

import numpy as np

from sfams.core import fitted
from sfams.core.columns import Floats
from sfams.core.importance import prior, words_of
from sfams.core.indexing import spoken_terms
from sfams.core.salience import Surroundings, log_odds, salience
from sfams.core.style import Style, Tally
from sfams.errors import InvalidInputError
from sfams.lab.datasets.values import Conversation, Dataset

RIDGE = fitted.RIDGE
_WORTH = 2
_STEPS = 100
_CLOSE = 1e-9
_DIGITS = 3

Progress = Callable[[int], object]
"""Called with the number of fits done since the last call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """Coefficients by name, in log-odds, and how well they do on conversations that were left out."""

    coefficients: Mapping[str, float]
    centre: float
    bias: float
    importance: float
    ridge: float
    texts: int
    needed: int
    ranked: float
    """Chance that a needed text of a left-out conversation stands above one that is not (AUC)."""
    ranked_by_importance: float
    """The same by importance alone."""

    def module(self) -> str:
        """Write `sfams.core.fitted` anew."""
        rows = "\n".join(f'    "{name}": {value},' for name, value in self.coefficients.items())
        return _MODULE.format(
            ridge=self.ridge,
            rows=rows,
            centre=self.centre,
            bias=self.bias,
            importance=self.importance,
        )


@dataclass(frozen=True, slots=True)
class _Heard:
    """Measures of the units of one conversation, and which of them were needed."""

    names: tuple[str, ...]
    matrix: Floats
    needed: Floats


def fit_importance(
    datasets: Sequence[Dataset], ridge: float = RIDGE, progress: Progress | None = None
) -> Fit:
    """Fit the coefficients, and cross-validate over conversations.

    Raises:
        InvalidInputError: Fewer than two conversations, no unit that was needed, or a ridge that is
            not above zero.
    """
    if not ridge > 0:
        message = f"ridge: must be above zero, got {ridge}"
        raise InvalidInputError(message, field="ridge")
    told = [_listen(each) for dataset in datasets for each in dataset]
    _check(told)
    everything = _solve(told, ridge)
    _report(progress)
    ranks, plain = [], []
    for left_out in told:
        weights = _solve([each for each in told if each is not left_out], ridge)
        _report(progress)
        ranks.append(_auc(left_out.matrix @ weights[1:], left_out.needed))
        plain.append(_auc(left_out.matrix[:, -1], left_out.needed))
    names = told[0].names
    rounded = np.round(everything, _DIGITS)
    matrix = np.vstack([each.matrix for each in told])
    centre = round(float((matrix[:, :-1] @ rounded[1:-1]).mean()), _DIGITS)
    needed = np.concatenate([each.needed for each in told])
    return Fit(
        coefficients=dict(zip(names[:-1], rounded[1:-1].tolist(), strict=True)),
        centre=centre,
        bias=round(float(rounded[0]) + centre, _DIGITS),
        importance=float(rounded[-1]),
        ridge=ridge,
        texts=len(needed),
        needed=int(needed.sum()),
        ranked=float(np.nanmean(ranks)),
        ranked_by_importance=float(np.nanmean(plain)),
    )


def fits(datasets: Sequence[Dataset]) -> int:
    """Count the fits of `fit_importance`, for a progress bar."""
    return 1 + sum(len(dataset.conversations) for dataset in datasets)


def _listen(conversation: Conversation) -> _Heard:
    """Measure every unit against what was said before it, as a memory does."""
    everybody, speakers = Tally(), dict[str, Tally]()
    known: set[int] = set()
    rows: list[list[float]] = []
    names: tuple[str, ...] = ()
    for unit in conversation.units:
        terms = set(spoken_terms(unit.who, unit.text).ids.tolist())
        style = Style(everybody, speakers.get(unit.who, Tally()))
        heard = salience(unit.text, words_of(unit.text), terms, Surroundings(style, known))
        names = (*heard.measured, "importance")
        rows.append([*heard.measured.values(), log_odds(prior(unit.text).importance)])
        everybody = everybody.plus(heard.tally)
        speakers[unit.who] = style.speaker.plus(heard.tally)
        known |= terms
    return _Heard(names, np.array(rows), np.array([*_needed(conversation)], np.float64))


def _needed(conversation: Conversation) -> Iterator[bool]:
    evidence = {each for question in conversation.questions for each in question.evidence}
    for unit in conversation.units:
        label = conversation.labels.get(unit.id)
        worth = None if label is None else label.worth
        yield unit.id in evidence if worth is None else worth >= _WORTH


def _check(told: Sequence[_Heard]) -> None:
    if len(told) < 2:  # noqa: PLR2004  (one to fit on, one to try)
        message = "dataset: needs at least two conversations, to fit on one and try on another"
        raise InvalidInputError(message, field="dataset")
    needed = sum(float(each.needed.sum()) for each in told)
    if not needed or needed == sum(len(each.needed) for each in told):
        message = "dataset: needs units that are needed later and units that are not"
        raise InvalidInputError(message, field="dataset")


def _solve(told: Sequence[_Heard], ridge: float) -> Floats:
    """Fit by Newton's method on standardised measures; gives intercept and raw coefficients."""
    raw = np.vstack([each.matrix for each in told])
    needed = np.concatenate([each.needed for each in told])
    mean, spread = raw.mean(0), raw.std(0)
    spread[spread == 0.0] = 1.0
    matrix = np.column_stack((np.ones(len(raw)), (raw - mean) / spread))
    penalty = np.diag([1e-6, *[ridge] * raw.shape[1]])
    weights = np.zeros(matrix.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-(matrix @ weights)))
        slope = matrix.T @ (chance - needed) + penalty @ weights
        bend = (matrix * (chance * (1 - chance))[:, None]).T @ matrix + penalty
        step = np.linalg.solve(bend, slope)
        weights = weights - step
        if np.abs(step).max() < _CLOSE:
            break
    coefficients = weights[1:] / spread
    return np.concatenate(([weights[0] - float((coefficients * mean).sum())], coefficients))


def _auc(scores: Floats, needed: Floats) -> float:
    """Chance that a needed text scores above another; ties count half. NaN without either."""
    above, below = scores[needed == 1], scores[needed == 0]
    if not len(above) or not len(below):
        return float("nan")
    wins = (above[:, None] > below).mean() + 0.5 * (above[:, None] == below).mean()
    return float(wins)


def _report(progress: Progress | None) -> None:
    if progress is not None:
        progress(1)


_MODULE = dedent(
    '''\
    """Coefficients of salience and of need, written by `sfams tune importance`: fitted, not set by hand.

    Fitted on the texts in benchmarks/quality/texts and on no others; see docs/explanation/adaptive.md.
    """

    from typing import Final

    RIDGE: Final = {ridge}
    """Strength of the ridge that they were fitted with."""

    COEFFICIENTS: Final = {{
    {rows}
    }}
    """Of what is measured of a text (`salience.measures`), in log-odds."""

    CENTRE: Final = {centre}
    """The mean of their sum over the texts: what has it has a salience of one half."""

    BIAS: Final = {bias}
    """Log-odds that a text of average salience and middling importance is needed later."""

    IMPORTANCE: Final = {importance}
    """Weight of the log-odds of importance beside those of salience."""
    '''
)
