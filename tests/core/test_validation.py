"""Checks of input: nothing is guessed, rounded or wrapped, and malformed data is rejected."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import patch

import formulaic
import numpy as np
import pandas as pd
import patsy
import polars as pl
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.core.class_labels import check_labels, code_labels
from novikoff.core.validation import check_matrix
from tests.cases import case_named


def malformed(**arrays: Any) -> sp.csr_array:
    """A CSR matrix of three rows and columns, whose arrays are set without SciPy's checks."""
    X = sp.csr_array(np.eye(3))
    for name, array in arrays.items():
        setattr(X, name, np.array(array))
    return X


MALFORMED = {
    "indptr falls": (malformed(indptr=[0, 5, 1, 3]), "does not rise"),
    "indptr begins late": (malformed(indptr=[1, 2, 2, 3]), "does not rise"),
    "indptr ends beyond": (malformed(indptr=[0, 1, 2, 9]), "beyond its entries"),
    "indptr short": (malformed(indptr=[0, 3]), "2 entries for 3 rows|3 \\+ 1 integers"),
    "indptr of floats": (malformed(indptr=[0.0, 1.0, 2.0, 3.0]), "integers"),
    "index too large": (malformed(indices=[0, 1, 7]), "not below 3|out of range"),
    "index negative": (malformed(indices=[0, -1, 2]), "not below 3|out of range"),
    "data short": (malformed(data=[1.0]), "beyond its entries"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_sparse_matrices_are_rejected_by_both_interfaces(name: str) -> None:
    X, message = MALFORMED[name]
    with pytest.raises(ValueError, match=message):
        check_matrix(X)
    proof = nv.separate(np.eye(3), [0, 1, 1]).certificate
    assert proof is not None
    with pytest.raises(nv.CertificateError, match=message):
        proof.verify(X, [0, 1, 1])


def test_a_malformed_coo_matrix_is_rejected() -> None:
    X = sp.coo_array(np.eye(3))
    X.coords = (np.array([0, 1, 9]), np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="row 9 is not below 3"):
        check_matrix(X)


@pytest.mark.parametrize(
    ("values", "total"),
    [
        (np.array([True, True]), 2.0),
        (np.array([100, 100], dtype=np.int8), 200.0),
        (np.array([200, 200], dtype=np.uint8), 400.0),
        (np.array([2**30, 2**30], dtype=np.int32), 2.0**31),
        (np.array([0.1, 0.2], dtype=np.float32), float(np.float32(0.1)) + float(np.float32(0.2))),
    ],
)
@pytest.mark.parametrize("form", ["coo", "csr", "csc"])
def test_double_entries_are_added_up_exactly(values: Any, total: float, form: str) -> None:
    zeros = np.zeros(2, dtype=np.int64)
    coo = sp.coo_array((values, (zeros, zeros)), shape=(2, 1))
    X: Any = coo
    if form == "csr":
        X = sp.csr_array((values, zeros, np.array([0, 2, 2])), shape=(2, 1))
    elif form == "csc":
        X = sp.csc_array((values, zeros, np.array([0, 2])), shape=(2, 1))
    checked: Any = check_matrix(X)
    assert checked.toarray().tolist() == [[total], [0.0]]
    verdict = nv.separate(X, [1, 0])
    assert verdict.certificate is not None
    verdict.certificate.verify(X, [1, 0])
    verdict.certificate.verify([[total], [0.0]], [1, 0])


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8, np.int16, np.uint64])
def test_small_types_never_wrap(kind: type) -> None:
    X: Any = np.array([[1, 0], [0, 1]]).astype(kind)
    for given in (X, sp.csr_array(X), sp.csc_array(X)):
        with case_named(type(given).__name__):
            assert check_matrix(given).dtype == np.float64
            assert nv.separate(given, [1, 1], fit_intercept=False).kind == "separable"


def test_large_integers_are_rejected_with_their_place() -> None:
    X = np.zeros((3, 2), dtype=np.int64)
    X[2, 1] = -(2**53) - 1
    for given in (X, sp.csr_array(X), sp.csc_array(X), X.tolist(), pd.DataFrame(X)):
        with case_named(type(given).__name__), pytest.raises(ValueError, match="row 2, column 1"):
            check_matrix(given)
    with pytest.raises(ValueError, match="cannot hold exactly: subtract a constant"):
        check_matrix(X)
    X[2, 1] = 2**53 + 2  # exact as float64, but it may be the rounding of a different integer
    with pytest.raises(ValueError, match="beyond 2⁵³, where float64 rounds integers: subtract"):
        check_matrix(X)
    X[2, 1] = 2**53
    assert check_matrix(X)[2, 1] == 2.0**53
    with pytest.raises(ValueError, match="row 1, column 0"):
        check_matrix([[0.5], [2**53 + 1]])  # NumPy would round it
    with pytest.raises(ValueError, match="row 1, column 0"):
        check_matrix(pd.DataFrame({"a": [0, 2**53 + 1], "b": [0.5, 1.5]}))


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64])
@pytest.mark.parametrize(
    "as_given",
    [list, partial(np.array, dtype=object), pd.DataFrame],
    ids=["list", "objects", "frame"],
)
def test_large_integers_among_objects_are_rejected_by_both_interfaces(
    as_given: Any, kind: type
) -> None:
    near, far = [[kind(2**53), 0.5], [1, 0.5]], [[kind(2**53 + 1), 0.5], [1, 0.5]]
    proof = nv.separate(near, [0, 1]).certificate
    assert proof is not None
    point = nv.solve([[1.0]], [kind(2**53)]).certificate
    assert point is not None
    nv.verify(proof, as_given(near), [0, 1])
    with pytest.raises(ValueError, match=r"row 0, column 0.* cannot hold exactly"):
        nv.separate(as_given(far), [0, 1])
    with pytest.raises(nv.CertificateError, match="row 0 has something else than a number"):
        nv.verify(proof, np.array(far, dtype=object), [0, 1])
    with pytest.raises(nv.CertificateError, match="something else than a number"):
        nv.verify(point, [[1.0]], [kind(2**53 + 1)])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2], "b": [True, False], "c": [0.5, None]}),
        pl.DataFrame({"a": [1, 2], "b": [True, False], "c": [0.5, None]}),
    ],
    ids=["pandas", "polars"],
)
def test_frames_are_read_column_by_column(frame: Any) -> None:
    X = check_matrix(frame)
    np.testing.assert_array_equal(X, [[1.0, 1.0, 0.5], [2.0, 0.0, math.nan]])


def test_floats_are_not_copied(tmp_path: Any) -> None:
    X = np.random.default_rng(0).normal(size=(5, 3))
    assert np.shares_memory(check_matrix(X), X)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(check_matrix(mapped), mapped)
    sparse = sp.csr_array(X)
    assert np.shares_memory(check_matrix(sparse).data, sparse.data)


def test_numbers_on_odd_addresses_are_moved() -> None:
    given = np.arange(12.0).reshape(4, 3)
    odd = np.frombuffer(b"." + given.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(4, 3)
    sparse = sp.csr_array(given)
    sparse.data = np.frombuffer(b"." + sparse.data.tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert not odd.flags.aligned
    assert not sparse.data.flags.aligned
    dense, compressed = check_matrix(odd), check_matrix(sparse)
    assert isinstance(compressed, sp.csr_array)
    assert isinstance(dense, np.ndarray)
    assert dense.flags.aligned
    assert compressed.data.flags.aligned
    np.testing.assert_array_equal(dense, given)
    np.testing.assert_array_equal(compressed.toarray(), given)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: np.array([1 + 2j, 0]), "complex"),
        (lambda: None, "y is missing"),
        (lambda: np.ma.masked_array([0, 1], mask=[False, True]), "masked"),
        (lambda: [0, None], "no label in row 1"),
        (lambda: np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "no label in row 1"),
        (lambda: np.array([0, 2**60]), "row 1: integer labels beyond"),
        (lambda: np.array([0, 2**64 - 1], dtype=np.uint64), "row 1: integer labels beyond"),
    ],
)
def test_bad_labels_are_rejected(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_labels(make())


@pytest.mark.parametrize(
    "infinity", [math.inf, -math.inf, np.float64(math.inf), np.float32(-np.inf)]
)
@pytest.mark.parametrize("container", [list, np.array, lambda y: np.array(y, dtype=object)])
def test_an_infinite_label_is_rejected_in_every_container(
    container: Callable[[list[Any]], Any], infinity: float
) -> None:
    with pytest.raises(ValueError, match="y is infinite in row 2"):
        nv.separate([[0.0], [1.0], [2.0]], container([0.0, 1.0, infinity]))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_a_certificate_is_checked_on_every_sparse_format_that_is_decided(
    make: Callable[[Any], Any], form: str
) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]]), [0, 0, 1, 1]
    matrix = make(X).asformat(form)
    verdict = nv.separate(matrix, y)
    assert verdict.certificate is not None
    nv.verify(verdict.certificate, matrix, y)
    nv.verify(verdict.certificate, X, y)
    other = X.copy()
    other[3, 1] = 2.0
    with pytest.raises(nv.CertificateError):
        nv.verify(verdict.certificate, make(other).asformat(form), y)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2, 1, 3, 3, 0]),
        np.array([0.5, -1.0, 0.0, -0.0, 0.5]),
        np.array(["b", "a", "", "b", "ab"]),
        np.array([True, False, True]),
        np.array(["b", "a", "b", "c"], dtype=object),
        np.array([7, 7, 7, 7]),
    ],
    ids=str,
)
@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_labels_are_coded_some_rows_at_a_time(labels: Any, at_once: int) -> None:
    with patch("novikoff.core.class_labels._ROWS_AT_ONCE", at_once):
        values, codes = code_labels(labels)
    assert (values.tolist(), values.dtype) == (sorted(set(labels.tolist())), labels.dtype)
    assert values[codes].tolist() == labels.tolist()


FACTORED = pd.DataFrame(
    {"x": [0.5, 0.0, 2.0, 1.0, 1.5], "c": pd.Categorical([*"zabza"])}, index=[*"pqrst"]
)
OUTCOME = [1, 0, 0, 1, 0]


@pytest.mark.parametrize("output", ["pandas", "numpy", "sparse"])
def test_a_matrix_of_formulaic_keeps_its_names(output: str) -> None:
    X = formulaic.model_matrix("x + c", FACTORED, output=output)
    found = nv.separate(X, OUTCOME, fit_intercept=False)
    assert found.logistic is not None
    assert [*found.logistic] == ["Intercept", "x", "c[T.b]", "c[T.z]"]
    assert found.logistic["c[T.z]"] == "+inf"
    assert found.certificate is not None
    nv.verify(found.certificate, X, OUTCOME)


def test_a_matrix_of_patsy_keeps_its_names() -> None:
    X = patsy.dmatrix("x + c", FACTORED)
    found = nv.separate(X, OUTCOME, fit_intercept=False)
    assert found.logistic is not None
    assert [*found.logistic] == ["Intercept", "c[T.b]", "c[T.z]", "x"]


@pytest.mark.parametrize(
    ("kind", "levels"),
    [(pl.Categorical, ["a", "b", "z"]), (pl.Enum([*"zqba"]), ["z", "b", "a"])],
)
def test_categories_of_polars_become_columns(kind: Any, levels: list[str]) -> None:
    X = pl.DataFrame({"x": FACTORED["x"].to_numpy(), "c": pl.Series([*"zabza"], dtype=kind)})
    wanted = [[number, *(level == own for own in levels)]
              for number, level in zip(FACTORED["x"], "zabza", strict=True)]  # fmt: skip
    np.testing.assert_array_equal(check_matrix(X), np.array(wanted, dtype=np.float64))
    found = nv.separate(X, OUTCOME)
    assert found.logistic is not None
    assert {f"c={level}" for level in levels} < {*found.logistic}
    assert found.certificate is not None
    nv.verify(found.certificate, X, OUTCOME)
    with pytest.raises(ValueError, match="NaN in row 1, column 1"):
        check_matrix(X.with_columns(c=pl.Series(["z", None, *"bza"], dtype=kind)))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_in_a_frame_gets_the_advice_to_use_categories(frame: Any) -> None:
    with pytest.raises(ValueError, match=r"'red' in row 1, column 0 \('hue'\).*astype"):
        check_matrix(frame({"hue": [None, "red"]}))
