"""Missing values of a table: refused with their place, dropped, or replaced by means."""

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


class MissingValues:
    """What becomes of missing values, in one piece of a table after the other.

    Each of the ``columns`` of the file becomes one column of X, or one for each of its levels. They
    have the means of a model, and get those of the data if these are asked for. If all rows come in
    one piece, that is the ``whole``. ``imputed`` collects the rows and columns where a mean stands.
    """

    def __init__(self, request: Request, label: str | None, columns: list[Column]) -> None:
        self.source, self.policy = request.source.name, request.options.missing
        self.trained, self.whole = request.recipe is not None, request.one_piece
        self.imputed: list[Imputed] = []
        self._label, self._columns = label or "", columns
        self._kept = self._n_dropped = 0
        self._first_dropped: list[int] = []

    def handle(self, X: Floats, first_row: int, unlabelled: Truths) -> tuple[Floats, Truths]:
        """The rows of X that are left, and which those are; X may be changed.

        Infinity is always refused; rows without a label are dropped if the policy says so, else
        refused. The means of an earlier fit are used unless rows are to be dropped; a column that
        was text has none.
        """
        drop, absent = self.policy == "drop", np.zeros((1, 1), np.bool_)
        with np.errstate(all="ignore"):
            if not np.isfinite(X.sum()):  # no NaN and no infinity makes a finite sum
                infinite, absent = np.isinf(X), np.isnan(X)
                if infinite.any():
                    what = "is infinite or beyond the range of float64"
                    raise DataError(f"{self._first(infinite, first_row)} {what}.")
        if unlabelled.any() and not drop:
            at = place(self.source, first_row + int(np.argmax(unlabelled)) + 1, self._label)
            raise DataError(f"{at}: the label is missing; --missing drop leaves out such rows.")
        empty = absent.all(axis=0)
        if self.whole and not self.trained and empty.any():
            name = self._owner(int(np.argmax(empty)))
            raise DataError(
                f"{self.source}: column {quoted(name)} has no values at all; leave it out with "
                f"--drop {argument(name)}."
            )
        learning = self.policy == "mean" and not self.trained
        if learning:  # all rows are here
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
            mean = ", --missing mean puts in the mean of the column"
            raise DataError(
                f"{self._first(absent, first_row)} is missing{also}; --missing drop leaves out "
                f"such rows{mean if self.whole and not self.trained else ''}."
            )
        dropped = np.flatnonzero(gappy)
        self._kept += len(X) - len(dropped)
        self._n_dropped += len(dropped)
        if len(self._first_dropped) < _ROWS_NAMED:
            self._first_dropped += (dropped[:_ROWS_NAMED] + first_row + 1).tolist()
        return (X[~gappy] if len(dropped) else X), ~gappy

    def notes(self) -> list[str]:
        """How many values were replaced, and which rows dropped."""
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
        """What has replaced missing values in these columns of X."""
        if not self.trained:
            return "the mean of the column"
        means, each = {column.name: column.mean for column in self._columns}, list[str]()
        for column, count in zip(*np.unique(columns, return_counts=True), strict=True):
            name = self._owner(int(column))
            each.append(f"{count:,} in column {quoted(name)} by {means[name]!r}")
        return f"stored means: {', '.join(each)}"

    def _filled(self, X: Floats, absent: Truths, first_row: int) -> Floats:
        """The rows with means for what is absent."""
        own = [np.nan if column.mean is None else column.mean for column in self._columns]
        means = np.repeat(own, self._widths())
        unknown = absent & np.isnan(means)
        if unknown.any():
            raise DataError(
                f"{self._first(unknown, first_row)} is missing, and there is no mean for it; "
                "--missing drop leaves out such rows."
            )
        rows, columns = np.nonzero(absent)
        self.imputed.append((self._kept + rows, columns))
        X = X if X.flags.writeable else X.copy()
        X[rows, columns] = means[columns]
        return X

    def _widths(self) -> list[int]:
        return [1 if column.levels is None else len(column.levels) for column in self._columns]

    def _owner(self, column: int) -> str:
        """The name of the column of the file that a column of X comes from."""
        at = np.searchsorted(np.cumsum(self._widths()), column, side="right")
        return self._columns[int(at)].name

    def _first(self, marks: Truths, first_row: int) -> str:
        """The place of the first mark in a matrix."""
        row, column = (int(k) for k in np.argwhere(marks)[0])
        return place(self.source, first_row + row + 1, self._owner(column))


def _means(X: Floats) -> npt.NDArray[np.float64]:
    """The mean of each column without its NaN, without overflow."""
    count = (~np.isnan(X)).sum(axis=0)
    means = np.nansum(X / np.maximum(count, 1.0), axis=0)
    return np.where(count == 0, np.nan, means)
