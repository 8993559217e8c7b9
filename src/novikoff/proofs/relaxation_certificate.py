"""The proof of what must give way in an infeasible system, which anyone can check.

A point shows how much suffices. What shows that no less suffices depends on the question:

* the fewest rows: conflicts, of which every choice of rows must have a row each, and a tree of
  cases that bounds the weight of every such choice (`novikoff.proofs.hitting`);
* the least total violation: multipliers λ with Σ λ_i·a_i = 0 and λ_i ≤ u_i on the rows that may
  give way, where u_i is the weight of row i. Then Σ u_i·v_i ≥ Σ λ_i·(⟨a_i, w⟩ − c_i) = −⟨c, λ⟩ for
  the violations v_i of every point w that satisfies the kept rows;
* the least largest violation: multipliers with Σ λ_i/u_i ≤ 1 instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from novikoff import sentences
from novikoff.errors import CertificateError
from novikoff.proofs.exact import rounded_down, rounded_up
from novikoff.proofs.hitting import Branch, branching_bound
from novikoff.proofs.system_certificate import (
    Multipliers,
    SystemProof,
    check_size,
    contradiction,
    rows_of,
    sum_of_rows,
)
from novikoff.proofs.system_statement import Statement

# Longer fractions are rounded in a sentence.
_LONGEST = 24


@dataclass(frozen=True)
class RowWeights:
    """Weights u > 0 by row number."""

    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]


@dataclass(frozen=True, repr=False)
class RelaxationCertificate(SystemProof):
    """The proof of what must give way in an infeasible system, which anyone can check.

    Rows are numbered as in `SystemCertificate`.

    Attributes
    ----------
    by : str
        "rows", "total" or "max": whether the bounds are about the weight of the rows that are given
        up, the weighted sum of the violations, or the largest weighted violation. With "total" and
        "max", strict rows count as weak rows.
    n, d, sha256
        The system, as in `SystemCertificate`.
    kept : tuple of int
        The rows that must not give way.
    weights : RowWeights or None
        The weights of rows; all other rows have weight 1.
    bound : Fraction
        A lower bound on the least value.
    value : Fraction or None
        An upper bound on the least value: the point has at most this value.
    point : tuple of Fraction or None
        Numbers (w, t) with t > 0, which stand for the point w/t. It satisfies all kept rows.
    conflicts : tuple of Multipliers
        With "rows": Farkas multipliers, as in `SystemCertificate`. Of each conflict, a row that is
        not kept must be given up.
    branches : tuple of Branch
        With "rows": a tree of cases, or a single leaf. At each leaf, shares of conflicts prove that
        the rows that are given up weigh at least ``bound``. For each row, the shares of the
        conflicts with this row add up to at most its weight. If all weights are multiples of 1/k,
        for an integer k, then the sum of the shares is rounded up to such a multiple. Empty if
        ``bound`` is 0.
    multipliers : Multipliers or None
        With "total" and "max": the multipliers λ that prove ``bound``; None if it is 0.

    See Also
    --------
    relax : Returns a relaxation, which has this certificate.
    verify : Check a certificate of any kind.

    Examples
    --------
    >>> import novikoff as nv
    >>> A, c = [[1], [-1], [-1]], [1, -3, -4]  # x ≤ 1, x ≥ 3, x ≥ 4
    >>> nv.verify(nv.relax(A, c, by="max").certificate, A, c)
    'Every point violates some row by at least 3/2, and a point violates none by more than 3/2, in \
1 variable.'
    """

    kinds = ("relaxation",)

    by: str
    n: int
    d: int
    sha256: str
    kept: tuple[int, ...]
    weights: RowWeights | None = None
    bound: Fraction = Fraction(0)
    value: Fraction | None = None
    point: tuple[Fraction, ...] | None = None
    conflicts: tuple[Multipliers, ...] = ()
    branches: tuple[Branch, ...] = ()
    multipliers: Multipliers | None = None

    def _check_claims(self, stated: Statement) -> None:
        _Check(self, stated).run()

    def claim(self) -> str:
        """Return the proved claim as a sentence."""
        least = _shown(self.bound, rounded_down(self.bound))
        most = "" if self.value is None else _shown(self.value, rounded_up(self.value))
        weighted = self.weights is not None
        text = sentences.relaxation_claim(self.by, least, most, weighted=weighted)
        kept = f", if {sentences.counted(len(self.kept), 'row')} must hold" if self.kept else ""
        return f"{text}{kept}, in {sentences.counted(self.d, 'variable')}."


class _Check:
    """The check of a relaxation against the rows."""

    def __init__(self, proof: RelaxationCertificate, stated: Statement) -> None:
        self.proof, self.stated, self.kept = proof, stated, frozenset(proof.kept)
        given = proof.weights or RowWeights((), ())
        rows_of(stated, (*proof.kept, *given.rows))
        if len(given.rows) != len(given.weights) or len({*given.rows}) != len(given.rows):
            raise CertificateError("Weights and rows do not belong together.")
        self.weights = dict(zip(given.rows, given.weights, strict=True))
        if not self.kept.isdisjoint(self.weights):
            raise CertificateError("A row that is kept has a weight.")
        if any(weight <= 0 for weight in given.weights):
            raise CertificateError("A weight is not positive.")

    def run(self) -> None:
        proof = self.proof
        if proof.by not in ("rows", "total", "max"):
            raise CertificateError(f"The question {proof.by[:40]!r} is not known.")
        if (proof.point is None) != (proof.value is None):
            raise CertificateError("A value needs a point that shows it, and a point its value.")
        if proof.point is not None and proof.value is not None:
            value = self._value(proof.point)
            if value > proof.value:
                raise CertificateError(
                    f"The point has the value {_shown(value, rounded_down(value))}, which is more "
                    "than the certificate states."
                )
        if proof.by == "rows" and proof.multipliers is not None:
            raise CertificateError("Multipliers do not show how many rows must be given up.")
        if proof.by != "rows" and (proof.conflicts or proof.branches):
            raise CertificateError("Conflicts do not show how large a violation is.")
        bound = self._bound_on_rows() if proof.by == "rows" else self._bound_on_violation()
        if bound < proof.bound:
            raise CertificateError(
                f"A bound of {_shown(bound, rounded_down(bound))} is shown, and not that of the "
                "certificate."
            )

    def _weight(self, number: int) -> Fraction:
        return self.weights.get(number, Fraction(1))

    def _value(self, v: Sequence[Fraction]) -> Fraction:
        """The value of a point; CertificateError if it violates a kept row."""
        check_size(v, self.stated.d)
        violated = dict(self._violations(v))
        wrong = next((number for number in violated if number in self.kept), None)
        if wrong is not None:
            raise CertificateError(f"The point does not satisfy row {wrong}, which is kept.")
        if self.proof.by == "rows":
            return sum(map(self._weight, violated), Fraction(0))
        values = [self._weight(number) * off for number, off in violated.items()]
        return sum(values, Fraction(0)) if self.proof.by == "total" else max(values, default=_ZERO)

    def _violations(self, v: Sequence[Fraction]) -> Iterator[tuple[int, Fraction]]:
        """The rows that a point does not satisfy, and by how much."""
        strictly = self.proof.by == "rows"
        for number, relation, slack in self.stated.close_rows(v):
            off = abs(slack) if relation == "=" else max(-slack, _ZERO)
            if off > 0 or (strictly and slack == 0 and relation in ("<", ">")):
                yield number, off / v[-1]

    def _bound_on_rows(self) -> Fraction:
        """The bound that the conflicts and the tree of cases prove."""
        proof = self.proof
        for conflict in proof.conflicts:
            contradiction(self.stated, conflict)
        if not proof.branches:
            return _ZERO
        sets = [[i for i in conflict.rows if i not in self.kept] for conflict in proof.conflicts]
        elements = {i for part in sets for i in part}
        # In units of 1/k, all weights are integers, and every bound is rounded up.
        k = math.lcm(*(weight.denominator for weight in self.weights.values()))
        costs = {i: self._weight(i) * k for i in elements}
        branches = [
            replace(branch, shares=tuple(share * k for share in branch.shares))
            for branch in proof.branches
        ]
        bound = branching_bound(sets, branches, costs)
        if bound is None:
            raise CertificateError("The kept rows contradict each other: no choice is enough.")
        return bound / k

    def _bound_on_violation(self) -> Fraction:
        """The bound that the multipliers prove."""
        claim = self.proof.multipliers
        if claim is None:
            return _ZERO
        _, right = sum_of_rows(self.stated, claim)
        loads = [
            abs(multiplier) / self._weight(number)
            for number, multiplier in zip(claim.rows, claim.multipliers, strict=True)
            if number not in self.kept
        ]
        by_total = self.proof.by == "total"
        if (max(loads, default=_ZERO) if by_total else sum(loads, _ZERO)) > 1:
            raise CertificateError("The multipliers are too large for the weights of the rows.")
        return -right


_ZERO = Fraction(0)


def _shown(value: Fraction, rounded: float) -> str:
    """A number as it is, or rounded to the safe side if it is long."""
    text = str(value)
    return text if len(text) <= _LONGEST else repr(rounded)
