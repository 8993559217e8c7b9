"""Plots: the numbers they draw against NumPy, their conventions, and the SVG they become."""

from __future__ import annotations

import itertools
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.core.trace import Trace
from novikoff.errors import OutputError
from novikoff.jobs.study import study
from novikoff.jobs.study_records import StudyOptions
from novikoff.report.pictures import Subject, draw_study
from novikoff.report.plots import (
    BoundaryDisplay,
    MarginsDisplay,
    MistakesDisplay,
    PocketDisplay,
    ProofDisplay,
    animate,
    blank_axes,
    figure_of,
    figure_to_svg,
    render_figure,
    save_figure,
    slides,
    style,
)
from novikoff.report.plots.animation import Film
from novikoff.report.plots.boundary import principal_direction
from novikoff.report.plots.run import traced_run
from novikoff.report.plots.style import Display, clean_name, format_number
from tests.cases import CORNERS, case_named, class_name, planted

pytest.importorskip("matplotlib")
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from PIL import Image, ImageSequence

SVG = "{http://www.w3.org/2000/svg}"
AND_Y = np.array([0, 0, 0, 1])


@dataclass
class Line:
    """A classifier that is nothing but its weights."""

    coef_: Vector
    intercept_: Vector
    classes_: npt.NDArray[np.generic] = field(default_factory=lambda: np.array([0, 1]))


def line(w: npt.ArrayLike, b: float, *classes: object) -> Line:
    labels = np.array(classes or [0, 1])
    return Line(np.atleast_2d(np.asarray(w, dtype=float)), np.array([b]), labels)


def noisy(seed: int = 0, n: int = 60, d: int = 5) -> tuple[Line, Vector, npt.NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.arange(1, d + 1) + 3.0
    w = rng.normal(size=d)
    b = -3.0 * float(w.sum())
    y = (X @ w + b + rng.normal(size=n) > 0).astype(np.int64)
    return line(w, b), X, y


def ax() -> Axes:
    return blank_axes()[0]


def texts_of(figure: Figure) -> list[str]:
    """All texts, each in one line; ticks have theirs when they are drawn."""
    return [" ".join(text.get_text().split()) for text in figure.findobj(Text)]


def all_text(figure: Figure) -> str:
    return " ".join(texts_of(figure))


# The boundary


@pytest.mark.parametrize("d", [2, 5, 40])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_distances_mistakes_and_the_line(d: int, storage: Any) -> None:
    clf, X, y = noisy(d=d)
    w, b = clf.coef_[0], clf.intercept_[0]
    display = BoundaryDisplay.from_estimator(clf, storage(X), y, ax=ax())
    distances = (X @ w + b) / np.linalg.norm(w)
    assert np.allclose(display.distances, distances)
    wrong = {i for i in range(len(X)) if (2 * y[i] - 1) * (X[i] @ w + b) <= 0}
    assert set(np.flatnonzero(display.mistakes).tolist()) == wrong
    assert (len(wrong) > 0) == (d != 5)
    assert (display.margin is None) == (len(display.support) == 0) == (len(wrong) > 0)
    view = display.view
    assert np.allclose(view.points @ view.normal + view.offset, distances)
    assert np.allclose(view.points, X) if d == 2 else np.allclose(view.points[:, 0], distances)


def test_the_other_axis_is_the_widest_direction_orthogonal_to_w() -> None:
    clf, near, _ = noisy(d=8)
    unit = clf.coef_[0] / np.linalg.norm(clf.coef_[0])
    for shift in (0.0, 1e4):
        X = near + shift
        flat = X - X.mean(axis=0)
        flat = flat - np.outer(flat @ unit, unit)
        for rows in (X, sp.csr_array(X)):
            with case_named((shift, type(rows).__name__)):
                found = principal_direction(rows, clf.coef_[0])
                assert abs(found @ unit) < 1e-8
                assert np.linalg.norm(found) == pytest.approx(1.0)
                assert np.linalg.norm(flat @ found) >= 0.999 * np.linalg.norm(flat, ord=2)
    for scale in (1e-150, 1e150):
        with case_named(scale):
            assert not principal_direction(np.full((4, 3), 0.1) * scale, np.eye(3)[0]).any()
            assert principal_direction(np.diag([1.0, 2.0, 3.0]) * scale, np.eye(3)[2])[2] == 0.0


def test_a_plane_of_two_features_is_a_section_at_the_means_of_the_others() -> None:
    import pandas as pd

    clf, X, y = noisy(d=4)
    w, b = clf.coef_[0], clf.intercept_[0]
    frame = pd.DataFrame(X, columns=["a_1", "$b$", "c", "d"])
    for rows, plane, labels in (
        (X, (2, 0), ("feature 2", "feature 0")),
        (frame, ("c", "a_1"), ("c", "a_1")),
    ):
        with case_named(plane):
            display = BoundaryDisplay.from_estimator(clf, rows, y, plane=plane, ax=ax())
            assert np.allclose(display.view.points, X[:, [2, 0]])
            x = X.mean(axis=0)
            x[2], x[0] = 5.0, -7.0
            section = np.array([5.0, -7.0]) @ display.view.normal + display.view.offset
            assert section == pytest.approx((x @ w + b) / np.linalg.norm(w))
            assert display.view.labels == labels
    assert "$b$ = " in display.view.held
    wide = BoundaryDisplay.from_estimator(*noisy(d=30), plane=(0, 29), ax=ax())
    assert "the other 28 features held at their means" in all_text(wide.figure_)


@pytest.mark.parametrize(
    ("named", "plane", "message"),
    [
        (True, ("c", "e"), "'e' is not known: it is none of the names"),
        (True, ("c", 2), "different features"),
        (False, (0, 4), "feature 4 is not known: the numbers are 0 to 3"),
        (False, ("x", 1), "'x' is not known"),
        (False, (1, 2, 3), "A plane is a pair"),
    ],
    ids=str,
)
def test_a_plane_that_is_none_is_rejected(named: bool, plane: Any, message: str) -> None:
    import pandas as pd

    clf, X, y = noisy(d=4)
    rows: Any = pd.DataFrame(X, columns=["a_1", "$b$", "c", "d"]) if named else X
    with pytest.raises(ValueError, match=message):
        BoundaryDisplay.from_estimator(clf, rows, y, plane=plane, ax=ax())


def test_one_feature_is_drawn_on_a_line() -> None:
    X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), ["no", "no", "yes", "yes"]
    display = BoundaryDisplay.from_estimator(line([-2.0], 6.0, "yes", "no"), X, y, ax=ax())
    assert display.view.points[:, 0].tolist() == [1.0, 2.0, 4.0, 5.0]
    assert (np.sign(display.view.points[:, 1]) == [1, 1, -1, -1]).all()
    assert display.distances.tolist() == [2.0, 1.0, -1.0, -2.0]
    assert display.ax_.get_yticks().size == 0
    with pytest.raises(ValueError, match="one feature only"):
        BoundaryDisplay.from_estimator(line([1.0], 0.0), X, AND_Y, plane=(0, 1), ax=ax())


def test_of_many_rows_a_sample_and_the_mistakes() -> None:
    clf, X, y = noisy(n=900)
    display = BoundaryDisplay.from_estimator(clf, X, y, max_points=400, ax=ax())
    wrong = np.flatnonzero(display.mistakes)
    assert 0 < len(wrong) < 200
    assert np.isin(wrong, display.drawn).all()
    assert len(display.drawn) == len(np.unique(display.drawn)) == 400
    note = f"Drawn: 400 of 900 rows, at random, with {len(wrong)} of {len(wrong)} mistakes."
    assert note in all_text(display.figure_)
    flipped = BoundaryDisplay.from_estimator(clf, X, 1 - y, max_points=100, ax=ax())
    assert len(flipped.drawn) <= 100
    assert flipped.mistakes[flipped.drawn].sum() == 50


def three_classes() -> tuple[Vector, npt.NDArray[np.str_]]:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(9, 2)) + c for c in ([0, 9], [9, 0], [-9, -9])])
    return X, np.repeat(["a", "b", "c"], 9)


def test_one_class_against_the_rest() -> None:
    X, y = three_classes()
    clf = nv.Perceptron(random_state=0).fit(X, y)
    third = BoundaryDisplay.from_estimator(clf, X, y, rule="c", ax=ax())
    assert (third.signs == np.where(y == "c", 1, -1)).all()
    scores = (X @ clf.coef_[2] + clf.intercept_[2]) / np.linalg.norm(clf.coef_[2])
    assert np.allclose(third.distances, scores)
    assert third.ax_.get_title(loc="left") == "c against the rest"
    with pytest.raises(ValueError, match="'d' is not one of the classes"):
        BoundaryDisplay.from_estimator(clf, X, y, rule="d", ax=ax())
    with pytest.raises(ValueError, match="A rule of one-vs-rest is a class, not"):
        BoundaryDisplay.from_estimator(clf, X, y, rule=("a", "b"), ax=ax())


@pytest.mark.parametrize("pair", [("c", "a"), ("a", "c"), ("c", "b"), ("b", "a")], ids=" ".join)
def test_a_pair_of_classes(pair: tuple[str, str]) -> None:
    X, y = three_classes()
    pairs = nv.Perceptron(random_state=0, multi_class="ovo").fit(X, y)
    display = BoundaryDisplay.from_estimator(pairs, X, y, rule=pair, ax=ax())
    assert display.rows.tolist() == np.flatnonzero(np.isin(y, pair)).tolist()
    assert (display.signs == np.where(y[display.rows] == pair[0], 1, -1)).all()
    assert not display.mistakes.any()
    with pytest.raises(ValueError, match="A rule of one-vs-one is a pair of classes, not 'a'"):
        BoundaryDisplay.from_estimator(pairs, X, y, rule="a", ax=ax())


def test_a_boundary_nearby_is_brought_into_the_picture_and_a_far_one_is_not() -> None:
    near = BoundaryDisplay.from_estimator(line([2.0, 2.0], -3.0), CORNERS, AND_Y, ax=ax())
    assert near.support.tolist() == [1, 2, 3]
    assert near.margin == pytest.approx(0.5 / np.sqrt(2))
    assert {"margin ± 0.354", "nearest rows (3)"} <= set(texts_of(near.figure_))
    near = BoundaryDisplay.from_estimator(line([1.0, 1.0], -3.0), CORNERS, AND_Y, ax=ax())
    assert "boundary f(x) = 0" in texts_of(near.figure_)
    far = BoundaryDisplay.from_estimator(line([1.0, 1.0], -90.0), CORNERS, AND_Y, ax=ax())
    assert "The boundary is outside of this picture." in texts_of(far.figure_)
    clf, X, y = noisy(d=4)
    clf.coef_[0, :2] = 0.0
    beside = BoundaryDisplay.from_estimator(clf, X, y, plane=(0, 1), ax=ax())
    assert "does not cross this plane" in all_text(beside.figure_)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("bias", [0.0, 1.0])
def test_a_rule_without_weights_is_drawn_and_called_constant(d: int, bias: float) -> None:
    X, clf = np.random.default_rng(0).normal(size=(4, d)), line(np.zeros(d), bias)
    margins = MarginsDisplay.from_estimator(clf, X, AND_Y, ax=ax())
    points = BoundaryDisplay.from_estimator(clf, X, AND_Y, ax=ax())
    for figure in (margins.figure_, points.figure_):
        with case_named(figure):
            assert "the rule says the same of every row" in all_text(figure)
            figure.draw_without_rendering()
    assert points.margin is None
    assert points.mistakes.sum() == (4 if bias == 0.0 else 3)
    assert len(np.unique(points.view.points, axis=0)) == 4


@pytest.mark.parametrize(("d", "value"), [(1, 0.0), (2, -1e-12), (3, 1e12)])
def test_constant_rows(d: int, value: float) -> None:
    X, clf = np.full((4, d), value), line(np.ones(d), 0.5)
    margins = MarginsDisplay.from_estimator(clf, X, AND_Y, ax=ax())
    assert margins.counts.sum() == 4
    margins.figure_.draw_without_rendering()
    BoundaryDisplay.from_estimator(clf, X, AND_Y, ax=ax()).figure_.draw_without_rendering()


def zero_set(display: BoundaryDisplay) -> Vector:
    """The points of the boundary that is drawn."""
    lines = [found for found in display.ax_.collections if not getattr(found, "filled", True)]
    return np.concatenate([path.vertices for path in lines[0].get_paths()])


def test_the_boundary_of_a_kernel_is_the_zero_set_of_its_scores() -> None:
    import pandas as pd

    X, y = three_classes()
    two = nv.KernelPerceptron(gamma=2.0, random_state=0).fit(CORNERS, [0, 1, 1, 0])
    several = nv.KernelPerceptron(gamma=0.1, random_state=0).fit(X, y)
    foreign = SVC(gamma=0.1).fit(pd.DataFrame(X), y == "c")
    scaled = make_pipeline(StandardScaler(), nv.Perceptron(random_state=0)).fit(X, y)
    for clf, rows, labels, rule, score in (
        (two, CORNERS, [0, 1, 1, 0], None, two.decision_function),
        (two, CORNERS, [0, 1, 1, 0], 0, lambda Z: -two.decision_function(Z)),
        (several, X, y, "b", lambda Z: several.decision_function(Z)[:, 1]),
        (scaled, X, y, "c", lambda Z: scaled.decision_function(Z)[:, 2]),
        (foreign, X, y == "c", None, lambda Z: foreign.decision_function(pd.DataFrame(Z))),
    ):
        with case_named((clf, rule)):
            display = BoundaryDisplay.from_estimator(clf, rows, labels, rule=rule, ax=ax())
            f = score(rows)
            assert np.allclose(display.distances, f)
            assert (display.mistakes == (display.signs * f <= 0)).all()
            across, up = display.ax_.get_xlim(), display.ax_.get_ylim()
            grid = [
                *itertools.product(
                    np.linspace(across[0], across[1], 20), np.linspace(up[0], up[1], 20)
                )
            ]
            far, on_it = np.abs(score(np.array(grid))).max(), zero_set(display)
            assert len(on_it) > 50
            assert np.abs(score(on_it)).max() < 0.01 * far
            assert not display.ax_.texts  # no w, and no arrow
            margins = MarginsDisplay.from_estimator(clf, rows, labels, rule=rule, ax=ax())
            assert np.allclose(margins.margins, display.signs * f)
    mutant = BoundaryDisplay(replace(display.rule, score=lambda Z: f.mean() + score(Z))).plot(ax())
    assert np.abs(score(zero_set(mutant))).min() > 0.01 * far
    wide = nv.KernelPerceptron().fit(np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="not linear is drawn over its two features"):
        BoundaryDisplay.from_estimator(wide, np.eye(3), [0, 1, 1], ax=ax())
    with pytest.raises(ValueError, match="R and γ are those of linear rules"):
        MistakesDisplay.from_estimator(two, CORNERS, [0, 1, 1, 0], ax=ax())


@pytest.mark.parametrize(
    ("clf", "message"),
    [
        (nv.KernelPerceptron(multi_class="ovo"), "The scores of one-vs-one are votes"),
        (SVC(kernel="linear"), "The scores of one-vs-one are votes"),  # and its coef_ of pairs
        (KNeighborsClassifier(), "A KNeighborsClassifier has neither coef_ nor decision_function"),
    ],
    ids=class_name,
)
def test_classifiers_without_a_score_of_each_rule_are_rejected(clf: Any, message: str) -> None:
    X, y = three_classes()
    with pytest.raises(ValueError, match=message):
        BoundaryDisplay.from_estimator(clf.fit(X, y), X, y, ax=ax())


TWO, THREE = line([1.0, 1.0], 0.0), Line(np.ones((2, 2)), np.zeros(2), np.arange(3))
MISFITS: list[tuple[Line, Vector, npt.ArrayLike, str]] = [
    (TWO, CORNERS, [0, 0, 1], "X has 4 rows, but y has 3 labels"),
    (TWO, CORNERS, [0, 0, 1, 7], "The label 7 in row 3 is not one of the"),
    (TWO, CORNERS[:, :1], AND_Y, "X has 1 columns, but the rule has 2 weights"),
    (TWO, CORNERS[:0], AND_Y[:0], "no rows"),
    (THREE, CORNERS, AND_Y, "2 rules for 3 classes"),
]


@pytest.mark.parametrize(
    ("clf", "X", "y", "message"), MISFITS, ids=[message for *_, message in MISFITS]
)
def test_what_does_not_fit(clf: Line, X: Vector, y: npt.ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoundaryDisplay.from_estimator(clf, X, y, ax=ax())


# Margins


def test_margins_and_their_histogram() -> None:
    clf, X, y = noisy(n=500)
    w, b = clf.coef_[0], clf.intercept_[0]
    display = MarginsDisplay.from_estimator(clf, X, y, margin=0.25, ax=ax())
    margins = (2 * y - 1) * (X @ w + b) / np.linalg.norm(w)
    assert np.allclose(display.margins, margins)
    for low, high, count in zip(display.edges, display.edges[1:], display.counts, strict=False):
        assert count == ((margins > low) & (margins <= high)).sum()
    assert 0.0 in display.edges
    touching = MarginsDisplay.from_estimator(line([1.0, 1.0], -2.0), CORNERS, AND_Y, ax=ax())
    assert touching.counts[touching.edges[1:] <= 0].sum() == 1  # f = 0 is a mistake (A1)
    wrong = int((margins <= 0).sum())
    assert display.counts[display.edges[1:] <= 0].sum() == wrong
    expected = {f"mistakes ({wrong})", f"right ({500 - wrong})", "γ = 0.25"}
    assert expected <= set(texts_of(display.figure_))
    hatched = [bar for bar in display.ax_.patches if bar.get_hatch()]
    assert len(hatched) == (display.edges[1:] <= 0).sum()


# Mistakes and the proof


def traced(seed: int = 0, **options: Any) -> tuple[nv.Perceptron, Vector, Vector, Vector]:
    case = planted(seed, 50, 3)
    clf = nv.Perceptron(trace=case.w_star, random_state=0).set_params(**options)
    return clf.fit(case.X, case.signs), case.X, case.signs.astype(np.float64), case.w_star


def proof_holds(display: ProofDisplay) -> bool:
    slack = 1e-9
    return bool(
        (display.inner >= display.inner_bound - slack).all()
        and (display.squared_norm <= display.squared_norm_bound + slack).all()
        and (display.cosine >= display.cosine_bound - slack).all()
    )


def test_the_proof_against_the_weights_themselves() -> None:
    clf, X, y, w_star = traced()
    display = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    A = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    R, gamma = np.linalg.norm(A, axis=1).max(), (A @ w_star).min()
    assert display.margin == pytest.approx(gamma)
    assert display.radius == pytest.approx(R)
    assert isinstance(clf.trace_, Trace)
    W = np.cumsum(A[clf.trace_.index], axis=0)
    t = np.arange(1, len(W) + 1)
    assert np.allclose(display.inner, W @ w_star)
    assert np.allclose(display.inner_bound, t * gamma)
    assert np.allclose(display.squared_norm, (W**2).sum(axis=1))
    assert np.allclose(display.squared_norm_bound, t * R**2)
    assert np.allclose(display.cosine, W @ w_star / np.linalg.norm(W, axis=1))
    assert np.allclose(display.cosine_bound, np.sqrt(t) * gamma / R)
    assert proof_holds(display)
    run = MistakesDisplay.from_estimator(clf, X, y, margin=gamma, radius=R, ax=ax())
    assert run.mistakes.tolist() == list(range(1, clf.n_mistakes_ + 1))
    assert run.visited.tolist() == (clf.trace_.n_steps + 1).tolist()
    assert run.bound == pytest.approx(R**2 / gamma**2)
    assert run.mistakes[-1] <= run.bound
    whole = format_number(float(R**2 // gamma**2))  # as in the reports
    assert f"bound R²/γ² = {whole}" in texts_of(run.figure_)
    assert f"so t ≤ ⌊R²/γ²⌋ = {whole}" in all_text(display.figure_)


def test_a_false_margin_or_radius_breaks_the_proof() -> None:
    clf, X, y, _ = traced()
    true = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    steepest = float((true.inner / true.inner_bound).min())
    for false in ({"margin": true.margin * steepest * 1.01}, {"radius": true.radius / 10}):
        with case_named([*false]):
            assert not proof_holds(
                ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3), **false)
            )


@pytest.mark.parametrize(
    "options",
    [{"threshold": 0.7}, {"step_size": 0.1}, {"class_weight": {-1: 0.5, 1: 3.0}}],
    ids=str,
)
def test_the_proof_with_other_steps(options: dict[str, Any]) -> None:
    """With a margin, updates are not all mistakes."""
    clf, X, y, _ = traced(**options)
    other = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    assert not other.plain
    assert proof_holds(other)


def test_the_bound_with_a_threshold_and_a_step_size() -> None:
    clf, X, y, _ = traced(threshold=0.8, step_size=0.5)
    proof = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    display = MistakesDisplay.from_estimator(clf, margin=proof.margin, radius=proof.radius, ax=ax())
    assert display.mistakes[-1] == clf.n_mistakes_ < clf.n_updates_ == display.updates[-1]
    per_update = 0.5**2 * proof.radius**2 + 2 * 0.8 * 0.5
    assert np.allclose(proof.squared_norm_bound, display.updates * per_update)
    assert display.bound is not None
    assert display.bound == pytest.approx((proof.radius**2 + 2 * 0.8 / 0.5) / proof.margin**2)
    assert display.updates[-1] <= display.bound
    assert "(R² + 2δ/μ)/γ²" in all_text(display.figure_)


@pytest.mark.parametrize(
    ("order", "storage", "bias"), [("permuted", sp.csr_array, False), ("cyclic", np.asarray, True)]
)
def test_a_run_without_a_trace_is_repeated_and_w_star_is_found(
    order: Any, storage: Any, bias: bool
) -> None:
    case = planted(3, 50, 3, fit_intercept=bias)
    X, y = storage(case.X), case.signs
    clf = nv.Perceptron(order=order, fit_intercept=bias).fit(X, y)  # of any seed
    proof = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    assert proof_holds(proof)
    assert proof.radius == pytest.approx(case.radius)
    assert len(proof.inner) == clf.n_updates_
    assert np.sqrt(proof.squared_norm[-1]) == pytest.approx(
        np.hypot.reduce([*clf.coef_[0], clf.intercept_[0]])
    )
    verdict = nv.separate(X, y, fit_intercept=bias)
    assert proof.margin == pytest.approx(verdict.margin.lo)
    run = MistakesDisplay.from_estimator(clf, X, y, ax=ax())
    assert run.mistakes[-1] == clf.n_mistakes_
    assert run.bound == pytest.approx(verdict.mistake_bound, abs=1.0)
    assert not hasattr(clf, "trace_")  # nothing about the classifier has changed


def cycling() -> nv.Perceptron:
    with pytest.warns(ConvergenceWarning):
        return nv.Perceptron(order="cyclic", max_epochs=1).fit(CORNERS, [0, 1, 1, 0])


def test_what_proves_nothing_is_rejected() -> None:
    clf, X, y, w_star = traced()
    weighted, *_ = traced(class_weight={-1: 0.5, 1: 3.0})
    xor, XOR_Y = cycling(), [0, 1, 1, 0]

    def run(rows: Vector = X, coef_init: Any = None, **options: Any) -> nv.Perceptron:
        return nv.Perceptron(random_state=0, **options).fit(rows, y, coef_init=coef_init)

    def proof(clf: Any, rows: Any = X, y: Any = y, **options: Any) -> Callable[[], object]:
        return lambda: ProofDisplay.from_estimator(clf, rows, y, **{"ax": blank_axes(3)} | options)

    def mistakes(clf: Any, **options: Any) -> Callable[[], object]:
        return lambda: MistakesDisplay.from_estimator(clf, ax=ax(), **options)

    known = {"margin": 0.1, "radius": 9.0}
    for draw_it, message in (
        (proof(clf, margin=-1.0), "positive margin and radius"),
        (proof(clf, ax=blank_axes()), "needs three axes, not 1"),
        (proof(run(trace=-w_star)), r"does not separate the rows: .* in row \d+"),
        (proof(run(trace=w_star, coef_init=[1.0, 1.0, 9.0])), "did not start from zero"),
        (proof(run(2 * X, trace=True)), "saw other rows than these"),
        (proof(run(coef_init=[1.0, 1.0, 9.0])), r"cannot be repeated .* fit with trace=True"),
        (proof(run(trace=True), None, None, **known), "Give X and y, or fit with trace=w"),
        (proof(nv.MaxMargin().fit(X, y)), r"A MaxMargin makes no updates .* novikoff\.Perceptron"),
        (proof(xor, CORNERS, XOR_Y), "No rule separates these rows"),
        (mistakes(run()), "trace=True, or give X and y"),
        (mistakes(weighted, **known), "steps of this run differ"),
        (lambda: PocketDisplay.from_estimator(clf), r"A Perceptron has no history_ .*\.Pocket"),
    ):
        with case_named(message), pytest.raises(ValueError, match=message):
            draw_it()
    assert MistakesDisplay.from_estimator(xor, CORNERS, XOR_Y, ax=ax()).bound is None


@pytest.mark.parametrize(
    ("scheme", "rule"), [("ovr", "c"), ("ovo", ("a", "c")), ("ovo", ("c", "a"))]
)
def test_the_proof_of_each_of_several_rules(scheme: str, rule: Any) -> None:
    X, y = three_classes()
    clf = nv.Perceptron().set_params(multi_class=scheme).fit(X, y)
    assert proof_holds(ProofDisplay.from_estimator(clf, X, y, rule=rule, ax=blank_axes(3)))


@pytest.mark.parametrize("rule", [0, 1])
def test_the_proof_from_either_side_of_two_classes(rule: int) -> None:
    clf = nv.Perceptron(trace=[2, 2, -3]).fit(CORNERS, AND_Y)
    shown = ProofDisplay.from_estimator(clf, CORNERS, AND_Y, rule=rule, ax=blank_axes(3))
    assert proof_holds(shown)


def test_the_history_of_the_pocket() -> None:
    X, y = three_classes()
    X = X / 20.0 + np.random.default_rng(0).normal(size=X.shape)
    clf = nv.Pocket(random_state=0, max_updates=300).fit(X, y)
    assert isinstance(clf.n_errors_, list)
    assert isinstance(clf.errors_lower_bound_, list)
    second = PocketDisplay.from_estimator(clf, rule="b", ax=ax())
    assert second.mistakes[-1] == clf.n_errors_[1]
    assert second.lower_bound == clf.errors_lower_bound_[1]
    assert "b against the rest" in texts_of(second.figure_)
    assert (np.diff(second.mistakes[:-1]) <= 0).all()  # the last is that of rules best together


@pytest.mark.parametrize(("last", "scale"), [(50, "linear"), (50_000, "symlog")])
def test_the_axis_of_updates_is_logarithmic_where_they_span_decades(last: int, scale: str) -> None:
    display = PocketDisplay(np.array([0, 3, last]), np.array([9, 5, 4]), 2, "").plot(ax())
    assert display.ax_.get_xscale() == scale
    assert display.ax_.get_xlim()[0] == 0.0


# The film


def shown(figure: Figure, label: str) -> Vector:
    """The points of that label in the legend."""
    for found in figure.axes[0].get_lines():
        if found.get_label() == label:
            return np.column_stack(found.get_data())
    return np.empty((0, 2))


def test_a_film_shows_each_update(tmp_path: Path) -> None:
    clf = nv.Perceptron(order="cyclic", trace=True).fit(CORNERS, AND_Y)
    assert isinstance(clf.trace_, Trace)
    A = np.column_stack([CORNERS, np.ones(4)]) * np.where(AND_Y == 1, 1, -1)[:, None]
    for rule in (0, 1):
        with case_named(rule):
            run, figure = traced_run(clf, CORNERS, AND_Y, rule), Figure()
            pictures = Film(run, ProofDisplay.of_run(run), figure)
            assert pictures.times.tolist() == [*range(clf.n_updates_ + 1)]
            for t in pictures.times.tolist():
                pictures.show(t)
                wrong = np.flatnonzero(A @ clf.trace_.weights(t) <= 0)
                assert len(shown(figure, f"mistakes ({len(wrong)})")) == len(wrong)
                ringed = shown(figure, "row of this update")
                assert ringed.tolist() == CORNERS[clf.trace_.index[max(0, t - 1) : t]].tolist()
                curves = [panel.get_lines()[0] for panel in figure.axes[1:4]]
                assert [np.size(curve.get_ydata()) for curve in curves] == [t] * 3
            assert "Every row is right." in figure.axes[0].get_title(loc="left")
    short = nv.Perceptron(order="cyclic").fit(CORNERS[:2], [0, 1])
    animate(short, CORNERS[:2], [0, 1]).save(tmp_path / "run.gif", writer="pillow", dpi=40)
    with Image.open(tmp_path / "run.gif") as image:
        assert len(list(ImageSequence.Iterator(image))) == short.n_updates_ + 1


def test_a_notebook_plays_a_film_and_rows_are_numbered_as_in_the_lab() -> None:
    clf = nv.Perceptron(order="cyclic").fit(CORNERS[:2], [0, 1])
    film = animate(clf, CORNERS[:2], [0, 1])
    assert film._repr_html_().count("image/png") == clf.n_updates_ + 1
    run = traced_run(clf, CORNERS[:2], [0, 1], None)
    pictures = Film(run, None, Figure())
    pictures.show(1)
    row = run.trace.index[0]
    assert f"row {row + 1}, X[{row}], has" in pictures.ax.get_title(loc="left")


def test_the_colours_are_those_of_the_lab() -> None:
    css = (Path(nv.__file__).parent / "page/static/lab.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--([\w-]+): (#\w+);", css.split("@media")[0]))
    names = {"plus": style.POSITIVE, "minus": style.NEGATIVE, "plus-side": style.POSITIVE_SIDE,
             "minus-side": style.NEGATIVE_SIDE, "bad": style.LIMIT,
             "bad-side": style.FORBIDDEN_SIDE}  # fmt: skip
    assert {name: light[name] for name in names} == names
    clf = nv.Perceptron(order="cyclic").fit(CORNERS, AND_Y)
    display = BoundaryDisplay.from_estimator(clf, CORNERS, AND_Y, ax=ax())
    assert [line.get_marker() for line in display.ax_.lines[:2]] == ["o", "s"]


@pytest.mark.parametrize("quantity", range(3))
def test_the_side_on_which_no_value_can_be_is_tinted(quantity: int) -> None:
    clf = nv.Perceptron(order="cyclic").fit(CORNERS, AND_Y)
    display = ProofDisplay.from_estimator(clf, CORNERS, AND_Y, ax=blank_axes(3))
    panel, axes = display.panels[quantity], display.ax_[quantity]
    (tint,) = axes.collections
    corners = tint.get_paths()[0]
    for t, value, limit in zip(range(1, 19), panel.values, panel.bound, strict=True):
        if not math.isclose(value, limit, rel_tol=1e-6):
            assert not corners.contains_point((t, value))
        beyond = limit * (0.9 if panel.relation == "≥" else 1.02)
        assert corners.contains_point((min(17.9, max(1.1, t)), beyond)) or t in (1, 18)


def test_slides_are_twice_as_large() -> None:
    clf = nv.Perceptron(order="cyclic").fit(CORNERS, AND_Y)
    plain = BoundaryDisplay.from_estimator(clf, CORNERS, AND_Y, ax=ax())
    with slides():
        large = BoundaryDisplay.from_estimator(clf, CORNERS, AND_Y, ax=ax())
        film = Film(traced_run(clf, CORNERS, AND_Y, None), None, Figure())
    film.show(3)
    for one, two in zip(plain.ax_.lines, large.ax_.lines, strict=True):
        assert two.get_linewidth() == 2 * one.get_linewidth()
        assert two.get_markersize() == 2 * one.get_markersize()
    sizes = [part.ax_.get_legend().get_texts()[0].get_fontsize() for part in (plain, large)]
    assert sizes == [9.0, 18.0]
    legend = film.ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_fontsize() == 18.0
    width, height = figure_of(blank_axes()[0]).get_size_inches()
    assert (width, height) == (6.4, 4.8)  # the style ends with its block


def test_a_film_without_a_proof_and_what_cannot_be_one(tmp_path: Path) -> None:
    figure = Figure()
    film = animate(cycling(), CORNERS, [0, 1, 1, 0], figure=figure)
    film.save(tmp_path / "run.gif", writer="pillow", dpi=40)
    assert len(figure.axes) == 1
    case = planted(0, 30, 3)
    clf = nv.Perceptron().fit(case.X, case.signs)
    with pytest.raises(ValueError, match="needs two features, not 3"):
        animate(clf, case.X, case.signs, figure=Figure())


def test_the_arrow_is_at_a_right_angle_to_the_boundary() -> None:
    found = BoundaryDisplay.from_estimator(line([1.0, 2.0], -1.5), CORNERS, AND_Y, ax=ax())
    (arrow,) = [text for text in found.ax_.texts if isinstance(text, Annotation)]
    dx, dy = np.subtract(arrow.xy, arrow.xyann)
    assert (dy / dx, found.ax_.get_aspect()) == (pytest.approx(2.0), 1.0)
    assert np.dot(arrow.xyann, [1.0, 2.0]) == pytest.approx(1.5)  # it begins on the boundary
    stretched = BoundaryDisplay.from_estimator(
        line([1.0, 2.0], -150.0), CORNERS * [100, 1], AND_Y, ax=ax()
    )
    assert not stretched.ax_.texts  # the angle would not be right


def test_the_short_name() -> None:
    from novikoff import plots
    from novikoff.plots import ProofDisplay as Short

    assert Short is ProofDisplay
    assert nv.plots is plots
    assert set(plots.__all__) <= set(vars(plots))
    run = nv.Perceptron().fit(CORNERS, AND_Y)
    assert repr(Short.from_estimator(run, CORNERS, AND_Y, ax=blank_axes(3))) == "ProofDisplay()"


# Conventions


def display(name: str, where: Axes | None) -> Display:
    clf, X, y = noisy()
    run = nv.Perceptron(order="cyclic", trace=[2, 2, -3]).fit(CORNERS, AND_Y)
    if name == "boundary":
        return BoundaryDisplay.from_estimator(clf, X, y, ax=where)
    if name == "margins":
        return MarginsDisplay.from_estimator(clf, X, y, ax=where)
    if name == "pocket":
        pocket = nv.Pocket(random_state=0).fit(CORNERS, [0, 1, 1, 0])
        return PocketDisplay.from_estimator(pocket, ax=where)
    if name == "plane":
        return BoundaryDisplay.from_estimator(run, CORNERS, AND_Y, ax=where)
    if name == "mistakes":
        return MistakesDisplay.from_estimator(run, margin=0.1, radius=1.8, ax=where)
    three = None if where is None else blank_axes(3)
    return ProofDisplay.from_estimator(run, CORNERS, AND_Y, ax=three)


NAMED = ("boundary", "plane", "margins", "mistakes", "pocket", "proof")
DISPLAYS = pytest.mark.parametrize("name", NAMED)


@DISPLAYS
def test_nothing_overlaps_or_is_cut_off(name: str) -> None:
    figure = display(name, ax()).figure_
    figure.draw_without_rendering()
    page, boxes = figure.bbox, []
    for one in figure.axes:
        boxes.append(one.get_window_extent())
        title = one.get_title(loc="left")
        titles = [t for t in one.get_children() if isinstance(t, Text) and t.get_text() == title]
        labels = [one.xaxis.label, one.yaxis.label, *titles]
        boxes += [text.get_window_extent() for text in labels if text.get_text()]
        legend = one.get_legend()
        boxes += [] if legend is None else [legend.get_window_extent()]
    for i, box in enumerate(boxes):
        assert page.x0 - 1 <= box.x0 <= box.x1 <= page.x1 + 1
        assert page.y0 - 1 <= box.y0 <= box.y1 <= page.y1 + 1
        for another in boxes[:i]:
            wide = min(box.x1, another.x1) - max(box.x0, another.x0)
            high = min(box.y1, another.y1) - max(box.y0, another.y0)
            assert wide <= 1 or high <= 1


def test_pictures_of_a_study() -> None:
    """Which there are, of two classes and of three; of several rules, the hardest."""
    X, three = three_classes()
    noise = np.random.default_rng(0).normal(size=X.shape)
    cases: list[tuple[Vector, npt.ArrayLike, StudyOptions, bool, str]] = [
        (CORNERS, [0, 1, 1, 0], StudyOptions(), True, "1 against 0"),
        (CORNERS, [0, 0, 0, 1], StudyOptions(verdict=False), True, "1 against 0"),
        (X, three, StudyOptions(), False, "a against the rest, the hardest of 3 rules (smallest"),
        (X / 9 + noise, three, StudyOptions(), False, "the hardest of 3 rules (most mistakes)"),
    ]
    for rows, y, options, runs, title in cases:
        found = study(rows, np.array(y), options)
        for subject in ("boundary", "margins", "mistakes") if runs else ("boundary", "margins"):
            with case_named((subject, title)):
                figure = draw_study(found, rows, ["a", "b"], subject)
                assert subject == "mistakes" or title in all_text(figure)
        missing: list[Subject] = ["proof"] if runs else ["mistakes", "proof"]
        for subject in missing:
            with pytest.raises(ValueError, match=r"two classes|separable data"):
                draw_study(found, rows, None, subject)
    assert found.each_row is not None
    W, sides = found.model.prediction_weights(), found.model.sides[found.each_row.codes]
    wrong = (sides != 0) & (sides * (rows @ W[:-1] + W[-1]) <= 0.0)
    assert f"mistakes ({wrong.sum(axis=0).max()})" in texts_of(
        draw_study(found, rows, None, "margins")
    )


PROGRAM = r"""
import sys
import numpy as np
import novikoff.report.plots
assert not {"matplotlib", "sklearn", "numba", "scipy"} & set(sys.modules)
from novikoff.report.pictures import draw_all, draw_study
from novikoff.report.plots import figure_to_svg
from novikoff.jobs.study import study

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
found = study(X, np.array(["no", "no", "no", "yes"]))
pictures = draw_all(found, X, ["a", "b"])
assert list(pictures) == ["boundary", "margins", "mistakes", "proof"]
assert all(svg.startswith("<svg") for svg in pictures.values())
assert "bound R²/γ²" in pictures["mistakes"]
assert ">b</text>" in figure_to_svg(draw_study(found, X, ["a", "b"], "boundary", plane=("b", "a")))
assert not {"sklearn", "pandas", "matplotlib.pyplot"} & set(sys.modules)
"""


def test_a_report_needs_no_scikit_learn_and_no_display() -> None:
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMED)
def test_without_axes_a_figure_of_pyplot(name: str) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    made = display(name, None)
    assert made.figure_ is plt.gcf()
    plt.close(made.figure_)


def test_without_matplotlib_there_is_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'novikoff[plots]'")):
        blank_axes()


# Text, SVG and files


def test_numbers() -> None:
    values = (-0.0, 0.05, 0.001, -2e-9, 999.6, 99.96, 123456.7, -1e6, 1.23456e300, np.inf, np.nan)
    texts = ["0", "0.05", "10⁻³", "−2 × 10⁻⁹", "1,000", "100", "123,457", "−10⁶", "1.23 × 10³⁰⁰"]
    assert [format_number(value) for value in values] == [*texts, "∞", "undefined"]


NAMES = [
    "$x_1$ & <b>",
    "two\nlines",
    "]]> -- \x01 \ufffe",
    "$\\frac{",
    "名前",
    "'\"`",
    "x" * 99,
    "",
]


@pytest.mark.parametrize("names", [NAMES[:4], NAMES[4:]], ids=repr)
def test_names_are_drawn_as_they_are(names: list[str]) -> None:
    import pandas as pd

    clf, X, y = noisy(d=2)
    one, two, three, four = names
    clf.classes_ = np.array([one, two], dtype=object)
    frame = pd.DataFrame(X, columns=[three, four])
    made = BoundaryDisplay.from_estimator(clf, frame, clf.classes_[y], ax=ax())
    root = ET.fromstring(figure_to_svg(made.figure_, label=one))  # noqa: S314
    texts = [element.text or "" for element in root.iter(f"{SVG}text")]
    for name in map(clean_name, (one, two, three, four)):
        assert any(text == name or text.startswith(f"{name} (") for text in texts)
        assert 0 < len(name) <= 24
    assert render_figure(made.figure_, ".png").startswith(b"\x89PNG")


@DISPLAYS
def test_svg_is_an_element_of_its_own_and_the_same_each_time(name: str) -> None:
    svg = figure_to_svg(display(name, ax()).figure_, prefix="one", label='a "plot" & more')
    root = ET.fromstring(svg)  # noqa: S314
    assert (root.tag, root.get("aria-label")) == (f"{SVG}svg", 'a "plot" & more')
    assert "<?xml" not in svg
    assert "<!" not in svg
    assert not list(root.iter(f"{SVG}style"))
    ids = [found for element in root.iter() if (found := element.get("id"))]
    assert len(set(ids)) == len(ids) > 1
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.endswith("href"):
                assert value[1:] in ids
            for target in re.findall(r"url\(([^)]*)\)", value):
                assert target[1:] in ids
    outside = re.findall(r"https?://[^\"]*", svg)
    assert set(outside) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    if name == "boundary":
        again = figure_to_svg(display(name, ax()).figure_, prefix="one", label='a "plot" & more')
        assert again == svg
        other = figure_to_svg(display(name, ax()).figure_, prefix="two")
        assert not set(re.findall(r' id="([^"]+)"', other)) & set(ids)


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<svg"), (".PNG", b"\x89PNG")])
def test_files(tmp_path: Path, suffix: str, start: bytes) -> None:
    figure = figure_of(ax())
    path = tmp_path / f"plot{suffix}"
    save_figure(figure, path, force=False)
    assert path.read_bytes().startswith(start)
    with pytest.raises(OutputError, match="already exists"):
        save_figure(figure, path, force=False)
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_of_another_kind_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"as \.svg or \.png, not as '\.pdf'"):
        save_figure(figure_of(ax()), tmp_path / "plot.pdf")
    assert list(tmp_path.iterdir()) == []
