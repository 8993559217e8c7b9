"""A stream is predicted, then learned, row by row, with the same bits however it is cut."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable, Hashable
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nv
from novikoff.core.model import LinearModel
from novikoff.core.schemes import OneVsOne
from novikoff.errors import DataError, TooManyClassesError
from novikoff.jobs.stream_run import RECENT_ROWS, StreamRun
from novikoff.learners.arrays import Example
from novikoff.learners.base import linear
from novikoff.learners.stream import stream
from tests.cases import case_named
from tests.data_files import open_files

Matrix = npt.NDArray[np.float64]
Form = Callable[[Matrix], object]

RNG = np.random.default_rng(20)


def sparse(X: Matrix) -> sp.csr_array:
    """All entries, including zeros, as a CSR array."""
    n, d = X.shape
    parts = X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d
    return sp.csr_array(parts, shape=(n, d))


def assert_same(one: nv.Perceptron, other: nv.Perceptron) -> None:
    """Weights, averages, counts and classes, to the last bit."""
    assert one.classes_.tolist() == other.classes_.tolist()
    assert linear(one.model_).W.tobytes() == linear(other.model_).W.tobytes()
    assert linear(one.model_).weighted.tobytes() == linear(other.model_).weighted.tobytes()
    assert one.model_.totals.tolist() == other.model_.totals.tolist()


def judged(model: LinearModel | None, x: Matrix, label: Hashable) -> bool:
    """Whether the last weights fail to choose only this class, in a few lines of NumPy."""
    if model is None:
        return True
    if label not in model.classes.tolist():
        if len(model.classes) > 1:
            return True
        model = model.with_class(label)  # of two classes the sign is predicted
    code, scheme = model.classes.tolist().index(label), model.scheme
    found = np.array([x @ model.W[:-1] + model.W[-1]])
    if len(model.classes) <= 2:
        return bool(scheme.sides[code, 0] * found[0, 0] <= 0.0)
    if isinstance(scheme, OneVsOne):
        return bool(scheme.choose(found)[0] != code)
    return bool((np.delete(found[0], code) >= found[0, code]).any())


@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(1, 5),
    average=st.sampled_from([False, True]),
    multi_class=st.sampled_from(["ovr", "ovo"]),
    threshold=st.sampled_from([0.0, 0.7]),
    named=st.booleans(),
)
def test_a_stream_is_learn_one_row_by_row(
    seed: int,
    n_classes: int,
    average: bool,
    multi_class: Literal["ovr", "ovo"],
    threshold: float,
    named: bool,
) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    X, y = rng.integers(-2, 3, (n, d)) * 0.25, rng.integers(0, n_classes, n)
    one = nv.Perceptron(average=average, multi_class=multi_class, threshold=threshold)
    other = nv.Perceptron(average=average, multi_class=multi_class, threshold=threshold)
    mistakes = 0
    examples: list[tuple[object, int]] = []
    for row, label in zip(X, y.tolist(), strict=True):
        x: Example = {f"f{j}": float(row[j]) for j in range(d)} if named else row
        mistakes += judged(getattr(one, "model_", None), row, label)
        one.learn_one(x, label)
        examples.append((x, label))
    *_, last = stream(examples, other)
    assert_same(one, other)
    assert (last.rows, last.mistakes) == (n, mistakes)
    block = nv.Perceptron(average=average, multi_class=multi_class, threshold=threshold)
    *_, at_once = stream([(X, y)], block)
    assert (at_once.rows, at_once.mistakes, at_once.updates) == (n, mistakes, last.updates)


@given(
    cuts=st.lists(st.integers(1, 99), max_size=8, unique=True).map(sorted),
    average=st.sampled_from([False, True]),
    multi_class=st.sampled_from(["ovr", "ovo"]),
    form=st.sampled_from([np.asarray, sparse]),
)
def test_batches_do_not_matter(
    cuts: list[int],
    average: bool,
    multi_class: Literal["ovr", "ovo"],
    form: Form,
) -> None:
    rng = np.random.default_rng(len(cuts))
    X, y = rng.normal(size=(100, 4)), rng.integers(0, 4, 100)
    found = []
    for ends in ([0, 100], [0, *cuts, 100], list(range(101))):
        learner = nv.Perceptron(average=average, multi_class=multi_class)
        blocks = [(form(X[a:b]), y[a:b]) for a, b in pairwise(ends)]
        *_, last = stream(blocks, learner)
        found.append((learner, last))
    for learner, last in found[1:]:
        assert_same(found[0][0], learner)
        assert last == found[0][1]


def test_for_two_classes_the_mistakes_are_those_of_the_theorem() -> None:
    X, y = RNG.normal(size=(500, 3)), RNG.integers(0, 2, 500)
    learner = nv.Perceptron()
    *_, last = stream([(X, y)], learner, classes=[0, 1])
    assert last.mistakes == last.updates == learner.n_mistakes_
    *_, unnamed = stream([(X, y)], nv.Perceptron())
    assert unnamed == last
    *_, singly = stream(zip(X, y, strict=True), nv.Perceptron())
    assert (singly.mistakes, singly.updates) == (last.mistakes, last.updates)


def test_records_come_at_doubling_counts_or_as_asked() -> None:
    X, y = RNG.normal(size=(100, 3)), RNG.integers(0, 2, 100)
    assert [r.rows for r in stream([(X, y)])] == [1, 2, 4, 8, 16, 32, 64, 100]
    assert [r.rows for r in stream([(X, y)], every=30)] == [30, 60, 90, 100]
    assert [r.rows for r in stream([(X, y)], every=50)] == [50, 100]
    assert list(stream([])) == []
    with pytest.raises(ValueError, match="from 1 up"):
        next(stream([], every=0))


def test_the_recent_error_is_that_of_the_last_thousand_rows() -> None:
    X, y = RNG.normal(size=(2500, 2)), RNG.integers(0, 2, 2500)
    wrong, before = [], 0
    for record in stream([(X, y)], every=1):
        wrong.append(record.mistakes - before)
        before = record.mistakes
        assert record.recent_error == sum(wrong[-RECENT_ROWS:]) / min(len(wrong), RECENT_ROWS)
        assert record.error == before / record.rows


def test_the_learner_can_be_used_between_records() -> None:
    learner = nv.Perceptron()
    for record in stream([([1.0, 2.0], "a"), ([2.0, 1.0], "b"), ([3.0, 1.0], "b")], learner):
        assert learner.predict([[1.0, 1.0]])[0] in ("a", "b")
        assert learner.n_updates_ == record.updates
    assert learner.learn_one([0.0, 1.0], "c").classes_.tolist() == ["a", "b", "c"]


def test_a_fitted_learner_continues_and_rejects_other_classes() -> None:
    X = RNG.normal(size=(50, 2))
    y = (X[:, 0] > 0).astype(np.int64)
    learner = nv.Perceptron(random_state=0).fit(X, y)
    before = learner.n_updates_
    *_, last = stream([(X, y)], learner)
    assert last.updates == before
    assert last.mistakes == 0
    assert last.margin_bound is None  # its weights did not start from zero
    with pytest.raises(ValueError, match="not one of the classes"):
        list(stream([(X, y + 1)], learner))
    with pytest.raises(ValueError, match="not one of the classes"):
        list(stream([(X, y)], classes=[0, 2]))


def test_what_cannot_be_learned_is_said_and_nothing_of_it_is_learned() -> None:
    learner = nv.Perceptron()
    records = stream([([1.0, 1.0], 0), ([1e308, 1e308], 1), ([0.0, 1.0], 1)], learner, every=1)
    assert next(records).rows == 1
    with pytest.raises(ValueError, match=r"Row 2 of the stream .* beyond the range"):
        list(stream([([1e308], 0), ([1e308], 0), ([1.0], 1)], classes=[0, 1]))
    for bad in (np.nan, np.inf):
        with case_named(bad), pytest.raises(ValueError, match="Row 2 of the stream"):
            list(stream([([1.0], 0), ([bad], 1)]))
    with pytest.raises(ValueError, match="2 features are expected"):
        list(stream([([1.0, 1.0], 0), ([1.0, 1.0, 1.0], 1)]))
    with pytest.raises(ValueError, match="standard"):
        next(stream([], nv.Perceptron(scale="standard")))
    with pytest.raises(ValueError, match="2 rows, but labels of shape"):
        list(stream([(np.zeros((2, 2)), [1])]))


def test_a_record_is_saved_and_restored_exactly() -> None:
    X, y = RNG.normal(size=(3000, 3)), RNG.integers(0, 2, 3000)
    whole, first = StreamRun(step_size=0.1), StreamRun(step_size=0.1)
    list(whole.learn(X, y, [0, 1]))
    list(first.learn(X[:1234], y[:1234], [0, 1]))
    again = StreamRun(step_size=0.1)
    assert first.model is not None
    again.restore(first.model, json.loads(json.dumps(first.to_json())))
    list(again.learn(X[1234:], y[1234:], [0, 1]))
    assert again.progress() == whole.progress()
    assert again.to_json() == whole.to_json()


BAD = [
    (b"a,b,y\n1,2,no\n3,red,yes\n", r'row 2 \(line 3\), column "b" holds "red"'),
    (b"a,b,y\n1,2,no\n3,,yes\n", r'row 2 \(line 3\), column "b" is missing'),
    (b"1 1:2\n1 2:x\n", r'line 2.*"2:x" has a value'),
    (
        b"a,y\n" + b"1,1\n2,0\n" * 200 + b"3,maybe\n",
        r'row 401 has the label "maybe".*text_labels=T',
    ),
    (b"", "is empty"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_what_is_wrong_is_said_and_what_came_before_is_kept(content: bytes, message: str) -> None:
    learner = nv.Perceptron()
    with pytest.raises(DataError, match=message):
        list(stream(io.BytesIO(content), learner))
    kept = content.count(b"\n") > 1
    assert kept == hasattr(learner, "classes_")


def test_python_is_told_arguments_not_flags() -> None:
    """Labels that are measurements; bad rows, which a command could skip."""
    many = b"a,y\n" + b"".join(b"1,%d\n" % k for k in range(1200))
    with pytest.raises(DataError, match=r"hardly classes. Choose the label with label.$"):
        list(stream(io.BytesIO(many)))
    with pytest.raises(TooManyClassesError, match=r"1,001 different labels .* hardly classes.$"):
        list(stream([(np.ones((1200, 1)), np.arange(1200))]))
    for content, _ in BAD:
        with case_named(content), pytest.raises(DataError) as caught:
            list(stream(io.BytesIO(content)))
        assert "--" not in str(caught.value)


def test_files_are_given_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b,y\n1,2,no\n3,4,yes\n")
    for _ in range(3):
        list(stream(path))
        next(stream(path))
    assert open_files(tmp_path) == []


def test_a_silent_pipe_is_shown_at_once_and_can_be_left(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)

    def write() -> None:
        with open(path, "wb", buffering=0) as pipe:
            pipe.write(b"a,b,y\n1,2,no\n3,4,yes\n5,")
            done.wait(20.0)

    done = threading.Event()
    writer = threading.Thread(target=write)
    writer.start()
    records = stream(path, nv.Perceptron(), every=1)
    assert next(records)
    assert next(records)  # the third row is incomplete, and its end may never arrive
    records.close()
    done.set()
    writer.join()


@pytest.mark.parametrize("name", ["rows.parquet", "rows.npz"])
def test_parquet_and_arrays_are_streams_too(name: str, tmp_path: Path) -> None:
    X, y = RNG.normal(size=(500, 2)), RNG.integers(0, 2, 500)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=64)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    one = nv.Perceptron()
    *_, wanted = stream([(X, y)], one)
    other = nv.Perceptron()
    *_, last = stream(tmp_path / name, other)
    assert last == wanted
    assert_same(one, other)


def test_labels_are_read_as_text_on_request(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text(f"a,y\n1,{2**53 + 1}\n2,{2**53 + 2}\n")
    with pytest.raises(nv.NovikoffError, match=r"text_labels=True reads all labels as text"):
        [*stream(path)]
    learner = nv.Perceptron()
    assert [record.rows for record in stream(path, learner, text_labels=True)] == [1, 2]
    assert learner.classes_.tolist() == [str(2**53 + 1), str(2**53 + 2)]
