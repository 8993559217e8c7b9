"""Class labels: check them, number them, and turn them into signs.

Labels are checked once, where they enter, and coded once: a code is the position of a label among
the sorted distinct labels.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from novikoff.core.schemes import Scheme
from novikoff.core.validation import MAX_EXACT, is_missing, may_be_rounded
from novikoff.errors import DataError
from novikoff.proofs.proof_data import Label as Label

Labels: TypeAlias = npt.NDArray[Any]
# The labels of the positive and the negative side of a rule; None if the negative side is the rest.
Sides: TypeAlias = tuple[Label, Label | None]

_ROWS_AT_ONCE = 1 << 20  # the number of rows whose labels are sorted at the same time


def check_labels(y: object) -> Labels:
    """Check labels, and return them as an array with one label per row.

    A missing label raises DataError, and so does an integer label that float64 cannot represent
    exactly. Dates and times become text.
    """
    if y is None:
        raise DataError("y is missing: every row needs a label.")
    if np.ma.is_masked(y):
        raise DataError("y has masked labels: remove their rows first.")
    values: Any = y.to_numpy() if hasattr(y, "to_numpy") else y
    labels: Labels = np.asarray(values)
    if not hasattr(values, "dtype") and (labels.dtype.kind in "US" or may_be_rounded(labels)):
        labels = np.asarray(values, dtype=object)  # numbers among texts stay numbers
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y has shape {labels.shape}, but one label per row is needed.")
    if labels.dtype.kind in "Vc":
        what = "structured labels" if labels.dtype.kind == "V" else "complex numbers"
        raise DataError(f"y has {what}: labels must be text, real numbers, booleans or dates.")
    _check_labels_are_there(labels)
    return labels.astype(str) if labels.dtype.kind in "mM" else labels


def plain_label(label: Hashable) -> Label:
    """A label as a string, an int, a float or a bool, which JSON can represent."""
    if isinstance(label, np.generic):
        label = label.item()
    return label if isinstance(label, str | int | float | bool) else str(label)


def distinct_labels(labels: Labels) -> list[Hashable]:
    """The distinct labels, sorted; labels that cannot be compared are sorted by their text."""
    values: list[Any] = list(dict.fromkeys(labels.tolist()))
    if len({plain_label(value) for value in values}) < len(values):
        raise DataError(f"y has different labels that look the same: {values[:10]!r}.")
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


class CodedLabels(NamedTuple):
    """The distinct labels, sorted, and for each row the position of its label among them."""

    classes: Labels
    codes: npt.NDArray[np.intp]


def code_labels(labels: Labels) -> CodedLabels:
    """Find the distinct labels, and number the label of each row.

    The result equals the result of `numpy.unique`. NumPy sorts all rows at once, which takes five
    times the memory of the labels. This function sorts a part of the rows at a time.
    """
    if labels.dtype == object or len(labels) <= _ROWS_AT_ONCE:
        values, codes = np.unique(labels, return_inverse=True)
        return CodedLabels(values, codes)
    parts = [labels[k : k + _ROWS_AT_ONCE] for k in range(0, len(labels), _ROWS_AT_ONCE)]
    values = np.unique(np.concatenate([np.unique(part) for part in parts]))
    codes = np.empty(len(labels), np.intp)
    for k, part in enumerate(parts):
        codes[k * _ROWS_AT_ONCE :][: len(part)] = np.searchsorted(values, part)
    return CodedLabels(values, codes)


def signs_of(
    labels: Labels, positive: Label | None, negative: Label | None
) -> npt.NDArray[np.int8]:
    """Return +1 for each row whose label is ``positive``, and −1 for each other row.

    Raises DataError if ``negative`` is given and a row has a third label.
    """
    signs = np.full(len(labels), -1, dtype=np.int8)
    for label in distinct_labels(labels):
        plain = plain_label(label)
        if plain == positive:
            signs[_equal(labels, label)] = 1
        elif negative is not None and plain != negative:
            raise DataError(f"it has the label {label!r} besides {positive!r} and {negative!r}.")
    return signs


def side_labels(scheme: Scheme, classes: Labels, rule: int) -> Sides:
    """Return the labels of the positive and of the negative side of a rule.

    None instead of a negative label stands for all other classes.

    Examples
    --------
    >>> from novikoff.core.schemes import OneVsOne
    >>> side_labels(OneVsOne(3), np.array(["a", "b", "c"]), 1)
    ('c', 'a')
    """
    labels = [plain_label(label) for label in classes.tolist()]
    positive, negative = scheme.side_classes(rule)
    return labels[positive], None if negative is None else labels[negative]


def _equal(labels: Labels, label: Hashable) -> npt.NDArray[np.bool_]:
    if labels.dtype == object:  # NumPy would strip trailing NUL characters of strings
        return np.array([other == label for other in labels.tolist()], dtype=np.bool_)
    return np.asarray(labels == label)


def _check_labels_are_there(labels: Labels) -> None:
    large = infinite = np.zeros(len(labels), dtype=np.bool_)
    if labels.dtype == object:
        values = labels.tolist()
        if {*map(type, values)} <= {str, bool}:
            return
        infinite = np.array([_is_infinite(label) for label in values], dtype=np.bool_)
        missing = np.array([is_missing(label) for label in values], dtype=np.bool_)
        large = np.array([_is_large(label) for label in values], dtype=np.bool_)
    elif labels.dtype.kind in "iu":
        missing, large = large, (labels > MAX_EXACT) | (labels < -MAX_EXACT)
    else:
        missing = np.isnat(labels) if labels.dtype.kind in "mM" else labels != labels
        infinite = np.isinf(labels) if labels.dtype.kind == "f" else infinite
    if missing.any():
        raise DataError(f"y has no label in row {int(np.argmax(missing))}.")
    if infinite.any():
        raise DataError(f"y is infinite in row {int(np.argmax(infinite))}.")
    if large.any():
        row = int(np.argmax(large))
        raise DataError(
            f"y has the label {labels[row]} in row {row}: integer labels beyond 2**53 are not "
            "exact as floats; pass them as strings."
        )


def _is_infinite(label: object) -> bool:
    return isinstance(label, float | np.floating) and math.isinf(label)


def _is_large(label: object) -> bool:
    return isinstance(label, int | np.integer) and abs(int(label)) > MAX_EXACT
