"""``nv.stream``: learn from a stream and watch it happen."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from novikoff.core.blocks import Blocks
from novikoff.core.rows import Floats, SparseMatrix
from novikoff.data.choices import Choices
from novikoff.data.errors import DataError
from novikoff.data.feeds.feed import Wishes
from novikoff.data.feeds.opening import open_feed
from novikoff.learners.inputs import Example
from novikoff.learners.perceptron import Perceptron
from novikoff.learners.progressive import Progress, Progressive
from novikoff.learners.pupil import Pupil
from novikoff.learners.streaming import all_or_nothing
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

    Raises
    ------
    TypeError, ValueError
        If these are not such things; or, as `novikoff.data.DataError`, if the rows of a file
        cannot be read or learned. The rows before have been learned.

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
    if every is not None and not _is_whole(every, 1):
        raise ValueError(
            f"every is {every!r}, but there must be one row at least between records, in whole "
            "numbers."
        )
    if hash_bits is not None and not _is_whole(hash_bits, 1, 28):
        raise ValueError(f"hash_bits is {hash_bits!r}, but must be a whole number from 1 to 28.")
    learner = Perceptron() if learner is None else learner
    if not isinstance(learner, Perceptron):
        raise TypeError(f"The learner is {_kind(learner)}, but must be a novikoff.Perceptron.")
    record = Progressive(Pupil.of(learner), classes)
    _check_classes(classes, record.pupil)
    stop = doubling if every is None else multiples(every)
    wishes = Wishes(choices, hash_bits)
    last = 0
    with contextlib.closing(_stretches(source, learner, record, stop, wishes)) as stretches:
        for _ in stretches:
            if record.rows > last and stop(record.rows - 1) == record.rows:
                last = record.rows
                yield record.progress()
    if record.rows > last:
        yield record.progress()


def _stretches(
    source: StreamSource, learner: Perceptron, record: Progressive, stop: Stop, wishes: Wishes
) -> Generator[None]:
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        feed = open_feed(cast("str", source), wishes)
        course = Course(feed, record, feed.start)
        with contextlib.closing(course.go(stop)) as steps:
            try:
                for _ in steps:
                    if record.rows:
                        course.teach(learner)
                    yield
            except DataError:  # the rows before have been learned
                if record.rows:
                    course.teach(learner)
                raise
        return
    for x, y in _pairs(source):
        if _is_block(x):
            yield from _learn_block(x, y, learner, record, stop)
        else:
            _learn_example(cast("Example", x), y, learner, record)
            yield


def _pairs(source: object) -> Iterator[Item]:
    """The items, each of which must be a pair."""
    parts = source if isinstance(source, tuple) else (source,)
    if not isinstance(source, Blocks) and any(map(_has_rows, parts)):
        raise TypeError(
            f"The source is {_kind(source)}: put rows and labels together in a list, [(X, y)]."
        )
    if not isinstance(source, Iterable):
        raise TypeError(f"The source is {_kind(source)}, from which no rows can be taken.")
    for number, item in enumerate(source, start=1):
        if not isinstance(item, Sequence) or isinstance(item, str | bytes) or len(item) != 2:
            raise TypeError(
                f"Item {number} of the stream is {_kind(item)}, but must be a pair: (x, y) of an "
                "example and its label, or (X, y) of rows and their labels."
            )
        yield item[0], item[1]


def _has_rows(x: object) -> bool:
    """Whether something is an array, a sparse matrix or a table."""
    return isinstance(x, np.ndarray) or sp.issparse(x) or hasattr(x, "columns")


def _is_block(x: object) -> bool:
    return sp.issparse(x) or (not isinstance(x, Mapping) and np.ndim(cast("float", x)) == 2)


def _learn_block(
    x: object, y: object, learner: Perceptron, record: Progressive, stop: Stop
) -> Iterator[None]:
    if np.iscomplexobj(cast("complex", x)):
        raise ValueError("A block of the stream has complex numbers; real ones are expected.")
    if sp.issparse(x):
        X: Floats | SparseMatrix = sp.csr_array(cast("SparseMatrix", x)).astype(np.float64)
        record.width = X.shape[1]
    else:
        X = np.ascontiguousarray(cast("Floats", x), dtype=np.float64)
    given = np.asarray(y)
    if given.shape != (X.shape[0],):
        raise ValueError(
            f"A block has {X.shape[0]} rows, but labels of shape {given.shape}; one for each row "
            f"is expected, of shape ({X.shape[0]},)."
        )
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ValueError("A block of the stream has a label that is NaN or infinite.")
    labels, codes = np.unique(given, return_inverse=True)
    first = 0
    while first < len(codes):
        last = min(len(codes), first + stop(record.rows) - record.rows)
        try:
            record.learn(X, codes, labels.tolist(), first, last)
        finally:
            if record.rows:
                record.pupil.lend(learner)
        first = last
        yield


def _learn_example(x: Example, y: Hashable, learner: Perceptron, record: Progressive) -> None:
    label = y.item() if isinstance(y, np.generic) else y
    single = isinstance(label, Hashable) and not isinstance(label, tuple | frozenset)
    if label is None or not single or (isinstance(label, float) and not math.isfinite(label)):
        raise ValueError(f"Row {record.rows + 1} of the stream has the label {label}.")
    if isinstance(x, Mapping):
        _learn_dict(x, label, learner, record)
    elif np.ndim(cast("float", x)) != 1 or np.iscomplexobj(x):
        raise ValueError(
            f"Row {record.rows + 1} of the stream is {_kind(x)}, but must be a vector of real "
            "numbers or a dict."
        )
    else:
        row = np.asarray(x, dtype=np.float64).reshape(1, -1)
        record.learn(row, np.zeros(1, dtype=np.int64), [label], 0, 1)
    record.pupil.lend(learner)


def _learn_dict(
    x: Mapping[Hashable, float], label: Hashable, learner: Perceptron, record: Progressive
) -> None:
    """Learn an example whose features may be new; of one that is refused nothing stays."""
    pupil = record.pupil
    known = pupil.remember()
    least = 0 if known.known is None else known.known.n_features
    try:
        with all_or_nothing(learner):
            if known.known is None:
                record.begin(label, 0)
                pupil.lend(learner)
            columns, values = learner._locate(x, grow=True)
            pointers, shape = np.array([0, len(columns)]), (1, learner.n_features_in_)
            X = sp.csr_array((values, columns, pointers), shape=shape)
            record.learn(X, np.zeros(1, dtype=np.int64), [label], 0, 1)
    except Exception:
        pupil.forget(known, least)
        raise


def _check_classes(classes: Sequence[Hashable] | None, pupil: Pupil) -> None:
    """A learner that knows its classes goes on with them."""
    if classes is None or pupil.known is None:
        return
    if set(classes) != set(pupil.labels):
        raise ValueError(
            f"The classes given are {list(classes)}, but the learner knows {pupil.labels}: leave "
            "them out, or begin with a new learner."
        )


def _is_whole(value: object, least: int, most: float = math.inf) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and least <= int(cast("int", value)) <= most


def _kind(value: object) -> str:
    """What something is, for a sentence.

    >>> _kind((1, 2)), _kind(Perceptron)
    ('a tuple', 'the class Perceptron')
    """
    if isinstance(value, np.ndarray):
        return "an array"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
