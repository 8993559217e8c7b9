"""A question about what must give way, and what its answers are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from novikoff.core.stops import Limits
from novikoff.proofs.hitting import Branch
from novikoff.proofs.relaxation_certificate import RelaxationCertificate, RowWeights
from novikoff.systems.conflicts import infeasible_solution
from novikoff.systems.elastic import violations_at
from novikoff.systems.engine import Conflict
from novikoff.systems.relaxation import Relaxation, RelaxedRow
from novikoff.systems.solution import Solution, named_row, named_rows
from novikoff.systems.system import System


@dataclass(frozen=True, eq=False)
class RelaxationQuestion:
    """A question about what must give way.

    Attributes
    ----------
    system : System
        The homogeneous rows.
    by : "rows", "total" or "max"
        What is minimised, as in `Relaxation`.
    weights : dict of int to Fraction
        The weight of every row that may give way, by its number.
    solution : Solution
        The answer to the system as it is.
    limits : Limits
        The limits of the whole search.
    """

    system: System
    by: Literal["rows", "total", "max"]
    weights: dict[int, Fraction]
    solution: Solution
    limits: Limits

    def certificate(self, least: Fraction, **claims: Any) -> RelaxationCertificate:
        """The proof of a lower bound, without a point."""
        stated = self.system.stated
        kept = (k for k in range(stated.n) if k not in self.weights and stated.row(k) is not None)
        given = {k: weight for k, weight in sorted(self.weights.items()) if weight != 1}
        return RelaxationCertificate(
            self.by, stated.n, stated.d, stated.sha256(), tuple(kept),
            RowWeights(tuple(given), tuple(given.values())) if given else None, least, **claims,
        )  # fmt: skip

    def infeasible(self, conflict: Conflict, rows: System) -> Solution:
        """The solution with a conflict of homogeneous rows, which may be halves of the system's."""
        solution = infeasible_solution(rows, conflict, {})
        solution.system = self.system
        return solution

    def undecided(self, ended: str) -> Relaxation:
        """The answer without a point; the conflict of the solution, if any, proves a bound."""
        ended = self.solution.ended or ended
        claim = None if self.solution.proof is None else self.solution.proof.conflict
        undecided = Relaxation(self.by, "undecided", self.solution, ended=ended)
        if claim is None or claim.multipliers is None:
            return undecided
        blamed = {
            k: abs(value) / self.weights[k]
            for k, value in zip(claim.rows, claim.multipliers, strict=True)
            if k in self.weights
        }
        if not blamed:  # the rows that may not give way contradict each other
            return Relaxation(self.by, "infeasible", self.solution)
        if self.by == "rows":
            least = min(self.weights[k] for k in blamed)
            tree = (Branch(None, (0,), (least,)),)
            proof = self.certificate(least, conflicts=(claim,), branches=tree)
            return replace(undecided, least=least, conflicts=(self.solution,), proof=proof)
        by_max = self.by == "max"
        size = sum(blamed.values(), Fraction(0)) if by_max else max(blamed.values())
        scaled = replace(claim, multipliers=tuple(value / size for value in claim.multipliers))
        rows = zip(self.solution.conflict_rows, scaled.multipliers, strict=True)
        least = -sum((row.sign * value * row.right for row, value in rows), Fraction(0))
        if least == 0:  # only strict rows exclude every point
            return undecided
        proof = self.certificate(least, multipliers=scaled)
        multipliers = named_rows(self.system.stated, scaled)
        return replace(undecided, least=least, multipliers=multipliers, proof=proof)

    def relaxed_rows(
        self, w: Sequence[Fraction], given_up: Iterable[int] = ()
    ) -> Iterator[RelaxedRow]:
        """The rows that a point violates, and those that are given up."""
        stated = self.system.stated
        violated = dict(violations_at(self.system, w, Limits()))
        broken = dict.fromkeys(given_up, Fraction(0)) | violated
        for number in sorted(broken):
            row, named = stated.row(number), named_row(stated, number)
            if row is not None:
                at = sum((value * w[j] for j, value in row.terms.items()), Fraction(0))
                yield RelaxedRow(named.kind, named.index, named.name, broken[number], row.right, at)


def with_point(
    proof: RelaxationCertificate, w: Iterable[Fraction], most: Fraction
) -> RelaxationCertificate:
    """The certificate with a point, which shows that this value suffices."""
    return replace(proof, value=most, point=(*w, Fraction(1)))
