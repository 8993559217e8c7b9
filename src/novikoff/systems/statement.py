"""Checks of the arrays with which a user states a system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.core.validation import check_matrix, columns_of
from novikoff.data.messages import did_you_mean
from novikoff.proofs.system_statement import Arrays, LinearSystem, check_frame_labels, reject_where


def keep_rows(stated: LinearSystem | Arrays, names: Iterable[str]) -> LinearSystem | Arrays:
    """The same system, in which the rows with these names may not be blamed for a conflict."""
    known, wanted = [stated.name(k) for k in range(stated.m)], {*names}
    unknown = sorted(wanted - {*known})
    if unknown:
        raise ValueError(
            f"There is no row {unknown[0]!r} to keep; {did_you_mean(unknown[0], known)}"
        )
    kept_rows = frozenset(k for k, name in enumerate(known) if name in wanted and stated.row(k))
    return replace(stated, kept=kept_rows)


def stated_arrays(
    A: Any,
    c: Any,
    A_eq: Any = None,
    c_eq: Any = None,
    lower: Any = None,
    upper: Any = None,
    strict: Any = False,
    names: Sequence[str] | None = None,
    keep: Any = None,
) -> Arrays:
    """Check the arrays that state a system; ValueError says what is wrong with them, and where."""
    check_frame_labels(A, c, A_eq, c_eq, lower=lower, upper=upper)
    if A is None and A_eq is not None:  # there are only equalities
        A, c = np.zeros((0, _checked_matrix(A_eq, "A_eq").shape[1])), np.zeros(0)
    shape: tuple[int, ...] = getattr(A, "shape", ())
    matrix = (
        np.zeros(shape) if len(shape) == 2 and shape[0] == 0 < shape[1] else _checked_matrix(A, "A")
    )
    n, p = matrix.shape
    greater = c is None
    if greater and strict is not True:
        raise ValueError("c is missing: it can be left out only if strict=True asks for A w > 0.")
    right = np.zeros(n) if greater else check_vector(c, n, "c", "row of A")
    if (A_eq is None) != (c_eq is None):
        raise ValueError("A_eq and c_eq belong together: one of them is missing.")
    equal, right_eq = matrix[:0], np.zeros(0)
    if A_eq is not None:
        equal = _checked_matrix(A_eq, "A_eq")
        if equal.shape[1] != p:
            raise ValueError(f"A_eq has {equal.shape[1]} columns, but A has {p}.")
        right_eq = check_vector(c_eq, equal.shape[0], "c_eq", "row of A_eq")
        if isinstance(equal, np.ndarray) != isinstance(matrix, np.ndarray):
            from scipy.sparse import csr_array

            matrix, equal = csr_array(matrix), csr_array(equal)
    low = np.full(p, -np.inf) if lower is None else check_vector(lower, p, "lower", "variable")
    high = np.full(p, np.inf) if upper is None else check_vector(upper, p, "upper", "variable")
    named = hasattr(A, "columns")
    variables = [str(name) if named else f"w[{name}]" for name in columns_of(A, p).names]
    if names is None and hasattr(A, "iloc"):
        names = A.index.tolist()
    if names is not None:
        names = [*map(str, names)]
        if len(names) != n:
            raise ValueError(f"names has {len(names)} entries, but A has {n} rows.")
    mask = _strict_mask(strict, n)
    stated = Arrays(matrix, right, equal, right_eq, low, high, mask, greater, variables, names)
    kept_rows = _kept_rows(keep, [stated.name(i) for i in range(n)], n) if keep is not None else ()
    return replace(stated, kept=frozenset(i for i in kept_rows if right[i] < np.inf))


def _checked_matrix(A: Any, name: str) -> Any:
    """A float64 array or CSR matrix of finite numbers; ValueError says what is wrong."""
    try:
        matrix: Any = check_matrix(A)
    except ValueError as error:
        raise ValueError(str(error).replace("X ", f"{name} ").replace("X.", f"{name}.")) from None
    matrix = matrix.astype(np.float64, copy=False)
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    if not np.isfinite(values).all():
        at = np.argwhere(~np.isfinite(values))[0].tolist()
        if not isinstance(matrix, np.ndarray):
            row = int(np.searchsorted(matrix.indptr, at[0], side="right")) - 1
            at = [row, int(matrix.indices[at[0]])]
        raise ValueError(f"{name} has NaN or infinity in row {at[0]}, column {at[1]}.")
    return matrix


def check_vector(values: Any, n: int, name: str, per: str, *, finite: bool = False) -> Vector:
    """A vector with one number for each row or variable; ValueError says what is wrong.

    Infinite numbers are allowed unless ``finite`` is true; NaN is not.
    """
    one, column = np.ndim(values) == 0, cast(Any, values)
    if hasattr(values, "dtype"):
        column = (values if isinstance(values, np.ndarray) else np.asarray(values)).reshape(-1, 1)
    else:  # convert one by one, because NumPy would round the numbers of a list to floats
        column = [[value] for value in ([values] if one else values)]
    try:
        given: Any = check_matrix(column) if len(column) > 0 else np.zeros((0, 1))
    except (TypeError, ValueError) as error:
        message = str(error).replace("X ", f"{name} ").replace(", column 0", "")
        raise ValueError(
            message if "row" in message else f"{name} must contain only numbers."
        ) from None
    vector = given.astype(np.float64)[:, 0]
    if one:
        vector = np.full(n, vector[0])
    if vector.shape != (n,) or np.ndim(values) > 1:
        raise ValueError(f"{name} has {len(vector)} numbers, but needs {n}: one per {per}.")
    reject_where(np.isnan(vector), name, "NaN")
    reject_where(np.isinf(vector) & finite, name, "infinite: a finite number is needed")
    return vector


def _strict_mask(strict: Any, n: int) -> npt.NDArray[np.bool_]:
    """One truth value for each of n rows."""
    if isinstance(strict, bool | np.bool_):
        return np.full(n, bool(strict))
    mask = np.asarray(strict)
    if mask.dtype != np.bool_ or mask.shape != (n,):
        raise ValueError(f"strict must be True, False, or one of them for each of {n} rows.")
    return mask.copy()


def _kept_rows(keep: Any, names: Sequence[str], n: int) -> frozenset[int]:
    """The numbers of the rows of A that ``keep`` names by number, by name or by a mask."""
    given = np.asarray(keep)
    if given.dtype == np.bool_ and given.shape == (n,):
        return frozenset(np.flatnonzero(given).tolist())
    kept_rows = set[int]()
    for row in given.ravel().tolist():
        numbers = (
            [i for i, name in enumerate(names) if name == row] if isinstance(row, str) else [row]
        )
        if not numbers or type(numbers[0]) is not int or not 0 <= numbers[0] < n:
            hint = f"; {did_you_mean(row, names)}" if isinstance(row, str) else "."
            raise ValueError(f"keep has {row!r}, but A has no such row{hint}")
        kept_rows.update(numbers)
    return frozenset(kept_rows)
