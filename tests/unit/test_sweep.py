"""The loop equals the oracle, update for update, for every order, storage and update."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from novikoff.core.ledger import Run
from novikoff.core.orders import Cyclic, Permuted
from novikoff.core.problem import pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector
from novikoff.core.stops import Limits, Stop
from novikoff.core.sweep import run
from novikoff.core.trace import Recorder
from novikoff.core.updates import PA, PA1, PA2, Aggressive, Perceptron, Relaxation, Update
from tests.cases import (
    SEQUENCES,
    STORAGES,
    Planted,
    assert_same_run,
    csr,
    epochs,
    planted,
    planted_integers,
)
from tests.oracle import oracle, signed

# With rows of squared norm 4 every quotient below is a short binary fraction, so that twenty
# updates of any rule are exact however they are summed.
EXACT_UPDATES: list[Update] = [
    Perceptron(),
    Perceptron(margin=3.0, step=0.5),
    Aggressive(step=2.0),
    PA(),
    PA1(C=0.25),
    PA2(C=0.125),
    Relaxation(eta=1.5, margin=1.0),
]
STEPPING = 4  # epochs that every comparison may take


def traced(
    case: Planted,
    order: str,
    update: Update,
    *,
    X: Floats | SparseMatrix | None = None,
    limits: Limits | None = None,
    start: Vector | None = None,
    deck: Indices | None = None,
    weights: Vector | None = None,
    average: bool = False,
) -> Run:
    problem = pose(case.X if X is None else X, case.signs, case.fit_intercept)
    return run(
        problem,
        update,
        SEQUENCES[order](problem.n if deck is None else len(deck)),
        Limits(epochs=STEPPING) if limits is None else limits,
        np.random.default_rng(5),
        start=None if start is None else start[:, None],
        deck=deck,
        weights=weights,
        average=average,
        recorder=Recorder(),
    )


def unit_signs(seed: int, n: int) -> Planted:
    """Rows [±1, ±1, ±1] with a bias: ‖a‖² = 4."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 1.0], size=(n, 3))
    signs = rng.choice([-1, 1], size=n).astype(np.int8)
    return Planted(X, signs, np.zeros(4), True)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("order", SEQUENCES)
def test_every_order_on_every_storage(
    order: str, storage: str, fit_intercept: bool, tmp_path: Path
) -> None:
    case = planted_integers(1, 40, 9, fit_intercept=fit_intercept)
    A = case.rows
    ran = traced(case, order, Perceptron(), X=STORAGES[storage](case.X, tmp_path))
    assert_same_run(ran, oracle(A, epochs(order, A, 5, STEPPING), Perceptron()))


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("update", EXACT_UPDATES, ids=str)
@pytest.mark.parametrize("order", SEQUENCES)
def test_every_order_with_every_update(order: str, update: Update, storage: str) -> None:
    case = unit_signs(2, 8)
    A = case.rows
    X = case.X if storage == "dense" else csr(case.X)
    ran = traced(case, order, update, X=X, limits=Limits(epochs=STEPPING, updates=20))
    expected = oracle(A, epochs(order, A, 5, STEPPING), update, max_updates=20)
    assert len(expected.acts) >= 4
    assert_same_run(ran, expected)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("update", EXACT_UPDATES, ids=str)
def test_real_numbers_make_the_same_updates(update: Update, storage: str) -> None:
    case = planted(3, 60, 17)
    A = case.rows
    X = case.X if storage == "dense" else csr(case.X)
    ran = traced(case, "permuted", update, X=X)
    expected = oracle(A, epochs("permuted", A, 5, STEPPING), update)
    assert ran.trace is not None
    assert ran.trace.index.tolist() == [act.row for act in expected.acts]
    np.testing.assert_allclose(ran.W[:, 0], expected.w, rtol=1e-10, atol=1e-13)
    if not isinstance(update, PA | PA1 | PA2 | Relaxation):
        assert_same_run(ran, expected, exact=False)


@pytest.mark.parametrize("storage", ["f32", "csr_f32_i32"])
def test_float32_is_summed_in_float64(storage: str, tmp_path: Path) -> None:
    case = planted(4, 60, 17)
    X = STORAGES[storage](case.X, tmp_path)
    A = signed(case.X.astype(np.float32), case.signs, True)
    ran = traced(case, "permuted", Perceptron(), X=X)
    expected = oracle(A, epochs("permuted", A, 5, STEPPING), Perceptron())
    assert_same_run(ran, expected, exact=False)


@pytest.mark.parametrize("storage", ["f64", "csr_f64_i32"])
@pytest.mark.parametrize("order", SEQUENCES)
def test_sample_weights(order: str, storage: str, tmp_path: Path) -> None:
    case = planted_integers(6, 40, 6)
    A = case.rows
    weights = np.tile([1.0, 0.0, 0.5, 4.0], 10)
    X = STORAGES[storage](case.X, tmp_path)
    ran = traced(case, order, Perceptron(), X=X, weights=weights)
    expected = oracle(A, epochs(order, A, 5, STEPPING), Perceptron(), weights=weights)
    assert_same_run(ran, expected)
    assert not ran.ledger.counts[1::4].any()


def test_rows_of_weight_zero_cannot_spoil_a_clean_cycle() -> None:
    case = planted_integers(7, 30, 4)
    signs = case.signs.copy()
    signs[::3] *= -1  # wrong labels, but of no weight
    weights = np.where(np.arange(30) % 3 == 0, 0.0, 1.0)
    for order in SEQUENCES:
        ran = traced(
            case._replace(signs=signs), order, Perceptron(), limits=Limits(500), weights=weights
        )
        assert ran.converged


@pytest.mark.parametrize("storage", ["f64", "csr_f64_i32"])
@pytest.mark.parametrize("order", SEQUENCES)
def test_a_deck_is_a_subset_of_the_rows(order: str, storage: str, tmp_path: Path) -> None:
    case = planted_integers(8, 50, 6)
    A = case.rows
    deck = np.array([3, 49, 7, 20, 21, 0, 33, 34, 35, 36, 37, 38, 39])
    X = STORAGES[storage](case.X, tmp_path)
    ran = traced(case, order, Perceptron(), X=X, deck=deck)
    expected = oracle(A, epochs(order, A, 5, STEPPING, deck), Perceptron(), deck=deck)
    assert_same_run(ran, expected)
    assert set(np.flatnonzero(ran.ledger.counts)) <= set(deck.tolist())


@pytest.mark.parametrize("limit", [1, 2, 7, 20])
@pytest.mark.parametrize("order", SEQUENCES)
def test_the_limit_on_updates_is_exact(order: str, limit: int) -> None:
    case = unit_signs(9, 30)  # random labels: no clean cycle ends it sooner
    A = case.rows
    ran = traced(case, order, Perceptron(), limits=Limits(1000, updates=limit))
    assert ran.stops == [Stop.UPDATES]
    assert ran.ledger.updates[0] == limit
    expected = oracle(A, epochs(order, A, 5, 20), Perceptron(), max_updates=limit)
    assert_same_run(ran, expected)


def test_a_limit_of_no_updates_leaves_the_weights_alone() -> None:
    ran = traced(planted_integers(9, 30, 4), "cyclic", Perceptron(), limits=Limits(updates=0))
    assert ran.ledger.updates[0] == 0
    assert not ran.W.any()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("order", SEQUENCES)
def test_start_weights(order: str, fit_intercept: bool) -> None:
    case = planted_integers(10, 40, 5, fit_intercept=fit_intercept)
    A = case.rows
    start = np.array([30.0, -20.0, 10.0, 0.0, -40.0, 7.0])
    kept = start.copy()
    ran = traced(case, order, Perceptron(), start=start)
    assert_same_run(ran, oracle(A, epochs(order, A, 5, STEPPING), Perceptron(), start=start))
    assert start.tolist() == kept.tolist()
    if not fit_intercept:
        assert ran.W[-1, 0] == start[-1]


def test_a_start_that_separates_is_left_alone() -> None:
    case = planted_integers(11, 40, 5)
    ran = traced(case, "cyclic", Perceptron(), start=case.w_star)
    assert ran.converged
    assert ran.ledger.updates[0] == 0
    assert ran.W[:, 0].tolist() == case.w_star.tolist()


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("order", SEQUENCES)
def test_the_average_is_the_mean_of_w_after_every_step(order: str, storage: str) -> None:
    case = planted(12, 40, 6)
    A = case.rows
    start = np.linspace(-1.0, 1.0, 7)
    X = case.X if storage == "dense" else csr(case.X)
    ran = traced(case, order, Perceptron(), X=X, average=True, start=start)
    expected = oracle(A, epochs(order, A, 5, STEPPING), Perceptron(), start=start)
    np.testing.assert_allclose(ran.averaged()[:, 0], expected.mean, rtol=1e-10, atol=1e-12)


def test_the_average_when_the_limit_cuts_an_epoch_short() -> None:
    case = unit_signs(13, 30)
    A = case.rows
    ran = traced(case, "permuted", Perceptron(), limits=Limits(1000, updates=11), average=True)
    expected = oracle(A, epochs("permuted", A, 5, 20), Perceptron(), max_updates=11)
    np.testing.assert_allclose(ran.averaged()[:, 0], expected.mean, rtol=1e-12)


def test_the_average_of_nothing_is_the_start() -> None:
    case = planted_integers(14, 20, 3)
    ran = traced(case, "cyclic", Perceptron(), start=case.w_star, average=True)
    assert ran.averaged()[:, 0].tolist() == case.w_star.tolist()


def test_the_weights_are_the_counted_rows() -> None:
    """The dual view: w = Σ k_i a_i with integer k (A8)."""
    case = planted_integers(15, 40, 6)
    ran = traced(case, "permuted", Perceptron(), limits=Limits(500))
    assert ran.converged
    assert ran.W[:, 0].tolist() == (ran.ledger.counts[:, 0] @ case.rows).tolist()


def test_padding_with_ones_is_an_intercept() -> None:
    """The two forms agree, update for update (A3)."""
    case = planted_integers(16, 40, 6)
    padded = np.column_stack([case.X, np.ones(40)])
    whole = traced(case, "permuted", Perceptron())
    form = Planted(padded, case.signs, np.append(case.w_star, 0.0), False)
    other = traced(form, "permuted", Perceptron())
    assert whole.trace is not None
    assert other.trace is not None
    assert whole.trace.index.tolist() == other.trace.index.tolist()
    assert whole.W[:, 0].tolist() == other.W[:-1, 0].tolist()


@pytest.mark.parametrize("update", [PA(), Relaxation(margin=1.0), Aggressive()], ids=str)
def test_mistakes_are_counted_by_the_sum_from_left_to_right(update: Update) -> None:
    """Three products that cancel exactly in order, and in no other order.

    ⟨a, w⟩ = (1 + 2⁻⁵³) − 1 − … rounds to 0 from left to right, a mistake; grouped in pairs
    of lanes it is positive.
    """
    tiny = 2.0**-53
    w = np.array([1.0, tiny, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    X = np.ones((1, 8))
    A = signed(X, [1], True)
    expected = oracle(A, [[0]], update, start=w)
    assert expected.acts[0].margin == 0.0
    for form in (X, csr(X)):
        problem = pose(form, np.array([1], dtype=np.int8), True)
        ran = run(
            problem, update, Cyclic(), Limits(epochs=1), np.random.default_rng(0), start=w[:, None]
        )
        assert ran.ledger.mistakes[0] == expected.mistakes == 1


@pytest.mark.parametrize("update", EXACT_UPDATES, ids=str)
def test_dense_and_sparse_end_with_the_same_bits(update: Update) -> None:
    case = planted(17, 60, 23)
    X = np.where(np.random.default_rng(0).random(case.X.shape) < 0.6, case.X, 0.0)
    dense = traced(case, "permuted", update, X=X)
    sparse = traced(case, "permuted", update, X=csr(X))
    assert dense.trace is not None
    assert sparse.trace is not None
    assert dense.trace.index.tolist() == sparse.trace.index.tolist()
    assert dense.W.tolist() == sparse.W.tolist()


def test_calls_cut_short_make_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    case = planted(18, 60, 5)
    whole = traced(case, "permuted", Perceptron(), average=True)
    for module in ("novikoff.core.sweep", "novikoff.core.ledger"):
        monkeypatch.setattr(f"{module}.ENTRIES_PER_CALL", 21)
    cut = traced(case, "permuted", Perceptron(), average=True)
    assert whole.trace is not None
    assert cut.trace is not None
    assert cut.trace.index.tolist() == whole.trace.index.tolist()
    assert cut.trace.step.tolist() == whole.trace.step.tolist()
    assert cut.averaged().tolist() == whole.averaged().tolist()
    assert cut.W.tolist() == whole.W.tolist()


def test_the_data_is_not_written() -> None:
    case = planted(19, 30, 5)
    X, signs = case.X.copy(), case.signs.copy()
    ran = traced(case, "permuted", Perceptron(), X=X)
    assert ran.ledger.updates[0] > 0
    assert X.tolist() == case.X.tolist()
    assert signs.tolist() == case.signs.tolist()
    assert X.flags.writeable


HUGE = np.array([[1e200, -1e200], [1e200, 1e200]])
PLUS = np.array([1, 1], dtype=np.int8)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_margin_that_is_not_a_number_is_not_clean(storage: str) -> None:
    """After one update ⟨a_2, w⟩ = ∞ − ∞."""
    problem = pose(HUGE if storage == "dense" else csr(HUGE), PLUS, False)
    with pytest.raises(ValueError, match="range of float64"):
        run(problem, Perceptron(), Cyclic(), Limits(epochs=9), np.random.default_rng(0))


def test_weights_that_overflow_raise() -> None:
    problem = pose(np.array([[1e308]]), np.array([1], dtype=np.int8), True)
    with pytest.raises(ValueError, match="range of float64"):
        run(problem, Perceptron(step=10.0), Cyclic(), Limits(epochs=9), np.random.default_rng(0))


@pytest.mark.parametrize("update", EXACT_UPDATES, ids=str)
@pytest.mark.parametrize("size", [1e154, 1e160, 1e308])
def test_no_run_ends_with_weights_that_are_not_finite(size: float, update: Update) -> None:
    case = planted(20, 30, 4)
    X = case.X / np.abs(case.X).max() * size
    try:
        ran = traced(case, "permuted", update, X=X)
    except ValueError as error:
        assert "range of float64" in str(error)  # noqa: PT017 (either ending is right)
    else:
        assert np.isfinite(ran.W).all()


def test_an_overflow_in_one_lane_does_not_decide() -> None:
    """One of four lanes overflows; the sum from left to right does not, and is negative."""
    w = np.array([1.0, -1.5, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0]) * 2.0**512
    X = np.full((1, 7), 2.0**511)
    A = signed(X, [1], False)
    with np.errstate(over="ignore"):
        expected = oracle(A, [[0]], Perceptron(step=0.0), start=w)
    assert [np.isfinite(act.margin) for act in expected.acts] == [True]
    for form in (X, csr(X)):
        problem = pose(form, np.array([1], dtype=np.int8), False)
        ran = run(
            problem,
            Perceptron(step=0.0),
            Cyclic(),
            Limits(epochs=1),
            np.random.default_rng(0),
            start=w[:, None],
        )
        assert ran.ledger.updates[0] == 1


def test_the_same_seed_gives_the_same_run() -> None:
    case = planted(21, 40, 5)
    problem = pose(case.X, case.signs, True)
    runs = [
        run(problem, Perceptron(), Permuted(), Limits(epochs=3), np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert runs[0].ledger.counts.tolist() == runs[1].ledger.counts.tolist()
    assert runs[0].ledger.counts.tolist() != runs[2].ledger.counts.tolist()


@pytest.mark.parametrize("size", [2.0**-560, 2.0**520])
def test_draws_by_norm_do_not_depend_on_the_scale(size: float) -> None:
    """‖a‖² is beyond float64 while its ratios are not: the draws are the same."""
    case = planted_integers(22, 40, 5, fit_intercept=False)
    plain = traced(case, "random", Perceptron())
    scaled = traced(case, "random", Perceptron(step=1.0 / size), X=case.X * size)
    assert plain.trace is not None
    assert scaled.trace is not None
    assert plain.trace.index.tolist() == scaled.trace.index.tolist()
