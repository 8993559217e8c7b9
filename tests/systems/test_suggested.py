"""Answers that a float solver suggests: exact, irreducible, and never believed without a proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.geometry.passes import OutOfTimeError
from novikoff.geometry.sparse_solve import solve_sparse
from novikoff.geometry.suggestion import FloatOptimum, NoOptimum, suggested_optimum
from novikoff.systems import (
    float_program,
    linear_program,
    suggested,
    suggested_conflicts,
    suggested_interior,
    suggested_points,
)
from novikoff.systems.conflicts import infeasible_solution
from novikoff.systems.engine import (
    Conflict,
    Point,
    interior_claim,
    point_or_conflict,
    relative_interior,
)
from novikoff.systems.solve import solve_system
from novikoff.systems.statement import stated_arrays
from novikoff.systems.suggested import suggested_decision
from novikoff.systems.system import System, system_of
from tests.limits import interrupted, questions

oracle = pytest.importorskip("tests.system_oracle", reason="pplpy is not installed")

F = Fraction


@pytest.fixture
def float_solver_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Systems of any size are given to the float solver first."""
    monkeypatch.setattr(suggested, "is_for_suggestions", lambda system: True)


FAMILIES = (
    "chance",
    "point",
    "equalities",
    "degenerate",
    "tiny",
    "digits",
    "bounds",
    "transport",
    "schedule",
)


def sparse_system(family: str, seed: int) -> dict[str, Any]:
    """A small sparse system as the arguments of `nv.solve`; about half of them are infeasible."""
    rng = np.random.default_rng([FAMILIES.index(family), seed])
    p, n, m = int(rng.integers(3, 8)), int(rng.integers(4, 12)), 0
    if family == "schedule":  # t_j − t_i ≥ length, with a horizon
        A = np.zeros((n, p))
        for row in A:
            i, j = rng.choice(p, 2, replace=False)
            row[i], row[j] = 1.0, -1.0
        c = -rng.integers(-3, 4, n).astype(float)
        return {"A": sp.csr_array(A), "c": c, "lower": 0.0, "upper": float(rng.integers(1, 9))}
    if family == "transport":
        k = int(rng.integers(2, 4))
        flows = np.kron(np.eye(k), np.ones(3)), np.kron(np.ones(k), np.eye(3))
        supply, demand = rng.integers(1, 9, k), rng.integers(1, 9, 3)
        A = np.vstack([flows[0], -flows[1]])
        return {"A": sp.csr_array(A), "c": np.append(supply, -demand).astype(float), "lower": 0.0}
    digits = 15 if family == "digits" else 0
    A = np.round(rng.uniform(-3, 3, (n, p)), digits) * (rng.random((n, p)) < 0.5)
    z = np.round(rng.uniform(-3, 3, p), digits)
    c = A @ z
    if family in ("chance", "bounds"):
        c = rng.integers(-4, 6, n).astype(float)
    elif family == "tiny":
        c = c - rng.choice([0.0, 1e-6, -1e-9, 1e-10, 1e-14], n)
    elif family == "degenerate":
        c = c + rng.choice([0.0, 0.0, 0.0, 1.0], n) - (rng.random(n) < 0.05)
    else:
        c = c + rng.uniform(-0.1, 1.0, n)
    given: dict[str, Any] = {"A": sp.csr_array(A), "c": c}
    if family == "equalities":
        m = int(rng.integers(1, p))
        E = np.round(rng.uniform(-3, 3, (m, p))) * (rng.random((m, p)) < 0.6)
        given |= {"A_eq": sp.csr_array(E), "c_eq": E @ z + (rng.random(m) < 0.1)}
    if family in ("bounds", "equalities") or rng.random() < 0.5:
        given["lower"] = np.where(rng.random(p) < 0.7, np.floor(z), -np.inf)
        given["upper"] = np.where(rng.random(p) < 0.7, np.floor(z) + rng.integers(0, 3, p), np.inf)
    return given


def is_feasible(system: System, within: Any = None) -> bool:
    numbers = range(system.stated.n) if within is None else within
    rows = [row for row in map(system.stated.row, numbers) if row is not None]
    return bool(oracle.is_feasible(rows, system.p))


def assert_true(system: System, decision: Point | Conflict | None) -> None:
    """The point is a solution, or the conflict a contradiction that needs all of its rows."""
    if isinstance(decision, Point):
        w = system.point(decision.v)
        for number in range(system.stated.n):
            row = system.stated.row(number)
            slack = F(0) if row is None else row.slack((*w, F(1)))
            assert slack == 0 or (slack > 0 and row is not None and row.relation != "=")
    elif decision is not None:
        answer = infeasible_solution(system, decision, {})
        assert answer.proof is not None
        answer.proof.check(system.stated)
        numbers = [*answer.proof.conflict.rows] if answer.proof.conflict else []
        assert not is_feasible(system, numbers)
        for left_out in numbers:
            assert is_feasible(system, [number for number in numbers if number != left_out])


@pytest.mark.parametrize("family", FAMILIES)
def test_a_suggestion_that_is_proved_is_the_answer_of_the_projection(family: str) -> None:
    n_decided = 0
    for seed in range(40):
        system = system_of(stated_arrays(**{"A": None, "c": None, **sparse_system(family, seed)}))
        decision = suggested_decision(system, Limits())
        assert_true(system, decision)
        feasible = is_feasible(system)
        if decision is not None:
            n_decided += 1
            assert isinstance(decision, Point) == feasible
        other = point_or_conflict(system, Limits())
        assert isinstance(other, Point) == feasible
    assert n_decided >= (20 if family == "tiny" else 36)


Lie = Callable[[int, np.random.Generator], Any]


def _wrong_support(n: int, rng: np.random.Generator) -> FloatOptimum:
    return FloatOptimum((rng.random(n) < 0.4).astype(float), np.zeros(0))


# Wrong answers of a float solver about n variables.
LIES: dict[str, Lie] = {
    "infeasible": lambda n, rng: NoOptimum(True),
    "unbounded": lambda n, rng: NoOptimum(False),
    "nothing": lambda n, rng: None,
    "a wrong point": lambda n, rng: FloatOptimum(rng.uniform(-5.0, 5.0, n), np.zeros(0)),
    "zeros": lambda n, rng: FloatOptimum(np.zeros(n), np.zeros(0)),
    "not numbers": lambda n, rng: FloatOptimum(np.full(n, np.nan), np.zeros(0)),
    "infinity": lambda n, rng: FloatOptimum(np.full(n, np.inf), np.zeros(0)),
    "a wrong support": _wrong_support,
}


@cache
def decided(family: str, seed: int) -> tuple[System, bool]:
    """A sparse system, and whether it is feasible."""
    system = system_of(stated_arrays(**{"A": None, "c": None, **sparse_system(family, seed)}))
    return system, is_feasible(system)


@pytest.mark.usefixtures("float_solver_first")
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("family", ["chance", "equalities", "bounds"])
def test_a_solver_that_lies_changes_no_answer(
    family: str, lie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)

    def liar(costs: Any, *_: Any, **__: Any) -> Any:
        if lie == "a wrong support" and not np.any(costs):
            return NoOptimum(True)
        return LIES[lie](len(costs), rng)

    for module in (float_program, suggested_conflicts, suggested_points, suggested_interior):
        monkeypatch.setattr(module, "suggested_optimum", liar)
    for seed in range(12):
        system, feasible = decided(family, seed)
        answer = solve_system(system, Limits())
        assert answer.kind == ("feasible" if feasible else "infeasible"), seed
        assert answer.certificate is not None
        answer.certificate.check(system.stated)


@pytest.mark.usefixtures("float_solver_first")
@pytest.mark.parametrize("family", ["chance", "bounds", "transport"])
def test_kept_rows_and_several_conflicts(family: str) -> None:
    for seed in range(12):
        given = sparse_system(family, seed)
        given["keep"] = [0, 2]
        answer = nv.solve(**given)
        stated = {name: value for name, value in given.items() if name != "keep"}
        assert answer.certificate is not None
        answer.certificate.verify(**stated)
        found = nv.conflicts(**given)
        assert found.complete or all(row.kept for row in found[0])
        assert (len(found) == 0) == (answer.kind == "feasible")


@pytest.mark.parametrize("family", FAMILIES)
def test_implicit_equalities_are_those_of_the_projection(family: str) -> None:
    """A suggested point inside is proved, and names the same rows as the projection."""
    n_proved = 0
    for seed in range(30):
        given = sparse_system(family, seed)
        system = system_of(stated_arrays(**given))
        answer = solve_system(system, Limits())
        found = (
            suggested_interior.suggested_interior(system, Limits())
            if answer.kind == "feasible"
            else None
        )
        if found is None:
            continue
        n_proved += 1
        assert answer.proof is not None
        point, implicit = interior_claim(system, *found)
        replace(answer.proof, point=point, implicit=implicit).verify(**given)
        by_projection = relative_interior(system, Limits())[1]
        inequalities = [
            {k for k in claim.rows if not system.stated.is_equality(k)}
            for claim in (implicit, by_projection)
        ]
        assert inequalities[0] == inequalities[1], seed
    assert n_proved >= 3


@pytest.mark.parametrize("family", FAMILIES)
def test_a_suggested_optimum_is_that_of_newtons_method(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value and kind do not depend on the engine, and the dual variables prove the value."""
    n_proved = 0
    for seed in range(20):
        given = sparse_system(family, seed)
        p = given["A"].shape[1]
        f = np.random.default_rng(seed).integers(-5, 6, p).astype(float)
        answers = []
        for suggest in (True, False):
            monkeypatch.setattr(linear_program, "is_for_suggestions", lambda _, s=suggest: s)
            answers.append(nv.linear_program(f, **given))
        first, second = answers
        assert (first.kind, first.exact_value) == (second.kind, second.exact_value), seed
        if first.kind != "optimal":
            continue
        n_proved += 1
        stated = first.solution.system.stated
        assert first.exact_w is not None
        total, sums = F(0), [F(value) for value in f]
        for dual in first.dual:
            start = {"row": 0, "eq": stated.first_equality, "upper": stated.m,
                     "lower": stated.m + stated.d}[dual.kind]  # fmt: skip
            row = stated.row(start + dual.index)
            assert row is not None
            assert dual.multiplier > 0 or row.relation == "="
            total -= row.sign * dual.multiplier * row.right
            for j, value in row.terms.items():
                sums[j] += row.sign * dual.multiplier * value
        assert not any(sums)
        assert total == first.exact_value
        assert sum((F(a) * b for a, b in zip(f, first.exact_w, strict=True)), F(0)) == total
        assert first.solution.certificate is not None
        first.solution.certificate.verify(**given)
    assert n_proved >= 1


@pytest.mark.usefixtures("float_solver_first")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_rows_of_the_largest_violation_have_a_conflict(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a system that is too large for the program of Gleeson and Ryan."""
    monkeypatch.setattr(suggested_conflicts, "_MAX_COLUMNS", 0)
    for seed in range(20):
        system, feasible = decided(family, seed)
        assert_true(system, suggested_decision(system, Limits()))
        assert solve_system(system, Limits()).kind == ("feasible" if feasible else "infeasible")


def test_equalities_that_contradict_each_other_are_found_in_a_large_system() -> None:
    n = 3000
    ring = sp.eye_array(n) - sp.eye_array(n, k=1) - sp.eye_array(n, k=1 - n)
    answer = nv.solve(
        -sp.eye_array(n, format="csr"), np.zeros(n), A_eq=sp.csr_array(ring), c_eq=np.ones(n)
    )
    assert (answer.kind, len(answer.conflict)) == ("infeasible", n)


def test_trivial_conflicts_are_found_first() -> None:
    """A row that contradicts the bounds of its variables has no other rows beside it."""
    given: dict[str, Any] = {
        "A": sp.eye_array(5, format="csr") - sp.eye_array(5, k=1),
        "c": [9.0] * 5,
    }
    A = sp.vstack([given["A"], sp.csr_array([[1.0, 2.0, 0.0, 0.0, -1.0]])], format="csr")
    decision = suggested_decision(
        system_of(stated_arrays(A, [*given["c"], 1.0], lower=1.0, upper=[9, 9, 9, 9, 1])), Limits()
    )
    assert isinstance(decision, Conflict)
    assert len(decision.rows) == 4
    crossed = system_of(stated_arrays(A, [*given["c"], 1.0], lower=[0, 5, 0, 0, 0], upper=4.0))
    decision = suggested_decision(crossed, Limits())
    assert isinstance(decision, Conflict)
    assert len(decision.rows) == 2
    assert_true(crossed, decision)


def test_an_undecided_answer_names_the_suspected_conflict(
    float_solver_first: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conflict that is not proved is told as such, and has no certificate."""

    def too_late(*_: Any, **__: Any) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(suggested_conflicts, "proved_conflict", too_late)
    for module in (suggested, suggested_conflicts):
        monkeypatch.setattr(module, "point_or_conflict", too_late)
    answer = nv.solve([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], [1.0, -1.0, -1.0])
    assert answer.kind == "undecided"
    assert answer.certificate is None
    assert [row.name for row in answer.suspected] == ["row 0", "row 1", "row 2"]
    assert "not proved: row 0, row 1, row 2" in " ".join(str(answer).split())


@pytest.mark.usefixtures("float_solver_first")
def test_limits_hold_before_a_suggestion() -> None:
    system = system_of(stated_arrays(**sparse_system("transport", 1)))
    assert solve_system(system, interrupted()).kind == "undecided"
    A = np.eye(2)
    assert suggested_optimum(np.ones(2), interrupted(), A_ub=-A, b_ub=-np.ones(2)) is None


@pytest.mark.usefixtures("float_solver_first")
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_limits_hold_during_a_suggestion(k: int) -> None:
    system, feasible = decided("transport", 1)
    kind = "feasible" if feasible else "infeasible"
    assert solve_system(system, questions(k)).kind in ("undecided", kind)


def test_a_float_solver_that_rejects_the_numbers_gives_no_suggestion() -> None:
    A = np.array([[np.nan]])
    assert suggested_optimum(np.ones(1), Limits(), A_ub=A, b_ub=np.ones(1)) is None
    never = suggested_optimum(np.ones(1), Limits(), A_ub=np.eye(1), b_ub=np.array([-1.0]))
    assert never == NoOptimum(True)
    without_end = suggested_optimum(-np.ones(1), Limits(), A_ub=-np.eye(1), b_ub=np.ones(1))
    assert without_end == NoOptimum(False)


@pytest.mark.parametrize("seed", range(30))
def test_sparse_equations_are_solved_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    M = rng.integers(-5, 6, (n, n)) * (rng.random((n, n)) < 3 / n)
    M += np.diag(np.where(np.diag(M) == 0, rng.integers(1, 5, n), 0))
    x = [F(int(a), 7) for a in rng.integers(-9, 9, n)]
    rows = [{j: int(v) for j, v in enumerate(row) if v} for row in M]
    right = [sum((v * x[j] for j, v in row.items()), F(0)) for row in rows]
    found = solve_sparse(rows, right, Limits())
    assert (found is None) == (np.linalg.matrix_rank(M) < n)
    if found is not None:
        assert [found[j] for j in range(n)] == x
        wrong = solve_sparse([*rows, rows[0]], [*right, right[0] + 1], Limits())
        assert wrong is None
        spare = solve_sparse([*rows, rows[0]], [*right, right[0] + 1], Limits(), required=n)
        assert spare == found
    given = {j: F(j) for j in range(n)}
    partly = solve_sparse(rows[:-1], right[:-1], Limits(), given=given)
    assert partly is not None or found is None
    for row, value in zip(rows[:-1], right[:-1], strict=True):
        assert partly is None or sum((v * partly[j] for j, v in row.items()), F(0)) == value
