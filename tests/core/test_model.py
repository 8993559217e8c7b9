"""The plain model predicts from its weights, learns in place, and grows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.core.model import LinearModel
from novikoff.core.rows import Indices, Vector
from novikoff.core.schemes import OneVsOne
from novikoff.core.updates import passive_aggressive, perceptron, update_as_array
from tests.cases import case_named, csr, planted_integers


def stream(seed: int, n: int, d: int, n_classes: int) -> tuple[Vector, Indices]:
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, size=(n, d)).astype(float), rng.integers(n_classes, size=n)


def state(model: LinearModel) -> list[object]:
    arrays = model.W, model.weighted, model.totals
    return [model.classes.tolist(), *(array.tolist() for array in arrays)]


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_in_pieces_and_one_by_one_are_the_same(
    multi_class: str, n_classes: int, average: bool, sparse: bool
) -> None:
    X, codes = stream(0, 80, 6, n_classes)
    weights = np.tile([1.0, 0.5, 0.0, 2.0], 20)
    models = [
        LinearModel(np.arange(n_classes), 6, averages=average, multi_class=multi_class)
        for _ in range(3)
    ]
    update = perceptron(threshold=1.0, step_size=0.5)
    rows = csr(X) if sparse else X
    wrong = models[0].learn(rows, codes, update, sample_weight=weights) != codes
    for part in (slice(0, 1), slice(1, 30), slice(30, 30), slice(30, 80)):
        models[1].learn(rows[part], codes[part], update, sample_weight=weights[part])
    columns = np.arange(6) if sparse else np.arange(0)
    for i in np.flatnonzero(weights).tolist():
        numbers = update_as_array(update, True)
        before, _ = models[2].learn_one(columns, X[i], codes[i], numbers, weights[i])
        assert wrong[i] == (models[2].scheme.choose_or_tie(before[None, :])[0] != codes[i])
    assert 0 < wrong.sum() < np.count_nonzero(weights)
    assert state(models[0]) == state(models[1]) == state(models[2])
    found = [models[2].score_one(columns, x).tolist() for x in X]
    np.testing.assert_allclose(found, models[0].scores(X), rtol=1e-12, atol=1e-12)


def test_binary_rows_that_are_wrong_are_the_mistakes_of_the_theorem() -> None:
    case = planted_integers(1, 60, 4)
    model = LinearModel(np.array([-1, 1]), 4)
    codes = (case.signs > 0).astype(np.int64)
    predicted = model.learn(case.X, codes, perceptron(threshold=2.0))
    assert (predicted != codes).sum() == model.n_mistakes < model.n_updates
    assert model.radius >= case.radius


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_piece_that_fails_changes_nothing(n_classes: int, sparse: bool) -> None:
    X, codes = stream(2, 40, 50, n_classes)
    model = LinearModel(np.arange(n_classes), 50, averages=True)
    model.learn(X, codes, perceptron())
    before = state(model)
    for bad in (np.nan, np.inf, 1e308):
        with case_named(bad):
            part = X[:2].copy()
            part[1, 1:3] = bad
            rows = sp.csr_array(part) if sparse else part
            with pytest.raises(ValueError, match=r"row 1, column 1|range of float64"):
                model.learn(rows, codes[:2], perceptron(step_size=1e5))
            assert state(model) == before
    with pytest.raises(ValueError, match="51 features, but 50 are expected"):
        model.learn(np.ones((1, 51)), codes[:1], perceptron())
    numbers = update_as_array(perceptron(step_size=1e5), True)
    with pytest.raises(ValueError, match="range of float64"):
        model.learn_one(np.arange(50), np.full(50, 1e308), 0, numbers)
    assert state(model) == before


def test_sparse_rows_may_have_fewer_columns() -> None:
    X, codes = stream(3, 30, 4, 2)
    wide = np.column_stack([X, np.zeros((30, 3))])
    narrow, model = LinearModel(np.array([0, 1]), 7), LinearModel(np.array([0, 1]), 7)
    narrow.learn(csr(X), codes, perceptron())
    model.learn(wide, codes, perceptron())
    assert state(narrow) == state(model)


@given(st.permutations(["a", "b", "c", "d"]), st.sampled_from(["ovr", "ovo"]), st.booleans())
def test_rules_between_old_classes_stay_when_a_class_comes(
    labels: list[str], multi_class: str, average: bool
) -> None:
    X, codes = stream(4, 30, 5, 4)
    known = labels[:1]
    model = LinearModel(np.array(known), 5, averages=average, multi_class=multi_class)
    for label in labels[1:]:
        members = np.flatnonzero(codes < len(known))
        place = model.classes.tolist().index
        own = np.array([place(known[code]) for code in codes[members]])
        model.learn(X[members], own, perceptron())
        grown = model.with_class(label)
        assert grown.classes.tolist() == sorted([*known, label])
        old = [grown.classes.tolist().index(name) for name in model.classes]
        before, after = model.prediction_weights(), grown.prediction_weights()
        if multi_class == "ovr" and len(known) > 2:
            assert after[:, old].tolist() == before.tolist()
        elif len(known) == 2 and isinstance(grown.scheme, OneVsOne):
            rule = grown.scheme.pairs.index((old[0], old[1]))
            assert after[:, rule].tolist() == before[:, 0].tolist()
        elif len(known) == 2:
            assert after[:, old[1]].tolist() == before[:, 0].tolist()
            assert after[:, old[0]].tolist() == (-before[:, 0]).tolist()
        known, model = [*known, label], grown


@pytest.mark.parametrize("label", [3, None, float("nan"), ("x",)], ids=repr)
def test_labels_without_an_order_are_rejected(label: object) -> None:
    with pytest.raises(ValueError, match="cannot be compared with"):
        LinearModel(np.array(["a", "b"]), 1).with_class(label)


def test_new_features_have_no_weight_and_can_go_again() -> None:
    X, codes = stream(5, 30, 3, 3)
    model = LinearModel(np.arange(3), 3, averages=True)
    model.learn(X, codes, passive_aggressive())
    grown = model.with_features(8)
    wide = np.column_stack([X, np.ones((30, 5))])
    assert grown.scores(wide).tolist() == model.scores(X).tolist()
    assert state(grown.with_features(3)) == state(model)


def test_scores_beyond_float64_are_rejected() -> None:
    model = LinearModel(np.array([0, 1]), 2)
    model.W[:2, 0] = 1e10, -1e10
    with pytest.raises(ValueError, match="row 1 is beyond the range of float64"):
        model.predict(np.array([[1.0, 1.0], [1e300, 1e300]]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_is_rejected_only_where_a_number_leaves_float64(n_classes: int) -> None:
    """The squared length of the row is beyond float64; its first margin and update are not."""
    model = LinearModel(np.arange(n_classes), 2)
    long = np.array([[3e200, 4e200]])
    model.learn(long, np.array([1]), perceptron())
    assert model.W[:2, -1 if n_classes == 2 else 1].tolist() == [3e200, 4e200]
    before = state(model)
    with pytest.raises(ValueError, match="range of float64"):
        model.learn(long, np.array([1]), perceptron())  # m = ∞ is not a valid margin
    assert state(model) == before
