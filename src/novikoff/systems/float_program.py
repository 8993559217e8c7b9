"""A system in floats, with the bounds of its variables apart, as HiGHS takes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.core.rows import Indices, Mask, Vector
from novikoff.core.stops import Limits
from novikoff.geometry.suggestion import FloatOptimum, NoOptimum, suggested_optimum
from novikoff.systems.system import System

# A vertex is sought without costs for this many seconds.
_PATIENCE = 3.0
# Dual variables are regarded as 0 below this share of the largest possible one.
NO_PRICE = 1e-9
# Suggestions take at most this share of the time that is left; the rest is for the projection.
SHARE = 0.7


@dataclass(frozen=True, eq=False)
class FloatProgram:
    """The rows ``within`` of a system in floats, with the bounds of its variables apart.

    Attributes
    ----------
    system, within
        The system, and the set of rows, or None for all rows.
    rows : array of int
        The homogeneous rows that are not bounds.
    A, c : CSR matrix, array
        These rows as A w ≤ c, each multiplied by its power of two in ``factors``.
    equal : mask
        The equalities among them.
    lower, upper : array of shape (p,)
        The bounds; infinite where there is none.
    lower_rows, upper_rows : array of int of shape (p,)
        The homogeneous rows of the bounds, or −1.
    """

    system: System
    within: Mask | None
    rows: Indices
    A: Any
    c: Vector
    factors: Vector
    equal: Mask
    lower: Vector
    upper: Vector
    lower_rows: Indices
    upper_rows: Indices

    @classmethod
    def of(cls, system: System, within: Mask | None) -> FloatProgram | None:
        """The program of the rows; None if floats cannot hold its numbers."""
        p, e = system.p, system.homogenising_row
        is_used = np.ones(e, dtype=np.bool_) if within is None else within[:e].copy()
        is_bound = system.numbers[:e] >= system.stated.m
        X: Any = sp.csr_array(system.passes.X)
        c = X[:, [p]].toarray().ravel()[:e] * float(system.unit)
        rows, bounds = np.flatnonzero(is_used & ~is_bound), np.flatnonzero(is_used & is_bound)
        A: Any = -X[rows][:, :p]
        sizes = np.maximum(np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel()), 0.0)
        if not (np.isfinite(sizes).all() and np.isfinite(c).all()):
            return None
        factors = np.ldexp(1.0, -np.frexp(np.where(sizes > 0.0, sizes, 1.0))[1])
        lower, upper = np.full(p, -np.inf), np.full(p, np.inf)
        lower_rows, upper_rows = np.full(p, -1), np.full(p, -1)
        variables = (system.numbers[bounds] - system.stated.m) % p
        coefficients = -np.asarray(X[bounds].tocsr()[:, :p].sum(axis=1)).ravel()
        values = c[bounds] / coefficients
        above = (coefficients > 0.0) | system.equalities[bounds]
        below = (coefficients < 0.0) | system.equalities[bounds]
        upper[variables[above]], upper_rows[variables[above]] = values[above], bounds[above]
        lower[variables[below]], lower_rows[variables[below]] = values[below], bounds[below]
        scaled: Any = sp.csr_array(sp.diags_array(factors) @ A)
        equal = system.equalities[rows]
        return cls(
            system, within, rows, scaled, c[rows] * factors, factors, equal,
            lower, upper, lower_rows, upper_rows,
        )  # fmt: skip

    @property
    def n_columns(self) -> int:
        """The number of rows and bounds, which are columns of the program of Gleeson and Ryan."""
        n_bounds = int((self.lower_rows >= 0).sum() + (self.upper_rows >= 0).sum())
        return len(self.rows) + int(self.equal.sum()) + n_bounds

    @cached_property
    def bounds(self) -> Vector:
        """The bounds as SciPy takes them."""
        return np.column_stack([self.lower, self.upper])

    def vertex(self, limits: Limits, slack: float = 0.0) -> FloatOptimum | NoOptimum | None:
        """A vertex of the system, in floats, with some slack on each inequality except bounds.

        Without costs, the dual simplex method may take very long, because all its steps tie. Then
        random costs are used, for which no variable moves towards infinity.
        """
        rows: dict[str, Any] = {
            "A_ub": self.A[~self.equal],
            "b_ub": self.c[~self.equal] - slack,
            "A_eq": self.A[self.equal],
            "b_eq": self.c[self.equal],
            "bounds": self.bounds,
        }
        zeros = np.zeros(self.system.p)
        answer = suggested_optimum(zeros, limits, most_seconds=_PATIENCE, **rows)
        if answer is not None or limits.reached() is not None:
            return answer
        away = np.where(np.isfinite(self.upper), -1.0, 0.0)
        signs = np.where(np.isfinite(self.lower), 1.0, away)
        costs = signs * np.random.default_rng(0).random(len(signs))
        return suggested_optimum(costs, limits, **rows)


def dual_variables(program: FloatProgram, answer: FloatOptimum) -> Vector:
    """The dual variables of the scaled rows of a program, in their order."""
    prices = np.zeros(len(program.rows))
    n_below = int((~program.equal).sum())
    prices[~program.equal], prices[program.equal] = np.split(answer.prices, [n_below])
    return prices
