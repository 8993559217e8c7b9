"""How often the fewest mistakes are found and proved: ``python -m benchmarks.mistakes``.

The 29 problems have at most 704 rows and 5 columns. `novikoff.Pocket` runs with its default
parameters; a second run with a limit of a minute shows the optimum where the first does not prove
it. Every proof is checked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import novikoff as nv


def problems() -> Iterator[tuple[str, Any, Any]]:
    """Names, rows and labels of two classes."""
    X, y = load_wine(return_X_y=True)
    for d in (2, 3, 4, 5):
        yield f"wine, class 1, d = {d}", X[:, :d], y == 1
    X, y = load_iris(return_X_y=True)
    for d in (2, 3, 4):
        yield f"iris, versicolor, d = {d}", X[:, :d], y == 1
        yield f"iris, virginica, d = {d}", X[:, :d], y == 2
    X, y = load_breast_cancer(return_X_y=True)
    for d in (2, 3, 4):
        yield f"breast, d = {d}", X[:, :d], y == 1
    for d in (4, 5):
        yield f"breast, 100 rows, d = {d}", X[:100, :d], y[:100] == 1
    X, y = load_digits(return_X_y=True)
    some = y < 4
    yield "digits 0 to 3, 704 rows, d = 2", X[some][:704][:, [20, 43]], y[some][:704] < 2
    rng = np.random.default_rng(0)
    for n, d in ((100, 2), (400, 2), (704, 2), (200, 3), (200, 4), (100, 5)):
        X = rng.normal(size=(n, d))
        clean = X @ rng.normal(size=d) > 0.0
        for share in (0.1, 0.3):
            flips = rng.random(n) < share
            yield f"normal, {n} rows, {share:.0%} flipped, d = {d}", X, clean ^ flips
    grid = rng.integers(-2, 3, size=(150, 3)).astype(np.float64)
    yield "grid, 150 rows, d = 3", grid, rng.random(150) < 0.5


def main() -> None:
    """Print the table and its totals."""
    n_found = n_proved = n_quick = n = 0
    nv.Pocket(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 0])  # compile the loops
    print("| problem | found | bound | optimum | CPU seconds | check |\n|---|---|---|---|---|---|")
    for name, X, y in problems():
        began = time.process_time()
        model: Any = nv.Pocket(random_state=0).fit(X, y)
        seconds = time.process_time() - began
        began = time.process_time()
        nv.verify(model.certificate_, X, y)
        check = time.process_time() - began
        optimum = model.n_errors_
        if not model.optimal_:
            longer: Any = nv.Pocket(random_state=0, max_seconds=60).fit(X, y)
            nv.verify(longer.certificate_, X, y)
            optimum = longer.n_errors_ if longer.optimal_ else f"≤ {longer.n_errors_}"
        n, n_found = n + 1, n_found + (model.n_errors_ == optimum)
        n_proved, n_quick = n_proved + model.optimal_, n_quick + (model.optimal_ and seconds < 3)
        cells = (name, model.n_errors_, model.errors_lower_bound_, optimum)
        print("|", *(f"{cell} |" for cell in cells), f"{seconds:.2f} | {check:.2f} |", flush=True)
    print(f"\n{n_found} of {n} optima found, {n_proved} proved, {n_quick} within 3 s of CPU time")


if __name__ == "__main__":
    main()
