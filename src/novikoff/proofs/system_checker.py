"""The checker of systems: the claims about a system, recomputed from its rows without rounding.

Rows have the numbers of `Statement`. Like `checker` this imports NumPy, the standard library and
its own family only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from novikoff.errors import CertificateError
from novikoff.proofs.system_statement import Constraint, Relation, Statement

if TYPE_CHECKING:
    from novikoff.proofs.system_certificate import SystemCertificate

# Independence is shown modulo primes, the largest ones whose products int64 holds.
_LARGEST_PRIME = 2_147_483_647


@dataclass(frozen=True)
class Multipliers:
    """λ by row: positive, or of any sign but zero on equalities."""

    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True)
class Radius:
    """The signed radius is in [least, most] (D8): by a point, and by the λ ≥ 0 given.

    It is the largest r with c_i − ⟨a_i, w⟩ ≥ r·‖a_i‖ on all rows for some w. Strict rows count as
    weak ones. Where the answer is "feasible", equalities and two equal bounds of a variable hold
    and have no part in r. Where it is "infeasible", they count as two rows, and r is at most 0.
    A row of zeros has no length: it holds or it fails, whatever r is.

    The point shows ``least``. For ``most``, ⟨c, λ⟩ ≤ most·Σ λ_i‖a_i‖ with Σ λ_i a_i = 0. Without λ,
    most is infinite, or not negative where the answer is "infeasible".
    """

    least: float
    most: float
    point: tuple[Fraction, ...]
    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


def check_system(proof: SystemCertificate, stated: Statement) -> None:
    """Every claim of a certificate, against the rows."""
    other = "The certificate is for another system:"
    try:
        same = (proof.n, proof.d, proof.sha256) == (stated.n, stated.d, stated.sha256())
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"{other} {error}") from None
    if not same:
        raise CertificateError(f"{other} the digest of its rows differs.")
    if proof.answer == "feasible":
        if proof.point is None or proof.conflict is not None:
            raise CertificateError("A point, and no conflict, shows that a system is feasible.")
        if proof.irreducible or proof.kept or proof.witnesses:
            raise CertificateError("A feasible system has no conflict that could be irreducible.")
        at_zero = _check_point(stated, proof.point)
        if proof.implicit is not None:
            _check_implicit(stated, proof.implicit, at_zero)
    elif proof.answer == "infeasible":
        if proof.conflict is None or proof.implicit is not None:
            raise CertificateError("A conflict, and nothing else, shows a system infeasible.")
        _check_conflict(stated, proof, proof.conflict)
    else:
        raise CertificateError(f"The answer {proof.answer[:40]!r} is not known.")
    if isinstance(proof.radius, Radius):
        _check_radius(stated, proof.radius, held=proof.answer == "feasible")
    elif proof.radius is not None:
        raise CertificateError("The radius has no point and no multipliers that show it.")


def _rows(stated: Statement, numbers: Iterable[int]) -> list[Constraint]:
    found = []
    for number in numbers:
        row = stated.row(number)
        if row is None:
            raise CertificateError(f"Row {number} of the certificate is not there.")
        found.append(row)
    return found


def _check_size(v: Sequence[Fraction], d: int) -> None:
    if len(v) != d + 1:
        raise CertificateError("A point (w, t) has one coordinate for each variable, and t.")
    if not v[-1] > 0:
        raise CertificateError("The last coordinate t of a point (w, t) is not positive.")


def _fails(relation: Relation, slack: Fraction) -> bool:
    """Whether a row does not hold, a strict one taken as weak."""
    return slack < 0 or (relation == "=" and slack != 0)


def _check_point(stated: Statement, v: Sequence[Fraction]) -> list[int]:
    """That a point satisfies all rows; the rows that it leaves at zero, equalities apart."""
    _check_size(v, stated.d)
    at_zero = []
    for number, relation, slack in stated.close_rows(v):
        if _fails(relation, slack):
            raise CertificateError(f"The point does not satisfy row {number}.")
        if slack == 0 and relation in ("<", ">"):
            raise CertificateError(f"The point does not satisfy row {number} strictly.")
        if slack == 0 and relation != "=":
            at_zero.append(number)
    return at_zero


def _balanced(stated: Statement, claim: Multipliers | Radius) -> tuple[list[Constraint], Fraction]:
    """The rows of a λ ≥ 0 with Σ λ_i a_i = 0, and ⟨c, λ⟩; rows with ≥ are turned round."""
    if len(claim.rows) != len(claim.multipliers) or len({*claim.rows}) != len(claim.rows):
        raise CertificateError("Multipliers and rows do not belong together.")
    rows = _rows(stated, claim.rows)
    total, right = [Fraction(0)] * stated.d, Fraction(0)
    for number, row, weight in zip(claim.rows, rows, claim.multipliers, strict=True):
        if weight == 0 or (weight < 0 and row.relation != "="):
            raise CertificateError(f"The multiplier of row {number} is not positive.")
        right += row.sign * weight * row.right
        for j, value in row.terms.items():
            total[j] += row.sign * weight * value
    for j, value in enumerate(total):
        if value:
            raise CertificateError(f"Σ λ_i a_i is not zero for variable {j}.")
    return rows, right


def _check_implicit(stated: Statement, claim: Multipliers, at_zero: Sequence[int]) -> None:
    """That the rows at zero are implicit equalities: λ > 0 on them all sums up to 0 ≤ 0."""
    rows, right = _balanced(stated, claim)
    if right != 0:
        raise CertificateError("The multipliers do not sum up to 0 ≤ 0.")
    equal = {k for k, row in zip(claim.rows, rows, strict=True) if row.relation == "="}
    if {*claim.rows} - equal != {*at_zero}:
        raise CertificateError("The implicit equalities are not the rows that the point meets.")


def _check_conflict(stated: Statement, proof: SystemCertificate, claim: Multipliers) -> None:
    """That the rows contradict each other, and that no fewer of those to be blamed do."""
    if len(claim.rows) == 0:
        raise CertificateError("A conflict without rows shows nothing.")
    rows, right = _balanced(stated, claim)
    strict = any(row.relation in ("<", ">") for row in rows)
    if right > 0 or (right == 0 and not strict):
        raise CertificateError("The multipliers do not sum up to a contradiction.")
    if proof.point is not None:
        _check_size(proof.point, stated.d)
        if any(_fails(row.relation, row.slack(proof.point)) for row in rows):
            raise CertificateError("The point does not satisfy the rows of the conflict weakly.")
    if not proof.irreducible:
        if proof.kept or proof.witnesses:
            raise CertificateError("Points without a row are given, but no irreducible conflict.")
        return
    if proof.kept or proof.witnesses:
        _check_witnesses(stated, proof, claim)
        return
    if right == 0 and proof.point is None:  # e takes no part: a point shows that t > 0 is possible
        raise CertificateError("A point that satisfies the rows weakly is missing.")
    # With e where ⟨c, λ⟩ < 0 the rows have one dependence, and it uses them all: without any one
    # of them they are independent, so some (w, t) makes them all positive.
    if not _independent(rows if right < 0 else rows[1:], stated.d):
        raise CertificateError("The rows of the conflict depend on each other: fewer may do.")


def _check_witnesses(stated: Statement, proof: SystemCertificate, claim: Multipliers) -> None:
    """For each row that is blamed, a point that satisfies the others and all kept rows."""
    blamed = [number for number in claim.rows if number not in proof.kept]
    if len(blamed) != len(proof.witnesses):
        raise CertificateError("Each row that is blamed needs a point without it.")
    together = [*blamed, *proof.kept]
    rows = _rows(stated, together)
    for left_out, v in zip(blamed, proof.witnesses, strict=True):
        _check_size(v, stated.d)
        for number, row in zip(together, rows, strict=True):
            slack = row.slack(v)
            fails = _fails(row.relation, slack) or (row.relation in ("<", ">") and slack == 0)
            if fails and number != left_out:
                raise CertificateError(f"The point without row {left_out} violates row {number}.")


def _independent(rows: Sequence[Constraint], d: int) -> bool:
    """Whether the rows [a, c] are linearly independent, decided modulo primes.

    Rows that are independent modulo a prime are independent. Else the prime divides every minor of
    as many columns as there are rows. A minor is at most the product of the rows' lengths
    (Hadamard), and is zero if the product of its primes is larger.
    """
    whole = _whole_rows(rows, d)
    largest = math.prod((d + 1) * max(map(abs, row)) for row in whole)
    divisor = 1
    for prime in _primes():
        if _rank(whole % prime, prime) == len(rows):
            return True
        divisor *= prime
        if divisor > largest:
            break
    return False


def _whole_rows(rows: Sequence[Constraint], d: int) -> npt.NDArray[np.object_]:
    """The rows [a, c], each times a positive number that makes it whole."""
    M = np.zeros((len(rows), d + 1), dtype=object)
    for i, row in enumerate(rows):
        values = {**row.terms, d: row.right}
        over = math.lcm(*(value.denominator for value in values.values()))
        for j, value in values.items():
            M[i, j] = value.numerator * (over // value.denominator)
    return M


def _primes() -> Iterator[int]:
    """The primes from the largest one downwards."""
    divisors = np.arange(3, math.isqrt(_LARGEST_PRIME) + 1, 2)
    for number in range(_LARGEST_PRIME, 2, -2):
        if (number % divisors).all():
            yield number


def _rank(M: npt.NDArray[np.object_], prime: int) -> int:
    """The rank of a matrix of remainders modulo a prime."""
    left, rank = M.astype(np.int64), 0
    for j in range(left.shape[1]):
        pivots = np.flatnonzero(left[rank:, j])
        if len(pivots) == 0:
            continue
        k = rank + int(pivots[0])
        left[[rank, k]] = left[[k, rank]]
        left[rank] = left[rank] * pow(int(left[rank, j]), -1, prime) % prime
        below = left[rank + 1 :]
        below -= below[:, [j]] * left[rank] % prime
        below %= prime
        rank += 1
        if rank == len(left):
            break
    return rank


def _check_radius(stated: Statement, claim: Radius, *, held: bool) -> None:
    """That the signed radius is in [least, most]; whether equalities hold follows the answer."""
    if not (math.isfinite(claim.least) and claim.least <= claim.most):
        raise CertificateError("The bounds of the radius are not numbers in order.")
    if not held and claim.least > 0.0:
        raise CertificateError("The radius of an infeasible system is not positive.")
    _check_size(claim.point, stated.d)
    v = [value / claim.point[-1] for value in claim.point]
    for number, _, slack in stated.close_rows(v, claim.least):
        if not _has_room(stated, number, slack, claim.least, held=held):
            raise CertificateError(f"The point has less room than {claim.least!r} at row {number}.")
    needs_no_proof = claim.most == math.inf or (not held and claim.most >= 0.0)
    if needs_no_proof and not (claim.rows or claim.multipliers):
        return
    rows, right = _balanced(stated, claim)
    if claim.most == math.inf:
        return
    lengths = Fraction(0)  # Σ |λ_i|‖a_i‖, rounded to the safe side
    most = Fraction(claim.most)
    for number, row, weight in zip(claim.rows, rows, claim.multipliers, strict=True):
        if not (held and stated.is_equality(number)):
            lengths += abs(weight) * root(_squared_length(row), up=most < 0)
    if not (lengths > 0 and right <= most * lengths):
        raise CertificateError(f"λ does not show a radius of at most {claim.most!r}.")


def _has_room(stated: Statement, number: int, slack: Fraction, least: float, *, held: bool) -> bool:
    """Whether slack ≥ least·‖a‖; equalities that are held, and rows of zeros, have to hold."""
    equality = stated.is_equality(number)
    if equality and held:
        return slack == 0
    slack = -abs(slack) if equality else slack
    (row,) = _rows(stated, [number])
    squared = _squared_length(row)
    if squared == 0:
        return slack >= 0
    if least >= 0.0:
        return slack >= 0 and slack**2 >= Fraction(least) ** 2 * squared
    return slack >= 0 or slack**2 <= Fraction(least) ** 2 * squared


def _squared_length(row: Constraint) -> Fraction:
    return sum((value * value for value in row.terms.values()), Fraction(0))


def root(value: Fraction, up: bool) -> Fraction:
    """√value to 2⁻¹²⁰ of itself, rounded up or down.

    Examples
    --------
    >>> root(Fraction(9, 4), up=True), root(Fraction(2), up=False) ** 2 < 2
    (Fraction(3, 2), True)
    """
    if value == 0:
        return Fraction(0)
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    shift = max(0, 240 - bits)
    shift += shift % 2
    scaled = (value.numerator << shift) // value.denominator
    down = math.isqrt(scaled)
    whole = down * down * value.denominator == value.numerator << shift
    return Fraction(down if whole or not up else down + 1, 1 << (shift // 2))
