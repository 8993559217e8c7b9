"""The answers of `nv.detect_separation` against the likelihood itself, maximised numerically.

The likelihood of each model (`tests.models.likelihoods`) is maximised with a ridge penalty that
tends to 0. An infinite estimate keeps growing as the penalty vanishes, and a finite estimate
converges. Coefficients whose growth is not clear are skipped; there must be few of them.

``python -m tests.models.test_likelihood [PROBLEMS]`` compares 30 problems of each model, or
PROBLEMS; the suite compares a few.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.models.likelihoods import LogLik, Vector
from tests.models.model_problems import CASES, problem

PROBLEMS = 3
RIDGES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SETTLED, GROWING = 0.05, 0.25
# For these models infinite estimates grow slowly, like √log or log log of the penalty, or the
# maximum is at the boundary of the domain.
SLOW = {"log link", "probit", "cloglog", "loglog", "cumulative, probit", "cumulative, cloglog"}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # line searches divide by 0
@pytest.mark.parametrize("name", CASES)
def test_infinite_estimates_grow_as_the_ridge_vanishes(name: str) -> None:
    assert compared(name, PROBLEMS) >= (0.3 if name in SLOW else 0.7)


def compared(name: str, problems: int) -> float:
    """Compare the coefficients of many problems; return the share whose growth is clear."""
    clear, total = 0, 0
    for seed in range(problems):
        found, loglik, _ = problem(name, 1_000 + seed)
        fates = [found.coefficients[own] for own in found.direction]
        if "aliased" in fates:
            continue
        growth = growth_of(loglik, start_of(name, len(fates)))
        if growth is None:
            total += len(fates)
            continue
        for fate, grown in zip(fates, growth, strict=True):
            total += 1
            if SETTLED <= abs(grown) <= GROWING:
                continue
            if name in SLOW and abs(grown) < SETTLED and fate != "finite":
                continue
            # A coefficient that may have either sign may also stay finite.
            if fate != "either sign":
                told = {"+inf": grown > GROWING, "-inf": grown < -GROWING}
                assert told.get(fate, abs(grown) < SETTLED), (name, seed, fates, growth)
            clear += 1
    return clear / max(total, 1)


def start_of(name: str, p: int) -> Vector:
    """Coefficients at which the likelihood is defined."""
    first = np.zeros(p)
    if name.startswith("cumulative"):
        first[1] = 1.0  # thresholds in order
    if name == "log link":
        first[0] = -1.0
    return first


def growth_of(loglik: LogLik, start: Vector) -> Any:
    """The growth of each coefficient in the last step of the penalty; None if it is not found."""
    path = [start]
    for ridge in RIDGES:

        def minus(b: Vector, ridge: float = ridge) -> float:
            value = loglik(b)
            return ridge * float(b @ b) - value if np.isfinite(value) else 1e10

        best = minimize(minus, path[-1], method="BFGS", options={"gtol": 1e-9})
        if not is_stationary(minus, best.x):
            again = minimize(minus, best.x, method="Powell",
                             options={"xtol": 1e-9, "ftol": 1e-15, "maxiter": 20_000})  # fmt: skip
            best = minimize(minus, np.atleast_1d(again.x), method="BFGS", options={"gtol": 1e-10})
        path.append(best.x)
    return path[-1] - path[-2] if is_stationary(minus, path[-1]) else None


def is_stationary(minus: Any, b: Vector) -> bool:
    """Whether all partial derivatives are almost 0."""
    steps = 1e-4 * np.eye(len(b))
    return all(abs(minus(b + h) - minus(b - h)) / 2e-4 < 2e-6 for h in steps)


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)
    for case in CASES:
        share = compared(case, int(sys.argv[1]) if len(sys.argv) > 1 else 30)
        print(f"{case}: growth is clear for {share:.0%} of the coefficients", flush=True)
