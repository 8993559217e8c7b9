"""The statement of a system of linear inequalities: exact numbers, or arrays of floats.

A text file becomes a `LinearSystem`, in which 0.1 means one tenth. Arrays become `Arrays`, in which
0.1 means the float nearest to one tenth. Solver and checker use the same interface to both, the
base class `Statement`.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from novikoff.errors import CertificateError
from novikoff.proofs import exact
from novikoff.proofs.digest import HashTree, MatrixDigest, RowArrays
from novikoff.proofs.exact import Block, Vector
from novikoff.proofs.proof_data import exact_vector, open_matrix

Relation = Literal["<=", ">=", "=", "<", ">"]


class Constraint(NamedTuple):
    """One row: Σ ``terms[j]``·w_j ``relation`` ``right``. Other variables have coefficient 0."""

    name: str
    terms: dict[int, Fraction]
    relation: Relation
    right: Fraction

    @property
    def sign(self) -> int:
        """−1 for the relations ≥ and >, else 1."""
        return -1 if self.relation in (">=", ">") else 1

    def slack(self, v: Sequence[Fraction]) -> Fraction:
        """The slack of the row at the point w/t, times t, for v = (w, t); negative if it fails."""
        product = sum((value * v[j] for j, value in self.terms.items()), Fraction(0))
        return self.sign * (self.right * v[-1] - product)


class Statement(ABC):
    """The interface of a system to solver and checker.

    The numbers of rows are: 0 to m − 1 for the rows, equalities included; then one number for the
    upper bound of each variable, and one for the lower bound of each variable, whether the variable
    has this bound or not.
    """

    variables: Sequence[str]
    lower: Any  # one bound for each variable; None or −∞ if there is none
    upper: Any
    kept: frozenset[int]  # the numbers of rows that must not be given up

    @property
    @abstractmethod
    def m(self) -> int:
        """The number of rows, bounds not included."""

    @property
    def d(self) -> int:
        """The number of variables."""
        return len(self.lower)

    @property
    def n(self) -> int:
        """One more than the largest possible row number."""
        return self.m + 2 * self.d

    @property
    def first_equality(self) -> int:
        """The row from which equalities are counted; 0 if they are counted among the rows."""
        return 0

    @abstractmethod
    def name(self, number: int) -> str:
        """The name of one of the m rows."""

    @abstractmethod
    def constraint(self, number: int) -> Constraint | None:
        """One of the m rows; None if its right side is infinite."""

    @abstractmethod
    def sha256(self) -> str:
        """The digest of all numbers. Names do not change it."""

    def row(self, number: int) -> Constraint | None:
        """A row or a bound; None if there is no row with this number."""
        if number < self.m:
            return self.constraint(number)
        j, is_lower = (number - self.m) % self.d, number >= self.m + self.d
        bound = (self.lower if is_lower else self.upper)[j]
        if bound is None or abs(bound) == math.inf:
            return None
        name = f"{'lower' if is_lower else 'upper'} bound of {self.variables[j]}"
        relation: Relation = ">=" if is_lower else "<="
        return Constraint(name, {j: Fraction(1)}, relation, Fraction(bound))

    def is_equality(self, number: int) -> bool:
        """Whether a row is an equality, or one of two equal bounds of a variable."""
        row = self.row(number)
        if number < self.m or row is None:
            return row is not None and row.relation == "="
        other = self.row(number + (self.d if number < self.m + self.d else -self.d))
        return other is not None and other.right == row.right

    def close_rows(
        self, v: Sequence[Fraction], least: float = 0.0
    ) -> Iterator[tuple[int, Relation, Fraction]]:
        """The number, relation and exact slack at v = (w, t) of every row that may be too close.

        A row that is not among them is an inequality whose slack is proved to be above
        ``least``·‖a‖.
        """
        return self._slacks(range(self.n), v)

    def _slacks(
        self, numbers: Iterable[int], v: Sequence[Fraction]
    ) -> Iterator[tuple[int, Relation, Fraction]]:
        for number in numbers:
            row = self.row(number)
            if row is not None:
                yield number, row.relation, row.slack(v)


@dataclass(frozen=True)
class LinearSystem(Statement):
    """A system with exact numbers: constraints over named variables, bounds, and an objective.

    A bound that is None does not exist. ``objective`` has the terms as the file states them, to be
    minimised, or maximised if ``maximise`` is True. ``integers`` are the variables that the model
    restricts to whole numbers. Proofs are about the relaxation, without this restriction. If
    ``tolerance`` is not 0, the rows are those of another system, with right sides loosened by it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> row = Constraint("hours", {0: Fraction(1), 1: Fraction(2)}, "<=", Fraction(40))
    >>> LinearSystem(("tea", "bread"), (row,), (Fraction(0),) * 2, (None,) * 2).row(3)
    Constraint(name='lower bound of tea', terms={0: Fraction(1, 1)}, relation='>=', \
right=Fraction(0, 1))
    """

    variables: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    lower: tuple[Fraction | None, ...]
    upper: tuple[Fraction | None, ...]
    objective: dict[int, Fraction] | None = None
    maximise: bool = False
    constant: Fraction = Fraction(0)
    kept: frozenset[int] = frozenset()
    integers: frozenset[int] = frozenset()
    tolerance: Fraction = Fraction(0)

    @property
    def m(self) -> int:
        """The number of rows, bounds not included."""
        return len(self.constraints)

    def name(self, number: int) -> str:
        """The name of a row."""
        return self.constraints[number].name

    def constraint(self, number: int) -> Constraint:
        """A row without coefficients 0."""
        row = self.constraints[number]
        return row._replace(terms={j: value for j, value in row.terms.items() if value})

    def sha256(self) -> str:
        """The digest of all numbers."""
        hashed = hashlib.sha256(f"novikoff system {self.n} {self.d}\n".encode())
        for number in range(self.n):
            row = self.row(number)
            if row is not None:
                terms = " ".join(f"{j}:{row.terms[j]}" for j in sorted(row.terms))
                hashed.update(f"{number} {terms} {row.relation} {row.right}\n".encode())
        return hashed.hexdigest()


@dataclass(frozen=True, eq=False)
class Arrays(Statement):
    """A system of arrays: A·w ≤ c, or A·w < c on strict rows, A_eq·w = c_eq, and bounds.

    If ``greater``, the rows of A mean A·w ≥ c, or A·w > c on strict rows. A right side of +∞ (−∞ if
    ``greater``) means that there is no row; a lower bound of −∞ and an upper bound of +∞ mean that
    there is no bound. NaN, and infinities that no point satisfies, raise ValueError.

    The matrices are copied when they are first needed, and the digest and all rows come from this
    copy. So the numbers that are hashed are the numbers that are checked, even if an array changes
    in the meantime. ``names`` are the names of the rows of A, ``equality_names`` those of A_eq.
    """

    A: Any
    c: Vector
    A_eq: Any
    c_eq: Vector
    lower: Vector
    upper: Vector
    strict: npt.NDArray[np.bool_]
    greater: bool
    variables: Sequence[str]
    names: Sequence[str] | None = None
    kept: frozenset[int] = frozenset()
    equality_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        vectors = {"c": self.c, "c_eq": self.c_eq, "lower": self.lower, "upper": self.upper}
        for name, values in vectors.items():
            reject_where(np.isnan(values), name, "NaN")
        wrong = np.inf if self.greater else -np.inf
        reject_where(self.c == wrong, "c", f"{wrong:+}: no point satisfies that row")
        reject_where(np.isinf(self.c_eq), "c_eq", "infinity: no point satisfies that equality")
        reject_where(self.lower == np.inf, "lower", "+inf: no point is above it")
        reject_where(self.upper == -np.inf, "upper", "-inf: no point is below it")

    @property
    def m(self) -> int:
        """The number of rows, equalities included, bounds not."""
        return len(self.c) + len(self.c_eq)

    @property
    def first_equality(self) -> int:
        """The row from which equalities are counted."""
        return len(self.c)

    def name(self, number: int) -> str:
        """The name of a row or an equality."""
        if number >= len(self.c):
            k = number - len(self.c)
            return f"equality {k}" if self.equality_names is None else self.equality_names[k]
        return f"row {number}" if self.names is None else self.names[number]

    def constraint(self, number: int) -> Constraint | None:
        """A row of A or of A_eq; None if its right side is infinite."""
        equal = number >= len(self.c)
        k = number - len(self.c) if equal else number
        right = float((self.c_eq if equal else self.c)[k])
        if not math.isfinite(right):
            return None
        pairs = self._copies[equal].entries(k)
        terms = {j: Fraction(value) for j, value in pairs if value}
        return Constraint(self.name(number), terms, self._relation(number), Fraction(right))

    def sha256(self) -> str:
        """The digest of all numbers."""
        hashed = hashlib.sha256(b"novikoff system of arrays\n")
        for copy in self._copies:
            hashed.update(f"{copy.root}\n".encode())
        for vector in (self.c, self.c_eq, self.lower, self.upper):
            hashed.update(np.add(vector, 0.0).astype("<f8").tobytes())
        hashed.update(self.strict.astype(np.int8).tobytes() + bytes([self.greater]))
        return hashed.hexdigest()

    def close_rows(
        self, v: Sequence[Fraction], least: float = 0.0
    ) -> Iterator[tuple[int, Relation, Fraction]]:
        """All equalities and bounds, and the rows of A whose slack floats do not prove."""
        at = exact.numbers(v)
        wanted = Fraction(least) / at.scale  # in the unit of the floats near v
        near = float(wanted) if abs(wanted) < 2**1000 else math.inf
        sign = 1.0 if self.greater else -1.0
        d = self.d
        for begin, block in self._copies[0].blocks():
            end = begin + len(block.A)
            numbers = begin + np.flatnonzero(np.isfinite(self.c[begin:end]))
            coefficients = sign * block.spread(block.A)[numbers - begin]
            rows = np.column_stack([coefficients, -sign * self.c[numbers]])  # [−a, c]
            with np.errstate(all="ignore"):
                products, bound = exact.product_bounds(rows, at.near)
                lengths = np.sqrt(np.square(coefficients).sum(axis=1))
                # Squares may underflow: then a length of up to √d·2⁻⁵³⁷ < 2⁻⁵³⁰·d is lost.
                longest = lengths * (d + 9) * 2.0**-52 + d * 2.0**-530
                slop = np.abs(near) * longest + 2.0**-1000
                close = np.flatnonzero(~(products - bound > near * lengths + slop))
            whole, unit = exact.exact_products(rows[close], at)
            for number, value in zip(numbers[close].tolist(), whole, strict=True):
                yield number, self._relation(number), int(value) * unit
        yield from self._slacks(range(len(self.c), self.n), v)

    def _relation(self, number: int) -> Relation:
        if number >= len(self.c):
            return "="
        if self.greater:
            return ">" if self.strict[number] else ">="
        return "<" if self.strict[number] else "<="

    @cached_property
    def _copies(self) -> tuple[_Copy, _Copy]:
        """The copies of A and A_eq."""
        copies = _Copy.of(self.A), _Copy.of(self.A_eq)
        for copy, right in zip(copies, (self.c, self.c_eq), strict=True):
            if (copy.n, copy.d) != (len(right), self.d):
                raise ValueError("its parts do not belong together.")
        return copies


class _Copy(NamedTuple):
    """A copy of a matrix in pieces of ``stride`` rows, and its digest."""

    n: int
    d: int
    stride: int  # the number of rows in a piece; the last piece may be shorter
    pieces: list[RowArrays]
    root: str

    @classmethod
    def of(cls, matrix: Any) -> _Copy:
        """Copy a matrix; ValueError if a number is not finite or is not exact in float64."""
        read_range, n, d = open_matrix(matrix, False)
        tree, pieces = HashTree(d), list[RowArrays]()
        for first in range(0, n, tree.stride):
            last = min(first + tree.stride, n)
            piece, _ = read_range(first, last, np.ones(last - first, dtype=np.int8))
            tree.add_piece(first, piece)
            pieces.append(piece)
        return cls(n, d, tree.stride, pieces, MatrixDigest.of_tree(tree, n).root)

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """The pieces as blocks, each with the number of its first row."""
        for k, piece in enumerate(self.pieces):
            ones = np.ones(len(piece[0]), dtype=np.int8)
            if len(piece) == 1:
                yield k * self.stride, exact.dense_block(piece[0], ones, False)
            else:
                counts, columns, values = piece
                block = exact.sparse_block(counts, columns, values, self.d, ones, False)
                yield k * self.stride, block

    def entries(self, row: int) -> Iterator[tuple[int, float]]:
        """The columns of a row and their entries, some of which may be zero."""
        piece, i = self.pieces[row // self.stride], row % self.stride
        if len(piece) == 1:
            return enumerate(piece[0][i].tolist())
        counts, columns, values = piece
        first = int(counts[:i].sum())
        places = slice(first, first + int(counts[i]))
        return zip(columns[places].tolist(), values[places].tolist(), strict=True)


def reject_where(bad: npt.NDArray[np.bool_], name: str, what: str) -> None:
    """Raise ValueError that names the first entry of an array that is ``bad``, if there is one."""
    if bad.any():
        raise ValueError(f"{name}[{int(np.argmax(bad))}] is {what}.")


def arrays_of(A: Any, c: Any, A_eq: Any, c_eq: Any, lower: Any, upper: Any, strict: Any) -> Arrays:
    """Make the statement of a system that is to be checked; no number is rounded.

    CertificateError if right sides, bounds or shapes are wrong. The matrices are not read yet.
    """
    try:
        check_frame_labels(A, c, A_eq, c_eq, lower=lower, upper=upper)
        if A is None and A_eq is not None:  # there are equalities only
            A, c = np.zeros((0, np.shape(A_eq)[1])), np.zeros(0)
        table = A if hasattr(A, "shape") else exact_vector(A)
        n, d = (int(size) for size in table.shape)
        equal = np.zeros((0, d)) if A_eq is None else A_eq
        equal = equal if hasattr(equal, "shape") else exact_vector(equal)
        low = np.full(d, -np.inf) if lower is None else _exact_copy(lower, d)
        high = np.full(d, np.inf) if upper is None else _exact_copy(upper, d)
        mask = np.full(n, bool(strict)) if np.ndim(strict) == 0 else np.array(strict, dtype=bool)
        right = np.zeros(n) if c is None else _exact_copy(c, n)
        right_eq = np.zeros(0) if c_eq is None else _exact_copy(c_eq, int(equal.shape[0]))
        variables = [f"w[{j}]" for j in range(d)]
        if mask.shape != (n,):
            raise ValueError("its parts do not belong together.")
        arrays = Arrays(table, right, equal, right_eq, low, high, mask, c is None, variables)
    except (ValueError, TypeError, OverflowError) as error:
        raise CertificateError(f"The certificate is for another system: {error}") from None
    return arrays


def check_frame_labels(A: Any, c: Any, A_eq: Any, c_eq: Any, **by_variable: Any) -> None:
    """Raise ValueError unless data frames and series have the labels of A and A_eq, in order."""
    columns = _labels_along(A_eq if A is None else A, "columns")
    by_name = [(name, _labels_along(values, "index")) for name, values in by_variable.items()]
    wanted = [
        ("A_eq", _labels_along(A_eq, "columns"), columns, "the columns of A"),
        ("c", _labels_along(c, "index"), _labels_along(A, "index"), "the rows of A"),
        ("c_eq", _labels_along(c_eq, "index"), _labels_along(A_eq, "index"), "the rows of A_eq"),
        *((name, stated, columns, "the columns of A") for name, stated in by_name),
    ]
    for name, stated, labels, of in wanted:
        if stated is not None and labels is not None and stated != labels:
            raise ValueError(
                f"The labels of {name} are not those of {of}, in the same order: put them in "
                "order, or give an array."
            )


def _labels_along(values: Any, kind: str) -> list[Any] | None:
    labels = getattr(values, kind, None)
    return None if labels is None or callable(labels) else [*labels]


def _exact_copy(values: Any, n: int) -> Vector:
    """A copy of n numbers, or n times a single number; ValueError if one would be rounded."""
    if np.ma.is_masked(values):
        raise ValueError("it is masked in places.")
    # A list becomes objects: NumPy might round its numbers to a common type.
    given = np.array(values) if hasattr(values, "dtype") else np.array(values, dtype=object)
    return np.array(np.broadcast_to(exact_vector(given), (n,)))
