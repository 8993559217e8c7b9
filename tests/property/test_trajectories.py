"""The guarantees about the numbers of the loop.

If sums are exact, dense rows, sparse rows and the oracle make the same updates. In all cases, the
same data, storage and seed give the same bits, however a stream is cut, and each update follows
the rule up to the rounding of a sum.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.model import LinearModel
from novikoff.core.orders import Candidates, Cyclic, Order, Permuted
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Floats, SparseMatrix, Vector
from novikoff.core.runs import Plan, Run, train_rule
from novikoff.core.stops import Limits
from tests.cases import Signs, case_named, csr, update_of
from tests.oracle import Perceptron, oracle, signed

EPOCHS = 6

integers = st.integers(-3, 3).map(float)
# Many magnitudes, with zeros and ties; products of three numbers stay below 1e308.
nasty = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, -5e-324, 2.2e-308, 1e16, 1.0 + 2**-52]
    ),
    st.sampled_from([1e100, -1e100, 1e-100, -1e-100, 3e-160]),
    st.floats(-1e3, 1e3),
    st.builds(lambda m, e: m * 2.0**e, st.floats(-2, 2), st.integers(-600, 150)),
)
orders = st.sampled_from([Cyclic(), Permuted()])


@st.composite
def problems(draw: st.DrawFn, entries: st.SearchStrategy[float]) -> tuple[Vector, Signs]:
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 9))
    X = np.array(draw(st.lists(entries, min_size=n * d, max_size=n * d))).reshape(n, d)
    copies = draw(st.lists(st.integers(0, n - 1), max_size=3))  # duplicates, perhaps
    X = np.vstack([X, X[copies]]) if copies else X
    signs = draw(st.lists(st.sampled_from([-1, 1]), min_size=len(X), max_size=len(X)))
    return X, np.array(signs, dtype=np.int8)


def traced(
    X: Floats | SparseMatrix, signs: Signs, order: Order, fit_intercept: bool, rule: Perceptron
) -> Run:
    plan = Plan(update_of(rule), order, Limits(epochs=EPOCHS), seed=1, trace=True)
    return train_rule(signed_problem(X, signs, fit_intercept), plan)


def path(ran: Run) -> tuple[list[int], list[float]]:
    """The rows that were acted on, and the weights at the end."""
    return ran.traces[0].index.tolist(), ran.W[:, 0].tolist()


@given(problems(integers), st.booleans(), orders, st.sampled_from([-30, 0, 40]))
def test_exact_sums(
    case: tuple[Vector, Signs], fit_intercept: bool, order: Order, exponent: int
) -> None:
    X, signs = case
    X = X * 2.0 ** (0 if fit_intercept else exponent)
    dealt = order.epochs(Candidates(np.arange(len(X))), np.random.default_rng(1))
    epochs = [epoch.tolist() for epoch in itertools.islice(dealt, EPOCHS)]
    expected = oracle(signed(X, signs, fit_intercept), epochs, Perceptron())
    for form in (X, csr(X), X.astype(np.float32), csr(X, np.float32)):
        found = path(traced(form, signs, order, fit_intercept, Perceptron()))
        with case_named(form):
            assert found == ([act.row for act in expected.acts], expected.w.tolist())


@given(problems(nasty), st.booleans(), st.booleans(), orders, st.floats(0, 10))
def test_every_update_follows_the_rule_up_to_rounding(
    case: tuple[Vector, Signs], fit_intercept: bool, sparse: bool, order: Order, delta: float
) -> None:
    X, signs = case
    rule = Perceptron(threshold=delta)
    form = csr(X) if sparse else X
    ran = traced(form, signs, order, fit_intercept, rule)
    assert path(traced(form, signs, order, fit_intercept, rule)) == path(ran)
    A = signed(X, signs, fit_intercept)
    w = np.zeros(A.shape[1])
    for i, m in zip(ran.traces[0].index, ran.traces[0].margin, strict=True):
        assert m <= delta
        terms = [Fraction(a) * Fraction(v) for a, v in zip(A[i].tolist(), w.tolist(), strict=True)]
        rounding = sum(map(abs, terms)) * len(terms) * Fraction(2) ** -52 + Fraction(2) ** -1060
        assert abs(Fraction(float(m)) - sum(terms)) <= rounding
        w += A[i]
    assert ran.W[:, 0].tolist() == w.tolist()


@given(
    problems(nasty),
    st.booleans(),
    st.booleans(),
    st.integers(2, 4),
    st.lists(st.integers(0, 11), max_size=4),
)
def test_a_stream_may_be_cut_anywhere(
    case: tuple[Vector, Signs], sparse: bool, average: bool, n_classes: int, cuts: list[int]
) -> None:
    X, signs = case
    codes = (np.arange(len(X)) + (signs > 0)) % n_classes
    whole, pieces = (
        LinearModel(np.arange(n_classes), X.shape[1], averages=average) for _ in range(2)
    )
    predicted = whole.learn(csr(X) if sparse else X, codes, update_of(Perceptron())).tolist()
    found: list[int] = []
    edges = [0, *sorted(min(cut, len(X)) for cut in cuts), len(X)]
    for first, last in itertools.pairwise(edges):
        part = X[first:last]
        form = csr(part) if sparse else part
        found += pieces.learn(form, codes[first:last], update_of(Perceptron())).tolist()
    assert found == predicted
    assert pieces.W.tolist() == whole.W.tolist()
    assert pieces.weighted.tolist() == whole.weighted.tolist()
    assert pieces.totals.tolist() == whole.totals.tolist()
