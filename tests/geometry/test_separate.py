"""`separate` on data whose answer is known, and the input that it accepts and rejects."""

from __future__ import annotations

import gzip
import math
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
)

import novikoff as nv
from novikoff.core.problem import signed_problem
from novikoff.core.rows import Vector
from novikoff.geometry.margin import Interval
from novikoff.geometry.separability import find_verdict
from novikoff.geometry.verdict import Verdict
from novikoff.proofs import exact
from novikoff.proofs.digest import MatrixDigest
from tests.cases import STORAGES, case_named, csr, planted
from tests.limits import questions
from tests.real_data import real

CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]]


def proved(X: object, y: object, verdict: Verdict) -> Verdict:
    """The verdict, its certificate verified."""
    assert verdict.certificate is not None
    verdict.certificate.verify(X, y)
    return verdict


# Known answers


@pytest.mark.parametrize("y", [[0, 0, 0, 1], [0, 1, 1, 1], [1, 1, 1, 0]], ids=["and", "or", "nand"])
def test_and_or_nand_are_separable(y: list[int]) -> None:
    verdict = proved(CORNERS, y, nv.separate(CORNERS, y))
    assert verdict.kind == "separable"
    # One corner is √½ away from the line through its neighbours, and the margin is half of that.
    lo, hi = verdict.geometric_margin
    assert Fraction(lo) ** 2 <= Fraction(1, 8) <= Fraction(hi) ** 2
    assert hi - lo <= 1e-8


def test_xor_is_inseparable_with_a_quarter_each() -> None:
    y = [0, 1, 1, 0]
    verdict = proved(CORNERS, y, nv.separate(CORNERS, y))
    assert verdict.kind == "inseparable"
    assert verdict.support.tolist() == [0, 1, 2, 3]
    assert len(verdict.separated_rows) == 0
    assert verdict.coef is None
    proof = verdict.certificate
    assert proof is not None
    assert proof.dependence is not None
    total = sum(proof.multipliers.values())
    assert sorted(proof.multipliers) == [0, 1, 2, 3]
    np.testing.assert_allclose(
        [float(c / total) for c in proof.multipliers.values()], 0.25, rtol=1e-9
    )


@pytest.mark.parametrize("label", [1, 0, "only"])
def test_one_class_is_separable_with_an_intercept(label: object) -> None:
    X = [[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0]]
    verdict = proved(X, [label] * 3, nv.separate(X, [label] * 3))
    assert verdict.kind == "separable"
    assert verdict.geometric_margin == (math.inf, math.inf)
    assert verdict.separated_rows.tolist() == [0, 1, 2]
    without = nv.separate(X, [label] * 3, fit_intercept=False)
    assert proved(X, [label] * 3, without).kind == "quasi-separable"
    assert without.separated_rows.tolist() == [2]
    assert sorted(without.support.tolist()) == [0, 1]


def test_the_support_names_identical_rows_with_opposite_labels() -> None:
    case = planted(3, 60, 4)
    X = case.X.copy()
    y = case.signs.copy()
    X[41], y[41] = X[17], -y[17]
    verdict = proved(X, y, nv.separate(X, y))
    assert verdict.kind in ("quasi-separable", "inseparable")
    assert verdict.support.tolist() == [17, 41]


def test_a_zero_row_without_intercept_contradicts_alone() -> None:
    X, y = [[1.0, 2.0], [0.0, 0.0], [2.0, 1.0]], [1, 1, 1]
    verdict = proved(X, y, nv.separate(X, y, fit_intercept=False))
    assert verdict.kind == "quasi-separable"
    assert verdict.support.tolist() == [1]
    assert verdict.separated_rows.tolist() == [0, 2]


@pytest.mark.parametrize("n", [1, 2, 5, 20])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_few_independent_rows_are_separable_whatever_their_labels(
    n: int, fit_intercept: bool
) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 20)), rng.integers(0, 2, size=n)
    verdict = nv.separate(X, y, fit_intercept=fit_intercept)
    assert proved(X, y, verdict).kind == "separable"
    assert verdict.margin.relative_width <= 1e-8


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_wide_rows_need_no_exact_products(
    fit_intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly all rows are support vectors; both margins are proved in floats."""
    exactly = exact.exact_products
    counted: list[Vector] = []

    def products(A: Vector, w: exact.Numbers) -> tuple[exact.Integers, Fraction]:
        counted.extend(A)
        return exactly(A, w)

    monkeypatch.setattr(exact, "exact_products", products)
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(150, 1500)), rng.normal(size=(150, 160)), np.eye(150)):
        with case_named(X.shape):
            y = rng.integers(0, 2, size=150)
            verdict = proved(X, y, nv.separate(X, y, fit_intercept=fit_intercept))
            assert verdict.kind == "separable"
            assert verdict.margin.relative_width <= 1e-8
            assert not fit_intercept or verdict.geometric_margin.relative_width <= 1e-8
            assert len(verdict.support) >= 100
    assert len(counted) == 0


@pytest.mark.parametrize("conflict", [False, True])
def test_rows_of_names_hashed_to_many_columns(conflict: bool) -> None:
    """The verdict equals that of the used columns, and is found in the space of the rows."""
    rng, n, k = np.random.default_rng(0), 120, 30
    columns = rng.integers(0, 2**15, size=n * k)
    entries = rng.normal(size=n * k), (np.repeat(np.arange(n), k), columns)
    X, y = sp.csr_array(entries, shape=(n, 2**15)), rng.integers(0, 2, n)
    if conflict:
        X, y[-1] = sp.csr_array(sp.vstack([X[:-1], X[:1]])), 1 - y[0]
    verdict = proved(X, y, nv.separate(X, y))
    few = nv.separate(X[:, np.unique(X.indices)].toarray()[:, ::-1].copy(), y)
    assert verdict.kind == few.kind == ("quasi-separable" if conflict else "separable")
    assert verdict.margin.lo <= few.margin.hi
    assert few.margin.lo <= verdict.margin.hi
    assert verdict.margin.hi - verdict.margin.lo <= 1e-8 * verdict.margin.hi
    if conflict:
        assert verdict.support.tolist() == [0, n - 1]


# Real data


def shared(name: str, label: str) -> tuple[pd.DataFrame, pd.Series]:
    table = pd.read_csv(real(name))
    return table.drop(columns=label), table[label]


@pytest.mark.parametrize(
    ("name", "label", "kind"),
    [
        ("sonar.csv", "Class", "separable"),
        ("ionosphere.csv", "Class", "quasi-separable"),
        ("spam.csv.gz", "type", "inseparable"),
    ],
)
def test_the_kinds_of_real_data(name: str, label: str, kind: str) -> None:
    X, y = shared(name, label)
    verdict = proved(X, y, nv.separate(X, y))
    assert verdict.kind == kind
    assert verdict.margin.relative_width <= 1e-8


def test_endometrial_is_quasi_separable_through_nv() -> None:
    X, y = shared("endometrial.csv", "HG")
    verdict = proved(X, y, nv.separate(X, y))
    assert verdict.kind == "quasi-separable"
    assert verdict.separated_rows.tolist() == np.flatnonzero(X["NV"] > 0).tolist()
    assert verdict.coef is not None
    assert np.flatnonzero(verdict.coef).tolist() == [list(X.columns).index("NV")]
    assert nv.separate(X.drop(columns="NV"), y).kind == "inseparable"


def test_every_animal_of_the_zoo_is_separable() -> None:
    X, y = shared("zoo.csv", "type")
    verdicts = nv.separate_classes(X, y)
    assert len(verdicts) == 7
    for label, verdict in verdicts.items():
        assert proved(X, y, verdict).kind == "separable", label
        assert verdict.certificate is not None
        assert verdict.certificate.negative is None
        verdict.certificate.verify(X, [kind if kind == label else "other" for kind in y])


def test_no_kind_of_soil_is_separable() -> None:
    X, y = shared("satellite.csv.gz", "classes")
    verdicts = nv.separate_classes(X, y, goal="kind")
    assert [verdict.kind for verdict in verdicts.values()] == ["inseparable"] * 6
    proved(X, y, verdicts[min(verdicts, key=str)])


def test_mushrooms_are_separable() -> None:
    lines = [
        line.split()
        for line in gzip.decompress(real("mushroom.svm.gz").read_bytes()).decode().splitlines()
    ]
    y = [line[0] for line in lines]
    cells = [(i, int(cell.split(":")[0])) for i, line in enumerate(lines) for cell in line[1:]]
    at, columns = zip(*cells, strict=True)
    X = sp.coo_array((np.ones(len(cells)), (at, columns)))
    assert len(y) == 6513
    verdict = proved(X, y, nv.separate(X, y, goal="kind"))
    assert verdict.kind == "separable"
    assert verdict.margin.lo > 0.0


@pytest.mark.parametrize(
    ("load", "kinds"),
    [
        (load_iris, ["separable", "inseparable", "inseparable"]),
        (load_wine, ["separable"] * 3),
        (load_breast_cancer, ["separable"] * 2),
        (load_digits, ["separable"]),
    ],
)
def test_flowers_wines_cells_and_digits(
    load: Callable[..., tuple[Vector, npt.NDArray[np.int64]]], kinds: list[str]
) -> None:
    """Each class against the rest; of the ten digits, only the zero."""
    X, y = load(return_X_y=True)
    for label, kind in zip(np.unique(y), kinds, strict=False):
        verdict = proved(X, y, nv.separate(X, y, positive=label))
        assert verdict.kind == kind
        assert verdict.margin.relative_width <= (1.0 if load is load_breast_cancer else 1e-8)


# Goals, budgets, progress


@pytest.mark.parametrize("flips", [0, 30])
@pytest.mark.parametrize("most", [0, 2, 10_000])
def test_limits_that_are_reached_give_what_is_known(most: int, flips: int) -> None:
    case = planted(9, 5000, 30, gap=1e-4)
    y = case.signs.copy()
    y[:flips] *= -1
    verdict = find_verdict(signed_problem(case.X, y, True), (1, -1), limits=questions(most))
    decided = "inseparable" if flips else "separable"
    assert verdict.kind == (decided if most == 10_000 else "undecided")
    assert verdict.margin.lo <= verdict.margin.hi
    assert flips or verdict.margin.hi >= case.margin
    if verdict.kind == "undecided":
        assert verdict.margin.lo == 0.0
        assert verdict.mistake_bound is None
        assert "undecided" in str(verdict)
        assert verdict.certificate is None
    else:
        assert verdict.certificate is not None
        verdict.certificate.verify(case.X, y)


@pytest.mark.parametrize("flips", [0, 5])
def test_progress_reports_intervals_that_shrink(flips: int) -> None:
    case = planted(10, 500, 8, gap=0.02)
    y = case.signs.copy()
    y[:flips] *= -1
    seen: list[Interval] = []
    verdict = nv.separate(case.X, y, progress=seen.append)
    assert len(seen) >= 2
    for before, after in zip(seen, [*seen[1:], verdict.margin], strict=True):
        with case_named((before, after)):
            assert before.lo <= after.lo <= after.hi <= before.hi


@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("flips", [0, 5])
def test_an_interrupt_returns_what_is_known(after: int, flips: int) -> None:
    case = planted(11, 500, 8, gap=0.02)
    y = case.signs.copy()
    y[:flips] *= -1
    seen: list[Interval] = []

    def interrupt(interval: Interval) -> None:
        seen.append(interval)
        if len(seen) > after:
            raise KeyboardInterrupt

    verdict = nv.separate(case.X, y, progress=interrupt)
    assert len(seen) <= after + 1
    assert verdict.margin == seen[-1]
    if verdict.certificate is not None:
        verdict.certificate.verify(case.X, y)
    truth = nv.separate(case.X, y)
    assert verdict.kind in ("undecided", truth.kind)
    assert verdict.margin.lo <= truth.margin.hi
    assert truth.margin.lo <= verdict.margin.hi


def test_other_errors_of_the_callback_are_not_swallowed() -> None:
    def fail(interval: Interval) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        nv.separate(CORNERS, [0, 0, 0, 1], progress=fail)


# What is refused


def with_value(value: float) -> Vector:
    X = planted(1, 9, 4).X
    X[6, 2] = value
    return X


BAD: dict[str, tuple[object, object, str]] = {
    "NaN": (with_value(math.nan), [0, 1] * 4 + [0], "NaN .*row 6, column 2"),
    "NaN, sparse": (csr(with_value(math.nan)), [0, 1] * 4 + [0], "NaN .*row 6, column 2"),
    "NaN, named": (
        pd.DataFrame(with_value(math.nan), columns=list("abcd")),
        [0, 1] * 4 + [0],
        "NaN .*row 6, column 2 .'c'.",
    ),
    "inf": (with_value(math.inf), [0, 1] * 4 + [0], "inf.* row 6, column 2"),
    "minus inf": (with_value(-math.inf), [0, 1] * 4 + [0], "inf.* row 6, column 2"),
    "None": ([[1.0], [None]], [0, 1], "NaN .*row 1, column 0"),
    "no rows": (np.empty((0, 3)), [], "nothing to separate"),
    "no columns": (np.empty((3, 0)), [0, 1, 0], "0 feature"),
    "a vector": ([1.0, 2.0], [0, 1], "1 dimension"),
    "a cube": (np.zeros((2, 2, 2)), [0, 1], "3 dimension"),
    "too few labels": ([[1.0], [2.0]], [0], "2 rows, but y has 1 label"),
    "too many labels": ([[1.0], [2.0]], [0, 1, 1], "2 rows, but y has 3 labels"),
    "three classes": ([[1.0], [2.0], [3.0]], [0, 1, 2], "3 classes.* separate_classes"),
    "a table of labels": ([[1.0], [2.0]], [[0, 1], [1, 0]], r"shape \(2, 2\)"),
    "text": ([["a"], ["b"]], [0, 1], "'a' in row 0, column 0, which is not a number"),
    "text among objects": (
        np.array([[1.0, 2.0], [3.0, "b"]], dtype=object),
        [0, 1],
        "'b' in row 1, column 1",
    ),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), [0], "not numbers"),
    "complex": (np.array([[1j]]), [0], "Complex data"),
    "a missing label": ([[1.0], [2.0]], [0.0, math.nan], "no label in row 1"),
    "a label of None": ([[1.0], [2.0]], np.array([None, "a"], dtype=object), "no label in row 0"),
    "large integers": (np.array([[0], [2**53 + 1]]), [0, 1], "row 1, column 0"),
    "large unsigned": (np.array([[2**64 - 1], [0]], dtype=np.uint64), [0, 1], "cannot hold"),
    "large objects": (np.array([[2**53 + 1], [0]], dtype=object), [0, 1], "cannot hold"),
    "large sparse": (sp.csr_array(np.array([[2**53 + 1], [0]])), [0, 1], "cannot hold"),
    "large labels": ([[1.0], [2.0]], [0, 2**53 + 1], r"row 1: integer labels beyond 2\*\*53"),
    "large labels among floats": ([[1.0], [2.0]], [0.5, 2**53 + 1], r"beyond 2\*\*53"),
    "double entries beyond floats": (
        sp.coo_array((np.array([1e16, 1.0]), ([1, 1], [0, 0])), shape=(2, 1)),
        [0, 1],
        "several entries in row 1, column 0",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_rejected_with_one_sentence(name: str) -> None:
    X, y, message = BAD[name]
    with pytest.raises(ValueError, match=message) as refusal:
        nv.separate(X, y)
    assert "\n" not in str(refusal.value), name
    assert str(refusal.value).endswith("."), name


BAD_OPTIONS = [
    *(("tol", value, "between 0 and 1") for value in (0.0, 1.0, -1e-3, math.nan, "1")),
    *(
        ("budget", value, "a positive number of seconds")
        for value in (0.0, -1.0, math.nan, math.inf)
    ),
    *(("goal", value, "'margin' or 'kind'") for value in ("width", None)),
    *(("fit_intercept", value, "True or False") for value in (1, "yes")),
]


@pytest.mark.parametrize(("option", "value", "wanted"), BAD_OPTIONS)
@pytest.mark.parametrize("call", [nv.separate, nv.separate_classes])
def test_bad_options_are_rejected(call: Any, option: str, value: object, wanted: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be {wanted}, not {value!r}"):
        call(CORNERS, [0, 0, 0, 1], **{option: value})


# What is taken


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("flips", [0, 3])
def test_every_storage_is_taken_and_left_as_it_was(
    storage: str, flips: int, tmp_path: Path
) -> None:
    case = planted(12, 60, 5, gap=0.3)
    X = np.round(case.X * 8) / 8  # exact in float32
    y = case.signs.copy()
    y[:flips] *= -1
    y.flags.writeable = False
    given = STORAGES[storage](X, tmp_path)
    verdict = nv.separate(given, y)
    assert verdict.kind == nv.separate(X, y).kind
    assert verdict.kind == ("separable" if flips == 0 else "inseparable")
    proved(given, y, verdict)
    proved(X, y, verdict)
    after = given.toarray() if sp.issparse(given) else np.asarray(given)
    assert np.array_equal(after, X)


FORMS: dict[str, Callable[[Vector], Any]] = {
    "columns first": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[::-1].copy()[::-1],
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "object": lambda X: X.astype(object),
    "list": lambda X: X.tolist(),
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "csr matrix": sp.csr_matrix,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pandas int32": lambda X: pd.DataFrame(X.astype(np.int32)),
}


@pytest.mark.parametrize("form", FORMS)
def test_other_orders_strides_and_types(form: str) -> None:
    case = planted(13, 40, 4, gap=0.2)
    X, y = np.round(case.X * 8), case.signs
    reference = nv.separate(X, y)
    verdict = proved(X, y, nv.separate(FORMS[form](X), y))
    assert verdict.kind == reference.kind
    assert verdict.certificate is not None
    assert reference.certificate is not None
    assert verdict.certificate.sha256 == reference.certificate.sha256
    assert verdict.margin.lo <= reference.margin.hi
    assert reference.margin.lo <= verdict.margin.hi


def test_sparse_entries_may_be_double_or_out_of_order() -> None:
    data, indices, indptr = np.array([1.0, 2.0, 1.0, 5.0]), [1, 0, 1, 0], [0, 3, 4]
    X = sp.csr_array((data, indices, indptr), shape=(2, 2))
    verdict = nv.separate(X, [0, 1])
    proved(np.array([[2.0, 2.0], [5.0, 0.0]]), [0, 1], verdict)
    assert X.nnz == 4
    assert X.data.tolist() == [1.0, 2.0, 1.0, 5.0]


TWO_LABELS = [(0, 1), (-1, 1), (False, True), ("a", "b"), (1.5, 2.5), ("", "b"), ("ä\n", "→")]


@pytest.mark.parametrize("labels", [*TWO_LABELS, (-7, 2**53)], ids=repr)
def test_any_two_labels_do(labels: Any) -> None:
    X = [[1.0], [2.0], [5.0], [6.0]]
    y = [labels[0]] * 2 + [labels[1]] * 2
    array = np.array(y)
    for given in (y, tuple(y), array, array.astype(object), pd.Series(y), array[:, None]):
        with case_named(given):
            verdict = nv.separate(X, given)
            assert verdict.kind == "separable"
            proof = verdict.certificate
            assert proof is not None
            assert (proof.negative, proof.positive) == labels
            assert verdict.coef is not None
            assert verdict.coef[0] > 0.0  # the larger label is positive
            again = nv.Certificate.from_json(proof.to_json())
            again.verify(X, y)
            with pytest.raises(nv.CertificateError):
                again.verify(X, [y[-1], *y[1:]])


@pytest.mark.parametrize(
    "make",
    [lambda y: pd.Series(y, dtype="category"), pl.Series, lambda y: pd.Series(y, dtype="string")],
    ids=["category", "polars", "string"],
)
def test_categories_and_polars_labels(make: Callable[[list[str]], Any]) -> None:
    X, y = [[1.0], [2.0], [5.0]], make(["low", "low", "top"])
    assert proved(X, y, nv.separate(X, y)).kind == "separable"


def test_one_against_the_rest() -> None:
    X = [[0.0], [1.0], [2.0], [2.0]]
    verdicts = nv.separate_classes(X, ["a", "b", "c", "d"])
    kinds = {label: verdict.kind for label, verdict in verdicts.items()}
    assert kinds == {
        "a": "separable",
        "b": "inseparable",
        "c": "quasi-separable",
        "d": "quasi-separable",
    }
    assert verdicts["c"].support.tolist() == [2, 3]
    assert verdicts["c"].separated_rows.tolist() == [0, 1]


def test_the_text_of_a_verdict_says_the_kind() -> None:
    assert re.match(r"separable: γ = 0\.\d+… ", str(nv.separate(CORNERS, [0, 0, 0, 1])))
    assert "4 of the 4 rows contradict each other" in str(nv.separate(CORNERS, [0, 1, 1, 0]))
    quasi = nv.separate([[1.0], [2.0], [2.0], [3.0]], [0, 0, 1, 1])
    lines = [
        "quasi-separable: a hyperplane with no row on its wrong side separates at most 2 rows and",
        "    contains the other 2 (with a bias, 4 × 1, 1 against 0)",
    ]
    assert str(quasi).split("\n") == lines
    assert max(map(len, repr(quasi).split("\n"))) <= 88
    through = nv.separate(CORNERS, [0, 1, 1, 0], fit_intercept=False)
    assert "through the origin" in str(through)


def test_a_mapped_file_gives_the_same_bits(tmp_path: Path) -> None:
    case = planted(15, 30_000, 40, gap=0.05)  # several ranges of rows
    np.save(tmp_path / "X.npy", case.X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    one, two = nv.separate(mapped, case.signs), nv.separate(case.X, case.signs)
    assert one.certificate == two.certificate
    assert one.kind == "separable"


def test_a_fresh_process_decides_within_its_budget_without_compiling() -> None:
    """The budget counts neither loading nor compiling, and there is nothing to compile.

    The clock of the process shows the number of modules that it has loaded.
    """
    code = (
        "import sys, time\n"
        "time.monotonic = lambda: float(len(sys.modules))\n"
        "import novikoff as nv\n"
        "verdict = nv.separate([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], budget=0.5)\n"
        "loaded = {'numba', 'sklearn', 'pandas'} & set(sys.modules)\n"
        "print(verdict.kind, sorted(loaded))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split(maxsplit=1) == ["inseparable", "[]\n"]


def test_weights_that_only_rationals_hold_are_said_to_be() -> None:
    """A margin below the precision of floats: the exact weights are in the certificate."""
    tiny = 2.0**-60
    X = [[1.0, 1.0, 0.0], [-1.0, -1.0, tiny], [1.0, -1.0, tiny]]
    verdict = nv.separate(X, [1, 1, 1], fit_intercept=False)
    assert verdict.kind == "separable"
    assert verdict.coef is not None
    exact = [
        sum(Fraction(a) * Fraction(b) for a, b in zip(x, verdict.coef, strict=True)) for x in X
    ]
    assert (min(exact) > 0) == (not verdict.needs_exact_weights)


@pytest.mark.parametrize(
    ("label", "kind"), [("a", "separable"), ("b", "inseparable"), ("c", "separable")]
)
def test_the_positive_class_is_the_one_asked_for(label: str, kind: str) -> None:
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    verdict = nv.separate(X, y, positive=label)
    assert verdict.kind == kind
    assert verdict.certificate is not None
    assert (verdict.certificate.positive, verdict.certificate.negative) == (label, None)
    verdict.certificate.verify(X, y)


def test_the_positive_class_of_two() -> None:
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    turned = nv.separate(X[:2], y[:2], positive="a")
    assert turned.certificate is not None
    assert (turned.certificate.positive, turned.certificate.negative) == ("a", "b")
    assert turned.coef is not None
    assert turned.coef[0] < 0.0
    with pytest.raises(ValueError, match="'d' is none of the labels"):
        nv.separate(X, y, positive="d")


def test_a_verdict_without_a_certificate_hashes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`find_verdict(certificate=False)` gives the same verdict and hashes no rows."""
    X, signs = np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, 1], dtype=np.int8)
    problem = signed_problem(X, signs, True)
    proved = find_verdict(problem, (1, 0))

    def never(X: object) -> MatrixDigest:
        raise AssertionError("the rows were hashed")

    monkeypatch.setattr(MatrixDigest, "of", never)
    plain = find_verdict(problem, (1, 0), certificate=False)
    assert proved.certificate is not None
    assert plain.certificate is None
    assert (plain.kind, plain.margin, plain.mistake_bound, plain.radius) == (
        proved.kind, proved.margin, proved.mistake_bound, proved.radius
    )  # fmt: skip
