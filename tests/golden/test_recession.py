"""The fate of a logistic regression's weights, against exact linear programs (C1).

The oracle asks for each weight, over the rationals, whether w_j has a maximum above 0 and a
minimum below 0 over {A w ≥ 0, −1 ≤ w ≤ 1}: by Farkas, whether −e_j and e_j lie outside the cone of
the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

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
from novikoff.geometry.passes import LocalPasses
from novikoff.geometry.recession import logistic_estimates
from novikoff.geometry.row_space import row_space
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


@pytest.mark.parametrize(("factor", "undetermined"), [(2.0, 2), (3.0, 0)])
def test_floats_of_any_size_are_exact(factor: float, undetermined: int) -> None:
    """A third column that is the sum of two up to rounding is not in their span."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(40) * 1e-200, rng.standard_normal(40) * 1e150
    ones = np.ones(40, dtype=np.int8)
    problem = pose(np.column_stack([a, factor * a, b]), ones, True)
    found = logistic_estimates(problem, Columns(range(3)), None, np.arange(0), Limits())
    assert found is not None
    assert list(found.coefficients.values()).count("undetermined") == undetermined


def test_too_many_weights_are_left_open() -> None:
    verdict = nv.separate(np.eye(1600), np.arange(1600) % 2, goal="kind")
    assert (verdict.logistic, verdict.responsible_columns) == (None, None)


@given(tables(), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_the_units_of_columns_do_not_matter(case: tuple[Numbers, Indices, bool], seed: int) -> None:
    """Columns times powers of two have the fates that they had, however large or small."""
    X, y, fit_intercept = case
    scales = 2.0 ** np.random.default_rng(seed).choice([-900, -540, 0, 540, 900], X.shape[1])
    verdict = nv.separate(X * scales, y, fit_intercept=fit_intercept)
    if verdict.logistic is not None:
        assert list(verdict.logistic.values()) == oracle(X, y, fit_intercept)
    if verdict.responsible_columns is not None:
        assert verdict.responsible_columns == responsible(X, y, fit_intercept)


def test_a_sign_is_not_lost_where_a_product_of_weights_underflows() -> None:
    X, y = np.array([[0, -2], [2e300, 2], [-1e300, 0]]), np.array([1, 1, -1])
    verdict = nv.separate(X, y)
    assert list((verdict.logistic or {}).values()) == oracle(X, y, True)
    assert verdict.responsible_columns == responsible(X, y, True) == [0]


# Primes near 2²¹, by which determinants of data may be divisible: no fixed few can be trusted.
PRIMES = (1684679, 2066473, 1947629, 1083793, 1471403, 1054189, 1178897, 2094227, 2097143, 2097133)


@pytest.mark.parametrize("primes", [PRIMES[:8], PRIMES[-2:], PRIMES[::-1]])
def test_no_prime_misleads(primes: tuple[int, ...]) -> None:
    D = np.diag([float(p * q) for p, q in zip(primes[::2], primes[1::2], strict=True)])
    verdict = nv.separate(np.vstack([D, D]), [0] * len(D) + [1] * len(D), fit_intercept=False)
    assert set((verdict.logistic or {}).values()) == {"finite"}


def test_a_large_prime_does_not_mislead_either() -> None:
    """2⁶¹ − 1 is 1 in units of two columns, and the third is their exact sum but for one row."""
    q = 2**61 - 1
    halves = float(2**60), float(2**60 - 2**7), float(2**7 - 1)
    assert sum(map(int, halves)) == q
    X = np.array([[1.0, 0, 0], [0, 1, 0], [*halves[:2], 0], [halves[0], -halves[1], halves[2]]])
    A = np.vstack([X, np.diag([1.0, 1.0, halves[2]])])
    verdict = nv.separate(np.vstack([A, A]), [0] * len(A) + [1] * len(A), fit_intercept=False)
    assert set((verdict.logistic or {}).values()) == {"finite"}


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_row_spaces_are_exact(seed: int) -> None:
    """Units, shares and dependent columns against elimination over the rationals."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    X = rng.integers(-2, 3, size=(n, p)) * rng.choice([1.0, 0.1, 1e-200, 3e200], size=p)
    for j in range(1, p):
        if rng.random() < 0.3:
            X[:, j] = X[:, j - 1] * 2.0**3
    if rng.random() < 0.2:
        X[:, int(rng.integers(p))] = 0.0
    passes = LocalPasses(pose(X, np.ones(n, dtype=np.int8), False))
    rows = np.flatnonzero(rng.random(n) < 0.8)
    space, A = row_space(passes, rows, Limits()), [[Fraction(v) for v in X[i]] for i in rows]
    full = rank_of(A)
    for j in range(p):
        rest = rank_of([row[:j] + row[j + 1 :] for row in A])
        assert space.units[j] == (rest < full and rank_of([*A, unit(j, p)]) == full)
    classes = space.dependent()
    for part in classes:
        rest = rank_of([[row[j] for j in range(p) if j not in part] for row in A])
        assert space.share(part) == full - rest
        assert rank_of([[row[j] for j in part] for row in A]) == full - rest < len(part)
    used = {j for j in range(p) if not space.units[j] and any(row[j] for row in A)}
    assert {j for part in classes for j in part} == used


def unit(j: int, p: int) -> list[Fraction]:
    return [Fraction(int(k == j)) for k in range(p)]


def rank_of(rows: list[list[Fraction]]) -> int:
    """Gaussian elimination over the rationals."""
    rows, rank = [row[:] for row in rows], 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][j]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][j] / rows[rank][j]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


@given(tables(), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_aliased_columns_diverge_as_what_is_left_of_them(
    case: tuple[Numbers, Indices, bool], seed: int
) -> None:
    """Without columns that depend on those before them, the rest of a class says what it does."""
    X, y, fit_intercept = case
    rng = np.random.default_rng(seed)
    double = X[:, [int(rng.integers(X.shape[1]))]] * 2.0
    X = np.hstack([X, double, np.ones((len(X), seed % 2))])
    verdict = nv.separate(X, y, fit_intercept=fit_intercept)
    assert verdict.aliased is not None
    assert verdict.logistic is not None
    names = [*range(X.shape[1]), *["(intercept)"] * fit_intercept]
    A = np.hstack([X, np.ones((len(X), int(fit_intercept)))])
    kept: list[int] = []
    for j in range(A.shape[1]):
        some = [[Fraction(v) for v in row] for row in A[:, [*kept, j]]]
        kept += [j] if rank_of(some) > len(kept) else []
    fate = dict(zip(kept, oracle(A[:, kept], y, False), strict=True)) if kept else {}
    for columns, finite in verdict.aliased:
        own = [fate[names.index(name)] for name in columns if names.index(name) in fate]
        assert finite == all(value == "finite" for value in own)
        assert {verdict.logistic[name] for name in columns} == {"undetermined"}
    told = {name for part in verdict.aliased for name in part.columns}
    undetermined = {name for name, value in verdict.logistic.items() if value == "undetermined"}
    assert {name for name in undetermined if A[:, names.index(name)].any()} == told
