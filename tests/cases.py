"""Helpers that tests share: data with a known margin, every index rule, and every storage."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.orders import (
    Blocks,
    Candidates,
    Chaotic,
    Cyclic,
    Fixed,
    Order,
    Permuted,
    Random,
    named,
)
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.runs import Plan, Run, train_rule
from novikoff.core.stops import Limits
from novikoff.core.trace import Trace
from novikoff.core.updates import (
    Update,
    aggressive,
    passive_aggressive,
    perceptron,
    relaxation,
)
from tests.oracle import (
    PA,
    PA1,
    PA2,
    Aggressive,
    Perceptron,
    Reference,
    Relaxation,
    Rule,
    signed,
)

Signs = npt.NDArray[np.int8]

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = [0, 1, 1, 0]


@contextmanager
def case_named(case: object) -> Iterator[None]:
    """Name a random case in every error that is raised inside a loop over many of them."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"Case: {case!r}")
        raise


def each_of(value: Any) -> list[Any]:
    """A list of values, one for each rule; with two classes, attributes are single values."""
    return value if isinstance(value, list) else [value]


def class_name(thing: object) -> str:
    """Name a case of `parametrize` after the class of its object."""
    return type(thing).__name__


class Planted(NamedTuple):
    """Rows on the correct side of w*, all at least the margin away."""

    X: Vector
    signs: Signs
    w_star: Vector  # the last entry is the bias; 0 without an intercept
    fit_intercept: bool

    @property
    def rows(self) -> Vector:
        return signed(self.X, self.signs, self.fit_intercept)

    @property
    def margin(self) -> float:
        """The margin of w*, which is a lower bound on the largest margin."""
        return float((self.rows @ self.w_star).min() / np.linalg.norm(self.w_star))

    @property
    def radius(self) -> float:
        return float(np.linalg.norm(self.rows, axis=1).max())


def planted(seed: int, n: int, d: int, *, gap: float = 0.1, fit_intercept: bool = True) -> Planted:
    """Draw normal points with labels by a random w*, without points closer than ``gap`` to it."""
    rng = np.random.default_rng(seed)
    w_star = rng.normal(size=d + 1)
    w_star[d] *= 0.3 * fit_intercept
    w_star /= np.linalg.norm(w_star)
    return _labelled(lambda: rng.normal(size=(2 * n, d)), n, w_star, gap, fit_intercept)


def planted_integers(seed: int, n: int, d: int, *, fit_intercept: bool = True) -> Planted:
    """Draw small integers, many of them 0, so that sums are exact in any order and type."""
    rng = np.random.default_rng(seed)
    w_star = rng.integers(1, 4, size=d + 1) * rng.choice(np.array([-1.0, 1.0]), size=d + 1)
    w_star[d] *= fit_intercept
    shape = (2 * n, d)

    def draw() -> Vector:
        return np.asarray(rng.integers(-4, 5, size=shape) * (rng.random(shape) < 0.7), dtype=float)

    return _labelled(draw, n, w_star, 1.0, fit_intercept)


def noisy(seed: int, n: int, d: int) -> tuple[Vector, Signs]:
    """Small integers with labels by a hyperplane, of which one in five is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, d)).astype(np.float64)
    signs = np.where(X @ rng.integers(1, 4, size=d) > 0, 1, -1)
    return X, (signs * rng.choice([1, 1, 1, 1, -1], size=n)).astype(np.int8)


def labelled(seed: int, n: int, d: int) -> tuple[Vector, Signs]:
    """Normal points with labels by their first feature plus noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1).astype(np.int8)


def _labelled(
    draw: Callable[[], Vector], n: int, w_star: Vector, gap: float, fit_intercept: bool
) -> Planted:
    d = len(w_star) - 1
    X = np.empty((0, d))
    while len(X) < n:
        more = draw()
        X = np.vstack([X, more[np.abs(more @ w_star[:d] + w_star[d]) >= gap]])
    X = np.ascontiguousarray(X[:n])
    signs = np.where(X @ w_star[:d] + w_star[d] > 0, 1, -1).astype(np.int8)
    return Planted(X, signs, w_star, fit_intercept)


def _forever(n: int) -> Iterator[int]:
    """Rows forward, then backward: every row is visited within 2n steps."""
    return itertools.cycle([*range(n), *reversed(range(n))])


SEQUENCES: dict[str, Callable[[int], Order]] = {
    "cyclic": lambda n: Cyclic(),
    "fixed": lambda n: Fixed(),
    "permuted": lambda n: Permuted(),
    "blocks": lambda n: Blocks(size=7),
    "random": lambda n: Random(),
    "random_p": lambda n: Random(p=np.arange(1, n + 1)),
    "chaotic": lambda n: Chaotic(_forever(n), window=2 * n),
}

RULES = [*SEQUENCES, "max_distance", "max_residual"]

STORAGES: dict[str, Callable[[Vector, Path], Floats | SparseMatrix]] = {
    "f64": lambda X, _: X,
    "f32": lambda X, _: X.astype(np.float32),
    "read-only": lambda X, _: _read_only(X),
    "memmap": lambda X, path: _memmap(X, path),
    "csr_f64_i32": lambda X, _: csr(X, np.float64, np.int32),
    "csr_f64_i64": lambda X, _: csr(X, np.float64, np.int64),
    "csr_f32_i32": lambda X, _: csr(X, np.float32, np.int32),
    "csr_f32_i64": lambda X, _: csr(X, np.float32, np.int64),
}


def update_of(rule: Rule) -> Update:
    """The library's update rule for a rule of the oracle."""
    match rule:
        case Perceptron(threshold, step_size):
            return perceptron(threshold, step_size)
        case Aggressive(step_size):
            return aggressive(step_size)
        case PA():
            return passive_aggressive()
        case PA1(C):
            return passive_aggressive(cap=C)
        case PA2(C):
            return passive_aggressive(slack=1.0 / (2.0 * C))
        case Relaxation(eta, threshold):
            return relaxation(eta, threshold)


def csr(X: Vector, dtype: type = np.float64, index: type = np.int32) -> sp.csr_array:
    matrix = sp.csr_array(X.astype(dtype))
    matrix.indices = matrix.indices.astype(index)
    matrix.indptr = matrix.indptr.astype(index)
    return matrix


def epochs(
    name: str, A: Vector, seed: int, limit: int, candidates: Indices | None = None
) -> list[list[int]]:
    """Deal the first epochs of a rule, for the oracle."""
    rows = np.arange(len(A)) if candidates is None else candidates
    norms = np.asarray((A * A).sum(axis=1))[rows]
    dealt = SEQUENCES[name](len(rows)).epochs(
        Candidates(rows, lambda: norms), np.random.default_rng(seed)
    )
    return [epoch.tolist() for epoch in itertools.islice(dealt, limit)]


def learn(
    case: Planted,
    rule: str,
    move: Rule,
    limits: Limits,
    *,
    X: Floats | SparseMatrix | None = None,
    seed: int = 0,
    average: bool = False,
    **options: Any,
) -> tuple[Run, Trace]:
    """Run one of `RULES` on the case, or on ``X`` in its place, traced against w*."""
    order = SEQUENCES[rule](len(case.X)) if rule in SEQUENCES else named(rule)
    problem = signed_problem(case.X if X is None else X, case.signs, case.fit_intercept)
    plan = Plan(update_of(move), order, limits, seed, average, trace=True, reference=case.w_star)
    ran = train_rule(problem, plan, **options)
    return ran, ran.traces[0]


def average(ran: Run) -> Vector:
    """The mean of w over all steps, for a single rule."""
    visited = np.maximum(ran.counts.totals[0], 1)
    return np.asarray((ran.W - ran.counts.weighted / visited)[:, 0])


def assert_same_run(ran: Run, reference: Reference, *, exact: bool = True) -> None:
    """Check that every update of a run equals that of the oracle.

    If sums are ``exact``, as with integers, all bits agree; otherwise numbers agree up to rounding.
    """
    trace = ran.traces[0]
    assert trace is not None
    assert trace.index.tolist() == [act.row for act in reference.acts]
    margin = [act.margin for act in reference.acts]
    tau = [act.tau for act in reference.acts]
    if exact:
        assert trace.margin.tolist() == margin
        assert trace.tau.tolist() == tau
        assert ran.W[:, 0].tolist() == reference.w.tolist()
    else:
        np.testing.assert_allclose(ran.W[:, 0], reference.w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(trace.margin, margin, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(trace.tau, tau, rtol=1e-9)
    assert_books_agree(ran, trace)
    assert ran.mistakes == reference.mistakes
    assert ran.visited == reference.steps
    assert ran.converged == reference.clean


def assert_books_agree(ran: Run, trace: Trace) -> None:
    """Check the counts against the trace."""
    per_row = ran.update_counts.toarray()[0]
    assert ran.updates == len(trace)
    assert per_row.tolist() == np.bincount(trace.index, minlength=len(per_row)).tolist()
    assert np.all(np.diff(trace.n_steps) > 0)


def _read_only(X: Vector) -> Vector:
    X = X.copy()
    X.flags.writeable = False
    return X


def _memmap(X: Vector, path: Path) -> Vector:
    file = path / "X.npy"
    np.save(file, X)
    return np.asanyarray(np.load(file, mmap_mode="r"))
