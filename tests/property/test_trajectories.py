"""Dense, sparse and oracle make the same updates, on integers and on nasty floats alike."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from novikoff.core.orders import Cyclic, Deck, Permuted
from novikoff.core.orders import Sequence as Order
from novikoff.core.problem import pose
from novikoff.core.rows import Floats, SparseMatrix, Vector
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.trace import Recorder
from novikoff.core.updates import Perceptron
from tests.cases import Signs, csr
from tests.oracle import oracle, signed

EPOCHS = 6

integers = st.integers(-3, 3).map(float)
# Many magnitudes at once, zeros and ties included; products of three stay below 1e308.
nasty = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, -5e-324, 2.2e-308, 1e16, 1.0 + 2**-52]
    ),
    st.floats(-1e3, 1e3),
    st.builds(lambda m, e: m * 2.0**e, st.floats(-2, 2), st.integers(-600, 150)),
)
mixed = st.sampled_from([1e100, -1e100, 1e-100, -1e-100, 1.0, -1.0, 0.0, 3e-160])


@st.composite
def problems(draw: st.DrawFn, entries: st.SearchStrategy[float]) -> tuple[Vector, Signs]:
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 9))
    X = np.array(draw(st.lists(entries, min_size=n * d, max_size=n * d))).reshape(n, d)
    copies = draw(st.lists(st.integers(0, n - 1), max_size=3))  # duplicates, perhaps
    X = np.vstack([X, X[copies]]) if copies else X
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=len(X), max_size=len(X)))
    return X, np.array(signs, dtype=np.int8)


Path = tuple[list[int], list[float]]


def path(
    X: Floats | SparseMatrix,
    signs: Signs,
    order: Order,
    *,
    fit_intercept: bool,
    start: Vector | None = None,
    update: Perceptron | None = None,
) -> Path:
    """The rows that were acted on, and the weights at the end."""
    ran = run(
        pose(X, signs, fit_intercept),
        update or Perceptron(),
        order,
        Limits(epochs=EPOCHS),
        np.random.default_rng(1),
        start=None if start is None else start[:, None],
        recorder=Recorder(),
    )
    assert ran.trace is not None
    return ran.trace.index.tolist(), ran.W[:, 0].tolist()


def oracle_path(
    X: Vector,
    signs: Signs,
    order: Order,
    *,
    fit_intercept: bool,
    start: Vector | None = None,
    update: Perceptron | None = None,
) -> Path:
    dealt = order.epochs(Deck(np.arange(len(X))), np.random.default_rng(1))
    epochs = [epoch.tolist() for epoch in itertools.islice(dealt, EPOCHS)]
    A = signed(X, signs, fit_intercept)
    expected = oracle(A, epochs, update or Perceptron(), start=start)
    return [act.row for act in expected.acts], expected.w.tolist()


@given(problems(integers), st.booleans(), st.sampled_from([Cyclic(), Permuted()]))
def test_integers(case: tuple[Vector, Signs], fit_intercept: bool, order: Order) -> None:
    X, signs = case
    dense = path(X, signs, order, fit_intercept=fit_intercept)
    assert dense == path(csr(X), signs, order, fit_intercept=fit_intercept)
    assert dense == oracle_path(X, signs, order, fit_intercept=fit_intercept)


@given(
    problems(nasty), st.booleans(), st.sampled_from([Cyclic(), Permuted()]), st.floats(0, 10), nasty
)
def test_nasty_floats(
    case: tuple[Vector, Signs], fit_intercept: bool, order: Order, delta: float, step: float
) -> None:
    X, signs = case
    update = Perceptron(margin=delta, step=abs(step) or 1.0)
    dense = path(X, signs, order, fit_intercept=fit_intercept, update=update)
    assert dense == path(csr(X), signs, order, fit_intercept=fit_intercept, update=update)
    assert dense == oracle_path(X, signs, order, fit_intercept=fit_intercept, update=update)


@given(problems(mixed), st.booleans())
def test_products_from_the_largest_to_the_vanishing(
    case: tuple[Vector, Signs], fit_intercept: bool
) -> None:
    X, signs = case
    dense = path(X, signs, Cyclic(), fit_intercept=fit_intercept)
    assert dense == path(csr(X), signs, Cyclic(), fit_intercept=fit_intercept)
    assert dense == oracle_path(X, signs, Cyclic(), fit_intercept=fit_intercept)


@given(
    st.integers(0, 2**32),
    st.integers(2, 40),
    st.booleans(),
    st.sampled_from([-300, -80, 0, 70]),
    st.sampled_from([1.0, 2.0**-400]),
)
def test_margins_within_rounding_of_zero(
    seed: int, d: int, fit_intercept: bool, exponent: int, step: float
) -> None:
    """Rows orthogonal to the start but for rounding: only one order of summation is right.

    A step too short to move w leaves every row there; a long one only the first few.
    """
    update = Perceptron(step=step)
    rng = np.random.default_rng(seed)
    start = rng.normal(size=d + 1)
    X = rng.normal(size=(30, d))
    rest = X[:, :-1] @ start[: d - 1] + (start[d] if fit_intercept else 0.0)
    X[:, -1] = -rest / start[d - 1]
    if not fit_intercept:
        X *= 2.0**exponent
    signs = rng.choice([-1, 1], size=30).astype(np.int8)
    signed_rows = (X, signs, Cyclic())
    dense = path(*signed_rows, fit_intercept=fit_intercept, start=start, update=update)
    sparse = path(csr(X), signs, Cyclic(), fit_intercept=fit_intercept, start=start, update=update)
    assert dense == sparse
    expected = oracle_path(*signed_rows, fit_intercept=fit_intercept, start=start, update=update)
    assert dense == expected


@given(st.integers(0, 2**32), st.integers(1, 20))
@example(0, 8)
def test_margins_of_exactly_zero_are_mistakes(seed: int, half: int) -> None:
    """Each entry of w comes twice, in x with opposite signs: the sum is 0 in truth."""
    rng = np.random.default_rng(seed)
    w, x = rng.normal(size=half), rng.normal(size=(10, half))
    start = np.append(np.repeat(w, 2), 0.0)
    X = np.stack([x, -x], axis=2).reshape(10, 2 * half)
    signs = np.ones(10, dtype=np.int8)
    dense = path(X, signs, Cyclic(), fit_intercept=False, start=start)
    assert dense[0][0] == 0
    assert dense == path(csr(X), signs, Cyclic(), fit_intercept=False, start=start)
    assert dense == oracle_path(X, signs, Cyclic(), fit_intercept=False, start=start)


@given(problems(nasty), st.sampled_from([-700, -3, 5, 60]))
def test_float32_rows_are_their_float64_copies(case: tuple[Vector, Signs], exponent: int) -> None:
    X, signs = case
    X = X * 2.0**exponent
    assume(np.abs(X).max() < 1e38)
    single = X.astype(np.float32)
    double = single.astype(np.float64)
    assert path(single, signs, Cyclic(), fit_intercept=True) == path(
        double, signs, Cyclic(), fit_intercept=True
    )
