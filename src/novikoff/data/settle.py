"""Missing and infinite numbers: refused with their place, dropped, or replaced by means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from novikoff.data.choices import Floats
from novikoff.data.errors import DataError, argument, counted, place, quoted

_BLOCK = 1 << 17  # numbers looked at in one go: they stay in the cache


@dataclass(frozen=True)
class Columns:
    """Whose values the columns of X are.

    Attributes
    ----------
    owners : sequence of str
        The column of the file that each comes from.
    textual : array of bool
        Whether it was text there.
    """

    owners: Sequence[str]
    textual: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Settled:
    """Features without a gap; ``keep`` tells which rows are left, None if all."""

    X: Floats
    keep: npt.NDArray[np.bool_] | None
    means: npt.NDArray[np.float64] | None
    notes: list[str]
    imputed: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None = None


def settle(
    X: Floats,
    columns: Columns,
    source: str,
    policy: Literal["refuse", "drop", "mean"],
    *,
    means: npt.NDArray[np.float64] | None = None,
    unlabelled: npt.NDArray[np.bool_] | None = None,
    label: str = "",
    trained: bool = False,
    partial: bool = False,
    finite: bool = False,
) -> Settled:
    """Apply a policy to the NaN of X, which may be changed; infinity is always refused.

    Parameters
    ----------
    X : array
        The features; NaN is a missing value.
    columns : Columns
        For messages.
    source : str
        The name of the file.
    policy : {"refuse", "drop", "mean"}
        What becomes of missing values.
    means : array, optional
        Means of an earlier fit; they are used whatever the policy.
    unlabelled : array of bool, optional
        Rows without a label: dropped if the policy says so, else refused.
    label : str
        The name of the label's column.
    trained : bool
        Whether the file is read for a model that exists.
    partial : bool
        Whether this is a piece of a file, of which no row need be left.
    finite : bool
        Whether it is known that X has neither NaN nor infinity.
    """
    if unlabelled is not None and not unlabelled.any():
        unlabelled = None
    if finite and unlabelled is None and means is None and policy != "mean":
        return Settled(X, None, None, [])
    nothing = np.zeros(len(X), np.int64), None
    gaps, empty = nothing if finite else _survey(X, columns, source)
    if unlabelled is not None and policy != "drop":
        row = int(np.argmax(unlabelled)) + 1
        raise DataError(
            f"{place(source, row, label)}: the label is missing; --missing drop leaves out such "
            "rows."
        )
    if empty is not None and not trained:
        name = columns.owners[empty]
        raise DataError(
            f"{source}: column {quoted(name)} has no values at all; leave it out with "
            f"--drop {argument(name)}."
        )
    gappy = gaps > 0
    if means is not None or (policy == "mean" and not trained):
        return _impute(X, columns, source, means, gappy)
    drop = gappy if unlabelled is None else gappy | unlabelled
    if not drop.any():
        return Settled(X, None, None, [])
    if policy != "drop":
        _refuse_missing(X, columns, source, gaps, trained=trained, partial=partial)
    if drop.all() and not partial:
        raise DataError(f"{source} has no row without missing values.")
    note = f"{counted(int(drop.sum()), 'row')} with missing values dropped ({_rows(drop)})"
    return Settled(X[~drop], ~drop, None, [note])


def _blocks(X: Floats) -> Iterator[tuple[int, Floats]]:
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        yield start, X[start : start + step]


def _survey(X: Floats, columns: Columns, source: str) -> tuple[npt.NDArray[np.int64], int | None]:
    """How many numbers each row lacks, and the first column that has none at all."""
    gaps = np.zeros(len(X), np.int64)
    lacking = np.zeros(X.shape[1], np.int64)
    with np.errstate(all="ignore"):
        for start, block in _blocks(X):
            if np.isfinite(block.sum()):  # no NaN and no infinity makes a finite sum
                continue
            infinite = np.isinf(block)
            if infinite.any():
                row, column = (int(k) for k in np.argwhere(infinite)[0])
                raise DataError(
                    f"{place(source, start + row + 1, columns.owners[column])} is infinite or "
                    "beyond the range of float64."
                )
            absent = np.isnan(block)
            gaps[start : start + len(block)] = absent.sum(axis=1)
            lacking += absent.sum(axis=0)
    empty = np.flatnonzero(lacking == len(X))
    return gaps, int(empty[0]) if len(empty) else None


def _impute(
    X: Floats,
    columns: Columns,
    source: str,
    means: npt.NDArray[np.float64] | None,
    gappy: npt.NDArray[np.bool_],
) -> Settled:
    own = _means(X) if means is None else means
    rows = np.flatnonzero(gappy)
    if not len(rows):
        return Settled(X, None, own, [])
    part = X[rows]
    absent = np.isnan(part)
    unknown = absent & (columns.textual | np.isnan(own))
    if unknown.any():
        row, column = (int(k) for k in np.argwhere(unknown)[0])
        raise DataError(
            f"{place(source, int(rows[row]) + 1, columns.owners[column])} is missing, and there "
            "is no mean for it; --missing drop leaves out such rows."
        )
    if not X.flags.writeable:
        X = X.copy()
    X[rows] = np.where(absent, own, part)
    note = f"{counted(int(absent.sum()), 'missing value')} replaced by the mean of the column"
    at, columns_at = np.nonzero(absent)
    return Settled(X, None, own, [note], (rows[at].astype(np.int64), columns_at.astype(np.int64)))


def _means(X: Floats) -> npt.NDArray[np.float64]:
    """The mean of each column without its NaN, without overflow."""
    count = np.zeros(X.shape[1])
    for _, block in _blocks(X):
        count += (~np.isnan(block)).sum(axis=0)
    total = np.zeros(X.shape[1])
    for _, block in _blocks(X):
        total += np.where(np.isnan(block), 0.0, block / np.maximum(count, 1.0)).sum(axis=0)
    return np.where(count > 0, total, np.nan)


def _refuse_missing(
    X: Floats,
    columns: Columns,
    source: str,
    gaps: npt.NDArray[np.int64],
    *,
    trained: bool,
    partial: bool,
) -> None:
    row = int(np.argmax(gaps > 0))
    column = int(np.argmax(np.isnan(X[row])))
    n_rows = int((gaps > 0).sum())
    also = f" (as are values in {n_rows:,} rows)" if n_rows > 1 and not partial else ""
    mean = "" if trained or partial else ", --missing mean puts in the mean of the column"
    raise DataError(
        f"{place(source, row + 1, columns.owners[column])} is missing{also}; --missing drop "
        f"leaves out such rows{mean}."
    )


def _rows(drop: npt.NDArray[np.bool_], limit: int = 10) -> str:
    rows = (np.flatnonzero(drop) + 1).tolist()
    text = ", ".join(str(row) for row in rows[:limit])
    more = f" and {len(rows) - limit:,} more" if len(rows) > limit else ""
    return f"row{'s' if len(rows) > 1 else ''} {text}{more}"
