"""Columns of a table into one C-ordered matrix, without a second copy of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from novikoff.data.arrow import Cells, Table, Type, arrow
from novikoff.data.choices import Floats
from novikoff.data.errors import DataError
from novikoff.data.features import Feature, Numbers

_BATCH = 1 << 13  # rows at a time: what is read by columns is still in the cache when written


def fill(features: Sequence[Feature], n_rows: int, source: str) -> Floats:
    """Write features into one C-ordered matrix, batch by batch; missing values become NaN."""
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
    if numbers:
        table = pa.table(numbers, names=[str(k) for k in range(len(numbers))])
        _copy_numbers(table, X, positions)
    start = 0
    for feature in features:
        if isinstance(feature, Numbers):
            start += 1
            continue
        block = X[:, start : start + len(feature.levels)]
        block[:] = 0.0
        known = np.flatnonzero(feature.codes >= 0)
        block[known, feature.codes[known]] = 1.0
        block[feature.codes < 0] = np.nan
        start += len(feature.levels)
    return X


def _copy_numbers(table: Table, X: Floats, positions: Sequence[int]) -> None:
    pa = arrow()
    kind = pa.float32() if X.dtype == np.float32 else pa.float64()
    row = 0
    for batch in table.to_batches():
        views = [_viewed(column, kind) for column in batch.columns]
        for first in range(0, batch.num_rows, _BATCH):
            n = min(_BATCH, batch.num_rows - first)
            part = X[row : row + n]
            row += n
            for position, view in zip(positions, views, strict=True):
                part[:, position] = view(first, n)


def _viewed(column: Cells, kind: Type) -> Callable[[int, int], npt.NDArray[np.generic]]:
    """A stretch of a column as floats: where it lies if it is of the kind already."""
    if column.type == kind and column.null_count == 0:
        values = column.to_numpy()
        return lambda first, n: values[first : first + n]
    return lambda first, n: to_floats(column.slice(first, n), kind)


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
