"""A tower of threshold units, grown until all rows are right (A12; Gallant 1990).

The first unit sees the inputs, each further one the inputs and the answer ±1 of the unit before.
The pocket trains them, all on the same labels. A unit that errs less than the one before always
exists. Take a row z* of label y* that is wrong now, and let m be its least squared distance to
another row, D the largest. The unit

    net(z) = y*·(½(D + m) − ‖z − z*‖²) + ½D·(answer before)

is right at z*, where net·y* = ½m, and elsewhere, where the first part is at most ½(D − m) in size,
it answers as the unit before. It is linear in z, ‖z‖² and the answer before, so that units see
‖z‖² too. The pocket begins with this unit and keeps it unless it finds a better one: errors fall
with each unit, and as many units as rows are enough. Floats hold that as long as m is not below
some 10⁻¹⁵·D: whether a unit has gained is seen on the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from novikoff.core.pocket import fill_pocket
from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.core.stops import Limits

LARGEST = 1e150  # entries whose squares are still finite
_CANDIDATES = 64  # wrong rows among which the one farthest from all others is taken


@dataclass(eq=False)
class Tower:
    """Units of one rule, from the first to the last, which has the answer.

    ``units`` has a row for each: the weights of z = (x − centre)/scale, of ‖z‖² and of the answer
    before, and the bias. ``errors`` has the rows that were wrong after each unit.
    """

    centre: Vector
    scale: float
    units: Vector
    errors: list[int] = field(default_factory=list)

    def scores(self, X: Vector) -> Vector:
        """The weighted sum of the last unit, whose sign is the answer; 0 is −1."""
        Z = self.inputs(X)
        net, before = np.zeros(len(Z)), np.zeros(len(Z))
        for unit in self.units:
            net = _nets(Z, before, unit)
            before = np.where(net > 0.0, 1.0, -1.0)
        return net

    def inputs(self, X: Vector) -> Vector:
        """Z and ‖z‖², what every unit sees of x."""
        Z = (X - self.centre) / self.scale
        return np.column_stack([Z, (Z * Z).sum(axis=1)])


def grow_tower(
    X: Vector,
    signs: Signs,
    *,
    rng: np.random.Generator,
    limits: Limits,
    max_units: int | None = None,
) -> Tower:
    """Add units until all rows are right, a unit gains nothing, or there are ``max_units``.

    Parameters
    ----------
    X, signs : arrays of shape (n, d) and (n,)
        Rows, all different and no entry beyond 1e150 in size, and their labels ±1.
    rng, limits
        The source of randomness, and the updates of the pocket for each unit.
    max_units : int, optional
        When to stop.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> signs = np.array([-1, 1, 1, -1], dtype=np.int8)
    >>> limits, rng = Limits(updates=1000), np.random.default_rng(0)
    >>> grow_tower(X, signs, rng=rng, limits=limits).errors
    [1, 0]
    """
    centre = X.mean(axis=0)
    scale = max(math.hypot(*row) for row in (X - centre).tolist())  # so that ‖z‖ ≤ 1
    tower = Tower(centre, scale or 1.0, np.empty((0, X.shape[1] + 3)))
    Z, before = tower.inputs(X), np.zeros(len(X))
    constant = np.append(np.zeros(Z.shape[1] + 1), 1.0 if (signs > 0).mean() > 0.5 else -1.0)
    start: Vector | None = constant
    while start is not None and len(tower.units) != max_units:
        problem = pose(np.column_stack([Z, before]), signs, True)
        unit = fill_pocket(problem, limits, rng, start=start).w
        if limits.interrupted:
            raise KeyboardInterrupt
        answers = np.where(_nets(Z, before, unit) > 0.0, 1.0, -1.0)
        wrong = np.flatnonzero(answers != signs)
        if tower.errors and len(wrong) >= tower.errors[-1]:  # rows too close for floats
            break
        tower.units, before = np.vstack([tower.units, unit]), answers
        tower.errors.append(len(wrong))
        start = _farthest(Z, wrong, signs) if len(wrong) > 0 else None
    return tower


def better_unit(Z: Vector, i: int, sign: float) -> tuple[Vector, float]:
    """The unit above that is right at row i too, and the m that it is based on.

    Z has the rows z and their ‖z‖².
    """
    distances = ((Z[:, :-1] - Z[i, :-1]) ** 2).sum(axis=1)
    D, m = float(distances.max()), float(np.delete(distances, i).min())
    bias = sign * (0.5 * (D + m) - Z[i, -1])
    return np.concatenate([2.0 * sign * Z[i, :-1], [-sign, 0.5 * D, bias]]), m


def _farthest(Z: Vector, wrong: Indices, signs: Signs) -> Vector:
    """The better unit for a wrong row that is far from all others."""
    found = [better_unit(Z, i, float(signs[i])) for i in wrong[:_CANDIDATES].tolist()]
    return max(found, key=lambda pair: pair[1])[0]


def _nets(Z: Vector, before: Vector, unit: Vector) -> Vector:
    """Weighted sums, each row by itself: the same bits however many rows there are."""
    return np.asarray((Z * unit[:-2]).sum(axis=1) + unit[-2] * before + unit[-1])
