"""Missing values of a table: refused with their place, dropped, or replaced by means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from novikoff.data.cells import Truths
from novikoff.data.errors import DataError, argument, counted, place, quoted
from novikoff.data.options import Floats, Imputed
from novikoff.data.reader import Request

_ROWS_NAMED: Final = 10


class MissingValues:
    """What becomes of missing values, in one piece of a table after the other.

    ``owner`` names the column of the file that a column of X comes from. ``means`` are those of a
    model, or of the first piece if they are asked for; NaN stands for none. If all rows come in one
    piece, that is the ``whole``. ``imputed`` collects the rows and columns where a mean stands.
    """

    def __init__(self, request: Request, label: str | None, owner: Callable[[int], str]) -> None:
        self.source, self.policy = request.source.name, request.options.missing
        self.trained, self.whole = request.recipe is not None, request.one_piece
        self.imputed: list[Imputed] = []
        self.means: npt.NDArray[np.float64] | None = None
        self._label, self._owner = label or "", owner
        self._kept = self._n_dropped = 0
        self._first_dropped: list[int] = []

    def handle(
        self, X: Floats, first_row: int, unlabelled: Truths, textual: Truths
    ) -> tuple[Floats, Truths]:
        """The rows of X that are left, and which those are; X may be changed.

        ``textual`` are the columns of 0 and 1 that were text, for which there is no mean.
        Infinity is always refused; rows without a label are dropped if the policy says so, else
        refused. The means of an earlier fit are used unless rows are to be dropped.
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
        if self.policy == "mean" and not self.trained and self.means is None:
            self.means = np.where(textual, np.nan, _means(X))
        if absent.any() and self.means is not None and not drop:
            X = self._filled(X, absent, self.means, first_row)
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
        if len(dropped) == len(X) and self.whole:
            raise DataError(f"{self.source} has no row without missing values.")
        self._kept += len(X) - len(dropped)
        self._n_dropped += len(dropped)
        if len(self._first_dropped) < _ROWS_NAMED:
            self._first_dropped += (dropped[:_ROWS_NAMED] + first_row + 1).tolist()
        return (X[~gappy] if len(dropped) else X), ~gappy

    def notes(self) -> list[str]:
        """How many values were replaced, and which rows dropped."""
        notes, n = list[str](), self._n_dropped
        replaced = sum(len(rows) for rows, _ in self.imputed)
        if replaced:
            notes.append(f"{counted(replaced, 'missing value')} replaced by the mean of the column")
        if n:
            rows = self._first_dropped[:_ROWS_NAMED]
            more = f" and {n - len(rows):,} more" if n > len(rows) else ""
            named = f"row{'s' if n > 1 else ''} {', '.join(map(str, rows))}{more}"
            notes.append(f"{counted(n, 'row')} with missing values dropped ({named})")
        return notes

    def _filled(
        self, X: Floats, absent: Truths, means: npt.NDArray[np.float64], first_row: int
    ) -> Floats:
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

    def _first(self, marks: Truths, first_row: int) -> str:
        """The place of the first mark in a matrix."""
        row, column = (int(k) for k in np.argwhere(marks)[0])
        return place(self.source, first_row + row + 1, self._owner(column))


def _means(X: Floats) -> npt.NDArray[np.float64]:
    """The mean of each column without its NaN, without overflow."""
    count = (~np.isnan(X)).sum(axis=0)
    means = np.nansum(X / np.maximum(count, 1.0), axis=0)
    return np.where(count == 0, np.nan, means)
