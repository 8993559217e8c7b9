"""A stream: predicted, then learned, row by row, bit for bit however it is cut."""

from __future__ import annotations

import gzip
import io
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
from novikoff.data import Choices, DataError
from novikoff.data.feeds.feed import Batch, Mark, Wishes
from novikoff.data.feeds.opening import open_feed
from novikoff.data.scanner import feature_hash
from novikoff.learners.inputs import Example
from novikoff.learners.progressive import WINDOW, Progressive
from novikoff.learners.pupil import Pupil
from novikoff.learners.schemes import OneVsOne
from novikoff.report.stream import stream

Matrix = npt.NDArray[np.float64]
Form = Callable[[Matrix], object]

ANY = Wishes()
RNG = np.random.default_rng(20)


def sparse(X: Matrix) -> sp.csr_array:
    """All entries, zeros too, as a CSR array."""
    n, d = X.shape
    parts = X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d
    return sp.csr_array(parts, shape=(n, d))


def assert_same(one: nv.Perceptron, other: nv.Perceptron) -> None:
    """Weights, averages, counts and classes, to the last bit."""
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert one.intercept_.tobytes() == other.intercept_.tobytes()
    assert one._rules.lazy.tobytes() == other._rules.lazy.tobytes()
    assert one.n_updates_ == other.n_updates_
    assert one.n_mistakes_ == other.n_mistakes_


def judged(learner: nv.Perceptron, x: Example, label: Hashable) -> bool:
    """Whether the last weights do not choose this class alone, in a few lines of NumPy."""
    if "_rules" not in learner.__dict__ or label not in learner._codes:
        return True
    columns, values = learner._locate(x, grow=True)
    rules, code = learner._rules, learner._codes[label]
    scores = [0.0] * rules.shape[0]
    for column, value in zip(columns, values, strict=True):
        scores = [s + value * w for s, w in zip(scores, rules.W[column], strict=True)]
    found = np.array([[s + b for s, b in zip(scores, rules.W[-1], strict=True)]])
    scheme = rules.scheme
    if len(rules.sides) <= 2:
        return bool(rules.sides[code, 0] * found[0, 0] <= 0.0)
    if not isinstance(scheme, OneVsOne):
        return bool((np.delete(found[0], code) >= found[0, code]).any())
    votes, sums = scheme._count(found)
    keys = list(zip(votes[0], sums[0], strict=True))
    return any(key >= keys[code] for k, key in enumerate(keys) if k != code)


@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(1, 5),
    average=st.sampled_from([False, "averaged"]),
    multi_class=st.sampled_from(["ovr", "ovo"]),
    margin=st.sampled_from([0.0, 0.7]),
    step=st.sampled_from([1.0, 0.3]),
    named=st.booleans(),
)
def test_a_stream_is_learn_one_row_by_row(
    seed: int,
    n_classes: int,
    average: Literal[False, "averaged"],
    multi_class: Literal["ovr", "ovo"],
    margin: float,
    step: float,
    named: bool,
) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    X = rng.integers(-2, 3, (n, d)) * rng.choice([1.0, 0.1])
    y = rng.integers(0, n_classes, n)
    one = nv.Perceptron(average=average, multi_class=multi_class, margin=margin, step=step)
    mistakes = 0
    examples: list[tuple[Example, int]] = []
    for row, label in zip(X, y.tolist(), strict=True):
        x: Example = row
        if named:  # features that appear late, in any order
            chosen = rng.permutation(d)[: rng.integers(0, d + 1)]
            x = {f"f{j}": float(row[j]) for j in chosen}
        mistakes += judged(one, x, label)
        one.learn_one(x, label)
        examples.append((x, label))
    other = nv.Perceptron(average=average, multi_class=multi_class, margin=margin, step=step)
    *_, last = stream(examples, other)
    assert_same(one, other)
    assert (last.rows, last.mistakes) == (n, mistakes)


@pytest.mark.parametrize("average", [False, "averaged"])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("form", [np.asarray, sparse])
def test_batches_do_not_matter(
    average: Literal[False, "averaged"], multi_class: Literal["ovr", "ovo"], form: Form
) -> None:
    X, y = RNG.normal(size=(300, 4)), RNG.integers(0, 4, 300)
    one, mistakes = nv.Perceptron(average=average, multi_class=multi_class), 0
    for row, label in zip(X, y.tolist(), strict=True):
        mistakes += judged(one, row, label)
        one.learn_one(row, label)
    for cuts in ([0, 300], [0, 1, 2, 150, 299, 300], list(range(301))):
        other = nv.Perceptron(average=average, multi_class=multi_class)
        blocks = [(form(X[a:b]), y[a:b]) for a, b in pairwise(cuts)]
        *_, last = stream(blocks, other)
        assert_same(one, other)
        assert last.mistakes == mistakes


def test_for_two_classes_the_mistakes_are_those_of_the_theorem() -> None:
    X, y = RNG.normal(size=(500, 3)), RNG.integers(0, 2, 500)
    learner = nv.Perceptron()
    *_, last = stream([(X, y)], learner, classes=[0, 1])
    assert last.mistakes == last.updates == learner.n_mistakes_


def test_records_come_at_doubling_counts_or_as_asked() -> None:
    X, y = RNG.normal(size=(100, 3)), RNG.integers(0, 2, 100)
    assert [r.rows for r in stream([(X, y)])] == [1, 2, 4, 8, 16, 32, 64, 100]
    assert [r.rows for r in stream([(X, y)], every=30)] == [30, 60, 90, 100]
    assert [r.rows for r in stream([(X, y)], every=50)] == [50, 100]
    assert list(stream([])) == []
    with pytest.raises(ValueError, match="one row at least"):
        next(stream([], every=0))


def test_the_recent_error_is_that_of_the_last_thousand_rows() -> None:
    X, y = RNG.normal(size=(2500, 2)), RNG.integers(0, 2, 2500)
    wrong, before = [], 0
    for record in stream([(X, y)], every=1):
        wrong.append(record.mistakes - before)
        before = record.mistakes
        assert record.recent_error == sum(wrong[-WINDOW:]) / min(len(wrong), WINDOW)
        assert record.error == before / record.rows


def test_the_learner_can_be_used_between_records() -> None:
    learner = nv.Perceptron()
    for record in stream([([1.0, 2.0], "a"), ([2.0, 1.0], "b"), ([3.0, 1.0], "b")], learner):
        assert learner.predict([[1.0, 1.0]])[0] in ("a", "b")
        assert learner.n_updates_ == record.updates
    assert learner.learn_one([0.0, 1.0], "c").classes_.tolist() == ["a", "b", "c"]


def test_a_fitted_learner_goes_on_and_refuses_other_classes() -> None:
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
        with pytest.raises(ValueError, match="Row 2 of the stream"):
            list(stream([([1.0], 0), ([bad], 1)]))
    with pytest.raises(ValueError, match="3 features, but 2"):
        list(stream([([1.0, 1.0], 0), ([1.0, 1.0, 1.0], 1)]))
    with pytest.raises(ValueError, match="voted"):
        next(stream([], nv.Perceptron(average="voted")))
    with pytest.raises(ValueError, match="2 rows, but labels of shape"):
        list(stream([(np.zeros((2, 2)), [1])]))


def test_a_record_is_saved_and_restored_exactly() -> None:
    X, y = RNG.normal(size=(3000, 3)), RNG.integers(0, 2, 3000)
    whole = Progressive(Pupil(step=0.1))
    whole.learn(X, y, [0, 1], 0, 3000)
    first = Progressive(Pupil(step=0.1))
    first.learn(X, y, [0, 1], 0, 1234)
    again = Progressive.from_json(first.pupil, first.to_json())
    again.learn(X, y, [0, 1], 1234, 3000)
    assert again.progress() == whole.progress()
    assert again.to_json() == whole.to_json()


# Files and pipes.


def rows_of(content: bytes, wishes: Wishes = ANY) -> list[tuple[list[float], Hashable, Mark]]:
    """Every row with its label and the mark after it."""
    feed = open_feed(io.BytesIO(content), wishes)
    found = []
    for batch in feed.batches(feed.start):
        dense = batch.X if isinstance(batch.X, np.ndarray) else batch.X.toarray()
        found += [
            (dense[k].tolist(), batch.labels[batch.codes[k]], batch.mark(k + 1))
            for k in range(len(batch))
        ]
    return found


def test_odd_rows_change_nothing_but_themselves() -> None:
    plain = [f"{a},{a * 0.1!r},{'yes' if a % 3 else 'no'}" for a in range(500)]
    odd = list(plain)
    odd[100] = '100,"10.000000000000002",yes'  # 100 * 0.1 has such a neighbour
    odd[200] = " 200 ,20.0,yes"
    odd[300] = "300,30.0,no\r"
    found = [rows_of("\n".join(["a,b,y", *lines, ""]).encode()) for lines in (plain, odd)]
    assert [label for _, label, _ in found[0]] == [label for _, label, _ in found[1]]
    differing = [k for k in range(500) if found[0][k][0] != found[1][k][0]]
    assert differing == [100]


def test_marks_are_where_rows_end() -> None:
    content = b'a,b,y\n1,2,no\n\n3,NA,yes\n4,5,"n\no"\n6,7,yes'
    found = rows_of(content, Wishes(Choices(missing="drop")))
    assert [row for row, _, _ in found] == [[1.0, 2.0], [4.0, 5.0], [6.0, 7.0]]
    assert [label for _, label, _ in found] == ["no", "n\no", "yes"]
    assert [mark.dropped for _, _, mark in found] == [0, 1, 1]
    assert [content[: mark.offset][-3:] for _, _, mark in found] == [b"no\n", b'o"\n', b"yes"]
    assert [mark.line for _, _, mark in found] == [2, 6, 6]


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10**6])
def test_pieces_of_any_size_give_the_same_rows(size: int) -> None:
    content = "a,b,y\n" + "".join(f"{a},{a / 7!r},{a % 2}\n" for a in range(200))
    content += '7,8,"1"\n' + "9,9,0"

    class Drops(io.BytesIO):
        def read1(self, most: int | None = -1) -> bytes:
            return super().read1(size)

    feed = open_feed(Drops(content.encode()))
    rows = [row for batch in feed.batches(feed.start) for row in dense(batch)]
    assert rows == [[float(a), a / 7] for a in range(200)] + [[7.0, 8.0], [9.0, 9.0]]


def dense(batch: Batch) -> list[list[float]]:
    X = batch.X if isinstance(batch.X, np.ndarray) else batch.X.toarray()
    rows: list[list[float]] = X.tolist()
    return rows


def test_gzip_is_unpacked_in_several_members_too() -> None:
    content = gzip.compress(b"a,y\n1,0\n") + gzip.compress(b"2,1\n3,0\n")
    assert [row for row, _, _ in rows_of(content)] == [[1.0], [2.0], [3.0]]
    with pytest.raises(DataError, match="cut off"):
        rows_of(content[:-12])


def test_numbered_features_are_columns_as_written() -> None:
    found = rows_of(b"+1 1:2 3:4 # first\n\n-1.0 2:1\n1 0:7\n")
    assert [label for _, label, _ in found] == [1, -1, 1]
    assert [np.flatnonzero(row).tolist() for row, _, _ in found] == [[1, 3], [2], [0]]


def test_named_features_get_the_next_column_or_are_hashed() -> None:
    text = b"spam free:1 money:2\nham lunch:1.5 free:2\n"
    feed = open_feed(io.BytesIO(text))
    (batch,) = feed.batches(feed.start)
    assert feed.names == ["free", "money", "lunch"]
    assert dense(batch) == [[1.0, 2.0, 0.0], [2.0, 0.0, 1.5]]
    hashed = rows_of(text, Wishes(bits=10))
    assert np.flatnonzero(hashed[0][0]).tolist() == sorted(
        feature_hash(name, 10) for name in (b"free", b"money")
    )
    assert len(hashed[0][0]) == 1 << 10
    quick = rows_of(b"1 free:1 money:2\n-1 lunch:1.5 free:2\n", Wishes(bits=10))  # by the kernel
    assert [row for row, _, _ in quick] == [row for row, _, _ in hashed]


def test_text_cells_are_features_of_their_own_if_asked() -> None:
    content = b"size,colour,y\n1,red,no\n2,blue,yes\n3,7,no\n"
    feed = open_feed(io.BytesIO(content), Wishes(Choices(one_hot=("*",))))
    (batch,) = feed.batches(feed.start)
    assert feed.names == ["size", "colour=red", "colour=blue", "colour=7"]
    assert dense(batch) == [[1.0, 1.0, 0, 0], [2.0, 0, 1.0, 0], [3.0, 0, 0, 1.0]]
    hashed = rows_of(content, Wishes(bits=12))
    assert hashed[1][0][feature_hash(b"colour=blue", 12)] == 1.0
    assert hashed[1][0][feature_hash(b"size", 12)] == 2.0


BAD = [
    (b"a,b,y\n1,2,no\n3,red,yes\n", r'line 3, column "b" holds "red".*--hash'),
    (b"a,b,y\n1,2,no\n3,,yes\n", r'line 3, column "b" is missing'),
    (b"a,b,y\n1,2,no\n3,4,\n", r'line 3, column "y": the label is missing'),
    (b"a,b,y\n1,2,no\n3,yes\n", r"line 3 has 2 fields where 3"),
    (b"a,b,y\n1,2,no\n3,1e999,yes\n", r'line 3, column "b" is infinite'),
    (b"a,b,y\n" + b"1,2,no\n" * 150_000 + b"3,4,y\xff\n", r"line 150002 is not UTF-8"),
    (b"1 1:2\n1 2:2 1:2\n", r"line 2 has the index 1 after 2"),
    (b"1 1:2\n1 2:x\n", r'line 2: "2:x" is not of the form'),
    (b"1 1:2\n1 2:nan\n", r'line 2: "2:nan" is missing'),
    (b"1 1:2\n1 2:inf\n", r"infinite"),
    (b"1 1:2\n" * 200 + b"1 cat:2\n", r'line 201 has the feature "cat".*--names'),
    (b"a,y\n" + b"1,1\n2,0\n" * 200 + b"3,maybe\n", r'line 402 has the label "maybe".*--text-l'),
    (b"a,y\n" + b"1,1.0\n2,0.0\n" * 200 + b"3,x\n", r"line 402 .*all numbers so far"),
    (b"a,y\n" + b"1,true\n2,false\n" * 200 + b"3,1\n", r"line 402 .*true or false, so far"),
    (b"", "is empty"),
    (b"a,y\n", "header but no rows"),
]


@pytest.mark.parametrize(("content", "message"), BAD)
def test_what_is_wrong_is_said_and_what_came_before_is_kept(content: bytes, message: str) -> None:
    learner = nv.Perceptron()
    with pytest.raises(DataError, match=message):
        list(stream(io.BytesIO(content), learner))
    kept = content.count(b"\n") > 1
    assert kept == hasattr(learner, "classes_")


def test_means_and_binary_pipes_are_refused() -> None:
    with pytest.raises(DataError, match="--missing mean"):
        open_feed(io.BytesIO(b"a,y\n1,2\n"), Wishes(Choices(missing="mean")))
    with pytest.raises(DataError, match="pipe"):
        open_feed(io.BytesIO(b"PAR1 and so on"))


def test_labels_as_text_are_whatever_comes() -> None:
    content = b"a,y\n1,1\n2,0\n3,maybe\n"
    found = rows_of(content, Wishes(text_labels=True))
    assert [label for _, label, _ in found] == ["1", "0", "maybe"]


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
    assert next(records)  # the third row is not whole, and more may never come
    records.close()
    done.set()
    writer.join()


def test_parquet_and_arrays_are_streams_too(tmp_path: Path) -> None:
    X, y = RNG.normal(size=(500, 2)), RNG.integers(0, 2, 500)
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=64)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    one = nv.Perceptron()
    *_, wanted = stream([(X, y)], one)
    for name in ("rows.parquet", "rows.npz", "rows.npy"):
        other = nv.Perceptron()
        *_, last = stream(tmp_path / name, other)
        assert last == wanted
        assert_same(one, other)
    feed = open_feed(tmp_path / "rows.parquet")
    rest = [row for batch in feed.batches(Mark(123)) for row in dense(batch)]
    assert rest == X[123:].tolist()
