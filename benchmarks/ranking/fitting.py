"""Fitting: the weights of signals under which what answers stands above what does not.

The function is pure. Two kinds of labels are learned from. Some are closed: all entries that answer are known, so each of the
others is wrong (logistic loss). LoCoMo's are open: its evidence is a part of what answers, so it only has to stand above the rest of its
question (softmax loss, as in ListNet: Cao et al., 2007). A regulariser keeps weights small, and no weight may have another sign than its signal means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Values = NDArray[Any]

_OPEN_WEIGHT = 4.0  # of a question with open labels, beside a result with a closed one
# How much more a missed answer costs than a wrong one. So at a score of 0.5 what is told is worth its place.
_MISSED = 7 / 3
_RIDGE = 1.0
# What speaks against an entry, and how much at least: some kinds are promised, and too rare in the questions to be learned.
_AGAINST = {
    "ahead": 1.5,
    "other_identifier": 6.0,
    "other_people": 2.0,
    "question": 0.0,
    "uncertain": 0.0,
    "unknown_identifier": 3.0,
}
# What does not answer by itself has a largest weight.
_AT_MOST = {"time": 2.0}
_EITHER = frozenset({"without_vector", "without_words", "names", "period"})


@dataclass(frozen=True, slots=True)
class Examples:
    """Results with their labels.

    `signals` has a row for each result and a column for each signal; `answers` is 1 where a result answers, else 0; `questions` numbers
    the questions, in order; `is_open` says whose labels are open; `weights` are how much closed labels count; `folds` number the
    parts that are left out together.
    """

    signals: Values
    answers: Values
    questions: Values
    is_open: Values
    weights: Values
    folds: Values

    def where(self, chosen: Values) -> "Examples":
        """Some of the results."""
        parts = (getattr(self, name)[chosen] for name in self.__slots__)
        return Examples(*parts)


def fit(examples: Examples, names: Sequence[str]) -> Mapping[str, float]:
    """The weights of the signals, by their names, and `intercept`."""
    scale = examples.signals.std(axis=0) + 1e-9
    opened, closed = examples.where(examples.is_open), examples.where(~examples.is_open)

    def loss(parameters: Values) -> tuple[float, Values]:
        weights, intercept = parameters[:-1] / scale, parameters[-1]
        open_loss, open_slope = _softmax_loss(opened, weights)
        closed_loss, closed_slope, slope = _logistic_loss(closed, weights, intercept)
        gradient = (_OPEN_WEIGHT * open_slope + closed_slope) / scale + _RIDGE * parameters[:-1]
        ridge = float(_RIDGE * parameters[:-1] @ parameters[:-1] / 2)
        slopes: Values = np.append(gradient, slope)
        return _OPEN_WEIGHT * open_loss + closed_loss + ridge, slopes

    found = minimize(
        loss,
        np.zeros(len(names) + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[
            *(_bounds(name, one) for name, one in zip(names, scale, strict=True)),
            (None, None),
        ],
    )
    values = [*(found.x[:-1] / scale).tolist(), float(found.x[-1])]
    return {
        name: round(value, 2) for name, value in zip((*names, "intercept"), values, strict=True)
    }


def _bounds(name: str, scale: float) -> tuple[float | None, float | None]:
    if name in _EITHER:
        return None, None
    if name in _AGAINST:
        return None, -_AGAINST[name] * scale
    return 0, _AT_MOST[name] * scale if name in _AT_MOST else None


def _softmax_loss(examples: Examples, weights: Values) -> tuple[float, Values]:
    """Of each right result, the chance that it is chosen before the wrong ones of its question; the mean of a question counts once."""
    if not len(examples.answers):
        return 0.0, np.zeros(len(weights))
    first = np.flatnonzero(np.diff(examples.questions, prepend=-1))
    of = np.repeat(np.arange(len(first)), np.diff(first, append=len(examples.answers)))
    sums = examples.signals @ weights
    powers = np.exp(sums - np.maximum.reduceat(sums, first)[of])
    wrong = powers * (1 - examples.answers)
    right = np.flatnonzero(examples.answers)
    share = 1 / np.add.reduceat(examples.answers, first)[of[right]]
    whole = powers[right] + np.add.reduceat(wrong, first)[of[right]]
    slope = wrong * np.bincount(of[right], share / whole, minlength=len(first))[of]
    slope[right] -= (1 - powers[right] / whole) * share
    return float(-(share * np.log(powers[right] / whole)).sum()), examples.signals.T @ slope


def _logistic_loss(
    examples: Examples, weights: Values, intercept: float
) -> tuple[float, Values, float]:
    sums = examples.signals @ weights + intercept
    costs = examples.weights * np.where(examples.answers == 1, _MISSED, 1.0)
    slope = costs * (1 / (1 + np.exp(-sums)) - examples.answers)
    loss = costs @ (np.logaddexp(0, sums) - examples.answers * sums)
    return float(loss), examples.signals.T @ slope, float(slope.sum())
