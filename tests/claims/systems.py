"""Claims of `nv.solve`, `nv.conflicts` and `nv.linear_program`, against an exact solver."""

from __future__ import annotations

import math
import operator as op
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.stops import Limits
from novikoff.proofs.system_statement import Constraint, LinearSystem
from novikoff.systems.relax import relax_system
from novikoff.systems.solution import NamedRow
from tests.claims.oracles import at_least, reduced, root
from tests.claims.problems import SYSTEMS, System, exactly, system
from tests.claims.register import claim
from tests.separability_oracle import Point, inner, solve

oracle = pytest.importorskip("tests.system_oracle", reason="pplpy is not installed")

COMPARE = {"<=": op.le, ">=": op.ge, "=": op.eq, "<": op.lt, ">": op.gt}


def stated(problem: System) -> dict[tuple[str, int], Constraint]:
    """Every row by its kind and number, as `NamedRow` has them, in fractions."""
    found: dict[tuple[str, int], Constraint] = {}

    def put(kind: str, i: int, terms: Sequence[Fraction], relation: Any, right: float) -> None:
        if math.isfinite(right):
            parts = {j: value for j, value in enumerate(terms) if value}
            found[kind, i] = Constraint(f"{kind} {i}", parts, relation, Fraction(right))

    p = len(problem.objective)
    units = [[Fraction(int(j == k)) for k in range(p)] for j in range(p)]
    for i, row in enumerate([] if problem.A is None else problem.A.tolist()):
        strict = problem.strict is not None and problem.strict[i]
        put("row", i, exactly(row), "<" if strict else "<=", float(problem.c[i]))  # type: ignore[index]
    for i, row in enumerate([] if problem.A_eq is None else problem.A_eq.tolist()):
        put("eq", i, exactly(row), "=", float(problem.c_eq[i]))  # type: ignore[index]
    for kind, relation, bounds in (("upper", "<=", problem.upper), ("lower", ">=", problem.lower)):
        for j, value in enumerate([] if bounds is None else bounds.tolist()):
            put(kind, j, units[j], relation, value)
    return found


def left_side(row: Constraint, w: Sequence[Fraction]) -> Fraction:
    return sum((value * w[j] for j, value in row.terms.items()), Fraction(0))


def holds(row: Constraint, w: Sequence[Fraction]) -> bool:
    return bool(COMPARE[row.relation](left_side(row, w), row.right))


def ask(problem: System, **more: Any) -> nv.Solution:
    return nv.solve(**problem.arrays, keep=problem.keep, **more)


def is_feasible(rows: dict[tuple[str, int], Constraint], p: int) -> bool:
    return bool(oracle.is_feasible(rows.values(), p))


@claim(
    system,
    covers=["solve", "Solution", "Solution.kind", "Solution.w", "Solution.exact_w",
            "Solution.needs_exact_w", "Solution.violation", "Solution.point_found",
            "Solution.sentence"],
    sentences=["{}, proved: {}"],
    problems=200,
)  # fmt: skip
def feasible(problem: System) -> None:
    """The kind is that of an exact solver, and the point satisfies every row."""
    answer, rows = ask(problem, point=problem.point), stated(problem)
    if answer.kind == "undecided":
        return
    assert (answer.kind == "feasible") == is_feasible(rows, len(problem.objective))
    if answer.kind == "infeasible":
        assert str(answer).startswith("Infeasible, proved:")
        assert answer.w is None
        return
    assert answer.exact_w is not None
    assert answer.w is not None
    assert all(holds(row, answer.exact_w) for row in rows.values())
    floats = exactly(np.nan_to_num(answer.w))
    assert answer.needs_exact_w or all(holds(row, floats) for row in rows.values())
    assert answer.needs_exact_w or answer.violation == 0.0
    said = " ".join(str(answer).split())
    assert said == answer.sentence
    exactly_so = ", exactly" if answer.needs_exact_w else ""
    assert re.match(rf"Feasible, proved: the point .* satisfies every row{exactly_so}\.", said)


@claim(
    partial(system, strict=False, styles=("integers",)),
    covers=[
        "Solution.whole",
        "Optimum.whole",
        "Relaxation.whole",
        "Relaxation.relaxed",
        "Relaxation.ended",
        "Conflicts.relaxed",
    ],
    problems=60,
)
def whole(problem: System) -> None:
    """A point of a model with integer variables is whole only if its integer variables are."""
    found = ask(problem)
    if problem.A is None or found.system.stated.m == 0:
        return
    rows, p = stated(problem), len(problem.objective)
    integers = frozenset(range(0, p, 2))
    bounds = [tuple(rows[kind, j].right if (kind, j) in rows else None for j in range(p))
              for kind in ("lower", "upper")]  # fmt: skip
    table = tuple(row for (kind, _), row in rows.items() if kind in ("row", "eq"))
    names = tuple(f"x{j}" for j in range(p))
    exact = LinearSystem(names, table, bounds[0], bounds[1], integers=integers)
    answer = nv.solve(nv.SystemModel(exact, "csv"))
    assert answer.relaxed
    if answer.kind == "feasible":
        assert answer.exact_w is not None
        assert answer.whole == all(answer.exact_w[j].denominator == 1 for j in integers)
        assert str(answer).startswith("Feasible," if answer.whole else "Relaxation feasible,")
    model, f = nv.SystemModel(exact, "csv"), problem.objective
    best = nv.linear_program(f, model, maximise=problem.maximise)
    total = nv.relax(model, by="total")
    for w, is_whole in ((best.exact_w, best.whole), (total.exact_w, total.whole)):
        assert is_whole == (w is not None and all(w[j].denominator == 1 for j in integers))
    assert ("of the relaxation" in str(best)) == (best.kind == "optimal" and not best.whole)
    fractional = total.exact_w is not None and not total.whole
    assert ("in whole numbers need not exist" in str(total)) == fractional
    assert total.relaxed
    assert total.ended == ""
    several = nv.conflicts(model)
    assert several.relaxed
    assert several.complete == ("relaxation" in str(several))


@claim(partial(system, strict=False), covers=["Solution.w"], problems=100)
def nearest(problem: System) -> None:
    """No solution is nearer to the origin than the nearest point: −w is a sum of rows it meets."""
    answer, rows = ask(problem, point="nearest"), stated(problem)
    if answer.kind != "feasible" or not answer.point_found:
        return
    assert answer.exact_w is not None
    w = [*answer.exact_w]
    # z with ⟨w, z⟩ < ⟨w, w⟩ and all rows would be nearer, after a step towards it.
    least = oracle.least_value(oracle.polyhedron(rows.values(), len(w)), dict(enumerate(w)))
    assert least == inner(w, w)


@claim(
    system,
    covers=["Solution.interior", "Solution.implicit_equalities", "Solution.interior_proof"],
    problems=100,
)
def implicit_equalities(problem: System) -> None:
    """The answer names exactly the rows that hold with equality in every solution."""
    answer, rows = ask(problem), stated(problem)
    found = answer.implicit_equalities
    if found is None:
        return
    solutions = oracle.polyhedron(rows.values(), len(problem.objective))
    always = {
        at for at, row in rows.items()
        if row.relation != "=" and oracle.is_always_met(solutions, row)
    }  # fmt: skip
    assert {(row.kind, row.index) for row in found} == always
    equal = any(row.relation == "=" for row in rows.values())
    assert answer.interior == ("relative" if always or equal else "full")


@claim(
    system,
    covers=["Solution.conflict", "NamedRow", "NamedRow.kind", "NamedRow.index", "NamedRow.name",
            "NamedRow.multiplier", "NamedRow.kept"],
    sentences=["no fewer of them do"],
    problems=200,
)  # fmt: skip
def conflict(problem: System) -> None:
    """The multipliers of the rows prove a contradiction, and every row is needed."""
    answer, rows = ask(problem), stated(problem)
    if answer.kind != "infeasible":
        return
    p, few = len(problem.objective), {(row.kind, row.index) for row in answer.conflict}
    assert len(few) == len(answer.conflict)
    kept = {("row", i) for i in problem.keep or ()}
    assert {(row.kind, row.index) for row in answer.conflict if row.kept} == few & kept
    assert_contradiction(answer.conflict, rows, p)
    blamed = few - kept
    together = {at: rows[at] for at in (few | kept if blamed else few)}
    for at in blamed or few:
        assert is_feasible({k: row for k, row in together.items() if k != at}, p)


@claim(
    partial(system, strict=False),
    covers=["explain", "Explanation", "Explanation.kind", "Explanation.conflict",
            "Explanation.certificate", "Explanation.relaxed"],
    problems=80,
)  # fmt: skip
def explanation(problem: System) -> None:
    """An explanation blames the first rows that can be blamed, and proves its conflict."""
    rows, p = stated(problem), len(problem.objective)
    n = 0 if problem.A is None else len(problem.A)
    groups = [[f"row {i}" for i in range(n) if i % 3 == k] for k in (0, 1)]
    blame = [name for group in groups for name in group] or ["rows"]
    answer = nv.explain(**{"model" if k == "A" else k: v for k, v in problem.arrays.items()},
                        blame=blame if problem.A is not None else None)  # fmt: skip
    assert answer.kind == ("feasible" if is_feasible(rows, p) else "infeasible")
    assert not answer.relaxed
    assert answer.certificate is not None
    if answer.kind == "feasible":
        return
    assert_contradiction(answer.conflict, rows, p)
    blamed = [row for row in answer.conflict if not row.kept]
    assert str(answer).count("×") == min(len(answer.conflict), 24)
    for k in range(len(blame)):  # the first rows that make it infeasible with all rows not listed
        tried = {*blame[: k + 1]}
        without = {
            at: row for at, row in rows.items() if f"row {at[1]}" not in tried or at[0] != "row"
        }
        if problem.A is not None and is_feasible(without, p):
            assert {row.name for row in blamed} <= tried
            return


@claim(
    partial(system, strict=False, styles=("integers", "two values")),
    covers=["Solution.tolerance", "Solution.least_violation"],
    problems=100,
)
def tolerance(problem: System) -> None:
    """A tolerance loosens every row, and a conflict ends where its least violation is allowed."""
    rows, p = stated(problem), len(problem.objective)
    if problem.A is None:
        return
    answer = ask(problem)
    for allowed in ("1e-9", "0.1", "1"):
        loose = ask(problem, tolerance=float(allowed))
        assert loose.tolerance == Fraction(allowed)
        if loose.kind == "undecided":
            continue
        assert (loose.kind == "feasible") == is_feasible(loosened(rows, Fraction(allowed)), p)
        if loose.exact_w is not None:
            assert all(holds(row, loose.exact_w)
                       for row in loosened(rows, Fraction(allowed)).values())  # fmt: skip
    by = answer.least_violation
    if by is None:
        assert answer.kind != "infeasible"
        return
    few: dict[tuple[str, int], Constraint] = {
        (row.kind, row.index): rows[row.kind, row.index] for row in answer.conflict
    }
    assert by > 0
    assert not is_feasible(loosened(few, by * Fraction(999, 1000)), p)
    # Without kept rows the conflict is irreducible, and its multipliers are the only ones.
    assert is_feasible(loosened(few, by), p) or any(row.kept for row in answer.conflict)


def loosened(
    rows: dict[tuple[str, int], Constraint], allowed: Fraction
) -> dict[tuple[str, int], Constraint]:
    """The rows, each of which may be violated by as much as allowed."""
    found: dict[tuple[str, int], Constraint] = {}
    for (kind, i), row in rows.items():
        if row.relation in ("<=", "="):
            found[f"{kind} up", i] = row._replace(relation="<=", right=row.right + allowed)
        if row.relation in (">=", "="):
            found[f"{kind} down", i] = row._replace(relation=">=", right=row.right - allowed)
    return found


def assert_contradiction(
    claimed: Sequence[NamedRow],
    rows: dict[tuple[str, int], Constraint],
    p: int,
) -> None:
    """Σ λ_i a_i = 0 and Σ λ_i c_i < 0, or = 0 with a strict row among them."""
    total, right, strict = [Fraction(0)] * p, Fraction(0), False
    for named in claimed:
        row, factor = rows[named.kind, named.index], named.multiplier
        assert factor > 0 or row.relation == "="
        sign = -1 if row.relation in (">=", ">") else 1
        for j, value in row.terms.items():
            total[j] += sign * factor * value
        right += sign * factor * row.right
        strict = strict or row.relation in ("<", ">")
    assert not any(total)
    assert right < 0 or (right == 0 and strict)


@claim(
    system,
    covers=["conflicts", "Conflicts", "Conflicts.solutions", "Conflicts.complete",
            "Conflicts.among_kept"],
)  # fmt: skip
def conflicts(problem: System) -> None:
    """Conflicts share only kept rows, and the system without their rows is feasible."""
    found, rows = nv.conflicts(**problem.arrays, keep=problem.keep), stated(problem)
    p, used = len(problem.objective), set[tuple[str, int]]()
    for own in found:
        assert_contradiction(own, rows, p)
        blamed = {(row.kind, row.index) for row in own if not row.kept}
        assert not used & blamed
        used |= blamed
    if found.complete:
        assert is_feasible({at: row for at, row in rows.items() if at not in used}, p)
    kept = {("row", i) for i in problem.keep or ()}
    rest = {at: row for at, row in rows.items() if at in kept}
    assert found.among_kept == ("contradict each other" in str(found))
    assert found.among_kept == (len(found) > 0 and not is_feasible(rest, p))


@claim(
    partial(system, strict=False),
    covers=["Solution.radius", "Solution.radius_proof", "Interval.lo", "Interval.hi"],
    problems=200,
)
def radius(problem: System) -> None:
    """The interval contains the radius of the largest ball, or minus the unavoidable violation."""
    answer, rows = ask(problem), stated(problem)
    if answer.kind == "undecided":
        return
    lo, hi = signed_radius(rows, len(problem.objective), feasible=answer.kind == "feasible")
    assert Extended(answer.radius.lo) <= hi
    assert Extended(answer.radius.hi) >= lo
    if lo == hi:
        assert Extended(answer.radius.lo) <= lo <= Extended(answer.radius.hi)


def Extended(value: float) -> Fraction | float:  # noqa: N802
    """A float that can be compared with fractions."""
    return value if math.isinf(value) else Fraction(value)


def signed_radius(
    rows: dict[tuple[str, int], Constraint], p: int, *, feasible: bool
) -> tuple[Fraction | float, Fraction | float]:
    """Bounds of the largest r for which rows that are r·‖a_i‖ tighter have a common point.

    Lengths are bounded by fractions. Where a system is feasible equalities stay as they are, else
    they count as two rows; a row of zeros is not moved.
    """
    low: list[Constraint] = []
    high: list[Constraint] = []
    for row in rows.values():
        turned = {j: value * (-1 if row.relation == ">=" else 1) for j, value in row.terms.items()}
        right = row.right * (-1 if row.relation == ">=" else 1)
        if row.relation == "=" and feasible:
            for part in (low, high):
                part.append(Constraint("", turned, "=", right))
            continue
        size = root(sum((value**2 for value in turned.values()), Fraction(0)))
        for sign in (1, -1) if row.relation == "=" else (1,):
            terms = {j: sign * value for j, value in turned.items()}
            # r ≥ 0 is least with long rows, r < 0 with short ones.
            for part, length in ((low, size[feasible]), (high, size[not feasible])):
                own = {**terms, p: length} if length else terms
                part.append(Constraint("", own, "<=", sign * right))
    found = []
    for part in (low, high):
        solutions = oracle.polyhedron(part, p + 1)
        if solutions.is_empty():
            found.append(-math.inf)
            continue
        least = oracle.least_value(solutions, {p: Fraction(-1)})
        found.append(math.inf if least is None else -least)
    return found[0], found[1]


@claim(
    partial(system, strict=False, styles=("integers",)),
    covers=["Solution.least_squares", "Solution.violation"],
    problems=100,
)
def least_squares(problem: System) -> None:
    """No point has a smaller sum of squared violations, up to rounding.

    Rows are whole numbers: floats do not find a best point that is far away because columns are
    dependent but for an ulp.
    """
    answer, rows = ask(problem), stated(problem)
    if answer.least_squares is None:
        return
    plain = [plain_row(row, len(problem.objective)) for row in rows.values()]
    w = exactly(answer.least_squares)
    truth, found = least_squared_violation(plain), squared_violation(plain, w)
    scale = 1 + sum((right**2 for _, right, _ in plain), Fraction(0))
    assert found <= truth + scale * Fraction(1, 10**10)
    worst = max(violation(row, w) for row in plain)
    assert math.isclose(answer.violation, worst, rel_tol=1e-9, abs_tol=1e-9)


Plain = tuple[Point, Fraction, bool]


def plain_row(row: Constraint, p: int) -> Plain:
    """⟨a, w⟩ ≤ c, or = c."""
    sign = -1 if row.relation in (">=", ">") else 1
    left = [sign * row.terms.get(j, Fraction(0)) for j in range(p)]
    return left, sign * row.right, row.relation == "="


def violation(row: Plain, w: Sequence[Fraction]) -> Fraction:
    left, right, equal = row
    off = inner(left, w) - right
    return abs(off) if equal else max(off, Fraction(0))


def squared_violation(rows: Sequence[Plain], w: Sequence[Fraction]) -> Fraction:
    return sum((violation(row, w) ** 2 for row in rows), Fraction(0))


def least_squared_violation(rows: Sequence[Plain]) -> Fraction:
    """Try all sets of rows that may be violated: the least squares of some set is the answer.

    The function is convex, so that the point of any set whose gradient for all rows is zero is
    best.
    """
    p, n = len(rows[0][0]), len(rows)
    fixed = [i for i in range(n) if rows[i][2]]
    others = [i for i in range(n) if not rows[i][2]]
    for size in range(len(others) + 1):
        for some in combinations(others, size):
            w = _stationary([rows[i] for i in (*fixed, *some)], p)
            gradient = [
                sum(((inner(a, w) - c) * a[j] for a, c, equal in rows
                     if equal or inner(a, w) > c), Fraction(0))
                for j in range(p)
            ]  # fmt: skip
            if not any(gradient):
                return squared_violation(rows, w)
    raise AssertionError("Some set of rows is the one that is violated.")


def _stationary(rows: Sequence[Plain], p: int) -> Point:
    """A w with Σ (⟨a, w⟩ − c)·a = 0, of those coordinates that are needed."""
    basis = reduced([a for a, _, _ in rows])
    if not basis:
        return [Fraction(0)] * p
    # w = Σ t_k b_k, and Σ_i ⟨a_i, b_k⟩(⟨a_i, w⟩ − c_i) = 0 for each k.
    images = [[inner(a, b) for b in basis] for a, _, _ in rows]
    k = len(basis)
    M = [[sum((x[i] * x[j] for x in images), Fraction(0)) for j in range(k)] for i in range(k)]
    b = [
        sum((x[i] * c for x, (_, c, _) in zip(images, rows, strict=True)), Fraction(0))
        for i in range(k)
    ]
    t = solve(M, b)
    assert t is not None
    return [inner(t, [row[j] for row in basis]) for j in range(p)]


@claim(
    partial(system, strict=False),
    covers=["linear_program", "Optimum", "Optimum.kind", "Optimum.value", "Optimum.exact_value",
            "Optimum.w", "Optimum.exact_w", "Optimum.dual", "Optimum.ray", "Optimum.solution"],
    sentences=["{}, proved: {}"],
    problems=150,
)  # fmt: skip
def optimum(problem: System) -> None:
    """The value is that of an exact solver, by a point and multipliers that prove it."""
    best = nv.linear_program(
        problem.objective, **{k: v for k, v in problem.arrays.items() if k != "strict"},
        maximise=problem.maximise,
    )  # fmt: skip
    rows, p, sign = stated(problem), len(problem.objective), -1 if problem.maximise else 1
    f = exactly(problem.objective)
    solutions = oracle.polyhedron(rows.values(), p)
    if best.kind == "undecided":
        return
    if solutions.is_empty():
        assert best.kind == "infeasible"
        return
    value = oracle.least_value(solutions, {j: sign * x for j, x in enumerate(f) if x})
    if value is None:
        assert best.kind == "unbounded"
        assert best.ray is not None
        assert sign * inner(f, best.ray) < 0
        for row in rows.values():
            assert COMPARE[row.relation](left_side(row, best.ray), 0)
        return
    assert best.kind == "optimal"
    assert best.exact_value == sign * value
    assert Extended(best.value.lo) <= best.exact_value <= Extended(best.value.hi)
    assert best.exact_w is not None
    assert inner(f, best.exact_w) == best.exact_value
    assert all(holds(row, best.exact_w) for row in rows.values())
    total, bound = [sign * x for x in f], Fraction(0)
    for named in best.dual:
        row = rows[named.kind, named.index]
        turn = -1 if row.relation == ">=" else 1
        assert named.multiplier >= 0 or row.relation == "="
        for j, x in row.terms.items():
            total[j] += turn * named.multiplier * x
        bound -= turn * named.multiplier * row.right
    assert not any(total)
    assert bound == value
    assert str(best).startswith("Optimal, proved: the value is ")


@claim(
    system,
    covers=["SystemCertificate", "SystemCertificate.answer", "SystemCertificate.point",
            "SystemCertificate.conflict", "SystemCertificate.irreducible",
            "SystemCertificate.implicit", "SystemCertificate.radius",
            "SystemCertificate.witnesses", "SystemCertificate.claim",
            "Solution.certificate"],
    sentences=["no fewer of them do", "every point is at least {} away from a row",
               "at least {}", "at most {}"],
    problems=120,
)  # fmt: skip
def certificate(problem: System) -> None:
    """With all computed attributes, the certificate verifies, and its sentence is true."""
    answer, rows = ask(problem), stated(problem)
    _ = answer.implicit_equalities, answer.radius
    proof = answer.certificate
    if proof is None:
        return
    again = nv.SystemCertificate.from_json(proof.to_json())
    nv.verify(again, problem.A, problem.c, **{
        name: value for name, value in problem.arrays.items() if name not in ("A", "c")
    })  # fmt: skip
    feasible = is_feasible(rows, len(problem.objective))
    assert proof.claim().startswith("Feasible:" if feasible else "Infeasible:")
    if found := re.search(r"; (\d+) of its rows hold with equality", proof.claim()):
        equal = sum(row.relation == "=" for row in rows.values())
        assert int(found[1]) <= len(answer.implicit_equalities or ()) + equal
    told = re.findall(r"(at least|at most) ([-\d.e+]*\d)", proof.claim())
    weak = not any(row.relation == "<" for row in rows.values())
    lo, hi = signed_radius(rows, len(problem.objective), feasible=feasible) if weak else (0, 0)
    for word, number in told if weak else []:
        if not feasible:
            assert -Fraction(number) >= lo
        elif word == "at least":
            assert Fraction(number) <= hi
        else:
            assert Fraction(number) >= lo
    if found := re.search(r"(\d+) rows contradict ", proof.claim()):
        assert int(found[1]) == len(answer.conflict)


@claim(system, problems=120)
def forged_certificate(problem: System) -> None:
    """A certificate of other right sides, given the digest of these, holds only if it is true."""
    if problem.c is None:
        return
    own, k = ask(problem), len(problem.objective) % len(problem.c)
    stolen = ask(replace(problem, c=problem.c + np.where(np.arange(len(problem.c)) == k, -1, 1)))
    proof, taken = own.certificate, stolen.certificate
    if proof is None or taken is None:
        return
    _ = own.implicit_equalities
    proof = own.certificate or proof
    forgeries = [replace(taken, sha256=proof.sha256)]
    if proof.implicit is not None and proof.implicit.rows:
        forgeries.append(replace(proof, implicit=replace(proof.implicit, rows=(), multipliers=())))
    more = {name: value for name, value in problem.arrays.items() if name not in ("A", "c")}
    impossible = np.where(np.arange(len(problem.c)) == k, -np.inf, problem.c)
    absent = np.where(np.arange(len(problem.c)) == k, np.inf, problem.c)
    without = ask(replace(problem, c=absent)).certificate
    if without is not None and without.answer == "feasible":
        with pytest.raises(nv.CertificateError, match="no point satisfies that row"):
            nv.verify(without, problem.A, impossible, **more)
    for forged in forgeries:
        try:
            nv.verify(forged, problem.A, problem.c, **more)
        except nv.CertificateError:
            continue
        assert forged is forgeries[0]
        feasible = is_feasible(stated(problem), len(problem.objective))
        assert (forged.answer == "feasible") == feasible


@claim(
    partial(system, strict=False, styles=SYSTEMS),
    covers=["Solution.no_point_within", "Solution.ended"],
    sentences=["no solution is nearer to the origin than"],
    problems=60,
)
def no_point_within(problem: System) -> None:
    """If the answer is undecided, no solution is nearer to the origin than the stated distance."""
    from novikoff.systems.methods import METHODS

    names = sorted(METHODS)
    method = names[int(abs(problem.objective).sum()) % len(names)]
    answer = nv.solve(**problem.arrays, method=method, budget=0.02)
    rows, p = stated(problem), len(problem.objective)
    if answer.kind != "undecided":
        assert (answer.kind == "feasible") == is_feasible(rows, p)
        return
    assert str(answer).startswith("Undecided:")
    exact = ask(problem, point="nearest")
    if exact.kind == "feasible":  # its nearest point is checked by `nearest`
        assert exact.exact_w is not None
        assert at_least(inner([*exact.exact_w], [*exact.exact_w]), answer.no_point_within)


Key = tuple[str, int]


def may_give(problem: System, rows: dict[Key, Constraint]) -> dict[Key, Fraction]:
    """The weight of each row that may give way: bounds at 0 and kept rows may not."""
    kept = {("row", i) for i in problem.keep or ()}
    weights = weights_of(problem)
    return {
        at: Fraction(str(weights.get(at[0] == "row" and f"row {at[1]}", 1.0)))
        for at, row in rows.items()
        if at not in kept and not (at[0] in ("upper", "lower") and row.right == 0)
    }


def weights_of(problem: System) -> dict[Any, float]:
    """Weights for some rows, if the problem maximises."""
    n = 0 if problem.A is None or not problem.maximise else len(problem.A)
    return {f"row {i}": [0.5, 2.0, 3.0][i % 3] for i in range(n)}


def has_weights(prices: dict[Key, Fraction]) -> bool:
    """Whether a row that may give way has another weight than 1."""
    return any(price != 1 for price in prices.values())


def ask_to_relax(problem: System, by: Any) -> nv.Relaxation:
    rows = stated(problem)
    listed = {f"row {i}" for kind, i in rows if kind == "row"}
    weights = {name: value for name, value in weights_of(problem).items() if name in listed}
    keep = [i for i in problem.keep or () if ("row", i) in rows]
    return nv.relax(**problem.arrays, keep=keep, by=by, weights=weights or None)


@claim(
    partial(system, styles=("integers", "two values")),
    covers=["relax", "Relaxation", "Relaxation.by", "Relaxation.kind", "Relaxation.least",
            "Relaxation.most", "Relaxation.value", "Relaxation.is_least", "Relaxation.rows",
            "Relaxation.w", "Relaxation.exact_w", "Relaxation.conflicts", "RelaxedRow",
            "RelaxedRow.kind", "RelaxedRow.index", "RelaxedRow.name", "RelaxedRow.gives_way_by",
            "RelaxedRow.old_side", "RelaxedRow.new_side", "Relaxation.solution"],
    sentences=["{} must go, no {} — proved"],
    problems=80,
)  # fmt: skip
def fewest_rows(problem: System) -> None:
    """The rows to give up are a cheapest set of rows without which the rest is feasible."""
    rows, p = stated(problem), len(problem.objective)
    prices, answer = may_give(problem, rows), ask_to_relax(problem, "rows")
    subsets = [few for size in range(len(prices) + 1) for few in combinations(prices, size)]
    costs = sorted(
        (sum((prices[at] for at in few), Fraction(0)), k) for k, few in enumerate(subsets)
    )
    truth = next(
        (cost for cost, k in costs
         if is_feasible({at: row for at, row in rows.items() if at not in subsets[k]}, p)), None,
    )  # fmt: skip
    if truth is None:
        assert answer.kind == "infeasible"
        assert_contradiction(answer.solution.conflict, {k: v for k, v in rows.items()
                                                        if k not in prices}, p)  # fmt: skip
        return
    assert answer.kind == ("relaxed" if truth else "feasible")
    assert answer.most is not None
    assert answer.least <= truth <= answer.most
    assert answer.is_least  # these are so small that a proof is always found
    assert Extended(answer.value.lo) <= truth <= Extended(answer.value.hi)
    gone = {(row.kind, row.index) for row in answer.rows}
    assert sum((prices[at] for at in gone), Fraction(0)) == truth
    assert answer.exact_w is not None
    for at, row in rows.items():
        assert at in gone or holds(row, answer.exact_w)
    assert_gives_way(answer, rows)
    for found in answer.conflicts:
        assert_contradiction(found.conflict, rows, p)
        assert found.certificate is not None
    if truth:
        fewest = f"{truth} row{'' if truth == 1 else 's'} must go, no fewer — proved"
        if has_weights(prices):
            fewest = f"Rows of total weight {float(truth):g} must go, no less — proved"
        assert str(answer).startswith(fewest)


def assert_gives_way(answer: nv.Relaxation, rows: dict[Key, Constraint]) -> None:
    """The violations and the new sides are those of the point."""
    assert answer.exact_w is not None
    for told in answer.rows:
        row = rows[told.kind, told.index]
        at = left_side(row, answer.exact_w)
        assert (told.old_side, told.new_side) == (row.right, at)
        off = abs(at - row.right) if row.relation == "=" else row.sign * (at - row.right)
        assert told.gives_way_by == max(off, Fraction(0))


@claim(partial(system, strict=False), covers=["Solution.least_violation"], problems=80)
def least_violation_of_a_conflict(problem: System) -> None:
    """Every point violates some row of the conflict by at least this, and some point by no more."""
    answer = nv.solve(**problem.arrays)
    if answer.kind != "infeasible":
        assert answer.least_violation is None
        return
    rows, p = stated(problem), len(problem.objective)
    loose = [Constraint("", {p: Fraction(1)}, ">=", Fraction(0))]
    for named in answer.conflict:
        row = rows[named.kind, named.index]
        for relation in ("<=", ">=") if row.relation == "=" else (row.relation,):
            terms = {**row.terms, p: Fraction(-1 if relation == "<=" else 1)}
            loose.append(Constraint("", terms, relation, row.right))
    space = oracle.polyhedron(loose, p + 1)
    assert answer.least_violation == oracle.least_value(space, {p: Fraction(1)})


@claim(
    partial(system, strict=False, styles=("integers", "two values")),
    covers=["Relaxation.multipliers"],
    sentences=["{} — proved; the point found violates {}{}", "the rows by at least {} in total",
               "some row by at least {}", "no row by more than {}"],
    problems=80,
)  # fmt: skip
def least_violation(problem: System) -> None:
    """No point has a smaller total, or a smaller largest violation, than an exact solver finds."""
    rows, p = stated(problem), len(problem.objective)
    prices = may_give(problem, rows)
    for by in ("total", "max"):
        answer = ask_to_relax(problem, by)
        loose, objective = (
            [row for at, row in rows.items() if at not in prices],
            dict[int, Fraction](),
        )
        extra = p
        for at, price in prices.items():
            row, share = rows[at], Fraction(1) if by == "total" else 1 / price
            for relation in ("<=", ">=") if row.relation == "=" else (row.relation,):
                sign = -1 if relation == "<=" else 1
                terms = {**row.terms, extra: sign * share}
                loose.append(Constraint("", terms, relation, row.right))
            objective[extra] = price if by == "total" else Fraction(1)
            extra += by == "total"
        n = p + (len(prices) if by == "total" else 1)
        loose += [Constraint("", {j: Fraction(1)}, ">=", Fraction(0)) for j in range(p, n)]
        space = oracle.polyhedron(loose, n)
        if space.is_empty():
            assert answer.kind == "infeasible"
            continue
        truth = oracle.least_value(space, objective) if objective else Fraction(0)
        assert answer.most is not None
        assert answer.least <= truth <= answer.most
        assert answer.is_least
        assert answer.exact_w is not None
        gone = {(row.kind, row.index): row.gives_way_by for row in answer.rows}
        assert all(at in gone or holds(row, answer.exact_w) for at, row in rows.items())
        values = [prices[at] * by_how_much for at, by_how_much in gone.items()]
        assert (sum(values) if by == "total" else max(values, default=0)) == truth
        assert_gives_way(answer, rows)
        said = str(answer).rstrip(".")
        if answer.kind == "relaxed":
            assert ("times the weight" in said) == has_weights(prices)
        said = said.split(" (times the weight")[0]
        told = re.findall(r"by (?:at least |more than )?(-?\d\S*)", said)
        if "(rounded)" not in said:
            assert all(Fraction(text) == truth for text in told)
        assert answer.multipliers or answer.least == 0
        if answer.multipliers:
            assert_bound(answer, rows, prices, by, p)


@claim(
    partial(system, styles=("integers", "two values")),
    covers=["RelaxationCertificate", "RelaxationCertificate.by", "RelaxationCertificate.bound",
            "RelaxationCertificate.value", "RelaxationCertificate.point",
            "RelaxationCertificate.conflicts", "RelaxationCertificate.branches",
            "RelaxationCertificate.multipliers", "RelaxationCertificate.kept",
            "RelaxationCertificate.weights", "RelaxationCertificate.claim",
            "Relaxation.certificate"],
    sentences=["At least {} of the rows", "Rows of total weight at least {}",
               "none by more than {}"],
    problems=80,
)  # fmt: skip
def relaxation_certificate(problem: System) -> None:
    """The certificate proves the bounds of the answer, and no better bounds.

    The claims about the least values compare these bounds with an exact solver.
    """
    rows = stated(problem)
    more = {name: value for name, value in problem.arrays.items() if name not in ("A", "c")}
    for by in ("rows", "total", "max"):
        answer = ask_to_relax(problem, by)
        proof = answer.certificate
        assert proof is not None
        again = type(proof).from_json(proof.to_json())
        said = nv.verify(again, problem.A, problem.c, **more)
        if answer.kind != "relaxed":
            assert isinstance(proof, nv.SystemCertificate)
            continue
        assert isinstance(again, nv.RelaxationCertificate)
        assert (again.bound, again.value) == (answer.least, answer.most)
        assert again.value is not None
        assert len(again.kept) == len(rows) - len(may_give(problem, rows))
        told = [Fraction(text) for text in re.findall(r"-?\d+(?:/\d+)?", said.split(", if")[0])]
        if not re.search(r"\d[.e]", said):  # otherwise long numbers are rounded
            assert told[:2] == [again.bound, again.value]
        worse = replace(again, bound=again.bound + Fraction(1, 1000))
        with pytest.raises(nv.CertificateError, match="and not that of the certificate"):
            nv.verify(worse, problem.A, problem.c, **more)
        if again.value > 0:
            less = replace(again, value=again.value - Fraction(1, 10**6))
            with pytest.raises(nv.CertificateError, match="which is more than"):
                nv.verify(less, problem.A, problem.c, **more)


@claim(
    partial(system, styles=("integers", "two values")),
    covers=["Relaxation.ended"],
    sentences=["{}{} (proved)", "at least {} must go (proved)"],
    problems=60,
)
def interrupted_relaxation(problem: System) -> None:
    """What is known after an interruption is proved, and no more than the least value."""
    more = {name: value for name, value in problem.arrays.items() if name not in ("A", "c")}
    weights = {name: value for name, value in weights_of(problem).items()
               if ("row", int(name[4:])) in stated(problem)}  # fmt: skip
    for by in get_args(Literal["rows", "total", "max"]):
        truth = ask_to_relax(problem, by)
        if truth.kind != "relaxed":
            continue
        limits = Limits()
        limits.interrupt()
        system: Any = truth.solution.system.stated
        found = relax_system(system, by, limits, weights=weights or None, solution=truth.solution)
        assert found.least <= truth.least
        if found.kind == "undecided":
            assert found.ended == "it was interrupted"
            assert ("(proved)" in str(found)) == (found.least > 0)
            assert by != "rows" or found.least > 0
            weighted = has_weights(may_give(problem, stated(problem)))
            known = "total weight" if by == "rows" else "times the weight"
            assert (known in str(found)) == (weighted and found.least > 0)
        if found.kind == "undecided" and found.least > 0:
            assert isinstance(found.certificate, nv.RelaxationCertificate)
            assert found.certificate.bound == found.least
            nv.verify(found.certificate, problem.A, problem.c, **more)


def assert_bound(
    answer: nv.Relaxation, rows: dict[Key, Constraint], prices: dict[Key, Fraction], by: str, p: int
) -> None:
    """The multipliers prove the bound: Σ λ_i a_i = 0, they are small enough, and −⟨c, λ⟩ is it."""
    total, bound, load = [Fraction(0)] * p, Fraction(0), [Fraction(0)]
    for named in answer.multipliers:
        row, factor = rows[named.kind, named.index], named.multiplier
        assert factor > 0 or row.relation == "="
        for j, value in row.terms.items():
            total[j] += row.sign * factor * value
        bound -= row.sign * factor * row.right
        if (named.kind, named.index) in prices:
            load.append(abs(factor) / prices[named.kind, named.index])
    assert not any(total)
    assert bound == answer.least
    assert (max(load) if by == "total" else sum(load)) <= 1
