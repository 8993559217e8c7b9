"""Functions for the rows of arrays and frames: count them, find missing values, choose rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Mask
from novikoff.core.validation import is_missing
from novikoff.errors import ArgumentError


def n_rows(values: Any) -> int:
    """The number of rows of an array, a frame, a sparse matrix or a list."""
    if hasattr(values, "shape"):
        return int(values.shape[0]) if len(values.shape) > 0 else 0
    if not hasattr(values, "__len__") or isinstance(values, str | bytes):
        kind = type(values).__name__
        raise TypeError(f"X is {kind}: pass a table, or a model of statsmodels or lifelines.")
    return len(values)


def check_length(name: str, values: Any, n: int) -> None:
    """DataError unless an argument has one entry for each of the n rows of X."""
    if values is None:
        return
    if isinstance(values, str | bytes):
        raise ArgumentError(
            name, f"is the text {values!r}: to name a column, give the frame as data=…"
        )
    shape = np.shape(values) if not hasattr(values, "shape") else tuple(values.shape)
    if len(shape) == 0 or shape[0] != n:
        raise ArgumentError(name, f"has shape {shape}, but X has {n} rows.")


def missing_rows(values: Any, n: int = 0) -> Mask:
    """Return a mask of the rows in which a value is missing; None has no missing values."""
    if values is None:
        return np.zeros(n, dtype=np.bool_)
    if hasattr(values, "tocoo"):
        missing = np.zeros(int(values.shape[0]), dtype=np.bool_)
        entries = values.tocoo()
        missing[entries.coords[0][np.isnan(entries.data)]] = True
        return missing
    if hasattr(values, "isna"):
        missing = np.asarray(values.isna())
    elif hasattr(values, "columns") and hasattr(values, "to_numpy"):
        parts = [missing_rows(values[:, j]) for j in range(values.shape[1])]
        missing = np.stack(parts, axis=1)
    else:
        missing = _missing(np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values))
    return np.asarray(missing.any(axis=1) if missing.ndim == 2 else missing)


def _missing(values: npt.NDArray[Any]) -> Mask:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=np.bool_)
    flat = [is_missing(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=np.bool_).reshape(values.shape)


def rows_of(values: Any, used: Any) -> Any:
    """Some rows of an array, a frame, a series, a list or a sparse matrix."""
    if hasattr(values, "iloc"):
        return values.iloc[used]
    if hasattr(values, "tocsr"):
        return values.tocsr()[used]
    return values[used] if hasattr(values, "shape") else np.asarray(values)[used]
