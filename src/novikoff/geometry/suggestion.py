"""Linear programs in floats, by HiGHS through SciPy: suggestions for exact proofs.

Nothing that a float solver says is proved. Its callers choose rows, a basis or a point by it, and
then prove their claims in exact arithmetic.

HiGHS runs in a thread of its own, so that the limits hold while it runs: Ctrl-C and the end of the
budget end the wait at once, and progress is shown. HiGHS itself cannot be stopped before its own
time limit, which is the time that was left when it began.
"""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits

# The limits are checked after each wait of this many seconds.
_WAIT_SECONDS = 0.05
# SciPy's codes for the end of a linear program.
_OPTIMAL, _INFEASIBLE, _UNBOUNDED = 0, 2, 3


class Optimum(NamedTuple):
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


class Refusal(NamedTuple):
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
    method: str = "highs-ds",
    presolve: bool = True,
) -> Optimum | Refusal | None:
    """Minimise ⟨costs, x⟩ in floats; None if the solver fails or a limit is reached.

    Parameters
    ----------
    costs, A_ub, b_ub, A_eq, b_eq, bounds, method, presolve
        As in `scipy.optimize.linprog`. With the dual simplex method, the point is a vertex.
    limits : Limits
        The limits. If one is reached, the answer is None.

    Examples
    --------
    >>> best = suggested_optimum(np.ones(1), Limits(), A_ub=-np.eye(1), b_ub=np.array([-2.0]))
    >>> best.x, best.prices
    (array([2.]), array([1.]))
    """
    if limits.reached() is not None:
        return None
    seconds = limits.seconds_left()
    options = {"presolve": presolve, "time_limit": math.inf if seconds is None else seconds}
    found: list[Optimum | Refusal] = []

    def run() -> None:
        from scipy import optimize

        solver: Any = optimize.linprog
        with np.errstate(all="ignore"):
            try:
                answer = solver(
                    costs, A_ub, b_ub, A_eq, b_eq, bounds, method=method, options=options
                )
            except (ValueError, MemoryError):  # numbers too large or too small for the program
                return
            if answer.status in (_INFEASIBLE, _UNBOUNDED):
                found.append(Refusal(answer.status == _INFEASIBLE))
            elif answer.status == _OPTIMAL and answer.x is not None:
                prices: npt.NDArray[Any] = np.concatenate(
                    [np.atleast_1d(part.marginals) for part in (answer.ineqlin, answer.eqlin)]
                )
                found.append(Optimum(np.asarray(answer.x), -np.asarray(prices, dtype=np.float64)))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_WAIT_SECONDS)
        if thread.is_alive() and limits.reached() is not None:
            return None
    return found[0] if found else None
