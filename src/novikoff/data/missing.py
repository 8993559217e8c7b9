"""Missing values of a table: an error with their place, rows left out, or means of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Floats, Indices
from novikoff.data.dataset import Imputed
from novikoff.data.messages import argument, place, quoted
from novikoff.data.reader import Request
from novikoff.data.recipe import Column
from novikoff.errors import DataError
from novikoff.sentences import counted

Truths: TypeAlias = npt.NDArray[np.bool_]

_ROWS_NAMED: Final = 10
DROP_ADVICE: Final = "--missing drop leaves out rows with missing values"


class MissingValues:
    """Treats the missing values of one piece of a table after the other.

    Parameters
    ----------
    request : Request
        The source, and the way its missing values are to be treated.
    label : str or None
        The name of the label's column.
    columns : list of Column
        The columns of the file; each is one column of X, or one for each of its levels. They have
        the means of a model. If the means of this file are asked for, they are added here.

    Attributes
    ----------
    whole : bool
        Whether all rows of the file are in one piece.
    imputed : list of pairs of arrays
        Rows and columns of X where a mean replaces a missing value.
    """

    def __init__(self, request: Request, label: str | None, columns: list[Column]) -> None:
        self.source, self.policy = request.source.name, request.options.missing
        self.trained, self.whole = request.recipe is not None, request.one_piece
        self.imputed: list[Imputed] = []
        self._label, self._columns = label or "", columns
        self._kept = self._n_dropped = 0
        self._first_dropped: list[int] = []

    def handle(self, X: Floats, first_row: int, unlabelled: Truths) -> tuple[Floats, Truths]:
        """Return the rows of X that are kept, and which rows they are; X may be changed.

        Infinity is always an error. A row without a label is left out with the policy "drop",
        otherwise it is an error. The means of a model are used unless the policy is "drop"; a
        column of text has no mean.
        """
        drop, absent = self.policy == "drop", np.zeros((1, 1), np.bool_)
        with np.errstate(all="ignore"):
            if not np.isfinite(X.sum()):  # a finite sum has no NaN and no infinity
                infinite, absent = np.isinf(X), np.isnan(X)
                if infinite.any():
                    what = "is infinite or beyond the range of float64"
                    raise DataError(f"{self._first(infinite, first_row)} {what}.")
        if unlabelled.any() and not drop:
            at = place(self.source, first_row + int(np.argmax(unlabelled)) + 1, self._label)
            raise DataError(f"{at}: the label is missing; {DROP_ADVICE}.")
        empty = absent.all(axis=0)
        if self.whole and not self.trained and empty.any():
            name = self._owner(int(np.argmax(empty)))
            raise DataError(
                f"{self.source}: column {quoted(name)} has no values at all; leave it out with "
                f"--drop {argument(name)}."
            )
        learning = self.policy == "mean" and not self.trained
        if learning:  # all rows of the file are in X
            ends = np.cumsum(self._widths())
            for k, mean in enumerate(_means(X)[ends - 1].tolist()):
                if self._columns[k].levels is None:
                    self._columns[k] = replace(self._columns[k], mean=mean)
        replaced = learning or any(column.mean is not None for column in self._columns)
        if absent.any() and replaced and not drop:
            X = self._filled(X, absent, first_row)
            absent = np.zeros((1, 1), np.bool_)
        gappy = unlabelled | absent.any(axis=1)
        if absent.any() and not drop:
            n_rows = int(gappy.sum())
            several = n_rows > 1 and self.whole
            also = f" ({n_rows:,} rows in all have missing values)" if several else ""
            mean = ", --missing mean replaces missing values by the mean of the column"
            mean = mean if self.whole and not self.trained else ""
            raise DataError(
                f"{self._first(absent, first_row)} is missing{also}; {DROP_ADVICE}{mean}."
            )
        dropped = np.flatnonzero(gappy)
        self._kept += len(X) - len(dropped)
        self._n_dropped += len(dropped)
        if len(self._first_dropped) < _ROWS_NAMED:
            self._first_dropped += (dropped[:_ROWS_NAMED] + first_row + 1).tolist()
        return (X[~gappy] if len(dropped) else X), ~gappy

    def notes(self) -> list[str]:
        """Return how many values were replaced, and which rows were left out."""
        notes, n = list[str](), self._n_dropped
        if self.imputed:
            columns = np.concatenate([columns for _, columns in self.imputed])
            values = counted(len(columns), "missing value")
            notes.append(f"{values} replaced by {self._by(columns)}")
        if n:
            rows = self._first_dropped[:_ROWS_NAMED]
            more = f" and {n - len(rows):,} more" if n > len(rows) else ""
            named = f"row{'s' if n > 1 else ''} {', '.join(map(str, rows))}{more}"
            notes.append(f"{counted(n, 'row')} with missing values dropped ({named})")
        return notes

    def _by(self, columns: Indices) -> str:
        """Return by what the missing values of these columns of X were replaced."""
        if not self.trained:
            return "the mean of the column"
        means, each = {column.name: column.mean for column in self._columns}, list[str]()
        for column, count in zip(*np.unique(columns, return_counts=True), strict=True):
            name = self._owner(int(column))
            each.append(f"{count:,} in column {quoted(name)} by {means[name]!r}")
        return f"stored means: {', '.join(each)}"

    def _filled(self, X: Floats, absent: Truths, first_row: int) -> Floats:
        """Return X with means in place of missing values."""
        own = [np.nan if column.mean is None else column.mean for column in self._columns]
        means = np.repeat(own, self._widths())
        unknown = absent & np.isnan(means)
        if unknown.any():
            at = self._first(unknown, first_row)
            raise DataError(f"{at} is missing, and the column has no mean; {DROP_ADVICE}.")
        rows, columns = np.nonzero(absent)
        self.imputed.append((self._kept + rows, columns))
        X = X if X.flags.writeable else X.copy()
        X[rows, columns] = means[columns]
        return X

    def _widths(self) -> list[int]:
        return [1 if column.levels is None else len(column.levels) for column in self._columns]

    def _owner(self, column: int) -> str:
        """Return the name of the file's column that became a column of X."""
        at = np.searchsorted(np.cumsum(self._widths()), column, side="right")
        return self._columns[int(at)].name

    def _first(self, marks: Truths, first_row: int) -> str:
        """Return the place of the first True in a matrix."""
        row, column = (int(k) for k in np.argwhere(marks)[0])
        return place(self.source, first_row + row + 1, self._owner(column))


def _means(X: Floats) -> npt.NDArray[np.float64]:
    """Return the mean of each column, without NaN; the sum does not overflow."""
    count = (~np.isnan(X)).sum(axis=0)
    means = np.nansum(X / np.maximum(count, 1.0), axis=0)
    return np.where(count == 0, np.nan, means)
