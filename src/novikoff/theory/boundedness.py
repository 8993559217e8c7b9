"""Bounds on the length of the perceptron's weights, and runs whose weights repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from numbers import Integral
from typing import cast

import numpy as np
import numpy.typing as npt

from novikoff.core.orders import Order
from novikoff.core.problem import Problem
from novikoff.core.rows import Indices, Vector, as_dense
from novikoff.core.runs import Run
from novikoff.geometry.separability import separate
from novikoff.geometry.verdict import Verdict, VerdictData
from novikoff.proofs import exact
from novikoff.theory.few_rows import dense_rows, directions, lines, rank_and_products
from novikoff.theory.rounding import float_above, plus_root_above, rational, square_norm
from novikoff.theory.run import run_from_zero

# At most this many determinants of sets of independent rows are computed.
_MAX_SETS = 20_000


@dataclass(frozen=True)
class WeightBound:
    """An upper bound on the length of the perceptron's weights.

    Attributes
    ----------
    bound : float
        An upper bound on ‖w_t‖ for all t, rounded up; infinite if it is beyond float64.
    kappa_squared : Fraction
        κ² of the rows scaled to length one, without rounding.
    rank : int
        The rank r of the rows.

    Examples
    --------
    >>> weights = weight_bound([[1.0, 0.0], [0.0, 1.0]])
    >>> weights.kappa, weights.rank
    (1.0, 2)
    """

    bound: float
    kappa_squared: Fraction
    rank: int

    @property
    def kappa(self) -> float:
        """κ = max Π‖a_i‖/√det(B·Bᵀ), rounded up."""
        return exact.square_root_up(self.kappa_squared)


def weight_bound(
    A: npt.ArrayLike, *, step_size: float = 1.0, w0: npt.ArrayLike = 0.0
) -> WeightBound:
    """Bound ‖w_t‖ on any data, separable or not, by the minors of the rows.

    Let w_{t+1} = w_t + η_t·a_i, where ⟨a_i, w_t⟩ ≤ 0 and η_t ∈ [0, η̄]. For rows of length one,
    Amaldi and Hauser proved

        ‖w_t‖ ≤ 2·max(‖w₀‖, η̄·(κ·2^(3p/2) + 1)),    κ⁻² = min det(B·Bᵀ)

    in every order of the rows, where the minimum is over the sets B of r = rank A independent rows.
    A row a_i of another length is a unit row ã_i with another step: η_t·a_i = (η_t·‖a_i‖)·ã_i.
    Therefore the function uses the unit rows Ã instead of A, and η̄·R instead of η̄. The factor
    2^(3p/2) comes from the paper. The weights of actual runs stay far below the bound.

    The minors are computed exactly, so that the function takes only few rows.

    Parameters
    ----------
    A : array-like of shape (n, p)
        The rows a_i = y_i·[x_i, 1]. None of them may be zero. There may be at most 20,000 different
        rows, and at most 20,000 sets of r rows, where r is the rank of A.
    step_size : float
        The largest step size η̄.
    w0 : array-like of shape (p,)
        The initial weights w₀; zero by default.

    Returns
    -------
    WeightBound
        The bound, κ² and the rank.

    References
    ----------
    Amaldi, E. and Hauser, R. (2005). Boundedness theorems for the relaxation method. *Mathematics
    of Operations Research* 30(4), 939-955.

    Examples
    --------
    >>> weights = weight_bound([[10.0, 0.0], [-10.0, 1.0]])
    >>> weights.rank, weights.kappa_squared, round(weights.bound)
    (2, Fraction(101, 1), 1636)
    """
    rows = dense_rows(A)
    start = np.atleast_1d(np.asarray(w0, dtype=np.float64)).ravel()
    if not (math.isfinite(step_size) and step_size > 0.0 and np.isfinite(start).all()):
        raise ValueError(
            f"step_size must be finite and positive, not {step_size}, and w0 must be finite."
        )
    zero = np.flatnonzero(~rows.any(axis=1))
    if len(rows) == 0 or len(zero) > 0:
        what = f"row {zero[0]} is zero" if len(zero) > 0 else "there are none"
        raise ValueError(f"The rows of A must not be zero: {what}.")
    kappa_squared, rank = _kappa_squared(rows)
    # 2·η̄·R·(κ·2^(3p/2) + 1), or 2·‖w₀‖
    reach = 4 * rational(step_size) ** 2 * max(square_norm(row) for row in rows)
    grown = plus_root_above(Fraction(0), reach * kappa_squared * 8 ** rows.shape[1])
    if math.isfinite(grown):
        grown = plus_root_above(Fraction(grown), reach)
    bound = max(plus_root_above(Fraction(0), 4 * square_norm(start)), grown)
    return WeightBound(bound, kappa_squared, rank)


def _kappa_squared(A: Vector) -> tuple[Fraction, int]:
    """The maximum of Π‖a_i‖²/det(B·Bᵀ) over sets B of r independent rows, and the rank r of A."""
    import flint

    A = np.unique(A, axis=0)
    if len(A) > _MAX_SETS:
        raise ValueError(f"A has more than {_MAX_SETS:,} different rows: take fewer rows.")
    # The lengths of the rows do not matter, because κ is about rows that are scaled to length one.
    rank, gram = rank_and_products(lines(directions(A)))
    if math.comb(len(gram), rank) > _MAX_SETS:
        raise ValueError(
            f"κ needs the determinants of all sets of {rank} of {len(gram)} rows. These are more "
            f"than {_MAX_SETS:,} sets: take fewer rows."
        )
    largest = Fraction(0)
    for subset in combinations(range(len(gram)), rank):
        minor = int(flint.fmpz_mat(gram[np.ix_(subset, subset)].tolist()).det())
        if minor > 0:
            largest = max(largest, Fraction(math.prod(int(gram[i, i]) for i in subset), minor))
    return largest, rank


@dataclass(frozen=True, eq=False)
class WeightPath:
    """The length of the weights along a run, and whether the weights repeat.

    Attributes
    ----------
    norms : array of shape (t,)
        ‖w_t‖ after each update.
    bound : float
        An upper bound on all ‖w_t‖: R²/γ if the data is separable, otherwise `weight_bound`. It is
        infinite if there are too many rows to compute it.
    converged : bool
        Whether the run ended with every row classified correctly.
    period, pre_period : int or None
        Numbers of epochs. From epoch ``pre_period`` on, the weights at the ends of epochs repeat
        every ``period`` epochs, without end. None if the weights do not repeat, if float64 does not
        represent them exactly, or if the run was too short to see a repetition.
    verdict : Verdict
        Whether a rule separates the data, with its certificate.

    Examples
    --------
    >>> path = watch_weights([[0.0], [1.0], [3.0]], [0, 0, 1])
    >>> path.converged, path.period, bool(path.norms.max() <= path.bound)
    (True, None, True)
    """

    norms: Vector
    bound: float
    converged: bool
    period: int | None
    pre_period: int | None
    verdict: Verdict


def watch_weights(
    X: object,
    y: object,
    *,
    order: str | Sequence[int] | Order = "cyclic",
    fit_intercept: bool = True,
    max_epochs: int = 1000,
    random_state: int = 0,
) -> WeightPath:
    """Run the perceptron from w₀ = 0 and record the length of its weights.

    The weights stay bounded on any data (`weight_bound`). On separable data with step size 1,
    ‖w_t‖ ≤ √t·R and t ≤ R²/γ² imply ‖w_t‖ ≤ R²/γ.

    Integer weights that stay bounded take finitely many values. If the order is the same in each
    epoch, the weights at the end of an epoch determine all later weights. The run is then periodic
    after a pre-period. Brent's algorithm finds the period if rows and weights are integers that
    float64 represents exactly and the order is the same in each epoch. A reported period is exact.

    Parameters
    ----------
    X, y : array of shape (n, d), array of shape (n,)
        The rows, and their labels of two classes.
    order : name, list of row numbers, or object of `novikoff.orders`
        The index rule.
    fit_intercept : bool
        Whether the rules have a bias.
    max_epochs : int
        The number of epochs after which the run stops.
    random_state : int
        The seed of a random order.

    Returns
    -------
    WeightPath
        The lengths, their bound, and the period if one was found.

    References
    ----------
    Brent, R. P. (1980). An improved Monte Carlo factorization algorithm. *BIT* 20, 176-184.

    Examples
    --------
    >>> X = [[0, 3], [-2, 2], [1, -3], [-1, 3], [0, -3], [2, 2]]
    >>> path = watch_weights(X, [0, 1, 0, 1, 0, 1])
    >>> path.verdict.kind, path.pre_period, path.period
    ('inseparable', 1, 5)
    >>> bool(path.norms.max() <= path.bound)
    True
    """
    if not isinstance(max_epochs, Integral) or isinstance(max_epochs, bool) or max_epochs < 1:
        raise ValueError(f"max_epochs must be a whole number above 0, not {max_epochs!r}.")
    verdict = separate(X, y, fit_intercept=fit_intercept)
    problem = cast(VerdictData, verdict.data).problem  # checked, and signed
    ends = [np.zeros(problem.p)]  # the weights at the end of each epoch

    def keep(run: Run) -> bool:
        ends.append(run.W[:, 0].copy())
        return False

    run = run_from_zero(
        problem, order, max_epochs=int(max_epochs), random_state=random_state, trace=True,
        after_epoch=keep,
    )  # fmt: skip
    period, path = run.periods[0], np.array(ends)
    pre_period = None if period is None else _first_return(path, period)
    if verdict.kind != "separable":
        bound = _bound_of(problem)
    else:
        lo = verdict.margin.lo
        bound = float_above(rational(problem.radius) ** 2 / rational(lo)) if lo > 0.0 else math.inf
    norms = np.sqrt(run.traces[0].squared_norm)
    return WeightPath(norms, bound, run.converged, period, pre_period, verdict)


def _first_return(path: Vector, period: int) -> int:
    """Return the first epoch whose weights occur again one period later."""
    returns: Indices = np.flatnonzero((path[period:] == path[:-period]).all(axis=1))
    return int(returns[0])


def _bound_of(problem: Problem) -> float:
    """Return `weight_bound` of the signed rows, or infinity if there are too many.

    Rows of zeros are left out, because they never change the weights.
    """
    if problem.p > 683:  # 2^(3p/2) is beyond float64
        return math.inf
    A = exact.dense_block(as_dense(problem.X), problem.signs, problem.fit_intercept).A
    try:
        return weight_bound(A[A.any(axis=1)]).bound
    except ValueError:
        return math.inf
