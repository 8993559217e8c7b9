"""The quick look in single precision never changes a mistake, a weight or a count."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from novikoff.core import sweep as loop
from novikoff.core.lanes import LANES, Singles
from novikoff.core.ledger import Run
from novikoff.core.margins import norm_bound
from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Floats, Indices, Rows, Vector
from novikoff.core.screen import Screen, allowance, bar, glance, screen_of
from novikoff.core.stops import Limits, Stop
from novikoff.core.updates import PA, PA1, Aggressive, Perceptron, Relaxation, Update, threshold
from tests.cases import SEQUENCES
from tests.oracle import oracle, signed

K = 19  # more than one line of classes
D = 30
STORAGES = ("dense", "csr, int32", "csr, int64")


def blobs(seed: int, n: int = 90, dtype: str = "float64") -> tuple[Floats, Indices]:
    """K classes that overlap a little: some problems end clean, some do not."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(K, size=n)
    X = rng.normal(size=(n, D)) + 2.0 * rng.normal(size=(K, D))[codes]
    X *= rng.random((n, D)) < 0.8
    return X.astype(dtype), codes


def posed(X: Floats, storage: str = "dense", fit_intercept: bool = True) -> Problem:
    signs = np.ones(len(X), dtype=np.int8)
    if storage == "dense":
        return pose(X, signs, fit_intercept)
    matrix = sp.csr_array(X)
    kind = storage.removeprefix("csr, ")
    parts = (matrix.data, matrix.indices.astype(kind), matrix.indptr.astype(kind))
    return pose(sp.csr_array(parts, shape=X.shape), signs, fit_intercept)


def trained(
    problem: Problem,
    codes: Indices,
    update: Update,
    limits: Limits,
    *,
    order: str = "cyclic",
    start: Vector | None = None,
    weights: Vector | None = None,
    average: bool = False,
) -> Run:
    return loop.run(
        problem,
        update,
        SEQUENCES[order](problem.n),
        limits,
        np.random.default_rng(3),
        codes=codes,
        n_classes=K,
        start=start,
        weights=weights,
        average=average,
    )


def without_screen(problem: Problem, W: Vector, delta: float) -> Screen | None:
    return None


def careless(problem: Problem, W: Vector, delta: float) -> Screen | None:
    """A mutant: it believes single precision."""
    screen = screen_of(problem, W, delta)
    return None if screen is None else screen._replace(rounding=0.0, tiny=0.0)


def assert_equal(ours: Run, plain: Run) -> None:
    assert ours.W.tolist() == plain.W.tolist()
    assert ours.ledger.lazy.tolist() == plain.ledger.lazy.tolist()  # the average
    assert ours.ledger.counts.tolist() == plain.ledger.counts.tolist()
    assert ours.ledger.tally().tolist() == plain.ledger.tally().tolist()
    assert ours.epochs.tolist() == plain.epochs.tolist()
    assert ours.stops == plain.stops


class Twice:
    """The same run with the screen and without."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.patch = patch

    def __call__(
        self,
        problem: Problem,
        codes: Indices,
        update: Update,
        epochs: int,
        *,
        updates: int | None = None,
        order: str = "cyclic",
        start: Vector | None = None,
        weights: Vector | None = None,
        average: bool = False,
    ) -> tuple[Run, Run]:
        runs = []
        for screen in (screen_of, without_screen):
            self.patch.setattr(loop, "screen_of", screen)
            runs.append(
                trained(
                    problem,
                    codes,
                    update,
                    Limits(epochs, updates=updates),
                    order=order,
                    start=start,
                    weights=weights,
                    average=average,
                )
            )
        return runs[0], runs[1]


@pytest.fixture
def twice(monkeypatch: pytest.MonkeyPatch) -> Twice:
    return Twice(monkeypatch)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage_makes_the_oracles_mistakes(storage: str, dtype: str, twice: Twice) -> None:
    X, codes = blobs(1, dtype=dtype)
    problem = posed(X, storage)
    assert screen_of(problem, np.zeros((problem.p, K)), 0.0) is not None
    ours, plain = twice(problem, codes, Perceptron(), 8)
    assert_equal(ours, plain)
    for c in range(K):
        rows = signed(X, np.where(codes == c, 1, -1), True)
        found = oracle(rows, [range(len(X))] * 8, Perceptron())
        assert ours.W[:, c].tolist() == found.w.tolist()
        acts = np.bincount([act.row for act in found.acts], minlength=len(X))
        assert ours.ledger.counts[:, c].tolist() == acts.tolist()
        assert ours.ledger.steps[c] == found.steps
        assert ours.ledger.mistakes[c] == found.mistakes


@pytest.mark.parametrize("order", SEQUENCES)
def test_every_order(order: str, twice: Twice) -> None:
    X, codes = blobs(2)
    ours, plain = twice(posed(X), codes, Perceptron(), 12, order=order, average=True)
    assert_equal(ours, plain)


@pytest.mark.parametrize("storage", STORAGES[:2])
@pytest.mark.parametrize("update", [PA(), PA1(C=0.1), Relaxation(margin=1.0)], ids=str)
def test_every_update(update: Update, storage: str, twice: Twice) -> None:
    X, codes = blobs(3)
    assert_equal(*twice(posed(X, storage), codes, update, 3, average=True))


@pytest.mark.parametrize("storage", STORAGES[:2])
def test_weights_a_start_a_limit_and_many_calls(
    storage: str, twice: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "ENTRIES_PER_CALL", 7 * 40 * K)  # a few rows to a call
    X, codes = blobs(4)
    ours, plain = twice(
        posed(X, storage, fit_intercept=False),
        codes,
        Perceptron(margin=0.5, step=0.3),
        20,
        updates=12,
        order="permuted",
        start=np.random.default_rng(0).normal(size=(D + 1, K)),
        weights=np.tile([1.0, 0.0, 0.3], 30),
    )
    assert_equal(ours, plain)
    assert Stop.UPDATES in ours.stops
    assert ours.ledger.updates.max() == 12


@pytest.mark.parametrize("storage", STORAGES[:2])
def test_ties_and_empty_rows(storage: str, twice: Twice) -> None:
    """Small integers: many products are exactly 0, which is a mistake."""
    rng = np.random.default_rng(5)
    X = rng.integers(-1, 2, size=(120, D)).astype(np.float64)
    X[::7] = 0.0
    X[1::9] = X[1]
    codes = rng.integers(K, size=120)
    assert_equal(*twice(posed(np.hstack([X, np.ones_like(X)]), storage), codes, Perceptron(), 6))


def beyond_single(seed: int) -> tuple[Vector, Indices, Vector]:
    """Rows whose products with the start are far below what float32 can see."""
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(100, D)), rng.integers(K, size=100)
    start = np.repeat(rng.normal(size=(D + 1, 1)), K, axis=1)
    X[:, D - 1] = -(X[:, : D - 1] @ start[: D - 1, 0] + start[D, 0]) / start[D - 1, 0]
    X[:, 0] += rng.choice([-1.0, 1.0], size=100) * 1e-9
    return X, codes, start


@pytest.mark.parametrize("storage", STORAGES[:2])
def test_where_single_precision_says_else(
    storage: str, twice: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, codes, start = beyond_single(6)
    update = Perceptron(step=2.0**-60)  # too short to move the rows out of doubt
    ours, plain = twice(posed(X, storage), codes, update, 2, start=start)
    assert_equal(ours, plain)
    monkeypatch.setattr(loop, "screen_of", careless)
    mutant = trained(posed(X, storage), codes, update, Limits(2), start=start)
    assert mutant.ledger.updates.tolist() != plain.ledger.updates.tolist()


@pytest.mark.parametrize("size", [1e-11, 1e11, 1e-30, 1e25, 1e100])
@pytest.mark.parametrize("step", [1e-30, 1.0, 1e25])
def test_sizes_near_and_beyond_the_ends_of_single(
    size: float, step: float, twice: Twice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "ENTRIES_PER_CALL", 7 * 40 * K)
    X, codes = blobs(7)
    assert_equal(*twice(posed(X * size), codes, Perceptron(step=step), 4))


def test_rows_of_every_size_at_once(twice: Twice) -> None:
    rng = np.random.default_rng(8)
    X, codes = blobs(8)
    X = X * 10.0 ** rng.integers(-60, 11, size=X.shape)
    assert_equal(*twice(posed(X), codes, Perceptron(), 6))


def test_where_a_screen_is_of_no_use() -> None:
    X, _ = blobs(9)
    W = np.zeros((D + 1, K))
    assert screen_of(posed(X), W, 0.0) is not None
    assert screen_of(posed(X), W[:, :1], 0.0) is None
    assert screen_of(posed(X[:, :8]), W[:9], 0.0) is None
    assert screen_of(posed(X * 1e20), W, 0.0) is None
    assert screen_of(posed(X), W, threshold(Aggressive())) is None


def test_an_overflow_is_heard() -> None:
    X = np.tile([[1e10, -1e10], [1e10, 1e10], [1.0, 2.0]], 10)
    with pytest.raises(ValueError, match="range of float64"):
        trained(posed(X), np.array([0, 0, 1]), Perceptron(step=1e300), Limits(9))


@njit(cache=True)
def look(rows: Rows, lines: Singles, bars: Singles, out: Singles) -> int:
    return int(glance(rows, 0, 0, lines, bars, out))


NASTY = st.floats(-1e11, 1e11) | st.floats(-1e-30, 1e-30) | st.sampled_from([0.0, 1e-45, -1e-323])


@given(
    row=st.lists(NASTY, min_size=16, max_size=19),
    w=st.lists(NASTY, min_size=20, max_size=20),
    sparse=st.booleans(),
    delta=st.sampled_from([0.0, 1.0, 1e-300, -1e5, 1e20]),
)
@settings(deadline=None)
def test_a_glance_is_within_its_allowance(
    row: list[float], w: list[float], sparse: bool, delta: float
) -> None:
    x = np.array([row])
    problem = posed(x, STORAGES[1] if sparse else STORAGES[0])
    W = np.repeat(np.array(w)[: problem.p, None], 2, axis=1)
    screen = screen_of(problem, W, delta)
    if screen is None:  # too small, too large or too sparse
        return
    size = norm_bound(W[:, 0])
    doubt = allowance(screen.rounding, screen.tiny, problem.radius, size)
    out = np.empty(LANES, dtype=np.float32)
    bars = np.full((1, LANES), bar(delta, doubt), dtype=np.float32)
    unclear = look(problem.rows, screen.lines, bars, out)
    terms = zip([*row, 1.0], W[:, 0].tolist(), strict=True)
    truth = sum((Fraction(a) * Fraction(b) for a, b in terms), Fraction(0))
    assert abs(Fraction(float(out[0])) - truth) <= Fraction(doubt)
    if not unclear & 1:
        assert -truth > Fraction(delta)
