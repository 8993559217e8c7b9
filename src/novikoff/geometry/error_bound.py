"""The proof that every rule makes so many mistakes, for a stranger to check (C5).

A mistake is y·f(x) ≤ 0: a row on the hyperplane counts as one, whatever `predict` says of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from novikoff.geometry.certificate import describe
from novikoff.geometry.checker import (
    CertificateError,
    Dependence,
    Label,
    Reading,
    check_contradiction,
)
from novikoff.geometry.proof_text import dump, parse, read

_KIND = "lower bound"


@dataclass(frozen=True)
class ErrorBound:
    """Contradictions that share no row: every hyperplane errs on each of them.

    Attributes
    ----------
    bound : Fraction
        What the mistakes of any hyperplane cost at least; with costs of 1, their number.
    contradictions : tuple of Dependence
        Sets of rows that no hyperplane gets right, without a common row.
    n, d, fit_intercept, positive, negative, sha256
        The data, as in `Certificate`.
    """

    bound: Fraction
    contradictions: tuple[Dependence, ...]
    n: int
    d: int
    fit_intercept: bool
    positive: Label
    negative: Label
    sha256: str

    def verify(self, X: object, y: object, sample_weight: npt.ArrayLike | None = None) -> None:
        """Check every claim against the data, in exact arithmetic; the data is read once.

        CertificateError says what does not hold.
        """
        seen: set[int] = set()
        for claim in self.contradictions:
            among = set(claim.among or ())
            if seen & among:
                raise CertificateError(f"Row {min(seen & among)} is in two contradictions.")
            seen |= among
        named = (row for claim in self.contradictions for row in claim.named)
        reading = Reading(self, named)
        costs = _costs(sample_weight, self.n)
        reading.read(X, y)
        reading.finish()
        total = Fraction(0)
        for claim in self.contradictions:
            check_contradiction(claim, reading)
            total += min(costs[i] for i in claim.among or ())
        if total < self.bound:
            raise CertificateError(
                f"The contradictions prove mistakes of {_short(total)}, not of "
                f"{_short(self.bound)}; is it about costs, that is sample_weight?"
            )
        if self.bound < 0:
            raise CertificateError("A bound below zero claims nothing.")

    def claim(self) -> str:
        """What is proved, in a sentence with its hypotheses.

        Examples
        --------
        >>> ErrorBound(Fraction(1), (), 4, 2, True, 1, 0, "").claim()
        'Every hyperplane with a bias makes at least 1 mistake between 1 and 0, in 4 rows of 2 \
columns.'
        """
        mistakes = "1 mistake" if self.bound == 1 else f"{_short(self.bound)} mistakes"
        if self.bound.denominator > 1:
            mistakes = f"mistakes that cost {_short(self.bound)}"
        claim = f"Every hyperplane {{where}} makes at least {mistakes} between {{sides}}"
        return describe(claim, self)

    def to_json(self) -> str:
        """The proof as text, numbers exact."""
        return dump(self, kind=_KIND)

    @classmethod
    def from_json(cls, text: str) -> ErrorBound:
        """Read a proof; one that was altered is refused with CertificateError."""
        body = parse(text)
        kind = body.pop("kind", None)
        if kind != _KIND:
            raise CertificateError(f"The certificate's kind is {str(kind)[:40]!r}.")
        proof = read(cls, body)
        if proof.bound > 0 and not proof.contradictions:
            raise CertificateError("The certificate has a bound without a contradiction.")
        return proof


def _short(number: Fraction) -> str:
    try:
        return f"{float(number):g}"
    except OverflowError:
        return "more than float64 can hold"


def _costs(sample_weight: npt.ArrayLike | None, n: int) -> Sequence[Fraction]:
    if sample_weight is None:
        return [Fraction(1)] * n
    weights = np.array(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0.0).any():
        raise CertificateError(f"The weights are not {n} numbers ≥ 0.")
    return [Fraction(value) for value in weights.tolist()]
