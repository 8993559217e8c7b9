"""A row of a stream that is refused leaves nothing behind: no feature, no class, no weight."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.learners.progressive import Progressive
from novikoff.learners.pupil import Pupil
from novikoff.report.stream import Item, stream
from tests.cli.conftest import inside

DICTS: list[Item] = [({"a": 1.0, "b": 1e200}, "x"), ({"b": 1.0}, "y"), ({"a": 1.0, "d": 2.0}, "x")]
VECTORS: list[Item] = [([1.0, 1e200], "x"), ([0.0, 1.0], "y"), ([1.0, 2.0], "x")]
ROWS: list[Item] = [
    (sp.csr_array([[1.0, 1e200]]), ["x"]),
    (sp.csr_array([[0.0, 1.0]]), ["y"]),
]
FEATURES: list[dict[str, object]] = [
    {"c": math.nan},
    {"c": math.inf},
    {"c": "text"},
    {"c": 10**400},
    {"c": 1.0, "b": 1e200},
]


def state(learner: nv.Perceptron) -> dict[str, object]:
    """All that a learner knows."""
    known = {name: value for name, value in vars(learner).items() if name != "_rules"}
    if hasattr(learner, "_rules"):
        known["W"] = learner._rules.W.tolist()
        known["lazy"] = learner._rules.lazy.tolist()
        known["tally"] = learner._rules.tally.tolist()
        known["classes_"] = learner.classes_.tolist()
        known["_vocabulary"] = list(learner._features().items())
    return known


def learned(items: Sequence[Item], average: bool = False) -> nv.Perceptron:
    learner = nv.Perceptron(average="averaged" if average else False)
    for _ in stream(items, learner):
        pass
    return learner


def check(before: Sequence[Item], refused: Item, average: bool = False) -> None:
    """The learner that meets a refused row is the one that never did, and goes on like it."""
    learner = nv.Perceptron(average="averaged" if average else False)
    with pytest.raises((ValueError, TypeError)):
        list(stream([*before, refused], learner))
    expected = learned(before, average)
    assert state(learner) == state(expected)
    for one in (learner, expected):
        list(stream([*before[1:], *before[1:]], one))  # without 1e200, whose square is too large
    assert state(learner) == state(expected)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("label", ["x", "z"])
@pytest.mark.parametrize("x", FEATURES, ids=str)
def test_features_of_dicts(x: dict[str, object], label: str, n: int, average: bool) -> None:
    if n == 0 and x == FEATURES[-1]:
        x = {"c": math.nan}  # the first row has no weights that it could be too large for
    check(DICTS[:n], (x, label), average)


@pytest.mark.parametrize("rows", [DICTS, VECTORS], ids=["dicts", "vectors"])
@pytest.mark.parametrize("label", [None, math.nan, ("x",), ["x"], 3])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_labels(rows: list[Item], label: Hashable, n: int) -> None:
    if n == 0 and label == 3:
        return  # a first label may be any
    x = {"c": 1.0} if rows is DICTS else [1.0, 1.0]
    check(rows[:n], (x, label))


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("x", [[math.nan, 1.0], [1.0, math.inf]])
def test_classes_of_vectors(n: int, x: list[float]) -> None:
    check(VECTORS[:n], (x, "new"))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_columns_of_sparse_rows(n: int) -> None:
    check(ROWS[:n], (sp.csr_array([[0.0, 0.0, 0.0, math.nan]]), ["new"]))


@pytest.mark.parametrize("bad", range(6))
def test_rows_of_a_batch_from_the_refused_one_on(bad: int) -> None:
    X = np.eye(6)
    X[bad, bad] = math.nan
    codes, labels = np.array([0, 0, 1, 2, 0, 3]), ["p", "q", "r", "s"]
    one, other = Progressive(Pupil()), Progressive(Pupil())
    with pytest.raises(ValueError, match=f"Row {bad + 1} of the stream"):
        one.learn(sp.csr_array(X), codes, labels, 0, 6)
    other.learn(sp.csr_array(X[:bad, : max(bad, 1)]), codes, labels, 0, bad)
    assert one.to_json() == other.to_json()
    assert one.pupil.labels == other.pupil.labels
    if bad == 0:
        assert one.pupil.known is None
    else:
        assert one.pupil.rules.n_features == bad
        assert one.pupil.rules.W.tolist() == other.pupil.rules.W.tolist()


def test_names_of_a_file(tmp_path: Path) -> None:
    before = b"x a:1 b:1e200\ny b:1\nx a:1 d:2\n"
    (tmp_path / "one").write_bytes(before + b"z new:1 b:1e200\nx later:1\n")
    (tmp_path / "other").write_bytes(before)
    for name, code in (("one", 2), ("other", 0)):
        model = tmp_path / f"{name}.novikoff"
        done = inside("stream", tmp_path / name, "--names", "--save", model, "--quiet")
        assert done.code == code
    one, other = nv.load(tmp_path / "one.novikoff"), nv.load(tmp_path / "other.novikoff")
    assert one.feature_names_in_.tolist() == other.feature_names_in_.tolist() == ["a", "b", "d"]
    assert one.classes_.tolist() == other.classes_.tolist() == ["x", "y"]
    assert one.coef_.tolist() == other.coef_.tolist()
