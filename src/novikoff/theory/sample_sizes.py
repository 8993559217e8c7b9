"""An experiment: the mistakes of the perceptron on more and more rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from novikoff.core.orders import Order
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Indices, Signs, Vector
from novikoff.sentences import aligned_lines
from novikoff.theory.bounds import unit_ball_bound
from novikoff.theory.run import run_from_zero

_MAX_NUMBERS = 10**8  # of X


@dataclass(frozen=True, eq=False)
class SampleSizes:
    """The mistakes of the perceptron on samples of several sizes; prints as a table.

    Attributes
    ----------
    sizes : array of int
        The numbers of rows n.
    mistakes : array of int
        The number of mistakes of the run on the first n rows, until all n are correct.
    epochs : array of int
        The number of epochs of the run, the last of which is clean.
    bound : int
        ⌊1/γ²⌋, which no run exceeds.
    X, y : arrays of shape (n, d) and (n,)
        The largest sample, with labels +1 and −1.

    Examples
    --------
    >>> compared = compare_sample_sizes([10, 100], margin=0.5)
    >>> compared.bound, compared.mistakes.tolist()
    (4, [1, 1])
    """

    sizes: Indices
    mistakes: Indices
    epochs: Indices
    bound: int
    X: Vector
    y: Signs

    def __str__(self) -> str:
        head = ("rows n", "mistakes", "epochs", "⌊1/γ²⌋")
        columns = zip(
            self.sizes.tolist(), self.mistakes.tolist(), self.epochs.tolist(), strict=True
        )
        rows = [tuple(f"{number:,}" for number in (*row, self.bound)) for row in columns]
        return "\n".join(aligned_lines([head, *rows], ">>>>"))

    __repr__ = __str__


def compare_sample_sizes(
    sizes: Sequence[int] = (10, 100, 1000, 10_000, 100_000),
    *,
    margin: float = 0.1,
    d: int = 10,
    order: str | Sequence[int] | Order = "cyclic",
    random_state: int = 0,
) -> SampleSizes:
    """Count the mistakes of the perceptron on more and more rows with the same R and γ.

    The bound R²/γ² does not contain the number of rows n. So the number of mistakes, and with it
    the number of updates, stays below one number however large the sample is. The time of an epoch
    still grows with n, because every row is visited.

    All rows lie in the unit ball, and the rule w* = (1, 0, …, 0) without a bias classifies them
    with a margin of at least γ: the first entry of x has the sign y and a size from γ to 1, and its
    logarithm is distributed uniformly, so that many rows are near the hyperplane. Each sample is
    the beginning of the next larger one.

    Parameters
    ----------
    sizes : sequence of int
        The numbers of rows, in any order.
    margin : float
        γ, above 0 and at most 1.
    d : int
        The dimension of the rows.
    order : name, list of row numbers, or object of `novikoff.orders`
        The index rule.
    random_state : int
        The seed of the rows, and of a random order.

    Returns
    -------
    SampleSizes
        The counts, their common bound ⌊1/γ²⌋, and the rows.

    References
    ----------
    Novikoff, A. B. J. (1962). On convergence proofs on perceptrons. *Proceedings of the Symposium
    on the Mathematical Theory of Automata* 12, 615-622.

    Examples
    --------
    >>> compare_sample_sizes(margin=0.05)
     rows n  mistakes  epochs  ⌊1/γ²⌋
         10         5       4     400
        100        49       9     400
      1,000        74       5     400
     10,000        89       2     400
    100,000       105       2     400
    """
    largest = _checked_sizes(sizes)
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"The dimension d must be a whole number above 0, not {d!r}.")
    if not 0.0 < margin <= 1.0:
        raise ValueError(f"The margin must be above 0 and at most 1, not {margin!r}.")
    if largest * d > _MAX_NUMBERS:
        raise ValueError(f"{largest:,} × {d:,} numbers are more than {_MAX_NUMBERS:,} numbers.")
    X, y = _rows_with_margin(largest, int(d), float(margin), random_state)
    runs = [
        run_from_zero(signed_problem(X[:n], y[:n], False), order, random_state=random_state)
        for n in sizes
    ]
    return SampleSizes(
        np.array([int(n) for n in sizes]),
        np.array([run.mistakes for run in runs]),
        np.array([run.epochs for run in runs]),
        int(unit_ball_bound(float(margin))),
        X,
        y,
    )


def _checked_sizes(sizes: Sequence[int]) -> int:
    """Return the largest size; ValueError unless all are whole numbers above 0."""
    for n in sizes:
        if not isinstance(n, Integral) or isinstance(n, bool) or n < 1:
            raise ValueError(f"A number of rows must be a whole number above 0, not {n!r}.")
    if len(sizes) == 0:
        raise ValueError("sizes must not be empty: give the numbers of rows.")
    return int(max(sizes))


def _rows_with_margin(n: int, d: int, margin: float, seed: int) -> tuple[Vector, Signs]:
    """Return n rows of length at most 1 with |x_1| ≥ γ, and the signs of x_1, both exactly."""
    draws = np.random.default_rng(seed).random((n, d + 1))  # a smaller sample has the same rows
    y = np.where(draws[:, 0] < 0.5, 1, -1).astype(np.int8)
    first = np.clip(margin ** draws[:, 1], margin, 1.0)
    X = np.empty((n, d))
    X[:, 0] = first * y
    if d > 1:
        others = 2.0 * draws[:, 2:] - 1.0
        # The factor keeps rounding from making a row longer than 1; near 1 there is no room left.
        room = np.where(first < 0.999, (1.0 - 2.0**-30) * np.sqrt(1.0 - first**2), 0.0)
        length = np.linalg.norm(others, axis=1)
        X[:, 1:] = others * (room / np.maximum(length, 2.0**-60))[:, None]
    return X, y
