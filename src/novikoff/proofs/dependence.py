"""Dependences with positive multipliers: the theorem of Gordan behind every contradiction.

Gordan's theorem says: for a set of rows, either some w has ⟨a_i, w⟩ > 0 on all of them, or some
multipliers λ ≥ 0, which are not all zero, have Σ λ_i·a_i = 0.

References
----------
Gordan, P. (1873). Über die Auflösung linearer Gleichungen mit reellen Coefficienten. *Mathematische
Annalen* 6, 23-28.

Stiemke, E. (1915). Über positive Lösungen homogener linearer Gleichungen. *Mathematische Annalen*
76, 340-342. This is the theorem for λ_i > 0 on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from novikoff.errors import CertificateError
from novikoff.proofs import exact
from novikoff.proofs.proof_data import DataReading


@dataclass(frozen=True)
class Dependence:
    """The claim that Σ λ_i·a_i = 0 with all λ_i > 0 over the rows ``among``.

    Attributes
    ----------
    rows : tuple of int
        The rows with λ_i = 1 + μ_i. All other rows have λ_i = 1, so that a claim about millions of
        rows is short.
    multipliers : tuple of Fraction
        The number μ_i > −1 for each of ``rows``.
    exact : bool
        Whether the multipliers are exact. Otherwise they are approximations. In this case the
        linear system for μ on ``rows`` is square, and a verified solve proves that it has exactly
        one solution, near these numbers.
    among : tuple of int or None
        The rows that the claim is about; None for all rows with ⟨a_i, w⟩ = 0.
    """

    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]
    exact: bool
    among: tuple[int, ...] | None = None

    @property
    def named(self) -> tuple[int, ...]:
        """The numbers of all rows that the claim lists."""
        return (*self.rows, *(self.among or ()))


def check_contradiction(claim: Dependence, data: DataReading) -> None:
    """Check that no w separates the rows of a claim."""
    if claim.among is None:
        raise CertificateError("A contradiction does not list its rows.")
    block = data.rows_at(claim.among)
    sums = np.array(exact.column_sums(block.A), dtype=object)
    if len(claim.among) == 0 or len(set(claim.among)) != len(claim.among):
        raise CertificateError("A dependence has no rows, or lists a row twice.")
    if not set(claim.rows) <= set(claim.among):
        raise CertificateError("Multipliers and rows of a dependence do not belong together.")
    check_dependence(claim, block.spread(sums).tolist(), data)


def check_dependence(claim: Dependence, sums: Sequence[int], data: DataReading) -> None:
    """Check that Σ (1 + μ_i)·a_i = 0 with all 1 + μ_i > 0, given the column sums of the rows."""
    if len(claim.rows) != len(claim.multipliers):
        raise CertificateError("Multipliers and rows of a dependence do not belong together.")
    if len(set(claim.rows)) != len(claim.rows):
        raise CertificateError("A row has two multipliers.")
    total = exact.as_fractions(sums)
    B = data.rows_at(claim.rows)
    if claim.exact:
        low = [i for i, mu in zip(claim.rows, claim.multipliers, strict=True) if mu <= -1]
        if low:
            raise CertificateError(f"The multiplier λ of row {low[0]} is not positive.", low[0])
        if len(claim.rows) > 0:
            whole, unit = exact.combine(B.A, exact.numbers(claim.multipliers))
            for j, value in enumerate(B.spread(whole).tolist()):
                total[j] += value * unit
        if any(total):
            column = next(j for j, value in enumerate(total) if value)
            raise CertificateError(f"Σ λ_i a_i is not zero in column {column}.")
        return
    if claim.among is None:
        raise CertificateError("A verified solve needs a list of rows.")
    every = data.rows_at(claim.among)  # columns of zeros are left out: they are balanced
    right = [-total[j] for j in every.columns.tolist()]
    square = B.spread(B.A)[:, every.columns]
    enclosure = exact.enclose(square.T, right) if len(square) == len(right) else None
    if enclosure is None:
        raise CertificateError("The system for λ is not square, or not shown to be regular.")
    near, radius = enclosure
    if not (near - radius > -1.0).all():
        row = claim.rows[int(np.argmin(near - radius))]
        raise CertificateError(f"The multiplier λ of row {row} is not shown to be positive.", row)
    slip = [abs(mu - Fraction(x)) for mu, x in zip(claim.multipliers, near.tolist(), strict=True)]
    loose = 1e-6 * (1.0 + np.abs(near)) - radius
    if any(a > Fraction(b) for a, b in zip(slip, loose.tolist(), strict=True)):
        raise CertificateError("A multiplier is not near the solution for λ.")
