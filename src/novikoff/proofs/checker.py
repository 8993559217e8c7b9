"""The checker: every claim of a certificate, recomputed from the data without rounding.

It imports NumPy, the standard library, `exact` and `digest` only, and has its own way in: numbers
are copied once, range by range, refused if they are not finite, hashed, and shown to the claims.
What is hashed is what is checked, even if the source changes meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.errors import CertificateError
from novikoff.proofs import exact
from novikoff.proofs.digest import HashTree, MatrixDigest, RowArrays
from novikoff.proofs.exact import Block, Numbers, Signs, Vector

if TYPE_CHECKING:
    from novikoff.proofs.certificate import Certificate
    from novikoff.proofs.error_bound import ErrorBound

Indices: TypeAlias = npt.NDArray[np.int64]
Label: TypeAlias = str | int | float | bool | None

_MAX_EXACT = 1 << 53


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
    multipliers: tuple[Fraction, ...]


@dataclass(frozen=True)
class GeometricMargin:
    """Half the distance of the two hulls is in [lo, hi] (C4).

    With m± the least y(⟨w, x⟩ + b) of either class, lo ≤ (m₊ + m₋)/(2‖w‖), whatever the bias b, the
    last of ``w``. With λ ≥ 0 of the same sum s on each class, hi ≥ ‖Σ λ_i y_i x_i‖/(2s).
    """

    lo: float
    hi: float
    w: tuple[Fraction, ...]
    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]


def integer_mistake_bound(radius: float, gamma: float) -> int | None:
    """⌊R²/γ²⌋, exactly: a whole number that mistakes cannot exceed (B1); None if there is none.

    Examples
    --------
    >>> integer_mistake_bound(3.0, 2.0)
    2
    """
    if not (gamma > 0.0 and math.isfinite(radius)):
        return None
    return math.floor((Fraction(radius) / Fraction(gamma)) ** 2)


# The data, read once.


class Reading:
    """One reading of the rows that a proof is about; a check of its claims is a kind of it.

    `look_at` reads rows, and keeps those that were asked for by number. Once all have been read,
    `finish` says if they are not those of the proof, and then `at` gives the rows kept. Rows may be
    read in parts, by several readings that are merged. CertificateError says that data is not as
    the proof has it. Rows with ``others`` of labels, where a proof may leave them aside, have the
    sign 0.
    """

    def __init__(
        self, proof: Certificate | ErrorBound, named: Iterable[int], *, others: bool = False
    ) -> None:
        self.proof, self.d, self._others = proof, proof.d, others
        self.p = proof.d + int(proof.fit_intercept)
        self._named = np.unique(np.fromiter(named, dtype=np.int64))
        if len(self._named) > 0 and not 0 <= self._named[0] <= self._named[-1] < proof.n:
            raise CertificateError("The certificate names a row that is not there.")
        self._kept: dict[int, tuple[Indices, Vector, int]] = {}
        self._tree, self._signs = HashTree(proof.d), HashTree(0)
        self._sides: set[int] = set()
        self._failed: tuple[int, CertificateError] | None = None

    def look_at(self, X: object, y: object, part: slice | None = None) -> None:
        """Read all rows, or those that are a part of all."""
        proof = self.proof
        frames: list[Any] = [side for side in (X, y) if hasattr(side, "iloc")]
        labels = [frame.index for frame in frames]
        if len(labels) == 2 and len({*map(len, labels)}) == 1 and not labels[0].equals(labels[1]):
            raise CertificateError(
                "The index of y is not that of X. Take y.loc[X.index] if labels tell which row is "
                "which, or y.to_numpy() if the order does."
            )
        part = part or slice(0, proof.n)
        try:
            signs = _read_signs(y, proof.positive, proof.negative, self._others)
            read, n, d = source(X, proof.fit_intercept)
        except (ValueError, TypeError, OverflowError) as error:
            raise CertificateError(f"The certificate is for other data: {error}") from None
        if (part.start + n, d) != (part.stop, proof.d) or len(signs) != n:
            raise CertificateError(
                f"The certificate is for {part.stop - part.start} × {proof.d} numbers, the data "
                f"has {n} × {d} and {len(signs)} labels."
            )
        self._sides |= set(np.unique(signs).tolist())
        self._signs.add(part.start, signs)
        first = part.start
        while first < part.stop:
            last = min(part.stop, self._tree.end_of_leaf(first))
            here = slice(first - part.start, last - part.start)
            try:
                piece, block = read(here.start, here.stop, signs[here])
            except (ValueError, TypeError, OverflowError) as error:
                raise CertificateError(f"The certificate is for other data: {error}") from None
            self._tree.add_piece(first, piece)
            low, high = np.searchsorted(self._named, [first, last])
            for row in self._named[low:high].tolist():
                used = np.flatnonzero(block.A[row - first])
                kept = block.columns[used], block.A[row - first, used]
                self._kept[row] = *kept, int(signs[row - part.start])
            try:
                if self._failed is None:
                    self._look_at_rows(first, block)
            except CertificateError as error:
                self._failed = first, error
            first = last

    def _look_at_rows(self, first: int, block: Block) -> None:
        """Take the rows a_i, first and following, into account."""

    def merge(self, other: Self) -> None:
        """Take into account what another reading of the same proof has read."""
        self._kept |= other._kept
        self._sides |= other._sides
        self._tree.merge(other._tree)
        self._signs.merge(other._signs)
        failures = [failed for failed in (self._failed, other._failed) if failed is not None]
        self._failed = min(failures, key=lambda failed: failed[0], default=None)

    def finish(self) -> None:
        """All rows have been read; that they are other data is said before all else."""
        proof = self.proof
        for label, sign in ((proof.positive, 1), (proof.negative, -1)):
            if (label is not None or sign > 0) and sign not in self._sides:
                raise CertificateError(f"The certificate is for other data: no label is {label!r}.")
        if MatrixDigest.of_tree(self._tree, proof.n).signed(self._signs) != proof.sha256:
            raise CertificateError(
                "The certificate is for other data: the rows or labels differ from those it is "
                "about (another SHA-256 digest)."
            )
        if self._failed is not None:
            raise self._failed[1]

    def sign(self, row: int) -> int:
        """The sign of a row that was asked for by number."""
        return self._kept[row][2]

    def at(self, rows: Sequence[int]) -> Block:
        """Rows that were asked for by number."""
        kept = [self._kept[row] for row in rows]
        counts = np.array([len(part[0]) for part in kept], dtype=np.int64)
        columns = np.concatenate([np.empty(0, dtype=np.int64), *(part[0] for part in kept)])
        values = np.concatenate([np.empty(0), *(part[1] for part in kept)])
        ones = np.ones(len(rows), dtype=np.int8)
        return exact.sparse_block(counts, columns, values, self.p, ones, False)


# What reads a range of rows once, as a copy: for the digest, and the signed rows.
_Read: TypeAlias = Callable[[int, int, Signs], tuple[RowArrays, Block]]


def source(X: Any, padded: bool) -> tuple[_Read, int, int]:
    """How to read X, and its shape."""
    exact.check_arithmetic()
    if np.ma.is_masked(X):
        raise ValueError("it is masked in places.")
    sparse = hasattr(X, "tocsr")
    table: Any = X if sparse or isinstance(X, np.ndarray) else _table_of(X)
    if len(table.shape) != 2:
        raise ValueError(f"it has {len(table.shape)} dimension(s), but a table has two.")
    n, d = int(table.shape[0]), int(table.shape[1])
    if sparse:
        return _sparse_source(table, n, d, padded), n, d

    def read(first: int, last: int, signs: Signs) -> tuple[RowArrays, Block]:
        copy = np.array(table[first:last], copy=True, subok=False)
        if copy.shape != (last - first, d):
            raise ValueError("its shape changed while it was read.")
        rows = _as_floats(copy, first)
        for i, j in np.argwhere(~np.isfinite(rows)).tolist():
            raise _not_finite(rows[i, j], first + i, j)
        return (rows,), exact.dense_block(rows, signs, padded)

    return read, n, d


def _not_finite(value: float, row: int, column: int) -> ValueError:
    what = "NaN" if math.isnan(value) else "infinity"
    return ValueError(
        f"it has {what} in row {row}, column {column}, and no certificate is of that."
    )


def _malformed(what: str) -> ValueError:
    return ValueError(f"it is a malformed sparse matrix: {what}.")


def _table_of(X: Any) -> npt.NDArray[Any]:
    """A data frame, whose columns may differ in type, or nested sequences.

    A column of pandas categories stands for one column of 0 and 1 for each that occurs.
    """
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        by_number = hasattr(X, "iloc")
        columns = []
        for j in range(X.shape[1]):
            column = X.iloc[:, j] if by_number else X[:, j]
            values = np.array(column.to_numpy())[:, None]
            if by_number and hasattr(column, "cat"):
                codes = np.array(column.cat.codes)[:, None]
                values = np.where(codes < 0, np.nan, codes == np.unique(codes[codes >= 0]))
            columns.append(_as_floats(values, 0))
        return np.concatenate(columns, axis=1) if columns else np.empty(tuple(X.shape))
    table = np.asarray(X)
    large = table.dtype.kind == "f" and bool((np.abs(table) >= _MAX_EXACT).any())
    if not hasattr(X, "dtype") and (table.dtype.kind in "USO" or large):
        return np.array(X, dtype=object)  # nothing was rounded on the way
    return table


def plain_numbers(values: Any) -> Vector:
    """Numbers that are not of rows, as float64, none of them rounded."""
    return _as_floats(np.atleast_1d(_table_of(values)), 0)


def _as_floats(values: npt.NDArray[Any], first: int) -> Vector:
    """Numbers as float64, none of them rounded."""
    if values.dtype.kind not in "biufO":
        raise ValueError(f"it contains {values.dtype}, not real numbers.")
    values = exact.python_integers(values) if values.dtype.kind == "O" else values
    wide = values.astype(np.float64, copy=False)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        rounded = (values > _MAX_EXACT) | (values < -_MAX_EXACT)
    else:  # text among objects is not equal to a number either
        rounded = (wide != values) & (values == values)
    if np.any(rounded):
        row = first + int(np.argwhere(rounded)[0][0])
        raise ValueError(f"row {row} has something else than a number that float64 can hold.")
    return wide


def _sparse_source(X: Any, n: int, d: int, padded: bool) -> _Read:
    form = getattr(X, "format", "")
    if form == "csr":
        indptr, indices, data = np.array(X.indptr), X.indices, X.data
    else:
        if form == "csc":  # by columns: the numbers of the rows stand for each entry
            ends, rows, data = (np.array(part) for part in (X.indptr, X.indices, X.data))
            _check_ends(ends, d, min(len(rows), len(data)))
            rows, data = rows[: int(ends[-1])], data[: int(ends[-1])]
            indices = np.repeat(np.arange(d), np.diff(ends).astype(np.int64))
        elif form in ("coo", "dok", "lil", "bsr", "dia"):
            entries = X if form == "coo" else X.tocoo()
            rows, indices, data = (
                np.array(part) for part in (entries.row, entries.col, entries.data)
            )
        else:
            raise ValueError(f"it is a sparse matrix of format {form!r}: convert it by tocsr().")
        if not len(rows) == len(indices) == len(data) or rows.dtype.kind not in "iu":
            raise _malformed("its rows are not integers, one for each entry")
        if len(rows) > 0 and not 0 <= int(rows.min()) <= int(rows.max()) < n:
            raise _malformed("a row is out of range")
        order = np.argsort(rows, kind="stable")
        indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=n)))
        indices, data = indices[order], data[order]
    _check_ends(indptr, n, min(len(indices), len(data)))
    if indices.dtype.kind not in "iu":
        raise _malformed("its indices are not integers")

    def read(first: int, last: int, signs: Signs) -> tuple[RowArrays, Block]:
        stretch = slice(int(indptr[first]), int(indptr[last]))
        counts = np.diff(indptr[first : last + 1]).astype(np.int64)
        columns = np.array(indices[stretch]).astype(np.int64)
        values = _as_floats(np.array(data[stretch])[:, None], first)[:, 0]
        if not len(columns) == len(values) == int(counts.sum()):
            raise ValueError("its shape changed while it was read.")
        if len(columns) > 0 and not 0 <= int(columns.min()) <= int(columns.max()) < d:
            raise _malformed("a column is out of range")
        if not np.isfinite(values).all():
            k = int(np.argmin(np.isfinite(values)))
            row = first + int(np.searchsorted(np.cumsum(counts), k, side="right"))
            raise _not_finite(values[k], row, int(columns[k]))
        parts = _in_order(counts, columns, values)
        return parts, exact.sparse_block(*parts, d, signs, padded)

    return read


def _check_ends(indptr: npt.NDArray[Any], n: int, most: int) -> None:
    """Refuse ends of rows, or of columns, that do not rise from 0 within the entries."""
    if indptr.ndim != 1 or indptr.dtype.kind not in "iu" or len(indptr) != n + 1:
        raise _malformed(f"indptr is not {n} + 1 integers")
    if int(indptr[0]) != 0 or (indptr[1:] < indptr[:-1]).any():
        raise _malformed("indptr does not rise from 0")
    if int(indptr[-1]) > most:
        raise _malformed("indptr ends beyond its entries")


def _in_order(counts: Indices, columns: Indices, values: Vector) -> tuple[Indices, Indices, Vector]:
    """Entries of rows by column, those of one place added up exactly."""
    row = np.repeat(np.arange(len(counts)), counts)
    if ((np.diff(columns) > 0) | (np.diff(row) > 0)).all():
        return counts, columns, values
    order = np.lexsort((columns, row))
    row, columns, values = row[order], columns[order], values[order]
    first = np.flatnonzero(np.append(True, (np.diff(columns) != 0) | (np.diff(row) != 0)))
    sums = values[first]
    ends = np.append(first[1:], len(row))
    for k in np.flatnonzero(ends - first > 1).tolist():
        parts = values[first[k] : ends[k]].tolist()
        sums[k] = math.fsum(parts)
        if not math.isfinite(sums[k]) or sum(map(Fraction, parts)) != Fraction(float(sums[k])):
            raise ValueError("entries of one place have a sum that float64 cannot hold.")
    return np.bincount(row[first], minlength=len(counts)), columns[first], sums


def _read_signs(y: Any, positive: Label, negative: Label, others: bool) -> Signs:
    """+1 where the label is ``positive``, −1 where it is ``negative``, or any other if None.

    Labels beside these two are refused, or, where ``others`` may be, 0.
    """
    if y is None or np.ma.is_masked(y):
        raise ValueError("labels are missing.")
    given = y.to_numpy() if hasattr(y, "to_numpy") else y
    labels = np.array(given)
    large = labels.dtype.kind == "f" and bool((np.abs(labels) >= _MAX_EXACT).any())
    if not hasattr(given, "dtype") and (labels.dtype.kind in "US" or large):
        labels = np.array(given, dtype=object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or labels.dtype.kind in "Vc":
        raise ValueError(f"its labels have shape {labels.shape}: one per row is needed.")
    if labels.dtype.kind in "mM":
        if np.isnat(labels).any():
            raise ValueError("a label is missing.")
        labels = labels.astype(str)
    places: dict[Any, int] = {}
    place = [places.setdefault(label, len(places)) for label in labels.tolist()]
    signs = np.full(len(places), -1, dtype=np.int8)
    for label, k in places.items():
        if label is None or label != label:
            raise ValueError("a label is missing.")
        plain = label if isinstance(label, str | int | float | bool) else str(label)
        if plain == positive:
            signs[k] = 1
        elif negative is not None and plain != negative:
            if not others:
                raise ValueError(
                    f"it has the label {label!r} besides {positive!r} and {negative!r}."
                )
            signs[k] = 0
    return np.asarray(signs[np.array(place, dtype=np.int64)])


# The claims.


class Checking(Reading):
    """The check of a certificate, and what all rows say of its weights."""

    proof: Certificate

    def __init__(self, proof: Certificate) -> None:
        claims = [claim for claim in (proof.dependence, proof.contradiction) if claim is not None]
        named = [row for claim in claims for row in claim.named]
        for margin in (proof.margin, proof.geometric_margin):
            named += [] if margin is None else margin.rows
        super().__init__(proof, named)
        gap = proof.geometric_margin
        if gap is not None and not (proof.fit_intercept and proof.kind == "separable"):
            raise CertificateError("Only a separable set with a bias has a gap of two hulls.")
        self.w = _weights(proof.w, self.p)
        self.gap_w = None if gap is None else _weights(gap.w, self.p)
        self.least: dict[int, Fraction | None] = {1: None, -1: None}
        whole = proof.dependence  # on all rows that w leaves at zero, or on p + 1 that span all
        self.whole = None if whole is None or whole.among is not None else whole
        self.left, self.first_left = 0, proof.n  # the rows that w leaves at zero

    # These once there are rows: a text may claim any number of columns.
    @cached_property
    def used(self) -> npt.NDArray[np.bool_]:
        """The columns that are not zero throughout."""
        return np.zeros(self.p, dtype=np.bool_)

    @cached_property
    def squared_length(self) -> Fraction:
        """‖w‖², once for all rows: of a million columns it takes a second."""
        return Fraction(0) if self.w is None else self.w.square_norm()

    @cached_property
    def sums(self) -> list[int]:
        """The sums of the columns, over the rows that w leaves at zero."""
        return [0] * self.p

    def _look_at_rows(self, first: int, block: Block) -> None:
        A, proof = block.A, self.proof
        w = None if self.w is None else block.of(self.w)
        sides = np.zeros(len(A), dtype=np.int8) if w is None else exact.product_signs(A, w)
        if (sides < 0).any():
            row = first + int(np.argmax(sides < 0))
            raise CertificateError(f"Row {row} is on the wrong side: ⟨a, w⟩ < 0.")
        left = np.flatnonzero(sides == 0)
        self.left += len(left)
        self.first_left = min(self.first_left, *(first + left[:1]).tolist(), proof.n)
        self.used[block.columns] |= A.any(axis=0)
        if self.whole is not None:
            sums = exact.column_sums(A[left])
            for j, part in zip(block.columns.tolist(), sums, strict=True):
                self.sums[j] += part
        if proof.margin is not None and w is not None:
            _check_lower(first, A, w, self, proof.margin.lo)
        if proof.radius is not None:
            _check_radius(first, A, proof.radius)
        if self.gap_w is None:
            return
        gap_w = block.of(self.gap_w)
        for side in (1, -1):
            own = A[A[:, -1] == side]  # the last is the padding, which has the sign
            if len(own) > 0:
                self._note(side, exact.least_product(own, gap_w))

    def merge(self, other: Self) -> None:
        """Take into account what another check of the same certificate has seen."""
        super().merge(other)
        self.left += other.left
        self.first_left = min(self.first_left, other.first_left)
        self.used |= other.used
        self.sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        for side, least in other.least.items():
            self._note(side, least)

    def _note(self, side: int, least: Fraction | None) -> None:
        known = self.least[side]
        if least is not None:
            self.least[side] = least if known is None else min(least, known)

    def finish(self) -> None:
        """All rows have been seen: CertificateError says what does not hold."""
        super().finish()
        proof, whole = self.proof, self.whole
        _check_kind(self)
        if whole is not None:
            _check_left(whole, self)
            _check_dependence(whole, self.sums, self)
        spanning = None if whole is not None else proof.dependence
        for claim in dict.fromkeys([proof.contradiction, spanning]):  # once if they are the same
            if claim is not None:
                check_contradiction(claim, self)
        _check_upper(self)
        if proof.geometric_margin is not None:
            _check_gap(proof.geometric_margin, self)


def _weights(w: tuple[Fraction, ...] | None, p: int) -> Numbers | None:
    if w is not None and (len(w) != p or not any(w)):
        raise CertificateError(f"The weights are not {p} numbers that are not all zero.")
    return None if w is None else exact.numbers(w)


def check_contradiction(claim: Dependence, rows: Reading) -> None:
    """No w separates the rows of the claim."""
    if claim.among is None:
        raise CertificateError("A contradiction does not say among which rows it is.")
    block = rows.at(claim.among)
    sums = np.array(exact.column_sums(block.A), dtype=object)
    if len(claim.among) == 0 or len(set(claim.among)) != len(claim.among):
        raise CertificateError("The rows of a dependence must be some, and each once.")
    if not set(claim.rows) <= set(claim.among):
        raise CertificateError("Multipliers and rows of a dependence do not belong together.")
    _check_dependence(claim, block.spread(sums).tolist(), rows)


def _check_left(claim: Dependence, seen: Checking) -> None:
    """That a claim about the rows that w leaves at zero names no others."""
    if seen.w is None or len(claim.rows) == 0:
        return
    block = seen.at(claim.rows)
    if exact.product_signs(block.A, block.of(seen.w)).any():
        raise CertificateError("Multipliers and rows of a dependence do not belong together.")


def _check_kind(seen: Checking) -> None:
    """That the parts present make the kind claimed."""
    proof = seen.proof
    if proof.kind == "separable":
        if seen.left > 0:
            row = seen.first_left
            raise CertificateError(f"Row {row} is not strictly on its side: ⟨a, w⟩ = 0.")
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
    claim, p = proof.dependence, int(seen.used.sum())  # columns that are not zero throughout
    if claim is None or (claim.among is not None and (claim.exact or len(claim.rows) != p)):
        raise CertificateError("The weights λ on the rows that w leaves at zero are missing.")
    if claim.among is not None and proof.kind != "inseparable":
        raise CertificateError("Rows that span everything positively show 'inseparable' only.")
    if seen.left == 0 or (proof.kind == "inseparable") != (seen.left == proof.n):
        raise CertificateError(
            f"{seen.left} of {proof.n} rows are left at zero, which is not {proof.kind}."
        )


def _check_dependence(claim: Dependence, sums: Sequence[int], rows: Reading) -> None:
    """Σ (1 + μ_i) a_i = 0 over rows whose column sums are given, with 1 + μ > 0."""
    if len(claim.rows) != len(claim.multipliers):
        raise CertificateError("Multipliers and rows of a dependence do not belong together.")
    if len(set(claim.rows)) != len(claim.rows):
        raise CertificateError("A row has two multipliers.")
    total = exact.as_fractions(sums)
    B = rows.at(claim.rows)
    if claim.exact:
        low = [i for i, mu in zip(claim.rows, claim.multipliers, strict=True) if mu <= -1]
        if low:
            raise CertificateError(f"The weight λ of row {low[0]} is not positive.")
        if len(claim.rows) > 0:
            whole, unit = exact.combine(B.A, exact.numbers(claim.multipliers))
            for j, value in enumerate(B.spread(whole).tolist()):
                total[j] += value * unit
        if any(total):
            column = next(j for j, value in enumerate(total) if value)
            raise CertificateError(f"Σ λ_i a_i is not zero in column {column}.")
        return
    if claim.among is None:
        raise CertificateError("A solve shows λ on rows that are named only.")
    every = rows.at(claim.among)  # without columns of zeros, which ask for nothing
    right = [-total[j] for j in every.columns.tolist()]
    square = B.spread(B.A)[:, every.columns]
    found = exact.enclose(square.T, right) if len(square) == len(right) else None
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


def _check_lower(first: int, A: Vector, own: Numbers, seen: Checking, lo: float) -> None:
    """⟨a_i, w⟩ ≥ lo·‖w‖ for every row; ``own`` are the weights of its columns."""
    if not 0.0 <= lo < math.inf:
        raise CertificateError("The lower bound of the margin is not a finite number ≥ 0.")
    with np.errstate(all="ignore"):
        norm = exact.square_root_up(seen.squared_length / own.scale**2)
        found, bound = exact.product_bounds(A, own.near)
        doubtful = np.flatnonzero(~(found - bound >= lo * norm * (1.0 + 2.0**-50)))
    if len(doubtful) == 0:
        return
    least = Fraction(lo) ** 2 * seen.squared_length
    low = exact.least_product(A[doubtful], own)
    if low >= 0 and low**2 >= least:
        return
    whole, unit = exact.exact_products(A[doubtful], own)
    for row, value in zip(doubtful, whole, strict=True):
        if value < 0 or (value * unit) ** 2 < least:
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


def _check_upper(rows: Checking) -> None:
    """‖Σ λ_i a_i‖ ≤ hi·Σ λ_i, and the bound on the mistakes."""
    proof, claim = rows.proof, rows.proof.margin
    if claim is not None and not 0.0 <= claim.lo <= claim.hi:
        raise CertificateError("The bounds of the margin are not numbers in order.")
    if claim is not None and claim.hi < math.inf and proof.kind == "separable":
        most = Fraction(claim.hi) * sum(claim.multipliers)
        if not _sum_is_within(most, claim.rows, claim.multipliers, rows, rows.p):
            raise CertificateError(f"λ does not show that the margin is at most {claim.hi!r}.")
    if proof.mistake_bound is not None:
        if claim is None or proof.radius is None or not claim.lo > 0.0:
            raise CertificateError("The bound on the mistakes lacks a margin or a radius.")
        if proof.mistake_bound != integer_mistake_bound(proof.radius, claim.lo):
            raise CertificateError(f"⌊R²/γ²⌋ is not {proof.mistake_bound}.")


def _check_gap(claim: GeometricMargin, rows: Checking) -> None:
    """Half the distance of the hulls is in [lo, hi]."""
    positive, negative = rows.least[1], rows.least[-1]
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
    within = _sum_is_within(most, claim.rows, claim.multipliers, rows, rows.d)
    on_side = [Fraction(0), Fraction(0)]
    for row, weight in zip(claim.rows, claim.multipliers, strict=True):
        on_side[int(rows.sign(row) > 0)] += weight
    if on_side[0] != on_side[1]:
        raise CertificateError("λ has not the same sum on both classes.")
    if not within:
        raise CertificateError(f"λ does not show a geometric margin of at most {claim.hi!r}.")


def _sum_is_within(
    most: Fraction,
    named: Sequence[int],
    weights: Sequence[Fraction],
    rows: Reading,
    columns: int,
) -> bool:
    """Whether ‖Σ λ_i a_i‖ ≤ ``most`` in the first columns, for a λ ≥ 0 that is not zero."""
    if len(named) != len(weights) or not any(weights) or min(weights) < 0:
        raise CertificateError("The weights of the upper bound are not a λ ≥ 0.")
    block, multipliers = rows.at(named), exact.numbers(weights)
    bound = exact.norm_of_sum(block.A[:, block.columns < columns], multipliers)
    if bound < math.inf and Fraction(bound) * multipliers.scale <= most:
        return True
    whole, unit = exact.combine(block.A, multipliers)
    return exact.sum_of_squares(block.spread(whole)[:columns], unit) <= most**2
