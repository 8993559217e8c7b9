"""Arrays in an npz file, under the names of `nv.solve`: A, c, A_eq, c_eq, lower, upper, strict.

A sparse matrix is given by its parts A_data, A_indices, A_indptr and A_shape (CSR), likewise
A_eq. A alone with ``strict`` true is the homogeneous system A w > 0. Floats are the numbers they
are, so 0.1 is the float64 next to one tenth.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from novikoff.data.errors import DataError, listed, quoted
from novikoff.systems.files.builder import ModelBuilder, Place, SystemFile
from novikoff.systems.model import Relation

Array = npt.NDArray[np.generic]
Row = dict[int, Fraction]

_VECTORS: Final = ("c", "c_eq", "lower", "upper", "strict")
_PARTS: Final = ("data", "indices", "indptr", "shape")
_KNOWN: Final = frozenset(
    (*_VECTORS, "A", "A_eq", *(f"{name}_{part}" for name in ("A", "A_eq") for part in _PARTS))
)


def parse_npz(content: bytes, source: str) -> SystemFile:
    """Read the system that the arrays of an npz file describe."""
    arrays = _unpacked(content, source)
    rows, width = _matrix(arrays, "A", source)
    equal, equal_width = _matrix(arrays, "A_eq", source)
    if not width and not equal_width:
        raise DataError(f"{source} needs an array A or A_eq; it has {listed([*arrays]) or 'none'}.")
    if width and equal_width and width != equal_width:
        raise DataError(f"{source}: A has {width} columns, A_eq {equal_width}.")
    width = width or equal_width
    builder = ModelBuilder(source, default_lower=None)
    for j in range(width):
        builder.variable(f"x{j + 1}")
    strict = _strict(arrays, len(rows), source)
    homogeneous = "c" not in arrays and bool(rows)
    if homogeneous and not all(strict):
        raise DataError(f"{source} has no array c: only A w > 0, with strict true, needs none.")
    right = [0] * len(rows) if homogeneous else _vector(arrays, "c", len(rows), source)
    for i, (terms, value, less) in enumerate(zip(rows, right, strict, strict=True)):
        name = builder.name_row("", Place(source, i + 1))
        relation: Relation = ">" if homogeneous else "<" if less else "<="
        if value == math.inf:
            builder.notes.append(f"{name} has the right side inf and is left out")
            continue
        builder.add(name, terms, relation, _finite(value, "c", i, source))
    for i, (terms, value) in enumerate(
        zip(equal, _vector(arrays, "c_eq", len(equal), source), strict=True)
    ):
        builder.add(f"equality {i + 1}", terms, "=", _finite(value, "c_eq", i, source))
    for side in ("lower", "upper"):
        if side in arrays:
            for j, value in enumerate(_vector(arrays, side, width, source)):
                place = Place(source, j + 1)
                if value not in (math.inf, -math.inf):
                    value = _finite(value, side, j, source)
                builder.bound(f"x{j + 1}", "lower" if side == "lower" else "upper", value, place)
    return builder.build("npz")


def _unpacked(content: bytes, source: str) -> dict[str, Array]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except MemoryError:
        raise
    except Exception:  # whatever zipfile and NumPy make of arbitrary bytes
        raise DataError(
            f"{source} is not a sound npz file of numbers: it cannot be unpacked."
        ) from None
    for name, array in arrays.items():
        if name not in _KNOWN:
            raise DataError(f"{source} has an array {quoted(name)}, which is none of a system.")
        if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
            raise DataError(f"{source}, array {quoted(name)} holds {array.dtype}, not numbers.")
    return arrays


def _matrix(arrays: dict[str, Array], name: str, source: str) -> tuple[list[Row], int]:
    """The rows of a matrix, dense or by its parts, and its width; no rows if it is not there."""
    parts = [f"{name}_{part}" for part in _PARTS]
    if name in arrays:
        matrix = arrays[name]
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise DataError(f"{source}, array {name} has the shape {matrix.shape}, not a matrix.")
        rows = [
            {j: _finite(row[j], name, i, source, j) for j in np.flatnonzero(matrix[i]).tolist()}
            for i, row in enumerate(matrix.tolist())
        ]
        return rows, matrix.shape[1]
    if parts[0] not in arrays:
        return [], 0
    missing = [part for part in parts if part not in arrays]
    if missing:
        raise DataError(f"{source} has {parts[0]}, but not {', '.join(missing)}.")
    return _sparse(*(arrays[part].tolist() for part in parts), name, source)


def _sparse(
    data: list[float],
    indices: list[int],
    indptr: list[int],
    shape: list[int],
    name: str,
    source: str,
) -> tuple[list[Row], int]:
    sound = (
        all(isinstance(part, list) for part in (data, indices, indptr, shape))
        and all(isinstance(k, int) for k in (*indices, *indptr, *shape))
        and len(shape) == 2
        and len(indptr) == shape[0] + 1
        and len(data) == len(indices)
        and (indptr[0], indptr[-1]) == (0, len(data))
        and all(a <= b for a, b in pairwise(indptr))
        and all(0 <= j < shape[1] for j in indices)
    )
    if not sound:
        raise DataError(f"{source}: the parts of {name} do not make a CSR matrix.")
    rows: list[Row] = []
    for i, (begin, end) in enumerate(pairwise(indptr)):
        row: Row = {}
        for k in range(begin, end):
            value = _finite(data[k], name, i, source, indices[k])
            row[indices[k]] = row.get(indices[k], Fraction(0)) + value
        rows.append(row)
    return rows, shape[1]


def _strict(arrays: dict[str, Array], n: int, source: str) -> list[bool]:
    mask = arrays.get("strict", np.zeros((), np.bool_))
    if mask.dtype.kind != "b" or mask.shape not in ((), (n,)):
        raise DataError(
            f"{source}, array strict holds {mask.dtype} of shape {mask.shape}; one truth value is "
            f"needed, or {n:,}."
        )
    return np.broadcast_to(mask, (n,)).tolist()


def _vector(arrays: dict[str, Array], name: str, n: int, source: str) -> list[float]:
    if n == 0 and name not in arrays:
        return []
    if name not in arrays or arrays[name].shape != (n,):
        found = f"has the shape {arrays[name].shape}" if name in arrays else "is not there"
        raise DataError(f"{source}, array {name} {found}; {n:,} numbers are needed.")
    return list(_numbers(arrays[name]))


def _numbers(array: Array) -> Iterator[float]:
    yield from array.tolist()


def _finite(value: float, name: str, row: int, source: str, column: int | None = None) -> Fraction:
    if not math.isfinite(value):
        where = f"row {row + 1:,}" if column is None else f"row {row + 1:,}, column {column + 1:,}"
        raise DataError(f"{source}, array {name}, {where}: {value} is not a finite number.")
    return Fraction(value)
