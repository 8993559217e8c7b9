"""Visits of a cluster, and verdicts for all ways to cut the rows into shards, without Dask."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nv
from novikoff.cluster.mixing import Epoch
from novikoff.cluster.passes import (
    MAX_REMEMBERED,
    Carrying,
    RowPredicate,
    Survey,
    Wanted,
    remembered,
)
from novikoff.cluster.rows import ClusterRows
from novikoff.cluster.shards import Setting, Shard
from novikoff.cluster.tasks import look_at_shards
from novikoff.cluster.visits import Check, Digests
from novikoff.core.class_labels import code_labels
from novikoff.core.orders import Permuted
from novikoff.core.runs import Plan
from novikoff.core.schemes import scheme_for
from novikoff.core.stops import Limits
from novikoff.core.updates import perceptron
from novikoff.geometry.passes import OutOfTimeError
from novikoff.geometry.visits import ColumnSums, ExactSigns, MostViolated, RowQuestion, Sizes
from novikoff.proofs import exact
from tests.cases import case_named
from tests.cluster.cases import KINDS, AtOnce, Done, data, local_rows, sparse
from tests.property.test_passes import seen as bits

SETTING = Setting("up", "down", True)
W = exact.numbers([Fraction(1), Fraction(0), Fraction(1, 3), Fraction(0)])


def visits(X: Any, y: Any) -> dict[str, RowQuestion]:
    near = np.array([1.0, -2.0, 0.5, 0.1])
    at_zero = RowPredicate(0, faces=((W, 1e-6),))
    plan = Plan(perceptron(), Permuted(), Limits(), seed=1)
    start, two = np.zeros((4, 1)), scheme_for(2, "ovr")
    return {
        "worst": Carrying(MostViolated(near, exact.floats(near), 1e-9, 3)),
        "worst on a face": Carrying(MostViolated(near, None, 1e-9, 3, within=at_zero)),
        "signs": Carrying(
            ExactSigns(W, 1e-6, replace(at_zero, others=True, without=(3, 5)), keep=False)
        ),
        "sums": ColumnSums(at_zero),
        "fetch": Carrying(Wanted(np.array([0, 3, 11]))),
        "survey": Survey(True),
        "digests": Digests(3, (SETTING,)),
        "check": Check(nv.separate(X, y).certificate),  # type: ignore[arg-type]
        "mixed by mistakes": Epoch(plan, two, ("down", "up"), True, "mistakes", start),
        "mixed uniformly": Epoch(plan, two, ("down", "up"), True, "uniform", start),
    }


def everything(found: Any) -> Any:
    """All fields of a result as bytes, so that they can be compared bit by bit."""
    if isinstance(found, np.ndarray | list | tuple | dict | float):
        return bits(found) if not isinstance(found, list | tuple | dict) else _inside(found)
    if hasattr(found, "tocsr"):
        return found.toarray().tobytes()
    if hasattr(found, "__dict__"):
        return _inside({k: v for k, v in vars(found).items() if k not in ("plan", "scheme")})
    return found


def _inside(found: Any) -> Any:
    if isinstance(found, dict):
        return {str(key): everything(found[key]) for key in sorted(found, key=str)}
    return [everything(value) for value in found]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.data())
def test_merging_in_any_tree_gives_the_same_bits(
    seed: int, is_sparse: bool, chosen: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    X, y = data("quasi-separable", n=40, seed=seed)
    X *= rng.choice([1.0, 0.1])  # integers add up to the same in any order
    asked = visits(X, y)
    visit = asked[chosen.draw(st.sampled_from(sorted(asked)))]
    edges = np.unique(np.concatenate([[0, 40], rng.integers(0, 41, size=5)])).tolist()
    rows = sparse(X) if is_sparse else X
    shards = [
        Shard(k, a, rows[a:b], code_labels(y[a:b])) for k, (a, b) in enumerate(pairwise(edges))
    ]

    def tree() -> RowQuestion:
        copies = [pickle.loads(pickle.dumps(visit)) for _ in shards]  # noqa: S301
        parts = [
            look_at_shards(SETTING, copy, [one]) for copy, one in zip(copies, shards, strict=True)
        ]
        while len(parts) > 1:
            i, j = rng.permutation(len(parts))[:2].tolist()
            parts[i].merge(pickle.loads(pickle.dumps(parts[j])))  # noqa: S301
            del parts[j]
        return parts[0]

    found = tree()
    assert everything(found) == everything(tree())
    if isinstance(found, Carrying) and isinstance(found.visit, MostViolated | Wanted):
        assert found.rows is not None  # only the rows that the answer names
        assert found.rows.numbers.tolist() == sorted(found.visit.rows.tolist())


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(KINDS),
    st.integers(0, 10**6),
    st.lists(st.integers(0, 120), max_size=8).map(sorted),
    st.booleans(),
    st.booleans(),
)
def test_however_rows_are_cut_the_kind_and_digest_agree_and_the_proof_holds(
    kind: str, seed: int, edges: list[int], is_sparse: bool, fit_intercept: bool
) -> None:
    X, y = data(kind, n=120, seed=seed)
    rows = local_rows(sparse(X) if is_sparse else X, y, edges)
    verdict = nv.separate(rows, fit_intercept=fit_intercept)
    whole = nv.separate(X, y, fit_intercept=fit_intercept)
    assert verdict.kind == whole.kind
    assert verdict.n_separated == whole.n_separated == len(whole.separated_rows)
    assert verdict.certificate is not None
    assert whole.certificate is not None
    assert verdict.certificate.sha256 == whole.certificate.sha256
    assert verdict.margin.lo <= whole.margin.hi
    assert whole.margin.lo <= verdict.margin.hi
    verdict.certificate.verify(X, y)
    nv.verify(whole.certificate, rows)


@pytest.mark.parametrize("mix", ["mistakes", "uniform"])
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(0, 300), max_size=6).map(sorted))
def test_mixed_updates_stay_below_the_bound(mix: str, seed: int, edges: list[int]) -> None:
    X, y = data("separable", n=300, seed=seed)
    bound = nv.separate(X, y).mistake_bound
    rows = local_rows(X, y, edges, mix=mix)
    clf = nv.Perceptron(random_state=seed % 1000).fit(rows)
    assert bound is not None
    assert clf.mixed_updates_[0] <= bound
    assert clf.converged_
    assert (clf.predict(X) == y).all()
    if mix == "mistakes":  # each epoch except the last adds at least 1
        assert clf.n_iter_ - 1 <= bound


def test_a_sum_of_weights_instead_of_a_mixture_breaks_the_bound() -> None:
    """In the mutant w ← Σ w_i, ‖w‖ grows by R·Σk, and the proof of the theorem fails."""
    X, y = data("separable", n=300)
    rows = local_rows(X, y, [100, 200])
    plan = Plan(perceptron(), Permuted(), Limits(epochs=1), seed=0)
    epoch = Epoch(plan, scheme_for(2, "ovr"), ("down", "up"), True, "mistakes", np.zeros((4, 1)))
    done = rows.cluster.over(epoch, Limits())
    mixed, counted = done.mixed()
    assert float(counted[0]) < int(done.totals[1, 0])
    assert len(done.sums) == 2  # of three shards
    R = nv.separate(X, y).radius
    assert np.linalg.norm(mixed) ** 2 <= R**2 * float(counted[0])
    assert np.linalg.norm(done._total(2, 0)) ** 2 > R**2 * float(counted[0])


@pytest.mark.parametrize("kind", KINDS)
def test_groups_do_not_matter_to_a_bit(kind: str) -> None:
    X, y = data(kind, n=300)
    for rows in (X, sparse(X)):
        with case_named(type(rows).__name__):
            one, two, nine = (
                nv.separate(local_rows(rows, y, [7, 7, 100, 220, 299], threads)).certificate
                for threads in (1, 2, 9)
            )
            assert one == two == nine


def test_several_classes_learn_side_by_side() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + 20.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 30, axis=0)
    y = np.repeat(["a", "b", "c"], 30)
    clf = nv.Perceptron(random_state=0).fit(local_rows(X, y, [20, 50, 61]))
    assert (clf.predict(X) == y).all()
    assert len(clf.mixed_updates_) == 3
    limited = nv.Perceptron(max_updates=clf.n_updates_ - 1, random_state=0)
    assert limited.fit(local_rows(X, y, [20, 50, 61])).converged_  # of each rule, not of all
    assert not hasattr(clf.fit(X, y), "mixed_updates_")
    with pytest.raises(ValueError, match="verbose must be 0 for rows on a cluster"):
        nv.Perceptron(verbose=1).fit(local_rows(X, y, [20]))
    verdict = nv.separate(local_rows(X, y, [20]), positive="b")
    assert verdict.certificate == nv.separate(X, y, positive="b").certificate


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_shard_of_zeros_changes_nothing(is_sparse: bool) -> None:
    """A shard of zeros does not change how the other rows are balanced, dense or sparse."""
    X = np.array([[0.0], [0.0], [1e-8], [2e9], [-3.0], [5.0]])
    y = np.array([1, 0, 1, 1, 0, 0])
    X = sparse(X) if is_sparse else X
    found = nv.separate(local_rows(X, y, [1, 2, 4]), fit_intercept=False).certificate
    assert found is not None
    assert found == nv.separate(X, y, fit_intercept=False).certificate
    nv.verify(found, local_rows(X, y, [1, 2, 4]))
    sizes = Sizes(np.ones(1))
    for part in (slice(0, 2), slice(2, 4)):
        own = Sizes(np.ones(1))
        own.look_at(Shard(0, part.start, X[part], code_labels(y[part])).part(Setting(1, 0, False)))
        sizes.merge(own)
    assert (sizes.shortest, sizes.longest) == (1e-8, 2e9)


def test_shards_that_are_not_alike_are_rejected() -> None:
    X, y = data("separable", n=8)
    mixed = local_rows(X, y, [4]).source
    mixed.units[1] = Done(sparse(X[4:])), Done(y[4:])
    with pytest.raises(ValueError, match="Some chunks are sparse, others are dense"):
        ClusterRows(AtOnce(), mixed, "mistakes", lambda tasks, done: None)
    numbers = np.array([0, 1, 0, 1, "0", "1", "0", "1"], dtype=object)
    with pytest.raises(ValueError, match="The label 0 is a number in some shards and text in"):
        local_rows(X, numbers, [4])


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6))
def test_one_row_to_a_shard_gives_the_bits_of_memory(seed: int) -> None:
    """Rows of very different lengths, all at the margin, so that rounding decides between them."""
    rng = np.random.default_rng(seed)
    y = np.arange(10) % 2
    X = rng.normal(size=(10, 3)) * 10.0 ** rng.integers(0, 8, size=(10, 1))
    X[:, 0] = 2 * y - 1
    X = X @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = nv.separate(local_rows(X, y, list(range(1, 10)))).certificate
    assert found is not None
    assert found == nv.separate(X, y).certificate
    nv.verify(found, X, y)


def test_no_digest_is_worked_out_without_a_certificate() -> None:
    """When the search ends, for any reason, the tasks of the digest are cancelled."""
    X, y = data("separable", n=40)
    rows, cancelled = local_rows(X, y, [20]), list[str]()

    def cancel(futures: Any, **how: Any) -> None:
        cancelled.extend(type(future.value).__name__ for future in futures)

    rows.cluster.client.cancel = cancel

    def fail(interval: object) -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        nv.separate(rows, progress=fail)
    assert cancelled == ["Digests"] * 3
    assert nv.separate(rows, budget=1e-9).kind == "undecided"
    assert cancelled[3:].count("Digests") == 3
    cancelled.clear()
    assert nv.separate(rows).kind == "separable"
    assert cancelled == []


def test_labels_beside_rows_that_include_them_are_rejected() -> None:
    X, y = data("separable", n=40)
    rows = local_rows(X, y, [20])
    proof = nv.separate(X, y).certificate
    assert proof is not None
    asked: dict[str, Callable[[], object]] = {
        "separate": lambda: nv.separate(rows, y),
        "verify": lambda: nv.verify(proof, rows, y[::-1]),
    }
    for name, ask in asked.items():
        with (
            case_named(name),
            pytest.raises(ValueError, match="include their labels: do not pass y"),
        ):
            ask()
    with pytest.raises(TypeError, match="Call separate"):
        nv.separate_classes(rows, None)


def test_rows_are_fetched_within_the_budget() -> None:
    """The first fetch has no limit: even an undecided answer has an upper bound on the margin."""
    rows = local_rows(*data("separable", n=40), [20])
    passes = rows.passes(SETTING, Limits(seconds=1e-9))
    assert passes.fetch(np.array([3])).n == 1
    with pytest.raises(OutOfTimeError):
        passes.fetch(np.array([30]))


def test_a_shard_forgets_what_it_knew_of_many_questions() -> None:
    X, y = data("separable", n=60)
    shard = Shard(0, 0, X, code_labels(y))
    for k in np.repeat(np.arange(3 * MAX_REMEMBERED), 2).tolist():
        assert remembered(shard.part(SETTING), k, partial(np.full, 1, k)).tolist() == [k]
    assert len(shard.memo) <= MAX_REMEMBERED
