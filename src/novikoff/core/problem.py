"""A separation problem: signed rows, checked once, with the numbers every bound needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from numba import njit

from novikoff.core import rows as _rows
from novikoff.core.blocks import Coded
from novikoff.core.rows import Floats, Rows, SparseMatrix, Vector

# Below this many bytes a thread costs more than it gives.
_WORTHWHILE = 1 << 23
_ULP = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Problem:
    """The rows a_i with R = max‖a_i‖, rounded up.

    Attributes
    ----------
    rows : Dense or Csr
        The signed, padded view of the data.
    radius : float
        R, never below the true value; infinite where it is beyond float64.
    longest : int
        The largest number of terms in a product ⟨a_i, w⟩.
    """

    rows: Rows
    radius: float
    longest: int

    @property
    def n(self) -> int:
        """The number of rows."""
        return _rows.count(self.rows)

    @property
    def p(self) -> int:
        """The length of a weight vector."""
        return _rows.width(self.rows)

    @property
    def unit(self) -> float:
        """A power of two near R: in this unit, products of rows stay within float64."""
        radius = min(self.radius, 2.0**1000)
        return math.ldexp(1.0, math.frexp(radius)[1] - 1) if radius > 0.0 else 1.0

    def resigned(self, signs: npt.NDArray[np.int8]) -> Problem:
        """The same rows under other signs; norms do not depend on them."""
        return replace(self, rows=_rows.resigned(self.rows, signs))

    def rounding(self) -> float:
        """A factor c such that any two ways to sum ⟨a_i, w⟩ differ by at most c·‖w‖.

        Each is within γ_k·‖a_i‖‖w‖ of the truth, γ_k = ku/(1 − ku) for k terms (Higham,
        Accuracy and Stability of Numerical Algorithms, §3.1); twice that, doubled again
        to cover the rounding of the bound itself.
        """
        return 2.0 * (self.longest + 4) * _ULP * self.radius


def pose(
    X: Floats | SparseMatrix,
    signs: npt.NDArray[np.int8],
    fit_intercept: bool,
    *,
    names: Sequence[str] | None = None,
    threads: int = 1,
    first: int = 0,
) -> Problem:
    """Check the data in one pass and pose the problem.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite; the message names its row, counted from ``first``, and
        its column.

    Examples
    --------
    >>> import numpy as np
    >>> pose(np.array([[3.0, 4.0]]), np.array([1], dtype=np.int8), False).radius >= 5.0
    True
    """
    rows = _rows.view(X, signs, fit_intercept)
    n, p = _rows.count(rows), _rows.width(rows)
    if _rows.nbytes(rows) < _WORTHWHILE:
        threads = 1
    edges = np.linspace(0, n, threads + 1).astype(np.int64).tolist()
    if threads == 1:
        parts = [_scan(rows, 0, n)]
    else:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(lambda k: _scan(rows, edges[k], edges[k + 1]), range(threads)))
    bad = [part[0] for part in parts if part[0] >= 0]
    if bad:
        raise ValueError(_complaint(rows, min(bad), names, first))
    largest_sq = max(part[1] for part in parts)
    largest = max(part[2] for part in parts)
    longest = max(part[3] for part in parts) + 1
    if _says_all(largest_sq):
        radius = math.sqrt(largest_sq)
    else:  # the squares overflow, or vanish: bound the norm by the largest entry
        radius = math.sqrt(longest) * max(largest, float(rows.bias))
    return Problem(rows, _rounded_up(radius, p), longest)


def measured(
    X: Floats | SparseMatrix,
    codes: npt.NDArray[np.int32],
    threads: int = 1,
    first: int = 0,
    *,
    largest_sq: float = math.inf,
) -> Coded:
    """A block of rows with the numbers that every bound needs; errors are those of `pose`.

    ``first`` is the number of its first row among those of all blocks. Whoever has looked at all
    entries of a dense X gives max‖x_i‖² along, as summed up in float64; then nobody looks again.

    Examples
    --------
    >>> import numpy as np
    >>> X, codes = np.array([[3.0, 4.0]]), np.zeros(1, dtype=np.int32)
    >>> measured(X, codes).radius == measured(X, codes, largest_sq=25.0).radius >= 5.0
    True
    """
    if isinstance(X, np.ndarray) and _says_all(largest_sq):
        p = X.shape[1] + 1
        return Coded(X, codes, _rounded_up(math.sqrt(largest_sq), p), p)
    signs = np.ones(len(codes), dtype=np.int8)
    problem = pose(X, signs, False, threads=threads, first=first)
    return Coded(X, codes, problem.radius, problem.longest)


def pose_again(block: Coded, signs: npt.NDArray[np.int8], fit_intercept: bool) -> Problem:
    """Pose the problem of a block that was checked before, without a look at its rows.

    Examples
    --------
    >>> import numpy as np
    >>> block = measured(np.array([[3.0, 4.0]]), np.zeros(1, dtype=np.int32))
    >>> pose_again(block, np.array([1], dtype=np.int8), True).radius >= 26.0**0.5
    True
    """
    rows = _rows.view(block.X, signs, fit_intercept, checked=True)
    radius = block.radius
    if fit_intercept:
        radius = math.nextafter(math.hypot(radius, 1.0) * (1.0 + 4 * _ULP), math.inf)
    return Problem(rows, radius, block.longest)


def _says_all(largest_sq: float) -> bool:
    """Whether a sum of squares neither overflowed nor vanished: all of its terms are finite."""
    return 1e-280 < largest_sq < 1e300


def _rounded_up(radius: float, p: int) -> float:
    """What no norm is above that was summed up from p terms."""
    return math.nextafter(radius * (1.0 + (p + 4) * _ULP), math.inf) if radius > 0.0 else radius


def relative_norms(problem: Problem) -> Vector:
    """‖a_i‖ of every row in the problem's unit, so that no square overflows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[3.0, 4.0], [6.0, 8.0]]) * 1e200
    >>> shares = relative_norms(pose(rows, np.ones(2, dtype=np.int8), False))
    >>> shares[1] / shares[0]
    np.float64(2.0)
    """
    out = np.empty(problem.n)
    _fill_norms(problem.rows, problem.unit, out)
    return out


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _scan(rows: Rows, first: int, last: int) -> tuple[int, float, float, int]:
    """The first row that is not finite or −1, max‖a_i‖², max|x_ij|, max number of entries."""
    largest_sq, largest, longest = 0.0, 0.0, 0
    for i in range(first, last):
        x = _rows.entries(rows, i)
        longest = max(longest, len(x))
        sq = rows.bias
        for j in range(len(x)):
            sq += np.float64(x[j]) * np.float64(x[j])
        if not 1e-280 < sq < 1e300:
            for j in range(len(x)):
                if not np.isfinite(x[j]):
                    return i, 0.0, 0.0, 0
                largest = max(largest, abs(np.float64(x[j])))
        largest_sq = max(largest_sq, sq)
    return -1, largest_sq, largest, longest


@njit(cache=True, nogil=True)
def _fill_norms(rows: Rows, unit: float, out: Vector) -> None:
    for i in range(len(out)):
        x = _rows.entries(rows, i)
        total = (rows.bias / unit) ** 2
        for j in range(len(x)):
            total += (x[j] / unit) ** 2
        out[i] = math.sqrt(total)


def _complaint(rows: Rows, i: int, names: Sequence[str] | None, first: int) -> str:
    x = np.asarray(_rows.entries(rows, i))
    j = int(np.flatnonzero(~np.isfinite(x))[0])
    what = "NaN" if np.isnan(x[j]) else "infinity"
    column = j if isinstance(rows, _rows.Dense) else int(rows.indices[int(rows.indptr[i]) + j])
    name = f" ({names[column]!r})" if names is not None else ""
    return (
        f"Input X contains {what} in row {first + i}, column {column}{name}: "
        "remove or impute such values first."
    )
