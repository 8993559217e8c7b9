"""The perceptron in plain NumPy: every fast path must equal it. It imports nothing of novikoff.

A row is a_i = y_i·[x_i, 1]. Its margin ⟨a_i, w⟩ is summed from left to right, with the bias last.
If the margin is not above the threshold of the rule, the rule moves w by τ·a_i.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Perceptron(NamedTuple):
    threshold: float = 0.0
    step_size: float = 1.0


class Aggressive(NamedTuple):
    step_size: float = 1.0


class PA(NamedTuple):
    pass


class PA1(NamedTuple):
    C: float = 1.0


class PA2(NamedTuple):
    C: float = 1.0


class Relaxation(NamedTuple):
    eta: float = 1.0
    threshold: float = 0.0


Rule = Perceptron | Aggressive | PA | PA1 | PA2 | Relaxation


class Act(NamedTuple):
    row: int
    margin: float
    tau: float


class Reference(NamedTuple):
    w: Vector
    acts: list[Act]
    steps: int
    mean: Vector  # of w after every step
    clean: bool  # whether it ended with a clean cycle

    @property
    def mistakes(self) -> int:
        return sum(act.margin <= 0 for act in self.acts)


def signed(X: npt.ArrayLike, signs: npt.ArrayLike, fit_intercept: bool) -> Vector:
    """Build the matrix of rows a_i."""
    x = np.asarray(X, dtype=np.float64)
    y = np.asarray(signs, dtype=np.float64)
    return np.column_stack([x, np.full(len(x), float(fit_intercept))]) * y[:, None]


def margins(A: Vector, w: Vector) -> Vector:
    """Sum each ⟨a_i, w⟩ from left to right, one rounding per term."""
    return np.asarray(np.add.accumulate(A * w, axis=1)[:, -1])


def cost(A: Vector, w: Vector, costs: Vector) -> float:
    """Return the sum of the costs of the rows that w misclassifies."""
    return float(costs[margins(A, w) <= 0.0].sum())


def threshold(rule: Rule) -> float:
    match rule:
        case Perceptron(threshold, _) | Relaxation(_, threshold):
            return threshold
        case Aggressive():
            return math.inf
        case _:  # passive-aggressive: m < 1
            return math.nextafter(1.0, 0.0)


def tau(rule: Rule, m: float, sq: float) -> float:
    match rule:
        case Perceptron(_, step_size) | Aggressive(step_size):
            return step_size
        case PA():
            return (1.0 - m) / sq
        case PA1(C):
            return min(C, (1.0 - m) / sq)
        case PA2(C):
            return (1.0 - m) / (sq + 1.0 / (2.0 * C))
        case Relaxation(eta, threshold):
            return eta * (threshold - m) / sq


def oracle(
    A: Vector,
    order: str | Iterable[Iterable[int]],
    rule: Rule,
    *,
    start: Vector | None = None,
    sample_weight: Vector | None = None,
    candidates: Indices | None = None,
    max_updates: float = math.inf,
) -> Reference:
    """Run over epochs of row numbers, or by the name of a maximal rule (epochs of one).

    The run ends after an epoch without an act if no row of the candidates is a mistake; or at the
    end of the epochs; or at ``max_updates``.
    """
    w = np.zeros(A.shape[1]) if start is None else np.array(start, dtype=np.float64)
    c = np.ones(len(A)) if sample_weight is None else sample_weight
    rows = [int(i) for i in (range(len(A)) if candidates is None else candidates) if c[i] > 0]
    delta = threshold(rule)
    acts: list[Act] = []
    steps, total = 0, np.zeros(len(w))
    for epoch in _worst(A, order, rows, delta, w) if isinstance(order, str) else order:
        before = len(acts)
        for i in map(int, epoch):
            if c[i] == 0:  # not part of the problem, so not a step either
                continue
            m = float(margins(A[i : i + 1], w)[0])
            if not m > delta:
                acts.append(Act(i, m, tau(rule, m, float(A[i] @ A[i])) * c[i]))
                w += acts[-1].tau * A[i]
            steps += 1
            total += w
            if len(acts) >= max_updates:
                return Reference(w, acts, steps, total / steps, False)
        if len(acts) == before and (margins(A, w)[rows] > delta).all():
            return Reference(w, acts, steps, total / steps, True)
    return Reference(w, acts, steps, total / max(steps, 1), isinstance(order, str))


def _worst(A: Vector, order: str, rows: list[int], delta: float, w: Vector) -> Iterator[list[int]]:
    lengths = {"max_distance": np.linalg.norm(A, axis=1), "max_residual": np.ones(len(A))}[order]
    shift = delta if math.isfinite(delta) else 0.0
    while bad := [i for i in rows if not margins(A, w)[i] > delta]:
        score = (margins(A, w) - shift) / lengths
        yield [min(bad, key=lambda i: float(score[i]))]
