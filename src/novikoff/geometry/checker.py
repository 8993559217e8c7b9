"""The checker: every claim of a certificate, recomputed from the data without rounding.

It is short, reads top to bottom, and imports NumPy, the standard library and `exact` only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from novikoff.geometry import exact
from novikoff.geometry.exact import Numbers, Signs, Vector
from novikoff.geometry.streamed import StreamedRows
from novikoff.geometry.table import SignedRows, as_matrix, digest, signs_of

if TYPE_CHECKING:
    from novikoff.geometry.certificate import Certificate
    from novikoff.geometry.error_bound import ErrorBound

Indices: TypeAlias = npt.NDArray[np.int64]


class CertificateError(ValueError):
    """A certificate does not prove what it claims; the message says what does not hold."""


@dataclass(frozen=True)
class Dependence:
    """Σ (1 + μ_i)·a_i = 0 over the rows ``among``, every 1 + μ_i > 0 and μ_i = 0 but on ``rows``.

    Where ``exact``, the multipliers are μ. Else they are near it: the system for μ on
    ``rows`` is square, and a verified solve shows that it has one solution, and where.
    """

    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]
    exact: bool
    among: tuple[int, ...] | None = None  # None: the rows that w leaves at zero

    @property
    def named(self) -> tuple[int, ...]:
        """The rows that it speaks of by number."""
        return (*self.rows, *(self.among or ()))


@dataclass(frozen=True)
class Margin:
    """γ is in [lo, hi]: lo by w itself, hi = ‖Σ λ_i a_i‖/Σ λ_i by the λ ≥ 0 given (C3)."""

    lo: float
    hi: float
    rows: tuple[int, ...]
    weights: tuple[Fraction, ...]


def check(proof: Certificate, rows: SignedRows) -> None:
    """Every claim that a certificate makes about rows whose digest is right."""
    p = proof.d + int(proof.fit_intercept)
    w = None if proof.w is None else exact.numbers(proof.w)
    if proof.w is not None and (len(proof.w) != p or not any(proof.w)):
        raise CertificateError(f"The weights are not {p} numbers that are not all zero.")
    whole = proof.dependence  # on all rows that w leaves at zero, or on p + 1 that span all
    if whole is not None and whole.among is not None:
        whole = None
    left: list[Indices] = []
    used = np.zeros(p, dtype=np.bool_)
    sums = [0] * p
    for first, A in rows.blocks():
        sides = np.zeros(len(A), dtype=np.int8) if w is None else exact.product_signs(A, w)
        if (sides < 0).any():
            row = first + int(np.argmax(sides < 0))
            raise CertificateError(f"Row {row} is on the wrong side: ⟨a, w⟩ < 0.")
        left.append(first + np.flatnonzero(sides == 0))
        used |= A.any(axis=0)
        if whole is not None:
            parts = exact.column_sums(A[sides == 0])
            sums = [total + part for total, part in zip(sums, parts, strict=True)]
        if proof.margin is not None and w is not None:
            _check_lower(first, A, w, proof.margin.lo)
        if proof.radius is not None:
            _check_radius(first, A, proof.radius)
    _check_kind(proof, np.concatenate(left), int(used.sum()))
    if whole is not None:
        _check_dependence(whole, np.concatenate(left), sums, rows)
    spanning = None if whole is not None else proof.dependence
    for claim in dict.fromkeys([proof.contradiction, spanning]):  # once if they are the same
        if claim is not None:
            check_contradiction(claim, rows)
    _check_upper(proof, rows)


def check_contradiction(claim: Dependence, rows: SignedRows) -> None:
    """No w separates the rows of the claim."""
    among = claim.among
    if among is None:
        raise CertificateError("A contradiction does not say among which rows it is.")
    sums = exact.column_sums(_at(rows, among))
    _check_dependence(claim, np.array(among, dtype=np.int64), sums, rows)


def matching_rows(
    proof: Certificate | ErrorBound, X: object, y: object, named: Sequence[int]
) -> SignedRows:
    """The rows that a proof is about, some of them by name; CertificateError if it is others.

    Without y, X is an iterable of pairs (X, y), which is gone through several times.
    """
    try:
        if y is None and hasattr(X, "n_rows"):
            return _matching_blocks(proof, cast("Iterable[tuple[object, object]]", X), named)
        matrix = as_matrix(X)
        signs = signs_of(y, proof.positive, proof.negative)
    except ValueError as error:
        if isinstance(error, CertificateError):
            raise
        raise CertificateError(f"The certificate is for other data: {error}") from None
    if matrix.shape != (proof.n, proof.d) or len(signs) != proof.n:
        raise CertificateError(
            f"The certificate is for {proof.n} × {proof.d} numbers, the data has "
            f"{matrix.shape[0]} × {matrix.shape[1]} and {len(signs)} labels."
        )
    _check_match(proof, signs, digest(matrix, signs))
    return SignedRows(matrix, signs, proof.fit_intercept)


def _matching_blocks(
    proof: Certificate | ErrorBound, blocks: Iterable[tuple[object, object]], named: Sequence[int]
) -> SignedRows:
    sides = proof.positive, proof.negative
    rows = StreamedRows(blocks, sides, (proof.n, proof.d), proof.fit_intercept, named)
    if rows.n != proof.n:
        raise CertificateError(f"The certificate is for {proof.n} rows, but the data has {rows.n}.")
    _check_match(proof, rows.signs, rows.sha256)
    return rows


def _check_match(proof: Certificate | ErrorBound, signs: Signs, sha256: str) -> None:
    for label, sign in ((proof.positive, 1), (proof.negative, -1)):
        if (label is not None or sign > 0) and not (signs == sign).any():
            raise CertificateError(f"The certificate is for other data: no label is {label!r}.")
    if sha256 != proof.sha256:
        raise CertificateError(
            "The certificate is for other data: the digest of the rows and labels differs."
        )


def _check_kind(proof: Certificate, left: Indices, p: int) -> None:
    """That the parts present make the kind claimed; p columns are not zero throughout."""
    if proof.kind == "separable":
        if len(left) > 0:
            raise CertificateError(f"Row {left[0]} is not strictly on its side: ⟨a, w⟩ = 0.")
        if proof.dependence is not None or proof.contradiction is not None:
            raise CertificateError("A separable set has no dependence with positive weights.")
        return
    if proof.margin is not None and (proof.margin.lo, proof.margin.hi) != (0.0, 0.0):
        raise CertificateError("The margin of a set that is not separable is 0.")
    if proof.mistake_bound is not None:
        raise CertificateError("There is no bound on the mistakes: the set is not separable.")
    if proof.kind == "not separable":
        if proof.contradiction is None or proof.w is not None or proof.dependence is not None:
            raise CertificateError("A contradiction, and nothing else, shows 'not separable'.")
        return
    claim = proof.dependence
    if claim is None or (claim.among is not None and (claim.exact or len(claim.rows) != p)):
        raise CertificateError("The weights λ on the rows that w leaves at zero are missing.")
    if claim.among is not None and proof.kind != "inseparable":
        raise CertificateError("Rows that span everything positively show 'inseparable' only.")
    if len(left) == 0 or (proof.kind == "inseparable") != (len(left) == proof.n):
        raise CertificateError(
            f"{len(left)} of {proof.n} rows are left at zero, which is not {proof.kind}."
        )


def _check_dependence(
    claim: Dependence, among: Indices, sums: Sequence[int], rows: SignedRows
) -> None:
    """Σ (1 + μ_i) a_i = 0 over ``among``, whose column sums are given, with 1 + μ > 0."""
    if len(among) == 0 or len(np.unique(among)) != len(among):
        raise CertificateError("The rows of a dependence must be some, and each once.")
    if len(claim.rows) != len(claim.multipliers) or not np.isin(claim.rows, among).all():
        raise CertificateError("Multipliers and rows of a dependence do not belong together.")
    if len(set(claim.rows)) != len(claim.rows):
        raise CertificateError("A row has two multipliers.")
    total = exact.as_fractions(sums)
    B = _at(rows, claim.rows)
    if claim.exact:
        low = [i for i, mu in zip(claim.rows, claim.multipliers, strict=True) if mu <= -1]
        if low:
            raise CertificateError(f"The weight λ of row {low[0]} is not positive.")
        if len(claim.rows) > 0:
            whole, unit = exact.combine(B, exact.numbers(claim.multipliers))
            total = [s + value * unit for s, value in zip(total, whole, strict=True)]
        if any(total):
            column = next(j for j, value in enumerate(total) if value)
            raise CertificateError(f"Σ λ_i a_i is not zero in column {column}.")
        return
    used = np.asarray(_at(rows, among.tolist()).any(axis=0))  # a column of zeros asks for nothing
    right = [-value for value, use in zip(total, used, strict=True) if use]
    found = exact.enclose(B[:, used].T, right) if len(B) == len(right) else None
    if found is None:
        raise CertificateError("The system for λ is not square, or not shown to be regular.")
    near, radius = found
    if not (near - radius > -1.0).all():
        row = claim.rows[int(np.argmin(near - radius))]
        raise CertificateError(f"The weight λ of row {row} is not shown to be positive.")
    slip = [abs(mu - Fraction(x)) for mu, x in zip(claim.multipliers, near.tolist(), strict=True)]
    loose = 1e-6 * (1.0 + np.abs(near)) - radius
    if any(a > Fraction(b) for a, b in zip(slip, loose.tolist(), strict=True)):
        raise CertificateError("A multiplier is not near the solution for λ.")


def _check_lower(first: int, A: Vector, w: Numbers, lo: float) -> None:
    """⟨a_i, w⟩ ≥ lo·‖w‖ for every row."""
    if not 0.0 <= lo < math.inf:
        raise CertificateError("The lower bound of the margin is not a finite number ≥ 0.")
    with np.errstate(all="ignore"):
        norm = math.sqrt(float(np.square(w.near).sum())) * (1.0 + (len(w.near) + 4) * 2.0**-52)
        found, bound = exact.product_bounds(A, w.near)
        doubtful = np.flatnonzero(~(found - bound >= lo * norm * (1.0 + 2.0**-50)))
    if len(doubtful) == 0:
        return
    least = Fraction(lo) ** 2 * sum(int(value) ** 2 for value in w.whole)
    whole, unit = exact.products(A[doubtful], w)
    for row, value in zip(doubtful, whole, strict=True):
        if value < 0 or (value * unit) ** 2 < least * w.unit**2:
            raise CertificateError(f"Row {first + row} has a margin below {lo!r}.")


def _check_radius(first: int, A: Vector, radius: float) -> None:
    """‖a_i‖ ≤ R for every row."""
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
            raise CertificateError(f"Row {first + row} is longer than R = {radius!r}.")


def _check_upper(proof: Certificate, rows: SignedRows) -> None:
    """‖Σ λ_i a_i‖ ≤ hi·Σ λ_i, and the bound on the mistakes."""
    claim = proof.margin
    if claim is not None and not 0.0 <= claim.lo <= claim.hi:
        raise CertificateError("The bounds of the margin are not numbers in order.")
    if claim is not None and claim.hi < math.inf and proof.kind == "separable":
        weights = claim.weights
        if len(claim.rows) != len(weights) or not any(weights) or min(weights) < 0:
            raise CertificateError("The weights of the upper bound are not a λ ≥ 0.")
        whole, unit = exact.combine(_at(rows, claim.rows), exact.numbers(weights))
        squared = sum(int(value) ** 2 for value in whole) * unit**2
        if squared > (Fraction(claim.hi) * sum(weights)) ** 2:
            raise CertificateError(f"λ does not show that the margin is at most {claim.hi!r}.")
    if proof.mistake_bound is not None:
        if claim is None or proof.radius is None or not claim.lo > 0.0:
            raise CertificateError("The bound on the mistakes lacks a margin or a radius.")
        if proof.mistake_bound != mistake_bound(proof.radius, claim.lo):
            raise CertificateError(f"⌈R²/γ²⌉ is not {proof.mistake_bound}.")


def mistake_bound(radius: float, gamma: float) -> int | None:
    """⌈R²/γ²⌉, exactly (B1); None where there is no such number."""
    if not (gamma > 0.0 and math.isfinite(radius)):
        return None
    return math.ceil((Fraction(radius) / Fraction(gamma)) ** 2)


def _at(rows: SignedRows, numbers: Sequence[int]) -> Vector:
    try:
        return rows.at(numbers)
    except ValueError as error:
        raise CertificateError(f"The certificate names a row that is not there: {error}") from None
