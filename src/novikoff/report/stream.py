"""``nv.stream``: learn from a stream and watch it happen."""

from __future__ import annotations

import os
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from novikoff.core.blocks import Blocks
from novikoff.core.rows import Floats, Indices, SparseMatrix
from novikoff.data.choices import Choices
from novikoff.data.feed import Wishes
from novikoff.data.feed_open import open_feed
from novikoff.learners.inputs import Example
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.progressive import Progress, Progressive
from novikoff.learners.pupil import Pupil
from novikoff.report.course import Course, Stop, doubling, multiples

Item: TypeAlias = tuple[object, object]
StreamSource: TypeAlias = str | os.PathLike[str] | BinaryIO | Blocks | Iterable[Item]

_DEFAULT = Choices()


def stream(
    source: StreamSource,
    learner: Perceptron | None = None,
    *,
    classes: Sequence[Hashable] | None = None,
    every: int | None = None,
    choices: Choices = _DEFAULT,
    hash_bits: int | None = None,
) -> Generator[Progress]:
    r"""Learn from a stream, one row at a time: predict, then learn (A5).

    The learner is updated in place, and can be used between two records. On a separable stream
    of two classes it makes at most R²/γ² mistakes, however long the stream is (B4); meanwhile
    γ ≤ ‖w‖/(t·μ) after t updates, so that each record bounds the margin that is possible.

    Parameters
    ----------
    source : path, "-", binary file, blocks, or iterable
        A file or pipe of rows; blocks, such as `novikoff.data.blocks` makes; or pairs (x, y) of an
        example, a vector or a dict, and its label; or pairs (X, y) of rows and their labels.
    learner : Perceptron, optional
        What learns; a new one by default, which then goes on learning unseen.
    classes : sequence of labels, optional
        All labels there will be. By default classes are taken in as they appear.
    every : int, optional
        A record every so many rows; by default after 1, 2, 4, 8, … rows. The last row has one
        in any case.
    choices : Choices
        How a file is read.
    hash_bits : int, optional
        Hash the names of features, and text cells, of a file to 2^bits columns.

    Yields
    ------
    Progress
        Rows, mistakes, error, recent error, updates, ‖w‖ and the bound on γ so far.

    Examples
    --------
    >>> import novikoff as nv
    >>> learner = nv.Perceptron()
    >>> examples = [({"legs": 4, "fur": 1}, "cat"), ({"legs": 2}, "bird")] * 4
    >>> for record in stream(examples, learner):
    ...     print(record.rows, record.mistakes)
    1 1
    2 2
    4 3
    8 6
    >>> learner.predict_one({"legs": 2})
    'bird'
    """
    if every is not None and every < 1:
        raise ValueError(f"every is {every}, but there must be one row at least between records.")
    learner = Perceptron() if learner is None else learner
    record = Progressive(Pupil.of(learner), classes)
    stop = doubling if every is None else multiples(every)
    wishes = Wishes(choices, hash_bits)
    last = 0
    for _ in _stretches(source, learner, record, stop, wishes):
        if record.rows > last and stop(record.rows - 1) == record.rows:
            last = record.rows
            yield record.progress()
    if record.rows > last:
        yield record.progress()


def _stretches(
    source: StreamSource, learner: Perceptron, record: Progressive, stop: Stop, wishes: Wishes
) -> Iterator[None]:
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        feed = open_feed(cast("str", source), wishes)
        course = Course(feed, record, feed.start)
        for _ in course.go(stop):
            if record.rows:
                course.teach(learner)
            yield
        return
    for x, y in source:
        if _is_block(x):
            for _ in _learn_block(x, y, record, stop):
                record.pupil.lend(learner)
                yield
        else:
            _learn_example(cast("Example", x), y, learner, record)
            yield


def _is_block(x: object) -> bool:
    return sp.issparse(x) or (not isinstance(x, Mapping) and np.ndim(cast("float", x)) == 2)


def _learn_block(x: object, y: object, record: Progressive, stop: Stop) -> Iterator[None]:
    if sp.issparse(x):
        X: Floats | SparseMatrix = sp.csr_array(cast("SparseMatrix", x)).astype(np.float64)
        record.width = X.shape[1]
    else:
        X = np.ascontiguousarray(cast("Floats", x), dtype=np.float64)
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    if codes.shape != (X.shape[0],):
        raise ValueError(f"A block has {X.shape[0]} rows, but {codes.size} labels.")
    first = 0
    while first < len(codes):
        last = min(len(codes), first + stop(record.rows) - record.rows)
        record.learn(X, codes, labels.tolist(), first, last)
        first = last
        yield


def _learn_example(x: Example, y: Hashable, learner: Perceptron, record: Progressive) -> None:
    label = y.item() if isinstance(y, np.generic) else y
    nought: Indices = np.zeros(1, dtype=np.int64)
    if not isinstance(x, Mapping):
        row = np.asarray(x, dtype=np.float64).reshape(1, -1)
        record.learn(row, nought, [label], 0, 1)
    else:
        if record.pupil.known is None:
            record.begin(label, 0)
            record.pupil.lend(learner)
        columns, values = learner._locate(x, grow=True)
        pointers = np.array([0, len(columns)])
        shape = (1, learner.n_features_in_)
        X = sp.csr_array((values, columns, pointers), shape=shape)
        record.learn(X, nought, [label], 0, 1)
    record.pupil.lend(learner)
