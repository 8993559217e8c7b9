"""The tensors of a model file, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from novikoff.core.rows import Matrix
from novikoff.errors import InvalidJsonError
from novikoff.proofs.strict_json import MAX_COUNT

Array: TypeAlias = npt.NDArray[np.generic]


class Tensors:
    """The tensors of a file; each is taken once, with its type and shape, and none may remain."""

    def __init__(self, tensors: Mapping[str, Array]) -> None:
        self._left = dict(tensors)

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def take(
        self, name: str, kind: str, *shape: int | None, below: int = MAX_COUNT
    ) -> npt.NDArray[Any]:
        """Take a copy of a tensor of type "float64", or of integers from 0 to ``below`` − 1.

        None in the shape stands for any length. InvalidJsonError if there is no such tensor.
        """
        if name not in self._left:
            raise InvalidJsonError(f"there is no tensor {name!r}")
        array = self._left.pop(name)
        if array.dtype.name != kind and (array.dtype.name, kind) != ("int32", "int64"):
            raise InvalidJsonError(f"the tensor {name!r} is of type {array.dtype}, not {kind}")
        pairs = zip(shape, array.shape, strict=False)
        if array.ndim != len(shape) or any(want not in (None, have) for want, have in pairs):
            wanted = ", ".join("any" if length is None else str(length) for length in shape)
            raise InvalidJsonError(f"the tensor {name!r} has shape {array.shape}, not ({wanted})")
        tensor = array.astype(kind)
        if kind == "float64" and not np.isfinite(tensor).all():
            raise InvalidJsonError(f"the tensor {name!r} holds NaN or infinity")
        if kind != "float64" and tensor.size and not 0 <= tensor.min() <= tensor.max() < below:
            raise InvalidJsonError(
                f"the tensor {name!r} holds numbers that are not from 0 to {below - 1}"
            )
        return tensor

    def take_matrix(self, name: str, n_columns: int) -> npt.NDArray[Any] | sp.csr_array:
        """Take a dense matrix, or a CSR matrix from its three tensors."""
        if name in self:
            return self.take(name, "float64", None, n_columns)
        values = self.take(f"{name}.data", "float64", None)
        pointers = self.take(f"{name}.indptr", "int64", None)
        columns = self.take(f"{name}.indices", "int64", len(values), below=max(n_columns, 1))
        ends = (0, len(values)) == (*pointers[:1].tolist(), *pointers[-1:].tolist())
        if not ends or (np.diff(pointers) < 0).any():
            raise InvalidJsonError(
                f"the tensor {name + '.indptr'!r} does not divide the entries into rows"
            )
        index = np.int32 if max(len(values), n_columns) < 2**31 else np.int64
        parts = values, columns.astype(index), pointers.astype(index)
        return sp.csr_array(parts, shape=(len(pointers) - 1, n_columns))

    def rest(self, prefix: str) -> dict[str, Array]:
        """Take all tensors whose name has this prefix, by their names without it."""
        names = [name for name in self._left if name.startswith(prefix)]
        return {name.removeprefix(prefix): self._left.pop(name) for name in names}

    def end(self) -> None:
        """Raise InvalidJsonError if a tensor was not taken."""
        if self._left:
            raise InvalidJsonError(f"there is an unknown tensor {min(self._left)[:80]!r}")


def matrix_tensors(name: str, rows: Matrix) -> dict[str, Array]:
    """Return a dense matrix as one tensor, or a CSR matrix as three (`Tensors.take_matrix`)."""
    if isinstance(rows, np.ndarray):
        return {name: rows}
    return {f"{name}.{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
