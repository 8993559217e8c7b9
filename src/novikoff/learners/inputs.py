"""From what a user passes to what the core takes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from novikoff.core.problem import Problem, pose
from novikoff.core.rows import Floats, Indices, SparseMatrix, Vector

MatrixLike: TypeAlias = npt.ArrayLike | SparseMatrix
Labels: TypeAlias = npt.NDArray[np.generic]
Example: TypeAlias = npt.ArrayLike | Mapping[Hashable, float]


def check_rows(estimator: BaseEstimator, X: MatrixLike, *, reset: bool) -> Floats | SparseMatrix:
    """X as a C-ordered or CSR matrix of floats; finiteness is checked by `pose`."""
    with _within_float64(X):
        checked: Floats | SparseMatrix = validate_data(estimator, X, reset=reset, **_FORM)
    return checked


def check_rows_and_labels(
    estimator: BaseEstimator, X: MatrixLike, y: npt.ArrayLike | None, *, reset: bool
) -> tuple[Floats | SparseMatrix, Labels]:
    """X as in `check_rows`, and one label per row."""
    with _within_float64(X):
        checked, labels = validate_data(estimator, X, y, reset=reset, **_FORM)
    return checked, labels


def check_classes(
    estimator: BaseEstimator, X: MatrixLike, y: npt.ArrayLike | None
) -> tuple[Floats | SparseMatrix, Labels, Indices]:
    """X as in `check_rows`, the classes, of which there must be two, and each row's."""
    rows, labels = check_rows_and_labels(estimator, X, y, reset=True)
    if _two_integers(labels) is None:
        check_classification_targets(labels)
    classes, codes = numbered(labels)
    if len(classes) < 2:
        raise ValueError(f"y contains one class only, {classes.tolist()[0]!r}: two are needed.")
    return rows, classes, codes


def numbered(labels: Labels) -> tuple[Labels, Indices]:
    """The classes, sorted, and the number of each row's.

    Examples
    --------
    >>> numbered(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    two = _two_integers(labels)
    if two is not None:
        return two, (labels == two[1]).astype(np.int64)
    classes = np.unique(labels)
    # Not by np.unique: what it sorts on the way would be the most memory of a whole fit.
    return classes, np.searchsorted(classes, labels)


def _two_integers(labels: Labels) -> Labels | None:
    """The classes if they are two integers, the case of most fits, without a sort of all labels."""
    if labels.dtype.kind not in "iu":
        return None
    two = np.array([labels.min(), labels.max()], dtype=labels.dtype)
    if two[0] == two[1] or not ((labels == two[0]) | (labels == two[1])).all():
        return None
    return two


_FORM = {
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": (np.float64, np.float32),
    "order": "C",
    "ensure_all_finite": False,
}


@contextmanager
def _within_float64(X: MatrixLike) -> Iterator[None]:
    """Say where X has a Python number that is too large to be converted."""
    try:
        yield
    except OverflowError:
        for i, row in enumerate(np.asarray(X, dtype=object)):
            for j, value in enumerate(np.atleast_1d(row)):
                if not _converts(value):
                    raise ValueError(
                        f"Input X contains a number beyond the range of float64 in row {i}, "
                        f"column {j}: scale the data down."
                    ) from None
        raise


def _converts(value: object) -> bool:
    try:
        float(cast("float", value))
    except OverflowError:
        return False
    return True


def as_floats(values: npt.ArrayLike, name: str) -> Vector:
    """An array of float64, or ValueError where a number is too large for one, or complex."""
    try:
        if np.iscomplexobj(values):
            raise ValueError(f"{name} contains complex numbers.")
        return np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} contains a number beyond the range of float64.") from None


def pose_unsigned(
    estimator: BaseEstimator, X: Floats | SparseMatrix, fit_intercept: bool, threads: int
) -> Problem:
    """The problem with every sign +1."""
    signs = np.ones(X.shape[0], dtype=np.int8)
    names = getattr(estimator, "feature_names_in_", None)
    return pose(X, signs, fit_intercept, names=names, threads=threads)


def check_weights(
    sample_weight: npt.ArrayLike | None,
    class_weight: Mapping[Hashable, float] | str | None,
    X: Floats | SparseMatrix,
    classes: Labels,
    codes: Indices,
    *,
    idle: bool = False,
) -> Vector | None:
    """The factor on each row's steps, or None if it is 1 everywhere.

    With ``idle`` the classes of all rows may have the weight 0; as for scikit-learn, a
    ``sample_weight`` of zeros alone is an error all the same.
    """
    if sample_weight is None and class_weight is None:
        return None
    try:
        weights = _check_sample_weight(
            sample_weight, X, dtype=np.float64, copy=True, ensure_non_negative=True
        )
        if class_weight is not None:
            weights *= compute_class_weight(class_weight, classes=classes, y=classes[codes])[codes]
    except OverflowError:
        raise ValueError("Weights must be within the range of float64.") from None
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError("Weights must be finite and not negative.")
    if not idle and not (weights > 0.0).any():
        raise ValueError("All weights are zero: no row takes part.")
    return weights


def check_start(
    coef: npt.ArrayLike | None,
    intercept: npt.ArrayLike | None,
    n_rules: int,
    n_features: int,
    fit_intercept: bool,
) -> Vector | None:
    """Initial weights as a (p, n_rules) matrix, or None if none are given."""
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


def check_vector(estimator: BaseEstimator, x: npt.ArrayLike) -> Vector:
    """One example as a vector of the right length and finite."""
    vector = as_floats(x, "x")
    wanted = estimator.n_features_in_
    if vector.shape != (wanted,):
        raise ValueError(f"x has shape {vector.shape}, but {wanted} features are expected.")
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad) > 0:
        raise ValueError(f"x contains {vector[bad[0]]} in column {bad[0]}; it must be finite.")
    return vector


def wants_trace(trace: bool | npt.ArrayLike) -> bool:
    """Whether a trace is asked for, with a reference or without."""
    return bool(trace) if isinstance(trace, bool | np.bool_) else True


def check_reference(
    trace: bool | npt.ArrayLike, n_features: int, n_rules: int, fit_intercept: bool
) -> Vector | None:
    """The reference w* that was given in place of ``trace=True``, padded with its bias."""
    if isinstance(trace, bool | np.bool_):
        return None
    reference = as_floats(trace, "The reference for the trace")
    if n_rules > 1:
        raise ValueError("A reference for the trace needs a problem of two classes.")
    if reference.shape not in ((n_features,), (n_features + int(fit_intercept),)):
        raise ValueError(
            f"The reference for the trace has shape {reference.shape}, but {n_features} "
            f"weights are needed, or {n_features + 1} with the bias."
        )
    if not np.isfinite(reference).all() or not reference.any():
        raise ValueError("The reference for the trace must be finite and not zero.")
    return np.append(reference, 0.0)[: n_features + 1]


def code_labels(y: Labels, classes: Labels) -> Indices:
    """The position of every label in ``classes``."""
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    strange = np.flatnonzero(classes[codes] != y)
    if len(strange) > 0:
        raise ValueError(
            f"The label {y.tolist()[strange[0]]!r} in row {strange[0]} is not one of the classes "
            f"{classes.tolist()}."
        )
    return codes
