"""On integers, the loop equals the oracle in every update, for every order and storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from novikoff.core.orders import Cyclic, MaxDistance, MaxResidual, Order
from novikoff.core.problem import signed_problem
from novikoff.core.runs import Plan, Run, train_rule
from novikoff.core.stops import Limits, Stop
from tests.cases import (
    SEQUENCES,
    STORAGES,
    Planted,
    assert_same_run,
    average,
    class_name,
    csr,
    epochs,
    learn,
    planted,
    planted_integers,
    update_of,
)
from tests.oracle import PA, PA1, PA2, Aggressive, Perceptron, Relaxation, Rule, oracle, signed
from tests.oracle import tau as oracle_tau

# With rows of squared norm 4 every quotient below is a short binary fraction, so that twenty
# updates of any rule are exact however they are summed.
EXACT_UPDATES: list[Rule] = [
    Perceptron(),
    Perceptron(threshold=3.0, step_size=0.5),
    Aggressive(step_size=2.0),
    PA(),
    PA1(C=0.25),
    PA2(C=0.125),
    Relaxation(eta=1.5, threshold=1.0),
]
STEPPING = 4  # every comparison may take this many epochs


def traced(
    case: Planted, order: str, update: Rule, *, limits: Limits | None = None, **options: Any
) -> Run:
    return learn(case, order, update, limits or Limits(epochs=STEPPING), seed=5, **options)[0]


def unit_signs(seed: int, n: int) -> Planted:
    """Rows [±1, ±1, ±1] with a bias: ‖a‖² = 4."""
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array([-1.0, 1.0]), size=(n, 3))
    signs = rng.choice([-1, 1], size=n).astype(np.int8)
    return Planted(X, signs, np.zeros(4), True)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("order", SEQUENCES)
def test_every_order_on_every_storage(
    storage: str, fit_intercept: bool, order: str, tmp_path: Path
) -> None:
    case = planted_integers(1, 40, 9, fit_intercept=fit_intercept)
    A = case.rows
    ran = traced(case, order, Perceptron(), X=STORAGES[storage](case.X, tmp_path))
    assert_same_run(ran, oracle(A, epochs(order, A, 5, STEPPING), Perceptron()))


@pytest.mark.parametrize("update", EXACT_UPDATES, ids=str)
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("order", SEQUENCES)
def test_every_order_with_every_update(update: Rule, storage: str, order: str) -> None:
    case = unit_signs(2, 8)
    A = case.rows
    X = case.X if storage == "dense" else csr(case.X)
    ran = traced(case, order, update, X=X, limits=Limits(epochs=STEPPING, updates=20))
    expected = oracle(A, epochs(order, A, 5, STEPPING), update, max_updates=20)
    assert len(expected.acts) >= 4
    assert_same_run(ran, expected)


@pytest.mark.parametrize("storage", ["f64", "csr_f64_i32"])
@pytest.mark.parametrize("order", SEQUENCES)
def test_sample_weights(storage: str, order: str, tmp_path: Path) -> None:
    case = planted_integers(6, 40, 6)
    A = case.rows
    weights = np.tile([1.0, 0.0, 0.5, 4.0], 10)
    X = STORAGES[storage](case.X, tmp_path)
    ran = traced(case, order, Perceptron(), X=X, sample_weight=weights)
    expected = oracle(A, epochs(order, A, 5, STEPPING), Perceptron(), sample_weight=weights)
    assert_same_run(ran, expected)
    assert not ran.update_counts.toarray()[0][1::4].any()


@pytest.mark.parametrize("order", SEQUENCES)
def test_rows_of_weight_zero_cannot_spoil_a_clean_cycle(order: str) -> None:
    case = planted_integers(7, 30, 4)
    signs = case.signs.copy()
    signs[::3] *= -1  # the wrong labels have weight 0
    weights = np.where(np.arange(30) % 3 == 0, 0.0, 1.0)
    ran = traced(
        case._replace(signs=signs),
        order,
        Perceptron(),
        limits=Limits(500),
        sample_weight=weights,
    )
    assert ran.converged


@pytest.mark.parametrize("storage", ["f64", "csr_f64_i32"])
@pytest.mark.parametrize(
    "order", [name for name in SEQUENCES if name not in ("random_p", "chaotic")]
)
def test_rows_of_sign_zero_take_no_part(storage: str, order: str, tmp_path: Path) -> None:
    case = planted_integers(8, 50, 6)
    A = case.rows
    candidates = np.array([0, 3, 7, 20, 21, 33, 34, 35, 36, 37, 38, 39, 49])
    signs = np.zeros(50, dtype=np.int8)
    signs[candidates] = case.signs[candidates]
    X = STORAGES[storage](case.X, tmp_path)
    ran = traced(case._replace(signs=signs), order, Perceptron(), X=X)
    expected = oracle(
        A, epochs(order, A, 5, STEPPING, candidates), Perceptron(), candidates=candidates
    )
    assert_same_run(ran, expected)
    assert set(np.flatnonzero(ran.update_counts.toarray()[0])) <= set(candidates.tolist())


@pytest.mark.parametrize("storage", ["f64", "f32", "csr_f64_i32", "csr_f32_i32"])
@pytest.mark.parametrize("update", EXACT_UPDATES, ids=str)
def test_real_numbers_follow_the_rule_up_to_rounding(
    storage: str, update: Rule, tmp_path: Path
) -> None:
    """Replay each update of the trace: its margin, its step, and the weights at the end."""
    case = planted(3, 60, 17)
    X = STORAGES[storage](case.X, tmp_path)
    A = signed(case.X.astype(np.float32) if "f32" in storage else case.X, case.signs, True)
    ran = traced(case, "permuted", update, X=X)
    w = np.zeros(18)
    for i, m, tau in zip(ran.traces[0].index, ran.traces[0].margin, ran.traces[0].tau, strict=True):
        assert m == pytest.approx(A[i] @ w, rel=1e-9, abs=1e-9)
        assert m <= update_of(update).threshold
        assert tau == pytest.approx(oracle_tau(update, m, float(A[i] @ A[i])), rel=1e-9)
        w += tau * A[i]
    np.testing.assert_allclose(ran.W[:, 0], w, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", SEQUENCES)
@pytest.mark.parametrize("limit", [1, 2, 7, 20])
def test_the_limit_on_updates_is_exact(order: str, limit: int) -> None:
    case = unit_signs(9, 30)  # random labels: no clean cycle ends it sooner
    A = case.rows
    ran = traced(case, order, Perceptron(), limits=Limits(1000, updates=limit), average=True)
    assert ran.stops == [Stop.UPDATES]
    assert ran.updates == limit
    expected = oracle(A, epochs(order, A, 5, 20), Perceptron(), max_updates=limit)
    assert_same_run(ran, expected)
    np.testing.assert_allclose(average(ran), expected.mean, rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("order", SEQUENCES)
def test_start_weights(fit_intercept: bool, order: str) -> None:
    case = planted_integers(10, 40, 5, fit_intercept=fit_intercept)
    A = case.rows
    start = np.array([30.0, -20.0, 10.0, 0.0, -40.0, 7.0])
    kept = start.copy()
    ran = traced(case, order, Perceptron(), start=start)
    assert_same_run(ran, oracle(A, epochs(order, A, 5, STEPPING), Perceptron(), start=start))
    assert start.tolist() == kept.tolist()
    if not fit_intercept:
        assert ran.W[:, 0][-1] == start[-1]


@pytest.mark.parametrize("limits", [Limits(9), Limits(updates=0)], ids=str)
def test_a_start_that_separates_is_left_alone(limits: Limits) -> None:
    case = planted_integers(11, 40, 5)
    ran = traced(case, "cyclic", Perceptron(), start=case.w_star, limits=limits, average=True)
    assert ran.converged == (limits.updates is None)
    assert ran.updates == 0
    assert ran.W[:, 0].tolist() == average(ran).tolist() == case.w_star.tolist()


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("order", SEQUENCES)
def test_the_average_is_the_mean_of_w_after_every_step(storage: str, order: str) -> None:
    case = planted(12, 40, 6)
    A = case.rows
    start = np.linspace(-1.0, 1.0, 7)
    X = case.X if storage == "dense" else csr(case.X)
    ran = traced(case, order, Perceptron(), X=X, average=True, start=start)
    expected = oracle(A, epochs(order, A, 5, STEPPING), Perceptron(), start=start)
    np.testing.assert_allclose(average(ran), expected.mean, rtol=1e-10, atol=1e-12)


def test_padding_with_ones_is_an_intercept() -> None:
    """The two forms agree, update for update (A3)."""
    case = planted_integers(16, 40, 6)
    padded = np.column_stack([case.X, np.ones(40)])
    whole = traced(case, "permuted", Perceptron())
    form = Planted(padded, case.signs, np.append(case.w_star, 0.0), False)
    other = traced(form, "permuted", Perceptron())
    assert whole.traces[0].index.tolist() == other.traces[0].index.tolist()
    assert whole.W[:, 0].tolist() == other.W[:, 0][:-1].tolist()


def test_calls_cut_short_make_the_same_run(monkeypatch: pytest.MonkeyPatch) -> None:
    case = planted(18, 60, 5)
    whole = traced(case, "permuted", Perceptron(), average=True)
    monkeypatch.setattr("novikoff.core.runs.ENTRIES_PER_CALL", 21)
    cut = traced(case, "permuted", Perceptron(), average=True)
    assert cut.traces[0].index.tolist() == whole.traces[0].index.tolist()
    assert cut.traces[0].n_steps.tolist() == whole.traces[0].n_steps.tolist()
    assert average(cut).tolist() == average(whole).tolist()
    assert cut.W[:, 0].tolist() == whole.W[:, 0].tolist()


def test_the_data_is_not_written() -> None:
    case = planted(19, 30, 5)
    X, signs = case.X.copy(), case.signs.copy()
    ran = traced(case, "permuted", Perceptron(), X=X)
    assert ran.updates > 0
    assert X.tolist() == case.X.tolist()
    assert signs.tolist() == case.signs.tolist()
    assert X.flags.writeable


HUGE = np.array([[1e200, -1e200], [1e200, 1e200]])
PLUS = np.array([1, 1], dtype=np.int8)


@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("order", [Cyclic(), MaxDistance(), MaxResidual()], ids=class_name)
def test_numbers_beyond_float64_are_not_clean(storage: str, order: Order) -> None:
    """After one update, ⟨a_2, w⟩ is ∞ − ∞ in floats, but 0 (a mistake) in truth; or w overflows."""
    problem = signed_problem(HUGE if storage == "dense" else csr(HUGE), PLUS, False)
    with pytest.raises(ValueError, match="range of float64"):
        train_rule(problem, Plan(update_of(Perceptron()), order, Limits(updates=50)))
    large = np.array([[1e308]])
    problem = signed_problem(large if storage == "dense" else csr(large), PLUS[:1], True)
    with pytest.raises(ValueError, match="range of float64"):
        train_rule(problem, Plan(update_of(Perceptron(step_size=10.0)), order, Limits(updates=50)))


@pytest.mark.parametrize("update", EXACT_UPDATES, ids=str)
@pytest.mark.parametrize("size", [1e154, 1e160, 1e308])
def test_no_run_ends_with_weights_that_are_not_finite(update: Rule, size: float) -> None:
    case = planted(20, 30, 4)
    X = case.X / np.abs(case.X).max() * size
    try:
        ran = traced(case, "permuted", update, X=X)
    except ValueError as error:
        assert "range of float64" in str(error)  # noqa: PT017 (either ending is right)
    else:
        assert np.isfinite(ran.W[:, 0]).all()


@pytest.mark.parametrize("size", [2.0**-560, 2.0**520])
def test_draws_by_norm_do_not_depend_on_the_scale(size: float) -> None:
    """The draws are the same if ‖a‖² is beyond float64, because its ratios are not."""
    case = planted_integers(22, 40, 5, fit_intercept=False)
    plain = traced(case, "random", Perceptron())
    scaled = traced(case, "random", Perceptron(step_size=1.0 / size), X=case.X * size)
    assert plain.traces[0].index.tolist() == scaled.traces[0].index.tolist()
