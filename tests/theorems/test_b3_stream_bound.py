"""B3 on a stream: after t updates, γ ≤ ‖w_t‖/(t·μ) for any rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.jobs.stream_run import Progress, StreamRun
from tests.cases import planted, planted_integers
from tests.oracle import Indices, Vector
from tests.theorems.mutants import Move, against_the_sign, forgets_the_past, path_of


def records(X: Vector, y: Indices, step: float, *, fit_intercept: bool = True) -> list[Progress]:
    """Return the record of the stream after every row."""
    run, found = StreamRun(step_size=step, fit_intercept=fit_intercept), []
    for k in range(len(X)):
        list(run.learn(X[k : k + 1], y[k : k + 1], [-1, 1]))
        found.append(run.progress())
    return found


@settings(deadline=None, max_examples=12)
@given(
    seed=st.integers(0, 10**6),
    make=st.sampled_from([planted, planted_integers]),
    step=st.sampled_from([1.0, 0.3, 1e-3]),
    fit_intercept=st.booleans(),
)
def test_no_margin_exceeds_the_bound(
    seed: int, make: Any, step: float, fit_intercept: bool
) -> None:
    case = make(seed, 60, 4, fit_intercept=fit_intercept)
    y, passes = (case.signs > 0).astype(np.int64), np.tile(np.arange(60), 5)
    verdict = nv.separate(case.X, case.signs, fit_intercept=fit_intercept)
    for record in records(case.X[passes], y[passes], step, fit_intercept=fit_intercept):
        assert record.margin_bound is not None
        assert verdict.margin.lo <= record.margin_bound


@pytest.mark.parametrize("scale", [1.0, 1.0 / 3.0, 0.1])
def test_the_bound_equals_the_margin_of_a_single_row(scale: float) -> None:
    X = np.array([[3.0, 4.0]]) * scale
    (record,) = records(X, np.array([1]), 0.7, fit_intercept=False)
    a = [Fraction(value) for value in X[0].tolist()]
    squared = sum(value * value for value in a)  # γ² of a single row
    assert record.margin_bound is not None
    assert squared <= Fraction(record.margin_bound) ** 2 <= squared * (1 + Fraction(1, 10**12))


def test_the_bound_holds_where_updates_cancel_each_other() -> None:
    """The weights lose digits to cancellation, and the bound allows for this rounding."""
    X = np.array([[1e16, 1.0], [1e16, -1.0]] * 50)
    y = np.array([1, 0] * 50)
    verdict = nv.separate(X[:2], y[:2])
    assert verdict.margin is not None
    for record in records(X, y, 1.0):
        assert record.margin_bound is not None
        assert verdict.margin.lo <= record.margin_bound


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-150, 1e150])
def test_the_bound_holds_at_every_scale(scale: float) -> None:
    """The squares of the rows overflow or underflow; γ is the first entry of every row."""
    X = np.array([[0.1, 1.0], [-0.1, -1.0], [0.1, -1.0], [-0.1, 1.0]] * 300)
    y = np.array([1, 0] * 600)
    gamma = abs(float(X[0, 0] * scale))
    *_, last = records(X * scale, y, 1.0, fit_intercept=False)
    assert last.margin_bound is not None
    assert gamma <= last.margin_bound <= gamma * (1 + 1e-9)


@pytest.mark.parametrize("step", [1e308, 1e-308])
def test_the_bound_holds_for_every_step(step: float) -> None:
    """The product t·μ overflows or underflows."""
    X, y = np.array([[3e-10, 1e-9], [-3e-10, 1e-9]] * 9), np.array([1, 0] * 9)
    *_, last = records(X, y, step, fit_intercept=False)
    assert last.updates > 1
    assert last.margin_bound is not None
    assert last.margin_bound >= 3e-10


@pytest.mark.parametrize("move", [against_the_sign, forgets_the_past])
def test_a_wrong_move_breaks_the_bound_or_never_ends(move: Move) -> None:
    case = planted(3, 60, 4)
    verdict = nv.separate(case.X, case.signs)
    assert verdict.margin is not None
    path = path_of(move, case.rows, [range(60)] * 20)
    t = np.arange(1, len(path) + 1)
    bounds = np.linalg.norm(path, axis=1) / t
    caught = (bounds < verdict.margin.lo).any() or len(path) >= 600
    assert caught


@pytest.mark.parametrize(
    ("options", "classes"), [({"threshold": 1.0}, 2), ({}, 3), ({"class_weight": {0: 2.0}}, 2)]
)
def test_where_the_theorem_does_not_apply_there_is_no_bound(
    options: dict[str, Any], classes: int
) -> None:
    X, run = np.array([[1.0], [-1.0], [2.0]]), StreamRun(**options)
    list(run.learn(X, np.array([0, 1, 2]) % classes, [0, 1, 2]))
    assert run.progress().margin_bound is None


def test_before_the_first_row_there_is_no_bound() -> None:
    assert StreamRun().progress().margin_bound is None
