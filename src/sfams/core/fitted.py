"""Coefficients of salience and of need, written by `sfams tune importance`: fitted, not set by hand.

Fitted on the texts in benchmarks/quality/texts and on no others; see docs/explanation/adaptive.md.
"""

from typing import Final

RIDGE: Final = 60.0
"""Strength of the ridge that they were fitted with."""

COEFFICIENTS: Final = {
    "question": -0.097,
    "request": -1.037,
    "reaction": -0.072,
    "myself": 0.19,
    "event": 0.387,
    "time": 0.443,
    "others": 0.222,
    "family": 0.071,
    "circumstance": 0.202,
    "negation": 0.18,
    "name": 0.672,
    "new name": 0.412,
    "new words": 0.367,
    "words": 0.456,
    "listener": -0.278,
    "sentences": -0.125,
}
"""Of what is measured of a text (`salience.measures`), in log-odds."""

CENTRE: Final = 2.226
"""The mean of their sum over the texts: what has it has a salience of one half."""

BIAS: Final = -2.134
"""Log-odds that a text of average salience and middling importance is needed later."""

IMPORTANCE: Final = 0.378
"""Weight of the log-odds of importance beside those of salience."""
