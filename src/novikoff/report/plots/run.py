"""Pictures of a run: mistakes with their bound, the proof, and the pocket."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from novikoff.report.plots import style
from novikoff.report.plots.margins import Classifier, Rule, Side, find_rule, rule_of, side_names
from novikoff.sentences import least_cost

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from novikoff.core.problem import Problem
    from novikoff.core.rows import Indices, SparseMatrix, Vector
    from novikoff.core.trace import Trace

_LOG_FROM_RATIO = 10.0  # curves further apart than this get a logarithmic axis
_LOG_FROM_SPAN = 100.0  # and so do updates that span two decades


class TracedRun(NamedTuple):
    """A run with its trace, its rule, and the rows of its problem."""

    trace: Trace
    threshold: float
    w_star: Vector | None  # the ``trace=w*`` of the fit
    rule: Rule
    problem: Problem


def traced_run(
    estimator: Classifier,
    X: npt.ArrayLike | SparseMatrix,
    y: npt.ArrayLike,
    side: Side | None,
) -> TracedRun:
    """Return the run of a perceptron on these rows; repeat it if it was fitted without a trace."""
    from novikoff.core.problem import signed_problem

    if not hasattr(estimator, "coef_"):
        name = type(estimator).__name__
        raise ValueError(f"R and γ are those of linear rules, which a {name} has not: no X and y.")
    fitted = estimator if hasattr(estimator, "trace_") else _fit_with_trace(estimator, X, y)
    trace, rule = trace_of(fitted, side), rule_of(estimator, X, y, side)
    signs = (rule.flip * rule.signs).astype(np.int8)
    problem = signed_problem(rule.X, signs, bool(getattr(estimator, "fit_intercept", True)))
    if trace.problem is not None:
        acted = np.unique(trace.index)
        seen_by_run, at = trace.problem, np.searchsorted(rule.rows, acted)
        same = seen_by_run.X.shape[1] == rule.X.shape[1] and bool(np.isin(acted, rule.rows).all())
        if same:
            change: Any = rule.X[at] - seen_by_run.X
            same = bool((seen_by_run.signs == signs[at]).all()) and abs(change).max() == 0
        if not same:
            raise ValueError(
                "The run saw other rows than these: give the X and y of its fit, and scale them "
                "before the fit if they are to be scaled."
            )
    return TracedRun(trace, _threshold(estimator), _reference(estimator), rule, problem)


def trace_of(estimator: Classifier, side: Side | None) -> Trace:
    """Return the trace of a rule. It has at least one update."""
    traces: Trace | list[Trace] | None = getattr(estimator, "trace_", None)
    if traces is None:
        raise ValueError("There is no trace: fit with trace=True, or give X and y.")
    trace = traces[find_rule(estimator, side)[0]] if isinstance(traces, list) else traces
    if len(trace) == 0:
        raise ValueError("The trace is empty: the run made no update.")
    return trace


def _threshold(estimator: Classifier) -> float:
    """The δ of a perceptron."""
    return float(getattr(estimator, "threshold", 0.0))


def _reference(estimator: Classifier) -> Vector | None:
    """The ``trace=w*`` of a fit."""
    given = getattr(estimator, "trace", False)
    return None if isinstance(given, bool | np.bool_) else np.asarray(given, dtype=float)


def _fit_with_trace(
    estimator: Classifier, X: npt.ArrayLike | SparseMatrix, y: npt.ArrayLike
) -> Classifier:
    """Repeat a fit with a trace; raise ValueError if the weights differ."""
    options = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if "trace" not in options:
        name = type(estimator).__name__
        raise ValueError(f"A {name} makes no updates to draw: give a fitted novikoff.Perceptron.")
    seed = getattr(estimator, "random_state_", options["random_state"])
    again = type(estimator)(**options | {"trace": True, "random_state": seed, "warm_start": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has warned before
        again.fit(X, y)
    if not (
        np.array_equal(again.coef_, estimator.coef_)
        and np.array_equal(again.intercept_, estimator.intercept_)
    ):
        raise ValueError(
            "The run cannot be repeated from X and y alone, as it ended with other weights (of "
            "other rows, a start, sample_weight, a stream or a file): fit with trace=True."
        )
    return again


@dataclass(eq=False, repr=False)
class MistakesDisplay(style.Display):
    """Mistakes so far against rows visited, and the bound R²/γ² on them.

    ``visited`` is the number of rows up to each update. ``updates`` and ``mistakes`` differ if
    the perceptron has a threshold δ > 0. The bound is then (R² + 2δ/μ)/γ², and holds for updates.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = nv.Perceptron(order="cyclic").fit(X, y)
    >>> display = MistakesDisplay.from_estimator(clf, X, y, ax=blank_axes()[0])
    >>> int(display.mistakes[-1]), round(display.bound)
    (18, 51)
    """

    trace: Trace
    margin: float | None = None
    radius: float | None = None
    threshold: float = 0.0

    def __post_init__(self) -> None:
        trace = self.trace
        self.visited, self.updates = trace.n_steps + 1, np.arange(1, len(trace) + 1)
        self.mistakes: Indices = np.cumsum(trace.margin <= 0.0)
        self.bound: float | None = None
        if self.margin is not None and self.radius is not None:
            _check_start(trace)
            if not _equal_steps(trace):
                raise ValueError(
                    "The steps of this run differ in size, by weights of rows or classes: R²/γ² "
                    "bounds runs of equal steps. Leave out margin and radius."
                )
            # From t·μ·γ ≤ ‖w_t‖ and ‖w_t‖² ≤ t·(μ²·R² + 2·δ·μ).
            excess = 2.0 * self.threshold / float(trace.tau[0])
            self.bound = (self.radius**2 + excess) / self.margin**2

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: npt.ArrayLike | SparseMatrix | None = None,
        y: npt.ArrayLike | None = None,
        *,
        rule: Side | None = None,
        margin: float | None = None,
        radius: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the mistakes of a `novikoff.Perceptron`.

        If X and y of the fit are given, the run is repeated if it has no trace, and the bound is
        drawn if the rows are separable. ``margin`` is γ or a number below it, and ``radius`` is R
        or a number above it; by default they are computed. A fit with ``trace`` needs no X and y.
        """
        threshold = _threshold(estimator)
        if X is None or y is None:
            return cls(trace_of(estimator, rule), margin, radius, threshold).plot(ax)
        run = traced_run(estimator, X, y, rule)
        if run.trace.margin[0] == 0.0 and _equal_steps(run.trace):
            if margin is None:
                with suppress(ValueError):  # no rule separates the rows
                    _, margin = _separator(run.problem)
            radius = run.problem.radius if radius is None else radius
        return cls(run.trace, margin, radius, threshold).plot(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        most = int(self.updates[-1])
        drawn = style.thinned(most)
        steps = "steps-post" if len(drawn) == most else "default"  # where steps can be seen
        curves = [(self.mistakes, "mistakes", "-", 1.8)]
        if (self.mistakes != self.updates).any():
            curves.append((self.updates, "updates", ":", 1.4))
        for numbers, name, dashes, width in curves:
            label = f"{name} ({int(numbers[-1]):,})"
            x, y = np.append(0, self.visited[drawn]), np.append(0, numbers[drawn])
            ax.plot(x, y, dashes, lw=width, color=style.POSITIVE, drawstyle=steps, label=label)
        if self.bound is not None and np.isfinite(self.bound):
            formula = "R²/γ²" if len(curves) == 1 else "(R² + 2δ/μ)/γ²"
            label = f"bound {formula} = {style.format_upper_bound(style.whole_bound(self.bound))}"
            ax.axhline(self.bound, color=style.INK, lw=1.4, ls=style.DASHES, label=label)
        logarithmic = self.bound is not None and self.bound > _LOG_FROM_RATIO * most
        ax.set_yscale("log" if logarithmic else "linear")
        ax.set_ylim(bottom=0.8 if logarithmic else 0.0)
        ax.set_xlim(left=0.0)
        names = " and ".join(name for _, name, _, _ in curves)
        style.label_axes(ax, x="rows visited", y=f"{names} so far")
        style.format_counts(ax, "x", "y")
        style.legend_below(ax, columns=3)


class Panel(NamedTuple):
    """One inequality of the proof: a quantity after each update, and its bound."""

    quantity: str
    values: Vector
    relation: str
    name: str  # the formula of the bound
    bound: Vector
    highest: float | None = None  # the largest possible value of the quantity

    def draw(self, ax: Axes) -> Line2D:
        """Draw both curves and shade the side on which no value can be; return the first curve."""
        drawn = style.thinned(len(self.values))
        t, y, limit = drawn + 1, self.values[drawn], self.bound[drawn]
        bottom = min(0.0, float(y.min()))
        top = 1.05 * max(float(y.max()), float(limit.max()), 1e-300)
        if self.highest is not None:
            top = 1.02 * self.highest
        elif max(y[-1] / limit[-1], limit[-1] / y[-1]) > _LOG_FROM_RATIO:
            ax.set_yscale("log")
            bottom, top = min(y.min(), limit.min()) / 1.5, 1.5 * top
        forbidden = top if self.relation == "≤" else bottom
        ax.fill_between(t, limit, forbidden, color=style.FORBIDDEN_SIDE, lw=0, zorder=0)
        marker = "o" if len(self.values) <= 30 else ""
        (line,) = ax.plot(t, y, color=style.INK, lw=1.8, marker=marker, ms=3.0)
        ax.plot(t, limit, color=style.LIMIT, lw=1.2, ls=style.DASHES, marker=marker, ms=2.0)
        ax.set_ylim(bottom, top)
        ax.set_xlim(0.0, 1.02 * len(self.values) + 0.5)
        style.format_counts(ax, "x")
        if self.highest is None:
            ax.yaxis.set_major_formatter(lambda value, _: style.format_number(value))
        return line


@dataclass(eq=False, repr=False)
class ProofDisplay(style.Display):
    """⟨w*, w_t⟩ ≥ t·γ, ‖w_t‖² ≤ t·R² and cos∠(w*, w_t) ≥ √t·γ/R, one below the other.

    As no cosine is above 1, the third inequality ends the run at t = R²/γ² at the latest. w* is
    scaled to length 1. If the steps τ differ from 1, or the perceptron has a threshold δ, the same
    proof gives the bounds γ·Στ, R²·Στ² + 2δ·Στ, and the first over the root of the second;
    ``plain`` is then False.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> clf = nv.Perceptron(order="cyclic").fit(X, y)
    >>> display = ProofDisplay.from_estimator(clf, X, y, ax=blank_axes(3))
    >>> bool((display.cosine >= display.cosine_bound).all()), round(display.margin, 3)
    (True, 0.243)
    """

    trace: Trace
    inner: Vector
    margin: float
    radius: float
    threshold: float = 0.0
    _panels = 3

    def __post_init__(self) -> None:
        _check_start(self.trace)
        if not (self.margin > 0.0 and self.radius > 0.0):
            raise ValueError(
                f"The proof needs a positive margin and radius, not {self.margin}, {self.radius}."
            )
        tau, self.squared_norm = self.trace.tau, self.trace.squared_norm
        length, steps = np.sqrt(self.squared_norm), np.cumsum(tau)
        self.inner_bound = self.margin * steps
        self.squared_norm_bound = self.radius**2 * np.cumsum(tau**2) + 2.0 * self.threshold * steps
        self.cosine = np.divide(self.inner, length, out=np.zeros_like(length), where=length > 0.0)
        self.cosine_bound = self.inner_bound / np.sqrt(self.squared_norm_bound)
        self.plain = self.threshold == 0.0 and bool((tau == 1.0).all())

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: npt.ArrayLike | SparseMatrix | None = None,
        y: npt.ArrayLike | None = None,
        *,
        margin: float | None = None,
        radius: float | None = None,
        rule: Side | None = None,
        ax: Sequence[Axes] | None = None,
    ) -> Self:
        """Draw the proof for a `novikoff.Perceptron` that was fitted from zero weights.

        If X and y of the fit are given, the run is repeated if it has no trace. w* is the
        ``trace=w*`` of the fit, or else the rule with the largest margin. The default of ``margin``
        is γ = min ⟨a_i, w*⟩/‖w*‖, and the default of ``radius`` is R = max ‖a_i‖. If both are
        given, a fit with ``trace=w*`` needs no X and y. ``ax`` are three axes.
        """
        if X is not None and y is not None:
            return cls.of_run(traced_run(estimator, X, y, rule), margin, radius).plot(ax)
        trace, w_star = trace_of(estimator, rule), _reference(estimator)
        if w_star is None or trace.inner is None or margin is None or radius is None:
            raise ValueError("Give X and y, or fit with trace=w* and give margin and radius.")
        inner = trace.inner / math.hypot(*w_star)
        return cls(trace, inner, margin, radius, _threshold(estimator)).plot(ax)

    @classmethod
    def of_run(
        cls, run: TracedRun, margin: float | None = None, radius: float | None = None
    ) -> Self:
        """Return the display of a run without drawing it."""
        trace, threshold, w_star, rule, problem = run
        aligned, least = _unit_products(rule, problem, w_star)
        inner = np.cumsum(trace.tau * aligned[np.searchsorted(rule.rows, trace.index)])
        margin = least if margin is None else margin
        return cls(trace, inner, margin, problem.radius if radius is None else radius, threshold)

    @property
    def panels(self) -> list[Panel]:
        """The three inequalities."""
        names = ("γ·Στ", "R²·Στ² + 2δ·Στ", "their quotient")
        below, above, slope = ("t·γ", "t·R²", "√t·γ/R") if self.plain else names
        return [
            Panel("⟨w*, wₜ⟩", self.inner, "≥", below, self.inner_bound),
            Panel("‖wₜ‖²", self.squared_norm, "≤", above, self.squared_norm_bound),
            Panel("cos∠(w*, wₜ)", self.cosine, "≥", slope, self.cosine_bound, highest=1.0),
        ]

    def _draw(self, axes: list[Axes]) -> None:
        last = style.format_upper_bound(style.whole_bound((self.radius / self.margin) ** 2))
        notes = (
            f"(dashed), γ ≥ {style.format_lower_bound(self.margin)}",
            f"(dashed), R ≤ {style.format_upper_bound(self.radius)}",
            f"(dashed), so t ≤ ⌊R²/γ²⌋ = {last}" if self.plain else "(dashed)",
        )
        for ax, panel, note in zip(axes, self.panels, notes, strict=True):
            panel.draw(ax)
            title = f"{panel.quantity} (solid) {panel.relation} {panel.name} {note}"
            style.label_axes(ax, x="updates t" if ax is axes[-1] else "", title=title)


@dataclass(eq=False, repr=False)
class PocketDisplay(style.Display):
    """The mistakes of the pocket's rule against updates, and below them the proved bound.

    Examples
    --------
    >>> import novikoff as nv
    >>> from novikoff.report.plots import blank_axes
    >>> clf = nv.Pocket(random_state=0).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> display = PocketDisplay.from_estimator(clf, ax=blank_axes()[0])
    >>> int(display.mistakes[-1]), display.lower_bound
    (1, 1)
    """

    updates: Vector
    mistakes: Vector
    lower_bound: float
    title: str

    @classmethod
    def from_estimator(
        cls, estimator: Classifier, *, rule: Side | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the history of a fitted `novikoff.Pocket`."""
        if not hasattr(estimator, "history_"):
            name = type(estimator).__name__
            raise ValueError(f"A {name} has no history_ to draw: give a fitted novikoff.Pocket.")
        at, _, positive, negative = find_rule(estimator, rule)
        several = isinstance(estimator.history_, list)
        history = estimator.history_[at] if several else estimator.history_
        bounds = estimator.errors_lower_bound_
        title = " against ".join(side_names(positive, negative))
        updates, mistakes = np.array(history).T
        return cls(updates, mistakes, bounds[at] if several else bounds, title).plot(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        last = style.format_number(float(self.mistakes[-1]))
        look: Any = {"drawstyle": "steps-post", "color": style.POSITIVE, "lw": 1.8, "ms": 3.0}
        look["marker"] = "o" if len(self.updates) <= 60 else ""
        name = f"mistakes of the best rule so far ({last} at the end)"
        ax.plot(self.updates, self.mistakes, label=name, **look)
        if self.lower_bound > 0:
            fewest = style.format_lower_bound(float(self.lower_bound))
            name = f"{least_cost('rule', fewest)}, proved"
            ax.axhline(self.lower_bound, color=style.INK, lw=1.4, ls=style.DASHES, label=name)
        ax.set_ylim(0.0, 1.05 * max(float(self.mistakes.max()), 1.0))
        later = self.updates[self.updates > 0]
        if len(later) > 0 and later[-1] >= _LOG_FROM_SPAN * later[0]:
            ax.set_xscale("symlog", linthresh=1.0)  # the start is at 0
        ax.set_xlim(left=0.0)
        style.label_axes(ax, x="updates", y="mistakes", title=self.title)
        style.format_counts(ax, "x", "y")
        style.legend_below(ax, columns=1)


def _separator(problem: Problem) -> tuple[Vector, float]:
    """Return w* with the largest margin and a proved γ; ValueError if no rule separates."""
    from novikoff.geometry.separability import find_verdict

    verdict = find_verdict(problem, ("+1", "-1"))
    if verdict.coef is None or verdict.intercept is None or verdict.kind != "separable":
        raise ValueError(
            "No rule separates these rows, so there is no w* and nothing to prove: "
            "novikoff.separate shows why."
        )
    return np.append(verdict.coef, verdict.intercept), verdict.margin.lo


def _unit_products(rule: Rule, problem: Problem, w_star: Vector | None) -> tuple[Vector, float]:
    """All ⟨a_i, w*⟩ for w* at length 1, and their minimum γ, proved and rounded down.

    Raises ValueError if w* does not separate the rows.
    """
    from novikoff.core.problem import products
    from novikoff.geometry.margin import margin_of

    if w_star is None:
        w_star, _ = _separator(problem)
    w_star = problem.padded(w_star) / math.hypot(*w_star)
    aligned = products(problem, w_star)
    worst = int(np.argmin(aligned))
    if not aligned[worst] > 0.0:
        raise ValueError(
            f"The rule w* does not separate the rows: y·f(x) is {aligned[worst]:.3g} in row "
            f"{rule.rows[worst]}, and nothing is proved by it."
        )
    return aligned, margin_of(problem, w_star)


def _equal_steps(trace: Trace) -> bool:
    return bool((trace.tau == trace.tau[0]).all())


def _check_start(trace: Trace) -> None:
    if trace.margin[0] != 0.0:
        raise ValueError(
            "The run did not start from zero weights, as the theorem has it: fit without "
            "warm_start, coef_init and intercept_init."
        )
