"""The answer to a system of inequalities, with its proof."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError, TooLargeError
from novikoff.proofs.system_certificate import Multipliers, Radius, SystemCertificate
from novikoff.proofs.system_statement import Constraint, LinearSystem, Statement
from novikoff.sentences import (
    conflict_clause,
    digits_down,
    feasible_clause,
    html_table,
    proved_sentence,
    suspected_sentence,
    tolerance_sentence,
    wrapped,
)
from novikoff.systems.distances import largest_violation, signed_radius
from novikoff.systems.least_squares import least_squares
from novikoff.systems.suggested_interior import find_relative_interior
from novikoff.systems.system import System

# A sentence names at most this many rows or variables.
_MAX_NAMED = 6
# Said of a point with fractional values of integer variables.
RELAXED = (
    "Integer variables may take fractional values here: a solution in whole numbers need not exist."
)
# Why an answer is undecided, after Ctrl-C.
INTERRUPTED = "it was interrupted"
# Solvers with tolerances accept points that violate rows by about this much.
SOLVER_TOLERANCE = Fraction(1, 10**6)
# A table for notebooks has at most this many rows or variables.
_MAX_IN_TABLE = 20


@dataclass(frozen=True)
class NamedRow:
    """A row of the system, as an answer names it, with its multiplier.

    Attributes
    ----------
    kind : "row", "eq", "upper" or "lower"
        A row of A, an equality, or the upper or lower bound of a variable.
    index : int
        The number of the row in A, of the equality in A_eq, or of the variable. In a model from a
        file, rows and equalities are counted together.
    name : str
        The name of the row.
    multiplier : Fraction
        λ, the dual variable of the row. It belongs to the row written with ≤; for a row with ≥, all
        signs change.
    kept : bool
        Whether the row may not be blamed.
    """

    kind: Literal["row", "eq", "upper", "lower"]
    index: int
    name: str
    multiplier: Fraction
    kept: bool = False


def named_row(stated: Statement, number: int, multiplier: Fraction = Fraction(0)) -> NamedRow:
    """The row with this number in the statement."""
    row = stated.row(number)
    if row is None:
        raise IndexError(f"There is no row {number}.")
    kind: Literal["row", "eq", "upper", "lower"] = "eq" if row.relation == "=" else "row"
    index = number - stated.first_equality if kind == "eq" else number
    if number >= stated.m:
        kind = "lower" if number >= stated.m + stated.d else "upper"
        index = (number - stated.m) % stated.d
    return NamedRow(kind, index, row.name, multiplier, number in stated.kept)


def named_rows(stated: Statement, claim: Multipliers) -> tuple[NamedRow, ...]:
    """The rows that carry the multipliers of a certificate."""
    pairs = zip(claim.rows, claim.multipliers, strict=True)
    return tuple(named_row(stated, number, multiplier) for number, multiplier in pairs)


def has_integers(stated: Statement) -> bool:
    """Whether a model has integer variables, so that answers are about its relaxation."""
    return isinstance(stated, LinearSystem) and len(stated.integers) > 0


def is_whole(stated: Statement, w: Sequence[Fraction] | None) -> bool:
    """Whether a point gives whole numbers to all integer variables of a model."""
    integers = stated.integers if isinstance(stated, LinearSystem) else ()
    return w is not None and all(w[j].denominator == 1 for j in integers)


def reason(error: BaseException, limits: Limits) -> str:
    """Why a search that raised this error ended; after Ctrl-C, no other reason counts."""
    if limits.interrupted or isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, TooLargeError):
        return "the projection would need too much memory"
    return (
        "the time was up" if isinstance(error, OutOfTimeError) else "the numbers grew beyond floats"
    )


@dataclass(eq=False)
class Solution:
    """The answer to a system A w ≤ c: a point or a conflict, and the proof.

    Attributes that take longer than the answer itself are computed when they are first asked for:
    ``interior``, ``implicit_equalities``, ``radius``, ``least_squares`` and ``violation``.

    Attributes
    ----------
    kind : str
        "feasible", "infeasible" or "undecided".
    w : array of shape (p,) or None
        A solution in floats. If ``needs_exact_w`` is true, no floats were found that satisfy every
        row, and ``w`` is ``exact_w`` rounded to floats. This happens with equalities, and if the
        set of solutions is thinner than the distance between two floats. If the system is
        undecided, ``w`` is the best point found. If it is infeasible, ``w`` is None.
    exact_w : tuple of Fraction or None
        An exact solution.
    needs_exact_w : bool
        Whether ``exact_w`` satisfies every row but ``w`` does not.
    point_found : bool
        False if the point that was asked for, in the interior or at the centre, was not found in
        time or is beyond float64. Then ``w`` is another solution.
    conflict : tuple of NamedRow
        An irreducible infeasible subset (IIS): rows that contradict each other, while no proper
        subset of them does. Their multipliers are a Farkas certificate, scaled to whole numbers
        without a common divisor. If rows are kept, each row of the conflict that is not kept is
        needed. Empty unless infeasible.
    interior : str
        "full" if some point satisfies every row strictly, "relative" if some rows hold with
        equality in every solution, "unknown" if the time was up before this was known.
    implicit_equalities : tuple of NamedRow or None
        The rows, equalities excepted, that hold with equality in every solution; None if unknown.
    radius : Interval
        Contains the signed radius r; < counts as ≤. If feasible, r ≥ 0 is the Chebyshev radius, the
        radius of the largest ball of solutions; it is infinite if there are balls of any size.
        Equalities, and variables whose bounds are equal, do not limit r: the ball lies within them.
        If infeasible, every point violates some row by a distance of at least −r ≥ 0, and −r is the
        largest number for which this is true; an equality counts as two rows. It is 0 if the system
        is infeasible only because rows are strict, and infinite if a row of zeros fails, such as
        0 ≤ −1. If undecided, r is unknown.
    least_squares : array of shape (p,) or None
        If infeasible, a point with the least Σ violation², found in floats and not proved. With a
        budget, the best point found in time.
    violation : float
        The largest violation ⟨a_i, w⟩ − c_i of ``w``, or of ``least_squares`` if infeasible. It is
        computed exactly and rounded up to a float; infinite if the point is beyond float64.
    n_steps : int
        The steps of the method; with "auto", the rows that the search used and the projections.
    trace : mapping or None
        What the method recorded, if ``trace=True``.
    certificate : SystemCertificate or None
        The proof, including the implicit equalities and the radius once they have been asked for.
    ended : str
        If undecided, the reason, such as "the time was up" or "the method ended after 12 steps".
    suspected : tuple of NamedRow
        If undecided, rows that contradict each other according to a floating-point solver. This is
        not proved; their multipliers are 0 because they are not known.
    tolerance : Fraction
        How far a point may violate each row and each bound. Unless it is 0, the answer is about the
        system with right sides that are loosened by it, and has no certificate.
    no_point_within : float
        If undecided, a proved lower bound on the distance of every solution from the origin.

    See Also
    --------
    solve : Returns a solution.
    SystemCertificate : The proof of a solution.
    """

    kind: Literal["feasible", "infeasible", "undecided"]
    system: System = field(repr=False)
    w: Vector | None = None
    exact_w: tuple[Fraction, ...] | None = None
    needs_exact_w: bool = False
    point_found: bool = True
    n_steps: int = 0
    trace: Mapping[str, Any] | None = None
    ended: str = ""
    no_point_within: float = 0.0
    suspected: tuple[NamedRow, ...] = ()
    proof: SystemCertificate | None = field(default=None, repr=False)
    # The time for each attribute that is computed later.
    seconds: float | None = field(default=None, repr=False)

    @property
    def certificate(self) -> SystemCertificate | None:
        """The proof, including all attributes that have been computed."""
        proof, known = self.proof, vars(self)  # contains the cached properties computed so far
        if proof is None or self.tolerance:
            return None
        if known.get("interior_proof") is not None:
            point, implicit = known["interior_proof"]
            proof = replace(proof, point=point, implicit=implicit)
        if isinstance(known.get("radius_proof"), Radius):
            proof = replace(proof, radius=known["radius_proof"])
        return proof

    @property
    def tolerance(self) -> Fraction:
        """How far a point may violate each row and each bound; 0 unless this was asked for."""
        stated = self.system.stated
        return stated.tolerance if isinstance(stated, LinearSystem) else Fraction(0)

    @cached_property
    def conflict(self) -> tuple[NamedRow, ...]:
        """An irreducible infeasible subset (IIS) of the rows; empty unless infeasible."""
        claim = None if self.proof is None else self.proof.conflict
        if claim is None:
            return ()
        over = math.lcm(*(value.denominator for value in claim.multipliers))
        whole = [int(value * over) for value in claim.multipliers]
        scaled = tuple(Fraction(value, math.gcd(*whole)) for value in whole)
        return named_rows(self.system.stated, replace(claim, multipliers=scaled))

    @property
    def least_violation(self) -> Fraction | None:
        """Every point violates some row of the conflict by at least this, exactly; else None.

        It is −⟨c, λ⟩ divided by the sum of the multipliers without their signs. Other rows of the
        system may be violated by more. It is 0 if the rows contradict each other only because some
        of them are strict.
        """
        if not self.conflict:
            return None
        total = sum(
            (
                row.sign * named.multiplier * row.right
                for named, row in zip(self.conflict, self.conflict_rows, strict=True)
            ),
            Fraction(0),
        )
        return -total / sum(abs(named.multiplier) for named in self.conflict)

    @cached_property
    def conflict_rows(self) -> tuple[Constraint, ...]:
        """The rows of the conflict with their numbers, in the order of ``conflict``."""
        claim = None if self.proof is None else self.proof.conflict
        stated = (self.system.stated.row(k) for k in (() if claim is None else claim.rows))
        return tuple(row for row in stated if row is not None)

    @property
    def relaxed(self) -> bool:
        """Whether the model has integer variables, so that the answer is about its relaxation.

        The relaxation lets integer variables take fractional values. If it is infeasible, so is
        the model.
        """
        return has_integers(self.system.stated)

    @property
    def whole(self) -> bool:
        """Whether the exact point gives whole numbers to all integer variables of the model."""
        return is_whole(self.system.stated, self.exact_w)

    @cached_property
    def interior_proof(self) -> tuple[tuple[Fraction, ...], Multipliers] | None:
        """A point of the relative interior, and λ on the implicit equalities."""
        if self.kind != "feasible":
            return None
        try:
            return find_relative_interior(self.system, Limits(seconds=self.seconds))
        except OutOfTimeError:
            return None

    @property
    def interior(self) -> Literal["full", "relative", "unknown"]:
        """Whether some point satisfies every row strictly: "full", "relative" or "unknown"."""
        if self.interior_proof is None:
            return "unknown"
        whole = len(self.interior_proof[1].rows) == 0 and not self.system.equalities.any()
        return "full" if whole else "relative"

    @property
    def implicit_equalities(self) -> tuple[NamedRow, ...] | None:
        """The rows, equalities excepted, that hold with equality in every solution."""
        if self.interior_proof is None:
            return None
        named = named_rows(self.system.stated, self.interior_proof[1])
        return tuple(row for row in named if row.kind != "eq")

    @cached_property
    def radius_proof(self) -> Radius | Interval:
        """The radius with its proof, or an interval without proof if it is infinite or unknown."""
        if self.kind == "undecided":
            return Interval(-math.inf, math.inf)
        try:
            limits = Limits(seconds=self.seconds)
            return signed_radius(self.system, limits, feasible=self.kind == "feasible")
        except OutOfTimeError:
            return Interval(-math.inf, math.inf)

    @property
    def radius(self) -> Interval:
        """The signed radius: if feasible, the radius of the largest ball of solutions."""
        proof = self.radius_proof
        lo, hi = (proof.least, proof.most) if isinstance(proof, Radius) else (proof.lo, proof.hi)
        if self.kind == "feasible":
            return Interval(max(lo, 0.0), hi)
        if self.kind == "infeasible":
            return Interval(min(lo, 0.0), min(hi, 0.0))
        return Interval(lo, hi)

    @cached_property
    def least_squares(self) -> Vector | None:
        """If infeasible, a point with the least Σ violation²."""
        if self.kind != "infeasible":
            return None
        return least_squares(self.system, Limits(seconds=self.seconds))

    @cached_property
    def violation(self) -> float:
        """The largest violation of ``w``, or of ``least_squares`` if infeasible."""
        w = self.least_squares if self.kind == "infeasible" else self.w
        if w is None or (self.kind == "feasible" and not self.needs_exact_w):
            return 0.0 if w is not None else math.inf
        return largest_violation(self.system, w)

    def __repr__(self) -> str:
        return wrapped(f"<Solution: {self.sentence}>")

    def _repr_html_(self) -> str:
        """The answer as a table, for notebooks: the point, or the rows of the conflict."""
        rows = [("answer", self.sentence)]
        if self.kind == "infeasible":
            rows += [(row.name, f"multiplier λ = {row.multiplier}") for row in self.conflict]
        elif self.w is not None:
            names = self.system.stated.variables
            rows += [
                (str(name), f"{value:.6g}") for name, value in zip(names, self.w, strict=False)
            ]
        n_hidden = len(rows) - 1 - _MAX_IN_TABLE
        rows = rows[: _MAX_IN_TABLE + 1]
        return html_table([*rows, ("", f"and {n_hidden:,} more")] if n_hidden > 0 else rows)

    def __str__(self) -> str:
        return wrapped(self.sentence)

    def _closeness(self) -> str:
        """What is said if the system is infeasible by less than the tolerances of solvers."""
        by = self.least_violation
        return f" {tolerance_sentence(by)}" if by is not None and by <= SOLVER_TOLERANCE else ""

    @property
    def sentence(self) -> str:
        """The answer in words, without line breaks."""
        n = self.system.homogenising_row
        rows = "1 row" if n == 1 else f"{n:,} rows"
        if self.kind == "infeasible":
            kept = self.proof is not None and len(self.proof.witnesses) > 0
            return _conflict_text(self.conflict, kept) + self._closeness()
        if self.kind == "undecided":
            text = f"Undecided: {self.ended} before a proof was found for {rows}"
            if self.w is not None:
                text += f"; the best point violates a row by {self.violation:.3g}"
            if self.no_point_within > 0.0:
                nearest = digits_down(self.no_point_within, 6)
                text += f", and no solution is nearer to the origin than {nearest}"
            names = [row.name for row in self.suspected]
            return f"{text}. {suspected_sentence(names)}" if names else f"{text}."
        values = [] if self.w is None else self.w.tolist()
        point = ", ".join(
            f"{name} = {value:.6g}"
            for name, value in zip(self.system.stated.variables[:_MAX_NAMED], values, strict=False)
        )
        n_hidden = len(values) - _MAX_NAMED
        point += f" and {n_hidden:,} more values" if n_hidden > 0 else ""
        feasible = "Feasible" if self.whole or not self.relaxed else "Relaxation feasible"
        if self.tolerance:
            feasible += f" within a tolerance of {float(self.tolerance):g}"
        stated = proved_sentence(feasible, feasible_clause(point, exact=self.needs_exact_w))
        other = "" if self.point_found else " The point that was asked for was not found."
        if self.relaxed and not self.whole:
            other += f" {RELAXED}"
        return f"{stated}.{other}"


def _conflict_text(conflict: tuple[NamedRow, ...], kept: bool) -> str:
    names = [row.name for row in conflict[:_MAX_NAMED]]
    if len(conflict) > _MAX_NAMED:
        names.append(f"{len(conflict) - _MAX_NAMED} more")
    listed = " and ".join([*filter(None, [", ".join(names[:-1])]), names[-1]])
    return f"{proved_sentence('Infeasible', conflict_clause(listed, len(conflict), kept=kept))}."
