"""Operations on dense and CSR matrices of float64 that look the same for both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector, as_dense
from novikoff.core.stops import Limits

# LAPACK is assumed to do this many floating-point operations per second, on one busy core.
_OPERATIONS_PER_SECOND = 1e9
# Rows are multiplied by at most 2 to minus this power, so that the factor is a float.
_LEAST_POWER = -1000


def dense(A: Any) -> Vector:
    """Convert a matrix to an array of float64; such an array is returned as it is."""
    return np.asarray(as_dense(A, np.float64))


def scaled(A: Any, factors: Sequence[float] | Vector) -> Any:
    """Multiply each row by its factor."""
    factors = np.asarray(factors, dtype=np.float64)
    if isinstance(A, np.ndarray):
        return A * factors[:, None]
    from scipy.sparse import csr_array, diags_array

    return csr_array(diags_array(factors) @ csr_array(A))


def row_lengths(A: Any) -> Vector:
    """‖a_i‖ of every row, computed without overflow or underflow.

    Examples
    --------
    >>> lengths = row_lengths(np.array([[3e200, 4e200], [0.0, 0.0]]))
    >>> bool(np.allclose(lengths, [5e200, 0.0]))
    True
    """
    return np.asarray(np.ldexp(*lengths_in_units(A)))


def lengths_in_units(A: Any) -> tuple[Vector, npt.NDArray[np.int64]]:
    """‖a_i‖ of every row as a float times a power of two, so that it cannot overflow.

    The relative error of the float is at most (d + 8)·2⁻⁵³ for rows of d numbers, even if each
    number has a relative error of 2⁻⁵³.

    Returns
    -------
    lengths, powers : array of float, array of int
        ‖a_i‖ is ``lengths[i]``·2^``powers[i]``.

    Examples
    --------
    >>> lengths, powers = lengths_in_units(np.array([[1.5e-323, 0.0], [0.0, 0.0]]))
    >>> float(lengths[0] * 2.0 ** (powers[0] + 1074)), float(lengths[1])
    (3.0, 0.0)
    """
    peaks = dense(abs(A).max(axis=1)).ravel() if A.shape[0] else np.zeros(0)
    powers = np.maximum(np.frexp(peaks)[1], _LEAST_POWER).astype(np.int64)
    unit = scaled(A, np.ldexp(1.0, -powers))
    squares = (unit * unit).sum(axis=1) if isinstance(unit, np.ndarray) else unit.power(2).sum(1)
    return np.sqrt(np.asarray(squares).ravel()), powers


def time_to_factor(n: int, p: int, limits: Limits) -> bool:
    """Whether there is time to factor a dense n × p matrix, which cannot be interrupted."""
    seconds_left = limits.seconds_left()
    seconds = 6.0 * n * p * min(n, p) / _OPERATIONS_PER_SECOND
    return limits.reached() is None and (seconds_left is None or seconds <= seconds_left)
