"""Checks of the arrays with which a user states a system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from fractions import Fraction
from os import PathLike
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from novikoff.core.rows import Vector
from novikoff.core.validation import check_matrix, columns_of
from novikoff.data.messages import did_you_mean
from novikoff.proofs.system_statement import (
    Arrays,
    Constraint,
    LinearSystem,
    check_frame_labels,
    reject_where,
)
from novikoff.systems.modellers import model_system, package_of
from novikoff.systems.system_model import SystemModel

# The groups of rows that users may name; a name of a row, and a pattern, are the alternatives.
GROUPS: Final = ("rows", "equalities", "bounds", "signs")


def keep_rows(stated: LinearSystem | Arrays, names: Iterable[str]) -> LinearSystem | Arrays:
    """The same system, in which the rows with these names may not be blamed for a conflict.

    See `row_numbers` for the names.
    """
    return replace(stated, kept=row_numbers(stated, names, "keep"))


def row_numbers(stated: LinearSystem | Arrays, chosen: Any, argument: str) -> frozenset[int]:
    """The numbers of the rows and bounds that a user chose.

    Parameters
    ----------
    stated : LinearSystem or Arrays
        The system.
    chosen : mask, row numbers, str or sequence of str
        A mask or numbers choose rows of A. A text is the name of a row, of an equality or of a
        bound ("upper bound of x"), a pattern of names ("law_*"), or a group: "rows" (inequalities),
        "equalities", "bounds", or "signs", the bounds at 0 such as x ≥ 0. A name takes precedence.
    argument : str
        The name of the argument, for errors.

    Returns
    -------
    frozenset of int
        Numbers as in `Statement`. Rows that do not exist, such as absent bounds, are left out.
    """
    n = stated.first_equality if isinstance(stated, Arrays) else stated.m
    given = np.asarray([chosen] if isinstance(chosen, str) else chosen)
    if given.dtype == np.bool_ and given.shape == (n,):
        numbers = set(np.flatnonzero(given).tolist())
    else:
        numbers = set()
        by_name: dict[str, list[int]] = {}
        for number in range(stated.n):
            name = row_name(stated, number)
            if name is not None:
                by_name.setdefault(name, []).append(number)
        for row in given.ravel().tolist() if given.ndim else [given.item()]:
            if isinstance(row, str):
                numbers |= _named_rows(stated, row, by_name, argument)
            elif type(row) is int and 0 <= row < n:
                numbers.add(row)
            else:
                raise ValueError(f"{argument} has {row!r}, but A has no such row.")
    return frozenset(k for k in numbers if row_name(stated, k) is not None)


def row_name(stated: LinearSystem | Arrays, number: int) -> str | None:
    """The name of a row or a bound; None if there is no row with this number."""
    if number < stated.first_equality and isinstance(stated, Arrays):
        return stated.name(number) if np.isfinite(stated.c[number]) else None
    if number < stated.m:
        return stated.name(number)
    row = stated.row(number)
    return None if row is None else row.name


def _named_rows(
    stated: LinearSystem | Arrays, text: str, by_name: dict[str, list[int]], argument: str
) -> set[int]:
    """The rows with this name; otherwise the rows of the group, or those that fit the pattern."""
    if text in by_name:
        return {*by_name[text]}
    everyone = [number for numbers in by_name.values() for number in numbers]
    if text in GROUPS:
        return {number for number in everyone if text in groups_of(stated, number)}
    if any(mark in text for mark in "*?["):
        fitting = {k for name, ks in by_name.items() if fnmatchcase(name, text) for k in ks}
        if fitting:
            return fitting
        raise ValueError(f"{argument} has {text!r}, but no row has a name of this pattern.")
    hint = did_you_mean(text, [*by_name])
    raise ValueError(
        f"{argument} has {text!r}, but there is no such row; {hint} Groups are "
        f"{', '.join(GROUPS)}, and patterns such as law_* are allowed."
    )


def groups_of(stated: LinearSystem | Arrays, number: int) -> tuple[str, ...]:
    """The groups that a row belongs to."""
    if number < stated.m:
        return ("equalities",) if stated.is_equality(number) else ("rows",)
    row = stated.row(number)
    return ("bounds", "signs") if row is not None and row.right == 0 else ("bounds",)


def loosened(stated: LinearSystem | Arrays, tolerance: Fraction) -> LinearSystem:
    """The same system, in which a point may violate each row and each bound by a tolerance.

    An equality becomes two rows with its name.
    """
    rows: list[Constraint] = []
    kept = set[int]()
    for number in range(stated.m):
        row = stated.constraint(number)
        if row is None:
            continue
        for relation in ("<=", ">=") if row.relation == "=" else (row.relation,):
            if number in stated.kept:
                kept.add(len(rows))
            away = -tolerance if relation in (">=", ">") else tolerance
            rows.append(row._replace(relation=relation, right=row.right + away))
    m, p = stated.m, stated.d
    kept |= {k - m + len(rows) for k in stated.kept if k >= m}

    def bounds(first: int, away: Fraction) -> tuple[Fraction | None, ...]:
        stated_bounds = (stated.row(number) for number in range(first, first + p))
        return tuple(None if row is None else row.right + away for row in stated_bounds)

    integers = stated.integers if isinstance(stated, LinearSystem) else frozenset[int]()
    return LinearSystem(
        tuple(map(str, stated.variables)),
        tuple(rows),
        bounds(m + p, -tolerance),
        bounds(m, tolerance),
        kept=frozenset(kept),
        integers=integers,
        tolerance=tolerance,
    )


def stated_system(
    A: Any, c: Any = None, *, keep: Any = None, strict: Any = False, **parts: Any
) -> LinearSystem | Arrays:
    """The statement of arrays, of a `SystemModel`, or of a model of another package.

    The parts are those of `stated_arrays`; a model has its own.
    """
    if isinstance(A, str | PathLike):
        name = str(A)
        raise ValueError(
            f"A is the text {name!r}: if this is a file, give nv.read_system({name!r}) instead."
        )
    if not isinstance(A, SystemModel) and package_of(A) is None:
        stated: LinearSystem | Arrays = stated_arrays(A, c, strict=strict, **parts)
    else:
        named = {"c": c, **parts, "strict": None if strict is False else strict}
        given = [name for name, value in named.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]} cannot be used with a model, which has its own.")
        stated = (A if isinstance(A, SystemModel) else model_system(A)).stated
    return stated if keep is None else replace(stated, kept=row_numbers(stated, keep, "keep"))


def stated_arrays(
    A: Any,
    c: Any,
    A_eq: Any = None,
    c_eq: Any = None,
    lower: Any = None,
    upper: Any = None,
    strict: Any = False,
    names: Sequence[str] | None = None,
    equality_names: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
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
    frame = A if hasattr(A, "columns") or A_eq is None else A_eq
    if variables is None and hasattr(frame, "columns"):
        variables = columns_of(frame, p).names  # type: ignore[assignment]
    elif variables is None:
        variables = [f"w[{name}]" for name in columns_of(A, p).names]
    labels = _checked_names(variables or [], p, "variables", "variables")
    if names is None and hasattr(A, "iloc"):
        names = A.index.tolist()
    if equality_names is None and hasattr(A_eq, "iloc"):
        equality_names = A_eq.index.tolist()
    names = None if names is None else _checked_names(names, n, "names", "rows of A")
    if equality_names is not None:
        m = equal.shape[0]
        equality_names = _checked_names(equality_names, m, "equality_names", "rows of A_eq")
    return Arrays(
        matrix,
        right,
        equal,
        right_eq,
        low,
        high,
        _strict_mask(strict, n),
        greater,
        labels,
        names,
        equality_names=equality_names,
    )


def _checked_names(names: Sequence[Any], n: int, argument: str, of: str) -> list[str]:
    texts = [*map(str, names)]
    if len(texts) != n:
        raise ValueError(f"{argument} has {len(texts)} entries, but there are {n} {of}.")
    return texts


def _checked_matrix(A: Any, name: str) -> Any:
    """A float64 array or CSR matrix of finite numbers; ValueError says what is wrong."""
    matrix: Any = check_matrix(A, name=name)
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
    given: Any = np.zeros((0, 1))
    if len(column) > 0:
        given = check_matrix(column, name=name, place=lambda i, _: (i, None))
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
