"""The pocket on shards: mistakes are counted on all rows, and the bounds of shards are added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

pytest.importorskip("distributed", reason="Dask is not installed")

import dask.array as da
from distributed import Client

import novikoff as nv
from novikoff.cluster.pocket import MistakeCount
from novikoff.cluster.shards import Setting, Shard
from novikoff.core.class_labels import code_labels
from novikoff.core.rows import Vector
from tests.cases import case_named
from tests.cluster.cases import Labels, data, local_rows, sparse
from tests.golden.test_fewest_mistakes import fewest
from tests.oracle import signed

pytestmark = pytest.mark.usefixtures("brief_descents")


def noisy(n: int, seed: int = 0) -> tuple[Vector, Labels]:
    """Rows of small integers, some of them equal, and labels, some of them wrong."""
    rng = np.random.default_rng(seed)
    X: Vector = rng.integers(-3, 4, size=(n, 2)).astype(np.float64)
    y = np.where(X @ [1.0, -2.0] + rng.normal(scale=2.0, size=n) > 0.5, "up", "down")
    y[0], y[-1] = "down", "up"
    return X, y


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.integers(0, 24), max_size=4).map(sorted),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_bound_minimum_and_mistakes_are_in_order(
    seed: int, edges: list[int], is_sparse: bool, fit_intercept: bool, by_label: bool
) -> None:
    X, y = noisy(24, seed)
    if by_label:  # some shards have one class only
        X, y = X[np.argsort(y)], np.sort(y)
    rows = local_rows(sparse(X) if is_sparse else X, y, edges)
    clf: Any = nv.Pocket(random_state=0, fit_intercept=fit_intercept, max_updates=200).fit(rows)
    assert clf.n_errors_ == np.count_nonzero(clf.predict(X) != y)
    signs = np.where(y == "up", 1, -1)
    taking = fit_intercept | X.any(axis=1) | (signs > 0)  # `predict` has zeros negative
    least = fewest(signed(X[taking], signs[taking], fit_intercept))
    assert clf.errors_lower_bound_ <= least <= clf.n_errors_
    assert clf.optimal_ == (clf.errors_lower_bound_ == clf.n_errors_)
    assert (least > 0) == (clf.errors_lower_bound_ > 0) or not fit_intercept
    nv.verify(clf.certificate_, X, y)
    nv.verify(clf.certificate_, rows)


def test_bounds_of_shards_add_up() -> None:
    X, y = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (3, 1)), np.array([0, 1, 1, 0])
    X[4:8] += 5.0
    clf: Any = nv.Pocket(random_state=0).fit(local_rows(X, np.tile(y, 3), [4, 8]))
    alone: list[Any] = [nv.Pocket(random_state=0).fit(X[k : k + 4], y) for k in (0, 4, 8)]
    assert clf.errors_lower_bound_ == sum(one.errors_lower_bound_ for one in alone) == 3
    assert {row for claim in clf.certificate_.contradictions for row in claim.among} == {*range(12)}


def test_shards_that_are_separable_each_contradict_together() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    clf: Any = nv.Pocket(random_state=0).fit(local_rows(X, y, [2]))
    assert (clf.n_errors_, clf.errors_lower_bound_, clf.optimal_) == (1, 1, True)
    nv.verify(clf.certificate_, X, y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_groups_do_not_matter_to_a_bit(fit_intercept: bool) -> None:
    X, y = noisy(200)
    clf: Any = nv.Pocket(random_state=1, max_updates=500, fit_intercept=fit_intercept)
    found = []
    for threads in (1, 2, 9):
        clf.fit(local_rows(X, y, [7, 7, 90, 150, 199], threads))
        bits = [part.tobytes() for part in (clf.coef_, clf.intercept_, clf.history_)]
        found.append((bits, clf.certificate_))
    assert found[0] == found[1] == found[2]


def test_a_rule_without_mistakes_is_found() -> None:
    X, y = data("separable")
    for name, order in {"as drawn": np.arange(len(y)), "by label": np.argsort(y)}.items():
        with case_named(name):
            clf: Any = nv.Pocket(random_state=0).fit(local_rows(X[order], y[order], [100, 250]))
            assert (clf.n_errors_, clf.errors_lower_bound_, clf.converged_) == (0, 0, True)
            assert (clf.predict(X) == y).all()


def test_shards_of_one_class_learn_from_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are sorted by label, so only one shard has both classes."""
    X, y = load_iris(return_X_y=True)
    rows = local_rows(X[50:], y[50:], [20, 40, 60, 80])
    clf: Any = nv.Pocket(random_state=0).fit(rows)
    assert (clf.n_errors_, clf.errors_lower_bound_) == (1, 1)
    nv.verify(clf.certificate_, X[50:], y[50:])
    monkeypatch.setattr("novikoff.cluster.pocket.SHARD_SAMPLE_ENTRIES", 250)
    clf = nv.Pocket(random_state=0).fit(rows)
    assert clf.n_errors_ <= 5  # by half of the rows


@pytest.mark.parametrize("centres", [[[0, 0], [1, 0], [0, 1]], [[0, 0], [1, 1], [2, 2]]])
def test_several_classes(centres: list[list[int]]) -> None:
    """In the second case, one class is between the others, and its best single rule is constant."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(150, 2)) + 3.0 * np.repeat(centres, 50, axis=0), 1)
    y = np.repeat(["a", "b", "c"], 50)
    rows = local_rows(X, y, [60, 60, 110])
    clf: Any = nv.Pocket(random_state=0, max_updates=500).fit(rows)
    assert np.mean(clf.predict(X) == y) > 0.85
    for k, label in enumerate("abc"):
        f = X @ clf.coef_[k] + clf.intercept_[k]
        assert clf.n_errors_[k] == np.count_nonzero((f > 0) != (y == label))
        assert clf.errors_lower_bound_[k] <= clf.n_errors_[k]
        nv.verify(clf.certificate_[k], X, y)
        nv.verify(clf.certificate_[k], rows)


def test_several_classes_are_no_worse_than_a_constant() -> None:
    rng = np.random.default_rng(46)
    X = rng.integers(-2, 3, size=(24, 1)).astype(np.float64)
    y = np.where(rng.random(24) < 0.5, rng.integers(4, size=24), 3)
    clf = nv.Pocket(refine=False, random_state=0, max_updates=20).fit(local_rows(X, y, [12]))
    assert np.count_nonzero(clf.predict(X) == y) >= np.bincount(y).max()


def test_proofs_of_other_data_are_rejected_on_a_cluster() -> None:
    X, y = noisy(40)
    other = X + np.eye(40, 2, -38)
    bound, verdict = nv.Pocket(random_state=0).fit(X, y).certificate_, nv.separate(X, y).certificate
    proofs: list[Any] = [bound, verdict]
    for proof in proofs:
        nv.verify(proof, local_rows(X, y, [11, 30]))
        for changed, rows in {
            "features": local_rows(other, y, [11, 30]),
            "labels": local_rows(X, np.roll(y, 1), [11]),
        }.items():
            with (
                case_named((type(proof).__name__, changed)),
                pytest.raises(nv.CertificateError, match="other data"),
            ):
                nv.verify(proof, rows)
        with pytest.raises(nv.CertificateError, match="40 × 2 numbers, the data has 39 × 2"):
            nv.verify(proof, local_rows(X[1:], y[1:], [11]))
    with pytest.raises(ValueError, match="no sample_weight"):
        nv.verify(proofs[0], local_rows(X, y, [11]), sample_weight=np.ones(40))


def test_a_step_leaves_the_hyperplane_to_the_better_side() -> None:
    near, y = [0.1, 0.2, -0.3], np.array([1, 1, 0, 1, 0])  # a sum of 5.6e-17 in floats
    X = np.array([near, near, near, [2.0, 0.0, 0.0], [-4.0, 0.0, 0.0]])
    count = MistakeCount((Setting(1, 0, True),), np.array([[[1.0]]] * 3 + [[[0.0]]]), np.eye(4)[3])
    for k, some in enumerate((slice(0, 2), slice(2, 5))):
        part = count.blank()
        with np.errstate(all="ignore"):
            part.look_at_shard(Shard(k, some.start, X[some], code_labels(y[some])))
        count.merge(part)
    found = [int(value[0, 0]) for value in (count.wrong, count.up, count.down)]
    assert found == [3, 2, 1]
    assert (count.low[0, 0], count.high[0, 0], count.steps()[0, 0]) == (-2.0, 4.0, 2.0)


@pytest.mark.parametrize(
    ("learner", "weights", "complaint"),
    [
        (nv.Perceptron(average=True), None, "average must be False for rows on a cluster"),
        (nv.Perceptron(order="max_residual"), None, "order must be a name"),
        (nv.PassiveAggressive(), None, "does not learn from rows of a cluster"),
        (nv.Pocket(warm_start=True), None, "warm_start must be False for rows on a cluster"),
        (
            nv.Pocket(class_weight="balanced"),
            None,
            "class_weight must be None for rows on a cluster",
        ),
        (nv.Pocket(), np.ones(24), "include their labels: do not pass y"),
        (nv.Pocket(multi_class="ovo"), None, "multi_class must be 'ovr'"),
        (nv.Pocket("textbook"), None, "strategy must be 'ratchet' or 'run_length'"),
    ],
)
def test_what_a_cluster_does_not_do_is_said(learner: Any, weights: Any, complaint: str) -> None:
    X, y = noisy(24)
    y = np.where(X[:, 0] > 2, "far", y)
    with pytest.raises((ValueError, TypeError), match=complaint):
        learner.fit(local_rows(X, y, [9]), sample_weight=weights)
    assert not hasattr(learner, "coef_")


def test_dask_has_the_bits_of_its_shards(client: Client) -> None:
    X, y = noisy(120)
    arrays = da.from_array(X, chunks=(40, 2)), da.from_array(y, chunks=40)
    clf: Any = nv.Pocket(random_state=0, max_updates=300)
    clf.fit(nv.cluster.rows(*arrays, client=client))
    assert clf.n_errors_ == np.count_nonzero(clf.predict(X) != y)
    weights, proof = clf.coef_.tobytes(), clf.certificate_
    clf.fit(local_rows(X, y, [40, 80]))
    assert (clf.coef_.tobytes(), clf.certificate_) == (weights, proof)
    timed: Any = nv.Pocket(random_state=0, max_seconds=0.5)
    timed.fit(nv.cluster.rows(*arrays, client=client))
    assert timed.errors_lower_bound_ <= timed.n_errors_
    nv.verify(timed.certificate_, X, y)
