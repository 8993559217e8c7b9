"""All verdicts on small integer problems agree with an exact oracle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.geometry.margin import Interval
from novikoff.geometry.verdict import Verdict
from novikoff.geometry.verdict_search import Goal
from tests.cases import Signs, case_named, csr
from tests.separability_oracle import Point, Truth, decide, inner, signed_rows, squared_distance

PER_SEED = 100
TOL = 1e-8


class Case(NamedTuple):
    X: Vector
    y: Signs
    fit_intercept: bool

    @property
    def rows(self) -> list[Point]:
        return signed_rows(self.X, self.signs, self.fit_intercept)

    @property
    def signs(self) -> list[int]:
        """The larger label is positive, also if it is the only label."""
        positive = self.y.max()
        return [1 if label == positive else -1 for label in self.y]


Twist = Callable[[np.random.Generator, Vector, Signs], None]


def _random_labels(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    y[:] = rng.choice([-1, 1], size=len(y))


def _one_class(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    y[:] = rng.choice([-1, 1])


def _a_few_flips(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    y[rng.integers(len(y), size=rng.integers(1, 3))] *= -1


def _points_on_the_hyperplane(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    """Most points of both classes have 1 in the first column; the others lie on their own side."""
    y[:] = rng.choice([-1, 1], size=len(y))
    X[:, 0] = 1 + y * (rng.random(len(y)) < 0.4) * rng.integers(1, 3, size=len(y))


def _on_smaller_and_smaller_faces(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    """In most signed rows, the first column that is not zero is positive."""
    for i in range(len(X)):
        zeros = rng.integers(X.shape[1] + 1)
        X[i, :zeros] = 0
        if zeros < X.shape[1] and rng.random() < 0.8:
            X[i, zeros] = y[i] * (1 + abs(X[i, zeros]))


def _duplicates(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    i, j = rng.integers(len(X), size=(2, 3))
    X[i], y[i] = X[j], y[j]


def _opposite_twins(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    i, j = rng.integers(len(X), size=2)
    X[i], y[i] = X[j], -y[j] if i != j else y[j]


def _mirrored(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    i, j = rng.integers(len(X), size=2)
    X[i], y[i] = -X[j], y[j]


def _collinear(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    i, j, k = rng.integers(len(X), size=3)
    X[i] = X[j] + rng.integers(-2, 4) * (X[k] - X[j])


def _zero_rows(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    X[rng.integers(len(X), size=rng.integers(1, 3))] = 0


def _constant_column(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    X[:, rng.integers(X.shape[1])] = rng.integers(-2, 3)


def _dependent_columns(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    i, j, k = rng.integers(X.shape[1], size=3)
    X[:, i] = X[:, j] - rng.integers(-2, 3) * X[:, k]


def _leave(rng: np.random.Generator, X: Vector, y: Signs) -> None:
    pass


LABELS: list[Twist] = [
    _random_labels,
    _one_class,
    _a_few_flips,
    _points_on_the_hyperplane,
    _on_smaller_and_smaller_faces,
    _leave,
    _leave,
]
TWISTS: list[Twist] = [
    _duplicates,
    _opposite_twins,
    _mirrored,
    _collinear,
    _zero_rows,
    _constant_column,
    _dependent_columns,
    _leave,
    _leave,
    _leave,
]


def problems(seed: int) -> Iterator[Case]:
    """Integer problems of at most 14 rows and 6 weights, most of them degenerate."""
    rng = np.random.default_rng(seed)
    while True:
        fit_intercept = bool(rng.random() < 0.6)
        n, d = rng.integers(1, 15), rng.integers(1, 7 - fit_intercept)
        most = rng.choice([1, 2, 4, 30])
        X = rng.integers(-most, most + 1, size=(n, d)).astype(np.float64)
        sides = X @ rng.integers(-3, 4, size=d) + fit_intercept * rng.integers(-2, 3)
        y = np.where(sides == 0, rng.choice([-1, 1], size=n), np.sign(sides)).astype(np.int8)
        LABELS[rng.integers(len(LABELS))](rng, X, y)
        for k in rng.integers(len(TWISTS), size=2):
            TWISTS[k](rng, X, y)
        yield Case(X, y, fit_intercept)


def judge(case: Case, goal: Goal = "margin") -> Verdict:
    return nv.separate(case.X, case.y, fit_intercept=case.fit_intercept, goal=goal, tol=TOL)


def check(case: Case, verdict: Verdict, truth: Truth) -> None:
    """Check all claims of a decided verdict except its margins."""
    assert verdict.kind == truth.kind, case
    assert verdict.separated_rows.tolist() == truth.separated, case
    check_certificate(case, verdict)
    if truth.kind == "separable":
        check_weights(case, verdict)
    else:
        assert verdict.margin == verdict.geometric_margin == (0.0, 0.0), case
        assert verdict.mistake_bound is None, case
        contradiction = [case.rows[i] for i in verdict.support]
        assert decide(contradiction).kind == "inseparable", case
        assert len(contradiction) <= len(case.rows[0]) + 1, case


def check_certificate(case: Case, verdict: Verdict) -> None:
    """Check that the certificate survives its text and holds, and check its weights exactly."""
    proof = verdict.certificate
    assert proof is not None, case
    assert proof.kind == verdict.kind, case
    again = nv.Certificate.from_json(proof.to_json())
    assert again == proof, case
    nv.verify(again, case.X, case.y)
    sides = products(case, again.w or [Fraction(0)] * len(case.rows[0]))
    assert min(sides) >= 0, case
    assert [i for i, side in enumerate(sides) if side > 0] == verdict.separated_rows.tolist(), case


def check_weights(case: Case, verdict: Verdict) -> None:
    """Check w, R and ⌊R²/γ²⌋ of a separable problem."""
    assert verdict.coef is not None
    assert verdict.intercept is not None
    assert verdict.certificate is not None
    w = verdict.certificate.w or ()
    floats = [*verdict.coef.tolist(), verdict.intercept][: len(w)]
    if min(products(case, [*map(Fraction, floats)])) <= 0:
        # This is allowed only if the proved weights are not floats.
        assert any(Fraction(float(value)) != value for value in w), case
    lo, radius = Fraction(verdict.margin.lo), Fraction(verdict.radius)
    assert min(products(case, w)) ** 2 >= lo**2 * inner(w, w), case
    assert radius**2 >= max(inner(row, row) for row in case.rows), case
    assert verdict.mistake_bound == math.floor((radius / lo) ** 2), case


def check_margins(case: Case, verdict: Verdict) -> None:
    """Check the intervals of a separable problem against the exact margins."""
    squared = squared_distance(case.rows)
    assert contains(verdict.margin, squared), case
    assert verdict.margin.relative_width <= TOL, case
    assert verdict.coef is not None
    assert verdict.intercept is not None
    w = [*map(Fraction, verdict.coef.tolist()), Fraction(verdict.intercept)][: len(case.rows[0])]
    assert min(products(case, w)) > 0, case
    assert len(verdict.support) > 0, case
    on_support = squared_distance([case.rows[i] for i in verdict.support])
    assert on_support <= Fraction(verdict.margin.hi) ** 2, case
    if not case.fit_intercept:
        assert verdict.geometric_margin == verdict.margin, case
    elif len(set(case.y.tolist())) == 1:
        assert verdict.geometric_margin == (math.inf, math.inf), case
    else:
        rows = list(zip(case.rows, case.signs, strict=True))
        ups, downs = ([row for row, sign in rows if sign == side] for side in (1, -1))
        pairs = [[a + b for a, b in zip(up, down, strict=True)] for up in ups for down in downs]
        assert contains(verdict.geometric_margin, squared_distance(pairs) / 4), case
        assert verdict.geometric_margin.relative_width <= TOL, case


def products(case: Case, w: Sequence[Fraction]) -> list[Fraction]:
    return [inner(row, w) for row in case.rows]


def contains(interval: Interval, squared: Fraction) -> bool:
    return Fraction(interval.lo) ** 2 <= squared <= Fraction(interval.hi) ** 2


@pytest.mark.parametrize("part", range(4))
def test_every_verdict_agrees_with_the_oracle(part: int) -> None:
    """There are 2,200 problems, and many of every kind."""
    kinds: Counter[str] = Counter()
    for seed in range(part, 22, 4):
        for case in islice(problems(seed), PER_SEED):
            truth, verdict = decide(case.rows), judge(case)
            check(case, verdict, truth)
            if verdict.kind == "separable":
                check_margins(case, verdict)
            kinds[truth.kind] += 1
    assert min(kinds[kind] for kind in ("separable", "quasi-separable", "inseparable")) >= 80


@pytest.mark.parametrize("seed", range(100, 102))
def test_storage_makes_no_difference(seed: int) -> None:
    for case in islice(problems(seed), PER_SEED // 2):
        kind = decide(case.rows).kind
        names = [f"x{j}" for j in range(case.X.shape[1])]
        for X in (
            case.X.astype(np.float32),
            case.X.astype(np.int16),
            csr(case.X),
            csr(case.X, np.float32, np.int64),
            pd.DataFrame(case.X, columns=names),
            pl.DataFrame(case.X, schema=names),
        ):
            with case_named((case, type(X))):
                verdict = nv.separate(X, case.y, fit_intercept=case.fit_intercept, goal="kind")
                assert verdict.kind == kind
                assert verdict.certificate is not None
                verdict.certificate.verify(case.X, case.y)


@pytest.mark.parametrize("seed", range(200, 202))
def test_the_kind_alone_is_proved_as_well(seed: int) -> None:
    for case in islice(problems(seed), PER_SEED):
        verdict = judge(case, goal="kind")
        check(case, verdict, decide(case.rows))
        if verdict.kind == "separable":
            assert contains(verdict.margin, squared_distance(case.rows)), case


@pytest.mark.parametrize("seed", [300, 301, 302, 307, 311])
def test_scaled_columns_never_change_a_verdict_for_the_worse(seed: int) -> None:
    """Factors of ten round the numbers, so the oracle decides for the floats, not the integers."""
    rng = np.random.default_rng(seed)
    decided = 0
    for case in islice(problems(seed), PER_SEED):
        scales = 10.0 ** rng.integers(-12, 13, size=case.X.shape[1])
        scaled = case._replace(X=case.X * scales)
        verdict = judge(scaled, goal="kind")
        if verdict.kind != "undecided":
            check(scaled, verdict, decide(scaled.rows))
            decided += 1
    assert decided >= PER_SEED // 2
