"""Numbers at the limits of float64: verdicts are right or undecided, never wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Vector
from novikoff.geometry.passes import prove_signs
from novikoff.geometry.verdict import Verdict
from tests.cases import Signs, csr, each_of
from tests.separability_oracle import decide, inner, signed_rows, squared_distance

Problem = tuple[Vector, Signs]


def is_never_wrong(X: Vector, y: Signs, fit_intercept: bool) -> Verdict:
    """Decide, and compare every claim with the oracle on the same numbers."""
    verdict = nv.separate(X, y, fit_intercept=fit_intercept)
    top = y.max()
    rows = signed_rows(X, [1 if label == top else -1 for label in y], fit_intercept)
    truth = decide(rows)
    where = (X.tolist(), y.tolist(), fit_intercept)
    assert verdict.kind in (truth.kind, "undecided"), where
    if verdict.certificate is not None:
        nv.Certificate.from_json(verdict.certificate.to_json()).verify(X, y)
        assert verdict.certificate.kind in (truth.kind, "not separable"), where
        assert truth.kind != "separable" or verdict.certificate.kind == "separable", where
    if verdict.kind != "undecided":
        assert verdict.separated_rows.tolist() == truth.separated, where
    lo, hi = verdict.margin
    assert lo <= hi, where
    if truth.kind != "separable":
        assert lo == 0.0, where
    elif len(rows) <= 5:  # with more rows, the exact margin takes long
        squared = squared_distance(rows)
        assert Fraction(lo) ** 2 <= squared, where
        assert math.isinf(hi) or squared <= Fraction(hi) ** 2, where
    assert math.isinf(verdict.radius) or Fraction(verdict.radius) ** 2 >= max(
        inner(row, row) for row in rows
    )
    return verdict


def _split(rng: np.random.Generator, gap: float) -> Problem:
    """Points at least ``gap`` from a random hyperplane, and one at this distance on each side."""
    n, d = rng.integers(4, 13), rng.integers(1, 6)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    y = rng.choice([-1, 1], size=n).astype(np.int8)
    y[:2] = 1, -1
    X = rng.normal(size=(n, d))
    side = np.where(np.arange(n) < 2, gap, rng.uniform(0.2, 2.0, size=n))
    X += np.outer(y * side - X @ w, w)
    X[1] = X[0] - 2.0 * gap * w  # opposite row 0
    return X + rng.normal() * w, y


def _integers(rng: np.random.Generator) -> Problem:
    n, d = rng.integers(1, 11), rng.integers(1, 5)
    X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
    planted = X @ rng.integers(-2, 3, size=d)
    y = np.where(planted > rng.integers(-1, 2), 1, -1).astype(np.int8)
    if rng.random() < 0.4:
        y[rng.integers(n)] *= -1
    return X, y


def _times(*factors: float, rows: bool = False) -> Callable[[np.random.Generator], Problem]:
    """Integers whose columns, or rows, are multiplied by factors drawn from these."""

    def draw(rng: np.random.Generator) -> Problem:
        X, y = _integers(rng)
        return X * rng.choice(factors, size=(len(X), 1) if rows else X.shape[1]), y

    return draw


def _mixed(rng: np.random.Generator) -> Problem:
    X, y = _integers(rng)
    return X * 10.0 ** rng.choice([-300, -200, -12, 0, 0, 0, 12, 150, 200], size=X.shape), y


def _last_bits(rng: np.random.Generator) -> Problem:
    """Points of both classes on a line, moved by one or two units in the last place."""
    n = rng.integers(3, 13)
    t = rng.integers(-8, 9, size=n) * rng.choice([0.1, 1 / 3, 1.0, 1e8 / 7])
    X = np.column_stack([t, 3.0 * t + 1.0])
    X += np.spacing(X) * rng.integers(-1, 2, size=X.shape)
    return X, rng.choice([-1, 1], size=n).astype(np.int8)


FAMILIES: dict[str, Callable[[np.random.Generator], Problem]] = {
    "margin of 1e-9": lambda rng: _split(rng, 1e-9),
    "overlap of 1e-9": lambda rng: _split(rng, -1e-9),
    "margin of 1e-15": lambda rng: _split(rng, 1e-15),
    "overlap of 1e-15": lambda rng: _split(rng, -1e-15),
    "touching": lambda rng: _split(rng, 0.0),
    "columns by 1e±12": _times(1e-12, 1.0, 1e12),
    "columns by 1e±200": _times(1e-200, 1.0, 1e200),
    "columns by 1e±300": _times(1e-300, 1e300),
    "rows by 1e±12": _times(1e-12, 1.0, 1e12, rows=True),
    "rows by 1e±200": _times(1e-200, 1.0, 1e200, rows=True),
    "all by 1e200": _times(1e200),
    "all by 1e308": _times(8e307),
    "all by 1e-200": _times(1e-200),
    "subnormal": _times(5e-324),
    "subnormal columns": _times(5e-324, 1.0, 1e-310),
    "subnormal rows": _times(5e-324, 1.0, 1e-310, rows=True),
    "mixed": _mixed,
    "last bits": _last_bits,
}
DECIDABLE = ["margin of 1e-9", "overlap of 1e-9", "touching", "columns by 1e±12", "last bits"]


def draws(family: str, how_many: int) -> Iterator[tuple[Vector, Signs, bool]]:
    rng = np.random.default_rng(len(family))
    for _ in range(how_many):
        X, y = FAMILIES[family](rng)
        yield X, y, bool(rng.random() < 0.6)


@pytest.mark.parametrize("family", FAMILIES)
def test_extreme_numbers_never_give_a_wrong_verdict(family: str) -> None:
    kinds = Counter(is_never_wrong(*drawn).kind for drawn in draws(family, 40))
    if family in DECIDABLE:
        assert kinds["undecided"] == 0
        assert len(kinds) > 1


@pytest.mark.parametrize("gap", [1e-9, -1e-9])
def test_a_gap_of_a_billionth_among_many_rows(gap: float) -> None:
    """There are too many rows for the oracle, but the gap is known by construction."""
    rng = np.random.default_rng(1)
    t = np.concatenate([rng.uniform(0.0, 1.0, 1000), rng.uniform(-1.0, 0.0, 1000)])
    t[0], t[1000] = 0.0, -gap
    X = np.column_stack([t, rng.normal(size=(2000, 3))])
    X[1000, 1:] = X[0, 1:]  # only the first column separates rows 0 and 1000
    y = np.repeat([1, -1], 1000)
    verdict = nv.separate(X, y)
    assert verdict.kind == ("separable" if gap > 0 else "inseparable")
    assert verdict.certificate is not None
    verdict.certificate.verify(X, y)
    if gap > 0:
        assert 0.0 < verdict.geometric_margin.lo <= verdict.geometric_margin.hi <= gap


@pytest.mark.parametrize("family", ["columns by 1e±12", "mixed", "subnormal rows"])
def test_sparse_rows_never_give_a_wrong_verdict(family: str) -> None:
    for X, y, fit_intercept in draws(family, 15):
        dense = is_never_wrong(X, y, fit_intercept)
        sparse = nv.separate(csr(X), y, fit_intercept=fit_intercept)
        assert "undecided" in (dense.kind, sparse.kind) or dense.kind == sparse.kind
        if sparse.certificate is not None:
            sparse.certificate.verify(X, y)


nasty = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, 5e-324, 2.2e-308, 1e16, 1.0 + 2**-52]),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(lambda m, e: m * 2.0**e, st.integers(-4, 4), st.integers(-1074, 1020)),
)


@settings(max_examples=250)
@given(st.data(), st.booleans())
def test_any_floats_never_give_a_wrong_verdict(data: st.DataObject, fit_intercept: bool) -> None:
    n, d = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    entries = data.draw(st.lists(nasty, min_size=n * d, max_size=n * d))
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    is_never_wrong(np.array(entries).reshape(n, d), np.array(signs, dtype=np.int8), fit_intercept)


@pytest.mark.parametrize("shift", [-500, 0, 400])
def test_a_product_of_exactly_zero_does_not_separate(shift: int) -> None:
    """In floats, the sum of this row is 2 or a different number that is not 0, in most orders."""
    row = np.ldexp([-(2.0**53), -1.0, -1.0, 2.0**53, 2.0], shift)
    X = np.array([row, np.abs(row)])
    problem = signed_problem(X, np.ones(2, dtype=np.int8), False)
    w = np.append(np.ones(5), 0.0)
    assert prove_signs(problem, w) is False
    w[4] += 2.0**-52
    assert prove_signs(problem, w) is True


# Learners: their claims about the training rows agree with `predict`


def labelled(family: str, how_many: int) -> Iterator[tuple[Vector, Signs, bool, int]]:
    """Rows of two classes, or in one case of three, of three classes; with a seed."""
    for k, (X, y, fit_intercept) in enumerate(draws(family, how_many)):
        labels = y.copy()
        labels[0] = -labels[-1]
        if k % 3 == 0:
            labels[1 : len(y) - 1 : 3] = 5
        if len(np.unique(labels)) > 1:
            yield X, labels, fit_intercept, k


def wrong_by_rule(model: Any, X: Any, y: Signs) -> list[int]:
    """The rows on the wrong side of each rule, f(x) = 0 being the negative side."""
    sides = model.model_.sides[np.searchsorted(model.classes_, y)]
    f = model.model_.scores(X)
    return [int(n) for n in ((sides != 0) & ((f > 0.0) != (sides > 0))).sum(axis=0)]


def fits(model: Any, *data: Any, may_refuse: bool = True) -> bool:
    """Whether the learner fits the data; if not, the error must advise to scale it."""
    try:
        model.fit(*data)
    except nv.NotSeparableError:
        raise
    except ValueError as error:
        if may_refuse and "scale" in str(error).lower():
            return False
        raise
    return True


def counts_are_true(model: Any, X: Any, y: Signs) -> None:
    assert np.isfinite(model.coef_).all()
    assert each_of(model.n_errors_) == wrong_by_rule(model, X, y)
    if len(model.classes_) == 2:
        assert model.n_errors_ == np.count_nonzero(model.predict(X) != y)
    for errors, bound, proof in zip(
        *map(each_of, (model.n_errors_, model.errors_lower_bound_, model.certificate_)), strict=True
    ):
        assert bound <= errors
        nv.verify(proof, X, y)


@pytest.mark.usefixtures("brief_descents")
@pytest.mark.parametrize("strategy", ["ratchet", "run_length", "textbook"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_pocket_counts_what_it_predicts(
    family: str, strategy: Literal["ratchet", "run_length", "textbook"]
) -> None:
    for X, y, fit_intercept, k in labelled(family, 6):
        multi_class: Any = "ovo" if k % 2 else "ovr"
        model = nv.Pocket(strategy, fit_intercept=fit_intercept, multi_class=multi_class)
        model.set_params(refine=k % 4 > 1, max_updates=50, random_state=0)
        if fits(model, X, y, may_refuse=strategy == "textbook"):
            counts_are_true(model, X, y)


@pytest.mark.usefixtures("brief_descents")
@pytest.mark.parametrize(
    ("X", "y", "fit_intercept"),
    [
        ([[0.0], [-1e-323], [1e-323], [-1e-323], [0.0], [5e-324]], [0, 1, 1, 0, 1, 1], False),
        ([[1e200, 1e-100], [2e200, -1e-100], [-1e200, 3e-100]] * 2, [0, 1, 1, 1, 0, 0], False),
        ([[-1e100], [0.0], [1e100]], [0, 1, 1], True),
        ([[1e-300], [1e300], [-1e-300]], [0, 1, 1], False),
    ],
)
def test_a_pocket_of_extreme_rows_counts_what_it_predicts(
    X: list[list[float]], y: list[int], fit_intercept: bool
) -> None:
    for refine, rows in product((True, False), (np.array(X), csr(np.array(X)))):
        model = nv.Pocket(fit_intercept=fit_intercept, refine=refine, max_updates=10)
        counts_are_true(model.set_params(random_state=0).fit(rows, y), rows, np.array(y))


@pytest.mark.usefixtures("brief_descents")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_pocket_on_a_cluster_counts_what_it_predicts(family: str) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    from tests.cluster.cases import local_rows

    for X, y, fit_intercept, k in labelled(family, 3):
        model = nv.Pocket(fit_intercept=fit_intercept, refine=k % 2 == 0, max_updates=20)
        if fits(model.set_params(random_state=0), local_rows(X, y, [len(y) // 2])):
            counts_are_true(model, X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "learner",
    [
        nv.MaxMargin(),
        nv.MaxMargin("padded", multi_class="ovo"),
        nv.Perceptron(max_epochs=50, random_state=0),
        nv.Perceptron(max_epochs=50, random_state=0, scale="standard", multi_class="ovo"),
        nv.PassiveAggressive(max_epochs=50, random_state=0),
        nv.PNormPerceptron(max_epochs=50, random_state=0),
        nv.SecondOrderPerceptron(max_epochs=50, random_state=0),
        nv.KernelPerceptron(max_epochs=50, random_state=0),
    ],
    ids=str,
)
def test_what_has_converged_predicts_every_row(learner: Any) -> None:
    """The fit may be rejected if no hyperplane exists, or if numbers are beyond float64."""
    converged = 0
    for family in FAMILIES:
        for X, y, fit_intercept, _ in labelled(family, 6):
            if "fit_intercept" in learner.get_params():
                learner.set_params(fit_intercept=fit_intercept)
            try:
                if not fits(learner, X, y):
                    continue
            except nv.NotSeparableError as error:
                error.certificate.verify(X[error.rows], y[error.rows])
                continue
            if getattr(learner, "converged_", True):
                converged += 1
                errors = np.count_nonzero(learner.predict(X) != y)
                assert errors == getattr(learner, "n_unavoidable_", 0), (family, X.tolist(), y)
    assert converged > 5
