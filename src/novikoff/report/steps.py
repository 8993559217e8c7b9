"""The steps of a study that each takes, and what all of them find.

Those that decide and prove are in `novikoff.report.proving`: not every study takes them.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.blocks import CodedBlocks
from novikoff.core.cores import cores
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.core.stops import Limits
from novikoff.learners.perceptron import Perceptron

if TYPE_CHECKING:
    from novikoff.geometry.error_bound import ErrorBound
    from novikoff.geometry.margin import Interval
    from novikoff.geometry.recession import Recession
    from novikoff.geometry.separability import Verdict
    from novikoff.geometry.table import Label

Matrix: TypeAlias = "Floats | SparseMatrix"
Labels: TypeAlias = npt.NDArray[np.generic]
# Called with what is being done, and the interval for the margin once there is one.
Progress: TypeAlias = "Callable[[str, Interval | None], None]"

# The perceptron looks at so many entries of X, in at least and at most so many epochs.
_ENTRIES, _LEAST, _MOST = 1_000_000_000, 20, 1000
# The label of all classes but the positive one; it comes before others, as the negative does.
REST = "(rest)"
# Vectors of all weights that are in use at once, about.
_RULES = 16


@dataclass(frozen=True)
class Options:
    """How a study is made.

    Attributes
    ----------
    fit_intercept : bool
        Whether rules may have a bias.
    positive : label or None
        With it, the question is this class against all others.
    order, epochs, seed
        Of the perceptron; ``epochs=None`` is 1000, fewer for very large data.
    budget : float or None
        Seconds for all of it.
    verdict : bool
        Whether to decide at all; without, only the perceptron runs.
    average : bool
        Whether the perceptron predicts with the average of its weights. It may err on data that
        its last weights separate: so this is for studies without a verdict.
    proofs : bool
        Whether to go on for the margin, the lower bound on mistakes and the like; without, only
        the model is wanted.
    """

    fit_intercept: bool = True
    positive: Hashable = None
    order: str = "permuted"
    epochs: int | None = None
    seed: int = 0
    budget: float | None = None
    verdict: bool = True
    average: bool = False
    proofs: bool = True

    @property
    def rule(self) -> str:
        """What the perceptron predicts with."""
        return "average" if self.average else "perceptron"


@dataclass(frozen=True)
class Case:
    """One class against another, or against the rest (``negative`` is None)."""

    positive: Label
    negative: Label
    verdict: Verdict
    recession: Recession | None = None
    errors: int | None = None
    bound: ErrorBound | None = None

    @property
    def least_errors(self) -> int | None:
        """No hyperplane makes fewer mistakes: proved."""
        return None if self.bound is None else int(self.bound.bound)


@dataclass(frozen=True)
class Run:
    """What the perceptron did."""

    clean: bool
    mistakes: int
    epochs: int
    seconds: float


class Clock:
    """The budget, shared by the steps."""

    def __init__(self, seconds: float | None) -> None:
        self.end = None if seconds is None else time.monotonic() + seconds

    def part(self, share: float) -> float | None:
        """A share of the seconds that are left, never quite none."""
        return None if self.end is None else max(0.01, share * (self.end - time.monotonic()))

    @property
    def over(self) -> bool:
        """Whether nothing is left of it."""
        return self.end is not None and time.monotonic() >= self.end

    def limits(self) -> Limits:
        """All that is left of it."""
        return Limits(seconds=None if self.end is None else max(0.0, self.end - time.monotonic()))


def check_width(n_features: int) -> None:
    """Raise ValueError if there are so many features that the rules alone would fill the memory.

    The system would not say so, but end the program: a single wrong index is enough.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        return
    if 8 * n_features * _RULES > memory:
        raise ValueError(
            f"it has {n_features:,} features, and rules of so many weights do not fit into memory."
        )


def one_against_rest(y: Labels, positive: Hashable) -> Labels:
    """With a positive class among several: its label, and a smaller one for all others."""
    if positive is None:
        return y
    chosen = y == np.asarray(positive)
    if not np.any(chosen):
        raise ValueError(f"No row has the label {positive!r}, which was to be positive.")
    if len(np.unique(y)) <= 2:
        return y
    return np.where(chosen, check_rest(positive), REST)


def check_rest(positive: object) -> str:
    """The name of a positive class beside the rest, which must come before it."""
    name = str(positive)
    if not name > REST:
        raise ValueError(f"The label {name!r} cannot be told from {REST!r}: rename it.")
    return name


def run_perceptron(
    X: Matrix | CodedBlocks, y: Labels | None, options: Options, seconds: float | None
) -> tuple[Perceptron, Run]:
    """The perceptron from zero weights, within its epochs."""
    size = max(1, _entries(X))
    epochs = options.epochs or int(np.clip(_ENTRIES // size, _LEAST, _MOST))
    began = time.perf_counter()
    model = perceptron_of(options, epochs, seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the report says so itself
        model.fit(X, y)
    took = time.perf_counter() - began
    return model, Run(model.converged_, model.n_mistakes_, model.n_iter_, took)


def _entries(X: Matrix | CodedBlocks) -> int:
    """How many numbers a pass looks at, about."""
    if isinstance(X, CodedBlocks):
        return (X.n_rows or 1) * min(X.n_features, 1000)
    return int(X.size if isinstance(X, np.ndarray) else X.nnz)


def perceptron_of(options: Options, epochs: int, seconds: float | None) -> Perceptron:
    """A perceptron that has learned nothing yet."""
    return Perceptron(
        fit_intercept=options.fit_intercept,
        order=options.order,
        average="averaged" if options.average else False,
        max_epochs=epochs,
        max_seconds=seconds,
        random_state=options.seed,
        n_jobs=cores(),
    )
