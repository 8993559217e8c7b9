"""Claims of `nv.stream`: mistakes as they are counted, and the bound on the margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import novikoff as nv
from tests.claims.oracles import at_most, perceptron
from tests.claims.problems import Generator, Labelled, Shown, labelled
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
