"""Linear programs, solved exactly.

In a sparse program, a float solver suggests the optimum (`suggested_optimum`). Otherwise the value
of the objective is found by Newton's method. If the row f·w ≤ z leaves no solution, the
multipliers λ of the conflict, scaled to 1 on the objective, are a solution of the dual program:
they prove f·w ≥ −⟨c, λ⟩ > z for every solution w, and −⟨c, λ⟩ is the next z. Each of these values
belongs to a vertex, so after finitely many steps a point reaches the value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal

import numpy as np

from novikoff.core.rows import Indices, Vector, stacked
from novikoff.core.stops import Limits, check_budget
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError
from novikoff.proofs import exact
from novikoff.proofs.system_statement import Arrays, Constraint, LinearSystem, check_frame_labels
from novikoff.sentences import digits_down, digits_up, html_table, proved_sentence, unbounded_clause
from novikoff.systems import newton
from novikoff.systems.conflicts import certificate_of
from novikoff.systems.files.lp import parse_objective
from novikoff.systems.solution import NamedRow, Solution, is_whole, named_row, named_rows
from novikoff.systems.solve import solve_system
from novikoff.systems.statement import check_vector, stated_system
from novikoff.systems.suggested import is_for_suggestions
from novikoff.systems.suggested_optimum import proved_optimum
from novikoff.systems.system import System, nearest_floats, system_of
from novikoff.systems.system_model import SystemModel


@dataclass(eq=False)
class Optimum:
    """The answer to a linear program.

    Attributes
    ----------
    kind : str
        "optimal", "infeasible", "unbounded" or "undecided".
    value : Interval
        Contains the least (or greatest) value of the objective; ±∞ if unbounded or infeasible.
    exact_value : Fraction or None
        The exact value, if optimal.
    w, exact_w : array and tuple of Fraction, or None
        A point that reaches the value, in floats and exactly; if undecided, the best point found.
    dual : tuple of NamedRow
        The dual variables: rows with their multipliers λ, for which Σ λ_i a_i = −f. Here a row with
        ≥ counts with its signs changed. They prove f·w ≥ −⟨c, λ⟩ for every solution w. If optimal,
        −⟨c, λ⟩ is the value; otherwise it is one end of ``value``. For a program that maximises, f
        is minus the objective. A constant in the objective is not part of f.
    ray : tuple of Fraction or None
        If unbounded, a direction: moving along it, solutions stay solutions, and the objective
        improves without limit.
    solution : Solution
        The answer to the system without the objective; it has the conflict if infeasible.

    See Also
    --------
    linear_program : Returns an optimum.
    """

    kind: Literal["optimal", "infeasible", "unbounded", "undecided"]
    value: Interval
    solution: Solution
    exact_value: Fraction | None = None
    w: Vector | None = None
    exact_w: tuple[Fraction, ...] | None = None
    dual: tuple[NamedRow, ...] = ()
    ray: tuple[Fraction, ...] | None = None

    @property
    def whole(self) -> bool:
        """Whether the exact point gives whole numbers to all integer variables of the model.

        If it does not, the answer is about the relaxation of the model.
        """
        return is_whole(self.solution.system.stated, self.exact_w)

    def __str__(self) -> str:
        if self.kind == "infeasible":
            return str(self.solution)
        if self.kind == "unbounded":
            clause = unbounded_clause(maximise=self.value.hi > 0.0)
            return f"{proved_sentence('Unbounded', clause)}."
        if self.kind == "undecided":
            ends = digits_down(self.value.lo, 15), digits_up(self.value.hi, 15)
            return f"Undecided: the value is in [{', '.join(ends)}]."
        value = self.exact_value or Fraction(0)
        shown = f"{Decimal(value.numerator) / value.denominator:.10g}"
        how = "exactly" if Fraction(shown) == value else "rounded to 10 digits here"
        which = "the value"
        if self.solution.relaxed and not self.whole:
            which = "the value of the relaxation"
        return f"{proved_sentence('Optimal', f'{which} is {shown}, {how}')}."

    def __repr__(self) -> str:
        return f"<Optimum: {self}>"

    def _repr_html_(self) -> str:
        """The answer as a table, for notebooks: the optimal point and the dual variables."""
        if self.kind == "infeasible" or self.w is None:
            return html_table([("answer", str(self))])
        names = self.solution.system.stated.variables
        rows = [("answer", str(self))]
        rows += [(str(name), f"{value:.6g}") for name, value in zip(names, self.w, strict=False)]
        rows += [(row.name, f"dual variable {row.multiplier}") for row in self.dual]
        return html_table(rows)


def linear_program(
    objective: object,
    A: object = None,
    c: object = None,
    *,
    maximise: bool = False,
    A_eq: object = None,
    c_eq: object = None,
    lower: object = None,
    upper: object = None,
    names: Sequence[str] | None = None,
    equality_names: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    budget: float | None = None,
) -> Optimum:
    """Minimise or maximise ⟨objective, w⟩ subject to A w ≤ c, exactly.

    The answer is exact, with dual variables that prove it. In a sparse program, HiGHS suggests the
    optimal vertex and the dual variables, which are then solved in rational numbers: programs of
    Netlib with 200 to 2,700 variables take 0.02 to 0.5 seconds. Otherwise, and where this fails,
    the value is found by Newton's method, which is for a few hundred variables at most. If an exact
    value has too many digits to compute, and there are many optimal points, the answer is an
    interval with a relative width of about 2⁻⁹⁶, with a point and dual variables that prove it.

    Parameters
    ----------
    objective : array of shape (p,), str, or a model of `read_system`
        The coefficients of the objective, or a text such as "max 3 tea + 2 bread" in the names of
        the variables. A model alone stands for its own objective.
    A : array, data frame or sparse matrix of shape (n, p), or a model
        The coefficients of the rows, or a model, as in `solve`.
    c, A_eq, c_eq, lower, upper, names, equality_names, variables, budget
        As in `solve`.
    maximise : bool
        Whether to maximise the objective of an array instead of minimising it.

    Returns
    -------
    Optimum
        The kind of the answer, the value, a point and the dual variables.

    See Also
    --------
    solve : Find a point without an objective.

    Examples
    --------
    >>> import novikoff as nv
    >>> best = nv.linear_program([3, 2], [[1, 1], [1, 3]], [4, 6], lower=0, maximise=True)
    >>> best.kind, best.exact_value, best.w
    ('optimal', Fraction(12, 1), array([4., 0.]))
    >>> [(row.name, str(row.multiplier)) for row in best.dual]
    [('row 0', '3'), ('lower bound of w[1]', '1')]
    """
    limits = Limits(seconds=check_budget(budget))
    text: str | None = objective if isinstance(objective, str) else None
    has_text = text is not None
    if A is None and isinstance(objective, SystemModel):
        A, has_text = objective, True
    stated = stated_system(
        A, c, A_eq=A_eq, c_eq=c_eq, lower=lower, upper=upper, names=names,
        equality_names=equality_names, variables=variables,
    )  # fmt: skip
    if has_text:
        if maximise:
            raise ValueError("maximise is for an array: a text and a model say min or max.")
        return optimise(with_objective(stated, text), limits)
    check_frame_labels(A, None, A_eq, None, objective=objective)
    f = check_vector(objective, stated.d, "objective", "variable", finite=True)
    terms = {j: Fraction(value) for j, value in enumerate(f.tolist()) if value}
    return _optimise(stated, terms, maximise, Fraction(0), limits)


def with_objective(stated: LinearSystem | Arrays, text: str | None) -> LinearSystem:
    """The model with the objective of a text, or with its own objective if there is no text."""
    if isinstance(stated, Arrays):
        raise ValueError(
            "arrays have no objective: give nv.linear_program the array of its coefficients."
        )
    if text is not None:
        maximise, (terms, constant) = parse_objective(text, stated.variables)
        return replace(stated, objective=terms, maximise=maximise, constant=constant)
    if stated.objective is None:
        raise ValueError(
            'there is no objective in the file: give one, for instance "max 3 tea + 2 bread".'
        )
    return stated


def optimise(model: LinearSystem, limits: Limits) -> Optimum:
    """Solve the linear program of a model that has an objective."""
    if model.objective is None:
        raise ValueError("The model has no objective.")
    return _optimise(model, model.objective, model.maximise, model.constant, limits)


def _optimise(
    stated: LinearSystem | Arrays,
    terms: dict[int, Fraction],
    maximise: bool,
    constant: Fraction,
    limits: Limits,
) -> Optimum:
    if isinstance(stated, LinearSystem):
        strict = [row.name for row in stated.constraints if row.relation in ("<", ">")]
    else:
        strict = [stated.name(number) for number in np.flatnonzero(stated.strict).tolist()]
    if strict:
        raise ValueError(f"Row {strict[0]!r} is strict: the best value need not be reached.")
    sign = -1 if maximise else 1
    f = {j: sign * value for j, value in terms.items()}
    whole = system_of(stated)
    suggested = proved_optimum(whole, f, limits) if is_for_suggestions(whole) else None
    if suggested is not None:
        return _proved(whole, f, sign, constant, *suggested)
    solution = solve_system(whole, limits)
    result = Optimum("undecided", Interval(-math.inf, math.inf), solution)
    if solution.kind == "infeasible":
        worst = math.inf if sign > 0 else -math.inf
        return replace(result, kind="infeasible", value=Interval(worst, worst))
    if solution.kind == "undecided" or solution.exact_w is None:
        return result
    number, system = _with_objective_row(stated, f)
    row = int(np.flatnonzero(system.numbers == number)[0])
    b = [system.factor(row) if i == row else Fraction(0) for i in range(system.homogenising_row)]
    best = solution.exact_w
    proved: newton.Bound | None = None  # a bound on r = −f·w
    try:
        with np.errstate(all="ignore"):
            for bound in newton.bounds(system, b, limits):
                if bound.point is not None and bound.r is None:
                    result.kind, result.ray = "unbounded", tuple(bound.point)
                elif bound.point is not None or bound.r == -_value(f, best):
                    best, result.kind = tuple(bound.point or best), "optimal"
                elif bound.near is not None:
                    best = min(best, bound.near, key=lambda w: _value(f, w))
                proved = None if bound.r is None else bound
                if result.kind != "undecided":
                    break
    except (OutOfTimeError, OverflowError):
        pass
    except KeyboardInterrupt:
        limits.interrupt()
    low: Fraction | float = -math.inf if proved is None or proved.r is None else -proved.r
    value = _value(f, best)
    ends: list[Fraction | float] = sorted([sign * low + constant, sign * value + constant])
    ends = [-sign * math.inf] * 2 if result.kind == "unbounded" else ends
    result.value = Interval(exact.rounded_down(ends[0]), exact.rounded_up(ends[1]))
    result.exact_w, result.w = best, nearest_floats(best)
    if result.kind == "optimal":
        result.exact_value = sign * value + constant
    if proved is not None:
        claim = system.stated_multipliers(proved.rows.tolist(), proved.multipliers)
        dual = dict(zip(claim.rows, claim.multipliers, strict=True))
        value_multiplier = dual.pop(number)
        result.dual = tuple(
            named_row(stated, k - (k > number), value / value_multiplier)
            for k, value in dual.items()
        )
    return result


def _proved(
    system: System,
    f: dict[int, Fraction],
    sign: int,
    constant: Fraction,
    w: list[Fraction],
    rows: Indices,
    multipliers: list[Fraction],
) -> Optimum:
    """The optimum, given a point and multipliers that prove that no solution is better."""
    value = sign * _value(f, w) + constant
    point, near = tuple(w), nearest_floats(w)
    proof = certificate_of(
        system, "feasible", point=system.certificate_vector(system.homogeneous(w))
    )
    is_float = all(Fraction(b) == a for a, b in zip(w, near.tolist(), strict=True))
    solution = Solution("feasible", system, near, point, needs_exact_w=not is_float, proof=proof)
    claim = system.stated_multipliers(rows.tolist(), multipliers)
    return Optimum(
        "optimal",
        Interval(exact.rounded_down(value), exact.rounded_up(value)),
        solution,
        value,
        near,
        point,
        named_rows(system.stated, claim),
    )


def _value(f: dict[int, Fraction], w: Sequence[Fraction]) -> Fraction:
    return sum((value * w[j] for j, value in f.items()), Fraction(0))


def _with_objective_row(
    stated: LinearSystem | Arrays, f: dict[int, Fraction]
) -> tuple[int, System]:
    """The system with the additional row f·w ≤ 0, and the number of that row."""
    if isinstance(stated, LinearSystem):
        row = Constraint("objective", f, "<=", Fraction(0))
        return stated.m, system_of(replace(stated, constraints=(*stated.constraints, row)))
    objective_row = np.zeros((1, stated.d))
    for j, value in f.items():
        objective_row[0, j] = float(value)
    c, strict = np.append(stated.c, 0.0), np.append(stated.strict, False)
    both = replace(stated, A=stacked(stated.A, objective_row), c=c, strict=strict, names=None)
    return len(stated.c), system_of(both)
