"""The main job: kinds, fallbacks, what is counted and what is proved."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import novikoff as nv
from novikoff.report.estimate import clopper_pearson, cross_validate, hold_out
from novikoff.report.steps import Options
from novikoff.report.study import study

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def test_separable_data_ends_with_a_clean_perceptron() -> None:
    y = np.array(["no", "no", "no", "yes"])
    found = study(XOR, y)
    assert found.kinds == ["separable"]
    assert found.rule == "perceptron"
    assert found.run is not None
    assert found.run.clean
    assert found.run.mistakes <= (found.cases[0].verdict.mistake_bound or 0)
    assert (found.model.predict(XOR) == y).all()


def test_a_perceptron_that_is_not_clean_gives_way_to_the_largest_margin() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = study(X, y, Options(epochs=2))
    assert found.kinds == ["separable"]
    assert found.rule == "largest margin"
    assert found.run is not None
    assert not found.run.clean
    assert found.errors == 0
    assert (found.model.predict(X) == y).all()
    w = found.model.coef_[0]
    margin = nv.separate(X, y).geometric_margin
    distances = (X @ w + found.model.intercept_[0]) * np.where(y == 1, 1, -1)
    assert distances.min() / np.linalg.norm(w) <= margin.hi


def test_the_positive_class_turns_the_sides_not_the_answer() -> None:
    y = np.array(["no", "no", "no", "yes"])
    for positive in ("no", "yes"):
        found = study(XOR, y, Options(positive=positive, epochs=1))
        assert found.cases[0].positive == positive
        assert (found.model.predict(XOR) == y).all()
        certificate = found.cases[0].verdict.certificate
        assert certificate is not None
        assert certificate.positive == positive
        nv.verify(certificate, XOR, y)


def test_one_class_against_the_rest() -> None:
    X, y = load_iris(return_X_y=True)
    found = study(X, y, Options(positive=0))
    assert found.kinds == ["separable"]
    assert found.classes == ["(rest)", "0"]
    assert found.errors == 0
    middle = study(X, y, Options(positive=1))
    assert middle.kinds == ["inseparable"]
    for proof in [*found.proofs, *middle.proofs]:
        nv.verify(proof, X, y)


def test_the_pocket_and_its_proof_where_no_rule_is_perfect() -> None:
    y = np.array([0, 1, 1, 0])
    found = study(XOR, y)
    assert found.rule == "fewest mistakes"
    assert found.errors == 1
    assert found.cases[0].least_errors == 1
    assert found.run is None
    for proof in found.proofs:
        nv.verify(proof, XOR, y)
    assert len(found.proofs) == 2
    predicted = found.model.predict(XOR)
    assert found.confusion.tolist() == [
        [int(((y == a) & (predicted == b)).sum()) for b in (0, 1)] for a in (0, 1)
    ]


def test_several_classes_have_a_case_each() -> None:
    X, y = load_wine(return_X_y=True)
    found = study(X, y)
    assert len(found.cases) == 3
    assert [case.positive for case in found.cases] == [0, 1, 2]
    assert found.kinds == [v.kind for v in nv.separate_classes(X, y).values()]
    assert found.errors == int((found.model.predict(X) != y).sum())


def test_identical_rows_with_different_labels_are_listed() -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [1.0, 2.0], [-3.0, -4.0], [3.0, 4.0]])
    y = np.array(["a", "b", "b", "a", "a", "b"])
    for rows in (X, sp.csr_array(X)):
        found = study(rows, y)
        assert [group.tolist() for group in found.clashes] == [[0, 2, 3]]


def test_rows_that_only_look_identical_are_not_listed() -> None:
    X = np.array([[1.0, 2.0], [np.nextafter(1.0, 2.0), 2.0], [0.0, 0.0], [2.0, 4.0]])
    assert study(X, np.array([0, 1, 1, 1])).clashes == []


def test_quasi_separable_names_the_weights() -> None:
    X = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]])
    case = study(X, np.array([0, 1, 0, 1])).cases[0]
    assert case.verdict.kind == "quasi-separable"
    assert case.recession is not None
    assert case.recession.infinite.tolist() == [True, False, False]


def test_dense_and_sparse_have_one_fingerprint() -> None:
    y = np.array([0, 1, 1, 0])
    dense, sparse = study(XOR, y), study(sp.csr_array(XOR), y)
    assert dense.sha256 == sparse.sha256
    assert dense.sha256 != study(XOR, y[::-1].copy() ^ 1).sha256


def test_without_a_verdict_only_the_perceptron_runs() -> None:
    found = study(XOR, np.array([0, 1, 1, 0]), Options(verdict=False, epochs=3))
    assert found.cases == []
    assert found.proofs == []
    assert found.run is not None
    assert found.run.epochs == 3


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="two classes are needed"):
        study(XOR, np.zeros(4, dtype=np.int64))


def test_unseen_rows_are_never_learned_from() -> None:
    """Labels at random: a rule errs on half of what it has not seen, whatever it knows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 80)), np.arange(60) % 2
    estimate = cross_validate(X, y, 5, Options())
    assert study(X, y).errors == 0
    assert estimate.rows == 60
    assert 15 <= estimate.errors <= 45
    assert sum(estimate.folds) == estimate.errors
    held = hold_out(X, y, 0.2, Options())
    assert held.rows == 12


def test_folds_hold_every_class_and_every_row_once() -> None:
    X, y = load_wine(return_X_y=True)
    estimate = cross_validate(X, y, 4, Options())
    assert estimate.rows == len(y)
    with pytest.raises(ValueError, match="too few for 60 folds"):
        cross_validate(X, y, 60, Options())


@pytest.mark.parametrize(("errors", "n"), [(0, 10), (3, 40), (10, 10), (1, 1000)])
def test_the_interval_has_the_exact_tails(errors: int, n: int) -> None:
    from scipy.stats import binom

    low, high = clopper_pearson(errors, n)
    if errors > 0:
        assert binom.sf(errors - 1, n, low) == pytest.approx(0.025)
    if errors < n:
        assert binom.cdf(errors, n, high) == pytest.approx(0.025)


def test_a_row_on_the_hyperplane_is_a_mistake_of_both_classes() -> None:
    """Without an intercept a row of zeros gets its label by the tie, not by the rule."""
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "b"])
    found = study(X, y, Options(fit_intercept=False))
    assert found.misnamed == 0
    assert found.on_hyperplane == 1
    assert found.errors == found.cases[0].errors == found.cases[0].least_errors == 1


def test_several_classes_are_told_apart_by_pairs_where_that_is_better() -> None:
    X, y = load_iris(return_X_y=True)
    found = study(X, y)
    ovr = nv.Pocket(random_state=0, lower_bound=False).fit(X, y)
    assert found.errors <= int((ovr.predict(X) != y).sum())
    assert found.errors <= 3  # pair by pair, one row of the last two classes is wrong


def test_means_are_those_of_the_rows_learned_from() -> None:
    """A held-out row changes nothing in what is learned, though it is in the mean of all."""
    from novikoff.report.estimate import _imputed_anew

    X = np.array([[1.0], [2.0], [100.0], [34.0]])  # the last stands for a gap: mean of three
    taught = np.array([True, True, False, True])
    filled = _imputed_anew(X, (np.array([3]), np.array([0])), taught)
    assert np.asarray(filled)[:, 0].tolist() == [1.0, 2.0, 100.0, 1.5]


def test_rows_whose_marks_agree_by_chance_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one mark for all rows, what is left is the comparison entry by entry."""
    from novikoff.geometry import twins

    monkeypatch.setattr(twins, "_marks", lambda data: np.zeros(data.n))
    X = np.array([[1.0], [2.0], [1.0], [3.0], [2.0], [3.0]])
    y = np.array(["a", "b", "a", "b", "a", "b"])
    assert [group.tolist() for group in study(X, y).clashes] == [[1, 4]]
