"""B4: online mistakes ≤ R²/γ² on any separable stream, in any order and any pieces."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pytest

import novikoff as nv
from novikoff.core.orders import Cyclic
from novikoff.core.problem import signed_problem
from novikoff.core.runs import Plan, train_rule
from novikoff.core.stops import Limits
from novikoff.theory import mistake_bound
from tests.cases import Planted, planted, update_of
from tests.oracle import Indices, Perceptron, Vector, margins
from tests.theorems.mutants import against_the_sign, mistakes_of


def assert_bounded(mistakes: int, case: Planted) -> None:
    assert mistakes <= mistake_bound(case.radius, case.margin) * (1.0 + 1e-12)


def listen(
    case: Planted, stream: Indices, *, chunk: int, forget: bool = False
) -> tuple[int, Vector]:
    """Show the rows of the stream once each, ``chunk`` at a time; count the mistakes."""
    w, mistakes = np.zeros(case.X.shape[1] + 1), 0
    for first in range(0, len(stream), chunk):
        rows = stream[first : first + chunk]
        problem = signed_problem(case.X[rows], case.signs[rows], case.fit_intercept)
        plan = Plan(update_of(Perceptron()), Cyclic(), Limits(epochs=1))
        ran = train_rule(problem, plan, start=np.zeros_like(w) if forget else w)
        assert ran.visited == len(rows)
        w = ran.W[:, 0]
        mistakes += ran.mistakes
    return mistakes, w


STREAMS: dict[str, Callable[[Planted], Indices]] = {
    "once": lambda case: np.arange(len(case.X)),
    "drawn": lambda case: np.random.default_rng(0).integers(len(case.X), size=1500),
    "by label": lambda case: np.tile(np.argsort(case.signs, kind="stable"), 5),
    "by margin": lambda case: np.tile(np.argsort(case.rows @ case.w_star), 5),
    "stuttering": lambda case: np.repeat(np.arange(len(case.X)), 4),
}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize(
    ("length", "chunks"), [(None, (7, 1000, 10_000)), (150, (1, 13, 150))], ids=["whole", "start"]
)
def test_mistakes_on_a_stream_are_bounded_however_it_is_cut(
    stream: str, length: int | None, chunks: tuple[int, ...]
) -> None:
    case = planted(2, 200, 3, gap=0.3)
    rows = STREAMS[stream](case)[:length]
    runs = [listen(case, rows, chunk=chunk) for chunk in chunks]
    assert len({(mistakes, *w) for mistakes, w in runs}) == 1
    assert runs[0][0] > 0
    assert_bounded(runs[0][0], case)


def test_a_stream_of_mistakes_alone_ends_below_the_bound() -> None:
    case = planted(4, 300, 3, gap=0.2)
    A, w, mistakes = case.rows, np.zeros(4), 0
    stream: list[int] = []
    while len(bad := np.flatnonzero(~(margins(A, w) > 0))):
        stream.append(int(bad[0]))
        w += A[bad[0]]
        mistakes += 1
        assert_bounded(mistakes, case)
    heard, end = listen(case, np.array(stream), chunk=5)
    assert heard == mistakes
    assert end.tolist() == w.tolist()


def test_a_learner_that_forgets_between_chunks_breaks_the_bound() -> None:
    case = planted(2, 200, 3, gap=0.3)
    mistakes, _ = listen(case, STREAMS["drawn"](case), chunk=7, forget=True)
    with pytest.raises(AssertionError):
        assert_bounded(mistakes, case)


def test_a_learner_that_moves_against_the_sign_breaks_the_bound() -> None:
    case = planted(2, 200, 3, gap=0.3)
    stream = STREAMS["drawn"](case).tolist()
    with pytest.raises(AssertionError):
        assert_bounded(mistakes_of(against_the_sign, case.rows, [stream]), case)


@pytest.mark.parametrize(
    ("options", "weights"),
    [({}, None), ({"class_weight": {1: 100}}, None), ({}, [100, 1]), ({"threshold": 30}, None)],
    ids=["plain", "class_weight", "sample_weight", "threshold"],
)
def test_weights_and_a_threshold_break_the_bound(
    options: dict[str, Any], weights: list[int] | None
) -> None:
    """So the docstrings of a fit, a piece and a stream have to state these conditions."""
    X, y = np.array([[1.0], [-0.1]]), np.array([1, 0])
    verdict = nv.separate(X, y)
    assert verdict.mistake_bound == 7
    fitted = nv.Perceptron(order="cyclic", **options).fit(X, y, sample_weight=weights)
    pieces = nv.Perceptron(**options)
    for _ in range(200):
        pieces.partial_fit(X, y, classes=[0, 1], sample_weight=weights)
    plain = not options and weights is None
    for learner in (fitted, pieces):
        assert (learner.n_updates_ <= verdict.mistake_bound) == plain
    for text in (nv.Perceptron.__doc__, nv.Perceptron.partial_fit.__doc__, nv.stream.__doc__):
        before = " ".join((text or "").split("most R²/γ²")[0].split()[-30:])
        assert "δ = 0" in before
        assert "class_weight" in before
        assert "sample_weight" in before or text is nv.stream.__doc__


def test_class_weights_break_the_bound_of_pa_i() -> None:
    X, y, u = np.array([[1.0], [-0.1]]), np.array([1, 0]), np.array([2.0, -0.8])
    A = np.array([[1.0, 1.0], [0.1, -1.0]])
    assert (A @ u >= 1.0).all()  # u has no loss
    bound = nv.bounds.passive_aggressive_bound(np.sqrt(2.0), float(np.linalg.norm(u)), 0.0, 1.0)
    choices: list[dict[Hashable, float]] = [{}, {1: 50.0}]
    for weights in choices:
        learner = nv.PassiveAggressive(class_weight=weights)
        for _ in range(100):
            learner.partial_fit(X, y, classes=[0, 1])
        assert (learner.n_mistakes_ <= bound) == (not weights)
    before = (nv.PassiveAggressive.__doc__ or "").split("PA-I makes at most")[0]
    assert "``class_weight=None`` and no ``sample_weight``" in " ".join(before.split())
