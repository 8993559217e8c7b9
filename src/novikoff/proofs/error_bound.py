"""A proof, to be checked by anyone, that every hyperplane makes at least some mistakes (C5).

Rows that contradict each other cannot all be right. Contradictions without a common row each cost a
mistake of their own; those with common rows are worth shares of a mistake, as `packing` says.

A mistake is y·f(x) ≤ 0: a row on the hyperplane counts as one, whatever `predict` says of it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from novikoff.errors import CertificateError
from novikoff.proofs.checker import Dependence, Label, Reading, check_contradiction, plain_numbers
from novikoff.proofs.exact import rounded_down
from novikoff.proofs.proof_text import Proof, describe
from novikoff.proofs.remote import RemoteRows


@dataclass(frozen=True)
class ErrorBound(Proof):
    """Contradictions: every hyperplane errs on each of them.

    Attributes
    ----------
    bound : Fraction
        What the mistakes of any hyperplane cost at least; with costs of 1, their number.
    contradictions : tuple of Dependence
        Sets of rows that no hyperplane gets right.
    n, d, fit_intercept, positive, negative, sha256
        The data, as in `Certificate`. Rows with labels other than ``positive`` and ``negative``
        may stand in the data; they take no part.
    shares : tuple of Fraction or None
        A number v ≥ 0 for each contradiction. For every row, the v of the contradictions that have
        it add up to at most the cost of a mistake on it, so that all mistakes cost Σ v or more;
        where the costs are whole numbers, Σ v rounded up. None: the contradictions have no row in
        common, and v is the least cost among the rows of each.
    """

    kinds = ("lower bound",)

    bound: Fraction
    contradictions: tuple[Dependence, ...]
    n: int
    d: int
    fit_intercept: bool
    positive: Label
    negative: Label
    sha256: str
    shares: tuple[Fraction, ...] | None = None

    def verify(
        self, X: object, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> None:
        """Check every claim against the data, in exact arithmetic; the data is read once.

        X may be rows of a cluster, which have their labels with them. CertificateError says what
        does not hold.
        """
        if isinstance(X, RemoteRows):
            if sample_weight is not None:
                raise ValueError("Rows of a cluster have no sample_weight.")
            X.verify(self)
            return
        checking, costs = BoundChecking(self), _costs(sample_weight, self.n)
        checking.look_at(X, y)
        checking.finish(costs)

    def claim(self) -> str:
        """What is proved, in a sentence with its hypotheses: of costs, where counts prove less.

        Examples
        --------
        >>> ErrorBound(Fraction(5, 2), (), 4, 2, True, 1, 0, "").claim()
        'Every hyperplane with a bias makes mistakes that cost at least 2.5 by sample_weight \
between 1 and 0, in 4 rows of 2 columns.'
        """
        try:
            counts = self.bound.denominator == 1 and self.total(None) >= self.bound
        except ValueError:  # shares above 1, or a contradiction without rows
            counts = False
        makes = f"mistakes that cost at least {_short(self.bound)} by sample_weight"
        if counts:
            makes = f"at least {_short(self.bound)} mistake{'' if self.bound == 1 else 's'}"
        return describe(f"Every hyperplane {{where}} makes {makes} between {{sides}}", self)

    def total(self, costs: Sequence[Fraction] | None) -> Fraction:
        """What the contradictions prove together, where mistakes have these costs, or cost 1."""
        rows = [claim.among or () for claim in self.contradictions]
        of_row = costs or dict.fromkeys((i for among in rows for i in among), Fraction(1))
        shares = self.shares
        if shares is None:
            shares = tuple(min(of_row[i] for i in among) for among in rows)
        return add_up(rows, shares, of_row)

    def each_share(self) -> tuple[Fraction, ...]:
        """The share of each contradiction where mistakes cost 1."""
        return self.shares or (Fraction(1),) * len(self.contradictions)

    def with_zero_negative(
        self, positive: Container[int], costs: Sequence[Fraction] | None = None
    ) -> ErrorBound:
        """What is proved of rules that predict the negative class where f(x) = 0.

        Rows of the negative class alone contradict each other only where f(x) = 0 is a mistake on
        them: f = 0 classifies them correctly. The contradictions that are left have a row that is
        ``positive``. Mistakes have ``costs``, or cost 1.
        """
        kept = [
            k
            for k, claim in enumerate(self.contradictions)
            if any(row in positive for row in claim.among or ())
        ]
        if len(kept) == len(self.contradictions):
            return self
        claims = tuple(self.contradictions[k] for k in kept)
        shares = None if self.shares is None else tuple(self.shares[k] for k in kept)
        proof = replace(self, contradictions=claims, shares=shares, bound=Fraction(0))
        return replace(proof, bound=proof.total(costs))

    @classmethod
    def from_fields(cls, body: dict[str, object]) -> ErrorBound:
        """Read a proof from the object of its text; one that was altered is refused."""
        proof = super().from_fields(body)
        if proof.bound > 0 and not proof.contradictions:
            raise CertificateError("The certificate has a bound without a contradiction.")
        return proof


class BoundChecking(Reading):
    """The check of a lower bound."""

    proof: ErrorBound

    def __init__(self, proof: ErrorBound) -> None:
        self._speaks_of = [row for claim in proof.contradictions for row in claim.named]
        super().__init__(proof, self._speaks_of, others=True)

    def finish(self, costs: Sequence[Fraction] | None = None) -> None:
        """All rows have been seen: CertificateError says what does not hold."""
        super().finish()
        proof = self.proof
        for row in self._speaks_of:
            if self.sign(row) == 0:
                raise CertificateError(f"Row {row} is of neither class.")
        for claim in proof.contradictions:
            check_contradiction(claim, self)
        total = proof.total(costs)
        if total < proof.bound:
            raise CertificateError(
                f"The contradictions prove mistakes of {_short(total)}, not of "
                f"{_short(proof.bound)}; is it about costs, that is sample_weight?"
            )
        if proof.bound < 0:
            raise CertificateError("A bound below zero claims nothing.")


def add_up(
    contradictions: Sequence[Sequence[int]],
    shares: Sequence[Fraction],
    costs: Sequence[Fraction] | Mapping[int, Fraction],
) -> Fraction:
    """Σ v, rounded up where costs are whole numbers; CertificateError if a row exceeds its cost.

    >>> add_up([(0, 1), (1, 2), (0, 2)], [Fraction(1, 2)] * 3, [Fraction(1)] * 3)
    Fraction(2, 1)
    """
    if len(shares) != len(contradictions) or min(shares, default=Fraction(0)) < 0:
        raise CertificateError("The shares are not a number ≥ 0 for each contradiction.")
    loads: dict[int, Fraction] = {}
    for rows, share in zip(contradictions, shares, strict=True):
        for row in rows:
            loads[row] = loads[row] + share if row in loads else share
    for row, load in loads.items():
        if load > costs[row]:
            raise CertificateError(
                f"Row {row} is in contradictions with shares of more than {_short(costs[row])}, "
                "the cost of a mistake on it."
            )
    whole = all(costs[row].denominator == 1 for row in loads)
    return Fraction(ceil(sum(shares))) if whole else sum(shares, Fraction(0))


def add_up_in_turn(
    contradictions: Sequence[Sequence[int]], shares: Sequence[Fraction], n: int
) -> list[int]:
    """What the contradictions among the rows 0, …, t prove, for each t < n, where mistakes cost 1.

    >>> add_up_in_turn([(0, 1), (1, 2), (0, 2)], [Fraction(1, 2)] * 3, 4)
    [0, 1, 2, 2]
    """
    rows = {row for among in contradictions for row in among}
    add_up(contradictions, shares, dict.fromkeys(rows, Fraction(1)))
    gained, total = dict[int, Fraction](), Fraction(0)
    for among, share in zip(contradictions, shares, strict=True):
        gained[max(among)] = gained.get(max(among), Fraction(0)) + share
    found = []
    for t in range(n):
        total += gained.get(t, Fraction(0))
        found.append(ceil(total))
    return found


def _short(number: Fraction) -> str:
    """A whole number as it is, others rounded down: a bound that is told is proved."""
    whole = number.denominator == 1 and number < 1 << 53
    return f"{number.numerator:,}" if whole else f"{rounded_down(number)!r}"


def _costs(sample_weight: npt.ArrayLike | None, n: int) -> Sequence[Fraction] | None:
    if sample_weight is None:
        return None
    try:
        weights = plain_numbers(sample_weight)
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"The weights are not numbers: {error}") from None
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0.0).any():
        raise CertificateError(f"The weights are not {n} numbers ≥ 0.")
    return [Fraction(value) for value in weights.tolist()]
