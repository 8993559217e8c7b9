"""Linear programs in floats that suggest where linear functions change their signs.

Objective
    Minimise Σ_k max(0, 1 + s_k·⟨c_k, z⟩) subject to R z ≥ 1, for some linear functions c_k, where
    s_k are their signs at a known point.
Input
    R, the linear functions and the known point.
Output
    A `Suggestion`: a point at which some functions may have another sign, and rows of R of which a
    function may be a combination. Nothing here is proved: `novikoff.geometry.recession_span` checks
    both in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.geometry.suggestion import FloatOptimum, suggested_optimum

# The methods of SciPy that solve these programs in turns, and the seconds of the first attempt.
_METHODS, _FIRST_SECONDS = ("highs-ipm", "highs-ds"), 16.0
# Multipliers of a linear program below this share of the largest are treated as rounding errors.
_FIRM = 1e-9


class ScaledRows(NamedTuple):
    """Rows whose entries are about 1, and the powers of two that multiply their columns."""

    rows: Any
    factors: npt.NDArray[np.float64]


class Suggestion(NamedTuple):
    """What a linear program suggests: a point, the functions with another sign there, and rows."""

    z: list[Fraction]
    changed: npt.NDArray[np.bool_]
    rows: Indices


def scaled_rows(R: Any) -> ScaledRows:
    """Multiply the columns of a matrix by powers of two, and divide its rows by their maxima."""
    import scipy.sparse as sp

    scaled: Any = sp.csr_array(R)
    sizes = np.asarray(abs(scaled).max(axis=0).todense()).ravel()
    factors = np.ldexp(1.0, -np.frexp(sizes)[1])
    scaled = sp.csr_array(scaled @ sp.diags_array(factors))
    lengths = np.asarray(abs(scaled).max(axis=1).todense()).ravel()
    return ScaledRows(sp.csr_array(sp.diags_array(1.0 / lengths) @ scaled), factors)


class SignProgram:
    """Linear programs about scaled rows and some linear functions, whose signs are known at z."""

    def __init__(
        self,
        scaled: ScaledRows,
        z: Sequence[Fraction],
        functions: Sequence[Mapping[int, Fraction]],
    ) -> None:
        import scipy.sparse as sp

        self.scaled = scaled
        positions = [(k, j) for k, c in enumerate(functions) for j in c]
        # Only the direction of a function matters.
        values = [float(v / max(map(abs, c.values()))) for c in functions for v in c.values()]
        shape = (len(functions), scaled.rows.shape[1])
        T: Any = sp.csr_array((values, tuple(zip(*positions, strict=True))), shape=shape)
        T = T @ sp.diags_array(scaled.factors)
        signs = [1.0 if product(c, z) > 0 else -1.0 for c in functions]
        self.T: Any = sp.csr_array(
            sp.diags_array(np.array(signs) / abs(T).max(axis=1).toarray().ravel()) @ T
        )

    def solve(self, chosen: Indices, limits: Limits) -> Suggestion | None:
        """Minimise the sum over the chosen functions; None if the solver fails."""
        import scipy.sparse as sp

        R, T = self.scaled.rows, self.T[chosen]
        (k, q), n = T.shape, R.shape[0]
        A: Any = sp.block_array([[-R, None], [T, -sp.eye_array(k)]], format="csr")
        bounds: Any = [(None, None)] * q + [(0.0, None)] * k
        costs, right = np.append(np.zeros(q), np.ones(k)), np.full(n + k, -1.0)
        answer = suggested_optimum(
            costs, limits, A_ub=A, b_ub=right, bounds=bounds,
            first_seconds=_FIRST_SECONDS, methods=_METHODS,
        )  # fmt: skip
        if not isinstance(answer, FloatOptimum):
            return None
        u, multipliers = answer.x[:q], np.abs(answer.prices[:n])
        rows = np.flatnonzero(multipliers > _FIRM * multipliers.max(initial=0.0))
        z = [Fraction(value) for value in (u * self.scaled.factors).tolist()]
        return Suggestion(z, self.T @ u < 0.0, rows)


def product(c: Mapping[int, Fraction | int], z: Sequence[Fraction]) -> Fraction:
    """Return the exact value of a linear function at a point."""
    return sum((factor * z[k] for k, factor in c.items()), Fraction(0))
