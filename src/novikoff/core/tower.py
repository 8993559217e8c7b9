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
from typing import ClassVar

import numpy as np

from novikoff.core.model import Labels, Model
from novikoff.core.pocket import fill_pocket
from novikoff.core.problem import pose, row_blocks
from novikoff.core.rows import Indices, Matrix, Signs, Vector
from novikoff.core.schemes import scheme_for
from novikoff.core.stops import Limits

LARGEST = 1e150  # entries whose squares are still finite
_CANDIDATES = 64  # wrong rows among which the one farthest from all others is taken


class TowerModel(Model):
    """Towers of units, one for each rule; the last unit of a tower has the answer.

    ``units`` has a row for each: the weights of z = (x − centre)/scale, of ‖z‖² and of the answer
    before, and the bias.
    """

    centre: Vector
    scale: Vector
    units: Vector
    rule: Vector  # of each unit, whose it is
    errors: Vector  # and the rows wrong after it

    shapes: ClassVar = {"centre": "d", "scale": "1", "units": "uv", "rule": "u", "errors": "u"}

    def last_scores(self, X: Matrix) -> Vector:
        """The weighted sum of each tower's last unit, whose sign is the answer; 0 is −1."""
        out = np.empty((X.shape[0], self.n_rules))
        for first, last in row_blocks(X):
            Z = _inputs(X[first:last], self.centre, float(self.scale[0]))
            for k in range(self.n_rules):
                before = np.zeros(len(Z))
                for unit in self.units[self.rule == k]:
                    out[first:last, k] = _nets(Z, before, unit)
                    before = np.where(out[first:last, k] > 0.0, 1.0, -1.0)
        return out

    def errors_by_rule(self) -> list[list[int]]:
        """The rows wrong after each unit, by rule."""
        found = self.errors.astype(np.int64)
        return [found[self.rule == k].tolist() for k in range(self.n_rules)]

    def check(self) -> None:
        """Raise ValueError unless each rule has units, and these as many weights as it takes."""
        rules = self.rule.tolist()
        if sorted(set(rules)) != list(range(self.n_rules)) or sorted(rules) != rules:
            raise ValueError("its units are not in the order of its rules")
        if self.units.shape[1] != self.n_features + 3:
            raise ValueError(f"its units do not have {self.n_features + 3} weights")
        if not self.scale[0] > 0.0:
            raise ValueError("its scale is not a positive number")
        errors = self.errors
        if (errors % 1.0 != 0.0).any() or not 0 <= errors.min() <= errors.max() < 2**53:
            raise ValueError("its errors are not counts")


def grow_towers(
    X: Vector,
    targets: Indices,
    classes: Labels,
    *,
    rng: np.random.Generator,
    max_updates: int,
    max_units: int | None = None,
) -> TowerModel:
    """A tower for each class against the rest, or one for two classes.

    Parameters
    ----------
    X, targets : arrays of shape (n, d) and (n,)
        Rows, all different and no entry beyond 1e150 in size, and the codes of their classes.
    classes : array
        The labels.
    rng, max_updates
        The source of randomness, and the updates of the pocket for each unit.
    max_units : int, optional
        The most units of a tower.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> xor, rng = np.array([0, 1, 1, 0]), np.random.default_rng(0)
    >>> grow_towers(X, xor, np.array(["no", "yes"]), rng=rng, max_updates=1000).errors_by_rule()
    [[1, 0]]
    """
    centre = X.mean(axis=0)
    scale = max(math.hypot(*row) for row in (X - centre).tolist()) or 1.0  # so that ‖z‖ ≤ 1
    Z = _inputs(X, centre, scale)
    towers = []
    for sides in scheme_for(len(classes), "ovr").sides.T:
        limits = Limits(updates=max_updates)
        towers.append(_grow(Z, sides[targets], limits, rng, max_units))
    arrays = {
        "centre": centre,
        "scale": np.array([scale]),
        "units": np.vstack([units for units, _ in towers]),
        "rule": np.repeat(np.arange(len(towers)) * 1.0, [len(units) for units, _ in towers]),
        "errors": np.array([count * 1.0 for _, errors in towers for count in errors]),
    }
    return TowerModel(classes, X.shape[1], arrays=arrays)


def _grow(
    Z: Vector, signs: Signs, limits: Limits, rng: np.random.Generator, max_units: int | None
) -> tuple[Vector, list[int]]:
    """Units until all rows are right, a unit gains nothing, or there are ``max_units``."""
    units, errors, before = list[Vector](), list[int](), np.zeros(len(Z))
    constant = 1.0 if (signs > 0).mean() > 0.5 else -1.0
    start: Vector | None = np.append(np.zeros(Z.shape[1] + 1), constant)
    while start is not None and len(units) != max_units:
        problem = pose(np.column_stack([Z, before]), signs, True)
        unit = fill_pocket(problem, limits, rng, start=start).w
        if limits.interrupted:
            raise KeyboardInterrupt
        answers = np.where(_nets(Z, before, unit) > 0.0, 1.0, -1.0)
        wrong = np.flatnonzero(answers != signs)
        if errors and len(wrong) >= errors[-1]:  # rows too close for floats
            break
        units.append(unit)
        errors.append(len(wrong))
        before, start = answers, _farthest(Z, wrong, signs) if len(wrong) > 0 else None
    return np.array(units), errors


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


def _inputs(X: Matrix, centre: Vector, scale: float) -> Vector:
    """Z and ‖z‖², what every unit sees of x."""
    Z = ((X if isinstance(X, np.ndarray) else X.toarray()) - centre) / scale
    return np.column_stack([Z, (Z * Z).sum(axis=1)])


def _nets(Z: Vector, before: Vector, unit: Vector) -> Vector:
    """Weighted sums, each row by itself: the same bits however many rows there are."""
    return np.asarray((Z * unit[:-2]).sum(axis=1) + unit[-2] * before + unit[-1])
