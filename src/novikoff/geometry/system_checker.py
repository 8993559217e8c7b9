"""The checker of systems: the claims about a system, recomputed from its rows without rounding.

Rows are numbered as they are stated: the rows of A or of a model, the rows of A_eq, then the upper
bounds and the lower bounds by variable, whether a variable has one or not. Like `checker` this
imports NumPy, the standard library and its own family only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.geometry import exact
from novikoff.geometry.checker import CertificateError, source
from novikoff.geometry.digest import HashTree, MatrixDigest, rows_per_leaf
from novikoff.geometry.exact import Signs, Vector

if TYPE_CHECKING:
    from novikoff.geometry.system_certificate import SystemCertificate

# Independence is shown modulo one of these: what is independent there is independent.
_PRIMES = (2_147_483_647, 2_147_483_629)


@dataclass(frozen=True)
class Multipliers:
    """λ by row: positive, or of any sign but zero on equalities."""

    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True)
class Radius:
    """The signed radius is in [least, most] (D8): by a point, and by the λ ≥ 0 given.

    (c_i − ⟨a_i, w⟩)/‖a_i‖ ≥ least for every row, and ⟨c, λ⟩ ≤ most·Σ λ_i‖a_i‖ with Σ λ_i a_i = 0;
    without a λ, most is infinite. Where least ≥ 0, equalities hold and have no part in the
    minimum; else they count as two rows. Strict rows count as weak ones.
    """

    least: float
    most: float
    point: tuple[Fraction, ...]
    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


class Row(NamedTuple):
    """One row as it is stated: Σ terms[j]·w_j relation right."""

    terms: dict[int, Fraction]
    relation: str
    right: Fraction

    @property
    def sign(self) -> int:
        """−1 where the row asks for at least its right side, else 1."""
        return -1 if self.relation in (">=", ">") else 1


@dataclass(frozen=True, eq=False)
class Arrays:
    """A·w ≤ c, A_eq·w = c_eq and bounds, as arrays; strict rows are a·w < c.

    ``greater`` turns all rows of A round: a·w ≥ c, or a·w > c where strict. A right side of +∞ is
    no row, and so is an infinite bound.
    """

    A: Any
    c: Vector
    A_eq: Any
    c_eq: Vector
    lower: Vector
    upper: Vector
    strict: npt.NDArray[np.bool_]
    greater: bool = False

    @property
    def d(self) -> int:
        """The number of variables."""
        return int(self.A.shape[1])

    @property
    def m(self) -> int:
        """The number of rows, equalities included, bounds not."""
        return len(self.c) + len(self.c_eq)

    def row(self, number: int) -> Row | None:
        """One row as it is stated; None where there is none of this number."""
        one, n = Fraction(1), len(self.c)
        if number >= self.m:
            j, is_lower = (number - self.m) % self.d, number >= self.m + self.d
            bound = float((self.lower if is_lower else self.upper)[j])
            relation = ">=" if is_lower else "<="
            return Row({j: one}, relation, Fraction(bound)) if math.isfinite(bound) else None
        equal = number >= n
        matrix, k = (self.A_eq, number - n) if equal else (self.A, number)
        right = float((self.c_eq if equal else self.c)[k])
        if not math.isfinite(right):
            return None
        _, block = source(matrix, False)[0](k, k + 1, np.ones(1, dtype=np.int8))
        pairs = zip(block.columns.tolist(), block.A[0].tolist(), strict=True)
        terms = {j: Fraction(value) for j, value in pairs if value}
        sense = ">" if self.greater else "<"
        relation = "=" if equal else sense if self.strict[k] else f"{sense}="
        return Row(terms, relation, Fraction(right))

    def sha256(self) -> str:
        """The digest of all numbers."""
        hashed = hashlib.sha256(b"novikoff system of arrays\n")
        for matrix in (self.A, self.A_eq):
            hashed.update(f"{_digest(matrix).root}\n".encode())
        for vector in (self.c, self.c_eq, self.lower, self.upper):
            hashed.update(np.add(vector, 0.0).astype("<f8").tobytes())
        hashed.update(self.strict.astype(np.int8).tobytes() + bytes([self.greater]))
        return hashed.hexdigest()

    def slacks(self) -> Iterator[tuple[npt.NDArray[np.int64], Vector]]:
        """Numbers of rows and the rows [−a, c] themselves, in floats, range by range.

        Equalities are among them once, bounds too.
        """
        for first, matrix, right, sign in (
            (0, self.A, self.c, 1.0 if self.greater else -1.0),
            (len(self.c), self.A_eq, self.c_eq, -1.0),
        ):
            read, n, d = source(matrix, False)
            for begin in range(0, n, rows_per_leaf(d)):
                end = min(begin + rows_per_leaf(d), n)
                _, block = read(begin, end, np.ones(end - begin, dtype=np.int8))
                numbers = np.arange(begin, end)[np.isfinite(right[begin:end])]
                left = sign * block.spread(block.A)[numbers - begin]
                last = -sign * right[numbers]
                yield first + numbers, np.concatenate([left, last[:, None]], axis=1)
        for first, bound, sign in ((self.m, self.upper, -1.0), (self.m + self.d, self.lower, 1.0)):
            at = np.flatnonzero(np.isfinite(bound))
            for k in range(0, len(at), rows_per_leaf(self.d)):
                some = at[k : k + rows_per_leaf(self.d)]
                block_ = np.zeros((len(some), self.d + 1))
                block_[np.arange(len(some)), some] = sign
                block_[:, -1] = -sign * bound[some]
                yield first + some, block_


def _digest(matrix: Any) -> MatrixDigest:
    if isinstance(matrix, np.ndarray) and matrix.dtype == np.float64:
        return MatrixDigest.of(matrix)
    read, n, d = source(matrix, False)
    tree, one = HashTree(d), np.ones(1, dtype=np.int8)
    for first in range(0, n, tree.stride):
        last = min(first + tree.stride, n)
        tree.add_piece(first, read(first, last, one.repeat(last - first))[0])
    return MatrixDigest.of_tree(tree, n)


def arrays_of(A: Any, c: Any, A_eq: Any, c_eq: Any, lower: Any, upper: Any, strict: Any) -> Arrays:
    """Arrays as they come to be checked: nothing is rounded, and what is not finite is refused."""
    try:
        check_labels(A, c, A_eq, c_eq, lower=lower, upper=upper)
        if A is None and A_eq is not None:  # no rows but equalities
            A, c = np.zeros((0, np.shape(A_eq)[1])), np.zeros(0)
        table = A if hasattr(A, "shape") else np.array(A)
        n, d = (int(size) for size in table.shape)
        equal = np.zeros((0, d)) if A_eq is None else A_eq
        equal = equal if hasattr(equal, "shape") else np.array(equal)
        low = np.full(d, -np.inf) if lower is None else _floats(lower, d)
        high = np.full(d, np.inf) if upper is None else _floats(upper, d)
        mask = np.full(n, bool(strict)) if np.ndim(strict) == 0 else np.array(strict, dtype=bool)
        right = np.zeros(n) if c is None else _floats(c, n)
        right_eq = np.zeros(0) if c_eq is None else _floats(c_eq, int(equal.shape[0]))
        found = Arrays(table, right, equal, right_eq, low, high, mask, c is None)
        if mask.shape != (n,) or equal.shape[1] != d:
            raise ValueError("its parts do not belong together.")
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"The certificate is for another system: {error}") from None
    return found


def check_labels(A: Any, c: Any, A_eq: Any, c_eq: Any, **by_variable: Any) -> None:
    """Raise ValueError unless frames and series have the labels of A and A_eq, in their order."""
    columns = _labels(A_eq if A is None else A, "columns")
    by_name = [(name, _labels(values, "index")) for name, values in by_variable.items()]
    wanted = [
        ("A_eq", _labels(A_eq, "columns"), columns, "the columns of A"),
        ("c", _labels(c, "index"), _labels(A, "index"), "the rows of A"),
        ("c_eq", _labels(c_eq, "index"), _labels(A_eq, "index"), "the rows of A_eq"),
        *((name, own, columns, "the columns of A") for name, own in by_name),
    ]
    for name, own, labels, of in wanted:
        if own is not None and labels is not None and own != labels:
            raise ValueError(
                f"The labels of {name} are not those of {of}, in the same order: put them in "
                "order, or give an array."
            )


def _labels(values: Any, kind: str) -> list[Any] | None:
    found = getattr(values, kind, None)
    return None if found is None or callable(found) else [*found]


def _floats(values: Any, n: int) -> Vector:
    if np.ma.is_masked(values):
        raise ValueError("it is masked in places.")
    # A list is looked at number by number: together they might be rounded to floats.
    given = np.asarray(values) if hasattr(values, "dtype") else np.array(values, dtype=object)
    found = np.array(np.broadcast_to(given, (n,)), dtype=np.float64)
    whole = exact.python_integers(given.ravel().astype(object))
    if np.isnan(found).any() or any(whole != given.ravel().astype(float)):
        raise ValueError("it has something else than a number that float64 can hold.")
    return found


Statement: TypeAlias = Any  # Arrays or a LinearSystem, which stays unknown here


def row_of(stated: Statement, number: int) -> Row | None:
    """One row of arrays or of a model; None where there is none of this number."""
    if isinstance(stated, Arrays):
        return stated.row(number)
    m, p = len(stated.constraints), len(stated.variables)
    if number < m:
        row = stated.constraints[number]
        return Row({j: v for j, v in row.terms.items() if v}, row.relation, row.right)
    j, is_lower = (number - m) % p, number >= m + p
    bound = (stated.lower if is_lower else stated.upper)[j]
    return None if bound is None else Row({j: Fraction(1)}, ">=" if is_lower else "<=", bound)


def size_of(stated: Statement) -> tuple[int, int]:
    """How many numbers rows may have, and the variables."""
    if isinstance(stated, Arrays):
        return stated.m + 2 * stated.d, stated.d
    p = len(stated.variables)
    return len(stated.constraints) + 2 * p, p


def digest_of(stated: Statement) -> str:
    """SHA-256 of the numbers of a system; names have no part in it."""
    if isinstance(stated, Arrays):
        return stated.sha256()
    n, p = size_of(stated)
    hashed = hashlib.sha256(f"novikoff system {n} {p}\n".encode())
    for number in range(n):
        row = row_of(stated, number)
        if row is not None:
            terms = " ".join(f"{j}:{row.terms[j]}" for j in sorted(row.terms))
            hashed.update(f"{number} {terms} {row.relation} {row.right}\n".encode())
    return hashed.hexdigest()


def check_system(proof: SystemCertificate, stated: Statement) -> None:
    """Every claim of a certificate, against the rows."""
    other = "The certificate is for another system:"
    try:
        same = (proof.n, proof.d) == size_of(stated) and proof.sha256 == digest_of(stated)
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"{other} {error}") from None
    if not same:
        raise CertificateError(f"{other} the digest of its rows differs.")
    if proof.answer == "feasible":
        if proof.point is None or proof.conflict is not None:
            raise CertificateError("A point, and no conflict, shows that a system is feasible.")
        at_zero = _check_point(stated, proof.point)
        if proof.implicit is not None:
            _check_implicit(stated, proof.implicit, at_zero)
    elif proof.answer == "infeasible":
        if proof.conflict is None or proof.implicit is not None:
            raise CertificateError("A conflict, and nothing else, shows a system infeasible.")
        _check_conflict(stated, proof)
    else:
        raise CertificateError(f"The answer {proof.answer[:40]!r} is not known.")
    if isinstance(proof.radius, Radius):
        _check_radius(stated, proof.radius)
    elif proof.radius is not None:
        raise CertificateError("The radius has no point and no multipliers that show it.")


def _named(stated: Statement, rows: Iterable[int]) -> list[Row]:
    found = []
    for number in rows:
        row = row_of(stated, number)
        if row is None:
            raise CertificateError(f"Row {number} of the certificate is not there.")
        found.append(row)
    return found


def _signs(stated: Statement, v: Sequence[Fraction]) -> Iterator[tuple[int, str, int]]:
    """Number, relation and sign of the slack of every row at the point w/t; v = (w, t)."""
    if isinstance(stated, Arrays):
        numbers = exact.numbers(v)
        senses = np.where(stated.strict, "<", "<=")
        for rows, A in stated.slacks():
            equal = (rows >= len(stated.c)) & (rows < stated.m)
            inside = np.minimum(rows, max(0, len(senses) - 1))
            of_row = np.where(rows < len(senses), senses[inside] if len(senses) else "<=", "<=")
            relations = np.where(equal, "=", of_row)
            signs: Signs = exact.product_signs(A, numbers)
            yield from zip(rows.tolist(), relations.tolist(), signs.tolist(), strict=True)
        return
    for number in range(size_of(stated)[0]):
        row = row_of(stated, number)
        if row is not None:
            slack = row.sign * (row.right * v[-1] - _product(row, v))
            yield number, row.relation, (slack > 0) - (slack < 0)


def _product(row: Row, w: Sequence[Fraction]) -> Fraction:
    return sum((value * w[j] for j, value in row.terms.items()), Fraction(0))


def _check_size(v: Sequence[Fraction], d: int) -> None:
    if len(v) != d + 1:
        raise CertificateError("A point (w, t) has one coordinate for each variable, and t.")
    if not v[-1] > 0:
        raise CertificateError("The last coordinate t of a point (w, t) is not positive.")


def _check_weakly(rows: Sequence[Row], v: Sequence[Fraction], d: int) -> None:
    """That a point satisfies some rows, all of them taken as weak."""
    _check_size(v, d)
    for row in rows:
        slack = row.sign * (row.right * v[-1] - _product(row, v))
        if slack < 0 or (row.relation == "=" and slack != 0):
            raise CertificateError("The point does not satisfy the rows of the conflict weakly.")


def _check_point(stated: Statement, v: Sequence[Fraction]) -> list[int]:
    """That a point satisfies all rows; the rows that it leaves at zero, equalities apart."""
    _check_size(v, size_of(stated)[1])
    at_zero = []
    for number, relation, sign in _signs(stated, v):
        if sign < 0 or (relation == "=" and sign != 0):
            raise CertificateError(f"The point does not satisfy row {number}.")
        if sign == 0 and relation != "=":
            if relation in ("<", ">"):
                raise CertificateError(f"The point does not satisfy row {number} strictly.")
            at_zero.append(number)
    return at_zero


def _sums(rows: Sequence[Row], weights: Sequence[Fraction], d: int) -> tuple[list[Fraction], Any]:
    """Σ λ_i a_i and Σ λ_i c_i, every row turned so that it asks for at most c."""
    total, right = [Fraction(0)] * d, Fraction(0)
    for row, weight in zip(rows, weights, strict=True):
        factor = row.sign * weight
        right += factor * row.right
        for j, value in row.terms.items():
            total[j] += factor * value
    return total, right


def _balanced(stated: Statement, claim: Multipliers | Radius) -> tuple[list[Row], Fraction]:
    """The rows of a λ ≥ 0 with Σ λ_i a_i = 0, and ⟨c, λ⟩."""
    if len(claim.rows) != len(claim.multipliers) or len({*claim.rows}) != len(claim.rows):
        raise CertificateError("Multipliers and rows do not belong together.")
    rows = _named(stated, claim.rows)
    for number, row, weight in zip(claim.rows, rows, claim.multipliers, strict=True):
        if weight == 0 or (weight < 0 and row.relation != "="):
            raise CertificateError(f"The multiplier of row {number} is not positive.")
    total, right = _sums(rows, claim.multipliers, size_of(stated)[1])
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


def _check_conflict(stated: Statement, proof: SystemCertificate) -> None:
    """That the rows contradict each other, and that no fewer of those to be blamed do."""
    claim = proof.conflict
    if claim is None or len(claim.rows) == 0:
        raise CertificateError("A conflict without rows shows nothing.")
    rows, right = _balanced(stated, claim)
    strict = any(row.relation in ("<", ">") for row in rows)
    if right > 0 or (right == 0 and not strict):
        raise CertificateError("The multipliers do not sum up to a contradiction.")
    if proof.point is not None:
        _check_weakly(rows, proof.point, size_of(stated)[1])
    if not proof.irreducible:
        return
    if proof.kept or proof.witnesses:
        _check_witnesses(stated, proof, claim)
        return
    if right == 0 and proof.point is None:  # e takes no part: a point shows that t > 0 is possible
        raise CertificateError("A point that satisfies the rows weakly is missing.")
    # With e where ⟨c, λ⟩ < 0 the rows have one dependence, and it uses them all: without any one
    # of them they are independent, so some (w, t) makes them all positive.
    if right < 0 and not _independent(rows, size_of(stated)[1]):
        raise CertificateError("The rows of the conflict depend on each other: fewer may do.")
    if right == 0 and not _independent(rows[1:], size_of(stated)[1]):
        raise CertificateError("The rows of the conflict depend on each other: fewer may do.")


def _check_witnesses(stated: Statement, proof: SystemCertificate, claim: Multipliers) -> None:
    """For each row that is blamed, a point that satisfies the others and all kept rows."""
    kept = {*proof.kept}
    blamed = [number for number in claim.rows if number not in kept]
    if len(blamed) != len(proof.witnesses):
        raise CertificateError("Each row that is blamed needs a point without it.")
    _named(stated, proof.kept)
    for left_out, v in zip(blamed, proof.witnesses, strict=True):
        _check_size(v, size_of(stated)[1])
        for number in {*blamed, *kept} - {left_out}:
            (row,) = _named(stated, [number])
            slack = row.sign * (row.right * v[-1] - _product(row, v))
            strict, equal = row.relation in ("<", ">"), row.relation == "="
            if slack < 0 or (equal and slack != 0) or (strict and slack == 0):
                raise CertificateError(f"The point without row {left_out} violates row {number}.")


def _independent(rows: Sequence[Row], d: int) -> bool:
    """Whether the rows [a, c] are linearly independent, shown modulo a prime."""
    return any(_rank(rows, d, prime) == len(rows) for prime in _PRIMES)


def _rank(rows: Sequence[Row], d: int, prime: int) -> int:
    M = np.zeros((len(rows), d + 1), dtype=object)
    for i, row in enumerate(rows):
        values = {**row.terms, d: row.right}
        over = math.lcm(*(value.denominator for value in values.values()))
        for j, value in values.items():
            M[i, j] = value.numerator * (over // value.denominator) % prime
    left, rank = M.astype(np.int64), 0
    for j in range(d + 1):
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
        if rank == len(rows):
            break
    return rank


def _check_radius(stated: Statement, claim: Radius) -> None:
    """That the signed radius is in [least, most]."""
    held = claim.least >= 0.0
    if not (math.isfinite(claim.least) and claim.least <= claim.most):
        raise CertificateError("The bounds of the radius are not numbers in order.")
    v = claim.point
    _check_size(v, size_of(stated)[1])
    w = [value / v[-1] for value in v[:-1]]
    for number in _short_of(stated, w, claim.least, held):
        raise CertificateError(f"The point has less room than {claim.least!r} at row {number}.")
    if claim.most == math.inf:
        return
    rows, right = _balanced(stated, claim)
    lengths = Fraction(0)  # Σ |λ_i|‖a_i‖, rounded to the safe side
    most = Fraction(claim.most)
    for number, row, weight in zip(claim.rows, rows, claim.multipliers, strict=True):
        if not (held and _is_equality(stated, number, row)):
            squared = sum(value * value for value in row.terms.values())
            lengths += abs(weight) * root(Fraction(squared), up=most < 0)
    if not (lengths > 0 and right <= most * lengths):
        raise CertificateError(f"λ does not show a radius of at most {claim.most!r}.")


def _is_equality(stated: Statement, number: int, row: Row) -> bool:
    """Whether a row is an equality, or one of two equal bounds of a variable."""
    n, d = size_of(stated)
    if number < n - 2 * d:
        return row.relation == "="
    other = row_of(stated, number + (d if number < n - d else -d))
    return other is not None and other.right == row.right


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


def _short_of(stated: Statement, w: Sequence[Fraction], least: float, held: bool) -> Iterator[int]:
    """Rows at which the slack of w is below least·‖a‖."""
    if isinstance(stated, Arrays):
        yield from _short_of_arrays(stated, w, least, held)
        return
    for number in range(size_of(stated)[0]):
        row = row_of(stated, number)
        if row is None:
            continue
        slack = row.sign * (row.right - _product(row, w))
        squared = Fraction(sum(value * value for value in row.terms.values()))
        if not _has_room(slack, least, squared, held, _is_equality(stated, number, row)):
            yield number


def _short_of_arrays(
    stated: Arrays, w: Sequence[Fraction], least: float, held: bool
) -> Iterator[int]:
    v = exact.numbers([*w, Fraction(1)])
    wanted = Fraction(least) / v.scale  # in the unit of the floats near v
    near = float(wanted) if abs(wanted) < 2**1000 else math.inf
    for rows, A in stated.slacks():
        with np.errstate(all="ignore"):
            found, bound = exact.product_bounds(A, v.near)
            lengths = np.sqrt(np.square(A[:, :-1]).sum(axis=1))
            slop = np.abs(near) * lengths * (A.shape[1] + 8) * 2.0**-52 + 2.0**-1000
            clear = found - bound > near * lengths + slop
        equal = (rows >= len(stated.c)) & (rows < stated.m)
        equal |= (rows >= stated.m) & (stated.lower == stated.upper)[(rows - stated.m) % stated.d]
        doubtful = np.flatnonzero(equal | ~clear)
        whole, unit = exact.products(A[doubtful], v)
        for k, value in zip(doubtful.tolist(), whole, strict=True):
            slack, number = int(value) * unit, int(rows[k])
            integers, e = exact.integers(A[k, :-1])
            squared = exact.sum_of_squares(integers, Fraction(2) ** e)
            if not _has_room(slack, least, squared, held, bool(equal[k])):
                yield number


def _has_room(slack: Fraction, least: float, squared: Fraction, held: bool, equality: bool) -> bool:
    """Whether slack ≥ least·‖a‖, given ‖a‖²; a row of zeros has room if it holds."""
    if equality and held:
        return slack == 0
    slack = -abs(slack) if equality else slack
    if squared == 0:
        return slack >= 0 or least < 0
    if least >= 0.0:
        return slack >= 0 and slack**2 >= Fraction(least) ** 2 * squared
    return slack >= 0 or slack**2 <= Fraction(least) ** 2 * squared
