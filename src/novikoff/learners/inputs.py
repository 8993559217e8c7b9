"""From what a user passes to what the core takes: rows, labels, weights, parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from novikoff.core.model import Labels
from novikoff.core.orders import Order
from novikoff.core.problem import Rows
from novikoff.core.rows import Indices, Matrix, SparseMatrix, Vector
from novikoff.core.validation import MAX_EXACT, check_labels, check_matrix, check_same_index
from novikoff.proofs.remote import RemoteRows

MatrixLike: TypeAlias = "npt.ArrayLike | SparseMatrix"
Example: TypeAlias = npt.ArrayLike | Mapping[Hashable, float]
ClassWeight: TypeAlias = Mapping[Hashable, float] | Literal["balanced"] | None
RandomState: TypeAlias = int | np.random.RandomState | None
OrderLike: TypeAlias = str | Sequence[int] | Indices | Order

LARGEST = float(np.finfo(np.float64).max)
_FLOATS = frozenset({float, bool, np.float64, np.float32})  # what float64 holds, whatever it is
_NUMBERS = _FLOATS | {int, np.int64}


class Allowed(NamedTuple):
    """What a parameter must be."""

    holds: Callable[[Any], bool]
    says: str


def is_number(value: Any, kind: type = Real) -> bool:
    """Whether this is a real number, or a whole one with ``kind=Integral``, and no boolean."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def optional(allowed: Allowed) -> Allowed:
    """The same, or None."""
    return Allowed(lambda value: value is None or allowed.holds(value), f"{allowed.says}, or None")


def words(*allowed: str) -> Allowed:
    """One of these."""
    return Allowed(
        lambda value: isinstance(value, str) and value in allowed, " or ".join(map(repr, allowed))
    )


BOOLEAN = Allowed(lambda value: isinstance(value, bool | np.bool_), "True or False")
MARGIN = Allowed(lambda v: is_number(v) and 0 <= v <= LARGEST, "a finite number, not negative")
STEP = Allowed(lambda v: is_number(v) and 0 < v <= LARGEST, "a finite number above 0")
COUNT = Allowed(lambda v: is_number(v, Integral) and v >= 1, "a whole number above 0")
COUNT_OR_NONE = optional(COUNT)
SECONDS = optional(Allowed(lambda v: is_number(v) and v > 0, "a number above 0"))
JOBS = optional(Allowed(lambda v: is_number(v, Integral) and v != 0, "a whole number, but not 0"))
VERBOSE = Allowed(lambda v: isinstance(v, Integral) and int(v) >= 0, "a whole number, not negative")
CLASS_WEIGHT = Allowed(
    lambda value: value is None or isinstance(value, dict) or words("balanced").holds(value),
    "a dict of class → weight, 'balanced' or None",
)
RANDOM_STATE = Allowed(
    lambda value: (
        value is None
        or isinstance(value, np.random.RandomState)
        or (is_number(value, Integral) and 0 <= value < 2**32)
    ),
    "a whole number from 0 to 2**32 − 1, a RandomState or None",
)


def check_parameters(estimator: BaseEstimator, allowed: Mapping[str, Allowed]) -> None:
    """Raise ValueError if a parameter is not what it must be."""
    for name, wanted in allowed.items():
        value = getattr(estimator, name)
        if not wanted.holds(value):
            kind = type(estimator).__name__
            raise ValueError(
                f"The {name!r} parameter of {kind} must be {wanted.says}, not {value!r}."
            )


def check_rows_and_labels(
    estimator: BaseEstimator, X: MatrixLike, y: npt.ArrayLike | None, *, reset: bool
) -> tuple[Matrix, Labels]:
    """X as in `check_rows`, and one label per row."""
    check_same_index(X, y)
    rows = check_rows(estimator, X, y, reset=reset)
    check_labels(y)
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    if len(labels) != rows.shape[0]:
        raise ValueError(f"X has {rows.shape[0]} rows, but y has {len(labels)} labels.")
    return rows, check_labels(labels)


def check_rows(
    estimator: BaseEstimator, X: MatrixLike, *labels: npt.ArrayLike | None, reset: bool
) -> Any:
    """X as `check_matrix` makes it, whose sentences are those of `separate` too.

    scikit-learn then looks at the number and names of the features, and at whether there is a y.
    Finiteness is checked by `pose`.
    """
    rows = check_matrix(X)
    names = list(X.columns) if hasattr(X, "columns") and hasattr(X, "to_numpy") else []
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has two columns named {twice!r}: rename one of them.")
    validate_data(estimator, X, *labels, reset=reset, skip_check_array=True)
    if rows.shape[1] != estimator.n_features_in_:  # categories have become columns of their own
        raise ValueError(
            "X has columns of categories, of which an estimator may see others next time: encode "
            "them first, for instance by scikit-learn's OneHotEncoder."
        )
    return rows


def check_classes(
    estimator: BaseEstimator, X: MatrixLike, y: npt.ArrayLike | None
) -> tuple[Matrix, Labels, Indices]:
    """X as in `check_rows`, the classes, of which there must be two, and each row's."""
    rows, labels = check_rows_and_labels(estimator, X, y, reset=True)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y contains one class only, {classes.tolist()[0]!r}: two are needed.")
    return rows, classes, codes


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


def finite_rows(estimator: BaseEstimator, X: Matrix, fit_intercept: bool) -> Rows:
    """The rows of X; raises ValueError where X is not finite."""
    names = getattr(estimator, "feature_names_in_", None)
    return Rows.of(X, bool(fit_intercept), names=names)


def check_weights(
    sample_weight: npt.ArrayLike | None, class_weight: ClassWeight, classes: Labels, codes: Indices
) -> Vector | None:
    """The factor on each row's steps, or None if it is 1 everywhere."""
    if sample_weight is None and class_weight is None:
        return None
    weights = np.ones(len(codes))
    if sample_weight is not None:
        given = as_floats(sample_weight, "sample_weight")
        if given.shape not in ((), weights.shape):
            raise ValueError(f"sample_weight has shape {given.shape}, but X has {len(codes)} rows.")
        weights *= given
        _check_factors(weights)
        if not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
    if class_weight is not None:
        try:
            by_class = compute_class_weight(class_weight, classes=classes, y=classes[codes])
        except OverflowError:
            by_class = np.full(len(classes), math.inf)
        weights *= by_class[codes]
    _check_factors(weights)
    return weights


def _check_factors(weights: Vector) -> None:
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError("Weights must be finite and not negative.")


def class_factor(weights: ClassWeight, label: Hashable) -> float:
    """The factor on the steps of a class: 1 unless it has a weight."""
    if isinstance(weights, str):
        raise ValueError(
            "class_weight='balanced' needs all rows at once: pass the weights as a dict."
        )
    given = 1.0 if weights is None else weights.get(label, 1.0)
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


def as_floats(values: npt.ArrayLike, name: str) -> Vector:
    """An array of float64, or ValueError where a number is too large for one, or complex."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} contains complex numbers.")
    if array.dtype.kind in "iu" and ((array > MAX_EXACT) | (array < -MAX_EXACT)).any():
        raise ValueError(f"{name} contains integers beyond 2**53, which float64 rounds.")
    try:
        return array.astype(np.float64, copy=False)
    except OverflowError:
        raise ValueError(f"{name} contains a number beyond the range of float64.") from None


def vector_of(x: npt.ArrayLike) -> Vector:
    """One example as floats, finite or not, none of them rounded."""
    if isinstance(x, list | tuple) and _FLOATS.issuperset(map(type, x)):
        return np.array(x, dtype=np.float64)
    array = np.asarray(x)
    if array.ndim != 1 or array.size == 0:  # its shape is looked at later
        return as_floats(x, "x")
    given: Any = array[None] if hasattr(x, "dtype") else [x]
    try:
        row: Any = check_matrix(given)[0]
    except ValueError as error:
        raise ValueError(str(error).replace("X ", "x ").replace("row 0, ", "")) from None
    return np.asarray(row, dtype=np.float64)


def values_of(x: Mapping[Hashable, float]) -> Vector:
    """The values of a dict as floats, finite or not, none of them rounded."""
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
    """Raise ValueError if a value of one example is not a finite number that float64 can hold."""
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
    vector = vector_of(x)
    if not np.isfinite(vector).all():
        column = int(np.argmin(np.isfinite(vector)))
        raise ValueError(f"x contains {vector[column]} in column {column}; it must be finite.")


def check_reference(
    trace: bool | npt.ArrayLike, n_rules: int, n_features: int, fit_intercept: bool
) -> tuple[bool, Vector | None]:
    """Whether a trace is asked for, and the reference w* in place of True, with its bias."""
    if isinstance(trace, bool | np.bool_):
        return bool(trace), None
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
    return True, np.append(reference, 0.0)[: n_features + 1]


def check_remote(
    estimator: BaseEstimator, rows: RemoteRows, plain: Mapping[str, object], *others: object
) -> list[Any]:
    """The labels of rows on a cluster; ValueError if more is asked than is known there.

    ``plain`` are the values that parameters must have, ``others`` what was given beside the rows.
    """
    for name, value in plain.items():
        if getattr(estimator, name) is not value:
            raise ValueError(f"{name} is not known on a cluster: leave it {value!r}.")
    if any(other is not None for other in others):
        raise ValueError("Rows of a cluster have their labels, and nothing besides.")
    if len(rows.labels) < 2:
        raise ValueError(f"All rows have the label {rows.labels[0]!r}: two classes are needed.")
    return rows.labels


def seed_of(random_state: RandomState) -> int:
    """The seed of a fit: an integer as it is, else one drawn from the RandomState.

    `novikoff fit --seed N` and ``random_state=N`` are the same run.
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def threads_of(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` stands for, as joblib says."""
    return int(effective_n_jobs(n_jobs))
