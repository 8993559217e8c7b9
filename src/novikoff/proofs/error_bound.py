"""A proof that every hyperplane makes at least some number of mistakes.

No hyperplane classifies all rows of a contradiction correctly. If no two contradictions have a row
in common, every hyperplane makes at least one mistake for each of them. Contradictions that have
rows in common count as shares of a mistake (`novikoff.geometry.packing`), also in
each case of a tree of cases (`novikoff.geometry.implicit_hitting`). With few columns, a search of
all hyperplanes proves the least number of mistakes (`novikoff.proofs.rule_boxes`). The certificate
states that there was such a search, and the check repeats it by the same function.

A mistake is a row with y·f(x) ≤ 0. A row on the hyperplane therefore counts as a mistake, although
`predict` assigns it to the negative class.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
import numpy.typing as npt

from novikoff import sentences
from novikoff.errors import CertificateError
from novikoff.proofs.dependence import Dependence, check_contradiction
from novikoff.proofs.hitting import Branch, add_up, branching_bound, short
from novikoff.proofs.proof_data import DataReading, SideLabel, exact_vector
from novikoff.proofs.proof_text import Proof
from novikoff.proofs.remote import RemoteRows
from novikoff.proofs.rule_boxes import MOST_ENTRIES, MOST_OPERATIONS, BoxSearch

# The check of a search may take this many times the operations that the certificate states: the
# number depends a little on how the linear algebra of a machine rounds.
_TOLERANCE = 2


@dataclass(frozen=True)
class RuleSearch:
    """The claim that a search of all rules proves the bound, within a number of operations.

    Attributes
    ----------
    operations : int
        The number of operations of the search: pairs of a box of rules and an entry of a row. A
        check takes about a second for 10⁸ of them.
    weighted : bool
        Whether the bound is a bound on costs, so that its check needs sample_weight.
    """

    operations: int
    weighted: bool


@dataclass(frozen=True, repr=False)
class ErrorBound(Proof):
    """The proof of a lower bound on the mistakes of every hyperplane, which anyone can check.

    Attributes
    ----------
    n, d, fit_intercept, positive, negative, sha256
        The data, as in `Certificate`. Rows whose label is neither ``positive`` nor ``negative`` are
        allowed, and are ignored.
    bound : Fraction
        A lower bound on the number of mistakes; with sample_weight, on their total cost.
    contradictions : tuple of Dependence
        Sets of rows. No hyperplane classifies all rows of a set correctly.
    shares : tuple of Fraction or None
        A number v ≥ 0 for each contradiction. For every row, the numbers v of the contradictions
        that contain it add up to at most the cost of a mistake on this row. Then the mistakes of
        every hyperplane cost at least Σ v, rounded up if all costs are integers. ``shares`` is None
        if no two contradictions have a row in common. Then v is the least cost of a mistake among
        the rows of a contradiction.
    search : RuleSearch or None
        If not None, a search of all hyperplanes proves the bound, and the contradictions may prove
        less. The check repeats the search, and rejects the certificate if it needs more than twice
        the stated number of operations.
    branches : tuple of Branch
        If not empty, a tree of cases: a row is misclassified, or it is not. In each case, shares of
        the contradictions prove the bound (`novikoff.proofs.hitting`).

    See Also
    --------
    Pocket : Find a rule with few mistakes, and prove the bound.
    verify : Check the bound.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> proof = nv.Pocket(random_state=0).fit(X, y).certificate_
    >>> proof.bound, proof.contradictions[0].among
    (Fraction(1, 1), (0, 1, 2, 3))
    """

    kinds = ("lower bound",)

    n: int
    d: int
    fit_intercept: bool
    positive: SideLabel
    negative: SideLabel
    sha256: str
    bound: Fraction
    contradictions: tuple[Dependence, ...]
    shares: tuple[Fraction, ...] | None = None
    search: RuleSearch | None = None
    branches: tuple[Branch, ...] = ()

    def verify(
        self, X: object, y: object = None, sample_weight: npt.ArrayLike | None = None
    ) -> None:
        """Check every claim against the data, in exact arithmetic; return None if all hold.

        The data is read once.

        Parameters
        ----------
        X, y
            The rows and labels, as in `Certificate.verify`.
        sample_weight : array of shape (n,), optional
            The cost of a mistake on each row; 1 by default.

        Raises
        ------
        CertificateError
            If the data differs, or if a claim is false.
        """
        if isinstance(X, RemoteRows):
            if sample_weight is not None:
                raise ValueError("Rows of a cluster have no sample_weight.")
            X.verify(self)
            return
        check, costs = BoundCheck(self), _costs(sample_weight, self.n)
        check.read(X, y)
        check.finish(costs)

    def claim(self) -> str:
        """Return the proved claim as a sentence with its hypotheses.

        The sentence is about costs if the bound does not hold for the number of mistakes.

        Examples
        --------
        >>> ErrorBound(4, 2, True, 1, 0, "", Fraction(5, 2), ()).claim()
        'Every hyperplane with a bias misclassifies rows with a total sample_weight of at least \
2.5, 1 against 0, in 4 rows of 2 columns.'
        """
        text = None if self.counts_mistakes else short(self.bound)
        return sentences.error_bound_claim(self, text)

    @property
    def counts_mistakes(self) -> bool:
        """Whether the bound holds for the number of mistakes; else it is about costs alone."""
        try:
            return self.bound.denominator == 1 and (
                self.total(None) >= self.bound
                or (self.search is not None and not self.search.weighted)
            )
        except ValueError:  # shares above 1, or a contradiction without rows
            return False

    def total(self, costs: Sequence[Fraction] | None) -> Fraction:
        """Return the bound that the contradictions prove, without a search.

        Parameters
        ----------
        costs : sequence of Fraction or None
            The cost of a mistake on each row; None means that every mistake costs 1.

        Returns
        -------
        Fraction
            The bound on the total cost.
        """
        rows = [claim.among or () for claim in self.contradictions]
        of_row = costs or dict.fromkeys((i for among in rows for i in among), Fraction(1))
        shares = self.shares
        if shares is None:
            shares = tuple(min(of_row[i] for i in among) for among in rows)
        total = add_up(rows, shares, of_row)
        if not self.branches:
            return total
        of_case = branching_bound(rows, self.branches, of_row)
        if of_case is None:
            raise CertificateError("No row of some contradiction may be misclassified.")
        return max(total, of_case)

    def each_share(self) -> tuple[Fraction, ...]:
        """Return the share of each contradiction if every mistake costs 1."""
        return self.shares or (Fraction(1),) * len(self.contradictions)

    def row_shares(self) -> npt.NDArray[np.float64]:
        """Return, for each row, the sum of the shares of the contradictions that contain it.

        The sums are rounded to floats. They say how much of the proof is about each row.

        Examples
        --------
        >>> import novikoff as nv
        >>> X, y = [[0], [1], [2], [3], [4]], [0, 1, 0, 1, 0]
        >>> nv.Pocket(random_state=0).fit(X, y).certificate_.row_shares().shape
        (5,)
        """
        sums: dict[int, Fraction] = {}
        for claim, share in zip(self.contradictions, self.each_share(), strict=True):
            for row in claim.among or ():
                sums[row] = sums.get(row, Fraction(0)) + share
        return np.array([float(sums.get(row, 0)) for row in range(self.n)])

    def with_zero_negative(
        self, positive: Container[int], costs: Sequence[Fraction] | None = None
    ) -> ErrorBound:
        """Return the bound for rules that predict the negative class if f(x) = 0.

        The rule f = 0 then classifies all rows of the negative class correctly. Therefore
        contradictions among these rows alone are left out. Without a bias, a search of all rules is
        left out too. With a bias, every bound holds as it is: a hyperplane can be moved off the
        rows of the negative class that lie on it.

        Parameters
        ----------
        positive : container of int
            The numbers of the rows of the positive class.
        costs : sequence of Fraction, optional
            The cost of a mistake on each row; 1 by default.

        Returns
        -------
        ErrorBound
            The bound that the other contradictions prove.
        """
        valid = [
            k
            for k, claim in enumerate(self.contradictions)
            if any(row in positive for row in claim.among or ())
        ]
        if len(valid) == len(self.contradictions) and (self.search is None or self.fit_intercept):
            return self
        claims = tuple(self.contradictions[k] for k in valid)
        shares = None if self.shares is None else tuple(self.shares[k] for k in valid)
        proof = replace(
            self,
            contradictions=claims,
            shares=shares,
            bound=Fraction(0),
            search=None,
            branches=(),
        )
        return replace(proof, bound=proof.total(costs))

    @classmethod
    def from_fields(cls, body: dict[str, object]) -> ErrorBound:
        """Read a proof from the JSON object of its text; raise CertificateError if altered."""
        proof = super().from_fields(body)
        if proof.bound > 0 and not proof.contradictions and proof.search is None:
            raise CertificateError("The certificate has a bound without a contradiction.")
        return proof


class BoundCheck(DataReading):
    """The check of a lower bound."""

    proof: ErrorBound

    def __init__(self, proof: ErrorBound) -> None:
        self._listed = [row for claim in proof.contradictions for row in claim.named]
        named: Sequence[int] = self._listed
        if proof.search is not None:
            if proof.n * (proof.d + 1) > MOST_ENTRIES:
                raise CertificateError(
                    f"The data is too large for a search of all rules: {proof.n:,} rows of "
                    f"{proof.d:,} columns have more than {MOST_ENTRIES:,} entries."
                )
            named = range(proof.n)
        super().__init__(proof, named, others=True)

    def finish(self, costs: Sequence[Fraction] | None = None) -> None:
        """Raise CertificateError if a claim is false, after all rows have been read."""
        super().finish()
        proof = self.proof
        for row in self._listed:
            if self.sign(row) == 0:
                raise CertificateError(f"Row {row} is of neither class.", row)
        for claim in proof.contradictions:
            check_contradiction(claim, self)
        if proof.bound < 0:
            raise CertificateError("The bound is negative.")
        if proof.search is not None:
            proof.total(costs if proof.search.weighted else None)  # the shares are valid
            if not proof.search.weighted:
                self._search(proof.search, None)
            if costs is not None or proof.search.weighted:
                self._search(proof.search, costs)
        else:
            total = proof.total(costs)
            if total < proof.bound:
                raise CertificateError(
                    f"The contradictions prove a bound of {short(total)}, not of "
                    f"{short(proof.bound)}; if it is a bound on costs, pass sample_weight."
                )
        if costs is None and not proof.counts_mistakes:
            raise CertificateError(
                f"The bound {short(proof.bound)} is about costs, and says nothing about the number "
                "of mistakes: pass sample_weight."
            )

    def _search(self, stated: RuleSearch, costs: Sequence[Fraction] | None) -> None:
        """Repeat the search of all rules; CertificateError if it does not prove the bound."""
        proof = self.proof
        if not 0 <= stated.operations <= MOST_OPERATIONS:
            raise CertificateError(
                f"The search has {stated.operations:,} operations, and a check has at most "
                f"{MOST_OPERATIONS:,}."
            )
        rows = [row for row in range(proof.n) if self.sign(row) != 0]
        block = self.rows_at(rows)
        A = block.spread(block.A)
        some_costs = None if costs is None else [costs[row] for row in rows]
        search = BoxSearch(A, some_costs, most=_TOLERANCE * stated.operations)
        if search.prove(proof.bound) < proof.bound:
            raise CertificateError(
                f"A search of all rules within {_TOLERANCE * stated.operations:,} operations does "
                f"not prove a bound of {short(proof.bound)}; if it is a bound on costs, pass "
                "sample_weight."
            )


def running_bounds(
    contradictions: Sequence[Sequence[int]], shares: Sequence[Fraction], n: int
) -> list[int]:
    """Return, for each t < n, the bound that the contradictions among the rows 0, …, t prove.

    Every mistake costs 1.

    >>> running_bounds([(0, 1), (1, 2), (0, 2)], [Fraction(1, 2)] * 3, 4)
    [0, 1, 2, 2]
    """
    rows = {row for among in contradictions for row in among}
    add_up(contradictions, shares, dict.fromkeys(rows, Fraction(1)))
    gained, total = dict[int, Fraction](), Fraction(0)
    for among, share in zip(contradictions, shares, strict=True):
        gained[max(among)] = gained.get(max(among), Fraction(0)) + share
    bounds = []
    for t in range(n):
        total += gained.get(t, Fraction(0))
        bounds.append(ceil(total))
    return bounds


def _costs(sample_weight: npt.ArrayLike | None, n: int) -> Sequence[Fraction] | None:
    if sample_weight is None:
        return None
    try:
        costs = exact_vector(sample_weight)
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"sample_weight is not an array of numbers: {error}") from None
    if costs.shape != (n,) or not np.isfinite(costs).all() or (costs < 0.0).any():
        raise CertificateError(f"sample_weight is not an array of {n} numbers ≥ 0.")
    return [Fraction(value) for value in costs.tolist()]
