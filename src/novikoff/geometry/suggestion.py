"""Linear programs in floats, by HiGHS through SciPy: suggestions for exact proofs.

The answer of a float solver proves nothing. Callers use it to choose rows, a basis or a point, and
then prove their claims in exact arithmetic.

HiGHS runs in a thread of its own, so that the limits hold while it runs: Ctrl-C and the end of the
budget end the wait at once, and progress is shown. SciPy cannot stop HiGHS before its own time
limit, and a process cannot end before HiGHS. So HiGHS gets a few seconds at first, and twice as
much in each further attempt. The simplex method and the interior-point method take turns, because
one of them is often fast where the other is slow.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits

# The limits are checked after each wait of this many seconds.
_WAIT_SECONDS = 0.05
# The methods of the attempts, and the seconds of the first attempt.
_METHODS, _FIRST_SECONDS = ("highs-ds", "highs-ipm"), 4.0
# The largest number of attempts. With 4 seconds for the first, they take at most about 250 seconds.
_MAX_ATTEMPTS = 6
# SciPy's codes for the end of a linear program.
_OPTIMAL, _OUT_OF_TIME, _INFEASIBLE, _UNBOUNDED = 0, 1, 2, 3


class FloatOptimum(NamedTuple):
    """The optimum of a linear program, in floats: a suggestion.

    Attributes
    ----------
    x : array of float
        The point.
    prices : array of float
        The dual variable λ of each row, inequalities first: λ ≥ 0 on A_ub x ≤ b_ub.
    """

    x: Vector
    prices: Vector


class NoOptimum(NamedTuple):
    """A linear program that has no optimum, according to the float solver."""

    infeasible: bool  # else it is unbounded


def suggested_optimum(
    costs: Vector,
    limits: Limits,
    *,
    A_ub: Any = None,
    b_ub: Vector | None = None,
    A_eq: Any = None,
    b_eq: Vector | None = None,
    bounds: Any = (0.0, None),
    first_seconds: float = _FIRST_SECONDS,
    most_seconds: float = math.inf,
    presolve: bool = True,
    methods: Sequence[str] = _METHODS,
) -> FloatOptimum | NoOptimum | None:
    """Minimise ⟨costs, x⟩ in floats; None if the solver fails or a limit is reached.

    Parameters
    ----------
    costs, A_ub, b_ub, A_eq, b_eq, bounds, presolve
        As in `scipy.optimize.linprog`. The point is a vertex.
    limits : Limits
        The limits. If one is reached, the answer is None.
    first_seconds : float
        The seconds of the first attempt.
    methods : sequence of str
        The methods of SciPy that take turns.
    most_seconds : float
        The answer is None if the solver needs more than this many seconds.

    Examples
    --------
    >>> best = suggested_optimum(np.ones(1), Limits(), A_ub=-np.eye(1), b_ub=np.array([-2.0]))
    >>> best.x, best.prices
    (array([2.]), array([1.]))
    """
    program = (costs, A_ub, b_ub, A_eq, b_eq, bounds)
    seconds = first_seconds
    for attempt in range(_MAX_ATTEMPTS):
        left = limits.seconds_left()
        most = min(seconds, most_seconds, math.inf if left is None else left)
        options = {"presolve": presolve, "time_limit": most}
        answer = _in_a_thread(program, methods[attempt % len(methods)], options, limits)
        if answer is None:
            return None
        if answer.status in (_INFEASIBLE, _UNBOUNDED):
            return NoOptimum(answer.status == _INFEASIBLE)
        if answer.status == _OPTIMAL and answer.x is not None:
            parts = [np.atleast_1d(part.marginals) for part in (answer.ineqlin, answer.eqlin)]
            prices: npt.NDArray[Any] = np.concatenate(parts)
            return FloatOptimum(np.asarray(answer.x), -np.asarray(prices, dtype=np.float64))
        if limits.reached() is not None or seconds >= most_seconds:
            return None
        if answer.status == _OUT_OF_TIME:
            seconds *= 2.0
        elif attempt > 0:  # both methods met numerical difficulties
            return None
    return None


def _in_a_thread(program: Any, method: str, options: Any, limits: Limits) -> Any:
    """The answer of `linprog`; None if it rejects the numbers or a limit is reached meanwhile."""
    answers: list[Any] = []

    def run() -> None:
        from scipy import optimize

        solver: Any = optimize.linprog
        with np.errstate(all="ignore"):
            try:
                answers.append(solver(*program, method=method, options=options))
            except (ValueError, MemoryError):  # numbers too large or too small for the program
                return

    if limits.reached() is not None:
        return None
    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        thread.join(_WAIT_SECONDS)
        if thread.is_alive() and limits.reached() is not None:
            return None
    return answers[0] if answers else None
