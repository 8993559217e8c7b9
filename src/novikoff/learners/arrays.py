"""Check the arrays that a user passes to an estimator: rows, labels, sample weights, examples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from novikoff.core.class_labels import Labels, check_labels
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix, SparseMatrix, Vector
from novikoff.core.validation import MAX_EXACT, check_matrix, check_same_index
from novikoff.learners.parameters import LARGEST, ClassWeight
from novikoff.proofs.remote import RemoteRows

MatrixLike: TypeAlias = "npt.ArrayLike | SparseMatrix"
Example: TypeAlias = npt.ArrayLike | Mapping[Hashable, float]

# Types whose values float64 represents exactly, and types whose values it represents up to 2**53.
_FLOATS = frozenset({float, bool, np.float64, np.float32})
_NUMBERS = _FLOATS | {int, np.int64}


def check_rows_and_labels(
    estimator: BaseEstimator, X: MatrixLike, y: npt.ArrayLike | None, *, reset: bool
) -> tuple[Matrix, Labels]:
    """Check X as `check_rows` does, and that y has one label per row."""
    check_same_index(X, y)
    rows = check_rows(estimator, X, y, reset=reset)
    if type(y) is not np.ndarray or y.ndim != 1:
        check_labels(y)  # now, because the next line turns None among strings into "None"
    labels = check_labels(column_or_1d(y, warn=True))
    check_classification_targets(labels)
    if len(labels) != rows.shape[0]:
        raise ValueError(f"X has {rows.shape[0]} rows, but y has {len(labels)} labels.")
    return rows, labels


def check_rows(
    estimator: BaseEstimator, X: MatrixLike, *labels: npt.ArrayLike | None, reset: bool
) -> Any:
    """Check X as `novikoff.separate` does, then compare it with what the estimator has seen.

    scikit-learn compares the number and the names of the features, and requires y. If ``reset``,
    the estimator takes number and names from X. `finite_rows` checks later that all entries are
    finite.
    """
    rows = check_matrix(X)
    names = list(X.columns) if hasattr(X, "columns") and hasattr(X, "to_numpy") else []
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has two columns named {twice!r}: rename one of them.")
    validate_data(estimator, X, *labels, reset=reset, skip_check_array=True)
    if rows.shape[1] != estimator.n_features_in_:  # categories became several columns
        raise ValueError(
            "X has columns of categories. Encode them first, for instance by scikit-learn's "
            "OneHotEncoder, because the X of a later call may have other categories."
        )
    return rows


def finite_rows(estimator: BaseEstimator, X: Matrix, fit_intercept: bool) -> Rows:
    """Return the rows of X; ValueError with row and column if an entry is not finite."""
    names = getattr(estimator, "feature_names_in_", None)
    return Rows.of(X, bool(fit_intercept), names=names)


def codes_among(y: Labels, classes: Labels) -> Indices:
    """Return the position of every label in ``classes``; ValueError for an unknown label."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    unknown = np.flatnonzero(classes[codes] != y)
    if len(unknown) > 0:
        raise ValueError(
            f"The label {y.tolist()[unknown[0]]!r} in row {unknown[0]} is not one of the classes "
            f"{classes.tolist()}."
        )
    return codes


def check_sample_weight(
    sample_weight: npt.ArrayLike | None, class_weight: ClassWeight, classes: Labels, codes: Indices
) -> Vector | None:
    """Return the product of row and class weights for each row, or None if all are 1."""
    if sample_weight is None and class_weight is None:
        return None
    factors = np.ones(len(codes))
    if sample_weight is not None:
        given = as_floats(sample_weight, "sample_weight")
        if given.shape not in ((), factors.shape):
            raise ValueError(f"sample_weight has shape {given.shape}, but X has {len(codes)} rows.")
        factors *= given
        _check_factors(factors)
        if not factors.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
    if class_weight is not None:
        try:
            by_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        except OverflowError:
            by_class = np.full(len(classes), math.inf)
        factors *= by_class[codes]
    _check_factors(factors)
    return factors


def _check_factors(factors: Vector) -> None:
    if not np.isfinite(factors).all() or (factors < 0.0).any():
        raise ValueError("Weights must be finite and not negative.")


def class_factor(class_weight: ClassWeight, label: Hashable) -> float:
    """Return the weight of a class in a stream: 1 unless ``class_weight`` has one."""
    if isinstance(class_weight, str):
        raise ValueError(
            "class_weight='balanced' needs all rows at once: pass the class weights as a dict."
        )
    given = 1.0 if class_weight is None else class_weight.get(label, 1.0)
    try:
        factor = float(given)
    except OverflowError:
        factor = math.inf
    if not 0.0 <= factor < math.inf:
        raise ValueError(
            f"The weight of class {label!r} is {given}: weights must be finite and not negative."
        )
    return factor


def check_start(
    coef: npt.ArrayLike | None,
    intercept: npt.ArrayLike | None,
    n_rules: int,
    n_features: int,
    fit_intercept: bool,
) -> Vector | None:
    """Return the initial weights as an array of shape (p, n_rules), or None if none are given."""
    if coef is None and intercept is None:
        return None
    start = np.zeros((n_features + 1, n_rules))
    if coef is not None:
        start[:-1] = _shaped(coef, (n_rules, n_features), "coef_init").T
    if intercept is not None:
        start[-1] = _shaped(intercept, (n_rules,), "intercept_init")
        if not fit_intercept and start[-1].any():
            raise ValueError("intercept_init must be zero when fit_intercept=False.")
    return start


def _shaped(values: npt.ArrayLike, shape: tuple[int, ...], name: str) -> Vector:
    array = as_floats(values, name)
    single = shape[0] == 1 and array.shape in (shape[1:], ())
    if array.shape != shape and not (single and array.size == int(np.prod(shape))):
        raise ValueError(f"{name} has shape {array.shape}, but {shape} is needed.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite: it contains NaN or infinity.")
    return array.reshape(shape)


def as_floats(values: npt.ArrayLike, name: str) -> Vector:
    """Return an array of float64; ValueError if a number is complex or float64 would round it."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} contains complex numbers.")
    if array.dtype.kind in "iu" and ((array > MAX_EXACT) | (array < -MAX_EXACT)).any():
        raise ValueError(f"{name} contains integers beyond 2**53, which float64 rounds.")
    try:
        return array.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(f"{name} contains a number beyond the range of float64.") from None


def example_vector(x: npt.ArrayLike) -> Vector:
    """Return one example as float64; ValueError if a number would be rounded.

    The numbers may be infinite or NaN.
    """
    if isinstance(x, list | tuple) and _FLOATS.issuperset(map(type, x)):
        return np.array(x, dtype=np.float64)
    array = np.asarray(x)
    if array.ndim != 1 or array.size == 0:  # the caller checks the shape
        return as_floats(x, "x")
    given: Any = array[None] if hasattr(x, "dtype") else [x]
    row: Any = check_matrix(given, name="x", place=lambda _, j: (None, j))[0]
    return np.asarray(row, dtype=np.float64)


def example_values(x: Mapping[Hashable, float]) -> Vector:
    """Return the values of a dict as float64; ValueError if a number would be rounded.

    The numbers may be infinite or NaN.
    """
    try:
        values = np.fromiter(x.values(), np.float64, len(x))
    except (TypeError, ValueError, OverflowError):
        check_example(x)
        raise ValueError("The values of x are not finite numbers.") from None
    kinds = set(map(type, x.values()))
    if kinds <= _FLOATS:
        return values
    if not (kinds <= _NUMBERS and max(map(abs, x.values())) < MAX_EXACT):
        check_example(x)
    return values


def check_example(x: Example) -> None:
    """Raise ValueError if a value of one example is not finite, or if float64 would round it."""
    if isinstance(x, Mapping):
        for feature, value in x.items():
            if not isinstance(value, Real | np.bool_) or not abs(value) <= LARGEST:
                raise ValueError(f"Feature {feature!r} is {value!r}, not a finite number.")
            if float(value) != (int(value) if isinstance(value, np.integer) else value):
                raise ValueError(
                    f"Feature {feature!r} is {value}, which float64 cannot hold exactly: subtract "
                    "a constant from it."
                )
        return
    vector = example_vector(x)
    if not np.isfinite(vector).all():
        column = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"x contains {vector[column]} in column {column}; it must be finite.")


def check_reference(
    trace: bool | npt.ArrayLike, n_rules: int, n_features: int, fit_intercept: bool
) -> tuple[bool, Vector | None]:
    """Return whether to record a trace, and the reference w* with its bias, if there is one."""
    if isinstance(trace, bool | np.bool_):
        return bool(trace), None
    reference = as_floats(trace, "The reference for the trace")
    if n_rules > 1:
        raise ValueError("A reference w* for the trace is possible with two classes only.")
    if reference.shape not in ((n_features,), (n_features + int(fit_intercept),)):
        raise ValueError(
            f"The reference for the trace has shape {reference.shape}, but {n_features} "
            f"weights are needed, or {n_features + 1} with the bias."
        )
    if not np.isfinite(reference).all() or not reference.any():
        raise ValueError("The reference for the trace must be finite and not zero.")
    return True, np.append(reference, 0.0)[: n_features + 1]


def check_remote(
    estimator: BaseEstimator, rows: RemoteRows, plain: Mapping[str, object], *others: object
) -> list[Any]:
    """Return the labels of rows on a cluster; ValueError for arguments that a cluster rejects.

    ``plain`` has names of parameters, each with the only value that it may have on a cluster.
    ``others`` are the other arguments of ``fit``, which must be None.
    """
    for name, value in plain.items():
        if getattr(estimator, name) is not value:
            raise ValueError(f"{name} must be {value!r} for rows on a cluster.")
    if any(other is not None for other in others):
        raise ValueError("Rows on a cluster include their labels: do not pass y or other arrays.")
    if len(rows.labels) < 2:
        raise ValueError(f"All rows have the label {rows.labels[0]!r}: two classes are needed.")
    return rows.labels
