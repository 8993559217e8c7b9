"""Herding: few points whose mean is near a target, chosen by a perceptron (D7; Rem 1.43).

Candidates φ_s and a target φ̄, by default their mean. From w₀ = 0, or w₀ = φ̄ with a kernel,

    s_t = argmax_s ⟨w_{t−1}, φ_s⟩,    w_t = w_{t−1} + φ̄ − φ_{s_t}

(ties: the first). It is a perceptron on the rows φ̄ − φ_s that acts on the worst: as φ̄ is in the
hull, ⟨w, φ̄ − φ_{s_t}⟩ ≤ 0 at every step. The mean of the points chosen misses the target by
‖w_T − w₀‖/T. Let E = max‖φ̄ − φ_s‖, and let ρ be the radius of the largest ball around φ̄ in the
hull, within the space that it spans. Then, from w₀ = 0,

- ‖w_T‖² ≤ T·E², as in the perceptron's proof: the error is at most E/√T;
- ⟨w, φ̄ − φ_{s_t}⟩ ≤ −ρ·‖w‖, so that ‖w_T‖ ≤ max(E, E²/2ρ): the error is at most that over T.

From w₀ = φ̄, ‖w_T‖² ≤ ‖φ̄‖² + T·E² gives the error (√(‖φ̄‖² + T·E²) + ‖φ̄‖)/T at most.

Where φ̄ is not in the hull, w grows for ever, and some w has ⟨w, φ̄ − φ_s⟩ > 0 for all s.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt

from novikoff.core.blas import one_blas_thread
from novikoff.core.kernels import Function
from novikoff.core.problem import pose
from novikoff.core.rows import Indices, Vector
from novikoff.core.validation import check_matrix
from novikoff.geometry.separability import Verdict, separate

# The most candidates, and dimensions, for which the ball is computed: facets are many.
_MAX_POINTS, _MAX_DIMENSIONS = 2000, 5
_RANK = 1e-10  # a singular value below this share of the largest is none
_BLOCK = 1 << 22  # entries of a kernel matrix at a time
_NORMAL = 2.0**-1022  # floats below it have fewer digits
_LEAST_KERNEL = 2.0**-900  # below it, what is left of a difference may not be a normal float


@dataclass(frozen=True, eq=False)
class Herding:
    """The points chosen, and how far their mean is from the target.

    Attributes
    ----------
    indices : array of int of shape (n_samples,)
        The candidates chosen, in their order; one may come again.
    errors : array of shape (n_samples,)
        ‖φ̄ − mean of φ over the first T‖ = ‖w_T − w₀‖/T, for each T. In floats: with a kernel it
        is a root of differences, and below about 1e-8·E nothing but rounding, or 0.
    radius : float
        E = max‖φ̄ − φ_s‖.
    bound : array of shape (n_samples,), or None
        The error is at most this: E/√T, or with a kernel (√(‖φ̄‖² + T·E²) + ‖φ̄‖)/T. None if
        the target is not in the hull, or the kernel was seen not to be positive semidefinite.
    ball : float or None
        ρ, in floats, where it is known: for at most 2,000 points that span at most 5 dimensions.
    fast_bound : array of shape (n_samples,), or None
        max(E, E²/2ρ)/T, where ρ is known and positive.
    verdict : Verdict or None
        For a target that was given: "separable" if it is not in the hull of the candidates. Then
        ``verdict.coef`` and ``verdict.intercept`` separate it from them. The certificate proves
        either, on the candidates with label 0 and the target, the last row, with label 1.
    """

    indices: Indices
    errors: Vector
    radius: float
    bound: Vector | None
    ball: float | None
    fast_bound: Vector | None
    verdict: Verdict | None


def herd(
    features: npt.ArrayLike,
    target: npt.ArrayLike | None = None,
    n_samples: int = 100,
    kernel: Function | None = None,
) -> Herding:
    """Choose points whose mean is near a target, by herding (D7; Welling 2009).

    Guarantee, but for rounding (of a mean that is no float, too): for a target in the hull,
    ``errors`` are at most ``bound``, and at most ``fast_bound`` where it is known: O(1/T), while T
    points drawn at random have O(1/√T). A point may be chosen again and again.

    Parameters
    ----------
    features : array of shape (m, D)
        The candidates φ_s; with a kernel, what it is applied to.
    target : array of shape (D,), optional
        φ̄; by default the mean of the candidates. With a kernel it is that in any case.
    n_samples : int
        T, the number of points to choose.
    kernel : callable, optional
        Kernel herding (Chen, Welling and Smola 2010): ``kernel(X, Y)`` gives the matrix of
        ⟨φ(x), φ(y)⟩, as scikit-learn's pairwise kernels do. One row is computed for each point
        chosen, and all rows once, for their mean.

    Returns
    -------
    Herding
        The points, the errors and their bounds. A target that is not in the hull has a separator.

    Examples
    --------
    >>> import novikoff as nv
    >>> square = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> herded = nv.herd(square, n_samples=8)
    >>> herded.indices.tolist(), herded.errors[[3, 7]].tolist(), herded.ball
    ([0, 3, 0, 3, 0, 3, 0, 3], [0.0, 0.0], 0.5)
    >>> outside = nv.herd(square, target=[2, 1])
    >>> outside.verdict.kind, outside.bound is None
    ('separable', True)
    >>> nv.verify(outside.verdict.certificate, [*square, [2, 1]], [0, 0, 0, 0, 1])
    """
    points = check_matrix(features)
    if not isinstance(points, np.ndarray) or 0 in points.shape:
        what = f"of shape {points.shape}" if isinstance(points, np.ndarray) else "sparse"
        raise ValueError(f"The features must be a dense matrix with rows and columns, not {what}.")
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
        raise ValueError(f"n_samples must be a whole number above 0, not {n_samples!r}.")
    pose(points, np.ones(len(points), dtype=np.int8), False)  # names NaN and infinity
    points, n_samples = points.astype(np.float64, copy=False), int(n_samples)
    if kernel is not None:
        if target is not None:
            raise ValueError("With a kernel the target is the mean of the features: leave it out.")
        if not callable(kernel):
            raise ValueError(
                f"The kernel must be a function of two matrices, as those of "
                f"sklearn.metrics.pairwise, not {kernel!r}."
            )
        return _herd_by_kernel(points, n_samples, kernel)
    if target is None:
        return _herd_plainly(points, None, n_samples, None)
    given = np.asarray(target, dtype=np.float64)
    if given.shape != points.shape[1:] or not np.isfinite(given).all():
        raise ValueError(f"The target must be {points.shape[1]} finite numbers.")
    labels = np.append(np.zeros(len(points), dtype=np.int64), 1)
    verdict = separate(np.vstack([points, given]), labels, goal="kind")
    return _herd_plainly(points, given, n_samples, verdict)


def _herd_plainly(
    points: Vector, target: Vector | None, n_samples: int, verdict: Verdict | None
) -> Herding:
    """w₀ = 0, and w is kept, in a unit in which no product leaves float64."""
    all_points = points if target is None else np.vstack([points, target])
    unit = math.ldexp(1.0, math.frexp(float(np.abs(all_points).max()))[1] - 1)
    scaled = all_points / unit
    lost = (np.abs(scaled) < _NORMAL) & (all_points != 0.0)
    if lost.any():
        least, most = float(np.abs(all_points[lost]).min()), float(np.abs(all_points).max())
        raise ValueError(
            f"The numbers range from {least:.3g} to {most:.3g}, which float64 cannot hold in one "
            "unit: scale the columns first."
        )
    rows = scaled[: len(points)] - (scaled.mean(axis=0) if target is None else scaled[-1])
    # ⟨w, φ_s⟩ and ⟨w, φ_s − φ̄⟩ are largest at the same s.
    w, indices, errors = np.zeros(rows.shape[1]), np.empty(n_samples, dtype=np.int64), []
    with one_blas_thread():
        for t in range(n_samples):
            indices[t] = np.argmax(rows @ w)
            w -= rows[indices[t]]
            errors.append(math.hypot(*w) / (t + 1))
    steps, E = np.arange(1, n_samples + 1), max(math.hypot(*row) for row in rows)
    inside = verdict is None or verdict.kind in ("quasi-separable", "inseparable")
    ball = _ball(rows) if inside else None
    fast = None if not ball else max(E, E**2 / (2.0 * ball)) / steps
    bound = E / np.sqrt(steps) if inside else None
    with np.errstate(over="ignore"):  # lengths beyond float64 are infinite
        bound = None if bound is None else _times(bound, unit)
        fast = None if fast is None else _times(fast, unit)
        ball = None if ball is None else ball * unit
        missed, E = _times(np.array(errors), unit), float(_times(np.array([E]), unit)[0])
        return Herding(indices, missed, E, bound, ball, fast, verdict)


def _times(values: Vector, unit: float) -> Vector:
    """Values in a unit: below normal floats rounded up, so that only 0 becomes 0."""
    found = values * unit
    rounded = (found < _NORMAL) & (values > 0.0) & (found / unit != values)
    return np.where(rounded, np.nextafter(found, math.inf), found)


def _herd_by_kernel(points: Vector, n_samples: int, kernel: Function) -> Herding:
    """w₀ = φ̄, and the scores ⟨w, φ_s⟩ = (t + 1)·⟨φ̄, φ_s⟩ − Σ k(s, s_i) are kept."""
    m, size = len(points), max(1, _BLOCK // len(points))
    mean, squares = np.empty(m), np.empty(m)  # ⟨φ̄, φ_s⟩ and ⟨φ_s, φ_s⟩
    for first in range(0, m, size):
        block = _kernel_rows(kernel, points, slice(first, first + size))
        _check_symmetric(block[:, first : first + size], first)
        mean[first : first + size] = block.mean(axis=1)
        squares[first : first + size] = block[np.arange(len(block)), first + np.arange(len(block))]
    largest = float(np.abs(squares).max())
    if 0.0 < largest < _LEAST_KERNEL:
        raise ValueError(
            f"The kernel of a row with itself is {largest:.3g} at most, where float64 has few "
            "digits left: multiply the kernel by a power of two."
        )
    whole = float(mean.mean())  # ⟨φ̄, φ̄⟩
    scores, indices, missed = mean.copy(), np.empty(n_samples, dtype=np.int64), [0.0]
    for t in range(n_samples):
        s = indices[t] = int(np.argmax(scores))
        # ⟨w_t − w₀, φ̄ − φ_s⟩; of w_t − w₀, ⟨·, φ̄⟩ is the mean of ⟨·, φ_s⟩ over all s.
        inner = float((scores - mean).mean() - (scores[s] - mean[s]))
        missed.append(missed[-1] + 2.0 * inner + (whole - 2.0 * mean[s] + squares[s]))
        scores += mean - _kernel_rows(kernel, points, slice(s, s + 1))[0]
    steps, distances = np.arange(1, n_samples + 1), whole - 2.0 * mean + squares
    squared = np.array(missed[1:])  # ‖w_t − w₀‖²
    E, length = math.sqrt(max(0.0, float(distances.max()))), math.sqrt(max(0.0, whole))
    bound: Vector | None = (np.sqrt(length**2 + steps * E**2) + length) / steps
    if min(whole, distances.min(), (squared / steps**2).min()) < -1e-8 * largest:
        bound = None
        warnings.warn(
            "The kernel is not positive semidefinite: it belongs to no feature space, the squares "
            "of some distances are negative, taken as 0, and no bound holds.",
            stacklevel=3,
        )
    errors = np.sqrt(np.maximum(squared, 0.0)) / steps
    return Herding(indices, errors, E, bound, None, None, None)


def _kernel_rows(kernel: Function, points: Vector, part: slice) -> Vector:
    with one_blas_thread():
        found = np.asarray(kernel(points[part], points), dtype=np.float64)
    wanted = len(points[part]), len(points)
    if found.shape != wanted:
        raise ValueError(f"The kernel gave an array of shape {found.shape}, not {wanted}.")
    if not np.isfinite(found).all():
        i, j = np.argwhere(~np.isfinite(found))[0].tolist()
        raise ValueError(
            f"The kernel is {found[i, j]} for the rows {part.start + i} and {j}: it must be finite."
        )
    return found


def _check_symmetric(block: Vector, first: int) -> None:
    """Raise ValueError unless the kernels of these rows with each other are the same both ways."""
    gap = np.abs(block - block.T)
    i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
    if gap[i, j] > 1e-8 * float(np.abs(block).max()):
        raise ValueError(
            f"The kernel is {block[i, j]} for the rows {first + i} and {first + j}, but "
            f"{block[j, i]} the other way round: it must be symmetric."
        )


def _ball(rows: Vector) -> float | None:
    """ρ: the distance from the origin, a point of their hull, to its nearest facet, or None.

    In float64. The space is that of the rows, which the origin spans with their hull.
    """
    from scipy.spatial import ConvexHull, QhullError

    _, sizes, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    rank = int(np.count_nonzero(sizes > _RANK * max(float(np.abs(rows).max()), 5e-324)))
    if rank == 0:
        return 0.0
    if len(rows) > _MAX_POINTS or rank > _MAX_DIMENSIONS:
        return None
    flat = rows @ axes[:rank].T
    if rank == 1:
        return max(0.0, min(float(flat.max()), -float(flat.min())))
    try:
        hull = ConvexHull(flat)
    except QhullError:
        return None
    return max(0.0, -float(hull.equations[:, -1].max()))  # ⟨normal, x⟩ + offset ≤ 0 inside
