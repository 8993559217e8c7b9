"""The fewest mistakes by hitting sets of contradictions, against exact brute force."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.problem import Problem, products, signed_problem
from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.implicit_hitting import HitBound, hit_contradictions
from novikoff.geometry.passes import LocalPasses
from novikoff.proofs.error_bound import ErrorBound
from novikoff.proofs.hitting import Branch
from tests.cases import case_named
from tests.claims.oracles import fewest_mistakes
from tests.separability_oracle import signed_rows


def searched(problem: Problem, costs: Vector | None) -> tuple[Fraction, list[HitBound]]:
    """The cost of the best rule that is found, and all bounds."""
    prices = np.ones(problem.n) if costs is None else costs
    best = Fraction(prices.sum())

    def improve(w: Vector) -> Fraction:
        nonlocal best
        wrong = products(problem, w) <= 0.0
        best = min(best, Fraction(prices[wrong].sum()))
        return best

    passes = LocalPasses(problem)
    return best, [*hit_contradictions(passes, (), costs, best, improve, Limits())]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_the_least_cost(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 13)), int(rng.integers(1, 4))
    X, signs = rng.integers(-3, 4, size=(n, d)).astype(float), rng.choice([-1, 1], size=n)
    costs = rng.integers(1, 5, size=n) / 2.0 if weighted else None
    problem = signed_problem(X, signs.astype(np.int8), fit_intercept=True)
    rows = signed_rows(X, signs.tolist(), True)
    exact = [Fraction(1)] * n if costs is None else [Fraction(cost) for cost in costs.tolist()]
    truth = fewest_mistakes(rows, exact)
    _, bounds = searched(problem, costs)
    assert all(hit.bound <= truth for hit in bounds)
    if truth > 0:
        assert bounds[-1].bound == truth


def proved_by_cases() -> tuple[ErrorBound, Any, Any]:
    """A bound whose proof is a tree of cases."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(14, 2)), rng.choice([-1, 1], size=14)
        problem = signed_problem(X, y.astype(np.int8), fit_intercept=True)
        _, bounds = searched(problem, None)
        if bounds and len(bounds[-1].branches) > 1:
            hit = bounds[-1]
            proof: Any = nv.Pocket(random_state=0, max_updates=10).fit(X, y).certificate_
            return (
                replace(
                    proof,
                    bound=hit.bound,
                    contradictions=hit.claims,
                    shares=hit.shares,
                    search=None,
                    branches=hit.branches,
                ),
                X,
                y,
            )
    raise AssertionError("No bound needs a tree of cases.")


def test_a_tree_of_cases_is_checked_and_its_forgeries_are_rejected() -> None:
    proof, X, y = proved_by_cases()
    nv.ErrorBound.from_json(proof.to_json()).verify(X, y)
    leaf = next(k for k, branch in enumerate(proof.branches) if branch.sets)
    larger = replace(proof.branches[leaf], shares=(Fraction(2),) * len(proof.branches[leaf].sets))
    forgeries = [
        replace(proof, branches=()),
        replace(proof, bound=proof.bound + 1),
        replace(proof, branches=proof.branches[:-1]),
        replace(proof, branches=(*proof.branches, Branch(None))),
        replace(proof, branches=(Branch(proof.n), *proof.branches[1:])),
        replace(proof, branches=(*proof.branches[:leaf], larger, *proof.branches[leaf + 1 :])),
        replace(proof, contradictions=proof.contradictions[1:], shares=(proof.shares or ())[1:]),
    ]
    for k, forgery in enumerate(forgeries):
        with case_named(k), pytest.raises(nv.CertificateError):
            forgery.verify(X, y)


def test_a_limit_on_time_proves_the_optimum_by_cases_where_shares_leave_a_gap() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 9))
    y = (X @ rng.normal(size=9) > 0.0) ^ (rng.random(60) < 0.05)
    model: Any = nv.Pocket(random_state=0, max_seconds=60).fit(X, y)
    assert model.optimal_
    nv.verify(model.certificate_, X, y)
