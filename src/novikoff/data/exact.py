"""Numbers that float64 cannot hold: refused with their place, never rounded in silence.

Decimal text is rounded to the nearest double, as everyone expects of it. An integer of 64 bits
or a long double is a number already: if it changes on its way into the matrix, two values that
differ may become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from novikoff.data.arrow import Cells, arrow
from novikoff.data.errors import DataError, place

_BLOCK = 1 << 16
_EXACT = np.uint64(1 << 53)
_ONE = np.uint64(1)


def are_exact(values: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Which numbers float64 holds exactly; infinity and what becomes infinite count as held.

    Examples
    --------
    >>> are_exact(np.array([2**53, 2**53 + 1, 2**62, -(2**63)])).tolist()
    [True, False, True, True]
    """
    if values.dtype.kind in "iu":
        if values.dtype.itemsize < 8:
            return np.ones(values.shape, np.bool_)
        sizes = values.astype(np.uint64)  # modulo 2⁶⁴
        if values.dtype.kind == "i":
            sizes = np.where(values.astype(np.int64) < 0, ~sizes + _ONE, sizes)
        if not len(sizes) or sizes.max() <= _EXACT:
            return np.ones(values.shape, np.bool_)
        # Without its trailing zeros, what is held has no more than 53 bits.
        lowest = np.maximum(sizes & (~sizes + _ONE), _ONE)
        held: npt.NDArray[np.bool_] = sizes // lowest < _EXACT
        return held
    if values.dtype.kind != "f" or values.dtype.itemsize <= 8:
        return np.ones(values.shape, np.bool_)
    with np.errstate(over="ignore"):
        floats = values.astype(np.float64)
    same: npt.NDArray[np.bool_] = (floats == values) | ~np.isfinite(floats)
    return same


def check_cells(cells: Cells, source: str, name: str) -> None:
    """Raise DataError if a column has an integer that float64 cannot hold."""
    pa, pc = arrow(), arrow("pyarrow.compute")
    if cells.type not in (pa.int64(), pa.uint64()):
        return
    row = 0
    for chunk in cells.chunks:
        values = pc.fill_null(chunk, 0).to_numpy(zero_copy_only=False)
        held = are_exact(values)
        if not held.all():
            at = int(np.argmin(held))
            _refuse(source, row + at + 1, name, str(values[at]))
        row += len(chunk)


def check_matrix(
    array: npt.NDArray[np.generic], columns: Sequence[int], source: str, names: Sequence[str]
) -> None:
    """Raise DataError if some columns of a matrix have a number that float64 cannot hold."""
    if array.dtype.itemsize < 8 or array.dtype.kind == "b" or array.dtype == np.float64:
        return
    step = max(1, _BLOCK // array.shape[1])
    for start in range(0, len(array), step):
        held = are_exact(array[start : start + step][:, columns])
        if not held.all():
            row, column = (int(k) for k in np.argwhere(~held)[0])
            value = array[start + row, columns[column]]
            _refuse(source, start + row + 1, names[column], str(value))


def _refuse(source: str, row: int, name: str, value: str) -> NoReturn:
    raise DataError(
        f"{place(source, row, name)} holds {value}, which float64 cannot hold exactly; leave the "
        "column out, or store it as numbers that are rounded or smaller."
    )
