"""Margins compared with LIBSVM, and kinds compared with HiGHS, where these are reliable."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import novikoff as nv
from novikoff.core.rows import Vector
from tests.cases import Signs, planted
from tests.oracle import signed

Labels = npt.NDArray[np.bool_]


def bundled() -> dict[str, tuple[Vector, Labels]]:
    """Two classes of each data set that scikit-learn ships, with standardised columns."""
    found = {}
    loaders = {"iris": load_iris, "wine": load_wine, "digits": load_digits}
    for name, load in {**loaders, "cancer": load_breast_cancer}.items():
        X, y = load(return_X_y=True)
        X = StandardScaler().fit_transform(X)
        for label in sorted(set(y.tolist()))[:5]:
            found[f"{name} {label}"] = X, np.asarray(y == label)
    return found


class Gap(NamedTuple):
    margin: float
    converged: bool


def libsvm(X: Vector, y: Labels) -> Gap:
    """LIBSVM's margin; LIBSVM has converged if its hyperplane really has this margin."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svm = import_module("sklearn.svm")  # it has no types
        model = svm.SVC(kernel="linear", C=1e10, tol=1e-6, max_iter=2_000_000).fit(X, y)
    length = float(np.linalg.norm(model.coef_))
    least = float((np.where(y, 1.0, -1.0) * model.decision_function(X)).min())
    return Gap(1.0 / length, abs(least - 1.0) < 1e-5)


def test_the_geometric_margin_is_that_of_libsvm() -> None:
    compared = 0
    for seed in range(12):
        case = planted(seed, 30 + 40 * seed, 2 + seed, gap=0.05 + 0.1 * (seed % 3))
        verdict = nv.separate(case.X, case.signs)
        assert verdict.geometric_margin.relative_width <= 1e-8
        peer = libsvm(case.X, case.signs > 0)
        if peer.converged:
            np.testing.assert_allclose(verdict.geometric_margin, peer.margin, rtol=1e-4)
            compared += 1
    assert compared >= 10


@pytest.mark.parametrize("seed", range(6))
def test_the_padded_margin_is_that_of_libsvm_on_padded_rows(seed: int) -> None:
    """For rows and their mirror images the best bias is zero, so γ has the bias in the norm."""
    case = planted(100 + seed, 60, 4, gap=0.1)
    rows = np.vstack([case.rows, -case.rows])
    peer = libsvm(rows, np.repeat([True, False], len(case.rows)))
    assert peer.converged
    np.testing.assert_allclose(nv.separate(case.X, case.signs).margin, peer.margin, rtol=1e-4)


def highs(rows: Vector) -> str | None:
    """Konis' program: maximise 1ᵀAw under Aw ≥ 0, |w_j| ≤ 1; None if the result is not clear."""
    solved = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
    if solved.fun is None:
        return None
    if solved.fun > -1e-7:
        return "inseparable"
    feasible = linprog(
        np.zeros(rows.shape[1]), A_ub=-rows, b_ub=-np.ones(len(rows)), bounds=(None, None)
    )
    return {0: "separable", 2: "quasi-separable"}.get(feasible.status)


def one_of_each_kind(seed: int) -> tuple[Vector, Signs, bool]:
    """Rows and labels, and whether there is a bias."""
    rng = np.random.default_rng(seed)
    case = planted(seed, 40 + seed, 2 + seed % 7, gap=0.1)
    X, y = case.X.copy(), case.signs.copy()
    if seed % 4 == 1:
        y[rng.integers(len(y), size=2)] *= -1
    if seed % 4 == 2:  # a column that separates some rows and is 0 on the others
        y = rng.choice([-1, 1], size=len(y)).astype(np.int8)
        X = np.column_stack([X, y * (rng.random(len(y)) < 0.3)])
    if seed % 4 == 3:
        X, y = np.round(X), np.sign(np.round(X)[:, 0] + 0.5).astype(np.int8)
    return X, y, bool(seed % 5)


@pytest.mark.parametrize("seed", range(40))
def test_kinds_are_those_of_highs(seed: int) -> None:
    X, y, fit_intercept = one_of_each_kind(seed)
    peer = highs(signed(X, y, fit_intercept)[:, : X.shape[1] + fit_intercept])
    assert peer is not None, seed
    assert nv.separate(X, y, fit_intercept=fit_intercept, goal="kind").kind == peer, seed


def test_kinds_and_margins_on_bundled_data() -> None:
    kinds, compared = [], 0
    for name, (X, y) in bundled().items():
        verdict, kind = nv.separate(X, y), highs(signed(X, np.where(y, 1, -1), True))
        if kind is not None:
            assert verdict.kind == kind, name
            kinds.append(kind)
        svm = libsvm(X, y) if verdict.kind == "separable" else None
        if svm is not None and svm.converged:
            np.testing.assert_allclose(
                verdict.geometric_margin, svm.margin, rtol=1e-4, err_msg=name
            )
            compared += 1
    assert len(kinds) >= 10
    assert len(set(kinds)) >= 2
    assert compared >= 5
