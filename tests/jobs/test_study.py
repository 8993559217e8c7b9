"""The main job: kinds of verdicts, fallbacks, counts and proofs."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

import novikoff as nv
from novikoff.core.fitting import Scaling
from novikoff.core.model import LinearModel
from novikoff.core.rows import Indices
from novikoff.jobs.estimate import clopper_pearson, estimate_errors
from novikoff.jobs.study import study
from novikoff.jobs.study_records import Study, StudyOptions
from tests.cases import CORNERS, case_named


def duplicates(found: Study) -> list[Indices]:
    assert found.each_row is not None
    return found.each_row.duplicates


def test_a_perceptron_that_is_not_clean_gives_way_to_the_largest_margin() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = study(X, y, StudyOptions(epochs=2))
    assert (found.kinds, found.rule, found.mistakes) == (["separable"], "largest margin", 0)
    assert found.run is not None
    assert not found.run.converged
    assert (found.model.predict(X) == y).all()
    w = found.model.W[:, 0]
    margin = nv.separate(X, y).geometric_margin
    distances = (X @ w[:-1] + w[-1]) * np.where(y == 1, 1, -1)
    assert distances.min() / np.linalg.norm(w[:-1]) <= margin.hi


@pytest.mark.parametrize(("fit_intercept", "sparse"), [(True, False), (False, True)])
def test_the_rule_of_a_scaled_run_is_proved_for_the_features_as_given(
    fit_intercept: bool, sparse: bool
) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 4)) * [1.0, 1e-4, 1e4, 0.0] + [0.0, 0.0, 0.0, 7.0]
    y = np.where(X @ [1.0, 1e4, 1e-4, 0.0] > 0.0, "p", "n")
    rows = sp.csr_array(X) if sparse else X
    found = study(rows, y, StudyOptions(fit_intercept=fit_intercept, model="perceptron"))
    case, run = found.cases[0], found.run
    assert run is not None
    assert case.scaled is not None
    assert (found.rule, run.converged, run.separates_original) == ("perceptron", True, True)
    assert run.mistakes <= (case.scaled.mistake_bound or 0) < (case.verdict.mistake_bound or 0)
    w = found.model.W[:, 0]
    signs = np.where(y == "p", 1, -1)
    assert (signs * (X @ w[:-1] + w[-1]) > 0.0).all()
    assert fit_intercept or w[-1] == 0.0


def test_a_rule_that_does_not_survive_the_way_back_is_not_used() -> None:
    """Far from the origin, the bias of the mapped rule loses the digits that separate the rows."""
    rules = set()
    for seed in range(4):
        rows = np.random.default_rng(seed).integers(0, 64, (30, 3)) / 8.0
        found = study(1e15 + rows, rows @ [1.0, 2.0, -1.0] > 4.0, StudyOptions(model="perceptron"))
        assert found.run is not None
        assert found.run.converged
        assert found.rule == ("perceptron" if found.run.separates_original else "largest margin")
        assert found.mistakes == 0
        rules.add(found.rule)
    assert "largest margin" in rules


@pytest.mark.parametrize("centre", [True, False])
def test_scaling_is_mean_zero_and_variance_one(centre: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5000, 3)) * [1.0, 100.0, 0.0] + [5.0, -3.0, 2.0]
    scaled = np.asarray(Scaling.of(X, centre=centre).apply(X))
    np.testing.assert_allclose(scaled.std(axis=0), [1.0, 1.0, 0.0], atol=1e-12)
    if centre:
        np.testing.assert_allclose(scaled[:, :2].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_array_equal(scaled[:, 2], 2.0)  # a constant column stays as it is
    sparse = Scaling.of(sp.csr_array(X), centre=centre).apply(sp.csr_array(X))
    assert isinstance(sparse, sp.csr_array)
    spread = np.asarray(sparse.toarray(), dtype=np.float64).std(axis=0)
    np.testing.assert_allclose(spread, [1.0, 1.0, 0.0], atol=1e-12)
    W = rng.normal(size=(4, 2))
    back = Scaling.of(X, centre=centre).to_original(W)
    np.testing.assert_allclose(X @ back[:-1] + back[-1], scaled @ W[:-1] + W[-1], atol=1e-9)


def test_a_mapped_matrix_is_scaled_on_disk(tmp_path: Path) -> None:
    X = np.random.default_rng(3).normal(size=(1000, 2))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    scaling = Scaling.of(mapped, centre=True)
    scaled = scaling.apply(mapped)
    assert isinstance(scaled, np.memmap)
    np.testing.assert_array_equal(np.asarray(scaled), scaling.apply(X))


def test_the_perceptron_is_limited_by_work_not_by_a_small_number_of_epochs() -> None:
    """Two close rows need 27,000 epochs, about a second. Work is counted, not timed."""
    near, y = np.array([[100.0], [101.0]]), np.array([0, 1])
    found = study(near, y, StudyOptions(scale="none"))
    assert found.run is not None
    assert (found.run.converged, found.run.epochs > 20_000) == (True, True)
    for order in ("permuted", "max_residual"):  # a step of the latter looks at all rows
        with case_named(order):
            found = study(CORNERS, y[[0, 1, 1, 0]], StudyOptions(verdict=False, order=order))
            assert found.run is not None
            assert 10_000 < found.run.epochs < 200_000
    large = study(np.ones((2000, 500)), np.arange(2000) % 2, StudyOptions(verdict=False))
    assert large.run is not None
    assert 20 <= large.run.epochs < 1000


def test_the_positive_class_turns_the_sides_not_the_answer() -> None:
    y = np.array(["no", "no", "no", "yes"])
    found = study(CORNERS, y)
    assert (found.kinds, found.rule) == (["separable"], "largest margin")
    assert found.run is not None
    assert found.run.converged
    assert found.run.mistakes <= (found.cases[0].verdict.mistake_bound or 0)
    for positive in ("no", "yes"):
        with case_named(positive):
            found = study(CORNERS, y, StudyOptions(positive=positive, epochs=1))
            assert found.cases[0].positive == positive
            assert (found.model.predict(CORNERS) == y).all()
            certificate = found.cases[0].verdict.certificate
            assert certificate is not None
            assert certificate.positive == positive
            nv.verify(certificate, CORNERS, y)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_identical_rows_with_different_labels_are_listed(storage: Any) -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0], [-3.0, -4.0], [3.0, 4.0]])
    y = np.array(["a", "b", "b", "a", "a", "b"])
    assert [group.tolist() for group in duplicates(study(storage(X), y))] == [[0, 2, 3]]
    nearly = np.array([[1.0, 2.0], [np.nextafter(1.0, 2.0), 2.0], [0.0, 0.0], [2.0, 4.0]])
    assert duplicates(study(nearly, np.array([0, 1, 1, 1]))) == []


def test_dense_and_sparse_rows_have_the_digest_of_their_first_proof() -> None:
    y = np.array([0, 1, 1, 0])
    dense, sparse = study(CORNERS, y), study(sp.csr_array(CORNERS), y)
    assert dense.sha256 == sparse.sha256 == dense.proofs[0].sha256
    assert study(CORNERS, y, StudyOptions(verdict=False)).sha256 == ""
    assert dense.sha256 != study(CORNERS, y[::-1].copy() ^ 1).sha256


def test_a_study_without_a_verdict_or_without_a_second_class() -> None:
    found = study(CORNERS, np.array([0, 1, 1, 0]), StudyOptions(verdict=False, epochs=3))
    assert (found.cases, found.proofs) == ([], [])
    assert found.run is not None
    assert found.run.epochs == 3
    with pytest.raises(ValueError, match="two classes are needed"):
        study(CORNERS, np.zeros(4, dtype=np.int64))


def test_unseen_rows_are_never_learned_from() -> None:
    """With random labels, every rule misclassifies half of the unseen rows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 80)), np.arange(60) % 2
    estimate = estimate_errors(X, y, StudyOptions(), folds=5)
    assert study(X, y).mistakes == 0
    assert estimate.rows == 60
    assert 15 <= estimate.errors <= 45
    assert sum(estimate.folds) == estimate.errors
    assert estimate_errors(X, y, StudyOptions(), holdout=0.2).rows == 12
    with pytest.raises(ValueError, match="too few for 40 folds"):
        estimate_errors(X, y, StudyOptions(), folds=40)


@pytest.mark.parametrize(("errors", "n"), [(0, 10), (3, 40), (10, 10), (1, 1000)])
def test_the_interval_has_the_exact_tails(errors: int, n: int) -> None:
    from scipy.stats import binom

    low, high = clopper_pearson(errors, n)
    if errors > 0:
        assert binom.sf(errors - 1, n, low) == pytest.approx(0.025)
    if errors < n:
        assert binom.cdf(errors, n, high) == pytest.approx(0.025)


@pytest.mark.parametrize(("labels", "errors"), [("abb", 0), ("baa", 1)])
def test_a_tie_is_the_negative_class_for_errors_bounds_and_predictions(
    labels: str, errors: int
) -> None:
    """Without an intercept, every rule has f(x) = 0 on a row of zeros."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([*labels])
    found = study(X, y, StudyOptions(fit_intercept=False))
    assert found.mistakes == found.cases[0].mistakes == errors
    assert (found.model.predict(X) != y).sum() == errors
    assert (found.cases[0].least_mistakes or 0) <= errors


def test_the_bound_on_real_rows_verifies() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    doubled = np.column_stack([X[:, :4], X[:, 0]])  # a column twice
    found = study(doubled, y)
    (case,) = found.cases
    assert case.bound is not None
    assert 5 < (case.least_mistakes or 0) <= (case.mistakes or 0)
    assert case.mistakes == found.mistakes == (found.model.predict(doubled) != y).sum()
    nv.verify(case.bound, doubled, y)


def test_several_classes_have_a_case_each_and_pairs_where_that_is_better() -> None:
    X, y = load_iris(return_X_y=True)
    found = study(X, y)
    assert [case.positive for case in found.cases] == [0, 1, 2]
    assert found.kinds == [v.kind for v in nv.separate_classes(X, y).values()]
    assert found.mistakes == int((found.model.predict(X) != y).sum())
    ovr = nv.Pocket(random_state=0, lower_bound=False).fit(X, y)
    assert found.mistakes <= int((ovr.predict(X) != y).sum())
    assert found.mistakes <= 3  # pair by pair, one row of the last two classes is wrong


def test_means_are_those_of_the_rows_learned_from() -> None:
    """A held-out row does not change the learned rule, although it is in the mean of all rows."""
    from novikoff.jobs.estimate import with_means

    X = np.array([[1.0], [2.0], [100.0], [34.0]])  # 34 is an imputed value: the mean of the others
    taught = np.array([True, True, False, True])
    filled = with_means(X, (np.array([3]), np.array([0])), taught)
    assert np.asarray(filled)[:, 0].tolist() == [1.0, 2.0, 100.0, 1.5]


def test_the_time_of_the_run_does_not_contain_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clocks jump by an hour while the loops are loaded."""
    jump, monotonic, counter = [0.0], time.monotonic, time.perf_counter
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + jump[0])
    monkeypatch.setattr(time, "perf_counter", lambda: counter() + jump[0])

    def load(*given: object, **options: object) -> None:
        jump[0] += 3600.0

    monkeypatch.setattr(LinearModel, "load", load)
    found = study(CORNERS, np.array([0, 0, 0, 1]), StudyOptions(budget=1800.0))
    assert jump == [3600.0]
    assert found.kinds == ["separable"]
    assert found.run is not None
    assert found.run.converged
    assert found.run.seconds < 1800.0
    assert found.loading >= 3600.0
