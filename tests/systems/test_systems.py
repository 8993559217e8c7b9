"""`solve` as its user sees it: points, conflicts, proofs that cannot be altered, and complaints."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.proofs.exact import rounded_up
from novikoff.proofs.system_certificate import Multipliers, Radius
from novikoff.proofs.system_statement import Constraint, LinearSystem, Relation
from novikoff.systems import newton
from novikoff.systems.conflicts import conflicts_of
from novikoff.systems.distances import largest_violation, nearest_boundary, signed_radius
from novikoff.systems.linear_program import optimise
from novikoff.systems.methods.projections import relaxation_method
from novikoff.systems.solution import Solution
from novikoff.systems.solve import solve_system
from novikoff.systems.statement import keep_rows, stated_arrays
from novikoff.systems.system import system_of
from tests.cases import case_named
from tests.limits import interrupted, questions

F = Fraction
WISHES = ["money", "tea", "bread"]
A, C = [[2, 3], [-1, 0], [0, -1]], [10, -2, -3]  # 2 tea + 3 bread ≤ 10, tea ≥ 2, bread ≥ 3


def dense(n: int = 300, p: int = 5, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, p))
    return rows, rows @ rng.standard_normal(p) + rng.uniform(0.1, 1.0, n)


def proof_of(answer: Solution) -> nv.SystemCertificate:
    assert answer.certificate is not None
    return answer.certificate


def model(*rows: Constraint, **more: Any) -> LinearSystem:
    """Rows in free variables x, y and z, as many as they need."""
    p = 1 + max(j for row in rows for j in row.terms)
    return LinearSystem(tuple("xyz"[:p]), rows, (None,) * p, (None,) * p, **more)


def row(name: str, terms: dict[int, Any], relation: Relation, right: Any) -> Constraint:
    return Constraint(name, {j: F(value) for j, value in terms.items()}, relation, F(right))


def test_a_conflict_sums_up_to_a_contradiction() -> None:
    answer = nv.solve(A, C, names=WISHES)
    assert answer.kind == "infeasible"
    assert [(row.kind, row.index, row.name) for row in answer.conflict] == [
        ("row", i, name) for i, name in enumerate(WISHES)
    ]
    weights: Any = [row.multiplier for row in answer.conflict]
    assert not np.dot(weights, A).any()
    assert np.dot(weights, C) < 0
    assert str(answer) == (
        "Infeasible, proved: money, tea and bread contradict each other, and no fewer of them do\n"
        "    (an irreducible infeasible subset, IIS)."
    )
    assert answer.w is None
    assert answer.radius.hi < 0.0
    assert answer.violation > 0.0
    assert answer.interior == "unknown"


def test_names_come_from_a_frame() -> None:
    frame = pd.DataFrame(A, columns=["tea", "bread"], index=WISHES)
    answer = nv.solve(frame, C)
    assert [row.name for row in answer.conflict] == WISHES
    feasible = nv.solve(frame, [20, -2, -3], lower=0, upper=[3, np.inf])
    assert str(feasible).startswith("Feasible, proved: the point tea = ")
    bounds = nv.solve(frame, [20, 0, 0], lower=[4, 0], upper=[3, 9])
    assert {row.name for row in bounds.conflict} == {
        "upper bound of tea",
        "lower bound of tea",
    }


def test_rows_that_are_kept_are_not_blamed() -> None:
    rows, right = [[1], [-1], [-1], [1]], [0, -1, -2, 5]  # w ≤ 0, w ≥ 1, w ≥ 2, w ≤ 5
    answer = nv.solve(rows, right, keep=[1])
    proof = proof_of(answer)
    assert [row.index for row in answer.conflict if not row.kept] == [0]
    assert proof.kept == (1,)
    proof.verify(rows, right)
    assert "every row that is not kept is needed" in " ".join(str(answer).split())
    both = nv.solve(rows, right, keep=[True, True, False, False])
    assert all(row.kept for row in both.conflict)
    proof_of(both).verify(rows, right)


def test_strict_rows_and_the_homogeneous_system() -> None:
    open_interval = nv.solve([[1], [-1]], [1, -1], strict=[True, False])
    assert open_interval.kind == "infeasible"
    assert nv.solve([[1], [-1]], [1, -1]).kind == "feasible"
    X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.1]])
    found = nv.solve(X, None, strict=True)
    assert found.w is not None
    assert (X @ found.w > 0).all()
    opposite = nv.solve([[1.0, 2.0], [-1.0, -2.0]], None, strict=True)
    assert len(opposite.conflict) == 2
    proof_of(opposite).verify([[1.0, 2.0], [-1.0, -2.0]], None, strict=True)
    with pytest.raises(ValueError, match="strict=True asks for A w > 0"):
        nv.solve(X, None)


def test_decimals_are_exact_in_a_model_and_floats_are_floats_in_arrays() -> None:
    rows = [row("sum", {0: "0.1", 1: "0.2", 2: -1}, "=", 0)]
    rows += [row("", {j: 1}, "=", right) for j, right in enumerate((1, 1, "0.3"))]
    assert solve_system(system_of(model(*rows)), Limits()).kind == "feasible"
    rows_eq = [[0.1, 0.2, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    floats = nv.solve(np.zeros((1, 3)), [0.0], A_eq=rows_eq, c_eq=[0.0, 1.0, 1.0, 0.3])
    assert floats.kind == "infeasible"
    assert {row.kind for row in floats.conflict} == {"eq"}


def test_numbers_that_no_float_holds() -> None:
    large = F(10**30 + 1)

    def between(low: Fraction, high: Fraction) -> Solution:
        rows = row("low", {0: 1, 1: F(1, 3)}, ">=", low), row("high", {0: 3, 1: 1}, "<=", 3 * high)
        return solve_system(system_of(model(*rows)), Limits())

    assert between(large, large).kind == "feasible"
    assert between(large, large).needs_exact_w
    assert between(large, large - F(1, 10**9)).kind == "infeasible"
    assert between(large, large + F(1, 10**9)).interior == "full"


def test_the_nearest_point_is_exact() -> None:
    rows, right = dense(60, 3, seed=2)
    w0 = np.array([5.0, -7.0, 11.0])
    nearest = nv.solve(rows, right, w0=w0, point="nearest")
    assert nearest.exact_w is not None
    away = [F(a) - b for a, b in zip(w0.tolist(), nearest.exact_w, strict=True)]
    for seed in range(5):  # ⟨w0 − p, z − p⟩ ≤ 0 for every solution z
        start = np.random.default_rng(seed).standard_normal(3) * 9.0
        z = nv.solve(rows, right, w0=start, point="nearest").exact_w
        assert z is not None
        way = [a - b for a, b in zip(z, nearest.exact_w, strict=True)]
        assert sum(a * b for a, b in zip(away, way, strict=True)) <= 0
    assert nearest.w is not None
    assert (rows @ nearest.w <= right).all()
    edge = nv.solve([[-1.0]], [-2.0], strict=True, point="nearest")  # w > 2: there is no nearest
    assert edge.w is not None
    assert edge.w[0] > 2.0
    inside = nearest.exact_w
    assert nv.solve(rows, right, w0=[float(v) for v in inside]).kind == "feasible"


@pytest.mark.parametrize("shift", [0.0, -3.0])
def test_the_signed_radius_is_that_of_a_linear_program(shift: float) -> None:
    inner, right = dense(60, 4, seed=3)
    rows = np.vstack([inner, np.eye(4), -np.eye(4)])
    right = np.append(right + shift, np.full(8, 9.0))
    answer = nv.solve(rows, right, point="chebyshev")
    lengths = np.linalg.norm(rows, axis=1)
    other: Any = linprog(
        [0, 0, 0, 0, -1], np.column_stack([rows, lengths]), right, bounds=(None, None)
    )
    assert answer.radius.lo - 1e-7 <= -other.fun <= answer.radius.hi + 1e-7
    assert answer.radius.hi - answer.radius.lo <= 1e-13 * abs(answer.radius.hi)
    assert (answer.radius.lo > 0.0) == (answer.kind == "feasible")
    proof = nv.SystemCertificate.from_json(proof_of(answer).to_json())
    assert proof.radius is not None
    proof.verify(rows, right)
    if answer.w is not None:
        room = ((right - rows @ answer.w) / lengths).min()
        assert room == pytest.approx(answer.radius.lo)


def test_the_least_squared_violation_is_stationary() -> None:
    rows, right = dense(60, 4, seed=3)
    answer = nv.solve(rows, right - 3.0, A_eq=[[1.0, 1.0, 0.0, 0.0]], c_eq=[9.0])
    assert answer.kind == "infeasible"
    w = answer.least_squares
    assert w is not None
    r = np.maximum(rows @ w - (right - 3.0), 0.0)
    gradient = r @ rows + (w[0] + w[1] - 9.0) * np.array([1.0, 1.0, 0.0, 0.0])
    assert np.abs(gradient).max() < 1e-9
    assert answer.violation == pytest.approx(max(r.max(), abs(w[0] + w[1] - 9.0)))


def test_equalities_alone_and_balls_of_any_size() -> None:
    equal = [[1.0, 1.0], [1.0, -1.0]]
    answer = nv.solve(None, None, A_eq=equal, c_eq=[3.0, 1.0])
    assert answer.exact_w == (F(2), F(1))
    assert not answer.needs_exact_w
    proof_of(answer).verify(None, None, A_eq=equal, c_eq=[3.0, 1.0])
    with pytest.raises(nv.CertificateError, match="does not satisfy row 0"):
        replace(proof_of(answer), point=(F(1),) * 3).verify(None, None, A_eq=equal, c_eq=[3, 1])
    flat = [[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]  # w[0] = 0 and w[1] > 0: balls of radius 0 only
    open_ray = nv.solve(flat, [0.0, 0.0, 0.0], strict=[False, False, True], point="chebyshev")
    assert open_ray.radius == nv.Interval(0.0, 0.0)
    assert open_ray.exact_w is not None
    assert open_ray.exact_w[1] > 0
    wide = nv.solve([[1.0, 1.0]], [4.0], point="chebyshev")
    assert wide.radius == nv.Interval(math.inf, math.inf)
    assert wide.w is not None
    assert wide.w.sum() < 4.0


def test_what_is_known_when_time_is_up() -> None:
    model_rows, right = dense(2000, 30, seed=5)
    answer = nv.solve(model_rows, right, budget=1e-9)
    assert answer.kind == "undecided"
    assert answer.certificate is None
    assert str(answer).startswith("Undecided: the time was up before a proof was found")
    given_up = nv.solve([[1, 1], [-1, -1]], [1, -1], strict=True, method="dunagan_vempala")
    assert "Undecided: the method ended after " in str(given_up)
    system = system_of(model(row("r", {0: 1}, "<=", 1)))
    assert solve_system(system, interrupted()).kind == "undecided"


def altered(proof: nv.SystemCertificate) -> list[nv.SystemCertificate]:
    """The proof, changed so that it proves less or something else."""
    found = [
        replace(proof, answer="feasible" if proof.answer == "infeasible" else "infeasible"),
        replace(proof, answer="maybe"),
        replace(proof, sha256="0" * 64),
        replace(proof, d=proof.d + 1),
    ]
    if proof.point is not None:
        far = tuple(value + 10**6 for value in proof.point)
        found += [replace(proof, point=far), replace(proof, point=proof.point[:-1])]
        found += [replace(proof, point=(*proof.point[:-1], -proof.point[-1]))]
    if proof.conflict is not None:
        rows, weights = proof.conflict.rows, proof.conflict.multipliers
        found += [
            replace(proof, conflict=Multipliers(rows[1:], weights[1:])),
            replace(proof, conflict=Multipliers(rows, (2 * weights[0], *weights[1:]))),
            replace(proof, conflict=Multipliers(rows, tuple(-value for value in weights))),
            replace(proof, conflict=Multipliers((*rows, rows[0]), (*weights, weights[0]))),
            replace(proof, conflict=Multipliers((), ())),
            replace(proof, conflict=Multipliers(rows, (F(0), *weights[1:]))),
        ]
    if proof.radius is not None:
        least, most = proof.radius.least, proof.radius.most
        found += [
            replace(proof, radius=replace(proof.radius, least=most + 1e-9, most=math.inf)),
            replace(proof, radius=replace(proof.radius, least=least - 2, most=least - 1e-9)),
            replace(proof, radius=replace(proof.radius, multipliers=())),
        ]
    if proof.implicit is not None and proof.implicit.rows:
        rows, weights = proof.implicit.rows, proof.implicit.multipliers
        found.append(replace(proof, implicit=Multipliers(rows[1:], weights[1:])))
        found.append(replace(proof, implicit=Multipliers((), ())))
    return found


@pytest.mark.parametrize("kind", ["infeasible", "feasible", "flat", "kept", "strict"])
def test_an_altered_proof_is_rejected(kind: str) -> None:
    systems: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "infeasible": (A, C, {"A_eq": [[1, 1]], "c_eq": [5]}),
        "feasible": (A, [20, -2, -3], {}),
        "flat": ([[1, 1], [-1, -1], [1, 0]], [1, -1, 5], {"lower": 0}),
        "kept": ([[1, 0], [-1, 0], [0, 1]], [0, -1, 1], {"keep": [1], "strict": True}),
        "strict": ([[1, 1], [-1, -1]], [1, -1], {"strict": True}),
    }
    rows, right, more = systems[kind]
    answer = nv.solve(rows, right, **more)
    _ = answer.interior, answer.radius  # claims of the proof from now on
    proof = proof_of(answer)
    stated = {name: value for name, value in more.items() if name != "keep"}
    proof.verify(rows, right, **stated)
    for other in altered(proof):
        if other != proof:
            with case_named(other), pytest.raises(nv.CertificateError):
                other.verify(rows, right, **stated)
    for witnesses in ((), ((F(1), F(0), F(1)),)) if proof.witnesses else ():
        with pytest.raises(nv.CertificateError):
            replace(proof, witnesses=witnesses).verify(rows, right, **stated)
    body = json.loads(proof.to_json())
    body["n"] += 1
    with pytest.raises(nv.CertificateError, match="altered"):
        nv.SystemCertificate.from_json(json.dumps(body))


def test_a_conflict_with_a_superfluous_row_is_not_irreducible() -> None:
    rows, right = [[1], [-1], [1], [-1]], [0, -1, 0, -1]
    proof = proof_of(nv.solve(rows, right))
    twice = Multipliers((0, 1, 2, 3), (F(1),) * 4)
    with pytest.raises(nv.CertificateError, match="fewer may do"):
        replace(proof, conflict=twice).verify(rows, right)
    replace(proof, conflict=twice, irreducible=False).verify(rows, right)


@pytest.mark.parametrize("irreducible", [True, False])
@pytest.mark.parametrize(
    ("point", "complaint"),
    [
        ((F(5), F(5), F(1)), "weakly"),
        ((F(0), F(0), F(0)), "t of a point \\(w, t\\) is not positive"),
        ((F(0), F(1)), "one coordinate for each variable"),
    ],
)
def test_a_point_beside_a_conflict_is_checked(
    point: tuple[Fraction, ...], complaint: str, irreducible: bool
) -> None:
    rows, right = [[1, 1], [-1, -1], [1, 0]], [1, -1, -9]
    proof = proof_of(nv.solve(rows, right, strict=True))
    assert proof.point is not None
    proof.verify(rows, right, strict=True)
    other = replace(proof, point=point, irreducible=irreducible)
    with pytest.raises(nv.CertificateError, match=complaint):
        other.verify(rows, right, strict=True)


@pytest.mark.parametrize(
    "make", [np.zeros, sp.csr_array, lambda shape: pd.DataFrame(np.zeros(shape))]
)
def test_bounds_alone(make: Any) -> None:
    rows = make((0, 2))
    open_ = nv.solve(rows, [], lower=[1, -math.inf], upper=[math.inf, -1])
    assert open_.kind == "feasible"
    assert open_.interior == "full"
    proof_of(open_).verify(rows, [], lower=[1, -math.inf], upper=[math.inf, -1])
    shut = nv.solve(rows, [], lower=[0, 2], upper=1)
    assert [(row.kind, row.index) for row in shut.conflict] == [("upper", 1), ("lower", 1)]
    proof_of(shut).verify(rows, [], lower=[0, 2], upper=1)
    assert nv.solve(rows, []).kind == "feasible"
    assert nv.linear_program([1, 1], rows, [], lower=[1, 2]).exact_value == 3


def test_conflicts_and_kept_rows() -> None:
    found = nv.conflicts([[1], [-1], [1], [-1]], [0, -1, 0, -1], limit=1)
    assert len(found) == 1
    assert not found.complete
    found = nv.conflicts([[1], [-1], [1], [-1]], [0, -1, 0, -1], keep=[1])
    assert sorted(row.index for conflict in found for row in conflict if not row.kept) == [0, 2]
    assert conflicts_of(system_of(model(row("r", {0: 1}, "<=", 1))), Limits()).complete


@pytest.mark.parametrize("bad", [0, 1.5, "a", True])
def test_a_limit_on_conflicts_is_a_whole_number(bad: Any) -> None:
    with pytest.raises(ValueError, match="limit must be a whole number from 1 on"):
        nv.conflicts([[1]], [1], limit=bad)


@pytest.mark.parametrize("bad", [-1, "x", math.nan])
@pytest.mark.parametrize("question", [partial(nv.linear_program, [1]), nv.conflicts, nv.solve])
def test_a_budget_is_a_positive_number(question: Any, bad: Any) -> None:
    with pytest.raises(ValueError, match="budget must be a positive number"):
        question([[1]], [1], budget=bad)


def test_tall_data_dense_and_sparse() -> None:
    rows, right = dense(20_000, 10, seed=7)
    answer = nv.solve(rows, right)
    assert answer.w is not None
    assert (rows @ answer.w <= right).all()
    proof_of(answer).verify(rows, right)
    thin: Any = sp.csr_array(rows[:5000, :] * (rows[:5000, :] > 1.0))
    right = thin @ np.ones(10) + 0.01
    assert nv.solve(thin, right).kind == "feasible"
    worse: Any = sp.csr_array(sp.vstack([thin, -thin[:3].sum(axis=0)[None, :]]))
    answer = nv.solve(worse, np.append(right, -right[:3].sum() - 1.0))
    assert answer.kind == "infeasible"
    proof_of(answer).verify(worse, np.append(right, -right[:3].sum() - 1.0))


@pytest.mark.parametrize(
    "method",
    ["von_neumann", "smooth_primal_dual", partial(relaxation_method, order="max_distance")],
)
def test_methods_by_name_and_as_functions(method: Any) -> None:
    rows, right = dense(50, 3, seed=8)
    answer = nv.solve(rows, right, method=method, trace=True)
    assert answer.kind == "feasible"
    assert answer.n_steps > 0
    assert answer.trace
    proof_of(answer).verify(rows, right)


def test_multipliers_that_a_method_proposes_are_verified() -> None:
    refuted = nv.solve(A, C, method="spingarn")
    assert refuted.kind == "infeasible"
    proof_of(refuted).verify(A, C)


def test_linear_programs() -> None:
    best = nv.linear_program([1, 1], [[-1, -2], [-3, -1]], [-4, -6], lower=0)
    assert best.kind == "optimal"
    assert best.exact_value == F(14, 5)
    assert 2.8 in best.value
    total = sum(row.multiplier * F([-4, -6][row.index]) for row in best.dual if row.kind == "row")
    assert -total == best.exact_value
    assert str(best).startswith("Optimal, proved: the value is 2.8")
    both = nv.linear_program([1, 2], [[1, 0]], [9], A_eq=[[1, 1]], c_eq=[3], lower=[0, 1])
    assert both.exact_w == (F(2), F(1))
    assert [(row.name, row.index, row.multiplier) for row in both.dual] == [
        ("equality 0", 0, F(-1)),
        ("lower bound of w[1]", 1, F(1)),
    ]
    unbounded = nv.linear_program([1], [[1]], [3])
    assert unbounded.kind == "unbounded"
    assert unbounded.ray is not None
    assert unbounded.ray[0] < 0
    assert nv.linear_program([1], [[1], [-1]], [0, -1]).kind == "infeasible"
    assert nv.linear_program([0], [[1]], [0]).exact_value == 0
    assert nv.linear_program([1] * 30, *dense(300, 30), budget=1e-9).kind == "undecided"
    with pytest.raises(ValueError, match="'r' is strict"):
        optimise(model(row("r", {0: 1}, "<", 1), objective={0: F(1)}), Limits())
    with pytest.raises(ValueError, match="objective"):
        nv.linear_program([1, 2], [[1]], [0])


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"A": [[1.0, math.nan]]}, "A has NaN or infinity in row 0, column 1"),
        ({"A": sp.csr_array([[0.0, math.inf]])}, "A has NaN or infinity in row 0, column 1"),
        ({"A": [[1, "two"]]}, "A contains 'two' in row 0, column 1"),
        ({"A": [1, 2]}, "A has 1 dimension"),
        ({"c": [1, 2]}, "c has 2 numbers, but needs 1: one per row of A"),
        ({"c": [math.nan]}, "c\\[0\\] is NaN"),
        ({"c": [-math.inf]}, "c\\[0\\] is -inf"),
        ({"c": [2**53 + 1]}, "float64 cannot hold"),
        ({"c": ["x"]}, "c contains 'x' in row 0, which is not a number"),
        ({"A_eq": [[1, 2]]}, "belong together"),
        ({"A_eq": [[1]], "c_eq": [1]}, "A_eq has 1 columns, but A has 2"),
        ({"A_eq": [[1, 1]], "c_eq": [math.inf]}, "c_eq\\[0\\] is infinity"),
        ({"lower": [0]}, "lower has"),
        ({"lower": math.inf}, "lower\\[0\\] is \\+inf"),
        ({"upper": -math.inf}, "upper\\[0\\] is -inf"),
        ({"strict": [1]}, "strict must be"),
        ({"names": ["a", "b"]}, "names has 2 entries, but there are 1 rows of A"),
        ({"keep": [3]}, "keep has 3, but A has no such row"),
        ({"keep": ["tea"]}, "keep has 'tea', but there is no such row"),
        ({"w0": [1]}, "w0 has . numbers, but needs 2: one per variable"),
        ({"point": "best"}, "point must be one of"),
        ({"point": "nearest", "method": "smooth"}, "the other methods propose any point"),
        ({"c": None, "strict": True, "w0": [1, 1], "method": "smooth"}, "cannot start from w0"),
        ({"method": "simplex"}, "method must be one of auto"),
        ({"budget": -1}, "budget must be a positive number"),
    ],
)
def test_wrong_arguments_are_rejected_with_an_error(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        nv.solve(**{"A": [[1, 1]], "c": [1], **given})


def test_models_that_are_rejected() -> None:
    with pytest.raises(ValueError, match="no variables"):
        system_of(LinearSystem((), (), (), ()))
    with pytest.raises(ValueError, match="keep has 'q', but there is no such row"):
        keep_rows(model(row("r", {0: 1}, "<=", 1)), ["q"])
    with pytest.raises(ValueError, match="row 'r' differ by more than 270 digits"):
        system_of(model(row("r", {0: 1}, "<=", 10**400 + 1)))


@pytest.mark.parametrize(("point", "stride"), [("interior", 3), ("chebyshev", 7)])
def test_a_point_that_is_not_found_in_time_is_not_passed_off_as_found(
    point: str, stride: int
) -> None:
    rows, right = dense(60, 4, seed=3)
    system, seen = system_of(stated_arrays(rows, right)), set()
    for most in range(0, 200, stride):
        found = solve_system(system, questions(most), point=point)
        if found.kind == "feasible":
            seen.add(found.point_found)
            assert ("not found" in str(found)) != found.point_found, most
            assert found.w is not None
            assert (rows @ found.w <= right).all(), most
            assert found.point_found or not found.needs_exact_w, most
    assert seen == {True, False}


@pytest.mark.parametrize(("sign", "maximise"), [(1, False), (-1, True)])
def test_a_value_that_is_not_proved_is_still_in_its_interval(sign: int, maximise: bool) -> None:
    rows = [row(f"r{k}", {0: sign, 1: sign * k}, ">=", 2 * k) for k in range(1, 5)]
    system = model(*rows, objective={0: F(1), 1: F(1)}, maximise=maximise)
    exact = optimise(system, Limits()).exact_value
    assert exact is not None
    found = [optimise(system, questions(most)) for most in range(0, 60, 3)]
    assert all(float(exact) in each.value for each in found)
    assert {each.kind for each in found} == {"undecided", "optimal"}


def test_labels_are_not_taken_by_position() -> None:
    A = pd.DataFrame({"x": [1.0, -1.0], "y": [0.0, 0.0]})
    turned, series = pd.DataFrame({"y": [1.0], "x": [0.0]}), pd.Series([1.0, 2.0], index=[1, 0])
    with pytest.raises(ValueError, match="labels of A_eq are not those of the columns of A"):
        nv.solve(A, [1.0, -1.0], A_eq=turned, c_eq=[7.0])
    with pytest.raises(ValueError, match="labels of lower are not those of the columns of A"):
        nv.solve(A, [1.0, -1.0], lower=series)
    with pytest.raises(ValueError, match="labels of c are not those of the rows of A"):
        nv.solve(A, series)
    with pytest.raises(ValueError, match="labels of objective"):
        nv.linear_program(pd.Series({"y": 1.0, "x": 0.0}), A, [1.0, 0.0])
    answer = nv.solve(A, [1.0, -1.0], A_eq=turned[["x", "y"]], c_eq=[7.0])
    assert answer.certificate is not None
    with pytest.raises(nv.CertificateError, match="labels of A_eq"):
        answer.certificate.verify(A, [1.0, -1.0], A_eq=turned, c_eq=[7.0])


@pytest.mark.parametrize("wide", [2**53 + 1, Fraction(1, 3), np.longdouble(1) + 2.0**-60])
@pytest.mark.parametrize("name", ["c", "w0", "lower"])
def test_numbers_beside_floats_are_not_rounded(name: str, wide: Any) -> None:
    """NumPy makes floats of a list in which there is one."""
    given: dict[str, Any] = {"A": np.eye(2), "c": [1, 1], name: [wide, 0.5]}
    with pytest.raises(ValueError, match="which float64 cannot hold exactly"):
        nv.solve(**given)
    with pytest.raises(ValueError, match="objective contains"):
        nv.linear_program([wide, 0.5], np.eye(2), [1, 1])


def test_rows_of_one_name_are_kept_together_and_those_that_ask_nothing_are_not() -> None:
    A, c = [[1.0], [1.0], [-1.0]], [np.inf, 0.0, -1.0]
    found = nv.solve(A, c, names=["a", "a", "b"], keep=["a"])
    assert [(row.name, row.kept) for row in found.conflict] == [("a", True), ("b", False)]
    assert found.certificate is not None
    found.certificate.verify(A, c)


def test_a_row_whose_square_is_below_all_floats_has_a_length() -> None:
    """With a = 1e-170, x ≤ 1e170: there is no ball of radius 1e300 around 0."""
    A, c = [[1e-170], [-1e-170]], [1.0, 1.0]
    proof = nv.solve(A, c).certificate
    assert proof is not None
    true, false = (Radius(least, math.inf, (F(0), F(1)), (), ()) for least in (9e169, 1e300))
    replace(proof, radius=true).verify(A, c)
    with pytest.raises(nv.CertificateError, match="is below"):
        replace(proof, radius=false).verify(A, c)


INF = math.inf
# Systems and the signed radius of each, by hand.
RADII: dict[str, tuple[dict[str, Any], float]] = {
    "two equalities": ({"A": None, "c": None, "A_eq": [[1.0], [1.0]], "c_eq": [0.0, 1.0]}, -0.5),
    "equalities of other lengths": (
        {"A": None, "c": None, "A_eq": [[1.0], [3.0]], "c_eq": [0.0, 12.0]},
        -2.0,
    ),
    "an equality and a row": ({"A": [[1.0]], "c": [0.0], "A_eq": [[-1.0]], "c_eq": [-2.0]}, -1.0),
    "a fixed variable and a row": ({"A": [[1.0]], "c": [0.0], "lower": 2.0, "upper": 2.0}, -1.0),
    "a row of zeros": ({"A": [[0.0]], "c": [-1.0]}, -INF),
    "zeros beside a row": ({"A": [[0.0], [1.0]], "c": [-1.0, 5.0]}, -INF),
    "an equality of zeros": ({"A": None, "c": None, "A_eq": [[0.0]], "c_eq": [1.0]}, -INF),
    "zeros that hold": ({"A": [[0.0], [1.0], [-1.0]], "c": [0.0, 5.0, -1.0]}, 2.0),
    "strict zeros": ({"A": [[0.0], [1.0], [-1.0]], "c": [0.0, 5.0, -1.0], "strict": True}, 0.0),
    "strict rows": ({"A": [[1.0], [-1.0]], "c": [1.0, -1.0], "strict": True}, 0.0),
    "strict rows and an equality": (
        {"A": [[1.0]], "c": [1.0], "A_eq": [[1.0]], "c_eq": [1.0], "strict": True},
        0.0,
    ),
    "a ball within a fixed variable": (
        {"A": [[1.0, 0.0], [-1.0, 0.0]], "c": [3.0, 3.0], "lower": [-INF, 0], "upper": [INF, 0]},
        3.0,
    ),
    "a half-plane": ({"A": [[1.0, 1.0]], "c": [4.0]}, INF),
    "a line within a half-plane": (
        {"A": [[1.0, 1.0]], "c": [4.0], "A_eq": [[1.0, -1.0]], "c_eq": [0.0]},
        INF,
    ),
    "subnormal numbers": (
        {"A": [[1.5e-323, 1e-323]], "c": [-5e-324], "lower": [2.0, -2.0]},
        -3 / (math.sqrt(13) + 5),  # (1 + 6 − 4)/(‖(3, 2)‖ + 3 + 2), in units of 5e-324
    ),
    "beyond floats": ({"A": [[-5e-324], [5e-324]], "c": [-2.0, 1.0]}, -INF),
    "far beyond floats": (
        {"A": [[-3e-150]], "c": [-2e300], "A_eq": [[-3e-20], [2]], "c_eq": 0.0, "upper": -2.0},
        -INF,
    ),
}


@pytest.mark.parametrize("name", RADII)
def test_the_signed_radius_of(name: str) -> None:
    given, expected = RADII[name]
    answer = nv.solve(**given)
    found = answer.radius
    if "beyond floats" in name:
        assert found == nv.Interval(-INF, -sys.float_info.max)
    elif expected in (0.0, INF, -INF):
        assert found == nv.Interval(expected, expected)
    else:
        assert found.lo < expected < found.hi
        assert found.hi - found.lo <= 1e-14 * abs(expected)
    proof = nv.SystemCertificate.from_json(proof_of(answer).to_json())
    proof.verify(**given)
    assert (proof.radius is None) == (expected in (INF, -INF))


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("zeros that hold", "; the radius of a largest ball is at least 1.99"),
        ("two equalities", "; every point is at least 0.49"),
        ("a half-plane", "Feasible: a point satisfies every row, in 2 variables."),
        ("strict rows", "Infeasible: 2 rows contradict each other, and no fewer of them do (an "),
    ],
)
def test_the_sentence_of_a_certificate_states_the_radius(name: str, claim: str) -> None:
    answer = nv.solve(**RADII[name][0])
    _ = answer.radius
    assert claim in proof_of(answer).claim()


@pytest.mark.parametrize("most", [20, 40, 10**6])
def test_the_radius_has_the_sign_of_the_answer_when_time_is_up(most: int) -> None:
    rng = np.random.default_rng(0)
    wide = system_of(stated_arrays(rng.normal(size=(60, 30)), np.abs(rng.normal(size=60))))
    assert solve_system(wide, Limits()).kind == "feasible"
    radius = signed_radius(wide, questions(most), feasible=True)
    assert (radius.least if isinstance(radius, Radius) else radius.lo) >= 0.0


def test_the_violation_is_exact_where_floats_cancel() -> None:
    """At w = 2⁵³, w + 1 − w is rounded to 0; the violation of w ≤ 2⁵³ − 1 is not."""
    large = 2.0**53
    system = system_of(stated_arrays([[1.0, 1.0]], [large - 1.0]))
    assert largest_violation(system, np.array([large, 1.0])) == 2.0
    third = nv.solve(None, None, A_eq=[[3.0, 0.0]], c_eq=[1.0])  # no float is a third
    assert third.needs_exact_w
    assert third.w is not None
    assert third.violation == float(abs(3 * F(float(third.w[0])) - 1)) > 0.0
    rows = row("r", {0: "0.1"}, ">=", 1), row("s", {0: "0.2"}, "=", 1)
    assert largest_violation(system_of(model(*rows)), np.array([8.0])) == rounded_up(F(6, 10))
    assert largest_violation(system, np.array([math.inf, 0.0])) == math.inf


def test_the_nearest_boundary_is_found_where_floats_cancel() -> None:
    rows = [[1.0, -1.0], [-1.0, 1.0], [0.0, -1.0]]
    system = system_of(stated_arrays(rows, [3.0, 2.0, 0.0]))
    found, away = nearest_boundary(system, (F(2**60 + 1), F(2**60)), (), Limits())
    assert found == [0]  # its slack is 2, that of row 1 is 3
    assert away == pytest.approx(math.sqrt(2.0))


def test_conflicts_of_numbers_of_every_size() -> None:
    """Right sides from 5e-324 to 1.8e308, and a fixed variable."""
    given: dict[str, Any] = {
        "A": [[1.7976931348623157e308], [-1e308]],
        "c": [-5e-324, 0.0],
        "A_eq": [[5e-324]],
        "c_eq": [-1e308],
        "lower": [1.0],
        "upper": [1.0],
    }
    found = nv.conflicts(**given)
    assert found.complete
    assert len(found) == 2
    for solution in found.solutions:
        proof_of(solution).verify(**given)


@pytest.mark.parametrize("seed", range(30))
def test_on_equalities_the_exact_point_is_given_and_floats_only_if_they_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 8))
    rows = rng.integers(-9, 10, (2 * p, p)).astype(float)
    z = rng.integers(-40, 41, p) / 8.0
    k, right = max(1, p // 2), rows @ z  # exact: a few bits each
    above = right[k:] + 1.0
    answer = nv.solve(rows[k:], above, A_eq=rows[:k], c_eq=right[:k])
    assert_solved_exactly(answer, rows[k:], above, rows[:k], right[:k])


@pytest.mark.parametrize("seed", range(40))
def test_where_solutions_are_thin_the_exact_point_is_given(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(3)
    rows = rng.integers(-3, 4, (2, 3)).astype(float)
    exactly = [sum(F(a) * F(b) for a, b in zip(row, z, strict=True)) for row in rows]
    high = np.array([rounded_up(value) for value in exactly])
    low = np.array([-rounded_up(-value) for value in exactly])
    both, right = np.vstack([rows, -rows]), np.append(high, -low)  # z is a solution
    assert_solved_exactly(nv.solve(both, right), both, right, np.empty((0, 3)), np.empty(0))


def assert_solved_exactly(answer: Solution, A: Any, c: Any, A_eq: Any, c_eq: Any) -> None:
    """``exact_w`` is a solution, and ``needs_exact_w`` says whether ``w`` is not one."""
    assert answer.kind == "feasible"
    assert answer.exact_w is not None
    assert answer.w is not None

    def solves(w: Any) -> bool:
        below = (product(row, w) <= F(right) for row, right in zip(A, c, strict=True))
        equal = (product(row, w) == F(right) for row, right in zip(A_eq, c_eq, strict=True))
        return all(below) and all(equal)

    def product(row: Any, w: Any) -> Fraction:
        return sum((F(a) * b for a, b in zip(row.tolist(), w, strict=True)), F(0))

    assert solves(answer.exact_w)
    assert answer.needs_exact_w != solves([F(value) for value in answer.w.tolist()])
    proof_of(answer).verify(A, c, A_eq=A_eq, c_eq=c_eq)


@pytest.mark.parametrize("p", [12, 25])
def test_values_of_many_digits_are_exact(p: int) -> None:
    rows, right = dense(3 * p, p, seed=p)
    f = -np.random.default_rng(p).uniform(0.1, 1.0, 3 * p) @ rows
    best = nv.linear_program(f, rows, right)
    assert best.kind == "optimal"
    assert best.exact_value is not None
    assert best.exact_value.denominator.bit_length() > 500
    assert best.exact_w is not None
    assert sum(F(a) * b for a, b in zip(f.tolist(), best.exact_w, strict=True)) == best.exact_value
    assert -sum(row.multiplier * F(right[row.index]) for row in best.dual) == best.exact_value
    for j in range(p):
        assert sum(row.multiplier * F(rows[row.index, j]) for row in best.dual) == -F(f[j])
    room = nv.solve(rows, right).radius
    assert 0.0 < room.lo <= room.hi < room.lo * (1.0 + 1e-13)


def test_sentences_about_values_do_not_round_them_silently() -> None:
    best = nv.linear_program([1.0], [[-1.0]], [-0.5])
    assert str(best) == "Optimal, proved: the value is 0.5, exactly."
    third = nv.linear_program([1.0], [[-3.0]], [-1.0])
    text = "Optimal, proved: the value is 0.3333333333, rounded to 10 digits here."
    assert str(third) == text
    assert "falls without limit" in str(nv.linear_program([1.0], [[1.0]], [0.0]))
    assert "grows without limit" in str(nv.linear_program([-1.0], [[1.0]], [0.0], maximise=True))
    ends = nv.Interval(1 / 3, 2 / 3)
    undecided = replace(best, kind="undecided", value=ends)
    assert str(undecided) == "Undecided: the value is in [0.333333333333333, 0.666666666666667]."
    near = Solution("undecided", best.solution.system, ended="time", no_point_within=0.1234569)
    assert str(near).endswith("nearer to the\n    origin than 0.123456.")


def test_kept_rows_that_contradict_each_other_are_the_only_conflict() -> None:
    rows, right = [[1.0], [-1.0], [1.0], [-1.0]], [0.0, -1.0, 0.0, -1.0]
    found = nv.conflicts(rows, right, keep=[0, 1])
    assert [sorted(row.index for row in conflict) for conflict in found] == [[0, 1]]
    assert not found.complete


def test_the_least_squared_violation_of_large_numbers() -> None:
    answer = nv.solve([[1.0], [-1.0]], [1e200, -3e200])
    assert answer.least_squares == pytest.approx([2e200])
    assert answer.violation == pytest.approx(1e200)
    tiny = nv.solve([[5e-324], [-5e-324]], [1e200, -3e200])
    assert tiny.least_squares is not None


def test_bounds_of_many_variables_take_no_square_of_memory() -> None:
    p = 5000
    system = system_of(stated_arrays(np.ones((2, p)), [1.0, 2.0], lower=0.0, upper=1.0))
    assert system.coefficients.shape == (2 * p + 3, p)
    assert sp.issparse(system.coefficients)
    few = system_of(stated_arrays(np.ones((300, 5)), np.ones(300), lower=0.0, upper=1.0))
    assert isinstance(few.coefficients, np.ndarray)


def test_a_tolerance_loosens_rows_equalities_and_bounds() -> None:
    """x + y = 1, x ≤ 0.25 and y ≤ 0.5 miss each other by 1/12 at best."""
    given: dict[str, Any] = {"A": None, "A_eq": [[1.0, 1.0]], "c_eq": [1.0], "upper": [0.25, 0.5]}
    exactly = nv.solve(**given, keep="bounds")
    assert exactly.least_violation == F(1, 12)
    loose = nv.solve(**given, keep="bounds", tolerance=0.1)
    assert (loose.kind, loose.tolerance, loose.certificate) == ("feasible", F(1, 10), None)
    x, y = loose.exact_w or ()
    assert abs(x + y - 1) <= F(1, 10)
    assert max(x - F(1, 4), y - F(1, 2)) <= F(1, 10)
    assert "within a tolerance of 0.1" in str(loose)
    tight = nv.solve(**given, keep="bounds", tolerance=0.05)
    assert tight.kind == "infeasible"
    assert {row.name for row in tight.conflict if not row.kept} == {"equality 0"}
    with pytest.raises(ValueError, match="tolerance must be a number that is at least 0"):
        nv.solve(**given, tolerance=-1.0)


@pytest.mark.parametrize("method", ["projection_rescaling", "smooth"])
def test_a_method_keeps_its_limits(method: str) -> None:
    system = system_of(stated_arrays([[3.0], [-3.0]], [1.0, -1.0]))
    assert solve_system(system, questions(5, seconds=1e6), method=method).ended == "the time was up"


def test_a_largest_r_is_held_from_both_sides_in_few_steps() -> None:
    found = [*newton.bounds(system_of(stated_arrays(*dense(2000, 20))), [F(1)] * 2000, Limits())]
    best, held = found[-1].r or F(0), [each.below for each in found if each.below is not None]
    assert len(found) < 40
    assert min(held) < max(held) <= best == min(each.r or best for each in found)


@pytest.mark.parametrize(("last", "expected"), [(1.0, (F(1),)), (1.0 - 2.0**-50, None)])
def test_a_vertex_that_another_row_cuts_off_is_no_solution(last: float, expected: Any) -> None:
    one, near = [F(0), F(0), F(0)], (F(0),)
    bound = newton.Bound(F(0), np.array([0, 1]), [F(1), F(1)], near=near)
    system = system_of(stated_arrays([[1.0], [-1.0], [1.0]], [1.0, -1.0, last]))
    assert newton.moved_to_near(system, one, bound, Limits()) == expected
