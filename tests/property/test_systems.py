"""Small random systems of every kind, compared with a different exact solver (D3, D6, D8)."""

from __future__ import annotations

import operator as op
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf, isfinite
from random import Random
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.proofs.system_statement import Constraint, LinearSystem, Relation
from novikoff.systems.conflict_table import conflict_values
from novikoff.systems.conflicts import conflicts_of
from novikoff.systems.linear_program import optimise
from novikoff.systems.solution import NamedRow, Solution
from novikoff.systems.solve import solve_system
from novikoff.systems.system import system_of
from tests.seeds import seed_blocks

oracle = pytest.importorskip("tests.system_oracle", reason="pplpy is not installed")

RELATIONS = (("<=",), ("<=", ">="), ("<=", ">=", "="), ("<=", ">=", "=", "<", ">"), ("<", ">"))
COMPARE = {"<=": op.le, ">=": op.ge, "=": op.eq, "<": op.lt, ">": op.gt}
TURNED: dict[Relation, Relation] = {"<=": ">=", ">=": "<=", "=": "=", "<": ">", ">": "<"}
STYLES = ("small", "decimal", "point", "ulp", "fractions", "homogeneous", "redundant")


def random_model(seed: int) -> LinearSystem:
    """Few rows in few variables: feasible, with a single solution, or barely contradictory."""
    rng = Random(seed)  # noqa: S311
    p, n, style = rng.randint(1, 4), rng.randint(0, 7), rng.choice(STYLES)

    def number() -> Fraction:
        if style == "decimal":
            return Fraction(rng.randint(-30, 30), 10)
        if style == "fractions":
            return Fraction(rng.randint(-9, 9), rng.randint(1, 7))
        return Fraction(rng.randint(-3, 3))

    z, relations = [number() for _ in range(p)], rng.choice(RELATIONS)
    rows = []
    for i in range(n):
        terms = {j: number() for j in range(p) if rng.random() < 0.8}
        terms = {} if rng.random() < 0.05 else terms
        right = number() * rng.choice([1, 1, 3])
        if style in ("point", "ulp"):
            right = sum((terms[j] * z[j] for j in terms), Fraction(0))
            if style == "ulp" and rng.random() < 0.3:
                right += rng.choice([-1, 1]) * Fraction(1, 2**60)
        right = Fraction(0) if style == "homogeneous" else right
        rows.append(Constraint(f"r{i}", terms, rng.choice(relations), right))  # type: ignore[arg-type]
    for _ in range(3 if style == "redundant" and rows else 0):
        a, s = rng.choice(rows), Fraction(rng.randint(1, 3))
        terms = {j: s * value for j, value in a.terms.items()}
        right = s * a.right + rng.choice([0, 0, 1])
        rows.append(Constraint(f"r{len(rows)}", terms, a.relation, right))
    lower = [number() if rng.random() < 0.3 else None for _ in range(p)]
    upper = [number() if rng.random() < 0.3 else None for _ in range(p)]
    for j in range(p):
        upper[j] = lower[j] if lower[j] is not None and rng.random() < 0.1 else upper[j]
    kept = [k for k in range(len(rows)) if rng.random() < 0.3] if rng.random() < 0.3 else []
    return LinearSystem(
        tuple(f"x{j}" for j in range(p)),
        tuple(rows),
        tuple(lower),
        tuple(upper),
        kept=frozenset(kept),
    )


def number_of(model: LinearSystem, row: NamedRow) -> int:
    m, p = len(model.constraints), len(model.variables)
    return row.index + {"row": 0, "eq": 0, "upper": m, "lower": m + p}[row.kind]


def holds(row: Constraint, w: Sequence[Fraction]) -> bool:
    left = sum(value * w[j] for j, value in row.terms.items())
    return bool(COMPARE[row.relation](left, row.right))


def assert_irreducible(model: LinearSystem, answer: Solution, seed: int) -> None:
    d = len(model.variables)
    rows = {number_of(model, row) for row in answer.conflict}
    kept, blamed = model.kept, rows - model.kept
    together = rows | kept if blamed else rows
    stated = {k: model.row(k) for k in together}
    assert len(rows) == len(answer.conflict), seed
    assert kept or len(rows) <= d + 1, seed
    assert not oracle.is_feasible(stated.values(), d), seed
    for k in blamed or rows:
        assert oracle.is_feasible([row for i, row in stated.items() if i != k], d), (seed, k)


def assert_radius(model: LinearSystem, answer: Solution, seed: int) -> None:
    """Check that the interval of the radius is narrow and contains the true radius."""
    found = answer.radius
    true = oracle.signed_radius(model, feasible=answer.kind == "feasible")
    near = 0 if true in (inf, -inf) else abs(true) / 2**100  # the oracle rounds lengths
    assert found.lo - near <= true <= found.hi + near, (seed, found, float(true))
    assert found.lo == found.hi or found.hi - found.lo <= 2.0**-44 * float(abs(true)), seed


def test_the_random_systems_are_of_both_kinds() -> None:
    models = map(random_model, range(3000))
    kinds = Counter(oracle.is_feasible(oracle.rows_of(model), model.d) for model in models)
    assert min(kinds[True], kinds[False]) > 300


@seed_blocks(3000)
def test_every_system_is_decided_as_an_exact_solver_by_others_does(seeds: range) -> None:
    points = ("any", "any", "nearest", "interior", "chebyshev")
    for seed in seeds:
        model = random_model(seed)
        answer = solve_system(system_of(model), Limits(), point=points[seed % 5])
        solutions = oracle.polyhedron(oracle.rows_of(model), model.d)
        assert answer.kind == ("infeasible" if solutions.is_empty() else "feasible"), seed
        if answer.kind == "infeasible":
            assert_irreducible(model, answer, seed)
        else:
            always = {
                k
                for k in range(model.n)
                if (row := model.row(k)) is not None
                and row.relation != "="
                and oracle.is_always_met(solutions, row)
            }
            assert answer.exact_w is not None
            assert all(holds(row, answer.exact_w) for row in oracle.rows_of(model)), seed
            found = answer.implicit_equalities
            assert found is not None
            assert {number_of(model, row) for row in found} == always, seed
        if seed % 3 == 0:
            assert_radius(model, answer, seed)
        proof = answer.certificate
        assert proof is not None
        nv.SystemCertificate.from_json(proof.to_json()).check(model)


@pytest.mark.parametrize("style", ["equalities", "rows of zeros", "fixed", "bounds", "strict"])
@seed_blocks(500)
def test_the_signed_radius_is_that_of_an_exact_linear_program(seeds: range, style: str) -> None:
    kinds = set[str]()
    for seed in seeds:
        rng, model = Random(seed), random_model(seed)  # noqa: S311
        z = [Fraction(rng.randint(-3, 3)) for _ in range(model.d)]
        rows, lower, upper = list(model.constraints), list(model.lower), list(model.upper)
        if style == "equalities":
            rows = [row._replace(relation="=") if rng.random() < 0.6 else row for row in rows]
        elif style == "rows of zeros":
            relation: Relation = rng.choice(["<=", ">=", "=", "<", ">"])
            rows.append(Constraint("zeros", {}, relation, Fraction(rng.randint(-1, 1))))
        elif style == "fixed":
            lower[0] = upper[0] = z[0]
        elif style == "bounds":
            lower = [value - rng.randint(-1, 2) for value in z]
            upper = [value + rng.randint(-1, 2) for value in z]
        else:
            signs: dict[Relation, Relation] = {"<=": "<", ">=": ">"}
            rows = [row._replace(relation=signs.get(row.relation, row.relation)) for row in rows]
        model = replace(
            model, constraints=tuple(rows), lower=tuple(lower), upper=tuple(upper), kept=frozenset()
        )
        answer = solve_system(system_of(model), Limits())
        assert_radius(model, answer, seed)
        kinds.add(answer.kind)
        assert answer.certificate is not None
        nv.SystemCertificate.from_json(answer.certificate.to_json()).check(model)
    assert kinds == {"feasible", "infeasible"}


def is_of_floats(model: LinearSystem) -> bool:
    """Whether float64 holds all numbers of a model, and not all of its rows are equalities."""
    numbers = [v for row in model.constraints for v in (*row.terms.values(), row.right)]
    some_inequality = any(row.relation != "=" for row in model.constraints)
    return some_inequality and all(Fraction(float(v)) == v for v in numbers)


def test_a_quarter_of_the_random_systems_are_of_floats() -> None:
    assert sum(is_of_floats(random_model(seed)) for seed in range(300)) > 75


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@seed_blocks(300)
def test_the_same_system_as_arrays(seeds: range, form: Any) -> None:
    for seed in seeds:
        model = replace(random_model(seed), kept=frozenset())
        equal = np.array([row.relation == "=" for row in model.constraints])
        if not is_of_floats(model):
            continue
        A, c = np.zeros((model.m, model.d)), np.zeros(model.m)
        for i, row in enumerate(model.constraints):
            c[i] = row.sign * float(row.right)
            for j, value in row.terms.items():
                A[i, j] = row.sign * float(value)
        more = {
            "lower": [-np.inf if v is None else float(v) for v in model.lower],
            "upper": [np.inf if v is None else float(v) for v in model.upper],
            "strict": np.array([row.relation in ("<", ">") for row in model.constraints])[~equal],
        }
        if equal.any():
            more |= {"A_eq": A[equal], "c_eq": c[equal]}
        expected = solve_system(system_of(model), Limits())
        answer = nv.solve(form(A[~equal]), c[~equal], **more)
        assert answer.kind == expected.kind, seed
        assert answer.certificate is not None
        assert isfinite(answer.violation), seed
        nv.verify(answer.certificate, form(A[~equal]), c[~equal], **more)


def times(row: Constraint, factor: Fraction) -> Constraint:
    """A row times a factor; a negative factor reverses its sign."""
    turned = TURNED[row.relation] if factor < 0 else row.relation
    terms = {j: value * factor for j, value in row.terms.items()}
    return Constraint(row.name, terms, turned, row.right * factor)


CHANGES: dict[str, Callable[[Sequence[Constraint], Random], Sequence[Constraint]]] = {
    "scaled": lambda rows, rng: [times(r, Fraction(2) ** rng.randint(-70, 70)) for r in rows],
    "turned round": lambda rows, _: [times(row, Fraction(-1)) for row in rows],
    "shuffled": lambda rows, rng: rng.sample(rows, len(rows)),
    "doubled": lambda rows, _: [*rows, *(times(row, Fraction(-1)) for row in rows)],
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_kind_does_not_depend_on_how_rows_are_written(change: str) -> None:
    for seed in range(0, 600, 3):
        model = replace(random_model(seed), kept=frozenset())
        kind = solve_system(system_of(model), Limits()).kind
        other = CHANGES[change](model.constraints, Random(seed))  # noqa: S311
        changed = replace(model, constraints=tuple(other))
        assert solve_system(system_of(changed), Limits()).kind == kind, seed


@seed_blocks(300)
def test_conflicts_without_a_common_row_and_least_values(seeds: range) -> None:
    several = 0
    for seed in seeds:
        model = random_model(seed)
        d = len(model.variables)
        found = conflicts_of(system_of(model), Limits())
        used: set[int] = set()
        for conflict in found:
            rows = {number_of(model, row) for row in conflict} - model.kept
            assert not used & rows, seed
            used |= rows
        several += len(found) > 1
        if found.complete:
            assert oracle.is_feasible(oracle.rows_of(model, frozenset(used)), d), seed
        if any(row.relation in ("<", ">") for row in model.constraints):
            continue
        f = {j: Fraction(k - seed % 5) for j, k in enumerate(range(d))}
        best = optimise(replace(model, objective=f), Limits())
        solutions = oracle.polyhedron(oracle.rows_of(model), d)
        if solutions.is_empty():
            assert best.kind == "infeasible", seed
            continue
        value = oracle.least_value(solutions, f)
        assert best.exact_value == value, seed
        assert best.kind == ("unbounded" if value is None else "optimal"), seed
    assert several > 1


@seed_blocks(400)
def test_so_many_rows_must_go_and_a_row_alone_gives_way_by_so_much(seeds: range) -> None:
    """The claims of ``--disjoint-conflicts``, checked on all smaller sets of rows."""
    seen = Counter[int]()
    for seed in seeds:
        model = random_model(seed)
        system = system_of(model)
        found = conflicts_of(system, Limits())
        removable = [k for k in range(model.n) if model.row(k) and k not in model.kept]
        few = [conflict for conflict in found if not all(row.kept for row in conflict)]
        seen[len(few)] += 1
        for gone in combinations(removable, len(few) - 1) if few else ():
            assert not oracle.is_feasible(oracle.rows_of(model, frozenset(gone)), model.d), seed
        for answer in found.solutions:
            for part in conflict_values(answer)["rows"]:  # type: ignore[attr-defined]
                named = NamedRow(part["kind"], part["index"], part["name"], Fraction(0))
                k, by = number_of(model, named), Fraction(part["gives_way_by"])
                row = model.row(k)
                assert row is not None
                others = oracle.rows_of(model, frozenset([k]))
                for sign in (1, -1) if row.relation == "=" else (row.sign,):
                    looser = row._replace(right=row.right + sign * by * Fraction(999, 1000))
                    assert not oracle.is_feasible([*others, looser], model.d), seed
    assert seen[2] > 1


@seed_blocks(250, 50)
def test_floats_of_every_size(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, p = (int(k) for k in rng.integers(1, 7, 2))
        most = (0, 5, 40, 300, 900)[seed % 5]
        A = rng.integers(-3, 4, (n, p)) * rng.uniform(0.5, 1.0, (n, p))
        A *= 2.0 ** rng.integers(-most, most + 1, (n, p))
        c = A @ rng.standard_normal(p) + rng.choice([0.0, 1e-16, 1.0]) * rng.standard_normal(n)
        strict = rng.random(n) < 0.3
        rows = [
            Constraint(
                "",
                {j: Fraction(value) for j, value in enumerate(A[i].tolist()) if value},
                "<" if strict[i] else "<=",
                Fraction(float(c[i])),
            )
            for i in range(n)
        ]
        point = ("any", "nearest", "interior", "chebyshev")[seed % 4]
        answer = nv.solve(A, c, strict=strict, point=point)
        assert answer.kind == ("feasible" if oracle.is_feasible(rows, p) else "infeasible"), seed
        if answer.exact_w is not None and answer.w is not None:
            assert all(holds(row, answer.exact_w) for row in rows), seed
            floats = [Fraction(value) for value in answer.w.tolist() if isfinite(value)]
            hold = len(floats) == p and all(holds(row, floats) for row in rows)
            assert answer.needs_exact_w != hold, seed
        assert answer.certificate is not None
        nv.verify(answer.certificate, A, c, strict=strict)
