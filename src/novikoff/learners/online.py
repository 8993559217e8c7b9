"""One example at a time: predict x, see y, update (A5).

The kernels here sum from left to right, so that learning a stream row by row equals
``partial_fit`` on the same rows, bit for bit (averages up to rounding).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core.rows import Indices, Vector
from novikoff.learners.schemes import Binary, OneVsOne, Scheme

# Views into the weights, to be made anew after a copy.
_VIEWS = ("w", "exact")


class Rules:
    """The weights of a scheme's rules, able to grow by features and by classes.

    Attributes
    ----------
    scheme : Scheme
        Which binary problems the rules belong to.
    sides : array of shape (n_classes, n_rules)
        The scheme's table of signs.
    n_features : int
        The features known so far.
    bias : float
        1 with an intercept, 0 without.
    tally : array of shape (3, n_rules)
        Steps, updates and mistakes of each rule.
    plain : bool
        Whether there is just one rule, ``w``, for two classes and nothing to average.
    exact : array
        That rule's weights, or empty while there is spare room in them.
    """

    def __init__(self, scheme: Scheme, n_features: int, average: bool, fit_intercept: bool) -> None:
        self.scheme = scheme
        self.sides = scheme.sides
        self.n_features = n_features
        self.bias = float(fit_intercept)
        n_rules = self.sides.shape[1]
        self.tally = np.zeros((3, n_rules), dtype=np.int64)
        self._hold(
            np.zeros((n_features + 1, n_rules)),
            np.zeros((n_features + 1 if average else 0, n_rules)),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rules and of features."""
        return self.sides.shape[1], self.n_features

    @property
    def averages(self) -> bool:
        """Whether the average over all steps is kept."""
        return len(self._lazy) > 0

    @property
    def W(self) -> Vector:  # noqa: N802 — the letter of the theorems
        """(n_features + 1, n_rules): the weights, biases last."""
        self._make_room(self.n_features)
        return self._W

    @property
    def lazy(self) -> Vector:
        """Σ (step number)·τ·a_i of each rule, or empty."""
        self._make_room(self.n_features)
        return self._lazy

    @property
    def held(self) -> tuple[Vector, Vector]:
        """W and lazy in place, with rows of zeros to spare before their last, the biases."""
        return self._W, self._lazy

    def adopt(self, W: Vector, lazy: Vector, tally: Indices) -> None:
        """Go on from the weights of a training that began with these.

        Its step numbers began from 0, so that T·(what was added to W) is missing from its
        sum when T steps had gone before.
        """
        if self.averages:
            lazy = self.lazy + self.tally[0] * (W - self.W) + lazy
        self._hold(W, lazy)
        self.tally = self.tally + tally

    def decisive(self) -> Vector:
        """The weights that predict: the average over all steps where it is kept, or w."""
        if not self.averages:
            return self.W
        averaged: Vector = self.W - self.lazy / np.maximum(self.tally[0], 1)
        if not np.isfinite(averaged).all():
            raise ValueError("The averaged weights are beyond float64: scale the data down.")
        return averaged

    def learn(
        self,
        columns: Indices,
        values: Vector,
        code: int,
        margin: float,
        step: float,
    ) -> bool:
        """Show one example of class ``code``.

        False, and nothing is done, if a score or what an update would add up to is not finite.
        """
        sides, W, lazy = self.sides[code], self._W, self._lazy
        return bool(
            _learn_all(columns, values, sides, W, lazy, self.tally, margin, step, self.bias)
        )

    def score(self, columns: Indices, values: Vector) -> Vector:
        """The scores of one example, as a row."""
        scores = _score_all(columns, values, self._W)
        if self.averages:
            scores -= _score_all(columns, values, self._lazy) / np.maximum(self.tally[0], 1)
        return scores.reshape(1, -1)

    def add_features(self, n_features: int) -> None:
        """Make room for features that were not seen before; their weights are 0.

        With fewer than there are, the last ones are given up; their weights must be 0.
        """
        self.n_features = n_features
        if len(self._W) < n_features + 1:
            self._make_room(2 * n_features)
        self._hold(self._W, self._lazy)

    def with_class(self, position: int, scheme: Scheme) -> Rules:
        """The rules of a larger scheme, with a new class at ``position`` among the old.

        Rules between old classes keep their weights, rules of the new class start from 0.
        """
        grown = Rules(scheme, self.n_features, self.averages, self.bias > 0.0)
        old = [k for k in range(scheme.n_classes) if k != position]
        for rule, new_rule, sign in _heirs(self.scheme, scheme, old):
            grown._W[:, new_rule] = sign * self.W[:, rule]
            if self.averages:
                grown._lazy[:, new_rule] = sign * self.lazy[:, rule]
            grown.tally[:, new_rule] = self.tally[:, rule]
        return grown

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in _VIEWS}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._hold(np.array(self._W), np.array(self._lazy))
        self.plain = bool(state["plain"])  # a vote is never plain, whatever the weights look like

    def _hold(self, W: Vector, lazy: Vector) -> None:
        self._W, self._lazy = W, lazy
        single = self.sides.shape == (2, 1)
        self.plain = single and not self.averages
        self.w = W[:, 0]
        self.exact = self.w if len(W) == self.n_features + 1 else np.empty(0)

    def _make_room(self, n_features: int) -> None:
        """Move the biases so that there is room for exactly ``n_features``."""
        if len(self._W) != n_features + 1:
            lazy = _stretched(self._lazy, n_features) if self.averages else self._lazy
            self._hold(_stretched(self._W, n_features), lazy)


def _stretched(weights: Vector, n_features: int) -> Vector:
    new = np.zeros((n_features + 1, weights.shape[1]))
    kept = min(len(weights) - 1, n_features)
    new[:kept] = weights[:kept]
    new[-1] = weights[-1]
    return new


def _heirs(scheme: Scheme, grown: Scheme, old: list[int]) -> list[tuple[int, int, int]]:
    """Which rule lives on as which, and with which sign; ``old`` are the old classes' codes."""
    if isinstance(grown, Binary):  # there was one class, on the negative side
        return [(0, 0, 1 if old[0] == 0 else -1)]
    if isinstance(grown, OneVsOne):
        before = OneVsOne(scheme.n_classes).pairs
        return [(r, grown.pairs.index((old[a], old[b])), 1) for r, (a, b) in enumerate(before)]
    if isinstance(scheme, Binary):  # either class against the other: mirror images
        return [(0, old[0], -1), (0, old[1], 1)]
    return [(rule, code, 1) for rule, code in enumerate(old)]


def class_factor(weights: Mapping[Hashable, float] | None, label: Hashable) -> float:
    """The factor on the steps of a class: 1 unless it has a weight.

    >>> class_factor({"spam": 2}, "spam"), class_factor({"spam": 2}, "ham")
    (2.0, 1.0)
    """
    given = 1.0 if weights is None else weights.get(label, 1.0)
    try:
        factor = float(given)
    except OverflowError:
        factor = math.inf
    if not 0.0 <= factor < math.inf:
        raise ValueError(
            f"The weight of class {label!r} is {given}: weights must be finite and not negative."
        )
    return factor


@njit(cache=True)
def learn_dense(x: Vector, code: int, w: Vector, margin: float, step: float, bias: float) -> int:
    """One step of one rule on a dense example of class ``code``.

    0 if it was right, 1 if w was updated, 2 if that was for a mistake (m ≤ 0); −1, and
    nothing is done, if x does not fit, m or an updated weight is not finite, or margin or
    step are not what they must be.
    """
    d = len(x)
    if d + 1 != len(w) or not (0.0 <= margin < math.inf and step > 0.0):
        return -1
    sign = 1.0 if code == 1 else -1.0
    m = 0.0
    for j in range(d):
        m += x[j] * w[j]
    m = sign * (m + w[d])
    if m > margin and m < math.inf:
        return 0
    if not (abs(m) < math.inf and abs(w[d] + step * sign * bias) < math.inf):
        return -1
    for j in range(d):
        if not abs(w[j] + step * sign * x[j]) < math.inf:
            return -1
    for j in range(d):
        w[j] += step * sign * x[j]
    w[d] += step * sign * bias
    return 2 if m <= 0.0 else 1


@njit(cache=True)
def score_dense(x: Vector, w: Vector) -> float:
    """The score of a dense example; NaN if x does not fit or the score is not finite."""
    d = len(x)
    if d + 1 != len(w):
        return math.nan
    score = 0.0
    for j in range(d):
        score += x[j] * w[j]
    score += w[d]
    return score if abs(score) < math.inf else math.nan


@njit(cache=True)
def score_sparse(columns: Indices, values: Vector, w: Vector) -> float:
    """The score of an example given by columns; NaN if it is not finite."""
    score = 0.0
    for j in range(len(columns)):
        score += values[j] * w[columns[j]]
    score += w[len(w) - 1]
    return score if abs(score) < math.inf else math.nan


@njit(cache=True)
def _learn_all(
    columns: Indices,
    values: Vector,
    sides: npt.NDArray[np.int8],
    W: Vector,
    lazy: Vector,
    tally: Indices,
    margin: float,
    step: float,
    bias: float,
) -> bool:
    """One step of every rule in which the example's class takes part, or none and False."""
    last = len(W) - 1
    scores = _score_all(columns, values, W)
    for c in range(len(scores)):
        if not abs(scores[c]) < math.inf:
            return False
        tau, t = step * sides[c], tally[0, c]
        if tau != 0.0 and sides[c] * scores[c] <= margin:
            for j in range(len(columns)):
                if not abs(W[columns[j], c] + tau * values[j]) < math.inf:
                    return False
                if len(lazy) > 0 and not abs(lazy[columns[j], c] + t * tau * values[j]) < math.inf:
                    return False
            if not abs(W[last, c] + tau * bias) < math.inf:
                return False
            if len(lazy) > 0 and not abs(lazy[last, c] + t * tau * bias) < math.inf:
                return False
    for c in range(len(scores)):
        if sides[c] == 0 or step == 0.0:  # a class of weight 0 does not take part
            continue
        m = sides[c] * scores[c]
        t = tally[0, c]
        tally[0, c] += 1
        if m <= margin:
            tally[1, c] += 1
            tally[2, c] += m <= 0.0
            tau = step * sides[c]
            for j in range(len(columns)):
                W[columns[j], c] += tau * values[j]
            W[last, c] += tau * bias
            if len(lazy) > 0:
                for j in range(len(columns)):
                    lazy[columns[j], c] += t * tau * values[j]
                lazy[last, c] += t * tau * bias
    return True


@njit(cache=True)
def _score_all(columns: Indices, values: Vector, W: Vector) -> Vector:
    scores = np.zeros(W.shape[1])
    for j in range(len(columns)):
        for c in range(len(scores)):
            scores[c] += values[j] * W[columns[j], c]
    for c in range(len(scores)):
        scores[c] += W[len(W) - 1, c]
    return scores
