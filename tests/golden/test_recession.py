"""The fate of a logistic regression's weights, against exact linear programs (C1).

The oracle asks for each weight, over the rationals, whether w_j has a maximum above 0 and a
minimum below 0 over {A w ≥ 0, −1 ≤ w ≤ 1}: by Farkas, whether −e_j and e_j lie outside the cone of
the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.problem import pose
from novikoff.core.rows import Indices
from novikoff.core.stops import Limits
from novikoff.core.validation import Columns
from novikoff.geometry.recession import fates
from tests.separability_oracle import decide, in_cone, signed_rows

Numbers = npt.NDArray[np.float64]
SIGNS = {(True, False): "+inf", (False, True): "-inf", (True, True): "diverges"}


def oracle(X: Numbers, y: Indices, fit_intercept: bool) -> list[str]:
    """The fate of each weight, the bias last."""
    rows = signed_rows(X, y.tolist(), fit_intercept)
    both = [*rows, *([-value for value in row] for row in rows)]
    found = []
    for j in range(len(rows[0])):
        up = [int(k == j) for k in range(len(rows[0]))]
        down = [-value for value in up]
        sides = not in_cone(rows, down), not in_cone(rows, up)
        found.append(SIGNS.get(sides, "finite") if in_cone(both, up) else "undetermined")
    return found


def responsible(X: Numbers, y: Indices, fit_intercept: bool) -> list[int]:
    """The columns without which nothing is separated."""
    if decide(signed_rows(X, y.tolist(), fit_intercept)).kind == "inseparable":
        return []
    found = []
    for j in range(X.shape[1]):
        kept = X * (np.arange(X.shape[1]) != j)
        if decide(signed_rows(kept, y.tolist(), fit_intercept)).kind == "inseparable":
            found.append(j)
    return found


def by_the_sign_of_w(verdict: nv.Verdict) -> list[str]:
    """A mutant: the sign of the one hyperplane that was found is taken for that of all."""
    assert verdict.coef is not None
    return ["+inf" if w > 0 else "-inf" for w in [*verdict.coef, verdict.intercept]]


def by_dependence_alone(verdict: nv.Verdict) -> list[str]:
    """A mutant: where one estimate is infinite, none is finite."""
    assert verdict.logistic is not None
    apart = verdict.kind != "inseparable"
    return ["diverges" if apart and f == "finite" else f for f in verdict.logistic.values()]


@st.composite
def tables(draw: st.DrawFn) -> tuple[Numbers, Indices, bool]:
    n, d = draw(st.integers(3, 9)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    y = np.where(rng.integers(0, 2, n) == 0, -1, 1)
    mode = draw(st.sampled_from(["any", "one-sided", "separable"]))
    if mode == "one-sided":
        X[:, 0] = np.abs(X[:, 0])
        y[X[:, 0] > 0] = 1
    elif mode == "separable":
        y = np.where(X @ rng.integers(-2, 3, d) + rng.integers(-1, 2) > 0, 1, -1)
    return X, np.where(y == y.max(), 1, -1), draw(st.booleans())


@given(tables())
@settings(max_examples=200, deadline=None)
def test_it_agrees_with_exact_linear_programs(case: tuple[Numbers, Indices, bool]) -> None:
    X, y, fit_intercept = case
    verdict = nv.separate(X, y, fit_intercept=fit_intercept)
    assert verdict.logistic is not None
    assert list(verdict.logistic.values()) == oracle(X, y, fit_intercept)
    assert verdict.responsible_columns == responsible(X, y, fit_intercept)
    assert list(verdict.logistic) == [*range(X.shape[1]), *["(intercept)"] * fit_intercept]


@given(tables(), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_categories_answer_as_without_their_references(
    case: tuple[Numbers, Indices, bool], n_levels: int, seed: int
) -> None:
    """Reference levels are left out of the oracle's rows, and category columns whole."""
    X, y, fit_intercept = case
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    for name in ("first", "second")[: 1 + seed % 2]:
        frame.insert(0, name, pd.Categorical(rng.integers(0, n_levels, len(y))))
    if seed % 3 == 0:
        frame = frame.drop(columns=[f"x{j}" for j in range(X.shape[1])])
    verdict = nv.separate(frame, y, fit_intercept=fit_intercept)
    fates = verdict.logistic
    assert fates is not None
    assert verdict.responsible_columns is not None
    coded = pd.get_dummies(frame, prefix_sep="=").astype(float)
    references = [name for name, fate in fates.items() if fate == "reference"]
    assert len(references) == frame.shape[1] - (X.shape[1] if seed % 3 else 0) - (not fit_intercept)
    few = coded.drop(columns=references)
    truth = oracle(few.to_numpy(), y, fit_intercept)
    names = [*few.columns, *["(intercept)"] * fit_intercept]
    assert {name: fates[name] for name in names} == dict(zip(names, truth, strict=True))
    alone = [
        name
        for name in frame.columns
        if decide(signed_rows(_without(coded, name), y.tolist(), fit_intercept)).kind
        == "inseparable"
    ]
    assert sorted(map(str, verdict.responsible_columns)) == (
        [] if verdict.kind == "inseparable" else sorted(alone)
    )


def _without(coded: pd.DataFrame, name: str) -> Numbers:
    """The table with zeros in the columns that a column has become."""
    kept = [str(column).split("=")[0] != name for column in coded.columns]
    return np.asarray(coded.to_numpy() * kept)


EITHER = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 3.0], [3.0, 3.0]]), np.array([-1, -1, 1, 1])
QUASI = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]]), np.array([-1, 1, -1, 1])


@pytest.mark.parametrize(
    ("mutant", "case"), [(by_the_sign_of_w, EITHER), (by_dependence_alone, QUASI)]
)
def test_the_oracle_tells_wrong_answers(
    mutant: Callable[[nv.Verdict], list[str]], case: tuple[Numbers, Indices]
) -> None:
    verdict = nv.separate(*case)
    truth = oracle(*case, True)
    assert verdict.logistic is not None
    assert list(verdict.logistic.values()) == truth
    assert mutant(verdict) != truth


def test_dependent_columns_are_not_called_infinite() -> None:
    """x1 = x0 carries no information of its own; only x2 is separated."""
    x = np.array([0.0, 1.0, 0.0, 1.0, 2.0])
    X = np.column_stack([x, x, [0.0, 0.0, 0.0, 0.0, 1.0]])
    verdict = nv.separate(X, [-1, 1, 1, -1, 1])
    assert verdict.kind == "quasi-separable"
    assert verdict.logistic == {
        0: "undetermined", 1: "undetermined", 2: "+inf", "(intercept)": "finite"
    }  # fmt: skip


def test_floats_of_any_size_are_exact() -> None:
    """A third column that is the sum of two up to rounding is not in their span."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(40) * 1e-200, rng.standard_normal(40) * 1e150
    ones = np.ones(40, dtype=np.int8)
    for factor, undetermined in ((2.0, 2), (3.0, 0)):
        problem = pose(np.column_stack([a, factor * a, b]), ones, True)
        found = fates(problem, Columns(range(3)), None, np.arange(0), Limits())
        assert found is not None
        assert list(found.weights.values()).count("undetermined") == undetermined


def test_too_many_weights_are_left_open() -> None:
    verdict = nv.separate(np.eye(1600), np.arange(1600) % 2, goal="kind")
    assert (verdict.logistic, verdict.responsible_columns) == (None, None)
