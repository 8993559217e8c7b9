"""The proof of an answer about a system of linear inequalities, which anyone can check.

A point proves that a system is feasible. Multipliers λ with Σ λ_i·a_i = 0 and ⟨c, λ⟩ < 0 on a few
rows prove that a system is infeasible. `SystemCertificate.verify` recomputes every claim from the
rows without rounding. `novikoff.proofs.system_statement` defines the numbers of the rows.

References
----------
Farkas, J. (1902). Theorie der einfachen Ungleichungen. *Journal für die reine und angewandte
Mathematik* 124, 1-27.

Motzkin, T. S. (1936). *Beiträge zur Theorie der linearen Ungleichungen*. Dissertation, Basel. This
is the theorem for strict rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from novikoff import sentences
from novikoff.errors import CertificateError
from novikoff.proofs.proof_text import Proof
from novikoff.proofs.system_statement import Constraint, Relation, Statement, arrays_of

# Linear independence is proved modulo primes: the largest primes whose products fit into int64.
_LARGEST_PRIME = 2_147_483_647


@dataclass(frozen=True)
class Multipliers:
    """Multipliers λ by row number: positive on inequalities, not zero on equalities."""

    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True)
class Radius:
    """The claim that the signed radius of a system is in [least, most].

    The signed radius is the largest r for which some w has c_i − ⟨a_i, w⟩ ≥ r·‖a_i‖ on all rows. If
    it is positive, it is the radius of a largest ball of solutions. Strict rows count as weak rows.
    In a feasible system, equalities and equal bounds of a variable must hold, and do not limit r.
    In an infeasible system they count as two rows each, and r is at most 0. The length of a row of
    zeros is 0, so that the row holds or fails for all r.

    ``point`` proves ``least``. The multipliers λ ≥ 0 on ``rows`` prove ``most``: Σ λ_i·a_i = 0 and
    ⟨c, λ⟩ ≤ most·Σ λ_i·‖a_i‖. Without multipliers, ``most`` is infinite, or, for an infeasible
    system, not negative.
    """

    least: float
    most: float
    point: tuple[Fraction, ...]
    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


class SystemProof(Proof):
    """The base of proofs about a system of inequalities, with its two ways to be checked."""

    n: int
    d: int
    sha256: str

    def check(self, stated: Statement) -> None:
        """Check every claim against a statement; return None if all hold.

        Parameters
        ----------
        stated : Statement
            The system, for instance one that was read from a file.

        Raises
        ------
        CertificateError
            If the system differs from that of the certificate, or a claim is false.
        """
        check_same_system(stated, self.n, self.d, self.sha256)
        self._check_claims(stated)

    @abstractmethod
    def _check_claims(self, stated: Statement) -> None:
        """Raise CertificateError if a claim about the rows is false."""

    def verify(
        self,
        A: object,
        c: object,
        *,
        A_eq: object = None,
        c_eq: object = None,
        lower: object = None,
        upper: object = None,
        strict: object = False,
    ) -> None:
        """Check every claim against arrays, in exact arithmetic; return None if all hold.

        Parameters
        ----------
        A, c, A_eq, c_eq, lower, upper, strict
            The system, as it was given to `solve`.

        Raises
        ------
        CertificateError
            If the system differs from that of the certificate, or a claim is false.

        Examples
        --------
        >>> import novikoff as nv
        >>> answer = nv.solve([[1.0], [-1.0]], [0.0, -1.0])
        >>> answer.certificate.verify([[1.0], [-1.0]], [0.0, -1.0])
        >>> answer.certificate.verify([[1.0], [-1.0]], [0.0, 1.0])
        Traceback (most recent call last):
            ...
        novikoff.errors.CertificateError: The certificate is for another system: the \
digest of its rows differs.
        """
        self.check(arrays_of(A, c, A_eq, c_eq, lower, upper, strict))


@dataclass(frozen=True, repr=False)
class SystemCertificate(SystemProof):
    """The proof that a system of inequalities is feasible or infeasible, which anyone can check.

    Rows are numbered in the order of the statement: rows, equalities, then the upper bounds and the
    lower bounds of the variables.

    Attributes
    ----------
    answer : str
        "feasible" or "infeasible".
    n, d : int
        One more than the largest possible row number, and the number of variables.
    sha256 : str
        The digest of all numbers of the system. Names do not change it.
    point : tuple of Fraction or None
        Numbers (w, t) with t > 0, which stand for the point w/t. In a feasible system, the point
        satisfies every row. In an infeasible system with ⟨c, λ⟩ = 0, it satisfies the rows of the
        conflict if their strict rows are replaced by weak rows.
    conflict : Multipliers or None
        Multipliers λ with Σ λ_i·a_i = 0 and ⟨c, λ⟩ < 0; if a strict row has λ_i > 0, ⟨c, λ⟩ ≤ 0.
        Rows a·w ≥ c enter as −a·w ≤ −c.
    irreducible : bool
        Whether the conflict is an irreducible infeasible subset (IIS): without any one of its rows
        it is feasible. Without kept rows this follows from linear independence.
    kept : tuple of int
        The numbers of rows that must not be given up. The conflict is irreducible with respect to
        its other rows.
    witnesses : tuple of points
        One point for each row of the conflict that is not kept, if there are kept rows. The point
        satisfies all other rows of the conflict and all kept rows.
    implicit : Multipliers or None
        Multipliers λ > 0 on all rows that the point satisfies with equality, with Σ λ_i·a_i = 0 and
        ⟨c, λ⟩ = 0. They prove that these rows are implicit equalities: every solution satisfies
        them with equality, and the point is in the relative interior of the solutions.
    radius : Radius or None
        Bounds on the signed radius.

    See Also
    --------
    verify : Check a certificate of any kind.
    solve : Solve a system; the solution has a certificate.

    Examples
    --------
    >>> import novikoff as nv
    >>> nv.solve([[1.0], [-1.0]], [0.0, -1.0]).certificate.answer
    'infeasible'
    """

    kinds = ("system",)

    answer: str
    n: int
    d: int
    sha256: str
    point: tuple[Fraction, ...] | None = None
    conflict: Multipliers | None = None
    irreducible: bool = False
    kept: tuple[int, ...] = ()
    witnesses: tuple[tuple[Fraction, ...], ...] = ()
    implicit: Multipliers | None = None
    radius: Radius | None = None

    def _check_claims(self, stated: Statement) -> None:
        _check_system(self, stated)

    def claim(self) -> str:
        """Return the proved claim as a sentence."""
        size = f"in {self.d:,} variable{'s' * (self.d != 1)}{self._distance()}"
        if self.conflict is None:
            equalities = ""
            if self.implicit is not None:
                k = len(self.implicit.rows)
                equalities = f"; {k} of its rows hold with equality in every solution" if k else ""
            return f"Feasible: a point satisfies every row, {size}{equalities}."
        k = len(self.conflict.rows)
        rows, kept = "1 of the rows" if k == 1 else f"{k} rows", len(self.kept) > 0
        clause = sentences.conflict_clause(rows, k, kept=kept, irreducible=self.irreducible)
        return f"Infeasible: {clause}, {size}."

    def _distance(self) -> str:
        """The clause about the radius, with all digits of its bounds."""
        if self.radius is None:
            return ""
        least, most = self.radius.least, self.radius.most
        if self.answer == "infeasible":
            return f"; every point is at least {-most!r} away from a row" if most < 0.0 else ""
        ends = [f"at least {least!r}"] if least > 0.0 else []
        ends += [f"at most {most!r}"] if most < math.inf else []
        return f"; the radius of a largest ball is {' and '.join(ends)}" if ends else ""


def _check_system(proof: SystemCertificate, stated: Statement) -> None:
    """Check every claim of a certificate against the rows."""
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


def check_same_system(stated: Statement, n: int, d: int, sha256: str) -> None:
    """Raise CertificateError if a statement is not of this size, or has another digest."""
    other = "The certificate is for another system:"
    try:
        same = (n, d, sha256) == (stated.n, stated.d, stated.sha256())
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"{other} {error}") from None
    if not same:
        raise CertificateError(f"{other} the digest of its rows differs.")


def rows_of(stated: Statement, numbers: Iterable[int]) -> list[Constraint]:
    """The rows with these numbers; CertificateError if one does not exist."""
    rows = []
    for number in numbers:
        row = stated.row(number)
        if row is None:
            raise CertificateError(f"Row {number} of the certificate does not exist.", number)
        rows.append(row)
    return rows


def check_size(v: Sequence[Fraction], d: int) -> None:
    """Raise CertificateError if (w, t) does not stand for a point."""
    if len(v) != d + 1:
        raise CertificateError("A point (w, t) has one coordinate for each variable, and t.")
    if not v[-1] > 0:
        raise CertificateError("The last coordinate t of a point (w, t) is not positive.")


def _fails(relation: Relation, slack: Fraction) -> bool:
    """Whether a row fails, a strict row counting as a weak row."""
    return slack < 0 or (relation == "=" and slack != 0)


def _check_point(stated: Statement, v: Sequence[Fraction]) -> list[int]:
    """Check that a point satisfies all rows; return the inequalities with slack 0."""
    check_size(v, stated.d)
    at_zero = []
    for number, relation, slack in stated.close_rows(v):
        if _fails(relation, slack):
            raise CertificateError(f"The point does not satisfy row {number}.", number)
        if slack == 0 and relation in ("<", ">"):
            raise CertificateError(f"The point does not satisfy row {number} strictly.", number)
        if slack == 0 and relation != "=":
            at_zero.append(number)
    return at_zero


def sum_of_rows(
    stated: Statement, claim: Multipliers | Radius
) -> tuple[list[Constraint], Fraction]:
    """Check that Σ λ_i·a_i = 0; return the rows and ⟨c, λ⟩. Rows with ≥ enter negated."""
    if len(claim.rows) != len(claim.multipliers) or len({*claim.rows}) != len(claim.rows):
        raise CertificateError("Multipliers and rows do not belong together.")
    rows = rows_of(stated, claim.rows)
    total, right = [Fraction(0)] * stated.d, Fraction(0)
    for number, row, weight in zip(claim.rows, rows, claim.multipliers, strict=True):
        if weight == 0 or (weight < 0 and row.relation != "="):
            raise CertificateError(f"The multiplier of row {number} is not positive.", number)
        right += row.sign * weight * row.right
        for j, value in row.terms.items():
            total[j] += row.sign * weight * value
    for j, value in enumerate(total):
        if value:
            raise CertificateError(f"Σ λ_i a_i is not zero for variable {j}.")
    return rows, right


def contradiction(stated: Statement, claim: Multipliers) -> tuple[list[Constraint], Fraction]:
    """Check that multipliers combine the rows to a contradiction; return the rows and ⟨c, λ⟩."""
    if len(claim.rows) == 0:
        raise CertificateError("A conflict without rows proves nothing.")
    rows, right = sum_of_rows(stated, claim)
    strict = any(row.relation in ("<", ">") for row in rows)
    if right > 0 or (right == 0 and not strict):
        raise CertificateError("The multipliers do not combine the rows to a contradiction.")
    return rows, right


def _check_implicit(stated: Statement, claim: Multipliers, at_zero: Sequence[int]) -> None:
    """Check that the rows with slack 0 are implicit equalities: λ > 0 combines them to 0 ≤ 0."""
    rows, right = sum_of_rows(stated, claim)
    if right != 0:
        raise CertificateError("The multipliers do not combine the rows to 0 ≤ 0.")
    equal = {k for k, row in zip(claim.rows, rows, strict=True) if row.relation == "="}
    if {*claim.rows} - equal != {*at_zero}:
        raise CertificateError("The implicit equalities are not the rows that the point meets.")


def _check_conflict(stated: Statement, proof: SystemCertificate, claim: Multipliers) -> None:
    """Check that the rows contradict each other and, if claimed, that they are irreducible."""
    rows, right = contradiction(stated, claim)
    if proof.point is not None:
        check_size(proof.point, stated.d)
        if any(_fails(row.relation, row.slack(proof.point)) for row in rows):
            raise CertificateError("The point does not satisfy the rows of the conflict weakly.")
    if not proof.irreducible:
        if proof.kept or proof.witnesses:
            raise CertificateError("Points without a row are given, but no irreducible conflict.")
        return
    if proof.kept or proof.witnesses:
        _check_witnesses(stated, proof, claim)
        return
    if right == 0 and proof.point is None:  # only a point shows that t > 0 is possible
        raise CertificateError("A point that satisfies the rows weakly is missing.")
    # The rows, and t > 0 if ⟨c, λ⟩ < 0, have one linear dependence, and it contains all of them.
    # Without any one row they are independent, so that some (w, t) satisfies them all strictly.
    if not _independent(rows if right < 0 else rows[1:], stated.d):
        raise CertificateError("The rows of the conflict are linearly dependent: fewer may do.")


def _check_witnesses(stated: Statement, proof: SystemCertificate, claim: Multipliers) -> None:
    """Check, for each row that may be given up, the point that satisfies all others."""
    others = [number for number in claim.rows if number not in proof.kept]
    if len(others) != len(proof.witnesses):
        raise CertificateError("Each row that is not kept needs a point without it.")
    together = [*others, *proof.kept]
    rows = rows_of(stated, together)
    for left_out, v in zip(others, proof.witnesses, strict=True):
        check_size(v, stated.d)
        for number, row in zip(together, rows, strict=True):
            slack = row.slack(v)
            fails = _fails(row.relation, slack) or (row.relation in ("<", ">") and slack == 0)
            if fails and number != left_out:
                raise CertificateError(
                    f"The point without row {left_out} violates row {number}.", number
                )


def _independent(rows: Sequence[Constraint], d: int) -> bool:
    """Whether the rows [a, c] are linearly independent, decided modulo primes.

    Rows that are independent modulo a prime are independent. Otherwise the prime divides all minors
    of full rank. A minor is at most the product of the lengths of the rows (Hadamard's inequality);
    if it is divisible by primes whose product is larger, it is zero.
    """
    whole = _whole_rows(rows, d)
    largest = math.prod((d + 1) * max(map(abs, row)) for row in whole)
    divisor = 1
    for prime in _primes():
        if _rank_modulo(whole % prime, prime) == len(rows):
            return True
        divisor *= prime
        if divisor > largest:
            break
    return False


def _whole_rows(rows: Sequence[Constraint], d: int) -> npt.NDArray[np.object_]:
    """The rows [a, c], each multiplied by a positive number that makes its entries integers."""
    M = np.zeros((len(rows), d + 1), dtype=object)
    for i, row in enumerate(rows):
        values = {**row.terms, d: row.right}
        over = math.lcm(*(value.denominator for value in values.values()))
        for j, value in values.items():
            M[i, j] = value.numerator * (over // value.denominator)
    return M


def _primes() -> Iterator[int]:
    """The primes in descending order, from the largest."""
    divisors = np.arange(3, math.isqrt(_LARGEST_PRIME) + 1, 2)
    for number in range(_LARGEST_PRIME, 2, -2):
        if (number % divisors).all():
            yield number


def _rank_modulo(M: npt.NDArray[np.object_], prime: int) -> int:
    """The rank of a matrix of residues modulo a prime."""
    residues, rank = M.astype(np.int64), 0
    for j in range(residues.shape[1]):
        pivots = np.flatnonzero(residues[rank:, j])
        if len(pivots) == 0:
            continue
        k = rank + int(pivots[0])
        residues[[rank, k]] = residues[[k, rank]]
        residues[rank] = residues[rank] * pow(int(residues[rank, j]), -1, prime) % prime
        below = residues[rank + 1 :]
        below -= below[:, [j]] * residues[rank] % prime
        below %= prime
        rank += 1
        if rank == len(residues):
            break
    return rank


def _check_radius(stated: Statement, claim: Radius, *, held: bool) -> None:
    """Check that the signed radius is in [least, most]; ``held`` for a feasible system."""
    if not (math.isfinite(claim.least) and claim.least <= claim.most):
        raise CertificateError("The bounds of the radius are not numbers in order.")
    if not held and claim.least > 0.0:
        raise CertificateError("The radius of an infeasible system is not positive.")
    check_size(claim.point, stated.d)
    v = [value / claim.point[-1] for value in claim.point]
    for number, _, slack in stated.close_rows(v, claim.least):
        if not _is_far_enough(stated, number, slack, claim.least, held=held):
            raise CertificateError(
                f"The distance at row {number} is below {claim.least!r}.", number
            )
    needs_no_proof = claim.most == math.inf or (not held and claim.most >= 0.0)
    if needs_no_proof and not (claim.rows or claim.multipliers):
        return
    rows, right = sum_of_rows(stated, claim)
    if claim.most == math.inf:
        return
    lengths = Fraction(0)  # Σ |λ_i|·‖a_i‖, rounded to the safe side
    most = Fraction(claim.most)
    for number, row, weight in zip(claim.rows, rows, claim.multipliers, strict=True):
        if not (held and stated.is_equality(number)):
            lengths += abs(weight) * square_root_to_120_bits(_squared_length(row), up=most < 0)
    if not (lengths > 0 and right <= most * lengths):
        raise CertificateError(f"λ does not show a radius of at most {claim.most!r}.")


def _is_far_enough(
    stated: Statement, number: int, slack: Fraction, least: float, *, held: bool
) -> bool:
    """Whether slack ≥ least·‖a‖; equalities that are held and rows of zeros must hold."""
    equality = stated.is_equality(number)
    if equality and held:
        return slack == 0
    slack = -abs(slack) if equality else slack
    (row,) = rows_of(stated, [number])
    squared = _squared_length(row)
    if squared == 0:
        return slack >= 0
    if least >= 0.0:
        return slack >= 0 and slack**2 >= Fraction(least) ** 2 * squared
    return slack >= 0 or slack**2 <= Fraction(least) ** 2 * squared


def _squared_length(row: Constraint) -> Fraction:
    return sum((value * value for value in row.terms.values()), Fraction(0))


def square_root_to_120_bits(value: Fraction, up: bool) -> Fraction:
    """Return √value to a relative 2⁻¹²⁰, rounded up or down.

    Examples
    --------
    >>> square_root_to_120_bits(Fraction(9, 4), up=True)
    Fraction(3, 2)
    >>> square_root_to_120_bits(Fraction(2), up=False) ** 2 < 2
    True
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
