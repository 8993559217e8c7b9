"""Columns of a table into one C-ordered matrix, without a second copy of either."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

import numpy as np
import numpy.typing as npt

from novikoff.data.arrow import Cells, Table, Type, arrow
from novikoff.data.choices import Floats
from novikoff.data.errors import DataError
from novikoff.data.features import Feature, Numbers

_BATCH: Final = 1 << 13  # rows at a time, so that what they become is not all there at once
_LARGE: Final = 1 << 18  # numbers that are worth a kernel


def fill(features: Sequence[Feature], n_rows: int, source: str) -> tuple[Floats, float]:
    """Write features into one C-ordered matrix, batch by batch; missing values become NaN.

    With it goes the largest sum of squares of a row: infinite where it is not known, or is.
    """
    pa = arrow()
    width = sum(1 if isinstance(f, Numbers) else len(f.levels) for f in features)
    numbers, positions, start = [], [], 0
    for feature in features:
        if isinstance(feature, Numbers):
            numbers.append(feature.cells)
            positions.append(start)
        start += 1 if isinstance(feature, Numbers) else len(feature.levels)
    single = width == len(numbers) and all(_is_single(cells) for cells in numbers)
    shape = (n_rows, width)
    try:
        X: Floats = np.empty(shape, np.float32) if single else np.empty(shape, np.float64)
    except (MemoryError, ValueError):
        size = n_rows * width * (4 if single else 8) / 2**30
        raise DataError(f"{source} needs {size:,.0f} GiB as a matrix, too much memory.") from None
    largest_sq = inf
    if numbers:
        table = pa.table(numbers, names=[str(k) for k in range(len(numbers))])
        largest_sq = _copy_numbers(table, X, positions)
    start = 0
    for feature in features:
        if isinstance(feature, Numbers):
            start += 1
            continue
        largest_sq = inf
        block = X[:, start : start + len(feature.levels)]
        block[:] = 0.0
        known = np.flatnonzero(feature.codes >= 0)
        block[known, feature.codes[known]] = 1.0
        block[feature.codes < 0] = np.nan
        start += len(feature.levels)
    return X, largest_sq


def _copy_numbers(table: Table, X: Floats, positions: Sequence[int]) -> float:
    """Write columns to their places in X; the largest sum of squares of a row, if it is known."""
    pa, largest_sq = arrow(), 0.0
    kind = pa.float32() if X.dtype == np.float32 else pa.float64()
    row = 0
    for batch in table.to_batches():
        part = X[row : row + batch.num_rows]
        row += batch.num_rows
        plain: dict[int, npt.NDArray[np.generic]] = {}
        for position, column in zip(positions, batch.columns, strict=True):
            if column.type == kind and column.null_count == 0:
                plain[position] = column.to_numpy()
                continue
            for first in range(0, len(part), _BATCH):
                some = column.slice(first, _BATCH)
                part[first : first + _BATCH, position] = to_floats(some, kind)
        found = _write(plain, part)
        largest_sq = max(largest_sq, found if len(plain) == len(positions) else inf)
    return largest_sq


def _write(columns: dict[int, npt.NDArray[np.generic]], X: Floats) -> float:
    """Write columns that are of the type of X to their places, where they lie."""
    if len(X) * len(columns) >= _LARGE:
        from novikoff.data.fill_kernel import interleave

        addresses = [column.__array_interface__["data"][0] for column in columns.values()]
        return interleave(np.array(addresses, np.uint64), np.array(list(columns), np.uint64), X)
    for position, column in columns.items():
        X[:, position] = column
    return inf


def to_floats(column: Cells, kind: Type) -> Floats:
    """A column of numbers or truth values as floats, with NaN where they are missing."""
    pc, types = arrow("pyarrow.compute"), arrow("pyarrow.types")
    if types.is_boolean(column.type):
        column = pc.cast(column, arrow().uint8())
    floats: Floats = pc.cast(column, kind, safe=False).to_numpy(zero_copy_only=False)
    return floats


def _is_single(cells: Cells) -> bool:
    types = arrow("pyarrow.types")
    return bool(types.is_float32(cells.type) or types.is_float16(cells.type))
