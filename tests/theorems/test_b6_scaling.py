"""B6: scaling x or μ changes neither mistakes nor bound; translation changes both."""

from __future__ import annotations

import math

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.core.trace import Trace
from novikoff.theory import mistake_bound
from novikoff.theory.bounds import translated_bound
from tests.cases import RULES, Planted, learn, planted
from tests.oracle import Perceptron, Vector

LIMIT = 20_000


def scaled(case: Planted, c: float) -> Planted:
    """Multiply all x by c; w* still separates after its bias is multiplied by c."""
    w_star = case.w_star.copy()
    w_star[-1] *= c
    return case._replace(X=case.X * c, w_star=w_star)


def bound(case: Planted) -> float:
    return mistake_bound(case.radius, case.margin)


def trace_of(case: Planted, rule: str, step: float = 1.0, start: Vector | None = None) -> Trace:
    ran, trace = learn(
        case, rule, Perceptron(step_size=step), Limits(epochs=LIMIT), start=start, seed=3
    )
    assert ran.converged
    return trace


def assert_same_mistakes(one: Trace, other: Trace) -> None:
    assert one.index.tolist() == other.index.tolist()
    assert one.n_steps.tolist() == other.n_steps.tolist()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("c", [2.0**-30, 0.125, 2.0**40, 0.1, 1e-9, 3e7])
def test_scaling_changes_neither_mistakes_nor_bound(rule: str, c: float) -> None:
    """A power of two changes no bit but the exponents."""
    case = planted(1, 60, 4, gap=0.1, fit_intercept=False)
    plain, other = trace_of(case, rule), trace_of(scaled(case, c), rule)
    assert_same_mistakes(plain, other)
    assert bound(scaled(case, c)) == pytest.approx(bound(case), rel=1e-12)
    if math.frexp(c)[0] == 0.5:
        assert (plain.margin * c**2).tolist() == other.margin.tolist()
        assert (plain.squared_norm * c**2).tolist() == other.squared_norm.tolist()
        assert bound(scaled(case, c)) == bound(case)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("step", [2.0**-20, 0.1, 3.0, 2.0**30])
def test_the_step_size_changes_no_mistake_from_zero_weights(rule: str, step: float) -> None:
    case = planted(3, 60, 4, gap=0.1)
    plain, other = trace_of(case, rule), trace_of(case, rule, step)
    assert_same_mistakes(plain, other)
    np.testing.assert_allclose(other.squared_norm, plain.squared_norm * step**2, rtol=1e-9)


def test_translation_changes_mistakes_and_bound() -> None:
    """Rows moved far from the origin keep their shape, and have a larger R/γ."""
    case = planted(4, 60, 2, gap=0.3)
    moved_by = np.array([10.0, -10.0])
    w_star = case.w_star.copy()
    w_star[2] -= moved_by @ w_star[:2]
    moved = case._replace(X=case.X + moved_by, w_star=w_star)
    np.testing.assert_allclose(moved.rows @ w_star, case.rows @ case.w_star, atol=1e-12)
    here, there = trace_of(case, "cyclic"), trace_of(moved, "cyclic")
    assert len(there) > len(here)
    assert bound(moved) > bound(case)
    with pytest.raises(AssertionError):
        assert_same_mistakes(here, there)


def test_scaling_changes_mistakes_if_there_is_an_intercept() -> None:
    """The 1 in [x, 1] is not scaled with x, so that the theorem does not apply."""
    case = planted(5, 60, 4, gap=0.1)
    with pytest.raises(AssertionError):
        assert_same_mistakes(trace_of(case, "cyclic"), trace_of(scaled(case, 0.1), "cyclic"))
    assert bound(scaled(case, 0.1)) != pytest.approx(bound(case))


def test_the_step_size_changes_mistakes_from_other_weights() -> None:
    case = planted(6, 60, 4, gap=0.1)
    start = np.full(5, 3.0)
    with pytest.raises(AssertionError):
        assert_same_mistakes(
            trace_of(case, "cyclic", start=start), trace_of(case, "cyclic", 0.1, start=start)
        )


def test_a_threshold_that_does_not_scale_with_the_data_changes_mistakes() -> None:
    """The mutant is a perceptron whose threshold does not scale with the data."""
    case = planted(7, 60, 4, gap=0.1, fit_intercept=False)
    small = scaled(case, 0.1)
    runs = [
        learn(c, "cyclic", Perceptron(threshold=0.05), Limits(epochs=LIMIT)) for c in (case, small)
    ]
    with pytest.raises(AssertionError):
        assert_same_mistakes(runs[0][1], runs[1][1])


@pytest.mark.parametrize("shift", [0.0, 1.0, 5.0])
def test_mistakes_after_a_translation_stay_below_the_translated_bound(shift: float) -> None:
    """A translation keeps the margin and changes the radius and the bias."""
    rng = np.random.default_rng(6)
    X, w_star, b_star = rng.normal(size=(200, 3)), np.array([1.0, -2.0, 0.5]), 0.25
    f = X @ w_star + b_star
    X, f = X[np.abs(f) > 0.5], f[np.abs(f) > 0.5]
    c = np.full(3, shift)
    bound = translated_bound(X, w_star, b_star, np.abs(f).min(), c)
    clf = nv.Perceptron(order="cyclic", max_epochs=None).fit(X + c, f > 0)
    assert 0 < clf.n_mistakes_ <= bound
    # The same bound, computed from the moved rows themselves.
    moved = np.append(w_star, b_star - w_star @ c)
    A = np.column_stack([X + c, np.ones(len(X))]) * np.sign(f)[:, None]
    direct = (A**2).sum(axis=1).max() * (moved @ moved) / (A @ moved).min() ** 2
    assert bound == pytest.approx(direct)
