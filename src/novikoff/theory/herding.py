"""Herding: choose a few points whose mean is near a target, by a perceptron."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt

from novikoff.core.blas import one_blas_thread
from novikoff.core.kernels import Function
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Vector
from novikoff.core.validation import check_matrix
from novikoff.geometry.separability import separate
from novikoff.geometry.verdict import Verdict

# The ball is computed for at most this many candidates and dimensions, because the convex hull of
# more points may have too many facets.
_MAX_POINTS, _MAX_DIMENSIONS = 2000, 5
# Singular values below this share of the largest count as zero.
_RANK = 1e-10
# This many entries of a kernel matrix are computed at the same time.
_BLOCK = 1 << 22
# The smallest normal float. Smaller floats have fewer digits.
_NORMAL = 2.0**-1022
# Kernel values below this number are rejected, because their differences may not be normal floats.
_LEAST_KERNEL = 2.0**-900


@dataclass(frozen=True, eq=False)
class Herding:
    """The points that herding chose, and the distances of their means from the target.

    Attributes
    ----------
    indices : array of int of shape (n_samples,)
        The numbers of the chosen candidates, in the order in which they were chosen. A candidate
        may be chosen several times.
    errors : array of shape (n_samples,)
        For each T, the distance ‖w_T − w₀‖/T between the target φ̄ and the mean of the first T
        chosen points, computed in floats. With a kernel, an error below about 1e-8·E is rounding
        noise, because it is the root of a difference.
    radius : float
        E = max‖φ̄ − φ_s‖, the largest distance between the target and a candidate.
    bound : array of shape (n_samples,), or None
        An upper bound on the errors: E/√T, or with a kernel (√(‖φ̄‖² + T·E²) + ‖φ̄‖)/T. None if the
        target is not in the convex hull, or if the kernel proved not to be positive semidefinite.
    ball : float or None
        The radius ρ of the largest ball around the target in the convex hull, in floats. It is
        computed for at most 2,000 points that span at most 5 dimensions.
    fast_bound : array of shape (n_samples,), or None
        max(E, E²/2ρ)/T, if ρ is known and positive.
    verdict : Verdict or None
        The verdict whether a hyperplane separates a given target from the candidates; None if the
        target is the mean. It is "separable" if the target is not in the convex hull of the
        candidates. Then ``verdict.coef`` and ``verdict.intercept`` are such a hyperplane. The
        certificate is about the candidates, with label 0, and the target as the last row, with
        label 1.

    See Also
    --------
    herd : Choose the points.

    Examples
    --------
    >>> import novikoff as nv
    >>> herded = nv.herd([[0.0], [1.0]], n_samples=4)
    >>> herded.indices.tolist(), herded.errors.tolist()
    ([0, 1, 0, 1], [0.5, 0.0, 0.16666666666666666, 0.0])
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
    """Choose points whose mean is near a target, by herding.

    Given candidates φ_s and a target φ̄, by default the mean of the candidates, herding starts from
    w₀ = 0, or from w₀ = φ̄ with a kernel, and repeats

        s_t = argmax_s ⟨w_{t−1}, φ_s⟩,    w_t = w_{t−1} + φ̄ − φ_{s_t}

    If several candidates have the largest product, the first is chosen. This is a perceptron on the
    rows φ̄ − φ_s that updates on the worst row. If φ̄ is in the convex hull of the candidates, then
    ⟨w, φ̄ − φ_{s_t}⟩ ≤ 0 at every step, so that every step corrects a mistake. The distance between
    the target and the mean of the first T choices is ‖w_T − w₀‖/T. Let E = max‖φ̄ − φ_s‖, and let ρ
    be the radius of the largest ball around φ̄ in the hull, within the space that the hull spans.
    Except for rounding, the errors have these bounds.

    - From w₀ = 0, ‖w_T‖² ≤ T·E², as in the perceptron's proof. The error is at most E/√T.
    - From w₀ = 0, ⟨w, φ̄ − φ_{s_t}⟩ ≤ −ρ·‖w‖, so that ‖w_T‖ ≤ max(E, E²/2ρ). The error is at most
      max(E, E²/2ρ)/T: O(1/T), while the mean of T random points has an error of O(1/√T).
    - From w₀ = φ̄, ‖w_T‖² ≤ ‖φ̄‖² + T·E². The error is at most (√(‖φ̄‖² + T·E²) + ‖φ̄‖)/T.

    If φ̄ is not in the hull, w grows without end, and some w has ⟨w, φ̄ − φ_s⟩ > 0 for all s.

    Parameters
    ----------
    features : array of shape (m, D)
        The candidates φ_s; with a kernel, the rows to which the kernel is applied.
    target : array of shape (D,), optional
        The target φ̄; by default the mean of the candidates. With a kernel, the target is always
        the mean.
    n_samples : int
        The number T of points to choose.
    kernel : callable, optional
        For kernel herding: ``kernel(X, Y)`` returns the matrix of ⟨φ(x), φ(y)⟩, like scikit-learn's
        pairwise kernels. All rows of the matrix are computed once, for their mean. Then one row is
        computed for each point that is chosen.

    Returns
    -------
    Herding
        The points, the errors and their bounds. If the target is not in the convex hull, the
        verdict has a hyperplane that separates it.

    See Also
    --------
    separate : Decides whether a hyperplane separates a target from the points.

    References
    ----------
    Welling, M. (2009). Herding dynamical weights to learn. *Proceedings of the 26th International
    Conference on Machine Learning*, 1121-1128.

    Chen, Y., Welling, M. and Smola, A. (2010). Super-samples from kernel herding. *Proceedings of
    the 26th Conference on Uncertainty in Artificial Intelligence*, 109-116.

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
    >>> outside.verdict.certificate.verify([*square, [2, 1]], [0, 0, 0, 0, 1])
    """
    points = check_matrix(features)
    if not isinstance(points, np.ndarray) or 0 in points.shape:
        what = f"of shape {points.shape}" if isinstance(points, np.ndarray) else "sparse"
        raise ValueError(f"The features must be a dense, non-empty matrix, not {what}.")
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
        raise ValueError(f"n_samples must be a whole number above 0, not {n_samples!r}.")
    signed_problem(points, np.ones(len(points), dtype=np.int8), False)  # rejects NaN and infinity
    points, n_samples = points.astype(np.float64, copy=False), int(n_samples)
    if kernel is not None:
        if target is not None:
            raise ValueError("With a kernel the target is the mean of the features: leave it out.")
        if not callable(kernel):
            raise ValueError(
                f"The kernel must be a function of two matrices, like those in "
                f"sklearn.metrics.pairwise, not {kernel!r}."
            )
        return _herd_by_kernel(points, n_samples, kernel)
    if target is None:
        return _herd_points(points, None, n_samples, None)
    given = np.asarray(target, dtype=np.float64)
    if given.shape != points.shape[1:] or not np.isfinite(given).all():
        raise ValueError(f"The target must be {points.shape[1]} finite numbers.")
    labels = np.append(np.zeros(len(points), dtype=np.int64), 1)
    verdict = separate(np.vstack([points, given]), labels, goal="kind")
    return _herd_points(points, given, n_samples, verdict)


def _herd_points(
    points: Vector, target: Vector | None, n_samples: int, verdict: Verdict | None
) -> Herding:
    """Herd from w₀ = 0; the unit of w is such that no product overflows or underflows."""
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
    # The same s maximises ⟨w, φ_s⟩ and ⟨w, φ_s − φ̄⟩, which has smaller rounding errors.
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
    with np.errstate(over="ignore"):  # lengths beyond float64 become infinite
        bound = None if bound is None else _in_unit(bound, unit)
        fast = None if fast is None else _in_unit(fast, unit)
        ball = None if ball is None else ball * unit
        missed, E = _in_unit(np.array(errors), unit), float(_in_unit(np.array([E]), unit)[0])
        return Herding(indices, missed, E, bound, ball, fast, verdict)


def _in_unit(values: Vector, unit: float) -> Vector:
    """Return values times a unit, where tiny results are rounded up, so that only 0 becomes 0."""
    quotients = values * unit
    rounded = (quotients < _NORMAL) & (values > 0.0) & (quotients / unit != values)
    return np.where(rounded, np.nextafter(quotients, math.inf), quotients)


def _herd_by_kernel(points: Vector, n_samples: int, kernel: Function) -> Herding:
    """Herd from w₀ = φ̄, using the scores ⟨w, φ_s⟩ = (t + 1)·⟨φ̄, φ_s⟩ − Σ k(s, s_i)."""
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
        # ⟨w_t − w₀, φ̄ − φ_s⟩: the product with φ̄ is the mean of the products with all φ_s.
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
            "The kernel is not positive semidefinite. It belongs to no feature space, and no bound "
            "holds. Squares of distances that are negative were replaced by 0.",
            stacklevel=3,
        )
    errors = np.sqrt(np.maximum(squared, 0.0)) / steps
    return Herding(indices, errors, E, bound, None, None, None)


def _kernel_rows(kernel: Function, points: Vector, part: slice) -> Vector:
    with one_blas_thread():
        gram = np.asarray(kernel(points[part], points), dtype=np.float64)
    wanted = len(points[part]), len(points)
    if gram.shape != wanted:
        raise ValueError(f"The kernel returned an array of shape {gram.shape}, not {wanted}.")
    if not np.isfinite(gram).all():
        i, j = np.argwhere(~np.isfinite(gram))[0].tolist()
        raise ValueError(
            f"The kernel is {gram[i, j]} for the rows {part.start + i} and {j}: it must be finite."
        )
    return gram


def _check_symmetric(block: Vector, first: int) -> None:
    """Raise ValueError unless the kernel values of these rows with each other are symmetric."""
    gap = np.abs(block - block.T)
    i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
    if gap[i, j] > 1e-8 * float(np.abs(block).max()):
        raise ValueError(
            f"The kernel is {block[i, j]} for the rows {first + i} and {first + j}, but "
            f"{block[j, i]} the other way round: it must be symmetric."
        )


def _ball(rows: Vector) -> float | None:
    """Return ρ, the distance from the origin to the nearest facet of the convex hull of the rows.

    The origin is a point of the hull. The distance is measured within the space that the rows span,
    in float64. Returns None if there are too many rows or dimensions.
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
