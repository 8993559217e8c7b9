"""Arrays in an npz file, under the names of `nv.solve`: A, c, A_eq, c_eq, lower, upper, strict.

A sparse matrix is given by its parts A_data, A_indices, A_indptr and A_shape (CSR), likewise
A_eq. A alone, with ``strict`` true, asks for A w > 0. Floats are the numbers they are: 0.1 is the
float64 next to one tenth.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any, Final

import numpy as np

from novikoff.data.errors import DataError, listed, quoted
from novikoff.systems.files.builder import MOST_UNPACKED, SystemFile
from novikoff.systems.statement import stated_arrays

_ARRAYS: Final = ("A", "c", "A_eq", "c_eq", "lower", "upper", "strict")
_PARTS: Final = ("data", "indices", "indptr", "shape")


def parse_npz(content: bytes, source: str) -> SystemFile:
    """Read the system of an npz file: its arrays are arguments of `nv.solve`."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            size = sum(info.file_size for info in packed.infolist())
        if size > max(MOST_UNPACKED, 2 * len(content)):
            raise DataError(f"{source} holds more than 256 MiB: save it unpacked, by np.savez.")
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays: dict[str, Any] = {name: archive[name] for name in archive.files}
    except (DataError, MemoryError):
        raise
    except Exception:  # whatever zipfile and NumPy make of arbitrary bytes
        raise DataError(
            f"{source} is not a sound npz file of numbers: it cannot be unpacked."
        ) from None
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise DataError(f"{source}, array {quoted(name)} holds {array.dtype}, not numbers.")
    for name in ("A", "A_eq"):
        if f"{name}_data" in arrays:
            arrays[name] = _sparse(arrays, name, source)
    unknown = [name for name in arrays if name not in _ARRAYS]
    if unknown or "A" not in arrays:
        what = f"{listed(unknown)} is none of them" if unknown else "there is no A"
        raise DataError(f"{source}: arrays of a system are {', '.join(_ARRAYS)}; {what}.")
    strict = arrays.get("strict")
    if strict is not None and strict.ndim == 0 and strict.dtype.kind == "b":
        arrays["strict"] = bool(strict)
    try:
        return SystemFile(stated_arrays(**{"c": None, **arrays}), "npz")
    except ValueError as error:
        raise DataError(f"{source}: {error}") from None


def _sparse(arrays: dict[str, Any], name: str, source: str) -> Any:
    from scipy.sparse import csr_array

    parts = [arrays.pop(f"{name}_{part}", None) for part in _PARTS]
    try:
        data, indices, indptr, shape = parts
        matrix = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        matrix.check_format(full_check=True)
    except (AttributeError, IndexError, TypeError, ValueError):
        needed = ", ".join(f"{name}_{part}" for part in _PARTS)
        raise DataError(f"{source}: {needed} do not make a CSR matrix.") from None
    return matrix
