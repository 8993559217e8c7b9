"""One step of every rule on one example: the loop of a stream that comes one by one (A5)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from novikoff.core.linear_model import TOO_LARGE, LinearModel
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.core.updates import Update, tau

FACTOR = 6  # the place of the factor in the numbers


def numbers_of(update: Update, factor: float, fit_intercept: bool) -> Vector:
    """An update, a factor on its step and the bias, as one array: Numba unboxes it faster."""
    return np.array([*update, factor, float(fit_intercept)])


def learn_one(
    model: LinearModel, columns: Indices, values: Vector, code: int, numbers: Vector
) -> tuple[Vector, int]:
    """Learn one example of a class: its scores by W before, and how many rules it moved.

    Empty ``columns`` mean a dense vector; ``numbers`` come from `numbers_of`.
    ValueError, and nothing is done, if a number would leave float64.
    """
    scores = np.empty(model.W.shape[1])
    moved = step_of_every_rule(
        columns, values, model.sides[code], model.W, model.weighted, model.totals, numbers, scores
    )
    if moved < 0:
        raise ValueError(TOO_LARGE)
    if moved > 0:
        with np.errstate(over="ignore"):
            length = math.sqrt(float(values.dot(values)) + model.fit_intercept)
        model.radius = max(model.radius, length * (1.0 + (len(values) + 5) * 2**-52))
    return scores, moved


@njit(cache=True, nogil=True)
def step_of_every_rule(
    columns: Indices, values: Vector, sides: Signs, W: Vector, weighted: Vector, totals: Indices,
    numbers: Vector, scores: Vector,
) -> int:  # fmt: skip
    """One step of every rule: how many were updated, −1 if a number would leave float64."""
    update = Update(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5])
    factor, bias, last = numbers[FACTOR], numbers[FACTOR + 1], len(W) - 1
    steps, squared, beyond, updates = np.zeros(len(sides)), bias, 0.0, 0
    for x in values:
        squared += x * x
    for c in range(len(sides)):
        scores[c] = bias * W[last, c]
        for j in range(len(values)):
            scores[c] += values[j] * W[columns[j] if len(columns) > 0 else j, c]
        beyond += scores[c] - scores[c]  # 0, or NaN once a number is not finite
        m = sides[c] * scores[c]
        if sides[c] != 0 and m <= update.threshold:
            steps[c] = sides[c] * factor * tau(update, m, squared)
    for writing in (False, True):  # once to see whether all numbers stay within float64
        for c in range(len(sides)):
            for j in range(len(values) + 1 if steps[c] != 0.0 else 0):
                at = columns[j] if j < len(columns) else j
                at, x = (last, bias) if j == len(values) else (at, values[j])
                moved, t = W[at, c] + steps[c] * x, totals[0, c]
                late = weighted[at, c] + t * steps[c] * x if len(weighted) > 0 else 0.0
                beyond += (moved - moved) + (late - late)
                if writing:
                    W[at, c] = moved
                    if len(weighted) > 0:
                        weighted[at, c] = late
        if beyond != 0.0:
            return -1
    for c in range(len(sides)):
        m = sides[c] * scores[c]
        acts = sides[c] != 0 and m <= update.threshold
        updates += acts
        totals[0, c] += sides[c] != 0
        totals[1, c] += acts
        totals[2, c] += acts and m <= 0.0
    return updates
