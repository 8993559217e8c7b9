"""What is measured of the pocket, and of sweeping only rows that can be mistakes."""

from __future__ import annotations

import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Protocol

import numpy as np
from sklearn.linear_model import Perceptron as TheirPerceptron

import novikoff
from benchmarks.data import Labels
from benchmarks.measure import compare_answers, compare_closely, timed
from benchmarks.peers import Vector
from benchmarks.pocket_data import real_sets
from benchmarks.quality import judged
from benchmarks.scale import Scale
from benchmarks.table import Row
from benchmarks.verdict_data import flipped, unit_rows
from novikoff.core import near
from novikoff.core.ledger import Run
from novikoff.core.orders import Blocks, Cyclic, Permuted, Sequence
from novikoff.core.pocket import fill_pocket
from novikoff.core.problem import Problem, pose
from novikoff.core.stops import Limits
from novikoff.core.sweep import run
from novikoff.core.updates import Perceptron

# Easy sets are done in milliseconds: so many times as many turns.
_EASY_TURNS = 4


def skipping_hard(scale: Scale, repeats: int) -> list[Row]:
    """Hard separable sets: the same run with every row looked at, and with near ones only."""
    rows = []
    for n, p, margin, order, epochs in scale.hard:
        rows.append(_skipping("hard", n, p, margin, 0, ORDERS[order], epochs, 3.0, repeats))
    return rows


def skipping_easy(scale: Scale, repeats: int) -> list[Row]:
    """Easy and hopeless sets, where there is little to gain: nothing may be lost."""
    rows = []
    for n, p, margin, flips, order, epochs in scale.easy:
        rows.append(_skipping("easy", n, p, margin, flips, ORDERS[order], epochs, 0.95, repeats))
    return rows


def pocket_updates(scale: Scale, repeats: int) -> list[Row]:
    """Updates of the pocket with ratchet, against a plain one in NumPy that counts each time."""
    n, p = scale.pocket
    X, y = unit_rows(n, p, 1e-3)
    y = flipped(y, n // 20)
    problem = pose(X, y.astype(np.int8), True)
    updates = scale.pocket_updates

    def ours() -> int:
        rng = np.random.default_rng(0)
        return fill_pocket(problem, Limits(updates=updates), rng).updates

    found = compare_answers(ours, lambda: _numpy_pocket(X, y, updates // 20), repeats, math.inf)
    times = found.times
    ratios = [20.0 * ratio for ratio in times.ratios]
    low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75]).tolist()
    return [
        Row(
            f"pocket, {n} × {p} (update)",
            "NumPy",
            statistics.median(times.ours) / updates,
            statistics.median(times.peer) / (updates // 20),
            low,
            ratio,
            high,
            20.0,
            judged(found.ours == updates, "all updates made"),
            {"answers": asdict(times)},
        )
    ]


def fewest_mistakes(scale: Scale, repeats: int) -> list[Row]:
    """Mistakes on the training rows, against the best of scikit-learn's linear models.

    Ours may take as long as the slowest of them. The ratio is (theirs + 1)/(ours + 1).
    """
    rows = []
    for name, X, y in real_sets(scale.real_sets):
        novikoff.Pocket(random_state=0).fit(X, y)  # caches
        errors, seconds = _scikit_learn(X, y)
        slowest = max(seconds)
        pocket = novikoff.Pocket(random_state=0, max_seconds=0.7 * slowest)
        took, model = timed(partial(pocket.fit, X, y))
        mine = int((model.predict(X) != y).sum())
        ratio = (min(errors) + 1) / (mine + 1)
        note = f"{mine} mistakes against {min(errors)}; at least {model.errors_lower_bound_}"
        rows.append(
            Row(
                f"fewest mistakes, {name}: {mine} / {min(errors)}",
                "scikit-learn's best",
                took,
                slowest,
                ratio,
                ratio,
                ratio,
                1.0,
                judged(took <= 1.1 * slowest, note),
                {"theirs": errors, "seconds": seconds},
            )
        )
    return rows


POCKET_CASES: dict[str, Callable[[Scale, int], list[Row]]] = {
    "skipping-hard": skipping_hard,
    "skipping-easy": skipping_easy,
    "pocket-updates": pocket_updates,
    "fewest-mistakes": fewest_mistakes,
}
ORDERS: dict[str, Sequence] = {"cyclic": Cyclic(), "blocks": Blocks(), "permuted": Permuted()}


class _Classifier(Protocol):
    def fit(self, X: Vector, y: Labels) -> object: ...
    def predict(self, X: Vector) -> Labels: ...


def _skipping(
    kind: str,
    n: int,
    p: int,
    margin: float,
    flips: int,
    order: Sequence,
    epochs: int,
    target: float,
    repeats: int,
) -> Row:
    X, y = unit_rows(n, p, margin)
    problem = pose(X, flipped(y, flips).astype(np.int8), True)

    def plain() -> Run:
        with _everywhere():
            return _run(problem, order, epochs)

    def near_ones() -> Run:
        return _run(problem, order, epochs)

    if kind == "easy":
        found = compare_closely(near_ones, plain, _EASY_TURNS * repeats)
    else:
        found = compare_answers(near_ones, plain, repeats, math.inf)
    low, ratio, high = found.times.quartiles()
    same = np.array_equal(found.ours.W, found.peer.W) and np.array_equal(
        found.ours.ledger.counts, found.peer.ledger.counts
    )
    end = f", {flips} flipped" if flips else f", margin {margin:g}"
    return Row(
        f"skipping, {kind}: {n} × {p}{end}, {type(order).__name__.lower()}",
        "every row",
        statistics.median(found.times.ours),
        statistics.median(found.times.peer),
        low,
        ratio,
        high,
        target,
        judged(same, "the very same mistakes"),
        {"answers": asdict(found.times), "epochs": int(found.ours.epochs[0])},
    )


def _run(problem: Problem, order: Sequence, epochs: int) -> Run:
    rng = np.random.default_rng(0)
    return run(problem, Perceptron(), order, Limits(epochs=epochs), rng)


@contextmanager
def _everywhere() -> Iterator[None]:
    """The plain loop: no problem is large enough for an anchor."""
    before = near._WORTHWHILE
    near._WORTHWHILE = 1 << 62
    try:
        yield
    finally:
        near._WORTHWHILE = before


def _numpy_pocket(X: Vector, y: Labels, updates: int) -> int:
    """The textbook's pocket: a random mistake, an update, a count of all mistakes."""
    rng = np.random.default_rng(0)
    A = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    w = np.zeros(A.shape[1])
    best = len(A)
    for _ in range(updates):
        wrong = np.flatnonzero(A @ w <= 0.0)
        best = min(best, len(wrong))
        if len(wrong) == 0:
            break
        w += A[rng.choice(wrong)]
    return best


def _scikit_learn(X: Vector, y: Labels) -> tuple[list[int], list[float]]:
    """Mistakes and seconds of each of the linear models."""
    linear = import_module("sklearn.linear_model")
    models: list[_Classifier] = [
        TheirPerceptron(),
        *(linear.LogisticRegression(C=C) for C in (0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4)),
        import_module("sklearn.svm").LinearSVC(),
        linear.SGDClassifier(random_state=0),
        import_module("sklearn.discriminant_analysis").LinearDiscriminantAnalysis(),
    ]
    errors, seconds = [], []
    for model in models:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            model.fit(X, y)
            seconds.append(time.perf_counter() - start)
            errors.append(int((model.predict(X) != y).sum()))
    return errors, seconds
