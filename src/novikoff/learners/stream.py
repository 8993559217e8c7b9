"""``nv.stream``: learn a stream of rows with a scikit-learn estimator.

Commands use `novikoff.jobs.stream_session` and never import this module: it imports scikit-learn.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from typing import BinaryIO, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from novikoff.core.class_labels import check_labels
from novikoff.core.validation import check_matrix
from novikoff.data import ReadOptions, StreamOptions
from novikoff.jobs.stream_run import Progress, StreamRun, is_power_of_two
from novikoff.jobs.stream_session import StreamSession
from novikoff.learners.arrays import Example, class_factor
from novikoff.learners.base import check_parameters, linear
from novikoff.learners.online import (
    accepts_new_classes,
    adopt_stream,
    check_can_stream,
    learn_example,
)
from novikoff.learners.perceptron import Perceptron

Item: TypeAlias = tuple[object, object]
StreamSource: TypeAlias = str | os.PathLike[str] | BinaryIO | Iterable[Item]


def stream(
    source: StreamSource,
    learner: Perceptron | None = None,
    *,
    classes: Sequence[Hashable] | None = None,
    every: int | None = None,
    options: ReadOptions | None = None,
    hash_bits: int | None = None,
    text_labels: bool = False,
) -> Generator[Progress]:
    """Learn from a stream one row at a time: predict the row, then learn it.

    The learner can be used between two records. A new learner with δ = 0 and without
    ``class_weight`` makes at most R²/γ² mistakes on a separable stream of two classes, however long
    the stream is (with δ or other initial weights: `novikoff.bounds.general_bound`). After t
    updates γ ≤ ‖w‖/(t·μ). Therefore each record has an upper bound on the margin, as long as these
    conditions hold, the step size stays the same, and the learner learns no other rows.

    Parameters
    ----------
    source : path, "-", binary file, or iterable
        A file or pipe of rows, pairs (x, y) of an example (a vector or a dict) and its label, or
        pairs (X, y) of a block of rows and their labels.
    learner : Perceptron, optional
        The learner. By default the function makes a new learner, and only the records are returned.
    classes : sequence of labels, optional
        All labels that the stream will have. By default classes are added as they appear.
    every : int, optional
        The number of rows between two records. By default there is a record after 1, 2, 4, 8, …
        rows. The last row always has a record.
    options : ReadOptions, optional
        Options for reading a file.
    hash_bits : int, optional
        Hash the names of the features in a file to 2^bits columns.
    text_labels : bool
        Read all labels of a file as text, even if they are numbers.

    Yields
    ------
    Progress
        Rows, mistakes, error, recent error, updates, ‖w‖ and the bound on γ so far.

    Raises
    ------
    TypeError, ValueError, DataError
        If a row cannot be read or learned. The rows before it have been learned.

    See Also
    --------
    regret : Compare the mistakes with the mistakes of the best fixed rule.
    save : Write the learner to a file.

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
    for name, value, most in (("every", every, math.inf), ("hash_bits", hash_bits, 28)):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if value is not None and not (whole and 1 <= value <= most):
            upto = "up" if most == math.inf else f"to {most}"
            raise ValueError(f"{name} is {value!r}, but must be a whole number from 1 {upto}.")
    learner = Perceptron() if learner is None else learner
    if not isinstance(learner, Perceptron):
        raise TypeError(f"The learner is {_kind(learner)}, but must be a novikoff.Perceptron.")
    run, stops = _run_of(learner, classes), () if every is None else (every,)
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        reading = StreamOptions(options or ReadOptions(), hash_bits, text_labels=text_labels)
        session = StreamSession(cast("str", source), reading, run)
        steps = _learn_file(session, learner, stops)
    else:
        steps = _learn_pairs(source, learner, run, stops)
    last = 0
    with contextlib.closing(steps):
        for _ in steps:
            due = is_power_of_two(run.n_rows) if every is None else run.n_rows % every == 0
            if run.n_rows > last and due:
                last = run.n_rows
                yield run.progress()
    if run.n_rows > last:
        yield run.progress()


def _run_of(learner: Perceptron, classes: Sequence[Hashable] | None) -> StreamRun:
    """Return a run that starts from the model of a learner."""
    check_parameters(learner)
    try:
        check_can_stream(learner)
    except AttributeError as error:
        raise ValueError(str(error)) from None
    class_factor(learner.class_weight, None)  # rejects 'balanced' with an error
    known = linear(learner.model_) if learner.__sklearn_is_fitted__() else None
    if known is not None:
        labels = known.classes.tolist()
        if classes is not None and set(classes) != set(labels):
            raise ValueError(
                f"The classes given are {list(classes)}, but the learner has learned {labels}: "
                "pass no classes, or a new learner."
            )
        classes = classes if accepts_new_classes(learner) else labels
    return StreamRun(
        threshold=float(learner.threshold),
        step_size=float(learner.step_size),
        fit_intercept=bool(learner.fit_intercept),
        average=bool(learner.average),
        multi_class=learner.multi_class,
        class_weight=cast("Mapping[Hashable, float] | None", learner.class_weight),
        classes=classes,
        model=known,
    )


def _learn_file(
    session: StreamSession, learner: Perceptron, stops: Sequence[int]
) -> Generator[None]:
    """Learn the rows of a file or pipe; after an error the learner has the rows before it."""
    with contextlib.closing(session):
        try:
            for _ in session.learn(every=stops):
                _share(session.run, learner, session.reader.names)
                yield
                _take_parameters(session.run, learner)
        finally:
            _share(session.run, learner, session.reader.names)


def _learn_pairs(
    source: object, learner: Perceptron, run: StreamRun, stops: Sequence[int]
) -> Generator[None]:
    """Learn examples, or blocks of rows."""
    parts = source if isinstance(source, tuple) else (source,)
    if any(isinstance(x, np.ndarray) or sp.issparse(x) or hasattr(x, "columns") for x in parts):
        raise TypeError(
            f"The source is {_kind(source)}: pass rows and labels as a list of a pair, [(X, y)]."
        )
    if not isinstance(source, Iterable):
        raise TypeError(f"The source is {_kind(source)}, which cannot be iterated over.")
    for number, item in enumerate(source, start=1):
        if not isinstance(item, Sequence) or isinstance(item, str | bytes) or len(item) != 2:
            raise TypeError(
                f"Item {number} of the stream is {_kind(item)}, but must be a pair: (x, y) of an "
                "example and its label, or (X, y) of rows and their labels."
            )
        x, y = item
        if not sp.issparse(x) and (isinstance(x, Mapping) or np.ndim(x) != 2):
            _learn_example(x, y, learner, run)
            yield
            continue
        _take_parameters(run, learner)
        X, labels = check_matrix(x), check_labels(y)
        if len(labels) != X.shape[0]:
            raise ValueError(
                f"A block has {X.shape[0]} rows, but labels of shape {labels.shape}; one for each "
                f"row is expected, of shape ({X.shape[0]},)."
            )
        values, codes = np.unique(labels, return_inverse=True)
        try:
            for _ in run.learn(X, codes, values.tolist(), stops):
                _share(run, learner)
                yield
                _take_parameters(run, learner)
        finally:
            _share(run, learner)


def _share(run: StreamRun, learner: Perceptron, names: Sequence[str] | None = None) -> None:
    """Give a learner the model of a run, once a row has been learned."""
    if run.model is not None and run.n_rows:
        adopt_stream(learner, run.model, names, grows=run.classes is None)


def _take_parameters(run: StreamRun, learner: Perceptron) -> None:
    """Let the next row be learned with the parameters that the learner has now."""
    now = learner.threshold, learner.step_size, learner.class_weight
    if now != (run.threshold, run.step_size, run.class_weight):
        check_parameters(learner)
        class_factor(learner.class_weight, None)  # rejects 'balanced' with an error
        run.threshold, run.step_size = float(learner.threshold), float(learner.step_size)
        run.class_weight = cast("Mapping[Hashable, float] | None", learner.class_weight)
    run.check_plain(linear(learner.model_) if learner.__sklearn_is_fitted__() else None)


def _learn_example(x: Example, y: Hashable, learner: Perceptron, run: StreamRun) -> None:
    """Learn one example by the learner, which is much faster than a block, and count it."""
    number = run.n_rows + 1
    if not isinstance(x, Mapping) and np.ndim(cast("float", x)) != 1:
        raise ValueError(
            f"Row {number} of the stream is {_kind(x)}, but must be a vector of real numbers or "
            "a dict."
        )
    _take_parameters(run, learner)
    known = len(learner.classes_) if learner.__sklearn_is_fitted__() else len(run.classes or ())
    try:
        scores, code = learn_example(learner, x, y, run.classes)
    except ValueError as error:
        raise ValueError(f"Row {number} of the stream cannot be learned: {error}") from None
    # The first row of a third or later class is a mistake; with two classes the sign predicts.
    model = linear(learner.model_)
    novel = len(model.classes) > max(2, known)
    run.count(model, novel | (model.scheme.choose_or_tie(scores[None, :]) != code))


def _kind(value: object) -> str:
    """Return what an object is, for an error message."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = "array" if isinstance(value, np.ndarray) else type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
