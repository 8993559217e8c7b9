"""The answer to a system: a point, or the rows that contradict each other, and what proves it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Context
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from novikoff.core.rows import Vector
from novikoff.core.stops import Limits
from novikoff.geometry.margin import Interval
from novikoff.geometry.passes import OutOfTimeError
from novikoff.proofs.system_certificate import SystemCertificate
from novikoff.proofs.system_checker import Multipliers, Radius
from novikoff.proofs.system_statement import Statement
from novikoff.systems.distances import largest_violation, least_squares, signed_radius
from novikoff.systems.engine import relative_interior
from novikoff.systems.system import System

# How many rows and variables a sentence names.
_NAMED = 6
# Six digits of a number that is a lower bound.
_ROUNDED_DOWN = Context(prec=6, rounding=ROUND_DOWN)


@dataclass(frozen=True)
class NamedRow:
    """A row that an answer speaks of.

    ``kind`` is "row", "eq", "upper" or "lower", ``index`` counts the rows of A, of A_eq, or the
    variables; in a model rows and equalities are counted together. The row times its
    ``multiplier``, turned so that it asks for at most its right side, is its share of the sum.
    """

    kind: Literal["row", "eq", "upper", "lower"]
    index: int
    name: str
    multiplier: Fraction
    kept: bool = False


def named_row(stated: Statement, number: int, multiplier: Fraction = Fraction(0)) -> NamedRow:
    """A row by its number in the statement."""
    row = stated.row(number)
    if row is None:
        raise IndexError(f"There is no row {number}.")
    kind: Literal["row", "eq", "upper", "lower"] = "eq" if row.relation == "=" else "row"
    index = number - stated.first_equality if kind == "eq" else number
    if number >= stated.m:
        kind = "lower" if number >= stated.m + stated.d else "upper"
        index = (number - stated.m) % stated.d
    return NamedRow(kind, index, row.name, multiplier, number in stated.kept)


@dataclass(eq=False)
class Solution:
    """What is known of a system A w ≤ c, and what proves it (D3, D8).

    Attributes
    ----------
    kind : str
        "feasible", "infeasible" or "undecided".
    w : array of shape (p,) or None
        A solution in floats. Where ``exact_only`` is true, no floats were found that satisfy
        every row, and ``w`` is ``exact_w`` rounded to floats. That happens on equalities, and
        where the set of solutions is thinner than the distance between two floats. If the system
        is undecided, ``w`` is the best point found; if it is infeasible, None.
    exact_w : tuple of Fraction or None
        A solution, exactly.
    exact_only : bool
        Whether only ``exact_w`` satisfies every row.
    point_found : bool
        False where the point that was asked for, inside or at the centre, was not found in time or
        is beyond floats: ``w`` is another solution.
    conflict : tuple of NamedRow
        Rows that contradict each other, and no fewer of them do: kind, index, name, multiplier.
        With kept rows, each of the others is needed beside all that are kept. Empty unless
        infeasible.
    interior : str
        "full" if some point satisfies every row strictly, "relative" if some rows hold with
        equality in every solution, "unknown" where that was not found in time.
    implicit_equalities : tuple of NamedRow or None
        The rows, equalities apart, that hold with equality in every solution; None if unknown.
    radius : Interval
        Holds one signed number r; < counts as ≤. Where feasible, r ≥ 0 is the radius of the largest
        ball of solutions, infinite where there are balls of any size. Equalities, and variables
        whose bounds are equal, hold and have no part in it: the ball lies within them. Where
        infeasible, −r ≥ 0 is the largest distance to a row, two for an equality, that no point
        avoids. That is 0 where the system fails only because rows are strict, and infinite where a
        row of zeros fails, such as 0 ≤ −1. Where undecided, nothing is known of r.
    least_squares : array of shape (p,) or None
        Where infeasible, a point of the least Σ violation², found in floats and not proved; with a
        budget, the best found in time.
    violation : float
        The largest violation of ``w``, or of ``least_squares`` where infeasible: ⟨a_i, w⟩ − c_i
        exactly, rounded up to a float. Infinite where that point is beyond floats.
    n_steps : int
        Steps of the method; of the engine, rows that it had in hand and projections.
    trace : mapping or None
        What the method recorded, with ``trace=True``.
    certificate : SystemCertificate or None
        The proof, with the implicit equalities and the radius once they have been asked for.
    ended : str
        If undecided, why: such as "the time was up" or "the method ended after 12 steps".
    no_point_within : float
        If undecided: every solution is at least this far from the origin. Proved.
    """

    kind: Literal["feasible", "infeasible", "undecided"]
    system: System = field(repr=False)
    w: Vector | None = None
    exact_w: tuple[Fraction, ...] | None = None
    exact_only: bool = False
    point_found: bool = True
    conflict: tuple[NamedRow, ...] = ()
    n_steps: int = 0
    trace: Mapping[str, Any] | None = None
    ended: str = ""
    no_point_within: float = 0.0
    proof: SystemCertificate | None = field(default=None, repr=False)
    seconds: float | None = field(default=None, repr=False)  # for what is found when asked for

    @property
    def certificate(self) -> SystemCertificate | None:
        """The proof, with all that has been asked for."""
        proof, known = self.proof, vars(self)  # cached properties stand among the others
        if proof is None:
            return None
        if known.get("inside") is not None:
            point, implicit = known["inside"]
            proof = replace(proof, point=point, implicit=implicit)
        if isinstance(known.get("room"), Radius):
            proof = replace(proof, radius=known["room"])
        return proof

    @cached_property
    def inside(self) -> tuple[tuple[Fraction, ...], Multipliers] | None:
        """A point of the relative interior, and λ on the rows that every solution meets."""
        if self.kind != "feasible":
            return None
        try:
            return relative_interior(self.system, Limits(seconds=self.seconds))
        except OutOfTimeError:
            return None

    @property
    def interior(self) -> Literal["full", "relative", "unknown"]:
        """Whether some point satisfies every row strictly."""
        if self.inside is None:
            return "unknown"
        whole = len(self.inside[1].rows) == 0 and not self.system.free.any()
        return "full" if whole else "relative"

    @property
    def implicit_equalities(self) -> tuple[NamedRow, ...] | None:
        """The rows, equalities apart, that hold with equality in every solution."""
        if self.inside is None:
            return None
        claim = self.inside[1]
        pairs = zip(claim.rows, claim.multipliers, strict=True)
        named = (named_row(self.system.stated, *pair) for pair in pairs)
        return tuple(row for row in named if row.kind != "eq")

    @cached_property
    def room(self) -> Radius | Interval:
        """The radius with its proof; without one where it is infinite, unknown or beyond floats."""
        if self.kind == "undecided":
            return Interval(-math.inf, math.inf)
        try:
            limits = Limits(seconds=self.seconds)
            return signed_radius(self.system, limits, feasible=self.kind == "feasible")
        except OutOfTimeError:
            return Interval(-math.inf, math.inf)

    @property
    def radius(self) -> Interval:
        """The radius of the largest ball inside, or minus the violation that no point avoids."""
        found = self.room
        lo, hi = (found.least, found.most) if isinstance(found, Radius) else (found.lo, found.hi)
        if self.kind == "feasible":
            return Interval(max(lo, 0.0), hi)
        if self.kind == "infeasible":
            return Interval(min(lo, 0.0), min(hi, 0.0))
        return Interval(lo, hi)

    @cached_property
    def least_squares(self) -> Vector | None:
        """Where infeasible, a point of the least Σ violation²."""
        if self.kind != "infeasible":
            return None
        return least_squares(self.system, Limits(seconds=self.seconds))

    @cached_property
    def violation(self) -> float:
        """The largest violation of ``w``, or of ``least_squares``."""
        w = self.least_squares if self.kind == "infeasible" else self.w
        if w is None or (self.kind == "feasible" and not self.exact_only):
            return 0.0 if w is not None else math.inf
        return largest_violation(self.system, w)

    def __repr__(self) -> str:
        return f"<Solution: {self}>"

    def __str__(self) -> str:
        n = self.system.e
        rows = "1 row" if n == 1 else f"{n:,} rows"
        if self.kind == "infeasible":
            kept = self.proof is not None and len(self.proof.witnesses) > 0
            return _conflict_text(self.conflict, kept)
        if self.kind == "undecided":
            text = f"Undecided: {self.ended} before a proof was found for {rows}"
            if self.w is not None:
                text += f"; the best point violates a row by {self.violation:.3g}"
            if self.no_point_within > 0.0:
                nearest = _ROUNDED_DOWN.create_decimal(self.no_point_within)
                text += f", and no solution is nearer to the origin than {nearest:g}"
            return f"{text}."
        values = [] if self.w is None else self.w.tolist()
        point = ", ".join(
            f"{name} = {value:.6g}"
            for name, value in zip(self.system.stated.variables[:_NAMED], values, strict=False)
        )
        more = len(values) - _NAMED
        point += f" and {more:,} more values" if more > 0 else ""
        how = "its exact values satisfy" if self.exact_only else "it satisfies"
        every = "its only row" if n == 1 else f"all {rows}"
        other = "" if self.point_found else " The point that was asked for was not found."
        return f"Feasible: {point}; {how} {every} (proved).{other}"


def _conflict_text(conflict: tuple[NamedRow, ...], kept: bool) -> str:
    names = [row.name for row in conflict[:_NAMED]]
    if len(conflict) > _NAMED:
        names.append(f"{len(conflict) - _NAMED} more")
    if len(conflict) == 1:
        return f"Infeasible: no point satisfies {names[0]} (proved)."
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    fewer = "no fewer of them do"
    if kept:
        fewer = "none of those that may be blamed is superfluous"
    return f"Infeasible: {listed} contradict each other, and {fewer} (proved)."
