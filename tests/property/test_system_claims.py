"""All proved numbers of systems, on floats of every size, compared with exact oracles.

Rows, equalities, bounds, fixed variables and rows of zeros are drawn from small numbers, from
subnormal numbers, and from numbers between 5e-324 and 1.8e308.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.geometry.passes import OutOfTimeError
from novikoff.proofs.system_certificate import Radius
from novikoff.proofs.system_statement import Constraint, LinearSystem
from novikoff.systems.distances import signed_radius
from novikoff.systems.solution import NamedRow
from novikoff.systems.statement import stated_arrays
from novikoff.systems.system import system_of
from tests.limits import questions

oracle = pytest.importorskip("tests.system_oracle", reason="pplpy is not installed")

SMALL = (0.0, 0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5)
TINY = (0.0, 5e-324, -5e-324, 1e-323, -1.5e-323, 1e-310, 1e-308)
WIDE = (5e-324, -5e-324, 1e-300, 1e-160, 1e160, -2e300, 1.7976931348623157e308, 0.1, 2.0**53)
POOLS = {"small": SMALL, "tiny": TINY, "wide": (*SMALL, *SMALL, *WIDE)}
PROBLEMS = 80  # the number of problems of each kind

Given = dict[str, Any]


def random_arrays(rng: Random, pool: Sequence[float]) -> Given:
    """The arrays of a system, as arguments of ``solve``."""
    n, k, p = rng.randint(0, 5), rng.randint(0, 3), rng.randint(1, 3)

    def numbers(*shape: int) -> Any:
        count = math.prod(shape)
        return np.array([rng.choice(pool) for _ in range(count)]).reshape(shape)

    given: Given = {"A": numbers(n, p), "c": numbers(n)}
    if k:
        given |= {"A_eq": numbers(k, p), "c_eq": numbers(k)}
    for name, none in (("lower", -math.inf), ("upper", math.inf)):
        if rng.random() < 0.5:
            given[name] = np.where([rng.random() < 0.7 for _ in range(p)], numbers(p), none)
    if "lower" in given and "upper" in given:
        fixed = np.isfinite(given["lower"]) & [rng.random() < 0.3 for _ in range(p)]
        given["upper"] = np.where(fixed, given["lower"], given["upper"])
    if rng.random() < 0.3:
        given["strict"] = np.array([rng.random() < 0.5 for _ in range(n)], dtype=bool)
    return given


def model_of(given: Given) -> LinearSystem:
    """The same system in rationals, rows and equalities in one list."""
    (n, p), strict = given["A"].shape, given.get("strict", np.zeros(len(given["c"]), dtype=bool))

    def row(name: str, a: Any, relation: Any, right: float) -> Constraint:
        terms = {j: Fraction(value) for j, value in enumerate(a.tolist()) if value}
        return Constraint(name, terms, relation, Fraction(right))

    def bounds(name: str) -> tuple[Fraction | None, ...]:
        values = given.get(name, np.full(p, math.inf)).tolist()
        return tuple(Fraction(value) if math.isfinite(value) else None for value in values)

    rows = [
        row(f"r{i}", given["A"][i], "<" if strict[i] else "<=", float(given["c"][i]))
        for i in range(n)
    ]
    for i, right in enumerate(given.get("c_eq", np.zeros(0)).tolist()):
        rows.append(row(f"e{i}", given["A_eq"][i], "=", right))
    names = tuple(f"w{j}" for j in range(p))
    return LinearSystem(names, tuple(rows), bounds("lower"), bounds("upper"))


def problems(pool: str) -> Any:
    """Yield random systems with rows or equalities: generator, arrays, rationals, solutions."""
    for seed in range(PROBLEMS):
        rng = Random(f"{pool} {seed}")  # noqa: S311
        given = random_arrays(rng, POOLS[pool])
        if len(given["c"]) + len(given.get("c_eq", ())) > 0:
            model = model_of(given)
            yield rng, given, model, oracle.polyhedron(oracle.rows_of(model), model.d)


def number_of(given: Given, model: LinearSystem, row: NamedRow) -> int:
    m, d = model.m, model.d
    return row.index + {"row": 0, "eq": len(given["c"]), "upper": m, "lower": m + d}[row.kind]


def violation(model: LinearSystem, w: Sequence[Fraction]) -> Fraction:
    """The largest violation of a point, exactly."""
    worst = Fraction(0)
    for row in oracle.rows_of(model):
        slack = row.slack([*w, Fraction(1)])
        worst = max(worst, abs(slack) if row.relation == "=" else -slack)
    return worst


def is_within(value: Fraction | float, bounds: tuple[float, float], share: int = 0) -> bool:
    """Whether an exact number is in an interval, up to a relative error of 2^−bits."""
    if isinstance(value, float):  # infinite
        return bounds[0] <= value <= bounds[1]
    slip = abs(value) / 2**share if share else Fraction(0)
    lo, hi = bounds
    above = lo == -math.inf or (lo < math.inf and Fraction(lo) <= value + slip)
    return above and (hi == math.inf or (hi > -math.inf and Fraction(hi) >= value - slip))


@pytest.mark.parametrize("pool", POOLS)
def test_radius_violation_and_their_certificate(pool: str) -> None:
    kinds = Counter[str]()
    for _, given, model, solutions in problems(pool):
        answer = nv.solve(**given)
        kinds[answer.kind] += 1
        if answer.kind == "undecided":  # numbers exceed the range of floats
            continue
        feasible = not solutions.is_empty()
        assert answer.kind == ("feasible" if feasible else "infeasible"), given
        true = oracle.signed_radius(model, feasible=feasible)
        assert is_within(true, answer.radius, share=100), (given, answer.radius)
        w = answer.w if feasible else answer.least_squares
        assert w is not None
        if np.isfinite(w).all():
            worst = violation(model, [Fraction(value) for value in w.tolist()])
            found = answer.violation
            assert is_within(worst, (np.nextafter(found, -1.0), found)), (given, found)
        assert answer.certificate is not None
        nv.SystemCertificate.from_json(answer.certificate.to_json()).verify(**given)
    assert min(kinds["feasible"], kinds["infeasible"]) >= PROBLEMS // 8
    assert kinds["undecided"] <= PROBLEMS // 20


@pytest.mark.parametrize("pool", POOLS)
def test_what_is_known_of_the_radius_when_time_is_up(pool: str) -> None:
    cut_short = 0
    for rng, given, model, solutions in problems(pool):
        feasible = not solutions.is_empty()
        true = oracle.signed_radius(model, feasible=feasible)
        system = system_of(stated_arrays(**given))
        proof = nv.solve(**given).certificate
        for most in rng.sample(range(60), 5):
            try:
                found = signed_radius(system, questions(most), feasible=feasible)
            except OutOfTimeError:
                cut_short += 1
                continue
            bounds = (found.least, found.most) if isinstance(found, Radius) else found
            assert is_within(true, bounds, share=100), (given, most, bounds)
            if isinstance(found, Radius) and proof is not None:
                replace(proof, radius=found).verify(**given)
    assert cut_short > 0


@pytest.mark.parametrize("pool", POOLS)
def test_conflicts_share_no_row_and_none_is_superfluous(pool: str) -> None:
    for _, given, model, solutions in problems(pool):
        found, used = nv.conflicts(**given), set[int]()
        assert (len(found) > 0) == solutions.is_empty() or not found.complete, given
        for answer in found.solutions:
            rows = {number_of(given, model, row) for row in answer.conflict}
            assert not used & rows, given
            used |= rows
            stated = {k: model.row(k) for k in rows}
            assert not oracle.is_feasible(stated.values(), model.d), given
            for k in rows:
                others = [row for i, row in stated.items() if i != k]
                assert oracle.is_feasible(others, model.d), given
            assert answer.certificate is not None
            answer.certificate.verify(**given)
        if found.complete:
            assert oracle.is_feasible(oracle.rows_of(model, frozenset(used)), model.d), given


@pytest.mark.parametrize("pool", POOLS)
def test_best_values_and_nearest_points(pool: str) -> None:
    kinds = Counter[str]()
    for rng, given, *_ in problems(pool):
        given.pop("strict", None)
        model = model_of(given)
        solutions = oracle.polyhedron(oracle.rows_of(model), model.d)
        if solutions.is_empty():
            continue
        maximise = rng.random() < 0.5
        sign = -1 if maximise else 1
        f = [rng.choice(POOLS[pool]) for _ in range(model.d)]
        terms = {j: sign * Fraction(value) for j, value in enumerate(f) if value}
        least = oracle.least_value(solutions, terms)
        best = nv.linear_program(f, **given, maximise=maximise)
        kinds[best.kind] += 1
        if least is None:
            assert best.kind in ("unbounded", "undecided"), given
            assert best.value.lo == -math.inf if sign > 0 else best.value.hi == math.inf
        else:
            assert best.kind in ("optimal", "undecided"), given
            assert is_within(sign * least, best.value), (given, best.value)
            assert best.exact_value in (None, sign * least)
        w0 = [rng.choice(SMALL) for _ in range(model.d)]
        nearest = nv.solve(**given, point="nearest", w0=w0)
        if nearest.exact_w is None or not nearest.point_found:
            continue
        # w is nearest to w0 exactly if no solution z has ⟨w0 − w, z⟩ > ⟨w0 − w, w⟩.
        way = [Fraction(a) - b for a, b in zip(w0, nearest.exact_w, strict=True)]
        away = {j: -value for j, value in enumerate(way) if value}
        here = sum((away[j] * nearest.exact_w[j] for j in away), Fraction(0))
        assert not away or oracle.least_value(solutions, away) == here, given
    assert kinds["optimal"] >= PROBLEMS // 20
