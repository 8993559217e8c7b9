"""Claims of `nv.stream`: mistakes as they are counted, and the bound on the margin."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import novikoff as nv
from tests.claims.oracles import at_most, perceptron
from tests.claims.problems import TAME, Generator, Labelled, Shown, labelled
from tests.claims.register import claim
from tests.separability_oracle import squared_distance


@dataclass(frozen=True, repr=False)
class Example(Shown):
    """Rows of two classes, and how they are learned."""

    rows: Labelled
    step_size: float
    threshold: float
    pieces: int


def example(rng: Generator) -> Example:
    rows = labelled(rng, most_rows=12)
    step_size, threshold = float(rng.choice([1.0, 1.0, 0.5])), float(rng.choice([0.0, 0.0, 0.25]))
    return Example(rows, step_size, threshold, int(rng.integers(1, 4)))


def source(problem: Example) -> list[tuple[Any, Any]]:
    """The rows in blocks, or one by one."""
    X, y = problem.rows.X, problem.rows.y
    if problem.pieces == 1:
        return [*zip(X, y.tolist(), strict=True)]
    cuts = np.array_split(np.arange(len(y)), min(problem.pieces, len(y)))
    return [(X[part], y[part]) for part in cuts]


@claim(
    example,
    covers=["stream", "Progress", "Progress.margin_bound"],
    sentences=["the largest margin of any rule {}"],
    problems=120,
)
def margin_of_a_stream(problem: Example) -> None:
    """No rule separates the rows seen so far by a margin above the bound."""
    learner = nv.Perceptron(
        threshold=problem.threshold, step_size=problem.step_size, fit_intercept=problem.rows.bias
    )
    try:
        records = [*nv.stream(source(problem), learner, every=1)]
    except ValueError:
        assert np.abs(problem.rows.X).max() > 1e100, "refused for its sizes"
        return
    assert records[-1].rows == len(problem.rows.y)
    rows = problem.rows.rows()
    for record in records:
        if record.margin_bound is not None:
            seen = rows[: record.rows]
            assert at_most(squared_distance(seen), record.margin_bound), record


BETWEEN = (
    "nothing", "step size", "threshold", "class weight", "class weight for one row",
    "weighted rows", "other rows", "fit", "example",
)  # fmt: skip


@dataclass(frozen=True, repr=False)
class Disturbed(Shown):
    """A stream, and what is done with the learner before some of its rows are learned."""

    rows: Labelled
    between: list[str]
    in_blocks: bool
    class_weight: bool


def disturbed(rng: Generator) -> Disturbed:
    rows = labelled(rng, styles=TAME, most_rows=10)
    between = ["nothing"] * len(rows.y)
    for k in rng.integers(0, len(rows.y), int(rng.integers(1, 3))).tolist():
        between[k] = str(rng.choice(BETWEEN))
    return Disturbed(rows, between, bool(rng.random() < 0.5), bool(rng.random() < 0.1))


def disturb(learner: nv.Perceptron, what: str, problem: Labelled) -> None:
    """Change the learner's parameters, or its model by other rows than the next of the stream."""
    positive = problem.classes[-1]
    other, label = -100.0 * problem.X[problem.y == positive][:1], [positive]
    if what == "step size":
        learner.set_params(step_size=1e-6)
    elif what == "threshold":
        learner.set_params(threshold=0.5)
    elif what.startswith("class weight"):
        learner.set_params(class_weight={positive: 1e-6})
    elif what == "weighted rows":
        learner.partial_fit(other, label, problem.classes, sample_weight=[1e-6])
    elif what == "other rows":
        learner.partial_fit(other, label, problem.classes)
    elif what == "example":
        learner.learn_one(other[0], positive)
    elif what == "fit":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            learner.fit(1e-3 * problem.X, problem.y)


@claim(disturbed, covers=["stream", "Progress.margin_bound"], problems=250)
def margin_of_a_disturbed_stream(problem: Disturbed) -> None:
    """The bound on the margin holds, or there is none, if the learner is used between records."""
    given = problem.rows
    weights = {given.classes[0]: 1e-3} if problem.class_weight else None
    learner = nv.Perceptron(fit_intercept=given.bias, max_epochs=3, class_weight=weights)
    rows, labels, plain = given.rows(), given.y.tolist(), weights is None
    if problem.in_blocks:
        pieces: list[Any] = [(given.X[k : k + 1], given.y[k : k + 1]) for k in range(len(labels))]
    else:
        pieces = [*zip(given.X, labels, strict=True)]
    records = nv.stream(pieces, learner, classes=given.classes, every=1)
    for record, what in zip(records, problem.between, strict=True):
        if record.margin_bound is not None:
            assert plain, "a bound although the weights of the rows or the step sizes differ"
            assert at_most(squared_distance(rows[: record.rows]), record.margin_bound), record
        else:
            assert not plain or record.updates == 0, "no bound although nothing was disturbed"
        if learner.class_weight != weights and "class weight for one row" in problem.between:
            learner.set_params(class_weight=weights)
        before = learner.n_updates_, learner.model_
        disturb(learner, what, given)
        changed = learner.n_updates_ != before[0] or learner.model_ is not before[1]
        kept = what in ("nothing", "weighted rows", "other rows", "example")
        plain &= kept and not changed


@claim(
    lambda rng: Example(labelled(rng, styles=("integers", "two values"), most_rows=12),
                        1.0, 0.0, int(rng.integers(1, 4))),
    covers=["Progress.rows", "Progress.mistakes", "Progress.error", "Progress.recent_error",
            "Progress.updates", "Progress.norm"],
)  # fmt: skip
def counts_of_a_stream(problem: Example) -> None:
    """Rows, mistakes, updates and ‖w‖ are those of the run without rounding."""
    learner = nv.Perceptron(fit_intercept=problem.rows.bias)
    *_, last = nv.stream(source(problem), learner)
    rows = problem.rows.rows()
    ran = perceptron(rows, [range(len(rows))])
    assert (last.rows, last.mistakes, last.updates) == (len(rows), ran.mistakes, len(ran.rows))
    assert last.error == last.recent_error == ran.mistakes / len(rows)
    assert math.isclose(last.norm, math.hypot(*map(float, ran.w[-1])), rel_tol=1e-12)
