"""The tensors of a model file, each taken once, by type and shape."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Indices, Vector
from novikoff.report.model_values import MOST, Flaw

Array: TypeAlias = npt.NDArray[np.generic]
Tensors: TypeAlias = dict[str, Array]


class TensorShelf:
    """The tensors of a file, each taken once, with its type and shape; none may be left.

    Examples
    --------
    >>> shelf = TensorShelf({"weights": np.ones((3, 1))})
    >>> shelf.floats("weights", 3, 2)
    Traceback (most recent call last):
        ...
    novikoff.report.model_values.Flaw: the tensor 'weights' has shape (3, 1), not (3, 2)
    """

    def __init__(self, tensors: Tensors) -> None:
        self._left = dict(tensors)

    def floats(self, name: str, *shape: int | None, finite: bool = True) -> Vector:
        """A float64 tensor; None in the shape stands for any length."""
        array = np.array(self._take(name, ("float64",), shape), dtype=np.float64)
        if finite and not np.isfinite(array).all():
            raise Flaw(f"the tensor {name!r} holds NaN or infinity")
        return array

    def integers(self, name: str, *shape: int | None, below: int = MOST) -> Indices:
        """An int64 tensor of numbers from 0 to ``below`` − 1."""
        array = np.array(self._take(name, ("int64",), shape), dtype=np.int64)
        self._check_range(name, array, below)
        return array

    def counts(self, name: str, length: int | None) -> npt.NDArray[np.int32]:
        """An int32 vector of counts."""
        array = np.array(self._take(name, ("int32",), (length,)), dtype=np.int32)
        self._check_range(name, array, MOST)
        return array

    def pointers(self, name: str, length: int | None, below: int) -> Array:
        """The indices of a sparse matrix: int32 or int64, from 0 to ``below`` − 1."""
        array = np.array(self._take(name, ("int32", "int64"), (length,)))
        self._check_range(name, array, below)
        return array

    def end(self) -> None:
        """Refuse what nobody took."""
        if self._left:
            raise Flaw(f"there is an unknown tensor {min(self._left)!r}")

    def _take(
        self,
        name: str,
        types: tuple[Literal["float64", "int64", "int32"], ...],
        shape: tuple[int | None, ...],
    ) -> Array:
        if name not in self._left:
            raise Flaw(f"there is no tensor {name!r}")
        array = self._left.pop(name)
        if array.dtype.name not in types:
            raise Flaw(f"the tensor {name!r} is of type {array.dtype}, not {types[0]}")
        fits = array.ndim == len(shape) and all(
            want is None or want == have for want, have in zip(shape, array.shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if length is None else str(length) for length in shape)
            raise Flaw(f"the tensor {name!r} has shape {array.shape}, not ({wanted})")
        return array

    def _check_range(self, name: str, array: Array, below: int) -> None:
        numbers = array.astype(np.int64, copy=False)
        if numbers.size > 0 and not 0 <= int(numbers.min()) <= int(numbers.max()) < below:
            raise Flaw(f"the tensor {name!r} holds numbers that are not from 0 to {below - 1}")
