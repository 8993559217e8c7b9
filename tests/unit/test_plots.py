"""Plots: the numbers they draw against NumPy, their conventions, and the SVG they become."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

import novikoff as nv
from novikoff.core.rows import Vector
from novikoff.core.trace import Trace
from novikoff.report.files import OutputError
from novikoff.report.plots import (
    BoundaryDisplay,
    MarginsDisplay,
    MistakesDisplay,
    ProofDisplay,
    blank_axes,
    figure_of,
    figure_to_svg,
    render_figure,
    save_figure,
)
from novikoff.report.plots.plane import line_in, principal_direction
from novikoff.report.plots.style import clean_name, format_number, thinned
from tests.cases import planted

pytest.importorskip("matplotlib")
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

SVG = "{http://www.w3.org/2000/svg}"
AND_X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND_Y = np.array([0, 0, 0, 1])
XOR_Y = np.array([0, 1, 1, 0])


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
    return re.findall(r">([^<>]*)</text>", figure_to_svg(figure))


# The boundary


@pytest.mark.parametrize("d", [2, 3, 5, 40])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_distances_mistakes_and_the_line(d: int, storage: Callable[[Vector], Vector]) -> None:
    clf, X, y = noisy(d=d)
    w, b = clf.coef_[0], clf.intercept_[0]
    display = BoundaryDisplay.from_estimator(clf, storage(X), y, ax=ax())
    distances = (X @ w + b) / np.linalg.norm(w)
    assert np.allclose(display.distances, distances)
    wrong = {i for i in range(len(X)) if (2 * y[i] - 1) * (X[i] @ w + b) <= 0}
    assert set(np.flatnonzero(display.mistakes).tolist()) == wrong
    assert (len(wrong) > 0) == (d != 5)
    assert (display.margin is None) == (len(display.support) == 0) == (len(wrong) > 0)
    assert len(display.margin_lines) == (0 if wrong else 2)
    assert display.line is not None
    if d == 2:
        assert np.allclose(display.points, X)
        assert np.allclose(display.line @ w + b, 0.0)
    else:
        assert np.allclose(display.points[:, 0], distances)
        assert np.allclose(display.line[:, 0], 0.0)


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_other_axis_is_the_widest_direction_orthogonal_to_w(shift: float) -> None:
    clf, X, y = noisy(d=8)
    X = X + shift
    unit = clf.coef_[0] / np.linalg.norm(clf.coef_[0])
    centred = X - X.mean(axis=0)
    flat = centred - np.outer(centred @ unit, unit)
    widest = np.linalg.svd(flat)[2][0]
    widest *= np.sign(widest[np.argmax(np.abs(widest))])
    assert np.allclose(principal_direction(X, clf.coef_[0]), widest, atol=1e-6)
    assert np.allclose(principal_direction(sp.csr_array(X), clf.coef_[0]), widest, atol=1e-6)
    display = BoundaryDisplay.from_estimator(clf, X, y, ax=ax())
    assert np.allclose(display.points[:, 1], centred @ widest, atol=1e-5)
    assert display.labels == (
        "signed distance to the hyperplane",
        "first principal direction orthogonal to w",
    )


def test_the_widest_direction_stays_sparse_and_is_the_same_each_time() -> None:
    rng = np.random.default_rng(1)
    rows, columns = np.repeat(np.arange(300), 5), rng.integers(0, 30_000, size=1500)
    X = sp.csr_array((rng.normal(size=1500), (rows, columns)), shape=(300, 30_000))
    w = rng.normal(size=30_000)
    first, second = principal_direction(X, w), principal_direction(X, w)
    assert np.array_equal(first, second)
    assert abs(first @ w) < 1e-6
    assert np.linalg.norm(first) == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_directions_of_constant_and_of_very_large_data(scale: float) -> None:
    constant = np.full((4, 3), 0.1) * scale
    assert not principal_direction(constant, np.array([1.0, 0.0, 0.0])).any()
    X = np.diag([1.0, 2.0, 3.0]) * scale
    found = principal_direction(X, np.array([0.0, 0.0, 1.0]))
    assert np.isfinite(found).all()
    assert found[2] == 0.0
    assert np.linalg.norm(found) == pytest.approx(1.0)


def test_a_plane_of_two_features_is_a_section_at_the_means_of_the_others() -> None:
    clf, X, y = noisy(d=4)
    w, b = clf.coef_[0], clf.intercept_[0]
    display = BoundaryDisplay.from_estimator(clf, X, y, plane=(2, 0), ax=ax())
    assert np.allclose(display.points, X[:, [2, 0]])
    assert display.line is not None
    for end in display.line:
        x = X.mean(axis=0)
        x[2], x[0] = end
        assert x @ w + b == pytest.approx(0.0, abs=1e-9)
    assert display.labels == ("feature 2", "feature 0")
    assert "held at their means: feature 1 = " in display.title
    wide = BoundaryDisplay.from_estimator(*noisy(d=30), plane=(0, 29), ax=ax())
    assert "the other 28 features held at their means" in wide.title


def test_planes_by_name() -> None:
    import pandas as pd

    clf, X, y = noisy(d=3)
    frame = pd.DataFrame(X, columns=["a_1", "$b$", "c"])
    display = BoundaryDisplay.from_estimator(clf, frame, y, plane=("c", "$b$"), ax=ax())
    assert np.allclose(display.points, X[:, [2, 1]])
    assert display.labels == ("c", "$b$")
    assert "$b$" in texts_of(display.figure_)
    with pytest.raises(ValueError, match="'d' is not known: it is none of the names"):
        BoundaryDisplay.from_estimator(clf, frame, y, plane=("c", "d"), ax=ax())


@pytest.mark.parametrize(
    ("plane", "message"),
    [
        ((0, 5), "no feature 5: they are 0 to 4"),
        ((1, 1), "must differ"),
        (("x", 1), "they have no names"),
        ((1, 2, 3), "A plane is a pair"),
    ],
)
def test_planes_that_are_none(plane: tuple[int, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoundaryDisplay.from_estimator(*noisy(), plane=plane, ax=ax())


def test_the_margin_and_its_support() -> None:
    case = planted(3, 40, 2)
    clf = nv.MaxMargin().fit(case.X, case.signs)
    display = BoundaryDisplay.from_estimator(clf, case.X, case.signs, ax=ax())
    assert isinstance(clf.support_, np.ndarray)
    assert display.support.tolist() == clf.support_.tolist()
    assert isinstance(clf.margin_, nv.Interval)
    assert display.margin == pytest.approx(clf.margin_.lo)
    w, b = clf.coef_[0], clf.intercept_[0]
    low, high = ((ends @ w + b) / np.linalg.norm(w) for ends in display.margin_lines)
    assert np.allclose(low, -clf.margin_.lo)
    assert np.allclose(high, clf.margin_.lo)


def test_any_rule_has_nearest_rows() -> None:
    display = BoundaryDisplay.from_estimator(line([2.0, 2.0], -3.0), AND_X, AND_Y, ax=ax())
    assert display.support.tolist() == [1, 2, 3]
    assert display.margin == pytest.approx(0.5 / np.sqrt(2))


def test_support_of_other_rows_is_not_believed() -> None:
    clf = nv.MaxMargin().fit(AND_X, AND_Y)
    X = np.array([[0.0, 0.0], [-1.0, -1.0], [3.0, 3.0], [5.0, 5.0]])
    display = BoundaryDisplay.from_estimator(clf, X, [0, 0, 1, 1], ax=ax())
    assert display.support.tolist() == [0]


def test_one_feature() -> None:
    X, y = np.array([[1.0], [2.0], [4.0], [5.0]]), ["no", "no", "yes", "yes"]
    display = BoundaryDisplay.from_estimator(line([-2.0], 6.0, "yes", "no"), X, y, ax=ax())
    assert display.points[:, 0].tolist() == [1.0, 2.0, 4.0, 5.0]
    assert (np.sign(display.points[:, 1]) == [1, 1, -1, -1]).all()
    assert display.line is not None
    assert display.line[:, 0].tolist() == [3.0, 3.0]
    assert display.distances.tolist() == [2.0, 1.0, -1.0, -2.0]
    assert display.labels[1].startswith("jitter")
    assert display.ax_.get_yticks().size == 0
    with pytest.raises(ValueError, match="one feature only"):
        BoundaryDisplay.from_estimator(line([1.0], 0.0), X, AND_Y, plane=(0, 1), ax=ax())


def test_of_many_rows_a_sample_and_every_mistake() -> None:
    clf, X, y = noisy(n=900)
    display = BoundaryDisplay.from_estimator(clf, X, y, max_points=400, ax=ax())
    wrong = np.flatnonzero(display.mistakes)
    assert 0 < len(wrong) < 200
    assert np.isin(wrong, display.drawn).all()
    assert len(display.drawn) == len(np.unique(display.drawn)) == 400
    right = 900 - len(wrong)
    assert f"Drawn: {400 - len(wrong)} of the {right} rows that are right" in display.note
    assert f"all {len(wrong)} mistakes" in display.note
    assert display.note.split(":")[0] in " ".join(texts_of(display.figure_))
    again = BoundaryDisplay.from_estimator(clf, X, y, max_points=400, ax=ax())
    assert np.array_equal(again.drawn, display.drawn)
    other = BoundaryDisplay.from_estimator(clf, X, y, max_points=400, random_state=1, ax=ax())
    assert not np.array_equal(other.drawn, display.drawn)


def test_too_many_mistakes_are_sampled_too() -> None:
    clf, X, y = noisy(n=300)
    display = BoundaryDisplay.from_estimator(clf, X, 1 - y, max_points=100, ax=ax())
    assert len(display.drawn) <= 100
    assert display.mistakes[display.drawn].sum() == 50
    assert f"50 of the {display.mistakes.sum()} mistakes" in display.note


def test_of_few_rows_all() -> None:
    display = BoundaryDisplay.from_estimator(*noisy(), ax=ax())
    assert len(display.drawn) == 60
    assert display.note == ""


def three_classes() -> tuple[Vector, npt.NDArray[np.str_]]:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(9, 2)) + c for c in ([0, 9], [9, 0], [-9, -9])])
    return X, np.repeat(["a", "b", "c"], 9)


def test_one_class_against_the_rest() -> None:
    X, y = three_classes()
    clf = nv.Perceptron(random_state=0).fit(X, y)
    first = BoundaryDisplay.from_estimator(clf, X, y, ax=ax())
    assert first.title == "a against the rest"
    assert (first.signs == np.where(y == "a", 1, -1)).all()
    third = BoundaryDisplay.from_estimator(clf, X, y, rule="c", ax=ax())
    scores = (X @ clf.coef_[2] + clf.intercept_[2]) / np.linalg.norm(clf.coef_[2])
    assert np.allclose(third.distances, scores)
    assert third.title == "c against the rest"
    with pytest.raises(ValueError, match="'d' is not one of the classes"):
        BoundaryDisplay.from_estimator(clf, X, y, rule="d", ax=ax())


@pytest.mark.parametrize("pair", [("c", "a"), ("a", "c"), ("c", "b"), ("b", "a")])
def test_a_pair_of_classes(pair: tuple[str, str]) -> None:
    X, y = three_classes()
    clf = nv.Perceptron(random_state=0, multi_class="ovo").fit(X, y)
    display = BoundaryDisplay.from_estimator(clf, X, y, rule=pair, ax=ax())
    assert display.rows.tolist() == np.flatnonzero(np.isin(y, pair)).tolist()
    assert (display.signs == np.where(y[display.rows] == pair[0], 1, -1)).all()
    assert not display.mistakes.any()
    assert display.sides == pair
    with pytest.raises(ValueError, match="a pair of classes"):
        BoundaryDisplay.from_estimator(clf, X, y, rule="a", ax=ax())


def test_two_classes_either_way_round() -> None:
    clf = line([1.0, 1.0], -1.5)
    usual = BoundaryDisplay.from_estimator(clf, AND_X, AND_Y, ax=ax())
    swapped = BoundaryDisplay.from_estimator(clf, AND_X, AND_Y, rule=0, ax=ax())
    assert usual.sides == ("1", "0")
    assert swapped.sides == ("0", "1")
    assert np.array_equal(usual.distances, -swapped.distances)
    assert np.array_equal(usual.mistakes, swapped.mistakes)


def test_votes_are_drawn_by_their_last_weights() -> None:
    clf = nv.Perceptron(average="voted", random_state=0).fit(AND_X, AND_Y)
    display = BoundaryDisplay.from_estimator(clf, AND_X, AND_Y, ax=ax())
    w, b = clf.coef_[0], clf.intercept_[0]
    assert np.allclose(display.distances, (AND_X @ w + b) / np.linalg.norm(w))


def test_a_boundary_nearby_is_brought_into_the_picture_and_a_far_one_is_not() -> None:
    near = BoundaryDisplay.from_estimator(line([1.0, 1.0], -3.0), AND_X, AND_Y, ax=ax())
    assert near.line is not None
    assert np.allclose(near.line.sum(axis=1), 3.0)
    far = BoundaryDisplay.from_estimator(line([1.0, 1.0], -90.0), AND_X, AND_Y, ax=ax())
    assert far.line is None
    assert "far outside" in far.note


def test_small_numbers_have_their_power_of_ten_beside_the_axis() -> None:
    clf, X, y = noisy(d=2)
    clf.intercept_ *= 1e-7
    display = BoundaryDisplay.from_estimator(clf, X * 1e-7, y, ax=ax())
    assert (
        texts_of(display.figure_).count("× 10⁻⁷") + texts_of(display.figure_).count("× 10⁻⁶") == 2
    )


def test_lines_in_a_box() -> None:
    low, high = np.array([-1.0, 0.0]), np.array([3.0, 2.0])
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 300).T), axis=-1)
    for normal, offset in zip(rng.normal(size=(40, 2)), rng.normal(size=40), strict=True):
        ends = line_in(normal, offset, low, high)
        values = grid @ normal + offset
        assert (ends is None) == (values.min() > 0 or values.max() < 0)
        if ends is not None:
            assert np.allclose(ends @ normal + offset, 0.0)
            assert (np.isclose(ends, low) | np.isclose(ends, high)).any(axis=1).all()


# Degenerate input


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("b", [0.0, 1.0])
def test_zero_weights(d: int, b: float) -> None:
    X = np.random.default_rng(0).normal(size=(6, d))
    y = [0, 1, 0, 1, 0, 1]
    display = BoundaryDisplay.from_estimator(line(np.zeros(d), b), X, y, ax=ax())
    assert display.line is None
    assert "All weights are zero" in display.note
    assert display.mistakes.sum() == (6 if b == 0.0 else 3)
    assert np.isnan(display.distances).all()
    figure_to_svg(display.figure_)
    with pytest.raises(ValueError, match="All weights are zero"):
        MarginsDisplay.from_estimator(line(np.zeros(d), b), X, y, ax=ax())


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("value", [0.0, 7.0, -1e-12, 1e12])
def test_constant_rows(d: int, value: float) -> None:
    X, clf = np.full((4, d), value), line(np.ones(d), 0.5)
    display = BoundaryDisplay.from_estimator(clf, X, AND_Y, ax=ax())
    figure_to_svg(display.figure_)
    margins = MarginsDisplay.from_estimator(clf, X, AND_Y, ax=ax())
    assert margins.counts.sum() == 4
    figure_to_svg(margins.figure_)


def test_one_row_of_each_class() -> None:
    X, y = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 3.0]]), ["no", "yes"]
    clf = nv.MaxMargin().fit(X, y)
    display = BoundaryDisplay.from_estimator(clf, X, y, ax=ax())
    assert display.support.tolist() == [0, 1]
    assert display.margin == pytest.approx(1.5)
    assert "yes (1 row)" in texts_of(display.figure_)


def test_a_plane_without_the_boundary() -> None:
    clf, X, y = noisy(d=4)
    clf.coef_[0, :2] = 0.0
    display = BoundaryDisplay.from_estimator(clf, X, y, plane=(0, 1), ax=ax())
    assert display.line is None
    assert "does not cross this plane" in display.note


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (AND_X, [0, 0, 1], "X has 4 rows, but y has 3 labels"),
        (AND_X, [0, 0, 1, 7], "The label 7 in row 3 is not one of the classes"),
        (AND_X, [[0], [0], [0], [1]], "one label per row"),
        (AND_X[:, :1], AND_Y, "X has 1 columns, but the rule has 2 weights"),
        (AND_X[0], [0], "X has 1 dimension"),
        (AND_X[:0], AND_Y[:0], "no rows to draw"),
    ],
)
def test_rows_that_do_not_fit(X: Vector, y: npt.ArrayLike, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoundaryDisplay.from_estimator(line([1.0, 1.0], 0.0), X, y, ax=ax())


def test_rules_that_do_not_fit() -> None:
    clf = Line(np.ones((2, 2)), np.zeros(2), np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="2 rules for 3 classes"):
        BoundaryDisplay.from_estimator(clf, AND_X, AND_Y, ax=ax())


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
    wrong = int((margins <= 0).sum())
    assert display.counts[display.edges[1:] <= 0].sum() == wrong
    assert {f"mistakes ({wrong})", f"right ({500 - wrong})", "γ = 0.25"} <= set(
        texts_of(display.figure_)
    )
    hatched = [bar for bar in display.ax_.patches if bar.get_hatch()]
    assert len(hatched) == (display.edges[1:] <= 0).sum()


def test_margins_without_mistakes_and_on_the_boundary() -> None:
    clf = line([1.0, 1.0], -1.5)
    display = MarginsDisplay.from_estimator(clf, AND_X, AND_Y, ax=ax())
    assert not any("mistakes" in text for text in texts_of(display.figure_))
    touching = MarginsDisplay.from_estimator(line([1.0, 1.0], -2.0), AND_X, AND_Y, ax=ax())
    assert touching.counts[touching.edges[1:] <= 0].sum() == 1  # f = 0 is a mistake (A1)


def test_an_outlier_does_not_make_a_million_bins() -> None:
    X = np.append(np.linspace(1, 2, 1000), 1e9)[:, None]
    display = MarginsDisplay.from_estimator(line([1.0], 0.0), X, np.ones(1001, int), ax=ax())
    assert len(display.counts) < 100
    assert display.counts.sum() == 1001


# Mistakes and the proof


def traced(
    seed: int = 0, options: dict[str, object] | None = None
) -> tuple[nv.Perceptron, Vector, Vector, Vector]:
    case = planted(seed, 50, 3)
    clf = nv.Perceptron(trace=case.w_star, random_state=0)
    clf.set_params(**(options or {}))
    return clf.fit(case.X, case.signs), case.X, case.signs.astype(np.float64), case.w_star


def trace_of(clf: nv.Perceptron) -> Trace:
    assert isinstance(clf.trace_, Trace)
    return clf.trace_


def test_mistakes_so_far_stay_below_the_bound() -> None:
    clf, X, y, w_star = traced()
    A = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    R = float(np.linalg.norm(A, axis=1).max())
    gamma = float((A @ w_star).min() / np.linalg.norm(w_star))
    display = MistakesDisplay.from_estimator(clf, X, y, margin=gamma, radius=R, ax=ax())
    assert display.mistakes.tolist() == list(range(1, clf.n_mistakes_ + 1))
    assert display.looked_at.tolist() == (trace_of(clf).step + 1).tolist()
    assert display.bound == pytest.approx(R**2 / gamma**2)
    assert display.mistakes[-1] <= display.bound
    name = f"bound R²/γ² = {format_number(R**2 / gamma**2)}"
    assert name in texts_of(display.figure_)


@pytest.mark.parametrize(("margin", "scale"), [(0.3, "linear"), (1e-3, "log")])
def test_a_bound_far_above_makes_the_axis_logarithmic(margin: float, scale: str) -> None:
    clf = nv.Perceptron(order="cyclic", trace=True).fit(AND_X, AND_Y)
    display = MistakesDisplay.from_estimator(clf, margin=margin, radius=1.8, ax=ax())
    assert display.ax_.get_yscale() == scale
    assert MistakesDisplay.from_estimator(clf, margin=margin, ax=ax()).bound is None


def test_with_a_margin_updates_are_not_all_mistakes() -> None:
    clf, X, y, w_star = traced(options={"margin": 0.8, "step": 0.5})
    proof = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    display = MistakesDisplay.from_estimator(clf, margin=proof.margin, radius=proof.radius, ax=ax())
    assert display.mistakes[-1] == clf.n_mistakes_ < clf.n_updates_ == display.updates[-1]
    assert display.bound is not None
    expected = (proof.radius**2 + 2 * 0.8 / 0.5) / proof.margin**2
    assert display.bound == pytest.approx(expected)
    assert display.updates[-1] <= display.bound
    assert np.linalg.norm(w_star) == pytest.approx(1.0)


def proof_holds(display: ProofDisplay) -> bool:
    slack = 1e-9
    return bool(
        (display.inner >= display.inner_bound - slack).all()
        and (display.squared_norm <= display.squared_norm_bound + slack).all()
        and (display.cosine >= display.cosine_bound - slack).all()
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_proof_against_the_weights_themselves(seed: int) -> None:
    clf, X, y, w_star = traced(seed)
    display = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    A = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    R, gamma = np.linalg.norm(A, axis=1).max(), (A @ w_star).min()
    assert display.margin == pytest.approx(gamma)
    assert display.radius == pytest.approx(R)
    W = np.cumsum(A[trace_of(clf).index], axis=0)
    t = np.arange(1, len(W) + 1)
    assert np.allclose(display.inner, W @ w_star)
    assert np.allclose(display.inner_bound, t * gamma)
    assert np.allclose(display.squared_norm, (W**2).sum(axis=1))
    assert np.allclose(display.squared_norm_bound, t * R**2)
    assert np.allclose(display.cosine, W @ w_star / np.linalg.norm(W, axis=1))
    assert np.allclose(display.cosine_bound, np.sqrt(t) * gamma / R)
    assert proof_holds(display)


def test_a_false_margin_or_radius_breaks_the_proof() -> None:
    clf, X, y, _ = traced()
    true = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    steepest = float((true.inner / true.inner_bound).min())
    false = ProofDisplay.from_estimator(
        clf, X, y, margin=true.margin * steepest * 1.01, ax=blank_axes(3)
    )
    assert proof_holds(true)
    assert not proof_holds(false)
    assert not proof_holds(
        ProofDisplay.from_estimator(clf, X, y, radius=true.radius / 10, ax=blank_axes(3))
    )


@pytest.mark.parametrize(
    "options", [{"margin": 0.7}, {"step": 0.1}, {"class_weight": {-1: 0.5, 1: 3.0}}]
)
def test_the_proof_with_other_steps(options: dict[str, object]) -> None:
    clf, X, y, _ = traced(options=options)
    display = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    assert not display.plain
    assert proof_holds(display)


def test_another_reference_and_another_length() -> None:
    clf, X, y, w_star = traced()
    given = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    longer = ProofDisplay.from_estimator(clf, X, y, reference=7 * w_star, ax=blank_axes(3))
    assert np.allclose(given.inner, longer.inner)
    plain = nv.Perceptron(trace=True, random_state=0).fit(X, y)
    verdict = nv.separate(X, y)
    assert verdict.coef is not None
    assert verdict.intercept is not None
    best = np.append(verdict.coef, verdict.intercept)
    display = ProofDisplay.from_estimator(plain, X, y, reference=best, ax=blank_axes(3))
    assert display.margin == pytest.approx(verdict.margin.lo)
    assert proof_holds(display)


def test_the_proof_on_sparse_rows_and_without_a_bias() -> None:
    case = planted(1, 40, 4, fit_intercept=False)
    S = sp.csr_array(case.X)
    clf = nv.Perceptron(fit_intercept=False, trace=case.w_star[:4], random_state=0)
    display = ProofDisplay.from_estimator(clf.fit(S, case.signs), S, case.signs, ax=blank_axes(3))
    assert display.radius == pytest.approx(np.linalg.norm(case.X, axis=1).max())
    assert proof_holds(display)
    with pytest.raises(ValueError, match="as there is no bias"):
        ProofDisplay.from_estimator(clf, S, case.signs, reference=case.w_star, ax=blank_axes(3))


def test_what_proves_nothing_is_refused() -> None:
    clf, X, y, w_star = traced()
    with pytest.raises(ValueError, match=r"does not separate the rows: .* in row \d+"):
        ProofDisplay.from_estimator(clf, X, y, reference=-w_star, ax=blank_axes(3))
    with pytest.raises(ValueError, match="has shape"):
        ProofDisplay.from_estimator(clf, X, y, reference=[1.0], ax=blank_axes(3))
    with pytest.raises(ValueError, match="finite and not zero"):
        ProofDisplay.from_estimator(clf, X, y, reference=0 * w_star, ax=blank_axes(3))
    with pytest.raises(ValueError, match="must be positive"):
        ProofDisplay.from_estimator(clf, X, y, margin=-1.0, ax=blank_axes(3))
    with pytest.raises(ValueError, match="pass the rows of the fit"):
        ProofDisplay.from_estimator(clf, X[:3], y[:3], reference=w_star, ax=blank_axes(3))
    bare = nv.Perceptron(trace=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="pass reference="):
        ProofDisplay.from_estimator(bare, X, y, ax=blank_axes(3))
    untraced = nv.Perceptron(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="trace=True"):
        MistakesDisplay.from_estimator(untraced, ax=ax())
    weighted, *_ = traced(options={"class_weight": {-1: 0.5, 1: 3.0}})
    with pytest.raises(ValueError, match="steps of this run differ"):
        MistakesDisplay.from_estimator(weighted, margin=0.1, radius=9.0, ax=ax())
    moved = nv.Perceptron(trace=w_star, random_state=0).fit(X, y, coef_init=[1.0, 1.0, 9.0])
    with pytest.raises(ValueError, match="did not start from zero"):
        ProofDisplay.from_estimator(moved, X, y, ax=blank_axes(3))
    done = nv.Perceptron(trace=True).fit(
        X, y, coef_init=9 * w_star[:3], intercept_init=9 * w_star[3]
    )
    with pytest.raises(ValueError, match="The trace is empty"):
        MistakesDisplay.from_estimator(done, ax=ax())


def test_one_trace_of_several() -> None:
    X, y = three_classes()
    clf = nv.Perceptron(random_state=0, trace=True).fit(X, y)
    display = MistakesDisplay.from_estimator(clf, X, y, rule="b", ax=ax())
    assert isinstance(clf.trace_, list)
    assert len(display.updates) == len(clf.trace_[1])
    proof = ProofDisplay.from_estimator(
        clf, X, y, rule="a", reference=[0.0, 1.0, -4.5], ax=blank_axes(3)
    )
    assert proof_holds(proof)


def test_long_runs_are_drawn_with_fewer_points() -> None:
    chosen = thinned(1_000_000)
    assert chosen[0] == 0
    assert chosen[-1] == 999_999
    assert len(chosen) <= 2000
    assert thinned(3).tolist() == [0, 1, 2]


# Conventions


Display: TypeAlias = BoundaryDisplay | MarginsDisplay | MistakesDisplay | ProofDisplay


def displays() -> Iterator[Callable[[Axes | None], Display]]:
    clf, X, y = noisy()
    run = nv.Perceptron(order="cyclic", trace=[2, 2, -3]).fit(AND_X, AND_Y)
    yield lambda where: BoundaryDisplay.from_estimator(clf, X, y, ax=where)
    yield lambda where: MarginsDisplay.from_estimator(clf, X, y, ax=where)
    yield lambda where: MistakesDisplay.from_estimator(
        run, AND_X, AND_Y, margin=0.1, radius=1.8, ax=where
    )
    yield lambda where: ProofDisplay.from_estimator(run, AND_X, AND_Y, ax=where)


DISPLAYS = pytest.mark.parametrize("number", range(4), ids=["boundary", "margins", "run", "proof"])


def display(number: int, where: Axes | None) -> Display:
    return list(displays())[number](where)


@DISPLAYS
def test_axes_are_used_and_pyplot_is_not(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("pyplot was used")

    monkeypatch.setattr(plt, "figure", refuse)
    where = ax()
    made = display(number, where)
    assert made.figure_ is figure_of(where)
    if number < 3:
        assert made.ax_ is where
    other = ax()
    assert made.plot(other) is made
    assert made.figure_ is figure_of(other)


@DISPLAYS
def test_without_axes_a_figure_of_pyplot(number: int) -> None:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    made = display(number, None)
    try:
        assert made.figure_ is plt.gcf()
        assert made.figure_.get_size_inches()[0] == pytest.approx(6.4)
    finally:
        plt.close(made.figure_)


@DISPLAYS
def test_nothing_overlaps_or_is_cut_off(number: int) -> None:
    made = display(number, ax())
    figure = made.figure_
    figure.draw_without_rendering()
    page = figure.bbox
    panels = [one for one in figure.axes if one.axison]
    boxes = []
    for one in panels:
        legend = one.get_legend()
        boxes.append(one.get_window_extent())
        title = one.get_title(loc="left")
        titles = [t for t in one.get_children() if isinstance(t, Text) and t.get_text() == title]
        labels = [one.xaxis.label, one.yaxis.label, *titles]
        boxes += [text.get_window_extent() for text in labels if text.get_text()]
        boxes += [] if legend is None else [legend.get_window_extent()]
    for i, box in enumerate(boxes):
        assert page.x0 - 1 <= box.x0
        assert box.x1 <= page.x1 + 1
        assert page.y0 - 1 <= box.y0
        assert box.y1 <= page.y1 + 1
        for another in boxes[:i]:
            assert not (
                min(box.x1, another.x1) - max(box.x0, another.x0) > 1
                and min(box.y1, another.y1) - max(box.y0, another.y0) > 1
            )


def test_the_proof_takes_three_axes_or_divides_one() -> None:
    three = blank_axes(3)
    made = display(3, ax())
    assert isinstance(made, ProofDisplay)
    assert len(made.ax_) == 3
    assert made.plot(three).ax_ == three
    with pytest.raises(ValueError, match="one or three axes, not 2"):
        made.plot(three[:2])
    with pytest.raises(ValueError, match="cannot be divided"):
        made.plot(Figure().add_axes((0, 0, 1, 1)))


def test_before_it_is_drawn_there_are_no_axes() -> None:
    bare = MarginsDisplay(np.ones(1), np.array([0.0, 1.0]), np.ones(1, np.int64), None, "")
    assert not hasattr(bare, "ax_")
    assert bare.plot(ax()).ax_ is not None


def test_without_matplotlib_there_is_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (blank_axes, lambda: BoundaryDisplay.from_estimator(*noisy())):
        with pytest.raises(ImportError, match=re.escape("pip install 'novikoff[plots]'")):
            draw()


def test_importing_plots_imports_neither_matplotlib_nor_scikit_learn() -> None:
    code = (
        "import sys, novikoff.report.plots; "
        "print({'matplotlib', 'sklearn', 'numba', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "set()"


# Text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.05, "0.05"),
        (0.00104, "1.04 × 10⁻³"),
        (0.001, "10⁻³"),
        (-2e-9, "−2 × 10⁻⁹"),
        (999.6, "1,000"),
        (99.96, "100"),
        (123456.7, "123,457"),
        (1e6, "10⁶"),
        (-1e6, "−10⁶"),
        (1.23456e300, "1.23 × 10³⁰⁰"),
        (np.inf, "∞"),
        (np.nan, "undefined"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize("name", ["", " \n", "a\x00b\x1f", "x" * 400, "tab\tand\nline", 7, None])
def test_names_fit_into_a_label(name: object) -> None:
    text = clean_name(name)
    assert 0 < len(text) <= 24
    assert text.isprintable()


NAMES = ["$x_1$ & <b>", "two\nlines", "]]> -- \x01 \ufffe", "$\\frac{", "名前", "'\"`"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_drawn_as_they_are(name: str) -> None:
    import pandas as pd

    clf, X, y = noisy(d=2)
    clf.classes_ = np.array([name, name + "!"], dtype=object)
    frame = pd.DataFrame(X, columns=[name, "other"])
    made = BoundaryDisplay.from_estimator(clf, frame, clf.classes_[y], ax=ax())
    root = ET.fromstring(figure_to_svg(made.figure_, label=name))  # noqa: S314
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert clean_name(name) in texts
    assert f"{clean_name(name + '!')} against {clean_name(name)}" in texts
    assert render_figure(made.figure_, ".png").startswith(b"\x89PNG")


# SVG and files


@DISPLAYS
def test_svg_is_an_element_of_its_own(number: int) -> None:
    made = display(number, ax())
    svg = figure_to_svg(made.figure_, prefix="fig-1", label='a "plot" & more')
    root = ET.fromstring(svg)  # noqa: S314
    assert root.tag == f"{SVG}svg"
    assert root.get("aria-label") == 'a "plot" & more'
    assert "<?xml" not in svg
    assert "<!" not in svg
    assert not list(root.iter(f"{SVG}style"))
    assert not list(root.iter(f"{SVG}script"))
    ids = [found for element in root.iter() if (found := element.get("id"))]
    assert len(set(ids)) == len(ids) > 10
    assert all(found.startswith("fig-1-") for found in ids)
    for element in root.iter():
        for name, value in element.attrib.items():
            if name.endswith("href"):
                assert value[1:] in ids
            for target in re.findall(r"url\(([^)]*)\)", value):
                assert target[1:] in ids
    outside = re.findall(r"https?://[^\"]*", svg)
    assert set(outside) == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@DISPLAYS
def test_images_are_the_same_each_time(number: int) -> None:
    first, second = display(number, ax()), display(number, ax())
    svg = figure_to_svg(first.figure_)
    assert svg == figure_to_svg(first.figure_) == figure_to_svg(second.figure_)
    if number == 1:
        png = render_figure(first.figure_, ".png")
        assert png == render_figure(second.figure_, ".png")
        assert svg == figure_to_svg(first.figure_)


def test_ids_differ_between_figures() -> None:
    sets = [
        set(re.findall(r' id="([^"]+)"', figure_to_svg(display(number, ax()).figure_)))
        for number in range(4)
    ]
    assert not any(a & b for i, a in enumerate(sets) for b in sets[:i])


@pytest.mark.parametrize("prefix", ["", "1a", 'a"b', "a b", "é"])
def test_prefixes_are_names(prefix: str) -> None:
    with pytest.raises(ValueError, match="must begin with a letter"):
        figure_to_svg(figure_of(ax()), prefix=prefix)


def test_many_markers_stay_small() -> None:
    clf, X, y = noisy(n=2000, d=2)
    svg = figure_to_svg(BoundaryDisplay.from_estimator(clf, X, y, ax=ax()).figure_)
    assert len(svg) < 100 * 2000
    root = ET.fromstring(svg)  # noqa: S314
    assert len(list(root.iter(f"{SVG}use"))) > 2000


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<svg"), (".PNG", b"\x89PNG")])
def test_files(tmp_path: Path, suffix: str, start: bytes) -> None:
    figure, path = figure_of(ax()), tmp_path / f"plot{suffix}"
    save_figure(figure, path, force=False)
    assert path.read_bytes().startswith(start)
    with pytest.raises(OutputError, match="already exists"):
        save_figure(figure, path, force=False)
    save_figure(figure, path)
    with pytest.raises(OutputError, match=r"as \.svg or \.png, not as '\.pdf'"):
        save_figure(figure, tmp_path / "plot.pdf")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
