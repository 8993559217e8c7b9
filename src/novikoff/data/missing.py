"""Missing and infinite numbers: refused with their place, dropped, or replaced by means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, argument, counted, place, quoted
from novikoff.data.options import Floats, Indices

_NUMBERS_AT_ONCE: Final = 1 << 17  # they stay in the cache
_ROWS_NAMED: Final = 10


@dataclass
class MissingValues:
    """The policy on missing values, applied to the pieces of a source one after the other.

    ``owners`` are the columns of the file that the columns of X come from, ``textual`` those that
    were text there. ``means`` of an earlier fit are used whatever the policy; ``trained`` says that
    a model exists, ``whole`` that there is one piece only, without which there are no means.
    """

    source: str
    label: str
    policy: Literal["refuse", "drop", "mean"]
    owners: Sequence[str]
    textual: npt.NDArray[np.bool_]
    means: npt.NDArray[np.float64] | None = None
    trained: bool = False
    whole: bool = False
    dropped: int = 0
    imputed: list[tuple[Indices, Indices]] = field(default_factory=list)
    _first_dropped: list[int] = field(default_factory=list)
    _kept: int = 0

    def apply(
        self, X: Floats, first_row: int, unlabelled: npt.NDArray[np.bool_] | None = None
    ) -> tuple[Floats, npt.NDArray[np.bool_] | None]:
        """The rows of X that are left, and which those are (None if all); X may be changed.

        ``first_row`` rows came before. Infinity is always refused; rows without a label are
        dropped if the policy says so, else refused.
        """
        gaps, empty = self._survey(X, first_row)
        if unlabelled is not None and not unlabelled.any():
            unlabelled = None
        if unlabelled is not None and self.policy != "drop":
            row = first_row + int(np.argmax(unlabelled)) + 1
            raise DataError(
                f"{place(self.source, row, self.label)}: the label is missing; --missing drop "
                "leaves out such rows."
            )
        if empty is not None and self.whole and not self.trained:
            name = self.owners[empty]
            raise DataError(
                f"{self.source}: column {quoted(name)} has no values at all; leave it out with "
                f"--drop {argument(name)}."
            )
        gappy = gaps > 0
        if self.means is not None or (self.policy == "mean" and not self.trained):
            X = self._impute(X, first_row, gappy)
            gappy = np.zeros(len(X), np.bool_)
        drop = gappy if unlabelled is None else gappy | unlabelled
        if drop.any():
            if self.policy != "drop":
                self._refuse(X, first_row, gaps)
            if drop.all() and self.whole:
                raise DataError(f"{self.source} has no row without missing values.")
            self.dropped += int(drop.sum())
            if len(self._first_dropped) <= _ROWS_NAMED:
                self._first_dropped += (np.flatnonzero(drop) + first_row + 1).tolist()
            self._kept += len(X) - int(drop.sum())
            return X[~drop], ~drop
        self._kept += len(X)
        return X, None

    def notes(self) -> list[str]:
        """What was done, in short sentences."""
        notes = []
        replaced = sum(len(rows) for rows, _ in self.imputed)
        if replaced:
            notes.append(f"{counted(replaced, 'missing value')} replaced by the mean of the column")
        if self.dropped:
            rows = self._first_dropped[:_ROWS_NAMED]
            more = f" and {self.dropped - len(rows):,} more" if self.dropped > len(rows) else ""
            named = f"row{'s' if self.dropped > 1 else ''} {', '.join(map(str, rows))}{more}"
            notes.append(f"{counted(self.dropped, 'row')} with missing values dropped ({named})")
        return notes

    def _survey(self, X: Floats, first_row: int) -> tuple[Indices, int | None]:
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
                    at = place(self.source, first_row + start + row + 1, self.owners[column])
                    raise DataError(f"{at} is infinite or beyond the range of float64.")
                absent = np.isnan(block)
                gaps[start : start + len(block)] = absent.sum(axis=1)
                lacking += absent.sum(axis=0)
        empty = np.flatnonzero(lacking == len(X))
        return gaps, int(empty[0]) if len(empty) and len(X) else None

    def _impute(self, X: Floats, first_row: int, gappy: npt.NDArray[np.bool_]) -> Floats:
        if self.means is None:
            self.means = _means(X)
        rows = np.flatnonzero(gappy)
        if not len(rows):
            return X
        part = X[rows]
        absent = np.isnan(part)
        unknown = absent & (self.textual | np.isnan(self.means))
        if unknown.any():
            row, column = (int(k) for k in np.argwhere(unknown)[0])
            at = place(self.source, first_row + int(rows[row]) + 1, self.owners[column])
            raise DataError(
                f"{at} is missing, and there is no mean for it; --missing drop leaves out such "
                "rows."
            )
        if not X.flags.writeable:
            X = X.copy()
        X[rows] = np.where(absent, self.means, part)
        at_rows, at_columns = np.nonzero(absent)
        self.imputed.append((self._kept + rows[at_rows], at_columns.astype(np.int64)))
        return X

    def _refuse(self, X: Floats, first_row: int, gaps: Indices) -> None:
        row = int(np.argmax(gaps > 0))
        column = int(np.argmax(np.isnan(X[row])))
        n_rows = int((gaps > 0).sum())
        also = f" (as are values in {n_rows:,} rows)" if n_rows > 1 and self.whole else ""
        mean = ", --missing mean puts in the mean of the column"
        raise DataError(
            f"{place(self.source, first_row + row + 1, self.owners[column])} is missing{also}; "
            f"--missing drop leaves out such rows{'' if self.trained or not self.whole else mean}."
        )


def _blocks(X: Floats) -> Iterator[tuple[int, Floats]]:
    step = max(1, _NUMBERS_AT_ONCE // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        yield start, X[start : start + step]


def _means(X: Floats) -> npt.NDArray[np.float64]:
    """The mean of each column without its NaN, without overflow."""
    count = np.zeros(X.shape[1])
    for _, block in _blocks(X):
        count += (~np.isnan(block)).sum(axis=0)
    total = np.zeros(X.shape[1])
    for _, block in _blocks(X):
        total += np.where(np.isnan(block), 0.0, block / np.maximum(count, 1.0)).sum(axis=0)
    return np.where(count > 0, total, np.nan)
