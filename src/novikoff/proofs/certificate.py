"""The certificate of a verdict: a proof that anyone can check with the data alone.

Every kind of verdict follows from one theorem. For any rows a_i there are w and λ ≥ 0 with
⟨a_i, w⟩ ≥ 0 for all i and Σ λ_i·a_i = 0, such that each row has either ⟨a_i, w⟩ > 0 or λ_i > 0, but
never both. So the rows are divided into the rows I, which w separates, and the rows J, which have
λ_i > 0. The data is *separable* if J is empty, *inseparable* if I is empty, and *quasi-separable*
otherwise. A certificate contains w and λ. On J, λ_i = 1 + μ_i, where at most p numbers μ_i are not
zero, for p weights. Therefore a certificate is short even if there are millions of rows.

`Certificate.verify` recomputes every claim from the data without rounding. It imports
NumPy, the standard library, the package ``proofs``, and the modules ``errors`` and ``sentences``,
and nothing of the solver. The solver uses the exact arithmetic of ``proofs``, too.

References
----------
Gordan, P. (1873). Über die Auflösung linearer Gleichungen mit reellen Coefficienten. *Mathematische
Annalen* 6, 23-28.

Stiemke, E. (1915). Über positive Lösungen homogener linearer Gleichungen. *Mathematische Annalen*
76, 340-342.

Goldman, A. J. and Tucker, A. W. (1956). Theory of linear programming. *Linear Inequalities and
Related Systems*, Annals of Mathematics Studies 38, 53-97. Princeton University Press.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, Self, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from novikoff import sentences
from novikoff.errors import CertificateError
from novikoff.proofs import exact
from novikoff.proofs.dependence import Dependence, check_contradiction, check_dependence
from novikoff.proofs.exact import Block, Numbers, Vector
from novikoff.proofs.proof_data import DataReading, SideLabel
from novikoff.proofs.proof_text import Proof
from novikoff.proofs.remote import RemoteRows

Kind: TypeAlias = Literal["separable", "quasi-separable", "inseparable", "not separable"]


@dataclass(frozen=True)
class Margin:
    """The claim that the margin γ is between ``lo`` and ``hi``.

    The weights w of the certificate prove ``lo``. The multipliers λ ≥ 0 on ``rows`` prove
    ``hi`` ≥ ‖Σ λ_i·a_i‖/Σ λ_i.
    """

    lo: float
    hi: float
    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True)
class GeometricMargin:
    """The claim that half the distance between the convex hulls of two classes is in [lo, hi].

    Let m₊ and m₋ be the least y·(⟨w, x⟩ + b) of the two classes, where the bias b is the last entry
    of ``w``. Then lo ≤ (m₊ + m₋)/(2‖w‖), whatever b is. The multipliers λ ≥ 0 on ``rows`` have the
    same sum s on each class, and prove hi ≥ ‖Σ λ_i·y_i·x_i‖/(2s).
    """

    lo: float
    hi: float
    w: tuple[Fraction, ...]
    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True, repr=False)
class Certificate(Proof):
    """The proof of a verdict on labelled rows, which anyone can check with the data alone.

    The kinds are those of `novikoff.Verdict`: separable (complete separation), quasi-separable
    (quasi-complete separation) and inseparable (overlap).

    Attributes
    ----------
    kind : str
        "separable", "quasi-separable", "inseparable" or "not separable". "not separable" means that
        only a contradiction is known, so that the data is quasi-separable or inseparable.
    n, d : int
        The number of rows and of columns of X.
    fit_intercept : bool
        Whether hyperplanes have a bias, that is, whether every row has an additional entry 1.
    positive, negative : str, int, float, bool or None
        The labels of the two classes. ``negative`` is None if it stands for all other labels.
    sha256 : str
        The digest of rows and labels. It is the same for dense and sparse matrices.
    w : tuple of Fraction or None
        The weights, with the bias as the last entry; None stands for w = 0.
    dependence : Dependence or None
        Multipliers λ > 0 on the rows with ⟨a_i, w⟩ = 0. For inseparable data, the multipliers may
        be about p + 1 rows only, whose simplex contains the origin in its interior. Then w = 0 is
        the only w with all ⟨a_i, w⟩ ≥ 0.
    contradiction : Dependence or None
        A few rows that no hyperplane separates.
    margin : Margin or None
        Bounds on the margin γ, in which the bias counts as a weight.
    geometric_margin : GeometricMargin or None
        Bounds on the margin with a free bias, as in a support vector machine.
    radius : float or None
        An upper bound on R = max ‖a_i‖.
    mistake_bound : int or None
        ⌊R²/γ²⌋ for γ = margin.lo: the mistake bound of the perceptron. A mistake is y·f(x) ≤ 0, so
        that f(x) = 0 counts as a mistake.

    See Also
    --------
    verify : Check a certificate of any kind.
    ErrorBound : The proof of a lower bound on mistakes.
    SystemCertificate : The proof about a system of inequalities.

    Examples
    --------
    >>> import novikoff as nv
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> proof = nv.separate(X, y).certificate
    >>> proof.claim()
    'Inseparable (overlap): no hyperplane with a bias separates 1 from 0, not even weakly, in 4 \
rows of 2 columns.'
    >>> {row: str(multiplier) for row, multiplier in proof.multipliers.items()}
    {0: '1', 1: '1', 2: '1', 3: '1'}
    >>> nv.Certificate.from_json(proof.to_json()).verify(X, y)
    >>> proof.verify(X, [0, 1, 1, 1])
    Traceback (most recent call last):
        ...
    novikoff.errors.CertificateError: The certificate is for other data: the \
rows or labels differ from those it is about (another SHA-256 digest).
    """

    kinds = get_args(Kind)
    kinds_of_others = ": a 'lower bound' is read by ErrorBound.from_json, others are not known"

    kind: Kind
    n: int
    d: int
    fit_intercept: bool
    positive: SideLabel
    negative: SideLabel
    sha256: str
    w: tuple[Fraction, ...] | None = None
    dependence: Dependence | None = None
    contradiction: Dependence | None = None
    margin: Margin | None = None
    geometric_margin: GeometricMargin | None = None
    radius: float | None = None
    mistake_bound: int | None = None

    def verify(self, X: object, y: object = None) -> None:
        """Check every claim against the data, in exact arithmetic; return None if all hold.

        The data is read once.

        Parameters
        ----------
        X : array, data frame, sparse matrix or cluster rows
            The rows, as they were given to `novikoff.separate`. Memory-mapped arrays are read in
            place. The rows of a cluster include their labels.
        y : array of shape (n,), optional
            The labels.

        Raises
        ------
        CertificateError
            If the data differs, a number is NaN or infinite, or a claim is false.
        """
        if isinstance(X, RemoteRows):
            X.check_alone(y)
            X.verify(self)
        else:
            check = CertificateCheck(self)
            check.read(X, y)
            check.finish()

    def claim(self) -> str:
        """Return the proved claim as a sentence with its hypotheses."""
        return sentences.verdict_claim(self)

    @property
    def multipliers(self) -> dict[int, Fraction]:
        """The multipliers λ_i > 0, by row number.

        For separable data, they prove an upper bound on the margin: γ ≤ ‖Σ λ_i·a_i‖/Σ λ_i. For
        other data, Σ λ_i·a_i = 0. The sum is over the few rows of the contradiction if there is a
        contradiction, else over the rows of the dependence. If the dependence is about all rows
        with ⟨a_i, w⟩ = 0 and w is not zero, only the rows with λ_i ≠ 1 are listed. The other rows
        can be found from w and X, and have λ_i = 1. If a verified solve proves that λ exists, the
        listed numbers are approximations of λ.
        """
        if self.kind == "separable":
            bounds = self.margin
            return {} if bounds is None else dict(zip(bounds.rows, bounds.multipliers, strict=True))
        claim = self.contradiction or self.dependence
        if claim is None:
            return {}
        among: Sequence[int] = claim.rows if claim.among is None else claim.among
        if claim.among is None and self.w is None:
            among = range(self.n)
        extra = dict(zip(claim.rows, claim.multipliers, strict=True))
        return {row: 1 + extra.get(row, Fraction(0)) for row in among}


def integer_mistake_bound(radius: float, gamma: float) -> int | None:
    """Return ⌊R²/γ²⌋ exactly: an integer that the number of mistakes never exceeds.

    None if γ is not positive or R is not finite: then there is no bound.

    Examples
    --------
    >>> integer_mistake_bound(3.0, 2.0)
    2
    """
    if not (gamma > 0.0 and math.isfinite(radius)):
        return None
    return math.floor((Fraction(radius) / Fraction(gamma)) ** 2)


class CertificateCheck(DataReading):
    """The check of a certificate.

    Claims about single rows are checked while the data is read, and all other claims at the end.
    """

    proof: Certificate

    def __init__(self, proof: Certificate) -> None:
        claims = [claim for claim in (proof.dependence, proof.contradiction) if claim is not None]
        named = [row for claim in claims for row in claim.named]
        for margin in (proof.margin, proof.geometric_margin):
            named += [] if margin is None else margin.rows
        super().__init__(proof, named)
        gap = proof.geometric_margin
        if gap is not None and not (proof.fit_intercept and proof.kind == "separable"):
            raise CertificateError("Only a separable set with a bias has a geometric margin.")
        self.w = _checked_weights(proof.w, self.p)
        self.gap_w = None if gap is None else _checked_weights(gap.w, self.p)
        self.least: dict[int, Fraction | None] = {1: None, -1: None}
        # A dependence is about all rows with ⟨a_i, w⟩ = 0, or about p + 1 rows that span all.
        whole = proof.dependence
        self.whole = None if whole is None or whole.among is not None else whole
        self.n_zero, self.first_zero = 0, proof.n  # the rows with ⟨a_i, w⟩ = 0

    # These arrays are made when rows are read, because a text may claim any number of columns.
    @cached_property
    def used(self) -> npt.NDArray[np.bool_]:
        """Whether a column has an entry that is not zero."""
        return np.zeros(self.p, dtype=np.bool_)

    @cached_property
    def squared_norm(self) -> Fraction:
        """‖w‖², computed once: for a million columns it takes a second."""
        return Fraction(0) if self.w is None else self.w.square_norm()

    @cached_property
    def sums(self) -> list[int]:
        """The sums of the columns over the rows with ⟨a_i, w⟩ = 0."""
        return [0] * self.p

    def _check_rows(self, first: int, block: Block) -> None:
        A, proof = block.A, self.proof
        w = None if self.w is None else block.weights_of_columns(self.w)
        sides = np.zeros(len(A), dtype=np.int8) if w is None else exact.product_signs(A, w)
        if (sides < 0).any():
            row = first + int(np.argmax(sides < 0))
            raise CertificateError(f"Row {row} is on the wrong side: ⟨a, w⟩ < 0.", row)
        zero = np.flatnonzero(sides == 0)
        self.n_zero += len(zero)
        self.first_zero = min(self.first_zero, *(first + zero[:1]).tolist(), proof.n)
        self.used[block.columns] |= A.any(axis=0)
        if self.whole is not None:
            sums = exact.column_sums(A[zero])
            for j, part in zip(block.columns.tolist(), sums, strict=True):
                self.sums[j] += part
        if proof.margin is not None and w is not None:
            _check_lower_bound(first, A, w, self.squared_norm, proof.margin.lo)
        if proof.radius is not None:
            _check_row_lengths(first, A, proof.radius)
        if self.gap_w is None:
            return
        gap_w = block.weights_of_columns(self.gap_w)
        for side in (1, -1):
            side_rows = A[A[:, -1] == side]  # the last column is the sign times 1
            if len(side_rows) > 0:
                self._lower(side, exact.least_product(side_rows, gap_w))

    def merge(self, other: Self) -> None:
        """Add what another check of the same certificate has seen."""
        super().merge(other)
        self.n_zero += other.n_zero
        self.first_zero = min(self.first_zero, other.first_zero)
        self.used |= other.used
        self.sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        for side, least in other.least.items():
            self._lower(side, least)

    def _lower(self, side: int, least: Fraction | None) -> None:
        known = self.least[side]
        if least is not None:
            self.least[side] = least if known is None else min(least, known)

    def finish(self) -> None:
        """Raise CertificateError if a claim is false, after all rows have been read."""
        super().finish()
        proof, whole = self.proof, self.whole
        _check_kind(self)
        if whole is not None:
            _check_zero_rows(whole, self)
            check_dependence(whole, self.sums, self)
        spanning = None if whole is not None else proof.dependence
        for claim in dict.fromkeys([proof.contradiction, spanning]):  # once if they are the same
            if claim is not None:
                check_contradiction(claim, self)
        _check_upper_bound(self)
        if proof.geometric_margin is not None:
            _check_geometric_margin(proof.geometric_margin, self)


def _checked_weights(w: tuple[Fraction, ...] | None, p: int) -> Numbers | None:
    if w is not None and (len(w) != p or not any(w)):
        raise CertificateError(f"The weights are not {p} numbers that are not all zero.")
    return None if w is None else exact.numbers(w)


def _check_kind(check: CertificateCheck) -> None:
    """Check that the claims of the certificate together prove its kind."""
    proof = check.proof
    if proof.kind == "separable":
        if check.n_zero > 0:
            row = check.first_zero
            raise CertificateError(f"Row {row} is not strictly on its side: ⟨a, w⟩ = 0.", row)
        if proof.dependence is not None or proof.contradiction is not None:
            raise CertificateError("A separable set has no dependence with positive multipliers.")
        return
    if proof.margin is not None and (proof.margin.lo, proof.margin.hi) != (0.0, 0.0):
        raise CertificateError("The margin of a set that is not separable is 0.")
    if proof.mistake_bound is not None:
        raise CertificateError("There is no bound on the mistakes: the set is not separable.")
    if proof.kind == "not separable":
        if proof.contradiction is None or proof.w is not None or proof.dependence is not None:
            raise CertificateError("'not separable' needs a contradiction, and nothing else.")
        return
    claim, p = proof.dependence, int(check.used.sum())  # columns of zeros do not count
    if claim is None or (claim.among is not None and (claim.exact or len(claim.rows) != p)):
        raise CertificateError("The multipliers λ on the rows with ⟨a, w⟩ = 0 are missing.")
    if claim.among is not None and proof.kind != "inseparable":
        raise CertificateError("Rows that span everything positively prove 'inseparable' only.")
    if check.n_zero == 0 or (proof.kind == "inseparable") != (check.n_zero == proof.n):
        raise CertificateError(
            f"{check.n_zero} of {proof.n} rows have ⟨a, w⟩ = 0, which is not {proof.kind}."
        )


def _check_zero_rows(claim: Dependence, check: CertificateCheck) -> None:
    """Check that a claim about the rows with ⟨a_i, w⟩ = 0 lists no other rows."""
    if check.w is None or len(claim.rows) == 0:
        return
    block = check.rows_at(claim.rows)
    if exact.product_signs(block.A, block.weights_of_columns(check.w)).any():
        raise CertificateError("Multipliers and rows of a dependence do not belong together.")


def _check_lower_bound(
    first: int, A: Vector, w: Numbers, squared_norm: Fraction, lo: float
) -> None:
    """Check that ⟨a_i, w⟩ ≥ lo·‖w‖ for every row of A; w has the weights of the columns of A."""
    if not 0.0 <= lo < math.inf:
        raise CertificateError("The lower bound of the margin is not a finite number ≥ 0.")
    with np.errstate(all="ignore"):
        norm = exact.square_root_up(squared_norm / w.scale**2)
        products, bound = exact.product_bounds(A, w.near)
        doubtful = np.flatnonzero(~(products - bound >= lo * norm * (1.0 + 2.0**-50)))
    if len(doubtful) == 0:
        return
    least = Fraction(lo) ** 2 * squared_norm
    low = exact.least_product(A[doubtful], w)
    if low >= 0 and low**2 >= least:
        return
    whole, unit = exact.exact_products(A[doubtful], w)
    for row, value in zip(doubtful, whole, strict=True):
        if value < 0 or (value * unit) ** 2 < least:
            lowest = int(first + row)
            raise CertificateError(f"Row {lowest} has a margin below {lo!r}.", lowest)


def _check_row_lengths(first: int, A: Vector, radius: float) -> None:
    """Check that ‖a_i‖ ≤ R for every row of A."""
    if not radius >= 0.0:
        raise CertificateError("The radius is not a number ≥ 0.")
    with np.errstate(all="ignore"):
        squares = np.square(A).sum(axis=1) * (1.0 + (A.shape[1] + 4) * 2.0**-52)
        doubtful = np.flatnonzero(~((squares < radius * radius) & (squares > 2.0**-900)))
    if not math.isfinite(radius):
        return
    for row in doubtful:
        whole, e = exact.integers(A[row])
        if sum(value * value for value in whole) * Fraction(4) ** e > Fraction(radius) ** 2:
            longest = int(first + row)
            raise CertificateError(f"Row {longest} is longer than R = {radius!r}.", longest)


def _check_upper_bound(check: CertificateCheck) -> None:
    """Check that ‖Σ λ_i·a_i‖ ≤ hi·Σ λ_i, and the mistake bound."""
    proof, claim = check.proof, check.proof.margin
    if claim is not None and not 0.0 <= claim.lo <= claim.hi:
        raise CertificateError("The bounds of the margin are not numbers in order.")
    if claim is not None and claim.hi < math.inf and proof.kind == "separable":
        most = Fraction(claim.hi) * sum(claim.multipliers)
        if not _sum_is_within(most, claim.rows, claim.multipliers, check, check.p):
            raise CertificateError(f"λ does not show that the margin is at most {claim.hi!r}.")
    if proof.mistake_bound is not None:
        if claim is None or proof.radius is None or not claim.lo > 0.0:
            raise CertificateError("The bound on the mistakes lacks a margin or a radius.")
        if proof.mistake_bound != integer_mistake_bound(proof.radius, claim.lo):
            raise CertificateError(f"⌊R²/γ²⌋ is not {proof.mistake_bound}.")


def _check_geometric_margin(claim: GeometricMargin, check: CertificateCheck) -> None:
    """Check that half the distance of the convex hulls is in [lo, hi]."""
    positive, negative = check.least[1], check.least[-1]
    ordered = 0.0 <= claim.lo <= claim.hi and claim.lo < math.inf
    if not ordered or positive is None or negative is None:
        raise CertificateError("The bounds of the geometric margin are not numbers in order.")
    norm = sum(value * value for value in claim.w[:-1])
    if claim.lo > 0.0 and not (
        positive + negative > 0 and (positive + negative) ** 2 >= 4 * norm * Fraction(claim.lo) ** 2
    ):
        raise CertificateError(f"The classes are less than 2·{claim.lo!r} apart along w.")
    if claim.hi == math.inf:
        return
    most = Fraction(claim.hi) * sum(claim.multipliers)
    within = _sum_is_within(most, claim.rows, claim.multipliers, check, check.d)
    on_side = [Fraction(0), Fraction(0)]
    for row, multiplier in zip(claim.rows, claim.multipliers, strict=True):
        on_side[int(check.sign(row) > 0)] += multiplier
    if on_side[0] != on_side[1]:
        raise CertificateError("The sums of λ on the two classes differ.")
    if not within:
        raise CertificateError(f"λ does not show a geometric margin of at most {claim.hi!r}.")


def _sum_is_within(
    most: Fraction,
    named: Sequence[int],
    multipliers: Sequence[Fraction],
    check: CertificateCheck,
    columns: int,
) -> bool:
    """Whether ‖Σ λ_i·a_i‖ ≤ ``most`` over the first columns, for λ ≥ 0 that is not zero."""
    if len(named) != len(multipliers) or not any(multipliers) or min(multipliers) < 0:
        raise CertificateError("The multipliers of the upper bound are not a λ ≥ 0.")
    block, factors = check.rows_at(named), exact.numbers(multipliers)
    bound = exact.norm_of_sum(block.A[:, block.columns < columns], factors)
    if bound < math.inf and Fraction(bound) * factors.scale <= most:
        return True
    whole, unit = exact.combine(block.A, factors)
    return exact.sum_of_squares(block.spread(whole)[:columns], unit) <= most**2
